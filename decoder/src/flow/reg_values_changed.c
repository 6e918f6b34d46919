// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/reg_values_changed.h"

#include <stdlib.h>
#include <string.h>

#define WORD_BYTES 8
/* From what is refuted to the load that it rests on, and from one round of a loop to the next. */
#define MAX_WAY		256
#define MAX_ROUND	64
#define MAX_PENDING	8

bool changed_init(struct changed *changed, const struct reg_values *values)
{
	*changed = (struct changed){ .first = values->likely_step,
				     .nr_steps = values->nr_steps - values->likely_step };
	changed->loads = malloc(changed->nr_steps * sizeof(changed->loads[0]));
	changed->stores = malloc(changed->nr_steps * sizeof(changed->stores[0]));
	changed->newest = calloc(values->nr_insns, sizeof(changed->newest[0]));
	memory_forget(&changed->words);
	memory_forget(&changed->written);
	if (changed->loads && changed->stores && changed->newest)
		return true;
	changed_fini(changed);
	return false;
}

void changed_fini(struct changed *changed)
{
	free(changed->loads);
	free(changed->stores);
	free(changed->newest);
	memory_fini(&changed->words);
	memory_fini(&changed->written);
	*changed = (struct changed){ 0 };
}

void changed_begin(struct changed *changed)
{
	memset(changed->loads, 0, changed->nr_steps * sizeof(changed->loads[0]));
	memset(changed->stores, 0, changed->nr_steps * sizeof(changed->stores[0]));
}

static void add_word(struct changed *changed, uint64_t address)
{
	memory_set(&changed->words, address, 1, known_none());
}

static bool has_any(struct memory *words, uint64_t address, unsigned int nr_bytes)
{
	return memory_has(words, address, 1) || memory_has(words, address + nr_bytes - 1, 1);
}

bool changed_has(struct changed *changed, uint64_t address, unsigned int nr_bytes)
{
	return has_any(&changed->words, address, nr_bytes);
}

size_t changed_nr(const struct changed *changed)
{
	return changed->words.nr + changed->written.nr;
}

void changed_written(struct changed *changed, uint64_t address)
{
	memory_set(&changed->written, address, 1, known_none());
}

bool changed_is_written(struct changed *changed, uint64_t address, unsigned int nr_bytes)
{
	return has_any(&changed->written, address, nr_bytes);
}

static const struct sem_insn *insn_of(const struct changed *changed,
				      const struct reg_values *values, size_t at)
{
	return reg_values_insn_at(values, changed->first + at);
}

static bool is_cut(const struct changed *changed, const struct reg_values *values, size_t at)
{
	return values->steps[changed->first + at] == STEP_CUT;
}

/* --- Refuted ------------------------------------------------------------ */

/** struct way - what a step rests on: @regs, and the words at @pending */
struct way {
	uint32_t regs;
	uint64_t pending[MAX_PENDING];
	size_t nr;
};

/* The step stores to a word that is looked for: that one is of this thread. */
static bool take_store(struct way *way, uint64_t address)
{
	size_t nr = 0;

	for (size_t i = 0; i < way->nr; i++)
		if (way->pending[i] / WORD_BYTES != address / WORD_BYTES)
			way->pending[nr++] = way->pending[i];
	if (nr == way->nr)
		return false;
	way->nr = nr;
	return true;
}

static uint32_t bit_of(uint8_t reg)
{
	return reg == SEM_NO_REG ? 0 : 1U << reg;
}

/*
 * The registers that make its value.  Those of an address do not: another address is less likely
 * than another value.
 */
static uint32_t value_regs(const struct sem_insn *insn)
{
	uint32_t regs = insn->reads;

	if (insn->load_bytes || insn->store_bytes)
		regs &= ~(bit_of(insn->base) | bit_of(insn->index));
	for (unsigned int i = 0; i < 3; i++)
		if (insn->operands[i].kind == SEM_REGISTER)
			regs |= insn->reads & bit_of(insn->operands[i].reg);
	/* The stack pointer rests on nothing that others write. */
	return regs & ~bit_of(SEM_RSP);
}

static void rest_on(struct changed *changed, struct way *way, size_t at,
		    const struct sem_insn *insn)
{
	uint64_t address = changed->loads[at];

	way->regs |= value_regs(insn);
	if (!address)
		return;
	if (way->nr < MAX_PENDING)
		way->pending[way->nr++] = address;
	else
		add_word(changed, address);
}

void changed_blame(struct changed *changed, const struct reg_values *values, size_t step,
		   uint32_t regs)
{
	size_t at = step - changed->first, end = at > MAX_WAY ? at - MAX_WAY : 0;
	struct way way = { .regs = regs };

	rest_on(changed, &way, at, insn_of(changed, values, at));
	while (at-- > end && (way.regs || way.nr) && !is_cut(changed, values, at)) {
		const struct sem_insn *insn = insn_of(changed, values, at);
		uint32_t made = insn->writes & way.regs;

		way.regs &= ~made;
		if (made || (changed->stores[at] && take_store(&way, changed->stores[at])))
			rest_on(changed, &way, at, insn);
	}
	for (size_t i = 0; i < way.nr; i++)
		add_word(changed, way.pending[i]);
}

/* --- Polled ------------------------------------------------------------- */

/* SDM vol. 2, PAUSE: made for loops that wait for another processor. */
static bool is_pause(const struct sem_insn *insn)
{
	return insn->length_bytes == 2 && insn->bytes[0] == 0xf3 && insn->bytes[1] == 0x90;
}

/*
 * Nothing but memory is another from one round, the steps from @at to @end, to the next: each
 * register that it reads first it leaves as it was, and stores are pushes.
 */
static bool is_poll(const struct changed *changed, const struct reg_values *values, size_t at,
		    size_t end)
{
	uint32_t first_read = 0, written = 0;
	bool stores = false;

	for (; at < end; at++) {
		const struct sem_insn *insn = insn_of(changed, values, at);

		if (is_cut(changed, values, at))
			return false;
		if (is_pause(insn))
			return true;
		first_read |= insn->reads & ~written;
		written |= insn->writes;
		stores |= insn->store_bytes && !reg_values_pushes(insn);
		stores |= reg_values_is_interrupt(insn);
	}
	return !stores && !(first_read & written & ~(1U << SEM_RSP));
}

static bool is_stored(const struct changed *changed, size_t at, size_t end, uint64_t address)
{
	for (; at < end; at++)
		if (changed->stores[at] / WORD_BYTES == address / WORD_BYTES)
			return true;
	return false;
}

void changed_find_polls(struct changed *changed, const struct reg_values *values)
{
	for (size_t at = 0; at < changed->nr_steps; at++) {
		uint32_t number = values->steps[changed->first + at];
		uint64_t address = changed->loads[at];
		/* From 1. */
		size_t before = changed->newest[number];

		changed->newest[number] = (uint32_t)at + 1;
		if (!address || !before || at - (before - 1) > MAX_ROUND ||
		    changed->loads[before - 1] != address ||
		    changed_has(changed, address, 1) ||
		    is_stored(changed, before - 1, at, address))
			continue;
		if (is_poll(changed, values, before - 1, at))
			add_word(changed, address);
	}
	for (size_t at = 0; at < changed->nr_steps; at++)
		changed->newest[values->steps[changed->first + at]] = 0;
}
