/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of text lines that is numbers only.  Most of a listing is lines of branches,
 * so many of them are made at once.
 */
#ifndef BTSREC_TEXT_COLUMNS_H
#define BTSREC_TEXT_COLUMNS_H

#include "render/branch_lines.h"

/** put_event() - CPU and number of an event, and a blank, to @at; returns their end */
static inline char *put_event(char *at, unsigned int cpu, uint64_t n)
{
	at = put_dec(at, cpu, 3);
	*at++ = ' ';
	at = put_dec(at, n, 9);
	*at++ = ' ';
	return at;
}

/* The longest that lines begin with, and what most do with. */
#define TEXT_HEAD_MAX_BYTES	64
#define TEXT_HEAD_USUAL_BYTES	32

/**
 * struct text_heads - what the lines of up to 100 events begin with; zero-filled at first
 * @more: after the number, at most 20 bytes; constant.
 * @first_n, @end_n: their numbers, which differ in @pair_at's two digits only.
 */
struct text_heads {
	const char *more;
	unsigned int cpu;
	uint64_t first_n;
	uint64_t end_n;
	size_t pair_at;
	size_t nr_bytes;
	char bytes[TEXT_HEAD_MAX_BYTES];
};

/** text_heads_begin() - the head of event @n, and of those that differ from it in two digits */
void text_heads_begin(struct text_heads *heads, unsigned int cpu, uint64_t n);

/** put_head() - put_event() and @heads->more to @at, with room for the longest head */
static inline char *put_head(char *at, struct text_heads *heads, unsigned int cpu, uint64_t n)
{
	if (n - heads->first_n >= heads->end_n - heads->first_n || cpu != heads->cpu)
		text_heads_begin(heads, cpu, n);
	memcpy(at, heads->bytes, TEXT_HEAD_USUAL_BYTES);
	if (heads->nr_bytes > TEXT_HEAD_USUAL_BYTES)
		memcpy(at, heads->bytes, sizeof(heads->bytes));
	if (n >= 100)
		memcpy(at + heads->pair_at, out_digit_pairs + 2 * (n - heads->first_n), 2);
	return at + heads->nr_bytes;
}

/** out_event() - put_event() to @out */
void out_event(struct out *out, unsigned int cpu, uint64_t n);

/** text_branch_head() - the line of a branch up to its label */
void text_branch_head(struct out *out, unsigned int cpu, uint64_t n,
		      const struct btsrec_record *branch);

/** text_branches() - a branch_lines_fn: text_branch_head() and the label of each */
void text_branches(struct out *out, const struct branch_run *run,
		   const struct label *const *labels);

#endif /* BTSREC_TEXT_COLUMNS_H */
