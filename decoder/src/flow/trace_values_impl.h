/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of trace_values.h share. */
#ifndef BTSREC_TRACE_VALUES_IMPL_H
#define BTSREC_TRACE_VALUES_IMPL_H

#include "flow/trace_values.h"

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

/* Each pass over what is likely makes more known; most is after one, all after three. */
#define LIKELY_PASSES	8
#define HASTY_PASSES	1

#endif /* BTSREC_TRACE_VALUES_IMPL_H */
