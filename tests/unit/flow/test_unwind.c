// SPDX-License-Identifier: GPL-2.0-or-later
#include "codefix.h"
#include "flow/saved_frame.h"
#include "flow/unwind.h"

#define STACK	0xffffc90000104000ULL
#define OUTER	(TEXT + 0x100)
#define INNER	(TEXT + 0x200)
#define LAST	(TEXT + 0x300)
#define CALLER	(TEXT + 0x400)
#define ENTRY	(TEXT + 0xd00)

static struct unwind u;

static void put_word(uint64_t va, uint64_t word)
{
	cf_put_bytes(va, &word, sizeof(word));
}

/*
 * outer() calls inner(): push %rbx, sub $0x10,%rsp, test, je, call.  The way that jumps frees the
 * same.  last() calls and never returns.
 */
static void begin(void)
{
	cf_setup();
	cf_put_nops(TEXT, 1);
	/* 0: push %rbx; 1: sub $16,%rsp; 5: call inner; 10: je +6; add; pop; ret; 18: add; pop; ret */
	cf_put(OUTER, "\x53\x48\x83\xec\x10\xe8\xf6\x00\x00\x00\x74\x06\x48\x83\xc4\x10\x5b\xc3"
		      "\x48\x83\xc4\x10\x5b\xc3");
	/* push %rbp; push %rbx; nop; pop; pop; ret */
	cf_put(INNER, "\x55\x53\x90\x5b\x5d\xc3");
	/* A hook of ftrace; sub $8,%rsp; call inner; then something else: int3. */
	cf_put(LAST, "\x0f\x1f\x44\x00\x00\x48\x83\xec\x08\xe8\xf2\xfe\xff\xff\xcc\xcc");
	/* call last */
	cf_put(CALLER, "\xe8\xfb\xfe\xff\xff\xcc");
}

static void ck_caller(uint64_t from, uint64_t sp)
{
	ck_assert(unwind_next(&u));
	ck_assert_int_eq(u.how, UNWIND_CALLED);
	ck_assert_uint_eq(u.from, from);
	ck_assert_uint_eq(u.sp, sp);
}

START_TEST(the_code_says_where_callers_are)
{
	begin();
	/* In inner() before its pops: RBX, RBP, the return address; in outer() 16 bytes and RBX. */
	put_word(STACK + 0x10, OUTER + 10);
	put_word(STACK + 0x30, LAST + 14);
	/* What never returns has 8 bytes. */
	put_word(STACK + 0x40, CALLER + 5);
	cf_start();
	unwind_begin(&u, cf_code, INNER + 2, STACK, 0);
	ck_caller(OUTER + 5, STACK + 0x18);
	ck_caller(LAST + 9, STACK + 0x38);
	ck_caller(CALLER, STACK + 0x48);
	ck_assert(!unwind_next(&u));
	ck_assert_int_eq(u.how, UNWIND_UNKNOWN);
	ck_assert(!unwind_next(&u));
	cf_finish();
}
END_TEST

START_TEST(a_word_after_no_call_is_no_caller)
{
	begin();
	put_word(STACK + 0x10, OUTER + 11);
	cf_start();
	unwind_begin(&u, cf_code, INNER + 2, STACK, 0);
	ck_assert(!unwind_next(&u));
	cf_finish();
}
END_TEST

/* A kprobe's breakpoint is in place of the first byte of a call. */
START_TEST(a_call_with_a_kprobe_is_one)
{
	begin();
	/* call last; ret */
	cf_put(TEXT + 0x700, "\xcc\xfb\xfb\xff\xff\xc3");
	put_word(STACK + 0x10, TEXT + 0x705);
	put_word(STACK + 0x18, OUTER + 10);
	/* A breakpoint, and what is no distance to a function. */
	cf_put(TEXT + 0x720, "\xcc\0\0\0\0\xc3");
	put_word(STACK + 0x50, TEXT + 0x725);
	cf_start();
	unwind_begin(&u, cf_code, INNER + 2, STACK, 0);
	ck_caller(TEXT + 0x700, STACK + 0x18);
	ck_caller(OUTER + 5, STACK + 0x20);
	unwind_begin(&u, cf_code, INNER + 2, STACK + 0x40, 0);
	ck_assert(!unwind_next(&u));
	cf_finish();
}
END_TEST

