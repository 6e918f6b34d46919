// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli.h"

/**
 * struct holes - where the history of one CPU has lost something
 * @wrapped: it begins where the ring was overwritten.
 * @last_hole_n: newest event that stands for a loss.
 */
struct holes {
	bool any;
	bool wrapped;
	uint64_t last_hole_n;
};

/*
 * What a wrapped or paused ring leaves out is in order, and so is the rest of an
 * annotation that is half overwritten; anything else is a loss.
 */
static bool is_hole(const struct holes *holes, const struct btsrec_event *event)
{
	if (event->kind != BTSREC_EVENT_GAP || event->gap.kind == BTSREC_GAP_OVERWRITTEN ||
	    event->gap.kind == BTSREC_GAP_PAUSED)
		return false;
	return event->gap.kind != BTSREC_GAP_TORN || !holes->wrapped || event->n != 1;
}

static bool holes_event(void *arg, const struct btsrec_event *event)
{
	struct holes *holes = arg;

	if (event->kind == BTSREC_EVENT_GAP && event->gap.kind == BTSREC_GAP_OVERWRITTEN)
		holes->wrapped = true;
	if (is_hole(holes, event)) {
		holes->any = true;
		holes->last_hole_n = event->n;
	}
	return true;
}

static enum btsrec_status cpu_has_holes(struct btsrec *rec, unsigned int cpu, uint64_t max_events,
					bool *ret)
{
	struct holes holes = { 0 };
	uint64_t nr_events;
	enum btsrec_status status = btsrec_other_events(rec, cpu, holes_event, &holes,
							&nr_events);

	*ret = holes.any && (!max_events || nr_events - 1 - holes.last_hole_n < max_events);
	return status;
}

/* Did what was shown have holes? */
static enum btsrec_status shown_has_holes(struct btsrec *rec, const struct btsrec_show *show,
					  bool *ret)
{
	size_t nr_cpus = show->cpus ? show->nr_cpus : btsrec_nr_cpu_ids(rec), i;
	enum btsrec_status status = BTSREC_OK;

	*ret = false;
	for (i = 0; i < nr_cpus && !status && !*ret; i++) {
		unsigned int cpu = show->cpus ? show->cpus[i] : (unsigned int)i;

		if (btsrec_cpu(rec, cpu))
			status = cpu_has_holes(rec, cpu, show->max_events, ret);
	}
	return status;
}

static bool is_filtered(const struct btsrec_filter *filter)
{
	return filter->pids || filter->tgids || filter->comm || filter->user || filter->kernel ||
	       filter->from || filter->to || filter->symbols || filter->ranges || filter->types;
}

enum cli_exit cmd_show(struct btsrec *rec, const struct cli_options *options)
{
	struct btsrec_show opts = options->show;
	enum btsrec_status status;
	bool holes = false;

	opts.filter = options->filter;
	status = btsrec_show(rec, &opts, &cli_stdout);

	if (status == BTSREC_ERR_CORRUPT) {
		cli_failed(rec, status);
		return CLI_FAULTS;
	}
	/* How far back the newest matching events, or lines, reach is not known here. */
	if (is_filtered(&opts.filter) || opts.fold)
		opts.max_events = 0;
	if (!status)
		status = shown_has_holes(rec, &opts, &holes);
	if (status)
		return cli_failed(rec, status);
	return holes ? CLI_FAULTS : CLI_OK;
}
