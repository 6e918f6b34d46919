// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The crash command "bts": options, help and crash's customs around the views of
 * libbtsrec.  It decodes nothing and words nothing that the views word.
 *
 * crash ends a command by longjmp() from its signal handler or from an error.
 * Between btsrec_new() and btsrec_free() neither may happen: interrupts only set
 * a flag, a closed pager is a short write (crash ignores SIGPIPE), and no call
 * that can jump is made.  Usage errors and crash's own lookups come before.
 */
#include <btsrec/decoder.h>

#include "image_crash.h"
#include "symbol_crash.h"

#include <crash/defs.h>

#define DEFAULT_EVENTS	20
#define MAX_CPUS	(BTSREC_MAX_CPU_DIR_PAGES * (BTSREC_PAGE_BYTES / sizeof(uint64_t)))
#define MASK_BITS	(8 * sizeof(unsigned long))

enum view {
	VIEW_DEFAULT,		/* overview, then one CPU */
	VIEW_INFO,
	VIEW_CHECK,
	VIEW_HISTORY,
};

/**
 * struct request - a command line
 * @cpus_given: -c: either @every_cpu or a bit per CPU in @cpus.
 * @max_events: 0: all.
 */
struct request {
	enum view view;
	bool cpus_given;
	bool every_cpu;
	bool all;
	bool count_given;
	bool newest_first;
	bool no_names;
	enum btsrec_format format;
	uint64_t max_events;
	unsigned long cpus[MAX_CPUS / MASK_BITS];
};

/* --- Interrupts --------------------------------------------------------- */

static volatile sig_atomic_t interrupt_seen;

static void on_interrupt(int sig)
{
	(void)sig;
	interrupt_seen = 1;
}

static bool interrupted(void)
{
	return interrupt_seen;
}

/*
 * Keep crash's handler from jumping out of the decoder.  Without SA_RESTART, so
 * that a write to a pager that does not read comes back.
 */
static void hold_interrupts(struct sigaction *ret_old)
{
	struct sigaction act = { .sa_handler = on_interrupt };

	interrupt_seen = 0;
	sigemptyset(&act.sa_mask);
	sigaction(SIGINT, NULL, ret_old);
	if (ret_old->sa_handler != SIG_IGN)
		sigaction(SIGINT, &act, NULL);
}

/* Give SIGINT back, and pass on one that came: crash then does what it always does. */
static void release_interrupts(const struct sigaction *old)
{
	sigaction(SIGINT, old, NULL);
	if (interrupt_seen)
		raise(SIGINT);
}

/* --- Options ------------------------------------------------------------ */

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
	case 'i':
	case 'k':
		if (req->view != VIEW_DEFAULT)
			return false;
		req->view = option == 'i' ? VIEW_INFO : VIEW_CHECK;
		return true;
	case 'j':
		req->format = BTSREC_FORMAT_JSONL;
		return true;
	case 'N':
		req->no_names = true;
		return true;
	default:
		return false;
	}
}

/* Options that choose a part of a history choose the history; the overview has no parts. */
static bool request_complete(struct request *req)
{
	bool history = req->all || req->cpus_given || req->count_given || req->newest_first;

	if (!history)
		return !(req->view == VIEW_CHECK && req->format != BTSREC_FORMAT_TEXT);
	if (req->view != VIEW_DEFAULT)
		return false;
	req->view = VIEW_HISTORY;
	return true;
}

/* Does not return on a bad command line: crash shows its usage message. */
static void parse_request(struct request *req)
{
	int option;

	memset(req, 0, sizeof(*req));
	while ((option = getopt(argcnt, args, "ac:ijkNn:r")) != EOF)
		if (!parse_option(option, optarg, req))
			argerrs++;
	if (args[optind] || !request_complete(req))
		argerrs++;
	if (argerrs)
		cmd_usage(pc->curcmd, SYNOPSIS);
	if (!req->count_given && !req->all)
		req->max_events = DEFAULT_EVENTS;
}

/* --- Running ------------------------------------------------------------ */

static bool sink_write(void *arg, const char *text, size_t len_bytes)
{
	(void)arg;
	if (interrupted())
		return false;
	if (fwrite(text, 1, len_bytes, fp) == len_bytes)
		return true;
	clearerr(fp);
	return false;
}

static const struct btsrec_sink sink = { .write = sink_write };

/*
 * The CPU of crash's context, which is the panic task's until "set" changes it.
 * Where crash found no panic task its context says nothing, but the recorder may
 * have been frozen by an oops or by hand.
 */
