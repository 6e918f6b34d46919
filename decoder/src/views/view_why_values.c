// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a value came from, as values. */
#include "views/values.h"
#include "views/view_why.h"

static void set_place(struct renderer *r, const struct why_place *place,
		      const struct btsrec_side *side, struct symbol_name *name,
		      struct btsrec_origin *value)
{
	value->size = sizeof(*value);
	value->cpu = place->cpu;
	value->n = place->n;
	value->has_task = values_task(side, &value->task);
	value->has_ip = place->ip;
	value->ip_va = place->ip;
	value->insn = place->insn[0] ? place->insn : NULL;
	if (place->ip)
		values_name(r, place->ip, name, &value->ip);
}

static void hand_over(struct why *why, const struct btsrec_origin *value)
{
	struct out *out = &why->renderer.out;

	if (!out->stopped)
		out->stopped = !why->fn(why->arg, value);
}

static void put(struct why *why, const struct why_place *place, const struct btsrec_side *side,
		struct btsrec_origin *value)
{
	struct symbol_name name;

	set_place(&why->renderer, place, side, &name, value);
	hand_over(why, value);
}

static void put_lack(struct why *why)
{
	const struct why_place place = { .cpu = why->cpu, .n = why->asked_n };
	struct btsrec_origin value = {
		.what = why_hop_str(ORIGIN_ASKED),
		.value_certainty = why_class_str(ORIGIN_UNKNOWN),
		.certainty = why_class_str(ORIGIN_UNKNOWN),
		.end = why_lack_str(why),
	};

	put(why, &place, NULL, &value);
}

struct btsrec_origin why_value(struct renderer *r, const struct why_place *place,
			       const struct origin_hop *hop, bool is_last,
			       struct symbol_name *name)
{
	bool is_memory = hop->target.reg == SEM_NO_REG;
	struct btsrec_origin value = {
		.what = why_hop_str(hop->kind),
		.reg = is_memory ? NULL : sem_reg_name(hop->target.reg),
		.has_memory = is_memory && hop->target.has_address && hop->kind != ORIGIN_SUSPECT,
		.memory_va = hop->target.address,
		.value_certainty = why_class_str(hop->value_class),
		.value = hop->value,
		.has_address = hop->has_address,
		.address_va = hop->address,
		.certainty = why_class_str(hop->class),
		.end = is_last ? why_end_str(hop) : NULL,
	};

	r->side = place->side;
	set_place(r, place, place->side, name, &value);
	return value;
}

static void put_hop(struct why *why, const struct origin_hop *hop, bool is_last)
{
	struct btsrec_origin value;
	struct symbol_name name;
	struct why_place place;

	why_place(why, &why->values, why->cpu, hop, &place);
	value = why_value(&why->renderer, &place, hop, is_last, &name);
	hand_over(why, &value);
}

static void put_candidate(struct why *why, const struct why_candidate *candidate)
{
	struct btsrec_origin value = {
		.is_candidate = true,
		.has_address = candidate->hop.has_address,
		.address_va = candidate->hop.address,
		.value_certainty = why_class_str(ORIGIN_UNKNOWN),
		.certainty = why_class_str(candidate->hop.class),
	};

	put(why, &candidate->place, candidate->has_side ? &candidate->side : NULL, &value);
}

void why_values(struct why *why)
{
	if (!why->origin.nr)
		put_lack(why);
	for (size_t i = 0; i < why->origin.nr; i++)
		put_hop(why, &why->origin.hops[i], i + 1 == why->origin.nr);
	for (size_t i = 0; i < why->nr_candidates; i++)
		put_candidate(why, &why->candidates[i]);
}
