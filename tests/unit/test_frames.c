// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each rule of the stage: a story of branches, and the stack that it must leave.  Plain branches
 * are also fed the plain way, to a stage of their own.
 */
#include "check_btsrec.h"
#include "../frames_pair.h"
#include "failing_alloc.h"

/* A function is 256 bytes; the first of a half is without bounds. */
#define K(i)	(0xffffffff81000000ULL + 0x100 * (i))
#define U(i)	(0x0000555555554000ULL + 0x100 * (i))

#define SWITCH_TO_ASM	K(0x40)
#define SWITCH_TO	K(0x41)
#define FORK		K(0x42)
#define HOOK		K(0x43)
#define WARM		K(0x44)
#define COLD		K(0x45)
#define THUNK		K(0x46)
#define JIT		0xffffffffc0000000ULL

#define CALL_BYTES	5

/* @frames: the general one of @pair. */
static struct frames_pair pair;
static struct frames *frames;
static uint64_t nr_plain;
static struct frames_step step;
static uint64_t n;
static struct btsrec_side side;
static bool has_side;

/* --- A machine ---------------------------------------------------------- */

static uint64_t function(uint64_t va)
{
	return (va & ~0xffULL) == COLD ? WARM : va & ~0xffULL;
}

static enum frames_place place(void *arg, uint64_t from, uint64_t to)
{
	(void)arg;
	if ((from & ~0xfffULL) == JIT || (to & ~0xfffULL) == JIT)
		return FRAMES_UNKNOWN;
	if (function(from) == SWITCH_TO_ASM && function(to) == SWITCH_TO_ASM)
		return FRAMES_SWITCHED;
	if (function(from) == function(to))
		return to & 0xff || to == COLD ? FRAMES_SAME : FRAMES_SAME_START;
	if (to & 0xff)
		return FRAMES_INSIDE;
	if (to == HOOK)
		return FRAMES_HOOK;
	if (to == FORK)
		return FRAMES_FORK;
	return function(from) == SWITCH_TO_ASM ? FRAMES_SWITCH : FRAMES_START;
}

static void start_with(const struct frames_source *source)
{
	frames_pair_free(&pair);
	ck_assert(frames_pair_new(&pair, source));
	frames = pair.general;
	n = 0;
	memset(&side, 0, sizeof(side));
	side.pid = 1;
	has_side = true;
}

static void start(void)
{
	start_with(&(struct frames_source){ .place = place, .idt_known = true });
}

static void finish(void)
{
	nr_plain = pair.nr_plain;
	frames_pair_free(&pair);
	frames = NULL;
}

static void feed(const struct btsrec_event *event, const struct proof_step *proof)
{
	const struct frames_step *ret = frames_pair_feed(&pair, event, has_side ? &side : NULL,
							 proof);

	ck_assert_ptr_nonnull(ret);
	step = *ret;
}

static void branch_as(enum branch_type type, uint64_t from, uint64_t to, struct proof_step proof)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH, .n = n++ };

	event.branch.from = from;
	event.branch.to = to;
	proof.branch.type = type;
	if (type == BRANCH_NONE)
		proof.kind = PROOF_BROKEN;
	feed(&event, &proof);
}

static void branch(enum branch_type type, uint64_t from, uint64_t to)
{
	struct proof_step proof = { .length_bytes = CALL_BYTES, .branch.vector = -1 };

	branch_as(type, from, to, proof);
}

static void entry(enum branch_type type, int vector, uint64_t from, uint64_t to)
{
	struct proof_step proof = { .length_bytes = 2, .branch.vector = vector };

	branch_as(type, from, to, proof);
}

static void to_thunk(enum branch_type type, uint64_t from)
{
	struct proof_step proof = { .length_bytes = CALL_BYTES, .branch.vector = -1,
				    .branch.to_thunk = true };

	branch_as(type, from, THUNK, proof);
}

static void call(uint64_t from, uint64_t to)
{
	branch(BRANCH_CALL, from, to);
}

static void ret(uint64_t from, uint64_t to)
{
	branch(BRANCH_RET, from, to);
}

static void jump(uint64_t from, uint64_t to)
{
	branch(BRANCH_JUMP, from, to);
}

static void gap(void)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_GAP, .n = n++ };

	feed(&event, NULL);
}

static void annotate(enum btsrec_event_kind kind, uint32_t prev_pid, uint32_t next_pid)
{
	struct btsrec_event event = { .kind = kind, .n = n++ };

	event.sw.prev.pid = prev_pid;
	event.sw.next.pid = next_pid;
	feed(&event, NULL);
	side.pid = next_pid;
}

