// SPDX-License-Identifier: GPL-2.0-or-later
/* What was found, as values; JSON lines are printed from these. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/status.h"
#include "recorder/session.h"
#include "render/json.h"
#include "views/values.h"
#include "views/view_search.h"

/* --- JSON lines ------------------------------------------------------------ */

static const char *question_str(const struct search *view)
{
	static const char *const names[] = {
		[BTSREC_LAST] = "last", [BTSREC_MERGED] = "merged", [BTSREC_PAIRS] = "pairs",
		[BTSREC_SLOW] = "slow", [BTSREC_PATH] = "path",	    [BTSREC_AROUND] = "around",
		[BTSREC_LOCKS] = "locks",
	};

	return names[view->opts->question];
}

static void json_search(struct search *view, const struct btsrec_found *value)
{
	struct out *out = &view->renderer.out;

	out_literal(out, "{\"kind\":\"search\"");
	json_word(out, "question", question_str(view));
	json_number(out, "lines", value->nr_lines);
	json_number(out, "gaps", value->nr_gaps);
	if (value->has_forgotten) {
		json_number(out, "forgotten_cpu", value->cpu);
		if (value->max_tsc != UINT64_MAX)
			json_number(out, "forgotten_tsc", value->max_tsc);
	}
	out_literal(out, "}\n");
}

static bool is_bound(uint64_t tsc)
{
	return tsc && tsc != UINT64_MAX;
}

static void json_time(struct search *view, const struct btsrec_found *value)
{
	struct out *out = &view->renderer.out;

	if (value->min_tsc)
		json_number(out, "min_tsc", value->min_tsc);
	if (value->max_tsc != UINT64_MAX)
		json_number(out, "max_tsc", value->max_tsc);
	if (is_bound(value->min_tsc))
		json_from_freeze(out, "min_from_freeze_ns", &view->clock, value->min_tsc);
	if (is_bound(value->max_tsc))
		json_from_freeze(out, "max_from_freeze_ns", &view->clock, value->max_tsc);
}

/* The members that all objects about an event have. */
static void json_head(struct search *view, const struct btsrec_found *value)
{
	static const char *const kinds[] = {
		[BTSREC_FOUND_CALL] = "found",
		[BTSREC_FOUND_RUNS] = "runs",
		[BTSREC_FOUND_INTERRUPTS] = "interrupts",
		[BTSREC_FOUND_PREEMPTION] = "preemption",
	};
	struct out *out = &view->renderer.out;

	out_literal(out, "{\"cpu\":");
	out_dec(out, value->cpu, 0);
	json_number(out, "n", value->n);
	json_word(out, "kind", kinds[value->kind]);
	json_word(out, "question", question_str(view));
	if (value->has_task)
		json_thread(out, value->task.pid, value->task.tgid, value->task.comm);
	json_time(view, value);
	if (value->last_n != UINT64_MAX)
		json_number(out, "last_n", value->last_n);
}

static void json_call(struct search *view, const struct btsrec_found *value)
{
	struct renderer *r = &view->renderer;
	struct out *out = &r->out;

	json_number(out, "branches", value->nr_branches);
	if (value->entered)
		json_address(out, "from", value->from_va);
	json_address(out, "to", value->to_va);
	if (value->entered)
		json_sym(r, "from_sym", value->from_va);
	json_sym(r, "to_sym", value->to_va);
	json_bool(out, "entered", value->entered);
	json_bool(out, "open", value->open);
	json_bool(out, "lost", value->lost);
	json_bool(out, "after_fault", value->after_fault);
}

static void json_thread_calls(struct out *out, const struct btsrec_found *value)
{
	json_number(out, "calls", value->nr_calls);
	json_number(out, "first_n", value->first_n);
	if (value->first_min_tsc)
		json_number(out, "first_min_tsc", value->first_min_tsc);
	if (value->first_max_tsc != UINT64_MAX)
		json_number(out, "first_max_tsc", value->first_max_tsc);
}

static void json_state(struct out *out, const struct btsrec_found *value)
{
	json_word(out, "state", value->state);
	if (value->has_unseen)
		json_number(out, "unseen_cpu", value->unseen_cpu);
}

static void json_lock(struct search *view, const struct btsrec_found *value)
{
	struct renderer *r = &view->renderer;
	struct out *out = &r->out;

	json_state(out, value);
	json_word(out, "lock", value->lock);
	json_word(out, "sure", value->certainty);
	if (value->reason)
		json_word(out, "why", value->reason);
	if (value->has_address) {
		json_address(out, "address", value->address_va);
		json_sym(r, "address_sym", value->address_va);
	}
	if (value->has_wait) {
		json_number(out, "wait_n", value->wait_n);
		json_address(out, "wait", value->wait_va);
		json_sym(r, "wait_sym", value->wait_va);
	}
	json_bool(out, "caller_returned", value->caller_returned);
}

static void json_onoff(struct search *view, const struct btsrec_found *value)
{
	struct renderer *r = &view->renderer;
	struct out *out = &r->out;

	json_word(out, "state", value->state);
	if (value->how) {
		json_word(out, "by", value->how);
		json_bool(out, "was_on", value->was_on);
		if (value->kind == BTSREC_FOUND_PREEMPTION) {
			json_number(out, "count", value->preempt_count);
			json_bool(out, "at_least", !value->was_on);
		}
	}
	if (value->ip_va) {
		json_address(out, "ip", value->ip_va);
		json_sym(r, "ip_sym", value->ip_va);
	}
	if (value->from_va) {
		json_address(out, "from", value->from_va);
		json_sym(r, "from_sym", value->from_va);
	}
}

