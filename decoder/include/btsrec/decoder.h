/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libbtsrec: read the branch history that btsrec left in a dump.
 *
 * Sections: Version - Status - Session - Image - Recorder - Symbols - Events
 * - Views - gdb - Exports - Extract.
 *
 * Lifetime.  A session (struct btsrec) owns all that it hands out as a pointer;
 * such a pointer is valid until the session is freed unless its declaration says
 * less.  Callback tables are copied; their arg stays the caller's and must live
 * as long as the session.  A session is used by one thread at a time.  The
 * library prints nothing and keeps no state outside sessions.
 */
#ifndef BTSREC_DECODER_H
#define BTSREC_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <btsrec/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BTSREC_API __attribute__((visibility("default")))

/* --- Version ------------------------------------------------------------ */

/** btsrec_version() - the library's version, "major.minor.patch"; static. */
BTSREC_API const char *btsrec_version(void);

/* --- Status ------------------------------------------------------------- */

enum btsrec_status {
	BTSREC_OK = 0,
	BTSREC_ERR_NOMEM,	/* out of memory */
	BTSREC_ERR_INVAL,	/* the caller broke the contract of the call */
	BTSREC_ERR_IO,		/* the system refused a file: errno in the message */
	BTSREC_ERR_NOT_DUMP,	/* the file is no dump that libkdumpfile reads */
	BTSREC_ERR_NODATA,	/* the dump does not hold this address */
	BTSREC_ERR_NO_ROOT,	/* no recorder found in the dump */
	BTSREC_ERR_BAD_ROOT,	/* something that looks like a root is not valid */
	BTSREC_ERR_VERSION,	/* ABI major is not ours */
	BTSREC_ERR_CORRUPT,	/* a structure behind the root contradicts itself */
	BTSREC_ERR_NO_CPU,	/* that CPU has no ring */
	BTSREC_ERR_NO_SYMBOL,	/* address has no name */
	BTSREC_ERR_MISMATCH,	/* symbol file belongs to another kernel */
	BTSREC_ERR_STOPPED,	/* a callback asked to stop */
};

/** btsrec_status_str() - one short English phrase per status; static. */
BTSREC_API const char *btsrec_status_str(enum btsrec_status status);

/* --- Session ------------------------------------------------------------ */

struct btsrec;

/** btsrec_new() - a new session; NULL: out of memory. */
BTSREC_API struct btsrec *btsrec_new(void);

/** btsrec_free() - end a session and all that it owns; NULL is allowed. */
BTSREC_API void btsrec_free(struct btsrec *rec);

/**
 * btsrec_errmsg() - why the last call that failed on @rec failed
 *
 * A sentence for a human: the outermost context first, the cause last, joined
 * by ": ", without newline.  Empty string if nothing failed.  Valid until the
 * next call on @rec.
 */
BTSREC_API const char *btsrec_errmsg(const struct btsrec *rec);

/* --- Image -------------------------------------------------------------- */

/**
 * struct btsrec_image - where the bytes come from
 * @read_pa: read up to @len_bytes bytes of physical memory at @pa into @buf and
 *	store in *@ret_bytes how many leading bytes are valid.  BTSREC_OK when all
 *	are; BTSREC_ERR_NODATA when the rest is not in the dump (excluded, cut off);
 *	BTSREC_ERR_IO when the medium failed; BTSREC_ERR_NOMEM.
 * @vmcoreinfo: text of the VMCOREINFO note or NULL; borrowed, NUL-terminated.
 * @root_pa_hint: physical address of the root from a symbol lookup; 0: none.
 * @max_pa: first physical address beyond memory, bounds a full scan; 0: unknown.
 * @expect: the @nr pages at @page_pa, 0 where there is none, will be read soon, in this order;
 *	NULL: it makes no difference.
 * @read_pages: read the @nr whole pages at @page_pa, none of which is 0, one behind the other
 *	into @buf; false: @read_pa has to be asked for them.  NULL: it always has.  With
 *	btsrec_show.nr_threads or btsrec_set_threads(), several threads may call it at once, also
 *	while @read_pa is asked.  Of a source that has @expect, too, only they call it, and it
 *	should keep what it had to unpack; everybody else asks @read_pa.
 * @arg: given to all of them.
 */
struct btsrec_image {
	enum btsrec_status (*read_pa)(void *arg, uint64_t pa, void *buf,
				      size_t len_bytes, size_t *ret_bytes);
	const char *vmcoreinfo;
	uint64_t root_pa_hint;
	uint64_t max_pa;
	void (*expect)(void *arg, const uint64_t *page_pa, size_t nr);
	bool (*read_pages)(void *arg, const uint64_t *page_pa, size_t nr, void *buf);
	void *arg;
};

