// SPDX-License-Identifier: GPL-2.0-or-later
/* Where two histories part, as text, JSON lines and values. */
#include "render/json.h"
#include "views/values.h"
#include "views/view_diff.h"

/* Calls of each kind that are shown; in text, of the common path its two ends. */
#define MAX_SHOWN 10
/* Deeper calls do not move on to the right. */
#define MAX_LEVELS 60

/* The newest calls before the common path begin with this one. */
static size_t first_before(const struct diff *diff, const struct diff_side *side)
{
	size_t end = side->nr_calls - diff->nr_same;

	return end > MAX_SHOWN ? end - MAX_SHOWN : 0;
}

/* The event that made a call. */
static uint64_t call_n(const struct diff_side *side, size_t call)
{
	return calltree_line(&side->tree, side->calls[call]).n;
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

	diff_name(side, call, name);
	out_str(out, mark);
	out_char(out, ' ');
	out_dec(out, line.n, 9);
	for (uint32_t i = side->least; i <= indent && i < side->least + MAX_LEVELS; i++)
		out_literal(out, "  ");
	out_str(out, name);
	out_char(out, '\n');
}

static void text_before(struct diff *diff, const struct diff_side *side)
{
	size_t end = side->nr_calls - diff->nr_same;

	out_literal(&diff->out, "\nBefore that in ");
	out_char(&diff->out, side->letter);
	out_literal(&diff->out, ":\n");
	for (size_t i = first_before(diff, side); i < end; i++)
		text_call(&diff->out, side, i, side->letter == 'A' ? "-" : "+");
}

static void text_same(struct diff *diff)
{
	const struct diff_side *a = &diff->a;
	size_t first = a->nr_calls - diff->nr_same;
	struct out *out = &diff->out;

	out_char(out, '\n');
	out_str(out, diff_differs(diff) ? "The same on both sides, " :
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
	size_t nr = diff->nr_same + (diff_differs(diff) ? MAX_SHOWN : 0);

	side->least = UINT32_MAX;
	for (size_t i = side->nr_calls > nr ? side->nr_calls - nr : 0; i < side->nr_calls; i++) {
		struct calltree_line line = calltree_line(&side->tree, side->calls[i]);
		uint32_t least = calltree_indent(&side->tree, &line);

		if (least < side->least)
			side->least = least;
	}
}

void diff_text(struct diff *diff)
{
	find_least(diff, &diff->a);
	find_least(diff, &diff->b);
	text_side(&diff->out, &diff->a);
	text_side(&diff->out, &diff->b);
	text_same(diff);
	if (!diff_differs(diff))
		return;
	text_before(diff, &diff->a);
	text_before(diff, &diff->b);
}

/* --- JSON lines --------------------------------------------------------- */

static void json_function_of(struct out *out, const struct diff_side *side, size_t call)
{
	char name[SIGNATURE_NAME_BYTES];

	diff_name(side, call, name);
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

	for (size_t i = first_before(diff, side); i < end; i++) {
		out_literal(&diff->out, "{\"kind\":\"only\"");
		json_word(&diff->out, "side", side->letter == 'A' ? "a" : "b");
		json_number(&diff->out, "n", call_n(side, i));
		json_function_of(&diff->out, side, i);
		out_literal(&diff->out, "}\n");
	}
}

void diff_json(struct diff *diff)
{
	const struct diff_side *a = &diff->a, *b = &diff->b;
	struct out *out = &diff->out;

	out_literal(out, "{\"kind\":\"diff\"");
	json_bool(out, "differs", diff_differs(diff));
	json_number(out, "same", diff->nr_same);
	json_side(out, "a", a);
	json_side(out, "b", b);
	out_literal(out, "}\n");
	for (size_t i = diff->nr_same; i && !out->stopped; i--) {
		out_literal(out, "{\"kind\":\"same\"");
		json_number(out, "a_n", call_n(a, a->nr_calls - i));
		json_number(out, "b_n", call_n(b, b->nr_calls - i));
		json_function_of(out, a, a->nr_calls - i);
		out_literal(out, "}\n");
	}
	if (!diff_differs(diff))
		return;
	json_only(diff, a);
	json_only(diff, b);
}

/* --- Values ------------------------------------------------------------- */

static void put(struct diff *diff, enum btsrec_compared_kind kind, struct btsrec_compared *value)
{
	value->size = sizeof(*value);
	value->kind = kind;
	if (!diff->out.stopped && !diff->fn(diff->arg, value))
		diff->out.stopped = true;
}

static void put_side(struct diff *diff, enum btsrec_compared_kind kind,
		     const struct diff_side *side)
{
	struct btsrec_compared value = {
		.cpu = side->cpu,
		.to_fault = side->fault.kind != FAULT_UNKNOWN,
		.nr_calls = side->nr_calls,
	};

	value.has_task = values_task(side->has_thread ? &side->thread : NULL, &value.task);
	put(diff, kind, &value);
}

static void put_same(struct diff *diff)
{
	const struct diff_side *a = &diff->a, *b = &diff->b;
	char name[SIGNATURE_NAME_BYTES];

	for (size_t i = diff->nr_same; i && !diff->out.stopped; i--) {
		struct btsrec_compared value = {
			.a_n = call_n(a, a->nr_calls - i),
			.b_n = call_n(b, b->nr_calls - i),
			.function = name,
		};

		diff_name(a, a->nr_calls - i, name);
		put(diff, BTSREC_COMPARED_SAME, &value);
	}
}

static void put_only(struct diff *diff, enum btsrec_compared_kind kind,
		     const struct diff_side *side)
{
	size_t end = side->nr_calls - diff->nr_same;
	char name[SIGNATURE_NAME_BYTES];

	for (size_t i = first_before(diff, side); i < end; i++) {
		struct btsrec_compared value = { .function = name };

		*(kind == BTSREC_COMPARED_ONLY_A ? &value.a_n : &value.b_n) = call_n(side, i);
		diff_name(side, i, name);
		put(diff, kind, &value);
	}
}

void diff_values(struct diff *diff)
{
	put_side(diff, BTSREC_COMPARED_A, &diff->a);
	put_side(diff, BTSREC_COMPARED_B, &diff->b);
	put_same(diff);
	if (!diff_differs(diff))
		return;
	put_only(diff, BTSREC_COMPARED_ONLY_A, &diff->a);
	put_only(diff, BTSREC_COMPARED_ONLY_B, &diff->b);
}
