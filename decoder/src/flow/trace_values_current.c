// SPDX-License-Identifier: GPL-2.0-or-later
/* The thread that runs: what a CPU's area says of it, and what annotations do. */
#include "base/grow.h"
#include "flow/trace_values_impl.h"
#include "kernel/types.h"
#include "recorder/record.h"
#include "symbols/symbol.h"

/* THREAD_SIZE with KASAN. */
#define MAX_STACK_BYTES (64U << 10)
/* TOP_OF_KERNEL_STACK_PADDING of kernels with FRED. */
#define FRED_PADDING_BYTES 16

static bool read_task(const struct trace_values *values, uint64_t task, uint64_t *ret_stack)
{
	return trace_values_bytes(&values->constants, task + values->current.stack_at, 8,
				  ret_stack) &&
	       code_is_kernel(*ret_stack);
}

/*
 * From struct task_struct to the top is what it is of the thread that runs at the end: THREAD_SIZE,
 * less TOP_OF_KERNEL_STACK_PADDING.
 */
void trace_values_find_current(struct btsrec *rec, struct trace_values *values)
{
	const struct trace_constants *constants = &values->constants;
	struct trace_current *current = &values->current;
	uint64_t task, top, stack;
	struct types_field pid, at;
	const struct types *types;
	const char *why;

	types = constants->offset_at ? symbols_types(rec, &why) : NULL;
	if (!types || !types_field(types, "task_struct", "pid", &pid) ||
	    !types_field(types, "task_struct", "stack", &at))
		return;
	current->pid_at = pid.offset_bytes;
	current->stack_at = at.offset_bytes;
	current->task_at = symbols_cpu_place(rec, SYMBOL_DUMP_CURRENT_TASK, "current_task");
	current->top_at = symbols_cpu_place(rec, SYMBOL_DUMP_TOP_OF_STACK, "top_of_stack");
	if (!current->task_at || !current->top_at ||
	    !trace_values_bytes(constants, constants->offset + current->task_at, 8, &task) ||
	    !trace_values_bytes(constants, constants->offset + current->top_at, 8, &top) ||
	    !read_task(values, task, &stack) || top - stack > MAX_STACK_BYTES ||
	    ((top - stack) % PAGE_BYTES && (top - stack + FRED_PADDING_BYTES) % PAGE_BYTES))
		return;
	current->stack_bytes = top - stack;
}

/* @task is thread @pid, or was until it ended: then another one may have its place. */
static void now_runs(struct trace_values *values, uint64_t task, uint32_t pid)
{
	struct trace_current *current = &values->current;
	uint64_t stack, now = 0;

	current->task = task;
	current->top = 0;
	if (task && current->stack_bytes &&
	    trace_values_bytes(&values->constants, task + current->pid_at, 4, &now) && now == pid &&
	    read_task(values, task, &stack))
		current->top = stack + current->stack_bytes;
}

/* Is it a load or store of 8 bytes at @at in the area of this CPU? */
static bool is_at(const struct sem_insn *insn, unsigned int nr_bytes, uint64_t at)
{
	return at && insn->segment && nr_bytes == 8 && insn->base == SEM_NO_REG &&
	       insn->index == SEM_NO_REG && (uint64_t)insn->disp == at;
}

/* After @insn has been added, of a thread: what it loads from the area of the CPU that it is on. */
void trace_values_note_area(struct trace_values *values, const struct sem_insn *insn)
{
	const struct sem_operand *to = &insn->operands[0];
	uint64_t value;

	if (values->constants.of_thread && insn->segment && insn->op == SEM_MOV &&
	    insn->base == SEM_NO_REG && insn->index == SEM_NO_REG && to->kind == SEM_REGISTER &&
	    to->bytes == insn->load_bytes &&
	    trace_values_of_area(&values->constants, (uint64_t)insn->disp, insn->load_bytes,
				 &value))
		reg_values_anchor(values->values, to->reg, known_all(value));
}

