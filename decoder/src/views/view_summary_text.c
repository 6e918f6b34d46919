// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/render_branch.h"
#include "symbols/symbol.h"
#include "views/view_info.h"
#include "views/view_summary.h"

/* Names in a line that says what a CPU was doing. */
#define MAX_STACK_NAMES 7

#define MS_DIGITS 1000

/* Names in the line of the signature; the whole path is below it. */
#define MAX_SIGNATURE_NAMES 3

static void text_verdict(struct summary *view)
{
	struct out *out = &view->calls.renderer.out;

	out_literal(out, "verdict:     ");
	if (!view->verdict.kind)
		out_literal(out, "none: ");
	out_str(out, view->sentence);
	out_char(out, '\n');
}

static void text_operand(struct summary *view)
{
	const struct summary_operand *text = &view->operand_text;
	struct out *out = &view->calls.renderer.out;

	if (!view->operand)
		return;
	out_literal(out, "operand:     ");
	out_str(out, text->what);
	out_char(out, '\n');
	if (!*text->from)
		return;
	out_literal(out, "             ");
	out_str(out, text->from);
	out_char(out, '\n');
}

static void text_signature(struct summary *view)
{
	const struct signature *signature = &view->signature;
	struct out *out = &view->calls.renderer.out;

	out_literal(out, "signature:   ");
	if (view->no_signature) {
		out_literal(out, "none: ");
		out_str(out, view->no_signature);
		out_char(out, '\n');
		return;
	}
	out_signature(out, signature);
	for (size_t i = 0; i < signature->nr_names && i < MAX_SIGNATURE_NAMES; i++) {
		out_str(out, i ? " < " : " ");
		out_str(out, signature->names[i]);
	}
	if (!signature->complete)
		out_literal(out, ", which may not be all of it");
	out_char(out, '\n');
}

static void text_ms(struct summary *view, uint64_t ticks)
{
	struct out *out = &view->calls.renderer.out;
	uint64_t khz = view->calls.tsc_khz, us;

	if (!khz) {
		out_dec(out, ticks, 0);
		out_literal(out, " ticks");
		return;
	}
	us = (uint64_t)((unsigned __int128)ticks * MS_DIGITS / khz);
	out_dec(out, us / MS_DIGITS, 0);
	out_char(out, '.');
	for (uint64_t digit = MS_DIGITS / 10; digit; digit /= 10)
		out_char(out, (char)('0' + us / digit % 10));
	out_literal(out, " ms");
}

/* Of a CPU whose history ends before its stop. */
static void text_ends_before(struct summary *view, const struct btsrec_freeze *freeze,
			     const char *what)
{
	struct out *out = &view->calls.renderer.out;

	out_literal(out, "ends ");
	text_ms(view, freeze->tsc - freeze->pause_tsc);
	out_literal(out, " before the ");
	out_str(out, what);
	out_literal(out, ", which is ");
	out_str(out, fault_why_str(fault_why_paused(freeze)));
	out_char(out, '\n');
}

/* What the whole page lacks is said before what it has. */
static void text_incomplete(struct out *out, const struct btsrec *rec)
{
	if (!rec->incomplete)
		return;
	out_literal(out, "missing:     ");
	out_str(out, rec->notice);
	out_char(out, '\n');
}

static void text_begin(struct summary *view)
{
	const struct btsrec_cpu *failed = session_failed_cpu(view->calls.renderer.rec);
	const struct btsrec_root *root = btsrec_root(view->calls.renderer.rec);
	struct out *out = &view->calls.renderer.out;
	unsigned int cpu;
	bool panicked = !root->freeze_reason && summary_panic_cpu(view->calls.renderer.rec, &cpu);

	if (root->freeze_reason || panicked)
		text_verdict(view);
	text_operand(view);
	out_literal(out, "kernel:      ");
	out_escaped(out, root->release, sizeof(root->release));
	out_literal(out, "\nfirst fault: ");
	if (root->freeze_reason) {
		out_str(out, btsrec_reason_str(root->freeze_reason));
		if (*root->freeze_trigger) {
			out_char(out, ' ');
			out_escaped(out, root->freeze_trigger, sizeof(root->freeze_trigger));
		}
		out_literal(out, " on CPU ");
		out_dec(out, root->freeze_cpu, 0);
	} else if (panicked) {
		out_literal(out, "panic on CPU ");
		out_dec(out, cpu, 0);
		out_literal(out, ", by the kernel; the recorder did not stop for it");
	} else {
		out_literal(out, "none");
	}
	out_char(out, '\n');
	info_source_text(out, view->calls.renderer.rec);
	info_left_out_text(out, view->calls.renderer.rec);
	text_incomplete(out, view->calls.renderer.rec);
	if (failed && view->ends_before) {
		out_literal(out, "history:     ");
		text_ends_before(view, &failed->freeze, "fault");
	}
	if (root->freeze_reason)
		text_signature(view);
}