START_TEST(ways_that_disagree_end_it)
{
	begin();
	/* je +1; pop %rbx; ret: one way out has taken 8 bytes more.  Nobody calls it. */
	cf_put(TEXT + 0x280, "\x74\x01\x5b\xc3");
	put_word(STACK, OUTER + 10);
	put_word(STACK + 8, OUTER + 10);
	cf_start();
	unwind_begin(&u, cf_code, TEXT + 0x280, STACK, 0);
	ck_assert(!unwind_next(&u));
	cf_finish();
}
END_TEST

/* A call that never returns is the last of its function; a sealed one begins behind it. */
START_TEST(a_call_that_never_returns_ends_at_a_sealed_function)
{
	begin();
	/* je to the call; pop %rbx; ret; call OUTER; NOPs; a sealed ENDBR64, and push %rbp. */
	cf_put(TEXT + 0x280, "\x74\x02\x5b\xc3\xe8\x77\xfe\xff\xff\x66\x2e\x0f\x1f\x44\0\0"
			     "\x66\x0f\x1f\0\x55\xc3");
	put_word(STACK + 8, OUTER + 10);
	cf_start();
	unwind_begin(&u, cf_code, TEXT + 0x280, STACK, 0);
	ck_caller(OUTER + 5, STACK + 16);
	cf_finish();
}
END_TEST

/* An entry from which one way puts an unknown number of bytes on the stack. */
START_TEST(a_word_of_another_call_is_no_caller)
{
	begin();
	/* A hook of ftrace; je to the loop; sub %rax,%rsp; jmp to itself. */
	cf_put(TEXT + 0x280, "\x0f\x1f\x44\0\0\x74\x03\x48\x29\xc4\xeb\xfe");
	put_word(STACK, OUTER + 10);
	cf_start();
	unwind_begin(&u, cf_code, TEXT + 0x28a, STACK, 0);
	ck_assert(!unwind_next(&u));
	ck_assert_int_eq(u.how, UNWIND_UNKNOWN);
	cf_finish();
}
END_TEST

START_TEST(the_call_of_a_cold_part_is_found)
{
	begin();
	/* cold: push %rbx; sub $0x10,%rsp; jmp: there "call outer" is the last instruction. */
	cf_put(TEXT + 0x400, "\x53\x48\x83\xec\x10\xe9\xf6\x01\x00\x00");
	cf_put(TEXT + 0x600, "\xe8\xfb\xfa\xff\xff\xcc");
	/* Its caller, which never returns, either. */
	cf_put(TEXT + 0x500, "\xe8\xfb\xfe\xff\xff\xcc");
	put_word(STACK + 8, LAST + 14);
	put_word(STACK + 0x18, TEXT + 0x505);
	cf_start();
	unwind_begin(&u, cf_code, TEXT + 0x605, STACK, 0);
	u.how = UNWIND_CALLED;
	ck_caller(TEXT + 0x500, STACK + 0x20);
	cf_finish();
}
END_TEST

START_TEST(frame_pointers_and_other_stacks_are_followed)
{
	begin();
	/* leave; ret: RBP is known. */
	cf_put(INNER, "\xc9\xc3");
	put_word(STACK + 0x100, 0x1234);
	put_word(STACK + 0x108, OUTER + 10);
	/* outer() comes back from another stack: pop %rsp; ret. */
	cf_put(OUTER + 10, "\x5c\xc3");
	put_word(STACK + 0x110, STACK + 0x400);
	put_word(STACK + 0x400, LAST + 14);
	cf_start();
	unwind_begin(&u, cf_code, INNER, STACK, STACK + 0x100);
	ck_caller(OUTER + 5, STACK + 0x110);
	ck_assert_uint_eq(u.bp, 0x1234);
	ck_caller(LAST + 9, STACK + 0x408);
	/* Where it is not known, nothing is. */
	unwind_begin(&u, cf_code, INNER, STACK, 0);
	ck_assert(!unwind_next(&u));
	cf_finish();
}
END_TEST

