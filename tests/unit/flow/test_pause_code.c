// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/pause_code.h"

#include "check_btsrec.h"

#define BEGIN 0x1000ULL

/** struct text - @nr_bytes of code at BEGIN */
struct text {
	const uint8_t *bytes;
	size_t nr_bytes;
};

static bool read_insn(void *arg, uint64_t ip, struct sem_insn *ret)
{
	const struct text *text = arg;

	return ip - BEGIN < text->nr_bytes &&
	       sem_decode(text->bytes + (ip - BEGIN), text->nr_bytes - (ip - BEGIN), ip, ret);
}

/* From the first byte to @to. */
static bool writes(const char *bytes, size_t nr_bytes, unsigned int to, uint32_t *ret)
{
	struct text text = { (const uint8_t *)bytes, nr_bytes };

	*ret = 0;
	return pause_code_writes(BEGIN, BEGIN + to, read_insn, &text, ret);
}

#define WRITES(bytes, to, ret) writes(bytes, sizeof(bytes) - 1, to, ret)

/* xor %eax, %eax; mov %ebx, %ecx */
START_TEST(straight)
{
	uint32_t regs;

	ck_assert(WRITES("\x31\xc0\x89\xd9\x90", 4, &regs));
	ck_assert_uint_eq(regs, 1U << SEM_RAX | 1U << SEM_RCX | 1U << SEM_FLAGS);
	/* It is not on the way, or where it begins. */
	ck_assert(!WRITES("\x31\xc0\x89\xd9\xc3", 3, &regs));
	ck_assert(!WRITES("\x31\xc0\x89\xd9\xc3", 0, &regs));
}
END_TEST

/* A function that is called gives back RBX, and the stack pointer. */
START_TEST(calls)
{
	uint32_t regs;

	ck_assert(WRITES("\xe8\x00\x10\x00\x00\x90\x90", 6, &regs));
	ck_assert(regs >> SEM_RDI & 1 && regs >> SEM_R11 & 1);
	ck_assert(!(regs >> SEM_RBX & 1) && !(regs >> SEM_RSP & 1) && !(regs >> SEM_R12 & 1));
}
END_TEST

/* jz 7; xor %ebx, %ebx; jmp 8; 7: pop %rbp, ret, or one that leads there, 9 */
START_TEST(ways)
{
	uint32_t regs;

	/* The one way leaves: what it pops does not count. */
	ck_assert(WRITES("\x74\x04\x31\xdb\xeb\x02\x5d\xc3\x90", 8, &regs));
	ck_assert_uint_eq(regs, 1U << SEM_RBX | 1U << SEM_FLAGS);
	/* It leads there, and has moved the stack. */
	ck_assert(!WRITES("\x74\x04\x31\xdb\xeb\x02\x5d\x90\x90", 8, &regs));
	ck_assert(WRITES("\x74\x04\x31\xdb\xeb\x02\x89\xc5\x90", 8, &regs));
	ck_assert_uint_eq(regs, 1U << SEM_RBX | 1U << SEM_RBP | 1U << SEM_FLAGS);
	/* A loop. */
	ck_assert(WRITES("\x31\xdb\x75\xfc\x90", 4, &regs));
}
END_TEST

START_TEST(unknown)
{
	uint32_t regs;

	/* jmp *%rax; what is not there; iretq */
	ck_assert(!WRITES("\x75\x02\xff\xe0\x90", 4, &regs));
	ck_assert(!WRITES("\x75\x40\x90\x90", 3, &regs));
	ck_assert(!WRITES("\x75\x02\x48\xcf\x90", 4, &regs));
}
END_TEST

BTSREC_CK_MAIN("pause_code", straight, calls, ways, unknown)
