// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The pipeline: image -> locate -> fetch -> head and ring -> timeline.  The only
 * place that knows every stage.
 */
#include "session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "fetch.h"
#include "head.h"
#include "image.h"
#include "timeline.h"

#ifndef BTSREC_VERSION
#error "the build gives BTSREC_VERSION"
#endif

const char *btsrec_version(void)
{
	return BTSREC_VERSION;
}

/* --- Session ------------------------------------------------------------ */

static void part_free(struct session_part *part)
{
	if (part->free)
		part->free(part->data);
	memset(part, 0, sizeof(*part));
}

struct btsrec *btsrec_new(void)
{
	return calloc(1, sizeof(struct btsrec));
}

void btsrec_free(struct btsrec *rec)
{
	if (!rec)
		return;
	part_free(&rec->code);
	part_free(&rec->symbols);
	located_free(rec->located);
	findings_fini(&rec->findings);
	part_free(&rec->source);
	free(rec);
}

const char *btsrec_errmsg(const struct btsrec *rec)
{
	return rec->msg.text;
}

enum btsrec_status session_open(struct btsrec *rec, const struct btsrec_image *image,
				struct session_part source)
{
	if (!image->read_pa)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "the image has no read_pa");
	if (rec->has_image)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "the session has a source already");
	rec->image = *image;
	rec->source = source;
	rec->has_image = true;
	return BTSREC_OK;
}

enum btsrec_status btsrec_open_image(struct btsrec *rec, const struct btsrec_image *image)
{
	return session_open(rec, image, (struct session_part){ 0 });
}

enum btsrec_status btsrec_locate(struct btsrec *rec, uint64_t root_pa, enum btsrec_scan scan)
{
	struct located *located;
	enum btsrec_status status;

	if (!rec->has_image)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "the session has no source");
	if (rec->located)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "the recorder has been located already");
	findings_fini(&rec->findings);
	status = locate(&rec->image, root_pa, scan, &rec->findings, &rec->msg, &located);
	if (status == BTSREC_OK)
		rec->located = located;
	else if (*rec->notice)
		msg_prepend(&rec->msg, status, "%s", rec->notice);
	return status;
}

const struct btsrec_root *btsrec_root(const struct btsrec *rec)
{
	return rec->located ? &rec->located->root : NULL;
}

unsigned int btsrec_nr_cpu_ids(const struct btsrec *rec)
{
	return rec->located ? rec->located->nr_cpus : 0;
}

static const struct located_cpu *session_cpu(const struct btsrec *rec, unsigned int cpu)
{
	return cpu < btsrec_nr_cpu_ids(rec) ? rec->located->cpus[cpu] : NULL;
}

const struct btsrec_cpu *btsrec_cpu(const struct btsrec *rec, unsigned int cpu)
{
	const struct located_cpu *lc = session_cpu(rec, cpu);

	return lc ? &lc->page : NULL;
}

const struct btsrec_module *btsrec_module_at(const struct btsrec *rec, uint64_t kva)
{
	return rec->located ? located_module_at(rec->located, kva) : NULL;
}

/* --- Ring --------------------------------------------------------------- */

const char *session_index_str(enum session_index index)
{
	switch (index) {
	case SESSION_INDEX_NEVER:	return "never armed";
	case SESSION_INDEX_FROZEN:	return "frozen";
	case SESSION_INDEX_STOPPED:	return "stopped";
	case SESSION_INDEX_LIVE:	return "live";
	}
	return "unknown";
}

/* Only a frozen or stopped CPU has an index that nobody moves any more. */
static enum session_index index_source(const struct btsrec_cpu *cpu)
{
	if (cpu->frozen)
		return SESSION_INDEX_FROZEN;
	switch ((enum btsrec_cpu_state)cpu->state) {
	case BTSREC_CPU_NEVER:
		return SESSION_INDEX_NEVER;
	case BTSREC_CPU_STOPPED:
		return SESSION_INDEX_STOPPED;
	case BTSREC_CPU_ARMED:
	case BTSREC_CPU_FROZEN:
		break;
	}
	return SESSION_INDEX_LIVE;
}

