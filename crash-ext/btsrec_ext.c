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

#include "help.h"
#include "image_crash.h"
#include "request.h"
#include "symbol_crash.h"

#include <crash/defs.h>

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

/* --- Running ------------------------------------------------------------ */

/* errno of the write that failed; 0: none has. */
static int output_errno;

static void keep_output_errno(void)
{
	if (!output_errno)
		output_errno = errno;
	clearerr(fp);
}

static bool sink_write(void *arg, const char *text, size_t len_bytes)
{
	(void)arg;
	if (interrupted())
		return false;
	if (fwrite(text, 1, len_bytes, fp) == len_bytes)
		return true;
	keep_output_errno();
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
		.thread = show->thread,
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
		.thread = show->thread,
		.filter = show->filter,
		.max_events = show->max_events,
		.lines = show->lines,
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
		.thread = show->thread,
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
		.thread = req->thread,
		.filter = req->filter,
		.max_events = req->max_events,
		.newest_first = req->newest_first,
		.types = req->types,
		.lines = req->lines,
		.fold = req->fold,
		.format = req->format,
	};
	enum btsrec_status status = BTSREC_OK;

	if (req->every_cpu || req->thread || ((req->all || req->timeline) && !req->cpus_given)) {
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

/* A stopped view needs no word here: whoever stopped it knows, or report_output() tells. */
static void report(const struct btsrec *rec, enum btsrec_status status)
{
	const char *message = rec ? btsrec_errmsg(rec) : "";

	if (status == BTSREC_OK || status == BTSREC_ERR_STOPPED || interrupted())
		return;
	error(INFO, "%s\n", *message ? message : btsrec_status_str(status));
}

/*
 * Some of the output is known to be lost only when all of it is flushed.  Whoever left the pager
 * or interrupted knows.  The word goes to the terminal: error() would write it behind the output.
 */
static void report_output(void)
{
	if (fflush(fp))
		keep_output_errno();
	if (output_errno && output_errno != EPIPE && !interrupted())
		fprintf(stderr, "bts: the output is incomplete: %s\n", strerror(output_errno));
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
	output_errno = 0;

	hold_interrupts(&old);
	rec = btsrec_new();
	report(rec, rec ? run(rec, &crash, &req) : BTSREC_ERR_NOMEM);
	btsrec_free(rec);
	report_output();
	release_interrupts(&old);
}

/* --- Command table ------------------------------------------------------ */

static struct command_table_entry command_table[] = {
	{ "bts", cmd_bts, bts_help, MINIMAL },
	{ .name = NULL },
};

static void __attribute__((constructor)) btsrec_ext_init(void)
{
	register_extension(command_table);
}
