// SPDX-License-Identifier: GPL-2.0-or-later
#include "reg_values_fixture.h"

/* What is pushed after @move of RSP and popped after @store: the value 5, or nothing. */
static void expect_popped(const char *move, size_t move_bytes, const char *store,
			  size_t store_bytes, bool known)
{
	uint32_t pop;

	setup();
	reg_values_anchor(values, SEM_RDX, known_all(0xffff888000001000));
	reg_values_anchor(values, SEM_RSP, known_all(SP));
	INSN(0x1000, "\xbb\x05\x00\x00\x00");	/* mov $5, %ebx */
	INSN(0x1005, "\x53");				/* push %rbx */
	INSN(0x1006, "\x25\xf8\x07\x00\x00");	/* and $0x7f8, %eax */
	insn(0x100b, move, move_bytes);
	INSN(0x100f, "\x53");				/* push %rbx */
	insn(0x1010, store, store_bytes);
	pop = INSN(0x1020, "\x59");			/* pop %rcx */
	reg_values_run(values);
	look(pop);
	if (known)
		ck_is(at.certain.behind[SEM_RCX], 5);
	else
		ck_assert_uint_ne(at.certain.behind[SEM_RCX].mask, UINT64_MAX);
	reg_values_free(values);
}

/* sub %rax, %rsp moves the stack by a random number, mov %rsi, %rsp to anywhere. */
START_TEST(stacks_somewhere)
{
	/* nop; mov %rcx, (%rdx); mov %rcx, 8(%rsp); mov %rcx, (%rsp); 4 bytes up; (%rsi) */
	expect_popped("\x48\x29\xc4", 3, "\x90", 1, true);
	expect_popped("\x48\x29\xc4", 3, "\x48\x89\x0a", 3, true);
	expect_popped("\x48\x29\xc4", 3, "\x48\x89\x4c\x24\x08", 5, true);
	expect_popped("\x48\x29\xc4", 3, "\x48\x89\x0c\x24", 4, false);
	expect_popped("\x48\x29\xc4", 3, "\x48\x89\x4c\x24\x04", 5, false);
	expect_popped("\x48\x29\xc4", 3, "\x48\x89\x4c\x24\xfc", 5, false);
	expect_popped("\x48\x29\xc4", 3, "\x48\x89\x0e", 3, false);
	expect_popped("\x48\x89\xf4", 3, "\x90", 1, true);
	expect_popped("\x48\x89\xf4", 3, "\x48\x89\x4c\x24\x08", 5, true);
	/* Of RSI nothing is known. */
	expect_popped("\x48\x89\xf4", 3, "\x48\x89\x0a", 3, false);
}
END_TEST

/* The word of the stack that was moved from outlives what is pushed below it. */
START_TEST(stack_below)
{
	uint32_t pop;

	setup();
	INSN(0x1000, "\xbb\x05\x00\x00\x00");	/* mov $5, %ebx */
	INSN(0x1005, "\x53");				/* push %rbx */
	INSN(0x1006, "\x48\x89\xe5");			/* mov %rsp, %rbp */
	INSN(0x1009, "\x25\xf8\x07\x00\x00");	/* and $0x7f8, %eax */
	INSN(0x100e, "\x48\x29\xc4");			/* sub %rax, %rsp */
	INSN(0x1011, "\x50");				/* push %rax */
	reg_values_interrupt(values, 0x1012, 236);
	INSN(0x2000, "\x50");				/* push %rax */
	INSN(0x2001, "\x58");				/* pop %rax */
	INSN(0x2002, "\x48\xcf");			/* iretq */
	INSN(0x1012, "\x48\x89\xec");			/* mov %rbp, %rsp */
	pop = INSN(0x1015, "\x59");			/* pop %rcx */
	reg_values_run(values);
	look(pop);
	ck_is(at.certain.behind[SEM_RCX], 5);
	reg_values_free(values);
}
END_TEST

/* pushfq; pop %rax: they are words of the stack, and the stack pointer is known on both sides. */
START_TEST(flags_on_the_stack)
{
	uint32_t push, pop;

	setup();
	push = INSN(0x1000, "\x53");		/* push %rbx */
	INSN(0x1001, "\x9c");			/* pushfq */
	INSN(0x1002, "\x58");			/* pop %rax */
	INSN(0x1003, "\x50");			/* push %rax */
	INSN(0x1004, "\x9d");			/* popfq */
	pop = INSN(0x1005, "\x59");		/* pop %rcx */
	reg_values_anchor(values, SEM_RSP, known_all(SP));
	reg_values_anchor(values, SEM_RCX, known_all(77));
	reg_values_anchor(values, SEM_FLAGS, (struct known){ SEM_ZF, SEM_STATUS_FLAGS });
	reg_values_run(values);
	look(push);
	ck_is(at.certain.before[SEM_RSP], SP);
	ck_is(at.certain.before[SEM_RBX], 77);
	ck_assert_uint_eq(at.certain.before[SEM_FLAGS].mask, SEM_STATUS_FLAGS);
	ck_assert_uint_eq(at.certain.before[SEM_FLAGS].value, SEM_ZF);
	look(pop);
	ck_is(at.certain.before[SEM_RSP], SP - 8);
	reg_values_free(values);
}
END_TEST

