/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of one CPU's history, kept to be printed the newest first. */
#ifndef BTSREC_REVERSE_BUFFER_H
#define BTSREC_REVERSE_BUFFER_H

#include "flow/level_filter.h"

/** struct reverse_buffer_branch - the line of a branch: of its event only what differs */
struct reverse_buffer_branch {
	uint64_t n;
	struct btsrec_record record;
};

/** struct reverse_buffer_other - any other line; @line: its number from the oldest one */
struct reverse_buffer_other {
	uint64_t line;
	bool is_block;
	union {
		struct btsrec_event event;
		struct level_filter_block block;
	};
};

/**
 * struct reverse_buffer - the lines; all zero: none
 * @nomem: a line was lost for lack of memory.
 */
struct reverse_buffer {
	struct reverse_buffer_branch *branches;
	size_t nr_branches;
	size_t nr_branches_room;
	struct reverse_buffer_other *others;
	size_t nr_others;
	size_t nr_others_room;
	bool nomem;
};

/** reverse_buffer_event(), reverse_buffer_block() - the next line */
void reverse_buffer_event(struct reverse_buffer *reverse_buffer, const struct btsrec_event *event);
void reverse_buffer_block(struct reverse_buffer *reverse_buffer,
			  const struct level_filter_block *block);

/** reverse_buffer_fn - receives one line: an event or a block, the other is NULL; false to stop */
typedef bool (*reverse_buffer_fn)(void *arg, const struct btsrec_event *event,
				  const struct level_filter_block *block);

/** reverse_buffer_print() - all lines of @cpu, the newest first */
void reverse_buffer_print(const struct reverse_buffer *reverse_buffer, unsigned int cpu,
			  reverse_buffer_fn fn, void *arg);

/** reverse_buffer_fini() - free the lines and leave none */
void reverse_buffer_fini(struct reverse_buffer *reverse_buffer);

#endif /* BTSREC_REVERSE_BUFFER_H */
