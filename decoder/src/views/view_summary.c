// SPDX-License-Identifier: GPL-2.0-or-later
/* One screen: why the machine stopped, how it got there, what the other CPUs did. */
#include "views/view_summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "flow/clock.h"
#include "views/cpu_tasks.h"
#include "flow/trace_frames.h"
#include "views/values.h"
#include "symbols/symbol.h"
#include "recorder/cpus.h"
#include "recorder/record.h"

/*
 * The tree needs the newest calls only; what is open it has in any case.  Of a lockup it shows
 * as well whether calls may have ended unseen.  Of the death of init it shows where the signal was
 * sent.
 */
#define NR_TREE_EVENTS		2000
#define NR_MANY_TREE_EVENTS	65536
#define MAX_PATH_LINES	20
/* So many functions that call each other in turn are seen as a recursion. */
#define MAX_RECURSION	4

/* --- One CPU ------------------------------------------------------------ */

static bool digest_event(void *arg, const struct btsrec_event *event)
{
	struct summary *view = arg;
	uint64_t tsc;

	if (event->kind == BTSREC_EVENT_SWITCH && !event->mm_only)
		view->switches[view->nr_switches++ % SUMMARY_SWITCHES] = *event;
	else if (event->kind == BTSREC_EVENT_GAP && event->gap.kind < SUMMARY_GAP_KINDS)
		view->nr_gaps[event->gap.kind]++;
	if (event->kind == BTSREC_EVENT_GAP && event->gap.kind != BTSREC_GAP_OVERWRITTEN)
		view->loses |= !record_is_own_pause(&event->gap);
	if (!view->oldest_tsc && clock_event(event, &tsc))
		view->oldest_tsc = tsc;
	return true;
}

static enum btsrec_status digest_events(struct summary *view, struct btsrec *rec, unsigned int cpu)
{
	const struct btsrec_cpu *page = btsrec_cpu(rec, cpu);
	struct history_passed passed;
	enum btsrec_status status;

	view->nr_switches = 0;
	view->oldest_tsc = 0;
	view->loses = false;
	memset(view->nr_gaps, 0, sizeof(view->nr_gaps));
	status = trace_others(rec, cpu, digest_event, view, &passed);
	view->nr_events = passed.nr_events;
	view->nr_branches = passed.nr_branches;
	view->ends_before = page->frozen && fault_ends_before(&page->freeze);
	view->ip = page->frozen && !view->ends_before ? page->freeze.ip : passed.newest.to;
	return status;
}

/* Of the IRET at @n, which led to a copy: where the INT3 stood that entered the kernel. */
static uint64_t breakpoint_before(const struct calltree *tree, size_t i, uint64_t n)
{
	const int breakpoint = 3; /* SDM vol. 3A, table 6-1 */

	while (i--) {
		struct calltree_line line = calltree_line(tree, i);

		if (line.kind == CALLTREE_CALL && line.last_n == n && frame_is_entry(line.frame))
			return line.vector == breakpoint ? line.from : 0;
	}
	return 0;
}

uint64_t summary_probed(const struct summary *view, uint64_t va)
{
	struct btsrec *rec = view->calls.renderer.rec;
	const struct calltree *tree = &view->calls.tree;
	uint64_t place = trace_probed(rec, va);

	if (place != va || !trace_is_trampoline(rec, va))
		return place;
	for (size_t i = tree->nr_lines; i--;) {
		struct calltree_line line = calltree_line(tree, i);

		if (line.kind == CALLTREE_RESUME && line.to == va) {
			place = breakpoint_before(tree, i, line.n);
			return place ? place : va;
		}
	}
	return va;
}

static size_t nr_calls_to_fault(struct summary *view)
{
	const struct calltree *tree = &view->calls.tree;
	const struct fault *fault = &view->calls.fault;
	size_t nr = 0;

	view->ip = summary_probed(view, fault->from);
	while (nr < tree->nr_open) {
		uint64_t n = calltree_line(tree, tree->open[nr]).n;

		if (n > fault->n || (n == fault->n && fault->kind == FAULT_STOP))
			break;
		nr++;
	}
	return nr;
}

/*
 * How many of @nr open calls are none of the recorder's, and none of code that the kernel has made
 * to call it.  It has stopped BTS in code of its own.
 */
