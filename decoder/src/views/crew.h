/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUs that are told side by side.  Each thread of a crew has a session and a view of its
 * own, and takes the next CPU when it is done with one.  What is told leaves for the sink in
 * the order of the CPUs, as if one thread had told all of them.
 */
#ifndef BTSREC_CREW_H
#define BTSREC_CREW_H

#include <btsrec/decoder.h>

#include "base/bounds.h"

/* Each has runs and pages of code, names and calls of its own. */
#define CREW_MAX_THREADS	8

/* What all have told before it was their turn. */
#define CREW_MAX_TEXT_BYTES	BOUND((size_t)64 << 20, (size_t)1 << 10)

/**
 * struct crew_work - a view over CPUs
 * @view_bytes: of a view, which is cleared, and freed behind @close.
 * @out_at: where in it its struct out is, for the sink; flushed behind each CPU and @close.
 * @open: the rest of @view, of @rec; false: out of memory, and @close is not called.
 * @cpu: tell @cpu; anything but BTSREC_OK ends it all, with a message in the session.
 * @close: no more CPUs: add what was counted to @arg, say the last words, free what @view
 *	has; NULL: nothing of that.
 *
 * @cpu is called by several threads at once, of different views; the others by whoever
 * called crew_print().
 */
struct crew_work {
	size_t view_bytes;
	size_t out_at;
	bool (*open)(void *arg, void *view, struct btsrec *rec);
	enum btsrec_status (*cpu)(void *view, unsigned int cpu);
	enum btsrec_status (*close)(void *arg, void *view);
};

/**
 * crew_one() - what one view tells of all of them
 * @tell: all there is to tell, in place of @work->cpu.
 *
 * Return: that of @tell, if it is not BTSREC_OK, else of @close; BTSREC_ERR_STOPPED: the sink
 * wanted no more; BTSREC_ERR_NOMEM.
 */
enum btsrec_status crew_one(struct btsrec *rec, const struct crew_work *work,
			    enum btsrec_status (*print)(void *view), void *arg,
			    const struct btsrec_sink *sink);

/**
 * crew_print() - tell each of @cpus
 * @cpus: as of cpus_for_each().
 * @alone: one thread, with @rec itself, whatever btsrec_set_threads() has said.
 * @sink: borrowed; called by all threads, one at a time.
 *
 * It is also alone where the source reads no whole pages, and where there is a resolver.
 * Once a CPU has failed no more text leaves than up to there.
 *
 * Return: the first status of @cpu that is not BTSREC_OK, else that of @close;
 * BTSREC_ERR_STOPPED: the sink wanted no more.
 */
enum btsrec_status crew_print(struct btsrec *rec, const unsigned int *cpus, size_t nr_cpus,
			      bool alone, const struct crew_work *work, void *arg,
			      const struct btsrec_sink *sink);

#endif /* BTSREC_CREW_H */