/* Which thread it is, is known once the freeze has come, if no other one runs before. */
static void note_load(struct trace_values *values, uint8_t reg, bool is_top)
{
	struct trace_current *current = &values->current;

	values->nomem |= !grow(&current->loads, sizeof(current->loads[0]), current->nr_loads,
			       &current->room_loads);
	if (!values->nomem)
		current->loads[current->nr_loads++] = (struct trace_load){
			.version = reg_values_version(values->values, reg), .is_top = is_top };
}

/* After @insn has been added: the variables hold what __switch_to() has last stored in them. */
void trace_values_note_current(struct trace_values *values, const struct sem_insn *insn)
{
	struct trace_current *current = &values->current;
	bool is_task = is_at(insn, insn->load_bytes, current->task_at);
	bool is_top = is_at(insn, insn->load_bytes, current->top_at);
	uint64_t value = is_task ? current->task : is_top ? current->top : 0;

	if (is_at(insn, insn->store_bytes, current->task_at) ||
	    is_at(insn, insn->store_bytes, current->top_at))
		current->nr_loads = 0;
	if (is_at(insn, insn->store_bytes, current->task_at))
		current->is_switching = false;
	if ((!is_task && !is_top) || current->is_switching || insn->op != SEM_MOV ||
	    insn->operands[0].kind != SEM_REGISTER || insn->operands[0].bytes != 8)
		return;
	if (value)
		reg_values_anchor(values->values, insn->operands[0].reg, known_all(value));
	else if (!current->task)
		note_load(values, insn->operands[0].reg, is_top);
}

/* A pause of the recorder's own leaves the thread, even in a switch; other gaps may hide one. */
static bool leaves_thread(const struct btsrec_event *event)
{
	switch (event->kind) {
	case BTSREC_EVENT_SWITCH:
		return event->mm_only;
	case BTSREC_EVENT_GAP:
		return record_is_own_pause(&event->gap);
	default:
		return event->kind != BTSREC_EVENT_ARM;
	}
}

void trace_values_follow_current(struct trace_values *values, const struct btsrec_event *event)
{
	if (leaves_thread(event))
		return;
	values->current.nr_loads = 0;
	if (event->kind == BTSREC_EVENT_SWITCH) {
		values->is_changing = true;
		now_runs(values, event->sw.next_task_kva, event->sw.next.pid);
		values->current.is_switching = true;
	} else if (event->kind == BTSREC_EVENT_ARM) {
		now_runs(values, event->resume.task_kva, event->resume.now.pid);
		values->current.is_switching = false;
	} else {
		now_runs(values, 0, 0);
	}
}

/* Where the stack pointer was at the fault, is the stack of the thread that runs at the end. */
static bool is_on_stack(const struct trace_values *values)
{
	const struct trace_current *current = &values->current;
	uint64_t rsp = values->frame.regs[SEM_RSP];

	return values->has_frame && current->top && rsp < current->top &&
	       current->top - rsp <= current->stack_bytes;
}

/*
 * Each switch of threads is an annotation: behind the last one that may be of one there was none.
 * The NMI that stops a CPU ends its records, in the thread of the freeze.  After another fault
 * others may have run before the freeze, where nothing was recorded.  They have another stack.
 */
void trace_values_end_current(struct trace_values *values)
{
	struct trace_current *current = &values->current;
	const struct btsrec_freeze *freeze = values->freeze;

	if (!current->nr_loads || !freeze || values->constants.of_thread ||
	    values->fault->kind == FAULT_UNKNOWN)
		return;
	now_runs(values, freeze->task_kva, freeze->pid);
	if (values->fault->kind != FAULT_STOP && !is_on_stack(values))
		return;
	for (size_t i = 0; i < current->nr_loads; i++) {
		uint64_t value = current->loads[i].is_top ? current->top : current->task;

		if (value)
			reg_values_anchor_version(values->values, current->loads[i].version,
						  known_all(value));
	}
}
