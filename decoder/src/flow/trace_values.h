/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of registers along the history of one CPU: wires values to a session. */
#ifndef BTSREC_TRACE_VALUES_H
#define BTSREC_TRACE_VALUES_H

#include "base/status.h"
#include "flow/fault_frame.h"
#include "flow/trace.h"
#include "flow/reg_values.h"

#define TRACE_VALUES_NONE UINT32_MAX

/**
 * struct trace_values_range - @nr instructions of event @n of @cpu, from @place on
 * @side: the thread, as a number from 1 on; 0: not known.
 */
struct trace_values_range {
	uint64_t n;
	uint32_t place;
	uint32_t nr;
	uint32_t side;
	unsigned int cpu;
};

/**
 * struct trace_constants - memory that nothing has written since the recorder was loaded
 * @code: to read it with.
 * @start, @end: read-only data of the kernel; both 0: not known, or not protected.
 * @cpu, @offset: the number of the CPU, and where its area is.
 * @of_thread: what ran has done so on several CPUs, each with its own area.
 * @offset_at, @number_at: places of this_cpu_off and cpu_number in the area; 0: not known.
 * @hardirq_at, @hardirq: of hardirq_stack_ptr, and what it holds; 0: not known.
 */
struct trace_constants {
	struct code *code;
	uint64_t start, end;
	uint64_t offset_at, number_at, hardirq_at;
	uint64_t offset, hardirq;
	unsigned int cpu;
	bool of_thread;
};

/** struct trace_load - a load of current_task, or of the top of the stack: the @version it makes */
struct trace_load {
	uint32_t version;
	bool is_top;
};

/**
 * struct trace_current - the thread that runs, as the kernel's variables of this CPU have it
 * @task_at, @top_at: places of current_task and of the top of its stack in the area; 0: not known.
 * @pid_at, @stack_at: members of struct task_struct.
 * @stack_bytes: from the member to the top; 0: not known.
 * @task: its task_struct; 0: not known.  @top: of its stack; 0: not known.
 * @is_switching: an annotation says that it is next, but the variables have the one before.
 * @loads: owned; all that there were while one thread ran, which is not known.
 */
struct trace_current {
	uint64_t task_at, top_at;
	uint32_t pid_at, stack_at;
	uint64_t stack_bytes;
	uint64_t task;
	uint64_t top;
	bool is_switching;
	struct trace_load *loads;
	size_t nr_loads, room_loads;
};

/**
 * struct trace_pause - the annotation that no code has come after
 * @is_pending: there is one, for @why.
 * @is_single: no other one came since the last branch, and the recorder wrote it in one function.
 * @from, @to, @writes: the last pause of such a one, and what it may have changed; both 0: none.
 */
struct trace_pause {
	bool is_pending;
	bool is_single;
	enum reg_values_why why;
	uint64_t from, to;
	uint32_t writes;
};

/**
 * struct trace_values - of one CPU, or of one thread; owned
 * @ranges: @nr of them in order, those of kernel code that is there with all its instructions.
 * @next: the first that has not been asked for.
 * @sides: @nr_sides threads, a new one where it changes.
 * @fault_place: of the exception that is the fault; TRACE_VALUES_NONE: there is none.
 * @registers: of the freeze; NULL: not kept.
 * @frame: of the instruction that faulted or was interrupted at the fault, if @has_frame.
 * @has_begun: an event was read.  @oldest: what is in front of it.
 * @cpu: of the event that is read.
 * @has_address: the fault was a page fault, and nothing has read CR2 since, or changed it.
 * @is_changing: since the annotation of a switch the stack has not changed yet.
 * @is_away: of one thread: what runs is another one, up to where the stacks change.
 */
struct trace_values {
	struct reg_values *values;
	struct trace_values_range *ranges;
	size_t nr, room;
	size_t next;
	struct btsrec_side *sides;
	size_t nr_sides, room_sides;
	uint32_t fault_place;
	struct code *code;
	const struct btsrec_freeze *freeze;
	const struct btsrec_registers *registers;
	const struct fault *fault;
	bool has_frame;
	struct fault_frame frame;
	bool nomem;
	struct trace_constants constants;
	struct trace_current current;
	bool has_begun;
	enum reg_values_why oldest;
	struct trace_pause pause;
	unsigned int cpu;
	bool has_address;
	bool is_changing;
	bool is_away;
};

