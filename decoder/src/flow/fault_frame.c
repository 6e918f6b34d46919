// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/fault_frame.h"

#include <assert.h>
#include <string.h>

#include "flow/saved_frame.h"
#include "flow/stackmem.h"
#include "flow/unwind.h"
#include "recorder/cpus.h"

static const uint8_t place_of[SEM_NR_REGS] = {
	[SEM_RAX] = REGS_RAX, [SEM_RCX] = REGS_RCX, [SEM_RDX] = REGS_RDX,
	[SEM_RBX] = REGS_RBX, [SEM_RSP] = REGS_RSP, [SEM_RBP] = REGS_RBP,
	[SEM_RSI] = REGS_RSI, [SEM_RDI] = REGS_RDI, [SEM_R8] = REGS_R8,
	[SEM_R9] = REGS_R9, [SEM_R10] = REGS_R10, [SEM_R11] = REGS_R11,
	[SEM_R12] = REGS_R12, [SEM_R13] = REGS_R13, [SEM_R14] = REGS_R14,
	[SEM_R15] = REGS_R15, [SEM_FLAGS] = REGS_RFLAGS,
};

bool fault_frame_is_kept(const struct btsrec_root *root, const struct btsrec_cpu *cpu)
{
	const unsigned int minor_of_survived = 3;

	return !cpu->survived && (cpu->freeze.reason != BTSREC_REASON_OOPS ||
				  root->version_minor >= minor_of_survived);
}

/* Vectors that Linux gives stacks of their own (arch/x86/include/asm/page_64_types.h). */
static bool has_own_stack(int vector)
{
	const int debug = 1, nmi = 2, double_fault = 8, machine_check = 18, vmm = 29;

	return vector == debug || vector == nmi || vector == double_fault ||
	       vector == machine_check || vector == vmm;
}

/* Has the processor stored at @frame that kernel code at @ip was left?  No more is looked at. */
static bool is_stored(const uint64_t *frame, uint64_t ip)
{
	uint64_t ss = frame[REGS_SS] & SEGMENT_MASK;

	return frame[REGS_RIP] == ip && frame[REGS_CS] <= CS_MAX &&
	       (frame[REGS_CS] & SEGMENT_MASK) == KERNEL_CS &&
	       frame[REGS_RFLAGS] & RFLAGS_ALWAYS && !(frame[REGS_RFLAGS] >> RFLAGS_BITS) &&
	       (!ss || ss == KERNEL_SS);
}

/* Do the registers @frame, at @va, lie right below where the code that was left had its stack? */
static bool lies_below(struct code *code, const uint64_t *frame, uint64_t va)
{
	uint64_t end = va + (uint64_t)REGS_WORDS * WORD_BYTES;

	return idt_regs_end(code_idt(code), frame[REGS_RSP]) == end;
}

/* Is there such a frame at @words, which are at @va? */
static bool is_frame(struct code *code, const uint64_t *words, uint64_t va,
		     const struct fault *fault)
{
	return is_stored(words, fault->from) &&
	       (has_own_stack(fault->vector) || lies_below(code, words, va));
}

/* A freeze in a notifier has the registers of the fault, else those of what reports it. */
static uint64_t lowest(struct code *code, const struct btsrec_freeze *freeze,
		       const struct fault *fault)
{
	if (freeze->ip != fault->from || has_own_stack(fault->vector))
		return freeze->sp;
	return idt_regs_end(code_idt(code), freeze->sp) - (uint64_t)REGS_WORDS * WORD_BYTES;
}

/* Those that the kernel's entry has saved at @frame. */
static void take_registers(const uint64_t *frame, struct fault_frame *ret)
{
	for (size_t reg = 0; reg < SEM_NR_REGS; reg++)
		ret->regs[reg] = frame[place_of[reg]];
}

bool fault_frame_find(struct code *code, const struct btsrec_freeze *freeze,
		      const struct fault *fault, struct fault_frame *ret)
{
	const struct stackmem mem = { .code = code };
	uint64_t words[STACKMEM_KERNEL_BYTES / WORD_BYTES];
	uint64_t sp = lowest(code, freeze, fault);
	size_t nr_words, nr_found = 0;

	if (fault->kind != FAULT_EXCEPTION || !code_is_kernel(sp) || sp % WORD_BYTES)
		return false;
	nr_words = stackmem_read(&mem, sp, words, sizeof(words)) / WORD_BYTES;
	for (size_t i = 0; i + REGS_WORDS <= nr_words; i++) {
		if (!is_frame(code, &words[i], sp + i * WORD_BYTES, fault))
			continue;
		nr_found++;
		take_registers(&words[i], ret);
	}
	return nr_found == 1;
}

