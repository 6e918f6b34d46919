// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The instructions that ran, in order.  Branches are not events here: they are
 * instructions; only what entered the kernel without one has a line of its own.
 */
#include <stdlib.h>

#include "base/options.h"
#include "views/cpu_tasks.h"
#include "views/values.h"
#include "render/insn_lines.h"
#include "render/json.h"
#include "render/render_branch.h"
#include "render/render_lines.h"
#include "symbols/symbol.h"
#include "render/text_columns.h"
#include "recorder/cpus.h"
#include "views/view_thread.h"
#include "flow/trace_values.h"

/* {"cpu":C,"n":N with two long numbers. */
#define BEGIN_MAX_BYTES 64

/* Two numbers, blanks and a name; each byte of the name may have become four. */
#define THREAD_MAX_BYTES 128

/**
 * struct insns - one btsrec_insns() under way
 * @event_filter, @fault: of the CPU being printed; borrowed.
 * @cr3, @cpu, @n: of the event being printed.
 * @begin: what all its lines begin with, @begin_bytes.
 * @before: the thread that made the branch before, if @has_before.
 * @nr_skip: so many events are too old to be printed.
 * @interval: NULL, or to be printed in front of the next event; @interval_before: before it.
 * @line: of the instruction printed last; @line.number 0: it has none.
 * @thread: @thread_bytes of text that name the thread of @thread_side.
 * @nomem: a line was lost for lack of memory.
 * @values, @place: with @opts->values: of the CPU, and of the next instruction.
 * @fn, @arg: receive lines as values; NULL: they are printed.
 */
struct insns {
	struct renderer renderer;
	const struct render_format *format;
	const struct btsrec_insns *opts;
	struct event_filter *event_filter;
	bool json;
	struct line line;
	uint64_t cr3;
	unsigned int cpu;
	uint64_t n;
	char begin[BEGIN_MAX_BYTES];
	size_t begin_bytes;
	const struct fault *fault;
	bool has_before;
	struct btsrec_side before;
	uint64_t nr_skip;
	const struct interval *interval;
	const struct interval *interval_before;
	struct btsrec_side thread_side;
	char thread[THREAD_MAX_BYTES];
	size_t thread_bytes;
	bool nomem;
	struct insn_lines lines;
	struct trace_values values;
	uint32_t place;
	btsrec_insn_fn fn;
	void *arg;
};

/* --- Text --------------------------------------------------------------- */

static void text_begin(struct insns *view, const char *kind)
{
	struct out *out = &view->renderer.out;

	out_bytes(out, view->begin, view->begin_bytes);
	out_pad(out, kind, 8);
}

/* The mode of the code is worth a word where it is not what a reader expects. */
static void out_mode(struct out *out, const struct proof_step *step)
{
	if (step->guessed && step->compat)
		out_literal(out, "  mode not known, by its bytes 32-bit code");
	else if (step->guessed)
		out_literal(out, "  mode not known, taken for 64-bit code");
	else if (step->compat)
		out_literal(out, "  32-bit code");
}

/* Many events in a row are of one thread. */
static void word_thread(struct insns *view, const struct btsrec_side *side)
{
	struct out *out = &view->lines.labels;

	out_init(out, NULL);
	out_char(out, ' ');
	out_thread(out, side->pid, side->tgid, side->comm);
	view->thread_bytes = (size_t)(out->at - out->buf);
	memcpy(view->thread, out->buf, view->thread_bytes);
	view->thread_side = *side;
}

static void text_thread(struct insns *view, const struct btsrec_side *side)
{
	if (!view->thread_bytes || memcmp(side, &view->thread_side, sizeof(*side)))
		word_thread(view, side);
	out_bytes(&view->renderer.out, view->thread, view->thread_bytes);
}

/* @name: the end of the line, if that is kept; NULL: it is not. */
static void text_code(struct insns *view, uint64_t ip, const struct trace_event *traced,
		      const struct insn_line *name)
{
	struct out *out = &view->renderer.out;

	view->line.number = 0;
	text_begin(view, "code");
	out_hex16(out, ip);
	if (traced->side)
		text_thread(view, traced->side);
	if (name) {
		out_bytes(out, name->text, name->nr_bytes);
		return;
	}
	out_name_of(out, &view->renderer, ip);
	out_mode(out, traced->step);
	out_char(out, '\n');
}

