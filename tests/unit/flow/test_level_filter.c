// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "flow/level_filter.h"

#define KERNEL	0xffffffff81000000ULL
#define HANDLER 0xffffffff81000100ULL
#define USER	0x401000ULL

static struct level_filter level_filter;
static uint64_t n;
static enum branch_type entry_type = BRANCH_SYSCALL;

static struct branch type_of(void *arg, const struct btsrec_event *event)
{
	(void)arg;
	(void)event;
	return (struct branch){.type = entry_type, .vector = -1};
}

static bool is_handler(void *arg, uint64_t va)
{
	(void)arg;
	return va == HANDLER;
}

static const struct level_filter_lookup lookup = {.type = type_of, .is_handler = is_handler};

static struct level_filter_output branch(uint64_t from, uint64_t to)
{
	struct btsrec_event event = {
		.kind = BTSREC_EVENT_BRANCH, .cpu = 3, .n = n++, .branch = {from, to, 0}};

	return level_filter_feed(&level_filter, &event, &lookup);
}

static struct level_filter_output mark(void)
{
	struct btsrec_event event = {.kind = BTSREC_EVENT_MARK, .n = n++};

	return level_filter_feed(&level_filter, &event, &lookup);
}

static void start(bool kernel)
{
	n = 10;
	entry_type = BRANCH_SYSCALL;
	level_filter_init(&level_filter, kernel);
}

static void ck_printed(struct level_filter_output printed, bool block, bool event)
{
	ck_assert_int_eq(printed.has_block, block);
	ck_assert_int_eq(printed.has_event, event);
}

START_TEST(a_system_call)
{
	struct level_filter_output printed;

	start(false);
	ck_printed(branch(USER, USER + 1), false, true);
	ck_printed(branch(USER + 2, KERNEL), false, false);
	ck_printed(branch(KERNEL, HANDLER), false, false);
	ck_printed(branch(HANDLER, KERNEL), false, false);
	printed = branch(KERNEL, USER + 3);
	ck_printed(printed, true, false);
	ck_assert(printed.block.kernel && printed.block.has_from && printed.block.has_to);
	ck_assert_uint_eq(printed.block.cpu, 3);
	ck_assert_uint_eq(printed.block.n, 11);
	ck_assert_uint_eq(printed.block.nr_branches, 4);
	ck_assert_uint_eq(printed.block.from, USER + 2);
	ck_assert_uint_eq(printed.block.to, USER + 3);
	ck_assert_uint_eq(printed.block.entry_kva, KERNEL);
	ck_assert_uint_eq(printed.block.handler_kva, HANDLER);
	ck_printed(branch(USER, USER), false, true);
	ck_assert(!level_filter_end(&level_filter, &printed.block));
}
END_TEST

START_TEST(an_interrupt_has_no_handler_of_a_system_call)
{
	struct level_filter_output printed;

	start(false);
	entry_type = BRANCH_IRQ;
	branch(USER, KERNEL);
	branch(KERNEL, HANDLER);
	printed = branch(HANDLER, USER);
	ck_assert(printed.block.has_entry && !printed.block.handler_kva);
}
END_TEST

/* The kernel is entered twice without a way back: a part is missing. */
START_TEST(what_is_not_closed)
{
	struct level_filter_block rest;
	struct level_filter_output printed;

	start(false);
	printed = branch(KERNEL, USER);
	ck_printed(printed, true, false);
	ck_assert(!printed.block.has_from && !printed.block.has_entry && printed.block.has_to);
	branch(USER, KERNEL);
	printed = branch(USER + 1, KERNEL);
	ck_printed(printed, true, false);
	ck_assert(!printed.block.has_to);
	ck_assert_uint_eq(printed.block.from, USER);
	printed = mark();
	ck_printed(printed, true, true);
	ck_assert_uint_eq(printed.block.from, USER + 1);
	ck_printed(branch(KERNEL, KERNEL), false, false);
	printed = branch(USER, USER);
	ck_printed(printed, true, true);
	ck_assert(!printed.block.has_from && !printed.block.has_to);
	branch(USER, KERNEL);
	ck_assert(level_filter_end(&level_filter, &rest));
	ck_assert_uint_eq(rest.nr_branches, 1);
	ck_assert(!level_filter_end(&level_filter, &rest));
}
END_TEST

START_TEST(user_time_is_one_block)
{
	struct level_filter_output printed;

	start(true);
	ck_printed(branch(KERNEL, KERNEL), false, true);
	ck_printed(branch(KERNEL, USER), false, true);
	ck_printed(branch(USER + 1, USER + 2), false, false);
	printed = branch(USER + 3, KERNEL);
	ck_printed(printed, true, true);
	ck_assert(!printed.block.kernel && !printed.block.has_entry);
	ck_assert_uint_eq(printed.block.n, 12);
	ck_assert_uint_eq(printed.block.nr_branches, 1);
	ck_assert_uint_eq(printed.block.from, USER);
	ck_assert_uint_eq(printed.block.to, USER + 3);
	/* At once back in the kernel, and one without its beginning. */
	branch(KERNEL, USER);
	printed = branch(USER, KERNEL);
	ck_assert_uint_eq(printed.block.nr_branches, 0);
	printed = branch(USER, KERNEL);
	ck_assert(printed.has_block && !printed.block.has_from && printed.block.has_to);
	branch(USER, USER);
	printed = mark();
	ck_printed(printed, true, true);
	ck_assert(!printed.block.has_from && !printed.block.has_to);
}
END_TEST

BTSREC_CK_MAIN("level_filter", a_system_call, an_interrupt_has_no_handler_of_a_system_call,
	       what_is_not_closed, user_time_is_one_block)
