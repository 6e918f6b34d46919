/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One function's instructions and how often each ran: how each format words it. */
#ifndef BTSREC_VIEW_COVERAGE_H
#define BTSREC_VIEW_COVERAGE_H

#include "tally/coverage.h"
#include "render/render.h"
#include "flow/trace.h"

#include <btsrec/values.h>

/**
 * struct cover_insn - one instruction, or bytes that are none
 * @fault: CODE_OK; else where the next instruction begins is not known.
 */
struct cover_insn {
	uint64_t ip;
	uint64_t nr_bytes;
	enum code_fault fault;
};

/**
 * struct cover - one function
 * @name: borrowed from the session.
 * @insns: owned, @nr_insns of them and @nr_room allocated, ascending.
 * @nr_executed: of them, at least once; @nr_never: not once.
 * @nr_unproven: runs from or to the function; what they executed is not known.
 */
struct cover {
	struct symbol_name name;
	struct coverage coverage;
	struct cover_insn *insns;
	size_t nr_insns;
	size_t nr_room;
	uint64_t nr_executed;
	uint64_t nr_never;
	uint64_t nr_unproven;
};

/**
 * cover_read() - the instructions of the function at @start, none of them executed yet
 * @cover: zero-filled by the caller, which frees it with cover_fini() in every case.
 *
 * Up to where the next function begins, or code ends that can be read.
 *
 * Return: false: out of memory.
 */
bool cover_read(struct btsrec *rec, struct code *code, uint64_t start, struct cover *cover);

/** cover_end() - all is added to @cover->coverage: count, and drop what fills the end */
void cover_end(struct code *code, struct cover *cover);

/** cover_fini() - free what cover_read() allocated */
void cover_fini(struct cover *cover);

#define COVER_MAX_FUNCTIONS 64

/**
 * struct cover_view - one btsrec_coverage() under way
 * @given: NULL, or addresses in the functions, @nr_given of them; else opts->function names them.
 * @covers: @nr_covers functions; same names may be several.
 * @nr_gaps: parts of the histories that are missing, but for what rings have forgotten.
 * @cover: the one that is printed.
 * @fn, @arg: receive instructions as values; NULL: they are printed.
 */
struct cover_view {
	struct renderer renderer;
	const struct btsrec_coverage *opts;
	const uint64_t *given;
	size_t nr_given;
	const struct cover_format *format;
	struct code *code;
	uint64_t nr_cpus;
	uint64_t nr_gaps;
	const struct cover *cover;
	btsrec_executed_fn fn;
	void *arg;
	size_t nr_covers;
	struct cover covers[COVER_MAX_FUNCTIONS];
};

/**
 * struct cover_format - how one format words it
 * @begin: before the first instruction of a function.
 * @insn: @count times executed; @text: of the instruction.
 * @fault: in place of all that follows.
 * @end: once, after everything.
 */
struct cover_format {
	void (*begin)(struct cover_view *view, const struct cover *cover);
	void (*insn)(struct cover_view *view, const struct cover_insn *insn, uint64_t count,
		     const char *text, size_t text_bytes);
	void (*fault)(struct cover_view *view, const struct cover_insn *insn);
	void (*end)(struct cover_view *view);
};

/**
 * cover_functions() - btsrec_coverage() of several functions, in one look at the history
 * @given: an address in each, @nr_given of them, COVER_MAX_FUNCTIONS at most.  One in no known
 *	function is left out.
 * @opts: @opts->function is not looked at.
 *
 * Return: as btsrec_coverage().
 */
enum btsrec_status cover_functions(struct btsrec *rec, const struct btsrec_coverage *opts,
				   const uint64_t *given, size_t nr_given,
				   const struct btsrec_sink *sink);

/** cover_format_of() - the table for @format; NULL: no such format */
const struct cover_format *cover_format_of(enum btsrec_format format);

extern const struct cover_format cover_values;

#endif /* BTSREC_VIEW_COVERAGE_H */
