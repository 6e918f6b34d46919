// SPDX-License-Identifier: GPL-2.0-or-later
/* Why a filter lets no event through: which part of it, and what the dump has instead. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "flow/event_filter.h"
#include "recorder/cpus.h"
#include "recorder/session.h"
#include "symbols/symbol.h"
#include "symbols/user.h"

#define NS_PER_S 1000000000ULL

/**
 * struct asking - a question under way
 * @cpus: @nr_cpus numbers; NULL: each with a ring.
 * @part: what is asked for.
 * @found: an event passes it.
 * @max_n, @min_tsc, @max_tsc: of the events that were read, if none is found.
 * @offer: may be NULL.
 */
struct asking {
	struct btsrec *rec;
	const unsigned int *cpus;
	size_t nr_cpus;
	struct btsrec_filter part;
	struct event_filter event_filter;
	bool found;
	uint64_t max_n;
	uint64_t min_tsc;
	uint64_t max_tsc;
	btsrec_name_fn offer;
	void *arg;
};

/* What is known of the part that is asked for: a clause. */
typedef void (*why_fn)(struct asking *asking, char *ret, size_t ret_bytes);

/* --- Events ------------------------------------------------------------- */

static bool read_event(void *arg, const struct btsrec_event *event)
{
	struct asking *asking = arg;
	uint64_t tsc;

	if (event->n > asking->max_n)
		asking->max_n = event->n;
	if (clock_event(event, &tsc)) {
		uint64_t begin_tsc = clock_event_begin(event, tsc);

		asking->min_tsc = begin_tsc < asking->min_tsc ? begin_tsc : asking->min_tsc;
		asking->max_tsc = tsc > asking->max_tsc ? tsc : asking->max_tsc;
	}
	asking->found = event_filter_shows(&asking->event_filter, event) &&
			event_filter_wants(&asking->event_filter, event);
	return !asking->found;
}

static enum btsrec_status read_cpu(void *arg, unsigned int cpu)
{
	struct asking *asking = arg;
	enum btsrec_status status =
		event_filter_init(&asking->event_filter, asking->rec, cpu, &asking->part, 0);

	if (!status)
		status = btsrec_events(asking->rec, cpu, read_event, asking);
	event_filter_fini(&asking->event_filter);
	return status;
}

/* Does an event of @cpus pass @asking->part? */
static enum btsrec_status find_event(struct asking *asking, const unsigned int *cpus,
				     size_t nr_cpus)
{
	enum btsrec_status status;

	asking->found = false;
	asking->max_n = asking->max_tsc = 0;
	asking->min_tsc = UINT64_MAX;
	status = cpus_for_each(asking->rec, cpus, nr_cpus, read_cpu, asking);
	return asking->found ? BTSREC_OK : status;
}

/* --- Threads ------------------------------------------------------------ */

static void why_pids(struct asking *asking, char *ret, size_t ret_bytes)
{
	struct user *user = symbols_user(asking->rec);
	struct tasks_thread thread;
	char *end;
	unsigned long pid = strtoul(asking->part.pids, &end, 10);

	if (!*end && user && user_thread(user, (uint32_t)pid, &thread))
		snprintf(ret, ret_bytes, "the dump has that thread, '%.*s', and no history does",
			 BTSREC_COMM_BYTES, thread.comm);
	else
		snprintf(ret, ret_bytes, "no history has such a thread");
}

static void why_tgids(struct asking *asking, char *ret, size_t ret_bytes)
{
	(void)asking;
	snprintf(ret, ret_bytes, "no history has such a process");
}

static enum btsrec_status offer_comms(void *arg, unsigned int cpu)
{
	struct asking *asking = arg;
	struct aspace spaces = {0};
	enum btsrec_status status = trace_spaces(asking->rec, cpu, &spaces);

	for (size_t i = 0; !status && i < spaces.nr; i++) {
		char comm[BTSREC_COMM_BYTES + 1] = {0};

		memcpy(comm, spaces.spans[i].side.comm, BTSREC_COMM_BYTES);
		if (spaces.spans[i].known)
			asking->offer(asking->arg, comm);
	}
	aspace_fini(&spaces);
	return status;
}

static void why_comm(struct asking *asking, char *ret, size_t ret_bytes)
{
	snprintf(ret, ret_bytes, "no history has a thread of such a name");
	if (asking->offer)
		(void)cpus_for_each(asking->rec, NULL, 0, offer_comms, asking);
}

