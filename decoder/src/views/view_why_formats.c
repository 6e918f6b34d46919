// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a value came from, as text and as JSON lines. */
#include "kernel/poison.h"
#include "render/json.h"
#include "render/text_columns.h"
#include "symbols/symbol.h"
#include "views/view_why.h"

/* More lines are not read. */
#define MAX_LINES	13
#define NR_FIRST	6

/* --- Text --------------------------------------------------------------- */

static void out_target(struct out *out, const struct origin_hop *hop)
{
	if (hop->kind == ORIGIN_SUSPECT) {
		out_literal(out, "[?]");
	} else if (hop->target.reg == SEM_NO_REG && !hop->target.has_address) {
		out_literal(out, "[the same]");
	} else if (hop->target.reg == SEM_NO_REG) {
		out_char(out, '[');
		out_hex(out, hop->target.address);
		out_char(out, ']');
	} else {
		out_str(out, sem_reg_name(hop->target.reg));
	}
}

static void out_value(struct out *out, const struct origin_hop *hop)
{
	out_target(out, hop);
	out_char(out, hop->value_class == ORIGIN_LIKELY ? '~' : '=');
	if (hop->value_class == ORIGIN_UNKNOWN)
		out_char(out, '?');
	else
		out_hex(out, hop->value);
}

/* What lies there, if it has a name: what was allocated has none. */
static bool find_data(struct why *why, const struct origin_hop *hop, struct symbol_name *ret)
{
	return hop->has_address && symbols_present(why->renderer.rec) &&
	       symbol_find(why->renderer.rec, hop->address, ret);
}

static void out_data(struct why *why, const struct origin_hop *hop)
{
	struct symbol_name name;

	if (!find_data(why, hop, &name))
		return;
	out_literal(&why->renderer.out, " (");
	out_name(&why->renderer.out, &name);
	out_char(&why->renderer.out, ')');
}

/* The oldest value that is known may have a meaning of its own. */
static void out_meaning(struct why *why, const struct origin_hop *hop)
{
	char text[POISON_TEXT_BYTES];

	if (hop != why_oldest(&why->origin) || !poison_text(hop->value, text))
		return;
	out_literal(&why->renderer.out, ", ");
	out_str(&why->renderer.out, text);
}

static void text_place(struct why *why, const struct why_place *place, const char *word)
{
	struct out *out = &why->renderer.out;

	out_event(out, place->cpu, place->n);
	out_pad(out, word, 8);
	if (place->ip)
		out_name_of(out, &why->renderer, place->ip);
	if (place->ip && !symbols_present(why->renderer.rec)) {
		out_char(out, ' ');
		out_hex16(out, place->ip);
	}
	if (place->insn[0]) {
		out_literal(out, "  ");
		out_escaped(out, place->insn, sizeof(place->insn));
	}
}

static void text_hop(struct why *why, const struct origin_hop *hop)
{
	struct out *out = &why->renderer.out;
	struct why_place place;

	why_place(why, &why->values, why->cpu, hop, &place);
	why->renderer.side = place.side;
	text_place(why, &place, why_hop_str(hop->kind));
	out_literal(out, "  # ");
	if (hop->kind == ORIGIN_OLDER)
		out_target(out, hop);
	else
		out_value(out, hop);
	if ((hop->kind == ORIGIN_LOADED || hop->kind == ORIGIN_COPIED ||
	     hop->kind == ORIGIN_USER) && hop->has_address) {
		out_literal(out, " from ");
		out_hex(out, hop->address);
	}
	out_data(why, hop);
	out_meaning(why, hop);
	out_char(out, '\n');
}

bool why_is_kept(const struct origin_hop *hop)
{
	return (hop->kind == ORIGIN_LOADED && hop->insn->op == SEM_POP) ||
	       (hop->kind == ORIGIN_STORED && hop->insn->op == SEM_PUSH &&
		hop->insn->operands[0].kind == SEM_REGISTER);
}

static bool is_shown(const struct why *why, size_t i)
{
	return i + 1 == why->origin.nr || !why_is_kept(&why->origin.hops[i]);
}

static void text_chain(struct why *why)
{
	size_t nr = 0, nr_shown = 0;

	for (size_t i = 0; i < why->origin.nr; i++)
		nr += is_shown(why, i);
	for (size_t i = 0; i < why->origin.nr; i++) {
		if (!is_shown(why, i))
			continue;
		if (nr <= MAX_LINES || nr_shown < NR_FIRST || nr - nr_shown < MAX_LINES - NR_FIRST)
			text_hop(why, &why->origin.hops[i]);
		else if (nr_shown == NR_FIRST)
			out_literal(&why->renderer.out, "  ...\n");
		nr_shown++;
	}
}

static void text_thread(struct why *why, const struct btsrec_side *side)
{
	if (!side)
		return;
	out_literal(&why->renderer.out, ", thread ");
	out_thread(&why->renderer.out, side->pid, side->tgid, side->comm);
}

