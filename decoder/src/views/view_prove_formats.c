// SPDX-License-Identifier: GPL-2.0-or-later
/* The proof of a CPU as text, JSON lines and values. */
#include "render/json.h"
#include "render/render_branch.h"
#include "views/values.h"
#include "views/view_prove.h"

/* The same address broken so often is no damaged record. */
#define NR_BREAKS_OF_CHANGED_CODE 3

/* What most likely made a pair impossible. */
static const char *likely_cause(const struct prove_first *first)
{
	if (first->nr_here >= NR_BREAKS_OF_CHANGED_CODE)
		return "the code there has changed since it ran";
	if (!code_is_kernel(first->step.fault_va))
		return "a record is damaged or missing, or the process's memory has been reused";
	return "a record is damaged or missing";
}

uint64_t prove_nr(const struct prove *prove, enum proof_kind kind)
{
	return prove->proof.kernel.nr[kind] + prove->proof.user.nr[kind];
}

/* --- Text --------------------------------------------------------------- */

static void text_line(struct out *out, const char *what, unsigned int cpu)
{
	out_pad(out, what, 6);
	out_literal(out, "CPU ");
	out_dec(out, cpu, 0);
	out_literal(out, ": ");
}

static void text_first(struct renderer *r, const struct prove_first *first)
{
	struct out *out = &r->out;

	r->side = first->has_side ? &first->side : NULL;
	out_literal(out, "first event ");
	out_dec(out, first->n, 0);
	out_literal(out, ": from ");
	text_address(r, first->step.start);
	out_str(out, first->is_stop ? " to the stop at " : " to the branch ");
	text_address(r, first->step.end);
	if (!first->is_stop) {
		out_literal(out, " -> ");
		text_address(r, first->record.to);
	}
	out_literal(out, ": ");
	out_str(out, code_fault_str(first->step.fault));
	out_literal(out, ": ");
	text_address(r, first->step.fault_va);
}

static void text_proven(struct renderer *r, const struct prove *prove)
{
	struct out *out = &r->out;
	bool all = !prove->broken.any && !prove->patched.any && !prove->unknown.any;

	text_line(out, all ? "ok" : "note", prove->cpu);
	out_str(out, all ? "all pairs proven: " : "pairs proven: ");
	out_dec(out, prove_nr(prove, PROOF_PROVEN), 0);
	out_literal(out, " (kernel ");
	out_dec(out, prove->proof.kernel.nr[PROOF_PROVEN], 0);
	out_literal(out, ", user ");
	out_dec(out, prove->proof.user.nr[PROOF_PROVEN], 0);
	out_literal(out, "); instructions: ");
	out_dec(out, prove->proof.nr_insns, 0);
	if (prove->stop_proven)
		out_literal(out, "; the newest branch leads to the stop");
	if (prove->nr_file_pages) {
		out_literal(out, "; pages of code from files: ");
		out_dec(out, prove->nr_file_pages, 0);
	}
	if (prove_nr(prove, PROOF_FILTERED)) {
		out_literal(out, "; pairs that span what was not recorded: ");
		out_dec(out, prove_nr(prove, PROOF_FILTERED), 0);
	}
	out_char(out, '\n');
}

static void text_pairs(struct renderer *r, const char *what, unsigned int cpu, const char *pairs,
		       uint64_t nr, const struct prove_first *first)
{
	struct out *out = &r->out;

	text_line(out, what, cpu);
	out_str(out, pairs);
	out_literal(out, ": ");
	out_dec(out, nr, 0);
	out_literal(out, ", ");
	text_first(r, first);
}

void prove_text(struct prove_view *view, const struct prove *prove)
{
	struct renderer *r = &view->renderer;
	struct out *out = &r->out;

	text_proven(r, prove);
	if (prove->unknown.any) {
		text_pairs(r, "note", prove->cpu, "pairs that could not be checked",
			   prove_nr(prove, PROOF_UNKNOWN), &prove->unknown);
		out_char(out, '\n');
	}
	if (prove->patched.any) {
		text_pairs(r, "note", prove->cpu, "pairs at code that was patched since it ran",
			   prove_nr(prove, PROOF_PATCHED), &prove->patched);
		out_char(out, '\n');
	}
	if (prove->broken.any) {
		text_pairs(r, "fault", prove->cpu, "impossible pairs", prove_nr(prove, PROOF_BROKEN),
			   &prove->broken);
		out_literal(out, "; ");
		out_str(out, likely_cause(&prove->broken));
		out_char(out, '\n');
	}
}

