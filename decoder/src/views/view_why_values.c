// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a value came from, as values. */
#include "views/values.h"
#include "views/view_why.h"

static void put(struct why *why, const struct why_place *place, const struct btsrec_side *side,
		struct btsrec_origin *value)
{
	struct renderer *r = &why->renderer;
	struct symbol_name name;

	value->size = sizeof(*value);
	value->cpu = place->cpu;
	value->n = place->n;
	value->has_task = values_task(side, &value->task);
	value->has_ip = place->ip;
	value->ip_va = place->ip;
	value->insn = place->insn[0] ? place->insn : NULL;
	if (place->ip)
		values_name(r, place->ip, &name, &value->ip);
	if (!r->out.stopped)
		r->out.stopped = !why->fn(why->arg, value);
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

static void put_hop(struct why *why, const struct origin_hop *hop, bool is_last)
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
	struct why_place place;

	why_place(why, &why->values, why->cpu, hop, &place);
	why->renderer.side = place.side;
	put(why, &place, place.side, &value);
}

static void put_candidate(struct why *why, const struct why_candidate *candidate)
{
	struct btsrec_origin value = {
		.is_candidate = true,
		.has_address = true,
		.address_va = candidate->hop.address,
		.value_certainty = why_class_str(ORIGIN_UNKNOWN),
		.certainty = why_class_str(ORIGIN_LIKELY),
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
