// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/view_args.h"

#include <string.h>

#include "base/escape.h"
#include "render/json.h"

/* --- The arguments of a view -------------------------------------------- */

/* Once for all CPUs. */
static bool find_prototypes(struct args *args, struct btsrec *rec)
{
	if (args->prototypes || args->why)
		return true;
	return prototypes_new(rec, &args->prototypes, &args->why);
}

enum btsrec_status args_open(struct args *args, struct btsrec *rec, unsigned int cpu,
			     const struct fault *fault)
{
	if (!find_prototypes(args, rec))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	args->is_open = true;
	return trace_values_open(rec, cpu, fault, &args->values);
}

void args_close(struct args *args)
{
	if (args->is_open)
		trace_values_close(&args->values);
	args->is_open = false;
}

void args_fini(struct args *args)
{
	prototypes_free(args->prototypes);
	memset(args, 0, sizeof(*args));
}

/* --- A call ------------------------------------------------------------- */

static const char *why_not(enum call_arg_in in)
{
	switch (in) {
	case CALL_ARG_REG:
		return "not known";
	case CALL_ARG_TWO_REGS:
		return "in two registers";
	case CALL_ARG_STACK:
		return "on the stack";
	case CALL_ARG_FLOAT:
		return "a floating-point number";
	case CALL_ARG_UNPLACED:
		break;
	}
	return "its place is not known";
}

static void find_value(struct arg_shown *shown, const struct reg_values_at *at)
{
	unsigned int nr_bits = 8 * shown->arg.param.size_bytes;
	struct known known = at->certain.behind[shown->arg.reg];

	shown->is_certain = known_is_all(known, nr_bits);
	if (!shown->is_certain)
		known = at->likely.behind[shown->arg.reg];
	if (!known_is_all(known, nr_bits))
		return;
	shown->has_value = true;
	shown->value = known_low(known, nr_bits).value;
	shown->why = NULL;
}

static void find_text(const struct args *args, struct arg_shown *shown)
{
	if (shown->has_value && shown->arg.param.is_text)
		shown->text.nr_bytes = trace_values_text(&args->values, shown->value,
							 shown->text.bytes,
							 sizeof(shown->text.bytes),
							 &shown->text.whole);
}

static void find_args(struct args *args, uint32_t prototype, uint32_t place)
{
	const struct types *types = prototypes_types(args->prototypes);
	struct args_shown *ret = &args->shown;
	struct types_param params[TYPES_MAX_PARAMS];
	struct reg_values_at at;
	struct call_args found;
	unsigned int nr = types_params(types, prototype, params, &ret->more);

	call_args_of(params, nr, ret->more, &found);
	reg_values_seek(args->values.values, place);
	(void)reg_values_next(args->values.values, place, &at);
	for (unsigned int i = 0; i < nr; i++) {
		struct arg_shown *shown = &ret->list[i];

		*shown = (struct arg_shown){ .arg = found.list[i],
					     .why = why_not(found.list[i].in) };
		types_text(types, shown->arg.param.type, shown->type);
		if (shown->arg.in == CALL_ARG_REG)
			find_value(shown, &at);
		find_text(args, shown);
	}
	ret->nr = nr;
}

const struct args_shown *args_find(struct args *args, enum frame_kind kind, uint64_t n,
				   uint64_t va)
{
	uint32_t prototype, place;

	if (!args || (kind != FRAME_CALL && kind != FRAME_CALL_IND && kind != FRAME_TAIL) ||
	    !code_is_kernel(va))
		return NULL;
	args->shown.nr = 0;
	args->shown.more = false;
	args->shown.why = args->why;
	if (!args->prototypes)
		return &args->shown;
	prototype = prototypes_of(args->prototypes, va, &args->shown.why);
	if (!prototype)
		return &args->shown;
	place = trace_values_leaving(&args->values, n, va);
	if (place == TRACE_VALUES_NONE)
		args->shown.why = "what entered it is not followed";
	else
		find_args(args, prototype, place);
	return &args->shown;
}

static const char *certainty_str(const struct arg_shown *shown)
{
	return !shown->has_value ? "unknown" : shown->is_certain ? "certain" : "likely";
}

/* --- Text --------------------------------------------------------------- */

static void text_value(struct out *out, const struct arg_shown *shown)
{
	unsigned int nr_bits = 8 * shown->arg.param.size_bytes;
	uint64_t value = shown->value;

	if (!shown->arg.param.is_signed) {
		out_hex(out, value);
		return;
	}
	if (value >> (nr_bits - 1) & 1) {
		out_char(out, '-');
		value = known_low(known_all(-value), nr_bits).value;
	}
	out_dec(out, value, 0);
}

