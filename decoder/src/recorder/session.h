/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The session as the other parts of the library see it.  The pipeline is wired
 * in history.c; symbols and views build on what is here and on decoder.h.
 */
#ifndef BTSREC_SESSION_H
#define BTSREC_SESSION_H

#include <pthread.h>

#include "base/diag.h"
#include "recorder/locate.h"
#include "recorder/ring.h"
#include "base/status.h"

/**
 * struct session_part - data of another part of the library
 * @data: owned by that part.
 * @free: called with @data by btsrec_free(); NULL: nothing to free.
 */
struct session_part {
	void *data;
	void (*free)(void *data);
};

/** typedef session_settle_fn - see struct fetch_settle; @rec: a struct btsrec */
typedef void (*session_settle_fn)(void *rec, uint64_t cr3, struct btsrec_record *record);

/**
 * struct btsrec - a session
 * @clone_of: NULL, or the session that owns @located, @sysroot and @debuginfo; see session_clone().
 * @image: valid if @has_image; @source frees what it reads from.  It reads @given, and remembers in
 *	@trouble what that refuses.
 * @is_file: the source is a file, which says the same each time it is read.
 * @trouble: BTSREC_OK, or the refusal of @given with the lowest address, at @trouble_pa: the reader
 *	may have gone on without.  See session_end().
 * @reading: locked while @given is read, but for whole pages: one thread uses the session, but more
 *	may read.
 * @nomem: some part went on without something for want of memory.
 * @matched: of btsrec_matched().
 * @located: NULL before btsrec_locate() has succeeded.
 * @diags: of the last btsrec_locate(), whether it succeeded or not.
 * @resolver: valid if @has_resolver.
 * @nr_threads: of btsrec_set_threads().
 * @no_dump_names: btsrec_set_dump_names() said so.
 * @raw_names: btsrec_set_raw_names() said so.
 * @no_user: user addresses are left out, and what would be read for them.
 * @no_paths: so are the files of programs.
 * @no_log: btsrec_set_log() said so.
 * @is_kept: what is read goes into a small file.
 * @full_cpus: @nr_full_cpus numbers of btsrec_set_full_cpus(); borrowed; NULL: none.
 * @log_left_out: the source is a small file that was made without the kernel's log.
 * @sysroot, @debuginfo: of btsrec_set_files(); owned; NULL: the defaults.
 * @settle: of session_new(); @settling: it runs, and may read histories.
 * @symbols: of symbol.c.
 * @code: of trace.c.
 * @lines: of lines.c.
 * @checkpoints: of checkpoints.c.
 * @spaces: of trace.c.
 * @notice: what the user must know of the source, whatever happens later (the
 *	dump is cut off); empty: nothing.
 * @incomplete: @notice is about a loss, not about how the file was made.
 */
struct btsrec {
	const struct btsrec *clone_of;
	struct msg msg;
	bool has_image;
	struct btsrec_image image;
	struct btsrec_image given;
	bool is_file;
	enum btsrec_status trouble;
	uint64_t trouble_pa;
	pthread_mutex_t reading;
	bool nomem;
	bool matched;
	struct session_part source;
	struct located *located;
	struct diags diags;
	bool has_resolver;
	struct btsrec_resolver resolver;
	unsigned int nr_threads;
	bool no_dump_names;
	bool raw_names;
	bool no_user;
	bool no_paths;
	bool no_log;
	bool is_kept;
	bool log_left_out;
	const unsigned int *full_cpus;
	size_t nr_full_cpus;
	char *sysroot;
	char *debuginfo;
	session_settle_fn settle;
	bool settling;
	struct session_part symbols;
	struct session_part code;
	struct session_part lines;
	struct session_part checkpoints;
	struct session_part spaces;
	char notice[128];
	bool incomplete;
};

/**
 * session_new() - btsrec_new()
 * @settle: for the branches of the last branch record; NULL: they are as the processor kept them.
 */
struct btsrec *session_new(session_settle_fn settle);

/**
 * session_open() - give @rec its source, as btsrec_open_image() does
 * @source: freed by btsrec_free(); stays the caller's on failure.
 *
 * Return: BTSREC_OK; BTSREC_ERR_INVAL if @rec has a source already.
 */
enum btsrec_status session_open(struct btsrec *rec, const struct btsrec_image *image,
				struct session_part source);

/**
 * session_clone() - @rec once more, for another thread
 *
 * It has the source of @rec, and what was located; names are for symbols_clone().  Everything
 * else is its own, so that nobody waits for anybody but for reading.  @rec must have read_pages,
 * no resolver, and outlive it.
 *
 * Return: for btsrec_free(); NULL: out of memory.
 */
struct btsrec *session_clone(struct btsrec *rec);

/**
 * session_end() - the status with which a view ends that would end with @status
 *
 * A name that could not be read because the system refused, or for want of memory, looks like
 * one that is not there.  An answer that may lack such things must not look like a whole one, so
 * every view of the session fails from then on.
 *
 * Return: @status; BTSREC_ERR_IO, BTSREC_ERR_NOMEM, or BTSREC_ERR_CORRUPT of a damaged file, with a
 *	message.
 */
