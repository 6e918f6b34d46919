// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/render_branch.h"

#include <stdio.h>
#include <string.h>

#include "render/json.h"

size_t branch_text(char *ret, const struct branch *branch)
{
	const char *exception = NULL;
	int nr_bytes;

	if (branch->type == BRANCH_EXCEPTION)
		exception = idt_exception_str((unsigned int)branch->vector);
	if (branch->type == BRANCH_UNKNOWN)
		nr_bytes = snprintf(ret, BRANCH_TEXT_BYTES, "-");
	else if (exception)
		nr_bytes = snprintf(ret, BRANCH_TEXT_BYTES, "exc:%s", exception);
	else if (branch->vector >= 0 && branch->type != BRANCH_NMI)
		nr_bytes = snprintf(ret, BRANCH_TEXT_BYTES, "%s:%d", branch_type_str(branch->type),
				    branch->vector);
	else
		return (size_t)(stpcpy(ret, branch_type_str(branch->type)) - ret);
	return (size_t)nr_bytes;
}

void out_branch_type(struct out *out, const struct branch *branch)
{
	char text[BRANCH_TEXT_BYTES];
	size_t nr_bytes = branch_text(text, branch);

	out_bytes(out, text, nr_bytes);
}

void json_branch_type(struct out *out, const struct branch *branch)
{
	json_word(out, "type", branch_type_str(branch->type));
	if (branch->vector >= 0)
		json_number(out, "vector", (uint64_t)branch->vector);
}

void frame_text(char *ret, enum frame_kind kind, int vector)
{
	static const enum branch_type types[] = {
		[FRAME_INT] = BRANCH_INT,
		[FRAME_IRQ] = BRANCH_IRQ,
		[FRAME_EXCEPTION] = BRANCH_EXCEPTION,
	};
	struct branch branch = { .vector = vector };

	if (kind != FRAME_INT && kind != FRAME_IRQ && kind != FRAME_EXCEPTION) {
		(void)stpcpy(ret, frame_kind_str(kind));
		return;
	}
	branch.type = types[kind];
	branch_text(ret, &branch);
}

void out_break(struct out *out, const struct proof_step *step)
{
	out_hex16(out, step->start);
	out_literal(out, " .. ");
	out_hex16(out, step->end);
	out_char(out, ' ');
	out_str(out, proof_kind_str(step->kind));
	if (!step->fault)
		return;
	out_literal(out, ": ");
	out_str(out, code_fault_str(step->fault));
	out_literal(out, " at ");
	out_hex16(out, step->fault_va);
}

void json_break(struct out *out, const struct proof_step *step)
{
	json_address(out, "from", step->start);
	json_address(out, "to", step->end);
	json_word(out, "verdict", proof_kind_str(step->kind));
	if (!step->fault)
		return;
	json_word(out, "cause", code_fault_str(step->fault));
	json_address(out, "at", step->fault_va);
}

static void out_name_in_brackets(struct out *out, const struct symbol_name *name)
{
	out_literal(out, " (");
	out_name(out, name);
	out_char(out, ')');
}

void text_address(struct renderer *r, uint64_t va)
{
	struct symbol_name name;
	enum symbol_why why;

	out_hex16(&r->out, va);
	if (render_find(r, va, &name, &why))
		out_name_in_brackets(&r->out, &name);
}

void text_return_address(struct renderer *r, uint64_t va)
{
	struct symbol_name name;
	enum symbol_why why;

	out_hex16(&r->out, va);
	if (render_find_return(r, va, &name, &why))
		out_name_in_brackets(&r->out, &name);
}
