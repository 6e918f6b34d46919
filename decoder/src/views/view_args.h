/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The arguments of calls, for the views that print calls. */
#ifndef BTSREC_VIEW_ARGS_H
#define BTSREC_VIEW_ARGS_H

#include <btsrec/values.h>

#include "flow/call_args.h"
#include "flow/stacks.h"
#include "flow/trace_values.h"
#include "render/render.h"
#include "symbols/prototypes.h"

#define ARGS_TEXT_BYTES	64

/** struct arg_text - what an argument points to, @nr_bytes, not escaped; @whole: it ends there */
struct arg_text {
	char bytes[ARGS_TEXT_BYTES];
	size_t nr_bytes;
	bool whole;
};

/**
 * struct arg_shown - an argument
 * @has_value: @value is known, as wide as the type; else it is not, for @why.
 * @is_certain: it is; else it is likely.
 */
struct arg_shown {
	struct call_arg arg;
	char type[TYPES_TEXT_BYTES];
	uint64_t value;
	bool has_value;
	bool is_certain;
	const char *why;
	struct arg_text text;
};

/** struct args_shown - those of a call; @why: a phrase: they are not known; NULL: here they are */
struct args_shown {
	const char *why;
	struct arg_shown list[TYPES_MAX_PARAMS];
	unsigned int nr;
	bool more;
};

/** struct arg_words - the texts of an argument, escaped */
struct arg_words {
	char name[4 * TYPES_TEXT_BYTES + 1];
	char type[4 * TYPES_TEXT_BYTES + 1];
	char text[4 * ARGS_TEXT_BYTES + 1];
};

/**
 * struct args - of one view; all zero at first
 * @prototypes: NULL: @why there are none.
 * @values: of the CPU that is printed, if @is_open.
 * @shown: the arguments asked for last; @list, @words: the same as values.
 */
struct args {
	struct prototypes *prototypes;
	const char *why;
	struct trace_values values;
	bool is_open;
	struct args_shown shown;
	struct btsrec_arg list[TYPES_MAX_PARAMS];
	struct arg_words words[TYPES_MAX_PARAMS];
};

/**
 * args_open() - for args_find() in the history of @cpu
 * @fault: of it; borrowed until args_close().
 *
 * Return: as trace_values_open(); args_close() comes after it in every case.
 */
enum btsrec_status args_open(struct args *args, struct btsrec *rec, unsigned int cpu,
			     const struct fault *fault);
void args_close(struct args *args);

/** args_fini() - free all */
void args_fini(struct args *args);

/**
 * args_find() - the arguments of the frame of @kind that event @n entered at @va
 * @args: NULL: they are not wanted.
 *
 * Return: valid until the next call; NULL: not wanted, or it is no function with a caller.
 */
const struct args_shown *args_find(struct args *args, enum frame_kind kind, uint64_t n,
				   uint64_t va);

/** args_put_text() - in parentheses; nothing if @shown is NULL */
void args_put_text(struct out *out, const struct args_shown *shown);

/** args_put_json() - the member args, or no_args; nothing if @shown is NULL */
void args_put_json(struct out *out, const struct args_shown *shown);

/** struct args_given - as values: @nr of @list, and @more; or @why there are none */
struct args_given {
	const struct btsrec_arg *list;
	size_t nr;
	bool more;
	const char *why;
};

/**
 * args_values() - what args_find() has found last, which is @shown; nothing if that is NULL
 *
 * Return: valid until the next call of args_find().
 */
struct args_given args_values(struct args *args, const struct args_shown *shown);

#endif /* BTSREC_VIEW_ARGS_H */