enum btsrec_status session_end(struct btsrec *rec, enum btsrec_status status);

/** struct session_memory - what memory is of */
struct session_memory {
	char text[64];
};

/** session_memory() - what the physical address @pa is of: a ring, the kernel's image, others */
struct session_memory session_memory(const struct btsrec *rec, uint64_t pa);

/** session_probe() - what the source says of the byte at @pa; not noted as trouble */
enum btsrec_status session_probe(struct btsrec *rec, uint64_t pa);

/** session_part_free() - free what is there; leaves an empty one */
void session_part_free(struct session_part *part);

/**
 * session_per_cpu() - what a part of the library keeps of one CPU
 * @part: an array of pointers by CPU, made when the first one is asked for.
 * @free_one: called by btsrec_free() with each, NULL included.
 *
 * Return: the pointer of @cpu, NULL at first, for the part to set; NULL: there is no such CPU,
 * or no memory.
 */
void **session_per_cpu(struct btsrec *rec, struct session_part *part, unsigned int cpu,
		       void (*free_one)(void *data));

/** session_kept() - what @part has of @cpu; NULL: nothing */
void *session_kept(const struct session_part *part, unsigned int cpu);

/** session_cpu() - the validated CPU page and ring of @cpu; NULL: not usable */
const struct located_cpu *session_cpu(const struct btsrec *rec, unsigned int cpu);

/**
 * session_no_cpu() - why @cpu, with NULL as its session_cpu(), cannot be shown
 *
 * Return: BTSREC_ERR_NO_CPU, with a message: it is left out, its pages are damaged, or the recorder
 * has other CPUs.
 */
enum btsrec_status session_no_cpu(struct btsrec *rec, unsigned int cpu);

/**
 * session_left_out() - was @cpu not to record, when the dump was taken?
 *
 * Of one that had recorded before there is a history.
 */
bool session_left_out(const struct btsrec *rec, unsigned int cpu);

/** session_list_left_out() - all of them as "0-3,8"; "...": more than fit; "": none */
void session_list_left_out(const struct btsrec *rec, char *ret, size_t ret_bytes);

/**
 * session_is_newer() - does the recorder write a later minor version than this decoder knows?
 *
 * Then kinds of annotations that were added since are gaps, and other things are not seen.
 */
bool session_is_newer(const struct btsrec *rec);

/**
 * session_last_branches() - how many branches a history has at most, where LBR is the source
 *
 * Return: of the CPU that keeps most; 0: no CPU has that source.
 */
uint32_t session_last_branches(const struct btsrec *rec);

/**
 * session_failed_cpu() - the one that failed first
 *
 * Return: NULL: none; its history is not known; or it had stopped recording before, as a panic
 * finds a CPU that a disarm has stopped.
 */
const struct btsrec_cpu *session_failed_cpu(const struct btsrec *rec);

/** enum session_index - where the position of the newest record came from */
enum session_index {
	SESSION_INDEX_NEVER,	/* CPU never armed: no history */
	SESSION_INDEX_FROZEN,	/* freeze.index_kva */
	SESSION_INDEX_STOPPED,	/* stop_index_kva */
	SESSION_INDEX_LIVE,	/* bts_index in the DS area: CPU was still recording */
};

/** session_index_str() - the source in words for a human; static. */
const char *session_index_str(enum session_index index);

/**
 * struct session_ring - the state of one ring
 * @index_status: BTSREC_OK; BTSREC_ERR_NODATA: the DS area is not in the dump;
 *	BTSREC_ERR_CORRUPT: @index_kva is no place in the ring.  Unless OK there is no
 *	layout and the history is one gap.
 * @complete: nothing older than the oldest slot ever was in this ring.
 */
struct session_ring {
	enum session_index index;
	enum btsrec_status index_status;
	uint64_t index_kva;
	bool complete;
	struct ring_layout layout;
};

/**
 * session_ring() - where the history of @cpu is, without decoding it
 *
 * Return: BTSREC_OK; BTSREC_ERR_NO_CPU; BTSREC_ERR_INVAL before btsrec_locate();
 * BTSREC_ERR_IO; BTSREC_ERR_NOMEM.
 */
enum btsrec_status session_ring(struct btsrec *rec, unsigned int cpu, struct session_ring *ret);

/**
 * session_tail() - the newest @max_events events of @cpu, oldest of them first
 * @max_events: 0: all, as btsrec_events().
 *
 * Events have the same n as in the whole history.  The whole ring is read once
 * and classified, without calling @fn, unless it was before, and the tail a second time.
 *
 * Return: as btsrec_events().
 */
enum btsrec_status session_tail(struct btsrec *rec, unsigned int cpu, uint64_t max_events,
				btsrec_event_fn fn, void *arg);

/**
 * session_nr_events() - how many events the history of @cpu has
 *
 * Return: as btsrec_events().
 */
enum btsrec_status session_nr_events(struct btsrec *rec, unsigned int cpu, uint64_t *ret);

#endif /* BTSREC_SESSION_H */
