// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls of all CPUs that somebody asks for, in the order of time. */
#include "views/view_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/counter_map.h"
#include "base/options.h"
#include "flow/trace_values.h"
#include "recorder/cpus.h"
#include "recorder/locate.h"
#include "recorder/session.h"
#include "symbols/symbol.h"
#include "tally/lock_functions.h"
#include "views/cpu_tasks.h"
#include "views/values.h"

static enum btsrec_status search_nomem(struct btsrec *rec)
{
	return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
}

/* --- Operands ------------------------------------------------------------ */

/* Where the function begins that @va is in, as @side saw it; itself if that is not known. */
static uint64_t start_of(struct btsrec *rec, const struct btsrec_side *side, uint64_t va)
{
	struct symbol_name name;
	enum symbol_why why;

	if (!symbol_find_in(rec, side, va, &name, &why) || !name.name_bytes)
		return va;
	return va - name.offset_bytes;
}

static bool is_module(const struct btsrec *rec, const char *name)
{
	for (size_t i = 0; i < rec->located->nr_modules; i++)
		if (!strcmp(rec->located->modules[i].name, name))
			return true;
	return false;
}

/* A module in brackets, as it is printed; or one whose name no function has. */
static bool parse_module(struct btsrec *rec, struct search_target *target)
{
	size_t nr_bytes = strlen(target->text);
	uint64_t va;

	if (nr_bytes > 2 && target->text[0] == '[' && target->text[nr_bytes - 1] == ']') {
		memmove(target->text, target->text + 1, nr_bytes - 2);
		target->text[nr_bytes - 2] = '\0';
		return true;
	}
	return is_module(rec, target->text) && !symbols_by_name(rec, target->text, &va, 1);
}

static enum btsrec_status parse_target(struct btsrec *rec, const char *text,
				       struct search_target *ret)
{
	struct btsrec_filter filter = {.size = sizeof(filter)};
	uint64_t va;

	if (symbol_parse_address(text, &va)) {
		ret->by_start = true;
		ret->start = start_of(rec, NULL, va);
		return BTSREC_OK;
	}
	if (!*text || strlen(text) >= sizeof(ret->text))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "a function, a module or an address as 0x... is wanted");
	memcpy(ret->text, text, strlen(text));
	if (parse_module(rec, ret)) {
		filter.modules = ret->text;
	} else if (symbols_present(rec)) {
		filter.symbols = ret->text;
		ret->unknown = symbols_bounded(rec) && !strpbrk(text, "*?[\\,") &&
			       !symbols_by_name(rec, text, &va, 1);
	} else {
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "no function has a name here: give an address as 0x...");
	}
	return event_filter_filter(rec, &filter, &ret->filter);
}

/* --- One CPU -------------------------------------------------------------- */

/**
 * struct searcher - the part of one worker
 * @out: nothing is printed to it.
 * @known: by address, and the address space of a user address: what target_bits() said, plus 1.
 */
struct searcher {
	struct out out;
	struct search *all;
	struct btsrec *rec;
	struct event_filter event_filter;
	struct counter_map known;
	bool nomem;
};

static bool look_up_name(void *arg, const struct btsrec_side *side, uint64_t va, bool raw,
			 struct symbol_name *ret)
{
	struct btsrec *rec = arg;
	enum symbol_why why;

	return symbol_find_in_as(rec, side, va, raw, ret, &why);
}

static bool is_target(const struct searcher *searcher, const struct search_target *target,
		      const struct btsrec_side *side, uint64_t va)
{
	const struct filter_lookup lookup = {.name = look_up_name, .arg = searcher->rec};

	if (target->by_start)
		return start_of(searcher->rec, side, va) == target->start;
	return target->filter.any && filter_place(&target->filter, side, va, &lookup);
}

/* The kernel's own functions alone: a module may have others with such short names. */
static uint8_t lock_number(const struct searcher *searcher, const struct btsrec_side *side,
			   uint64_t va)
{
	struct symbol_name name;

	if (!code_is_kernel(va) || !look_up_name(searcher->rec, side, va, false, &name) ||
	    *name.module)
		return 0;
	return lock_function_find(name.name, name.name_bytes);
}