/* As __schedule does it: annotate, call, jump.  The return is the caller's. */
static void switch_to(uint32_t prev_pid, uint32_t next_pid)
{
	annotate(BTSREC_EVENT_SWITCH, prev_pid, next_pid);
	call(K(0x30), SWITCH_TO_ASM);
	ck_assert(!step.switched);
	call(SWITCH_TO_ASM + 0x10, SWITCH_TO_ASM + 0x16);
	ck_assert(step.switched);
	ck_assert_uint_eq(frames_stack(frames)->pid, next_pid);
	ck_assert_uint_eq(step.nr_entered, 0);
	branch(BRANCH_COND, SWITCH_TO_ASM + 0x20, SWITCH_TO_ASM + 0x10);
	ck_assert(!step.switched);
	jump(SWITCH_TO_ASM + 0x80, SWITCH_TO);
	ck_assert(!step.switched);
	ck_assert_uint_eq(step.nr_entered, 1);
}

/* --- Claims ------------------------------------------------------------- */

static size_t depth(void)
{
	return frames_stack(frames)->nr;
}

static void ck_entered(enum frame_kind kind, uint64_t entered, int64_t level)
{
	const struct frame *frame;

	ck_assert_uint_eq(step.nr_entered, 1);
	frame = frames_entered(frames, 0);
	ck_assert_msg(frame->kind == kind, "a frame of kind %s", frame_kind_str(frame->kind));
	ck_assert_uint_eq(frame->entered, entered);
	ck_assert_uint_eq(frame->n, n - 1);
	ck_assert_int_eq(frame->level, level);
	ck_assert_int_eq(step.level, level);
}

/* Left so many, the outermost of which began at @entered; nothing else. */
static void ck_left(unsigned int nr, uint64_t entered, int64_t level)
{
	ck_assert_uint_eq(step.nr_left, nr);
	ck_assert_uint_eq(frames_left(frames, 0)->entered, entered);
	ck_assert_int_eq(step.level, level);
	ck_assert_uint_eq(step.nr_entered, 0);
	ck_assert(!step.deeper && !step.mismatch && !step.elsewhere);
}

static void ck_deeper(unsigned int nr_left, int64_t level)
{
	ck_assert(step.deeper && !step.mismatch);
	ck_assert_uint_eq(step.nr_left, nr_left);
	ck_assert_int_eq(step.level, level);
}

static void ck_nothing(int64_t level)
{
	ck_assert_uint_eq(step.nr_left, 0);
	ck_assert_uint_eq(step.nr_entered, 0);
	ck_assert(!step.deeper && !step.mismatch && !step.elsewhere);
	ck_assert_int_eq(step.level, level);
}

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

/* --- Levels of privilege ------------------------------------------------ */

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

/* A fault is repaired: the code goes on behind what failed. */
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

/* Who ran before the first switch is told by that switch. */
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

/* What the unseen way out has found again is of no use for what comes behind the return. */
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

/* No such thing happens, but a dump may say so: a user's return begins a thread. */
START_TEST(bridge_to_another_stack)
{
	start();
	entry(BRANCH_SYSCALL, -1, U(2) + 8, K(1));
	gap();
	jump(K(1) + 8, K(1) + 0x10);
	ret(U(2) + 10, FORK);
	ck_assert(step.unseen_exit && !step.bridged);
	ck_assert_uint_eq(step.nr_left, 1);
	ck_assert_uint_eq(depth(), 1);
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
	const struct code_run run = { .judged = BRANCH_CALL_IND, .last.length_bytes = CALL_BYTES };
	const struct frames_step *told;

	failing_alloc_arm(1);
	told = frames_feed_plain(f, n, &branch, &run);
	ck_assert(failing_alloc_disarm());
	ck_assert_ptr_nonnull(told);
	ck_assert_uint_eq(told->nr_entered, 0);
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
	       calls_that_stay, tail_calls, jumps_that_stay, tail_of_the_base, tails_in_turn,
	       thunks, interrupted_thunk, hooks, unreadable_code, system_call,
	       system_call_from_unreadable_code, nested_entries, return_in_an_entry,
	       iret_to_itself, fixed_up, emulated_call, signal_handler, exec, exec_behind_a_gap,
	       kernel_entered_before, unseen_levels, unseen_entry_left_at_once, thread_switch,
	       thread_was_elsewhere,
	       new_thread, switch_without_names, switch_of_user_code_only, thread_named_late,
	       cr3_change_is_no_switch, bridged_gap, bridge_then_astray,
	       bridge_to_another_stack, gap_without_a_bridge, contradiction_is_a_gap,
	       gap_with_another_thread, gap_ends_in_user_code, gap_before_a_system_return, too_deep,
	       too_many_threads, no_memory, plain_ways, kind_names)
