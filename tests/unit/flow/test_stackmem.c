// SPDX-License-Identifier: GPL-2.0-or-later
#include "codefix.h"
#include "flow/stackmem.h"

#define STACK	0xffffc90000104000ULL	/* the last page of a thread's stack */
#define IRQ	0xffffc90000200000ULL	/* of interrupts, a page here */
#define TOP	0x1000ULL
#define KERNEL	(TEXT + 0x105)
#define CODE	(USER + 0x20)

static struct stackmem mem;

static void put(uint64_t va, uint64_t word)
{
	cf_put_bytes(va, &word, sizeof(word));
}

static void put_saved(uint64_t va, uint64_t ip, uint64_t cs, uint64_t sp)
{
	put(va, ip);
	put(va + 8, cs);
	put(va + 16, 0x202);
	put(va + 24, sp);
	put(va + 32, 0x18);
}

static enum stackmem_found find(enum frame_kind kind, uint64_t return_va)
{
	const struct frame frame = { .kind = kind, .return_va = return_va };

	return stackmem_find(&mem, &frame);
}

static void start(uint64_t sp)
{
	cf_start();
	mem = (struct stackmem){ .code = cf_code, .cr3 = USER_PGD, .sp = sp };
}

START_TEST(calls_in_order)
{
	cf_setup();
	put(STACK + 0x100, KERNEL);
	put(STACK + 0x180, KERNEL + 1);
	start(STACK + 0x80);
	ck_assert_int_eq(find(FRAME_CALL, KERNEL), STACKMEM_FOUND);
	ck_assert_uint_eq(mem.sp, STACK + 0x108);
	ck_assert_int_eq(find(FRAME_CALL_IND, KERNEL + 2), STACKMEM_MISSING);
	ck_assert_uint_eq(mem.sp, STACK + 0x108);
	ck_assert_int_eq(find(FRAME_CALL, KERNEL + 1), STACKMEM_FOUND);
	/* What is below has been passed. */
	ck_assert_int_eq(find(FRAME_CALL, KERNEL), STACKMEM_MISSING);
	cf_finish();
}
END_TEST

START_TEST(through_the_stack_of_interrupts)
{
	cf_setup();
	put(IRQ + 0x800, KERNEL);
	put(IRQ + TOP - 8, STACK + 0x200);
	put(STACK + 0x280, KERNEL + 1);
	put_saved(STACK + 0x300, KERNEL + 2, 0x10, STACK + 0x400);
	put(STACK + 0x380, KERNEL + 3);
	put(STACK + 0x400, KERNEL + 3);
	start(IRQ + 0x700);
	ck_assert_int_eq(find(FRAME_CALL, KERNEL), STACKMEM_FOUND);
	ck_assert_int_eq(find(FRAME_CALL, KERNEL + 1), STACKMEM_FOUND);
	ck_assert_uint_eq(mem.sp, STACK + 0x288);
	ck_assert_int_eq(find(FRAME_IRQ, KERNEL + 2), STACKMEM_FOUND);
	ck_assert_uint_eq(mem.sp, STACK + 0x400);
	ck_assert_int_eq(find(FRAME_CALL, KERNEL + 3), STACKMEM_FOUND);
	ck_assert_uint_eq(mem.sp, STACK + 0x408);
	cf_finish();
}
END_TEST

START_TEST(to_the_stack_of_the_user)
{
	cf_setup();
	put(STACK + 0xf00, CODE);	/* RCX has it, too */
	put_saved(STACK + 0xfd8, CODE, 0x33, USER + 0x800);
	put(USER + 0x900, CODE + 1);
	start(STACK + 0xe00);
	ck_assert_int_eq(find(FRAME_SYSCALL, CODE), STACKMEM_FOUND);
	ck_assert_uint_eq(mem.sp, USER + 0x800);
	ck_assert_int_eq(find(FRAME_CALL, CODE + 1), STACKMEM_FOUND);
	cf_finish();
}
END_TEST

START_TEST(not_in_the_dump)
{
	cf_setup();
	put(STACK + 8, KERNEL);
	start(STACK + 0x10000);
	ck_assert_int_eq(find(FRAME_CALL, KERNEL), STACKMEM_NOT_IN_DUMP);
	start(STACK + 1);
	ck_assert_int_eq(find(FRAME_CALL, KERNEL), STACKMEM_NOT_IN_DUMP);
	start(UINT64_MAX - 7);
	ck_assert_int_eq(find(FRAME_CALL, KERNEL), STACKMEM_NOT_IN_DUMP);
	cf_finish();
}
END_TEST

START_TEST(a_frame_at_the_very_end)
{
	cf_setup();
	put(STACK + TOP - 8, KERNEL);
	start(STACK + 0x800);
	ck_assert_int_eq(find(FRAME_IRQ, KERNEL), STACKMEM_MISSING);
	ck_assert_int_eq(find(FRAME_CALL, KERNEL), STACKMEM_FOUND);
	ck_assert_uint_eq(mem.sp, STACK + TOP);
	ck_assert_int_eq(find(FRAME_CALL, KERNEL), STACKMEM_NOT_IN_DUMP);
	cf_finish();
}
END_TEST

BTSREC_CK_MAIN("stackmem", calls_in_order, through_the_stack_of_interrupts,
	       to_the_stack_of_the_user, not_in_the_dump, a_frame_at_the_very_end)
