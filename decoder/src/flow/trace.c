// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/readat.h"
#include "symbols/symbol.h"
#include "flow/trace_fault.h"
#include "symbols/user.h"

/* So many branches take longer than a cache miss, while code is decoded on the way. */
#define FETCH_AHEAD	12

/* Of all CPUs together, some 5 MB: to read a history once more takes longer than all that. */
#define MAX_KEPT_SPANS	BOUND(65536, 64)

/* --- Code --------------------------------------------------------------- */

/* SYSCALL_DEFINE makes __x64_sys_NAME and __ia32_sys_NAME (asm/syscall_wrapper.h). */
const char *trace_syscall(const struct symbol_name *name, size_t *ret_bytes)
{
	static const char *const prefixes[] = { "__x64_sys_", "__ia32_sys_", "__x64_compat_sys_",
						"__ia32_compat_sys_" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t nr_bytes = strlen(prefixes[i]);

		if (name->name_bytes <= nr_bytes || memcmp(name->name, prefixes[i], nr_bytes))
			continue;
		*ret_bytes = name->name_bytes - nr_bytes;
		return name->name + nr_bytes;
	}
	return NULL;
}

bool trace_is_syscall(struct btsrec *rec, uint64_t va)
{
	struct symbol_name name;
	size_t nr_bytes;

	return symbol_find_as(rec, va, false, &name) && symbol_is_front(name.offset_bytes) &&
	       trace_syscall(&name, &nr_bytes);
}

static size_t code_of_file(void *arg, uint64_t cr3, uint64_t va, void *buf, size_t len_bytes)
{
	struct user *user = symbols_user(arg);

	return user ? user_code(user, cr3, va, buf, len_bytes) : 0;
}

static bool made_code(void *arg, uint64_t cr3, uint64_t va)
{
	struct user *user = symbols_user(arg);

	return user && user_is_made(user, cr3, va);
}

static enum code_text text_of_kernel(void *arg, uint64_t va)
{
	return symbols_text(arg, va);
}

static enum code_mode mode_of_code(void *arg, uint64_t cr3, uint64_t va)
{
	struct user *user = symbols_user(arg);

	return user ? user_mode(user, cr3, va) : CODE_MODE_UNKNOWN;
}

static void code_part_free(void *data)
{
	code_free(data);
}

static struct code_source kernel_code(const struct btsrec *rec)
{
	const struct btsrec_root *root = btsrec_root(rec);

	return (struct code_source){ .image = &rec->image,
				     .kernel_pgd_pa = root->kernel_pgd_pa,
				     .fred_config = root->fred_config,
				     .la57 = root->flags & BTSREC_ROOT_F_LA57 };
}

struct code *trace_code(struct btsrec *rec)
{
	struct code_source source;

	if (rec->code.data)
		return rec->code.data;
	source = kernel_code(rec);
	source.file = code_of_file;
	source.made = made_code;
	source.mode = mode_of_code;
	source.text = text_of_kernel;
	source.arg = rec;
	rec->code.data = code_new(&source);
	rec->code.free = code_part_free;
	return rec->code.data;
}

/* --- Threads that ran --------------------------------------------------- */

/**
 * struct others - events that are no branches, under way
 * @fn: NULL, or called for them as well.
 */
struct others {
	struct aspace *spaces;
	btsrec_event_fn fn;
	void *arg;
};

static bool feed_space(void *arg, const struct btsrec_event *event)
{
	const struct others *others = arg;

	aspace_feed(others->spaces, event);
	return !others->spaces->nomem && (!others->fn || others->fn(others->arg, event));
}

/* What is in such a space now is not what ran. */
static void forget_lost(struct btsrec *rec, struct aspace *spaces)
{
	struct user *user = symbols_user(rec);

	for (size_t i = 0; user && i < spaces->nr; i++) {
		struct aspace_span *span = &spaces->spans[i];

		if (span->known && user_space_lost(user, &span->side, span->end_tsc))
			span->side.cr3 = 0;
	}
}

/*
 * When the thread at the end of a history is known to have run.  Of a CPU that was stopped in order
 * only the switch to it is known.  A frozen one has an event that says when.
 */
static uint64_t last_tsc(const struct btsrec_cpu *page)
{
	if (page->frozen || page->context_seq % 2)
		return 0;
	return page->state == BTSREC_CPU_STOPPED ? page->context.tsc : UINT64_MAX;
}

