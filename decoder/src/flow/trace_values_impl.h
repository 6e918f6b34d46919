/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of trace_values.h share. */
#ifndef BTSREC_TRACE_VALUES_IMPL_H
#define BTSREC_TRACE_VALUES_IMPL_H

#include "flow/trace_values.h"
#include "symbols/symbol.h"

/** trace_values_begin() - before the first event; as trace_values_open() */
enum btsrec_status trace_values_begin(struct btsrec *rec, unsigned int cpu,
				      const struct fault *fault, struct trace_values *ret);

/** trace_values_go_to() - of a thread: the events that come next are of @cpu */
void trace_values_go_to(struct btsrec *rec, unsigned int cpu, struct trace_values *values);

/** trace_values_add() - the next event; false: out of memory */
bool trace_values_add(struct trace_values *values, const struct trace_event *traced);

/** trace_values_cut() - nothing is known across here, for @why */
void trace_values_cut(struct trace_values *values, enum reg_values_why why);

/** trace_values_run() - after the last event; false: out of memory */
bool trace_values_run(struct trace_values *values, unsigned int nr_passes);

/* --- Memory that is never written --------------------------------------- */

#define PAGE_BYTES	4096

/** trace_values_bytes() - what the dump has at @va, up to 8 bytes; false: nothing */
bool trace_values_bytes(const struct trace_constants *constants, uint64_t va,
			unsigned int nr_bytes, uint64_t *ret);

/** trace_values_find_read_only() - the bounds; both 0 if it is not protected */
void trace_values_find_read_only(struct btsrec *rec, struct trace_constants *ret);

/** trace_values_find_area() - what the area of CPU @ret->cpu holds at all times */
void trace_values_find_area(struct btsrec *rec, struct trace_constants *ret);

/** trace_values_of_area() - @nr_bytes bytes at @address of that; false: they may change */
bool trace_values_of_area(const struct trace_constants *constants, uint64_t address,
			  unsigned int nr_bytes, uint64_t *ret);

/** trace_values_unwritten() - for reg_values_constants(); @arg: struct trace_constants */
bool trace_values_unwritten(void *arg, bool segment, uint64_t address, unsigned int nr_bytes,
			    uint64_t *ret);

/** trace_values_dumped() - for struct reg_values_memory; @arg: struct trace_values */
bool trace_values_dumped(void *arg, bool segment, uint64_t address, unsigned int nr_bytes,
			 uint64_t *ret);

/* --- The thread that runs ------------------------------------------------ */

/** trace_values_find_current() - where the kernel has it, before the first event */
void trace_values_find_current(struct btsrec *rec, struct trace_values *values);

/** trace_values_note_current(), trace_values_note_area() - after @insn has been added */
void trace_values_note_current(struct trace_values *values, const struct sem_insn *insn);
void trace_values_note_area(struct trace_values *values, const struct sem_insn *insn);

/** trace_values_follow_current() - @event may change it */
void trace_values_follow_current(struct trace_values *values, const struct btsrec_event *event);

/** trace_values_end_current() - after the last event: the thread of the freeze has run since */
void trace_values_end_current(struct trace_values *values);

/* Each pass over what is likely makes more known; most is after one, all after three. */
#define LIKELY_PASSES	8
#define HASTY_PASSES	1

#endif /* BTSREC_TRACE_VALUES_IMPL_H */
