// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/crew.h"

#include <stdlib.h>
#include <string.h>

#include "base/helper.h"
#include "symbols/lines.h"
#include "render/out.h"
#include "recorder/session.h"
#include "symbols/symbol.h"
#include "recorder/cpus.h"

/**
 * struct place - one of the CPUs, in their order
 * @text: told before its turn; the thread's that tells it until it is @done.
 */
struct place {
	unsigned int cpu;
	bool done;
	enum btsrec_status status;
	struct out_text text;
};

/**
 * struct member - a thread with what is its own
 * @place: that it tells now.
 */
struct member {
	struct crew *crew;
	struct btsrec *rec;
	void *view;
	struct btsrec_sink sink;
	struct place *place;
	pthread_t thread;
	bool started;
};

/**
 * struct crew - CPUs on their way
 * @lock: of what follows up to @failed.
 * @turned: @turn has moved, or @ended.
 * @nr_taken: of @places, by somebody.
 * @turn: whose text may go to the sink; written by the thread whose it is.
 * @kept_bytes: of text before its turn.
 * @ended: nothing more is told.
 * @stopped: because the sink said so.
 * @failed: NULL, or the first CPU that did.
 */
struct crew {
	const struct crew_work *work;
	const struct btsrec_sink *sink;
	pthread_mutex_t lock;
	pthread_cond_t turned;
	size_t nr_taken;
	size_t turn;
	size_t kept_bytes;
	bool ended;
	bool stopped;
	const struct place *failed;
	struct member members[CREW_MAX_THREADS];
	unsigned int nr_members;
	size_t nr_places;
	struct place places[];
};

/* --- Views -------------------------------------------------------------- */

static struct out *out_of(const struct crew_work *work, void *view)
{
	return (struct out *)((char *)view + work->out_at);
}

/* NULL: out of memory. */
static void *open_view(const struct crew_work *work, void *arg, struct btsrec *rec,
		       const struct btsrec_sink *sink)
{
	void *view = calloc(1, work->view_bytes);

	if (!view)
		return NULL;
	out_init(out_of(work, view), sink);
	if (work->open(arg, view, rec))
		return view;
	free(view);
	return NULL;
}

/* @told: what has become of it so far; returns that, or what comes next. */
static enum btsrec_status close_view(const struct crew_work *work, void *arg, void *view,
				     enum btsrec_status printed)
{
	enum btsrec_status closed = work->close ? work->close(arg, view) : BTSREC_OK;
	enum btsrec_status flushed = out_flush(out_of(work, view));

	free(view);
	if (printed)
		return printed;
	return closed ? closed : flushed;
}

/* --- Text --------------------------------------------------------------- */

static bool has_turn(const struct crew *crew, const struct place *place)
{
	return crew->turn == (size_t)(place - crew->places);
}

static void end(struct crew *crew)
{
	crew->ended = true;
	pthread_cond_broadcast(&crew->turned);
}

static void stop(struct crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	crew->stopped = true;
	end(crew);
	pthread_mutex_unlock(&crew->lock);
}

/* What was told of @place before its turn. */
static bool write_kept(struct crew *crew, struct place *place)
{
	struct out_text *text = &place->text;
	bool wanted = !text->nr_bytes || crew->sink->write(crew->sink->arg, text->bytes,
							   text->nr_bytes);

	pthread_mutex_lock(&crew->lock);
	crew->kept_bytes -= text->nr_bytes;
	pthread_mutex_unlock(&crew->lock);
	free(text->bytes);
	*text = (struct out_text){ 0 };
	return wanted;
}

static bool write_now(struct crew *crew, struct place *place, const char *text, size_t nr_bytes)
{
	if (write_kept(crew, place) && crew->sink->write(crew->sink->arg, text, nr_bytes))
		return true;
	stop(crew);
	return false;
}

/* False: there is no room, and it has to wait for its turn. */
static bool keep(struct crew *crew, struct place *place, const char *text, size_t nr_bytes)
{
	bool has_room;

	pthread_mutex_lock(&crew->lock);
	has_room = crew->kept_bytes + nr_bytes <= CREW_MAX_TEXT_BYTES;
	if (has_room)
		crew->kept_bytes += nr_bytes;
	pthread_mutex_unlock(&crew->lock);
	if (!has_room)
		return false;
	if (out_text_take(&place->text, text, nr_bytes))
		return true;
	pthread_mutex_lock(&crew->lock);
	crew->kept_bytes -= nr_bytes;
	pthread_mutex_unlock(&crew->lock);
	return false;
}