static void text_lock(struct summary *view, const struct summary_lock *lock, const char *sentence)
{
	struct out *out = &view->calls.renderer.out;

	(void)lock;
	out_literal(out, "locks:       ");
	out_str(out, sentence);
	out_char(out, '\n');
}

/* --- What it was doing -------------------------------------------------- */

static void text_entry(struct summary *view, const struct calltree_line *line)
{
	struct out *out = &view->calls.renderer.out;
	char kind[BRANCH_TEXT_BYTES];

	frame_text(kind, line->frame, line->vector);
	out_literal(out, " < [");
	out_str(out, kind);
	calls_syscall(&view->calls.renderer, line->call.handler);
	out_char(out, ']');
}

/* Innermost first, and only what the history shows. */
static void text_stack(struct summary *view)
{
	const struct calltree *tree = &view->calls.tree;
	struct renderer *r = &view->calls.renderer;
	size_t nr_names = 1;

	calls_function(r, view->ip);
	for (size_t i = view->nr_open; i; i--) {
		struct calltree_line line = calltree_line(tree, tree->open[i - 1]);
		bool entry = frame_is_entry(line.frame);

		if (nr_names++ == MAX_STACK_NAMES) {
			out_literal(&r->out, " < ...");
			return;
		}
		if (entry)
			text_entry(view, &line);
		if (entry && !code_is_kernel(line.from))
			return;
		out_literal(&r->out, " < ");
		calls_function(r, line.from);
	}
}

static void text_doing(struct summary *view, const struct btsrec_cpu *cpu)
{
	struct out *out = &view->calls.renderer.out;

	if (cpu->state == BTSREC_CPU_FROZEN) {
		out_literal(out, ", ");
		out_thread(out, cpu->freeze.pid, cpu->freeze.tgid, cpu->freeze.comm);
	}
	if (!view->nr_branches) {
		out_literal(out, ", no branches\n");
		return;
	}
	if (cpu == view->judged) {
		out_literal(out, ", at ");
		calls_function(&view->calls.renderer, view->ip);
	} else {
		out_str(out, code_is_kernel(view->ip) ? "\n  in " : "\n  in user code at ");
		text_stack(view);
		if (summary_interrupts_off(view, cpu))
			out_literal(out, ", interrupts off");
	}
	out_char(out, '\n');
}

/* --- What is there ------------------------------------------------------ */

static void text_gaps(struct summary *view)
{
	struct out *out = &view->calls.renderer.out;

	for (unsigned int kind = 0; kind < SUMMARY_GAP_KINDS; kind++) {
		if (!view->nr_gaps[kind])
			continue;
		out_literal(out, ", ");
		if (kind == BTSREC_GAP_OVERWRITTEN) {
			out_literal(out, "older ones are gone");
			continue;
		}
		out_dec(out, view->nr_gaps[kind], 0);
		out_literal(out, " x ");
		out_str(out, btsrec_gap_str((enum btsrec_gap_kind)kind));
	}
}

/*
 * The moment to which times are related, *@ret_what: the fault, or the stop of @cpu where there was
 * none; 0: not known.
 */
static uint64_t moment(const struct summary *view, const struct btsrec_cpu *cpu,
		       const char **ret_what)
{
	const struct btsrec_cpu *failed = session_failed_cpu(view->calls.renderer.rec);

	*ret_what = failed && !view->moment.is_stop ? "the fault" : "the stop";
	if (failed)
		return view->moment.tsc;
	return cpu->state == BTSREC_CPU_FROZEN ? cpu->freeze.tsc : 0;
}

static void text_moment(struct summary *view, const struct btsrec_cpu *cpu, uint64_t tsc)
{
	struct out *out = &view->calls.renderer.out;
	const char *what;
	uint64_t then = moment(view, cpu, &what);

	if (!then)
		return;
	out_literal(out, ", ");
	text_ms(view, then > tsc ? then - tsc : tsc - then);
	out_str(out, then >= tsc ? " before " : " after ");
	out_str(out, what);
}