/**
 * btsrec_open_image() - use @image as the source of @rec
 *
 * Return: BTSREC_OK; BTSREC_ERR_INVAL if @rec has a source already.
 */
BTSREC_API enum btsrec_status
btsrec_open_image(struct btsrec *rec, const struct btsrec_image *image);

/**
 * btsrec_set_threads() - how many processors a dump that is opened after this may keep busy
 * @nr_threads: with the caller's; 0 or 1: no others.
 *
 * They unpack pages that will be read soon.  Views other than btsrec_show() tell CPUs side by
 * side, if the source has read_pages, there is no resolver and no source lines are asked for;
 * each thread takes the memory that one does.  The sink is then called by all of them, one at a
 * time.  For btsrec_extract() see there.
 */
BTSREC_API void btsrec_set_threads(struct btsrec *rec, unsigned int nr_threads);

/**
 * btsrec_open_dump() - use the dump file at @path through libkdumpfile
 *
 * In libbtsrec only, not in the part that the crash extension links.  "/proc/kcore" is
 * what btsrec_open_live() opens.
 *
 * Return: BTSREC_OK; BTSREC_ERR_IO (missing, no permission, a directory, read
 * error); BTSREC_ERR_NOT_DUMP (empty file, unknown format); BTSREC_ERR_NOMEM;
 * BTSREC_ERR_INVAL if @rec has a source already.
 */
BTSREC_API enum btsrec_status
btsrec_open_dump(struct btsrec *rec, const char *path);

/**
 * btsrec_open_split() - as btsrec_open_dump(), of a dump in @nr_paths files
 * @paths: what makedumpfile --split wrote, in any order; or one dump of any kind.
 *
 * Return: as btsrec_open_dump(); BTSREC_ERR_INVAL also if the files do not belong together.
 */
BTSREC_API enum btsrec_status
btsrec_open_split(struct btsrec *rec, const char *const *paths, size_t nr_paths);

/**
 * btsrec_open_live() - use the recorder that runs on this machine
 *
 * The recorder pauses, some milliseconds, while what it writes is copied; a gap with
 * the reason "snapshot" stays in its history.  All other memory is read through
 * /proc/kcore when it is asked for.  In libbtsrec only.
 *
 * Return: BTSREC_OK; BTSREC_ERR_IO (no recorder, not root, a locked-down kernel, another
 * one copies just now); what btsrec_locate() returns; BTSREC_ERR_NOMEM; BTSREC_ERR_INVAL
 * if @rec has a source already.
 */
BTSREC_API enum btsrec_status btsrec_open_live(struct btsrec *rec);

/* --- Recorder ----------------------------------------------------------- */

/** enum btsrec_scan - how far btsrec_locate() may search without a pointer */
enum btsrec_scan {
	BTSREC_SCAN_DMA,	/* the first 16 MiB, where the module puts the root */
	BTSREC_SCAN_ALL,	/* all physical memory */
	BTSREC_SCAN_NONE,
};

/**
 * btsrec_locate() - find and validate the recorder
 * @root_pa: where the caller says the root is; 0: search VMCOREINFO, then the
 *	image's hint, then as far as @scan says.  With several valid roots the
 *	one with the newest generation is taken.
 *
 * Return: BTSREC_OK; BTSREC_ERR_NO_ROOT; BTSREC_ERR_BAD_ROOT, BTSREC_ERR_VERSION or
 * BTSREC_ERR_CORRUPT with one reason per reject in btsrec_errmsg(); BTSREC_ERR_NODATA
 * if the page that was named is not in the dump; BTSREC_ERR_IO; BTSREC_ERR_NOMEM;
 * BTSREC_ERR_INVAL without a source.
 */
BTSREC_API enum btsrec_status
btsrec_locate(struct btsrec *rec, uint64_t root_pa, enum btsrec_scan scan);

/** btsrec_root() - the validated root, host copy; NULL before btsrec_locate(). */
BTSREC_API const struct btsrec_root *btsrec_root(const struct btsrec *rec);

/** btsrec_nr_cpu_ids() - CPU numbers run from 0 below this; 0 before btsrec_locate(). */
BTSREC_API unsigned int btsrec_nr_cpu_ids(const struct btsrec *rec);

/**
 * btsrec_cpu() - the validated CPU page of @cpu, host copy
 *
 * NULL if that CPU has no ring or its page is not usable; btsrec_check() says why.
 */
BTSREC_API const struct btsrec_cpu *btsrec_cpu(const struct btsrec *rec,
					       unsigned int cpu);

