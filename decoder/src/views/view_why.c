// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a value came from: the chain, and what other CPUs stored there. */
#include "views/view_why.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/options.h"
#include "flow/thread.h"
#include "flow/trace_fault.h"
#include "flow/value_numbers.h"
#include "recorder/cpus.h"
#include "views/values.h"

/* --- Words -------------------------------------------------------------- */

const char *why_hop_str(enum origin_kind kind)
{
	static const char *const words[] = {
		[ORIGIN_ASKED] = "asked", [ORIGIN_MOVED] = "moved",
		[ORIGIN_COMPUTED] = "computed", [ORIGIN_LOADED] = "loaded",
		[ORIGIN_STORED] = "stored", [ORIGIN_CONSTANT] = "constant",
		[ORIGIN_JOINED] = "joined", [ORIGIN_OLDER] = "older",
		[ORIGIN_NO_ADDRESS] = "loaded", [ORIGIN_NO_RULE] = "written",
		[ORIGIN_CHANGED] = "stored", [ORIGIN_TOO_LONG] = "more",
		[ORIGIN_SUSPECT] = "maybe", [ORIGIN_COPIED] = "copied",
		[ORIGIN_INDEXED] = "indexed", [ORIGIN_BOUNDED] = "bounded",
		[ORIGIN_SPOILED] = "spoiled", [ORIGIN_USER] = "loaded",
		[ORIGIN_PART] = "written",
	};

	return words[kind];
}

const char *why_class_str(enum origin_class class)
{
	static const char *const words[] = { "certain", "likely", "unknown" };

	return words[class];
}

static const char *older_str(enum reg_values_why why)
{
	static const char *const words[] = {
		[REG_VALUES_BEGIN] = "older than the history",
		[REG_VALUES_GAP] = "older: events are missing here",
		[REG_VALUES_PAUSE] = "older: here another thread or the recorder ran",
		[REG_VALUES_USER] = "older: here user code ran",
		[REG_VALUES_BREAK] = "older: what ran here is not known",
		[REG_VALUES_WINDOW] = "older than the events that were looked at",
	};

	return words[why];
}

const char *why_end_str(const struct origin_hop *hop)
{
	switch (hop->kind) {
	case ORIGIN_CONSTANT: return "a constant of this instruction";
	case ORIGIN_STORED: return "a constant that this instruction stored";
	case ORIGIN_BOUNDED: return "a constant, up to which a loop counts";
	case ORIGIN_JOINED: return "made of several values; ask for one of them";
	case ORIGIN_OLDER:
		return hop->target.reg == SEM_NO_REG && hop->why != REG_VALUES_WINDOW ?
			       "no store to it is known" : older_str(hop->why);
	case ORIGIN_SPOILED:
		return "made by this instruction of an address of the kernel, which it is no more";
	case ORIGIN_USER: return "loaded from memory of the user";
	case ORIGIN_NO_ADDRESS: return "not known: loaded from an address that is not known";
	case ORIGIN_NO_RULE: return "not known: this instruction is not followed";
	case ORIGIN_PART: return "not known: this instruction stored a part of it alone";
	case ORIGIN_SUSPECT:
		return "not known; this one stored that value, but where is not known";
	case ORIGIN_CHANGED:
		return "not known: after this store the memory was changed";
	default: return "not known: the way is too long; ask from here on";
	}
}

const struct origin_hop *why_oldest(const struct origin *origin)
{
	const struct origin_hop *found = NULL;

	for (size_t i = 0; i < origin->nr; i++)
		if (origin->hops[i].value_class != ORIGIN_UNKNOWN)
			found = &origin->hops[i];
	return found;
}

/* --- Places ------------------------------------------------------------- */

static void find_text(const struct why *why, struct why_place *place)
{
	uint8_t bytes[CODE_INSN_MAX_BYTES];

	if (!code_text(trace_code(why->renderer.rec), 0, place->ip, false, bytes, place->insn,
		       sizeof(place->insn)))
		place->insn[0] = '\0';
}

void why_place(const struct why *why, const struct trace_values *values, unsigned int cpu,
	       const struct origin_hop *hop, struct why_place *ret)
{
	const struct trace_values_range *range = trace_values_range(values, hop->place);

	*ret = (struct why_place){ .cpu = range ? range->cpu : cpu };
	/* What is older than all of them is so at the first. */
	ret->n = range ? range->n : values->nr ? values->ranges[0].n : 0;
	ret->side = trace_values_side(values, range);
	if (hop->kind == ORIGIN_ASKED) {
		ret->cpu = cpu;
		ret->n = why->asked_n;
		ret->ip = why->asked_ip;
	} else if (hop->insn && hop->insn->length_bytes) {
		ret->ip = hop->insn->ip;
		find_text(why, ret);
	}
}

/* --- Other CPUs --------------------------------------------------------- */

static bool is_older(const struct origin *origin)
{
	return origin->nr && origin->hops[origin->nr - 1].kind == ORIGIN_OLDER;
}

