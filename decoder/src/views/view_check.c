// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What can be proven or refuted about the recorder's data without a second source.
 * Locate has validated structures and counters.  Here is what the histories must satisfy:
 *
 *  - annotations have consecutive sequences, and the last is the counter's;
 *  - time does not run backwards on one CPU;
 *  - the context block is what the newest annotation with a thread says;
 *  - a frozen CPU has a whole snapshot, not older than its newest annotation; its
 *    newest branch leads straight to where BTS was switched off;
 *  - in a ring that never wrapped, all from the index on is poison;
 *  - nothing is missing that the ring should have.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "flow/clock.h"
#include "views/cpu_tasks.h"
#include "views/values.h"
#include "recorder/history.h"
#include "recorder/record.h"
#include "render/render.h"

#define NR_GAP_KINDS	(BTSREC_GAP_NO_INDEX + 1)

/*
 * Code runs straight from the newest branch's target to the instruction after the WRMSR that stops
 * BTS.  No function of the kernel is so long that more than this lies between.
 */
#define STRAIGHT_RUN_MAX_BYTES	4096

/**
 * struct check_how - one btsrec_check() under way
 * @nr_faults: of what is done.
 * @fn, @arg: receive values; NULL: they are printed.
 */
struct check_how {
	uint64_t nr_faults;
	btsrec_diag_fn fn;
	void *arg;
};

/**
 * struct check - what one thread checks
 * @cpu: being checked; UINT32_MAX: the root.
 * @page: its page, NULL for the root.
 */
struct check {
	struct btsrec *rec;
	struct out out;
	struct check_how *how;
	uint64_t nr_faults;
	uint32_t cpu;
	const struct btsrec_cpu *page;
	struct session_ring ring;
	struct fetch fetch;
	struct history_check {
		uint64_t nr_gaps[NR_GAP_KINDS];
		uint64_t nr_gap_slots[NR_GAP_KINDS];
		uint64_t first_gap_n[NR_GAP_KINDS];
		bool has_tsc;
		uint64_t tsc;
		uint64_t nr_backwards;
		uint64_t nr_late_stops;
		bool has_sequence;
		uint32_t sequence;
		uint64_t nr_sequence_breaks;
		unsigned int nr_contexts;
		struct btsrec_switch context;
		struct btsrec_switch context_before;
		uint64_t context_n;
		bool stopped_behind_context;
		bool newest_is_branch;
		struct btsrec_record newest;
		enum btsrec_status status;
	} history;
};

/* --- Diagnostics -------------------------------------------------------- */

static void check_text(struct check *check, bool fault, const char *text)
{
	struct out *out = &check->out;

	out_pad(out, fault ? "fault" : "note", 6);
	if (check->cpu != DIAG_NO_CPU) {
		out_literal(out, "CPU ");
		out_dec(out, check->cpu, 0);
		out_literal(out, ": ");
	}
	out_escaped(out, text, DIAG_TEXT_BYTES);
	out_char(out, '\n');
}

static void check_value(struct check *check, bool fault, const char *text)
{
	char escaped[ESCAPED_MAX_BYTES * DIAG_TEXT_BYTES + 1];
	const struct check_how *how = check->how;
	struct btsrec_diag value = {
		.size = sizeof(value),
		.fault = fault,
		.has_cpu = check->cpu != DIAG_NO_CPU,
		.text = escaped,
	};

	if (value.has_cpu)
		value.cpu = check->cpu;
	escaped_copy(escaped, text, DIAG_TEXT_BYTES);
	if (!check->out.stopped && !how->fn(how->arg, &value))
		check->out.stopped = true;
}

static void check_line(struct check *check, bool fault, const char *text)
{
	if (check->how->fn)
		check_value(check, fault, text);
	else
		check_text(check, fault, text);
}

