/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory out of a dump, compressed or ELF, over the index of its pieces, one if it is not
 * flattened: no second copy, neither on disk nor in memory.  libkdumpfile before 0.5.4 does not
 * know the flattened format, and 0.5.6 reads holes of a flattened ELF dump as memory.
 */
#ifndef BTSREC_FLATDUMP_H
#define BTSREC_FLATDUMP_H

#include "flatfile.h"

struct flatdump;

/**
 * flatdump_new() - read the headers of the dump behind @flat
 * @flat: borrowed.
 *
 * Return: BTSREC_OK and *@ret for flatdump_free(); BTSREC_ERR_NOT_DUMP: no dump of
 * a 64-bit kernel, or packed in a way that this build cannot unpack;
 * BTSREC_ERR_IO; BTSREC_ERR_NOMEM; with @msg.
 */
enum btsrec_status flatdump_new(const struct flatfile *flat, struct msg *msg,
				struct flatdump **ret);

/** flatdump_free() - NULL is allowed */
void flatdump_free(struct flatdump *dump);

/** flatdump_use_threads() - @nr_threads, with the caller's, unpack pages; before the first read */
void flatdump_use_threads(struct flatdump *dump, unsigned int nr_threads);

/** flatdump_expect() - as expect of struct btsrec_image */
void flatdump_expect(struct flatdump *dump, const uint64_t *page_pa, size_t nr);

/** flatdump_read_pa() - as read_pa of struct btsrec_image */
enum btsrec_status flatdump_read_pa(struct flatdump *dump, uint64_t pa, void *buf,
				    size_t len_bytes, size_t *ret_bytes);

/**
 * flatdump_read_pages() - the @nr whole pages at @page_pa, one behind the other; by any thread
 *
 * The calling thread unpacks them, whatever is expected.
 *
 * Return: false: not all can be read; flatdump_read_pa() tells.
 */
bool flatdump_read_pages(struct flatdump *dump, const uint64_t *page_pa, size_t nr, uint8_t *buf);

/** flatdump_vmcoreinfo() - the text of the note, or NULL; @dump's */
const char *flatdump_vmcoreinfo(const struct flatdump *dump);

/** flatdump_described_bytes() - how long an ELF dump is at least if it is whole; 0: of another */
uint64_t flatdump_described_bytes(const struct flatdump *dump);

/** flatdump_is_packed() - are there pages to unpack, so that flatdump_expect() is of use? */
bool flatdump_is_packed(const struct flatdump *dump);

/** flatdump_next_pa() - as next_pa of struct btsrec_image */
uint64_t flatdump_next_pa(struct flatdump *dump, uint64_t pa);

/** flatdump_max_pa() - first address beyond memory; 0: unknown */
uint64_t flatdump_max_pa(const struct flatdump *dump);

/**
 * struct flatdump_part - which page frames a file of a split dump has
 * @max_pfn: behind the last one of all files.
 */
struct flatdump_part {
	uint64_t first_pfn;
	uint64_t end_pfn;
	uint64_t max_pfn;
};

/** flatdump_part() - false: @dump is no part of a split one; *@ret is untouched */
bool flatdump_part(const struct flatdump *dump, struct flatdump_part *ret);

#endif /* BTSREC_FLATDUMP_H */
