// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The instructions that ran, in order.  Branches are not events here: they are
 * instructions; only what entered the kernel without one has a line of its own.
 */
#include <stdlib.h>

#include "json.h"
#include "render_branch.h"
#include "render_lines.h"
#include "source.h"
#include "symbol.h"
#include "text_lines.h"
#include "view.h"
#include "view_thread.h"

#define INSN_TEXT_BYTES 128

/* What the line of an instruction begins with: {"cpu":C,"n":N,"kind":"insn", two long numbers. */
#define BEGIN_MAX_BYTES 64

/** struct insn - one instruction and its @nr_bytes bytes */
struct insn {
	uint64_t ip;
	size_t nr_bytes;
	uint8_t bytes[CODE_INSN_MAX_BYTES];
	char text[INSN_TEXT_BYTES];
};

/**
 * struct insns - one btsrec_insns() under way
 * @selector, @fault: of the CPU being told; borrowed.
 * @cr3, @cpu, @n: of the event being printed.
 * @nr_skip: so many events are too old to be told.
 * @stretch: NULL, or to be told in front of the next event; @stretch_before: before it.
 * @line: of the instruction printed last; @line.number 0: it has none.
 * @one_kernel: its code is the same in all address spaces.
 * @tails: lines of instructions from the address on, the cookie is the instruction's length.
 * @words: where a line is worded that is kept, in @worded.
 * @nomem: a line was lost for lack of memory.
 */
struct insns {
	struct renderer renderer;
	const struct render_format *format;
	const struct btsrec_insns *opts;
	struct selector *selector;
	struct code *code;
	bool json;
	struct source source;
	struct line line;
	uint64_t cr3;
	unsigned int cpu;
	uint64_t n;
	const struct fault *fault;
	uint64_t nr_skip;
	const struct stretch *stretch;
	const struct stretch *stretch_before;
	bool one_kernel;
	bool nomem;
	struct tails tails;
	struct out_text worded;
	struct out words;
};

/* --- Text --------------------------------------------------------------- */

