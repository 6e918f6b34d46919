/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of many branches at once, each with a label at its end. */
#ifndef BTSREC_BRANCH_LINES_H
#define BTSREC_BRANCH_LINES_H

#include <btsrec/decoder.h>

#include "render/label_cache.h"
#include "render/out.h"

struct aspace_span;

/**
 * struct branch_run - @nr branches of @cpu in a row, at least one, from event @n on
 * @span: of the thread that ran, NULL: unknown; borrowed.
 */
struct branch_run {
	unsigned int cpu;
	uint64_t n;
	struct aspace_span *span;
	const struct btsrec_record *records;
	size_t nr;
};

/** branch_lines_fn - the lines of @run, each with one of @labels; knows nothing else */
typedef void (*branch_lines_fn)(struct out *out, const struct branch_run *run,
				const struct label *const *labels);

/** out_label() - the text of @label */
static inline void out_label(struct out *out, const struct label *label)
{
	/* What most labels are shorter than is copied whatever their size. */
	if (label->nr_bytes > LABEL_CACHE_SPARE_BYTES) {
		out_long(out, label->text, label->nr_bytes);
		return;
	}
	out_room(out);
	memcpy(out->at, label->text, 8);
	if (label->nr_bytes > 8)
		memcpy(out->at, label->text, LABEL_CACHE_SPARE_BYTES);
	out->at += label->nr_bytes;
}

/** branch_lines() - a branch_lines_fn of a function that writes the line up to its label */
static inline void branch_lines(struct out *out, const struct branch_run *run,
				const struct label *const *labels,
				void (*head)(struct out *out, unsigned int cpu, uint64_t n,
					     const struct btsrec_record *branch))
{
	for (size_t i = 0; i < run->nr; i++) {
		head(out, run->cpu, run->n + i, &run->records[i]);
		out_label(out, labels[i]);
	}
}

#endif /* BTSREC_BRANCH_LINES_H */
