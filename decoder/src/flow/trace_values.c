// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/trace_values_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "flow/pause_code.h"
#include "recorder/cpus.h"
#include "recorder/record.h"

/* ftrace's call of what froze; see fault.c. */
#define HOOK_CALL_BYTES 5

/* --- The fault ------------------------------------------------------------ */

#define VECTOR_PAGE_FAULT 14

/* What of the exception at @n is kept is of the fault. */
static bool is_kept_of(const struct trace_values *values, uint64_t n, uint32_t what)
{
	const struct btsrec_registers *registers = values->registers;

	return values->freeze && registers && n == values->fault->n &&
	       values->fault->kind == FAULT_EXCEPTION &&
	       (registers->flags & (what | BTSREC_REGISTERS_ENTRY)) ==
		       (what | BTSREC_REGISTERS_ENTRY) &&
	       registers->entry.ip == values->fault->from &&
	       registers->vector == (uint32_t)values->fault->vector;
}

/* SDM vol. 2, "MOV - Move to/from Control Registers": 0F 20 /2.  SEM_NO_REG: it is another one. */
static uint8_t loads_address(const struct sem_insn *insn)
{
	bool rex = (insn->bytes[0] & 0xf0) == 0x40;
	const uint8_t *at = insn->bytes + rex;

	if (insn->length_bytes != 3 + rex || at[0] != 0x0f || at[1] != 0x20 ||
	    (at[2] & 0xf8) != 0xd0)
		return SEM_NO_REG;
	return (uint8_t)((at[2] & 7) | (rex ? (insn->bytes[0] & 1) << 3 : 0));
}

/* After @insn has been added: CR2 has the address until the next exception. */
static void note_address(struct trace_values *values, const struct sem_insn *insn)
{
	uint8_t reg = values->has_address ? loads_address(insn) : SEM_NO_REG;

	if (reg == SEM_NO_REG)
		return;
	reg_values_anchor(values->values, reg, known_all(values->registers->address));
	values->has_address = false;
}

/* After the entry of event @n has been added. */
static void note_entry(struct trace_values *values, uint64_t n)
{
	values->has_address = is_kept_of(values, n, BTSREC_REGISTERS_ADDRESS) &&
			      values->fault->vector == VECTOR_PAGE_FAULT;
	if (is_kept_of(values, n, BTSREC_REGISTERS_ERROR))
		reg_values_error_code(values->values, values->registers->error_code);
}

/* --- The history -------------------------------------------------------- */

/* Of a thread that is away nothing runs that an annotation interrupts. */
void trace_values_cut(struct trace_values *values, enum reg_values_why why)
{
	if (values->is_away && why == REG_VALUES_PAUSE)
		return;
	values->is_away = false;
	values->nomem |= !reg_values_cut(values->values, why);
}

/* Before the next step; the processor sets RF only in what it stores. */
static void anchor_all(struct trace_values *values, const struct fault_frame *frame)
{
	const uint64_t flags = SEM_STATUS_FLAGS | SEM_DF;

	for (unsigned int reg = 0; reg < SEM_FLAGS; reg++)
		reg_values_anchor(values->values, reg, known_all(frame->regs[reg]));
	reg_values_anchor(values->values, SEM_FLAGS,
			  known_only(known_all(frame->regs[SEM_FLAGS]), flags));
}

/* Before the next step, the freeze says what is in all, or, of an older recorder, in some. */
static void anchor(struct trace_values *values)
{
	const struct btsrec_freeze *freeze = values->freeze;
	struct fault_frame frame;

	if (values->registers && values->registers->flags & BTSREC_REGISTERS_STOP) {
		fault_frame_of(&values->registers->stop, &frame);
		anchor_all(values, &frame);
		return;
	}
	reg_values_anchor(values->values, SEM_RSP, known_all(freeze->sp));
	reg_values_anchor(values->values, SEM_RBP, known_all(freeze->bp));
	reg_values_anchor(values->values, SEM_FLAGS,
		      (struct known){ freeze->rflags & (SEM_STATUS_FLAGS | SEM_DF),
				      SEM_STATUS_FLAGS | SEM_DF });
}

/* Is this the call of the hook that froze?  Nothing that ran after it is recorded. */
static bool is_hook(const struct trace_values *values, const struct sem_insn *insn, uint64_t n)
{
	return values->freeze && values->fault->kind == FAULT_CALL && n >= values->fault->n &&
	       insn->op == SEM_CALL && insn->length_bytes == HOOK_CALL_BYTES &&
	       insn->ip + HOOK_CALL_BYTES == values->freeze->ip;
}

