// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "flow/fault.h"

#define KERNEL		0xffffffff81000000ULL
#define FAULTING	0xffffffff81200000ULL
#define HANDLER		0xffffffff82000e00ULL
#define PANIC		0xffffffff81300000ULL
#define USER		0x0000555555554000ULL
#define RECORDING	0xc0

static struct btsrec_freeze freeze;
static struct fault_search search;
static uint64_t n;
static bool more;

static void begin(enum btsrec_reason reason, uint64_t debugctl)
{
	freeze = (struct btsrec_freeze){ .reason = reason, .debugctl = debugctl, .pid = 7 };
	n = 1000;
	more = fault_begin(&search, &freeze, BTSREC_SOURCE_BTS);
}

static void feed_as(enum branch_type type, int vector, uint64_t from, uint64_t to)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH, .n = n--,
				      .branch = { .from = from, .to = to } };
	struct branch branch = { .type = type, .vector = vector };

	more = fault_feed(&search, &event, &branch);
}

static void feed(enum branch_type type, int vector)
{
	feed_as(type, vector, FAULTING, HANDLER);
}

static void feed_jump(void)
{
	feed_as(BRANCH_JUMP, -1, KERNEL, KERNEL + 0x100);
}

static void feed_switch(uint32_t prev, uint32_t next)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_SWITCH, .n = n-- };

	event.sw.tsc = event.n;
	event.sw.prev.pid = prev;
	event.sw.next.pid = next;
	more = fault_feed(&search, &event, NULL);
}

static void feed_gap(enum btsrec_gap_kind kind, enum btsrec_reason reason)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_GAP, .n = n-- };

	event.gap.kind = kind;
	event.gap.has_resume = kind == BTSREC_GAP_PAUSED;
	event.gap.resume.reason = reason;
	more = fault_feed(&search, &event, NULL);
}

/* What is before it is only what led there. */
static void ck_found(enum fault_kind kind, int vector, uint64_t at_n, uint64_t nr_newer)
{
	ck_assert_str_eq(fault_kind_str(search.fault.kind), fault_kind_str(kind));
	ck_assert_int_eq(search.fault.why, FAULT_FOUND);
	ck_assert_int_eq(search.fault.vector, vector);
	ck_assert_uint_eq(search.fault.n, at_n);
	ck_assert_uint_eq(search.fault.nr_newer, nr_newer);
	ck_assert_uint_eq(search.fault.from, FAULTING);
}

static void ck_unknown(enum fault_why why)
{
	ck_assert(!more);
	ck_assert_int_eq(search.fault.kind, FAULT_UNKNOWN);
	ck_assert_str_eq(fault_why_str(search.fault.why), fault_why_str(why));
	ck_assert_int_eq(search.fault.vector, -1);
}

START_TEST(an_oops_is_its_exception)
{
	begin(BTSREC_REASON_OOPS, RECORDING);
	feed_jump();
	feed_jump();
	feed(BRANCH_EXCEPTION, 14);
	ck_found(FAULT_EXCEPTION, 14, 998, 3);
	feed(BRANCH_EXCEPTION, 13);
	ck_found(FAULT_EXCEPTION, 14, 998, 3);
	ck_assert(more);
	ck_assert_uint_eq(search.fault.nr_before, 1);
	ck_assert_uint_eq(search.fault.before[0].from, FAULTING);
}
END_TEST

START_TEST(what_led_to_the_fault_is_kept)
{
	begin(BTSREC_REASON_OOPS, RECORDING);
	feed(BRANCH_EXCEPTION, 14);
	feed_as(BRANCH_RET, -1, KERNEL, FAULTING);
	feed_jump();
	ck_assert(more);
	feed_switch(7, 8);
	ck_assert(!more);
	ck_assert_uint_eq(search.fault.nr_before, 2);
	ck_assert_uint_eq(search.fault.before[0].to, FAULTING);
	ck_assert_uint_eq(search.fault.before[1].from, KERNEL);
	begin(BTSREC_REASON_OOPS, RECORDING);
	feed(BRANCH_EXCEPTION, 14);
	for (int i = 0; i < FAULT_NR_BEFORE; i++) {
		ck_assert(more);
		feed_jump();
	}
	ck_assert(!more);
	ck_assert_uint_eq(search.fault.nr_before, FAULT_NR_BEFORE);
}
END_TEST

