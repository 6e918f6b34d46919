// SPDX-License-Identifier: GPL-2.0-or-later
/* Each rule of the stage for stacks that come and go: threads, and what is missing. */
#include "framesfix.h"

/* --- Threads ------------------------------------------------------------ */

/* It is neither reported as entered nor as left. */
START_TEST(unseen_entry_left_at_once)
{
	start();
	call(U(1), U(2));
	branch(BRANCH_SYSRET, K(1), U(2) + 8);
	ck_assert(step.unseen_entry);
	ck_nothing(1);
	branch(BRANCH_RET, K(1), FORK);
	ck_assert(step.unseen_entry);
	ck_assert_uint_eq(step.nr_entered, 1);
	finish();
}
END_TEST

START_TEST(thread_switch)
{
	start();
	call(K(1), K(0x30));
	switch_to(1, 2);
	/* Of thread 2 nothing is known. */
	ck_entered(FRAME_TAIL, SWITCH_TO, 1);
	ck_assert_uint_eq(frames_stack(frames)->pid, 2);
	ret(SWITCH_TO + 8, K(0x30) + CALL_BYTES);
	ck_deeper(1, -1);
	ret(K(0x30) + 0x20, K(5) + CALL_BYTES);
	call(K(5) + 0x20, K(0x30));
	switch_to(2, 1);
	ck_assert_uint_eq(frames_stack(frames)->pid, 1);
	ret(SWITCH_TO + 8, K(0x30) + CALL_BYTES);
	ck_left(2, SWITCH_TO_ASM, 1);
	ret(K(0x30) + 0x20, K(1) + CALL_BYTES);
	ck_left(1, K(0x30), 0);
	call(K(1) + 0x20, K(0x30));
	switch_to(1, 2);
	ret(SWITCH_TO + 8, K(0x30) + CALL_BYTES);
	ret(K(0x30) + 0x20, K(5) + 0x20 + CALL_BYTES);
	ck_left(1, K(0x30), -2);
	finish();
}
END_TEST

/* It has run on another CPU meanwhile: what was put aside is not what it has. */
START_TEST(thread_was_elsewhere)
{
	start();
	call(K(1), K(2));
	call(K(2), K(0x30));
	switch_to(1, 2);
	switch_to(2, 1);
	ret(SWITCH_TO + 8, K(0x30) + CALL_BYTES);
	ck_left(2, SWITCH_TO_ASM, 2);
	ret(K(0x30) + 0x20, K(3) + 0x20);
	ck_assert(step.lost && step.deeper && !step.mismatch);
	/* But what is further out is there again. */
	ret(K(3) + 0x30, K(1) + CALL_BYTES);
	ck_assert(step.bridged && !step.deeper);
	ck_assert_uint_eq(step.nr_left, 2);
	ck_assert_int_eq(step.level, 0);
	finish();
}
END_TEST

/* A tail call of what was put aside returns for it. */
START_TEST(thread_was_elsewhere_and_jumps)
{
	start();
	call(K(1), K(2));
	call(K(2), K(0x30));
	switch_to(1, 2);
	switch_to(2, 1);
	ret(SWITCH_TO + 8, K(0x30) + CALL_BYTES);
	jump(K(0x30) + 0x20, K(4));
	ret(K(4) + 8, K(3) + 0x20);
	ck_assert(step.lost && step.deeper && !step.mismatch);
	call(K(3) + 0x30, K(5));
	jump(K(5) + 8, K(4));
	ret(K(4) + 8, K(6) + 0x20);
	ck_assert(step.mismatch);
	finish();
}
END_TEST

START_TEST(new_thread)
{
	start();
	call(K(1), K(0x30));
	switch_to(1, 2);
	ret(SWITCH_TO + 8, FORK);
	ck_entered(FRAME_TAIL, FORK, 1);
	ck_assert_uint_eq(depth(), 1);
	finish();
}
END_TEST

/* The change of stacks is not in the history, but that it is due. */
START_TEST(new_thread_after_an_annotation)
{
	start();
	jump(K(1) + 8, K(1) + 0x10);
	annotate(BTSREC_EVENT_SWITCH, 1, 2);
	ret(SWITCH_TO + 8, FORK);
	ck_assert(step.switched);
	ck_entered(FRAME_TAIL, FORK, 1);
	ck_assert_uint_eq(frames_stack(frames)->pid, 2);
	finish();
}
END_TEST