/* Which operands mean the function at @va; without any, all that the filter lets through. */
static uint8_t target_bits(const struct searcher *searcher, const struct btsrec_side *side,
			   uint64_t va)
{
	const struct filter_lookup lookup = {.name = look_up_name, .arg = searcher->rec};
	const struct search *all = searcher->all;
	uint8_t bits = 0;

	if (!filter_level(&all->places, va) || !filter_place(&all->places, side, va, &lookup))
		return 0;
	if (all->opts->question == BTSREC_LOCKS)
		return lock_number(searcher, side, va);
	if (!all->has_targets)
		return SEARCH_WHAT;
	if (is_target(searcher, &all->targets[0], side, va))
		bits |= SEARCH_WHAT;
	if (all->opts->second && is_target(searcher, &all->targets[1], side, va))
		bits |= SEARCH_SECOND;
	return bits;
}

/* Names are looked up once for each address. */
static uint8_t known_tags(struct searcher *searcher, const struct btsrec_side *side, uint64_t va)
{
	const uint64_t key[COUNTER_MAP_KEY_WORDS] = {
		va,
		!code_is_kernel(va) && side ? side->cr3 : 0,
		!code_is_kernel(va) && !side,
	};
	struct count *known = counter_map_get(&searcher->known, key);

	if (!known) {
		searcher->nomem = true;
		return 0;
	}
	if (!known->nr[0])
		known->nr[0] = 1 + target_bits(searcher, side, va);
	return (uint8_t)(known->nr[0] - 1);
}

static bool wants_event(void *arg, const struct btsrec_event *event)
{
	struct searcher *searcher = arg;

	return !searcher->nomem && event_filter_wants(&searcher->event_filter, event);
}

static uint8_t wants_call(void *arg, const struct btsrec_side *side, uint64_t va)
{
	return known_tags(arg, side, va);
}

/* The address of a lock, where it is a constant of the code. */
static bool lock_argument(void *arg, const struct proof_range *range, uint64_t *ret)
{
	const struct searcher *searcher = arg;

	return trace_values_constant(trace_code(searcher->rec), range->start, range->stop,
				     SEM_RDI, ret) &&
	       code_is_kernel(*ret);
}

/* Of a path: what it ends with, and what it begins with. */
static uint8_t ends_path(void *arg, const struct btsrec_side *side, uint64_t va)
{
	return known_tags(arg, side, va) & SEARCH_SECOND;
}

static bool starts_path(void *arg, const struct btsrec_side *side, uint64_t va)
{
	return known_tags(arg, side, va) & SEARCH_WHAT;
}

static enum btsrec_status search_cpu(void *arg, unsigned int cpu)
{
	struct searcher *searcher = arg;
	struct search *all = searcher->all;
	enum btsrec_question question = all->opts->question;
	const struct call_list_fns fns = {
		.event = wants_event,
		.tags = question == BTSREC_PATH ? ends_path : wants_call,
		.starts = question == BTSREC_PATH ? starts_path : NULL,
		.late = question == BTSREC_LAST || question == BTSREC_LOCKS,
		.timed = question == BTSREC_SLOW,
		.argument = question == BTSREC_LOCKS ? lock_argument : NULL,
		.over_nmis = question == BTSREC_LOCKS,
		.arg = searcher,
	};
	enum btsrec_status status =
		event_filter_init(&searcher->event_filter, searcher->rec, cpu, &all->events, 0);

	if (!status)
		status = call_list_read(&all->lists[cpu], searcher->rec, cpu, &fns);
	event_filter_fini(&searcher->event_filter);
	if (!status && all->onoff)
		status = trace_onoff(searcher->rec, cpu, &all->lists[cpu].fault, &all->onoff[cpu]);
	return searcher->nomem ? search_nomem(searcher->rec) : status;
}

static bool search_open(void *arg, void *data, struct btsrec *rec)
{
	struct searcher *searcher = data;

	searcher->all = arg;
	searcher->rec = rec;
	return true;
}

static enum btsrec_status search_close(void *arg, void *data)
{
	struct searcher *searcher = data;

	(void)arg;
	counter_map_fini(&searcher->known);
	return BTSREC_OK;
}

/* --- All CPUs ------------------------------------------------------------- */

struct search_time search_when(const struct call_list *list, uint64_t n)
{
	struct search_time time;

	time_axis_when(&list->times, n, &time.min_tsc, &time.max_tsc);
	return time;
}

