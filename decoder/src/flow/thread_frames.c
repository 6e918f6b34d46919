// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/thread_frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sorted.h"

/* --- Numbers ------------------------------------------------------------ */

const struct thread_place *thread_place_of(const struct thread_places *places, uint64_t n,
					   uint64_t *ret_n)
{
	size_t nr = sorted_up_to(places->list, places->nr, n, n);
	const struct thread_place *place = &places->list[nr ? nr - 1 : 0];

	*ret_n = place->cpu_n + (n - place->n);
	return place;
}

void thread_places_fini(struct thread_places *places)
{
	free(places->list);
	memset(places, 0, sizeof(*places));
}

/* --- Events ------------------------------------------------------------- */

/**
 * struct walk_thread - one thread_frames() under way
 * @n: number of the next event.
 * @in_tail: after the annotation of the switch away.
 * @own: the thread as the newest annotation has it, if @has_own.
 * @stopped: somebody returned false.
 */
struct walk_thread {
	const struct thread_frames_fns *fns;
	struct thread *thread;
	struct thread_places *places;
	struct frames *frames;
	uint64_t n;
	bool in_tail;
	bool stopped;
	bool has_own;
	struct btsrec_side own;
};

static bool is_mine(const struct walk_thread *walk)
{
	const struct stack *stack = frames_stack(walk->frames);

	return stack->known && stack->pid == walk->thread->intervals.pid;
}

/* Behind the annotation of the switch away, the annotation names the next thread. */
static void note_own(struct walk_thread *walk, struct trace_event *event)
{
	if (event->side && event->side->pid == walk->thread->intervals.pid) {
		walk->own = *event->side;
		walk->has_own = true;
	} else if (event->event->kind == BTSREC_EVENT_BRANCH && walk->has_own) {
		event->side = &walk->own;
	}
}

static bool walk_event(void *arg, const struct trace_event *traced)
{
	struct walk_thread *walk = arg;
	struct btsrec_event event = *traced->event;
	struct trace_event numbered = *traced;
	const struct frames_step *step;

	event.n = walk->n++;
	numbered.event = &event;
	step = frames_feed(walk->frames, &event, traced->side, traced->step);
	if (event.kind == BTSREC_EVENT_BRANCH && !is_mine(walk))
		return !walk->in_tail;
	note_own(walk, &numbered);
	walk->stopped = !walk->fns->event(walk->fns->arg, &numbered, step, walk->frames);
	return !walk->stopped;
}

/* --- Intervals ---------------------------------------------------------- */

/* What was before has nothing to do with it: the thread may have done anything. */
static void lose(struct walk_thread *walk)
{
	const struct btsrec_event gap = { .kind = BTSREC_EVENT_GAP, .n = walk->n };

	frames_feed(walk->frames, &gap, NULL, NULL);
}

static bool add_place(struct walk_thread *walk, size_t i)
{
	const struct interval *interval = &walk->thread->intervals.list[i];
	struct thread_places *places = walk->places;

	if (!grow(&places->list, sizeof(*places->list), places->nr, &places->nr_room))
		return false;
	places->list[places->nr++] =
		(struct thread_place){walk->n, interval->cpu, interval->first_n, i};
	return true;
}

static enum btsrec_status walk_interval(struct walk_thread *walk, size_t i)
{
	const struct interval *interval = &walk->thread->intervals.list[i];
	struct thread_lane *lane;
	enum btsrec_status status = thread_lane(walk->thread, interval->cpu, &lane);

	if (status)
		return status;
	if (!add_place(walk, i))
		return msg_set(&walk->thread->rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (interval->begins)
		frames_join(walk->frames);
	else
		lose(walk);
	walk->stopped = !walk->fns->interval(walk->fns->arg, i, walk->frames);
	if (walk->stopped)
		return BTSREC_OK;
	walk->in_tail = false;
	status = thread_interval(walk->thread, i, walk_event, walk);
	walk->in_tail = true;
	if (!status && interval->ends && is_mine(walk))
		status = thread_tail(walk->thread, i, walk_event, walk);
	return status == BTSREC_ERR_STOPPED ? BTSREC_OK : status;
}

enum btsrec_status thread_frames(struct thread *thread, struct thread_places *places,
				 const struct thread_frames_fns *fns)
{
	struct walk_thread walk = { .fns = fns, .thread = thread, .places = places };
	enum btsrec_status status = BTSREC_OK;

	walk.frames = trace_frames_new(thread->rec);
	thread_rewind(thread);
	for (size_t i = 0; walk.frames && !status && !walk.stopped && i < thread->intervals.nr; i++)
		status = walk_interval(&walk, i);
	if (!walk.frames || frames_nomem(walk.frames))
		status = msg_set(&thread->rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (!status) {
		frames_select(walk.frames, thread->intervals.pid);
		fns->end(fns->arg, walk.frames);
	}
	frames_free(walk.frames);
	return status;
}
