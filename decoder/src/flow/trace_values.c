// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/trace_values.h"

#include <stdlib.h>

#include "base/grow.h"
#include "symbols/symbol.h"

/* ftrace's call of what froze; see fault.c. */
#define HOOK_CALL_BYTES 5

/* --- Memory that is never written --------------------------------------- */

static bool read_bytes(const struct trace_constants *constants, uint64_t va,
		       unsigned int nr_bytes, uint64_t *ret)
{
	size_t got_bytes;

	*ret = 0;
	return code_bytes(constants->code, 0, va, (uint8_t *)ret, nr_bytes, &got_bytes) ==
	       CODE_OK;
}

static bool is_read_only(const struct trace_constants *constants, uint64_t address,
			 unsigned int nr_bytes)
{
	return address >= constants->start && address < constants->end &&
	       nr_bytes <= constants->end - address;
}

/*
 * mark_rodata_ro() of arch/x86/mm/init_64.c protects what is between the two symbols, before
 * there are processes that load modules.  "rodata=off" leaves it writable.
 */
static void find_read_only(struct btsrec *rec, struct trace_constants *ret)
{
	uint64_t enabled_at = symbols_place(rec, SYMBOL_DUMP_RODATA_ENABLED), enabled;

	ret->start = symbols_place(rec, SYMBOL_DUMP_RODATA);
	ret->end = symbols_place(rec, SYMBOL_DUMP_RODATA_END);
	if (!ret->start || ret->end < ret->start || !is_read_only(ret, enabled_at, 1) ||
	    !read_bytes(ret, enabled_at, 1, &enabled) || enabled != 1)
		ret->start = ret->end = 0;
}

/* Is this still in the CPU's area?  Boot writes it once: what wrote over it would show. */
static bool is_kept(const struct trace_constants *constants, uint64_t at, unsigned int nr_bytes,
		    uint64_t wanted)
{
	uint64_t value;

	return at && read_bytes(constants, constants->offset + at, nr_bytes, &value) &&
	       value == wanted;
}

/* arch/x86/kernel/setup_percpu.c: this_cpu_off and cpu_number. */
static void find_area(struct btsrec *rec, struct trace_constants *ret)
{
	uint64_t table = symbols_place(rec, SYMBOL_DUMP_PER_CPU_OFFSET);

	if (!is_read_only(ret, table + 8ULL * ret->cpu, 8) ||
	    !read_bytes(ret, table + 8ULL * ret->cpu, 8, &ret->offset))
		return;
	ret->offset_at = symbols_place(rec, SYMBOL_DUMP_THIS_CPU_OFF);
	ret->number_at = symbols_place(rec, SYMBOL_DUMP_CPU_NUMBER);
	if (!is_kept(ret, ret->offset_at, 8, ret->offset))
		ret->offset_at = 0;
	if (!is_kept(ret, ret->number_at, 4, ret->cpu))
		ret->number_at = 0;
}

static bool constant(void *arg, bool segment, uint64_t address, unsigned int nr_bytes,
		     uint64_t *ret)
{
	const struct trace_constants *constants = arg;

	if (!segment)
		return is_read_only(constants, address, nr_bytes) &&
		       read_bytes(constants, address, nr_bytes, ret);
	if (constants->offset_at && address == constants->offset_at && nr_bytes == 8)
		*ret = constants->offset;
	else if (constants->number_at && address == constants->number_at && nr_bytes == 4)
		*ret = constants->cpu;
	else
		return false;
	return true;
}

/* --- The history -------------------------------------------------------- */

static void cut(struct trace_values *values)
{
	values->nomem |= !reg_values_cut(values->values);
}