/* An interrupt may come where the fault is, and right before it; one in it, too. */
START_TEST(an_interrupt_at_the_fault_did_not_lead_there)
{
	begin(BTSREC_REASON_OOPS, RECORDING);
	feed(BRANCH_EXCEPTION, 14);
	feed_as(BRANCH_IRET, -1, KERNEL, FAULTING);
	feed_jump();
	feed_as(BRANCH_IRET, -1, KERNEL, KERNEL + 8);
	feed_gap(BTSREC_GAP_PAUSED, BTSREC_REASON_NMI);
	feed_as(BRANCH_NMI, 2, KERNEL + 8, HANDLER);
	feed_as(BRANCH_IRET, -1, KERNEL, KERNEL + 2);
	feed_as(BRANCH_IRQ, 236, FAULTING, HANDLER);
	ck_assert(more);
	ck_assert_uint_eq(search.fault.nr_before, 0);
	feed_as(BRANCH_JUMP, -1, KERNEL, FAULTING);
	feed_as(BRANCH_IRQ, 236, KERNEL, HANDLER);
	ck_assert_uint_eq(search.fault.nr_before, 2);
	ck_assert_uint_eq(search.fault.before[0].to, FAULTING);
}
END_TEST

START_TEST(what_came_and_went_is_skipped)
{
	begin(BTSREC_REASON_OOPS, RECORDING);
	feed_jump();
	feed_as(BRANCH_IRET, -1, HANDLER + 8, KERNEL);
	feed_as(BRANCH_IRET, -1, HANDLER + 8, KERNEL + 0x40);
	feed(BRANCH_EXCEPTION, 14);
	feed(BRANCH_IRQ, 236);
	ck_assert(more);
	feed(BRANCH_EXCEPTION, 6);
	ck_found(FAULT_EXCEPTION, 6, 995, 6);
}
END_TEST

START_TEST(an_iret_behind_itself_is_no_return)
{
	begin(BTSREC_REASON_OOPS, RECORDING);
	feed_as(BRANCH_IRET, -1, KERNEL, KERNEL + 2);
	feed(BRANCH_EXCEPTION, 14);
	ck_found(FAULT_EXCEPTION, 14, 999, 2);
}
END_TEST

START_TEST(a_breakpoint_on_the_way_is_skipped)
{
	begin(BTSREC_REASON_OOPS, 0);
	feed(BRANCH_INT, 3);
	feed(BRANCH_EXCEPTION, 6);
	ck_found(FAULT_EXCEPTION, 6, 999, 2);
}
END_TEST

/* Without another exception it is the fault; the recorder's own is where the freeze found it. */
START_TEST(a_breakpoint_alone)
{
	begin(BTSREC_REASON_OOPS, 0);
	freeze.ip = KERNEL + 1;
	feed_as(BRANCH_INT, 3, KERNEL, HANDLER);
	feed(BRANCH_INT, 3);
	feed_jump();
	ck_assert(more);
	feed_as(BRANCH_SYSCALL, -1, USER, KERNEL);
	ck_assert(!more);
	ck_found(FAULT_EXCEPTION, 3, 999, 2);
	begin(BTSREC_REASON_OOPS, 0);
	freeze.ip = KERNEL + 1;
	feed_as(BRANCH_INT, 3, KERNEL, HANDLER);
	feed_as(BRANCH_SYSCALL, -1, USER, KERNEL);
	ck_unknown(FAULT_NOT_ENTERED);
	/* A panic has no such thing. */
	begin(BTSREC_REASON_PANIC, 0);
	feed(BRANCH_INT, 3);
	feed_as(BRANCH_SYSCALL, -1, USER, KERNEL);
	ck_unknown(FAULT_NOT_ENTERED);
}
END_TEST

