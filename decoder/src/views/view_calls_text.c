// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tree as text.  As everywhere names come last, here after their indentation:
 *
 *   CPU         N KIND     BRANCHES
 *     0     43601 syscall       1204  entry_SYSCALL_64 (write)
 *     0     43604 call          1188    do_syscall_64
 */
#include "render/render_branch.h"
#include "render/render_lines.h"
#include "symbols/symbol.h"
#include "render/text_columns.h"
#include "views/view_calls.h"

#define BLANKS_PER_LEVEL	2
/* Deeper calls do not move on to the right; their depth is printed. */
#define MAX_SHOWN_LEVELS	60
#define COUNT_WIDTH		9
#define KIND_WIDTH		8
#define INDENT_BLOCK_BYTES	16

/* The kind of a frame, padded, to @at, which has BRANCH_TEXT_BYTES of room. */
static char *put_kind(char *at, enum frame_kind kind, int vector)
{
	static const char kinds[][KIND_WIDTH + 1] = {
		[FRAME_CALL] = "call    ",
		[FRAME_CALL_IND] = "icall   ",
		[FRAME_TAIL] = "tail    ",
		[FRAME_SYSCALL] = "syscall ",
	};
	size_t nr_bytes;

	if (kind <= FRAME_SYSCALL)
		return put_bytes(at, kinds[kind], KIND_WIDTH);
	memset(at, ' ', KIND_WIDTH);
	frame_text(at, kind, vector);
	nr_bytes = strlen(at);
	at[nr_bytes] = ' ';
	return at + (nr_bytes > KIND_WIDTH ? nr_bytes : KIND_WIDTH);
}

static void text_begin(struct calls *view, const struct calltree_line *line, const char *kind)
{
	struct out *out = &view->renderer.out;
	unsigned int cpu;
	uint64_t n = calls_place(view, line->n, &cpu);

	out_event(out, cpu, n);
	out_pad(out, kind, KIND_WIDTH);
}

/* Of at most two digits, as most counts are; the others as put_dec() does it. */
static char *put_count(char *at, uint64_t count)
{
	if (count >= 100)
		return put_dec(at, count, COUNT_WIDTH);
	memset(at, ' ', COUNT_WIDTH);
	if (count >= 10)
		at[COUNT_WIDTH - 2] = out_digit_pairs[2 * count];
	at[COUNT_WIDTH - 1] = out_digit_pairs[2 * count + 1];
	return at + COUNT_WIDTH;
}

/* Blanks are put in blocks of a constant length, which is faster: up to the end of the last. */
static char *put_indent(char *at, uint32_t indent)
{
	uint32_t shown = indent < MAX_SHOWN_LEVELS ? indent : MAX_SHOWN_LEVELS;
	size_t nr_bytes = 1 + BLANKS_PER_LEVEL * shown;

	for (size_t i = 0; i < nr_bytes; i += INDENT_BLOCK_BYTES)
		memset(at + i, ' ', INDENT_BLOCK_BYTES);
	at += nr_bytes;
	if (shown == indent)
		return at;
	*at++ = '[';
	at = put_dec(at, indent, 0);
	return put_literal(at, "] ");
}

static void text_indent(struct out *out, uint32_t indent)
{
	out_room(out);
	out->at = put_indent(out->at, indent);
}

void calls_function(struct renderer *r, uint64_t va)
{
	struct out *out = &r->out;
	struct symbol_name name;
	enum symbol_why why;

	if (!render_find(r, va, &name, &why)) {
		out_hex16(out, va);
		return;
	}
	if (!name.name_bytes || !symbol_is_front(name.offset_bytes)) {
		out_name(out, &name);
		return;
	}
	out_bytes(out, name.name, name.name_bytes);
	if (*name.module) {
		out_literal(out, " [");
		out_str(out, name.module);
		out_char(out, ']');
	}
}

