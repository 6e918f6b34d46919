// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "flow/preempt_count.h"

#define IP	0xffffffff81000000ULL
#define PLACE	0x20c40

static struct preempt_change change_of(const uint8_t *bytes, size_t nr_bytes)
{
	struct sem_insn insn;

	ck_assert(sem_decode(bytes, nr_bytes, IP, &insn));
	return preempt_change_of(&insn, PLACE);
}

#define check_change(wanted_op, wanted_added, ...)						\
	do {											\
		const uint8_t bytes[] = { __VA_ARGS__ };					\
		struct preempt_change change = change_of(bytes, sizeof(bytes));			\
												\
		ck_assert_int_eq(change.op, wanted_op);						\
		ck_assert_int_eq(change.added, wanted_added);					\
	} while (0)

/* As GNU as makes them, for one place of the area. */
START_TEST(instructions)
{
	/* incl, decl %gs:0x20c40 */
	check_change(PREEMPT_ADDS, 1, 0x65, 0xff, 0x04, 0x25, 0x40, 0x0c, 0x02, 0x00);
	check_change(PREEMPT_ADDS, -1, 0x65, 0xff, 0x0c, 0x25, 0x40, 0x0c, 0x02, 0x00);
	/* incl %gs:0x20c40(%rip) */
	check_change(PREEMPT_ADDS, 1, 0x65, 0xff, 0x05, 0x39, 0x0c, 0x02, 0x7f);
	/* addl, subl $0x10000 */
	check_change(PREEMPT_ADDS, 0x10000, 0x65, 0x81, 0x04, 0x25, 0x40, 0x0c, 0x02, 0x00, 0x00,
		     0x00, 0x01, 0x00);
	check_change(PREEMPT_ADDS, -0x10000, 0x65, 0x81, 0x2c, 0x25, 0x40, 0x0c, 0x02, 0x00, 0x00,
		     0x00, 0x01, 0x00);
	/* addl $-0x100; subl $-1 */
	check_change(PREEMPT_ADDS, -0x100, 0x65, 0x81, 0x04, 0x25, 0x40, 0x0c, 0x02, 0x00, 0x00,
		     0xff, 0xff, 0xff);
	check_change(PREEMPT_ADDS, 1, 0x65, 0x83, 0x2c, 0x25, 0x40, 0x0c, 0x02, 0x00, 0xff);
	/* 7.3: incq, decq; subq $0x100 */
	check_change(PREEMPT_ADDS, 1, 0x65, 0x48, 0xff, 0x04, 0x25, 0x40, 0x0c, 0x02, 0x00);
	check_change(PREEMPT_ADDS, -1, 0x65, 0x48, 0xff, 0x0c, 0x25, 0x40, 0x0c, 0x02, 0x00);
	check_change(PREEMPT_ADDS, -0x100, 0x65, 0x48, 0x81, 0x2c, 0x25, 0x40, 0x0c, 0x02, 0x00,
		     0x00, 0x01, 0x00, 0x00);
}
END_TEST