static void text_begin(struct insns *view, struct out *out, const char *kind)
{
	out_event(out, view->cpu, view->n);
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

static void text_code(struct insns *view, uint64_t ip, const struct trace_event *traced)
{
	const struct btsrec_side *side = traced->side;
	struct out *out = &view->renderer.out;
	struct symbol_name name;
	enum symbol_why why;

	view->line.number = 0;
	text_begin(view, out, "code");
	out_hex16(out, ip);
	if (side) {
		out_char(out, ' ');
		out_thread(out, side->pid, side->tgid, side->comm);
	}
	if (render_find(&view->renderer, ip, &name, &why)) {
		out_literal(out, "  ");
		out_name(out, &name);
	} else if (view->renderer.names) {
		out_literal(out, "  ");
		out_no_name(out, why);
	}
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
	text_begin(view, out, "line");
	if (line.number) {
		out_line(out, &line);
		nr_bytes = source_text(&view->source, line.file, line.number, &text);
		if (nr_bytes)
			out_literal(out, "  ");
		out_source(out, text, nr_bytes);
	} else {
		out_char(out, '-');
	}
	out_char(out, '\n');
}

static void text_insn(struct insns *view, const struct insn *insn)
{
	struct out *out = &view->words;

	out_hex16(out, insn->ip);
	out_literal(out, "  ");
	if (view->opts->bytes) {
		out_hex_bytes(out, insn->bytes, insn->nr_bytes);
		for (size_t i = 2 * insn->nr_bytes; i < 2 * CODE_INSN_MAX_BYTES + 2; i++)
			out_char(out, ' ');
	}
	out_escaped(out, insn->text, sizeof(insn->text));
	out_char(out, '\n');
}

static void text_entry(struct insns *view, const struct btsrec_record *record,
		       const struct branch *branch)
{
	struct out *out = &view->renderer.out;

	text_begin(view, out, "entry");
	out_hex16(out, record->from);
	out_literal(out, " -> ");
	out_hex16(out, record->to);
	out_char(out, ' ');
	out_branch_type(out, branch);
	out_char(out, '\n');
}

static void text_break(struct insns *view, const struct proof_step *step)
{
	text_begin(view, &view->renderer.out, "break");
	out_break(&view->renderer.out, step);
	out_char(&view->renderer.out, '\n');
}

/* --- JSON lines --------------------------------------------------------- */

static void json_begin(struct insns *view, struct out *out, const char *kind)
{
	out_literal(out, "{\"cpu\":");
	out_dec(out, view->cpu, 0);
	json_number(out, "n", view->n);
	json_word(out, "kind", kind);
}

static void json_code(struct insns *view, uint64_t ip, const struct trace_event *traced)
{
	const struct btsrec_side *side = traced->side;
	struct out *out = &view->renderer.out;

	json_begin(view, out, "code");
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

static void json_insn_line(struct insns *view, uint64_t ip)
{
	struct out *out = &view->words;
	struct line line;
	const char *text;
	size_t nr_bytes;

	if (!line_find(view->renderer.rec, ip, &line))
		return;
	json_text(out, "file", line.file, LINE_FILE_BYTES);
	json_number(out, "line", line.number);
	nr_bytes = source_text(&view->source, line.file, line.number, &text);
	if (nr_bytes)
		json_text(out, "source", text, nr_bytes);
}

static void json_insn(struct insns *view, const struct insn *insn)
{
	struct out *out = &view->words;

	json_address(out, "ip", insn->ip);
	if (view->opts->bytes) {
		out_literal(out, ",\"bytes\":\"");
		out_hex_bytes(out, insn->bytes, insn->nr_bytes);
		out_char(out, '"');
	}
	json_text(out, "insn", insn->text, sizeof(insn->text));
	if (view->opts->lines)
		json_insn_line(view, insn->ip);
	out_literal(out, "}\n");
}

static void json_entry(struct insns *view, const struct btsrec_record *record,
		       const struct branch *branch)
{
	json_begin(view, &view->renderer.out, "entry");
	json_address(&view->renderer.out, "from", record->from);
	json_address(&view->renderer.out, "to", record->to);
	json_branch_type(&view->renderer.out, branch);
	out_literal(&view->renderer.out, "}\n");
}

static void json_broken(struct insns *view, const struct proof_step *step)
{
	json_begin(view, &view->renderer.out, "break");
	json_break(&view->renderer.out, step);
	out_literal(&view->renderer.out, "}\n");
}

/* --- Both --------------------------------------------------------------- */

/* Begin to word what is not printed, or not yet. */
static void begin_words(struct insns *view, const struct btsrec_sink *sink)
{
	view->worded.nr_bytes = 0;
	out_init(&view->words, sink);
}

/* NULL: there is no instruction, or no memory. */
static const struct tail *make_tail(struct insns *view, const struct tails_key *key, bool compat)
{
	const struct btsrec_sink sink = { .write = out_text_take, .arg = &view->worded };
	struct insn insn = { .ip = key->from };
	const struct tail *tail = NULL;

	insn.nr_bytes = code_text(view->code, view->cr3, insn.ip, compat, insn.bytes, insn.text,
				  sizeof(insn.text));
	if (!insn.nr_bytes)
		return NULL;
	begin_words(view, &sink);
	if (view->json)
		json_insn(view, &insn);
	else
		text_insn(view, &insn);
	if (!out_flush(&view->words)) {
		if (tails_full(&view->tails, view->worded.nr_bytes))
			tails_forget(&view->tails);
		tail = tails_add(&view->tails, key, view->worded.bytes, view->worded.nr_bytes,
				 (uint32_t)insn.nr_bytes);
	}
	view->nomem |= !tail;
	return tail;
}

/* A history repeats itself; NULL as make_tail(). */
static const struct tail *tail_at(struct insns *view, uint64_t ip, bool compat)
{
	uint64_t space = view->one_kernel && code_is_kernel(ip) ? 0 : view->cr3;
	const struct tails_key key = { .from = ip, .to = compat, .space = space };
	const struct tail *tail = tails_find(&view->tails, tails_hash(&key), &key);

	return tail ? tail : make_tail(view, &key, compat);
}

/* What all lines of the event being printed begin with to @ret; its length. */
static size_t begin_lines(struct insns *view, char *ret)
{
	size_t nr_bytes;

	begin_words(view, NULL);
	if (view->json)
		json_begin(view, &view->words, "insn");
	else
		text_begin(view, &view->words, "insn");
	nr_bytes = (size_t)(view->words.at - view->words.buf);
	memcpy(ret, view->words.buf, BEGIN_MAX_BYTES);
	return nr_bytes;
}

static void show_range(struct insns *view, const struct proof_range *range, bool compat)
{
	struct out *out = &view->renderer.out;
	char begin[BEGIN_MAX_BYTES];
	size_t begin_bytes = begin_lines(view, begin);
	const struct tail *tail;

	for (uint64_t ip = range->start; ip < range->stop; ip += tail->cookie) {
		tail = tail_at(view, ip, compat);
		if (!tail || out->stopped)
			return;
		if (view->opts->lines && !view->json)
			text_line(view, ip);
		out_room(out);
		memcpy(out->at, begin, sizeof(begin));
		out->at += begin_bytes;
		press_tail(out, tail);
	}
}

static void show_ranges(struct insns *view, const struct trace_event *traced)
{
	const struct proof_step *step = traced->step;

	for (unsigned int i = 0; i < step->nr_ranges; i++) {
		if (view->json)
			json_code(view, step->ranges[i].start, traced);
		else
			text_code(view, step->ranges[i].start, traced);
		show_range(view, &step->ranges[i], step->compat);
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
		if (view->json)
			json_broken(view, step);
		else
			text_break(view, step);
	}
	show_ranges(view, traced);
	if (fault_is_here(view->fault, traced->event))
		view->format->fault(&view->renderer, view->cpu, view->n, view->fault);
	if (traced->event->kind == BTSREC_EVENT_BRANCH && is_entry(&step->branch)) {
		if (view->json)
			json_entry(view, &traced->event->branch, &step->branch);
		else
			text_entry(view, &traced->event->branch, &step->branch);
	}
}

static void tell_stretch(struct insns *view)
{
	if (!view->stretch)
		return;
	view->format->stretch(&view->renderer, view->stretch_before, view->stretch);
	view->stretch = NULL;
}

static bool insns_event(void *arg, const struct trace_event *traced)
{
	struct insns *view = arg;
	const struct btsrec_event *event = traced->event;

	if (!selector_wants(view->selector, event))
		return true;
	if (view->nr_skip) {
		view->nr_skip--;
		return true;
	}
	tell_stretch(view);
	view->cpu = event->cpu;
	view->n = event->n;
	view->cr3 = traced->side ? traced->side->cr3 : 0;
	view->renderer.side = traced->side;
	if (traced->step && filter_level(&view->selector->filter, traced->step->end))
		show_step(view, traced);
	if (event->kind != BTSREC_EVENT_BRANCH)
		view->format->event(&view->renderer, event);
	return !view->renderer.out.stopped && !view->nomem;
}

static enum btsrec_status insns_selected(struct insns *view, unsigned int cpu)
{
	struct btsrec *rec = view->renderer.rec;
	struct selector *selector = view->selector;
	enum btsrec_status status;

	status = selector_init(selector, rec, cpu, &view->opts->filter, view->opts->max_events);
	if (!status)
		status = trace_events(rec, cpu, selector->nr_tail, insns_event, view, NULL);
	if (!status && selector->filter.any && view->format->filtered)
		view->format->filtered(&view->renderer, cpu, selector->nr_wanted,
				       selector->nr_seen);
	selector_fini(selector);
	return status;
}

static enum btsrec_status insns_cpu(void *arg, unsigned int cpu)
{
	struct insns *view = arg;
	struct btsrec *rec = view->renderer.rec;
	struct session_ring ring;
	struct selector selector;
	struct fault fault;
	enum btsrec_status status = session_ring(rec, cpu, &ring);

	if (!status)
		status = trace_fault(rec, cpu, &fault);
	if (status)
		return status;
	view->selector = &selector;
	view->fault = &fault;
	if (view->format->cpu)
		view->format->cpu(&view->renderer, btsrec_cpu(rec, cpu), &ring);
	status = insns_selected(view, cpu);
	if (!status && view->format->cpu_end)
		view->format->cpu_end(&view->renderer, cpu);
	return status;
}

/* --- One thread --------------------------------------------------------- */

static bool count_event(void *arg, const struct trace_event *traced)
{
	struct insns *view = arg;

	view->nr_skip += selector_wants(view->selector, traced->event);
	return true;
}

static enum btsrec_status insns_pass(struct insns *view, struct view_thread *all, trace_fn fn)
{
	enum btsrec_status status = BTSREC_OK;

	thread_rewind(&all->thread);
	for (size_t i = 0; i < all->thread.stretches.nr && !status; i++) {
		view->stretch = &all->thread.stretches.list[i];
		view->stretch_before = view_thread_before(all, i);
		status = view_thread_select(all, view->stretch->cpu, &view->selector,
					    &view->fault);
		if (!status)
			status = thread_stretch(&all->thread, i, fn, view);
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

static enum btsrec_status insns_thread(struct insns *view)
{
	struct view_thread all;
	enum btsrec_status status;

	status = view_thread_open(&all, view->renderer.rec, view->opts->thread,
				  &view->opts->filter, true);
	if (!status)
		status = view_thread_rings(&all, &view->renderer, view->format);
	if (!status && view->opts->max_events)
		status = count_events(view, &all);
	if (!status)
		status = insns_pass(view, &all, insns_event);
	if (!status)
		view_thread_end(&all, &view->renderer, view->format);
	view_thread_close(&all);
	return status;
}

/* --- All of them -------------------------------------------------------- */

static enum btsrec_status insns_check(struct btsrec *rec, const struct btsrec_insns *opts)
{
	if (opts->format != BTSREC_FORMAT_TEXT && opts->format != BTSREC_FORMAT_JSONL)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "instructions are shown as text or JSON lines");
	return view_thread_check(rec, opts->cpus, opts->nr_cpus, &opts->filter, opts->thread);
}

enum btsrec_status btsrec_insns(struct btsrec *rec, const struct btsrec_insns *opts,
				const struct btsrec_sink *sink)
{
	enum btsrec_status status = insns_check(rec, opts), flushed;
	struct insns *view;

	if (status)
		return status;
	view = calloc(1, sizeof(*view));
	if (!view || !trace_code(rec)) {
		free(view);
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	}
	view->renderer.rec = rec;
	view->renderer.names = symbols_present(rec);
	view->format = render_format_of(opts->format);
	view->json = opts->format == BTSREC_FORMAT_JSONL;
	view->renderer.lines = opts->lines;
	view->source.folder = opts->source_folder;
	view->opts = opts;
	view->code = trace_code(rec);
	view->one_kernel = btsrec_root(rec)->kernel_pgd_pa;
	out_init(&view->renderer.out, sink);
	if (opts->thread)
		status = insns_thread(view);
	else
		status = view_cpus(rec, opts->cpus, opts->nr_cpus, insns_cpu, view);
	view->format->end(&view->renderer);
	flushed = out_flush(&view->renderer.out);
	if (view->nomem || view->source.nomem)
		status = msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	source_fini(&view->source);
	tails_forget(&view->tails);
	free(view->worded.bytes);
	free(view);
	return session_end(rec, status ? status : flushed);
}
