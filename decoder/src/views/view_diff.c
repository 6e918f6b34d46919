// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where two histories part: the functions that one thread entered in each, compared from
 * the fault backwards.  Interrupts that were over by then are left out, and so is user code.
 */
#include "views/view_diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/options.h"
#include "recorder/cpus.h"
#include "views/values.h"

/* --- What is compared --------------------------------------------------- */

void diff_name(const struct diff_side *side, size_t call, char ret[SIGNATURE_NAME_BYTES])
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
		diff_name(&diff->a, diff->a.nr_calls - 1 - diff->nr_same, a);
		diff_name(&diff->b, diff->b.nr_calls - 1 - diff->nr_same, b);
		if (strcmp(a, b))
			return;
		diff->nr_same++;
	}
}

bool diff_differs(const struct diff *diff)
{
	return diff->nr_same < diff->a.nr_calls && diff->nr_same < diff->b.nr_calls;
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

/* As text to @sink, or, if there is @fn, as values to it. */
static enum btsrec_status put_diff(struct btsrec *a, struct btsrec *b,
				   const struct btsrec_diff *opts, const struct btsrec_sink *sink,
				   btsrec_compared_fn fn, void *arg, bool *ret_differs)
{
	_cleanup_free_ struct diff *diff = calloc(1, sizeof(*diff));
	enum btsrec_status status;

	if (!diff)
		return msg_set(&a->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (opts->format != BTSREC_FORMAT_TEXT && opts->format != BTSREC_FORMAT_JSONL)
		return msg_set(&a->msg, BTSREC_ERR_INVAL, "a difference is text or JSON lines");
	diff->fn = fn;
	diff->arg = arg;
	diff->a = (struct diff_side){ .letter = 'A', .rec = a };
	diff->b = (struct diff_side){ .letter = 'B', .rec = b };
	out_init(&diff->out, sink);
	(void)symbols_present(a);
	(void)symbols_present(b);
	status = read_both(diff, opts);
	if (!status) {
		compare(diff);
		*ret_differs = diff_differs(diff);
		if (fn)
			diff_values(diff);
		else if (opts->format == BTSREC_FORMAT_JSONL)
			diff_json(diff);
		else
			diff_text(diff);
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

	return status ? status : put_diff(a, b, &opts, sink, NULL, NULL, ret_differs);
}

enum btsrec_status btsrec_diff_each(struct btsrec *a, struct btsrec *b,
				    const struct btsrec_diff *given, btsrec_compared_fn fn,
				    void *arg)
{
	struct btsrec_diff opts;
	enum btsrec_status status = options_read(&a->msg, given, &opts, sizeof(opts));
	bool differs;

	if (!status)
		status = values_check(&a->msg, opts.format);
	return status ? status : put_diff(a, b, &opts, &values_sink, fn, arg, &differs);
}
