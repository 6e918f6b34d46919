// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "splay.h"

#define KERNEL	0xffffffff81000000ULL
#define HANDLER	0xffffffff81000100ULL
#define USER	0x401000ULL

static struct splay splay;
static uint64_t n;
static enum branch_type entry_type = BRANCH_SYSCALL;

static struct branch type_of(void *arg, const struct btsrec_event *event)
{
	(void)arg;
	(void)event;
	return (struct branch){ .type = entry_type, .vector = -1 };
}

static bool is_handler(void *arg, uint64_t va)
{
	(void)arg;
	return va == HANDLER;
}

static const struct splay_lookup lookup = { .type = type_of, .is_handler = is_handler };

static struct splay_told branch(uint64_t from, uint64_t to)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH, .cpu = 3, .n = n++,
				      .branch = { from, to, 0 } };

	return splay_feed(&splay, &event, &lookup);
}

static struct splay_told mark(void)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_MARK, .n = n++ };

	return splay_feed(&splay, &event, &lookup);
}

static void start(bool kernel)
{
	n = 10;
	entry_type = BRANCH_SYSCALL;
	splay_init(&splay, kernel);
}

static void ck_told(struct splay_told told, bool block, bool event)
{
	ck_assert_int_eq(told.has_block, block);
	ck_assert_int_eq(told.has_event, event);
}

START_TEST(a_system_call)
{
	struct splay_told told;

	start(false);
	ck_told(branch(USER, USER + 1), false, true);
	ck_told(branch(USER + 2, KERNEL), false, false);
	ck_told(branch(KERNEL, HANDLER), false, false);
	ck_told(branch(HANDLER, KERNEL), false, false);
	told = branch(KERNEL, USER + 3);
	ck_told(told, true, false);
	ck_assert(told.block.kernel && told.block.has_from && told.block.has_to);
	ck_assert_uint_eq(told.block.cpu, 3);
	ck_assert_uint_eq(told.block.n, 11);
	ck_assert_uint_eq(told.block.nr_branches, 4);
	ck_assert_uint_eq(told.block.from, USER + 2);
	ck_assert_uint_eq(told.block.to, USER + 3);
	ck_assert_uint_eq(told.block.entry_kva, KERNEL);
	ck_assert_uint_eq(told.block.handler_kva, HANDLER);
	ck_told(branch(USER, USER), false, true);
	ck_assert(!splay_end(&splay, &told.block));
}
END_TEST

START_TEST(an_interrupt_has_no_handler_of_a_system_call)
{
	struct splay_told told;

	start(false);
	entry_type = BRANCH_IRQ;
	branch(USER, KERNEL);
	branch(KERNEL, HANDLER);
	told = branch(HANDLER, USER);
	ck_assert(told.block.has_entry && !told.block.handler_kva);
}
END_TEST

/* The kernel is entered twice without a way back: a part is missing. */
START_TEST(what_is_not_closed)
{
	struct splay_block rest;
	struct splay_told told;

	start(false);
	told = branch(KERNEL, USER);
	ck_told(told, true, false);
	ck_assert(!told.block.has_from && !told.block.has_entry && told.block.has_to);
	branch(USER, KERNEL);
	told = branch(USER + 1, KERNEL);
	ck_told(told, true, false);
	ck_assert(!told.block.has_to);
	ck_assert_uint_eq(told.block.from, USER);
	told = mark();
	ck_told(told, true, true);
	ck_assert_uint_eq(told.block.from, USER + 1);
	ck_told(branch(KERNEL, KERNEL), false, false);
	told = branch(USER, USER);
	ck_told(told, true, true);
	ck_assert(!told.block.has_from && !told.block.has_to);
	branch(USER, KERNEL);
	ck_assert(splay_end(&splay, &rest));
	ck_assert_uint_eq(rest.nr_branches, 1);
	ck_assert(!splay_end(&splay, &rest));
}
END_TEST

START_TEST(user_time_is_one_block)
{
	struct splay_told told;

	start(true);
	ck_told(branch(KERNEL, KERNEL), false, true);
	ck_told(branch(KERNEL, USER), false, true);
	ck_told(branch(USER + 1, USER + 2), false, false);
	told = branch(USER + 3, KERNEL);
	ck_told(told, true, true);
	ck_assert(!told.block.kernel && !told.block.has_entry);
	ck_assert_uint_eq(told.block.n, 12);
	ck_assert_uint_eq(told.block.nr_branches, 1);
	ck_assert_uint_eq(told.block.from, USER);
	ck_assert_uint_eq(told.block.to, USER + 3);
	/* At once back in the kernel, and one whose beginning is not there. */
	branch(KERNEL, USER);
	told = branch(USER, KERNEL);
	ck_assert_uint_eq(told.block.nr_branches, 0);
	told = branch(USER, KERNEL);
	ck_assert(told.has_block && !told.block.has_from && told.block.has_to);
	branch(USER, USER);
	told = mark();
	ck_told(told, true, true);
	ck_assert(!told.block.has_from && !told.block.has_to);
}
END_TEST

BTSREC_CK_MAIN("splay", a_system_call, an_interrupt_has_no_handler_of_a_system_call,
	       what_is_not_closed, user_time_is_one_block)