START_TEST(other_threads_are_skipped)
{
	begin(BTSREC_REASON_OOPS, RECORDING);
	feed_jump();
	feed_switch(9, 7);
	feed_as(BRANCH_SYSRET, -1, KERNEL, USER);
	feed(BRANCH_EXCEPTION, 14);
	feed_switch(7, 9);
	feed_jump();
	ck_assert(more);
	feed(BRANCH_EXCEPTION, 14);
	ck_found(FAULT_EXCEPTION, 14, 994, 5);
	ck_assert_uint_eq(search.back_tsc, 999);
	ck_assert_uint_eq(search.left_tsc, 996);
	feed_gap(BTSREC_GAP_NOT_IN_DUMP, BTSREC_REASON_NONE);
	fault_moved(&search);
	ck_unknown(FAULT_MOVED);
}
END_TEST

/* Nor is it known that it is an exception, but for the registers of one. */
START_TEST(without_idt_the_vector_is_unknown)
{
	struct btsrec_registers kept = { .flags = BTSREC_REGISTERS_ENTRY, .entry.ip = FAULTING };

	begin(BTSREC_REASON_OOPS, RECORDING);
	freeze.ip = FAULTING;
	feed(BRANCH_ENTRY, -1);
	ck_found(FAULT_EXCEPTION, -1, 1000, 1);

	begin(BTSREC_REASON_OOPS, RECORDING);
	search.registers = &kept;
	feed(BRANCH_ENTRY, -1);
	ck_found(FAULT_EXCEPTION, -1, 1000, 1);

	kept.entry.ip = KERNEL;
	begin(BTSREC_REASON_OOPS, RECORDING);
	search.registers = &kept;
	feed(BRANCH_ENTRY, -1);
	ck_unknown(FAULT_NOT_ENTERED);
	begin(BTSREC_REASON_OOPS, RECORDING);
	feed(BRANCH_ENTRY, -1);
	ck_unknown(FAULT_NOT_ENTERED);
}
END_TEST

START_TEST(an_oops_needs_an_exception)
{
	static const enum branch_type others[] = { BRANCH_IRQ, BRANCH_NMI };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		begin(BTSREC_REASON_OOPS, RECORDING);
		feed_jump();
		feed(others[i], 236);
		ck_unknown(FAULT_NOT_ENTERED);
	}
	begin(BTSREC_REASON_OOPS, RECORDING);
	feed_as(BRANCH_SYSCALL, -1, USER, KERNEL);
	ck_unknown(FAULT_NOT_ENTERED);
	begin(BTSREC_REASON_OOPS, RECORDING);
	feed_as(BRANCH_IRET, -1, KERNEL, USER);
	ck_unknown(FAULT_NOT_ENTERED);
}
END_TEST

START_TEST(an_oops_in_a_handler_of_nmis_is_the_nmi)
{
	begin(BTSREC_REASON_OOPS, 0);
	feed_jump();
	feed(BRANCH_NMI, 2);
	ck_found(FAULT_NMI, -1, 999, 2);
}
END_TEST

START_TEST(a_user_address_may_fault)
{
	begin(BTSREC_REASON_OOPS, RECORDING);
	feed_as(BRANCH_EXCEPTION, 14, 0, HANDLER);
	ck_assert_int_eq(search.fault.kind, FAULT_EXCEPTION);
	ck_assert_uint_eq(search.fault.from, 0);
}
END_TEST

static void panic_with(uint64_t entry_to, uint64_t site)
{
	begin(BTSREC_REASON_PANIC, RECORDING);
	freeze.ip = site + 5;
	feed_jump();
	feed_as(BRANCH_CALL, -1, site, KERNEL);
	feed_as(BRANCH_CALL, -1, FAULTING, entry_to);
}

