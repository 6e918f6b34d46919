/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time stamps of annotations (TSC) as time of a human.  The TSCs of all CPUs are
 * taken as one, as Linux does where it uses the TSC as its clock.  Pure.
 */
#ifndef BTSREC_CLOCK_H
#define BTSREC_CLOCK_H

#include <btsrec/decoder.h>

/**
 * struct clock - what time is counted from
 * @tsc_khz: 0: unknown, there are only time stamps.
 * @anchor_tsc, @anchor_boottime_ns: one time, when the recorder was loaded.
 * @has_end: the recorder was frozen, at @end_tsc.
 */
struct clock {
	uint32_t tsc_khz;
	uint64_t anchor_tsc;
	uint64_t anchor_boottime_ns;
	bool has_end;
	uint64_t end_tsc;
};

/**
 * clock_of() - the clock of a dump
 * @first: the CPU that was frozen first; its own stop is the end; NULL: not usable.
 */
struct clock clock_of(const struct btsrec_root *root, const struct btsrec_cpu *first);

/** clock_ns() - @nr_cycles of the TSC in ns, UINT64_MAX at most; needs @tsc_khz */
uint64_t clock_ns(const struct clock *clock, uint64_t nr_cycles);

/** clock_cycles() - @ns in cycles of the TSC, UINT64_MAX at most */
uint64_t clock_cycles(const struct clock *clock, uint64_t ns);

/** clock_at_boottime() - the TSC at @ns since boot; 0: before the TSC began */
uint64_t clock_at_boottime(const struct clock *clock, uint64_t ns);

/** clock_boottime() - the ns since boot at @tsc, 0 at least; needs @tsc_khz */
uint64_t clock_boottime(const struct clock *clock, uint64_t tsc);

/** clock_before_end() - the TSC @ns before the freeze; 0: before the TSC began */
uint64_t clock_before_end(const struct clock *clock, uint64_t ns);

/**
 * clock_from_end() - how far @tsc is from the freeze
 * @ret_before: it is before it.
 *
 * Return: false: there was none, or the dump does not say how fast the clock is.
 */
bool clock_from_end(const struct clock *clock, uint64_t tsc, bool *ret_before, uint64_t *ret_ns);

/** clock_event() - when @event happened; false: it carries no time */
bool clock_event(const struct btsrec_event *event, uint64_t *ret_tsc);

/** clock_event_begin() - when recording stopped before @event of @tsc; @tsc if it did not */
uint64_t clock_event_begin(const struct btsrec_event *event, uint64_t tsc);

#endif /* BTSREC_CLOCK_H */
