// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/cpu_tasks.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/pool.h"
#include "recorder/session.h"
#include "render/out.h"
#include "symbols/lines.h"
#include "symbols/symbol.h"

/** struct member - what is one worker's; @rec: its own, but of one that is alone */
struct member {
	struct btsrec *rec;
	void *view;
};

/**
 * struct team - the workers of one view
 * @cpus: one for each task, but for @tasks->begin, which is the first if it is there.
 */
struct team {
	const struct cpu_tasks *tasks;
	void *arg;
	const struct btsrec_sink *sink;
	unsigned int *cpus;
	size_t nr_cpus;
	struct member members[POOL_MAX_WORKERS];
	unsigned int nr_members;
};

/* --- Views -------------------------------------------------------------- */

static struct out *out_of(const struct cpu_tasks *tasks, void *view)
{
	return (struct out *)((char *)view + tasks->out_at);
}

/* NULL: out of memory. */
static void *open_view(const struct team *team, struct btsrec *rec)
{
	void *view = calloc(1, team->tasks->view_bytes);

	if (!view)
		return NULL;
	out_init(out_of(team->tasks, view), team->sink);
	if (team->tasks->open(team->arg, view, rec))
		return view;
	free(view);
	return NULL;
}

/* @printed: the status so far; returns that, or the next one. */
static enum btsrec_status close_view(const struct team *team, void *view,
				     enum btsrec_status printed)
{
	const struct cpu_tasks *tasks = team->tasks;
	enum btsrec_status closed = tasks->close ? tasks->close(team->arg, view) : BTSREC_OK;
	enum btsrec_status flushed = out_flush(out_of(tasks, view));

	free(view);
	if (printed)
		return printed;
	return closed ? closed : flushed;
}

enum btsrec_status cpu_tasks_one(struct btsrec *rec, const struct cpu_tasks *tasks,
				 enum btsrec_status (*print)(void *view), void *arg,
				 const struct btsrec_sink *sink)
{
	const struct team team = { .tasks = tasks, .arg = arg, .sink = sink };
	void *view = open_view(&team, rec);

	if (!view)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	return close_view(&team, view, print(view));
}

/* --- Tasks -------------------------------------------------------------- */

static enum btsrec_status do_task(const struct team *team, void *view, size_t task)
{
	if (!team->tasks->begin)
		return team->tasks->cpu(view, team->cpus[task]);
	if (task)
		return team->tasks->cpu(view, team->cpus[task - 1]);
	team->tasks->begin(view);
	return BTSREC_OK;
}

/* The text of one worker alone leaves as if it were one task: in writes of whole buffers. */
static enum btsrec_status run(void *arg, unsigned int worker, size_t task,
			      const struct btsrec_sink *sink)
{
	const struct team *team = arg;
	void *view = team->members[worker].view;
	struct out *out = out_of(team->tasks, view);
	enum btsrec_status status;

	if (team->nr_members > 1)
		out->sink = sink;
	status = do_task(team, view, task);
	if (team->nr_members > 1)
		(void)out_flush(out);
	return status;
}

/* --- Workers ------------------------------------------------------------ */

/* False: out of memory; then there are as many as there are. */
static bool add_clone(struct team *team, struct btsrec *rec)
{
	struct btsrec *clone = session_clone(rec);
	void *view = NULL;

	if (clone && symbols_clone(clone, rec) && lines_clone(clone, rec))
		view = open_view(team, clone);
	if (!view) {
		btsrec_free(clone);
		return false;
	}
	team->members[team->nr_members++] = (struct member){ clone, view };
	return true;
}

/* A resolver, and a source that is read by callbacks alone, are for one thread. */
static bool can_clone(const struct btsrec *rec)
{
	return rec->image.read_pages && !rec->has_resolver;
}

/* False: not even one, for want of memory. */
static bool gather(struct team *team, struct btsrec *rec, bool alone)
{
	size_t nr = alone || !can_clone(rec) ? 1 : rec->nr_threads;
	void *view;

	if (nr > team->nr_cpus)
		nr = team->nr_cpus;
	if (nr > POOL_MAX_WORKERS)
		nr = POOL_MAX_WORKERS;
	while (nr > 1 && team->nr_members < nr && add_clone(team, rec))
		;
	if (team->nr_members)
		return true;
	view = open_view(team, rec);
	if (view)
		team->members[team->nr_members++] = (struct member){ rec, view };
	return view;
}

/* After a failure no other worker has last words. */
static enum btsrec_status release(const struct team *team, const struct member *member,
				  struct btsrec *rec, enum btsrec_status status)
{
	struct out *out = out_of(team->tasks, member->view);
	bool failed = status != BTSREC_OK;

	out->sink = team->sink;
	out->stopped |= failed && team->nr_members > 1;
	status = close_view(team, member->view, status);
	if (member->rec == rec)
		return status;
	if (status && !failed)
		rec->msg = member->rec->msg;
	rec->nomem |= member->rec->nomem;
	btsrec_free(member->rec);
	return status;
}

static enum btsrec_status work(struct team *team, struct btsrec *rec)
{
	const struct pool_work work = {
		.nr_tasks = team->nr_cpus + (team->tasks->begin != NULL),
		.nr_workers = team->nr_members,
		.run = run,
		.arg = team,
	};
	unsigned int failed = team->nr_members;
	enum btsrec_status status = pool_run(&work, team->sink, &failed);

	if (failed < team->nr_members)
		rec->msg = team->members[failed].rec->msg;
	else if (status == BTSREC_ERR_NOMEM)
		(void)msg_set(&rec->msg, status, "out of memory");
	for (unsigned int i = 0; i < team->nr_members; i++)
		status = release(team, &team->members[i], rec, status);
	return status;
}

static void list_cpus(struct team *team, const struct btsrec *rec, const unsigned int *cpus,
		      size_t nr_cpus)
{
	for (size_t i = 0; i < nr_cpus; i++) {
		unsigned int cpu = cpus ? cpus[i] : (unsigned int)i;

		if (btsrec_cpu(rec, cpu))
			team->cpus[team->nr_cpus++] = cpu;
	}
}

enum btsrec_status cpu_tasks_print(struct btsrec *rec, const unsigned int *cpus, size_t nr_cpus,
				   bool alone, const struct cpu_tasks *tasks, void *arg,
				   const struct btsrec_sink *sink)
{
	size_t nr_max = cpus ? nr_cpus : btsrec_nr_cpu_ids(rec);
	_cleanup_free_ unsigned int *room = calloc(nr_max + 1, sizeof(*room));
	struct team team = { .tasks = tasks, .arg = arg, .sink = sink, .cpus = room };

	if (!room)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	list_cpus(&team, rec, cpus, nr_max);
	if (!gather(&team, rec, alone))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	return work(&team, rec);
}
