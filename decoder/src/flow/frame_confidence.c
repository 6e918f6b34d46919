// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/frame_confidence.h"

#include <string.h>

/* IA32_DEBUGCTL (SDM vol. 4, table 2-2): branches of user code are not stored. */
#define DEBUGCTL_BTS_OFF_USR	(1ULL << 10)

/* The counters of a thread in @threads. */
enum {
	THREAD_LEFT_TSC,	/* when it was switched away from this CPU; 0: never */
	THREAD_UNRELIABLE_N,
	THREAD_UNRELIABLE_WHY,	/* enum unreliable_why, and the CPU from bit 8 on */
};

void frame_confidence_init(struct frame_confidence *frame_confidence,
			   const struct residencies *residencies)
{
	memset(frame_confidence, 0, sizeof(*frame_confidence));
	frame_confidence->residencies = residencies;
	frame_confidence->recovers = true;
}

void frame_confidence_fini(struct frame_confidence *frame_confidence)
{
	counter_map_fini(&frame_confidence->threads);
	counter_map_fini(&frame_confidence->unseen);
}

/* A stack may turn out later to be that of a thread with a number. */
#define NR_UNKNOWN	UINT64_MAX

static uint64_t *of_thread(struct frame_confidence *frame_confidence, struct counter_map *map,
			   uint64_t pid)
{
	const uint64_t key[COUNTER_MAP_KEY_WORDS] = {pid};
	struct count *count = counter_map_get(map, key);

	if (count)
		return count->nr;
	frame_confidence->nomem = true;
	memset(frame_confidence->nowhere, 0, sizeof(frame_confidence->nowhere));
	return frame_confidence->nowhere;
}

static uint64_t number_of(const struct stack *stack)
{
	return stack->known ? stack->pid : NR_UNKNOWN;
}

/* The newest unseen branch on @stack, its event plus 1; 0: none. */
static uint64_t newest_unseen(struct frame_confidence *frame_confidence, const struct stack *stack)
{
	uint64_t unknown = *of_thread(frame_confidence, &frame_confidence->unseen, NR_UNKNOWN);
	uint64_t known = *of_thread(frame_confidence, &frame_confidence->unseen, number_of(stack));

	return known > unknown ? known : unknown;
}

/* --- Events ------------------------------------------------------------- */

static void mark_unreliable(uint64_t *thread, enum unreliable_why why, uint64_t n, unsigned int cpu)
{
	thread[THREAD_UNRELIABLE_N] = n;
	thread[THREAD_UNRELIABLE_WHY] = why | (uint64_t)cpu << 8;
}

static void thread_returns(struct frame_confidence *frame_confidence,
			   const struct btsrec_event *event)
{
	uint64_t *thread =
		of_thread(frame_confidence, &frame_confidence->threads, event->sw.next.pid);
	unsigned int cpu = 0;
	enum residence residence;

	if (!thread[THREAD_LEFT_TSC])
		return;
	residence = residency_between(frame_confidence->residencies, event->sw.next.pid, event->cpu,
				      thread[THREAD_LEFT_TSC], event->sw.tsc, &cpu);
	if (residence != RESIDENCE_NOWHERE)
		mark_unreliable(thread, residence == RESIDENCE_ELSEWHERE ? UNRELIABLE_ELSEWHERE :
				UNRELIABLE_UNKNOWN, event->n, cpu);
}

static void feed_switch(struct frame_confidence *frame_confidence, const struct btsrec_event *event)
{
	if (event->mm_only)
		return;
	thread_returns(frame_confidence, event);
	of_thread(frame_confidence, &frame_confidence->threads,
		  event->sw.prev.pid)[THREAD_LEFT_TSC] = event->sw.tsc;
}

/* A branch from code that is not in the dump: a call or a return as well as a jump. */
static bool is_unseen(const struct trace_event *event)
{
	const struct btsrec_record *branch = &event->event->branch;

	return event->event->kind == BTSREC_EVENT_BRANCH && event->step &&
	       event->step->branch.type == BRANCH_UNKNOWN &&
	       code_is_kernel(branch->from) == code_is_kernel(branch->to);
}