static size_t nr_before_recorder(const struct summary *view, const struct btsrec_cpu *cpu,
				 size_t nr)
{
	struct btsrec *rec = view->calls.renderer.rec;
	const struct btsrec_module *own = btsrec_module_at(rec, cpu->freeze.stop_ip);
	const struct calltree *tree = &view->calls.tree;
	size_t end = nr;

	while (own && end &&
	       btsrec_module_at(rec, calltree_line(tree, tree->open[end - 1]).to) == own)
		end--;
	while (end < nr && end && trace_is_made(rec, calltree_line(tree, tree->open[end - 1]).to))
		end--;
	return end;
}

/*
 * How many of the open calls are of what the CPU did, and not of how it dealt with the
 * fault.  If that is not known, not those of the recorder, nor the NMI, that stopped it:
 * both begin at the address that the freeze has noted.
 */
static size_t nr_own_calls(struct summary *view, const struct btsrec_cpu *cpu)
{
	const struct calltree *tree = &view->calls.tree;

	if (cpu->state != BTSREC_CPU_FROZEN)
		return tree->nr_open;
	if (view->calls.fault.kind)
		return nr_calls_to_fault(view);
	for (size_t i = tree->nr_open; i; i--) {
		struct calltree_line line = calltree_line(tree, tree->open[i - 1]);

		if (cpu->freeze.ip - line.from < CODE_INSN_MAX_BYTES + 1)
			return i - 1;
	}
	return nr_before_recorder(view, cpu, tree->nr_open);
}

/*
 * Not after the fault: what was open there is known there, whatever the history loses
 * while the kernel deals with it.
 */
static uint64_t last_of_tree(const struct summary *view)
{
	return view->calls.fault.kind ? view->calls.fault.n : UINT64_MAX;
}

static uint64_t nr_tree_events(const struct btsrec_cpu *cpu)
{
	enum btsrec_reason reason = (enum btsrec_reason)cpu->freeze.reason;

	return cpu->frozen && !cpu->freeze.via_nmi &&
			       (verdict_is_lockup(reason) ||
				(reason == BTSREC_REASON_PANIC && cpu->freeze.tgid == 1)) ?
		       NR_MANY_TREE_EVENTS : NR_TREE_EVENTS;
}

static enum btsrec_status digest(struct summary *view, struct btsrec *rec, unsigned int cpu)
{
	enum btsrec_status status;

	view->calls.cpu = cpu;
	calltree_clear(&view->calls.tree);
	status = digest_events(view, rec, cpu);
	if (!status)
		status = trace_fault(rec, cpu, &view->calls.fault);
	if (!status && view->nr_events)
		status = calltree_read(&view->calls.tree, rec, cpu, 0, last_of_tree(view),
				       nr_tree_events(btsrec_cpu(rec, cpu)), &view->calls.fault);
	if (!status && btsrec_cpu(rec, cpu) == view->judged)
		status = summary_follow(view, rec, btsrec_cpu(rec, cpu));
	if (!status)
		view->nr_open = nr_own_calls(view, btsrec_cpu(rec, cpu));
	return status;
}

/* --- Path --------------------------------------------------------------- */

static bool same_call(const struct calltree *tree, size_t a, size_t b)
{
	struct calltree_line one = calltree_line(tree, tree->open[a]);
	struct calltree_line other = calltree_line(tree, tree->open[b]);

	return one.from == other.from && one.to == other.to;
}

/* Is the open call @i one of a recursion, and neither in its first round nor in its last? */
static bool recurs(const struct summary *view, size_t i)
{
	const struct calltree *tree = &view->calls.tree;

	for (size_t period = 1; period <= MAX_RECURSION; period++)
		if (i >= period && i + period < view->nr_open && same_call(tree, i, i - period) &&
		    same_call(tree, i, i + period))
			return true;
	return false;
}

/* Was the kernel entered from user code there?  A jump to such an address is none of it. */
static bool is_from_user(const struct summary *view, const struct calltree_line *line)
{
	const struct fault *fault = &view->calls.fault;

	if (fault->kind && line->n == fault->n && fault->nr_before &&
	    fault->before[0].to == fault->from && code_is_kernel(fault->before[0].from))
		return false;
	return frame_is_entry(line->frame) && !code_is_kernel(line->from);
}

