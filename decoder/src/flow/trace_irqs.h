/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether interrupts are on at the fault of a CPU: irq_flag wired to a session and its code. */
#ifndef BTSREC_TRACE_IRQS_H
#define BTSREC_TRACE_IRQS_H

#include "base/status.h"
#include "flow/irq_flag.h"
#include "recorder/session.h"

struct fault;

/**
 * trace_irqs() - whether interrupts were on at the fault of @cpu
 * @fault: of the CPU; where it is not known the answer is about the end of its history.
 *
 * Reads all of the history.  The registers at the fault count, too, if they were kept.
 *
 * Return: as btsrec_events().
 */
enum btsrec_status trace_irqs(struct btsrec *rec, unsigned int cpu, const struct fault *fault,
			      struct irq_flag *ret);

#endif /* BTSREC_TRACE_IRQS_H */
