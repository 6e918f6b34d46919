// SPDX-License-Identifier: GPL-2.0-or-later
/* The overview as values. */
#include "recorder/cpus.h"
#include "views/view_info.h"

static size_t put_losses(const struct cpu_info *info, struct btsrec_loss ret[NR_GAP_KINDS])
{
	size_t nr = 0;

	for (unsigned int kind = 0; kind < NR_GAP_KINDS; kind++) {
		if (!info->nr_gaps[kind] || !info_gap_is_loss(kind))
			continue;
		ret[nr++] = (struct btsrec_loss){
			.kind = (enum btsrec_gap_kind)kind,
			.nr_places = info->nr_gaps[kind],
			.nr_slots = info->nr_gap_slots[kind],
		};
	}
	return nr;
}

bool info_value(const struct btsrec_cpu *cpu, const struct cpu_info *info, btsrec_ring_fn fn,
		void *arg)
{
	struct btsrec_loss losses[NR_GAP_KINDS];
	const struct btsrec_ring value = {
		.size = sizeof(value),
		.page = cpu,
		.state = info_cpu_state_str(cpu->state),
		.reason = info_reason_str(cpu),
		.nr_slots = cpu->ring_bytes / BTSREC_RECORD_BYTES,
		.nr_valid_slots = info->nr_valid_slots,
		.nr_events = info->nr_events,
		.wrapped = info_wrapped_str(&info->ring),
		.losses = losses,
		.nr_losses = put_losses(info, losses),
		.registers = cpus_registers(cpu),
	};

	return fn(arg, &value);
}
