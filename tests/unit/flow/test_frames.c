// SPDX-License-Identifier: GPL-2.0-or-later
/* Each rule of the stage within a thread: a story of branches, and the stack that it must leave. */
#include "failing_alloc.h"
#include "framesfix.h"

/* --- Calls, jumps, returns ---------------------------------------------- */

START_TEST(call_and_return)
{
	start();
	call(K(1), K(2));
	ck_assert(step.lost && step.switched);
	ck_entered(FRAME_CALL, K(2), 1);
	branch(BRANCH_CALL_IND, K(2) + 8, K(3));
	ck_entered(FRAME_CALL_IND, K(3), 2);
	ck_assert(!step.lost && !step.switched);
	branch(BRANCH_COND, K(3), K(3) + 0x20);
	ck_nothing(2);
	ret(K(3) + 0x20, K(2) + 8 + CALL_BYTES);
	ck_left(1, K(3), 1);
	ret(K(2) + 0x20, K(1) + CALL_BYTES);
	ck_left(1, K(2), 0);
	ck_assert_uint_eq(depth(), 0);
	finish();
}
END_TEST

START_TEST(recursion)
{
	start();
	call(K(1), K(1));
	ck_entered(FRAME_CALL, K(1), 1);
	call(K(1), K(1));
	ck_entered(FRAME_CALL, K(1), 2);
	ret(K(1) + 0x20, K(1) + CALL_BYTES);
	ck_left(1, K(1), 1);
	ret(K(1) + 0x20, K(1) + CALL_BYTES);
	ck_left(1, K(1), 0);
	ret(K(1) + 0x20, K(1) + CALL_BYTES);
	ck_deeper(0, -1);
	finish();
}
END_TEST

START_TEST(deeper)
{
	start();
	ret(K(3), K(2) + 0x20);
	ck_deeper(0, -1);
	call(K(2) + 0x20, K(4));
	ck_entered(FRAME_CALL, K(4), 0);
	ret(K(4), K(2) + 0x20 + CALL_BYTES);
	ck_left(1, K(4), -1);
	ret(K(2), K(1) + 0x20);
	ck_deeper(0, -2);
	finish();
}
END_TEST

START_TEST(outer_return)
{
	start();
	call(K(1), K(2));
	call(K(2), K(3));
	call(K(3), K(4));
	ret(K(4) + 9, K(1) + CALL_BYTES);
	ck_left(3, K(2), 0);
	ck_assert_uint_eq(frames_left(frames, 2)->entered, K(4));
	finish();
}
END_TEST

START_TEST(mismatch)
{
	start();
	call(K(1), K(2));
	call(K(2), K(3));
	ret(K(3) + 9, K(7) + 0x33);
	ck_assert(step.mismatch && !step.deeper);
	ck_assert_uint_eq(step.nr_left, 1);
	ck_assert_int_eq(step.level, 1);
	ret(K(7) + 0x40, K(1) + CALL_BYTES);
	ck_left(1, K(2), 0);
	finish();
}
END_TEST

/* Calls that only fill the return stack buffer, or ask for the program counter. */
START_TEST(calls_that_stay)
{
	start();
	call(K(1), K(1) + CALL_BYTES + 1);
	ck_nothing(0);
	call(JIT, JIT + CALL_BYTES);
	ck_nothing(0);
	call(JIT, JIT + CALL_BYTES + 7);
	ck_nothing(0);
	call(JIT, JIT + CALL_BYTES + 9);
	ck_entered(FRAME_CALL, JIT + CALL_BYTES + 9, 1);
	finish();
}
END_TEST

/*
 * clear_bhb_loop(), with which 6.1.85 and 6.9 begin each system call on many processors, calls
 * lines of its own, farther away than the next, which return.
 */
