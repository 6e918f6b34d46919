/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether interrupts are on, along the instructions and branches of one CPU.  Pure.
 *
 * CLI and STI say so.  SYSCALL and what goes through the IDT or FRED switch them off: all gates of
 * Linux for 64 bits are interrupt gates, and SYSCALL_MASK has IF.  A maskable interrupt comes only
 * while they are on, and user code runs only with them on.  IRET to the kernel restores what was
 * interrupted.  POPF loads what is not known.  A switch to another thread leaves the flag alone.
 * Sources: SDM vol. 3A, "Masking Maskable Hardware Interrupts"; arch/x86/kernel/idt.c.
 */
#ifndef BTSREC_IRQ_FLAG_H
#define BTSREC_IRQ_FLAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code/branch.h"
#include "flow/onoff.h"

/** enum irq_flag_op - an instruction that changes the flag */
enum irq_flag_op {
	IRQ_FLAG_NO_OP,
	IRQ_FLAG_OP_CLI,
	IRQ_FLAG_OP_STI,
	IRQ_FLAG_OP_POPF,
};

/* Interrupts, exceptions and NMIs in each other; deeper ones are not known when they end. */
#define IRQ_FLAG_MAX_DEPTH 16

/**
 * struct irq_flags - one CPU under way; all zero before its first event
 * @saved: what IRET restores, @depth of them.
 * @unknown_n: since this event the flag is unknown, if it is, and nothing has changed it since.
 */
struct irq_flags {
	struct onoff now;
	struct onoff saved[IRQ_FLAG_MAX_DEPTH];
	unsigned int depth;
	uint64_t unknown_n;
};

/** irq_flag_op() - what an instruction with the bytes @bytes does to the flag */
enum irq_flag_op irq_flag_op(const uint8_t *bytes, size_t nr_bytes);

/** irq_flags_insn() - it ran at @ip, up to event @n */
void irq_flags_insn(struct irq_flags *flags, enum irq_flag_op op, uint64_t n, uint64_t ip);

/** irq_flags_branch() - event @n, a branch of @type */
void irq_flags_branch(struct irq_flags *flags, enum branch_type type, uint64_t n, uint64_t from,
		      uint64_t to);

/** irq_flags_cut() - at event @n, something may have run that nobody knows */
void irq_flags_cut(struct irq_flags *flags, uint64_t n);

/** irq_flags_switch() - another thread goes on; what it returns from is not known */
void irq_flags_switch(struct irq_flags *flags);

/**
 * irq_flags_known() - registers say whether they are on behind event @n
 *
 * If they are off and since when is unknown, they are so at least since that became unknown.
 */
void irq_flags_known(struct irq_flags *flags, bool is_on, uint64_t n);

#endif /* BTSREC_IRQ_FLAG_H */
