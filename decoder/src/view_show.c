// SPDX-License-Identifier: GPL-2.0-or-later
/* The histories, event by event. */
#include <stdlib.h>

#include "render.h"
#include "session.h"
#include "symbol.h"
#include "trace.h"

/**
 * struct history - the wanted events of one CPU, kept to be told backwards
 * @branches: of the branches only the 24 bytes that differ.
 * @others: everything else, whole.
 * @nr_events: of both; their n are consecutive and end at @last_n.
 */
struct history {
	struct btsrec_record *branches;
	size_t nr_branches;
	size_t nr_branches_room;
	struct btsrec_event *others;
	size_t nr_others;
	size_t nr_others_room;
	uint64_t last_n;
	bool nomem;
};

/** struct show - one btsrec_show() under way */
struct show {
	struct renderer renderer;
	const struct render_format *format;
	struct history history;
};

static void history_fini(struct history *history)
{
	free(history->branches);
	free(history->others);
	memset(history, 0, sizeof(*history));
}

static bool history_grow(void *array, size_t element_bytes, size_t nr, size_t *nr_room)
{
	size_t nr_wanted = *nr_room ? 2 * *nr_room : 1024;
	void *grown;

	if (nr < *nr_room)
		return true;
	grown = reallocarray(*(void **)array, nr_wanted, element_bytes);
	if (!grown)
		return false;
	*(void **)array = grown;
	*nr_room = nr_wanted;
	return true;
}

static bool history_keep(void *arg, const struct btsrec_event *event)
{
	struct history *history = &((struct show *)arg)->history;

	history->last_n = event->n;
	if (event->kind == BTSREC_EVENT_BRANCH) {
		history->nomem = !history_grow(&history->branches, sizeof(*history->branches),
					       history->nr_branches, &history->nr_branches_room);
		if (!history->nomem)
			history->branches[history->nr_branches++] = event->branch;
	} else {
		history->nomem = !history_grow(&history->others, sizeof(*history->others),
					       history->nr_others, &history->nr_others_room);
		if (!history->nomem)
			history->others[history->nr_others++] = *event;
	}
	return !history->nomem;
}

static bool show_event(void *arg, const struct btsrec_event *event)
{
	struct show *show = arg;

	show->format->event(&show->renderer, event);
	return !show->renderer.out.stopped;
}

static void show_backwards(struct show *show, unsigned int cpu)
{
	struct history *history = &show->history;
	struct btsrec_event branch = { .kind = BTSREC_EVENT_BRANCH, .cpu = cpu };
	uint64_t n = history->last_n;
	bool more = true;

	for (; more && (history->nr_branches || history->nr_others); n--) {
		if (history->nr_others && (history->others[history->nr_others - 1].n == n ||
					   !history->nr_branches)) {
			more = show_event(show, &history->others[--history->nr_others]);
			continue;
		}
		branch.n = n;
		branch.branch = history->branches[--history->nr_branches];
		more = show_event(show, &branch);
	}
}

static enum btsrec_status show_newest_first(struct show *show, struct btsrec *rec,
					    unsigned int cpu, uint64_t max_events)
{
	enum btsrec_status status = session_tail(rec, cpu, max_events, history_keep, show);

	if (show->history.nomem)
		status = msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (!status)
		show_backwards(show, cpu);
	history_fini(&show->history);
	return status;
}

static enum btsrec_status show_events(struct show *show, struct btsrec *rec, unsigned int cpu,
				      const struct btsrec_show *opts)
{
	if (opts->newest_first)
		return show_newest_first(show, rec, cpu, opts->max_events);
	return session_tail(rec, cpu, opts->max_events, show_event, show);
}

static enum btsrec_status show_typed(struct show *show, struct btsrec *rec, unsigned int cpu,
				     const struct btsrec_show *opts)
{
	struct trace_types types;
	enum btsrec_status status = trace_types_init(&types, rec, cpu);

	show->renderer.types = &types;
	if (!status)
		status = show_events(show, rec, cpu, opts);
	show->renderer.types = NULL;
	trace_types_fini(&types);
	return status;
}

