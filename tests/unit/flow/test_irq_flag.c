// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "flow/irq_flag.h"

#define KERNEL	0xffffffff81000000ULL
#define USER	0x400000ULL

static void check_off(const struct irq_flags *flags, enum onoff_by by, uint64_t n, bool was_on)
{
	ck_assert_int_eq(flags->now.is, ONOFF_OFF);
	ck_assert_int_eq(flags->now.by, by);
	ck_assert_uint_eq(flags->now.n, n);
	ck_assert(flags->now.was_on == was_on);
}

START_TEST(bytes)
{
	const uint8_t cli = 0xfa, sti = 0xfb, popf = 0x9d, pause[] = { 0xf3, 0x90 };

	ck_assert_int_eq(irq_flag_op(&cli, 1), IRQ_FLAG_OP_CLI);
	ck_assert_int_eq(irq_flag_op(&sti, 1), IRQ_FLAG_OP_STI);
	ck_assert_int_eq(irq_flag_op(&popf, 1), IRQ_FLAG_OP_POPF);
	ck_assert_int_eq(irq_flag_op(pause, 2), IRQ_FLAG_NO_OP);
	ck_assert_int_eq(irq_flag_op(pause + 1, 1), IRQ_FLAG_NO_OP);
}
END_TEST

/* The first of two CLI is since when; STI ends it, and POPF leaves nothing known. */
START_TEST(instructions)
{
	struct irq_flags flags = { 0 };

	irq_flags_insn(&flags, IRQ_FLAG_OP_CLI, 3, KERNEL);
	check_off(&flags, ONOFF_CLI, 3, false);
	irq_flags_insn(&flags, IRQ_FLAG_OP_STI, 4, KERNEL);
	ck_assert_int_eq(flags.now.is, ONOFF_ON);
	irq_flags_insn(&flags, IRQ_FLAG_OP_CLI, 5, KERNEL + 8);
	irq_flags_insn(&flags, IRQ_FLAG_OP_CLI, 6, KERNEL);
	irq_flags_insn(&flags, IRQ_FLAG_NO_OP, 7, KERNEL);
	check_off(&flags, ONOFF_CLI, 5, true);
	ck_assert_uint_eq(flags.now.ip, KERNEL + 8);
	irq_flags_insn(&flags, IRQ_FLAG_OP_POPF, 8, KERNEL);
	ck_assert_int_eq(flags.now.is, ONOFF_UNKNOWN);
}
END_TEST

/* An interrupt proves that they were on; what it interrupted goes on likewise. */
START_TEST(interrupts)
{
	struct irq_flags flags = { 0 };

	irq_flags_branch(&flags, BRANCH_IRQ, 1, KERNEL, KERNEL + 64);
	check_off(&flags, ONOFF_ENTRY, 1, true);
	irq_flags_branch(&flags, BRANCH_NMI, 2, KERNEL, KERNEL + 64);
	check_off(&flags, ONOFF_ENTRY, 1, true);
	irq_flags_branch(&flags, BRANCH_IRET, 3, KERNEL, KERNEL);
	check_off(&flags, ONOFF_ENTRY, 1, true);
	irq_flags_branch(&flags, BRANCH_IRET, 4, KERNEL, KERNEL);
	ck_assert_int_eq(flags.now.is, ONOFF_ON);
	/* What entered is not in the history. */
	irq_flags_branch(&flags, BRANCH_IRET, 5, KERNEL, KERNEL);
	ck_assert_int_eq(flags.now.is, ONOFF_UNKNOWN);
}
END_TEST

/* sync_core() comes in interrupts, too. */
START_TEST(iret_to_self)
{
	struct irq_flags flags = { 0 };

	irq_flags_branch(&flags, BRANCH_IRQ, 1, KERNEL, KERNEL + 64);
	irq_flags_branch(&flags, BRANCH_IRET, 2, KERNEL + 80, KERNEL + 82);
	check_off(&flags, ONOFF_ENTRY, 1, true);
	irq_flags_branch(&flags, BRANCH_IRET, 3, KERNEL + 90, KERNEL);
	ck_assert_int_eq(flags.now.is, ONOFF_ON);
}
END_TEST

