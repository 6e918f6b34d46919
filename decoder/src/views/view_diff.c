// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where two histories part: the functions that one thread entered in each, compared from
 * the fault backwards.  Interrupts that were over by then are left out, and so is user code.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/options.h"
#include "render/json.h"
#include "tally/signature.h"
#include "recorder/cpus.h"
#include "views/view_calls.h"

/* Calls of each kind that the text shows: of the common path its two ends. */
#define MAX_SHOWN 10
/* Deeper calls do not move on to the right. */
#define MAX_LEVELS 60

/**
 * struct diff_side - one of the two histories
 * @letter: 'A' or 'B'.
 * @calls: lines of @tree that are compared, @nr_calls of them, oldest first; owned.
 * @least: of what is shown in text, no indent is below.
 * @thread: it made the calls, if @has_thread.
 */
struct diff_side {
	char letter;
	struct btsrec *rec;
	unsigned int cpu;
	struct fault fault;
	struct calltree tree;
	uint32_t least;
	size_t *calls;
	size_t nr_calls;
	size_t nr_room;
	bool has_thread;
	struct btsrec_side thread;
};

/** struct diff - both, and how many of the newest calls are the same */
struct diff {
	struct out out;
	struct diff_side a;
	struct diff_side b;
	size_t nr_same;
};

/* --- What is compared --------------------------------------------------- */

static void name_call(const struct diff_side *side, size_t call, char ret[SIGNATURE_NAME_BYTES])
{
	struct calltree_line line = calltree_line(&side->tree, side->calls[call]);
	struct symbol_name name;

	memcpy(ret, "-", 2);
	if (symbol_find_as(side->rec, line.to, false, &name) && name.name_bytes)
		signature_name(name.name, name.name_bytes, name.module, ret);
}

static bool is_interrupt(const struct calltree_line *line)
{
	return line->kind == CALLTREE_CALL && line->last_n != UINT64_MAX &&
	       (line->frame == FRAME_IRQ || line->frame == FRAME_NMI);
}

/* Is the thread @known, NULL if it is not, the one that is compared? */
static bool is_thread(const struct diff_side *side, const struct btsrec_side *known)
{
	return side->has_thread ? known && known->pid == side->thread.pid : !known;
}

/* The thread that ran last before event @end_n, or the one that is asked for. */
static void find_thread(struct diff_side *side, const struct btsrec_diff *opts, uint64_t end_n)
{
	const struct btsrec_side *known;

	for (size_t i = 0; i < side->tree.nr_lines; i++) {
		struct calltree_line line = calltree_line(&side->tree, i);

		if (line.kind != CALLTREE_THREAD || line.n >= end_n)
			continue;
		known = calltree_side(&side->tree, &line);
		if (opts->has_pid && (!known || known->pid != opts->pid))
			continue;
		side->has_thread = known;
		side->thread = known ? *known : (struct btsrec_side){ 0 };
	}
}

/* Up to the fault, or as far as the history goes if it is not known. */
static uint64_t end_of(const struct diff_side *side)
{
	return side->fault.kind == FAULT_UNKNOWN ? UINT64_MAX : side->fault.n;
}

static bool choose_calls(struct diff_side *side, uint64_t end_n)
{
	const struct btsrec_side *thread = NULL;
	uint64_t interrupt_end_n = 0;

	for (size_t i = 0; i < side->tree.nr_lines; i++) {
		struct calltree_line line = calltree_line(&side->tree, i);

		if (line.n >= end_n)
			break;
		if (line.kind == CALLTREE_THREAD)
			thread = calltree_side(&side->tree, &line);
		if (line.kind != CALLTREE_CALL || !is_thread(side, thread) ||
		    line.n < interrupt_end_n)
			continue;
		if (is_interrupt(&line) && line.last_n < end_n) {
			interrupt_end_n = line.last_n;
			continue;
		}
		if (!code_is_kernel(line.to))
			continue;
		if (!grow(&side->calls, sizeof(*side->calls), side->nr_calls, &side->nr_room))
			return false;
		side->calls[side->nr_calls++] = i;
	}
	return true;
}

static enum btsrec_status read_side(struct diff_side *side, const struct btsrec_diff *opts)
{
	const struct btsrec_root *root = btsrec_root(side->rec);
	enum btsrec_status status = cpus_check(side->rec, NULL, 0);

