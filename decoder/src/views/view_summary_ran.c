// SPDX-License-Identifier: GPL-2.0-or-later
/* A summary: what other CPUs had run of the module that is on the path to the fault. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "flow/clock.h"
#include "flow/time_axis.h"
#include "flow/trace.h"
#include "recorder/locate.h"
#include "symbols/symbol.h"
#include "views/view_summary.h"

/* CPUs that have a line. */
#define MAX_LINES	4

/* --- One CPU ------------------------------------------------------------- */

/** struct entered - the newest functions of one module that a CPU ran, the newest first */
struct entered {
	uint64_t n;
	size_t nr;
	uint64_t va[SUMMARY_RAN_NAMES];
};

/**
 * struct scan - one way through the history of a CPU
 * @modules: by number in the map of modules; owned.
 * @lowest, @end: where all of their code is.
 * @module: the one that was asked for last.
 * @end_tsc: when the fault was.
 */
struct scan {
	struct btsrec *rec;
	struct entered *modules;
	uint64_t lowest;
	uint64_t end;
	const struct btsrec_module *module;
	uint64_t end_tsc;
	struct time_axis times;
	bool nomem;
};

static const struct btsrec_module *module_at(struct scan *scan, uint64_t va)
{
	if (va - scan->lowest >= scan->end - scan->lowest)
		return NULL;
	if (!scan->module || va - scan->module->text_kva >= scan->module->text_bytes)
		scan->module = btsrec_module_at(scan->rec, va);
	return scan->module;
}

/* Is that where a function begins? */
static bool is_start(struct btsrec *rec, uint64_t va)
{
	struct symbol_name name;

	return symbol_find_as(rec, va, false, &name) && name.name_bytes && !name.offset_bytes;
}

static void put_first(struct entered *entered, uint64_t va)
{
	size_t i = 0;

	while (i < entered->nr && entered->va[i] != va)
		i++;
	if (i == entered->nr && entered->nr < SUMMARY_RAN_NAMES)
		entered->nr++;
	if (i == SUMMARY_RAN_NAMES)
		i--;
	memmove(entered->va + 1, entered->va, i * sizeof(entered->va[0]));
	entered->va[0] = va;
}

static void note_branch(struct scan *scan, const struct btsrec_event *event)
{
	const struct btsrec_module *module = module_at(scan, event->branch.to);
	struct entered *entered;

	if (!module)
		return;
	entered = &scan->modules[module - scan->rec->located->modules];
	if ((!entered->nr || entered->va[0] != event->branch.to) &&
	    !is_start(scan->rec, event->branch.to))
		return;
	put_first(entered, event->branch.to);
	entered->n = event->n;
}

static bool scan_event(void *arg, const struct btsrec_event *event)
{
	struct scan *scan = arg;
	uint64_t tsc;

	if (event->kind == BTSREC_EVENT_BRANCH) {
		note_branch(scan, event);
		return true;
	}
	scan->nomem |= !time_axis_feed(&scan->times, event);
	/* What follows is after the fault. */
	return !scan->nomem && !(clock_event(event, &tsc) && tsc >= scan->end_tsc);
}

static void begin_scan(struct scan *scan)
{
	const struct located *located = scan->rec->located;

	scan->lowest = UINT64_MAX;
	for (size_t i = 0; i < located->nr_modules; i++) {
		const struct btsrec_module *module = &located->modules[i];

		if (scan->lowest > module->text_kva)
			scan->lowest = module->text_kva;
		if (scan->end < module->text_kva + module->text_bytes)
			scan->end = module->text_kva + module->text_bytes;
	}
}

static bool keep(struct summary *view, struct scan *scan, struct aspace *spaces, size_t module)
{
	const struct entered *entered = &scan->modules[module];
	const struct btsrec_side *side = aspace_at(spaces, entered->n);
	struct summary_ran *ran = &view->ran;
	struct summary_ran_cpu *cpu;

	if (!grow(&ran->list, sizeof(*ran->list), ran->nr, &ran->nr_room))
		return false;
	cpu = &ran->list[ran->nr++];
	*cpu = (struct summary_ran_cpu){
		.cpu = view->calls.cpu,
		.module = &scan->rec->located->modules[module],
		.n = entered->n,
		.nr = entered->nr,
		.known = side,
	};
	memcpy(cpu->va, entered->va, sizeof(cpu->va));
	if (side)
		cpu->side = *side;
	time_axis_when(&scan->times, entered->n, &cpu->min_tsc, &cpu->max_tsc);
	return true;
}

