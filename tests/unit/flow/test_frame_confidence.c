// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "flow/frame_confidence.h"
#include "failing_alloc.h"

#define K(i)	(0xffffffff81000000ULL + 0x100 * (i))
#define U(i)	(0x0000555555554000ULL + 0x100 * (i))

static struct residencies residencies;
static struct frame_confidence frame_confidence;
static struct frames *frames;
static struct btsrec_side side;
static uint64_t n;

static void start(void)
{
	const struct frames_source source = { .idt_known = true };

	frame_confidence_fini(&frame_confidence);
	residency_fini(&residencies);
	frames_free(frames);
	ck_assert(residency_init(&residencies, 2));
	frame_confidence_init(&frame_confidence, &residencies);
	frames = frames_new(&source);
	ck_assert_ptr_nonnull(frames);
	side.pid = 1;
	n = 0;
}

static void finish(void)
{
	start();
	frames_free(frames);
	frames = NULL;
	residency_fini(&residencies);
}

static void feed(const struct btsrec_event *event, const struct proof_step *proof)
{
	const struct trace_event traced = { .event = event, .side = &side, .step = proof };
	const struct frames_step *step = frames_feed(frames, event, &side, proof);

	frame_confidence_feed(&frame_confidence, &traced, step, frames);
}

static void branch(enum branch_type type, uint64_t from, uint64_t to)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH, .n = n++ };
	const struct proof_step proof = {
		.branch = { .type = type, .vector = -1 },
		.length_bytes = 5,
	};

	event.branch.from = from;
	event.branch.to = to;
	feed(&event, &proof);
}

static void sw(uint64_t tsc, uint32_t prev, uint32_t next)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_SWITCH, .n = n++ };

	event.sw.tsc = tsc;
	event.sw.prev.pid = prev;
	event.sw.next.pid = next;
	feed(&event, NULL);
	side.pid = next;
}

static void elsewhere(uint64_t tsc, uint32_t prev, uint32_t next)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_SWITCH, .cpu = 1 };

	event.sw.tsc = tsc;
	event.sw.prev.pid = prev;
	event.sw.next.pid = next;
	ck_assert(residency_feed(&residencies, &event));
	residency_end(&residencies);
}

static void gap(void)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_GAP, .n = n++ };

	feed(&event, NULL);
}

static void ck_unreliable(enum unreliable_why why, uint64_t at)
{
	struct unreliable unreliable = frame_confidence_of(&frame_confidence, frames_stack(frames));

	ck_assert_int_eq(unreliable.why, why);
	if (why != UNRELIABLE_NOT)
		ck_assert_uint_eq(unreliable.n, at);
}

START_TEST(a_thread_that_stayed)
{
	start();
	elsewhere(50, 8, 9);
	elsewhere(500, 9, 8);
	branch(BRANCH_CALL, K(1), K(2));
	sw(100, 1, 2);
	sw(200, 2, 1);
	ck_assert_uint_eq(frames_stack(frames)->nr, 1);
	ck_unreliable(UNRELIABLE_NOT, 0);
	finish();
}
END_TEST

START_TEST(a_thread_that_was_elsewhere)
{
	start();
	elsewhere(150, 8, 1);
	branch(BRANCH_CALL, K(1), K(2));
	sw(100, 1, 2);
	ck_unreliable(UNRELIABLE_NOT, 0);
	sw(200, 2, 1);
	ck_unreliable(UNRELIABLE_ELSEWHERE, 2);
	sw(300, 1, 3);
	ck_unreliable(UNRELIABLE_NOT, 0);
	finish();
}
END_TEST

START_TEST(a_history_that_begins_too_late)
{
	start();
	elsewhere(150, 8, 9);
	branch(BRANCH_CALL, K(1), K(2));
	sw(100, 1, 2);
	sw(200, 2, 1);
	ck_unreliable(UNRELIABLE_UNKNOWN, 2);
	finish();
}
END_TEST

START_TEST(a_gap_is_about_everybody)
{
	start();
	branch(BRANCH_CALL, K(1), K(2));
	gap();
	ck_unreliable(UNRELIABLE_GAP, 1);
	branch(BRANCH_CALL, K(2), K(3));
	ck_unreliable(UNRELIABLE_GAP, 1);
	sw(100, 1, 2);
	ck_unreliable(UNRELIABLE_GAP, 1);
	finish();
}
END_TEST

