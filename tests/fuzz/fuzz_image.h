/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the fuzzers share: the input of most is plain memory from address 0 on, a page
 * of 0xff bytes is not there (mkimage --raw writes such files).
 */
#ifndef BTSREC_FUZZ_IMAGE_H
#define BTSREC_FUZZ_IMAGE_H

#include <btsrec/decoder.h>

/** struct fuzz_memory - the input; borrowed */
struct fuzz_memory {
	const uint8_t *bytes;
	size_t nr_bytes;
};

/** fuzz_session() - a session on @memory with its recorder located, or NULL */
struct btsrec *fuzz_session(struct fuzz_memory *memory);

/** fuzz_sink - takes text and forgets it */
extern const struct btsrec_sink fuzz_sink;

/* libFuzzer's interface. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t nr_bytes, size_t max_bytes,
			       unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t nr_bytes, size_t max_bytes);

#endif