bool trace_values_insn(struct code *code, uint64_t ip, struct sem_insn *ret)
{
	uint8_t bytes[CODE_INSN_MAX_BYTES];
	size_t nr_bytes;

	(void)code_bytes(code, 0, ip, bytes, sizeof(bytes), &nr_bytes);
	return nr_bytes && sem_decode(bytes, nr_bytes, ip, ret);
}

/* Does @insn set all of @reg to a constant? */
static bool sets_constant(const struct sem_insn *insn, enum sem_reg reg, uint64_t *ret)
{
	const struct sem_operand *to = &insn->operands[0], *from = &insn->operands[1];

	if (to->kind != SEM_REGISTER || to->reg != reg || to->bytes < 4)
		return false;
	if (insn->op == SEM_MOV && from->kind == SEM_IMMEDIATE)
		*ret = from->value;
	else if (insn->op == SEM_LEA && insn->base == SEM_NO_REG && insn->index == SEM_NO_REG &&
		 !insn->segment)
		*ret = (uint64_t)insn->disp;
	else
		return false;
	/* SDM vol. 1, "General-Purpose Registers in 64-Bit Mode": half of one clears the rest. */
	if (to->bytes == 4)
		*ret = (uint32_t)*ret;
	return true;
}

bool trace_values_constant(struct code *code, uint64_t start, uint64_t stop, enum sem_reg reg,
			   uint64_t *ret)
{
	struct sem_insn insn;
	bool found = false;
	uint64_t value = 0;

	for (uint64_t ip = start; ip < stop; ip += insn.length_bytes) {
		if (!trace_values_insn(code, ip, &insn))
			return false;
		if (insn.writes & 1U << reg || insn.op == SEM_CUT)
			found = sets_constant(&insn, reg, &value);
	}
	if (found)
		*ret = value;
	return found;
}

/* The same code is at an address all the time: what the dump has. */
static const struct sem_insn *insn_of(const struct trace_values *values, uint64_t ip,
				      struct sem_insn *buf)
{
	const struct sem_insn *known = reg_values_known(values->values, ip);

	if (known)
		return known;
	return trace_values_insn(values->code, ip, buf) ? buf : NULL;
}

/* The number of the thread, which is new if it is not the last one. */
static uint32_t number_of(struct trace_values *values, const struct btsrec_side *side)
{
	if (!side)
		return 0;
	if (values->nr_sides && !memcmp(&values->sides[values->nr_sides - 1], side, sizeof(*side)))
		return (uint32_t)values->nr_sides;
	values->nomem |= !grow(&values->sides, sizeof(*side), values->nr_sides,
			       &values->room_sides);
	if (values->nomem)
		return 0;
	values->sides[values->nr_sides++] = *side;
	return (uint32_t)values->nr_sides;
}

/*
 * Does @insn change to the stack of another thread?  __switch_to_asm() loads the stack pointer from
 * struct task_struct, and nothing else does so after the annotation of a switch.
 */
static bool changes_stack(const struct sem_insn *insn)
{
	const struct sem_operand *to = &insn->operands[0];

	return insn->op == SEM_MOV && to->kind == SEM_REGISTER && to->reg == SEM_RSP &&
	       to->bytes == 8 && insn->load_bytes == 8 && !insn->segment &&
	       insn->base != SEM_NO_REG && insn->base != SEM_RSP && insn->index == SEM_NO_REG;
}

/* Of one thread: goes it, or comes it back, with @insn?  Then that is not one of its own. */
static bool is_foreign(struct trace_values *values, const struct sem_insn *insn)
{
	const uint32_t all = (1U << SEM_NR_REGS) - 1;
	bool was_away = values->is_away;

	if (!values->constants.of_thread)
		return false;
	if (!values->is_changing || !changes_stack(insn))
		return was_away;
	values->is_changing = false;
	values->is_away = !was_away;
	if (was_away)
		values->nomem |= !reg_values_pause(values->values, insn->ip + insn->length_bytes,
						   all & ~(1U << SEM_RSP), true);
	return true;
}

/* Of one CPU: the one thread sleeps from here on, and the other has slept. */
static uint32_t add_insn(struct trace_values *values, const struct sem_insn *insn)
{
	if (!values->is_changing || !changes_stack(insn))
		return reg_values_insn(values->values, insn);
	values->is_changing = false;
	return reg_values_switch(values->values, insn);
}

