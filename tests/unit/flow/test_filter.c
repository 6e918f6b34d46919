// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "check_btsrec.h"
#include "flow/filter.h"
#include "symbols/symbol.h"

#define KERNEL	0xffffffff81000000ULL
#define USER	0x401000ULL

static struct msg msg;
static struct filter filter;
static struct clock clock = { .tsc_khz = 1000000, .anchor_tsc = 0, .has_end = true,
			      .end_tsc = 5000 };

static struct branch type_of(void *arg, const struct btsrec_event *event)
{
	(void)arg;
	return (struct branch){ .type = event->branch.to % 2 ? BRANCH_RET : BRANCH_CALL };
}

/* Only one address has a name, and of another its module is known. */
static bool name_of(void *arg, const struct btsrec_side *side, uint64_t va, bool raw,
		    struct symbol_name *ret)
{
	(void)arg;
	(void)raw;
	(void)side;
	if (va == KERNEL + 0x200) {
		ret->name = NULL;
		ret->name_bytes = 0;
		ret->module = "module";
		return true;
	}
	ret->module = NULL;
	ret->name = "schedule_more";
	ret->name_bytes = 8;
	return va == KERNEL + 0x100;
}

static const struct filter_lookup lookup = { .type = type_of, .name = name_of };

static void make(struct btsrec_filter opts)
{
	btsrec_ck_ok(filter_init(&opts, &clock, &msg, &filter));
}

static bool wants_branch(uint64_t from, uint64_t to, const struct btsrec_side *side)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH, .branch = { from, to, 0 } };

	return filter_wants(&filter, &event, side, &lookup);
}

START_TEST(nothing_is_asked)
{
	make((struct btsrec_filter){ 0 });
	ck_assert(!filter.any);
	ck_assert(wants_branch(USER, KERNEL, NULL));
	btsrec_ck_ok(filter_init(NULL, &clock, &msg, &filter));
	ck_assert(!filter.any);
	make((struct btsrec_filter){ .user = true, .kernel = true });
	ck_assert(!filter.any);
}
END_TEST

START_TEST(threads_that_ran)
{
	struct btsrec_side side = { .pid = 7, .tgid = 5 };
	struct btsrec_event sw = { .kind = BTSREC_EVENT_SWITCH };

	memcpy(side.comm, "a-name-of-all-16", sizeof(side.comm));
	make((struct btsrec_filter){ .pids = "9,7", .tgids = "5", .comm = "a-*-16" });
	ck_assert(wants_branch(USER, USER, &side));
	ck_assert(!wants_branch(USER, USER, NULL));
	side.tgid = 7;
	ck_assert(!wants_branch(USER, USER, &side));
	side.tgid = 5;
	side.comm[15] = '7';
	ck_assert(!wants_branch(USER, USER, &side));
	make((struct btsrec_filter){ .pids = "7" });
	ck_assert(!filter_wants(&filter, &sw, &side, &lookup));
	sw.sw.next.pid = 7;
	ck_assert(filter_wants(&filter, &sw, NULL, &lookup));
}
END_TEST

START_TEST(a_loss_is_never_left_out)
{
	struct btsrec_event gap = { .kind = BTSREC_EVENT_GAP };

	make((struct btsrec_filter){ .pids = "7", .types = "ret", .user = true });
	ck_assert(filter_wants(&filter, &gap, NULL, &lookup));
}
END_TEST

START_TEST(modules)
{
	make((struct btsrec_filter){ .modules = "x,mod*" });
	ck_assert(filter.any && filter.by_branch);
	ck_assert(wants_branch(KERNEL + 0x200, KERNEL + 0x300, NULL));
	ck_assert(wants_branch(KERNEL + 0x300, KERNEL + 0x200, NULL));
	ck_assert(!wants_branch(KERNEL + 0x100, KERNEL + 0x300, NULL));
	ck_assert(filter_place(&filter, NULL, KERNEL + 0x200, &lookup));
	ck_assert(!filter_place(&filter, NULL, KERNEL + 0x100, &lookup));
	make((struct btsrec_filter){ .modules = "odule" });
	ck_assert(!wants_branch(KERNEL + 0x200, KERNEL + 0x200, NULL));
	make((struct btsrec_filter){ .modules = "module", .symbols = "schedule" });
	ck_assert(wants_branch(KERNEL + 0x200, KERNEL + 0x100, NULL));
	ck_assert(!wants_branch(KERNEL + 0x200, KERNEL + 0x200, NULL));
}
END_TEST