/* As the history says, whatever has become of them since. */
static enum btsrec_status read_spaces(struct btsrec *rec, unsigned int cpu,
				      struct others *others, struct history_passed *ret)
{
	const struct btsrec_cpu *page = btsrec_cpu(rec, cpu);
	struct aspace *spaces = others->spaces;
	enum btsrec_status status;

	aspace_begin(spaces, 0);
	status = history_others(rec, cpu, feed_space, others, ret);
	if (spaces->nomem)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (status)
		return status;
	/* Odd while it was being written. */
	return aspace_end(spaces, page->context_seq % 2 ? NULL : &page->context.next,
			  last_tsc(page));
}

static void free_spaces(void *data)
{
	if (data)
		aspace_fini(data);
	free(data);
}

/* What was read of @cpu, before there were clones or by this one; or NULL. */
static const struct aspace *kept_spaces(const struct btsrec *rec, unsigned int cpu)
{
	const struct aspace *kept = session_kept(&rec->spaces, cpu);

	return kept || !rec->clone_of ? kept : session_kept(&rec->clone_of->spaces, cpu);
}

static size_t nr_kept_spans(const struct btsrec *rec)
{
	size_t nr_spans = 0;

	for (unsigned int cpu = 0; cpu < btsrec_nr_cpu_ids(rec); cpu++) {
		const struct aspace *kept = kept_spaces(rec, cpu);

		nr_spans += kept ? kept->nr : 0;
	}
	return nr_spans;
}

/* A CPU that goes on recording is read anew each time; without memory so are all. */
static void keep_spaces(struct btsrec *rec, unsigned int cpu, const struct aspace *spaces)
{
	const struct btsrec_cpu *page = btsrec_cpu(rec, cpu);
	void **kept = session_per_cpu(rec, &rec->spaces, cpu, free_spaces);
	struct aspace *copy;

	if (!kept || (!page->frozen && page->state == BTSREC_CPU_ARMED) ||
	    nr_kept_spans(rec) + spaces->nr > MAX_KEPT_SPANS)
		return;
	copy = calloc(1, sizeof(*copy));
	if (copy && aspace_copy(copy, spaces))
		*kept = copy;
	else
		free(copy);
}

enum btsrec_status trace_others(struct btsrec *rec, unsigned int cpu, btsrec_event_fn fn,
				void *arg, struct history_passed *ret)
{
	struct aspace spaces = { 0 };
	struct others others = { .spaces = &spaces, .fn = fn, .arg = arg };
	enum btsrec_status status;

	if (kept_spaces(rec, cpu))
		return history_others(rec, cpu, fn, arg, ret);
	status = read_spaces(rec, cpu, &others, ret);
	if (!status)
		keep_spaces(rec, cpu, &spaces);
	aspace_fini(&spaces);
	return status;
}

enum btsrec_status trace_spaces(struct btsrec *rec, unsigned int cpu, struct aspace *spaces)
{
	const struct aspace *kept = kept_spaces(rec, cpu);
	struct others others = { .spaces = spaces };
	enum btsrec_status status = BTSREC_OK;

	if (kept) {
		if (!aspace_copy(spaces, kept))
			return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	} else {
		status = read_spaces(rec, cpu, &others, NULL);
		if (!status)
			keep_spaces(rec, cpu, spaces);
	}
	if (!status)
		forget_lost(rec, spaces);
	return status;
}

/* A screen of events, many screens, and what is read at most to have one of them. */
#define FIRST_MIN_EVENTS	BOUND(64, 4)
#define FIRST_EVENTS		BOUND(8192, 64)
#define FIRST_MAX_EVENTS	BOUND(262144, 256)

/**
 * struct first - the oldest events of a CPU
 * @has_kernel: kernel addresses are the same for all threads.
 * @open_n: the first event with a thread that has to be known, and is not yet; UINT64_MAX: none.
 */
struct first {
	struct history history;
	struct aspace *spaces;
	bool has_kernel;
	uint64_t open_n;
};

/* So many events are in spans that have ended: what is known of these is final. */
static uint64_t nr_settled(const struct aspace *spaces)
{
	return spaces->nr ? spaces->spans[spaces->nr - 1].first_n : 0;
}

static uint64_t nr_printed(const struct first *first)
{
	return min_u64(first->open_n, first->history.timeline.n);
}