/* The memory whose store is not certain; NULL: there is none. */
static const struct origin_hop *open_load(const struct why *why)
{
	const struct origin_hop *found = NULL;

	for (size_t i = 0; i < why->origin.nr; i++) {
		const struct origin_hop *hop = &why->origin.hops[i];

		if (hop->kind == ORIGIN_LOADED)
			found = hop;
		if (hop->kind == ORIGIN_STORED && hop->class == ORIGIN_CERTAIN)
			found = NULL;
	}
	return found;
}

/* The values of @cpu, as many as the question is about. */
static enum btsrec_status open_values(struct why *why, unsigned int cpu, const struct fault *fault,
				      struct trace_values *ret)
{
	return trace_values_newest(why->renderer.rec, cpu, fault, why->opts->max_events,
				   why->max_bytes, ret);
}

static uint8_t nr_loaded(const struct origin_hop *load)
{
	uint32_t nr_bytes = load->insn ? load->insn->load_bytes : 0;

	return nr_bytes && nr_bytes < WHY_WORD_BYTES ? (uint8_t)nr_bytes : WHY_WORD_BYTES;
}

/* Of another instruction the register holds more than what was loaded. */
static struct known value_loaded(const struct origin_hop *load)
{
	return load->value_class == ORIGIN_UNKNOWN || !load->insn || load->insn->op != SEM_MOV ?
		       known_none() : known_all(load->value);
}

static enum btsrec_status look_at_cpu(struct why *why, unsigned int cpu,
				      const struct origin_hop *load)
{
	const struct origin_target target = { .reg = SEM_NO_REG, .address = load->address,
					      .has_address = load->has_address,
					      .nr_bytes = nr_loaded(load) };
	/* If a store is known, none is looked for that may be one. */
	int64_t disp = load->insn && is_older(&why->origin) ? load->insn->disp : 0;
	struct why_candidate *candidate = &why->candidates[why->nr_candidates];
	struct btsrec *rec = why->renderer.rec;
	struct trace_values values = { 0 };
	struct fault fault;
	enum btsrec_status status = trace_fault(rec, cpu, &fault);

	if (!status)
		status = open_values(why, cpu, &fault, &values);
	if (!status && origin_store(values.values, &target, value_loaded(load), disp,
				    &candidate->hop)) {
		why_place(why, &values, cpu, &candidate->hop, &candidate->place);
		candidate->has_side = candidate->place.side;
		if (candidate->has_side)
			candidate->side = *candidate->place.side;
		candidate->place.side = NULL;
		candidate->hop.insn = NULL;
		why->nr_candidates++;
	}
	trace_values_close(&values);
	return status;
}

static enum btsrec_status find_candidates(struct why *why)
{
	const struct origin_hop *load = open_load(why);
	struct btsrec *rec = why->renderer.rec;
	enum btsrec_status status = BTSREC_OK;

	if (!load || (!load->has_address && !is_older(&why->origin)))
		return BTSREC_OK;
	for (unsigned int cpu = 0; cpu < btsrec_nr_cpu_ids(rec) && !status; cpu++)
		if (cpu != why->cpu && btsrec_cpu(rec, cpu) &&
		    why->nr_candidates < WHY_MAX_CANDIDATES)
			status = look_at_cpu(why, cpu, load);
	/* A history that cannot be read says nothing. */
	return status == BTSREC_ERR_NOMEM || status == BTSREC_ERR_IO ? status : BTSREC_OK;
}

/* --- All ---------------------------------------------------------------- */

/* @max_bytes: the summary has no words for more than one chain. */
static enum btsrec_status find_in(struct why *why, struct trace_values *values,
				  struct origin_question *question, struct origin *ret)
{
	struct value_numbers *numbers = value_numbers_new(values->values);

	if (!numbers)
		return msg_set(&why->renderer.rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	question->numbers = numbers;
	origin_find(values->values, question, ret);
	if (!why->max_bytes) {
		origin_find_index(values->values, question, ret);
		origin_find_bound(values->values, question, ret);
	}
	value_numbers_free(numbers);
	return BTSREC_OK;
}

/* The thread that the question is about; 0: not known, or each CPU has its own. */
static uint32_t asked_thread(const struct why *why)
{
	const struct btsrec_side *side = trace_values_side(
		&why->values, trace_values_range(&why->values, why->question.place));

	return side ? side->pid : 0;
}

static uint32_t place_in(const struct why *why, const struct trace_values *values)
{
	return why->question.place == why->values.fault_place ?
		       values->fault_place :
		       trace_values_at(values, why->cpu, why->asked_n, why->asked_ip);
}

/* What no store on this CPU has made, the thread may have, before it slept or came here. */
static enum btsrec_status find_of_thread(struct why *why, uint32_t pid)
{
	struct origin_question question = why->question;
	_cleanup_free_ struct origin *origin = calloc(1, sizeof(*origin));
	struct trace_values values;
	enum btsrec_status status;

