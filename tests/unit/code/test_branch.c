// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/branch.h"
#include "check_btsrec.h"

#define KERNEL	0xffffffff81000000ULL
#define USER	0x0000555555554000ULL
#define BREAK	0xffffffff81000d00ULL
#define FAULT	0xffffffff81000e00ULL
#define NMI	0xffffffff81000e80ULL
#define TIMER	0xffffffff81000f00ULL
#define SYSCALL	0xffffffff81000080ULL

static const struct idt with_idt = {
	.known = true,
	.has_int80 = true,
	.nr = 5,
	.sorted = {{SYSCALL, 0x80}, {BREAK, 3}, {FAULT, 14}, {NMI, 2}, {TIMER, 236}},
};

static const struct idt no_idt;

#define FRED	0xffffffff81a00000ULL

static const struct idt with_fred = {
	.known = true, .fred_config = FRED | 2, .fred_kva = FRED,
};

static const struct idt *idt = &with_idt;

static void ck(struct code_insn insn, uint64_t to, enum branch_type type, int vector)
{
	struct branch got = branch_judge(&insn, idt, to);

	ck_assert_msg(got.type == type, "%s, wanted %s", branch_type_str(got.type),
		      branch_type_str(type));
	ck_assert_int_eq(got.vector, vector);
	ck_assert_int_eq(got.fault, CODE_OK);
	ck_assert_int_eq(got.to_thunk, insn.there && vector < 0);
}

static void ck_none(struct code_insn insn, uint64_t to, enum code_fault fault)
{
	struct branch got = branch_judge(&insn, idt, to);

	ck_assert_int_eq(got.type, BRANCH_NONE);
	ck_assert_int_eq(got.fault, fault);
	ck_assert(!branch_executes(&got));
	ck_assert(!got.to_thunk);
}

static struct code_insn direct(enum code_class class, uint64_t target)
{
	return (struct code_insn){ .class = class, .has_target = true, .target = target };
}

static struct code_insn plain(enum code_class class)
{
	return (struct code_insn){ .class = class };
}

static struct code_insn by_vector(uint8_t vector)
{
	return (struct code_insn){ .class = CODE_INT, .vector = vector };
}

START_TEST(direct_branches)
{
	ck(direct(CODE_CALL, KERNEL), KERNEL, BRANCH_CALL, -1);
	ck(direct(CODE_JUMP, KERNEL), KERNEL, BRANCH_JUMP, -1);
	ck(direct(CODE_COND, USER), USER, BRANCH_COND, -1);
	ck_none(direct(CODE_CALL, KERNEL), KERNEL + 1, CODE_OTHER_TARGET);
	ck_none(direct(CODE_JUMP, KERNEL), KERNEL ^ 1ULL << 40, CODE_OTHER_TARGET);
	ck_none(direct(CODE_COND, USER), KERNEL, CODE_OTHER_TARGET);
}
END_TEST

START_TEST(indirect_branches)
{
	ck(plain(CODE_CALL_IND), KERNEL, BRANCH_CALL_IND, -1);
	ck(plain(CODE_JUMP_IND), USER, BRANCH_JUMP_IND, -1);
	ck(plain(CODE_RET), USER, BRANCH_RET, -1);
	ck(plain(CODE_IRET), USER, BRANCH_IRET, -1);
	ck(plain(CODE_IRET), KERNEL, BRANCH_IRET, -1);
}
END_TEST

START_TEST(system_calls)
{
	ck(plain(CODE_SYSCALL), KERNEL, BRANCH_SYSCALL, -1);
	ck(plain(CODE_SYSRET), USER, BRANCH_SYSRET, -1);
	ck_none(plain(CODE_SYSCALL), USER, CODE_OTHER_TARGET);
	ck_none(plain(CODE_SYSRET), KERNEL, CODE_OTHER_TARGET);
	ck(by_vector(0x80), SYSCALL, BRANCH_INT, 0x80);
	ck_none(by_vector(0x80), KERNEL, CODE_NO_BRANCH);
}
END_TEST

/* By FRED all lead to the same two addresses. */
START_TEST(fred)
{
	const uint64_t user = FRED, kernel = FRED + IDT_FRED_KERNEL;

	idt = &with_fred;
	ck(plain(CODE_SYSCALL), user, BRANCH_SYSCALL, -1);
	ck(by_vector(0x80), user, BRANCH_INT, 0x80);
	ck(by_vector(3), kernel, BRANCH_INT, 3);
	ck(plain(CODE_PLAIN), user, BRANCH_ENTRY, -1);
	ck(plain(CODE_UNREADABLE), user, BRANCH_ENTRY, -1);
	ck(plain(CODE_RET), kernel, BRANCH_ENTRY, -1);
	ck(plain(CODE_CALL_IND), kernel, BRANCH_ENTRY, -1);
	ck(direct(CODE_COND, KERNEL), kernel, BRANCH_ENTRY, -1);
	ck(direct(CODE_JUMP, kernel), kernel, BRANCH_JUMP, -1);
	ck(plain(CODE_ERET), USER, BRANCH_IRET, -1);
	ck(plain(CODE_ERET), KERNEL, BRANCH_IRET, -1);
	ck_none(plain(CODE_PLAIN), kernel + 1, CODE_NO_BRANCH);
	ck_none(plain(CODE_PLAIN), FAULT, CODE_NO_BRANCH);
	idt = &with_idt;
}
END_TEST

