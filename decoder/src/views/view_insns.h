/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The view of instructions: what its formats share. */
#ifndef BTSREC_VIEW_INSNS_H
#define BTSREC_VIEW_INSNS_H

#include <btsrec/values.h>

#include "flow/trace_values.h"
#include "render/insn_lines.h"
#include "symbols/lines.h"
#include "views/view_thread.h"

/* {"cpu":C,"n":N with two long numbers. */
#define BEGIN_MAX_BYTES 64

/* Two numbers, blanks and a name; each byte of the name may have become four. */
#define THREAD_MAX_BYTES 128

/**
 * struct insns - one btsrec_insns() under way
 * @lines_as: how lines are printed.
 * @event_filter, @fault: of the CPU being printed; borrowed.
 * @cr3, @cpu, @n: of the event being printed.
 * @begin: what all its lines begin with, @begin_bytes.
 * @before: the thread that made the branch before, if @has_before.
 * @nr_skip: so many events are too old to be printed.
 * @interval: NULL, or to be printed in front of the next event; @interval_before: before it.
 * @line: of the instruction printed last; @line.number 0: it has none.
 * @thread: @thread_bytes of text that name the thread of @thread_side.
 * @nomem: a line was lost for lack of memory.
 * @values, @place: with @opts->values: of the CPU, and of the next instruction.
 * @fn, @arg: receive lines as values; NULL: they are printed.
 */
struct insns {
	struct renderer renderer;
	const struct render_format *format;
	const struct insns_format *lines_as;
	const struct btsrec_insns *opts;
	struct event_filter *event_filter;
	bool json;
	struct line line;
	uint64_t cr3;
	unsigned int cpu;
	uint64_t n;
	char begin[BEGIN_MAX_BYTES];
	size_t begin_bytes;
	const struct fault *fault;
	bool has_before;
	struct btsrec_side before;
	uint64_t nr_skip;
	const struct interval *interval;
	const struct interval *interval_before;
	struct btsrec_side thread_side;
	char thread[THREAD_MAX_BYTES];
	size_t thread_bytes;
	bool nomem;
	struct insn_lines lines;
	struct trace_values values;
	uint32_t place;
	btsrec_insn_fn fn;
	void *arg;
};

/**
 * struct insns_format - how one format words lines
 * @code: instructions that follow each other begin at @ip; @name: the end of its line, if that is
 *	kept; NULL: it is not.
 * @insn: the instruction @line at @ip.
 * @entry: the branch of @traced has entered the kernel without an instruction.
 * @broken: what ran up to @traced is not known.
 * @others: what is no instruction is printed, as @format of the view does.
 * @named: kept lines of code begin with a name.
 */
struct insns_format {
	void (*code)(struct insns *view, uint64_t ip, const struct trace_event *traced,
		     const struct insn_line *name);
	void (*insn)(struct insns *view, uint64_t ip, const struct trace_event *traced,
		     const struct insn_line *line);
	void (*entry)(struct insns *view, const struct trace_event *traced);
	void (*broken)(struct insns *view, const struct trace_event *traced);
	bool others;
	bool named;
};

extern const struct insns_format insns_text;
extern const struct insns_format insns_json;
extern const struct insns_format insns_values;

#endif /* BTSREC_VIEW_INSNS_H */