START_TEST(a_panic_is_its_call)
{
	panic_with(PANIC, PANIC);
	ck_found(FAULT_CALL, -1, 998, 3);
	panic_with(PANIC, PANIC + 4);
	ck_found(FAULT_CALL, -1, 998, 3);
	panic_with(PANIC + 4, PANIC + 4);
	ck_found(FAULT_CALL, -1, 998, 3);
	panic_with(PANIC + 8, PANIC + 4);
	ck_assert(more);
}
END_TEST

START_TEST(an_interrupt_before_the_hook_is_skipped)
{
	begin(BTSREC_REASON_HUNG_TASK, RECORDING);
	freeze.ip = PANIC + 5;
	feed_as(BRANCH_CALL, -1, PANIC, KERNEL);
	feed_as(BRANCH_IRET, -1, HANDLER, PANIC);
	feed(BRANCH_IRQ, 236);
	ck_assert(more);
	feed_as(BRANCH_CALL_IND, -1, FAULTING, PANIC);
	ck_found(FAULT_CALL, -1, 997, 4);
}
END_TEST

START_TEST(a_panic_needs_its_call)
{
	begin(BTSREC_REASON_PANIC, RECORDING);
	freeze.ip = PANIC + 5;
	feed(BRANCH_EXCEPTION, 14);
	ck_unknown(FAULT_NOT_ENTERED);
}
END_TEST

START_TEST(a_panic_during_a_pause_is_what_was_entered)
{
	begin(BTSREC_REASON_PANIC, 0);
	feed_jump();
	feed(BRANCH_EXCEPTION, 6);
	ck_found(FAULT_EXCEPTION, 6, 999, 2);
	begin(BTSREC_REASON_PANIC, 0x40);
	feed(BRANCH_NMI, 2);
	ck_found(FAULT_NMI, -1, 1000, 1);
	begin(BTSREC_REASON_PANIC, 0);
	feed(BRANCH_IRQ, 236);
	ck_unknown(FAULT_NOT_ENTERED);
}
END_TEST

START_TEST(a_report_that_is_not_recorded_is_where_the_history_ends)
{
	static const enum btsrec_reason reported[] = {
		BTSREC_REASON_SOFT_LOCKUP, BTSREC_REASON_HUNG_TASK, BTSREC_REASON_RCU_STALL,
	};

	for (size_t i = 0; i < sizeof(reported) / sizeof(reported[0]); i++) {
		begin(reported[i], 0);
		ck_unknown(FAULT_REPORT);
		begin(reported[i], RECORDING);
		ck_assert(more);
	}
}
END_TEST

START_TEST(what_freeze_on_names_is_no_fault)
{
	static const enum btsrec_reason at_the_end[] = {
		BTSREC_REASON_TRACEPOINT, BTSREC_REASON_REQUEST,
	};

	for (size_t i = 0; i < sizeof(at_the_end) / sizeof(at_the_end[0]); i++) {
		freeze = (struct btsrec_freeze){ .reason = at_the_end[i],
						 .pause_reason = at_the_end[i] };
		more = fault_begin(&search, &freeze, BTSREC_SOURCE_BTS);
		ck_unknown(FAULT_TRIGGER);
		freeze.pause_reason = BTSREC_REASON_NMI;
		more = fault_begin(&search, &freeze, BTSREC_SOURCE_BTS);
		ck_unknown(FAULT_IN_NMI);
	}
	begin(BTSREC_REASON_FUNCTION, 0);
	ck_unknown(FAULT_PAUSED);
	freeze = (struct btsrec_freeze){ .reason = BTSREC_REASON_FUNCTION, .ip = PANIC + 5,
					 .pause_reason = BTSREC_REASON_FUNCTION };
	more = fault_begin(&search, &freeze, BTSREC_SOURCE_BTS);
	ck_assert(more);
	n = 1000;
	feed_as(BRANCH_CALL, -1, PANIC, KERNEL);
	feed_as(BRANCH_CALL, -1, FAULTING, PANIC);
	ck_found(FAULT_CALL, -1, 999, 2);
	begin(BTSREC_REASON_WARN, 0);
	feed(BRANCH_EXCEPTION, 6);
	ck_found(FAULT_EXCEPTION, 6, 1000, 1);
}
END_TEST