/* Code of a file: tabs are text, other control characters are not. */
static void out_source(struct out *out, const char *text, size_t nr_bytes)
{
	for (size_t i = 0; i < nr_bytes; i++) {
		if (text[i] == '\t' || (text[i] >= ' ' && text[i] <= '~'))
			out_char(out, text[i]);
		else
			out_escaped(out, text + i, 1);
	}
}

static bool same_line(const struct line *a, const struct line *b)
{
	return a->number == b->number && (!a->number || !strcmp(a->file, b->file));
}

/* A line of its own where the source line changes. */
static void text_line(struct insns *view, uint64_t ip)
{
	struct out *out = &view->renderer.out;
	struct line line = { 0 };
	const char *text = "";
	size_t nr_bytes;

	(void)line_find(view->renderer.rec, ip, &line);
	if (same_line(&line, &view->line))
		return;
	view->line = line;
	text_begin(view, "line");
	if (line.number) {
		out_line(out, &line);
		nr_bytes = srctext_line(&view->lines.source, line.file, line.number, &text);
		if (nr_bytes)
			out_literal(out, "  ");
		out_source(out, text, nr_bytes);
	} else {
		out_char(out, '-');
	}
	out_char(out, '\n');
}

static void text_entry(struct insns *view, const struct btsrec_record *record,
		       const struct branch *branch)
{
	struct out *out = &view->renderer.out;

	text_begin(view, "entry");
	out_hex16(out, record->from);
	out_literal(out, " -> ");
	out_hex16(out, record->to);
	out_char(out, ' ');
	out_branch_type(out, branch);
	out_char(out, '\n');
}

static void text_break(struct insns *view, const struct proof_step *step)
{
	text_begin(view, "break");
	out_break(&view->renderer.out, step);
	out_char(&view->renderer.out, '\n');
}

/* --- JSON lines --------------------------------------------------------- */

static void json_begin(struct insns *view, const char *kind)
{
	struct out *out = &view->renderer.out;

	out_bytes(out, view->begin, view->begin_bytes);
	json_word(out, "kind", kind);
}

static void json_code(struct insns *view, uint64_t ip, const struct trace_event *traced)
{
	const struct btsrec_side *side = traced->side;
	struct out *out = &view->renderer.out;

	json_begin(view, "code");
	json_address(out, "ip", ip);
	if (side)
		json_thread(out, side->pid, side->tgid, side->comm);
	json_sym(&view->renderer, "ip_sym", ip);
	if (traced->step->compat)
		json_word(out, "mode", "32-bit");
	if (traced->step->guessed)
		out_literal(out, ",\"mode_known\":false");
	out_literal(out, "}\n");
}

static void json_entry(struct insns *view, const struct btsrec_record *record,
		       const struct branch *branch)
{
	json_begin(view, "entry");
	json_address(&view->renderer.out, "from", record->from);
	json_address(&view->renderer.out, "to", record->to);
	json_branch_type(&view->renderer.out, branch);
	out_literal(&view->renderer.out, "}\n");
}

static void json_broken(struct insns *view, const struct proof_step *step)
{
	json_begin(view, "break");
	json_break(&view->renderer.out, step);
	out_literal(&view->renderer.out, "}\n");
}

/* --- Values ------------------------------------------------------------- */

static void put_value(struct insns *view, const struct btsrec_side *side,
		      struct btsrec_insn *value)
{
	value->size = sizeof(*value);
	value->cpu = view->cpu;
	value->n = view->n;
	value->has_task = values_task(side, &value->task);
	if (!view->renderer.out.stopped && !view->fn(view->arg, value))
		view->renderer.out.stopped = true;
}

static void put_insn(struct insns *view, uint64_t ip, const struct trace_event *traced,
		     const struct insn_line *line)
{
	struct btsrec_insn value = {
		.kind = BTSREC_INSN_EXECUTED,
		.ip_va = ip,
		.length_bytes = line->code_bytes,
		.text = line->text,
		.text_bytes = line->nr_bytes,
		.is_32_bit = traced->step->compat,
	};

	put_value(view, traced->side, &value);
}