static void text_history(struct summary *view, const struct btsrec_cpu *cpu)
{
	struct out *out = &view->calls.renderer.out;
	bool frozen = cpu->state == BTSREC_CPU_FROZEN;
	const struct btsrec_cpu *failed = session_failed_cpu(view->calls.renderer.rec);

	out_literal(out, "  ");
	out_dec(out, view->nr_branches, 0);
	out_str(out, view->nr_branches == 1 ? " branch" : " branches");
	if (cpu->source == BTSREC_SOURCE_LBR) {
		/* What has a time is older than they are. */
		out_literal(out, ", the last of this CPU (LBR)");
	} else if (frozen && view->oldest_tsc && cpu->freeze.tsc > view->oldest_tsc) {
		out_literal(out, " of at least ");
		text_ms(view, cpu->freeze.tsc - view->oldest_tsc);
	}
	text_gaps(view);
	/* It stopped later, and has overwritten what it did until then. */
	if (failed && failed != cpu && view->oldest_tsc > view->moment.tsc &&
	    view->nr_gaps[BTSREC_GAP_OVERWRITTEN])
		out_literal(out, ", all that has a time is newer than the fault");
	out_char(out, '\n');
}

static void text_switches(struct summary *view, const struct btsrec_cpu *cpu)
{
	struct out *out = &view->calls.renderer.out;

	for (uint64_t i = summary_first_switch(view); i < view->nr_switches; i++) {
		const struct btsrec_switch *sw = &view->switches[i % SUMMARY_SWITCHES].sw;

		out_literal(out, "  switch ");
		out_thread(out, sw->prev.pid, sw->prev.tgid, sw->prev.comm);
		out_literal(out, " -> ");
		out_thread(out, sw->next.pid, sw->next.tgid, sw->next.comm);
		text_moment(view, cpu, sw->tsc);
		out_char(out, '\n');
	}
}

/* Where the path begins in the kernel, what made its first call, or was interrupted there. */
static void text_path(struct summary *view)
{
	const struct calltree *tree = &view->calls.tree;
	struct renderer *r = &view->calls.renderer;
	struct calltree_line line;

	if (view->first_open == view->nr_open)
		return;
	out_str(&r->out, view->verdict.stay.below_interrupt ? "What it did in the interrupt" :
			 view->ends_before ? "What it did before its history ends" :
			 view->stack.fault.kind ? "What followed the fault" : "How it got there");
	if (view->first_open < view->nr_open) {
		line = calltree_line(tree, tree->open[view->first_open]);
		if (code_is_kernel(line.from)) {
			out_literal(&r->out, ", from ");
			calls_function(r, line.from);
		}
	}
	out_literal(&r->out, ":\n");
}

/* What the history lacks. */
static void text_memory(struct summary *view)
{
	const struct summary_stack *stack = &view->stack;
	struct renderer *r = &view->calls.renderer;

	if (!stack->nr)
		return;
	out_literal(&r->out, "From the memory of the stack");
	if (stack->pid) {
		out_literal(&r->out, " of thread ");
		out_dec(&r->out, stack->pid, 0);
	}
	out_literal(&r->out, ":\n");
	for (size_t i = 0; i < stack->nr; i++) {
		out_literal(&r->out, "  ");
		calls_function(r, stack->places[i].ip);
		if (i && stack->places[i].how == UNWIND_INTERRUPTED)
			out_literal(&r->out, ", interrupted");
		out_char(&r->out, '\n');
	}
	if (stack->to_user)
		out_literal(&r->out, "  user code\n");
	else if (stack->nr == SUMMARY_MAX_PLACES)
		out_literal(&r->out, "  ...\n");
}

static void text_cpu(struct summary *view, const struct btsrec_cpu *cpu)
{
	struct out *out = &view->calls.renderer.out;
	bool is_judged = cpu == view->judged;

	out_literal(out, "\nCPU ");
	out_dec(out, cpu->cpu, 0);
	out_literal(out, ": ");
	render_cpu_state(out, cpu);
	if (cpu->state == BTSREC_CPU_FROZEN && cpu->freeze.via_nmi)
		out_literal(out, " by NMI");
	text_doing(view, cpu);
	if (view->ends_before && !is_judged) {
		out_literal(out, "  history ");
		text_ends_before(view, &cpu->freeze, "stop");
	}
	text_history(view, cpu);
	text_switches(view, cpu);
	if (!is_judged)
		return;
	text_memory(view);
	text_path(view);
}

static void text_recursion(struct summary *view, size_t nr_calls)
{
	struct out *out = &view->calls.renderer.out;

	out_literal(out, "  ... ");
	out_dec(out, nr_calls, 0);
	out_literal(out, " more calls are open, which repeat those above\n");
}

/* --- The kernel's log ---------------------------------------------------- */

/* More than a line of a terminal nobody reads here. */
#define MAX_LOG_CHARS	80