START_TEST(lockups_and_machine_checks_have_their_entry)
{
	begin(BTSREC_REASON_HARD_LOCKUP, RECORDING);
	feed(BRANCH_NMI, 2);
	ck_found(FAULT_NMI, -1, 1000, 1);
	begin(BTSREC_REASON_NMI, RECORDING);
	feed(BRANCH_EXCEPTION, 14);
	ck_unknown(FAULT_NOT_ENTERED);
	begin(BTSREC_REASON_MCE, RECORDING);
	feed(BRANCH_EXCEPTION, 18);
	ck_found(FAULT_EXCEPTION, 18, 1000, 1);
	begin(BTSREC_REASON_MCE, RECORDING);
	feed(BRANCH_EXCEPTION, 14);
	ck_unknown(FAULT_NOT_ENTERED);
}
END_TEST

START_TEST(the_others_have_their_nmi)
{
	static const struct {
		enum btsrec_reason reason;
		enum fault_why why;
	} pauses[] = {
		{ BTSREC_REASON_SNAPSHOT, FAULT_COPIED }, { BTSREC_REASON_NMI, FAULT_IN_NMI },
		{ BTSREC_REASON_CONSOLE, FAULT_PRINTED }, { BTSREC_REASON_OOPS, FAULT_HANDLED },
		{ BTSREC_REASON_FILTERED, FAULT_NOT_CHOSEN }, { BTSREC_REASON_RATE, FAULT_RATE },
		/* Not a report of what it was stopped for. */
		{ BTSREC_REASON_RCU_STALL, FAULT_HANDLED },
	};

	begin(BTSREC_REASON_OOPS, RECORDING);
	freeze.via_nmi = 1;
	more = fault_begin(&search, &freeze, BTSREC_SOURCE_BTS);
	feed_jump();
	feed(BRANCH_NMI, 2);
	ck_found(FAULT_STOP, -1, 999, 2);
	freeze.debugctl = 0;
	more = fault_begin(&search, &freeze, BTSREC_SOURCE_BTS);
	ck_unknown(FAULT_PAUSED);
	for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
		freeze.pause_reason = pauses[i].reason;
		more = fault_begin(&search, &freeze, BTSREC_SOURCE_BTS);
		ck_unknown(pauses[i].why);
	}
}
END_TEST

START_TEST(a_pause_for_another_cause_hides_the_fault)
{
	begin(BTSREC_REASON_PANIC, 0);
	freeze.pause_reason = BTSREC_REASON_OOPS;
	more = fault_begin(&search, &freeze, BTSREC_SOURCE_BTS);
	ck_assert(more);
	freeze.pause_reason = BTSREC_REASON_SNAPSHOT;
	more = fault_begin(&search, &freeze, BTSREC_SOURCE_BTS);
	ck_unknown(FAULT_COPIED);
	freeze.pause_reason = BTSREC_REASON_CONSOLE;
	more = fault_begin(&search, &freeze, BTSREC_SOURCE_BTS);
	ck_unknown(FAULT_PRINTED);
	freeze.pause_reason = BTSREC_REASON_FILTERED;
	more = fault_begin(&search, &freeze, BTSREC_SOURCE_BTS);
	ck_unknown(FAULT_NOT_CHOSEN);
	freeze.pause_reason = BTSREC_REASON_RATE;
	more = fault_begin(&search, &freeze, BTSREC_SOURCE_BTS);
	ck_unknown(FAULT_RATE);
}
END_TEST

START_TEST(some_have_none)
{
	more = fault_begin(&search, NULL, BTSREC_SOURCE_BTS);
	ck_unknown(FAULT_NOT_FROZEN);
	begin(BTSREC_REASON_MANUAL, RECORDING);
	ck_unknown(FAULT_NO_FAULT);
	begin(BTSREC_REASON_CRASH_SHUTDOWN, RECORDING);
	ck_unknown(FAULT_LATE);
	begin(99, RECORDING);
	ck_unknown(FAULT_LATE);
	begin(BTSREC_REASON_OOPS, RECORDING);
	feed_jump();
	ck_assert(more);
	ck_assert_int_eq(search.fault.why, FAULT_TOO_OLD);
}
END_TEST

