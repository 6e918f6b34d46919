// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/pause_code.h"

#include <string.h>

#define MAX_INSNS	512
#define NOWHERE		UINT16_MAX

#define CALL_WRITES	(1U << SEM_RAX | 1U << SEM_RCX | 1U << SEM_RDX | 1U << SEM_RSI | \
			 1U << SEM_RDI | 1U << SEM_R8 | 1U << SEM_R9 | 1U << SEM_R10 | \
			 1U << SEM_R11 | 1U << SEM_FLAGS)

/**
 * struct place - the instruction at @ip
 * @writes: registers, a bit each.
 * @behind, @target: places where it goes on; NOWHERE: it does not.
 * @leads: it is on a way to where the walk ends.
 */
struct place {
	uint64_t ip;
	uint32_t writes;
	uint16_t behind, target;
	bool leads;
};

/** struct walk - @nr places in the order in which they were found; the first one is the end */
struct walk {
	struct place places[MAX_INSNS];
	uint16_t nr;
};

/* NOWHERE: there are too many. */
static uint16_t place_of(struct walk *walk, uint64_t ip)
{
	for (uint16_t i = 0; i < walk->nr; i++)
		if (walk->places[i].ip == ip)
			return i;
	if (walk->nr == MAX_INSNS)
		return NOWHERE;
	walk->places[walk->nr] = (struct place){ .ip = ip, .behind = NOWHERE, .target = NOWHERE };
	return walk->nr++;
}

/* False: it is not known where it goes on. */
static bool pass(struct walk *walk, struct place *place, const struct sem_insn *insn)
{
	uint64_t behind = insn->ip + insn->length_bytes, target = behind + insn->operands[0].value;

	place->writes = insn->op == SEM_CALL ? CALL_WRITES : insn->writes;
	if (insn->op == SEM_RET)
		return true;
	if (insn->op == SEM_CUT || insn->op == SEM_IRET || insn->op == SEM_SYSCALL ||
	    (insn->op == SEM_JMP && insn->operands[0].kind != SEM_IMMEDIATE))
		return false;
	if (insn->op == SEM_JMP || insn->op == SEM_JCC) {
		place->target = place_of(walk, target);
		if (place->target == NOWHERE)
			return false;
	}
	if (insn->op != SEM_JMP)
		place->behind = place_of(walk, behind);
	return insn->op == SEM_JMP || place->behind != NOWHERE;
}

static bool leads(const struct walk *walk, uint16_t place)
{
	return place != NOWHERE && walk->places[place].leads;
}

/* Those that lead to the first place; what leaves the function does not. */
static void find_ways(struct walk *walk)
{
	bool more = true;

	walk->places[0].leads = true;
	while (more) {
		more = false;
		for (uint16_t i = 1; i < walk->nr; i++) {
			struct place *place = &walk->places[i];

			if (place->leads ||
			    (!leads(walk, place->behind) && !leads(walk, place->target)))
				continue;
			place->leads = more = true;
		}
	}
}

bool pause_code_writes(uint64_t from, uint64_t to, pause_insn_fn fn, void *arg, uint32_t *ret)
{
	struct sem_insn insn;
	struct walk walk;
	uint32_t writes = 0;

	walk.nr = 0;
	(void)place_of(&walk, to);
	(void)place_of(&walk, from);
	for (uint16_t i = 1; i < walk.nr; i++)
		if (!fn(arg, walk.places[i].ip, &insn) || !pass(&walk, &walk.places[i], &insn))
			return false;
	find_ways(&walk);
	for (uint16_t i = 1; i < walk.nr; i++)
		writes |= walk.places[i].leads ? walk.places[i].writes : 0;
	if (from == to || !walk.places[1].leads || writes >> SEM_RSP & 1)
		return false;
	*ret = writes;
	return true;
}