static void json_duration(struct out *out, const struct btsrec_found *value)
{
	json_number(out, value->in_ns ? "min_ns" : "min_ticks", value->min_duration);
	if (value->max_duration != UINT64_MAX)
		json_number(out, value->in_ns ? "max_ns" : "max_ticks", value->max_duration);
}

static void json_chain(struct search *view, const struct btsrec_found *value)
{
	struct out *out = &view->renderer.out;

	json_number(out, "times", value->nr_times);
	out_literal(out, ",\"chain\":[");
	for (size_t i = 0; i < value->nr_links; i++) {
		const struct btsrec_chain_link *link = &value->links[i];

		if (i)
			out_char(out, ',');
		out_literal(out, "{\"n\":");
		out_dec(out, link->n, 0);
		json_word(out, "type", link->how);
		json_address(out, "from", link->from_va);
		json_address(out, "to", link->to_va);
		json_sym(&view->renderer, "from_sym", link->from_va);
		json_sym(&view->renderer, "to_sym", link->to_va);
		out_char(out, '}');
	}
	out_char(out, ']');
}

/* What a question adds to a call. */
static void json_answer(struct search *view, const struct btsrec_found *value)
{
	struct out *out = &view->renderer.out;

	switch (view->opts->question) {
	case BTSREC_LAST:
		if (value->nr_calls)
			json_thread_calls(out, value);
		break;
	case BTSREC_MERGED:
	case BTSREC_AROUND:
		json_number(out, "level", value->level);
		break;
	case BTSREC_PAIRS:
		json_state(out, value);
		break;
	case BTSREC_SLOW:
		json_duration(out, value);
		break;
	case BTSREC_PATH:
		json_chain(view, value);
		break;
	case BTSREC_LOCKS:
		json_lock(view, value);
		break;
	}
}

static bool is_onoff(enum btsrec_found_kind kind)
{
	return kind == BTSREC_FOUND_INTERRUPTS || kind == BTSREC_FOUND_PREEMPTION;
}

static void json_found(struct search *view, const struct btsrec_found *value)
{
	json_head(view, value);
	if (value->kind == BTSREC_FOUND_CALL) {
		json_call(view, value);
		json_answer(view, value);
	} else if (is_onoff(value->kind)) {
		json_onoff(view, value);
	}
	out_literal(&view->renderer.out, "}\n");
}

/* --- Values ---------------------------------------------------------------- */

static void hand_out(struct search *view, struct btsrec_found *value)
{
	struct out *out = &view->renderer.out;

	value->size = sizeof(*value);
	if (!out->stopped)
		out->stopped = !view->fn(view->arg, value);
}

static void hand_out_call(struct search *view, struct btsrec_found *value)
{
	struct symbol_name from, to, address, wait, ip;

	if (value->from_va)
		values_name(&view->renderer, value->from_va, &from, &value->from);
	if (value->to_va)
		values_name(&view->renderer, value->to_va, &to, &value->to);
	if (value->has_address)
		values_name(&view->renderer, value->address_va, &address, &value->address);
	if (value->wait_va)
		values_name(&view->renderer, value->wait_va, &wait, &value->wait);
	if (value->ip_va)
		values_name(&view->renderer, value->ip_va, &ip, &value->ip);
	hand_out(view, value);
}

void search_put_begin(struct search *view, size_t nr_lines)
{
	struct btsrec_found value = {
		.kind = BTSREC_FOUND_SEARCH,
		.nr_lines = nr_lines,
		.nr_gaps = search_nr_gaps(view),
		.max_tsc = search_newest_begin(view, &value.cpu),
	};

	value.has_forgotten = value.max_tsc;
	if (view->fn)
		hand_out(view, &value);
	else
		json_search(view, &value);
}

static void set_head(struct search *view, const struct search_line *line,
		     struct btsrec_found *value)
{
	value->cpu = line->cpu;
	value->n = line->call->n;
	value->last_n = line->call->last_n;
	value->has_task = values_task(search_side(view, line), &value->task);
	value->min_tsc = line->time.min_tsc;
	value->max_tsc = line->time.max_tsc;
}

void search_put_stay(struct search *view, const struct search_line *line)
{
	struct btsrec_found value = {.kind = BTSREC_FOUND_RUNS};

	set_head(view, line, &value);
	if (view->fn)
		hand_out(view, &value);
	else
		json_found(view, &value);
}

void search_put_onoff(struct search *view, enum btsrec_found_kind kind,
		      const struct search_line *line, struct btsrec_found *value)
{
	set_head(view, line, value);
	value->kind = kind;
	if (view->fn)
		hand_out_call(view, value);
	else
		json_found(view, value);
}

void search_put(struct search *view, const struct search_line *line, struct btsrec_found *value)
{
	const struct listed_call *call = line->call;

	set_head(view, line, value);
	value->kind = BTSREC_FOUND_CALL;
	value->entered = !call->late;
	value->from_va = call->late ? 0 : call->from;
	value->to_va = call->to;
	value->nr_branches = call->nr_branches;
	value->open = search_is_open(view, line);
	value->lost = call->lost;
	value->after_fault = search_is_after_fault(view, line);
	if (view->fn)
		hand_out_call(view, value);
	else
		json_found(view, value);
}
