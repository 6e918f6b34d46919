// SPDX-License-Identifier: GPL-2.0-or-later
/* The steps, one after the other as they ran, and the versions that they make. */
#include "flow/reg_values_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/grow.h"

#define NO_PLACE	UINT32_MAX
/* 16 MiB of ring have some 5 million instructions. */
#define MAX_STEPS	BOUND(1U << 25, 4096)

/* Where interrupts store an error code, and where they have a stack of their own. */
bool reg_values_has_error_code(uint8_t vector)
{
	static const uint32_t vectors = 1U << 8 | 1U << 10 | 1U << 11 | 1U << 12 | 1U << 13 |
		1U << 14 | 1U << 17 | 1U << 21 | 1U << 29 | 1U << 30;

	return vector < 32 && vectors >> vector & 1;
}

/* ist_idts[] of arch/x86/kernel/idt.c: #DB, NMI, #DF, #MC, #VC. */
bool reg_values_has_own_stack(uint8_t vector)
{
	return vector == 1 || vector == 2 || vector == 8 || vector == 18 || vector == 29;
}

struct reg_values *reg_values_new(void)
{
	struct reg_values *values = calloc(1, sizeof(*values));

	if (!values)
		return NULL;
	values->insns = calloc(1024, sizeof(values->insns[0]));
	values->room_insns = 1024;
	values->nr_insns = 1;
	if (!values->insns || !reg_values_cut(values, REG_VALUES_BEGIN)) {
		reg_values_free(values);
		return NULL;
	}
	return values;
}

void reg_values_constants(struct reg_values *values, reg_values_constant_fn fn, void *arg)
{
	values->constant = fn;
	values->constant_arg = arg;
}

void reg_values_free(struct reg_values *values)
{
	if (!values)
		return;
	free(values->insns);
	free(values->places);
	free(values->steps);
	free(values->versions);
	free(values->parts);
	free(values->marks);
	free(values->likely);
	likely_free(values->pass);
	free(values);
}

static bool new_version(struct reg_values *values, uint32_t prev)
{
	if (!grow(&values->versions, sizeof(values->versions[0]), values->nr_versions,
		  &values->room_versions))
		return false;
	values->versions[values->nr_versions++] = (struct version){ .prev = prev };
	return true;
}

static bool add_step(struct reg_values *values, uint32_t number)
{
	struct sem_insn *insn = &values->insns[number];

	if (values->nr_steps == MAX_STEPS ||
	    !grow(&values->steps, sizeof(values->steps[0]), values->nr_steps, &values->room_steps))
		return false;
	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++) {
		if (!(insn->writes & 1U << reg))
			continue;
		if (!new_version(values, values->current[reg]))
			return false;
		values->current[reg] = (uint32_t)values->nr_versions - 1;
	}
	for (uint32_t i = 0; i < reg_values_nr_words(insn); i++)
		if (!new_version(values, 0))
			return false;
	values->steps[values->nr_steps++] = number;
	return true;
}

bool reg_values_cut(struct reg_values *values, enum reg_values_why why)
{
	struct part part = { .first_step = (uint32_t)values->nr_steps,
			     .first_version = (uint32_t)values->nr_versions, .why = why };

	values->insns[STEP_CUT] = (struct sem_insn){ .op = SEM_CUT, .base = SEM_NO_REG,
		.index = SEM_NO_REG, .writes = (1U << SEM_NR_REGS) - 1,
		.store_bytes = SEM_ANY_BYTES };
	if (!grow(&values->parts, sizeof(values->parts[0]), values->nr_parts, &values->room_parts))
		return false;
	values->parts[values->nr_parts++] = part;
	return add_step(values, STEP_CUT);
}

static uint64_t hash_of(uint64_t ip, size_t nr)
{
	return (ip * 0x9e3779b97f4a7c15ULL >> 20) & (nr - 1);
}

static bool grow_places(struct reg_values *values)
{
	size_t nr = values->nr_places ? 2 * values->nr_places : 4096;
	uint32_t *places = calloc(nr, sizeof(*places));

	if (!places)
		return false;
	for (uint32_t i = 1; i < values->nr_insns; i++) {
		uint64_t at = hash_of(values->insns[i].ip, nr);

		while (places[at])
			at = (at + 1) & (nr - 1);
		places[at] = i;
	}
	free(values->places);
	values->places = places;
	values->nr_places = nr;
	return true;
}

/* No interrupt, which has no bytes, and nothing that was begun and not done. */
static bool is_executed(const struct sem_insn *insn)
{
	return insn->length_bytes && insn->cc != BEGUN;
}

/* Interrupts and pauses have no bytes; the condition of an interrupt is its vector. */
static bool is_same(const struct sem_insn *a, const struct sem_insn *b)
{
	return a->ip == b->ip && a->op == b->op && a->cc == b->cc && a->writes == b->writes &&
	       a->length_bytes == b->length_bytes && !memcmp(a->bytes, b->bytes, a->length_bytes);
}