static void put_entry(struct insns *view, const struct trace_event *traced)
{
	struct btsrec_insn value = {
		.kind = BTSREC_INSN_ENTRY,
		.ip_va = traced->event->branch.from,
		.to_va = traced->event->branch.to,
	};

	put_value(view, traced->side, &value);
}

static void put_break(struct insns *view, const struct trace_event *traced)
{
	struct btsrec_insn value = {
		.kind = BTSREC_INSN_BREAK,
		.ip_va = traced->step->start,
		.why = proof_kind_str(traced->step->kind),
	};

	put_value(view, traced->side, &value);
}

/* --- All ---------------------------------------------------------------- */

static void word_begin(struct insns *view)
{
	struct out *out = &view->lines.labels;

	out_init(out, NULL);
	if (view->json) {
		out_literal(out, "{\"cpu\":");
		out_dec(out, view->cpu, 0);
		json_number(out, "n", view->n);
	} else {
		out_event(out, view->cpu, view->n);
	}
	view->begin_bytes = (size_t)(out->at - out->buf);
	memcpy(view->begin, out->buf, sizeof(view->begin));
}

static bool is_known(const struct sem_shown *shown, const struct known *known, uint64_t *ret)
{
	uint64_t width = shown->bytes < 8 ? (1ULL << 8 * shown->bytes) - 1 : UINT64_MAX;

	*ret = known->value >> shown->shift & width;
	return (known->mask >> shown->shift & width) == width;
}

static void text_value(struct out *out, const struct sem_shown *shown, const struct known *known)
{
	uint64_t value;

	out_char(out, ' ');
	out_str(out, sem_shown_name(shown));
	out_char(out, '=');
	if (is_known(shown, known, &value))
		out_hex(out, value);
	else
		out_char(out, '?');
}

/* What is read is what it was before, what is written is what it became. */
static void text_values(struct out *out, const struct sem_insn *insn,
			const struct reg_values_at *at)
{
	const char *arrow = " ->";

	out_literal(out, "  #");
	for (unsigned int i = 0; i < insn->nr_shown; i++)
		if (insn->shown[i].read)
			text_value(out, &insn->shown[i], &at->before[insn->shown[i].reg]);
	for (unsigned int i = 0; i < insn->nr_shown; i++) {
		if (!insn->shown[i].written)
			continue;
		out_str(out, arrow);
		arrow = "";
		text_value(out, &insn->shown[i], &at->behind[insn->shown[i].reg]);
	}
}

static void json_value(struct out *out, const struct sem_shown *shown, const struct known *known)
{
	uint64_t value;
	bool certain = is_known(shown, known, &value);

	out_literal(out, "{\"reg\":\"");
	out_str(out, sem_shown_name(shown));
	out_char(out, '"');
	if (certain) {
		out_literal(out, ",\"value\":\"");
		out_hex(out, value);
		out_char(out, '"');
	}
	json_word(out, "class", certain ? "certain" : "unknown");
	out_char(out, '}');
}

static void json_values(struct out *out, const struct sem_insn *insn,
			const struct reg_values_at *at)
{
	const char *comma = "";

	out_literal(out, ",\"reads\":[");
	for (unsigned int i = 0; i < insn->nr_shown; i++) {
		if (!insn->shown[i].read)
			continue;
		out_str(out, comma);
		comma = ",";
		json_value(out, &insn->shown[i], &at->before[insn->shown[i].reg]);
	}
	out_literal(out, "],\"writes\":[");
	comma = "";
	for (unsigned int i = 0; i < insn->nr_shown; i++) {
		if (!insn->shown[i].written)
			continue;
		out_str(out, comma);
		comma = ",";
		json_value(out, &insn->shown[i], &at->behind[insn->shown[i].reg]);
	}
	out_char(out, ']');
}

/* In front of the end of the line. */
static void show_values(struct insns *view, const struct insn_line *line)
{
	struct out *out = &view->renderer.out;
	size_t end_bytes = view->json ? 2 : 1;
	const struct sem_insn *insn;
	struct reg_values_at at;

	out_long(out, line->text, line->nr_bytes - end_bytes);
	insn = reg_values_next(view->values.values, view->place++, &at);
	if (view->json)
		json_values(out, insn, &at);
	else if (insn->nr_shown)
		text_values(out, insn, &at);
	out_bytes(out, line->text + line->nr_bytes - end_bytes, end_bytes);
	out_room(out);
}