static void add_range(struct trace_values *values, const struct trace_event *traced,
		      const struct proof_range *range)
{
	struct trace_values_range new = { .n = traced->event->n, .place = TRACE_VALUES_NONE,
					  .side = number_of(values, traced->side),
					  .cpu = values->cpu };
	struct sem_insn buf;

	for (uint64_t ip = range->start; ip < range->stop;) {
		const struct sem_insn *insn = insn_of(values, ip, &buf);
		uint32_t place;

		if (!insn) {
			trace_values_cut(values, REG_VALUES_BREAK);
			return;
		}
		ip += insn->length_bytes;
		if (is_foreign(values, insn))
			continue;
		if (is_hook(values, insn, new.n))
			anchor(values);
		place = add_insn(values, insn);
		values->nomem |= place == TRACE_VALUES_NONE;
		trace_values_note_current(values, insn);
		trace_values_note_area(values, insn);
		note_address(values, insn);
		if (!new.nr++)
			new.place = place;
	}
	if (new.place == TRACE_VALUES_NONE)
		return;
	values->nomem |= !grow(&values->ranges, sizeof(new), values->nr, &values->room);
	if (!values->nomem)
		values->ranges[values->nr++] = new;
}

/* What ran at @va and is not followed. */
static enum reg_values_why level_of(uint64_t va)
{
	return code_is_kernel(va) ? REG_VALUES_BREAK : REG_VALUES_USER;
}

/* Of user code nothing else can have run, whatever of it is not there. */
static enum reg_values_why why_of(const struct trace_values *values, const struct proof_step *step)
{
	if (step->kind == PROOF_START)
		return values->nr ? REG_VALUES_GAP : values->oldest;
	if (step->kind != PROOF_PROVEN && step->kind != PROOF_UNKNOWN)
		return REG_VALUES_BREAK;
	return code_is_kernel(step->start) || code_is_kernel(step->end) ? REG_VALUES_BREAK :
									  REG_VALUES_USER;
}

/* Did the last branch lead to where no code is, which is the fault? */
static bool is_led_astray(const struct trace_values *values, const struct trace_event *traced)
{
	return values->has_frame && traced->event->n == values->fault->n &&
	       !traced->step->nr_ranges && traced->step->start == traced->step->end &&
	       code_is_none(values->code, traced->step->end);
}

/* --- Annotations --------------------------------------------------------- */

static bool insn_at(void *arg, uint64_t ip, struct sem_insn *ret)
{
	return trace_values_insn(arg, ip, ret);
}

/*
 * The recorder's own code from @from, where it pauses, to @to is in no record.  It runs on the
 * stack of the thread, with interrupts off, and stores to its own memory.
 */
static bool follows_pause(struct trace_values *values, uint64_t from, uint64_t to)
{
	struct trace_pause *pause = &values->pause;

	if (pause->from == from && pause->to == to)
		return true;
	if (!pause_code_writes(from, to, insn_at, values->code, &pause->writes))
		return false;
	pause->from = from;
	pause->to = to;
	return true;
}

static void pause(struct trace_values *values, const struct proof_step *step)
{
	if (!values->pause.is_single ||
	    !follows_pause(values, step->ranges[0].stop, step->ranges[1].start))
		trace_values_cut(values, REG_VALUES_PAUSE);
	else if (!values->is_away)
		values->nomem |= !reg_values_pause(values->values, step->ranges[1].start,
						   values->pause.writes, false);
}

/* The next branch says where it was. */
static void pend(struct trace_values *values, const struct btsrec_event *event,
		 enum reg_values_why why)
{
	bool was_pending = values->pause.is_pending;

	if (was_pending)
		trace_values_cut(values, values->pause.why);
	values->pause.is_pending = true;
	values->pause.is_single = !was_pending && event->kind == BTSREC_EVENT_SWITCH;
	values->pause.why = why;
}

/* One annotation is where the code of @step has its hole; any other one is in front of all. */
static void take_pending(struct trace_values *values, const struct proof_step *step)
{
	struct trace_pause *pause = &values->pause;

	pause->is_single &= pause->is_pending && step->kind == PROOF_PROVEN && !step->compat &&
			    !step->guessed && step->nr_ranges == 2 &&
			    code_is_kernel(step->ranges[0].start);
	if (pause->is_pending && !pause->is_single)
		trace_values_cut(values, pause->why);
	pause->is_pending = false;
}

static void add_ranges(struct trace_values *values, const struct trace_event *traced)
{
	const struct proof_step *step = traced->step;

	take_pending(values, step);
	if (is_led_astray(values, traced))
		return;
	if (step->kind != PROOF_PROVEN || step->compat || step->guessed)
		trace_values_cut(values, why_of(values, step));
	for (uint32_t i = 0; i < step->nr_ranges; i++) {
		const struct proof_range *range = &step->ranges[i];

		if (i)
			pause(values, step);
		if (step->compat || !code_is_kernel(range->start))
			trace_values_cut(values, REG_VALUES_USER);
		else
			add_range(values, traced, range);
	}
}

