/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where events of one CPU lie on a time axis.  Only annotations carry a time; what is
 * between two of them is placed by its number, evenly.  Outside all of them there is
 * nothing to go by: such events lie TIME_AXIS_STEP_PS apart.  Pure.
 */
#ifndef BTSREC_TIME_AXIS_H
#define BTSREC_TIME_AXIS_H

#include "flow/clock.h"

#define TIME_AXIS_STEP_PS 1000

/**
 * struct time_point - an annotation: event @n at @tsc, which ends what began at @begin_tsc
 *
 * Both are the same unless recording stopped before it.  No time point is before the end of the one
 * before it, whatever the dump says.
 */
struct time_point {
	uint64_t n;
	uint64_t begin_tsc;
	uint64_t tsc;
};

/**
 * struct time_axis - of one CPU, ascending; owned
 * @at: where the last question was answered.
 */
struct time_axis {
	struct time_point *all;
	size_t nr;
	size_t nr_room;
	size_t at;
};

/**
 * struct time_axis_scale - what all CPUs share
 * @tsc_khz: 0: unknown, a tick of the TSC counts as 1 ns.
 * @tsc: at @ps.
 */
struct time_axis_scale {
	uint32_t tsc_khz;
	uint64_t tsc;
	uint64_t ps;
};

/** time_axis_feed() - the next event of the CPU; false: out of memory */
bool time_axis_feed(struct time_axis *time_axis, const struct btsrec_event *event);

/**
 * time_axis_ps() - when event @n, or the part @part of @nr_parts of it, was, about
 * @part: below @nr_parts; parts are evenly spread between an event and the next one.  Of
 *	an annotation that recording stopped before, the parts but 0 are after the stop.
 */
uint64_t time_axis_ps(struct time_axis *time_axis, const struct time_axis_scale *axis, uint64_t n,
		      unsigned int part, unsigned int nr_parts);

/**
 * time_axis_end_ps() - when event @n was over: of an annotation that recording stopped
 * before, when it went on; of all others as time_axis_ps()
 */
uint64_t time_axis_end_ps(struct time_axis *time_axis, const struct time_axis_scale *axis,
			  uint64_t n);

/** time_axis_has() - is @n between two annotations, or one of them? */
bool time_axis_has(const struct time_axis *time_axis, uint64_t n);

/**
 * time_axis_bounds() - between which bounds the time from event @first_n to @last_n is
 *
 * In TSC ticks.  Return: false: there is no upper bound.
 */
bool time_axis_bounds(const struct time_axis *time_axis, uint64_t first_n, uint64_t last_n,
		      uint64_t *ret_min, uint64_t *ret_max);

/**
 * time_axis_when() - between which bounds event @n was
 * @ret_min, @ret_max: in TSC ticks; 0 and UINT64_MAX where nothing bounds it.
 *
 * An annotation that recording stopped before was when it went on.
 */
void time_axis_when(const struct time_axis *time_axis, uint64_t n, uint64_t *ret_min,
		    uint64_t *ret_max);

/** time_axis_hole() - between which bounds lies what is missing at event @n; as time_axis_when() */
void time_axis_hole(const struct time_axis *time_axis, uint64_t n, uint64_t *ret_from,
		    uint64_t *ret_to);

/** time_axis_fini() - free; leaves an empty list */
void time_axis_fini(struct time_axis *time_axis);

#endif /* BTSREC_TIME_AXIS_H */
