/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Part of <btsrec/decoder.h>: the history of a CPU, event by event. */
#ifndef BTSREC_EVENTS_H
#define BTSREC_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <btsrec/abi.h>
#include <btsrec/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum btsrec_event_kind {
	BTSREC_EVENT_BRANCH,	/* branch */
	BTSREC_EVENT_SWITCH,	/* sw; mm_only: one thread changed its cr3 */
	BTSREC_EVENT_EXEC,	/* sw */
	BTSREC_EVENT_ARM,	/* resume */
	BTSREC_EVENT_MARK,	/* mark */
	BTSREC_EVENT_TIME,	/* time */
	BTSREC_EVENT_FREEZE,	/* freeze; always the last event of a frozen CPU */
	BTSREC_EVENT_GAP,	/* gap */
};

/**
 * BTSREC_ANNOTATIONS() - x(KIND, PAYLOAD, EVENT, NAME, MEANING) for each kind of annotation
 *
 * KIND of enum btsrec_annot_kind has a struct PAYLOAD and is an EVENT, which views call NAME.
 * MEANING is one sentence for a legend; NULL: that of the kind before holds for this one, too.
 */
#define BTSREC_ANNOTATIONS(x)								\
	x(SWITCH, btsrec_switch, SWITCH, "switch",					\
	  "Another thread runs next, or only the page table changed (mm).")		\
	x(MM, btsrec_switch, SWITCH, "switch", NULL)					\
	x(EXEC, btsrec_switch, EXEC, "exec", "A thread has become another program.")	\
	x(ARM, btsrec_resume, ARM, "arm", "Recording began here.")			\
	x(GAP, btsrec_resume, GAP, "gap", "Something is missing.")			\
	x(MARK, btsrec_mark, MARK, "mark", "A text that somebody wrote to /dev/btsrec.") \
	x(TIME, btsrec_time, TIME, "time", "One point in time in three clocks.")

/** enum btsrec_gap_kind - why a part of the history is missing */
enum btsrec_gap_kind {
	BTSREC_GAP_OVERWRITTEN,	/* ring wrapped: older history is gone */
	BTSREC_GAP_NOT_IN_DUMP,	/* pages excluded or cut off */
	BTSREC_GAP_TORN,	/* parts of an annotation, or a half-poisoned slot */
	BTSREC_GAP_NEVER_WRITTEN, /* poison where history was expected */
	BTSREC_GAP_BAD_RECORD,	/* neither branch, annotation nor poison */
	BTSREC_GAP_UNKNOWN_KIND, /* annotation of a newer minor */
	BTSREC_GAP_PAUSED,	/* recorder was stopped and went on: resume */
	BTSREC_GAP_NO_INDEX,	/* the hardware index is unreadable or outside */
};

/** btsrec_gap_str() - the kind as a lower-case word with dashes; static. */
BTSREC_API const char *btsrec_gap_str(enum btsrec_gap_kind kind);

/** btsrec_reason_str() - enum btsrec_reason as words ("panic", "cpu offline"); static. */
BTSREC_API const char *btsrec_reason_str(uint32_t reason);

/** struct btsrec_gap - a hole in the history */
struct btsrec_gap {
	enum btsrec_gap_kind kind;
	uint64_t nr_slots;	/* slots not decoded; 0: count unknown or none */
	uint64_t slot;		/* first such slot */
	bool has_resume;	/* PAUSED: resume is valid */
	struct btsrec_resume resume;
};

/**
 * struct btsrec_event - one line of a history
 * @cpu: CPU number.
 * @n: index from the oldest retained event of this CPU, from 0.
 * @slot: first ring slot the event came from; UINT64_MAX: from none.
 */
struct btsrec_event {
	enum btsrec_event_kind kind;
	unsigned int cpu;
	uint64_t n;
	uint64_t slot;
	bool mm_only;
	union {
		struct btsrec_record branch;
		struct btsrec_switch sw;
		struct btsrec_resume resume;
		struct btsrec_mark mark;
		struct btsrec_time time;
		struct btsrec_freeze freeze;
		struct btsrec_gap gap;
	};
};

/**
 * btsrec_event_fn - receives one event; @event is valid during the call
 *
 * Return: true to go on, false to stop.
 */
typedef bool (*btsrec_event_fn)(void *arg, const struct btsrec_event *event);

/**
 * btsrec_events() - the whole history of @cpu, oldest first
 *
 * Return: BTSREC_OK; BTSREC_ERR_NO_CPU; BTSREC_ERR_STOPPED if @fn returned false;
 * BTSREC_ERR_IO; BTSREC_ERR_NOMEM; BTSREC_ERR_INVAL before btsrec_locate().
 */
BTSREC_API enum btsrec_status
btsrec_events(struct btsrec *rec, unsigned int cpu, btsrec_event_fn fn, void *arg);

/**
 * struct btsrec_branches - branches in a row, with no other event between them
 * @cpu: CPU number.
 * @n: number of the event that the first one is; the next is @n + 1.
 * @records: @nr_records of them, at least one.
 */
struct btsrec_branches {
	size_t size;		/* sizeof(struct btsrec_branches) of the library, see values.h */
	unsigned int cpu;
	uint64_t n;
	const struct btsrec_record *records;
	size_t nr_records;
};

/** btsrec_branches_fn - receives branches, valid during the call; true: go on */
typedef bool (*btsrec_branches_fn)(void *arg, const struct btsrec_branches *branches);

/**
 * btsrec_branches() - of these events the branches, many at a time; for columns
 *
 * Return: as btsrec_events().
 */
BTSREC_API enum btsrec_status
btsrec_branches(struct btsrec *rec, unsigned int cpu, btsrec_branches_fn fn, void *arg);

/**
 * btsrec_other_events() - of these the ones that are no branches; ten times as fast
 * @ret_nr_events: NULL, or how many events there are, branches included, up to where @fn
 *	stopped.
 *
 * Return: as btsrec_events().
 */
BTSREC_API enum btsrec_status
btsrec_other_events(struct btsrec *rec, unsigned int cpu, btsrec_event_fn fn, void *arg,
		    uint64_t *ret_nr_events);

/**
 * btsrec_has_losses() - is something missing in the history of @cpu?
 * @max_events: look at its newest so many events; 0: at all.
 *
 * What a ring overwrites and what the recorder left out while it was paused is not missing.
 * A history that any view has read to its end is not read again.
 *
 * Return: as btsrec_events(), with *@ret.
 */
BTSREC_API enum btsrec_status
btsrec_has_losses(struct btsrec *rec, unsigned int cpu, uint64_t max_events, bool *ret);

#ifdef __cplusplus
}
#endif

#endif /* BTSREC_EVENTS_H */
