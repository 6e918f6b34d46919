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
	VIEW_PROVE,
	VIEW_HISTORY,
};

/**
 * struct request - a command line
 * @cpus_given: -c: either @every_cpu or a bit per CPU in @cpus.
 * @insns: the history as instructions.
 * @max_events: 0: all.
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

static bool parse_view(enum view view, struct request *req)
{
	if (req->view != VIEW_DEFAULT)
		return false;
	req->view = view;
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
	case 'd':
		req->insns = true;
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
		return false;
	}
}

/* Options that choose a part of a history choose the history; the overview has no parts. */
static bool request_complete(struct request *req)
{
	bool history = req->all || req->cpus_given || req->count_given || req->newest_first ||
		       req->types || req->insns;

	if (!history)
		return !(req->view == VIEW_CHECK && req->format != BTSREC_FORMAT_TEXT);
	if (req->view != VIEW_DEFAULT || (req->insns && (req->newest_first || req->types)))
		return false;
	req->view = VIEW_HISTORY;
	return true;
}

/* Does not return on a bad command line: crash shows its usage message. */
static void parse_request(struct request *req)
{
	int option;

	memset(req, 0, sizeof(*req));
	while ((option = getopt(argcnt, args, "ac:dijkNn:prt")) != EOF)
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

static enum btsrec_status show_insns(struct btsrec *rec, const struct btsrec_show *show)
{
	struct btsrec_insns insns = {
		.cpus = show->cpus,
		.nr_cpus = show->nr_cpus,
		.max_events = show->max_events,
		.format = show->format,
	};

	return btsrec_insns(rec, &insns, &sink);
}

static enum btsrec_status show_history(struct btsrec *rec, const struct request *req)
{
	unsigned int here = context_cpu(btsrec_root(rec)), *list = NULL;
	struct btsrec_show show = {
		.cpus = &here,
		.nr_cpus = 1,
		.max_events = req->max_events,
		.newest_first = req->newest_first,
		.types = req->types,
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
		status = req->insns ? show_insns(rec, &show) : btsrec_show(rec, &show, &sink);
	free(list);
	return status;
}

static enum btsrec_status show_view(struct btsrec *rec, const struct request *req)
{
	enum btsrec_status status;
	uint64_t nr_faults;

	if (req->view == VIEW_CHECK)
		return btsrec_check(rec, &sink, &nr_faults);
	if (req->view == VIEW_PROVE)
		return btsrec_prove(rec, req->format, &sink, &nr_faults);
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
	btsrec_set_dump_names(rec, !req->no_names);
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

/* crash gives lines with a %s the program's name; no other conversion may appear. */
static char *help_bts[] = {
	"bts",
	"branch history of the flight recorder",
	"[-a] [-c cpu(s)] [-n count] [-r] [-t] [-d] [-j] [-N] | -i [-j] [-N] | -p [-j] [-N] | -k",
	"  This command displays the branches that each CPU took before the crash, as",
	"  the btsrec kernel module let the CPU's Branch Trace Store record them, with",
	"  the task switches between them.  Without options it displays an overview of",
	"  all CPUs, followed by the newest 20 events of one CPU: that of the current",
	"  context, which is the panicking CPU unless \"set\" changed it.",
	" ",
	"     -a  Display all events; of all CPUs unless -c says which, and with -n only",
	"         the newest of each.",
	"     -c  Display the history of one or more CPUs, which can be specified using",
	"         the format \"3\", \"1,8,9\", \"1-23\", \"1,8,9-14\" or \"all\".",
	"     -n  Display the newest count events of each CPU instead of 20.",
	"     -r  Display the newest event first.",
	"     -t  Display the kind of each branch, by the code in the dump.",
	"     -d  Display the instructions that were executed instead of the branches; not",
	"         with -r or -t.",
	"     -j  Display JSON Lines instead of text: one object per event.",
	"     -N  Do not look up symbols: display addresses and names of modules only.",
	"     -i  Display the overview only.",
	"     -p  Prove each history: does the code in the dump lead from each branch to the",
	"         next, and from the newest one to where the CPU was stopped?",
	"     -k  Check all that can be checked about the recorder, and display findings.",
	" ",
	"  Each line of a history starts with the CPU, the number of the event counted",
	"  from the oldest one, and its kind.  For a branch follow the addresses it went",
	"  from and to, whether it was predicted (\"P\") or not (\"-\"), and their names.",
	"  A part of the history that is missing is an event, too, of the kind \"gap\".",
	"\nEXAMPLES",
	"  Display the overview and the end of the panicking CPU's history:\n",
	"    %s> bts",
	"    kernel:      6.1.0-56-cloud-amd64",
	"    build-id:    3b43fad5034874490492495d552c0af6a5fab235",
	"    root:        0x0000000000120000, format 1.0",
	"    loaded:      1795180491629146852 (2026-11-20T13:14:51Z)",
	"    state:       frozen, armed 1 time",
	"    mode:        all, 1048560 bytes per CPU",
	"    modules:     2",
	"    first fault: CPU 1, panic",
	" ",
	"    CPU STATE       REASON         RING_BYTES    SLOTS    VALID WRAPPED ...",
	"      0 frozen      panic             1048560    43690    43690 yes     ...",
	"      1 frozen      panic             1048560    43690    43690 yes     ...",
	"    loss CPU 0: overwritten",
	"    loss CPU 1: overwritten",
	" ",
	"    # CPU 1: frozen (panic), older history is gone",
	"      1     43636 branch  0xffffffff86511a2b -> 0xffffffff8650ea4f P  prb_read_valid+0x1b -> console_unlock+0x17f",
	"      ...",
	"      1     43650 branch  0xffffffff86aa89f5 -> 0xffffffff86528270 -  sysrq_handle_crash+0x5 -> __rcu_read_unlock+0x0",
	"      1     43651 branch  0xffffffff86528291 -> 0xffffffff86aa89fa P  __rcu_read_unlock+0x21 -> sysrq_handle_crash+0xa",
	"      1     43652 branch  0xffffffff86aa8a01 -> 0xffffffff86dccf31 P  sysrq_handle_crash+0x11 -> panic+0x0",
	"      1     43653 branch  0xffffffff86dccf31 -> 0xffffffffc0407000 -  panic+0x0 -> -",
	"      1     43654 branch  0xffffffffc04070c3 -> 0xffffffffc03f6750 P  - -> on_panic+0x0 [btsrec]",
	"      1     43655 freeze  tsc=70928213304 reason=\"panic\" by=self 97/97 \"init\" ...",
	" ",
	"  Display the last two events of CPU 0, the newest first:\n",
	"    %s> bts -c 0 -n 2 -r",
	"    # CPU 0: frozen (panic), older history is gone",
	"      0     43675 freeze  tsc=70967844870 reason=\"panic\" by=nmi 101/101 \"init\" ...",
	"      0     43674 branch  0xffffffff87201750 -> 0xffffffffc03f62d0 -  __x86_indirect_thunk_array+0x10 -> on_nmi+0x0 [btsrec]",
	" ",
	"  Count the branches of all CPUs into a function:\n",
	"    %s> bts -a | grep -c -- '-> schedule+0x0'",
	"    9",
	" ",
	"  Display all that is no branch on CPU 1, such as task switches and exec:\n",
	"    %s> bts -a -c 1 | grep -v ' branch '",
	"    ...",
	"      1     33126 switch  tsc=70724672148 mm 222/222 \"usleep\" cr3=0x000000000106a000 -> cr3=0x0000000008a10000",
	"      1     38183 switch  tsc=70787435290 task 222/222 \"usleep\" cr3=0x0000000008a10000 -> 97/97 \"init\" cr3=0x000000001ff82000",
	"      1     43655 freeze  tsc=70928213304 reason=\"panic\" by=self 97/97 \"init\" ...",
	NULL
};

static struct command_table_entry command_table[] = {
	{ "bts", cmd_bts, help_bts, MINIMAL },
	{ .name = NULL },
};

static void __attribute__((constructor)) btsrec_ext_init(void)
{
	register_extension(command_table);
}
