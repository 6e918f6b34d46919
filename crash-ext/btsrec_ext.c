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
	enum btsrec_by by;
	const char *coverage;
	enum btsrec_format format;
	uint64_t max_events;
	bool filtered;
	struct btsrec_filter filter;
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

/* Options that choose a part of a history choose the history; other views have no parts. */
static bool request_complete(struct request *req)
{
	int nr_others = req->insns + req->calls + req->functions + req->timeline +
			req->stack + !!req->coverage;
	bool history = req->all || req->cpus_given || req->count_given || req->newest_first ||
		       req->types || nr_others || req->filtered || req->lines;

	if (!history)
		return !(req->view == VIEW_CHECK && req->format != BTSREC_FORMAT_TEXT);
	if (req->view != VIEW_DEFAULT || nr_others > 1 ||
	    (nr_others && !req->insns && !req->coverage && req->lines) ||
	    (nr_others && (req->newest_first || req->types)) ||
	    ((req->stack || req->functions || req->coverage) && req->count_given) ||
	    (req->stack && req->filtered))
		return false;
	req->view = VIEW_HISTORY;
	return true;
}

/* Does not return on a bad command line: crash shows its usage message. */
static void parse_request(struct request *req)
{
	int option;

	memset(req, 0, sizeof(*req));
	while ((option = getopt(argcnt, args, "A:aB:C:c:dF:f:G:gijKklmNn:P:prS:sT:tUx:")) != EOF)
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
		.filter = show->filter,
		.max_events = show->max_events,
		.lines = show->lines,
		.format = show->format,
	};

	return btsrec_insns(rec, &insns, &sink);
}

static enum btsrec_status show_calls(struct btsrec *rec, const struct btsrec_show *show)
{
	struct btsrec_calls calls = {
		.cpus = show->cpus,
		.nr_cpus = show->nr_cpus,
		.filter = show->filter,
		.max_events = show->max_events,
		.format = show->format,
	};

	return btsrec_calls(rec, &calls, &sink);
}

static enum btsrec_status show_functions(struct btsrec *rec, const struct request *req,
					 const struct btsrec_show *show)
{
	struct btsrec_functions functions = {
		.cpus = show->cpus,
		.nr_cpus = show->nr_cpus,
		.filter = show->filter,
		.by = req->by,
		.format = show->format,
	};

	return btsrec_functions(rec, &functions, &sink);
}

static enum btsrec_status show_coverage(struct btsrec *rec, const struct request *req,
					const struct btsrec_show *show)
{
	struct btsrec_coverage coverage = {
		.cpus = show->cpus,
		.nr_cpus = show->nr_cpus,
		.filter = show->filter,
		.function = req->coverage,
		.lines = show->lines,
		.format = show->format,
	};

	return btsrec_coverage(rec, &coverage, &sink);
}

static enum btsrec_status show_timeline(struct btsrec *rec, const struct btsrec_show *show)
{
	struct btsrec_timeline timeline = {
		.cpus = show->cpus,
		.nr_cpus = show->nr_cpus,
		.filter = show->filter,
		.max_events = show->max_events,
		.format = show->format,
	};

	return btsrec_timeline(rec, &timeline, &sink);
}

static enum btsrec_status show_stack(struct btsrec *rec, const struct btsrec_show *show)
{
	struct btsrec_stack stack = {
		.cpus = show->cpus,
		.nr_cpus = show->nr_cpus,
		.format = show->format,
	};

	return btsrec_stack(rec, &stack, &sink);
}

static enum btsrec_status show_branches(struct btsrec *rec, const struct request *req,
					const struct btsrec_show *show)
{
	if (req->insns)
		return show_insns(rec, show);
	if (req->calls)
		return show_calls(rec, show);
	if (req->functions)
		return show_functions(rec, req, show);
	if (req->coverage)
		return show_coverage(rec, req, show);
	if (req->timeline)
		return show_timeline(rec, show);
	if (req->stack)
		return show_stack(rec, show);
	return btsrec_show(rec, show, &sink);
}

static enum btsrec_status show_history(struct btsrec *rec, const struct request *req)
{
	unsigned int here = context_cpu(btsrec_root(rec)), *list = NULL;
	struct btsrec_show show = {
		.cpus = &here,
		.nr_cpus = 1,
		.filter = req->filter,
		.max_events = req->max_events,
		.newest_first = req->newest_first,
		.types = req->types,
		.lines = req->lines,
		.format = req->format,
	};
	enum btsrec_status status = BTSREC_OK;

	if (req->every_cpu || ((req->all || req->timeline) && !req->cpus_given)) {
		show.cpus = NULL;
		show.nr_cpus = 0;
	} else if (req->cpus_given) {
		status = list_cpus(req, &list, &show.nr_cpus);
		show.cpus = list;
	}
	if (!status)
		status = show_branches(rec, req, &show);
	free(list);
	return status;
}

static enum btsrec_status show_view(struct btsrec *rec, const struct request *req)
{
	uint64_t nr_faults;

	if (req->view == VIEW_CHECK)
		return btsrec_check(rec, &sink, &nr_faults);
	if (req->view == VIEW_PROVE)
		return btsrec_prove(rec, req->format, &sink, &nr_faults);
	if (req->view == VIEW_HISTORY)
		return show_history(rec, req);
	if (req->view == VIEW_INFO)
		return btsrec_info(rec, req->format, &sink);
	return btsrec_summary(rec, req->format, &sink);
}