/* Stopped in user code that max_rate= had left out. */
static bool is_stop_in_user(const struct trace_event *event, const struct stack *stack)
{
	return event->event->kind == BTSREC_EVENT_FREEZE && !stack->kernel &&
	       event->event->freeze.debugctl & DEBUGCTL_BTS_OFF_USR;
}

/* Something happened that is not recorded: to any thread. */
static bool is_gap(const struct trace_event *event, const struct stack *stack)
{
	const struct proof_step *step = event->step;

	return event->event->kind == BTSREC_EVENT_GAP || event->event->kind == BTSREC_EVENT_ARM ||
	       is_stop_in_user(event, stack) ||
	       (step && (proof_fails(step) || step->branch.type == BRANCH_NONE));
}

void frame_confidence_feed(struct frame_confidence *frame_confidence,
			   const struct trace_event *event, const struct frames_step *step,
			   struct frames *frames)
{
	const struct stack *stack = frames_stack(frames);
	uint64_t n = event->event->n;

	if (event->event->kind == BTSREC_EVENT_SWITCH)
		feed_switch(frame_confidence, event->event);
	if (is_gap(event, stack))
		frame_confidence->gap = (struct unreliable){.why = UNRELIABLE_GAP, .n = n};
	else if (step->mismatch || (step->lost && !frame_confidence->recovers))
		mark_unreliable(
			of_thread(frame_confidence, &frame_confidence->threads, number_of(stack)),
			UNRELIABLE_UNFIT, n, 0);
	if (is_unseen(event))
		*of_thread(frame_confidence, &frame_confidence->unseen, number_of(stack)) = n + 1;
	if (is_gap(event, stack) || event->event->kind == BTSREC_EVENT_BRANCH)
		frame_confidence->recovers = is_gap(event, stack);
	for (unsigned int i = 0; i < step->nr_entered; i++)
		frames_entered(frames, i)->cookie = newest_unseen(frame_confidence, stack);
}

uint64_t frame_confidence_cookie(struct frame_confidence *frame_confidence,
				 const struct stack *stack)
{
	return newest_unseen(frame_confidence, stack);
}

void frame_confidence_feed_fast(struct frame_confidence *frame_confidence)
{
	frame_confidence->recovers = false;
}

void frame_confidence_thread(struct frame_confidence *frame_confidence, uint32_t pid,
			     const struct unreliable *unreliable)
{
	mark_unreliable(of_thread(frame_confidence, &frame_confidence->threads, pid),
			unreliable->why, unreliable->n, unreliable->cpu);
}

/* --- Questions ---------------------------------------------------------- */

struct unreliable frame_confidence_of(struct frame_confidence *frame_confidence,
				      const struct stack *stack)
{
	const uint64_t *thread =
		of_thread(frame_confidence, &frame_confidence->threads, number_of(stack));

	if (!thread[THREAD_UNRELIABLE_WHY] || thread[THREAD_UNRELIABLE_N] < frame_confidence->gap.n)
		return frame_confidence->gap;
	return (struct unreliable){
		.why = (enum unreliable_why)(thread[THREAD_UNRELIABLE_WHY] & 0xff),
		.n = thread[THREAD_UNRELIABLE_N],
		.cpu = (unsigned int)(thread[THREAD_UNRELIABLE_WHY] >> 8),
	};
}

bool frame_confidence_unseen(struct frame_confidence *frame_confidence, const struct stack *stack,
			     const struct frame *outer, const struct frame *inner,
			     struct unreliable *ret)
{
	uint64_t unseen = inner ? inner->cookie : newest_unseen(frame_confidence, stack);

	if (!unseen || (outer && unseen - 1 <= outer->n))
		return false;
	*ret = (struct unreliable){ .why = UNRELIABLE_UNSEEN, .n = unseen - 1 };
	return true;
}
