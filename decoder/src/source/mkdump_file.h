/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file in makedumpfile's flattened format, read as the file that
 * "makedumpfile -R" would make of it, without making it: an index of the pieces
 * is enough.
 */
#ifndef BTSREC_MKDUMP_FILE_H
#define BTSREC_MKDUMP_FILE_H

#include "source/ranges.h"
#include "base/status.h"

/**
 * struct mkdump_file - the index
 * @whole: the stream ends with its end mark.
 * @end: where the last byte of the rearranged file is, plus one.
 * @pieces: by offset; the newest one wins where they overlap.
 */
struct mkdump_file {
	int fd;
	bool whole;
	uint64_t file_bytes;
	uint64_t end;
	struct ranges pieces;
};

/** mkdump_file_probe() - does the file @fd begin like a flattened one? */
bool mkdump_file_probe(int fd);

/**
 * mkdump_file_init() - make the index of the file @fd, which stays the caller's
 * @file_bytes: its size; what lies beyond is not there.
 * @ret: zero-filled by the caller; free with mkdump_file_fini() in every case.
 *
 * A file that ends early or goes on with something else is indexed up to there.
 *
 * Return: BTSREC_OK; BTSREC_ERR_NOT_DUMP: a head of another version; BTSREC_ERR_IO;
 * BTSREC_ERR_NOMEM; with @msg.
 */
enum btsrec_status mkdump_file_init(struct mkdump_file *ret, int fd, uint64_t file_bytes,
				    struct msg *msg);

/**
 * mkdump_file_init_plain() - a file that is not flattened, as one piece
 *
 * Return: false: out of memory.
 */
bool mkdump_file_init_plain(struct mkdump_file *ret, int fd, uint64_t file_bytes);

/** mkdump_file_fini() - free the index */
void mkdump_file_fini(struct mkdump_file *file);

/**
 * mkdump_file_read() - bytes of the rearranged file
 * @ret_bytes: how many of the @len_bytes bytes from @offset on were read; in every case.
 *
 * Return: BTSREC_OK: all; BTSREC_ERR_NODATA: what no piece covers, or lies after
 * the end of the file, is not there; BTSREC_ERR_IO with errno: the medium failed.
 */
enum btsrec_status mkdump_file_read(const struct mkdump_file *file, uint64_t offset, void *buf,
				    size_t len_bytes, size_t *ret_bytes);

/** mkdump_file_read_all() - the same for a caller without a use for a part */
enum btsrec_status mkdump_file_read_all(const struct mkdump_file *file, uint64_t offset, void *buf,
					size_t len_bytes);

#endif /* BTSREC_MKDUMP_FILE_H */
