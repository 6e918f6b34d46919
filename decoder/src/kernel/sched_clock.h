/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock of printk, local_clock(), as time stamp counter.  It is cycles * mul >> shift + offset
 * where the kernel takes the TSC for stable.  The constants are in its memory.  Pure.
 */
#ifndef BTSREC_SCHED_CLOCK_H
#define BTSREC_SCHED_CLOCK_H

#include "kernel/kread.h"

/**
 * struct sched_clock_places - addresses of the kernel's data; 0: not known
 * @cyc2ns_kva: the struct cyc2ns of one CPU.
 * @stable_kva: __sched_clock_stable; @offset_kva: __sched_clock_offset.
 * @native_kva: the function native_sched_clock().
 * @call_kva: the key of the static call pv_sched_clock; @pv_ops_kva: before v5.13, pv_ops.  A
 *	kernel without CONFIG_PARAVIRT has neither.
 */
struct sched_clock_places {
	uint64_t cyc2ns_kva;
	uint64_t stable_kva;
	uint64_t offset_kva;
	uint64_t native_kva;
	uint64_t call_kva;
	uint64_t pv_ops_kva;
};

/** struct sched_clock - ns = (cycles * @mul >> @shift) + @offset_ns */
struct sched_clock {
	uint32_t mul;
	uint32_t shift;
	uint64_t offset_ns;
};

/**
 * sched_clock_read() - the relation of both clocks
 * @tsc_khz: of the recorder's root; what the kernel's constants say must agree with it.
 *
 * It is the one of the moment of the dump.  The kernel changes it in the first seconds after
 * boot, when it has measured the TSC better, and when it resumes.
 *
 * Return: NULL with *@ret filled; else why it is not known, static.
 */
const char *sched_clock_read(const struct kread *kernel, const struct sched_clock_places *places,
			     uint32_t tsc_khz, struct sched_clock *ret);

/** sched_clock_tsc() - the first cycle of nanosecond @ns; false: the TSC never had that value */
bool sched_clock_tsc(const struct sched_clock *clock, uint64_t ns, uint64_t *ret);

#endif /* BTSREC_SCHED_CLOCK_H */
