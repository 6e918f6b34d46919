/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fault of a CPU: the search wired to a session and the code in its dump. */
#ifndef BTSREC_TRACE_FAULT_H
#define BTSREC_TRACE_FAULT_H

#include "base/bounds.h"
#include "flow/fault.h"
#include "recorder/session.h"

/* Behind the fault its thread has thousands of branches at most. */
#define TRACE_FAULT_MAX_EVENTS BOUND(32768, 1024)

/**
 * trace_fault() - where the fault lies in the history of @cpu
 *
 * Looks at the newest TRACE_FAULT_MAX_EVENTS events at most.  If other threads ran among them, it
 * goes on with so many of the thread of the freeze.
 *
 * Return: as btsrec_events(); BTSREC_OK also if the fault is not known.
 */
enum btsrec_status trace_fault(struct btsrec *rec, unsigned int cpu, struct fault *ret);

/**
 * trace_fault_tsc() - when the fault of @cpu was: the first time from it on that the history has
 * @fault: of @cpu, known.
 *
 * Return: as btsrec_events(); *@ret 0: it has none.
 */
enum btsrec_status trace_fault_tsc(struct btsrec *rec, unsigned int cpu, const struct fault *fault,
				   uint64_t *ret);

struct thread;

/**
 * trace_fault_moved() - where the fault lies if its handler went on on another CPU
 * @thread: that of the freeze of @cpu.
 * @ret: the fault, by its number on its CPU; FAULT_UNKNOWN: it is not there, either.
 * @ret_interval: in which of the intervals of @thread it lies.
 *
 * Follows the thread back as far as its intervals are proven to follow each other.
 *
 * Return: as btsrec_events().
 */
enum btsrec_status trace_fault_moved(struct thread *thread, unsigned int cpu, struct fault *ret,
				     size_t *ret_interval);

#endif /* BTSREC_TRACE_FAULT_H */
