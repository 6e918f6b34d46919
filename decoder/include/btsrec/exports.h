/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Part of <btsrec/decoder.h>: histories for gdb and other tools, and in a small file. */
#ifndef BTSREC_EXPORTS_H
#define BTSREC_EXPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <btsrec/base.h>
#include <btsrec/views.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- gdb ---------------------------------------------------------------- */

/**
 * struct btsrec_gdb - the history that gdb is served; it grows, see base.h
 */
struct btsrec_gdb {
	size_t size;		/* sizeof(struct btsrec_gdb) */
	unsigned int cpu;
	bool has_pid;		/* only what thread @pid ran */
	uint32_t pid;
	bool user_only;		/* without what ran in the kernel */
	bool likely;		/* along the history, what is likely counts as known */
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
 * gdb sees one thread that cannot run.  Memory is as the page tables in the dump map it.  Registers
 * are those that the freeze of the CPU noted.  gdb steps back and forth along the history: there
 * registers and memory are as far as they are known.  The history is also for gdb's "record btrace
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
 * struct btsrec_export - what goes into a file for another tool; it grows, see base.h
 */
struct btsrec_export {
	size_t size;		/* sizeof(struct btsrec_export) */
	const unsigned int *cpus; /* CPU numbers, each once; NULL: each with a ring */
	size_t nr_cpus;
	/* Only these events; for Chrome only threads, user and kernel.  NULL: all. */
	const struct btsrec_filter *filter;
};

/**
 * btsrec_export_perf() - the histories as a file for perf: perf.data
 * btsrec_export_chrome() - threads and calls over time, as Chrome's Trace Event Format
 * btsrec_export_folded() - how many branches each call stack took, a line each
 * btsrec_export_lcov() - how often each source line of the kernel ran, as geninfo(1) has it
 *
 * perf: each branch is a sample with source, target, thread, CPU, prediction and kind.  Its
 * time is that of the annotation before it on its CPU, in ns since boot; before the first
 * annotation, of that.  A gap is an event of lost records; a mapping with its path and build-id is
 * in front of the first branch at user addresses in it, if both are known.  Other events are not in
 * the file.
 *
 * Chrome: only annotations carry time.  The category of a slice says how its time was found; its
 * end says between which bounds the time must lie.
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

/* --- Tables ------------------------------------------------------------- */

/** enum btsrec_table - what btsrec_export_tables() writes; see docs/reference/tables.md */
enum btsrec_table {
	BTSREC_TABLE_CRASH,	/* one row */
	BTSREC_TABLE_CPU,
	BTSREC_TABLE_THREAD,
	BTSREC_TABLE_CALL,
	BTSREC_TABLE_EDGE,	/* branches by their ends */
	BTSREC_TABLE_FUNCTION,	/* what the keys of functions stand for, and counts */
	BTSREC_TABLE_GAP,
	BTSREC_TABLE_VALUE,	/* the steps of btsrec_why() for the fault */
};

#define BTSREC_NR_TABLES (BTSREC_TABLE_VALUE + 1)

/** btsrec_table_str() - the name of a table, a lower-case word; static. */
BTSREC_API const char *btsrec_table_str(enum btsrec_table table);

/**
 * struct btsrec_tables - what goes into tables; it grows, see base.h
 */
struct btsrec_tables {
	size_t size;		/* sizeof(struct btsrec_tables) */
	const unsigned int *cpus; /* CPU numbers, each once; NULL: each with a ring */
	size_t nr_cpus;
	/* Which events and calls; NULL: all. */
	const struct btsrec_filter *filter;
	bool no_user;		/* without functions of user space */
	bool no_paths;		/* without the paths of programs */
};

/**
 * btsrec_export_tables() - a crash as tables for a column store: a JSON object a row
 * @sinks: @nr_sinks, by enum btsrec_table; tables beyond them are not written.
 *
 * Return: as btsrec_export_perf().
 */
BTSREC_API enum btsrec_status
btsrec_export_tables(struct btsrec *rec, const struct btsrec_tables *opts,
		     const struct btsrec_sink *sinks, size_t nr_sinks);

/* --- Extract ------------------------------------------------------------ */

/**
 * struct btsrec_extract - what to leave out of the small file; it grows, see base.h
 *
 * The first two leave out what names user addresses, and the kernel's log, too.
 */
struct btsrec_extract {
	size_t size;		/* sizeof(struct btsrec_extract) */
	/* Addresses of user space in branches: they read 0.  The registers of a freeze and
	 * the names of tasks stay. */
	bool no_user;
	bool no_paths;		/* the paths of programs that were started */
	bool no_log;		/* the lines of the kernel's log */
};

/**
 * btsrec_extract() - write all that decoding needs of the dump to @sink
 *
 * The bytes are a file for btsrec_open_dump(), see btsrec-extract(5).  Every view prints of it what
 * it prints of the dump.  They are the same, and as many when something fails, whatever
 * btsrec_set_threads() has said.  Up to 16 threads pack them, in 2 MiB each.  Where the source has
 * read_pages two threads look for them, each in the memory that one takes.  @sink is called by the
 * caller's thread.  Memory grows with what is kept by less than one hundredth of it.  In libbtsrec
 * only, not in the part that the crash extension links.
 *
 * Return: BTSREC_OK; BTSREC_ERR_STOPPED: the sink refused, so what it has is no whole
 * file; BTSREC_ERR_IO; BTSREC_ERR_NOMEM; BTSREC_ERR_INVAL before btsrec_locate(), or if
 * it found another root than the one that VMCOREINFO names.  BTSREC_ERR_CORRUPT: the file is whole,
 * but a CPU cannot be shown, or its history lacks a part, as in the dump.
 */
BTSREC_API enum btsrec_status
btsrec_extract(struct btsrec *rec, const struct btsrec_extract *opts,
	       const struct btsrec_sink *sink);

#ifdef __cplusplus
}
#endif

#endif /* BTSREC_EXPORTS_H */