/* --- JSON lines --------------------------------------------------------- */

static void json_first(struct out *out, const char *key, const struct prove_first *first,
		       bool with_likely)
{
	if (!first->any)
		return;
	json_key(out, key);
	out_literal(out, "{\"n\":");
	out_dec(out, first->n, 0);
	json_address(out, "start", first->step.start);
	json_address(out, first->is_stop ? "stop" : "from", first->step.end);
	if (!first->is_stop)
		json_address(out, "to", first->record.to);
	json_address(out, "at", first->step.fault_va);
	json_word(out, "cause", code_fault_str(first->step.fault));
	if (with_likely)
		json_word(out, "likely", likely_cause(first));
	out_char(out, '}');
}

void prove_json(struct prove_view *view, const struct prove *prove)
{
	struct out *out = &view->renderer.out;

	out_literal(out, "{\"cpu\":");
	out_dec(out, prove->cpu, 0);
	json_word(out, "kind", "proof");
	json_number(out, "kernel_proven", prove->proof.kernel.nr[PROOF_PROVEN]);
	json_number(out, "user_proven", prove->proof.user.nr[PROOF_PROVEN]);
	json_number(out, "unknown", prove_nr(prove, PROOF_UNKNOWN));
	json_number(out, "patched", prove_nr(prove, PROOF_PATCHED));
	json_number(out, "broken", prove_nr(prove, PROOF_BROKEN));
	json_number(out, "filtered", prove_nr(prove, PROOF_FILTERED));
	json_number(out, "instructions", prove->proof.nr_insns);
	json_number(out, "file_pages", prove->nr_file_pages);
	json_bool(out, "stop_proven", prove->stop_proven);
	json_first(out, "first_unknown", &prove->unknown, false);
	json_first(out, "first_patched", &prove->patched, false);
	json_first(out, "first_broken", &prove->broken, true);
	out_literal(out, "}\n");
}

/* --- Values ------------------------------------------------------------- */

/* NULL: there is no such pair. */
static const struct btsrec_pair *pair_of(const struct prove_first *first, struct btsrec_pair *ret)
{
	if (!first->any)
		return NULL;
	*ret = (struct btsrec_pair){
		.n = first->n,
		.start_va = first->step.start,
		.is_stop = first->is_stop,
		.from_va = first->step.end,
		.to_va = first->is_stop ? 0 : first->record.to,
		.fault_va = first->step.fault_va,
		.cause = code_fault_str(first->step.fault),
		.likely = first->step.kind == PROOF_BROKEN ? likely_cause(first) : NULL,
	};
	ret->has_task = values_task(first->has_side ? &first->side : NULL, &ret->task);
	return ret;
}

void prove_value(struct prove_view *view, const struct prove *prove)
{
	struct btsrec_pair unknown, patched, broken;
	const struct btsrec_proof value = {
		.size = sizeof(value),
		.cpu = prove->cpu,
		.nr_kernel_proven = prove->proof.kernel.nr[PROOF_PROVEN],
		.nr_user_proven = prove->proof.user.nr[PROOF_PROVEN],
		.nr_unknown = prove_nr(prove, PROOF_UNKNOWN),
		.nr_patched = prove_nr(prove, PROOF_PATCHED),
		.nr_broken = prove_nr(prove, PROOF_BROKEN),
		.nr_filtered = prove_nr(prove, PROOF_FILTERED),
		.nr_insns = prove->proof.nr_insns,
		.nr_file_pages = prove->nr_file_pages,
		.stop_proven = prove->stop_proven,
		.unknown = pair_of(&prove->unknown, &unknown),
		.patched = pair_of(&prove->patched, &patched),
		.broken = pair_of(&prove->broken, &broken),
	};

	if (!view->fn(view->arg, &value))
		view->renderer.out.stopped = true;
}
