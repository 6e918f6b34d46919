/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One level of a history: what the other level did is one block per interval, from where the level
 * was left to where it was entered again.  Pure.
 */
#ifndef BTSREC_LEVEL_FILTER_H
#define BTSREC_LEVEL_FILTER_H

#include "code/branch.h"

/**
 * struct level_filter_block - an interval of the level that is not printed
 * @kernel: its level.
 * @cpu, @n: of its first event, or of the event after it if it has none.
 * @nr_branches: inside it; of a kernel block with those that enter and leave.
 * @has_from, @from: where the printed level was left (kernel block), or where the
 *	block began (user block).
 * @has_to, @to: where it was entered again, or where the block ended.
 * @has_entry, @entry: how and where the kernel was entered; @entry_kva.
 * @handler_kva: a system call's handler; 0: none seen.
 */
struct level_filter_block {
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
 * struct level_filter_lookup - what a level filter may ask about a branch
 * @type: its kind.
 * @is_handler: whether its target is the handler of a system call.
 */
struct level_filter_lookup {
	struct branch (*type)(void *arg, const struct btsrec_event *event);
	bool (*is_handler)(void *arg, uint64_t va);
	void *arg;
};

/** struct level_filter - under way; @block is valid if @open */
struct level_filter {
	bool kernel;
	bool open;
	struct level_filter_block block;
};

/** level_filter_init() - print the kernel's level, or else that of user code */
void level_filter_init(struct level_filter *level_filter, bool kernel);

/**
 * struct level_filter_output - what is to be printed now: first @block, then the event
 */
struct level_filter_output {
	bool has_block;
	bool has_event;
	struct level_filter_block block;
};

/** level_filter_feed() - the next event */
struct level_filter_output level_filter_feed(struct level_filter *level_filter,
					     const struct btsrec_event *event,
					     const struct level_filter_lookup *lookup);

/** level_filter_end() - there are no more events; false: nothing is left to be printed */
bool level_filter_end(struct level_filter *level_filter, struct level_filter_block *ret);

#endif /* BTSREC_LEVEL_FILTER_H */