static uint64_t nr_to_read(const struct first *first)
{
	return first->open_n < FIRST_MIN_EVENTS ? FIRST_MAX_EVENTS : FIRST_EVENTS;
}

static void first_branches(struct first *first, const struct btsrec_record *records, uint64_t nr,
			   uint64_t n)
{
	for (uint64_t i = 0; first->open_n == UINT64_MAX && i < nr; i++)
		if (!first->has_kernel || !code_is_kernel(records[i].from & records[i].to))
			first->open_n = n + i;
}

static void first_event(struct first *first, const struct btsrec_event *event)
{
	if (event->kind == BTSREC_EVENT_BRANCH) {
		first_branches(first, &event->branch, 1, event->n);
		return;
	}
	aspace_feed(first->spaces, event);
	/* Which thread ran before is known now. */
	if (first->open_n < nr_settled(first->spaces))
		first->open_n = UINT64_MAX;
}

/* False: too few are known, or these are all that there are. */
static bool feed_first(struct first *first)
{
	struct history *history = &first->history;
	struct timeline_branches branches;
	struct btsrec_event event;

	aspace_begin(first->spaces, 0);
	while (!history->status && history->timeline.n < nr_to_read(first)) {
		if (history_branches(history, UINT64_MAX, &branches)) {
			first_branches(first, branches.records, branches.nr, branches.n);
			continue;
		}
		if (!history_next(history, &event))
			return false;
		first_event(first, &event);
	}
	return !history->status && !first->spaces->nomem && nr_printed(first) >= FIRST_MIN_EVENTS;
}

bool trace_first_spaces(struct btsrec *rec, unsigned int cpu, struct aspace *spaces,
			uint64_t *ret_end_n)
{
	const struct btsrec_cpu *page = btsrec_cpu(rec, cpu);
	struct first first = { .spaces = spaces, .open_n = UINT64_MAX };
	bool known;

	/* What is recorded meanwhile moves what is oldest. */
	if (!page || !page->frozen || kept_spaces(rec, cpu))
		return false;
	/* Else its code is looked for in the page table of the thread that ran. */
	first.has_kernel = btsrec_root(rec)->kernel_pgd_pa;
	history_init(&first.history, rec, cpu, 0);
	known = feed_first(&first) && history_has_more(&first.history, TRACE_FAULT_MAX_EVENTS);
	history_fini(&first.history);
	if (!known)
		return false;
	*ret_end_n = nr_printed(&first);
	/* Of the last span no user address is printed. */
	(void)aspace_end(spaces, NULL, UINT64_MAX);
	forget_lost(rec, spaces);
	return true;
}

/* --- Types -------------------------------------------------------------- */

enum btsrec_status trace_types_init(struct trace_types *types, struct btsrec *rec,
				    struct aspace *spaces)
{
	types->spaces = spaces;
	types->code = trace_code(rec);
	return types->code ? BTSREC_OK : msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
}

struct branch trace_type(struct trace_types *types, const struct btsrec_event *event)
{
	const struct btsrec_side *side = aspace_at(types->spaces, event->n);
	const struct code_run *run = code_run(types->code, side ? side->cr3 : 0,
					      event->branch.from, event->branch.from);

	return branch_judge(&run->last, code_idt(types->code), event->branch.to);
}

/* --- Events ------------------------------------------------------------- */

static enum btsrec_status begin(struct trace *trace, struct btsrec *rec, unsigned int cpu)
{
	struct code *code = trace_code(rec);

	if (!code)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	proof_init(&trace->proof, code, rec->located,
		   btsrec_root(rec)->mode != BTSREC_MODE_ALL || btsrec_cpu(rec, cpu)->kernel_only);
	return trace_spaces(rec, cpu, &trace->spaces);
}

enum btsrec_status trace_open(struct trace *trace, struct btsrec *rec, unsigned int cpu,
			      uint64_t max_events, bool prove)
{
	memset(trace, 0, sizeof(*trace));
	trace->rec = rec;
	trace->prove = prove;
	if (!btsrec_root(rec))
		trace->status = msg_set(&rec->msg, BTSREC_ERR_INVAL, "no recorder located yet");
	else if (!btsrec_cpu(rec, cpu))
		trace->status = session_no_cpu(rec, cpu);
	else
		trace->status = begin(trace, rec, cpu);
	if (!trace->status)
		trace->status = history_init(&trace->history, rec, cpu, max_events);
	return trace->status;
}

