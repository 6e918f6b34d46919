/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one of several ways to the same answer says, for a fuzzer that compares them. */
#ifndef BTSREC_FUZZ_HEARD_H
#define BTSREC_FUZZ_HEARD_H

#include <btsrec/decoder.h>

/** struct fuzz_heard - the text so far; zero: none yet.  Its room is kept for the next one. */
struct fuzz_heard {
	char *text;
	size_t nr_bytes;
	size_t nr_room;
};

/** fuzz_heard_sink() - appends to @heard; aborts at what fuzz_text does not take */
struct btsrec_sink fuzz_heard_sink(struct fuzz_heard *heard);

/** fuzz_heard_number() - append "@what: @number" as a line, as of a status */
void fuzz_heard_number(struct fuzz_heard *heard, const char *what, unsigned long long number);

/** fuzz_heard_same() - abort, with the first line that differs, unless both say the same */
void fuzz_heard_same(const struct fuzz_heard *one, const char *one_name,
		     const struct fuzz_heard *other, const char *other_name);

#endif