	if (!origin)
		return msg_set(&why->renderer.rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	status = trace_values_thread(why->renderer.rec, why->cpu, &why->fault, why->cpu, pid,
				     &values);
	question.place = status ? TRACE_VALUES_NONE : place_in(why, &values);
	if (question.place != TRACE_VALUES_NONE)
		status = find_in(why, &values, &question, origin);
	if (!status && origin->nr && !is_older(origin)) {
		struct trace_values was = why->values;

		why->values = values;
		why->origin = *origin;
		values = was;
	}
	trace_values_close(&values);
	return status;
}

static enum btsrec_status find_origin(struct why *why)
{
	uint32_t pid = asked_thread(why);
	enum btsrec_status status = find_in(why, &why->values, &why->question, &why->origin);

	if (status || why->max_bytes || why->opts->max_events || !pid ||
	    why->values.constants.of_thread || !is_older(&why->origin))
		return status;
	return find_of_thread(why, pid);
}

/* The handler of the fault has gone to another CPU, where it froze: the fault is on @why->cpu. */
static enum btsrec_status find_moved(struct why *why)
{
	const struct btsrec_cpu *page = btsrec_cpu(why->renderer.rec, why->cpu);
	unsigned int cpu = why->cpu;
	struct thread thread = { 0 };
	enum btsrec_status status;
	struct fault fault;
	size_t interval;
	uint32_t pid = page && page->frozen ? page->freeze.pid : 0;

	if (!pid)
		return BTSREC_OK;
	status = thread_open(&thread, why->renderer.rec, pid, false);
	if (!status)
		status = trace_fault_moved(&thread, cpu, &fault, &interval);
	if (!status && fault.kind != FAULT_UNKNOWN) {
		why->fault = fault;
		why->cpu = thread.intervals.list[interval].cpu;
		status = trace_values_thread(why->renderer.rec, cpu, &why->fault, why->cpu, pid,
					     &why->values);
	}
	thread_close(&thread);
	return status;
}

static enum btsrec_status find_answer(struct why *why)
{
	enum btsrec_status status = trace_fault(why->renderer.rec, why->cpu, &why->fault);

	if (!status && why->fault.kind == FAULT_UNKNOWN && !why->opts->has_at &&
	    !why->opts->max_events && !why->max_bytes)
		status = find_moved(why);
	if (!status && !why->values.values)
		status = open_values(why, why->cpu, &why->fault, &why->values);
	if (!status)
		status = why_ask(why);
	if (status || why->lacks)
		return status;
	return find_origin(why);
}

static enum btsrec_status answer(struct why *why)
{
	enum btsrec_status status = find_answer(why);

	if (!status)
		status = find_candidates(why);
	if (status)
		return status;
	if (why->fn)
		why_values(why);
	else if (why->opts->format == BTSREC_FORMAT_JSONL)
		why_json(why);
	else
		why_text(why);
	return out_flush(&why->renderer.out);
}

static enum btsrec_status check(struct btsrec *rec, struct why *why)
{
	enum btsrec_status status = cpus_check(rec, NULL, 0);

	if (status)
		return status;
	if (why->opts->format != BTSREC_FORMAT_TEXT && why->opts->format != BTSREC_FORMAT_JSONL)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "why answers as text or JSON lines");
	if (!trace_code(rec))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	why->cpu = why->opts->has_cpu ? why->opts->cpu : btsrec_root(rec)->freeze_cpu;
	return cpus_check(rec, &why->cpu, 1);
}

/* As text to @sink, or, if there is @fn, as values to it. */
static enum btsrec_status put_why(struct btsrec *rec, const struct btsrec_why *opts,
				  const struct btsrec_sink *sink, btsrec_origin_fn fn, void *arg)
{
	_cleanup_free_ struct why *why = calloc(1, sizeof(*why));
	enum btsrec_status status;

	if (!why)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	why->opts = opts;
	why->fn = fn;
	why->arg = arg;
	why->renderer.rec = rec;
	status = check(rec, why);
	if (!status) {
		out_init(&why->renderer.out, sink);
		status = answer(why);
		trace_values_close(&why->values);
	}
	return cpus_end(rec, &why->cpu, status);
}

enum btsrec_status btsrec_why(struct btsrec *rec, const struct btsrec_why *given,
			      const struct btsrec_sink *sink)
{
	struct btsrec_why opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	return status ? status : put_why(rec, &opts, sink, NULL, NULL);
}

enum btsrec_status btsrec_why_each(struct btsrec *rec, const struct btsrec_why *given,
				   btsrec_origin_fn fn, void *arg)
{
	struct btsrec_why opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = values_check(&rec->msg, opts.format);
	return status ? status : put_why(rec, &opts, &values_sink, fn, arg);
}

/* --- For the summary ------------------------------------------------------ */

enum btsrec_status why_newest(struct why *why, struct btsrec *rec, unsigned int cpu,
			      const struct btsrec_why *opts, uint64_t max_bytes)
{
	why->opts = opts;
	why->cpu = cpu;
	why->max_bytes = max_bytes;
	why->renderer.rec = rec;
	if (!trace_code(rec))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	return find_answer(why);
}

void why_fini(struct why *why)
{
	trace_values_close(&why->values);
}
