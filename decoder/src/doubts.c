// SPDX-License-Identifier: GPL-2.0-or-later
#include "doubts.h"

#include <string.h>

/* The counters of a thread in @threads. */
enum {
	THREAD_LEFT_TSC,	/* when it was switched away from this CPU; 0: never */
	THREAD_DOUBT_N,
	THREAD_DOUBT_WHY,	/* enum doubt_why, and the CPU from bit 8 on */
};

void doubts_init(struct doubts *doubts, const struct sightings *sightings)
{
	memset(doubts, 0, sizeof(*doubts));
	doubts->sightings = sightings;
	doubts->recovers = true;
}

void doubts_fini(struct doubts *doubts)
{
	counts_fini(&doubts->threads);
	counts_fini(&doubts->unseen);
}

/* A stack may turn out later to be that of a thread with a number. */
#define NR_UNKNOWN	UINT64_MAX

static uint64_t *of_thread(struct doubts *doubts, struct counts *counts, uint64_t pid)
{
	const uint64_t key[COUNTS_KEY_WORDS] = { pid };
	struct count *count = counts_get(counts, key);

	if (count)
		return count->nr;
	doubts->nomem = true;
	memset(doubts->nowhere, 0, sizeof(doubts->nowhere));
	return doubts->nowhere;
}

static uint64_t number_of(const struct stack *stack)
{
	return stack->known ? stack->pid : NR_UNKNOWN;
}

/* The newest unseen branch on @stack, its event plus 1; 0: none. */
static uint64_t newest_unseen(struct doubts *doubts, const struct stack *stack)
{
	uint64_t unknown = *of_thread(doubts, &doubts->unseen, NR_UNKNOWN);
	uint64_t known = *of_thread(doubts, &doubts->unseen, number_of(stack));

	return known > unknown ? known : unknown;
}

/* --- Events ------------------------------------------------------------- */

static void doubt_thread(uint64_t *thread, enum doubt_why why, uint64_t n, unsigned int cpu)
{
	thread[THREAD_DOUBT_N] = n;
	thread[THREAD_DOUBT_WHY] = why | (uint64_t)cpu << 8;
}

static void thread_returns(struct doubts *doubts, const struct btsrec_event *event)
{
	uint64_t *thread = of_thread(doubts, &doubts->threads, event->sw.next.pid);
	unsigned int cpu = 0;
	enum sighted sighted;

	if (!thread[THREAD_LEFT_TSC])
		return;
	sighted = sightings_between(doubts->sightings, event->sw.next.pid, event->cpu,
				    thread[THREAD_LEFT_TSC], event->sw.tsc, &cpu);
	if (sighted != SIGHTED_NOWHERE)
		doubt_thread(thread, sighted == SIGHTED_ELSEWHERE ? DOUBT_ELSEWHERE :
			     DOUBT_UNKNOWN, event->n, cpu);
}

static void feed_switch(struct doubts *doubts, const struct btsrec_event *event)
{
	if (event->mm_only)
		return;
	thread_returns(doubts, event);
	of_thread(doubts, &doubts->threads, event->sw.prev.pid)[THREAD_LEFT_TSC] = event->sw.tsc;
}

/* A branch from code that nobody can look at: a call or a return as well as a jump. */
static bool is_unseen(const struct trace_event *event)
{
	const struct btsrec_record *branch = &event->event->branch;

	return event->event->kind == BTSREC_EVENT_BRANCH && event->step &&
	       event->step->branch.type == BRANCH_UNKNOWN &&
	       code_is_kernel(branch->from) == code_is_kernel(branch->to);
}

/* Something happened that nobody has seen: to any thread. */
static bool is_gap(const struct trace_event *event)
{
	const struct proof_step *step = event->step;

	return event->event->kind == BTSREC_EVENT_GAP || event->event->kind == BTSREC_EVENT_ARM ||
	       (step && (proof_fails(step) || step->branch.type == BRANCH_NONE));
}

void doubts_feed(struct doubts *doubts, const struct trace_event *event,
		 const struct frames_step *step, struct frames *frames)
{
	const struct stack *stack = frames_stack(frames);
	uint64_t n = event->event->n;

	if (event->event->kind == BTSREC_EVENT_SWITCH)
		feed_switch(doubts, event->event);
	if (is_gap(event))
		doubts->gap = (struct doubt){ .why = DOUBT_GAP, .n = n };
	else if (step->mismatch || (step->lost && !doubts->recovers))
		doubt_thread(of_thread(doubts, &doubts->threads, number_of(stack)), DOUBT_UNFIT,
			     n, 0);
	if (is_unseen(event))
		*of_thread(doubts, &doubts->unseen, number_of(stack)) = n + 1;
	if (is_gap(event) || event->event->kind == BTSREC_EVENT_BRANCH)
		doubts->recovers = is_gap(event);
	for (unsigned int i = 0; i < step->nr_entered; i++)
		frames_entered(frames, i)->cookie = newest_unseen(doubts, stack);
}

uint64_t doubts_cookie(struct doubts *doubts, const struct stack *stack)
{
	return newest_unseen(doubts, stack);
}

void doubts_feed_plain(struct doubts *doubts)
{
	doubts->recovers = false;
}

void doubts_thread(struct doubts *doubts, uint32_t pid, const struct doubt *doubt)
{
	doubt_thread(of_thread(doubts, &doubts->threads, pid), doubt->why, doubt->n, doubt->cpu);
}

/* --- Questions ---------------------------------------------------------- */

struct doubt doubts_of(struct doubts *doubts, const struct stack *stack)
{
	const uint64_t *thread = of_thread(doubts, &doubts->threads, number_of(stack));

	if (!thread[THREAD_DOUBT_WHY] || thread[THREAD_DOUBT_N] < doubts->gap.n)
		return doubts->gap;
	return (struct doubt){
		.why = (enum doubt_why)(thread[THREAD_DOUBT_WHY] & 0xff),
		.n = thread[THREAD_DOUBT_N],
		.cpu = (unsigned int)(thread[THREAD_DOUBT_WHY] >> 8),
	};
}

bool doubts_unseen(struct doubts *doubts, const struct stack *stack, const struct frame *outer,
		   const struct frame *inner, struct doubt *ret)
{
	uint64_t unseen = inner ? inner->cookie : newest_unseen(doubts, stack);

	if (!unseen || (outer && unseen - 1 <= outer->n))
		return false;
	*ret = (struct doubt){ .why = DOUBT_UNSEEN, .n = unseen - 1 };
	return true;
}
