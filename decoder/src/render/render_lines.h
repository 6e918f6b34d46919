/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How all views word source lines. */
#ifndef BTSREC_RENDER_LINES_H
#define BTSREC_RENDER_LINES_H

#include "symbols/lines.h"
#include "render/render.h"

/** render_cr3() - the address space at what is printed; 0: not known */
static inline uint64_t render_cr3(const struct renderer *r)
{
	return r->side ? r->side->cr3 : 0;
}

/** out_line() - file:line, escaped */
void out_line(struct out *out, const struct line *line);

/** out_line_of() - file:line of @va, or "-" */
void out_line_of(struct renderer *r, uint64_t va);

/** out_lines_of() - "  at file:line", and from where the code of @va was inlined; or nothing */
void out_lines_of(struct renderer *r, uint64_t va);

/** json_lines_of() - members "file", "line" and "inlined" for @va, if it has a line */
void json_lines_of(struct renderer *r, uint64_t va);

/** json_line() - members @file_key and @line_key for @va, if it has a line */
void json_line(struct renderer *r, const char *file_key, const char *line_key, uint64_t va);

/** text_lines_missing() - a comment for each object without a debug file */
void text_lines_missing(struct renderer *r);

/** json_lines_missing() - an object of the kind "no-lines" for each */
void json_lines_missing(struct renderer *r);

#endif /* BTSREC_RENDER_LINES_H */