/**
 * btsrec_module_at() - the module whose text holds @kva, or NULL
 *
 * Modules that are gone are found too, unless a live one has the address.
 */
BTSREC_API const struct btsrec_module *
btsrec_module_at(const struct btsrec *rec, uint64_t kva);

/* --- Symbols ------------------------------------------------------------ */

/** struct btsrec_symbol - the name of an address */
struct btsrec_symbol {
	char name[256];		/* cut, NUL-terminated */
	char module[BTSREC_MODULE_NAME_BYTES];	/* empty: vmlinux */
	uint64_t offset_bytes;	/* address - start of the symbol */
};

/**
 * struct btsrec_resolver - the front end's own symbol lookup
 * @resolve: fill *@ret for @va, or BTSREC_ERR_NO_SYMBOL.
 */
struct btsrec_resolver {
	enum btsrec_status (*resolve)(void *arg, uint64_t va,
				      struct btsrec_symbol *ret);
	void *arg;
};

/** btsrec_set_resolver() - ask @resolver before any file given; copied. */
BTSREC_API void btsrec_set_resolver(struct btsrec *rec,
				    const struct btsrec_resolver *resolver);

/**
 * btsrec_set_dump_names() - are names taken from the dump itself? Yes, unless
 * this says otherwise.
 *
 * They are the kernel's kallsyms and those of its modules; read when the first
 * address is asked for that neither the resolver nor a file knows.
 */
BTSREC_API void btsrec_set_dump_names(struct btsrec *rec, bool wanted);

/**
 * btsrec_set_files() - where the files are that processes had mapped
 * @sysroot: folder that stands for the root of the machine in the dump; NULL: "/".
 * @debuginfo: "DIR:DIR", folders with debug files by build-id; NULL: /usr/lib/debug.
 *
 * User addresses are named by what the dump tells of each process and by these
 * files.  A file is used only if it is the one that was mapped: if it has the build-id
 * that is in the dump or, where the dump lacks that page, the same size and time of
 * last change.
 *
 * Return: BTSREC_OK; BTSREC_ERR_NOMEM; BTSREC_ERR_INVAL after the first user address has
 * been asked for.
 */
BTSREC_API enum btsrec_status
btsrec_set_files(struct btsrec *rec, const char *sysroot, const char *debuginfo);

/**
 * btsrec_add_system_map() - kernel names from a System.map
 * btsrec_add_vmlinux() - kernel names from the symbol table of an ELF vmlinux
 *
 * Needs btsrec_locate() first: the KASLR shift is the root's symbol_kva less the
 * file's value of symbol_name, and a build-id that differs is refused.
 *
 * Return: BTSREC_OK; BTSREC_ERR_IO; BTSREC_ERR_MISMATCH (other build-id, or symbol_name
 * not in the file); BTSREC_ERR_CORRUPT (not an ELF, not a map); BTSREC_ERR_NOMEM;
 * BTSREC_ERR_INVAL before btsrec_locate().
 */
BTSREC_API enum btsrec_status
btsrec_add_system_map(struct btsrec *rec, const char *path);
BTSREC_API enum btsrec_status
btsrec_add_vmlinux(struct btsrec *rec, const char *path);

/**
 * btsrec_set_debuginfo() - where files with debug information are, for source lines
 * @vmlinux: the kernel's own, or NULL.
 * @folders: "DIR:DIR" with the debug files of kernel and modules as distributions lay
 *	them out, or by build-id; NULL: as before, at first "/usr/lib/debug".
 *
 * Strings are copied.  Nothing is opened before the first line is asked for; then
 * what the environment variable DEBUGINFOD_URLS names is asked, too.  A file with
 * another build-id than the dump says is not used, and views say so.
 *
 * Return: BTSREC_OK; BTSREC_ERR_NOMEM; BTSREC_ERR_INVAL: lines have been asked for.
 */
BTSREC_API enum btsrec_status
btsrec_set_debuginfo(struct btsrec *rec, const char *vmlinux, const char *folders);

/**
 * btsrec_resolve() - name @va: the front end's resolver, then files, then the
 * dump itself, then the module map (then name is empty and module says which)
 *
 * Return: BTSREC_OK or BTSREC_ERR_NO_SYMBOL; *@ret untouched on failure.
 */
BTSREC_API enum btsrec_status
btsrec_resolve(struct btsrec *rec, uint64_t va, struct btsrec_symbol *ret);

/* --- Events ------------------------------------------------------------- */