/*
 * A pause ends at a switch: what follows is on the stack of the thread that ends.  When that one
 * runs again its newest call is the one that changes stacks.
 */
START_TEST(a_switch_after_a_gap)
{
	start();
	call(K(1), K(2));
	gap();
	annotate(BTSREC_EVENT_SWITCH, 1, 2);
	call(K(0x30) + 0x10, K(0x31));
	ck_assert_uint_eq(frames_stack(frames)->pid, 1);
	ret(K(0x31) + 8, K(0x30) + 0x10 + CALL_BYTES);
	call(K(0x30) + 0x20, SWITCH_TO_ASM);
	jump(SWITCH_TO_ASM + 8, SWITCH_TO);
	ck_assert_uint_eq(frames_stack(frames)->pid, 2);
	ret(SWITCH_TO + 8, K(7));
	switch_to(2, 1);
	ck_assert_uint_eq(frames_stack(frames)->pid, 1);
	ret(SWITCH_TO + 8, K(0x30) + 0x20 + CALL_BYTES);
	ck_assert(!step.mismatch && !step.lost);
	finish();
}
END_TEST

/* But one before a gap may be over by its end. */
START_TEST(a_switch_before_a_gap)
{
	start();
	call(K(1), K(2));
	annotate(BTSREC_EVENT_SWITCH, 1, 2);
	gap();
	call(K(3), K(4));
	ck_assert_uint_eq(frames_stack(frames)->pid, 2);
	ret(K(4) + 8, K(3) + CALL_BYTES);
	ck_assert_uint_eq(frames_stack(frames)->pid, 2);
	finish();
}
END_TEST

/* Code that looks like the first of a thread is none without a switch. */
START_TEST(no_new_thread)
{
	start();
	call(K(1), K(2));
	ret(K(2) + 8, FORK);
	ck_assert(step.mismatch);
	annotate(BTSREC_EVENT_SWITCH, 1, 2);
	call(K(3), K(4));
	jump(K(4) + 8, K(5));
	ret(K(5) + 8, FORK);
	ck_assert(!step.mismatch);
	finish();
}
END_TEST

/* Code that is not known has changed stacks: that shows when nothing matches. */
START_TEST(switch_by_unknown_code)
{
	start();
	call(K(1), K(0x30));
	annotate(BTSREC_EVENT_SWITCH, 1, 2);
	call(K(0x30), K(0x31));
	ck_assert(!step.switched);
	ret(K(0x31) + 8, K(7) + CALL_BYTES);
	ck_assert(step.switched && !step.mismatch && step.deeper);
	ck_assert_uint_eq(frames_stack(frames)->pid, 2);
	call(K(7) + 0x10, K(0x31));
	annotate(BTSREC_EVENT_SWITCH, 2, 1);
	ret(K(0x31) + 8, K(1) + CALL_BYTES);
	ck_assert(step.switched);
	ck_left(2, K(0x30), 0);
	finish();
}
END_TEST

START_TEST(switch_without_names)
{
	start_with(&(struct frames_source){ .idt_known = true });
	call(K(1), K(0x30));
	annotate(BTSREC_EVENT_SWITCH, 1, 2);
	ck_assert(step.switched);
	ret(K(0x30), K(1) + CALL_BYTES);
	ck_deeper(0, -1);
	finish();
}
END_TEST

START_TEST(switch_of_user_code_only)
{
	start();
	call(U(1), U(2));
	annotate(BTSREC_EVENT_SWITCH, 1, 2);
	call(U(1), U(3));
	ck_assert(step.switched);
	ck_entered(FRAME_CALL, U(3), 1);
	annotate(BTSREC_EVENT_SWITCH, 2, 1);
	ret(U(2) + 8, U(1) + CALL_BYTES);
	ck_left(1, U(2), 0);
	finish();
}
END_TEST

/* The first switch says which thread ran before it. */
START_TEST(thread_named_late)
{
	start();
	has_side = false;
	call(K(1), K(0x30));
	annotate(BTSREC_EVENT_SWITCH, 7, 2);
	has_side = true;
	call(K(0x30), SWITCH_TO_ASM);
	jump(SWITCH_TO_ASM + 0x80, SWITCH_TO);
	switch_to(2, 7);
	ret(SWITCH_TO + 8, K(0x30) + CALL_BYTES);
	ck_left(2, SWITCH_TO_ASM, 1);
	finish();
}
END_TEST

