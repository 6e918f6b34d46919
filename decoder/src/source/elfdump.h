/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory out of an ELF core by an index of pieces: a flattened core, or a plain one as one piece.
 * libkdumpfile 0.5.1 would read the plain ones.  One wrong byte in the header (e_shoff, e_shnum,
 * e_phentsize, the size of the notes) makes SIGSEGV or SIGBUS of it.
 */
#ifndef BTSREC_ELFDUMP_H
#define BTSREC_ELFDUMP_H

#include <elf.h>

#include "source/mkdump_headers.h"

/**
 * struct elfdump - an open core
 * @memory: its segments, by physical address.
 * @data_at, @data_bytes: where in the file elfdump_next_pa() has last found what is no hole.
 */
struct elfdump {
	const struct mkdump_file *file;
	struct ranges memory;
	uint64_t data_at;
	uint64_t data_bytes;
};

/** elfdump_probe() - is it the header of a core of a 64-bit kernel? */
bool elfdump_probe(const Elf64_Ehdr *header);

/**
 * elfdump_init() - read segments and notes
 * @headers: the dump with the @header that elfdump_probe() accepted; what is found is added.
 * @ret: zero-filled by the caller; free with elfdump_fini() in every case.
 *
 * Return: BTSREC_OK; BTSREC_ERR_NOT_DUMP: it is cut off; BTSREC_ERR_IO; BTSREC_ERR_NOMEM;
 * with @msg.
 */
enum btsrec_status elfdump_init(struct elfdump *ret, struct mkdump_headers *headers,
				const Elf64_Ehdr *header, struct msg *msg);

/** elfdump_fini() - free the list of segments */
void elfdump_fini(struct elfdump *elf);

/** elfdump_read() - the bytes at @pa into @buf; one segment has *@ret_bytes of them */
enum btsrec_status elfdump_read(const struct elfdump *elf, uint64_t pa, void *buf, size_t len_bytes,
				size_t *ret_bytes);

/**
 * elfdump_read_pages() - as mkdump_read_pages()
 *
 * Those that lie next to each other in the file, in this order or in the reverse, are read
 * together.
 */
bool elfdump_read_pages(const struct elfdump *elf, const uint64_t *page_pa, size_t nr,
			uint8_t *buf);

/**
 * elfdump_next_pa() - the first address from @pa on that is there and in no hole of the file;
 * UINT64_MAX: none
 *
 * For one thread.
 */
uint64_t elfdump_next_pa(struct elfdump *elf, uint64_t pa);

#endif /* BTSREC_ELFDUMP_H */