static void show_insn(struct insns *view, const struct insn_line *line)
{
	struct out *out = &view->renderer.out;

	out_room(out);
	memcpy(out->at, view->begin, sizeof(view->begin));
	out->at += view->begin_bytes;
	if (view->place != TRACE_VALUES_NONE)
		show_values(view, line);
	else
		insn_line_put(out, line);
}

/* The lines from @line up to @end; the code of the first one begins at @ip. */
static void show_lines(struct insns *view, const struct insn_line *line,
		       const struct insn_line *end, uint64_t ip, const struct trace_event *traced)
{
	bool changes = view->opts->lines && !view->json && !view->fn;

	for (; line != end; line = insn_line_next(line)) {
		if (changes)
			text_line(view, ip);
		if (view->fn)
			put_insn(view, ip, traced, line);
		else
			show_insn(view, line);
		ip += line->code_bytes;
	}
}

static void show_code(struct insns *view, uint64_t ip, const struct trace_event *traced,
		      const struct insn_line *name)
{
	if (view->json)
		json_code(view, ip, traced);
	else if (!view->fn)
		text_code(view, ip, traced, name);
}

static void show_range(struct insns *view, const struct proof_range *range,
		       const struct trace_event *traced)
{
	struct insn_row row = { .cr3 = view->cr3, .start = range->start, .stop = range->stop,
				.compat = traced->step->compat };
	const struct insn_line *line, *end;
	const struct label *label;

	row.named = !view->json && !view->fn && code_is_kernel(row.start);
	do {
		label = insn_lines_find(&view->lines, &row);
		view->nomem |= !label;
		if (!label)
			return;
		line = insn_line_first(label, &end);
		if (row.start == range->start)
			show_code(view, row.start, traced, row.named ? line : NULL);
		if (row.named)
			line = insn_line_next(line);
		show_lines(view, line, end, row.start, traced);
		row.start += label->cookie;
		row.named = false;
	} while (label->cookie && row.start < row.stop && !view->renderer.out.stopped);
}

static void show_ranges(struct insns *view, const struct trace_event *traced)
{
	const struct proof_step *step = traced->step;
	struct trace_event before = *traced;

	/* Of two the first ran before an annotation, maybe in another thread. */
	if (view->has_before)
		before.side = &view->before;
	for (unsigned int i = 0; i < step->nr_ranges; i++) {
		view->place = view->opts->values ?
			      trace_values_find(&view->values, traced->event->n,
						step->ranges[i].start) :
			      TRACE_VALUES_NONE;
		show_range(view, &step->ranges[i], i + 1 < step->nr_ranges ? &before : traced);
	}
}

static bool is_entry(const struct branch *branch)
{
	return branch->type == BRANCH_IRQ || branch->type == BRANCH_NMI ||
	       branch->type == BRANCH_EXCEPTION || branch->type == BRANCH_ENTRY;
}

static void show_step(struct insns *view, const struct trace_event *traced)
{
	const struct proof_step *step = traced->step;

	if (step->kind != PROOF_PROVEN && step->kind != PROOF_START) {
		if (view->fn)
			put_break(view, traced);
		else if (view->json)
			json_broken(view, step);
		else
			text_break(view, step);
	}
	show_ranges(view, traced);
	if (fault_is_here(view->fault, traced->event) && !view->fn)
		view->format->fault(&view->renderer, view->cpu, view->n, view->fault);
	if (traced->event->kind == BTSREC_EVENT_BRANCH && is_entry(&step->branch)) {
		if (view->fn)
			put_entry(view, traced);
		else if (view->json)
			json_entry(view, &traced->event->branch, &step->branch);
		else
			text_entry(view, &traced->event->branch, &step->branch);
	}
}

static void print_interval_lines(struct insns *view)
{
	if (!view->interval)
		return;
	view->format->interval(&view->renderer, view->interval_before, view->interval);
	view->interval = NULL;
}