START_TEST(calls_within_a_function)
{
	start();
	call(K(1), K(2));
	call(K(2), K(2) + 0x40);
	ck_entered(FRAME_CALL, K(2) + 0x40, 2);
	call(K(2) + 0x40, K(2) + 0x80);
	ck_entered(FRAME_CALL, K(2) + 0x80, 3);
	branch(BRANCH_COND, K(2) + 0x88, K(2) + 0x40);
	ck_nothing(3);
	call(K(2) + 0x40, K(2) + 0x80);
	ck_entered(FRAME_CALL, K(2) + 0x80, 4);
	ret(K(2) + 0x90, K(2) + 0x40 + CALL_BYTES);
	ck_left(1, K(2) + 0x80, 3);
	ret(K(2) + 0x45, K(2) + 0x40 + CALL_BYTES);
	ck_left(1, K(2) + 0x80, 2);
	ret(K(2) + 0x45, K(2) + CALL_BYTES);
	ck_left(1, K(2) + 0x40, 1);
	ret(K(2) + 0xa0, K(1) + CALL_BYTES);
	ck_left(1, K(2), 0);
	finish();
}
END_TEST

START_TEST(tail_calls)
{
	start();
	call(K(1), K(2));
	jump(K(2) + 8, K(3));
	ck_entered(FRAME_TAIL, K(3), 2);
	branch(BRANCH_COND, K(3) + 8, K(4));
	ck_entered(FRAME_TAIL, K(4), 3);
	ret(K(4) + 8, K(1) + CALL_BYTES);
	ck_left(3, K(2), 0);
	finish();
}
END_TEST

START_TEST(jumps_that_stay)
{
	start();
	call(K(1), K(2));
	jump(K(2) + 8, K(2));
	ck_nothing(1);
	jump(K(2) + 8, K(3) + 8);
	ck_nothing(1);
	jump(K(2) + 8, JIT);
	ck_nothing(1);
	call(K(1), WARM);
	jump(WARM + 8, COLD);
	ck_nothing(2);
	jump(COLD + 8, WARM + 0x10);
	ck_nothing(2);
	finish();
}
END_TEST

/* Of a function that was entered before the history. */
START_TEST(tail_of_the_base)
{
	start();
	jump(K(2) + 8, K(3));
	ck_entered(FRAME_TAIL, K(3), 1);
	jump(K(3) + 8, K(4));
	ret(K(4) + 8, K(1) + 0x20);
	ck_deeper(2, -1);
	finish();
}
END_TEST

START_TEST(tails_in_turn)
{
	start();
	call(K(1), K(2));
	for (unsigned int i = 0; i < 5000; i++) {
		jump(K(2) + 8, K(3));
		jump(K(3) + 8, K(2));
	}
	ck_assert_uint_eq(depth(), 3);
	ret(K(2) + 8, K(1) + CALL_BYTES);
	ck_left(3, K(2), 0);
	finish();
}
END_TEST

START_TEST(thunks)
{
	start();
	ck_assert_ptr_null(frames_thunk(frames));
	to_thunk(BRANCH_CALL_IND, K(1));
	ck_nothing(0);
	ck_assert_uint_eq(frames_thunk(frames)->return_va, K(1) + CALL_BYTES);
	branch_as(BRANCH_THUNK, THUNK, THUNK + 12, (struct proof_step){ .branch.to_thunk = true });
	ck_nothing(0);
	branch(BRANCH_THUNK, THUNK + 16, K(2));
	ck_entered(FRAME_CALL_IND, K(2), 1);
	ck_assert_uint_eq(frames_entered(frames, 0)->from, K(1));
	to_thunk(BRANCH_JUMP_IND, K(2));
	ck_assert_ptr_null(frames_thunk(frames));
	branch(BRANCH_THUNK, THUNK + 16, K(3));
	ck_entered(FRAME_TAIL, K(3), 2);
	to_thunk(BRANCH_RET, K(3));
	branch(BRANCH_THUNK, THUNK + 16, K(1) + CALL_BYTES);
	ck_left(2, K(2), 0);
	/* The history begins in a thunk. */
	branch(BRANCH_THUNK, THUNK + 16, K(2));
	ck_nothing(0);
	finish();
}
END_TEST

START_TEST(interrupted_thunk)
{
	start();
	to_thunk(BRANCH_CALL_IND, K(1));
	entry(BRANCH_IRQ, 236, THUNK + 4, K(9));
	to_thunk(BRANCH_JUMP_IND, K(9));
	branch(BRANCH_THUNK, THUNK + 16, K(8));
	branch(BRANCH_IRET, K(8) + 8, THUNK + 4);
	branch(BRANCH_THUNK, THUNK + 16, K(2));
	ck_entered(FRAME_CALL_IND, K(2), 1);
	ck_assert_uint_eq(frames_entered(frames, 0)->return_va, K(1) + CALL_BYTES);
	finish();
}
END_TEST

