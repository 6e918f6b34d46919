// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holding: all CPUs pause while a reader copies their rings out of the running
 * kernel.  A ring may come round within a fraction of a millisecond, faster than it
 * can be read.  So a copy of one that goes on being written would be of no use.
 *
 * A held CPU stays live: a freeze keeps its history as that of any other pause.
 * Its probes write nothing, and when it is over a GAP says so and which task runs then.
 */
#include <linux/sched.h>
#include <linux/smp.h>
#include <asm/tsc.h>

#include "btsrec_annot.h"
#include "btsrec_limit.h"

/* The open file that holds; NULL: nobody.  Under the device's command mutex. */
static const struct file *holder;

static void hold_this_cpu(void *unused)
{
	struct btsrec_pcpu *pc = this_cpu_ptr(&btsrec_pcpu);
	u64 debugctl;

	if (btsrec_pause(pc, &debugctl))
		pc->hold_tsc = rdtsc_ordered();
}

static void release_this_cpu(void *unused)
{
	struct btsrec_pcpu *pc = this_cpu_ptr(&btsrec_pcpu);
	u64 debugctl, stop_tsc = pc->hold_tsc;

	pc->hold_tsc = 0;
	if (!stop_tsc || !READ_ONCE(pc->live) || !btsrec_pause_ends(pc, &debugctl))
		return;
	btsrec_annot_resume(pc, BTSREC_ANNOT_GAP, BTSREC_REASON_SNAPSHOT, stop_tsc);
	if (!pc->off_reason)
		debugctl = (debugctl & ~btsrec_filter_bits) | pc->on_bits;
	/* What limits there are may have changed meanwhile: there may be none. */
	btsrec_limit_apply(pc, current, &debugctl);
	btsrec_resume(pc, debugctl);
}

/**
 * btsrec_hold() - pause all CPUs
 * @file: the hold is for this file, and ends with it
 *
 * CPUs that come online meanwhile record.  The caller serialises.
 *
 * Return: 0; -EBUSY: another file holds.
 */
int btsrec_hold(const struct file *file)
{
	if (holder && holder != file)
		return -EBUSY;
	holder = file;
	on_each_cpu(hold_this_cpu, NULL, 1);
	return 0;
}

/**
 * btsrec_release() - record again, if it is @file that holds
 * @file: the holder, or any other
 *
 * The caller serialises.
 */
void btsrec_release(const struct file *file)
{
	if (!holder || holder != file)
		return;
	holder = NULL;
	on_each_cpu(release_this_cpu, NULL, 1);
}

/**
 * btsrec_is_held() - is there a hold?
 */
bool btsrec_is_held(void)
{
	return holder;
}
