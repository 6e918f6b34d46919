/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of instructions that follow each other in memory, from the address on.  A
 * history repeats itself, so they are made once, many in a row, and kept.
 */
#ifndef BTSREC_INSN_LINES_H
#define BTSREC_INSN_LINES_H

#include "base/bounds.h"
#include "render/out.h"
#include "render/render.h"
#include "symbols/srctext.h"
#include "render/label_cache.h"

/* So many instructions are kept in a row. */
#define INSN_LINES_MAX BOUND(64, 3)

/**
 * struct insn_line - the end of a line, @nr_bytes of @text; the next one follows, aligned
 * @code_bytes: length of the instruction; 0: it is the name of where the row begins.
 * @target_va: the function of the kernel that it calls, or whose beginning it jumps to; 0: none.
 */
struct insn_line {
	uint32_t nr_bytes;
	uint32_t code_bytes;
	uint64_t target_va;
	char text[];
};

/**
 * struct insn_row - which instructions
 * @cr3: of the address space; 0: unknown.
 * @start, @stop: the first one, and after the last one.
 * @compat: it is 32-bit code.
 * @named: with the name of @start, which is in the kernel: the end of a line of text.
 */
struct insn_row {
	uint64_t cr3;
	uint64_t start;
	uint64_t stop;
	bool compat;
	bool named;
};

/**
 * struct insn_lines - what is kept
 * @renderer, @code: borrowed.
 * @json, @bytes, @lines: how instructions are printed: see struct btsrec_insns.
 * @bare: lines are the text of the instruction, escaped, and nothing else.
 * @one_kernel: its code is the same in all address spaces.
 * @rows: the cookie is how many bytes of code the lines are of.
 * @labels: where a line is made, for @made, which is owned.
 */
struct insn_lines {
	struct renderer *renderer;
	struct code *code;
	struct srctext source;
	bool json;
	bool bytes;
	bool lines;
	bool bare;
	bool one_kernel;
	struct label_cache rows;
	struct out_text made;
	struct out labels;
};

/** insn_lines_init() - none yet; as @opts says; the code is that of the session of @renderer */
void insn_lines_init(struct insn_lines *lines, struct renderer *renderer,
		     const struct btsrec_insns *opts);

/**
 * insn_lines_find() - the lines of @row, or of as many as are kept in a row
 *
 * Return: for insn_line_first(), valid until the next call; its cookie is 0 if there is no
 * instruction.  NULL: out of memory.
 */
const struct label *insn_lines_find(struct insn_lines *lines, const struct insn_row *row);

/** insn_line_first() - of @label; after the last one is @ret_end */
static inline const struct insn_line *insn_line_first(const struct label *label,
						      const struct insn_line **ret_end)
{
	*ret_end = (const struct insn_line *)(label->text + label->nr_bytes);
	return (const struct insn_line *)label->text;
}

/** insn_line_bytes() - how many bytes a line with @nr_bytes of text takes */
static inline size_t insn_line_bytes(size_t nr_bytes)
{
	size_t align = _Alignof(struct insn_line);

	return (sizeof(struct insn_line) + nr_bytes + align - 1) / align * align;
}

/** insn_line_next() - the one after @line */
static inline const struct insn_line *insn_line_next(const struct insn_line *line)
{
	return (const struct insn_line *)((const char *)line + insn_line_bytes(line->nr_bytes));
}

/** insn_line_put() - its text to @out, which has room */
static inline void insn_line_put(struct out *out, const struct insn_line *line)
{
	/* What most are shorter than is copied whatever their size. */
	if (line->nr_bytes > LABEL_CACHE_SPARE_BYTES) {
		out_long(out, line->text, line->nr_bytes);
		return;
	}
	memcpy(out->at, line->text, LABEL_CACHE_SPARE_BYTES);
	out->at += line->nr_bytes;
}

/** insn_lines_fini() - free what was kept */
void insn_lines_fini(struct insn_lines *lines);

#endif /* BTSREC_INSN_LINES_H */
