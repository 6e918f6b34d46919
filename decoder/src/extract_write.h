/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writing half of extract_format.h.  Streams: what was written is not needed
 * again, and memory does not grow with the file.
 */
#ifndef BTSREC_EXTRACT_WRITE_H
#define BTSREC_EXTRACT_WRITE_H

#include "extract_format.h"
#include "status.h"

struct extract_writer;

/** extract_writer_new() - NULL: out of memory; @sink is borrowed. */
struct extract_writer *extract_writer_new(const struct btsrec_sink *sink);
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
 * extract_add() - the next page; their addresses ascend
 * @bytes: the lines of the page that @page names, one behind another.
 *
 * Return: BTSREC_OK; BTSREC_ERR_STOPPED; BTSREC_ERR_NOMEM.
 */
enum btsrec_status extract_add(struct extract_writer *writer, const struct extract_page *page,
			       const uint8_t *bytes);

/** extract_end() - everything is there; return as extract_add(). */
enum btsrec_status extract_end(struct extract_writer *writer);

#endif /* BTSREC_EXTRACT_WRITE_H */
