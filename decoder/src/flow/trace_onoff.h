/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether interrupts and preemption are on at the fault of a CPU, by a session and its code. */
#ifndef BTSREC_TRACE_ONOFF_H
#define BTSREC_TRACE_ONOFF_H

#include "base/status.h"
#include "flow/onoff.h"
#include "recorder/session.h"

struct fault;

/** struct trace_onoff - @preemption: not known where the dump's names lack the count */
struct trace_onoff {
	struct onoff interrupts;
	struct onoff preemption;
};

/**
 * trace_onoff() - whether interrupts and preemption were on at the fault of @cpu
 * @fault: of the CPU; where it is not known the answer is about the end of its history.
 *
 * Reads all of the history.  For interrupts the registers at the fault count, too, if they were
 * kept.
 *
 * Return: as btsrec_events().
 */
enum btsrec_status trace_onoff(struct btsrec *rec, unsigned int cpu, const struct fault *fault,
			      struct trace_onoff *ret);

#endif /* BTSREC_TRACE_ONOFF_H */