/* The kernel file that crash uses for its own lines. */
static const char *debug_kernel(void)
{
	return pc->namelist_debug ? pc->namelist_debug : pc->namelist;
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
	status = req->lines ? btsrec_set_debuginfo(rec, debug_kernel(), NULL) : BTSREC_OK;
	return status ? status : show_view(rec, req);
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
	"[-a] [-c cpu(s)] [-n count] [-r] [-t] [-l] [-d | -f by | -g | -m | -s | -x func] [filter] [-j] [-N] | -i [-j] [-N] | -p [-j] [-N] | -k",
	"  This command displays the branches that each CPU took before the crash, as",
	"  the btsrec kernel module let the CPU's Branch Trace Store record them, with",
	"  the task switches between them.  Without options it displays a summary: the",
	"  first fault, the calls that led to it, what the other CPUs were doing, and the",
	"  last task switches.  With options that choose events it displays those of one",
	"  CPU: that of the current context, which is the panicking CPU unless \"set\"",
	"  changed it.",
	" ",
	"     -a  Display all events; of all CPUs unless -c says which, and with -n only",
	"         the newest of each.",
	"     -c  Display the history of one or more CPUs, which can be specified using",
	"         the format \"3\", \"1,8,9\", \"1-23\", \"1,8,9-14\" or \"all\".",
	"     -n  Display the newest count events of each CPU instead of 20.",
	"     -r  Display the newest event first.",
	"     -t  Display the kind of each branch, by the code in the dump.",
	"     -l  Display source lines, too; not with -f, -g, -m or -s.",
	"     -d  Display the instructions that were executed instead of the branches; not",
	"         with -r or -t.",
	"     -f  Display how many branches each function took and how often it was entered,",
	"         by \"function\", \"task\" or \"cpu\", of all events; not with -n, -r or -t.",
	"     -g  Display the functions that were called, as a tree: for each call the number",
	"         of branches until it returned, and its name, indented; not with -r or -t.",
	"     -m  Display what is no branch, of all CPUs merged by time: how long before the",
	"         freeze, the time stamp, CPU, event, and how many branches this CPU took",
	"         since its line before; of a filter -P, -G, -C, -F and -T have an effect.",
	"     -s  Display the call stack at the end of the history, rebuilt from calls and",
	"         returns, and compared with the stack in memory; not with -n, -r or -t.",
	"     -x  Display the instructions of a function and how often each was executed, in",
	"         all events; not with -n, -r or -t.",
	"     -j  Display JSON Lines instead of text: one object per event.",
	"     -N  Do not look up symbols: display addresses and names of modules only.",
	"     -i  Display an overview: what the recorder has left, one line per CPU.",
	"     -p  Prove each history: does the code in the dump lead from each branch to the",
	"         next, and from the newest one to where the CPU was stopped?",
	"     -k  Check all that can be checked about the recorder, and display findings.",
	" ",
	"  A filter is any of these; a list has commas, a pattern is that of a shell:",
	" ",
	"     -P  pids: only what these threads did, and switches to or from them.",
	"     -G  tgids: only what these processes did.",
	"     -C  pattern: only threads whose name matches.",
	"     -K  Only the kernel; each stay in user code is one line, \"user\".",
	"     -U  Only user code; each stay in the kernel is one line, \"kernel\".",
	"     -F  when: only from then on: n:EVENT, tsc:CYCLES, SECONDS since boot or",
	"         -SECONDS before the freeze.  A branch has no time of its own: it is left",
	"         out only if it cannot have happened then.",
	"     -T  when: only up to then.  -F and -T are all that -g heeds.",
	"     -S  patterns: only branches from or to functions with such names.",
	"     -A  first-last: only branches from or to these addresses.",
	"     -B  types: only these kinds of branches: call, ret, icall, syscall, ...",
	" ",
	"  Each line of a history starts with the CPU, the number of the event counted",
	"  from the oldest one, and its kind.  For a branch follow the addresses it went",
	"  from and to, whether it was predicted (\"P\") or not (\"-\"), and their names.",
	"  A part of the history that is missing is an event, too, of the kind \"gap\".",
	"  A line \"fault\" stands where the fault lies: what follows is its handling.",
	"\nEXAMPLES",
	"  Display how the machine came to its end:\n",
	"    %s> bts",
	"    kernel:      6.1.0-56-cloud-amd64",
	"    first fault: panic on CPU 1",
	" ",
	"    CPU 1: frozen (panic), 99/99 \"init\", at panic+0x5",
	"      43660 branches of at least 19.985 ms, older ones are gone",
	"      switch 99/99 \"init\" -> 15/15 \"rcu_preempt\", 4.297 ms before the stop",
	"      switch 15/15 \"rcu_preempt\" -> 99/99 \"init\", 3.990 ms before the stop",
	"    How it got there:",
	"      1     42435 syscall      1231+ entry_SYSCALL_64 (write)",
	"      1     42438 call         1228+   do_syscall_64",
	"      ...",
	"      1     42497 call         1169+                 __handle_sysrq",
	"      1     42503 call         1155                    _printk",
	"      1     43661 icall           5+                   sysrq_handle_crash",
	"      1     43664 call            2+                     panic",
	" ",
	"    CPU 0: frozen (panic) by NMI, 159/159 \"seq\"",
	"      in user code at 0x00000000004b0e32",
	"      ...",
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