enum btsrec_event_kind {
	BTSREC_EVENT_BRANCH,	/* branch */
	BTSREC_EVENT_SWITCH,	/* sw; mm_only tells a cr3 change of one thread */
	BTSREC_EVENT_EXEC,	/* sw */
	BTSREC_EVENT_ARM,	/* resume */
	BTSREC_EVENT_MARK,	/* mark */
	BTSREC_EVENT_TIME,	/* time */
	BTSREC_EVENT_FREEZE,	/* freeze; always the last event of a frozen CPU */
	BTSREC_EVENT_GAP,	/* gap */
};

/** enum btsrec_gap_kind - why a part of the history is missing */
enum btsrec_gap_kind {
	BTSREC_GAP_OVERWRITTEN,	/* ring wrapped: older history is gone */
	BTSREC_GAP_NOT_IN_DUMP,	/* pages excluded or cut off */
	BTSREC_GAP_TORN,	/* parts of an annotation, or a half-poisoned slot */
	BTSREC_GAP_NEVER_WRITTEN, /* poison where history was expected */
	BTSREC_GAP_BAD_RECORD,	/* neither branch, annotation nor poison */
	BTSREC_GAP_UNKNOWN_KIND, /* annotation of a newer minor */
	BTSREC_GAP_PAUSED,	/* recorder was stopped and went on: resume */
	BTSREC_GAP_NO_INDEX,	/* the hardware index is unreadable or outside */
};

/** btsrec_gap_str() - the kind as a lower-case word with dashes; static. */
BTSREC_API const char *btsrec_gap_str(enum btsrec_gap_kind kind);

/** btsrec_reason_str() - enum btsrec_reason as words ("panic", "cpu offline"); static. */
BTSREC_API const char *btsrec_reason_str(uint32_t reason);

/** struct btsrec_gap - a hole in the history */
struct btsrec_gap {
	enum btsrec_gap_kind kind;
	uint64_t nr_slots;	/* slots not decoded; 0: count unknown or none */
	uint64_t slot;		/* first such slot */
	bool has_resume;	/* PAUSED: resume is valid */
	struct btsrec_resume resume;
};

/**
 * struct btsrec_event - one line of a history
 * @cpu: CPU number.
 * @n: index from the oldest retained event of this CPU, from 0.
 * @slot: first ring slot the event came from; UINT64_MAX: from none.
 */
struct btsrec_event {
	enum btsrec_event_kind kind;
	unsigned int cpu;
	uint64_t n;
	uint64_t slot;
	bool mm_only;
	union {
		struct btsrec_record branch;
		struct btsrec_switch sw;
		struct btsrec_resume resume;
		struct btsrec_mark mark;
		struct btsrec_time time;
		struct btsrec_freeze freeze;
		struct btsrec_gap gap;
	};
};

/**
 * btsrec_event_fn - receives one event; @event is valid during the call
 *
 * Return: true to go on, false to stop.
 */
typedef bool (*btsrec_event_fn)(void *arg, const struct btsrec_event *event);

/**
 * btsrec_events() - the whole history of @cpu, oldest first
 *
 * Return: BTSREC_OK; BTSREC_ERR_NO_CPU; BTSREC_ERR_STOPPED if @fn returned false;
 * BTSREC_ERR_IO; BTSREC_ERR_NOMEM; BTSREC_ERR_INVAL before btsrec_locate().
 */
BTSREC_API enum btsrec_status
btsrec_events(struct btsrec *rec, unsigned int cpu, btsrec_event_fn fn, void *arg);

/**
 * btsrec_other_events() - of these the ones that are no branches; ten times as fast
 * @ret_nr_events: NULL, or how many events there are, branches included, up to where @fn
 *	stopped.
 *
 * Return: as btsrec_events().
 */
BTSREC_API enum btsrec_status
btsrec_other_events(struct btsrec *rec, unsigned int cpu, btsrec_event_fn fn, void *arg,
		    uint64_t *ret_nr_events);

/**
 * btsrec_has_losses() - is something missing in the history of @cpu?
 * @max_events: look at its newest so many events; 0: at all.
 *
 * What a ring overwrites and what the recorder left out while it was paused is not missing.
 * A history that was told to its end before, by whatever view, is not read again.
 *
 * Return: as btsrec_events(), with *@ret.
 */
BTSREC_API enum btsrec_status
btsrec_has_losses(struct btsrec *rec, unsigned int cpu, uint64_t max_events, bool *ret);

/* --- Views -------------------------------------------------------------- */

/*
 * A view that was written to its end still fails, with BTSREC_ERR_NOMEM or BTSREC_ERR_IO,
 * if something may be missing in it: a name or a source line for which there was no memory,
 * or which the image refused to read.  So do all later views of that session.
 */