	if (status)
		return status;
	side->cpu = opts->has_cpu ? opts->cpu : root->freeze_cpu;
	status = cpus_check(side->rec, &side->cpu, 1);
	if (!status)
		status = trace_fault(side->rec, side->cpu, &side->fault);
	if (!status)
		status = calltree_read(&side->tree, side->rec, side->cpu, 0, UINT64_MAX, 0,
				       &side->fault);
	if (status)
		return status;
	/* What is missing are the newest calls. */
	if (!side->tree.complete)
		return msg_set(&side->rec->msg, BTSREC_ERR_NOMEM,
			       "CPU %u of history %c has too many calls to compare", side->cpu,
			       side->letter);
	find_thread(side, opts, end_of(side));
	if (opts->has_pid && !side->has_thread)
		return msg_set(&side->rec->msg, BTSREC_ERR_INVAL,
			       "thread %u did not run on CPU %u in history %c", opts->pid,
			       side->cpu, side->letter);
	if (!choose_calls(side, end_of(side)))
		return msg_set(&side->rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (!side->nr_calls)
		return msg_set(&side->rec->msg, BTSREC_ERR_INVAL,
			       "history %c has no call to compare", side->letter);
	return BTSREC_OK;
}

static void compare(struct diff *diff)
{
	char a[SIGNATURE_NAME_BYTES], b[SIGNATURE_NAME_BYTES];

	while (diff->nr_same < diff->a.nr_calls && diff->nr_same < diff->b.nr_calls) {
		name_call(&diff->a, diff->a.nr_calls - 1 - diff->nr_same, a);
		name_call(&diff->b, diff->b.nr_calls - 1 - diff->nr_same, b);
		if (strcmp(a, b))
			return;
		diff->nr_same++;
	}
}

static bool differs(const struct diff *diff)
{
	return diff->nr_same < diff->a.nr_calls && diff->nr_same < diff->b.nr_calls;
}

/* --- Text --------------------------------------------------------------- */

static void text_side(struct out *out, const struct diff_side *side)
{
	out_char(out, side->letter);
	out_literal(out, ": CPU ");
	out_dec(out, side->cpu, 0);
	if (side->has_thread) {
		out_literal(out, ", ");
		out_thread(out, side->thread.pid, side->thread.tgid, side->thread.comm);
	}
	out_str(out, side->fault.kind == FAULT_UNKNOWN ? ", up to its end, " :
						     ", up to the fault, ");
	out_dec(out, side->nr_calls, 0);
	out_literal(out, " calls\n");
}

static void text_call(struct out *out, const struct diff_side *side, size_t call,
		      const char *mark)
{
	struct calltree_line line = calltree_line(&side->tree, side->calls[call]);
	uint32_t indent = calltree_indent(&side->tree, &line);
	char name[SIGNATURE_NAME_BYTES];

	name_call(side, call, name);
	out_str(out, mark);
	out_char(out, ' ');
	out_dec(out, line.n, 9);
	for (uint32_t i = side->least; i <= indent && i < side->least + MAX_LEVELS; i++)
		out_literal(out, "  ");
	out_str(out, name);
	out_char(out, '\n');
}

/* The newest calls before the common path. */
static void text_before(struct diff *diff, const struct diff_side *side)
{
	size_t end = side->nr_calls - diff->nr_same;
	size_t first = end > MAX_SHOWN ? end - MAX_SHOWN : 0;

	out_literal(&diff->out, "\nBefore that in ");
	out_char(&diff->out, side->letter);
	out_literal(&diff->out, ":\n");
	for (size_t i = first; i < end; i++)
		text_call(&diff->out, side, i, side->letter == 'A' ? "-" : "+");
}

static void text_same(struct diff *diff)
{
	const struct diff_side *a = &diff->a;
	size_t first = a->nr_calls - diff->nr_same;
	struct out *out = &diff->out;

	out_char(out, '\n');
	out_str(out, differs(diff) ? "The same on both sides, " :
				     "No difference as far as both histories go back, ");
	out_dec(out, diff->nr_same, 0);
	out_literal(out, " calls:\n");
	for (size_t i = first; i < a->nr_calls; i++) {
		if (i - first == MAX_SHOWN && a->nr_calls - i > MAX_SHOWN) {
			out_literal(out, "  ... ");
			out_dec(out, a->nr_calls - i - MAX_SHOWN, 0);
			out_literal(out, " more\n");
			i = a->nr_calls - MAX_SHOWN;
		}
		text_call(out, a, i, " ");
	}
}

static void find_least(const struct diff *diff, struct diff_side *side)
{
	size_t nr = diff->nr_same + (differs(diff) ? MAX_SHOWN : 0);

	side->least = UINT32_MAX;
	for (size_t i = side->nr_calls > nr ? side->nr_calls - nr : 0; i < side->nr_calls; i++) {
		struct calltree_line line = calltree_line(&side->tree, side->calls[i]);
		uint32_t least = calltree_indent(&side->tree, &line);

		if (least < side->least)
			side->least = least;
	}
}

static void text_diff(struct diff *diff)
{
	find_least(diff, &diff->a);
	find_least(diff, &diff->b);
	text_side(&diff->out, &diff->a);
	text_side(&diff->out, &diff->b);
	text_same(diff);
	if (!differs(diff))
		return;
	text_before(diff, &diff->a);
	text_before(diff, &diff->b);
}

/* --- JSON lines --------------------------------------------------------- */

static void json_function_of(struct out *out, const struct diff_side *side, size_t call)
{
	char name[SIGNATURE_NAME_BYTES];

	name_call(side, call, name);
	out_literal(out, ",\"function\":\"");
	out_json_escaped(out, name);
	out_char(out, '"');
}

static void json_side(struct out *out, const char *key, const struct diff_side *side)
{
	json_key(out, key);
	out_literal(out, "{\"cpu\":");
	out_dec(out, side->cpu, 0);
	if (side->has_thread)
		json_thread(out, side->thread.pid, side->thread.tgid, side->thread.comm);
	json_bool(out, "fault", side->fault.kind != FAULT_UNKNOWN);
	json_number(out, "calls", side->nr_calls);
	out_char(out, '}');
}

static void json_only(struct diff *diff, const struct diff_side *side)
{
	size_t end = side->nr_calls - diff->nr_same;

	for (size_t i = end > MAX_SHOWN ? end - MAX_SHOWN : 0; i < end; i++) {
		out_literal(&diff->out, "{\"kind\":\"only\"");
		json_word(&diff->out, "side", side->letter == 'A' ? "a" : "b");
		json_number(&diff->out, "n", calltree_line(&side->tree, side->calls[i]).n);
		json_function_of(&diff->out, side, i);
		out_literal(&diff->out, "}\n");
	}
}

static void json_diff(struct diff *diff)
{
	const struct diff_side *a = &diff->a, *b = &diff->b;
	struct out *out = &diff->out;

	out_literal(out, "{\"kind\":\"diff\"");
	json_bool(out, "differs", differs(diff));
	json_number(out, "same", diff->nr_same);
	json_side(out, "a", a);
	json_side(out, "b", b);
	out_literal(out, "}\n");
	for (size_t i = diff->nr_same; i && !out->stopped; i--) {
		out_literal(out, "{\"kind\":\"same\"");
		json_number(out, "a_n", calltree_line(&a->tree, a->calls[a->nr_calls - i]).n);
		json_number(out, "b_n", calltree_line(&b->tree, b->calls[b->nr_calls - i]).n);
		json_function_of(out, a, a->nr_calls - i);
		out_literal(out, "}\n");
	}
	if (!differs(diff))
		return;
	json_only(diff, a);
	json_only(diff, b);
}

/* --- The view ----------------------------------------------------------- */

static void side_fini(struct diff_side *side)
{
	calltree_fini(&side->tree);
	free(side->calls);
}

static enum btsrec_status read_both(struct diff *diff, const struct btsrec_diff *opts)
{
	enum btsrec_status status = read_side(&diff->a, opts);

