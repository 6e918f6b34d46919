/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where interrupts and exceptions enter the kernel: the handlers in the IDT of the
 * dump.  A record that leads to one of them need not come from a branch.
 */
#ifndef BTSREC_IDT_H
#define BTSREC_IDT_H

#include "kernel/walk.h"

#define IDT_NR 256

/* The system call of 32-bit programs, IA32_SYSCALL_VECTOR of arch/x86. */
#define IDT_INT80 0x80

/**
 * struct idt - the IDT
 * @known: it was in the dump and looks like one.
 * @has_int80: programs may enter by INT 0x80, so no device has that vector.
 * @sorted: handlers ascending, each with its vector; the lowest vector first among
 *	those that share a handler.
 */
struct idt {
	bool known;
	bool has_int80;
	unsigned int nr;
	struct idt_gate {
		uint64_t handler_kva;
		unsigned int vector;
	} sorted[IDT_NR];
};

/** idt_init() - read the IDT through the kernel's page table */
void idt_init(struct idt *idt, struct walk *walk, uint64_t kernel_pgd_pa);

/** idt_may_be() - may @kva be an entry?  They lie close together, and most are elsewhere. */
static inline bool idt_may_be(const struct idt *idt, uint64_t kva)
{
	return idt->nr && kva >= idt->sorted[0].handler_kva &&
	       kva <= idt->sorted[idt->nr - 1].handler_kva;
}

/** idt_vector() - the vector that enters at @kva; -1: none */
int idt_vector(const struct idt *idt, uint64_t kva);

/** idt_exception_str() - "#PF" for 14, NULL for what is no exception; static. */
const char *idt_exception_str(unsigned int vector);

#endif /* BTSREC_IDT_H */