/* Did the fault happen in the interrupt that begins there?  What that came upon is not at fault. */
static bool is_its_interrupt(const struct summary *view, const struct calltree_line *line)
{
	const struct fault *fault = &view->calls.fault;

	return (fault->kind == FAULT_EXCEPTION || fault->kind == FAULT_CALL) &&
	       line->frame == FRAME_IRQ && line->n != fault->n &&
	       !verdict_is_lockup((enum btsrec_reason)view->judged->freeze.reason);
}

/*
 * Where the innermost entry from user code is, or the interrupt of the fault, or what
 * MAX_PATH_LINES leave.
 */
static size_t first_of_path(const struct summary *view)
{
	const struct calltree *tree = &view->calls.tree;
	size_t first = view->nr_open, nr = 0;

	while (first && nr < MAX_PATH_LINES - 1) {
		struct calltree_line line = calltree_line(tree, tree->open[--first]);

		if (is_from_user(view, &line) || is_its_interrupt(view, &line))
			break;
		nr += !recurs(view, first);
	}
	return first;
}

static uint32_t indent_of(const struct calltree *tree, size_t i)
{
	struct calltree_line line = calltree_line(tree, i);

	return calltree_indent(tree, &line);
}

/*
 * enum choice - what becomes of a line; PATH_RECURS: it is open, and only counted; PATH_OTHER: of
 *	another thread
 */
enum choice {
	PATH_OUT,
	PATH_SHOWN,
	PATH_RECURS,
	PATH_OTHER,
};

/* The thread whose path it is: the newest; NULL: not known, or there is no other. */
static const struct btsrec_side *own_side(const struct calltree *tree)
{
	for (size_t i = tree->nr_lines; i--;) {
		struct calltree_line line = calltree_line(tree, i);

		if (line.kind == CALLTREE_THREAD)
			return calltree_side(tree, &line);
	}
	return NULL;
}

/* What the threads did that ran in between is not on it. */
static void leave_out_others(const struct calltree *tree, unsigned char *choices)
{
	const struct btsrec_side *own = own_side(tree), *side;
	bool is_other = own;

	for (size_t i = 0; own && i < tree->nr_lines; i++) {
		struct calltree_line line = calltree_line(tree, i);

		side = line.kind == CALLTREE_THREAD ? calltree_side(tree, &line) : NULL;
		if (line.kind == CALLTREE_THREAD)
			is_other = !side || side->pid != own->pid;
		choices[i] = is_other ? PATH_OTHER : PATH_OUT;
	}
}

/* The newest of the first @nr lines that is shown, from 1; 0: none is. */
static size_t newest_shown(const unsigned char *choices, size_t nr)
{
	while (nr && choices[nr - 1] != PATH_SHOWN)
		nr--;
	return nr;
}

static bool fits_path(const struct calltree *tree, size_t i, uint32_t most)
{
	struct calltree_line line = calltree_line(tree, i);

	return line.kind != CALLTREE_EVENT && line.kind != CALLTREE_FAULT &&
	       calltree_indent(tree, &line) <= most;
}

/*
 * The lines of a path: what is open from call @first_open on, and of what has returned
 * the newest calls that these made.  What is open need not be in the order of its lines:
 * a caller that is known again only when its thread comes back has a late one.
 */
static void choose_lines(const struct summary *view, size_t first_open, unsigned char *ret)
{
	const struct calltree *tree = &view->calls.tree;
	size_t nr_room = MAX_PATH_LINES, open, i;

	leave_out_others(tree, ret);
	for (i = first_open; i < view->nr_open; i++) {
		ret[tree->open[i]] = recurs(view, i) ? PATH_RECURS : PATH_SHOWN;
		nr_room -= ret[tree->open[i]] == PATH_SHOWN;
	}
	i = view->nr_open < tree->nr_open ? tree->open[view->nr_open] : tree->nr_lines;
	for (open = newest_shown(ret, i); open && nr_room; i--) {
		if (i == open) {
			open = newest_shown(ret, i - 1);
		} else if (ret[i - 1] == PATH_OUT &&
			   fits_path(tree, i - 1, indent_of(tree, open - 1) + 1)) {
			ret[i - 1] = PATH_SHOWN;
			nr_room--;
		}
	}
}

