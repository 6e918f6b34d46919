// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorder/relay.h"

enum btsrec_status relay_init(struct relay *relay, struct btsrec *rec, unsigned int cpu)
{
	enum btsrec_status status = history_init(&relay->next, rec, cpu, 0);

	/* The windows are those of the threads. */
	history_fini(&relay->next);
	if (status)
		return status;
	relay->cpu = cpu;
	relay->layout = relay->next.ring.layout;
	relay->nr_passed = 0;
	pthread_mutex_init(&relay->lock, NULL);
	pthread_cond_init(&relay->passed, NULL);
	return BTSREC_OK;
}

void relay_fini(struct relay *relay)
{
	pthread_cond_destroy(&relay->passed);
	pthread_mutex_destroy(&relay->lock);
}

/* The one in which the oldest slot is has the newest ones, too. */
unsigned int relay_max_windows(uint64_t ring_bytes)
{
	return (unsigned int)(ring_bytes / BTSREC_RECORD_BYTES / FETCH_SLOTS + 2);
}

/* Some slot in window @i; false: there is none. */
static bool find_window(const struct ring_layout *layout, uint64_t i, uint64_t *ret_slot)
{
	for (unsigned int span = 0; span < layout->nr_spans; span++) {
		uint64_t slot = layout->spans[span].slot;
		uint64_t first = slot / FETCH_SLOTS;
		uint64_t nr = (slot + layout->spans[span].nr_slots - 1) / FETCH_SLOTS - first + 1;

		*ret_slot = (first + i) * FETCH_SLOTS;
		if (i < nr)
			return true;
		i -= nr;
	}
	return false;
}

/*
 * Where the events in the window of @ret end.  If that could not be read, not @has_window, where
 * others begin is not known.  So @ret has all that is left, and says itself what cannot be read.
 */
static uint64_t pass_window(struct relay *relay, const struct history *ret, bool has_window)
{
	struct history next = *ret;
	bool any = next.step != HISTORY_DONE;

	if (any && (!has_window || history_pass_window(&next)))
		next.step = HISTORY_DONE;
	relay->next = next;
	return any && next.step == HISTORY_DONE ? UINT64_MAX : next.timeline.n;
}

static bool read_window(const struct relay *relay, unsigned int i, struct history *ret)
{
	uint64_t slot;

	return !find_window(&relay->layout, i, &slot) || !fetch_load(&ret->fetch, slot);
}

enum btsrec_status relay_take(struct relay *relay, struct btsrec *rec, unsigned int i,
			      struct history *ret, uint64_t *ret_end_n)
{
	enum btsrec_status status = history_init_empty(ret, rec, relay->cpu);
	bool has_window = !status && read_window(relay, i, ret);

	pthread_mutex_lock(&relay->lock);
	while (relay->nr_passed < i)
		pthread_cond_wait(&relay->passed, &relay->lock);
	if (status)
		relay->next.step = HISTORY_DONE;
	else
		history_go_on(ret, &relay->next);
	*ret_end_n = status ? 0 : pass_window(relay, ret, has_window);
	relay->nr_passed++;
	pthread_cond_broadcast(&relay->passed);
	pthread_mutex_unlock(&relay->lock);
	return status;
}
