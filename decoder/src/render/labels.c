// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/labels.h"

#include <stdlib.h>

#include "recorder/session.h"
#include "flow/trace.h"

/* Cache misses of so many look-ups are waited for together. */
#define GROUP	32
/* So many lines that differ fit the buffer of a batch, but for very long ones. */
#define NR_TOGETHER 1024
/* Lines that end alike are made so many at a time. */
#define NR_ALIKE 256

/**
 * struct formatter - what a thread needs to word
 * @r: in front of @text; its @nr_user counts lines, since labels_settle().
 * @types, @space: of the branch that is worded.
 * @code: of the kernel, for this thread alone; NULL before it was needed.
 * @alike: all the same, or NULL.
 */
struct formatter {
	struct renderer r;
	struct trace_types types;
	struct aspace space;
	struct code *code;
	struct label_cache_texts texts;
	struct out_text text;
	const struct tail *alike[NR_ALIKE];
};

/** struct group - branches on their way to lines */
struct group {
	struct press_run run;
	struct label_cache_key keys[GROUP];
	uint64_t hashes[GROUP];
	const struct tail *label_cache[GROUP];
};

/* --- Wording ------------------------------------------------------------ */

static void enter(void *arg)
{
	press_enter(arg);
}

static void leave(void *arg)
{
	press_leave(arg);
}

/* What is remembered of runs is bounded for all threads together. */
static bool make_code(struct labels *labels, struct formatter *formatter)
{
	if (!formatter->code)
		formatter->code = trace_code_shared(&labels->shared, labels->like->names,
						    CODE_MAX_RUNS / PRESS_MAX_THREADS);
	return formatter->code;
}

/* For which reasons the ends have no name, where that is counted: one in each byte. */
static uint32_t reasons_since(const struct renderer *r, const uint64_t *nr_before)
{
	uint32_t reasons = 0;

	for (uint32_t why = SYMBOL_UNKNOWN + 1; why < SYMBOL_NR_WHYS; why++)
		for (uint64_t nr = nr_before[why]; nr < r->nr_user[why]; nr++)
			reasons = reasons << 8 | why;
	return reasons;
}

/* False: out of memory. */
static bool word_tail(struct labels *labels, struct formatter *formatter,
		      const struct btsrec_event *event, uint32_t *ret_reasons)
{
	struct btsrec_sink sink = {.write = out_text_take, .arg = &formatter->text};
	struct renderer *r = &formatter->r;
	uint64_t nr_before[SYMBOL_NR_WHYS];

	memcpy(nr_before, r->nr_user, sizeof(nr_before));
	formatter->text.nr_bytes = 0;
	out_init(&r->out, &sink);
	r->side = aspace_at(&formatter->space, event->n);
	r->types = r->has_types ? &formatter->types : NULL;
	labels->format->branch_tail(r, event);
	*ret_reasons = reasons_since(r, nr_before);
	memcpy(r->nr_user, nr_before, sizeof(nr_before));
	return !out_flush(&r->out);
}

/* With what the session knows. */
static bool word_with_session(struct labels *labels, struct formatter *formatter,
			      const struct btsrec_event *event, uint32_t *ret_reasons)
{
	bool worded;

	press_enter(labels->press);
	formatter->r.shared = NULL;
	formatter->types.code = formatter->r.has_types ? trace_code(labels->like->rec) : NULL;
	worded = word_tail(labels, formatter, event, ret_reasons);
	press_leave(labels->press);
	return worded;
}

static bool word_without_session(struct labels *labels, struct formatter *formatter,
				 const struct btsrec_event *event, uint32_t *ret_reasons)
{
	if (formatter->r.has_types && !make_code(labels, formatter))
		return false;
	formatter->r.shared = &labels->shared;
	formatter->types.code = formatter->code;
	return word_tail(labels, formatter, event, ret_reasons);
}

/* Source lines are the session's. */
static bool needs_session(const struct labels *labels, const struct btsrec_record *branch)
{
	return !labels->is_shared || !labels->one_kernel || labels->like->lines ||
	       !code_is_kernel(branch->from & branch->to);
}

static const struct tail *make_tail(struct labels *labels, struct formatter *formatter,
				    const struct press_run *run, size_t i,
				    const struct label_cache_key *key)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH, .cpu = run->cpu,
				      .n = run->n + i, .branch = run->records[i] };
	uint32_t reasons;
	bool worded;

	formatter->space = (struct aspace){.spans = run->span, .nr = run->span ? 1 : 0};
	if (needs_session(labels, &event.branch))
		worded = word_with_session(labels, formatter, &event, &reasons);
	else
		worded = word_without_session(labels, formatter, &event, &reasons);
	if (!worded)
		return NULL;
	return label_cache_add(&labels->label_cache, &formatter->texts, key, formatter->text.bytes,
			       formatter->text.nr_bytes, reasons);
}

