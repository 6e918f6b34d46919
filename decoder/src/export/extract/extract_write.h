/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writing half of extract_format.h.  Streams: what was written is not needed
 * again, and memory does not grow with the file.
 *
 * Threads of its own pack frames; the owner of the writer fills and writes them, in
 * their order, and packs when it would have to wait.  So the file, and how far it
 * gets, is the same whatever their number.
 */
#ifndef BTSREC_EXTRACT_WRITE_H
#define BTSREC_EXTRACT_WRITE_H

#include "source/extract_format.h"
#include "base/status.h"

#define EXTRACT_MAX_THREADS	16

/* Each helper adds so many frames, half a MiB each, and what zstd needs, 1 MiB. */
#define EXTRACT_FRAMES_EACH	2

struct extract_writer;

/**
 * extract_writer_new() - for extract_writer_free(); NULL: out of memory
 * @sink: borrowed; called by the owner alone.
 * @nr_threads: with the owner's; at most EXTRACT_MAX_THREADS are used, fewer if the system
 *	gives no more, and only the owner's for a single frame.
 */
struct extract_writer *extract_writer_new(const struct btsrec_sink *sink, unsigned int nr_threads);
void extract_writer_free(struct extract_writer *writer);

/**
 * extract_begin() - write the header
 * @header: flags, root_pa, max_pa and maker are the caller's.
 * @vmcoreinfo: text or NULL; cut to EXTRACT_MAX_VMCOREINFO bytes.
 *
 * Return: BTSREC_OK; BTSREC_ERR_STOPPED: the sink refused.
 */
enum btsrec_status extract_begin(struct extract_writer *writer,
				 const struct extract_header *header, const char *vmcoreinfo);

/**
 * extract_room() - where the lines of the next page go, one after another
 * @ret_nr_pages: so many whole pages have room there, at least one.
 *
 * Return: valid until that many extract_add(); each takes what is its.
 */
uint8_t *extract_room(struct extract_writer *writer, size_t *ret_nr_pages);

/**
 * extract_add() - the next page, with its lines in extract_room(); addresses ascend
 *
 * Return: BTSREC_OK; BTSREC_ERR_STOPPED; BTSREC_ERR_NOMEM; the last two may be those of a
 * page before.
 */
enum btsrec_status extract_add(struct extract_writer *writer, const struct extract_page *page);

/**
 * extract_add_cut() - the first @nr_bytes of the line at @pa, which has no more
 *
 * Addresses ascend; the line is none of an extract_add().
 *
 * Return: BTSREC_OK; BTSREC_ERR_NOMEM.
 */
enum btsrec_status extract_add_cut(struct extract_writer *writer, uint64_t pa,
				   const uint8_t *bytes, uint32_t nr_bytes);

/** extract_settle() - write all full frames, unless one failed; return as extract_add(). */
enum btsrec_status extract_settle(struct extract_writer *writer);

/** extract_end() - everything is there; return as extract_add(). */
enum btsrec_status extract_end(struct extract_writer *writer);

#endif /* BTSREC_EXTRACT_WRITE_H */