/*
 * Is what came before @event known?  The user's code is not, nor code that is not there, unless
 * the fault is that there is none.  A repeated instruction may have been half done.
 */
static bool is_followed(struct trace_values *values, const struct btsrec_event *event,
			bool at_fault)
{
	uint64_t from = event->branch.from;
	const struct sem_insn *insn;
	struct sem_insn buf;

	if (at_fault && code_is_none(values->code, from))
		return true;
	insn = code_is_kernel(from) ? insn_of(values, from, &buf) : NULL;
	if (insn && insn->repeats)
		values->nomem |= !reg_values_begun(values->values, insn);
	return insn;
}

static void add_entry(struct trace_values *values, const struct btsrec_event *event, int vector)
{
	const struct fault *fault = values->fault;
	bool at_fault = values->freeze && event->n == fault->n;

	if (values->is_away)
		return;
	if (!is_followed(values, event, at_fault && values->has_frame)) {
		trace_values_cut(values, level_of(event->branch.from));
		return;
	}
	if (at_fault && values->has_frame)
		anchor_all(values, &values->frame);
	else if (at_fault && fault->from == values->freeze->ip &&
		 (fault->kind == FAULT_STOP || fault->kind == FAULT_EXCEPTION))
		anchor(values);
	if (at_fault && fault->kind == FAULT_EXCEPTION)
		values->fault_place = reg_values_nr(values->values);
	values->nomem |= !reg_values_interrupt(values->values, event->branch.from, vector);
	if (!values->nomem)
		note_entry(values, event->n);
}

static void add_branch(struct trace_values *values, const struct trace_event *traced)
{
	const struct branch *branch = &traced->step->branch;

	switch (branch->type) {
	case BRANCH_IRQ:
	case BRANCH_EXCEPTION:
		add_entry(values, traced->event, branch->vector);
		break;
	case BRANCH_NMI:
		add_entry(values, traced->event, 2);
		break;
	case BRANCH_SYSCALL:
	case BRANCH_INT:
		/* By FRED they change the stack and store there, which their semantics lack. */
		if (code_idt(values->code)->fred_config)
			trace_values_cut(values, level_of(traced->event->branch.from));
		break;
	case BRANCH_UNKNOWN:
	case BRANCH_NONE:
	case BRANCH_ENTRY:
		trace_values_cut(values, level_of(traced->event->branch.from));
		break;
	default:
		break;
	}
}

static enum reg_values_why why_at(const struct btsrec_event *event)
{
	bool is_lost = event->kind == BTSREC_EVENT_GAP && !record_is_own_pause(&event->gap);

	return is_lost || event->kind == BTSREC_EVENT_ARM ? REG_VALUES_GAP : REG_VALUES_PAUSE;
}

bool trace_values_add(struct trace_values *values, const struct trace_event *traced)
{
	if (traced->step)
		add_ranges(values, traced);
	/* A freeze is the end. */
	if (traced->event->kind == BTSREC_EVENT_FREEZE) {
		trace_values_end_current(values);
		return !values->nomem;
	}
	trace_values_follow_current(values, traced->event);
	if (traced->event->kind != BTSREC_EVENT_BRANCH)
		pend(values, traced->event, why_at(traced->event));
	else if (traced->step)
		add_branch(values, traced);
	return !values->nomem;
}

/* There may be events in front of the first one of the newest. */
static bool begin_or_add(void *arg, const struct trace_event *traced)
{
	struct trace_values *values = arg;

	if (!values->has_begun && traced->event->n) {
		values->oldest = REG_VALUES_WINDOW;
		trace_values_cut(values, values->oldest);
	}
	values->has_begun = true;
	return trace_values_add(values, traced);
}

enum btsrec_status trace_values_begin(struct btsrec *rec, unsigned int cpu,
				      const struct fault *fault, struct trace_values *ret)
{
	const struct btsrec_cpu *page = btsrec_cpu(rec, cpu);

	*ret = (struct trace_values){ .values = reg_values_new(), .code = trace_code(rec),
				      .fault = fault, .fault_place = TRACE_VALUES_NONE,
				      .freeze = page && page->frozen ? &page->freeze : NULL,
				      .registers = page ? cpus_registers(page) : NULL,
				      .cpu = cpu };
	if (!ret->values || !ret->code)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	ret->constants = (struct trace_constants){ .code = ret->code, .cpu = cpu };
	trace_values_find_read_only(rec, &ret->constants);
	trace_values_find_area(rec, &ret->constants);
	trace_values_find_current(rec, ret);
	reg_values_constants(ret->values, trace_values_unwritten, &ret->constants);
	ret->has_frame = ret->freeze && fault_frame_get(ret->code, btsrec_root(rec), page, fault,
							&ret->frame);
	return BTSREC_OK;
}