/** trace_values_insn() - what the instruction at the kernel address @ip does; false: not known */
bool trace_values_insn(struct code *code, uint64_t ip, struct sem_insn *ret);

/**
 * trace_values_constant() - what @reg is behind the instructions from @start to before @stop
 *
 * Return: false: none of them sets it to a constant, or another one writes it later.
 */
bool trace_values_constant(struct code *code, uint64_t start, uint64_t stop, enum sem_reg reg,
			   uint64_t *ret);

/**
 * trace_values_open() - read all of the history of @cpu and find what is certain of registers
 * @fault: of the CPU; borrowed for the call.
 * @ret: for trace_values_close() in every case.
 *
 * Return: as btsrec_events(); BTSREC_ERR_NOMEM.
 */
enum btsrec_status trace_values_open(struct btsrec *rec, unsigned int cpu,
				     const struct fault *fault, struct trace_values *ret);

/**
 * trace_values_newest() - trace_values_open() of the newest @max_events events, as if the ring had
 *	no more
 * @max_events: 0: all.
 * @max_bytes: fewer, if the instructions that ran in them have more bytes; 0: any number.  Then
 *	what is likely is looked for in haste, too.
 *
 * What is certain of them is certain of all, because a ring may begin anywhere.
 */
enum btsrec_status trace_values_newest(struct btsrec *rec, unsigned int cpu,
				       const struct fault *fault, uint64_t max_events,
				       uint64_t max_bytes, struct trace_values *ret);

/**
 * trace_values_thread() - of thread @pid on all CPUs, one after the other as it ran
 * @cpu: where it ended, or has been; as of trace_values_open().
 * @fault, @fault_cpu: on which CPU the fault lies; another one, if its handler has moved.
 *
 * From one CPU to another, and over what ran meanwhile, its stack pointer is the same, and so are
 * the words that were pushed.  Where it may have run in between nothing is followed.
 *
 * Return: as thread_open(); BTSREC_ERR_NOMEM.
 */
enum btsrec_status trace_values_thread(struct btsrec *rec, unsigned int cpu,
				       const struct fault *fault, unsigned int fault_cpu,
				       uint32_t pid, struct trace_values *ret);
void trace_values_close(struct trace_values *values);

/**
 * trace_values_range() - the range that the step at @place is in, or the one before it
 *
 * Return: NULL: there is none before.
 */
const struct trace_values_range *trace_values_range(const struct trace_values *values,
						    uint32_t place);

/** trace_values_event() - the last range of event @n; NULL: nothing is known of it */
const struct trace_values_range *trace_values_event(const struct trace_values *values, uint64_t n);

/**
 * trace_values_at() - the place of the instruction at @ip that ran up to event @n of @cpu
 *
 * Return: TRACE_VALUES_NONE: nothing is known there.
 */
uint32_t trace_values_at(const struct trace_values *values, unsigned int cpu, uint64_t n,
			 uint64_t ip);

/** trace_values_side() - the thread of @range; NULL: not known */
const struct btsrec_side *trace_values_side(const struct trace_values *values,
					    const struct trace_values_range *range);

/**
 * trace_values_find() - the place of the instruction at @ip that ran up to event @n
 *
 * Ask in the order in which they ran; those after it in its range have the places that follow.
 *
 * Return: TRACE_VALUES_NONE: nothing is known there.
 */
uint32_t trace_values_find(struct trace_values *values, uint64_t n, uint64_t ip);

/**
 * trace_values_leaving() - the place of the instruction that made the branch of event @n
 * @va: where the branch has led.
 *
 * Return: for reg_values_next(); TRACE_VALUES_NONE: it is not known.
 */
uint32_t trace_values_leaving(const struct trace_values *values, uint64_t n, uint64_t va);

/**
 * trace_values_text() - the text at @va, in memory that nothing has written
 * @ret: not terminated, not escaped; @max_bytes of room.
 * @ret_whole: it ends with @ret.
 *
 * Return: how long it is, as far as there is room; 0: it is empty, or not known.
 */
size_t trace_values_text(const struct trace_values *values, uint64_t va, char *ret,
			 size_t max_bytes, bool *ret_whole);

#endif /* BTSREC_TRACE_VALUES_H */