/* Behind the call of a handler: "add $0x78,%rsp; add $8,%rsp; iretq". */
static void put_entry(uint64_t handler, uint64_t cs)
{
	static const uint64_t frame[] = { 0, 0, 0x10202, STACK + 0x600, 0x18 };

	begin();
	cf_put(handler, "\xe8\0\0\0\0\x48\x83\xc4\x78\x48\x83\xc4\x08\x48\xcf");
	put_word(STACK + 0x10, handler + 5);
	cf_put_bytes(STACK + 0x18 + REGS_RIP_BYTES, frame, sizeof(frame));
	put_word(STACK + 0x18 + REGS_RIP_BYTES, OUTER + 10);
	put_word(STACK + 0x18 + REGS_RIP_BYTES + 8, cs);
	put_word(STACK + 0x610 + 8, LAST + 14);
	cf_start();
	unwind_begin(&u, cf_code, INNER + 2, STACK, 0);
}

START_TEST(exceptions_lead_to_what_they_interrupted)
{
	put_entry(PAGE_FAULT, 0x10);
	ck_caller(PAGE_FAULT, STACK + 0x18);
	ck_assert(unwind_next(&u));
	ck_assert_int_eq(u.how, UNWIND_INTERRUPTED);
	ck_assert_int_eq(u.vector, 14);
	ck_assert_uint_eq(u.ip, OUTER + 10);
	ck_assert_uint_eq(u.regs_kva, STACK + 0x18);
	ck_caller(LAST + 9, STACK + 0x620);
	ck_assert_int_eq(unwind_vector(cf_code, PAGE_FAULT + 5), 14);
	/* Behind the end of the entry is another one's. */
	ck_assert_int_eq(unwind_vector(cf_code, PAGE_FAULT + 15), -1);

	put_entry(TIMER, 0x10);
	ck_caller(TIMER, STACK + 0x18);
	ck_assert(unwind_next(&u));
	ck_assert_int_eq(u.vector, -1);

	put_entry(PAGE_FAULT, 0x33);
	ck_caller(PAGE_FAULT, STACK + 0x18);
	ck_assert(unwind_next(&u));
	ck_assert_int_eq(u.how, UNWIND_USER);
	ck_assert(!unwind_next(&u));

	put_entry(PAGE_FAULT, 0x18);
	ck_caller(PAGE_FAULT, STACK + 0x18);
	ck_assert(!unwind_next(&u));
	cf_finish();
}
END_TEST

/* ERETS: the error code is below what it takes; CS and SS have more in them. */
START_TEST(events_by_fred_lead_to_what_they_interrupted)
{
	put_entry(TIMER, 0x10010);
	cf_put(TIMER, "\xe8\0\0\0\0\x48\x83\xc4\x78\xf2\x0f\x01\xca");
	put_word(STACK + 0x18 + REGS_RIP_BYTES + 32, 0x03020000ec0018);
	cf_start();
	unwind_begin(&u, cf_code, INNER + 2, STACK, 0);
	ck_caller(TIMER, STACK + 0x18);
	ck_assert(unwind_next(&u));
	ck_assert_int_eq(u.how, UNWIND_INTERRUPTED);
	ck_assert_uint_eq(u.ip, OUTER + 10);
	ck_assert_uint_eq(u.regs_kva, STACK + 0x18);
	ck_caller(LAST + 9, STACK + 0x620);
	cf_finish();
}
END_TEST

