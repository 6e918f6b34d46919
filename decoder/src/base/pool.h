/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one way to use several processors: a list of tasks, and workers that take them in order.  The
 * text of each task goes to one sink in the order of the tasks.
 */
#ifndef BTSREC_POOL_H
#define BTSREC_POOL_H

#include <pthread.h>
#include <stdbool.h>

#include <btsrec/decoder.h>

#include "base/bounds.h"

/* Each may have a session with tables of code, names and open files of its own. */
#define POOL_MAX_WORKERS	8

/* Of a buffer for text. */
#define POOL_BUFFER_BYTES	((size_t)320 << 10)
/* Of all tasks together, with text that waits for its turn: 64 MiB. */
#define POOL_MAX_KEPT_BUFFERS	BOUND(204, 2)

/**
 * struct pool_text - what takes the text of a worker's tasks
 * @sink: may wait for the turn of the task.
 * @buffer: POOL_BUFFER_BYTES.  Text that begins there is kept where it is until its turn, for
 *	nothing is copied; and then there is another buffer.  So look here after each write.  What
 *	the old one has stays until the next write.  NULL: out of memory.
 *
 * Other text waits for its turn.
 */
struct pool_text {
	struct btsrec_sink sink;
	char *buffer;
};

/**
 * struct pool_work - what is to be done
 * @nr_tasks: they have the numbers from 0 on.
 * @nr_workers: with the caller, which is worker 0; at least 1.  At most POOL_MAX_WORKERS and one
 *	for each task are used, fewer if the system gives fewer threads.
 * @run: do @task, whose text goes to @text; anything but BTSREC_OK ends it all.  Called by several
 *	workers at once.
 * @arg: of both functions.
 * @is_quiet: does @task print nothing, and not fail?  Then nobody waits for it; NULL: none is so.
 */
struct pool_work {
	size_t nr_tasks;
	unsigned int nr_workers;
	enum btsrec_status (*run)(void *arg, unsigned int worker, size_t task,
				  const struct pool_text *text);
	void *arg;
	bool (*is_quiet)(void *arg, size_t task);
};

/**
 * pool_run() - do all tasks
 * @sink: borrowed; called by all workers, one at a time.  NULL: no task has text.
 * @ret_worker: the worker whose task failed, if one did; else as it was.
 *
 * All threads have ended when it returns.  The text of a task that failed leaves, and none of
 * the tasks after it.
 *
 * Return: BTSREC_OK; of the first task that failed, in their order, what @run returned;
 * BTSREC_ERR_STOPPED: the sink wanted no more; BTSREC_ERR_NOMEM: nothing was done.
 */
enum btsrec_status pool_run(const struct pool_work *work, const struct btsrec_sink *sink,
			    unsigned int *ret_worker);

/**
 * pool_thread() - a thread that runs @fn with @arg, for pthread_join()
 *
 * It gets no signals: they are the business of the program's own threads.
 *
 * Return: false: the system gives none.
 */
bool pool_thread(pthread_t *ret, void *(*fn)(void *arg), void *arg);

#endif /* BTSREC_POOL_H */