/* False: it never comes. */
static bool wait_for_turn(struct crew *crew, const struct place *place)
{
	bool ended;

	pthread_mutex_lock(&crew->lock);
	while (!crew->ended && !has_turn(crew, place))
		pthread_cond_wait(&crew->turned, &crew->lock);
	ended = crew->ended;
	pthread_mutex_unlock(&crew->lock);
	return !ended;
}

static bool write_text(void *arg, const char *text, size_t nr_bytes)
{
	struct member *member = arg;
	struct crew *crew = member->crew;
	struct place *place = member->place;
	bool ended, now;

	pthread_mutex_lock(&crew->lock);
	ended = crew->ended;
	now = has_turn(crew, place);
	pthread_mutex_unlock(&crew->lock);
	if (ended)
		return false;
	if (!now && keep(crew, place, text, nr_bytes))
		return true;
	return (now || wait_for_turn(crew, place)) && write_now(crew, place, text, nr_bytes);
}

/* --- CPUs --------------------------------------------------------------- */

/* The turn of @place, which is done, is over: is the next one done as well? */
static bool pass_turn(struct crew *crew, struct place *place)
{
	bool more;

	if (!write_kept(crew, place))
		stop(crew);
	pthread_mutex_lock(&crew->lock);
	if (place->status && !crew->ended) {
		crew->failed = place;
		end(crew);
	}
	crew->turn++;
	pthread_cond_broadcast(&crew->turned);
	more = !crew->ended && crew->turn < crew->nr_places && crew->places[crew->turn].done;
	pthread_mutex_unlock(&crew->lock);
	return more;
}

static void finish(struct crew *crew, struct place *place, enum btsrec_status status)
{
	bool more;

	pthread_mutex_lock(&crew->lock);
	place->status = status;
	place->done = true;
	more = !crew->ended && has_turn(crew, place);
	pthread_mutex_unlock(&crew->lock);
	for (; more; place++)
		more = pass_turn(crew, place);
}

static struct place *take_place(struct crew *crew)
{
	struct place *place = NULL;

	pthread_mutex_lock(&crew->lock);
	if (!crew->ended && crew->nr_taken < crew->nr_places)
		place = &crew->places[crew->nr_taken++];
	pthread_mutex_unlock(&crew->lock);
	return place;
}

/* Who has failed keeps the message, and takes no more. */
static void *work(void *arg)
{
	struct member *member = arg;
	struct crew *crew = member->crew;
	enum btsrec_status status = BTSREC_OK;

	while (!status && (member->place = take_place(crew)) != NULL) {
		status = crew->work->cpu(member->view, member->place->cpu);
		(void)out_flush(out_of(crew->work, member->view));
		finish(crew, member->place, status);
	}
	return NULL;
}

/* --- The crew ----------------------------------------------------------- */

static void list_places(struct crew *crew, const struct btsrec *rec, const unsigned int *cpus,
			size_t nr_cpus)
{
	for (size_t i = 0; i < nr_cpus; i++) {
		unsigned int cpu = cpus ? cpus[i] : (unsigned int)i;

		if (btsrec_cpu(rec, cpu))
			crew->places[crew->nr_places++].cpu = cpu;
	}
}

/* Without memory for all there are fewer; false: nobody. */
static bool gather(struct crew *crew, struct btsrec *rec, const struct crew_work *work, void *arg)
{
	size_t nr = rec->nr_threads < crew->nr_places ? rec->nr_threads : crew->nr_places;

	while (crew->nr_members < nr && crew->nr_members < CREW_MAX_THREADS) {
		struct member *member = &crew->members[crew->nr_members];

		member->crew = crew;
		member->sink = (struct btsrec_sink){ .write = write_text, .arg = member };
		member->rec = session_clone(rec);
		if (member->rec && symbols_clone(member->rec, rec) && lines_clone(member->rec, rec))
			member->view = open_view(work, arg, member->rec, &member->sink);
		if (!member->view) {
			btsrec_free(member->rec);
			break;
		}
		crew->nr_members++;
	}
	return crew->nr_members;
}