/* --- Names -------------------------------------------------------------- */

static bool is_wanted_name(void *arg, const char *name)
{
	struct asking *asking = arg;

	asking->found = filter_names(asking->part.symbols, name);
	return !asking->found;
}

static bool offer_name(void *arg, const char *name)
{
	struct asking *asking = arg;

	asking->offer(asking->arg, name);
	return true;
}

static void why_symbols(struct asking *asking, char *ret, size_t ret_bytes)
{
	const char *missing;

	if (!symbols_present(asking->rec)) {
		missing = symbols_missing(asking->rec);
		snprintf(ret, ret_bytes, "no function has a name here%s%s", missing ? ": " : "",
			 missing ? missing : "");
		return;
	}
	symbols_each_name(asking->rec, is_wanted_name, asking);
	if (asking->found) {
		snprintf(ret, ret_bytes, "the dump has such a function, and no branch is from or "
			 "to it");
		return;
	}
	snprintf(ret, ret_bytes, "neither the kernel nor its modules have such a function");
	if (asking->offer)
		symbols_each_name(asking->rec, offer_name, asking);
}

static void why_modules(struct asking *asking, char *ret, size_t ret_bytes)
{
	const struct located *located = asking->rec->located;

	for (size_t i = 0; i < located->nr_modules; i++) {
		if (!filter_names(asking->part.modules, located->modules[i].name))
			continue;
		snprintf(ret, ret_bytes, "the dump has such a module, and no branch is from or to "
			 "its code");
		return;
	}
	snprintf(ret, ret_bytes, "the dump has no such module, and no program or library of such "
		 "a path ran");
	for (size_t i = 0; asking->offer && i < located->nr_modules; i++)
		asking->offer(asking->arg, located->modules[i].name);
}

/* --- Time --------------------------------------------------------------- */

static void print_boottime(const struct clock *clock, uint64_t tsc, char *ret, size_t ret_bytes)
{
	uint64_t ns = clock_boottime(clock, tsc);

	snprintf(ret, ret_bytes, "%llu.%09llu", (unsigned long long)(ns / NS_PER_S),
		 (unsigned long long)(ns % NS_PER_S));
}

static void print_from_end(const struct clock *clock, uint64_t tsc, char *ret, size_t ret_bytes)
{
	bool before = false;
	uint64_t ns = 0;

	clock_from_end(clock, tsc, &before, &ns);
	snprintf(ret, ret_bytes, "%c%llu.%09llu", before ? '-' : '+',
		 (unsigned long long)(ns / NS_PER_S), (unsigned long long)(ns % NS_PER_S));
}

static void print_tsc(const struct clock *clock, uint64_t tsc, char *ret, size_t ret_bytes)
{
	(void)clock;
	snprintf(ret, ret_bytes, "tsc:%llu", (unsigned long long)tsc);
}

/* In the form in which it is asked for. */
static void why_time(struct asking *asking, char *ret, size_t ret_bytes)
{
	const struct btsrec_root *root = btsrec_root(asking->rec);
	const struct clock clock = clock_of(root, btsrec_cpu(asking->rec, root->freeze_cpu));
	const char *text = asking->part.from ? asking->part.from : asking->part.to;
	void (*print)(const struct clock *clock, uint64_t tsc, char *ret, size_t ret_bytes) =
		print_boottime;
	char first[40], last[40];

	if (!strncmp(text, "n:", 2)) {
		snprintf(ret, ret_bytes, "the newest event is n:%llu",
			 (unsigned long long)asking->max_n);
		return;
	}
	if (asking->min_tsc > asking->max_tsc) {
		snprintf(ret, ret_bytes, "no event has a time stamp");
		return;
	}
	if (*text == '-')
		print = print_from_end;
	else if (!strncmp(text, "tsc:", 4))
		print = print_tsc;
	print(&clock, asking->min_tsc, first, sizeof(first));
	print(&clock, asking->max_tsc, last, sizeof(last));
	snprintf(ret, ret_bytes, "time stamps are from %s to %s", first, last);
}

/* --- Parts -------------------------------------------------------------- */

#define AT(member) offsetof(struct btsrec_filter, member)

