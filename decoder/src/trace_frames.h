/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A history with its calls: trace and frames wired to a session and its symbols. */
#ifndef BTSREC_TRACE_FRAMES_H
#define BTSREC_TRACE_FRAMES_H

#include "frames.h"
#include "trace.h"

/** trace_is_switch() - does a branch from @va follow a change of the stack, by its function? */
bool trace_is_switch(struct btsrec *rec, uint64_t va);

/**
 * trace_frames_fn - receives one event and what it did to the stacks
 * @event: has no step where trace_plain() tells all.
 * @frames: as it is after the event; valid during the call.
 *
 * Return: false to stop.
 */
typedef bool (*trace_frames_fn)(void *arg, const struct trace_event *event,
				const struct frames_step *step, struct frames *frames);

/** trace_frames_end_fn - there are no more events, and nobody has stopped */
typedef void (*trace_frames_end_fn)(void *arg, struct frames *frames);

/** trace_frames_new() - frames that know the functions of @rec; NULL: out of memory. */
struct frames *trace_frames_new(struct btsrec *rec);

/**
 * trace_frames() - all events of @cpu, oldest first, with the calls that they are
 *
 * @end: NULL, or told when all were.
 *
 * Always all of them: what is open depends on all that was before.
 *
 * Return: as btsrec_events().
 */
enum btsrec_status trace_frames(struct btsrec *rec, unsigned int cpu, trace_frames_fn fn,
				trace_frames_end_fn end, void *arg);

#endif /* BTSREC_TRACE_FRAMES_H */