static enum btsrec_status show_cpu(struct show *show, struct btsrec *rec, unsigned int cpu,
				   const struct btsrec_show *opts)
{
	struct session_ring ring;
	enum btsrec_status status = session_ring(rec, cpu, &ring);

	if (status)
		return status;
	if (show->format->cpu)
		show->format->cpu(&show->renderer, btsrec_cpu(rec, cpu), &ring);
	return opts->types ? show_typed(show, rec, cpu, opts) : show_events(show, rec, cpu, opts);
}

static enum btsrec_status show_cpus(struct show *show, struct btsrec *rec,
				    const struct btsrec_show *opts)
{
	size_t nr_cpus = opts->cpus ? opts->nr_cpus : btsrec_nr_cpu_ids(rec), i;
	enum btsrec_status status;

	for (i = 0; i < nr_cpus; i++) {
		unsigned int cpu = opts->cpus ? opts->cpus[i] : (unsigned int)i;

		if (!opts->cpus && !btsrec_cpu(rec, cpu))
			continue;
		status = show_cpu(show, rec, cpu, opts);
		if (status)
			return status;
	}
	return BTSREC_OK;
}

/* Was @finding the end of a CPU's history?  Without any CPU, every fault may be. */
static bool finding_hides_cpu(const struct btsrec *rec, const struct finding *finding,
			      bool any_cpu)
{
	if (!finding->status)
		return false;
	if (finding->cpu == FINDING_NO_CPU)
		return !any_cpu;
	return !btsrec_cpu(rec, finding->cpu);
}

/* A history that nobody asked for by number must not be missing in silence. */
static enum btsrec_status show_missing(struct btsrec *rec, const struct btsrec_show *opts)
{
	unsigned int cpu = 0;
	size_t i;

	while (cpu < btsrec_nr_cpu_ids(rec) && !btsrec_cpu(rec, cpu))
		cpu++;
	for (i = 0; !opts->cpus && i < rec->findings.nr; i++) {
		const struct finding *finding = &rec->findings.list[i];

		if (!finding_hides_cpu(rec, finding, cpu < btsrec_nr_cpu_ids(rec)))
			continue;
		if (finding->cpu == FINDING_NO_CPU)
			return msg_set(&rec->msg, BTSREC_ERR_CORRUPT, "%s", finding->text);
		return msg_set(&rec->msg, BTSREC_ERR_CORRUPT, "CPU %u cannot be shown: %s",
			       finding->cpu, finding->text);
	}
	return BTSREC_OK;
}

/* Before the first byte of output, so that a wrong list gives none. */
static enum btsrec_status show_check(struct btsrec *rec, const struct btsrec_show *opts)
{
	size_t i;

	if (!btsrec_root(rec))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no recorder located yet");
	if (!render_format_of(opts->format))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no such output format");
	for (i = 0; opts->cpus && i < opts->nr_cpus; i++)
		if (!btsrec_cpu(rec, opts->cpus[i]))
			return msg_set(&rec->msg, BTSREC_ERR_NO_CPU, "CPU %u has no usable ring",
				       opts->cpus[i]);
	return BTSREC_OK;
}

enum btsrec_status btsrec_show(struct btsrec *rec, const struct btsrec_show *opts,
			       const struct btsrec_sink *sink)
{
	enum btsrec_status status = show_check(rec, opts), flushed;
	struct show *show;

	if (status)
		return status;
	show = calloc(1, sizeof(*show));
	if (!show)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	show->renderer.rec = rec;
	show->renderer.names = symbols_present(rec);
	show->renderer.has_types = opts->types;
	show->format = render_format_of(opts->format);
	out_init(&show->renderer.out, sink);
	if (show->format->begin)
		show->format->begin(&show->renderer);
	status = show_cpus(show, rec, opts);
	flushed = out_flush(&show->renderer.out);
	free(show);
	if (!status)
		status = flushed;
	return status ? status : show_missing(rec, opts);
}
