/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stage frames twice, fed alike: in one of them plain branches go the plain way.  What
 * both say of each event, and the stacks that they leave, must be the same.
 */
#ifndef BTSREC_FRAMES_PAIR_H
#define BTSREC_FRAMES_PAIR_H

#include <string.h>

#include "../decoder/src/flow/frames_fast.h"

#define PAIR_NR_NOTES	1024

/**
 * struct frames_pair - both
 * @goes_on: the last event was a branch that led into the kernel.
 * @nr_plain: branches that went the plain way.
 * @place: NULL, or the source's: each way has its note from the first branch on, not the second.
 * @notes: of ways, as runs of code would have them.
 */
struct frames_pair {
	struct frames *general;
	struct frames *plain;
	bool goes_on;
	uint64_t nr_plain;
	enum frames_place (*place)(void *arg, uint64_t from, uint64_t to);
	struct pair_note {
		uint64_t from;
		uint64_t to;
		struct code_brief brief;
	} notes[PAIR_NR_NOTES];
};

static inline void frames_pair_free(struct frames_pair *pair)
{
	frames_free(pair->general);
	frames_free(pair->plain);
	memset(pair, 0, sizeof(*pair));
}

/* False: out of memory; frames_pair_free() is allowed. */
static inline bool frames_pair_new(struct frames_pair *pair, const struct frames_source *source)
{
	memset(pair, 0, sizeof(*pair));
	pair->general = frames_new(source);
	pair->plain = frames_new(source);
	return pair->general && pair->plain;
}

static inline bool pair_same_frame(const struct frame *a, const struct frame *b)
{
	return a->kind == b->kind && a->vector == b->vector && a->n == b->n &&
	       a->level == b->level && a->segment == b->segment && a->from == b->from &&
	       a->entered == b->entered && a->return_va == b->return_va &&
	       a->nr_before == b->nr_before && a->entry == b->entry &&
	       a->thunk.type == b->thunk.type && a->thunk.from == b->thunk.from &&
	       a->thunk.return_va == b->thunk.return_va;
}

static inline bool pair_same_step(const struct frames_step *a, const struct frames_step *b)
{
	return a->lost == b->lost && a->unseen_entry == b->unseen_entry &&
	       a->unseen_exit == b->unseen_exit && a->switched == b->switched &&
	       a->nr_left == b->nr_left && a->deeper == b->deeper &&
	       a->mismatch == b->mismatch && a->elsewhere == b->elsewhere &&
	       a->bridged == b->bridged && a->bridged_segment == b->bridged_segment &&
	       a->shift == b->shift && a->nr_entered == b->nr_entered && a->level == b->level &&
	       a->segment == b->segment;
}

static inline bool pair_same_stack(const struct stack *a, const struct stack *b)
{
	if (a->known != b->known || a->pid != b->pid || a->nr != b->nr ||
	    a->nr_old != b->nr_old || a->attached != b->attached || a->kernel != b->kernel ||
	    a->level != b->level || a->segment != b->segment || a->nr_branches != b->nr_branches)
		return false;
	for (size_t i = 0; i < a->nr; i++)
		if (!pair_same_frame(&a->frames[i], &b->frames[i]))
			return false;
	return true;
}

static inline bool pair_same(const struct frames_pair *pair, const struct frames_step *general,
			     const struct frames_step *plain)
{
	if (!pair_same_step(general, plain) ||
	    !pair_same_stack(frames_stack(pair->general), frames_stack(pair->plain)))
		return false;
	for (unsigned int i = 0; i < general->nr_left; i++) {
		const struct frame *a = frames_left(pair->general, i);
		const struct frame *b = frames_left(pair->plain, i);

		if (!pair_same_frame(a, b) || a->nr_branches != b->nr_branches)
			return false;
	}
	return true;
}

/* Branches with a target keep what was found out about their way; NULL: it has none. */
static inline struct code_brief *pair_note(struct frames_pair *pair,
					   const struct btsrec_record *branch,
					   enum branch_type type)
{
	struct pair_note *note = &pair->notes[(branch->from * 31 + branch->to) % PAIR_NR_NOTES];

	if (type != BRANCH_CALL && type != BRANCH_JUMP && type != BRANCH_COND)
		return NULL;
	if (note->from != branch->from || note->to != branch->to)
		*note = (struct pair_note){ .from = branch->from, .to = branch->to };
	if (pair->place)
		note->brief.note = FRAMES_NOTE(pair->place(NULL, branch->from, branch->to)) & 0xf;
	return &note->brief;
}

/* What proof_plain() asks for; else NULL. */
static inline const struct frames_step *pair_plain(struct frames_pair *pair,
						   const struct btsrec_event *event,
						   const struct proof_step *step)
{
	const struct btsrec_record *branch = &event->branch;
	enum branch_type type = step ? step->branch.type : BRANCH_UNKNOWN;
	struct code_brief run = { .judged = (unsigned int)type & 0xf };
	const struct frames_step *ret;

	if (event->kind != BTSREC_EVENT_BRANCH || !pair->goes_on ||
	    !code_is_kernel(branch->from & branch->to) || !step || step->kind != PROOF_PROVEN ||
	    step->branch.to_thunk || type < BRANCH_CALL || type > BRANCH_COND ||
	    type == BRANCH_JUMP_IND)
		return NULL;
	if (pair_note(pair, branch, type))
		run.note = pair_note(pair, branch, type)->note;
	run.length_bytes = step->length_bytes & 0xf;
	ret = step->length_bytes ? frames_feed_plain(pair->plain, event->n, branch, &run) : NULL;
	pair->nr_plain += ret != NULL;
	return ret;
}

/* The next event; NULL: they differ.  Else what the general one says. */
static inline const struct frames_step *frames_pair_feed(struct frames_pair *pair,
							 const struct btsrec_event *event,
							 const struct btsrec_side *side,
							 const struct proof_step *step)
{
	const struct frames_step *plain = pair_plain(pair, event, step), *general;
	struct proof_step noted = step ? *step : (struct proof_step){ 0 };

	if (!plain)
		plain = frames_feed(pair->plain, event, side, step);
	if (step && event->kind == BTSREC_EVENT_BRANCH && !step->branch.to_thunk)
		noted.noted = pair_note(pair, &event->branch, step->branch.type);
	general = frames_feed(pair->general, event, side, step ? &noted : NULL);
	pair->goes_on = event->kind == BTSREC_EVENT_BRANCH && code_is_kernel(event->branch.to);
	return pair_same(pair, general, plain) ? general : NULL;
}

#endif /* BTSREC_FRAMES_PAIR_H */
