// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/cpu_tasks.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/pool.h"
#include "recorder/session.h"
#include "render/out.h"
#include "symbols/lines.h"
#include "symbols/symbol.h"

_Static_assert(POOL_BUFFER_BYTES == OUT_BYTES, "a view writes into the buffer of the pool");

/** struct member - what is one worker's; @rec: its own, but of one that is alone */
struct member {
	struct btsrec *rec;
	void *view;
};

/**
 * struct planned - a CPU that has parts
 * @is_planned, @nr_parts_done: changed under the lock of the team.
 * @status, @msg: of planning it.
 */
struct planned {
	void *plan;
	bool is_planned;
	unsigned int nr_parts_done;
	enum btsrec_status status;
	struct msg msg;
};

/**
 * struct team - the workers of one view
 * @planned: one for each of @cpus.
 * @first: what the tasks' @first leaves; @is_first_done: under @lock.
 * @nr_parts: of each CPU; 0: it is one task.
 * @changed: something has become planned or done.
 */
struct team {
	const struct cpu_tasks *tasks;
	void *arg;
	const struct btsrec_sink *sink;
	unsigned int *cpus;
	size_t nr_cpus;
	struct planned *planned;
	void *first;
	bool is_first_done;
	unsigned int nr_parts;
	pthread_mutex_t lock;
	pthread_cond_t changed;
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

static void change(struct team *team, struct planned *planned, unsigned int nr_parts_done)
{
	pthread_mutex_lock(&team->lock);
	planned->is_planned = true;
	planned->nr_parts_done += nr_parts_done;
	pthread_cond_broadcast(&team->changed);
	pthread_mutex_unlock(&team->lock);
}

static bool is_ready(const struct team *team, const struct planned *planned, unsigned int nr_parts)
{
	return planned->is_planned && planned->nr_parts_done >= nr_parts &&
	       (planned != team->planned || team->is_first_done);
}

/*
 * Until it is planned, what comes before it printed, and so many parts are done: each is in the
 * hands of a worker.
 */
static void wait_for(struct team *team, const struct planned *planned, unsigned int nr_parts)
{
	pthread_mutex_lock(&team->lock);
	while (!is_ready(team, planned, nr_parts))
		pthread_cond_wait(&team->changed, &team->lock);
	pthread_mutex_unlock(&team->lock);
}

static enum btsrec_status print_first(struct team *team, const struct member *member)
{
	enum btsrec_status status = team->tasks->first(member->view, team->cpus[0], team->first);

	pthread_mutex_lock(&team->lock);
	team->is_first_done = true;
	pthread_cond_broadcast(&team->changed);
	pthread_mutex_unlock(&team->lock);
	return status;
}

/* A failure is that of the first part: what is printed of CPUs before must leave. */
static void make_plan(struct team *team, const struct member *member, size_t i,
		      unsigned int nr_parts)
{
	struct planned *planned = &team->planned[i];

	planned->status = team->tasks->plan(member->view, team->cpus[i], i ? NULL : team->first,
					    nr_parts, &planned->plan);
	if (planned->status)
		planned->msg = member->rec->msg;
	change(team, planned, 0);
}

/* The last part is behind the text of the others. */
static enum btsrec_status do_part(struct team *team, const struct member *member, size_t i,
				  unsigned int part, unsigned int nr_parts)
{
	struct planned *planned = &team->planned[i];
	enum btsrec_status status;

	wait_for(team, planned, 0);
	if (planned->status) {
		member->rec->msg = planned->msg;
		return planned->status;
	}
	status = team->tasks->part(member->view, planned->plan, part, nr_parts);
	change(team, planned, 1);
	if (status || part < nr_parts - 1)
		return status;
	wait_for(team, planned, nr_parts);
	return team->tasks->end(member->view, planned->plan);
}

static void drop_plan(const struct team *team, size_t i)
{
	if (team->planned[i].plan)
		team->tasks->drop(team->planned[i].plan);
	team->planned[i].plan = NULL;
}

static enum btsrec_status do_cpu(struct team *team, const struct member *member, size_t i)
{
	enum btsrec_status status;

	if (team->tasks->cpu)
		return team->tasks->cpu(member->view, team->cpus[i]);
	status = i ? BTSREC_OK : print_first(team, member);
	if (status)
		return status;
	make_plan(team, member, i, 1);
	status = do_part(team, member, i, 0, 1);
	drop_plan(team, i);
	return status;
}

/*
 * The first lines and the plan of the first CPU, then for each CPU the plan of the next one, and
 * its own parts: while some print parts, one plans ahead.
 */
static enum btsrec_status do_planned(struct team *team, const struct member *member, size_t task)
{
	size_t i = task > 1 ? (task - 2) / (team->nr_parts + 1) : 0;
	size_t step = task > 1 ? (task - 2) % (team->nr_parts + 1) : 0;

