/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the fuzzers share: the input of most is memory as pages, each with its address
 * in front (mkimage --pages writes such files); some take a text after the last whole one.
 */
#ifndef BTSREC_FUZZ_IMAGE_H
#define BTSREC_FUZZ_IMAGE_H

#include <btsrec/decoder.h>

#define FUZZ_PAGE_BYTES	(sizeof(uint64_t) + BTSREC_PAGE_BYTES)

/* The page that holds VMCOREINFO instead of memory. */
#define FUZZ_NOTE_PA	UINT64_MAX

/* Pages from here on are there, but a scan of all memory ends before them. */
#define FUZZ_MAX_PA	(1ULL << 30)

/** struct fuzz_memory - the input; borrowed */
struct fuzz_memory {
	const uint8_t *bytes;
	size_t nr_bytes;
};

/** fuzz_plain_image() - @memory as a source of bytes; one at a time, for its VMCOREINFO */
struct btsrec_image fuzz_plain_image(struct fuzz_memory *memory);

/** fuzz_read_pages() - for read_pages of that image, which has none: several threads may call it */
bool fuzz_read_pages(void *arg, const uint64_t *page_pa, size_t nr, void *buf);

/** fuzz_session() - a session on @memory with its recorder located, or NULL */
struct btsrec *fuzz_session(struct fuzz_memory *memory);

/** fuzz_sink - takes text and forgets it */
extern const struct btsrec_sink fuzz_sink;

/** fuzz_text - aborts at what is not printable ASCII, a tab or the end of a line */
extern const struct btsrec_sink fuzz_text;

/** fuzz_text_at() - where the text after the pages begins in an input of @nr_bytes */
static inline size_t fuzz_text_at(size_t nr_bytes)
{
	return nr_bytes - nr_bytes % FUZZ_PAGE_BYTES;
}

/** fuzz_fix_pages() - right the checksums of the recorder's pages in an input */
void fuzz_fix_pages(uint8_t *bytes, size_t nr_bytes);

/* libFuzzer's interface. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t nr_bytes, size_t max_bytes,
			       unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t nr_bytes, size_t max_bytes);

#endif