START_TEST(cr3_change_is_no_switch)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_SWITCH, .mm_only = true };

	start();
	call(U(1), U(2));
	feed(&event, NULL);
	ret(U(2) + 8, U(1) + CALL_BYTES);
	ck_left(1, U(2), 0);
	ck_assert(!step.switched);
	finish();
}
END_TEST

/* --- What is missing ---------------------------------------------------- */

START_TEST(bridged_gap)
{
	start();
	call(K(1), K(2));
	call(K(2), K(3));
	gap();
	call(K(8), K(9));
	ck_assert(step.lost && !step.switched);
	ck_entered(FRAME_CALL, K(9), 1);
	/* Not below what was called since. */
	ret(K(9) + 8, K(8) + CALL_BYTES);
	ck_left(1, K(9), 0);
	ck_assert(!step.bridged);
	ret(K(8) + 0x20, K(2) + CALL_BYTES);
	ck_assert(step.bridged && !step.deeper);
	ck_left(1, K(3), 1);
	/* Level 0 of K(8) was level 2. */
	ck_assert_int_eq(step.shift, 2);
	ck_assert_uint_ne(step.bridged_segment, step.segment);
	ret(K(2) + 0x20, K(1) + CALL_BYTES);
	ck_assert(!step.bridged);
	ck_left(1, K(2), 0);
	finish();
}
END_TEST

/* What the unseen way out has found again is of no use for what comes after the return. */
START_TEST(bridge_then_astray)
{
	start();
	call(U(1), U(2));
	entry(BRANCH_SYSCALL, -1, U(2) + 8, K(1));
	gap();
	jump(K(1) + 8, K(1) + 0x10);
	ret(U(2) + 10, U(7) + 8);
	ck_assert(step.unseen_exit && step.lost && !step.bridged);
	finish();
}
END_TEST

START_TEST(gap_without_a_bridge)
{
	start();
	call(K(1), K(2));
	gap();
	ret(K(8), K(7) + 0x20);
	ck_deeper(0, -1);
	ck_assert_uint_eq(depth(), 1);
	ck_assert_uint_eq(frames_stack(frames)->nr_old, 1);
	ck_assert(!frames_stack(frames)->attached);
	finish();
}
END_TEST

START_TEST(contradiction_is_a_gap)
{
	start();
	call(K(1), K(2));
	branch(BRANCH_NONE, K(8), K(9));
	ck_assert(step.lost);
	ret(K(9), K(7) + 0x20);
	ck_deeper(0, -1);
	finish();
}
END_TEST

START_TEST(gap_with_another_thread)
{
	start();
	call(K(1), K(2));
	gap();
	side.pid = 9;
	ret(K(2) + 8, K(1) + CALL_BYTES);
	ck_assert(step.switched);
	ck_deeper(0, -1);
	gap();
	has_side = false;
	ret(K(2) + 8, K(1) + CALL_BYTES);
	ck_assert(step.switched && !frames_stack(frames)->known);
	finish();
}
END_TEST

START_TEST(gap_ends_in_user_code)
{
	start();
	call(U(1), U(2));
	entry(BRANCH_SYSCALL, -1, U(2) + 8, K(1));
	call(K(1), K(2));
	gap();
	ret(U(2) + 0x20, U(1) + CALL_BYTES);
	ck_assert(step.bridged);
	ck_left(1, U(2), 0);
	finish();
}
END_TEST

START_TEST(gap_before_a_system_return)
{
	start();
	call(U(1), U(2));
	entry(BRANCH_SYSCALL, -1, U(2) + 8, K(1));
	gap();
	call(K(5), K(6));
	branch(BRANCH_SYSRET, K(6), U(2) + 10);
	ck_assert(step.bridged);
	ck_left(2, K(1), 1);
	ret(U(2) + 0x20, U(1) + CALL_BYTES);
	ck_left(1, U(2), 0);
	finish();
}
END_TEST

BTSREC_CK_MAIN("frames_threads", unseen_entry_left_at_once, thread_switch, thread_was_elsewhere,
	       thread_was_elsewhere_and_jumps,
	       new_thread, new_thread_after_an_annotation, a_switch_after_a_gap,
	       a_switch_before_a_gap, no_new_thread, switch_by_unknown_code,
	       switch_without_names, switch_of_user_code_only, thread_named_late,
	       cr3_change_is_no_switch, bridged_gap, bridge_then_astray,
	       gap_without_a_bridge, contradiction_is_a_gap, gap_with_another_thread,
	       gap_ends_in_user_code, gap_before_a_system_return)