/**
 * struct btsrec_sink - where rendered text goes
 * @write: take @len_bytes bytes of @text; false to stop (pager closed, Ctrl-C).
 */
struct btsrec_sink {
	bool (*write)(void *arg, const char *text, size_t len_bytes);
	void *arg;
};

enum btsrec_format {
	BTSREC_FORMAT_TEXT,
	BTSREC_FORMAT_JSONL,
	BTSREC_FORMAT_TSV,
};

/**
 * struct btsrec_filter - which events are wanted; texts in the forms of btsrec(1)
 * @pids, @tgids: who ran: lists of thread and of process numbers.
 * @comm: who ran: a pattern as in glob(7).
 * @user, @kernel: only this level; both or none: both.
 * @from, @to: only events that can have happened between these, both included.
 * @symbols: only branches from or to these: a list of patterns.
 * @ranges: only branches from or to these addresses: a list of FIRST-LAST.
 * @types: only these kinds of branches: a list of what "type" says in JSON.
 *
 * Borrowed, as the struct itself, while the call lasts that it is given to; a NULL
 * text asks for nothing.  What is given must all hold.
 */
struct btsrec_filter {
	const char *pids;
	const char *tgids;
	const char *comm;
	bool user;
	bool kernel;
	const char *from;
	const char *to;
	const char *symbols;
	const char *ranges;
	const char *types;
};

/**
 * struct btsrec_show - what btsrec_show() prints
 * @cpus: CPU numbers, @nr_cpus of them; NULL: every CPU that has a ring.
 * @thread: NULL, or the number of a thread as text: only this one, followed over all CPUs
 *	in the order of time.  Then no @cpus, no @newest_first, and in @filter nobody else.
 * @filter: which events; the other level is told in one line per stretch.
 * @max_events: the newest so many of each CPU, or of @thread; 0: all.
 * @newest_first: reverse the order of the lines.
 * @fold: of branches that go round again in exactly the same way tell two rounds and how
 *	many more there were; then @max_events are lines, and there is no @newest_first.
 * @types: say of each branch what kind it is, by the code in the dump.
 * @lines: say which source lines both ends of a branch are made from, and at the end
 *	which files were not found.
 * @nr_threads: 0, 1: only the caller's; more: others help to write many lines, and the sink,
 *	the resolver and the image's read_pa are called by all of them, each by one at a time.
 *	The output is the same.
 */
struct btsrec_show {
	const unsigned int *cpus;
	size_t nr_cpus;
	const char *thread;
	struct btsrec_filter filter;
	uint64_t max_events;
	bool newest_first;
	bool types;
	bool lines;
	bool fold;
	enum btsrec_format format;
	unsigned int nr_threads;
};

/**
 * btsrec_info() - what was found: kernel, root, one line per CPU
 * btsrec_show() - the histories
 * btsrec_check() - validate all that can be validated, one line per finding
 *
 * *@ret_nr_faults of btsrec_check() counts the findings that are faults.
 *
 * Return: BTSREC_OK; BTSREC_ERR_STOPPED when the sink stopped; BTSREC_ERR_NO_CPU for
 * an @opts->cpus entry without ring; BTSREC_ERR_CORRUPT, but not from btsrec_info() and
 * btsrec_check(), if, without @opts->cpus, a CPU could not be shown, after all others were;
 * BTSREC_ERR_IO;
 * BTSREC_ERR_NOMEM; BTSREC_ERR_INVAL before btsrec_locate().
 */
BTSREC_API enum btsrec_status
btsrec_info(struct btsrec *rec, enum btsrec_format format,
	    const struct btsrec_sink *sink);
BTSREC_API enum btsrec_status
btsrec_show(struct btsrec *rec, const struct btsrec_show *opts,
	    const struct btsrec_sink *sink);
BTSREC_API enum btsrec_status
btsrec_check(struct btsrec *rec, const struct btsrec_sink *sink,
	     uint64_t *ret_nr_faults);

/**
 * struct btsrec_insns - what btsrec_insns() prints
 * @cpus, @nr_cpus, @thread, @max_events: as in struct btsrec_show.
 * @filter: the instructions that ran before the branches that it wants.
 * @bytes: with the bytes of each instruction.
 * @lines: with the source line before the instructions that were made from it.
 * @source_folder: where to find the text of source lines; NULL: without text.
 * @format: text or JSON lines.
 */
struct btsrec_insns {
	const unsigned int *cpus;
	size_t nr_cpus;
	const char *thread;
	struct btsrec_filter filter;
	uint64_t max_events;
	bool bytes;
	bool lines;
	const char *source_folder;
	enum btsrec_format format;
};

