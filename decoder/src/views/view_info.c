// SPDX-License-Identifier: GPL-2.0-or-later
/* What was found in the dump: the recorder, and one line per CPU. */
#include "views/view_info.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/options.h"
#include "views/cpu_tasks.h"
#include "views/values.h"
#include "symbols/symbol.h"
#include "recorder/cpus.h"

bool info_gap_is_loss(unsigned int kind)
{
	return kind != BTSREC_GAP_PAUSED;
}

const char *info_mode_str(uint32_t mode)
{
	switch ((enum btsrec_mode)mode) {
	case BTSREC_MODE_ALL:
		return "all";
	case BTSREC_MODE_KERNEL:
		return "kernel";
	case BTSREC_MODE_USER:
		return "user";
	}
	return "unknown";
}

const char *info_state_str(uint32_t state)
{
	switch ((enum btsrec_root_state)state) {
	case BTSREC_ROOT_LOADED:
		return "loaded";
	case BTSREC_ROOT_ARMED:
		return "armed";
	case BTSREC_ROOT_DISARMED:
		return "disarmed";
	case BTSREC_ROOT_FROZEN:
		return "frozen";
	}
	return "unknown";
}

uint64_t info_recorded_ticks(const struct btsrec_cpu *cpu)
{
	uint64_t end_tsc = cpu->frozen ? cpu->freeze.tsc : cpu->context.tsc;
	bool goes_on = cpu->since_tsc && end_tsc > cpu->since_tsc;

	return cpu->recorded_tsc + (goes_on ? end_tsc - cpu->since_tsc : 0);
}

const char *info_cpu_state_str(uint32_t state)
{
	switch ((enum btsrec_cpu_state)state) {
	case BTSREC_CPU_NEVER:
		return "never-armed";
	case BTSREC_CPU_ARMED:
		return "armed";
	case BTSREC_CPU_STOPPED:
		return "stopped";
	case BTSREC_CPU_FROZEN:
		return "frozen";
	}
	return "unknown";
}

/* Why @cpu does not record any more; NULL: it does, or it never did. */
const char *info_reason_str(const struct btsrec_cpu *cpu)
{
	if (cpu->state == BTSREC_CPU_FROZEN)
		return btsrec_reason_str(cpu->freeze.reason);
	if (cpu->state == BTSREC_CPU_STOPPED)
		return btsrec_reason_str(cpu->stop_reason);
	return NULL;
}

const char *info_wrapped_str(const struct session_ring *ring)
{
	if (ring->index_status)
		return "?";
	switch (ring->layout.lap) {
	case RING_LAP_UNKNOWN:
		return "?";
	case RING_LAP_FIRST:
		return "no";
	case RING_LAP_LATER:
		return "yes";
	}
	return "?";
}

void info_build_id(struct out *out, const struct btsrec_root *root)
{
	size_t nr_bytes = root->build_id_bytes;

	if (nr_bytes > sizeof(root->build_id))
		nr_bytes = sizeof(root->build_id);
	out_hex_bytes(out, root->build_id, nr_bytes);
}

/* --- The view ----------------------------------------------------------- */

/**
 * struct info_all - one btsrec_info() under way
 * @format: not used if there is @fn, which receives values.
 * @infos: by CPU number; kept, because losses come after the table.
 * @registers: they are wanted.
 */
struct info_all {
	const struct info_format *format;
	struct cpu_info *infos;
	bool registers;
	btsrec_ring_fn fn;
	void *arg;
};

/** struct info_view - what one thread prints of @all */
struct info_view {
	struct renderer renderer;
	const struct info_all *all;
};

static bool count_gap(void *arg, const struct btsrec_event *event)
{
	struct cpu_info *info = arg;

	if (event->kind == BTSREC_EVENT_GAP) {
		info->nr_gaps[event->gap.kind]++;
		info->nr_gap_slots[event->gap.kind] += event->gap.nr_slots;
	}
	return true;
}

static enum btsrec_status cpu_info_init(struct cpu_info *info, struct btsrec *rec, unsigned int cpu)
{
	enum btsrec_status status;
	unsigned int i;