__attribute__((format(printf, 2, 3)))
static void check_fault(struct check *check, const char *fmt, ...)
{
	char text[DIAG_TEXT_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	check->nr_faults++;
	check_line(check, true, text);
}

__attribute__((format(printf, 2, 3)))
static void check_note(struct check *check, const char *fmt, ...)
{
	char text[DIAG_TEXT_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	check_line(check, false, text);
}

/* What locate found, in its order. */
static void check_diags(struct check *check)
{
	const struct diags *diags = &check->rec->diags;
	size_t i;

	for (i = 0; i < diags->nr; i++) {
		const struct diag *diag = &diags->list[i];

		check->cpu = diag->cpu;
		if (!diag->pa && diag->status)
			check_fault(check, "%s", diag->text);
		else if (diag->status)
			check_fault(check, "page 0x%016" PRIx64 ": %s", diag->pa, diag->text);
		else
			check_note(check, "%s", diag->text);
	}
	check->cpu = DIAG_NO_CPU;
	if (diags->nr_dropped)
		check_fault(check, "%" PRIu64 " more diagnostics were dropped", diags->nr_dropped);
}

/* --- Root --------------------------------------------------------------- */

/*
 * A panic between a disarm's stop of its CPU and the unhooking finds that CPU stopped; one before
 * it records again after a copy finds it frozen.
 */
static void check_first_fault(struct check *check, const struct btsrec_root *root)
{
	const struct btsrec_cpu *cpu = btsrec_cpu(check->rec, root->freeze_cpu);

	if (root->freeze_cpu >= root->nr_cpu_ids)
		check_fault(check, "the first fault is on CPU %u, but there are only %u CPUs",
			    root->freeze_cpu, root->nr_cpu_ids);
	else if (!cpu && session_left_out(check->rec, root->freeze_cpu))
		check_note(check, "the first fault is on CPU %u, which is left out",
			   root->freeze_cpu);
	else if (cpu && cpu->state == BTSREC_CPU_STOPPED)
		check_note(check, "the first fault is on CPU %u, which had been stopped before: %s",
			   root->freeze_cpu, btsrec_reason_str(cpu->stop_reason));
	else if (cpu && cpu->state == BTSREC_CPU_NEVER)
		check_note(check, "the first fault is on CPU %u, which never recorded",
			   root->freeze_cpu);
	else if (cpu && cpu->state != BTSREC_CPU_FROZEN)
		check_fault(check, "the first fault is on CPU %u, which is not frozen",
			    root->freeze_cpu);
	else if (cpu && cpu->freeze.reason != root->freeze_reason && cpu->survived)
		check_note(check, "the first fault is on CPU %u, which had been frozen before: %s",
			   root->freeze_cpu, btsrec_reason_str(cpu->freeze.reason));
	else if (cpu && cpu->freeze.reason != root->freeze_reason)
		check_fault(check, "the first fault is %s, but its CPU froze for %s",
			    btsrec_reason_str(root->freeze_reason),
			    btsrec_reason_str(cpu->freeze.reason));
}

static void check_left_out(struct check *check)
{
	char cpus[128];

	session_list_left_out(check->rec, cpus, sizeof(cpus));
	if (*cpus)
		check_note(check, "not recorded, as cpus= did not name it: CPU %s", cpus);
}

/* The last page of a small file that is damaged from @pa on, in memory of one kind. */
static uint64_t end_of_damage(struct btsrec *rec, uint64_t pa)
{
	const struct session_memory what = session_memory(rec, pa);
	uint64_t last_pa = pa;

	for (;;) {
		struct session_memory next;

		pa = image_next_pa(&rec->image, last_pa + BTSREC_PAGE_BYTES);
		if (pa == UINT64_MAX || session_probe(rec, pa) != BTSREC_ERR_CORRUPT)
			return last_pa;
		next = session_memory(rec, pa);
		if (strcmp(next.text, what.text))
			return last_pa;
		last_pa = pa;
	}
}

/* Of a small file, which is read quickly, each frame. */
static void check_file(struct check *check)
{
	struct btsrec *rec = check->rec;
	uint64_t pa = 0, last_pa;

	if (!rec->image.next_pa || !rec->image.root_pa_hint)
		return;
	while ((pa = image_next_pa(&rec->image, pa)) != UINT64_MAX) {
		if (session_probe(rec, pa) == BTSREC_ERR_CORRUPT) {
			last_pa = end_of_damage(rec, pa);
			check_fault(check, "the file is damaged where it has %s, from 0x%" PRIx64
				    " to 0x%" PRIx64, session_memory(rec, pa).text, pa,
				    last_pa + BTSREC_PAGE_BYTES - 1);
			pa = last_pa;
		}
		pa += BTSREC_PAGE_BYTES;
	}
}

static void check_root(struct check *check)
{
	const struct btsrec_root *root = btsrec_root(check->rec);

	if (session_is_newer(check->rec))
		check_note(check, "format %u.%u, this decoder knows %u.%u: what was added since is "
			   "not checked", root->version_major, root->version_minor,
			   BTSREC_ABI_MAJOR, BTSREC_ABI_MINOR);
	if (check->rec->incomplete)
		check_fault(check, "%s", check->rec->notice);
	check_file(check);
	if (root->state == BTSREC_ROOT_FROZEN && !root->freeze_reason)
		check_fault(check, "the recorder is frozen without a first fault");
	if (root->freeze_reason)
		check_first_fault(check, root);
	check_left_out(check);
}

/* --- One history -------------------------------------------------------- */

/*
 * An annotation that has aged out of the ring in part, or one that the recorder
 * was stopped in: both are in order.
 */
static bool is_ragged_end(const struct check *check, const struct btsrec_event *event)
{
	const struct ring_layout *layout = &check->ring.layout;

	if (event->gap.kind != BTSREC_GAP_TORN)
		return false;
	return (event->n == 1 && check->history.nr_gaps[BTSREC_GAP_OVERWRITTEN]) ||
	       (event->gap.slot == layout->head_slot &&
		event->gap.nr_slots == layout->nr_pending);
}

static void history_gap(struct check *check, const struct btsrec_event *event)
{
	struct history_check *history = &check->history;
	enum btsrec_gap_kind kind = event->gap.kind;

	if (is_ragged_end(check, event))
		return;
	if (!history->nr_gaps[kind]++)
		history->first_gap_n[kind] = event->n;
	history->nr_gap_slots[kind] += event->gap.nr_slots;
}

static void history_tsc(struct history_check *history, const struct btsrec_event *event)
{
	uint64_t tsc;

	if (!clock_event(event, &tsc))
		return;
	if (history->has_tsc && tsc < history->tsc)
		history->nr_backwards++;
	history->has_tsc = true;
	history->tsc = tsc;
}

/* Of a pause or an arming: it stopped before it went on. */
static void history_stop(struct history_check *history, const struct btsrec_event *event)
{
	const struct btsrec_resume *resume = NULL;

	if (event->kind == BTSREC_EVENT_ARM)
		resume = &event->resume;
	else if (event->kind == BTSREC_EVENT_GAP && event->gap.has_resume)
		resume = &event->gap.resume;
	if (resume && resume->stop_tsc > resume->tsc)
		history->nr_late_stops++;
}

static bool is_annotation(const struct btsrec_event *event)
{
	switch (event->kind) {
	case BTSREC_EVENT_BRANCH:
	case BTSREC_EVENT_FREEZE:
		return false;
	case BTSREC_EVENT_GAP:
		return event->gap.has_resume;
	default:
		return true;
	}
}

/* The event does not carry its sequence: take it from the slot. */
static enum btsrec_status history_sequence(struct check *check, const struct btsrec_event *event)
{
	struct history_check *history = &check->history;
	struct btsrec_record record;
	enum btsrec_status status;
	uint32_t sequence;

	if (!is_annotation(event) || event->slot == UINT64_MAX)
		return BTSREC_OK;
	status = fetch_one(&check->fetch, event->slot, &record);
	if (status)
		return status == BTSREC_ERR_NODATA ? BTSREC_OK : status;
	sequence = record_tag(record.from).sequence;
	if (history->has_sequence && sequence != history->sequence + 1)
		history->nr_sequence_breaks++;
	history->has_sequence = true;
	history->sequence = sequence;
	return BTSREC_OK;
}

static void history_context(struct history_check *history, const struct btsrec_event *event)
{
	struct btsrec_switch context;

	/* A freeze writes that of the last branches, and says of the thread what the block says. */
	if (event->kind == BTSREC_EVENT_GAP && event->gap.has_resume &&
	    event->gap.resume.reason == BTSREC_REASON_LBR)
		return;
	if (!record_context(event, &context))
		return;
	history->context_before = history->context;
	history->context = context;
	history->context_n = event->n;
	history->nr_contexts += history->nr_contexts < 2;
}

static bool history_event(void *arg, const struct btsrec_event *event)
{
	struct check *check = arg;
	struct history_check *history = &check->history;

	history_tsc(history, event);
	history_stop(history, event);
	history->status = history_sequence(check, event);
	history_context(history, event);
	if (event->kind == BTSREC_EVENT_GAP)
		history_gap(check, event);
	return !history->status;
}

static void check_gaps(struct check *check)
{
	const struct history_check *history = &check->history;
	unsigned int kind;

	for (kind = 0; kind < NR_GAP_KINDS; kind++) {
		const char *word = btsrec_gap_str((enum btsrec_gap_kind)kind);

		if (!history->nr_gaps[kind] || kind == BTSREC_GAP_OVERWRITTEN ||
		    kind == BTSREC_GAP_PAUSED)
			continue;
		if (kind == BTSREC_GAP_UNKNOWN_KIND)
			check_note(check, "annotations of a newer format minor: %" PRIu64,
				   history->nr_gaps[kind]);
		else
			check_fault(check, "%s: slots %" PRIu64 ", places %" PRIu64
				    ", first at event %" PRIu64, word,
				    history->nr_gap_slots[kind], history->nr_gaps[kind],
				    history->first_gap_n[kind]);
	}
}

/* Slots may be lost, and with them annotations: then a break says nothing new. */
static bool history_has_holes(const struct history_check *history)
{
	return history->nr_gaps[BTSREC_GAP_NOT_IN_DUMP] || history->nr_gaps[BTSREC_GAP_TORN] ||
	       history->nr_gaps[BTSREC_GAP_NEVER_WRITTEN] ||
	       history->nr_gaps[BTSREC_GAP_BAD_RECORD] ||
	       history->nr_gaps[BTSREC_GAP_UNKNOWN_KIND] ||
	       history->nr_gaps[BTSREC_GAP_NO_INDEX];
}

static void check_annotations(struct check *check)
{
	const struct history_check *history = &check->history;
	const struct btsrec_cpu *page = check->page;

	if (history->nr_backwards)
		check_fault(check, "time runs backwards in %" PRIu64 " places",
			    history->nr_backwards);
	if (history->nr_late_stops)
		check_fault(check, "%" PRIu64 " pauses end before they begin",
			    history->nr_late_stops);
	if (page->nr_annot_skipped)
		check_note(check, "%" PRIu64 " annotations were skipped by the recorder",
			   (uint64_t)page->nr_annot_skipped);
	if (page->nr_foreign_stops)
		check_note(check, "BTS was found switched off by another's hand %" PRIu64 " times",
			   (uint64_t)page->nr_foreign_stops);
	if (history_has_holes(history))
		return;
	if (history->nr_sequence_breaks)
		check_fault(check, "the sequence of annotations breaks in %" PRIu64 " places",
			    history->nr_sequence_breaks);
	if (history->has_sequence && history->sequence != (uint32_t)(page->annot_end - 1))
		check_fault(check, "the newest annotation is number %u, the counter says %" PRIu64,
			    history->sequence, (uint64_t)page->annot_end - 1);
}

/* The recorder writes the annotation first: a freeze between the two finds the block before. */
static bool is_context_before(const struct history_check *history,
			      const struct btsrec_switch *context)
{
	return history->stopped_behind_context &&
	       (history->nr_contexts < 2 ||
		!memcmp(context, &history->context_before, sizeof(*context)));
}

static void check_context(struct check *check)
{
	const struct history_check *history = &check->history;
	const struct btsrec_cpu *page = check->page;

	if (page->context_seq & 1 || !history->nr_contexts ||
	    page->annot_begin != page->annot_end || history_has_holes(history) ||
	    is_context_before(history, &page->context))
		return;
	if (memcmp(&page->context, &history->context, sizeof(page->context)))
		check_fault(check, "the context block (pid %u, tsc %" PRIu64 ") is not what the "
			    "newest annotation says (pid %u, tsc %" PRIu64 ")",
			    page->context.next.pid, (uint64_t)page->context.tsc,
			    history->context.next.pid, (uint64_t)history->context.tsc);
}

/* --- Freeze ------------------------------------------------------------- */

/* Does the newest branch lead to the instruction at which BTS was stopped? */
static void check_stop_ip(struct check *check)
{
	const struct history_check *history = &check->history;
	uint64_t stop_ip = check->page->freeze.stop_ip, to = history->newest.to;

	if (!stop_ip || !history->newest_is_branch ||
	    btsrec_root(check->rec)->mode == BTSREC_MODE_USER)
		return;
	if (stop_ip - to >= STRAIGHT_RUN_MAX_BYTES)
		check_fault(check, "the newest branch goes to 0x%016" PRIx64
			    ", from where no straight run leads to the stop at 0x%016" PRIx64,
			    to, stop_ip);
}

static void check_freeze(struct check *check)
{
	const struct btsrec_cpu *page = check->page;
	const struct btsrec_freeze *freeze = &page->freeze;

	if (page->frozen && page->state != BTSREC_CPU_FROZEN)
		check_fault(check, "has a freeze snapshot, but its state is %u", page->state);
	if (page->frozen != 1)
		return;
	if (freeze->reason == BTSREC_REASON_NONE || freeze->reason > BTSREC_REASON_REQUEST)
		check_fault(check, "the reason of the freeze, %u, is unknown", freeze->reason);
	if (!(page->context_seq & 1) && page->context_seq &&
	    freeze->task_kva != page->context.next_task_kva)
		check_note(check, "froze in task 0x%016" PRIx64 ", the newest switch was to "
			   "0x%016" PRIx64, (uint64_t)freeze->task_kva,
			   (uint64_t)page->context.next_task_kva);
	check_stop_ip(check);
}

/* --- Poison ------------------------------------------------------------- */

/* A CPU that never wrapped has written nothing from its index on. */
static enum btsrec_status check_poison(struct check *check)
{
	const struct ring_layout *layout = &check->ring.layout;
	uint64_t slot = layout->head_slot + layout->nr_pending, nr_bad = 0, first_bad = 0;
	struct btsrec_record record;
	enum btsrec_status status;

	if (check->ring.index_status || layout->lap != RING_LAP_FIRST)
		return BTSREC_OK;
	for (; slot < layout->nr_slots; slot++) {
		status = fetch_one(&check->fetch, slot, &record);
		if (status == BTSREC_ERR_NODATA)
			continue;
		if (status)
			return status;
		if (record_classify(&record, 48) == RECORD_POISON)
			continue;
		if (!nr_bad++)
			first_bad = slot;
	}
	if (nr_bad)
		check_fault(check, "%" PRIu64 " slots after the index were written, the first is "
			    "%" PRIu64 ", but the ring has not wrapped", nr_bad, first_bad);
	return BTSREC_OK;
}

/* --- The view ----------------------------------------------------------- */

/* Is a branch the last event, but for the stop? */
static bool ends_with_branch(const struct check *check, const struct history_passed *passed)
{
	return passed->nr_branches &&
	       passed->newest_n + 1 + (check->page->frozen != 0) == passed->nr_events;
}

static enum btsrec_status check_history(struct check *check)
{
	struct history_check *history = &check->history;
	struct history_passed passed;
	enum btsrec_status status;

	memset(history, 0, sizeof(*history));
	status = history_others(check->rec, check->cpu, history_event, check, &passed);
	if (history->status)
		return history->status;
	if (status)
		return status;
	history->newest_is_branch = ends_with_branch(check, &passed);
	history->newest = passed.newest;
	history->stopped_behind_context =
		history->context_n + 1 + (check->page->frozen != 0) == passed.nr_events;
	check_gaps(check);
	check_annotations(check);
	check_context(check);
	return BTSREC_OK;
}

static enum btsrec_status check_ring(struct check *check)
{
	enum btsrec_status status = session_ring(check->rec, check->cpu, &check->ring);

	if (!status)
		status = check_history(check);
	if (!status)
		status = check_poison(check);
	return status;
}

static enum btsrec_status check_cpu(struct check *check, const struct located_cpu *located)
{
	const struct fetch_ring ring = { .image = &check->rec->image,
					 .page_pa = located->ring_pa,
					 .ring_bytes = located->page.ring_bytes };
	enum btsrec_status status;

	check->cpu = located->page.cpu;
	check->page = &located->page;
	status = fetch_init(&check->fetch, &ring);
	if (!status)
		status = check_ring(check);
	fetch_fini(&check->fetch);
	if (!status)
		check_freeze(check);
	return status;
}

static void check_summary(struct check *check, unsigned int nr_cpus)
{
	uint64_t nr_faults = check->nr_faults + check->how->nr_faults;
	struct out *out = &check->out;

	out_dec(out, nr_cpus, 0);
	out_str(out, nr_cpus == 1 ? " CPU checked, " : " CPUs checked, ");
	out_dec(out, nr_faults, 0);
	out_str(out, nr_faults == 1 ? " fault\n" : " faults\n");
}

static enum btsrec_status check_one(void *arg, unsigned int cpu)
{
	struct check *check = arg;

	return check_cpu(check, session_cpu(check->rec, cpu));
}

static bool check_open(void *arg, void *data, struct btsrec *rec)
{
	struct check *check = data;

	check->how = arg;
	check->rec = rec;
	check->cpu = DIAG_NO_CPU;
	return true;
}

static enum btsrec_status check_close(void *arg, void *data)
{
	const struct check *check = data;
	struct check_how *how = arg;

	how->nr_faults += check->nr_faults;
	return BTSREC_OK;
}

static const struct cpu_tasks check_work = {
	.view_bytes = sizeof(struct check),
	.out_at = offsetof(struct check, out),
	.open = check_open,
	.cpu = check_one,
	.close = check_close,
};

static enum btsrec_status check_all(void *arg)
{
	struct check *all = arg;
	struct check_how *how = all->how;
	const struct located *located = all->rec->located;
	enum btsrec_status status;
	unsigned int nr_cpus = 0;

	check_diags(all);
	check_root(all);
	status = out_flush(&all->out);
	if (!status)
		status = cpu_tasks_print(all->rec, NULL, 0, how->fn, &check_work, how,
					 all->out.sink);
	if (status || how->fn)
		return status;
	for (unsigned int cpu = 0; cpu < located->nr_cpus; cpu++)
		nr_cpus += located->cpus[cpu] != NULL;
	check_summary(all, nr_cpus);
	return BTSREC_OK;
}

static enum btsrec_status put_check(struct btsrec *rec, struct check_how *how,
				    const struct btsrec_sink *sink)
{
	if (!btsrec_root(rec))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no recorder located yet");
	return session_end(rec, cpu_tasks_one(rec, &check_work, check_all, how, sink));
}

enum btsrec_status btsrec_check(struct btsrec *rec, const struct btsrec_sink *sink,
				uint64_t *ret_nr_faults)
{
	struct check_how how = { 0 };
	enum btsrec_status status = put_check(rec, &how, sink);

	if (!status)
		*ret_nr_faults = how.nr_faults;
	return status;
}

enum btsrec_status btsrec_check_each(struct btsrec *rec, btsrec_diag_fn fn, void *arg)
{
	struct check_how how = { .fn = fn, .arg = arg };

	return put_check(rec, &how, &values_sink);
}
