// SPDX-License-Identifier: GPL-2.0-or-later
/* What all formats share. */
#include "render/render.h"

#include "flow/level_filter.h"
#include "symbols/symbol.h"

void out_thread(struct out *out, uint32_t pid, uint32_t tgid, const char *comm)
{
	out_dec(out, pid, 0);
	out_char(out, '/');
	out_dec(out, tgid, 0);
	out_char(out, ' ');
	out_quoted(out, comm, BTSREC_COMM_BYTES);
}

bool render_find(struct renderer *r, uint64_t va, struct symbol_name *ret,
		 enum symbol_why *ret_why)
{
	bool found;

	if (va >= KERNEL_HALF_KVA) {
		found = symbol_find(r->rec, va, ret);
		*ret_why = found ? SYMBOL_NAMED : SYMBOL_UNKNOWN;
		return found;
	}
	found = symbol_find_in(r->rec, r->side, va, ret, ret_why);
	r->nr_user[*ret_why]++;
	return found;
}

bool render_find_return(struct renderer *r, uint64_t va, struct symbol_name *ret,
			enum symbol_why *ret_why)
{
	bool found = render_find(r, va - 1, ret, ret_why);

	if (found)
		ret->offset_bytes++;
	return found;
}

void out_no_name(struct out *out, enum symbol_why why)
{
	if (why <= SYMBOL_UNKNOWN) {
		out_char(out, '-');
		return;
	}
	out_char(out, '(');
	out_str(out, symbol_why_str(why));
	out_char(out, ')');
}

void out_name_of(struct out *out, struct renderer *r, uint64_t va)
{
	struct symbol_name name;
	enum symbol_why why;

	if (render_find(r, va, &name, &why)) {
		out_literal(out, "  ");
		out_name(out, &name);
	} else if (symbols_present(r->rec)) {
		out_literal(out, "  ");
		out_no_name(out, why);
	}
}

static void out_user_counts(struct renderer *r, const char *space, uint64_t number)
{
	bool any = false;

	for (unsigned int why = SYMBOL_UNKNOWN + 1; why < SYMBOL_NR_WHYS; why++) {
		if (!r->nr_user[why])
			continue;
		if (!any) {
			out_literal(&r->out, "# ");
			out_str(&r->out, space);
			out_char(&r->out, ' ');
			out_dec(&r->out, number, 0);
			out_literal(&r->out, ": user addresses without symbol: ");
		}
		out_str(&r->out, any ? ", " : "");
		out_str(&r->out, symbol_why_str((enum symbol_why)why));
		out_char(&r->out, ' ');
		out_dec(&r->out, r->nr_user[why], 0);
		any = true;
	}
	if (any)
		out_char(&r->out, '\n');
	memset(r->nr_user, 0, sizeof(r->nr_user));
}

void out_user_summary(struct renderer *r, unsigned int cpu)
{
	out_user_counts(r, "CPU", cpu);
}

void out_user_summary_thread(struct renderer *r, uint32_t pid)
{
	out_user_counts(r, "thread", pid);
}

void out_offset(struct out *out, uint64_t offset_bytes)
{
	bool negative = offset_bytes > INT64_MAX;

	out_char(out, negative ? '-' : '+');
	out_hex(out, negative ? -offset_bytes : offset_bytes);
}

void out_name(struct out *out, const struct symbol_name *name)
{
	if (name->name_bytes) {
		out_bytes(out, name->name, name->name_bytes);
	} else {
		out_char(out, '[');
		out_str(out, name->module);
		out_char(out, ']');
	}
	out_offset(out, name->offset_bytes);
	if (name->name_bytes && *name->module) {
		out_literal(out, " [");
		out_str(out, name->module);
		out_char(out, ']');
	}
}

void render_cpu_state(struct out *out, const struct btsrec_cpu *cpu)
{
	uint32_t reason = BTSREC_REASON_NONE;

	switch ((enum btsrec_cpu_state)cpu->state) {
	case BTSREC_CPU_NEVER:
		out_literal(out, "never armed");
		return;
	case BTSREC_CPU_ARMED:
		out_literal(out, "armed");
		return;
	case BTSREC_CPU_STOPPED:
		out_literal(out, "stopped");
		reason = cpu->stop_reason;
		break;
	case BTSREC_CPU_FROZEN:
		out_literal(out, "frozen");
		reason = cpu->freeze.reason;
		break;
	default:
		out_literal(out, "unknown state");
		return;
	}
	out_literal(out, " (");
	out_str(out, btsrec_reason_str(reason));
	out_char(out, ')');
}

const char *render_block_str(const struct level_filter_block *block)
{
	return block->kernel ? "kernel" : "user";
}

const struct render_format *render_format_of(enum btsrec_format format)
{
	switch (format) {
	case BTSREC_FORMAT_TEXT:
		return &render_text;
	case BTSREC_FORMAT_JSONL:
		return &render_jsonl;
	case BTSREC_FORMAT_TSV:
	case BTSREC_FORMAT_CSV:
		return &render_tsv;
	}
	return NULL;
}
