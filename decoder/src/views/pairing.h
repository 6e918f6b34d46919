/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which calls of a search belong together, and what is known of those without the other. */
#ifndef BTSREC_PAIRING_H
#define BTSREC_PAIRING_H

#include "tally/pairs.h"
#include "views/view_search.h"

/** enum pair_state - what is known of a call without the other */
enum pair_state {
	PAIR_PAIRED,
	PAIR_RETURNED, /* no other call is after it, and its caller has returned */
	PAIR_HELD,     /* nor has its caller returned: that runs, or waits */
	PAIR_UNPAIRED, /* no other call is after it; of its caller nothing is known */
	PAIR_RUNS,     /* the thread runs in it, or waits */
	PAIR_OLDER,    /* it leaves, and nothing before it enters */
	PAIR_THREAD,   /* unknown: the thread is not known */
	PAIR_GAP,      /* unknown: a part of this history is missing after it */
	PAIR_UNSEEN,   /* unknown: the thread may have run on another CPU, unseen */
	PAIR_ORDER,    /* unknown: a call that leaves may be older or newer */
};

/** enum pair_scope - which calls belong together */
enum pair_scope {
	PAIR_OF_THREAD,
	PAIR_OF_CPU,
	PAIR_OF_ALL,
};

/**
 * struct pair_item - a call, and what becomes of it
 * @group: only calls of one group, and of what @scope says, belong together.
 * @object: what it is for; 0: not known.  Those of different objects do not belong together.
 * @line: its number among the lines of the search.
 * @state: set by pairing_judge().  @cpu: of PAIR_UNSEEN.
 * @is_newest: of one that enters, without another one: none that leaves is after it.  Those do
 *	not count that are for another object, nor those that ran in an interrupt that came after
 *	it: they are not of what was interrupted.
 */
struct pair_item {
	uint32_t group;
	enum pair_scope scope;
	uint64_t object;
	size_t line;
	bool enters;
	enum pair_state state;
	unsigned int cpu;
	bool is_newest;
};

/**
 * pairing_judge() - the state of each of @nr @items, which are then sorted: group by group, thread
 *	by thread or CPU by CPU, the oldest first
 *
 * Return: false: out of memory.
 */
bool pairing_judge(const struct search *view, struct pair_item *items, size_t nr);

/** pair_state_str() - the state as a phrase; static */
const char *pair_state_str(enum pair_state state);

#endif /* BTSREC_PAIRING_H */