uint64_t search_start(struct search *view, const struct btsrec_side *side, uint64_t va)
{
	return start_of(view->renderer.rec, side, va);
}

const struct btsrec_side *search_side(struct search *view, const struct search_line *line)
{
	const struct btsrec_side *side = search_thread(view, line);

	view->renderer.side = side;
	return side;
}

bool search_is_after_fault(const struct search *view, const struct search_line *line)
{
	const struct fault *fault = &search_list(view, line)->fault;

	return fault->kind != FAULT_UNKNOWN && line->call->n >= fault->n;
}

bool search_is_open(const struct search *view, const struct search_line *line)
{
	const struct call_list *list = search_list(view, line);
	const struct btsrec_side *side = search_thread(view, line);
	const struct btsrec_side *now = call_list_side(list, (uint32_t)(list->nr_stays - 1));

	return line->call->last_n == UINT64_MAX && !line->call->lost && !line->call->late && side &&
	       now && side->pid == now->pid;
}

/* Where nothing proves an order, the one whose latest moment is earlier; CPUs keep theirs. */
static int compare_lines(const void *left, const void *right)
{
	const struct search_line *a = left, *b = right;
	int order = search_compare(a->time.max_tsc, b->time.max_tsc);

	if (!order)
		order = search_compare(a->time.min_tsc, b->time.min_tsc);
	if (!order)
		order = search_compare(a->cpu, b->cpu);
	return order ? order : search_compare(a->call->n, b->call->n);
}

static size_t nr_wanted(const struct search *view)
{
	size_t nr = 0;

	for (unsigned int cpu = 0; cpu < view->nr_lists; cpu++)
		for (size_t i = 0; i < view->lists[cpu].nr; i++)
			nr += view->lists[cpu].calls[i].tags != 0;
	return nr;
}

static bool make_lines(struct search *view)
{
	view->lines = calloc(nr_wanted(view) + 1, sizeof(*view->lines));
	if (!view->lines)
		return false;
	for (unsigned int cpu = 0; cpu < view->nr_lists; cpu++) {
		const struct call_list *list = &view->lists[cpu];

		for (size_t i = 0; i < list->nr; i++)
			if (list->calls[i].tags)
				view->lines[view->nr_lines++] = (struct search_line){
					search_when(list, list->calls[i].n),
					cpu,
					&list->calls[i],
				};
	}
	qsort(view->lines, view->nr_lines, sizeof(*view->lines), compare_lines);
	return true;
}

static enum btsrec_status search_all(struct search *view)
{
	static const struct cpu_tasks work = {
		.view_bytes = sizeof(struct searcher),
		.out_at = offsetof(struct searcher, out),
		.open = search_open,
		.cpu = search_cpu,
		.close = search_close,
	};
	struct btsrec *rec = view->renderer.rec;
	const struct btsrec_search *opts = view->opts;
	enum btsrec_status status = cpu_tasks_print(rec, opts->cpus, opts->nr_cpus, false, &work,
						    view, view->renderer.out.sink);

	if (!status && !make_lines(view))
		status = search_nomem(rec);
	/* Events that only the functions shut out have passed the rest of the filter. */
	rec->matched = view->nr_lines;
	return status;
}

/* --- The view ------------------------------------------------------------- */

/* By enum btsrec_question. */
static const struct {
	int nr_operands;
	enum btsrec_status (*print)(struct search *view);
} questions[] = {
	[BTSREC_LAST] = {1, search_last},   [BTSREC_MERGED] = {0, search_merged},
	[BTSREC_PAIRS] = {2, search_pairs}, [BTSREC_SLOW] = {0, search_slow},
	[BTSREC_PATH] = {2, search_path},   [BTSREC_AROUND] = {1, search_around},
	[BTSREC_LOCKS] = {0, search_locks},
};

static enum btsrec_status search_check(struct btsrec *rec, const struct btsrec_search *opts)
{
	enum btsrec_status status = cpus_check(rec, opts->cpus, opts->nr_cpus);

