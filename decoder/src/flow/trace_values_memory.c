// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory that is never written, and what the dump has of the rest. */
#include "flow/stackmem.h"
#include "flow/trace_values_impl.h"
#include "kernel/types.h"
#include "symbols/symbol.h"

/* The area of a CPU is smaller. */
#define MAX_AREA_BYTES (1U << 20)

bool trace_values_bytes(const struct trace_constants *constants, uint64_t va, unsigned int nr_bytes,
			uint64_t *ret)
{
	size_t got_bytes;

	*ret = 0;
	return code_bytes(constants->code, 0, va, (uint8_t *)ret, nr_bytes, &got_bytes) == CODE_OK;
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
void trace_values_find_read_only(struct btsrec *rec, struct trace_constants *ret)
{
	uint64_t enabled_at = symbols_place(rec, SYMBOL_DUMP_RODATA_ENABLED), enabled;

	ret->start = symbols_place(rec, SYMBOL_DUMP_RODATA);
	ret->end = symbols_place(rec, SYMBOL_DUMP_RODATA_END);
	if (!ret->start || ret->end < ret->start || !is_read_only(ret, enabled_at, 1) ||
	    !trace_values_bytes(ret, enabled_at, 1, &enabled) || enabled != 1)
		ret->start = ret->end = 0;
}

/* Is this still in the CPU's area?  Boot writes it once: what wrote over it would show. */
static bool is_kept(const struct trace_constants *constants, uint64_t at, unsigned int nr_bytes,
		    uint64_t wanted)
{
	uint64_t value;

	return at && trace_values_bytes(constants, constants->offset + at, nr_bytes, &value) &&
	       value == wanted;
}

/* IRQ_STACK_SIZE, less the word at its top: irq_init_percpu_irqstack() sets it once. */
static void find_hardirq_stack(struct btsrec *rec, struct trace_constants *ret)
{
	uint64_t at = symbols_cpu_place(rec, SYMBOL_DUMP_HARDIRQ_STACK, "hardirq_stack_ptr");

	if (at && trace_values_bytes(ret, ret->offset + at, 8, &ret->hardirq) &&
	    code_is_kernel(ret->hardirq) && (ret->hardirq + 8) % PAGE_BYTES == 0)
		ret->hardirq_at = at;
}

/* arch/x86/kernel/setup_percpu.c: this_cpu_off and cpu_number. */
void trace_values_find_area(struct btsrec *rec, struct trace_constants *ret)
{
	uint64_t table = symbols_place(rec, SYMBOL_DUMP_PER_CPU_OFFSET);

	if (!is_read_only(ret, table + 8ULL * ret->cpu, 8) ||
	    !trace_values_bytes(ret, table + 8ULL * ret->cpu, 8, &ret->offset))
		return;
	ret->offset_at = symbols_place(rec, SYMBOL_DUMP_THIS_CPU_OFF);
	ret->number_at = symbols_cpu_place(rec, SYMBOL_DUMP_CPU_NUMBER, "cpu_number");
	if (!is_kept(ret, ret->offset_at, 8, ret->offset))
		ret->offset_at = 0;
	if (!is_kept(ret, ret->number_at, 4, ret->cpu))
		ret->number_at = 0;
	if (ret->offset_at)
		find_hardirq_stack(rec, ret);
}

/* What @nr_bytes bytes at @address of the area of the CPU hold at all times. */
bool trace_values_of_area(const struct trace_constants *constants, uint64_t address,
			  unsigned int nr_bytes, uint64_t *ret)
{
	if (constants->offset_at && address == constants->offset_at && nr_bytes == 8)
		*ret = constants->offset;
	else if (constants->number_at && address == constants->number_at && nr_bytes == 4)
		*ret = constants->cpu;
	else if (constants->hardirq_at && address == constants->hardirq_at && nr_bytes == 8)
		*ret = constants->hardirq;
	else
		return false;
	return true;
}

bool trace_values_unwritten(void *arg, bool segment, uint64_t address, unsigned int nr_bytes,
			    uint64_t *ret)
{
	const struct trace_constants *constants = arg;

	if (segment)
		return !constants->of_thread &&
		       trace_values_of_area(constants, address, nr_bytes, ret);
	return is_read_only(constants, address, nr_bytes) &&
	       trace_values_bytes(constants, address, nr_bytes, ret);
}

/* Documentation/arch/x86/x86_64/mm.rst: from here on, the kernel and its modules. */
#define IMAGE_VA	0xffffffff80000000ULL

/*
 * What the crash path and interrupts on it count, queue and take from queues in the area of its CPU
 * is younger.  Pointers to objects of the kernel itself change seldom, and the thread is the same.
 */
static bool is_younger(const struct trace_values *values, uint64_t address, unsigned int nr_bytes,
		       uint64_t value)
{
	const struct trace_constants *constants = &values->constants;

	return constants->offset_at && address - constants->offset < MAX_AREA_BYTES &&
	       (nr_bytes < 8 ||
		(value < IMAGE_VA && !(values->freeze && value == values->freeze->task_kva)));
}

/*
 * What the dump has.  The stack of the thread that crashed has been used again below its stack
 * pointer.
 */
bool trace_values_dumped(void *arg, bool segment, uint64_t address, unsigned int nr_bytes,
			 uint64_t *ret)
{
	const struct trace_values *values = arg;
	uint64_t sp = values->has_frame ? values->frame.regs[SEM_RSP] :
		      values->freeze ? values->freeze->sp : 0;

	if (segment || !code_is_kernel(address) ||
	    (address < sp && sp - address < STACKMEM_KERNEL_BYTES))
		return false;
	return trace_values_bytes(&values->constants, address, nr_bytes, ret) &&
	       !is_younger(values, address, nr_bytes, *ret);
}

size_t trace_values_text(const struct trace_values *values, uint64_t va, char *ret,
			 size_t max_bytes, bool *ret_whole)
{
	const struct trace_constants *constants = &values->constants;
	uint64_t byte;

	*ret_whole = false;
	for (size_t i = 0; i <= max_bytes; i++) {
		if (!is_read_only(constants, va + i, 1) ||
		    !trace_values_bytes(constants, va + i, 1, &byte))
			return 0;
		*ret_whole = !byte;
		if (!byte || i == max_bytes)
			return i;
		ret[i] = (char)byte;
	}
	return 0;
}