/* The next branch as an event. */
static void make_event(struct trace *trace)
{
	const struct timeline_branches *branches = &trace->branches;
	uint64_t i = trace->nr_taken;

	timeline_branch(&trace->event, &branches->records[i], trace->history.cpu->cpu,
			branches->n + i, branches->slot + i);
}

/*
 * For runs that come soon and are not known: their code, and the names of caller and callee.  Where
 * one was met for the first time, others are close.
 */
static void fetch_ahead(struct trace *trace)
{
	const struct timeline_branches *branches = &trace->branches;
	const struct code_runs *runs = trace->proof.runs;
	uint64_t i = trace->nr_taken + 1;

	if (i < trace->nr_fetched)
		i = trace->nr_fetched;
	for (; runs->one_kernel && i < branches->nr && i < trace->nr_taken + FETCH_AHEAD; i++) {
		uint64_t start = branches->records[i - 1].to, end = branches->records[i].from;

		if (!code_is_top(start & end) || code_known(runs, start, end))
			continue;
		code_fetch(trace->proof.code, start);
		symbol_fetch(trace->rec, end);
		symbol_fetch(trace->rec, branches->records[i].to);
	}
	trace->nr_fetched = i;
}

static bool next_event(struct trace *trace)
{
	const struct timeline_branches *branches = &trace->branches;

	if (trace->nr_taken == trace->branches.nr) {
		trace->nr_taken = 0;
		trace->nr_fetched = 0;
		if (!history_branches(&trace->history, UINT64_MAX, &trace->branches)) {
			trace->branches.nr = 0;
			return history_next(&trace->history, &trace->event);
		}
	}
	make_event(trace);
	if (trace->prove) {
		__builtin_prefetch(trace_ahead(trace, branches->records + trace->nr_taken,
					       branches->records + branches->nr));
		fetch_ahead(trace);
	}
	trace->nr_taken++;
	return true;
}

bool trace_next(struct trace *trace, struct trace_event *ret)
{
	if (trace->status)
		return false;
	if (!next_event(trace)) {
		trace->status = trace->history.status;
		if (trace->status)
			msg_set(&trace->rec->msg, trace->status, "history of CPU %u: %s",
				trace->history.cpu->cpu, btsrec_status_str(trace->status));
		return false;
	}
	*ret = (struct trace_event){ .event = &trace->event };
	ret->side = aspace_at(&trace->spaces, trace->event.n);
	if (trace->prove && proof_feed(&trace->proof, &trace->event,
				       ret->side ? ret->side->cr3 : 0, &trace->step))
		ret->step = &trace->step;
	return true;
}

void trace_next_plain(struct trace *trace, struct trace_way *way, const struct code_brief *run,
		      struct trace_event *ret)
{
	make_event(trace);
	trace_way_pass(trace, way, run);
	trace_way_end(trace, way);
	ret->event = &trace->event;
	ret->side = aspace_at(&trace->spaces, trace->event.n);
	ret->step = NULL;
}

void trace_pass(struct trace *trace)
{
	struct trace_way way = trace_way_begin(trace);
	const struct code_brief *run;

	if (!proof_is_plain(&trace->proof))
		return;
	while ((run = trace_way_run(trace, &way)) != NULL)
		trace_way_pass(trace, &way, run);
	trace_way_end(trace, &way);
}

void trace_close(struct trace *trace)
{
	history_fini(&trace->history);
	aspace_fini(&trace->spaces);
}

enum btsrec_status trace_stopped(const struct trace *trace)
{
	return msg_set(&trace->rec->msg, BTSREC_ERR_STOPPED, "history of CPU %u: %s",
		       trace->history.cpu->cpu, btsrec_status_str(BTSREC_ERR_STOPPED));
}

enum btsrec_status trace_events(struct btsrec *rec, unsigned int cpu, uint64_t max_events,
				trace_fn fn, void *arg, struct proof *ret)
{
	struct trace_event event;
	struct trace trace;
	enum btsrec_status status = trace_open(&trace, rec, cpu, max_events, true);

	while (!status && trace_next(&trace, &event))
		if (!fn(arg, &event))
			status = trace_stopped(&trace);
	if (!status)
		status = trace.status;
	if (ret)
		*ret = trace.proof;
	trace_close(&trace);
	return status;
}
