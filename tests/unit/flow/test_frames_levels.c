// SPDX-License-Identifier: GPL-2.0-or-later
/* Each rule of the stage for levels of privilege: entries, returns, signals and exec. */
#include "framesfix.h"

START_TEST(system_call)
{
	start();
	call(U(1), U(2));
	entry(BRANCH_SYSCALL, -1, U(2) + 8, K(1));
	ck_entered(FRAME_SYSCALL, K(1), 2);
	call(K(1) + 8, K(2));
	/* The kernel's bottom: no return gets past it. */
	branch(BRANCH_SYSRET, K(2) + 8, U(2) + 10);
	ck_left(2, K(1), 1);
	entry(BRANCH_SYSCALL, -1, U(2) + 8, K(1));
	/* Started anew. */
	branch(BRANCH_IRET, K(1) + 8, U(2) + 8);
	ck_left(1, K(1), 1);
	ret(U(2) + 0x20, U(1) + CALL_BYTES);
	ck_left(1, U(2), 0);
	finish();
}
END_TEST

START_TEST(system_call_from_unreadable_code)
{
	start();
	branch(BRANCH_UNKNOWN, U(1), K(1));
	ck_entered(FRAME_SYSCALL, K(1), 1);
	ck_assert_uint_eq(frames_entered(frames, 0)->return_va, U(1) + 2);
	branch(BRANCH_UNKNOWN, K(1) + 8, U(1) + 2);
	ck_left(1, K(1), 0);
	start_with(&(struct frames_source){ .place = place });
	branch(BRANCH_UNKNOWN, U(1), K(1));
	ck_entered(FRAME_ENTRY, K(1), 1);
	finish();
}
END_TEST

START_TEST(nested_entries)
{
	start();
	call(K(1), K(2));
	entry(BRANCH_EXCEPTION, 14, K(2) + 8, K(10));
	ck_entered(FRAME_EXCEPTION, K(10), 2);
	ck_assert_int_eq(frames_entered(frames, 0)->vector, 14);
	entry(BRANCH_IRQ, 236, K(10) + 8, K(11));
	ck_entered(FRAME_IRQ, K(11), 3);
	entry(BRANCH_NMI, 2, K(11) + 8, K(12));
	ck_entered(FRAME_NMI, K(12), 4);
	call(K(12) + 8, K(13));
	ret(K(13) + 8, K(12) + 8 + CALL_BYTES);
	branch(BRANCH_IRET, K(12) + 0x20, K(11) + 8);
	ck_left(1, K(12), 3);
	branch(BRANCH_IRET, K(11) + 0x20, K(10) + 8);
	ck_left(1, K(11), 2);
	branch(BRANCH_IRET, K(10) + 0x20, K(2) + 8);
	ck_left(1, K(10), 1);
	ret(K(2) + 0x20, K(1) + CALL_BYTES);
	ck_left(1, K(2), 0);
	finish();
}
END_TEST

/* A return does not leave an interrupt, whatever it finds outside. */
START_TEST(return_in_an_entry)
{
	start();
	call(K(1), K(2));
	entry(BRANCH_IRQ, 236, K(2) + 8, K(10));
	ret(K(10) + 8, K(1) + CALL_BYTES);
	ck_assert(step.mismatch);
	ck_assert_uint_eq(step.nr_left, 0);
	ck_assert_uint_eq(depth(), 2);
	finish();
}
END_TEST

START_TEST(iret_to_itself)
{
	start();
	entry(BRANCH_NMI, 2, K(1), K(12));
	branch(BRANCH_IRET, K(12) + 8, K(12) + 0x20);
	ck_nothing(1);
	branch(BRANCH_IRET, K(12) + 0x20, K(1));
	ck_left(1, K(12), 0);
	finish();
}
END_TEST

/* sync_core(), where no function has bounds. */
START_TEST(iret_to_what_is_next)
{
	start();
	entry(BRANCH_IRQ, 251, JIT + 0x100, JIT + 0x200);
	branch(BRANCH_CALL, JIT + 0x208, JIT + 0x300);
	branch(BRANCH_IRET, JIT + 0x320, JIT + 0x322);
	ck_nothing(2);
	branch(BRANCH_RET, JIT + 0x330, JIT + 0x208 + CALL_BYTES);
	ck_assert(!step.mismatch);
	branch(BRANCH_IRET, JIT + 0x210, JIT + 0x100);
	ck_left(1, JIT + 0x200, 0);
	finish();
}
END_TEST

/* A fault is repaired: the code goes on after what failed. */
START_TEST(fixed_up)
{
	start();
	call(K(1), K(2));
	entry(BRANCH_EXCEPTION, 14, K(2) + 8, K(10));
	branch(BRANCH_IRET, K(10) + 8, K(2) + 0x60);
	ck_assert(step.elsewhere);
	ck_assert_uint_eq(step.nr_left, 1);
	ck_assert_uint_eq(step.nr_entered, 0);
	ret(K(2) + 0x70, K(1) + CALL_BYTES);
	ck_left(1, K(2), 0);
	finish();
}
END_TEST