const struct sem_insn *reg_values_known(const struct reg_values *values, uint64_t ip)
{
	uint64_t at = values->nr_places ? hash_of(ip, values->nr_places) : 0;

	if (!values->nr_places)
		return NULL;
	for (; values->places[at]; at = (at + 1) & (values->nr_places - 1)) {
		const struct sem_insn *insn = &values->insns[values->places[at]];

		if (insn->ip == ip && is_executed(insn))
			return insn;
	}
	return NULL;
}

/* The number of @insn, which is added if it is new; 0: out of memory. */
static uint32_t number_of(struct reg_values *values, const struct sem_insn *insn)
{
	uint64_t at;

	if (2 * values->nr_insns >= values->nr_places && !grow_places(values))
		return 0;
	at = hash_of(insn->ip, values->nr_places);
	for (; values->places[at]; at = (at + 1) & (values->nr_places - 1))
		if (is_same(&values->insns[values->places[at]], insn))
			return values->places[at];
	if (!grow(&values->insns, sizeof(values->insns[0]), values->nr_insns, &values->room_insns))
		return 0;
	values->insns[values->nr_insns] = *insn;
	values->places[at] = (uint32_t)values->nr_insns;
	return (uint32_t)values->nr_insns++;
}

uint32_t reg_values_insn(struct reg_values *values, const struct sem_insn *insn)
{
	uint32_t number = number_of(values, insn);

	if (!number || !add_step(values, number))
		return NO_PLACE;
	return (uint32_t)values->nr_steps - 1;
}

uint32_t reg_values_switch(struct reg_values *values, const struct sem_insn *insn)
{
	struct sem_insn changing = *insn;

	changing.cc = OTHERS;
	return reg_values_insn(values, &changing);
}

bool reg_values_begun(struct reg_values *values, const struct sem_insn *insn)
{
	struct sem_insn begun = *insn;

	begun.op = SEM_OTHER;
	begun.cc = BEGUN;
	if (begun.store_bytes)
		begun.store_bytes = SEM_ANY_BYTES;
	return reg_values_insn(values, &begun) != NO_PLACE;
}

/* SDM vol. 3A, table 6-1: of a fault the instruction, of an interrupt the next one is stored. */
static bool stores_ip(int vector)
{
	const uint32_t faults = 1U << 0 | 1U << 6 | 1U << 13 | 1U << 14;

	return vector >= 32 || faults >> vector & 1;
}

static struct known *word_of_interrupt(struct reg_values *values, unsigned int word)
{
	return &values->versions[values->nr_versions - NR_INTERRUPT_WORDS + word].known;
}

/* As an instruction of no length; its condition is the vector. */
bool reg_values_interrupt(struct reg_values *values, uint64_t ip, int vector)
{
	struct sem_insn insn;

	if (vector < 0 || vector > UINT8_MAX)
		return reg_values_cut(values, REG_VALUES_BREAK);
	memset(&insn, 0, sizeof(insn));
	insn.ip = ip;
	insn.op = SEM_OTHER;
	insn.cc = (uint8_t)vector;
	insn.base = insn.index = SEM_NO_REG;
	insn.writes = 1U << SEM_RSP | 1U << SEM_FLAGS;
	insn.store_bytes = IRET_FRAME_BYTES;
	if (reg_values_insn(values, &insn) == NO_PLACE)
		return false;
	if (stores_ip(vector))
		*word_of_interrupt(values, INTERRUPT_RIP) = known_all(ip);
	return true;
}

void reg_values_error_code(struct reg_values *values, uint64_t error_code)
{
	const struct sem_insn *insn = reg_values_insn_at(values, values->nr_steps - 1);

	if (reg_values_is_interrupt(insn) && reg_values_has_error_code(insn->cc))
		*word_of_interrupt(values, INTERRUPT_ERROR) = known_all(error_code);
}

/* As a jump of no length. */
bool reg_values_pause(struct reg_values *values, uint64_t ip, uint32_t writes, bool others)
{
	struct sem_insn insn;

	memset(&insn, 0, sizeof(insn));
	insn.ip = ip;
	insn.op = SEM_JMP;
	insn.cc = others ? OTHERS : 0;
	insn.base = insn.index = SEM_NO_REG;
	insn.writes = writes;
	return reg_values_insn(values, &insn) != NO_PLACE;
}

void reg_values_anchor(struct reg_values *values, enum sem_reg reg, struct known known)
{
	reg_values_anchor_version(values, values->current[reg], known);
}

uint32_t reg_values_version(const struct reg_values *values, enum sem_reg reg)
{
	return values->current[reg];
}

void reg_values_anchor_version(struct reg_values *values, uint32_t version, struct known known)
{
	values->versions[version].known = known;
}
