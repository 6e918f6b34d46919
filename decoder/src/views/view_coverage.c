// SPDX-License-Identifier: GPL-2.0-or-later
/* Which instructions of a function of the kernel were executed, and which never. */
#include "views/values.h"
#include "views/view_coverage.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/options.h"
#include "flow/event_filter.h"
#include "recorder/cpus.h"

#define MAX_FUNCTION_BYTES	(1U << 20)
#define INSN_TEXT_BYTES		128

/* --- The functions ------------------------------------------------------ */

static bool starts_at(struct btsrec *rec, uint64_t va, uint64_t start)
{
	struct symbol_name name;

	return symbol_find_as(rec, va, true, &name) && name.name_bytes &&
	       va - name.offset_bytes == start;
}

static bool append(struct cover *cover, const struct cover_insn *insn)
{
	if (!grow_from(&cover->insns, sizeof(*insn), cover->nr_insns, &cover->nr_room, 64))
		return false;
	cover->insns[cover->nr_insns++] = *insn;
	return true;
}

bool cover_read(struct btsrec *rec, struct code *code, uint64_t start, struct cover *cover)
{
	struct cover_insn insn = { .ip = start };
	struct code_insn decoded;

	while (!insn.fault && insn.ip - start < MAX_FUNCTION_BYTES &&
	       starts_at(rec, insn.ip, start)) {
		insn.fault = code_insn(code, 0, insn.ip, false, &decoded);
		insn.nr_bytes = insn.fault ? 1 : decoded.length_bytes;
		if (!append(cover, &insn))
			return false;
		insn.ip += insn.nr_bytes;
	}
	return coverage_init(&cover->coverage, start, insn.ip - start);
}

static enum btsrec_status add_function(struct cover_view *view, uint64_t va)
{
	struct btsrec *rec = view->renderer.rec;
	struct cover *cover = &view->covers[view->nr_covers];
	struct symbol_name raw;

	if (!symbol_find_as(rec, va, true, &raw) || !symbol_find(rec, va, &cover->name) ||
	    !cover->name.name_bytes)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "0x%llx is in no known function",
			       (unsigned long long)va);
	view->nr_covers++;
	if (!cover_read(rec, view->code, va - raw.offset_bytes, cover))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	return BTSREC_OK;
}

static enum btsrec_status take_given(struct cover_view *view)
{
	enum btsrec_status status = BTSREC_OK;

	for (size_t i = 0; i < view->nr_given && status != BTSREC_ERR_NOMEM; i++)
		status = add_function(view, view->given[i]);
	return status == BTSREC_ERR_NOMEM ? status : BTSREC_OK;
}

static enum btsrec_status find_functions(struct cover_view *view)
{
	uint64_t vas[COVER_MAX_FUNCTIONS + 1];
	const char *wanted = view->opts->function;
	struct btsrec *rec = view->renderer.rec;
	enum btsrec_status status = BTSREC_OK;
	size_t nr = 1;

	if (view->given)
		return take_given(view);
	if (!symbol_parse_address(wanted, &vas[0]))
		nr = symbols_by_name(rec, wanted, vas, COVER_MAX_FUNCTIONS + 1);
	if (!nr)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "no function of the kernel is known by that name");
	if (nr > COVER_MAX_FUNCTIONS)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "too many functions have that name: give an address");
	for (size_t i = 0; !status && i < nr; i++)
		status = add_function(view, vas[i]);
	return status;
}

void cover_fini(struct cover *cover)
{
	coverage_fini(&cover->coverage);
	free(cover->insns);
}

static void covers_fini(struct cover_view *view)
{
	for (size_t i = 0; i < view->nr_covers; i++)
		cover_fini(&view->covers[i]);
}

/* --- Counting ----------------------------------------------------------- */

static void count_step(struct cover *cover, const struct proof_step *step)
{
	for (unsigned int i = 0; i < step->nr_ranges; i++)
		coverage_add(&cover->coverage, step->ranges[i].start, step->ranges[i].stop);
	cover->nr_unproven += step->kind != PROOF_PROVEN &&
			      (coverage_has(&cover->coverage, step->start) ||
			       coverage_has(&cover->coverage, step->end));
}

/* One CPU. */
struct covering {
	struct cover_view *view;
	struct event_filter event_filter;
};

static bool count_event(void *arg, const struct trace_event *traced)
{
	struct covering *covering = arg;
	struct cover_view *view = covering->view;
	const struct btsrec_event *event = traced->event;

	if (!event_filter_wants(&covering->event_filter, event))
		return true;
	if (event->kind == BTSREC_EVENT_GAP)
		view->nr_gaps += event->gap.kind != BTSREC_GAP_OVERWRITTEN;
	for (size_t i = 0; traced->step && i < view->nr_covers; i++)
		count_step(&view->covers[i], traced->step);
	return true;
}

static enum btsrec_status count_cpu(void *arg, unsigned int cpu)
{
	struct cover_view *view = arg;
	struct btsrec *rec = view->renderer.rec;
	struct covering covering = { .view = view };
	enum btsrec_status status =
		event_filter_init(&covering.event_filter, rec, cpu, view->opts->filter, 0);

	view->nr_cpus++;
	if (!status)
		status = trace_events(rec, cpu, 0, count_event, &covering, NULL);
	event_filter_fini(&covering.event_filter);
	return status;
}

