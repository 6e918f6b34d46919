// SPDX-License-Identifier: GPL-2.0-or-later
#include "fuzz_heard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_image.h"

static void append(struct fuzz_heard *heard, const char *text, size_t nr_bytes)
{
	if (nr_bytes > heard->nr_room - heard->nr_bytes) {
		heard->nr_room = 2 * (heard->nr_bytes + nr_bytes);
		heard->text = realloc(heard->text, heard->nr_room);
		if (!heard->text)
			abort();
	}
	memcpy(heard->text + heard->nr_bytes, text, nr_bytes);
	heard->nr_bytes += nr_bytes;
}

static bool hear(void *arg, const char *text, size_t nr_bytes)
{
	append(arg, text, nr_bytes);
	return fuzz_text.write(fuzz_text.arg, text, nr_bytes);
}

struct btsrec_sink fuzz_heard_sink(struct fuzz_heard *heard)
{
	return (struct btsrec_sink){ .write = hear, .arg = heard };
}

void fuzz_heard_number(struct fuzz_heard *heard, const char *what, unsigned long long number)
{
	char line[64];

	append(heard, line, (size_t)snprintf(line, sizeof(line), "%s: %llu\n", what, number));
}

static void print_line(const struct fuzz_heard *heard, const char *name, size_t begin)
{
	const char *end = begin < heard->nr_bytes ?
			  memchr(heard->text + begin, '\n', heard->nr_bytes - begin) : NULL;
	size_t nr_bytes = end ? (size_t)(end - heard->text) - begin : heard->nr_bytes - begin;

	fprintf(stderr, "%s: %.*s\n", name, (int)nr_bytes, heard->text + begin);
}

void fuzz_heard_same(const struct fuzz_heard *one, const char *one_name,
		     const struct fuzz_heard *other, const char *other_name)
{
	size_t begin = 0, at = 0;

	while (at < one->nr_bytes && at < other->nr_bytes && one->text[at] == other->text[at])
		if (one->text[at++] == '\n')
			begin = at;
	if (at == one->nr_bytes && at == other->nr_bytes)
		return;
	print_line(one, one_name, begin);
	print_line(other, other_name, begin);
	abort();
}
