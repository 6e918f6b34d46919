// SPDX-License-Identifier: GPL-2.0-or-later
/* What an instruction is in the table, and where its operands are. */
#include "code/semantics.h"

#include "check_btsrec.h"

#define IP 0x1000

static struct sem_insn decoded(const char *bytes, size_t nr_bytes)
{
	struct sem_insn ret;

	ck_assert(sem_decode((const uint8_t *)bytes, nr_bytes, IP, &ret));
	ck_assert_uint_eq(ret.ip, IP);
	ck_assert_uint_eq(ret.length_bytes, nr_bytes);
	return ret;
}

/* An instruction as a string of bytes without NUL at the end. */
#define DECODED(bytes) decoded(bytes, sizeof(bytes) - 1)

START_TEST(operands)
{
	/* mov 0x10(%rax,%rbx,4), %ecx */
	struct sem_insn insn = DECODED("\x8b\x4c\x98\x10");

	ck_assert_int_eq(insn.op, SEM_MOV);
	ck_assert_int_eq(insn.operands[0].kind, SEM_REGISTER);
	ck_assert_uint_eq(insn.operands[0].reg, SEM_RCX);
	ck_assert_uint_eq(insn.operands[0].bytes, 4);
	ck_assert_int_eq(insn.operands[1].kind, SEM_MEMORY);
	ck_assert_uint_eq(insn.base, SEM_RAX);
	ck_assert_uint_eq(insn.index, SEM_RBX);
	ck_assert_uint_eq(insn.scale, 4);
	ck_assert_int_eq(insn.disp, 0x10);
	ck_assert_uint_eq(insn.load_bytes, 4);
	ck_assert_uint_eq(insn.store_bytes, 0);
	ck_assert_uint_eq(insn.reads, 1U << SEM_RAX | 1U << SEM_RBX);
	ck_assert_uint_eq(insn.writes, 1U << SEM_RCX);
	ck_assert_uint_eq(insn.nr_shown, 3);
	/* lea 2(%rip), %rax: the address is that of the next instruction, and 2 */
	insn = DECODED("\x48\x8d\x05\x02\x00\x00\x00");
	ck_assert_uint_eq(insn.base, SEM_NO_REG);
	ck_assert_int_eq(insn.disp, IP + 7 + 2);
	ck_assert_uint_eq(insn.load_bytes, 0);
	/* mov %gs:(%rax), %rax */
	ck_assert(DECODED("\x65\x48\x8b\x00").segment);
	/* push %rbx: its place is not among the operands */
	insn = DECODED("\x53");
	ck_assert_uint_eq(insn.store_bytes, SEM_ANY_BYTES);
	ck_assert_uint_eq(insn.writes, 1U << SEM_RSP);
	/* nop (%rax,%rax,1): of what it names it reads nothing */
	insn = DECODED("\x0f\x1f\x44\x00\x00");
	ck_assert_uint_eq(insn.nr_shown, 0);
	ck_assert_uint_eq(insn.reads, 0);
	ck_assert_uint_eq(insn.load_bytes, 0);
}
END_TEST

START_TEST(conditions_and_flags)
{
	/* jne, setg %al */
	ck_assert_uint_eq(DECODED("\x75\x00").cc, 5);
	ck_assert_uint_eq(DECODED("\x0f\x9f\xc0").cc, 15);
	/* inc %eax leaves CF; add %eax, %ecx does not */
	ck_assert_uint_eq(DECODED("\xff\xc0").keeps_flags & SEM_STATUS_FLAGS, SEM_CF);
	ck_assert_uint_eq(DECODED("\x01\xc1").keeps_flags & SEM_STATUS_FLAGS, 0);
	ck_assert_uint_eq(DECODED("\x01\xc1").defines_flags & SEM_STATUS_FLAGS, SEM_STATUS_FLAGS);
	/* stc, clc */
	ck_assert_uint_eq(DECODED("\xf9").sets_flags, SEM_CF);
	ck_assert_uint_eq(DECODED("\xf8").clears_flags, SEM_CF);
	ck_assert(DECODED("\xf3\x48\xab").repeats);
}
END_TEST

/* Where the table would be wrong, the row is another one. */
START_TEST(rows_that_do_not_fit)
{
	/* xor %eax, %eax and xor %al, %ah */
	ck_assert_int_eq(DECODED("\x31\xc0").op, SEM_ZERO);
	ck_assert_int_eq(DECODED("\x30\xc4").op, SEM_XOR);
	/* bswap %ax, pop (%rax), push %fs, mov %cr0, %rax, push %ax */
	ck_assert_int_eq(DECODED("\x66\x0f\xc8").op, SEM_OTHER);
	ck_assert_int_eq(DECODED("\x8f\x00").op, SEM_OTHER);
	ck_assert_int_eq(DECODED("\x0f\xa0").op, SEM_OTHER);
	ck_assert_int_eq(DECODED("\x0f\x20\xc0").op, SEM_OTHER);
	ck_assert_int_eq(DECODED("\x66\x50").op, SEM_OTHER);
	/* A far return, and a near one of 16 bits. */
	ck_assert_int_eq(DECODED("\xcb").op, SEM_CUT);
	ck_assert_int_eq(DECODED("\x66\xc3").op, SEM_CUT);
	ck_assert_int_eq(DECODED("\xc3").op, SEM_RET);
	/* vmcall: the hypervisor does what it likes. */
	ck_assert_uint_eq(DECODED("\x0f\x01\xc1").writes, (1U << SEM_NR_REGS) - 1);
	ck_assert_uint_eq(DECODED("\x48\xcf").writes, 1U << SEM_RSP | 1U << SEM_FLAGS);
}
END_TEST

START_TEST(no_instruction)
{
	struct sem_insn insn;

	ck_assert(!sem_decode((const uint8_t *)"\x06", 1, IP, &insn));
	ck_assert(!sem_decode((const uint8_t *)"\x48", 1, IP, &insn));
	ck_assert(!sem_decode((const uint8_t *)"", 0, IP, &insn));
}
END_TEST

static const char *name(uint8_t reg, uint8_t shift, uint8_t bytes)
{
	const struct sem_shown shown = { .reg = reg, .shift = shift, .bytes = bytes };

	return sem_shown_name(&shown);
}

START_TEST(names)
{
	ck_assert_str_eq(name(SEM_RAX, 0, 8), "rax");
	ck_assert_str_eq(name(SEM_R15, 0, 4), "r15d");
	ck_assert_str_eq(name(SEM_RSI, 0, 2), "si");
	ck_assert_str_eq(name(SEM_RBX, 0, 1), "bl");
	ck_assert_str_eq(name(SEM_RBX, 8, 1), "bh");
	ck_assert_str_eq(name(SEM_RSI, 0, 1), "sil");
	ck_assert_str_eq(name(SEM_R8, 0, 1), "r8b");
}
END_TEST

BTSREC_CK_MAIN("semantics_decode", operands, conditions_and_flags, rows_that_do_not_fit,
	       no_instruction, names)