/**
 * btsrec_insns() - every instruction that was executed, as the dump has it
 * btsrec_prove() - whether each history can have happened as recorded
 *
 * Code is read through the page tables in the dump.  From the target of each
 * branch straight-line code must lead to the next branch, which must be able to
 * reach its own target.  What cannot be told, because the dump lacks the code, or the
 * kernel has patched it since, is said and is no fault.  *@ret_nr_faults of
 * btsrec_prove() counts the pairs of branches that contradict the code.
 *
 * Return: as btsrec_show(); BTSREC_ERR_INVAL also for a format that is not offered.
 */
BTSREC_API enum btsrec_status
btsrec_insns(struct btsrec *rec, const struct btsrec_insns *opts,
	     const struct btsrec_sink *sink);
BTSREC_API enum btsrec_status
btsrec_prove(struct btsrec *rec, enum btsrec_format format,
	     const struct btsrec_sink *sink, uint64_t *ret_nr_faults);

/** struct btsrec_span - events by their numbers, @first to @last */
struct btsrec_span {
	uint64_t first;
	uint64_t last;
};

/**
 * struct btsrec_stack - what btsrec_stack() prints
 * @cpus, @nr_cpus, @thread: as in struct btsrec_show.  The stack of a thread is the one
 *	at its end, put together from the histories of all CPUs.
 * @at: behind which events, @nr_at spans, ascending and apart; NULL: the newest one.
 * @format: text or JSON lines.
 */
struct btsrec_stack {
	const unsigned int *cpus;
	size_t nr_cpus;
	const char *thread;
	const struct btsrec_span *at;
	size_t nr_at;
	enum btsrec_format format;
};

/**
 * btsrec_stack() - the call stack, rebuilt from the calls and returns of a history
 *
 * At a freeze it is compared with the register snapshot and the stack in memory.
 *
 * Return: as btsrec_show(); BTSREC_ERR_INVAL also for a format that is not offered
 * and for spans that do not ascend, or of which one begins behind the newest event.
 */
BTSREC_API enum btsrec_status
btsrec_stack(struct btsrec *rec, const struct btsrec_stack *opts,
	     const struct btsrec_sink *sink);

/**
 * btsrec_summary() - on one screen: the first fault, the calls that led to it, what the
 * other CPUs were doing, and the last switches
 *
 * Return: as btsrec_insns().
 */
BTSREC_API enum btsrec_status
btsrec_summary(struct btsrec *rec, enum btsrec_format format,
	       const struct btsrec_sink *sink);

/**
 * struct btsrec_timeline - what btsrec_timeline() prints
 * @cpus, @nr_cpus: as in struct btsrec_show; each number once.
 * @filter: which events; only who ran, from and to are heeded.
 * @max_events: the newest so many of all CPUs together; 0: all.
 * @format: text or JSON lines.
 */
struct btsrec_timeline {
	const unsigned int *cpus;
	size_t nr_cpus;
	struct btsrec_filter filter;
	uint64_t max_events;
	enum btsrec_format format;
};

/**
 * btsrec_timeline() - what is no branch, of all CPUs, in the order of time
 *
 * Return: as btsrec_insns().
 */
BTSREC_API enum btsrec_status
btsrec_timeline(struct btsrec *rec, const struct btsrec_timeline *opts,
		const struct btsrec_sink *sink);

/**
 * struct btsrec_diff - what btsrec_diff() compares
 * @has_cpu, @cpu: this one of both; else that of the first fault.
 * @has_pid, @pid: this thread of both; else who ran at the fault.
 * @format: text or JSON lines.
 */
struct btsrec_diff {
	bool has_cpu;
	bool has_pid;
	unsigned int cpu;
	uint32_t pid;
	enum btsrec_format format;
};

/**
 * btsrec_diff() - where the histories @a and @b part, looked at from the fault backwards
 *
 * What a thread called in the kernel, by name; what interrupts called is left out.
 * Messages, also those about @b, are in @a.
 *
 * Return: as btsrec_insns(); BTSREC_ERR_INVAL also if there is nothing to compare.
 * *@ret_differs is set with BTSREC_OK only.
 */
BTSREC_API enum btsrec_status
btsrec_diff(struct btsrec *a, struct btsrec *b, const struct btsrec_diff *opts,
	    const struct btsrec_sink *sink, bool *ret_differs);

/**
 * struct btsrec_calls - what btsrec_calls() prints
 * @cpus, @nr_cpus, @thread, @max_events: as in struct btsrec_show.
 * @filter: symbols and ranges: only calls of such functions, with all that they call;
 *	types: of these only the kinds; the level is that of the function, and entries from
 *	user code are of both.
 * @max_depth: only so many levels of calls; 0: all.
 * @lines: with the source line of what called, and at the end which files were not found.
 * @format: text or JSON lines.
 */