START_TEST(other_instructions)
{
	/* testl $0xffff00; mov to %eax: nothing is written */
	check_change(PREEMPT_KEEPS, 0, 0x65, 0xf7, 0x04, 0x25, 0x40, 0x0c, 0x02, 0x00, 0x00, 0xff,
		     0xff, 0x00);
	check_change(PREEMPT_KEEPS, 0, 0x65, 0x8b, 0x04, 0x25, 0x40, 0x0c, 0x02, 0x00);
	/* andl $0x7fffffff, orl $0x80000000: only PREEMPT_NEED_RESCHED */
	check_change(PREEMPT_KEEPS, 0, 0x65, 0x81, 0x24, 0x25, 0x40, 0x0c, 0x02, 0x00, 0xff, 0xff,
		     0xff, 0x7f);
	check_change(PREEMPT_KEEPS, 0, 0x65, 0x81, 0x0c, 0x25, 0x40, 0x0c, 0x02, 0x00, 0x00, 0x00,
		     0x00, 0x80);
	/* andl $0x7ffffffe; movl $1; cmpxchg %edx; addl %eax; incw: to what is not known */
	check_change(PREEMPT_SETS, 0, 0x65, 0x81, 0x24, 0x25, 0x40, 0x0c, 0x02, 0x00, 0xfe, 0xff,
		     0xff, 0x7f);
	check_change(PREEMPT_SETS, 0, 0x65, 0xc7, 0x04, 0x25, 0x40, 0x0c, 0x02, 0x00, 0x01, 0x00,
		     0x00, 0x00);
	check_change(PREEMPT_SETS, 0, 0x65, 0x0f, 0xb1, 0x14, 0x25, 0x40, 0x0c, 0x02, 0x00);
	check_change(PREEMPT_SETS, 0, 0x65, 0x01, 0x04, 0x25, 0x40, 0x0c, 0x02, 0x00);
	check_change(PREEMPT_SETS, 0, 0x65, 0x66, 0xff, 0x04, 0x25, 0x40, 0x0c, 0x02, 0x00);
	/* andq $0x7fffffff also writes bits of a count */
	check_change(PREEMPT_SETS, 0, 0x65, 0x48, 0x81, 0x24, 0x25, 0x40, 0x0c, 0x02, 0x00, 0xff,
		     0xff, 0xff, 0x7f);
	/* incl at another place, with a register, without GS */
	check_change(PREEMPT_KEEPS, 0, 0x65, 0xff, 0x04, 0x25, 0x44, 0x0c, 0x02, 0x00);
	check_change(PREEMPT_KEEPS, 0, 0x65, 0xff, 0x83, 0x40, 0x0c, 0x02, 0x00);
	check_change(PREEMPT_KEEPS, 0, 0xff, 0x04, 0x25, 0x40, 0x0c, 0x02, 0x00);
}
END_TEST

static void add(struct preempt_count *count, int32_t added, uint64_t n)
{
	preempt_count_insn(count, &(struct preempt_change){ PREEMPT_ADDS, added }, n, IP + n);
}

static void check_off(const struct preempt_count *count, uint64_t n, bool was_on, uint32_t nr)
{
	ck_assert_int_eq(count->now.is, ONOFF_OFF);
	ck_assert_int_eq(count->now.by, ONOFF_COUNT);
	ck_assert_uint_eq(count->now.n, n);
	ck_assert_uint_eq(count->now.ip, IP + n);
	ck_assert(count->now.was_on == was_on);
	ck_assert_uint_eq(count->now.count, nr);
	ck_assert(count->exact == was_on);
}

/* User code has none: what follows is exact. */
START_TEST(after_user_code)
{
	struct preempt_count count = { 0 };

	preempt_count_user(&count);
	ck_assert_int_eq(count.now.is, ONOFF_ON);
	add(&count, 1, 1);
	add(&count, 0x10000, 2);
	check_off(&count, 1, true, 0x10001);
	add(&count, -0x10000, 3);
	add(&count, -1, 4);
	ck_assert_int_eq(count.now.is, ONOFF_ON);
	add(&count, 1, 5);
	check_off(&count, 5, true, 1);
	preempt_count_insn(&count, &(struct preempt_change){ PREEMPT_KEEPS, 0 }, 6, IP);
	check_off(&count, 5, true, 1);
}
END_TEST

/* Else what was added since the lowest point forbids it, and perhaps more. */
START_TEST(lower_bound)
{
	struct preempt_count count = { 0 };

	add(&count, 1, 1);
	check_off(&count, 1, false, 1);
	add(&count, -1, 2);
	ck_assert_int_eq(count.now.is, ONOFF_UNKNOWN);
	add(&count, -1, 3);
	ck_assert_int_eq(count.now.is, ONOFF_UNKNOWN);
	add(&count, 1, 4);
	check_off(&count, 4, false, 1);
}
END_TEST

START_TEST(what_is_not_known)
{
	struct preempt_count count = { 0 };

	preempt_count_user(&count);
	add(&count, 1, 1);
	preempt_count_insn(&count, &(struct preempt_change){ PREEMPT_SETS, 0 }, 2, IP);
	ck_assert_int_eq(count.now.is, ONOFF_UNKNOWN);
	preempt_count_user(&count);
	preempt_count_cut(&count);
	ck_assert_int_eq(count.now.is, ONOFF_UNKNOWN);
	/* Something that was not seen has added it. */
	preempt_count_user(&count);
	add(&count, -1, 3);
	ck_assert_int_eq(count.now.is, ONOFF_UNKNOWN);
	add(&count, 1, 4);
	check_off(&count, 4, false, 1);
}
END_TEST

BTSREC_CK_MAIN("preempt_count", instructions, other_instructions, after_user_code, lower_bound,
	       what_is_not_known)