static enum btsrec_status keep_all(struct summary *view, struct scan *scan)
{
	const struct btsrec_module *own =
		btsrec_module_at(scan->rec, btsrec_cpu(scan->rec, view->calls.cpu)->freeze.stop_ip);
	struct aspace spaces = { 0 };
	enum btsrec_status status = trace_spaces(scan->rec, view->calls.cpu, &spaces);

	for (size_t i = 0; i < scan->rec->located->nr_modules && !status && !scan->nomem; i++)
		if (scan->modules[i].nr && &scan->rec->located->modules[i] != own)
			scan->nomem = !keep(view, scan, &spaces, i);
	aspace_fini(&spaces);
	return status;
}

enum btsrec_status summary_ran_read(struct summary *view, struct btsrec *rec)
{
	struct scan scan = { .rec = rec, .end_tsc = view->moment.tsc };
	enum btsrec_status status;

	if (!view->moment.tsc || !rec->located->nr_modules)
		return BTSREC_OK;
	scan.modules = calloc(rec->located->nr_modules, sizeof(*scan.modules));
	if (!scan.modules)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	begin_scan(&scan);
	status = btsrec_events(rec, view->calls.cpu, scan_event, &scan);
	if (status == BTSREC_ERR_STOPPED)
		status = BTSREC_OK;
	if (!status && !scan.nomem)
		status = keep_all(view, &scan);
	if (scan.nomem)
		status = msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	time_axis_fini(&scan.times);
	free(scan.modules);
	return status;
}

/* --- The culprit --------------------------------------------------------- */

void summary_ran_culprit(struct summary *view, struct btsrec *rec, const struct btsrec_cpu *judged)
{
	const struct btsrec_module *own = btsrec_module_at(rec, judged->freeze.stop_ip), *module;
	const struct calltree *tree = &view->calls.tree;

	module = btsrec_module_at(rec, view->verdict.stay.ip ? view->verdict.stay.ip :
							       view->calls.fault.from);
	for (size_t i = view->nr_open; i > view->first_open && !module; i--) {
		module = btsrec_module_at(rec, calltree_line(tree, tree->open[i - 1]).from);
		if (module == own)
			module = NULL;
	}
	for (size_t i = 0; i < view->stack.nr && !module; i++)
		module = btsrec_module_at(rec, view->stack.places[i].ip);
	view->ran.culprit = module != own ? module : NULL;
}

/* --- All ----------------------------------------------------------------- */

void summary_ran_join(struct summary_ran *ran, struct summary_ran *from)
{
	if (from->culprit)
		ran->culprit = from->culprit;
	ran->nomem |= from->nomem;
	for (size_t i = 0; i < from->nr && !ran->nomem; i++) {
		ran->nomem = !grow(&ran->list, sizeof(*ran->list), ran->nr, &ran->nr_room);
		if (!ran->nomem)
			ran->list[ran->nr++] = from->list[i];
	}
	summary_ran_fini(from);
}

void summary_ran_fini(struct summary_ran *ran)
{
	free(ran->list);
	*ran = (struct summary_ran){ 0 };
}

/* The one whose latest moment is the latest; CPUs keep their order. */
static int compare_ran(const void *left, const void *right)
{
	const struct summary_ran_cpu *a = left, *b = right;

	if (a->max_tsc != b->max_tsc)
		return a->max_tsc > b->max_tsc ? -1 : 1;
	return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

bool summary_ran_sort(struct summary_ran *ran)
{
	size_t nr = 0;

	for (size_t i = 0; i < ran->nr; i++)
		if (ran->list[i].module == ran->culprit)
			ran->list[nr++] = ran->list[i];
	ran->nr = nr;
	ran->nr_more = nr > MAX_LINES ? nr - MAX_LINES : 0;
	if (nr)
		qsort(ran->list, nr, sizeof(ran->list[0]), compare_ran);
	return nr;
}
