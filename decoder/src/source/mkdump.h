/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory out of a dump, compressed or ELF, over the index of its pieces, one if it is not
 * flattened: no second copy, neither on disk nor in memory.  libkdumpfile before 0.5.4 does not
 * know the flattened format, and 0.5.6 reads holes of a flattened ELF dump as memory.
 */
#ifndef BTSREC_MKDUMP_H
#define BTSREC_MKDUMP_H

#include "source/mkdump_file.h"

struct mkdump;

/**
 * mkdump_new() - read the headers of the dump in @file
 * @file: borrowed.
 *
 * Return: BTSREC_OK and *@ret for mkdump_free(); BTSREC_ERR_NOT_DUMP: no dump of
 * a 64-bit kernel, or packed in a way that this build cannot unpack;
 * BTSREC_ERR_IO; BTSREC_ERR_NOMEM; with @msg.
 */
enum btsrec_status mkdump_new(const struct mkdump_file *file, struct msg *msg, struct mkdump **ret);

/** mkdump_free() - NULL is allowed */
void mkdump_free(struct mkdump *dump);

/** mkdump_read_pa() - as read_pa of struct btsrec_image */
enum btsrec_status mkdump_read_pa(struct mkdump *dump, uint64_t pa, void *buf, size_t len_bytes,
				  size_t *ret_bytes);

/**
 * mkdump_read_pages() - the @nr whole pages at @page_pa, one after the other; by any thread
 *
 * Return: false: not all can be read; mkdump_read_pa() says which.
 */
bool mkdump_read_pages(struct mkdump *dump, const uint64_t *page_pa, size_t nr, uint8_t *buf);

/** mkdump_vmcoreinfo() - the text of the note, or NULL; @dump's */
const char *mkdump_vmcoreinfo(const struct mkdump *dump);

/** mkdump_described_bytes() - how long an ELF dump is at least if it is whole; 0: of another */
uint64_t mkdump_described_bytes(const struct mkdump *dump);

/** mkdump_next_pa() - as next_pa of struct btsrec_image */
uint64_t mkdump_next_pa(struct mkdump *dump, uint64_t pa);

/** mkdump_max_pa() - first address beyond memory; 0: unknown */
uint64_t mkdump_max_pa(const struct mkdump *dump);

/**
 * struct mkdump_part - which page frames a file of a split dump has
 * @max_pfn: after the last one of all files.
 */
struct mkdump_part {
	uint64_t first_pfn;
	uint64_t end_pfn;
	uint64_t max_pfn;
};

/** mkdump_part() - false: @dump is no part of a split one; *@ret is untouched */
bool mkdump_part(const struct mkdump *dump, struct mkdump_part *ret);

/**
 * mkdump_same_dump() - can both be files of one split dump?
 * @a: @b: for which mkdump_part() is true.
 *
 * makedumpfile gives all files the same bitmap and notes.  Two dumps of one boot have the
 * same VMCOREINFO if it was not written at the crash, but not the same registers.
 *
 * Return: false: what is there of both differs.
 */
bool mkdump_same_dump(const struct mkdump *a, const struct mkdump *b);

#endif /* BTSREC_MKDUMP_H */