/* A recursion has its first round, how many follow, and its last one. */
static void print_chosen(struct summary *view, const unsigned char *choices)
{
	const struct calltree *tree = &view->calls.tree;
	uint32_t indent = view->calls.least;
	size_t nr_left_out = 0;

	for (size_t i = 0; i < tree->nr_lines; i++) {
		nr_left_out += choices[i] == PATH_RECURS;
		if (choices[i] != PATH_SHOWN)
			continue;
		if (nr_left_out && view->format->recursion) {
			view->format->recursion(view, nr_left_out);
			/* What follows goes on where the first round was left. */
			view->calls.least += indent_of(tree, i) - indent;
		}
		indent = indent_of(tree, i);
		nr_left_out = 0;
		calls_lines(&view->calls, i, i + 1, 0);
	}
}

static enum btsrec_status print_path(struct summary *view, struct btsrec *rec)
{
	const struct calltree *tree = &view->calls.tree;
	_cleanup_free_ unsigned char *choices = calloc(tree->nr_lines + 1, sizeof(*choices));
	size_t first_open = view->first_open;

	if (!choices)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (first_open == view->nr_open)
		return BTSREC_OK;
	choose_lines(view, first_open, choices);
	view->calls.least = indent_of(tree, tree->open[first_open]);
	print_chosen(view, choices);
	return BTSREC_OK;
}

/* --- Summary ------------------------------------------------------------ */

static const char *why_without(struct btsrec *rec)
{
	const struct btsrec_root *root = btsrec_root(rec);
	unsigned int cpu;

	if (!root->freeze_reason && summary_panic_cpu(rec, &cpu))
		return "the kernel panicked when nothing was recorded";
	if (!root->freeze_reason)
		return "there was no fault";
	if (btsrec_cpu(rec, root->freeze_cpu))
		return "that CPU had stopped recording before";
	return session_left_out(rec, root->freeze_cpu) ?
	       "that CPU is left out: cpus= did not name it" :
	       "the history of that CPU is not known";
}

static void print_log(struct summary *view, struct btsrec *rec, uint64_t fault_tsc)
{
	struct summary_log log;

	if (rec->no_log)
		return;
	summary_log_read(rec, fault_tsc, &log);
	view->format->log(view, &log);
}

static enum btsrec_status begin_without(void *arg)
{
	struct summary *view = arg;

	view->no_signature = why_without(view->calls.renderer.rec);
	(void)snprintf(view->sentence, sizeof(view->sentence), "%s", view->no_signature);
	view->format->begin(view);
	print_log(view, view->calls.renderer.rec, 0);
	return view->calls.renderer.out.stopped ? BTSREC_ERR_STOPPED : BTSREC_OK;
}

/* It failed, or had the same fault before it could be stopped; or it is judged, or wanted so. */
static bool prints_in_full(const struct summary *view, const struct btsrec *rec,
			   const struct btsrec_cpu *cpu)
{
	const struct btsrec_cpu *failed = session_failed_cpu(rec);

	return cpu == view->judged || cpu == failed || summary_failed_too(rec, failed, cpu) ||
	       cpus_has(rec->full_cpus, rec->nr_full_cpus, cpu->cpu);
}

static bool is_blocked(const struct summary *view, const struct summary_lock *lock)
{
	size_t i = 0;

	while (i < view->nr_blocked && view->blocked[i].lock.task.pid != lock->task.pid)
		i++;
	return i < view->nr_blocked;
}

/* What memory says of a thread is all that its history does, and more. */
static void print_locks(struct summary *view)
{
	char sentence[SUMMARY_SENTENCE_BYTES];
	struct summary_lock lock;

	for (size_t i = 0; i < view->nr_blocked; i++) {
		*sentence = '\0';
		summary_say_blocked(view, &view->blocked[i], sentence);
		view->format->lock(view, &view->blocked[i].lock, sentence);
	}
	for (size_t i = 0; i < view->locks->nr_waits; i++) {
		lock = view->locks->waits[i];
		if (is_blocked(view, &lock))
			continue;
		*sentence = '\0';
		summary_lock_complete(view, &lock);
		summary_lock_owner(view->locks, &lock);
		summary_say_lock(view, &lock, sentence);
		view->format->lock(view, &lock, sentence);
	}
}

static enum btsrec_status print_cpu(struct summary *view, struct btsrec *rec, unsigned int number)
{
	const struct btsrec_cpu *cpu = btsrec_cpu(rec, number);
	bool is_judged = view->judged && cpu == view->judged;
	enum btsrec_status status;

