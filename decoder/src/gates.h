/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where interrupts and exceptions enter the kernel: the handlers in the IDT of the
 * dump.  A record that leads to one of them need not come from a branch.
 */
#ifndef BTSREC_GATES_H
#define BTSREC_GATES_H

#include "walk.h"

#define GATES_NR 256

/* The system call of 32-bit programs, IA32_SYSCALL_VECTOR of arch/x86. */
#define GATES_INT80 0x80

/**
 * struct gates - the IDT
 * @known: it was in the dump and looks like one.
 * @has_int80: programs may enter by INT 0x80, so no device has that vector.
 * @sorted: handlers ascending, each with its vector; the lowest vector first among
 *	those that share a handler.
 */
struct gates {
	bool known;
	bool has_int80;
	unsigned int nr;
	struct gate {
		uint64_t handler_kva;
		unsigned int vector;
	} sorted[GATES_NR];
};

/** gates_init() - read the IDT through the kernel's page table */
void gates_init(struct gates *gates, struct walk *walk, uint64_t kernel_pgd_pa);

/** gates_may_be() - may @kva be an entry?  They lie close together, and most are elsewhere. */
static inline bool gates_may_be(const struct gates *gates, uint64_t kva)
{
	return gates->nr && kva >= gates->sorted[0].handler_kva &&
	       kva <= gates->sorted[gates->nr - 1].handler_kva;
}

/** gates_vector() - the vector that enters at @kva; -1: none */
int gates_vector(const struct gates *gates, uint64_t kva);

/** gates_exception_str() - "#PF" for 14, NULL for what is no exception; static. */
const char *gates_exception_str(unsigned int vector);

#endif /* BTSREC_GATES_H */
