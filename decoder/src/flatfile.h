/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file in makedumpfile's flattened format, read as the file that
 * "makedumpfile -R" would make of it, without making it: an index of the pieces
 * is enough.
 */
#ifndef BTSREC_FLATFILE_H
#define BTSREC_FLATFILE_H

#include "ranges.h"
#include "status.h"

/**
 * struct flatfile - the index
 * @whole: the stream ends with its end mark.
 * @end: where the last byte of the rearranged file is, plus one.
 * @pieces: by offset; the newest one wins where they overlap.
 */
struct flatfile {
	int fd;
	bool whole;
	uint64_t file_bytes;
	uint64_t end;
	struct ranges pieces;
};

/** flatfile_probe() - does the file @fd begin like a flattened one? */
bool flatfile_probe(int fd);

/**
 * flatfile_init() - make the index of the file @fd, which stays the caller's
 * @file_bytes: its size; what lies behind is not there.
 * @ret: zero-filled by the caller; free with flatfile_fini() in every case.
 *
 * A file that ends early or goes on with something else is indexed up to there.
 *
 * Return: BTSREC_OK; BTSREC_ERR_NOT_DUMP: a head of another version; BTSREC_ERR_IO;
 * BTSREC_ERR_NOMEM; with @msg.
 */
enum btsrec_status flatfile_init(struct flatfile *ret, int fd, uint64_t file_bytes,
				 struct msg *msg);

/**
 * flatfile_init_plain() - a file that is not flattened, as one piece
 *
 * Return: false: out of memory.
 */
bool flatfile_init_plain(struct flatfile *ret, int fd, uint64_t file_bytes);

/** flatfile_fini() - free the index */
void flatfile_fini(struct flatfile *flat);

/**
 * flatfile_read() - bytes of the rearranged file
 * @ret_bytes: how many of the @len_bytes bytes from @offset on were read; in every case.
 *
 * Return: BTSREC_OK: all; BTSREC_ERR_NODATA: what no piece covers, or lies behind the end of
 * the file, is not there; BTSREC_ERR_IO with errno: the medium failed.
 */
enum btsrec_status flatfile_read(const struct flatfile *flat, uint64_t offset, void *buf,
				 size_t len_bytes, size_t *ret_bytes);

/** flatfile_read_all() - the same for whom a part is of no use */
enum btsrec_status flatfile_read_all(const struct flatfile *flat, uint64_t offset, void *buf,
				     size_t len_bytes);

#endif /* BTSREC_FLATFILE_H */
