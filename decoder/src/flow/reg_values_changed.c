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

/** struct places - of words of memory, the first few */
struct places {
	uint64_t list[MAX_PENDING];
	size_t nr;
};

/**
 * struct way - what a step rests on: @regs, and the words at @pending
 * @stored: words that this thread has stored to before it has loaded them.
 * @copies: words that this thread has stored @regs to: what they hold later says what these held.
 */
struct way {
	uint32_t regs;
	struct places pending;
	struct places stored;
	struct places copies;
};

/* False: there are too many. */
static bool add_place(struct places *places, uint64_t address)
{
	if (places->nr == MAX_PENDING)
		return false;
	places->list[places->nr++] = address;
	return true;
}

/* Nothing is likely of @places; false: of none of them was anything. */
static bool blame(struct changed *changed, const struct places *places)
{
	size_t nr = changed->words.nr;

	for (size_t i = 0; i < places->nr; i++)
		add_word(changed, places->list[i]);
	return changed->words.nr != nr;
}

/* The step stores to a word that is looked for: that one is of this thread. */
static bool take_store(struct way *way, const struct sem_insn *insn, uint64_t address)
{
	struct places *pending = &way->pending;
	size_t nr = 0;

	for (size_t i = 0; i < pending->nr; i++) {
		if (pending->list[i] / WORD_BYTES != address / WORD_BYTES)
			pending->list[nr++] = pending->list[i];
		/* No compiler takes the address of what is pushed. */
		else if (!reg_values_pushes(insn))
			(void)add_place(&way->stored, pending->list[i]);
	}
	if (nr == pending->nr)
		return false;
	pending->nr = nr;
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
	if (address && !add_place(&way->pending, address))
		add_word(changed, address);
}

/* @regs is what is looked for of the registers in front of the step. */
static void note_copy(const struct changed *changed, struct way *way, size_t at,
		      const struct sem_insn *insn, uint32_t regs)
{
	if (changed->stores[at] && !reg_values_pushes(insn) && value_regs(insn) & regs)
		(void)add_place(&way->copies, changed->stores[at]);
}

/* Back to the words that what is at the step @at rests on. */
static void look_back(struct changed *changed, const struct reg_values *values, struct way *way,
		      size_t at)
{
	size_t end = at > MAX_WAY ? at - MAX_WAY : 0;

	while (at-- > end && (way->regs || way->pending.nr) && !is_cut(changed, values, at)) {
		const struct sem_insn *insn = insn_of(changed, values, at);
		uint32_t made = insn->writes & way->regs;

		note_copy(changed, way, at, insn, way->regs & ~made);
		way->regs &= ~made;
		if (made || (changed->stores[at] && take_store(way, insn, changed->stores[at])))
			rest_on(changed, way, at, insn);
	}
}

/* On to where @regs, as they are in front of the step @at, are stored. */
static void look_ahead(const struct changed *changed, const struct reg_values *values,
		       struct way *way, size_t at, uint32_t regs)
{
	size_t end = at + MAX_WAY < changed->nr_steps ? at + MAX_WAY : changed->nr_steps;

	for (; at < end && regs && !is_cut(changed, values, at); at++) {
		const struct sem_insn *insn = insn_of(changed, values, at);

		note_copy(changed, way, at, insn, regs);
		regs &= ~insn->writes;
	}
}

/*
 * First the words that it rests on, which others have written.  If there are none, what this thread
 * has stored was right, and a store to an unknown address has replaced it, before the load; or
 * after that store, and what was learned of the word later does not hold for what was stored.
 */
void changed_blame(struct changed *changed, const struct reg_values *values, size_t step,
		   uint32_t regs)
{
	size_t at = step - changed->first;
	const struct sem_insn *insn = insn_of(changed, values, at);
	struct way way = { .regs = regs };

	rest_on(changed, &way, at, insn);
	if (changed->stores[at] && !reg_values_pushes(insn))
		(void)add_place(&way.copies, changed->stores[at]);
	regs = way.regs;
	look_back(changed, values, &way, at);
	look_ahead(changed, values, &way, at, regs);
	if (!blame(changed, &way.pending) && !blame(changed, &way.stored))
		(void)blame(changed, &way.copies);
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
