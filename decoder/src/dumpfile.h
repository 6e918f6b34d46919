/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a dump file's own headers say about what it holds, before and besides
 * libkdumpfile: whether the file is whole, and which memory an ELF dump has.
 *
 * Needed because libkdumpfile 0.5 reads zeroes where it should say that there is
 * nothing (behind the end of a file; the page before a segment of an ELF dump),
 * which would turn lost history into wrong history, and because it dies of a
 * compressed dump whose headers it refuses.
 */
#ifndef BTSREC_DUMPFILE_H
#define BTSREC_DUMPFILE_H

#include "ranges.h"
#include "status.h"

enum dumpfile_kind {
	DUMPFILE_OTHER,		/* nothing is known here */
	DUMPFILE_ELF,
	DUMPFILE_COMPRESSED,	/* makedumpfile's and QEMU's "KDUMP" format */
};

/**
 * struct dumpfile - the outcome
 * @is_split: it is one of several files of a compressed dump.
 * @described_bytes: how long the file is at least if it is whole.
 * @memory: of an ELF dump, by address: of which the file really holds the bytes.
 * @error: errno of a read of the table of pages that failed; 0: none did.
 * @partial_pa: page of a compressed dump through whose plain bytes the cut goes;
 *	@partial_bytes of it are there; 0: there is no such page.
 */
struct dumpfile {
	enum dumpfile_kind kind;
	bool is_split;
	uint64_t file_bytes;
	uint64_t described_bytes;
	struct ranges memory;
	int error;
	uint64_t partial_pa;
	uint64_t partial_bytes;
};

/**
 * dumpfile_probe() - look at the headers of the file @fd
 * @file_bytes: its size; UINT64_MAX: it has none (a device).
 * @ret: zero-filled by the caller; free with dumpfile_fini() in every case.
 *
 * Return: BTSREC_OK; BTSREC_ERR_NOT_DUMP if the headers themselves are cut off or
 * impossible; BTSREC_ERR_IO; BTSREC_ERR_NOMEM; with @msg.
 */
enum btsrec_status dumpfile_probe(struct dumpfile *ret, int fd, uint64_t file_bytes,
				  struct msg *msg);

/** dumpfile_fini() - free what dumpfile_probe() allocated */
void dumpfile_fini(struct dumpfile *dumpfile);

/** dumpfile_is_cut() - does the file end before what its headers describe? */
static inline bool dumpfile_is_cut(const struct dumpfile *dumpfile)
{
	return dumpfile->described_bytes > dumpfile->file_bytes;
}

/**
 * dumpfile_backed_bytes() - how many bytes from @pa on the file has without a
 * hole, at most @len_bytes
 *
 * Of a dump that is not ELF only the partial page is known: more may be missing.
 */
size_t dumpfile_backed_bytes(struct dumpfile *dumpfile, uint64_t pa, size_t len_bytes);

/**
 * dumpfile_offset() - where in the file the @len_bytes bytes at @pa are, as they are
 *
 * Return: false: they are not in one piece, or packed.
 */
bool dumpfile_offset(struct dumpfile *dumpfile, uint64_t pa, size_t len_bytes, uint64_t *ret);

/**
 * dumpfile_read_pages() - the @nr whole pages at @page_pa out of the file @fd, as they are
 * @buf: room for them, one behind the other.
 *
 * Those that lie next to each other in the file, in this order or in the reverse, are read
 * together.
 *
 * Return: false: not all of them are in the file as they are, or it cannot be read.
 */
bool dumpfile_read_pages(struct dumpfile *dumpfile, int fd, const uint64_t *page_pa, size_t nr,
			 uint8_t *buf);

#endif /* BTSREC_DUMPFILE_H */
