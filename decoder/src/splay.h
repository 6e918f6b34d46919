/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One level of a history: what the other level did is one block per stretch, from
 * where the level was left to where it was entered again.  Pure.
 */
#ifndef BTSREC_SPLAY_H
#define BTSREC_SPLAY_H

#include "branch.h"

/**
 * struct splay_block - a stretch of the level that is not told
 * @kernel: its level.
 * @cpu, @n: of its first event, or of the event after it if it has none.
 * @nr_branches: inside it; of a kernel block with those that enter and leave.
 * @has_from, @from: where the told level was left (kernel block), or where the
 *	block began (user block).
 * @has_to, @to: where it was entered again, or where the block ended.
 * @has_entry, @entry: how and where the kernel was entered; @entry_kva.
 * @handler_kva: a system call's handler; 0: none seen.
 */
struct splay_block {
	bool kernel;
	unsigned int cpu;
	uint64_t n;
	uint64_t nr_branches;
	bool has_from;
	bool has_to;
	bool has_entry;
	uint64_t from;
	uint64_t to;
	struct branch entry;
	uint64_t entry_kva;
	uint64_t handler_kva;
};

/**
 * struct splay_lookup - what a splay may ask about a branch
 * @type: its kind.
 * @is_handler: whether its target is the handler of a system call.
 */
struct splay_lookup {
	struct branch (*type)(void *arg, const struct btsrec_event *event);
	bool (*is_handler)(void *arg, uint64_t va);
	void *arg;
};

/** struct splay - under way; @block is valid if @open */
struct splay {
	bool kernel;
	bool open;
	struct splay_block block;
};

/** splay_init() - tell the kernel's level, or else that of user code */
void splay_init(struct splay *splay, bool kernel);

/**
 * struct splay_told - what is to be told now: first @block, then the event
 */
struct splay_told {
	bool has_block;
	bool has_event;
	struct splay_block block;
};

/** splay_feed() - the next event */
struct splay_told splay_feed(struct splay *splay, const struct btsrec_event *event,
			     const struct splay_lookup *lookup);

/** splay_end() - there are no more events; false: nothing is left to be told */
bool splay_end(struct splay *splay, struct splay_block *ret);

#endif /* BTSREC_SPLAY_H */
