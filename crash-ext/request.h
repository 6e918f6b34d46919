/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of "bts". */
#ifndef BTSREC_REQUEST_H
#define BTSREC_REQUEST_H

#include <btsrec/decoder.h>

#define MAX_CPUS	(BTSREC_MAX_CPU_DIR_PAGES * (BTSREC_PAGE_BYTES / sizeof(uint64_t)))
#define MASK_BITS	(8 * sizeof(unsigned long))

enum view {
	VIEW_DEFAULT,		/* summary */
	VIEW_INFO,
	VIEW_CHECK,
	VIEW_PROVE,
	VIEW_HISTORY,
};

/**
 * struct request - a command line
 * @cpus_given: -c: either @every_cpu or a bit per CPU in @cpus.
 * @insns, @calls, @functions, @timeline, @stack: the history as instructions, as a tree of
 *	calls, as a profile, or merged by time; or the call stack at its end.
 * @max_events: 0: all.
 * @thread: NULL, or the thread that is followed over all CPUs; crash's.
 * @coverage: NULL, or the function whose instructions are counted; crash's.
 * @filtered: @filter asks for something; its texts are crash's, for this command.
 */
struct request {
	enum view view;
	bool cpus_given;
	bool every_cpu;
	bool all;
	bool count_given;
	bool newest_first;
	bool types;
	bool insns;
	bool calls;
	bool functions;
	bool timeline;
	bool stack;
	bool no_names;
	bool lines;
	bool fold;
	enum btsrec_by by;
	const char *coverage;
	const char *thread;
	enum btsrec_format format;
	uint64_t max_events;
	bool filtered;
	struct btsrec_filter filter;
	unsigned long cpus[MAX_CPUS / MASK_BITS];
};

/** parse_request() - crash's arguments; a bad line does not return: crash shows its usage */
void parse_request(struct request *req);

#endif /* BTSREC_REQUEST_H */
