/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The profile by function: how each format words it. */
#ifndef BTSREC_VIEW_FUNCTIONS_H
#define BTSREC_VIEW_FUNCTIONS_H

#include <btsrec/values.h>

#include "base/addr_counter.h"
#include "tally/profile.h"
#include "render/render.h"

/**
 * struct functions - one profile under way
 * @counter: what is not in @profile yet, where it has its groups.
 * @fn: NULL: text; else receives the rows as values, with @arg.
 * @nr_cpus: that were counted.
 * @nr_gaps: parts of the histories that are missing, but for what rings have forgotten.
 * @nomem: something was not counted for lack of memory.
 */
struct functions {
	struct renderer renderer;
	const struct btsrec_functions *opts;
	const struct functions_format *format;
	btsrec_function_fn fn;
	void *arg;
	struct addr_counter counter;
	struct profile profile;
	uint64_t nr_cpus;
	uint64_t nr_gaps;
	bool nomem;
};

/**
 * struct functions_group - what a group is, out of its key
 * @has_thread: false by task: nobody knows which.
 */
struct functions_group {
	unsigned int cpu;
	bool has_thread;
	uint32_t pid;
	uint32_t tgid;
	char comm[BTSREC_COMM_BYTES];
};

/** functions_group() - of the view's --by, which says what is valid */
void functions_group(const struct profile_group *group, struct functions_group *ret);

/**
 * struct functions_format - how one format words a profile
 * @begin: once, when all is counted.
 * @group: before the first row of each group, if there are several; may be NULL.
 * @end: once; may be NULL.
 */
struct functions_format {
	void (*begin)(struct functions *view);
	void (*group)(struct functions *view, const struct profile_group *group);
	void (*row)(struct functions *view, const struct profile_row *row);
	void (*end)(struct functions *view);
};

/** functions_share_ppm() - @nr_branches of all that were counted, in millionths */
uint64_t functions_share_ppm(const struct functions *view, uint64_t nr_branches);

/** functions_values - rows for the function of the view; no text */
extern const struct functions_format functions_values;

/** functions_format_of() - the table for @format; NULL: no such format */
const struct functions_format *functions_format_of(enum btsrec_format format);

#endif /* BTSREC_VIEW_FUNCTIONS_H */
