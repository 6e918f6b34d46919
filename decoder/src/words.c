// SPDX-License-Identifier: GPL-2.0-or-later
#include "words.h"

#include <stdlib.h>

#include "session.h"
#include "trace.h"

/* Cache misses of so many look-ups are waited for together. */
#define GROUP	32
/* So many lines that differ fit the buffer of a batch, but for very long ones. */
#define NR_TOGETHER 1024
/* Lines that end alike are made so many at a time. */
#define NR_ALIKE 256

/**
 * struct worder - what a thread needs to word
 * @r: in front of @text; its @nr_user counts lines, since words_settle().
 * @types, @space: of the branch that is worded.
 * @code: of the kernel, for this thread alone; NULL before it was needed.
 * @alike: all the same, or NULL.
 */
struct worder {
	struct renderer r;
	struct trace_types types;
	struct aspace space;
	struct code *code;
	struct tails_texts texts;
	struct out_text text;
	const struct tail *alike[NR_ALIKE];
};

/** struct group - branches on their way to lines */
struct group {
	struct press_run run;
	struct tails_key keys[GROUP];
	uint64_t hashes[GROUP];
	const struct tail *tails[GROUP];
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
static bool make_code(struct words *words, struct worder *worder)
{
	if (!worder->code)
		worder->code = trace_code_shared(&words->shared, words->like->names,
						 CODE_MAX_RUNS / PRESS_MAX_THREADS);
	return worder->code;
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
static bool word_tail(struct words *words, struct worder *worder,
		      const struct btsrec_event *event, uint32_t *ret_reasons)
{
	struct btsrec_sink sink = { .write = out_text_take, .arg = &worder->text };
	struct renderer *r = &worder->r;
	uint64_t nr_before[SYMBOL_NR_WHYS];

	memcpy(nr_before, r->nr_user, sizeof(nr_before));
	worder->text.nr_bytes = 0;
	out_init(&r->out, &sink);
	r->side = aspace_at(&worder->space, event->n);
	r->types = r->has_types ? &worder->types : NULL;
	words->format->branch_tail(r, event);
	*ret_reasons = reasons_since(r, nr_before);
	memcpy(r->nr_user, nr_before, sizeof(nr_before));
	return !out_flush(&r->out);
}

/* With what the session knows. */
static bool word_with_session(struct words *words, struct worder *worder,
			      const struct btsrec_event *event, uint32_t *ret_reasons)
{
	bool worded;

	press_enter(words->press);
	worder->r.shared = NULL;
	worder->types.code = worder->r.has_types ? trace_code(words->like->rec) : NULL;
	worded = word_tail(words, worder, event, ret_reasons);
	press_leave(words->press);
	return worded;
}

static bool word_without_session(struct words *words, struct worder *worder,
				 const struct btsrec_event *event, uint32_t *ret_reasons)
{
	if (worder->r.has_types && !make_code(words, worder))
		return false;
	worder->r.shared = &words->shared;
	worder->types.code = worder->code;
	return word_tail(words, worder, event, ret_reasons);
}

/* Source lines are the session's. */
static bool needs_session(const struct words *words, const struct btsrec_record *branch)
{
	return !words->is_shared || !words->one_kernel || words->like->lines ||
	       !code_is_kernel(branch->from & branch->to);
}

static const struct tail *make_tail(struct words *words, struct worder *worder,
				    const struct press_run *run, size_t i,
				    const struct tails_key *key)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH, .cpu = run->cpu,
				      .n = run->n + i, .branch = run->records[i] };
	uint32_t reasons;
	bool worded;

	worder->space = (struct aspace){ .spans = run->span, .nr = run->span ? 1 : 0 };
	if (needs_session(words, &event.branch))
		worded = word_with_session(words, worder, &event, &reasons);
	else
		worded = word_without_session(words, worder, &event, &reasons);
	if (!worded)
		return NULL;
	return tails_add(&words->tails, &worder->texts, key, worder->text.bytes,
			 worder->text.nr_bytes, reasons);
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
static void expect(const struct words *words, const struct press_run *run, size_t at,
		   struct group *group)
{
	uint64_t space = space_of(run);

	group->run = part_of(run, at, GROUP);
	for (size_t i = 0; i < group->run.nr; i++) {
		const struct btsrec_record *branch = &group->run.records[i];
		bool kernel = code_is_kernel(branch->from & branch->to) && words->one_kernel;

		group->keys[i] = (struct tails_key){ branch->from, branch->to,
						     kernel ? 0 : space };
		group->hashes[i] = tails_hash(&group->keys[i]);
		tails_prefetch(&words->tails, group->hashes[i]);
	}
}

/* Only user addresses are counted. */
static void count_reasons(struct worder *worder, const struct btsrec_record *record,
			  const struct tail *tail)
{
	if (code_is_kernel(record->from & record->to))
		return;
	for (uint32_t reasons = tail->cookie; reasons; reasons >>= 8)
		worder->r.nr_user[reasons & 0xff]++;
}

static bool find(struct words *words, struct worder *worder, struct group *group)
{
	for (size_t i = 0; i < group->run.nr; i++) {
		const struct tails_key *key = &group->keys[i];
		const struct tail *tail = tails_find(&words->tails, group->hashes[i], key);

		if (!tail)
			tail = make_tail(words, worder, &group->run, i, key);
		if (!tail)
			return false;
		tails_expect(tail);
		group->tails[i] = tail;
		count_reasons(worder, &group->run.records[i], tail);
	}
	return true;
}

/* While lines are made, tails of the next ones and slots of those behind are on their way. */
static bool tell_differing(struct words *words, struct worder *worder, struct out *out,
			   const struct press_run *run)
{
	struct group groups[3];
	size_t at = 0, nr_groups = (run->nr + GROUP - 1) / GROUP;

	for (size_t i = 0; i < nr_groups + 2; i++) {
		if (i < nr_groups)
			expect(words, run, at, &groups[i % 3]);
		at += GROUP;
		if (i > 0 && i <= nr_groups && !find(words, worder, &groups[(i - 1) % 3]))
			return false;
		if (i > 1)
			words->format->branches(out, &groups[(i - 2) % 3].run,
						groups[(i - 2) % 3].tails);
	}
	return true;
}

static bool find_alike(struct words *words, struct worder *worder, const struct press_run *run)
{
	const struct tails_key key = { 0 };
	const struct tail *tail = tails_find(&words->tails, tails_hash(&key), &key);

	if (!tail)
		tail = make_tail(words, worder, run, 0, &key);
	for (size_t i = 0; tail && i < NR_ALIKE; i++)
		worder->alike[i] = tail;
	return tail;
}

static bool tell_alike(struct words *words, struct worder *worder, struct out *out,
		       const struct press_run *run)
{
	if (!worder->alike[0] && !find_alike(words, worder, run))
		return false;
	for (size_t at = 0; at < run->nr; at += NR_ALIKE) {
		struct press_run part = part_of(run, at, NR_ALIKE);

		words->format->branches(out, &part, worder->alike);
	}
	return true;
}

static struct worder *worder_of(struct words *words, unsigned int thread)
{
	struct worder *worder = words->worders[thread];