static void text_arg(struct out *out, const struct arg_shown *shown)
{
	const char *name = shown->arg.param.name;

	out_escaped(out, shown->type, TYPES_TEXT_BYTES);
	if (*name && shown->type[strlen(shown->type) - 1] != '*')
		out_char(out, ' ');
	out_escaped(out, name, strnlen(name, TYPES_TEXT_BYTES));
	out_char(out, shown->has_value && !shown->is_certain ? '~' : '=');
	if (shown->has_value)
		text_value(out, shown);
	else
		out_char(out, '?');
	if (!shown->text.nr_bytes)
		return;
	out_char(out, ' ');
	out_quoted(out, shown->text.bytes, shown->text.nr_bytes);
	out_str(out, shown->text.whole ? "" : "...");
}

void args_put_text(struct out *out, const struct args_shown *shown)
{
	const char *comma = "";

	if (!shown)
		return;
	out_char(out, '(');
	if (shown->why) {
		out_literal(out, "?: ");
		out_str(out, shown->why);
	}
	for (unsigned int i = 0; i < shown->nr; i++) {
		out_str(out, comma);
		comma = ", ";
		text_arg(out, &shown->list[i]);
	}
	if (shown->nr && shown->more)
		out_literal(out, ", ...");
	out_char(out, ')');
}

/* --- JSON --------------------------------------------------------------- */

static void json_arg(struct out *out, const struct arg_shown *shown)
{
	const struct call_arg *arg = &shown->arg;

	out_literal(out, "{\"type\":");
	out_json_string(out, shown->type, TYPES_TEXT_BYTES);
	if (*arg->param.name)
		json_text(out, "name", arg->param.name,
			  strnlen(arg->param.name, TYPES_TEXT_BYTES));
	if (arg->in == CALL_ARG_REG)
		json_word(out, "reg", sem_reg_name((uint8_t)arg->reg));
	if (arg->param.size_bytes)
		json_number(out, "bytes", arg->param.size_bytes);
	if (shown->has_value) {
		out_literal(out, ",\"value\":\"");
		out_hex(out, shown->value);
		out_char(out, '"');
	}
	json_word(out, "class", certainty_str(shown));
	if (shown->why)
		json_word(out, "why", shown->why);
	if (shown->text.nr_bytes) {
		json_text(out, "text", shown->text.bytes, shown->text.nr_bytes);
		json_bool(out, "text_whole", shown->text.whole);
	}
	out_char(out, '}');
}

void args_put_json(struct out *out, const struct args_shown *shown)
{
	const char *comma = "";

	if (!shown)
		return;
	if (shown->why) {
		json_word(out, "no_args", shown->why);
		return;
	}
	json_key(out, "args");
	out_char(out, '[');
	for (unsigned int i = 0; i < shown->nr; i++) {
		out_str(out, comma);
		comma = ",";
		json_arg(out, &shown->list[i]);
	}
	out_char(out, ']');
	if (shown->more)
		json_bool(out, "more_args", true);
}

/* --- Values ------------------------------------------------------------- */

static const struct btsrec_arg *list_values(struct args *args)
{
	for (unsigned int i = 0; i < args->shown.nr; i++) {
		const struct arg_shown *shown = &args->shown.list[i];
		struct arg_words *words = &args->words[i];

		escaped_copy(words->name, shown->arg.param.name,
			     strnlen(shown->arg.param.name, TYPES_TEXT_BYTES));
		escaped_copy(words->type, shown->type, TYPES_TEXT_BYTES);
		escaped_copy(words->text, shown->text.bytes, shown->text.nr_bytes);
		args->list[i] = (struct btsrec_arg){
			.type = words->type,
			.name = *words->name ? words->name : NULL,
			.certainty = certainty_str(shown),
			.why = shown->why,
			.has_value = shown->has_value,
			.value = shown->value,
			.length_bytes = shown->arg.param.size_bytes,
			.text = shown->text.nr_bytes ? words->text : NULL,
			.is_cut = shown->text.nr_bytes && !shown->text.whole,
		};
	}
	return args->list;
}

struct args_given args_values(struct args *args, const struct args_shown *shown)
{
	if (!shown || shown->why)
		return (struct args_given){ .why = shown ? shown->why : NULL };
	return (struct args_given){ .list = list_values(args), .nr = shown->nr,
				    .more = shown->more };
}