static void text_distance(struct summary *view, uint64_t tsc, uint64_t end_tsc)
{
	struct out *out = &view->calls.renderer.out;

	out_str(out, tsc < end_tsc ? "-" : "+");
	text_ms(view, tsc < end_tsc ? end_tsc - tsc : tsc - end_tsc);
	out_char(out, ' ');
}

static void text_log(struct summary *view, struct summary_log *log)
{
	struct out *out = &view->calls.renderer.out;
	char lacks[KERNEL_LOG_LACKS_BYTES];
	const char *why = kernel_log_lacks(&log->log, lacks);

	out_literal(out, "Kernel log");
	if (log->log.why) {
		out_literal(out, ": none, ");
		out_str(out, log->log.why);
		out_char(out, '\n');
		return;
	}
	if (log->log.no_clock) {
		out_literal(out, " (no time from the fault: ");
		out_str(out, log->log.no_clock);
		out_char(out, ')');
	}
	if (log->is_around)
		out_str(out, view->moment.is_stop ? ", from the stop" : ", from the fault");
	out_literal(out, ":\n");
	for (size_t i = log->nr; i; i--) {
		struct kernel_log_line *line = &log->lines[i - 1];
		struct btsrec_log_line value = kernel_log_value(&log->log, line, &log->text);

		out_literal(out, "  ");
		if (log->is_around && line->has_tsc)
			text_distance(view, line->tsc, log->end_tsc);
		kernel_log_text(out, &value, MAX_LOG_CHARS);
		out_char(out, '\n');
	}
	if (log->nr_newer || log->nr_details) {
		out_literal(out, "  ... ");
		out_dec(out, log->nr_newer, 0);
		out_literal(out, " newer, ");
		out_dec(out, log->nr_details, 0);
		out_literal(out, " of call traces and registers\n");
	}
	if (why) {
		out_literal(out, "  ... ");
		out_str(out, why);
		out_char(out, '\n');
	}
}

/* From the fault, rounded so that the bound still holds. */
static void text_bound(struct summary *view, uint64_t tsc, bool is_upper)
{
	struct out *out = &view->calls.renderer.out;
	uint64_t then = view->moment.tsc, ticks_per_us = view->calls.tsc_khz / 1000;
	bool after = tsc > then;

	if (!tsc || tsc == UINT64_MAX) {
		out_char(out, '?');
		return;
	}
	out_char(out, after ? '+' : '-');
	text_ms(view, (after ? tsc - then : then - tsc) +
		      (after == is_upper && ticks_per_us ? ticks_per_us - 1 : 0));
}

static void text_ran_cpu(struct summary *view, const struct summary_ran_cpu *cpu)
{
	struct renderer *r = &view->calls.renderer;
	struct out *out = &r->out;

	out_literal(out, "  CPU ");
	out_dec(out, cpu->cpu, 0);
	out_literal(out, ": ");
	for (size_t i = 0; i < cpu->nr; i++) {
		out_str(out, i ? ", before it " : "");
		calls_function(r, cpu->va[i]);
		if (i)
			continue;
		out_literal(out, " at event ");
		out_dec(out, cpu->n, 0);
		if (cpu->known) {
			out_literal(out, ", thread ");
			out_thread(out, cpu->side.pid, cpu->side.tgid, cpu->side.comm);
		}
		out_literal(out, ", ");
		text_bound(view, cpu->min_tsc, false);
		if (cpu->max_tsc != cpu->min_tsc) {
			out_literal(out, "..");
			text_bound(view, cpu->max_tsc, true);
		}
		out_str(out, cpu->max_tsc > view->moment.tsc ? ", or after it" : "");
	}
	out_char(out, '\n');
}

void summary_ran_text(struct summary *view)
{
	struct summary_ran *ran = &view->ran;
	struct out *out = &view->calls.renderer.out;

	out_literal(out, "\nWhat other CPUs had run of ");
	out_escaped(out, ran->culprit->name, sizeof(ran->culprit->name));
	out_str(out, view->moment.is_stop ? " last before the stop:\n" :
					    " last before the fault:\n");
	for (size_t i = 0; i < ran->nr - ran->nr_more; i++)
		text_ran_cpu(view, &ran->list[i]);
	if (!ran->nr_more)
		return;
	out_literal(out, "  and ");
	out_dec(out, ran->nr_more, 0);
	out_literal(out, " more; btsrec last DUMP ");
	out_escaped(out, ran->culprit->name, sizeof(ran->culprit->name));
	out_literal(out, " has all\n");
}

const struct summary_format summary_text = {
	.log = text_log,
	.begin = text_begin,
	.lock = text_lock,
	.cpu = text_cpu,
	.recursion = text_recursion,
};