/* --- What was kept ------------------------------------------------------- */

#define VECTOR_NMI		2

void fault_frame_of(const struct btsrec_general *general, struct fault_frame *ret)
{
	static_assert(sizeof(general->reg) == SEM_FLAGS * sizeof(ret->regs[0]), "numbers differ");
	memcpy(ret->regs, general->reg, sizeof(general->reg));
	ret->regs[SEM_FLAGS] = general->rflags;
}

/* Is the exception or NMI @fault the one in whose handler the history ends? */
static bool is_entry(const struct btsrec_registers *registers, const struct fault *fault)
{
	if (!(registers->flags & BTSREC_REGISTERS_ENTRY) || registers->entry.ip != fault->from)
		return false;
	if (fault->kind == FAULT_NMI)
		return registers->vector == VECTOR_NMI;
	return fault->kind == FAULT_EXCEPTION &&
	       (fault->vector < 0 || registers->vector == (uint32_t)fault->vector);
}

/* Did the freeze itself come upon the code at @fault?  That is so in a notifier, and in our NMI. */
static bool is_stop(const struct btsrec_cpu *cpu, const struct fault *fault)
{
	if (!(cpu->registers.flags & BTSREC_REGISTERS_STOP) ||
	    cpu->registers.stop.ip != fault->from)
		return false;
	return cpu->freeze.via_nmi ? fault->kind == FAULT_STOP : fault->kind == FAULT_EXCEPTION;
}

bool fault_frame_get(struct code *code, const struct btsrec_root *root,
		     const struct btsrec_cpu *cpu, const struct fault *fault,
		     struct fault_frame *ret)
{
	const struct btsrec_registers *registers = cpus_registers(cpu);

	ret->has_error_code = false;
	if (registers && is_entry(registers, fault)) {
		fault_frame_of(&registers->entry, ret);
		ret->has_error_code = registers->flags & BTSREC_REGISTERS_ERROR;
		ret->error_code = registers->error_code;
	} else if (registers && is_stop(cpu, fault)) {
		fault_frame_of(&registers->stop, ret);
	} else {
		return fault_frame_is_kept(root, cpu) &&
		       fault_frame_find(code, &cpu->freeze, fault, ret);
	}
	return true;
}

/* --- Without the history ------------------------------------------------- */

#define VECTOR_DEBUG		1
#define VECTOR_BREAKPOINT	3

/* So many words of a stack may look like entries; each takes time. */
#define MAX_CANDIDATES		64

/* What the kernel oopses about; it handles the others itself, and often. */
static bool is_of_oops(int vector)
{
	return vector != VECTOR_DEBUG && vector != VECTOR_NMI &&
	       vector != VECTOR_BREAKPOINT;
}

/* Is the word at @va, @word, the return into the entry of @vector, out of the kernel? */
static bool is_entered(struct code *code, uint64_t va, uint64_t word, int vector,
		       struct fault *ret)
{
	struct unwind unwind;
	uint64_t target;

	if (!is_of_oops(vector) || !unwind_call(code, word, &target))
		return false;
	unwind_begin(&unwind, code, word, va + WORD_BYTES, 0);
	if (!unwind_next(&unwind) || unwind.how != UNWIND_INTERRUPTED || unwind.vector != vector)
		return false;
	*ret = (struct fault){ .kind = FAULT_EXCEPTION, .why = FAULT_FOUND, .vector = vector,
			       .from = unwind.ip };
	return true;
}

bool fault_frame_exception(struct code *code, const struct btsrec_freeze *freeze,
			   struct fault *ret)
{
	const struct stackmem mem = { .code = code };
	uint64_t words[STACKMEM_KERNEL_BYTES / WORD_BYTES];
	uint64_t sp = freeze->sp;
	size_t nr_words, nr_found = 0, nr_candidates = 0;
	struct fault fault;

	if (!code_is_kernel(sp) || sp % WORD_BYTES)
		return false;
	nr_words = stackmem_read(&mem, sp, words, sizeof(words)) / WORD_BYTES;
	for (size_t i = 0; i < nr_words; i++) {
		int vector = code_is_top(words[i]) ? unwind_vector(code, words[i]) : -1;

		if (vector < 0)
			continue;
		if (++nr_candidates > MAX_CANDIDATES)
			return false;
		if (is_entered(code, sp + i * WORD_BYTES, words[i], vector, &fault)) {
			nr_found++;
			*ret = fault;
		}
	}
	return nr_found == 1;
}

/* --- Interrupts ---------------------------------------------------------- */