/* DEBUGCTL.BTS_OFF_USR: what user code has called is not known, what the kernel has is. */
START_TEST(a_stop_in_user_code_that_was_left_out)
{
	struct btsrec_event stop = { .kind = BTSREC_EVENT_FREEZE };

	start();
	branch(BRANCH_CALL, U(1), U(2));
	stop.n = n++;
	feed(&stop, NULL);
	ck_unreliable(UNRELIABLE_NOT, 0);
	stop.freeze.debugctl = 1 << 10;
	feed(&stop, NULL);
	ck_unreliable(UNRELIABLE_GAP, 1);
	start();
	branch(BRANCH_CALL, K(1), K(2));
	feed(&stop, NULL);
	ck_unreliable(UNRELIABLE_NOT, 0);
	finish();
}
END_TEST

START_TEST(a_return_that_does_not_fit)
{
	start();
	branch(BRANCH_CALL, K(1), K(2));
	branch(BRANCH_RET, K(2), K(1) + 5);
	ck_unreliable(UNRELIABLE_NOT, 0);
	branch(BRANCH_CALL, K(1), K(2));
	branch(BRANCH_RET, K(2), K(9) + 5);
	ck_unreliable(UNRELIABLE_UNFIT, 3);
	finish();
}
END_TEST

/* What does not fit is unreliable for a reason of its own, but for the next branch after a gap. */
START_TEST(plain_branches_behind_a_gap)
{
	const struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH, .n = 7 };
	const struct proof_step broken = { .kind = PROOF_BROKEN };
	const struct frames_step lost = { .lost = true };
	struct trace_event traced = { .event = &event, .step = &broken };

	start();
	frame_confidence_feed(&frame_confidence, &traced, &lost, frames);
	traced.step = NULL;
	frame_confidence_feed(&frame_confidence, &traced, &lost, frames);
	ck_unreliable(UNRELIABLE_GAP, 7);
	traced.step = &broken;
	frame_confidence_feed(&frame_confidence, &traced, &lost, frames);
	frame_confidence_feed_fast(&frame_confidence);
	traced.step = NULL;
	frame_confidence_feed(&frame_confidence, &traced, &lost, frames);
	ck_unreliable(UNRELIABLE_UNFIT, 7);
	finish();
}
END_TEST

START_TEST(code_that_nobody_saw)
{
	const struct stack *stack;
	struct unreliable unreliable;

	start();
	branch(BRANCH_CALL, U(1), U(2));
	branch(BRANCH_CALL, U(2), U(3));
	stack = frames_stack(frames);
	ck_assert(!frame_confidence_unseen(&frame_confidence, stack, &stack->frames[1], NULL,
					   &unreliable));
	ck_assert_uint_eq(frame_confidence_cookie(&frame_confidence, stack), 0);
	branch(BRANCH_UNKNOWN, U(3), U(4));
	branch(BRANCH_CALL, U(4), U(5));
	ck_assert_uint_eq(frame_confidence_cookie(&frame_confidence, stack), 3);
	ck_assert_uint_eq(stack->frames[2].cookie, 3);
	ck_assert(!frame_confidence_unseen(&frame_confidence, stack, &stack->frames[2], NULL,
					   &unreliable));
	ck_assert(frame_confidence_unseen(&frame_confidence, stack, &stack->frames[1],
					  &stack->frames[2], &unreliable));
	ck_assert_int_eq(unreliable.why, UNRELIABLE_UNSEEN);
	ck_assert_uint_eq(unreliable.n, 2);
	ck_assert(!frame_confidence_unseen(&frame_confidence, stack, &stack->frames[0],
					   &stack->frames[1], &unreliable));
	finish();
}
END_TEST

START_TEST(no_memory)
{
	start();
	failing_alloc_arm(1);
	branch(BRANCH_UNKNOWN, U(3), U(4));
	ck_assert(failing_alloc_disarm());
	ck_assert(frame_confidence.nomem);
	finish();
}
END_TEST

BTSREC_CK_MAIN("frame_confidence", a_thread_that_stayed, a_thread_that_was_elsewhere,
	       a_history_that_begins_too_late, a_gap_is_about_everybody,
	       a_stop_in_user_code_that_was_left_out,
	       a_return_that_does_not_fit, plain_branches_behind_a_gap, code_that_nobody_saw,
	       no_memory)