struct btsrec_calls {
	const unsigned int *cpus;
	size_t nr_cpus;
	const char *thread;
	uint64_t max_events;
	struct btsrec_filter filter;
	uint32_t max_depth;
	bool lines;
	enum btsrec_format format;
};

/**
 * btsrec_calls() - the functions that were called, as a tree
 *
 * Return: as btsrec_insns(); BTSREC_ERR_NOMEM also if a part of a history must be chosen
 * because it has too many calls.
 */
BTSREC_API enum btsrec_status
btsrec_calls(struct btsrec *rec, const struct btsrec_calls *opts,
	     const struct btsrec_sink *sink);

/** enum btsrec_by - what a profile by function is divided by */
enum btsrec_by {
	BTSREC_BY_FUNCTION,	/* nothing else */
	BTSREC_BY_TASK,
	BTSREC_BY_CPU,
};

/**
 * struct btsrec_functions - what btsrec_functions() counts
 * @cpus, @nr_cpus: as in struct btsrec_show.
 * @filter: only these events.
 */
struct btsrec_functions {
	const unsigned int *cpus;
	size_t nr_cpus;
	struct btsrec_filter filter;
	enum btsrec_by by;
	enum btsrec_format format;
};

/**
 * btsrec_functions() - how many branches each function took, and how often it was entered
 *
 * Return: as btsrec_insns().
 */
BTSREC_API enum btsrec_status
btsrec_functions(struct btsrec *rec, const struct btsrec_functions *opts,
		 const struct btsrec_sink *sink);

/**
 * struct btsrec_coverage - what btsrec_coverage() prints
 * @cpus, @nr_cpus: as in struct btsrec_show.
 * @filter: only what ran before the branches that it wants.
 * @function: a name of the kernel or a module, or an address in a function, as 0x...;
 *	borrowed.
 * @lines: with the source line of each instruction.
 * @format: text or JSON lines.
 */
struct btsrec_coverage {
	const unsigned int *cpus;
	size_t nr_cpus;
	struct btsrec_filter filter;
	const char *function;
	bool lines;
	enum btsrec_format format;
};

/**
 * btsrec_coverage() - how often each instruction of a function was executed
 *
 * Return: as btsrec_insns(); BTSREC_ERR_INVAL also for a function that is not known.
 */
BTSREC_API enum btsrec_status
btsrec_coverage(struct btsrec *rec, const struct btsrec_coverage *opts,
		const struct btsrec_sink *sink);

/* What a browser opens in seconds: a page of some 100 MB. */
#define BTSREC_REPORT_EVENTS	(4ULL << 20)

/**
 * struct btsrec_report - how much of the histories is on the page
 * @max_events: the newest so many of each CPU; 0: all.
 * @max_all_events: the newest of each CPU, as many of one as of another that has them, so
 *	that those of all CPUs together are no more than this, but one of each; 0: all.
 *
 * Both hold.  What is left out is told on the page, by CPU.
 */
struct btsrec_report {
	uint64_t max_events;
	uint64_t max_all_events;
};

/**
 * btsrec_report() - the histories as one HTML page that needs nothing else
 *
 * For a browser: the summary, a timeline of all CPUs with their threads and calls, and
 * the branches behind each.  Takes some 24 bytes per branch.  In libbtsrec only, not
 * in the part that the crash extension links.
 *
 * Return: as btsrec_show(); BTSREC_ERR_NOMEM also if fewer events must be asked for
 * because a CPU has too many calls.  What @sink has is then no whole page.
 */
BTSREC_API enum btsrec_status
btsrec_report(struct btsrec *rec, const struct btsrec_report *opts,
	      const struct btsrec_sink *sink);

/* --- gdb ---------------------------------------------------------------- */

/**
 * struct btsrec_gdb - the history that gdb is served
 * @has_pid: only what thread @pid ran.
 * @user_only: without what ran in the kernel.
 */
struct btsrec_gdb {
	unsigned int cpu;
	bool has_pid;
	uint32_t pid;
	bool user_only;
};

/**
 * struct btsrec_link - a connection to gdb
 * @read: wait for bytes, put at most @room_bytes into @buf; 0: the other side is gone.
 */
struct btsrec_link {
	size_t (*read)(void *arg, char *buf, size_t room_bytes);
	void *arg;
	struct btsrec_sink out;
};