/* What the entry of an NMI, as of what is no system call, stores before the registers. */
#define NO_SYSCALL		UINT64_MAX

/*
 * Has the entry saved the registers right below what the processor has stored at @frame, which is
 * at @va?  On a stack of its own there are copies of that, and below one of them are registers.
 */
static bool has_registers(struct code *code, const uint64_t *frame, uint64_t va)
{
	return lies_below(code, frame, va) || frame[REGS_ERROR] == NO_SYSCALL;
}

/* *@ret_link: the uppermost word. */
static size_t find_interrupted(struct code *code, uint64_t sp, uint64_t ip,
			       struct fault_frame *ret, bool *ret_whole, uint64_t *ret_link)
{
	const struct stackmem mem = { .code = code };
	uint64_t words[REGS_RIP + STACKMEM_KERNEL_BYTES / WORD_BYTES];
	size_t nr_words = stackmem_read(&mem, sp, words + REGS_RIP, STACKMEM_KERNEL_BYTES) /
			  WORD_BYTES, nr_found = 0;

	*ret_link = nr_words ? words[REGS_RIP + nr_words - 1] : 0;
	for (size_t i = 0; i + IRET_WORDS <= nr_words; i++) {
		uint64_t found = words[i + REGS_RSP], va = sp + (i - REGS_RIP) * WORD_BYTES;

		if (!is_stored(&words[i], ip) || !code_is_kernel(found))
			continue;
		if (nr_found++ && found != ret->regs[SEM_RSP])
			return SIZE_MAX;
		ret->regs[SEM_RSP] = found;
		if (*ret_whole || i < REGS_RIP || !has_registers(code, &words[i], va))
			continue;
		take_registers(&words[i], ret);
		*ret_whole = true;
	}
	return nr_found;
}

bool fault_frame_interrupted(struct code *code, const struct btsrec_freeze *freeze, uint64_t ip,
			     struct fault_frame *ret, bool *ret_whole)
{
	size_t nr_found;
	uint64_t link;

	*ret = (struct fault_frame){ 0 };
	*ret_whole = false;
	if (!code_is_kernel(freeze->sp) || freeze->sp % WORD_BYTES)
		return false;
	nr_found = find_interrupted(code, freeze->sp, ip, ret, ret_whole, &link);
	/* The uppermost word of an interrupt stack is the stack pointer before. */
	if (!nr_found && code_is_kernel(link) && link % WORD_BYTES == 0)
		nr_found = find_interrupted(code, link, ip, ret, ret_whole, &link);
	return nr_found && nr_found != SIZE_MAX;
}

/* --- Below an interrupt ---------------------------------------------------- */

/* Are @words, at @va, the return of a handler to the entry of an interrupt, and what that saved? */
static bool is_interrupt(struct code *code, const uint64_t *words, uint64_t va,
			 struct unwind *ret)
{
	const uint64_t *regs = words + 1;

	if (!code_is_top(*words) || !code_is_top(regs[REGS_RIP]) ||
	    !is_stored(regs, regs[REGS_RIP]) || !lies_below(code, regs, va + WORD_BYTES))
		return false;
	unwind_begin(ret, code, *words, va + WORD_BYTES, 0);
	return unwind_next(ret) && ret->how == UNWIND_INTERRUPTED && ret->vector < 0;
}

/* The first from @sp on; *@ret_link: the uppermost word. */
static bool find_interrupt(struct code *code, uint64_t sp, struct unwind *ret, uint64_t *ret_link)
{
	const struct stackmem mem = { .code = code };
	uint64_t words[STACKMEM_KERNEL_BYTES / WORD_BYTES];
	size_t nr_words = 0;

	if (code_is_kernel(sp) && sp % WORD_BYTES == 0)
		nr_words = stackmem_read(&mem, sp, words, sizeof(words)) / WORD_BYTES;
	*ret_link = nr_words ? words[nr_words - 1] : 0;
	for (size_t i = 0; i + 1 + REGS_WORDS <= nr_words; i++)
		if (is_interrupt(code, words + i, sp + i * WORD_BYTES, ret))
			return true;
	return false;
}

enum fault_below fault_frame_below(struct code *code, const struct btsrec_freeze *freeze,
				   bool (*passes)(void *arg, uint64_t ip), void *arg,
				   struct unwind *ret)
{
	bool is_either;
	uint64_t link;

	is_either = find_interrupt(code, freeze->sp, ret, &link) && !passes(arg, ret->ip);
	if (!find_interrupt(code, link, ret, &link))
		return FAULT_BELOW_NONE;
	return is_either ? FAULT_BELOW_EITHER : FAULT_BELOW_FOUND;
}
