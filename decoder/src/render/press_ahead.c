// SPDX-License-Identifier: GPL-2.0-or-later
/* How the owner of the press gets windows of a ring that others have read. */
#include "render/press_workers.h"

/* So many are read sooner than a thread has started. */
#define MIN_SLOTS	(2 * FETCH_SLOTS)

static void wait_for_readers(struct press *press)
{
	while (!ahead_idle(&press->ahead))
		if (!press_print_once(press, 0))
			press_sleep(press, 0);
}

/* Two batches: to read costs much whatever the size; of more batches too few would be free. */
static uint64_t window_slots(const struct press *press, const struct fetch *fetch)
{
	if (fetch->only_looks)
		return AHEAD_MAX_SLOTS;
	return 2 * press->print.nr_together / AHEAD_STEP_SLOTS * AHEAD_STEP_SLOTS;
}

/* Others begin to read where @fetch is; locked. */
static void begin_ahead(struct press *press, const struct fetch *fetch)
{
	ahead_stop(&press->ahead);
	wait_for_readers(press);
	ahead_begin(&press->ahead, &fetch->ring, fetch->next_slot,
		    fetch->next_slot + fetch->nr_left, window_slots(press, fetch));
	for (unsigned int i = 1; i <= press->nr_helpers; i++)
		press_wake(press, i);
}

static bool window_is_there(const struct press *press)
{
	const struct ahead_window *window = ahead_oldest(&press->ahead);

	return window && window->state != AHEAD_CLAIMED;
}

/*
 * Who words has as many windows as the others, and so as much to word.  Who only looks for
 * what is no branch gives the others room first; locked.
 */
static void read_first(struct press *press)
{
	while (press_write_own(press, 0) ||
	       (press->nr_written < press->nr_filled && press_read_once(press, 0)))
		;
}

/* Until the oldest window has been read, by whoever has it; locked. */
static void wait_for_window(struct press *press)
{
	while (!window_is_there(press))
		if (!press_write_own(press, 0) && !press_read_once(press, 0) &&
		    !press_print_once(press, 0))
			press_sleep(press, 0);
}

/* The next window of the way that @fetch is on; locked. */
static const struct ahead_window *next_window(struct press *press, const struct fetch *fetch)
{
	uint64_t end_slot = fetch->next_slot + fetch->nr_left;

	if (!ahead_on_way(&press->ahead, &fetch->ring, fetch->next_slot, end_slot))
		begin_ahead(press, fetch);
	read_first(press);
	wait_for_window(press);
	if (press->ahead.given)
		press_wake(press, press->ahead.given->thread);
	ahead_give(&press->ahead);
	/* To be filled with what is in it. */
	if (press->nr_batches && !press->filling)
		(void)press_begin_batch(press, press->ahead.given->thread);
	return press->ahead.given;
}

/* One way at a time, and no help for a short one. */
static bool is_helped(struct press *press, const struct fetch *fetch)
{
	if (!fetch->ring.image->read_pages || (press->reader && press->reader != fetch))
		return false;
	press->nr_slots += FETCH_SLOTS;
	return press->nr_slots > MIN_SLOTS && press_get_help(press);
}

bool press_take_window(void *arg, const struct fetch *fetch, struct fetch_window *ret)
{
	struct press *press = arg;
	const struct ahead_window *window;

	if (!is_helped(press, fetch))
		return false;
	press->reader = fetch;
	press_leave(press);
	pthread_mutex_lock(&press->lock);
	if (press->filling && press->filling->nr_runs)
		press_hand_over(press);
	window = next_window(press, fetch);
	pthread_mutex_unlock(&press->lock);
	press_enter(press);
	*ret = (struct fetch_window){ window->slot, window->nr_slots,
				      window->state == AHEAD_READ ? window->bytes : NULL,
				      window->all_branches, window->branches };
	return true;
}

void press_leave_windows(void *arg, const struct fetch *fetch)
{
	struct press *press = arg;

	if (press->reader != fetch)
		return;
	press->reader = NULL;
	pthread_mutex_lock(&press->lock);
	ahead_stop(&press->ahead);
	pthread_mutex_unlock(&press->lock);
}