/* --- Lines -------------------------------------------------------------- */

/* The part of @run from @at on, of up to @nr branches. */
static struct press_run part_of(const struct press_run *run, size_t at, size_t nr)
{
	struct press_run part = *run;

	part.n += at;
	part.records += at;
	part.nr = run->nr - at < nr ? run->nr - at : nr;
	return part;
}

/* CR3 is a page's address; that it is known is another thing than that it is 0. */
static uint64_t space_of(const struct press_run *run)
{
	return run->span && run->span->known ? run->span->side.cr3 | 1 : 0;
}

/* They will be looked up soon. */
static void expect(const struct labels *labels, const struct press_run *run, size_t at,
		   struct group *group)
{
	uint64_t space = space_of(run);

	group->run = part_of(run, at, GROUP);
	for (size_t i = 0; i < group->run.nr; i++) {
		const struct btsrec_record *branch = &group->run.records[i];
		bool kernel = code_is_kernel(branch->from & branch->to) && labels->one_kernel;

		group->keys[i] =
			(struct label_cache_key){branch->from, branch->to, kernel ? 0 : space};
		group->hashes[i] = label_cache_hash(&group->keys[i]);
		label_cache_prefetch(&labels->label_cache, group->hashes[i]);
	}
}

/* Only user addresses are counted. */
static void count_reasons(struct formatter *formatter, const struct btsrec_record *record,
			  const struct tail *tail)
{
	if (code_is_kernel(record->from & record->to))
		return;
	for (uint32_t reasons = tail->cookie; reasons; reasons >>= 8)
		formatter->r.nr_user[reasons & 0xff]++;
}

static bool find(struct labels *labels, struct formatter *formatter, struct group *group)
{
	for (size_t i = 0; i < group->run.nr; i++) {
		const struct label_cache_key *key = &group->keys[i];
		const struct tail *tail =
			label_cache_find(&labels->label_cache, group->hashes[i], key);

		if (!tail)
			tail = make_tail(labels, formatter, &group->run, i, key);
		if (!tail)
			return false;
		label_cache_expect(tail);
		group->label_cache[i] = tail;
		count_reasons(formatter, &group->run.records[i], tail);
	}
	return true;
}

/* While lines are made, tails of the next ones and slots of those behind are on their way. */
static bool print_differing(struct labels *labels, struct formatter *formatter, struct out *out,
			    const struct press_run *run)
{
	struct group groups[3];
	size_t at = 0, nr_groups = (run->nr + GROUP - 1) / GROUP;

	for (size_t i = 0; i < nr_groups + 2; i++) {
		if (i < nr_groups)
			expect(labels, run, at, &groups[i % 3]);
		at += GROUP;
		if (i > 0 && i <= nr_groups && !find(labels, formatter, &groups[(i - 1) % 3]))
			return false;
		if (i > 1)
			labels->format->branches(out, &groups[(i - 2) % 3].run,
						 groups[(i - 2) % 3].label_cache);
	}
	return true;
}

static bool find_alike(struct labels *labels, struct formatter *formatter,
		       const struct press_run *run)
{
	const struct label_cache_key key = {0};
	const struct tail *tail =
		label_cache_find(&labels->label_cache, label_cache_hash(&key), &key);

	if (!tail)
		tail = make_tail(labels, formatter, run, 0, &key);
	for (size_t i = 0; tail && i < NR_ALIKE; i++)
		formatter->alike[i] = tail;
	return tail;
}

static bool print_alike(struct labels *labels, struct formatter *formatter, struct out *out,
			const struct press_run *run)
{
	if (!formatter->alike[0] && !find_alike(labels, formatter, run))
		return false;
	for (size_t at = 0; at < run->nr; at += NR_ALIKE) {
		struct press_run part = part_of(run, at, NR_ALIKE);

		labels->format->branches(out, &part, formatter->alike);
	}
	return true;
}

static struct formatter *formatter_of(struct labels *labels, unsigned int thread)
{
	struct formatter *formatter = labels->formatters[thread];