	if (!task)
		return print_first(team, member);
	if (task == 1)
		make_plan(team, member, 0, team->nr_parts);
	else if (step)
		return do_part(team, member, i, step - 1, team->nr_parts);
	else if (i + 1 < team->nr_cpus)
		make_plan(team, member, i + 1, team->nr_parts);
	return BTSREC_OK;
}

static size_t nr_tasks(const struct team *team)
{
	size_t nr = team->nr_cpus;

	if (team->nr_parts && nr)
		nr += 2 + nr * team->nr_parts;
	return nr + (team->tasks->begin != NULL);
}

static enum btsrec_status do_task(struct team *team, const struct member *member, size_t task)
{
	if (team->tasks->begin && !task) {
		team->tasks->begin(member->view);
		return BTSREC_OK;
	}
	task -= team->tasks->begin != NULL;
	return team->nr_parts ? do_planned(team, member, task) : do_cpu(team, member, task);
}

/* Plans print nothing; see do_planned(). */
static bool is_quiet(void *arg, size_t task)
{
	const struct team *team = arg;
	size_t nr_before = 1 + (team->tasks->begin != NULL);

	if (!team->nr_parts || task < nr_before)
		return false;
	return task == nr_before || !((task - nr_before - 1) % (team->nr_parts + 1));
}

/* The text of one worker alone leaves as if it were one task: in writes of whole buffers. */
static enum btsrec_status run(void *arg, unsigned int worker, size_t task,
			      const struct pool_text *text)
{
	struct team *team = arg;
	const struct member *member = &team->members[worker];
	struct out *out = out_of(team->tasks, member->view);
	enum btsrec_status status;

	if (team->nr_members > 1)
		out_lend(out, &text->sink, &text->buffer);
	status = do_task(team, member, task);
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

	if (nr > team->nr_cpus && team->tasks->cpu)
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

	if (team->nr_members > 1) {
		out_lend(out, team->sink, NULL);
		out->stopped |= failed;
	}
	status = close_view(team, member->view, status);
	if (member->rec == rec)
		return status;
	if (status && !failed)
		rec->msg = member->rec->msg;
	rec->nomem |= member->rec->nomem;
	rec->matched |= member->rec->matched;
	btsrec_free(member->rec);
	return status;
}

static enum btsrec_status work(struct team *team, struct btsrec *rec)
{
	const struct pool_work work = {
		.nr_tasks = nr_tasks(team),
		.nr_workers = team->nr_members,
		.run = run,
		.is_quiet = is_quiet,
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

/* As many of each CPU. */
static void count_parts(struct team *team, const struct btsrec *rec)
{
	for (size_t i = 0; i < team->nr_cpus; i++) {
		unsigned int nr = team->tasks->max_parts(rec, team->cpus[i]);

		team->nr_parts = nr > team->nr_parts ? nr : team->nr_parts;
	}
}

static enum btsrec_status gather_and_work(struct team *team, struct btsrec *rec, bool alone)
{
	enum btsrec_status status;

	if (!gather(team, rec, alone))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (team->tasks->plan && team->nr_members > 1)
		count_parts(team, rec);
	pthread_mutex_init(&team->lock, NULL);
	pthread_cond_init(&team->changed, NULL);
	status = work(team, rec);
	pthread_cond_destroy(&team->changed);
	pthread_mutex_destroy(&team->lock);
	return status;
}

enum btsrec_status cpu_tasks_print(struct btsrec *rec, const unsigned int *cpus, size_t nr_cpus,
				   bool alone, const struct cpu_tasks *tasks, void *arg,
				   const struct btsrec_sink *sink)
{
	size_t nr_max = cpus ? nr_cpus : btsrec_nr_cpu_ids(rec);
	_cleanup_free_ unsigned int *room = calloc(nr_max + 1, sizeof(*room));
	_cleanup_free_ struct planned *planned = calloc(nr_max + 1, sizeof(*planned));
	_cleanup_free_ void *first = calloc(1, tasks->first_bytes + 1);
	struct team team = { .tasks = tasks, .arg = arg, .sink = sink, .cpus = room,
			     .planned = planned, .first = first };
	enum btsrec_status status;

	if (!room || !planned || !first)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	list_cpus(&team, rec, cpus, nr_max);
	status = gather_and_work(&team, rec, alone);
	for (size_t i = 0; i < team.nr_cpus; i++)
		drop_plan(&team, i);
	return status;
}