static void keep_before(struct insns *view, const struct trace_event *traced)
{
	if (!traced->step)
		return;
	view->has_before = traced->side;
	if (traced->side)
		view->before = *traced->side;
}

static bool show_event(struct insns *view, const struct trace_event *traced)
{
	const struct btsrec_event *event = traced->event;

	if (!event_filter_wants(view->event_filter, event))
		return true;
	if (view->nr_skip) {
		view->nr_skip -= event_filter_counts(view->event_filter, event);
		return true;
	}
	print_interval_lines(view);
	view->cpu = event->cpu;
	view->n = event->n;
	view->cr3 = traced->side ? traced->side->cr3 : 0;
	view->renderer.side = traced->side;
	word_begin(view);
	if (traced->step && filter_level(&view->event_filter->filter, traced->step->end))
		show_step(view, traced);
	if (event->kind != BTSREC_EVENT_BRANCH && !view->fn)
		view->format->event(&view->renderer, event);
	return !view->renderer.out.stopped && !view->nomem;
}

static bool insns_event(void *arg, const struct trace_event *traced)
{
	struct insns *view = arg;
	bool goes_on = show_event(view, traced);

	keep_before(view, traced);
	return goes_on;
}

/* A thread without memory stops, and the status says why. */
static enum btsrec_status insns_status(const struct insns *view, enum btsrec_status status)
{
	if (view->nomem || view->lines.source.nomem)
		return msg_set(&view->renderer.rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	return status;
}

static enum btsrec_status insns_selected(struct insns *view, unsigned int cpu)
{
	struct btsrec *rec = view->renderer.rec;
	struct event_filter *event_filter = view->event_filter;
	enum btsrec_status status;

	status = event_filter_init(event_filter, rec, cpu, view->opts->filter,
				   view->opts->max_events);
	if (!status)
		status = trace_events(rec, cpu, event_filter->nr_tail, insns_event, view, NULL);
	if (!status && event_filter->filter.any && view->format->filtered)
		view->format->filtered(&view->renderer, cpu, event_filter->nr_wanted,
				       event_filter->nr_seen);
	event_filter_fini(event_filter);
	return status;
}

static enum btsrec_status insns_cpu(void *arg, unsigned int cpu)
{
	struct insns *view = arg;
	struct btsrec *rec = view->renderer.rec;
	struct session_ring ring;
	struct event_filter event_filter;
	struct fault fault;
	enum btsrec_status status = session_ring(rec, cpu, &ring);

	if (!status)
		status = trace_fault(rec, cpu, &fault);
	if (status)
		return status;
	view->event_filter = &event_filter;
	view->fault = &fault;
	view->has_before = false;
	if (view->format->cpu)
		view->format->cpu(&view->renderer, btsrec_cpu(rec, cpu), &ring);
	if (view->opts->values)
		status = trace_values_open(rec, cpu, &fault, &view->values);
	if (!status)
		status = insns_selected(view, cpu);
	if (view->opts->values)
		trace_values_close(&view->values);
	if (!status && view->format->cpu_end)
		view->format->cpu_end(&view->renderer, cpu);
	return insns_status(view, status);
}

/* --- One thread --------------------------------------------------------- */

static bool count_event(void *arg, const struct trace_event *traced)
{
	struct insns *view = arg;

	view->nr_skip += event_filter_wants(view->event_filter, traced->event) &&
			 event_filter_counts(view->event_filter, traced->event);
	return true;
}

static enum btsrec_status insns_pass(struct insns *view, struct view_thread *all, trace_fn fn)
{
	enum btsrec_status status = BTSREC_OK;

	thread_rewind(&all->thread);
	for (size_t i = 0; i < all->thread.intervals.nr && !status; i++) {
		view->interval = &all->thread.intervals.list[i];
		view->interval_before = view_thread_before(all, i);
		status = view_thread_select(all, view->interval->cpu, &view->event_filter,
					    &view->fault);
		if (!status)
			status = thread_interval(&all->thread, i, fn, view);
	}
	return status;
}

static enum btsrec_status count_events(struct insns *view, struct view_thread *all)
{
	uint64_t max_events = view->opts->max_events;
	enum btsrec_status status;

