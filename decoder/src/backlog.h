/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of one CPU's history, kept to be told the newest first. */
#ifndef BTSREC_BACKLOG_H
#define BTSREC_BACKLOG_H

#include "splay.h"

/** struct backlog_branch - the line of a branch: of its event only what differs */
struct backlog_branch {
	uint64_t n;
	struct btsrec_record record;
};

/** struct backlog_other - any other line; @line: its number from the oldest one */
struct backlog_other {
	uint64_t line;
	bool is_block;
	union {
		struct btsrec_event event;
		struct splay_block block;
	};
};

/**
 * struct backlog - the lines; all zero: none
 * @nomem: a line was lost for lack of memory.
 */
struct backlog {
	struct backlog_branch *branches;
	size_t nr_branches;
	size_t nr_branches_room;
	struct backlog_other *others;
	size_t nr_others;
	size_t nr_others_room;
	bool nomem;
};

/** backlog_event(), backlog_block() - the next line */
void backlog_event(struct backlog *backlog, const struct btsrec_event *event);
void backlog_block(struct backlog *backlog, const struct splay_block *block);

/** backlog_fn - receives one line: an event or a block, the other is NULL; false to stop */
typedef bool (*backlog_fn)(void *arg, const struct btsrec_event *event,
			   const struct splay_block *block);

/** backlog_tell() - all lines of @cpu, the newest first */
void backlog_tell(const struct backlog *backlog, unsigned int cpu, backlog_fn fn, void *arg);

/** backlog_fini() - free the lines and leave none */
void backlog_fini(struct backlog *backlog);

#endif /* BTSREC_BACKLOG_H */
