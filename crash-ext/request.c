// SPDX-License-Identifier: GPL-2.0-or-later
#include "request.h"

#include <crash/defs.h>

#define DEFAULT_EVENTS	20

static bool parse_number(const char *text, uint64_t max, uint64_t *ret)
{
	char *end;
	unsigned long long value;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || value > max)
		return false;
	*ret = value;
	return true;
}

/* One "3" or "1-23" of a list. */
static bool parse_cpu_range(char *range, unsigned long *cpus)
{
	char *dash = strchr(range, '-');
	uint64_t first, last, cpu;

	if (dash)
		*dash = '\0';
	if (!parse_number(range, MAX_CPUS - 1, &first))
		return false;
	last = first;
	if (dash && !parse_number(dash + 1, MAX_CPUS - 1, &last))
		return false;
	if (last < first)
		return false;
	for (cpu = first; cpu <= last; cpu++)
		cpus[cpu / MASK_BITS] |= 1UL << cpu % MASK_BITS;
	return true;
}

/*
 * crash's own make_cpumask() knows only the CPUs that were up; a CPU that went
 * down before the crash has a history too.
 */
static bool parse_cpus(char *list, struct request *req)
{
	char *next, *range;

	req->cpus_given = true;
	if (STREQ(list, "a") || STREQ(list, "all")) {
		req->every_cpu = true;
		return true;
	}
	for (range = list; range; range = next) {
		next = strchr(range, ',');
		if (next)
			*next++ = '\0';
		if (!parse_cpu_range(range, req->cpus))
			return false;
	}
	return true;
}

static bool parse_view(enum view view, struct request *req)
{
	if (req->view != VIEW_DEFAULT)
		return false;
	req->view = view;
	return true;
}

/* Where the text of a filter's option goes; NULL: it is none. */
static const char **filter_text(struct btsrec_filter *filter, int option)
{
	switch (option) {
	case 'P':
		return &filter->pids;
	case 'G':
		return &filter->tgids;
	case 'C':
		return &filter->comm;
	case 'F':
		return &filter->from;
	case 'T':
		return &filter->to;
	case 'S':
		return &filter->symbols;
	case 'A':
		return &filter->ranges;
	case 'B':
		return &filter->types;
	default:
		return NULL;
	}
}

static bool parse_filter(int option, const char *value, struct request *req)
{
	const char **text = filter_text(&req->filter, option);

	req->filtered = true;
	if (text)
		*text = value;
	else if (option == 'K')
		req->filter.kernel = true;
	else if (option == 'U')
		req->filter.user = true;
	else
		return false;
	return true;
}

static bool parse_by(const char *value, struct request *req)
{
	req->functions = true;
	if (STREQ(value, "task"))
		req->by = BTSREC_BY_TASK;
	else if (STREQ(value, "cpu"))
		req->by = BTSREC_BY_CPU;
	else
		return STREQ(value, "function");
	return true;
}

static bool parse_option(int option, char *value, struct request *req)
{
	switch (option) {
	case 'a':
		req->all = true;
		return true;
	case 'c':
		return parse_cpus(value, req);
	case 'n':
		req->count_given = true;
		return parse_number(value, UINT64_MAX, &req->max_events) && req->max_events;
	case 'r':
		req->newest_first = true;
		return true;
	case 't':
		req->types = true;
		return true;
	case 'l':
		req->lines = true;
		return true;
	case 'L':
		req->fold = true;
		return true;
	case 'd':
		req->insns = true;
		return true;
	case 'f':
		return parse_by(value, req);
	case 'g':
		req->calls = true;
		return true;
	case 'm':
		req->timeline = true;
		return true;
	case 's':
		req->stack = true;
		return true;
	case 'x':
		req->coverage = value;
		return true;
	case 'H':
		req->thread = value;
		return true;
	case 'i':
		return parse_view(VIEW_INFO, req);
	case 'k':
		return parse_view(VIEW_CHECK, req);
	case 'p':
		return parse_view(VIEW_PROVE, req);
	case 'j':
		req->format = BTSREC_FORMAT_JSONL;
		return true;
	case 'N':
		req->no_names = true;
		return true;
	default:
		return parse_filter(option, value, req);
	}
}

/* What crash's usage says is "count"; the value may have been taken apart. */
static void say_what_is_taken(int option)
{
	if (option == 'c')
		error(INFO, "-c takes numbers up to %u and ranges of them, as in 1,8,9-14, or all\n",
		      (unsigned int)MAX_CPUS - 1);
	else if (option == 'n')
		error(INFO, "-n takes a number from 1 on, below 2^64\n");
	else if (option == 'f')
		error(INFO, "-f takes function, task or cpu\n");
}

/* Only these views tell one thread over all CPUs. */
static bool can_follow(const struct request *req)
{
	return !req->cpus_given && !req->functions && !req->timeline && !req->coverage &&
	       !req->newest_first;
}

/* Options that choose a part of a history choose the history; other views have no parts. */
static bool request_complete(struct request *req)
{
	int nr_others = req->insns + req->calls + req->functions + req->timeline +
			req->stack + !!req->coverage;
	bool history = req->all || req->cpus_given || req->count_given || req->newest_first ||
		       req->types || nr_others || req->filtered || req->lines || req->fold ||
		       req->thread;

	if (!history)
		return !(req->view == VIEW_CHECK && req->format != BTSREC_FORMAT_TEXT);
	if (req->view != VIEW_DEFAULT || nr_others > 1 ||
	    (nr_others && !req->insns && !req->calls && !req->coverage && req->lines) ||
	    (nr_others && (req->newest_first || req->types || req->fold)) ||
	    (req->fold && req->newest_first) ||
	    ((req->stack || req->functions || req->coverage) && req->count_given) ||
	    (req->stack && req->filtered) || (req->thread && !can_follow(req)))
		return false;
	req->view = VIEW_HISTORY;
	return true;
}

void parse_request(struct request *req)
{
	int option;

	memset(req, 0, sizeof(*req));
	while ((option = getopt(argcnt, args, "A:aB:C:c:dF:f:G:gH:ijKkLlmNn:P:prS:sT:tUx:")) != EOF)
		if (!parse_option(option, optarg, req)) {
			say_what_is_taken(option);
			argerrs++;
		}
	if (args[optind] || !request_complete(req))
		argerrs++;
	if (argerrs)
		cmd_usage(pc->curcmd, SYNOPSIS);
	if (!req->count_given && !req->all)
		req->max_events = DEFAULT_EVENTS;
}
