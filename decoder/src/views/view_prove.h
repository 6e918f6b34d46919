/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The proof of all CPUs: what it prints of one, in each format. */
#ifndef BTSREC_VIEW_PROVE_H
#define BTSREC_VIEW_PROVE_H

#include <btsrec/values.h>

#include "flow/trace.h"
#include "render/render.h"

/**
 * struct prove_first - the first step of one kind, with both its neighbours
 * @record: the branch; none if @is_stop.
 * @side: the thread that ran, if @has_side.
 * @nr_here: steps with the same fault at the same address.
 */
struct prove_first {
	bool any;
	bool is_stop;
	uint64_t n;
	struct proof_step step;
	struct btsrec_record record;
	bool has_side;
	struct btsrec_side side;
	uint64_t nr_here;
};

/**
 * struct prove - one CPU
 * @nr_file_pages: pages of code that this CPU was the first to need and that came from
 *	files.
 */
struct prove {
	unsigned int cpu;
	struct proof proof;
	bool stop_proven;
	uint64_t nr_file_pages;
	struct prove_first broken;
	struct prove_first patched;
	struct prove_first unknown;
};

/**
 * struct prove_view - one btsrec_prove() under way
 * @print: one CPU.
 * @fn, @arg: receive values; NULL: they are printed.
 */
struct prove_view {
	struct renderer renderer;
	void (*print)(struct prove_view *view, const struct prove *prove);
	btsrec_proof_fn fn;
	void *arg;
};

void prove_text(struct prove_view *view, const struct prove *prove);
void prove_json(struct prove_view *view, const struct prove *prove);
void prove_value(struct prove_view *view, const struct prove *prove);

/** prove_nr() - pairs of @kind, of both levels */
uint64_t prove_nr(const struct prove *prove, enum proof_kind kind);

#endif /* BTSREC_VIEW_PROVE_H */
