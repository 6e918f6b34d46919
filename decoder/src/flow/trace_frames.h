/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A history with its calls: trace and frames wired to a session and its symbols. */
#ifndef BTSREC_TRACE_FRAMES_H
#define BTSREC_TRACE_FRAMES_H

#include "flow/frames.h"
#include "flow/trace.h"

/** trace_is_switch() - does a branch from @va follow a change of the stack, by its code? */
bool trace_is_switch(struct btsrec *rec, uint64_t va);

/** trace_is_fork() - does what begins at @va look like the first code of a new thread? */
bool trace_is_fork(struct btsrec *rec, uint64_t va);

/** trace_is_made() - is @va code that the kernel has made: beyond its image, in no module? */
bool trace_is_made(struct btsrec *rec, uint64_t va);

/**
 * trace_is_trampoline() - is @va code that the kernel has made to get from one function to another?
 *
 * It depends on what is traced, and its names on the kernel's build: two machines with one bug have
 * other trampolines on its way.  All code that is made is that, but for BPF programs.
 */
bool trace_is_trampoline(struct btsrec *rec, uint64_t va);

/**
 * trace_probed() - the place of an instruction that kprobes has copied to @va
 *
 * The copy is what runs.  It ends with a jump back, by which it is known.
 *
 * Return: @va if there is no such copy.
 */
uint64_t trace_probed(struct btsrec *rec, uint64_t va);

/**
 * trace_frames_fn - receives one event and what it did to the stacks
 * @event: has no step where trace_way_run() returns all.
 * @frames: as it is after the event; valid during the call.
 *
 * Return: false to stop.
 */
typedef bool (*trace_frames_fn)(void *arg, const struct trace_event *event,
				const struct frames_step *step, struct frames *frames);

/**
 * trace_frames_fast_fn - takes plain branches, as many as it likes of those that come next
 *
 * It may ask its struct trace_way and frames_fast().
 *
 * Return: false to stop.
 */
typedef bool (*trace_frames_fast_fn)(void *arg, struct trace *trace, struct frames *frames);

/**
 * trace_frames_pass() - past plain branches that come next, but none from event @end_n on
 * @cookie: of each frame that they enter.
 *
 * For a trace_frames_fast_fn that has nothing to report of them.
 *
 * Return: how many.
 */
uint64_t trace_frames_pass(struct trace *trace, struct frames *frames, uint64_t end_n,
			   uint64_t cookie);

/** trace_frames_end_fn - there are no more events, and nobody has stopped */
typedef void (*trace_frames_end_fn)(void *arg, struct frames *frames);

/**
 * struct trace_frames_fns - the reader of a history with its calls
 * @event: called for all events, but those that @plain takes.
 * @plain: NULL, or asked whenever there may be plain branches.
 * @end: NULL, or called after the last one.
 */
struct trace_frames_fns {
	trace_frames_fn event;
	trace_frames_fast_fn plain;
	trace_frames_end_fn end;
	void *arg;
};

/** trace_frames_new() - frames that know the functions of @rec; NULL: out of memory. */
struct frames *trace_frames_new(struct btsrec *rec);

/**
 * trace_frames() - all events of @cpu, oldest first, with the calls that they are
 *
 * Always all of them: what is open depends on all that was before.
 *
 * Return: as btsrec_events().
 */
enum btsrec_status trace_frames(struct btsrec *rec, unsigned int cpu,
				const struct trace_frames_fns *fns);

#endif /* BTSREC_TRACE_FRAMES_H */