	memset(info, 0, sizeof(*info));
	status = session_ring(rec, cpu, &info->ring);
	if (status)
		return status;
	if (!info->ring.index_status)
		for (i = 0; i < info->ring.layout.nr_spans; i++)
			info->nr_valid_slots += info->ring.layout.spans[i].nr_slots;
	return btsrec_other_events(rec, cpu, count_gap, info, &info->nr_events);
}

static enum btsrec_status info_cpu(void *arg, unsigned int cpu)
{
	struct info_view *view = arg;
	struct btsrec *rec = view->renderer.rec;
	const struct info_all *all = view->all;
	struct cpu_info *info = &all->infos[cpu];
	const struct btsrec_cpu *page = btsrec_cpu(rec, cpu);
	enum btsrec_status status = cpu_info_init(info, rec, cpu);

	if (status)
		return status;
	info->registers = all->registers;
	if (!all->fn)
		all->format->cpu(&view->renderer, page, info);
	else if (!view->renderer.out.stopped)
		view->renderer.out.stopped = !info_value(page, info, all->fn, all->arg);
	return BTSREC_OK;
}

static const struct info_format *info_format_of(enum btsrec_format format)
{
	switch (format) {
	case BTSREC_FORMAT_TEXT:
		return &info_text;
	case BTSREC_FORMAT_JSONL:
		return &info_jsonl;
	case BTSREC_FORMAT_TSV:
		return &info_tsv;
	case BTSREC_FORMAT_CSV:
		break;
	}
	return NULL;
}

static bool info_open(void *arg, void *data, struct btsrec *rec)
{
	struct info_view *view = data;

	view->renderer.rec = rec;
	view->all = arg;
	return true;
}

static const struct cpu_tasks info_work = {
	.view_bytes = sizeof(struct info_view),
	.out_at = offsetof(struct info_view, renderer.out),
	.open = info_open,
	.cpu = info_cpu,
};

static void print_registers(struct renderer *r, const struct info_all *all)
{
	if (!all->registers || !all->format->registers)
		return;
	for (unsigned int cpu = 0; cpu < btsrec_nr_cpu_ids(r->rec); cpu++)
		if (btsrec_cpu(r->rec, cpu))
			all->format->registers(r, btsrec_cpu(r->rec, cpu));
}

static enum btsrec_status info_print(void *arg)
{
	struct info_view *view = arg;
	struct renderer *r = &view->renderer;
	const struct info_all *all = view->all;
	enum btsrec_status status;

	if (all->fn)
		return cpu_tasks_print(r->rec, NULL, 0, true, &info_work, (void *)all,
				       r->out.sink);
	all->format->begin(r);
	status = out_flush(&r->out);
	if (!status)
		status = cpu_tasks_print(r->rec, NULL, 0, false, &info_work, (void *)all,
					 r->out.sink);
	if (!status && all->format->end)
		all->format->end(r, all->infos, btsrec_nr_cpu_ids(r->rec));
	if (!status)
		print_registers(r, all);
	return status;
}

static enum btsrec_status put_info(struct btsrec *rec, struct info_all *all,
				   const struct btsrec_sink *sink)
{
	_cleanup_free_ struct cpu_info *infos = NULL;
	enum btsrec_status status = cpus_check(rec, NULL, 0);

	if (status)
		return status;
	if (!all->format)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no such output format");
	infos = calloc(btsrec_nr_cpu_ids(rec) + 1U, sizeof(*infos));
	if (!infos)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	all->infos = infos;
	return session_end(rec, cpu_tasks_one(rec, &info_work, info_print, all, sink));
}

enum btsrec_status btsrec_info(struct btsrec *rec, const struct btsrec_info *given,
			       const struct btsrec_sink *sink)
{
	struct info_all all = { 0 };
	struct btsrec_info opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (status)
		return status;
	if (opts.registers && opts.format == BTSREC_FORMAT_TSV)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "there is no table of registers");
	all.format = info_format_of(opts.format);
	all.registers = opts.registers;
	return put_info(rec, &all, sink);
}

enum btsrec_status btsrec_info_each(struct btsrec *rec, btsrec_ring_fn fn, void *arg)
{
	struct info_all all = { .format = &info_text, .fn = fn, .arg = arg };

	return put_info(rec, &all, &values_sink);
}