/* An interrupt before INT n, or a fault of it, is not what it leads to. */
START_TEST(vectors)
{
	struct idt idt_alone = with_idt;
	struct code_insn insn = plain(CODE_UNREADABLE);

	ck(by_vector(3), BREAK, BRANCH_INT, 3);
	ck(by_vector(3), TIMER, BRANCH_IRQ, 236);
	ck(by_vector(3), FAULT, BRANCH_EXCEPTION, 14);
	ck(by_vector(3), NMI, BRANCH_NMI, 2);
	ck(by_vector(0x80), TIMER, BRANCH_IRQ, 236);
	ck(by_vector(0x80), FAULT, BRANCH_EXCEPTION, 14);
	ck(by_vector(0x81), FAULT, BRANCH_EXCEPTION, 14);
	/* There is no interrupt 0x80 where programs may use that. */
	ck(insn, SYSCALL, BRANCH_INT, 0x80);
	ck(plain(CODE_PLAIN), SYSCALL, BRANCH_IRQ, 0x80);
	idt_alone.has_int80 = false;
	ck_assert_int_eq(branch_judge(&insn, &idt_alone, SYSCALL).type, BRANCH_IRQ);
	insn = by_vector(0x80);
	ck_assert_int_eq(branch_judge(&insn, &idt_alone, SYSCALL).type, BRANCH_INT);
}
END_TEST

/* Whatever instruction it hits. */
START_TEST(interrupts)
{
	for (int class = CODE_PLAIN; class <= CODE_UNREADABLE; class++) {
		struct code_insn insn = plain((enum code_class)class);

		ck(insn, FAULT, BRANCH_EXCEPTION, 14);
		ck(insn, NMI, BRANCH_NMI, 2);
		ck(insn, TIMER, BRANCH_IRQ, 236);
	}
	ck(direct(CODE_CALL, KERNEL), TIMER, BRANCH_IRQ, 236);
	ck(direct(CODE_JUMP, TIMER), TIMER, BRANCH_JUMP, -1);
	ck_none(plain(CODE_PLAIN), TIMER + 1, CODE_NO_BRANCH);
	ck_none(plain(CODE_TRAP), KERNEL, CODE_NO_BRANCH);
	ck_none(plain(CODE_WRMSR), KERNEL, CODE_NO_BRANCH);
}
END_TEST

START_TEST(without_an_idt)
{
	struct code_insn insn = plain(CODE_PLAIN);

	ck_assert_int_eq(branch_judge(&insn, &no_idt, TIMER).type, BRANCH_ENTRY);
	ck_assert_int_eq(branch_judge(&insn, &no_idt, USER).type, BRANCH_NONE);
	insn = direct(CODE_CALL, KERNEL);
	ck_assert_int_eq(branch_judge(&insn, &no_idt, TIMER).type, BRANCH_NONE);
}
END_TEST

START_TEST(unreadable)
{
	ck(plain(CODE_UNREADABLE), KERNEL, BRANCH_UNKNOWN, -1);
	ck(plain(CODE_UNREADABLE), USER, BRANCH_UNKNOWN, -1);
}
END_TEST

/* A thunk's caller is shown as what the thunk does; what the thunk does, as "thunk". */
START_TEST(thunks)
{
	struct code_insn insn = direct(CODE_CALL, KERNEL);

	insn.there = CODE_THUNK_INDIRECT;
	ck(insn, KERNEL, BRANCH_CALL_IND, -1);
	insn.class = CODE_JUMP;
	ck(insn, KERNEL, BRANCH_JUMP_IND, -1);
	insn.class = CODE_COND;
	ck(insn, KERNEL, BRANCH_JUMP_IND, -1);
	insn.there = CODE_THUNK_RETURN;
	insn.class = CODE_JUMP;
	ck(insn, KERNEL, BRANCH_RET, -1);
	insn = plain(CODE_RET);
	insn.here = CODE_THUNK_INDIRECT;
	ck(insn, KERNEL, BRANCH_THUNK, -1);
	ck(insn, TIMER, BRANCH_IRQ, 236);
	insn = direct(CODE_CALL, KERNEL);
	insn.here = CODE_THUNK_INDIRECT;
	insn.there = CODE_THUNK_INDIRECT;
	ck(insn, KERNEL, BRANCH_THUNK, -1);
	ck_none(insn, KERNEL + 2, CODE_OTHER_TARGET);
}
END_TEST

START_TEST(completion)
{
	for (int type = BRANCH_UNKNOWN; type <= BRANCH_THUNK; type++) {
		struct branch branch = { .type = (enum branch_type)type };
		bool entry = type == BRANCH_IRQ || type == BRANCH_NMI ||
			     type == BRANCH_EXCEPTION || type == BRANCH_ENTRY;

		ck_assert_int_eq(branch_executes(&branch),
				 !entry && type != BRANCH_UNKNOWN && type != BRANCH_NONE);
		ck_assert_str_ne(branch_type_str(branch.type), "");
	}
	ck_assert_str_eq(branch_type_str((enum branch_type)99), "unknown");
}
END_TEST

BTSREC_CK_MAIN("branch", direct_branches, indirect_branches, system_calls, fred, vectors,
	       interrupts, without_an_idt, unreadable, thunks, completion)