/**
 * btsrec_gdbserver() - be the remote target of one gdb until it goes away
 *
 * One thread that cannot run: memory as the page tables in the dump map it, registers
 * as far as the freeze of the CPU noted them, and the history for gdb's "record btrace
 * bts".  What is missing in the history is a gap that gdb names as a decode error.
 *
 * Return: BTSREC_OK; BTSREC_ERR_NODATA: no instruction of that history is known;
 * BTSREC_ERR_NO_CPU; BTSREC_ERR_IO; BTSREC_ERR_NOMEM; BTSREC_ERR_INVAL before
 * btsrec_locate().
 */
BTSREC_API enum btsrec_status
btsrec_gdbserver(struct btsrec *rec, const struct btsrec_gdb *wanted,
		 const struct btsrec_link *link);

/* --- Exports ------------------------------------------------------------ */

/**
 * struct btsrec_export - what goes into a file for another tool
 * @cpus, @nr_cpus: as in struct btsrec_show; each number once.
 * @filter: only these events; for Chrome only who ran, user and kernel can be asked for.
 */
struct btsrec_export {
	const unsigned int *cpus;
	size_t nr_cpus;
	struct btsrec_filter filter;
};

/**
 * btsrec_export_perf() - the histories as a file for perf: perf.data
 * btsrec_export_chrome() - threads and calls over time, as Chrome's Trace Event Format
 * btsrec_export_folded() - how many branches each call stack took, a line each
 * btsrec_export_lcov() - how often each source line of the kernel ran, as geninfo(1) has it
 *
 * perf: each branch is a sample with source, target, thread, CPU, prediction and kind.  Its
 * time is that of the annotation before it on its CPU, in ns since boot; before the first
 * annotation, of that.  A gap is an event of lost records; a mapping with its path and
 * build-id is in front of the first branch at user addresses in it, if both are known; what
 * else is no branch is not in the file.
 *
 * Chrome: only annotations carry time; each slice says in its category, and at its end
 * between which bounds it must lie, how its time was found.
 *
 * Return: BTSREC_OK; BTSREC_ERR_STOPPED: the sink refused, so what it has is no whole
 * file; BTSREC_ERR_NO_CPU; BTSREC_ERR_NO_SYMBOL: no source line is known; BTSREC_ERR_IO;
 * BTSREC_ERR_NOMEM; BTSREC_ERR_INVAL before btsrec_locate() and for a filter.
 */
BTSREC_API enum btsrec_status
btsrec_export_perf(struct btsrec *rec, const struct btsrec_export *opts,
		   const struct btsrec_sink *sink);
BTSREC_API enum btsrec_status
btsrec_export_chrome(struct btsrec *rec, const struct btsrec_export *opts,
		     const struct btsrec_sink *sink);
BTSREC_API enum btsrec_status
btsrec_export_folded(struct btsrec *rec, const struct btsrec_export *opts,
		     const struct btsrec_sink *sink);
BTSREC_API enum btsrec_status
btsrec_export_lcov(struct btsrec *rec, const struct btsrec_export *opts,
		   const struct btsrec_sink *sink);

/* --- Extract ------------------------------------------------------------ */

/**
 * struct btsrec_extract - what to leave out of the small file
 * @no_user: addresses of user space in branches; they read 0.  The registers of a
 *	freeze and the names of tasks stay.
 * @no_paths: the paths of programs that were started.
 *
 * Either leaves out what names user addresses, too.
 */
struct btsrec_extract {
	bool no_user;
	bool no_paths;
};

/**
 * btsrec_extract() - write all that decoding needs of the dump to @sink
 *
 * The bytes are a file that btsrec_open_dump() opens and that every view answers
 * from as from the dump; see btsrec-extract(5).  They are the same, and as many when
 * something fails, whatever btsrec_set_threads() has said.  Up to 16 threads pack them, in
 * 2 MiB each, and where the source has read_pages two look for them, each in the memory
 * that one does; @sink is called by the caller's.  Memory grows with what is kept by
 * less than one hundredth of it.  In libbtsrec only, not in the part that the
 * crash extension links.
 *
 * Return: BTSREC_OK; BTSREC_ERR_STOPPED: the sink refused, so what it has is no whole
 * file; BTSREC_ERR_IO; BTSREC_ERR_NOMEM; BTSREC_ERR_INVAL before btsrec_locate(), or if
 * it found another root than the one that VMCOREINFO names.
 */
BTSREC_API enum btsrec_status
btsrec_extract(struct btsrec *rec, const struct btsrec_extract *opts,
	       const struct btsrec_sink *sink);

#ifdef __cplusplus
}
#endif

#endif /* BTSREC_DECODER_H */