/* The function graph tracer: the return goes to the hook, a jump where it was to go. */
START_TEST(hooks)
{
	start();
	call(K(1), K(2));
	ret(K(2) + 8, HOOK);
	ck_entered(FRAME_TAIL, HOOK, 2);
	branch(BRANCH_JUMP_IND, HOOK + 8, K(1) + CALL_BYTES);
	ck_left(2, K(2), 0);
	call(K(1), K(2));
	ret(K(2) + 8, HOOK);
	ret(HOOK + 8, K(1) + CALL_BYTES);
	ck_left(2, K(2), 0);
	/* What it stands in for was called before the history. */
	ret(K(2) + 8, HOOK);
	branch(BRANCH_JUMP_IND, HOOK + 8, K(1) + CALL_BYTES);
	ck_deeper(1, -1);
	finish();
}
END_TEST

/* A live patch: the function goes on as another one, which returns to its caller. */
START_TEST(redirected)
{
	start();
	call(K(1), K(2));
	call(K(2), TRAMPOLINE);
	call(TRAMPOLINE, K(3));
	ret(K(3) + 8, TRAMPOLINE + CALL_BYTES);
	ret(TRAMPOLINE + 8, K(4));
	ck_assert(!step.mismatch);
	ck_entered(FRAME_TAIL, K(4), 2);
	ck_assert_uint_eq(stack_top(frames_stacks(frames))->from, K(2));
	ret(K(4) + 8, K(1) + CALL_BYTES);
	ck_assert(!step.mismatch);
	ck_left(2, K(2), 0);
	finish();
}
END_TEST

/* A direct call that returns to the function, by a trampoline that is none of BPF. */
START_TEST(redirected_and_back)
{
	start();
	call(K(1), K(2));
	call(K(2), TRAMPOLINE);
	ret(TRAMPOLINE + 8, K(4));
	ret(K(4) + 8, K(2) + CALL_BYTES);
	ck_assert(!step.mismatch);
	ck_left(1, K(4), 1);
	ret(K(2) + 8, K(1) + CALL_BYTES);
	ck_left(1, K(2), 0);
	finish();
}
END_TEST

START_TEST(direct_call)
{
	start();
	call(K(1), K(2));
	call(K(2), TRAMPOLINE);
	ret(TRAMPOLINE + 8, DIRECT);
	ck_entered(FRAME_CALL, DIRECT, 2);
	ret(DIRECT + 8, K(2) + CALL_BYTES);
	ck_assert(!step.mismatch);
	ck_left(1, DIRECT, 1);
	finish();
}
END_TEST

/* Any other code, and any other place, is a changed return address. */
START_TEST(overwritten_in_spite_of_trampolines)
{
	start();
	call(K(1), K(2));
	call(K(2), K(3));
	ret(K(3) + 8, K(4));
	ck_assert(step.mismatch);
	finish();
	start();
	call(K(1), K(2));
	call(K(2), TRAMPOLINE);
	ret(TRAMPOLINE + 8, K(4) + 0x20);
	ck_assert(step.mismatch);
	finish();
}
END_TEST

/* Of an interrupt that began before the history it is not known where it goes back to. */
START_TEST(back_from_before_the_history)
{
	start();
	call(K(1), K(2));
	branch(BRANCH_JUMP, K(2) + 8, K(5));
	branch(BRANCH_IRET, K(5) + 8, K(9) + 4);
	ck_assert(!step.mismatch);
	ck_assert(!step.elsewhere);
	ck_assert(step.deeper);
	finish();
}
END_TEST

START_TEST(unreadable_code)
{
	start();
	call(K(1), JIT);
	branch(BRANCH_UNKNOWN, JIT + 8, JIT + 0x20);
	ck_nothing(1);
	branch(BRANCH_UNKNOWN, JIT + 0x20, K(3));
	ck_nothing(1);
	branch(BRANCH_UNKNOWN, JIT + 0x20, K(1) + CALL_BYTES);
	ck_left(1, JIT, 0);
	finish();
}
END_TEST

/* --- Bounds ------------------------------------------------------------- */