START_TEST(a_system_call_ends_at_user_code)
{
	begin();
	/* call; mov %gs:0,%rsp; sysretq */
	cf_put(ENTRY, "\xe8\0\0\0\0\x65\x48\x8b\x24\x25\0\0\0\0\x48\x0f\x07");
	put_word(STACK + 0x10, ENTRY + 5);
	put_word(STACK + 0x18 + REGS_RIP_BYTES + 8, 0x33);
	cf_start();
	unwind_begin(&u, cf_code, INNER + 2, STACK, 0);
	ck_caller(ENTRY, STACK + 0x18);
	ck_assert(unwind_next(&u));
	ck_assert_int_eq(u.how, UNWIND_USER);
	/* A thread of the kernel has never been there. */
	put_word(STACK + 0x18 + REGS_RIP_BYTES + 8, 0);
	cf_start();
	unwind_begin(&u, cf_code, INNER + 2, STACK, 0);
	ck_caller(ENTRY, STACK + 0x18);
	ck_assert(!unwind_next(&u));
	cf_finish();
}
END_TEST

START_TEST(a_hook_at_an_entry_has_its_caller_on_top)
{
	struct btsrec_freeze freeze = { .ip = INNER + 5, .sp = STACK + 8 };

	begin();
	put_word(STACK, OUTER + 10);
	put_word(STACK + 0x20, LAST + 14);
	cf_start();
	/* ftrace has taken the return address off. */
	unwind_freeze(&u, cf_code, &freeze);
	ck_assert(u.entry);
	ck_caller(OUTER + 5, STACK + 8);
	freeze.sp = STACK;
	unwind_freeze(&u, cf_code, &freeze);
	ck_assert(u.entry);
	ck_caller(OUTER + 5, STACK + 8);
	ck_caller(LAST + 9, STACK + 0x28);
	/* Another function. */
	freeze.ip = LAST + 5;
	unwind_freeze(&u, cf_code, &freeze);
	ck_assert(!u.entry);
	cf_finish();
}
END_TEST

START_TEST(a_thread_that_was_switched_from_is_found)
{
	begin();
	/* push %rbp ... %r15; mov %rsp,0x1000(%rdi) */
	cf_put(INNER, "\x55\x53\x41\x54\x41\x55\x41\x56\x41\x57\x48\x89\xa7\x00\x10\0\0");
	put_word(STACK + 40, STACK + 0x700);
	put_word(STACK + 48, OUTER + 10);
	put_word(STACK + 56 + 0x18, LAST + 14);
	cf_start();
	ck_assert(unwind_switched(&u, cf_code, STACK));
	ck_assert_uint_eq(u.from, OUTER + 5);
	ck_assert_uint_eq(u.bp, STACK + 0x700);
	ck_caller(LAST + 9, STACK + 56 + 0x20);
	ck_assert(!unwind_switched(&u, cf_code, STACK + 8));
	ck_assert(!unwind_switched(&u, cf_code, 0x1000));
	cf_finish();
}
END_TEST

START_TEST(endless_code_ends)
{
	uint8_t pushes[4096];

	begin();
	memset(pushes, 0x53, sizeof(pushes));
	cf_put_bytes(TEXT + 0x1000, pushes, sizeof(pushes));
	cf_put(TEXT + 0x2000, "\xeb\xfe");
	cf_start();
	unwind_begin(&u, cf_code, TEXT + 0x1000, STACK, 0);
	ck_assert(!unwind_next(&u));
	unwind_begin(&u, cf_code, TEXT + 0x2000, STACK, 0);
	ck_assert(!unwind_next(&u));
	unwind_begin(&u, cf_code, 0, 0, 0);
	ck_assert(!unwind_next(&u));
	unwind_begin(&u, cf_code, UINT64_MAX, UINT64_MAX, UINT64_MAX);
	ck_assert(!unwind_next(&u));
	cf_finish();
}
END_TEST

BTSREC_CK_MAIN("unwind", the_code_says_where_callers_are, a_word_after_no_call_is_no_caller,
	       a_call_with_a_kprobe_is_one, ways_that_disagree_end_it,
	       a_call_that_never_returns_ends_at_a_sealed_function,
	       a_word_of_another_call_is_no_caller,
	       the_call_of_a_cold_part_is_found, frame_pointers_and_other_stacks_are_followed,
	       exceptions_lead_to_what_they_interrupted,
	       events_by_fred_lead_to_what_they_interrupted, a_system_call_ends_at_user_code,
	       a_hook_at_an_entry_has_its_caller_on_top, a_thread_that_was_switched_from_is_found,
	       endless_code_ends)