void calls_syscall(struct renderer *r, uint64_t handler_va)
{
	struct symbol_name name;
	size_t nr_bytes;
	const char *text;

	if (!handler_va || !symbol_find(r->rec, handler_va, &name))
		return;
	text = trace_syscall(&name, &nr_bytes);
	if (!text)
		return;
	out_literal(&r->out, " (");
	out_bytes(&r->out, text, nr_bytes);
	out_char(&r->out, ')');
}

/* Where the name of the kernel address @va is kept, or will be; NULL: it is not. */
static struct name_cache_entry *name_place(const struct calls *view, uint64_t va)
{
	if (!view->name_cache || !code_is_kernel(va))
		return NULL;
	return name_cache_place(view->name_cache, va);
}

/* calls_function(), for the next time, too: a kernel address has its name wherever it is. */
static void text_function(struct calls *view, uint64_t va, struct name_cache_entry *place)
{
	struct out *out = &view->renderer.out;
	char *begin;

	out_room(out);
	begin = out->at;
	calls_function(&view->renderer, va);
	/* It may have been drained meanwhile. */
	if (place && out->at > begin)
		name_cache_keep(place, va, begin, (size_t)(out->at - begin));
}

/* Three digits after the point. */
static void out_us(struct out *out, uint64_t ns)
{
	out_dec(out, ns / 1000, 0);
	out_char(out, '.');
	for (uint64_t digit = 100; digit; digit /= 10)
		out_char(out, (char)('0' + ns / digit % 10));
}

static void text_duration(struct calls *view, const struct calltree_line *line)
{
	struct out *out = &view->renderer.out;
	uint64_t min, max;

	if (!calls_duration(view, line, &min, &max))
		return;
	out_literal(out, "  ");
	if (view->tsc_khz) {
		out_us(out, min);
		out_literal(out, "..");
		out_us(out, max);
		out_literal(out, " us");
	} else {
		out_dec(out, min, 0);
		out_literal(out, "..");
		out_dec(out, max, 0);
		out_literal(out, " ticks");
	}
}

/* A thread that is followed may come back from a call on another CPU. */
static void text_end(struct calls *view, const struct calltree_line *line)
{
	struct out *out = &view->renderer.out;
	unsigned int cpu, end_cpu;
	uint64_t n;

	if (!view->followed || line->last_n == UINT64_MAX)
		return;
	(void)calls_place(view, line->n, &cpu);
	n = calls_place(view, line->last_n, &end_cpu);
	if (cpu == end_cpu)
		return;
	out_literal(out, "  ended on CPU ");
	out_dec(out, end_cpu, 0);
	out_literal(out, " at ");
	out_dec(out, n, 0);
}

static void text_source(struct calls *view, const struct calltree_line *line)
{
	struct out *out = &view->renderer.out;
	struct line source;

	if (!view->source ||
	    !line_find(view->renderer.rec, render_cr3(&view->renderer), line->from, &source))
		return;
	out_literal(out, "  at ");
	out_line(out, &source);
}

/* What few calls have behind their names. */
static void text_call_more(struct calls *view, const struct calltree_line *line)
{
	args_put_text(&view->renderer.out, args_find(view->args, line->frame, line->n, line->to));
	calls_syscall(&view->renderer, line->call.handler);
	text_duration(view, line);
	text_end(view, line);
	text_source(view, line);
}

/* Most calls have a kept name, and nothing follows it. */
static void text_call(struct calls *view, const struct calltree_line *line, uint32_t indent)
{
	bool more = line->call.handler || view->tree.nr_times || view->followed || view->source ||
		    view->args;
	struct name_cache_entry *place = name_place(view, line->to);
	struct out *out = &view->renderer.out;
	unsigned int cpu;
	uint64_t n = calls_place(view, line->n, &cpu);
	char *at;

	out_room(out);
	at = put_head(out->at, &view->heads, cpu, n);
	at = put_kind(at, line->frame, line->vector);
	at = put_count(at, line->call.nr_branches);
	*at++ = line->more || line->last_n == UINT64_MAX ? '+' : ' ';
	at = put_indent(at, indent);
	if (place && place->va == line->to) {
		memcpy(at, place->text, sizeof(place->text));
		at += place->nr_bytes;
	} else {
		out->at = at;
		text_function(view, line->to, place);
		at = out->at;
	}
	if (more) {
		out->at = at;
		text_call_more(view, line);
		out_room(out);
		at = out->at;
	}
	*at++ = '\n';
	out->at = at;
}