START_TEST(too_deep)
{
	unsigned int nr = 3 * STACKS_MAX_DEPTH;

	start();
	for (unsigned int i = 0; i < nr; i++) {
		call(K(1), K(1));
		ck_assert_uint_le(depth(), STACKS_MAX_DEPTH);
	}
	ck_assert_int_eq(step.level, nr);
	for (unsigned int i = nr; i--;) {
		ret(K(1) + 0x20, K(1) + CALL_BYTES);
		ck_assert_int_eq(step.level, i);
	}
	ck_assert(step.deeper);
	finish();
}
END_TEST

START_TEST(too_many_threads)
{
	start();
	call(K(1), K(0x30));
	for (uint32_t pid = 2; pid < STACKS_MAX + 10; pid++)
		switch_to(pid - 1, pid);
	switch_to(STACKS_MAX + 9, 1);
	/* Forgotten, not mistaken. */
	ret(SWITCH_TO + 8, K(0x30) + CALL_BYTES);
	ck_deeper(1, -1);
	finish();
}
END_TEST

static void call_without_memory(struct frames *f)
{
	const struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH, .n = n,
					    .branch = { K(1), K(2), 0 } };
	const struct proof_step proof = { .length_bytes = CALL_BYTES, .branch.type = BRANCH_CALL };

	failing_alloc_arm(1);
	frames_feed(f, &event, &side, &proof);
	ck_assert(failing_alloc_disarm());
	ck_assert(frames_nomem(f));
	ck_assert_uint_eq(frames_stack(f)->nr, 0);
}

static void call_plainly_without_memory(struct frames *f)
{
	const struct btsrec_record branch = { K(1), K(2), 0 };
	const struct code_brief run = { .judged = BRANCH_CALL_IND, .length_bytes = CALL_BYTES };
	const struct frames_step *printed;

	failing_alloc_arm(1);
	printed = frames_feed_plain(f, n, &branch, &run);
	ck_assert(failing_alloc_disarm());
	ck_assert_ptr_nonnull(printed);
	ck_assert_uint_eq(printed->nr_entered, 0);
	ck_assert(frames_nomem(f));
	ck_assert_uint_eq(frames_stack(f)->nr, 0);
}

START_TEST(no_memory)
{
	start();
	for (unsigned int i = 0; i < 64; i++)
		call(K(1), K(1));
	call_without_memory(pair.general);
	call_plainly_without_memory(pair.plain);
	finish();
	for (unsigned int at = 1; at <= 2; at++) {
		failing_alloc_arm(at);
		ck_assert_ptr_null(frames_new(&(struct frames_source){ 0 }));
		ck_assert(failing_alloc_disarm());
	}
}
END_TEST

/* Else nothing would be compared. */
START_TEST(plain_ways)
{
	start();
	call(K(1), K(2));
	call(K(2) + 8, K(3));
	/* The second time the way is known. */
	ret(K(3) + 8, K(2) + 8 + CALL_BYTES);
	call(K(2) + 8, K(3));
	jump(K(3) + 4, K(3) + 8);
	branch(BRANCH_COND, K(3) + 16, K(3));
	jump(K(3) + 4, K(3) + 8);
	branch(BRANCH_COND, K(3) + 16, K(3));
	branch(BRANCH_CALL_IND, K(3) + 24, K(4));
	ret(K(4) + 8, K(3) + 24 + CALL_BYTES);
	finish();
	ck_assert_uint_eq(nr_plain, 6);
}
END_TEST

START_TEST(kind_names)
{
	for (int kind = FRAME_CALL; kind <= FRAME_DIVERT; kind++)
		ck_assert_str_ne(frame_kind_str((enum frame_kind)kind), "unknown");
	ck_assert_str_eq(frame_kind_str((enum frame_kind)99), "unknown");
}
END_TEST

BTSREC_CK_MAIN("frames", call_and_return, recursion, deeper, outer_return, mismatch,
	       calls_that_stay, calls_within_a_function, tail_calls, jumps_that_stay,
	       tail_of_the_base, tails_in_turn, thunks, interrupted_thunk, hooks, redirected,
	       redirected_and_back, direct_call, overwritten_in_spite_of_trampolines,
	       back_from_before_the_history, unreadable_code, too_deep, too_many_threads,
	       no_memory, plain_ways, kind_names)
