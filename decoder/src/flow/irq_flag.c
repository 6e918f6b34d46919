// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/irq_flag.h"

#include "code/code.h"

/* SDM vol. 2, "CLI", "STI", "POPF/POPFD/POPFQ"; prefixes are not used with them. */
#define OPCODE_CLI	0xfa
#define OPCODE_STI	0xfb
#define OPCODE_POPF	0x9d

/* IRETQ, with its prefix REX.W. */
#define IRETQ_BYTES	2

enum irq_flag_op irq_flag_op(const uint8_t *bytes, size_t nr_bytes)
{
	if (nr_bytes != 1)
		return IRQ_FLAG_NO_OP;
	switch (bytes[0]) {
	case OPCODE_CLI: return IRQ_FLAG_OP_CLI;
	case OPCODE_STI: return IRQ_FLAG_OP_STI;
	case OPCODE_POPF: return IRQ_FLAG_OP_POPF;
	default: return IRQ_FLAG_NO_OP;
	}
}

static void set_on(struct irq_flags *flags)
{
	flags->now = (struct onoff){ .is = ONOFF_ON };
}

/* What is off stays off since then. */
static void set_off(struct irq_flags *flags, enum onoff_by by, uint64_t n, uint64_t ip)
{
	if (flags->now.is == ONOFF_OFF)
		return;
	flags->now = (struct onoff){ .is = ONOFF_OFF, .by = by, .n = n, .ip = ip,
					.was_on = flags->now.is == ONOFF_ON };
}

static void set_unknown(struct irq_flags *flags, uint64_t n)
{
	flags->now = (struct onoff){ .is = ONOFF_UNKNOWN };
	flags->unknown_n = n;
}

void irq_flags_insn(struct irq_flags *flags, enum irq_flag_op op, uint64_t n, uint64_t ip)
{
	switch (op) {
	case IRQ_FLAG_OP_CLI:
		set_off(flags, ONOFF_CLI, n, ip);
		break;
	case IRQ_FLAG_OP_STI:
		set_on(flags);
		break;
	case IRQ_FLAG_OP_POPF:
		set_unknown(flags, n);
		break;
	case IRQ_FLAG_NO_OP:
		break;
	}
}

static void enter(struct irq_flags *flags, uint64_t n, uint64_t from)
{
	if (flags->depth == IRQ_FLAG_MAX_DEPTH) {
		for (unsigned int i = 1; i < IRQ_FLAG_MAX_DEPTH; i++)
			flags->saved[i - 1] = flags->saved[i];
		flags->depth--;
	}
	flags->saved[flags->depth++] = flags->now;
	set_off(flags, ONOFF_ENTRY, n, from);
}

static void leave(struct irq_flags *flags, uint64_t n)
{
	if (!flags->depth || flags->saved[flags->depth - 1].is == ONOFF_UNKNOWN)
		set_unknown(flags, n);
	else
		flags->now = flags->saved[flags->depth - 1];
	flags->depth -= flags->depth > 0;
}

void irq_flags_branch(struct irq_flags *flags, enum branch_type type, uint64_t n, uint64_t from,
		      uint64_t to)
{
	if (!code_is_kernel(from)) {
		set_on(flags);
		flags->depth = 0;
	}
	switch (type) {
	case BRANCH_SYSCALL:
		set_off(flags, ONOFF_SYSCALL, n, from);
		break;
	case BRANCH_IRQ:
		set_on(flags);
		enter(flags, n, from);
		break;
	case BRANCH_NMI:
	case BRANCH_EXCEPTION:
	case BRANCH_INT:
	case BRANCH_ENTRY:
		enter(flags, n, from);
		break;
	case BRANCH_IRET:
		/* iret_to_self() of asm/sync_core.h leaves the flags as they are. */
		if (to != from + IRETQ_BYTES)
			leave(flags, n);
		break;
	case BRANCH_UNKNOWN:
	case BRANCH_NONE:
		irq_flags_cut(flags, n);
		break;
	default:
		break;
	}
	if (!code_is_kernel(to)) {
		set_on(flags);
		flags->depth = 0;
	}
}

void irq_flags_cut(struct irq_flags *flags, uint64_t n)
{
	set_unknown(flags, n);
	flags->depth = 0;
}

void irq_flags_switch(struct irq_flags *flags)
{
	flags->depth = 0;
}

void irq_flags_known(struct irq_flags *flags, bool is_on, uint64_t n)
{
	if (is_on) {
		set_on(flags);
		return;
	}
	/* Something has switched them off unseen. */
	if (flags->now.is == ONOFF_ON)
		irq_flags_cut(flags, n);
	set_off(flags, ONOFF_OLDER, flags->unknown_n, 0);
}