/* A line without a count. */
static void text_place(struct calls *view, const struct calltree_line *line, uint32_t indent,
		       const char *kind)
{
	text_begin(view, line, kind);
	out_blanks(&view->renderer.out, COUNT_WIDTH + 1);
	text_indent(&view->renderer.out, indent);
}

static void text_thread(struct calls *view, const struct calltree_line *line, uint32_t indent)
{
	const struct btsrec_side *side = calltree_side(&view->tree, line);
	struct out *out = &view->renderer.out;

	text_place(view, line, indent, "thread");
	if (side)
		out_thread(out, side->pid, side->tgid, side->comm);
	else
		out_literal(out, "unknown");
	out_literal(out, " in ");
	calls_function(&view->renderer, line->from);
}

static void text_cycle(struct calls *view, const struct calltree_line *line, uint32_t indent)
{
	struct out *out = &view->renderer.out;

	text_begin(view, line, "cycle");
	out_dec(out, line->cycle.period * line->cycle.nr_rounds, COUNT_WIDTH);
	out_char(out, ' ');
	text_indent(out, indent);
	out_dec(out, line->cycle.period, 0);
	out_str(out, line->cycle.period == 1 ? " branch x " : " branches x ");
	out_dec(out, line->cycle.nr_rounds, 0);
	out_literal(out, " in ");
	calls_function(&view->renderer, line->to);
}

static void text_break(struct calls *view, const struct calltree_line *line)
{
	struct proof_step step = calls_break(line);

	text_begin(view, line, "break");
	out_break(&view->renderer.out, &step);
}

static void text_line(struct calls *view, const struct calltree_line *line, uint32_t indent)
{
	switch (line->kind) {
	case CALLTREE_RETURN:
		text_place(view, line, indent, "return");
		calls_function(&view->renderer, line->to);
		break;
	case CALLTREE_ASTRAY:
		text_place(view, line, indent, "astray");
		calls_function(&view->renderer, line->from);
		out_literal(&view->renderer.out, " -> ");
		calls_function(&view->renderer, line->to);
		break;
	case CALLTREE_RESUME:
		text_place(view, line, indent, "resume");
		calls_function(&view->renderer, line->to);
		break;
	case CALLTREE_THREAD:
		text_thread(view, line, indent);
		break;
	case CALLTREE_LOST:
		text_place(view, line, indent, "lost");
		out_literal(&view->renderer.out, "what was open in this thread may have ended");
		break;
	case CALLTREE_CYCLE:
		text_cycle(view, line, indent);
		break;
	case CALLTREE_BREAK:
		text_break(view, line);
		break;
	case CALLTREE_CALL:
	case CALLTREE_INTERVAL:
	case CALLTREE_FAULT:
	case CALLTREE_EVENT:
		break;
	}
	out_char(&view->renderer.out, '\n');
}

static void text_fold(struct calls *view, const struct calltree_line *first, uint32_t indent,
		      unsigned int period, uint64_t nr_more, uint64_t last_n)
{
	struct out *out = &view->renderer.out;
	unsigned int cpu;

	text_place(view, first, indent, "cycle");
	if (period == 1) {
		out_literal(out, "the line above");
	} else {
		out_literal(out, "the ");
		out_dec(out, period, 0);
		out_literal(out, " lines above");
	}
	out_literal(out, " x ");
	out_dec(out, nr_more, 0);
	out_literal(out, " more, to ");
	out_dec(out, calls_place(view, last_n, &cpu), 0);
	out_char(out, '\n');
}

const struct calls_format calls_text = {
	.call = text_call,
	.line = text_line,
	.fold = text_fold,
};