static enum btsrec_status read_index(const struct btsrec *rec, const struct btsrec_cpu *cpu,
				     struct session_ring *ring)
{
	switch (ring->index) {
	case SESSION_INDEX_NEVER:
		ring->index_kva = cpu->ring_kva;
		break;
	case SESSION_INDEX_FROZEN:
		ring->index_kva = cpu->freeze.index_kva;
		break;
	case SESSION_INDEX_STOPPED:
		ring->index_kva = cpu->stop_index_kva;
		break;
	case SESSION_INDEX_LIVE:
		/* SDM vol. 3B, "DS Save Area", DTES64: BTS index is the second word. */
		return image_read(&rec->image, cpu->ds_pa + 8, &ring->index_kva,
				  sizeof(ring->index_kva));
	}
	return BTSREC_OK;
}

/* Fill in *@ret and return it; NULL: not in the dump.  Other failures go to *@status. */
static const struct btsrec_record *peek_slot(struct fetch *fetch, uint64_t slot,
					     struct btsrec_record *ret,
					     enum btsrec_status *status)
{
	enum btsrec_status one = fetch_one(fetch, slot, ret);

	if (one != BTSREC_OK && one != BTSREC_ERR_NODATA)
		*status = one;
	return one == BTSREC_OK ? ret : NULL;
}

static enum btsrec_status find_pending(struct fetch *fetch, const struct btsrec_cpu *cpu,
				       struct ring_layout *layout)
{
	uint64_t nr_slots = layout->nr_slots, head = layout->head_slot;
	struct btsrec_record newest, next[BTSREC_MAX_PARTS];
	enum btsrec_status status = BTSREC_OK;
	struct head_peek peek;

	peek.newest = peek_slot(fetch, (head + nr_slots - 1) % nr_slots, &newest, &status);
	for (unsigned int i = 0; i < BTSREC_MAX_PARTS; i++)
		peek.next[i] = peek_slot(fetch, (head + i) % nr_slots, &next[i], &status);
	if (status != BTSREC_OK)
		return status;
	layout->nr_pending = head_pending(&peek, nr_slots, cpu->annot_begin, cpu->annot_end);
	return BTSREC_OK;
}

static enum btsrec_status find_lap(struct fetch *fetch, const struct btsrec_cpu *cpu,
				   struct session_ring *ring)
{
	struct ring_layout *layout = &ring->layout;
	uint64_t behind = layout->head_slot + layout->nr_pending;
	enum btsrec_status status = BTSREC_OK;
	struct btsrec_record record;
	struct ring_run run;

	/* Nothing lies between the head and the end: the beginning was overwritten. */
	layout->lap = behind < layout->nr_slots ? RING_LAP_UNKNOWN : RING_LAP_LATER;
	if (behind < layout->nr_slots)
		fetch_seek(fetch, behind, layout->nr_slots - behind);
	while (layout->lap == RING_LAP_UNKNOWN) {
		status = fetch_next(fetch, &run);
		if (!run.nr_slots)
			break;
		if (run.records)
			layout->lap = head_lap(run.records);
	}
	ring->complete = layout->lap == RING_LAP_FIRST;
	if (!ring->complete && peek_slot(fetch, ring_oldest(layout), &record, &status))
		ring->complete = head_is_first(&record, cpu->annot_begin);
	return status;
}

static enum btsrec_status look_at_ring(struct btsrec *rec, const struct located_cpu *lc,
				       struct fetch *fetch, struct session_ring *ret)
{
	const struct btsrec_cpu *cpu = &lc->page;
	struct session_ring ring = { .index = index_source(cpu) };
	enum btsrec_status status;

	ring.layout.nr_slots = cpu->ring_bytes / BTSREC_RECORD_BYTES;
	ring.index_status = read_index(rec, cpu, &ring);
	if (ring.index_status == BTSREC_OK)
		ring.index_status = ring_head(cpu->ring_kva, cpu->ring_bytes, ring.index_kva,
					      &ring.layout.head_slot);
	else if (ring.index_status != BTSREC_ERR_NODATA)
		return ring.index_status;
	status = BTSREC_OK;
	if (ring.index == SESSION_INDEX_NEVER) {
		ring.complete = true;
		ring.layout.lap = RING_LAP_FIRST;
	} else if (ring.index_status == BTSREC_OK) {
		status = find_pending(fetch, cpu, &ring.layout);
		if (status == BTSREC_OK)
			status = find_lap(fetch, cpu, &ring);
		ring_plan(&ring.layout);
	}
	if (status == BTSREC_OK)
		*ret = ring;
	return status;
}

/* --- Walk --------------------------------------------------------------- */

