// SPDX-License-Identifier: GPL-2.0-or-later
/* The values along the history of one thread, wherever it ran. */
#include "flow/thread.h"
#include "flow/trace_values_impl.h"

/** struct feed - @freeze, @registers, @has_frame: of the fault, which lies on @fault_cpu */
struct feed {
	struct btsrec *rec;
	struct trace_values *values;
	unsigned int fault_cpu;
	const struct btsrec_freeze *freeze;
	const struct btsrec_registers *registers;
	bool has_frame;
};

static bool add(void *arg, const struct trace_event *traced)
{
	struct feed *feed = arg;

	return trace_values_add(feed->values, traced);
}

/* Up to where the stack is another one. */
static bool add_tail(void *arg, const struct trace_event *traced)
{
	struct feed *feed = arg;

	return trace_values_add(feed->values, traced) && !feed->values->is_away;
}

/* The fault is an event of the one only; another one's events have the same numbers. */
static void go_to_cpu(struct feed *feed, unsigned int cpu)
{
	bool is_own = cpu == feed->fault_cpu;

	trace_values_go_to(feed->rec, cpu, feed->values);
	feed->values->freeze = is_own ? feed->freeze : NULL;
	feed->values->registers = is_own ? feed->registers : NULL;
	feed->values->has_frame = is_own && feed->has_frame;
}

/* Has the thread certainly been nowhere between @interval and the one before it? */
static bool is_next(const struct interval *interval)
{
	return interval->order == INTERVAL_PROVEN && interval->begins && !interval->maybe &&
	       interval[-1].ends;
}

static enum btsrec_status feed_interval(struct feed *feed, struct thread *thread, size_t i)
{
	const struct interval *interval = &thread->intervals.list[i];
	struct trace_values *values = feed->values;
	enum btsrec_status status;

	go_to_cpu(feed, interval->cpu);
	/* The stack was not seen to change. */
	if (!i || !is_next(interval) || !values->is_away) {
		values->is_away = false;
		trace_values_cut(values, REG_VALUES_GAP);
	}
	status = thread_interval(thread, i, add, feed);
	if (!status && interval->ends)
		status = thread_tail(thread, i, add_tail, feed);
	return status;
}

enum btsrec_status trace_values_thread(struct btsrec *rec, unsigned int cpu,
				       const struct fault *fault, unsigned int fault_cpu,
				       uint32_t pid, struct trace_values *ret)
{
	enum btsrec_status status = trace_values_begin(rec, cpu, fault, ret);
	struct feed feed = { .rec = rec, .values = ret, .fault_cpu = fault_cpu,
			     .freeze = ret->freeze, .registers = ret->registers,
			     .has_frame = ret->has_frame };
	struct thread thread = { 0 };

	if (status)
		return status;
	ret->constants.of_thread = true;
	ret->oldest = REG_VALUES_GAP;
	status = thread_open(&thread, rec, pid, true);
	for (size_t i = 0; i < thread.intervals.nr && !status; i++)
		status = feed_interval(&feed, &thread, i);
	thread_close(&thread);
	go_to_cpu(&feed, fault_cpu);
	if (ret->nomem || (!status && !trace_values_run(ret, LIKELY_PASSES)))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	return status;
}
