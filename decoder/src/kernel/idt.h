/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where interrupts and exceptions enter the kernel: the handlers in the IDT of the
 * dump, or the two entries of FRED.  A record that leads to one of them need not come from a
 * branch.
 */
#ifndef BTSREC_IDT_H
#define BTSREC_IDT_H

#include "kernel/walk.h"

#define IDT_NR 256

/* The system call of 32-bit programs, IA32_SYSCALL_VECTOR of arch/x86. */
#define IDT_INT80 0x80

/**
 * struct idt - the IDT, or what is in its place
 * @known: it was in the dump and looks like one, or the processor takes no notice of it.
 * @has_int80: programs may enter by INT 0x80, so no device has that vector.
 * @sorted: handlers ascending, each with its vector; the lowest vector first among
 *	those that share a handler.
 * @fred_config: IA32_FRED_CONFIG; 0: FRED is off.  With FRED there are no handlers here: events of
 *	programs enter at @fred_kva, those of the kernel IDT_FRED_KERNEL bytes later.  So do system
 *	calls; what it is, is on the stack and not in the address.
 */
struct idt {
	bool known;
	bool has_int80;
	unsigned int nr;
	struct idt_gate {
		uint64_t handler_kva;
		unsigned int vector;
	} sorted[IDT_NR];
	uint64_t fred_config;
	uint64_t fred_kva;
};

/**
 * idt_init() - read the IDT through the kernel's page table
 * @fred_config: of struct btsrec_root.
 */
void idt_init(struct idt *idt, struct walk *walk, uint64_t kernel_pgd_pa, uint64_t fred_config);

/* SDM vol. 3A, "FRED Event Delivery": an event at CPL 0 enters so far behind one at CPL 3. */
#define IDT_FRED_KERNEL 256

/** idt_is_fred() - do events enter at @kva by FRED? */
static inline bool idt_is_fred(const struct idt *idt, uint64_t kva)
{
	return idt->fred_config &&
	       (kva == idt->fred_kva || kva == idt->fred_kva + IDT_FRED_KERNEL);
}

/** idt_may_be() - may @kva be an entry?  They lie close together, and most are elsewhere. */
static inline bool idt_may_be(const struct idt *idt, uint64_t kva)
{
	if (!idt->nr)
		return idt_is_fred(idt, kva);
	return kva >= idt->sorted[0].handler_kva && kva <= idt->sorted[idt->nr - 1].handler_kva;
}

/* By the IDT the processor aligns the stack pointer so before it stores. */
#define IDT_ALIGN_MASK	15ULL

/** idt_regs_end() - where struct pt_regs of an event ends that finds RSP at @sp, on its stack */
uint64_t idt_regs_end(const struct idt *idt, uint64_t sp);

/** idt_vector() - the vector that enters at @kva; -1: none */
int idt_vector(const struct idt *idt, uint64_t kva);

/** idt_exception_str() - "#PF" for 14, NULL for what is no exception; static. */
const char *idt_exception_str(unsigned int vector);

#endif /* BTSREC_IDT_H */