	if (is_judged) {
		view->first_open = first_of_path(view);
		status = summary_judge(view, rec, cpu);
		if (status)
			return status;
		summary_sign(view, rec, cpu);
		summary_ran_culprit(view, rec, cpu);
		status = summary_operand_read(view, rec, cpu);
		if (status)
			return status;
		view->format->begin(view);
		summary_operand_drop(view);
		print_locks(view);
	}
	if (view->is_grouped && !prints_in_full(view, rec, cpu))
		summary_group_add(view, cpu);
	else
		view->format->cpu(view, cpu);
	if (!is_judged)
		return view->is_text ? summary_ran_read(view, rec) : BTSREC_OK;
	status = print_path(view, rec);
	if (!status)
		print_log(view, rec, view->moment.tsc);
	return status;
}

/* User code has names in its process only. */
static enum btsrec_status find_side(struct summary *view, struct btsrec *rec, unsigned int number)
{
	struct calls *calls = &view->calls;
	enum btsrec_status status;

	if (!view->nr_events || code_is_kernel(view->ip) || view->moved ||
	    !symbols_user_present(rec))
		return BTSREC_OK;
	status = trace_spaces(rec, number, &calls->spaces);
	calls->renderer.side = aspace_at(&calls->spaces, view->nr_events - 1);
	return status;
}

static enum btsrec_status show_cpu(void *arg, unsigned int number)
{
	struct summary *view = arg;
	struct btsrec *rec = view->calls.renderer.rec;
	enum btsrec_status status = digest(view, rec, number);

	if (!status)
		status = find_side(view, rec, number);
	if (!status)
		status = print_cpu(view, rec, number);
	view->calls.renderer.side = NULL;
	aspace_fini(&view->calls.spaces);
	summary_unfollow(view);
	return status ? status : view->calls.renderer.out.stopped ? BTSREC_ERR_STOPPED : BTSREC_OK;
}

/* All that have a ring, the one that is @judged before the others. */
static size_t list_cpus(const struct btsrec *rec, const struct btsrec_cpu *judged,
			unsigned int *ret)
{
	size_t nr = 0;

	if (judged)
		ret[nr++] = judged->cpu;
	for (unsigned int i = 0; i < btsrec_nr_cpu_ids(rec); i++) {
		const struct btsrec_cpu *cpu = btsrec_cpu(rec, i);

		if (cpu && cpu != judged)
			ret[nr++] = i;
	}
	return nr;
}

static enum btsrec_status summary_check(struct btsrec *rec, enum btsrec_format format)
{
	if (format != BTSREC_FORMAT_TEXT && format != BTSREC_FORMAT_JSONL)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "the summary is shown as text or JSON lines");
	if (btsrec_root(rec) && !trace_code(rec))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	return cpus_check(rec, rec->full_cpus, rec->nr_full_cpus);
}

/** struct summary_how - @judged, @locks, ... @ran, @fn, @arg: see struct summary */
struct summary_how {
	enum btsrec_format format;
	unsigned int judged_cpu;
	bool is_judged;
	struct summary_locks locks;
	struct summary_moment moment;
	struct summary_groups groups;
	bool is_grouped;
	struct summary_ran ran;
	btsrec_digest_fn fn;
	void *arg;
};

static bool summary_open(void *arg, void *data, struct btsrec *rec)
{
	const struct summary_how *how = arg;
	struct summary *view = data;

	calls_init(&view->calls, rec, how->format);
	view->calls.source = true;
	view->judged = how->is_judged ? btsrec_cpu(rec, how->judged_cpu) : NULL;
	view->is_grouped = how->is_grouped;
	view->is_text = !how->fn && how->format == BTSREC_FORMAT_TEXT;
	view->locks = &how->locks;
	view->moment = how->moment;
	view->format = how->format == BTSREC_FORMAT_JSONL ? &summary_json : &summary_text;
	if (!how->fn)
		return true;
	view->format = &summary_values;
	view->fn = how->fn;
	view->arg = how->arg;
	view->calls.lines = &calls_values;
	view->calls.fn = summary_put_call;
	view->calls.arg = view;
	return true;
}