START_TEST(exceptions)
{
	struct irq_flags flags = { 0 };

	irq_flags_branch(&flags, BRANCH_EXCEPTION, 1, KERNEL, KERNEL + 64);
	check_off(&flags, ONOFF_ENTRY, 1, false);
	irq_flags_branch(&flags, BRANCH_IRET, 2, KERNEL, KERNEL);
	ck_assert_int_eq(flags.now.is, ONOFF_UNKNOWN);
	irq_flags_insn(&flags, IRQ_FLAG_OP_CLI, 3, KERNEL);
	irq_flags_branch(&flags, BRANCH_EXCEPTION, 4, KERNEL, KERNEL + 64);
	irq_flags_insn(&flags, IRQ_FLAG_OP_STI, 5, KERNEL);
	irq_flags_branch(&flags, BRANCH_IRET, 6, KERNEL, KERNEL);
	check_off(&flags, ONOFF_CLI, 3, false);
}
END_TEST

START_TEST(user_code)
{
	struct irq_flags flags = { 0 };

	irq_flags_branch(&flags, BRANCH_SYSCALL, 1, USER, KERNEL);
	check_off(&flags, ONOFF_SYSCALL, 1, true);
	irq_flags_branch(&flags, BRANCH_SYSRET, 2, KERNEL, USER);
	ck_assert_int_eq(flags.now.is, ONOFF_ON);
	irq_flags_branch(&flags, BRANCH_EXCEPTION, 3, USER, KERNEL);
	check_off(&flags, ONOFF_ENTRY, 3, true);
	irq_flags_branch(&flags, BRANCH_IRET, 4, KERNEL, USER);
	ck_assert_int_eq(flags.now.is, ONOFF_ON);
}
END_TEST

/* A switch leaves the flag, but not what the next IRET restores; a gap leaves nothing. */
START_TEST(other_threads_and_gaps)
{
	struct irq_flags flags = { 0 };

	irq_flags_branch(&flags, BRANCH_IRQ, 1, KERNEL, KERNEL + 64);
	irq_flags_switch(&flags);
	check_off(&flags, ONOFF_ENTRY, 1, true);
	irq_flags_branch(&flags, BRANCH_IRET, 2, KERNEL, KERNEL);
	ck_assert_int_eq(flags.now.is, ONOFF_UNKNOWN);
	irq_flags_insn(&flags, IRQ_FLAG_OP_STI, 3, KERNEL);
	irq_flags_cut(&flags, 4);
	ck_assert_int_eq(flags.now.is, ONOFF_UNKNOWN);
	irq_flags_branch(&flags, BRANCH_UNKNOWN, 5, KERNEL, KERNEL);
	ck_assert_int_eq(flags.now.is, ONOFF_UNKNOWN);
}
END_TEST

START_TEST(more_than_there_is_room_for)
{
	struct irq_flags flags = { 0 };

	irq_flags_branch(&flags, BRANCH_IRQ, 1, KERNEL, KERNEL);
	for (unsigned int i = 0; i < IRQ_FLAG_MAX_DEPTH; i++)
		irq_flags_branch(&flags, BRANCH_NMI, 2, KERNEL, KERNEL);
	for (unsigned int i = 0; i < IRQ_FLAG_MAX_DEPTH; i++)
		irq_flags_branch(&flags, BRANCH_IRET, 3, KERNEL, KERNEL);
	check_off(&flags, ONOFF_ENTRY, 1, true);
	irq_flags_branch(&flags, BRANCH_IRET, 4, KERNEL, KERNEL);
	ck_assert_int_eq(flags.now.is, ONOFF_UNKNOWN);
}
END_TEST

START_TEST(registers)
{
	struct irq_flags flags = { 0 };

	irq_flags_cut(&flags, 3);
	irq_flags_known(&flags, false, 9);
	check_off(&flags, ONOFF_OLDER, 3, false);
	irq_flags_known(&flags, true, 9);
	ck_assert_int_eq(flags.now.is, ONOFF_ON);
	irq_flags_known(&flags, false, 10);
	check_off(&flags, ONOFF_OLDER, 10, false);
	irq_flags_insn(&flags, IRQ_FLAG_OP_STI, 11, KERNEL);
	irq_flags_insn(&flags, IRQ_FLAG_OP_CLI, 12, KERNEL);
	irq_flags_known(&flags, false, 13);
	check_off(&flags, ONOFF_CLI, 12, true);
}
END_TEST

BTSREC_CK_MAIN("irq_flag", bytes, instructions, interrupts, iret_to_self, exceptions, user_code,
	       other_threads_and_gaps, more_than_there_is_room_for, registers)