	if (status)
		return status;
	if (opts->format != BTSREC_FORMAT_TEXT && opts->format != BTSREC_FORMAT_JSONL)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "calls are text or JSON lines");
	if ((unsigned int)opts->question >= sizeof(questions) / sizeof(questions[0]))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "there is no such question");
	if (questions[opts->question].nr_operands != (opts->what != NULL) + (opts->second != NULL))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "an operand of the question is missing, or is too much");
	if (opts->filter->types)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "calls of all CPUs are not chosen by kinds of branches");
	if (opts->question == BTSREC_AROUND)
		status = search_around_check(rec, opts->what);
	return status ? status : event_filter_check(rec, opts->filter);
}

static enum btsrec_status search_init(struct search *view, struct btsrec *rec,
				      const struct btsrec_search *opts)
{
	const struct btsrec_root *root = btsrec_root(rec);
	struct btsrec_filter places = *opts->filter;
	enum btsrec_status status;

	view->renderer.rec = rec;
	view->opts = opts;
	view->clock = clock_of(root, btsrec_cpu(rec, root->freeze_cpu));
	view->events = *opts->filter;
	filter_without_branches(&view->events);
	view->events.user = view->events.kernel = false;
	places.pids = places.tgids = places.comm = places.from = places.to = NULL;
	status = event_filter_filter(rec, &places, &view->places);
	view->has_targets = opts->what && opts->question != BTSREC_AROUND;
	if (!status && view->has_targets)
		status = parse_target(rec, opts->what, &view->targets[0]);
	if (!status && opts->second)
		status = parse_target(rec, opts->second, &view->targets[1]);
	if (status)
		return status;
	if (opts->question == BTSREC_LOCKS && !symbols_present(rec))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "no function has a name here, and locks are known by their functions");
	view->nr_lists = btsrec_nr_cpu_ids(rec);
	view->lists = calloc(view->nr_lists + 1, sizeof(*view->lists));
	if (opts->question == BTSREC_LOCKS)
		view->onoff = calloc(view->nr_lists + 1, sizeof(*view->onoff));
	if (!view->lists || (opts->question == BTSREC_LOCKS && !view->onoff))
		return search_nomem(rec);
	return BTSREC_OK;
}

static void search_fini(struct search *view)
{
	for (unsigned int cpu = 0; view->lists && cpu < view->nr_lists; cpu++)
		call_list_fini(&view->lists[cpu]);
	free(view->lists);
	free(view->onoff);
	free(view->lines);
	free(view);
}

/* To @sink, or, if there is @fn, as values to it. */
static enum btsrec_status put_search(struct btsrec *rec, const struct btsrec_search *opts,
				     const struct btsrec_sink *sink, btsrec_found_fn fn, void *arg)
{
	enum btsrec_status status = search_check(rec, opts), flushed;
	struct search *view;

	if (status)
		return status;
	view = calloc(1, sizeof(*view));
	if (!view)
		return search_nomem(rec);
	out_init(&view->renderer.out, sink);
	view->fn = fn;
	view->arg = arg;
	status = search_init(view, rec, opts);
	if (!status)
		status = search_all(view);
	if (!status)
		status = questions[opts->question].print(view);
	flushed = out_flush(&view->renderer.out);
	search_fini(view);
	return cpus_end(rec, opts->cpus, status ? status : flushed);
}

static enum btsrec_status search_options(struct btsrec *rec, const struct btsrec_search *given,
					 struct btsrec_search *ret,
					 struct btsrec_filter *ret_filter)
{
	enum btsrec_status status = options_read(&rec->msg, given, ret, sizeof(*ret));

	return status ? status : options_filter(&rec->msg, &ret->filter, ret_filter);
}

enum btsrec_status btsrec_search(struct btsrec *rec, const struct btsrec_search *given,
				 const struct btsrec_sink *sink)
{
	struct btsrec_filter filter;
	struct btsrec_search opts;
	enum btsrec_status status = search_options(rec, given, &opts, &filter);

	return status ? status : put_search(rec, &opts, sink, NULL, NULL);
}

enum btsrec_status btsrec_search_each(struct btsrec *rec, const struct btsrec_search *given,
				      btsrec_found_fn fn, void *arg)
{
	struct btsrec_filter filter;
	struct btsrec_search opts;
	enum btsrec_status status = search_options(rec, given, &opts, &filter);

	if (!status)
		status = values_check(&rec->msg, opts.format);
	return status ? status : put_search(rec, &opts, &values_sink, fn, arg);
}