/* --- The view ----------------------------------------------------------- */

static bool is_padding(struct code *code, const struct cover_insn *insn)
{
	uint8_t bytes[CODE_INSN_MAX_BYTES];
	char text[INSN_TEXT_BYTES];

	if (insn->fault || !code_text(code, 0, insn->ip, false, bytes, text, sizeof(text)))
		return false;
	return !strncmp(text, "int3", 4) || strstr(text, "nop") ||
	       !strcmp(text, "xchg %ax, %ax");
}

/* What fills the room before the next function is no part of this one. */
static void drop_padding(struct code *code, struct cover *cover)
{
	while (cover->nr_insns > 1 &&
	       !coverage_nr(&cover->coverage, cover->insns[cover->nr_insns - 1].ip) &&
	       is_padding(code, &cover->insns[cover->nr_insns - 1]))
		cover->nr_insns--;
}

void cover_end(struct code *code, struct cover *cover)
{
	coverage_end(&cover->coverage);
	drop_padding(code, cover);
	for (size_t i = 0; i < cover->nr_insns; i++) {
		if (cover->insns[i].fault)
			continue;
		if (coverage_nr(&cover->coverage, cover->insns[i].ip))
			cover->nr_executed++;
		else
			cover->nr_never++;
	}
}

static void show_insn(struct cover_view *view, const struct cover *cover,
		      const struct cover_insn *insn)
{
	uint8_t bytes[CODE_INSN_MAX_BYTES];
	char text[INSN_TEXT_BYTES] = "";

	if (insn->fault) {
		view->format->fault(view, insn);
		return;
	}
	(void)code_text(view->code, 0, insn->ip, false, bytes, text, sizeof(text));
	view->format->insn(view, insn, coverage_nr(&cover->coverage, insn->ip), text,
			   sizeof(text));
}

static void show(struct cover_view *view)
{
	for (size_t i = 0; i < view->nr_covers; i++) {
		struct cover *cover = &view->covers[i];

		cover_end(view->code, cover);
		view->format->begin(view, cover);
		for (size_t j = 0; j < cover->nr_insns && !view->renderer.out.stopped; j++)
			show_insn(view, cover, &cover->insns[j]);
	}
	view->format->end(view);
}

static enum btsrec_status cover_check(struct btsrec *rec, const struct btsrec_coverage *opts)
{
	enum btsrec_status status = cpus_check(rec, opts->cpus, opts->nr_cpus);

	if (status)
		return status;
	if (!cover_format_of(opts->format))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "coverage is text or JSON lines");
	return event_filter_check(rec, opts->filter);
}

/** struct cover_how - @given, @nr_given, @fn, @arg: see struct cover_view */
struct cover_how {
	const uint64_t *given;
	size_t nr_given;
	btsrec_executed_fn fn;
	void *arg;
};

static enum btsrec_status put_coverage(struct btsrec *rec, const struct btsrec_coverage *opts,
				       const struct btsrec_sink *sink,
				       const struct cover_how *how)
{
	enum btsrec_status status = cover_check(rec, opts);
	_cleanup_free_ struct cover_view *view = NULL;

	if (!status && !how->given && !opts->function)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no function is named");
	if (status)
		return status;
	view = calloc(1, sizeof(*view));
	if (!view || !trace_code(rec))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	view->renderer.rec = rec;
	view->renderer.lines = opts->lines;
	view->opts = opts;
	view->code = trace_code(rec);
	view->format = how->fn ? &cover_values : cover_format_of(opts->format);
	view->given = how->given;
	view->nr_given = how->nr_given;
	view->fn = how->fn;
	view->arg = how->arg;
	out_init(&view->renderer.out, sink);
	status = find_functions(view);
	if (!status)
		status = cpus_for_each(rec, opts->cpus, opts->nr_cpus, count_cpu, view);
	if (!status) {
		show(view);
		status = out_flush(&view->renderer.out);
	}
	covers_fini(view);
	return cpus_end(rec, opts->cpus, status);
}

enum btsrec_status btsrec_coverage(struct btsrec *rec, const struct btsrec_coverage *given,
				   const struct btsrec_sink *sink)
{
	struct btsrec_filter filter;
	struct btsrec_coverage opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = options_filter(&rec->msg, &opts.filter, &filter);
	return status ? status : put_coverage(rec, &opts, sink, &(struct cover_how){ 0 });
}

enum btsrec_status cover_functions(struct btsrec *rec, const struct btsrec_coverage *opts,
				   const uint64_t *given, size_t nr_given,
				   const struct btsrec_sink *sink)
{
	const struct cover_how how = { .given = given, .nr_given = nr_given };

	return put_coverage(rec, opts, sink, &how);
}

enum btsrec_status btsrec_coverage_each(struct btsrec *rec, const struct btsrec_coverage *given,
					btsrec_executed_fn fn, void *arg)
{
	struct btsrec_filter filter;
	struct btsrec_coverage opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = options_filter(&rec->msg, &opts.filter, &filter);
	if (!status)
		status = values_check(&rec->msg, opts.format);
	return status ? status :
		put_coverage(rec, &opts, &values_sink, &(struct cover_how){ .fn = fn, .arg = arg });
}