void trace_values_go_to(struct btsrec *rec, unsigned int cpu, struct trace_values *values)
{
	struct trace_constants *constants = &values->constants;

	values->cpu = cpu;
	*constants = (struct trace_constants){ .code = constants->code, .cpu = cpu,
					       .start = constants->start, .end = constants->end,
					       .of_thread = constants->of_thread };
	trace_values_find_area(rec, constants);
}

bool trace_values_run(struct trace_values *values, unsigned int nr_passes)
{
	const struct trace_constants *constants = &values->constants;
	/* A CPU that another one stopped was in the midst of anything, and others went on. */
	struct reg_values_memory memory = {
		.read = values->fault->kind == FAULT_STOP ? NULL : trace_values_dumped,
		.arg = values,
		.has_area = constants->offset_at && !constants->of_thread,
		.area = constants->offset,
	};

	if (values->nomem)
		return false;
	reg_values_run(values->values);
	return reg_values_likely(values->values, &memory, nr_passes);
}

static enum btsrec_status open_values(struct btsrec *rec, unsigned int cpu,
				      const struct fault *fault, uint64_t max_events,
				      bool is_hasty, struct trace_values *ret)
{
	enum btsrec_status status = trace_values_begin(rec, cpu, fault, ret);

	if (!status)
		status = trace_events(rec, cpu, max_events, begin_or_add, ret, NULL);
	if (ret->nomem)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (status)
		return status;
	if (!trace_values_run(ret, is_hasty ? HASTY_PASSES : LIKELY_PASSES))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	return BTSREC_OK;
}

enum btsrec_status trace_values_open(struct btsrec *rec, unsigned int cpu,
				     const struct fault *fault, struct trace_values *ret)
{
	return open_values(rec, cpu, fault, 0, false, ret);
}

/** struct code_sizes - how many bytes of instructions ran in each of @nr events */
struct code_sizes {
	uint64_t *list;
	size_t nr, room;
	bool nomem;
};

static bool add_size(void *arg, const struct trace_event *traced)
{
	const struct proof_step *step = traced->step;
	struct code_sizes *sizes = arg;
	uint64_t nr_bytes = 0;

	for (uint32_t i = 0; step && i < step->nr_ranges; i++)
		nr_bytes += step->ranges[i].stop - step->ranges[i].start;
	sizes->nomem |= !grow(&sizes->list, sizeof(nr_bytes), sizes->nr, &sizes->room);
	if (!sizes->nomem)
		sizes->list[sizes->nr++] = nr_bytes;
	return !sizes->nomem;
}

/* Of the newest @max_events so many that no more than @max_bytes ran; 1 at least. */
static enum btsrec_status nr_within(struct btsrec *rec, unsigned int cpu, uint64_t max_events,
				    uint64_t max_bytes, uint64_t *ret)
{
	struct code_sizes sizes = { 0 };
	enum btsrec_status status = trace_events(rec, cpu, max_events, add_size, &sizes, NULL);
	size_t nr = 0;

	if (sizes.nomem)
		status = msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	for (; !status && nr < sizes.nr && sizes.list[sizes.nr - 1 - nr] <= max_bytes; nr++)
		max_bytes -= sizes.list[sizes.nr - 1 - nr];
	free(sizes.list);
	*ret = nr ? nr : 1;
	return status;
}

enum btsrec_status trace_values_newest(struct btsrec *rec, unsigned int cpu,
				       const struct fault *fault, uint64_t max_events,
				       uint64_t max_bytes, struct trace_values *ret)
{
	enum btsrec_status status = BTSREC_OK;

	*ret = (struct trace_values){ 0 };
	if (max_bytes)
		status = nr_within(rec, cpu, max_events, max_bytes, &max_events);
	return status ? status : open_values(rec, cpu, fault, max_events, max_bytes, ret);
}

void trace_values_close(struct trace_values *values)
{
	reg_values_free(values->values);
	free(values->ranges);
	free(values->sides);
	free(values->current.loads);
	*values = (struct trace_values){ 0 };
}