/* In the order in which a history is told; a step may feed several runs. */
enum walk_step {
	WALK_OVERWRITTEN,	/* what the ring has forgotten */
	WALK_OLD_PENDING,	/* oldest slots, taken by an unfinished annotation */
	WALK_SPANS,
	WALK_NEW_PENDING,	/* the same, but in a ring that has room */
	WALK_NO_INDEX,
	WALK_END,
	WALK_DONE,
};

/**
 * struct walk - one way through one history
 *
 * A copy taken between two runs resumes there, after fetch_forget().
 */
struct walk {
	const struct btsrec_cpu *cpu;
	struct session_ring ring;
	enum walk_step step;
	unsigned int span;
	struct fetch fetch;
	struct timeline timeline;
};

static void walk_fini(struct walk *walk)
{
	fetch_fini(&walk->fetch);
}

static enum btsrec_status walk_init(struct walk *walk, struct btsrec *rec, unsigned int cpu)
{
	const struct located_cpu *lc = session_cpu(rec, cpu);
	enum btsrec_status status;

	memset(walk, 0, sizeof(*walk));
	if (!rec->located)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "the recorder has not been located");
	if (!lc)
		return msg_set(&rec->msg, BTSREC_ERR_NO_CPU, "CPU %u has no usable ring", cpu);
	walk->cpu = &lc->page;
	status = fetch_init(&walk->fetch, &rec->image, lc->ring_pa, lc->page.ring_bytes);
	if (status == BTSREC_OK)
		status = look_at_ring(rec, lc, &walk->fetch, &walk->ring);
	if (status != BTSREC_OK)
		return msg_set(&rec->msg, status, "ring of CPU %u: %s", cpu,
			       btsrec_status_str(status));
	fetch_seek(&walk->fetch, 0, 0);
	timeline_init(&walk->timeline, cpu,
		      rec->located->root.flags & BTSREC_ROOT_F_LA57 ? 57 : 48);
	return BTSREC_OK;
}

static void feed_gap(struct walk *walk, enum btsrec_gap_kind kind, uint64_t slot,
		     uint64_t nr_slots)
{
	struct ring_run run = { .gap = kind, .slot = slot, .nr_slots = nr_slots };

	timeline_feed(&walk->timeline, &run);
}

static void feed_pending(struct walk *walk, bool wanted)
{
	const struct ring_layout *layout = &walk->ring.layout;

	if (wanted && layout->nr_pending)
		feed_gap(walk, BTSREC_GAP_TORN, layout->head_slot, layout->nr_pending);
}

static enum btsrec_status feed_spans(struct walk *walk)
{
	const struct ring_layout *layout = &walk->ring.layout;
	enum btsrec_status status;
	struct ring_run run;

	if (!walk->fetch.nr_left && walk->span < layout->nr_spans) {
		fetch_seek(&walk->fetch, layout->spans[walk->span].slot,
			   layout->spans[walk->span].nr_slots);
		walk->span++;
	}
	status = fetch_next(&walk->fetch, &run);
	if (status == BTSREC_OK && run.nr_slots)
		timeline_feed(&walk->timeline, &run);
	return status;
}

static bool spans_left(const struct walk *walk)
{
	return walk->fetch.nr_left || walk->span < walk->ring.layout.nr_spans;
}

/* Give the timeline, which has run dry, its next input. */
static enum btsrec_status walk_feed(struct walk *walk)
{
	const struct session_ring *ring = &walk->ring;

	switch (walk->step) {
	case WALK_OVERWRITTEN:
		if (ring->layout.lap == RING_LAP_LATER && !ring->complete)
			feed_gap(walk, BTSREC_GAP_OVERWRITTEN, ring->layout.head_slot, 0);
		break;
	case WALK_OLD_PENDING:
		feed_pending(walk, ring->layout.lap != RING_LAP_FIRST);
		break;
	case WALK_SPANS:
		if (spans_left(walk))
			return feed_spans(walk);
		break;
	case WALK_NEW_PENDING:
		feed_pending(walk, ring->layout.lap == RING_LAP_FIRST);
		break;
	case WALK_NO_INDEX:
		if (ring->index_status != BTSREC_OK)
			feed_gap(walk, BTSREC_GAP_NO_INDEX, 0, ring->layout.nr_slots);
		break;
	case WALK_END:
		timeline_end(&walk->timeline, walk->cpu->frozen ? &walk->cpu->freeze : NULL);
		break;
	case WALK_DONE:
		break;
	}
	walk->step++;
	return BTSREC_OK;
}