/* What is not in a record has changed RAX and what is below the stack pointer. */
START_TEST(pauses)
{
	uint32_t push, pop, place;

	setup();
	INSN(0x1000, "\x50");			/* push %rax */
	INSN(0x1001, "\x58");			/* pop %rax */
	push = INSN(0x1002, "\x53");		/* push %rbx */
	ck_assert(reg_values_pause(values, 0x1003, 1U << SEM_RAX, false));
	place = INSN(0x1003, "\x48\x8b\x54\x24\xf8");	/* mov -8(%rsp), %rdx */
	pop = INSN(0x1008, "\x59");		/* pop %rcx */
	reg_values_anchor(values, SEM_RSP, known_all(SP));
	reg_values_anchor(values, SEM_RAX, known_all(3));
	reg_values_anchor(values, SEM_RBX, known_all(5));
	reg_values_run(values);
	look(push);
	ck_is(at.certain.before[SEM_RSP], SP);
	ck_is(at.certain.before[SEM_RBX], 5);
	ck_assert_uint_eq(at.certain.before[SEM_RAX].mask, 0);
	look(place);
	ck_is(at.certain.before[SEM_RAX], 3);
	ck_assert_uint_eq(at.certain.behind[SEM_RDX].mask, 0);
	look(pop);
	ck_is(at.certain.behind[SEM_RCX], 5);
	reg_values_free(values);
}
END_TEST

/* push %rbx; the thread sleeps; pop %rcx */
static struct known over_sleep(uint64_t sp)
{
	uint32_t pop;

	setup();
	reg_values_anchor(values, SEM_RSP, known_all(sp));
	reg_values_anchor(values, SEM_RBX, known_all(5));
	INSN(0x1000, "\x53");
	ck_assert(reg_values_pause(values, 0x1001, 1U << SEM_RAX, true));
	pop = INSN(0x1001, "\x59");
	reg_values_run(values);
	look(pop);
	reg_values_free(values);
	return at.certain.behind[SEM_RCX];
}

/* push %rbx; mov 8(%rsi), %rsp: another thread, which comes back in the same way; pop %rcx */
static struct known over_threads(uint64_t sp)
{
	struct sem_insn load;
	uint32_t pop;

	setup();
	reg_values_anchor(values, SEM_RSP, known_all(sp));
	reg_values_anchor(values, SEM_RBX, known_all(5));
	INSN(0x1000, "\x53");
	ck_assert(sem_decode((const uint8_t *)"\x48\x8b\x66\x08", 4, 0x1001, &load));
	ck_assert_uint_ne(reg_values_switch(values, &load), UINT32_MAX);
	pop = INSN(0x1005, "\x59");
	reg_values_anchor(values, SEM_RSP, known_all(sp));
	reg_values_run(values);
	look(pop);
	reg_values_free(values);
	return at.certain.behind[SEM_RCX];
}

/* What is at the top of the stack others may have changed. */
START_TEST(sleeps)
{
	ck_is(over_threads(SP - 0x100), 5);
	ck_assert_uint_eq(over_threads(SP).mask, 0);
	ck_is(over_sleep(SP - 0x100), 5);
	ck_assert_uint_eq(over_sleep(SP).mask, 0);
}
END_TEST

/* A handler reads where the interrupt came, and the error code that the fault stored. */
START_TEST(words_of_the_interrupt)
{
	uint32_t ip, code;

	setup();
	INSN(0x1000, "\x90");
	reg_values_interrupt(values, 0x1001, 14);
	reg_values_error_code(values, 2);
	code = INSN(0x2000, "\x48\x8b\x04\x24");		/* mov (%rsp), %rax */
	ip = INSN(0x2004, "\x48\x8b\x4c\x24\x08");	/* mov 8(%rsp), %rcx */
	reg_values_run(values);
	look(code);
	ck_is(at.certain.behind[SEM_RAX], 2);
	look(ip);
	ck_is(at.certain.behind[SEM_RCX], 0x1001);
	reg_values_free(values);
	/* A breakpoint is a trap, and has none; nor has an interrupt an error code. */
	setup();
	reg_values_interrupt(values, 0x1001, 3);
	reg_values_error_code(values, 2);
	code = INSN(0x2000, "\x48\x8b\x04\x24");
	reg_values_run(values);
	look(code);
	ck_assert_uint_eq(at.certain.behind[SEM_RAX].mask, 0);
	reg_values_free(values);
}
END_TEST

/* Of the handler nothing says where its stack is, but IRET takes the frame of the interrupt. */
START_TEST(frame_of_the_interrupt)
{
	uint32_t pop;

	setup();
	reg_values_anchor(values, SEM_RSP, known_all(SP));
	INSN(0x1000, "\x90");
	reg_values_interrupt(values, 0x1001, 236);
	INSN(0x2000, "\x50");			/* push %rax */
	INSN(0x2001, "\x48\x8b\x22");		/* mov (%rdx), %rsp */
	pop = INSN(0x2004, "\x58");		/* pop %rax */
	INSN(0x2005, "\x48\xcf");		/* iretq */
	INSN(0x1001, "\x90");
	reg_values_run(values);
	look(pop);
	ck_is(at.certain.before[SEM_RSP], SP - 48);
	reg_values_free(values);
}
END_TEST

BTSREC_CK_MAIN("reg_values_stack", stacks_somewhere, stack_below, flags_on_the_stack, pauses, sleeps,
	       words_of_the_interrupt, frame_of_the_interrupt)
