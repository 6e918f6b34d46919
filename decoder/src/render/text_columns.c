// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/text_columns.h"

void out_event(struct out *out, unsigned int cpu, uint64_t n)
{
	out_room(out);
	out->at = put_event(out->at, cpu, n);
}

void text_branch_head(struct out *out, unsigned int cpu, uint64_t n,
		      const struct btsrec_record *branch)
{
	char *at;

	out_room(out);
	at = put_event(out->at, cpu, n);
	at = put_literal(at, "branch  ");
	at = put_hex16(at, branch->from);
	at = put_literal(at, " -> ");
	at = put_hex16(at, branch->to);
	out->at = put_bytes(at, branch->flags & BTSREC_FLAG_PREDICTED ? " P" : " -", 2);
}

void text_heads_begin(struct text_heads *heads, unsigned int cpu, uint64_t n)
{
	char *at = put_event(heads->bytes, cpu, n);

	/* Behind the number there is a blank. */
	heads->pair_at = (size_t)(at - heads->bytes) - 3;
	heads->nr_bytes = (size_t)(put_bytes(at, heads->more, strlen(heads->more)) - heads->bytes);
	heads->cpu = cpu;
	/* Of less than three digits, each number is on its own: some have blanks before them. */
	heads->first_n = n < 100 ? n : n / 100 * 100;
	heads->end_n = n < 100 ? n + 1 : heads->first_n + 100;
}

void text_branches(struct out *out, const struct branch_run *run,
		   const struct label *const *labels)
{
	struct text_heads heads = { .more = "branch  0x" };

	for (size_t i = 0; i < run->nr; i++) {
		const struct btsrec_record *branch = &run->records[i];
		char *at;

		out_room(out);
		at = put_head(out->at, &heads, run->cpu, run->n + i);
		at = put_digits16(at, branch->from);
		at = put_digits16(put_literal(at, " -> 0x"), branch->to);
		out->at = put_bytes(at, branch->flags & BTSREC_FLAG_PREDICTED ? " P" : " -", 2);
		out_label(out, labels[i]);
	}
}
