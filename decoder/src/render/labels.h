/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of branches with their labels; each is made when a branch comes first. */
#ifndef BTSREC_LABELS_H
#define BTSREC_LABELS_H

#include "flow/trace.h"
#include "render/render.h"

/* Of lines that all end alike, so many are made at a time. */
#define LABELS_ALIKE 256

/**
 * struct labels - of one view
 * @to: where the lines go, and where user addresses without names are counted; borrowed.
 * @one_kernel: its code is the same in all address spaces.
 * @all_alike: nothing is known of any address, so all lines end with @alike.
 * @maker: makes a label, in front of @text; @types, @space: of its branch.
 */
struct labels {
	struct renderer *to;
	const struct render_format *format;
	bool one_kernel;
	bool all_alike;
	struct label_cache cache;
	const struct label *alike[LABELS_ALIKE];
	struct renderer maker;
	struct trace_types types;
	struct aspace space;
	struct out_text text;
};

/**
 * labels_init() - none yet
 * @labels: all zero.
 * @to: its @rec, @has_types and @lines are set.
 *
 * Return: false: out of memory.  labels_fini() is allowed in both cases.
 */
bool labels_init(struct labels *labels, struct renderer *to, const struct render_format *format,
		 bool all_alike);

/** labels_put() - the lines of @run; false: out of memory */
bool labels_put(struct labels *labels, const struct branch_run *run);

/** labels_fini() - free what was kept */
void labels_fini(struct labels *labels);

#endif /* BTSREC_LABELS_H */