START_TEST(a_hole_ends_the_search)
{
	begin(BTSREC_REASON_OOPS, RECORDING);
	feed_gap(BTSREC_GAP_PAUSED, BTSREC_REASON_OOPS);
	ck_assert(more);
	feed_gap(BTSREC_GAP_PAUSED, BTSREC_REASON_NMI);
	ck_assert(more);
	feed_gap(BTSREC_GAP_PAUSED, BTSREC_REASON_FOREIGN);
	ck_unknown(FAULT_INCOMPLETE);
	begin(BTSREC_REASON_OOPS, RECORDING);
	feed_gap(BTSREC_GAP_NOT_IN_DUMP, BTSREC_REASON_NONE);
	ck_unknown(FAULT_INCOMPLETE);
	begin(BTSREC_REASON_OOPS, RECORDING);
	feed_gap(BTSREC_GAP_PAUSED, BTSREC_REASON_LBR);
	ck_unknown(FAULT_NOT_KEPT);
}
END_TEST

/* Each source has bits of its own in DEBUGCTL; those of the other do not record. */
START_TEST(the_source_says_what_recording_is)
{
	freeze = (struct btsrec_freeze){ .reason = BTSREC_REASON_SOFT_LOCKUP, .debugctl = 1 };
	ck_assert(fault_begin(&search, &freeze, BTSREC_SOURCE_LBR));
	ck_assert(!fault_begin(&search, &freeze, BTSREC_SOURCE_BTS));
	ck_assert_int_eq(search.fault.why, FAULT_REPORT);
	freeze.debugctl = RECORDING;
	ck_assert(fault_begin(&search, &freeze, BTSREC_SOURCE_BTS));
	ck_assert(!fault_begin(&search, &freeze, BTSREC_SOURCE_LBR));
}
END_TEST

START_TEST(where_it_is_printed)
{
	struct btsrec_event branch = { .kind = BTSREC_EVENT_BRANCH, .n = 5 };
	struct btsrec_event end = { .kind = BTSREC_EVENT_FREEZE, .n = 5 };
	struct fault fault = { .kind = FAULT_CALL, .n = 5 };

	ck_assert(fault_is_here(&fault, &branch));
	ck_assert(!fault_is_here(&fault, &end));
	fault.n = 4;
	ck_assert(!fault_is_here(&fault, &branch));
	fault = (struct fault){ .why = FAULT_INCOMPLETE };
	ck_assert(fault_is_here(&fault, &end));
	ck_assert(!fault_is_here(&fault, &branch));
	fault.why = FAULT_NO_FAULT;
	ck_assert(!fault_is_here(&fault, &end));
}
END_TEST

BTSREC_CK_MAIN("fault", an_oops_is_its_exception, what_led_to_the_fault_is_kept,
	an_interrupt_at_the_fault_did_not_lead_there,
	what_came_and_went_is_skipped,
	an_iret_behind_itself_is_no_return, a_breakpoint_on_the_way_is_skipped,
	a_breakpoint_alone,
	other_threads_are_skipped, without_idt_the_vector_is_unknown, an_oops_needs_an_exception,
	an_oops_in_a_handler_of_nmis_is_the_nmi, a_user_address_may_fault, a_panic_is_its_call,
	an_interrupt_before_the_hook_is_skipped,
	a_panic_needs_its_call, a_panic_during_a_pause_is_what_was_entered,
	a_report_that_is_not_recorded_is_where_the_history_ends,
	what_freeze_on_names_is_no_fault, lockups_and_machine_checks_have_their_entry, the_others_have_their_nmi,
	a_pause_for_another_cause_hides_the_fault, some_have_none,
	a_hole_ends_the_search, the_source_says_what_recording_is, where_it_is_printed)
