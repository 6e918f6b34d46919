/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the headers of a dump by an index of pieces, compressed or ELF. */
#ifndef BTSREC_MKDUMP_HEADERS_H
#define BTSREC_MKDUMP_HEADERS_H

#include "source/mkdump_file.h"

/**
 * struct mkdump_headers - what they say; zero-filled but for @file, and free @vmcoreinfo
 * @file: borrowed.
 * @vmcoreinfo: the text of the note, or NULL.
 * @max_pa: first address beyond memory, as the dump has it; 0: unknown.
 * @described_bytes: of an ELF dump, how long the file is at least if it is whole.
 */
struct mkdump_headers {
	const struct mkdump_file *file;
	char *vmcoreinfo;
	uint64_t max_pa;
	uint64_t described_bytes;
};

/** mkdump_headers_cut() - Return: BTSREC_ERR_NOT_DUMP, with @msg that says so */
enum btsrec_status mkdump_headers_cut(struct msg *msg);

/**
 * mkdump_headers_read() - as much as is there; the rest of @buf stays as it is
 *
 * Return: BTSREC_OK; BTSREC_ERR_IO with @msg.
 */
enum btsrec_status mkdump_headers_read(const struct mkdump_headers *headers, uint64_t offset,
				       void *buf, size_t nr_bytes, struct msg *msg,
				       size_t *ret_bytes);

/**
 * mkdump_headers_read_all() - all of a header, without which there is no dump
 *
 * Return: BTSREC_OK; BTSREC_ERR_NOT_DUMP: it is cut off; BTSREC_ERR_IO; with @msg.
 */
enum btsrec_status mkdump_headers_read_all(const struct mkdump_headers *headers, uint64_t offset,
					   void *buf, size_t nr_bytes, struct msg *msg);

/**
 * mkdump_headers_read_vmcoreinfo() - the text of the first note that can be one
 *
 * Return: BTSREC_OK, also if it is too long, cut off, or there is one already; BTSREC_ERR_IO;
 * BTSREC_ERR_NOMEM; with @msg.
 */
enum btsrec_status mkdump_headers_read_vmcoreinfo(struct mkdump_headers *headers, uint64_t offset,
						  uint64_t nr_bytes, struct msg *msg);

#endif /* BTSREC_MKDUMP_HEADERS_H */
