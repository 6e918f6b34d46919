// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/labels.h"

#include <stdlib.h>

#include "recorder/session.h"

/* Cache misses of so many look-ups are waited for together. */
#define GROUP	32
/* Between looks whether labels still have room. */
#define NR_TOGETHER 1024

/** struct group - branches on their way to lines */
struct group {
	struct branch_run run;
	struct label_key keys[GROUP];
	uint64_t hashes[GROUP];
	const struct label *labels[GROUP];
};

/* --- One label ---------------------------------------------------------- */

/* For which reasons the ends have no name, where that is counted: one in each byte. */
static uint32_t reasons_of(const struct renderer *r)
{
	uint32_t reasons = 0;

	for (uint32_t why = SYMBOL_UNKNOWN + 1; why < SYMBOL_NR_WHYS; why++)
		for (uint64_t nr = 0; nr < r->nr_user[why]; nr++)
			reasons = reasons << 8 | why;
	return reasons;
}

/* Of branch @i of @run; NULL: out of memory. */
static const struct label *make_label(struct labels *labels, const struct branch_run *run, size_t i,
				      const struct label_key *key)
{
	const struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH, .cpu = run->cpu,
					    .n = run->n + i, .branch = run->records[i] };
	struct btsrec_sink sink = { .write = out_text_take, .arg = &labels->text };
	struct renderer *maker = &labels->maker;

	memset(maker->nr_user, 0, sizeof(maker->nr_user));
	labels->space = (struct aspace){ .spans = run->span, .nr = run->span ? 1 : 0 };
	labels->text.nr_bytes = 0;
	out_init(&maker->out, &sink);
	maker->side = aspace_at(&labels->space, event.n);
	labels->format->branch_label(maker, &event);
	if (out_flush(&maker->out))
		return NULL;
	return label_cache_add(&labels->cache, key, labels->text.bytes, labels->text.nr_bytes,
			       reasons_of(maker));
}

/* --- Lines -------------------------------------------------------------- */

/* The part of @run from @at on, of up to @nr branches. */
static struct branch_run part_of(const struct branch_run *run, size_t at, size_t nr)
{
	struct branch_run part = *run;

	part.n += at;
	part.records += at;
	part.nr = run->nr - at < nr ? run->nr - at : nr;
	return part;
}

/* CR3 is a page's address; that it is known is another thing than that it is 0. */
static uint64_t space_of(const struct branch_run *run)
{
	return run->span && run->span->known ? run->span->side.cr3 | 1 : 0;
}

/* They will be looked up soon. */
static void expect(const struct labels *labels, const struct branch_run *run, size_t at,
		   struct group *group)
{
	uint64_t space = space_of(run);

	group->run = part_of(run, at, GROUP);
	for (size_t i = 0; i < group->run.nr; i++) {
		const struct btsrec_record *branch = &group->run.records[i];
		bool kernel = code_is_kernel(branch->from & branch->to) && labels->one_kernel;

		group->keys[i] = (struct label_key){ branch->from, branch->to, kernel ? 0 : space };
		group->hashes[i] = label_hash(&group->keys[i]);
		label_cache_prefetch(&labels->cache, group->hashes[i]);
	}
}

/* Only user addresses are counted. */
static void count_reasons(struct labels *labels, const struct btsrec_record *record,
			  const struct label *label)
{
	if (code_is_kernel(record->from & record->to))
		return;
	for (uint32_t reasons = label->cookie; reasons; reasons >>= 8)
		labels->to->nr_user[reasons & 0xff]++;
}

static bool find(struct labels *labels, struct group *group)
{
	for (size_t i = 0; i < group->run.nr; i++) {
		const struct label_key *key = &group->keys[i];
		const struct label *label;

		label = label_cache_find(&labels->cache, group->hashes[i], key);
		if (!label)
			label = make_label(labels, &group->run, i, key);
		if (!label)
			return false;
		label_prefetch(label);
		group->labels[i] = label;
		count_reasons(labels, &group->run.records[i], label);
	}
	return true;
}

/* While lines are made, labels of the next ones and slots of those after are on their way. */
static bool put_differing(struct labels *labels, const struct branch_run *run)
{
	struct group groups[3];
	size_t at = 0, nr_groups = (run->nr + GROUP - 1) / GROUP;

	for (size_t i = 0; i < nr_groups + 2; i++) {
		if (i < nr_groups)
			expect(labels, run, at, &groups[i % 3]);
		at += GROUP;
		if (i > 0 && i <= nr_groups && !find(labels, &groups[(i - 1) % 3]))
			return false;
		if (i > 1)
			labels->format->branches(&labels->to->out, &groups[(i - 2) % 3].run,
						 groups[(i - 2) % 3].labels);
	}
	return true;
}

static bool find_alike(struct labels *labels, const struct branch_run *run)
{
	const struct label *label = make_label(labels, run, 0, &(struct label_key){ 0 });

	for (size_t i = 0; label && i < LABELS_ALIKE; i++)
		labels->alike[i] = label;
	return label;
}

static bool put_alike(struct labels *labels, const struct branch_run *run)
{
	if (!labels->alike[0] && !find_alike(labels, run))
		return false;
	for (size_t at = 0; at < run->nr; at += LABELS_ALIKE) {
		struct branch_run part = part_of(run, at, LABELS_ALIKE);

		labels->format->branches(&labels->to->out, &part, labels->alike);
	}
	return true;
}

bool labels_put(struct labels *labels, const struct branch_run *run)
{
	if (labels->all_alike)
		return put_alike(labels, run);
	for (size_t at = 0; at < run->nr && !labels->to->out.stopped; at += NR_TOGETHER) {
		struct branch_run part = part_of(run, at, NR_TOGETHER);

		if (label_cache_full(&labels->cache, 0))
			label_cache_fini(&labels->cache);
		if (!put_differing(labels, &part))
			return false;
	}
	return true;
}

/* --- Life --------------------------------------------------------------- */

bool labels_init(struct labels *labels, struct renderer *to, const struct render_format *format,
		 bool all_alike)
{
	labels->to = to;
	labels->format = format;
	labels->one_kernel = btsrec_root(to->rec)->kernel_pgd_pa;
	labels->all_alike = all_alike;
	labels->maker.rec = to->rec;
	labels->maker.has_types = to->has_types;
	labels->maker.lines = to->lines;
	labels->types.spaces = &labels->space;
	if (!to->has_types)
		return true;
	labels->maker.types = &labels->types;
	labels->types.code = trace_code(to->rec);
	return labels->types.code;
}

void labels_fini(struct labels *labels)
{
	label_cache_fini(&labels->cache);
	free(labels->text.bytes);
}