/* --- Events ------------------------------------------------------------- */

/* Enough that the newest so many events always begin behind one of them. */
#define NR_MARKS 8
#define MIN_MARK_DISTANCE 4096

/** struct marks - places in a walk from which it can go on, the newest ones */
struct marks {
	struct walk walk[NR_MARKS];
	size_t nr;
	uint64_t distance;
};

static void marks_add(struct marks *marks, const struct walk *walk)
{
	const struct walk *last = &marks->walk[(marks->nr + NR_MARKS - 1) % NR_MARKS];

	if (marks->nr && walk->timeline.n - last->timeline.n < marks->distance)
		return;
	marks->walk[marks->nr % NR_MARKS] = *walk;
	marks->nr++;
}

/* The newest mark that is not behind event @n, or the oldest that is kept. */
static const struct walk *marks_find(const struct marks *marks, uint64_t n)
{
	const struct walk *walk;
	size_t i = 1;

	do {
		walk = &marks->walk[(marks->nr - i) % NR_MARKS];
	} while (walk->timeline.n > n && i++ < NR_MARKS && i <= marks->nr);
	return walk;
}

/* Walk to the end without telling anybody, then back to the mark before the tail. */
static enum btsrec_status walk_to_tail(struct walk *walk, uint64_t max_events,
				       uint64_t *ret_first)
{
	_cleanup_free_ struct marks *marks = calloc(1, sizeof(*marks));
	struct btsrec_event event;
	enum btsrec_status status;

	if (!marks)
		return BTSREC_ERR_NOMEM;
	marks->distance = max_events / 4 > MIN_MARK_DISTANCE ? max_events / 4 : MIN_MARK_DISTANCE;
	while (walk->step != WALK_DONE) {
		marks_add(marks, walk);
		status = walk_feed(walk);
		if (status != BTSREC_OK)
			return status;
		while (timeline_next(&walk->timeline, &event))
			;
	}
	*ret_first = walk->timeline.n > max_events ? walk->timeline.n - max_events : 0;
	*walk = *marks_find(marks, *ret_first);
	fetch_forget(&walk->fetch);
	return BTSREC_OK;
}

/* Tell @fn about the events from number @first on. */
static enum btsrec_status walk_tell(struct walk *walk, uint64_t first, btsrec_event_fn fn,
				    void *arg)
{
	struct btsrec_event event;
	enum btsrec_status status;

	while (walk->step != WALK_DONE) {
		status = walk_feed(walk);
		if (status != BTSREC_OK)
			return status;
		while (timeline_next(&walk->timeline, &event)) {
			if (event.n >= first && !fn(arg, &event))
				return BTSREC_ERR_STOPPED;
		}
	}
	return BTSREC_OK;
}

static enum btsrec_status walk_all(struct walk *walk, uint64_t max_events, btsrec_event_fn fn,
				   void *arg)
{
	enum btsrec_status status = BTSREC_OK;
	uint64_t first = 0;

	if (max_events)
		status = walk_to_tail(walk, max_events, &first);
	if (status == BTSREC_OK)
		status = walk_tell(walk, first, fn, arg);
	return status;
}

enum btsrec_status session_tail(struct btsrec *rec, unsigned int cpu, uint64_t max_events,
				btsrec_event_fn fn, void *arg)
{
	enum btsrec_status status;
	struct walk walk;

	status = walk_init(&walk, rec, cpu);
	if (status == BTSREC_OK) {
		status = walk_all(&walk, max_events, fn, arg);
		if (status != BTSREC_OK)
			msg_set(&rec->msg, status, "history of CPU %u: %s", cpu,
				btsrec_status_str(status));
	}
	walk_fini(&walk);
	return status;
}

enum btsrec_status btsrec_events(struct btsrec *rec, unsigned int cpu, btsrec_event_fn fn,
				 void *arg)
{
	return session_tail(rec, cpu, 0, fn, arg);
}

enum btsrec_status session_ring(struct btsrec *rec, unsigned int cpu, struct session_ring *ret)
{
	enum btsrec_status status;
	struct walk walk;

	status = walk_init(&walk, rec, cpu);
	if (status == BTSREC_OK)
		*ret = walk.ring;
	walk_fini(&walk);
	return status;
}