	all->thread.prove = false;
	status = insns_pass(view, all, count_event);
	all->thread.prove = true;
	view->nr_skip = view->nr_skip > max_events ? view->nr_skip - max_events : 0;
	return status;
}

static enum btsrec_status insns_thread(void *arg)
{
	struct insns *view = arg;
	struct view_thread all;
	enum btsrec_status status;

	status = view_thread_open(&all, view->renderer.rec, view->opts->thread,
				  view->opts->filter, true);
	if (!status)
		status = view_thread_rings(&all, &view->renderer, view->format);
	if (!status && view->opts->max_events)
		status = count_events(view, &all);
	if (!status)
		status = insns_pass(view, &all, insns_event);
	if (!status)
		view_thread_end(&all, &view->renderer, view->format);
	view_thread_close(&all);
	return insns_status(view, status);
}

/* --- All of them -------------------------------------------------------- */

static enum btsrec_status insns_check(struct btsrec *rec, const struct btsrec_insns *opts)
{
	if (opts->values && opts->thread)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "values are shown of CPUs, not of a thread");
	if (opts->format != BTSREC_FORMAT_TEXT && opts->format != BTSREC_FORMAT_JSONL)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "instructions are shown as text or JSON lines");
	return view_thread_check(rec, opts->cpus, opts->nr_cpus, opts->filter, opts->thread);
}

/** struct insns_how - @opts; @fn, @arg: see struct insns */
struct insns_how {
	const struct btsrec_insns *opts;
	btsrec_insn_fn fn;
	void *arg;
};

static bool insns_open(void *arg, void *data, struct btsrec *rec)
{
	const struct insns_how *how = arg;
	const struct btsrec_insns *opts = how->opts;
	struct insns *view = data;

	if (!trace_code(rec))
		return false;
	view->renderer.rec = rec;
	view->renderer.names = symbols_present(rec);
	view->renderer.lines = opts->lines;
	view->format = render_format_of(opts->format);
	view->json = opts->format == BTSREC_FORMAT_JSONL;
	view->opts = opts;
	view->fn = how->fn;
	view->arg = how->arg;
	insn_lines_init(&view->lines, &view->renderer, opts);
	view->lines.bare = view->fn;
	return true;
}

static enum btsrec_status insns_close(void *arg, void *data)
{
	struct insns *view = data;
	enum btsrec_status status;

	(void)arg;
	view->format->end(&view->renderer);
	status = insns_status(view, BTSREC_OK);
	insn_lines_fini(&view->lines);
	return status;
}

static enum btsrec_status put_insns(struct btsrec *rec, struct insns_how how,
				    const struct btsrec_sink *sink)
{
	const struct btsrec_insns *opts = how.opts;
	static const struct cpu_tasks work = {
		.view_bytes = sizeof(struct insns),
		.out_at = offsetof(struct insns, renderer.out),
		.open = insns_open,
		.cpu = insns_cpu,
		.close = insns_close,
	};
	enum btsrec_status status = insns_check(rec, opts);

	if (!status && opts->thread)
		status = cpu_tasks_one(rec, &work, insns_thread, &how, sink);
	else if (!status)
		status = cpu_tasks_print(rec, opts->cpus, opts->nr_cpus,
					 opts->lines || opts->source_folder || how.fn, &work,
					 &how, sink);
	return cpus_end(rec, opts->cpus, status);
}

enum btsrec_status btsrec_insns(struct btsrec *rec, const struct btsrec_insns *given,
				const struct btsrec_sink *sink)
{
	struct btsrec_filter filter;
	struct btsrec_insns opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = options_filter(&rec->msg, &opts.filter, &filter);
	return status ? status : put_insns(rec, (struct insns_how){ .opts = &opts }, sink);
}

enum btsrec_status btsrec_insns_each(struct btsrec *rec, const struct btsrec_insns *given,
				     btsrec_insn_fn fn, void *arg)
{
	struct btsrec_filter filter;
	struct btsrec_insns opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = options_filter(&rec->msg, &opts.filter, &filter);
	if (!status)
		status = values_check(&rec->msg, opts.format);
	opts.values = false;
	return status ? status :
			put_insns(rec, (struct insns_how){ &opts, fn, arg }, &values_sink);
}