static enum btsrec_status summary_close(void *arg, void *data)
{
	struct summary *view = data;
	struct summary_how *how = arg;

	calltree_fini(&view->calls.tree);
	summary_groups_join(&how->groups, &view->groups);
	summary_ran_join(&how->ran, &view->ran);
	return BTSREC_OK;
}

static bool groups_open(void *arg, void *data, struct btsrec *rec)
{
	struct summary *view = data;

	if (!summary_open(arg, data, rec))
		return false;
	summary_groups_join(&view->groups, &((struct summary_how *)arg)->groups);
	summary_ran_join(&view->ran, &((struct summary_how *)arg)->ran);
	return true;
}

static enum btsrec_status print_groups(void *arg)
{
	struct summary *view = arg;

	if (view->groups.nr)
		summary_groups_text(&view->calls.renderer.out, &view->groups);
	if (summary_ran_sort(&view->ran))
		summary_ran_text(view);
	if (view->groups.nomem || view->ran.nomem)
		return msg_set(&view->calls.renderer.rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	return BTSREC_OK;
}

/* A handler that was preempted has stopped its CPU long after the fault. */
static enum btsrec_status find_moment(struct btsrec *rec, struct summary_moment *ret)
{
	const struct btsrec_cpu *failed = session_failed_cpu(rec);
	enum btsrec_status status;
	struct fault fault;

	if (!failed)
		return BTSREC_OK;
	ret->tsc = failed->freeze.tsc;
	status = trace_fault(rec, failed->cpu, &fault);
	if (status)
		return status;
	ret->is_stop = fault.why == FAULT_MOVED || fault.why == FAULT_TOO_OLD;
	if (!fault.kind)
		return BTSREC_OK;
	status = trace_fault_tsc(rec, failed->cpu, &fault, &ret->tsc);
	if (!ret->tsc)
		ret->tsc = failed->freeze.tsc;
	return status;
}

static enum btsrec_status put_summary(struct btsrec *rec, struct summary_how how,
				      const struct btsrec_sink *sink)
{
	static const struct cpu_tasks work = {
		.view_bytes = sizeof(struct summary),
		.out_at = offsetof(struct summary, calls.renderer.out),
		.open = summary_open,
		.cpu = show_cpu,
		.close = summary_close,
	};
	struct cpu_tasks grouped = work;
	_cleanup_free_ unsigned int *cpus = calloc(btsrec_nr_cpu_ids(rec) + 1UL, sizeof(*cpus));
	enum btsrec_status status = summary_check(rec, how.format);
	const struct btsrec_cpu *judged = status ? NULL : summary_judged_cpu(rec);
	size_t nr_cpus;

	if (!cpus)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	how.is_judged = judged;
	how.judged_cpu = how.locks.judged_cpu = judged ? judged->cpu : 0;
	if (!status && !judged)
		status = cpu_tasks_one(rec, &work, begin_without, &how, sink);
	nr_cpus = list_cpus(rec, judged, cpus);
	how.is_grouped = !how.fn && how.format == BTSREC_FORMAT_TEXT &&
			 nr_cpus > SUMMARY_MAX_FULL + 1;
	if (!status)
		status = summary_locks_read(rec, session_failed_cpu(rec), &how.locks);
	if (!status)
		status = find_moment(rec, &how.moment);
	/* What is wrong with one history is said when it is printed. */
	if (status == BTSREC_ERR_CORRUPT)
		status = BTSREC_OK;
	if (!status)
		status = cpu_tasks_print(rec, cpus, nr_cpus, how.fn, &work, &how, sink);
	grouped.open = groups_open;
	if (!status && (how.groups.nr || how.groups.nomem || how.ran.nr || how.ran.nomem))
		status = cpu_tasks_one(rec, &grouped, print_groups, &how, sink);
	summary_groups_fini(&how.groups);
	summary_ran_fini(&how.ran);
	return cpus_end(rec, NULL, status);
}

enum btsrec_status btsrec_summary(struct btsrec *rec, enum btsrec_format format,
				  const struct btsrec_sink *sink)
{
	return put_summary(rec, (struct summary_how){ .format = format }, sink);
}

enum btsrec_status btsrec_summary_each(struct btsrec *rec, btsrec_digest_fn fn, void *arg)
{
	return put_summary(rec, (struct summary_how){ .fn = fn, .arg = arg }, &values_sink);
}