static void work_together(struct crew *crew)
{
	for (unsigned int i = 1; i < crew->nr_members; i++) {
		struct member *member = &crew->members[i];

		member->started = helper_start(&member->thread, work, member);
	}
	work(&crew->members[0]);
	for (unsigned int i = 1; i < crew->nr_members; i++)
		if (crew->members[i].started)
			pthread_join(crew->members[i].thread, NULL);
}

/* What has become of the CPUs. */
static enum btsrec_status outcome(const struct crew *crew, struct btsrec *rec)
{
	for (unsigned int i = 0; crew->failed && i < crew->nr_members; i++)
		if (crew->members[i].place == crew->failed)
			rec->msg = crew->members[i].rec->msg;
	if (crew->failed)
		return crew->failed->status;
	return crew->stopped ? BTSREC_ERR_STOPPED : BTSREC_OK;
}

static enum btsrec_status close_member(struct member *member, struct btsrec *rec, void *arg)
{
	struct crew *crew = member->crew;
	enum btsrec_status status;

	/* Its last words are behind those of all CPUs. */
	member->place = &crew->places[crew->nr_places];
	status = close_view(crew->work, arg, member->view, BTSREC_OK);
	if (status && !crew->failed)
		rec->msg = member->rec->msg;
	rec->nomem |= member->rec->nomem;
	btsrec_free(member->rec);
	return status;
}

static void disband(struct crew *crew)
{
	for (size_t i = 0; i < crew->nr_places; i++)
		free(crew->places[i].text.bytes);
	pthread_cond_destroy(&crew->turned);
	pthread_mutex_destroy(&crew->lock);
	free(crew);
}

/* For CPUs of @rec; NULL: out of memory. */
static struct crew *crew_new(const struct btsrec *rec, const unsigned int *cpus, size_t nr_cpus)
{
	struct crew *crew = calloc(1, sizeof(*crew) + (nr_cpus + 1) * sizeof(crew->places[0]));

	if (!crew)
		return NULL;
	helper_lock_init(&crew->lock);
	pthread_cond_init(&crew->turned, NULL);
	list_places(crew, rec, cpus, nr_cpus);
	return crew;
}

/* NULL: out of memory, with a message. */
static void *open_only(struct btsrec *rec, const struct crew_work *work, void *arg,
		       const struct btsrec_sink *sink)
{
	void *view = open_view(work, arg, rec, sink);

	if (!view)
		(void)msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	return view;
}

static enum btsrec_status print_alone(struct btsrec *rec, const unsigned int *cpus, size_t nr_cpus,
				      const struct crew_work *work, void *arg,
				      const struct btsrec_sink *sink)
{
	void *view = open_only(rec, work, arg, sink);

	if (!view)
		return BTSREC_ERR_NOMEM;
	return close_view(work, arg, view, cpus_for_each(rec, cpus, nr_cpus, work->cpu, view));
}

enum btsrec_status crew_one(struct btsrec *rec, const struct crew_work *work,
			    enum btsrec_status (*print)(void *view), void *arg,
			    const struct btsrec_sink *sink)
{
	void *view = open_only(rec, work, arg, sink);

	return view ? close_view(work, arg, view, print(view)) : BTSREC_ERR_NOMEM;
}

/* A resolver, and a source that is read by callbacks alone, are for one thread. */
static bool can_clone(const struct btsrec *rec)
{
	return rec->nr_threads > 1 && rec->image.read_pages && !rec->has_resolver;
}

enum btsrec_status crew_print(struct btsrec *rec, const unsigned int *cpus, size_t nr_cpus,
			      bool alone, const struct crew_work *work, void *arg,
			      const struct btsrec_sink *sink)
{
	struct crew *crew = NULL;
	enum btsrec_status status;

	if (!alone && can_clone(rec))
		crew = crew_new(rec, cpus, cpus ? nr_cpus : btsrec_nr_cpu_ids(rec));
	if (crew) {
		crew->work = work;
		crew->sink = sink;
	}
	if (!crew || crew->nr_places < 2 || !gather(crew, rec, work, arg)) {
		if (crew)
			disband(crew);
		return print_alone(rec, cpus, nr_cpus, work, arg, sink);
	}
	rings_ahead_end(rec);
	work_together(crew);
	status = outcome(crew, rec);
	for (unsigned int i = 0; i < crew->nr_members; i++) {
		enum btsrec_status closed = close_member(&crew->members[i], rec, arg);

		if (!status)
			status = closed;
	}
	disband(crew);
	return status;
}