START_TEST(which_branch)
{
	struct btsrec_event mark = { .kind = BTSREC_EVENT_MARK };

	make((struct btsrec_filter){ .types = "ret,syscall" });
	ck_assert(wants_branch(KERNEL, KERNEL + 1, NULL));
	ck_assert(!wants_branch(KERNEL, KERNEL, NULL));
	ck_assert(!filter_wants(&filter, &mark, NULL, &lookup));
	make((struct btsrec_filter){ .symbols = "x,sched*le" });
	ck_assert(wants_branch(KERNEL, KERNEL + 0x100, NULL));
	ck_assert(wants_branch(KERNEL + 0x100, KERNEL, NULL));
	ck_assert(!wants_branch(KERNEL, KERNEL, NULL));
	/* The name ends where it ends. */
	make((struct btsrec_filter){ .symbols = "schedule_more" });
	ck_assert(!wants_branch(KERNEL, KERNEL + 0x100, NULL));
	make((struct btsrec_filter){ .symbols = "*" });
	ck_assert(wants_branch(KERNEL + 0x200, KERNEL + 0x100, NULL));
	ck_assert(!wants_branch(KERNEL + 0x200, KERNEL + 0x200, NULL));
	make((struct btsrec_filter){ .ranges = "1-2,0x401000-401000" });
	ck_assert(wants_branch(KERNEL, USER, NULL));
	ck_assert(!wants_branch(KERNEL, USER + 1, NULL));
	ck_assert(wants_branch(2, KERNEL, NULL));
	make((struct btsrec_filter){ .kernel = true });
	ck_assert(wants_branch(KERNEL, USER, NULL));
	ck_assert(!wants_branch(USER, KERNEL, NULL));
}
END_TEST

/* Marks at 1000, 2000, ... with a branch after each; a pause from 2500 to 3000. */
static struct filter_window window_of(const char *from, const char *to)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH };
	struct filter_window window;

	make((struct btsrec_filter){ .from = from, .to = to });
	window = filter_window(&filter);
	for (event.n = 0; event.n < 10; event.n++) {
		event.kind = event.n % 2 ? BTSREC_EVENT_BRANCH : BTSREC_EVENT_MARK;
		event.mark.tsc = 1000 * (event.n / 2 + 1);
		if (event.n == 4) {
			event.kind = BTSREC_EVENT_GAP;
			event.gap = (struct btsrec_gap){ .has_resume = true };
			event.gap.resume.tsc = 3000;
			event.gap.resume.stop_tsc = 2500;
		}
		filter_window_feed(&filter, &event, &window);
	}
	return window;
}

static void ck_window(const char *from, const char *to, uint64_t first_n, uint64_t end_n)
{
	struct filter_window window = window_of(from, to);

	ck_assert_msg(window.first_n == first_n && window.end_n == end_n,
		      "%s to %s: [%lu, %lu), wanted [%lu, %lu)", from ? from : "-",
		      to ? to : "-", window.first_n, window.end_n, first_n, end_n);
}

START_TEST(windows)
{
	ck_window(NULL, NULL, 0, UINT64_MAX);
	ck_window("n:3", "n:5", 3, 6);
	ck_window("n:0", "n:18446744073709551615", 0, UINT64_MAX);
	ck_window("tsc:1500", "tsc:1600", 1, 2);
	ck_window("tsc:2000", "tsc:2000", 1, 4);
	/* In the pause, and after it began. */
	ck_window("tsc:2600", "tsc:2700", 4, 5);
	ck_window("tsc:2400", "tsc:2450", 3, 4);
	ck_window("tsc:3000", "tsc:3100", 4, 6);
	ck_window("tsc:1", "tsc:2", 0, 0);
	ck_window("tsc:6000", NULL, 9, UINT64_MAX);
	/* 1 GHz: a cycle is a nanosecond; the freeze is at 5000. */
	ck_window("0.000002", "0.0000021", 1, 4);
	ck_window("-0.000003", NULL, 1, UINT64_MAX);
	ck_window("-1", "3", 0, UINT64_MAX);
}
END_TEST

static void ck_refused(struct btsrec_filter opts, const char *part)
{
	struct filter untouched = filter;

	btsrec_ck_fails(filter_init(&opts, &clock, &msg, &filter), BTSREC_ERR_INVAL, msg.text,
			part);
	ck_assert_mem_eq(&untouched, &filter, sizeof(filter));
}

