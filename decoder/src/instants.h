/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where events of one CPU lie on a time axis.  Only annotations carry a time; what is
 * between two of them is placed by its number, evenly.  Outside all of them there is
 * nothing to go by: such events lie INSTANTS_STEP_PS apart.  Pure.
 */
#ifndef BTSREC_INSTANTS_H
#define BTSREC_INSTANTS_H

#include "clock.h"

#define INSTANTS_STEP_PS 1000

/**
 * struct instant - an annotation: event @n at @tsc, which ends what began at @begin_tsc
 *
 * Both are the same unless recording stopped before it.  No instant is before the
 * end of the one before it, whatever the dump says.
 */
struct instant {
	uint64_t n;
	uint64_t begin_tsc;
	uint64_t tsc;
};

/**
 * struct instants - of one CPU, ascending; owned
 * @at: where the last question was answered.
 */
struct instants {
	struct instant *all;
	size_t nr;
	size_t nr_room;
	size_t at;
};

/**
 * struct instants_axis - what all CPUs share
 * @tsc_khz: 0: unknown, a tick of the TSC counts as 1 ns.
 * @tsc: at @ps.
 */
struct instants_axis {
	uint32_t tsc_khz;
	uint64_t tsc;
	uint64_t ps;
};

/** instants_feed() - the next event of the CPU; false: out of memory */
bool instants_feed(struct instants *instants, const struct btsrec_event *event);

/**
 * instants_ps() - when event @n, or the part @part of @nr_parts of it, was, about
 * @part: below @nr_parts; parts are evenly spread between an event and the next one.  Of
 *	an annotation that recording stopped before, the parts but 0 are behind the stop.
 */
uint64_t instants_ps(struct instants *instants, const struct instants_axis *axis, uint64_t n,
		     unsigned int part, unsigned int nr_parts);

/**
 * instants_end_ps() - when event @n was over: of an annotation that recording stopped
 * before, when it went on; of all others as instants_ps()
 */
uint64_t instants_end_ps(struct instants *instants, const struct instants_axis *axis, uint64_t n);

/** instants_has() - is @n between two annotations, or one of them? */
bool instants_has(const struct instants *instants, uint64_t n);

/**
 * instants_bounds() - between which bounds the time from event @first_n to @last_n is
 *
 * In TSC ticks.  Return: false: there is no upper bound.
 */
bool instants_bounds(const struct instants *instants, uint64_t first_n, uint64_t last_n,
		     uint64_t *ret_min, uint64_t *ret_max);

/** instants_fini() - free; leaves an empty list */
void instants_fini(struct instants *instants);

#endif /* BTSREC_INSTANTS_H */
