/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of text lines that is numbers only.  Most of a listing is lines of branches,
 * so many of them are made at once.
 */
#ifndef BTSREC_TEXT_LINES_H
#define BTSREC_TEXT_LINES_H

#include "press.h"

/** put_event() - CPU and number of an event, and a blank, to @at; returns behind them */
static inline char *put_event(char *at, unsigned int cpu, uint64_t n)
{
	at = put_dec(at, cpu, 3);
	*at++ = ' ';
	at = put_dec(at, n, 9);
	*at++ = ' ';
	return at;
}

/** out_event() - put_event() to @out */
void out_event(struct out *out, unsigned int cpu, uint64_t n);

/** text_branch_head() - the line of a branch up to its tail */
void text_branch_head(struct out *out, unsigned int cpu, uint64_t n,
		      const struct btsrec_record *branch);

/** text_branches() - a press_lines_fn: text_branch_head() and the tail of each */
void text_branches(struct out *out, unsigned int cpu, const struct press_branch *branches,
		   size_t nr);

#endif /* BTSREC_TEXT_LINES_H */