static void text_candidate(struct why *why, const struct why_candidate *candidate)
{
	struct out *out = &why->renderer.out;

	text_place(why, &candidate->place, "maybe");
	out_literal(out, "  # to ");
	if (candidate->hop.has_address) {
		out_hex(out, candidate->hop.address);
		out_literal(out, ", when is not known");
	} else {
		out_literal(out, "the same offset and that value; where and when is not known");
	}
	text_thread(why, candidate->has_side ? &candidate->side : NULL);
	out_char(out, '\n');
}

/* Else the end is where the chain is lost. */
static bool is_answer(const struct origin_hop *last)
{
	return last->class != ORIGIN_UNKNOWN &&
	       (last->kind == ORIGIN_STORED || last->kind == ORIGIN_CONSTANT ||
		last->kind == ORIGIN_SPOILED || last->kind == ORIGIN_BOUNDED ||
		last->kind == ORIGIN_USER ||
		last->kind == ORIGIN_OLDER);
}

void why_text(struct why *why)
{
	const struct origin_hop *last = &why->origin.hops[why->origin.nr ? why->origin.nr - 1 : 0];
	struct out *out = &why->renderer.out;
	struct why_place place;

	if (!why->origin.nr) {
		out_literal(out, "origin:  not known: ");
		out_str(out, why_lack_str(why));
		out_char(out, '\n');
		return;
	}
	text_chain(why);
	for (size_t i = 0; i < why->nr_candidates; i++)
		text_candidate(why, &why->candidates[i]);
	why_place(why, &why->values, why->cpu, last, &place);
	out_literal(out, "origin:  ");
	out_str(out, why_end_str(last));
	if (is_answer(last)) {
		out_literal(out, "; ");
		out_str(out, why_class_str(last->class));
	}
	text_thread(why, place.side);
	out_char(out, '\n');
}

/* --- JSON lines --------------------------------------------------------- */

static void json_place(struct renderer *r, const struct why_place *place, const char *kind,
		       const struct btsrec_side *side)
{
	struct out *out = &r->out;

	out_literal(out, "{\"cpu\":");
	out_dec(out, place->cpu, 0);
	json_number(out, "n", place->n);
	json_word(out, "kind", kind);
	if (side)
		json_thread(out, side->pid, side->tgid, side->comm);
	if (place->ip) {
		json_address(out, "ip", place->ip);
		json_sym(r, "ip_sym", place->ip);
	}
	if (place->insn[0])
		json_text(out, "insn", place->insn, sizeof(place->insn));
}

void why_json_step(struct renderer *r, const struct why_place *place, const char *kind,
		   const struct origin_hop *hop, bool is_last)
{
	struct out *out = &r->out;

	r->side = place->side;
	json_place(r, place, kind, place->side);
	json_word(out, "what", why_hop_str(hop->kind));
	if (hop->target.reg == SEM_NO_REG && hop->target.has_address &&
	    hop->kind != ORIGIN_SUSPECT)
		json_address(out, "memory", hop->target.address);
	else if (hop->target.reg != SEM_NO_REG)
		json_word(out, "reg", sem_reg_name(hop->target.reg));
	if (hop->value_class != ORIGIN_UNKNOWN)
		json_address(out, "value", hop->value);
	json_word(out, "value_class", why_class_str(hop->value_class));
	if (hop->has_address) {
		json_address(out, "address", hop->address);
		json_sym(r, "address_sym", hop->address);
	}
	json_word(out, "class", why_class_str(hop->class));
	if (is_last)
		json_word(out, "end", why_end_str(hop));
}

static void json_hop(struct why *why, const struct origin_hop *hop, bool is_last)
{
	struct why_place place;

	why_place(why, &why->values, why->cpu, hop, &place);
	why_json_step(&why->renderer, &place, "origin", hop, is_last);
	out_literal(&why->renderer.out, "}\n");
}

static void json_lack(struct why *why)
{
	const struct why_place place = { .cpu = why->cpu, .n = why->asked_n };
	struct out *out = &why->renderer.out;

	json_place(&why->renderer, &place, "origin", NULL);
	json_word(out, "what", why_hop_str(ORIGIN_ASKED));
	json_word(out, "value_class", why_class_str(ORIGIN_UNKNOWN));
	json_word(out, "class", why_class_str(ORIGIN_UNKNOWN));
	json_word(out, "end", why_lack_str(why));
	out_literal(out, "}\n");
}

void why_json(struct why *why)
{
	struct out *out = &why->renderer.out;

	if (!why->origin.nr)
		json_lack(why);
	for (size_t i = 0; i < why->origin.nr; i++)
		json_hop(why, &why->origin.hops[i], i + 1 == why->origin.nr);
	for (size_t i = 0; i < why->nr_candidates; i++) {
		const struct why_candidate *candidate = &why->candidates[i];

		json_place(&why->renderer, &candidate->place, "candidate",
			   candidate->has_side ? &candidate->side : NULL);
		if (candidate->hop.has_address)
			json_address(out, "address", candidate->hop.address);
		json_word(out, "class", why_class_str(candidate->hop.class));
		out_literal(out, "}\n");
	}
}
