/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a dump file's own headers say, before it is read: its kind, and whether it is whole.
 *
 * libkdumpfile 0.5 reads zeroes where it should say that there is nothing (after the end of a
 * file).  That would turn lost history into wrong history.  It dies of a compressed dump with
 * headers that it refuses, and of ELF headers with one wrong byte.  So it never sees those (see
 * elfdump.h).
 */
#ifndef BTSREC_DUMP_PROBE_H
#define BTSREC_DUMP_PROBE_H

#include "base/status.h"

enum dump_kind {
	DUMP_OTHER, /* nothing is known here */
	DUMP_ELF,
	DUMP_COMPRESSED, /* makedumpfile's and QEMU's "KDUMP" format */
};

/**
 * struct dump_probe - the outcome
 * @described_bytes: how long the file is at least if it is whole; of an ELF dump
 *	the reader of its program headers sets it.
 * @error: errno of a read of the table of pages that failed; 0: none did.
 * @unsafe: what in the headers libkdumpfile must not see, as a sentence for a user; NULL: nothing.
 * @partial_pa: page of a compressed dump with a cut through its plain bytes;
 *	@partial_bytes of it are there; 0: there is no such page.
 */
struct dump_probe {
	enum dump_kind kind;
	uint64_t file_bytes;
	uint64_t described_bytes;
	int error;
	const char *unsafe;
	uint64_t partial_pa;
	uint64_t partial_bytes;
};

/**
 * dump_probe_file() - look at the headers of the file @fd
 * @file_bytes: its size; UINT64_MAX: it has none (a device).
 * @ret: zero-filled by the caller.
 *
 * Return: BTSREC_OK; BTSREC_ERR_NOT_DUMP if the headers themselves are cut off or
 * impossible; BTSREC_ERR_IO; BTSREC_ERR_NOMEM; with @msg.
 */
enum btsrec_status dump_probe_file(struct dump_probe *ret, int fd, uint64_t file_bytes,
				   struct msg *msg);

/** dump_probe_is_cut() - does the file end before what its headers describe? */
static inline bool dump_probe_is_cut(const struct dump_probe *dump_probe)
{
	return dump_probe->described_bytes > dump_probe->file_bytes;
}

/**
 * dump_probe_backed_bytes() - how many bytes from @pa on are before the cut, at most @len_bytes
 *
 * Only the partial page is known: more may be missing.
 */
size_t dump_probe_backed_bytes(const struct dump_probe *dump_probe, uint64_t pa, size_t len_bytes);

#endif /* BTSREC_DUMP_PROBE_H */