	if (formatter)
		return formatter;
	formatter = calloc(1, sizeof(*formatter));
	if (!formatter)
		return NULL;
	formatter->r.rec = labels->like->rec;
	formatter->r.names = labels->like->names;
	formatter->r.has_types = labels->like->has_types;
	formatter->r.lines = labels->like->lines;
	formatter->types.spaces = &formatter->space;
	labels->formatters[thread] = formatter;
	return formatter;
}

/* --- The press ---------------------------------------------------------- */

static bool print(void *arg, unsigned int thread, struct out *out, const struct press_run *run)
{
	struct labels *labels = arg;
	struct formatter *formatter = formatter_of(labels, thread);

	if (!formatter)
		return false;
	return labels->alike ? print_alike(labels, formatter, out, run) :
			       print_differing(labels, formatter, out, run);
}

/* Lines that a thread may have at hand, and texts that it has not counted. */
#define NR_SPARE (PRESS_BATCHES_EACH * NR_TOGETHER + LABEL_CACHE_COUNT_EACH)

_Static_assert(PRESS_MAX_THREADS *NR_SPARE <= LABEL_CACHE_SPARE_SLOTS,
	       "the table must not become full");

/* What the session's code knows of thunks; false: out of memory. */
static bool share_code(struct labels *labels, struct btsrec *rec)
{
	const struct code *code = trace_code(rec);

	if (!code)
		return false;
	labels->shared.thunk_array_kva = symbols_thunk_array(rec);
	labels->shared.thunks = *code_thunks(code);
	return true;
}

static bool share(void *arg, unsigned int nr_threads)
{
	struct labels *labels = arg;

	/* Who would read them now is here. */
	rings_ahead_end(labels->like->rec);
	if (labels->alike)
		return true;
	if (!label_cache_share(&labels->label_cache, nr_threads * NR_SPARE))
		return false;
	symbols_share(labels->like->rec, &labels->shared);
	if (labels->like->has_types && !share_code(labels, labels->like->rec))
		return false;
	labels->shared.enter = enter;
	labels->shared.leave = leave;
	labels->shared.arg = labels->press;
	labels->is_shared = true;
	return true;
}

/* In front of the lines of a batch is what is left of a page, see struct batch. */
static size_t nr_plain(const struct render_format *format)
{
	size_t nr = (OUT_WRITE_BYTES - OUT_PAGE_BYTES) / format->plain_bytes;

	return nr < PRESS_MAX_TOGETHER ? nr : PRESS_MAX_TOGETHER;
}

bool labels_open(struct labels *labels, const struct btsrec_sink *sink, unsigned int nr_threads)
{
	struct press_work work = {
		.share = share, .print = print, .arg = labels, .nr_together = NR_TOGETHER};

	if (labels->alike)
		work.nr_together = nr_plain(labels->format);
	labels->one_kernel = btsrec_root(labels->like->rec)->kernel_pgd_pa;
	labels->press = press_new(sink, &work, nr_threads);
	return labels->press;
}

/* What is found in the table is asked for until all branches have been told. */
static void make_room(struct labels *labels)
{
	if (!label_cache_full(&labels->label_cache, 0))
		return;
	press_settle(labels->press);
	if (label_cache_grow(&labels->label_cache))
		return;
	label_cache_forget(&labels->label_cache);
	for (size_t i = 0; i < PRESS_MAX_THREADS; i++)
		if (labels->formatters[i])
			label_cache_texts_fini(&labels->formatters[i]->texts);
}

bool labels_put(struct labels *labels, const struct press_run *run)
{
	for (size_t at = 0; at < run->nr; at += NR_TOGETHER) {
		struct press_run part = part_of(run, at, NR_TOGETHER);

		if (!press_put(labels->press, &part))
			return false;
		make_room(labels);
	}
	return true;
}

void labels_settle(struct labels *labels, uint64_t *nr_user)
{
	press_settle(labels->press);
	for (size_t i = 0; i < PRESS_MAX_THREADS; i++) {
		struct formatter *formatter = labels->formatters[i];

		for (size_t why = 0; formatter && why < SYMBOL_NR_WHYS; why++) {
			nr_user[why] += formatter->r.nr_user[why];
			formatter->r.nr_user[why] = 0;
		}
	}
}

void labels_close(struct labels *labels)
{
	press_free(labels->press);
	for (size_t i = 0; i < PRESS_MAX_THREADS; i++) {
		struct formatter *formatter = labels->formatters[i];

		if (!formatter)
			continue;
		code_free(formatter->code);
		label_cache_texts_fini(&formatter->texts);
		free(formatter->text.bytes);
		free(formatter);
	}
	label_cache_fini(&labels->label_cache);
}
