/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reading half of extract_format.h: memory out of a file that btsrec extract
 * wrote.  The file may be cut off or hostile: every number is checked before it is
 * used, and memory is bounded by the size of the file.
 */
#ifndef BTSREC_EXTRACT_READ_H
#define BTSREC_EXTRACT_READ_H

#include "source/extract_format.h"
#include "base/status.h"

struct extract_file;

/** extract_probe() - does @fd begin like such a file? */
bool extract_probe(int fd);

/**
 * extract_open() - read everything but the pages' content
 * @fd: borrowed.
 *
 * Return: BTSREC_OK and *@ret for extract_close(), also if the end of the file is
 * missing; BTSREC_ERR_VERSION: another major version; BTSREC_ERR_NOT_DUMP: damaged;
 * BTSREC_ERR_IO; BTSREC_ERR_NOMEM; with @msg.
 */
enum btsrec_status extract_open(int fd, uint64_t file_bytes, struct msg *msg,
				struct extract_file **ret);

/** extract_close() - NULL is allowed */
void extract_close(struct extract_file *file);

/** extract_read_pa() - as read_pa of struct btsrec_image; BTSREC_ERR_CORRUPT: a damaged frame */
enum btsrec_status extract_read_pa(struct extract_file *file, uint64_t pa, void *buf,
				   size_t len_bytes, size_t *ret_bytes);

/** extract_next_pa() - as next_pa of struct btsrec_image */
uint64_t extract_next_pa(const struct extract_file *file, uint64_t pa);

/** extract_header() - of @file; the numbers were checked, maker is NUL-terminated */
const struct extract_header *extract_header(const struct extract_file *file);

/** extract_vmcoreinfo() - the text, or NULL; @file's */
const char *extract_vmcoreinfo(const struct extract_file *file);

/** extract_is_whole() - was it written to the end, and is all of it there? */
bool extract_is_whole(const struct extract_file *file);

#endif /* BTSREC_EXTRACT_READ_H */