	if (status)
		return status;
	status = read_side(&diff->b, opts);
	return status ? msg_set(&diff->a.rec->msg, status, "%s", btsrec_errmsg(diff->b.rec)) :
			BTSREC_OK;
}

/* Moves the error message of @b to @a, where callers look for it. */
static enum btsrec_status other_end(struct btsrec *a, struct btsrec *b, enum btsrec_status status)
{
	enum btsrec_status ended = session_end(b, status);

	return ended == status ? status : msg_set(&a->msg, ended, "%s", btsrec_errmsg(b));
}

static enum btsrec_status print_diff(struct btsrec *a, struct btsrec *b,
				     const struct btsrec_diff *opts,
				     const struct btsrec_sink *sink, bool *ret_differs)
{
	_cleanup_free_ struct diff *diff = calloc(1, sizeof(*diff));
	enum btsrec_status status;

	if (!diff)
		return msg_set(&a->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (opts->format != BTSREC_FORMAT_TEXT && opts->format != BTSREC_FORMAT_JSONL)
		return msg_set(&a->msg, BTSREC_ERR_INVAL, "a difference is text or JSON lines");
	diff->a = (struct diff_side){ .letter = 'A', .rec = a };
	diff->b = (struct diff_side){ .letter = 'B', .rec = b };
	out_init(&diff->out, sink);
	(void)symbols_present(a);
	(void)symbols_present(b);
	status = read_both(diff, opts);
	if (!status) {
		compare(diff);
		*ret_differs = differs(diff);
		if (opts->format == BTSREC_FORMAT_JSONL)
			json_diff(diff);
		else
			text_diff(diff);
		status = out_flush(&diff->out);
	}
	side_fini(&diff->a);
	side_fini(&diff->b);
	return session_end(a, other_end(a, b, status));
}

enum btsrec_status btsrec_diff(struct btsrec *a, struct btsrec *b, const struct btsrec_diff *given,
			       const struct btsrec_sink *sink, bool *ret_differs)
{
	struct btsrec_diff opts;
	enum btsrec_status status = options_read(&a->msg, given, &opts, sizeof(opts));

	return status ? status : print_diff(a, b, &opts, sink, ret_differs);
}
