// SPDX-License-Identifier: GPL-2.0-only
/*
 * Living beside perf, which owns the DS area as long as it has any hardware
 * event.  With its first event it zeroes the area of every CPU and then writes
 * IA32_DS_AREA, with its last one it gives the area back
 * (reserve_ds_buffers() and release_ds_buffers(), arch/x86/events/intel/ds.c).
 * With BTS on, the hardware would meanwhile store records at address 0.  So
 * while armed we hold one event, disabled: then perf has neither a first nor a
 * last one.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include "btsrec.h"

static struct perf_event *held_event;

/* perf has no driver for this CPU's counters, so it leaves the DS area alone. */
static bool perf_is_absent(long err)
{
	return err == -ENOENT || err == -ENODEV || err == -EOPNOTSUPP;
}

/**
 * btsrec_perf_hold() - keep perf from taking or giving back the DS area
 *
 * exclude_guest: other events would forbid KVM's mediated virtual PMU.
 *
 * Return: 0, also where perf has no hardware events at all; else a negative
 * errno after a printed sentence.
 */
int btsrec_perf_hold(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attr),
		.disabled = 1,
		.exclude_guest = 1,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, cpumask_first(cpu_online_mask), NULL, NULL,
						 NULL);
	if (!IS_ERR(event))
		held_event = event;
	else if (!perf_is_absent(PTR_ERR(event)))
		goto refuse;
	return 0;

refuse:
	pr_err("Not armed: cannot hold a perf event (error %ld), without which perf could take the DS area away while branches are recorded; stop whatever else uses the performance counters.\n",
	       PTR_ERR(event));
	return PTR_ERR(event);
}

/**
 * btsrec_perf_release() - let perf do what it likes; no CPU may hold the area
 */
void btsrec_perf_release(void)
{
	if (held_event)
		perf_event_release_kernel(held_event);
	held_event = NULL;
}
