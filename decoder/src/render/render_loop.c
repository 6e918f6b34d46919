// SPDX-License-Identifier: GPL-2.0-or-later
/* Branches that went round, in each format. */
#include "render/json.h"
#include "tally/loops.h"
#include "render/render.h"
#include "render/render_branch.h"
#include "render/render_lines.h"
#include "render/text_columns.h"
#include "flow/trace.h"

void loop_text(struct renderer *r, unsigned int cpu, const struct loop *loop)
{
	struct out *out = &r->out;

	out_event(out, cpu, loop->round[0].n);
	out_literal(out, "loop    ");
	if (loop->period == 1) {
		out_literal(out, "the branch above");
	} else {
		out_literal(out, "the ");
		out_dec(out, loop->period, 0);
		out_literal(out, " branches above");
	}
	out_literal(out, " x ");
	out_dec(out, loop->nr_rounds, 0);
	out_literal(out, " more, to ");
	out_dec(out, loop->last_n, 0);
	out_literal(out, "; ");
	out_dec(out, loop_nr_predicted(loop), 0);
	out_literal(out, " predicted\n");
}

void loop_tsv(struct renderer *r, unsigned int cpu, const struct loop *loop)
{
	struct out *out = &r->out;

	out_dec(out, cpu, 0);
	out_char(out, '\t');
	out_dec(out, loop->round[0].n, 0);
	tsv_only_details(r, "loop");
	out_literal(out, "period=");
	out_dec(out, loop->period, 0);
	out_literal(out, " rounds=");
	out_dec(out, loop->nr_rounds, 0);
	out_literal(out, " to=");
	out_dec(out, loop->last_n, 0);
	out_literal(out, " predicted=");
	out_dec(out, loop_nr_predicted(loop), 0);
	out_char(out, '\n');
}

static void json_type(struct renderer *r, const struct loops_branch *branch)
{
	const struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH, .n = branch->n,
					    .branch = branch->record };
	struct branch type = trace_type(r->types, &event);

	json_branch_type(&r->out, &type);
}

static void json_branch(struct renderer *r, const struct loop *loop, unsigned int i)
{
	const struct loops_branch *branch = &loop->round[i];
	struct out *out = &r->out;

	out_literal(out, "{\"n\":");
	out_dec(out, branch->n, 0);
	json_address(out, "from", branch->record.from);
	json_address(out, "to", branch->record.to);
	json_number(out, "predicted", loop->nr_predicted[i]);
	if (r->types)
		json_type(r, branch);
	json_sym(r, "from_sym", branch->record.from);
	json_sym(r, "to_sym", branch->record.to);
	if (r->lines) {
		json_line(r, "from_file", "from_line", branch->record.from);
		json_line(r, "to_file", "to_line", branch->record.to);
	}
	out_char(out, '}');
}

void loop_json(struct renderer *r, unsigned int cpu, const struct loop *loop)
{
	struct out *out = &r->out;

	out_literal(out, "{\"cpu\":");
	out_dec(out, cpu, 0);
	json_number(out, "n", loop->round[0].n);
	json_word(out, "kind", "loop");
	json_number(out, "last_n", loop->last_n);
	json_number(out, "period", loop->period);
	json_number(out, "rounds", loop->nr_rounds);
	json_number(out, "round_events", loop->round_events);
	json_key(out, "round");
	for (unsigned int i = 0; i < loop->period; i++) {
		out_char(out, i ? ',' : '[');
		json_branch(r, loop, i);
	}
	out_literal(out, "]}\n");
}