/* A breakpoint that stands for a call while code is being patched. */
START_TEST(emulated_call)
{
	start();
	call(K(1), K(2));
	entry(BRANCH_INT, 3, K(2) + 8, K(10));
	branch(BRANCH_IRET, K(10) + 8, K(3));
	ck_assert(step.elsewhere);
	ck_assert_uint_eq(step.nr_left, 1);
	ck_entered(FRAME_DIVERT, K(3), 2);
	ret(K(3) + 8, K(2) + 8 + CALL_BYTES);
	ck_left(1, K(3), 1);
	finish();
}
END_TEST

START_TEST(signal_handler)
{
	start();
	call(U(1), U(2));
	entry(BRANCH_IRQ, 236, U(2) + 8, K(1));
	branch(BRANCH_IRET, K(1) + 8, U(5));
	ck_assert(step.elsewhere);
	ck_entered(FRAME_DIVERT, U(5), 2);
	call(U(5) + 8, U(6));
	ret(U(6), U(5) + 8 + CALL_BYTES);
	/* Into the code that makes the system call sigreturn. */
	ret(U(5) + 0x20, U(7) + 8);
	ck_nothing(2);
	entry(BRANCH_SYSCALL, -1, U(7) + 8, K(1));
	branch(BRANCH_SYSRET, K(1) + 8, U(2) + 8);
	ck_assert_int_eq(step.level, 1);
	ck_assert(!step.elsewhere);
	ret(U(2) + 0x20, U(1) + CALL_BYTES);
	ck_left(1, U(2), 0);
	finish();
}
END_TEST

START_TEST(exec)
{
	start();
	call(U(1), U(2));
	entry(BRANCH_SYSCALL, -1, U(2) + 8, K(1));
	call(K(1) + 8, K(2));
	annotate(BTSREC_EVENT_EXEC, 1, 1);
	ck_assert_uint_eq(depth(), 2);
	ret(K(2) + 8, K(1) + 8 + CALL_BYTES);
	branch(BRANCH_SYSRET, K(1) + 8, U(0x33));
	ck_left(1, K(1), 1);
	ck_assert_uint_eq(depth(), 0);
	finish();
}
END_TEST

/* What is left of the stack came after the gap: nothing of it is old. */
START_TEST(exec_behind_a_gap)
{
	start();
	call(U(1), U(2));
	gap();
	entry(BRANCH_SYSCALL, -1, U(2) + 8, K(1));
	ck_assert_uint_eq(frames_stack(frames)->nr_old, 1);
	annotate(BTSREC_EVENT_EXEC, 1, 1);
	ck_assert_uint_eq(depth(), 1);
	ck_assert_uint_eq(frames_stack(frames)->nr_old, 0);
	branch(BRANCH_SYSRET, K(1) + 8, U(0x33));
	ck_left(1, K(1), 0);
	ck_assert(!step.bridged);
	finish();
}
END_TEST

/* Nothing is known of how the kernel was entered: then nothing of the stack is known to go. */
START_TEST(exec_without_an_entry)
{
	start();
	annotate(BTSREC_EVENT_EXEC, 1, 1);
	ck_assert_uint_eq(depth(), 0);
	call(U(1), U(2));
	annotate(BTSREC_EVENT_EXEC, 1, 1);
	ck_assert_uint_eq(depth(), 1);
	finish();
}
END_TEST

START_TEST(kernel_entered_before)
{
	start();
	call(K(2), K(3));
	branch(BRANCH_SYSRET, K(3) + 8, U(2));
	ck_deeper(1, -1);
	ret(U(2) + 8, U(1) + 8);
	ck_deeper(0, -2);
	finish();
}
END_TEST

/* Only the kernel's branches are recorded, or only the user's. */
START_TEST(unseen_levels)
{
	start();
	call(U(1), U(2));
	call(K(1), K(2));
	ck_assert(step.unseen_entry);
	ck_assert_uint_eq(step.nr_entered, 2);
	ck_assert_int_eq(frames_entered(frames, 0)->kind, FRAME_ENTRY);
	ck_assert_uint_eq(frames_entered(frames, 1)->entered, K(2));
	ck_assert_int_eq(step.level, 3);
	ret(U(2) + 8, U(1) + CALL_BYTES);
	ck_assert(step.unseen_exit);
	ck_assert_uint_eq(step.nr_left, 3);
	ck_assert_uint_eq(frames_left(frames, 2)->entered, U(2));
	ck_assert_int_eq(step.level, 0);
	finish();
}
END_TEST

/* What the user has called since is not known: other frames may be there. */
START_TEST(user_left_out)
{
	const struct proof_step filtered = { .kind = PROOF_FILTERED, .length_bytes = CALL_BYTES,
					     .branch.vector = -1 };

	start();
	call(U(1), U(2));
	entry(BRANCH_SYSCALL, -1, U(2) + 8, K(1));
	branch(BRANCH_SYSRET, K(1) + 8, U(2) + 10);
	ck_left(1, K(1), 1);
	branch_as(BRANCH_CALL, K(3), K(2), filtered);
	ck_assert(step.unseen_entry);
	ck_assert_int_eq(frames_entered(frames, 0)->kind, FRAME_ENTRY);
	ck_assert_uint_eq(depth(), 2);
	finish();
}
END_TEST

BTSREC_CK_MAIN("frames_levels", system_call, system_call_from_unreadable_code, nested_entries,
	       return_in_an_entry, iret_to_itself, iret_to_what_is_next, fixed_up, emulated_call, signal_handler, exec,
	       exec_behind_a_gap, exec_without_an_entry, kernel_entered_before, unseen_levels, user_left_out)
