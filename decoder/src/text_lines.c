// SPDX-License-Identifier: GPL-2.0-or-later
#include "text_lines.h"

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

/* The longest that lines begin with, up to the digits of the first address. */
#define BEGIN_MAX_BYTES		64
#define BEGIN_USUAL_BYTES	32

/**
 * struct text_lines - what the lines of up to 100 branches in a row begin with
 * @first_n, @end_n: their numbers, which differ in @pair_at's two digits only.
 */
struct text_lines {
	uint64_t first_n;
	uint64_t end_n;
	size_t pair_at;
	size_t nr_bytes;
	char bytes[BEGIN_MAX_BYTES];
};

static void text_lines_begin(struct text_lines *lines, unsigned int cpu, uint64_t n)
{
	char *at = put_event(lines->bytes, cpu, n);

	/* Behind the number there is a blank. */
	lines->pair_at = (size_t)(at - lines->bytes) - 3;
	lines->nr_bytes = (size_t)(put_literal(at, "branch  0x") - lines->bytes);
	/* Of less than three digits, each number is on its own: some have blanks before them. */
	lines->first_n = n < 100 ? n : n / 100 * 100;
	lines->end_n = n < 100 ? n + 1 : lines->first_n + 100;
}

void text_branches(struct out *out, unsigned int cpu, const struct press_branch *branches,
		   size_t nr)
{
	struct text_lines lines = { .end_n = 0 };

	for (size_t i = 0; i < PRESS_TAILS_AHEAD; i++)
		press_expect(branches, i, nr);
	for (size_t i = 0; i < nr; i++) {
		const struct press_branch *branch = &branches[i];
		uint64_t n = branch->n;
		char *at;

		press_expect(branches, i + PRESS_TAILS_AHEAD, nr);
		if (n - lines.first_n >= lines.end_n - lines.first_n)
			text_lines_begin(&lines, cpu, n);
		out_room(out);
		at = out->at;
		memcpy(at, lines.bytes, BEGIN_USUAL_BYTES);
		if (lines.nr_bytes > BEGIN_USUAL_BYTES)
			memcpy(at, lines.bytes, sizeof(lines.bytes));
		if (n >= 100)
			memcpy(at + lines.pair_at, out_digit_pairs + 2 * (n - lines.first_n), 2);
		at = put_digits16(at + lines.nr_bytes, branch->record.from);
		at = put_digits16(put_literal(at, " -> 0x"), branch->record.to);
		at = put_bytes(at, branch->record.flags & BTSREC_FLAG_PREDICTED ? " P" : " -", 2);
		out->at = at;
		press_tail(out, branch->tail);
	}
}