START_TEST(what_is_refused)
{
	static const char *const no_times[] = {
		"", "-", "n:", "n:x", "tsc:-1", "1.", ".5", "1.0000000001", "1.5x", "5s", "--1",
		"20000000000", "n:99999999999999999999", "1.-5",
	};
	static const char *const no_ids[] = { "", ",", "1,", ",1", "-1", "1 2", "4294967296" };
	static const char *const no_ranges[] = { "", "1", "2-1", "1-", "-1", "1-2-3", "x-y",
						 "0-10000000000000000" };

	for (size_t i = 0; i < sizeof(no_times) / sizeof(no_times[0]); i++)
		ck_refused((struct btsrec_filter){ .from = no_times[i] }, "no time");
	for (size_t i = 0; i < sizeof(no_ids) / sizeof(no_ids[0]); i++)
		ck_refused((struct btsrec_filter){ .pids = no_ids[i] }, "thread");
	for (size_t i = 0; i < sizeof(no_ranges) / sizeof(no_ranges[0]); i++)
		ck_refused((struct btsrec_filter){ .ranges = no_ranges[i] }, "addresses");
	ck_refused((struct btsrec_filter){ .types = "call,,ret" },
		   "'' is no kind of branch: there are unknown, none, call");
	ck_refused((struct btsrec_filter){ .types = "call,jump,ret" }, "'jump' is no kind");
	ck_refused((struct btsrec_filter){ .from = "n:5", .to = "n:4" }, "ends before");
	ck_refused((struct btsrec_filter){ .from = "-0.000001", .to = "tsc:3999" }, "ends before");
}
END_TEST

START_TEST(patterns)
{
	static const char *const broken[] = { "[", "[]", "[a", "a[!]", "[a\\]", "[[:alpha:]", "\\",
					      "a\\" };
	static const char *const fine[] = { "*", "[a]", "[]]", "[!]a]", "\\[", "[[:alpha:]]", "]",
					    "[\\]]", "a?[b-c]" };

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		ck_refused((struct btsrec_filter){ .comm = broken[i] }, "no pattern");
		ck_refused((struct btsrec_filter){ .symbols = broken[i] }, "no pattern");
	}
	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++)
		make((struct btsrec_filter){ .comm = fine[i], .symbols = fine[i] });
	ck_refused((struct btsrec_filter){ .modules = "a,," }, "no list of modules: one is empty");
	ck_refused((struct btsrec_filter){ .symbols = "" }, "empty");
	ck_refused((struct btsrec_filter){ .symbols = "a," }, "empty");
	ck_refused((struct btsrec_filter){ .symbols = "a,[b,c]" }, "'[b'");
	make((struct btsrec_filter){ .comm = "", .symbols = "a,b" });
}
END_TEST

/* @nr elements, all @element but for their last digit. */
static const char *list_of(size_t nr, const char *element)
{
	static char list[16 * (FILTER_MAX_IDS + 1)];
	size_t at = 0;

	for (size_t i = 0; i < nr; i++)
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s%zu", i ? "," : "",
				       element, i % 10);
	return list;
}

/* A list that is too long gives another error than one that is not understood. */
START_TEST(how_much_is_taken)
{
	char name[FILTER_MAX_PATTERN_BYTES + 4] = "";
	struct btsrec_side side = { .pid = 11 };

	ck_refused((struct btsrec_filter){ .tgids = list_of(FILTER_MAX_IDS + 1, "1") },
		   "a list of process numbers has at most 1024, not 1025");
	ck_refused((struct btsrec_filter){ .pids = list_of(FILTER_MAX_IDS + 1, "x") }, "is no list");
	ck_refused((struct btsrec_filter){ .ranges = list_of(FILTER_MAX_RANGES + 1, "1-10") },
		   "a list of addresses FIRST-LAST has at most 16, not 17");
	make((struct btsrec_filter){ .ranges = list_of(FILTER_MAX_RANGES, "1-10") });
	make((struct btsrec_filter){ .pids = list_of(FILTER_MAX_IDS, "1") });
	ck_assert(wants_branch(USER, USER, &side));
	side.pid = 20;
	ck_assert(!wants_branch(USER, USER, &side));
	memset(name, 'n', sizeof(name) - 1);
	memcpy(name, "a,", 2);
	ck_refused((struct btsrec_filter){ .symbols = name }, "has more than 255 bytes");
	make((struct btsrec_filter){ .symbols = name + 3 });
}
END_TEST

/* In whatever order they are given. */
START_TEST(one_of_several)
{
	make((struct btsrec_filter){ .pids = "9,3,7,1,3,8" });
	for (uint32_t pid = 0; pid < 12; pid++) {
		struct btsrec_side side = { .pid = pid };

		ck_assert_msg(wants_branch(USER, USER, &side) ==
			      (pid == 1 || pid == 3 || (pid >= 7 && pid <= 9)), "%u", pid);
	}
}
END_TEST

START_TEST(times_need_a_clock)
{
	struct clock good = clock;

	clock.has_end = false;
	ck_refused((struct btsrec_filter){ .to = "-1" }, "not frozen");
	make((struct btsrec_filter){ .to = "1" });
	clock.tsc_khz = 0;
	ck_refused((struct btsrec_filter){ .to = "1" }, "rate of the TSC");
	make((struct btsrec_filter){ .to = "tsc:1" });
	clock = good;
}
END_TEST

BTSREC_CK_MAIN("filter", nothing_is_asked, threads_that_ran, a_loss_is_never_left_out, which_branch,
	       modules, windows, what_is_refused, patterns, how_much_is_taken, one_of_several,
	       times_need_a_clock)