static unsigned int context_cpu(const struct btsrec_root *root)
{
	const struct task_context *tc = CURRENT_CONTEXT();
	bool by_default = tc && tt->flags & PANIC_TASK_NOT_FOUND && tc == FIRST_CONTEXT();

	if (tc && !(by_default && root->freeze_reason))
		return tc->processor;
	return root->freeze_reason ? root->freeze_cpu : 0;
}

/* The CPUs of -c as numbers; the caller frees *@ret. */
static enum btsrec_status list_cpus(const struct request *req, unsigned int **ret, size_t *ret_nr)
{
	unsigned int *list = calloc(MAX_CPUS, sizeof(*list)), cpu;
	size_t nr = 0;

	if (!list)
		return BTSREC_ERR_NOMEM;
	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		if (req->cpus[cpu / MASK_BITS] >> cpu % MASK_BITS & 1)
			list[nr++] = cpu;
	*ret = list;
	*ret_nr = nr;
	return BTSREC_OK;
}

static enum btsrec_status show_history(struct btsrec *rec, const struct request *req)
{
	unsigned int here = context_cpu(btsrec_root(rec)), *list = NULL;
	struct btsrec_show show = {
		.cpus = &here,
		.nr_cpus = 1,
		.max_events = req->max_events,
		.newest_first = req->newest_first,
		.format = req->format,
	};
	enum btsrec_status status = BTSREC_OK;

	if (req->every_cpu || (req->all && !req->cpus_given)) {
		show.cpus = NULL;
		show.nr_cpus = 0;
	} else if (req->cpus_given) {
		status = list_cpus(req, &list, &show.nr_cpus);
		show.cpus = list;
	}
	if (!status)
		status = btsrec_show(rec, &show, &sink);
	free(list);
	return status;
}

static enum btsrec_status show_view(struct btsrec *rec, const struct request *req)
{
	enum btsrec_status status;
	uint64_t nr_faults;

	if (req->view == VIEW_CHECK)
		return btsrec_check(rec, &sink, &nr_faults);
	if (req->view == VIEW_HISTORY)
		return show_history(rec, req);
	status = btsrec_info(rec, req->format, &sink);
	if (status || req->view == VIEW_INFO)
		return status;
	if (req->format == BTSREC_FORMAT_TEXT && !sink.write(sink.arg, "\n", 1))
		return BTSREC_ERR_STOPPED;
	return show_history(rec, req);
}

static enum btsrec_status run(struct btsrec *rec, const struct image_crash *crash,
			      const struct request *req)
{
	enum btsrec_status status = btsrec_open_image(rec, &crash->image);

	if (status)
		return status;
	status = btsrec_locate(rec, 0, BTSREC_SCAN_DMA);
	if (status)
		return status;
	if (!req->no_names)
		btsrec_set_resolver(rec, &symbol_crash_resolver);
	return show_view(rec, req);
}

/* A stopped view needs no word: whoever stopped it knows. */
static void report(const struct btsrec *rec, enum btsrec_status status)
{
	const char *message = rec ? btsrec_errmsg(rec) : "";

	if (status == BTSREC_OK || status == BTSREC_ERR_STOPPED || interrupted())
		return;
	error(INFO, "%s\n", *message ? message : btsrec_status_str(status));
}

static void cmd_bts(void)
{
	struct request req;
	struct image_crash crash;
	struct sigaction old;
	struct btsrec *rec;

	parse_request(&req);
	if (ACTIVE()) {
		error(INFO, "the recorder of a running system cannot be read by crash\n");
		return;
	}
	image_crash_init(&crash, interrupted);

	hold_interrupts(&old);
	rec = btsrec_new();
	report(rec, rec ? run(rec, &crash, &req) : BTSREC_ERR_NOMEM);
	btsrec_free(rec);
	fflush(fp);
	release_interrupts(&old);
}

/* --- Command table ------------------------------------------------------ */

static char *help_bts[] = {
	"bts",
	"branch history of the flight recorder",
	"[-a] [-c cpu(s)] [-n count] [-r] [-j] [-N] | -i [-j] | -k",
	"  This command displays the branches that each CPU took before the crash, as",
	"  the btsrec kernel module had them recorded by the Branch Trace Store (BTS) of",
	NULL
};

static struct command_table_entry command_table[] = {
	{ "bts", cmd_bts, help_bts, MINIMAL },
	{ NULL },
};

static void __attribute__((constructor)) btsrec_ext_init(void)
{
	register_extension(command_table);
}