/* Before the next step, the freeze says what is in some. */
static void anchor(struct trace_values *values)
{
	const struct btsrec_freeze *freeze = values->freeze;

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

static void add_range(struct trace_values *values, uint64_t n,
		      const struct proof_range *range)
{
	struct trace_values_range new = { .n = n, .place = TRACE_VALUES_NONE };
	struct sem_insn insn;

	for (uint64_t ip = range->start; ip < range->stop; ip += insn.length_bytes) {
		uint32_t place;

		if (!trace_values_insn(values->code, ip, &insn)) {
			cut(values);
			return;
		}
		if (is_hook(values, &insn, n))
			anchor(values);
		place = reg_values_insn(values->values, &insn);
		values->nomem |= place == TRACE_VALUES_NONE;
		if (!new.nr++)
			new.place = place;
	}
	if (new.place == TRACE_VALUES_NONE)
		return;
	values->nomem |= !grow(&values->ranges, sizeof(new), values->nr, &values->room);
	if (!values->nomem)
		values->ranges[values->nr++] = new;
}

static void add_ranges(struct trace_values *values, const struct trace_event *traced)
{
	const struct proof_step *step = traced->step;

	if (step->kind != PROOF_PROVEN || step->compat || step->guessed)
		cut(values);
	for (uint32_t i = 0; i < step->nr_ranges; i++) {
		const struct proof_range *range = &step->ranges[i];

		if (i)
			cut(values);
		if (step->compat || !code_is_kernel(range->start))
			cut(values);
		else
			add_range(values, traced->event->n, range);
	}
}

/* A repeated instruction may have been interrupted half done. */
static void add_entry(struct trace_values *values, const struct btsrec_event *event, int vector)
{
	const struct fault *fault = values->fault;
	struct sem_insn insn;

	if (!code_is_kernel(event->branch.from) ||
	    !trace_values_insn(values->code, event->branch.from, &insn) || insn.repeats) {
		cut(values);
		return;
	}
	if (values->freeze && event->n == fault->n && fault->from == values->freeze->ip &&
	    (fault->kind == FAULT_STOP || fault->kind == FAULT_EXCEPTION))
		anchor(values);
	values->nomem |= !reg_values_interrupt(values->values, event->branch.from, vector);
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
	case BRANCH_UNKNOWN:
	case BRANCH_NONE:
	case BRANCH_ENTRY:
		cut(values);
		break;
	default:
		break;
	}
}

static bool add_event(void *arg, const struct trace_event *traced)
{
	struct trace_values *values = arg;

	if (traced->step)
		add_ranges(values, traced);
	if (traced->event->kind != BTSREC_EVENT_BRANCH)
		cut(values);
	else if (traced->step)
		add_branch(values, traced);
	return !values->nomem;
}

enum btsrec_status trace_values_open(struct btsrec *rec, unsigned int cpu,
				     const struct fault *fault, struct trace_values *ret)
{
	const struct btsrec_cpu *page = btsrec_cpu(rec, cpu);
	enum btsrec_status status;

	*ret = (struct trace_values){ .values = reg_values_new(), .code = trace_code(rec),
				      .fault = fault,
				      .freeze = page && page->frozen ? &page->freeze : NULL };
	ret->nomem = !ret->values || !ret->code;
	if (!ret->nomem) {
		ret->constants = (struct trace_constants){ .code = ret->code, .cpu = cpu };
		find_read_only(rec, &ret->constants);
		find_area(rec, &ret->constants);
		reg_values_constants(ret->values, constant, &ret->constants);
	}
	status = ret->nomem ? BTSREC_OK : trace_events(rec, cpu, 0, add_event, ret, NULL);
	if (ret->nomem)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (!status)
		reg_values_run(ret->values);
	return status;
}

void trace_values_close(struct trace_values *values)
{
	reg_values_free(values->values);
	free(values->ranges);
	*values = (struct trace_values){ 0 };
}

/* Where history is not printed from its beginning, the first range is shorter than here. */
static uint32_t find_in(const struct trace_values *values, const struct trace_values_range *range,
			uint64_t ip)
{
	for (uint32_t i = 0; i < range->nr; i++)
		if (reg_values_ip(values->values, range->place + i) == ip)
			return range->place + i;
	return TRACE_VALUES_NONE;
}

uint32_t trace_values_find(struct trace_values *values, uint64_t n, uint64_t ip)
{
	for (; values->next < values->nr; values->next++) {
		const struct trace_values_range *range = &values->ranges[values->next];
		uint32_t place;

		if (range->n > n)
			break;
		place = range->n == n ? find_in(values, range, ip) : TRACE_VALUES_NONE;
		if (place == TRACE_VALUES_NONE)
			continue;
		values->next++;
		return place;
	}
	return TRACE_VALUES_NONE;
}