	if (worder)
		return worder;
	worder = calloc(1, sizeof(*worder));
	if (!worder)
		return NULL;
	worder->r.rec = words->like->rec;
	worder->r.names = words->like->names;
	worder->r.has_types = words->like->has_types;
	worder->r.lines = words->like->lines;
	worder->types.spaces = &worder->space;
	words->worders[thread] = worder;
	return worder;
}

/* --- The press ---------------------------------------------------------- */

static bool tell(void *arg, unsigned int thread, struct out *out, const struct press_run *run)
{
	struct words *words = arg;
	struct worder *worder = worder_of(words, thread);

	if (!worder)
		return false;
	return words->alike ? tell_alike(words, worder, out, run) :
			      tell_differing(words, worder, out, run);
}

/* Lines that a thread may have at hand, and texts that it has not counted. */
#define NR_SPARE	(PRESS_BATCHES_EACH * NR_TOGETHER + TAILS_COUNT_EACH)

_Static_assert(PRESS_MAX_THREADS * NR_SPARE <= TAILS_SPARE_SLOTS,
	       "the table must not become full");

/* What the session's code knows of thunks; false: out of memory. */
static bool share_code(struct words *words, struct btsrec *rec)
{
	const struct code *code = trace_code(rec);

	if (!code)
		return false;
	words->shared.thunk_array_kva = symbols_thunk_array(rec);
	words->shared.thunks = *code_thunks(code);
	return true;
}

static bool share(void *arg, unsigned int nr_threads)
{
	struct words *words = arg;

	/* Who would read them now is here. */
	rings_ahead_end(words->like->rec);
	if (words->alike)
		return true;
	if (!tails_share(&words->tails, nr_threads * NR_SPARE))
		return false;
	symbols_share(words->like->rec, &words->shared);
	if (words->like->has_types && !share_code(words, words->like->rec))
		return false;
	words->shared.enter = enter;
	words->shared.leave = leave;
	words->shared.arg = words->press;
	words->is_shared = true;
	return true;
}

/* In front of the lines of a batch is what is left of a page, see struct batch. */
static size_t nr_plain(const struct render_format *format)
{
	size_t nr = (OUT_WRITE_BYTES - OUT_PAGE_BYTES) / format->plain_bytes;

	return nr < PRESS_MAX_TOGETHER ? nr : PRESS_MAX_TOGETHER;
}

bool words_open(struct words *words, const struct btsrec_sink *sink, unsigned int nr_threads)
{
	struct press_work work = { .share = share, .tell = tell, .arg = words,
				   .nr_together = NR_TOGETHER };

	if (words->alike)
		work.nr_together = nr_plain(words->format);
	words->one_kernel = btsrec_root(words->like->rec)->kernel_pgd_pa;
	words->press = press_new(sink, &work, nr_threads);
	return words->press;
}

/* What is found in the table is asked for until all branches have been told. */
static void make_room(struct words *words)
{
	if (!tails_full(&words->tails, 0))
		return;
	press_settle(words->press);
	if (tails_grow(&words->tails))
		return;
	tails_forget(&words->tails);
	for (size_t i = 0; i < PRESS_MAX_THREADS; i++)
		if (words->worders[i])
			tails_texts_fini(&words->worders[i]->texts);
}

bool words_put(struct words *words, const struct press_run *run)
{
	for (size_t at = 0; at < run->nr; at += NR_TOGETHER) {
		struct press_run part = part_of(run, at, NR_TOGETHER);

		if (!press_put(words->press, &part))
			return false;
		make_room(words);
	}
	return true;
}

void words_settle(struct words *words, uint64_t *nr_user)
{
	press_settle(words->press);
	for (size_t i = 0; i < PRESS_MAX_THREADS; i++) {
		struct worder *worder = words->worders[i];

		for (size_t why = 0; worder && why < SYMBOL_NR_WHYS; why++) {
			nr_user[why] += worder->r.nr_user[why];
			worder->r.nr_user[why] = 0;
		}
	}
}

void words_close(struct words *words)
{
	press_free(words->press);
	for (size_t i = 0; i < PRESS_MAX_THREADS; i++) {
		struct worder *worder = words->worders[i];

		if (!worder)
			continue;
		code_free(worder->code);
		tails_texts_fini(&worder->texts);
		free(worder->text.bytes);
		free(worder);
	}
	tails_fini(&words->tails);
}