/* The texts at @at and @at_2, 0: there is no second one.  @why: NULL: there is nothing to add. */
static const struct {
	size_t at;
	size_t at_2;
	why_fn why;
} parts[] = {
	{AT(pids), 0, why_pids},       {AT(tgids), 0, why_tgids},     {AT(comm), 0, why_comm},
	{AT(symbols), 0, why_symbols}, {AT(modules), 0, why_modules}, {AT(ranges), 0, NULL},
	{AT(types), 0, NULL},	       {AT(from), AT(to), why_time},
};

#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

static const char **text_at(struct btsrec_filter *filter, size_t at)
{
	return (const char **)((char *)filter + at);
}

/* False: @from does not ask for it. */
static bool take_part(struct btsrec_filter *from, size_t i, struct btsrec_filter *ret)
{
	*ret = (struct btsrec_filter){.size = sizeof(*ret)};
	*text_at(ret, parts[i].at) = *text_at(from, parts[i].at);
	if (parts[i].at_2)
		*text_at(ret, parts[i].at_2) = *text_at(from, parts[i].at_2);
	return *text_at(ret, parts[i].at) || (parts[i].at_2 && *text_at(ret, parts[i].at_2));
}

/*
 * The CPUs that were not asked for may have what is asked for.  If not, what is known of the events
 * is that of the CPUs that were.
 */
static enum btsrec_status find_elsewhere(struct asking *asking, char *ret, size_t ret_bytes)
{
	enum btsrec_status status = BTSREC_OK;

	for (unsigned int cpu = 0; asking->cpus && cpu < btsrec_nr_cpu_ids(asking->rec); cpu++) {
		if (cpus_has(asking->cpus, asking->nr_cpus, cpu))
			continue;
		status = find_event(asking, &cpu, 1);
		if (status || asking->found) {
			snprintf(ret, ret_bytes, "CPU %u has some", cpu);
			return status;
		}
	}
	return find_event(asking, asking->cpus, asking->nr_cpus);
}

/* @why: NULL: no event passes, and nothing else is known. */
static enum btsrec_status explain(struct asking *asking, why_fn why, struct btsrec_unmatched *ret)
{
	enum btsrec_status status;

	*ret = (struct btsrec_unmatched){.part = asking->part};
	status = find_elsewhere(asking, ret->why, sizeof(ret->why));
	if (status || asking->found)
		return status;
	*ret->why = '\0';
	if (why)
		why(asking, ret->why, sizeof(ret->why));
	return BTSREC_OK;
}

static bool take_level(const struct btsrec_filter *from, struct btsrec_filter *ret)
{
	*ret = (struct btsrec_filter){
		.size = sizeof(*ret),
		.user = from->user,
		.kernel = from->kernel,
	};
	return from->user != from->kernel;
}

static enum btsrec_status find_part(struct asking *asking, struct btsrec_filter *filter,
				    struct btsrec_unmatched *ret)
{
	for (size_t i = 0; i <= NR_PARTS; i++) {
		enum btsrec_status status;

		if (i < NR_PARTS ? !take_part(filter, i, &asking->part) :
				   !take_level(filter, &asking->part))
			continue;
		status = find_event(asking, asking->cpus, asking->nr_cpus);
		if (status)
			return status;
		if (!asking->found)
			return explain(asking, i < NR_PARTS ? parts[i].why : NULL, ret);
	}
	*ret = (struct btsrec_unmatched){.part = *filter, .together = true};
	return BTSREC_OK;
}

bool btsrec_matched(const struct btsrec *rec)
{
	return rec->matched;
}

enum btsrec_status btsrec_unmatched(struct btsrec *rec, const unsigned int *cpus, size_t nr_cpus,
				    const struct btsrec_filter *given, btsrec_name_fn offer,
				    void *arg, bool *ret_matches, struct btsrec_unmatched *ret)
{
	struct asking asking = {
		.rec = rec,
		.cpus = cpus,
		.nr_cpus = nr_cpus,
		.offer = offer,
		.arg = arg,
	};
	enum btsrec_status status = options_filter(&rec->msg, &given, &asking.part);
	struct btsrec_filter filter = asking.part;
	bool matched = rec->matched;

	if (!status)
		status = cpus_check(rec, cpus, nr_cpus);
	if (!status)
		status = find_event(&asking, cpus, nr_cpus);
	*ret_matches = asking.found;
	if (!status && !asking.found)
		status = find_part(&asking, &filter, ret);
	/* What passes a part has not passed the filter. */
	rec->matched = matched || *ret_matches;
	return status;
}
