// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/reg_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/grow.h"

#define NO_PLACE	UINT32_MAX
/* 16 MiB of ring have some 5 million instructions. */
#define MAX_STEPS	BOUND(1U << 25, 4096)
/* Each makes more known; what is not by then is left unknown. */
#define MAX_PASSES	32

/* Words of a stack: more than a stack of 16 KiB has. */
#define NR_WORDS	4096

#define WORD_BYTES	8

/* SDM vol. 3A, "64-Bit Mode Stack Frame": aligned, and RIP, CS, RFLAGS, RSP, SS. */
#define FRAME_ALIGN_MASK	15ULL
#define FRAME_BYTES		40
#define FRAME_RSP_BYTES		24

/* The number of the one that is no instruction. */
#define STEP_CUT	0

/** struct version - what a register holds from one write to the next; @prev: before that write */
struct version {
	struct known known;
	uint32_t prev;
};

/** struct word - @version is what was pushed at @address; 0: nothing that is known */
struct word {
	uint64_t address;
	uint32_t version;
	uint32_t generation;
};

/** struct part - from one cut to the next; @dead: contradicted itself */
struct part {
	uint32_t first_step;
	uint32_t first_version;
	bool dead;
};

/**
 * struct reg_values - steps, as numbers of instructions; each instruction is there once
 * @insns: cut, and interrupts, are the first; @places: by a hash of their address, from 1.
 * @current: the newest version of each register.
 * @constant: NULL: no memory is read.
 * @at, @next: of the pass that is under way: versions before the step, and the next new one.
 */
struct reg_values {
	struct sem_insn *insns;
	size_t nr_insns, room_insns;
	uint32_t *places;
	size_t nr_places;
	uint32_t *steps;
	size_t nr_steps, room_steps;
	struct version *versions;
	size_t nr_versions, room_versions;
	struct part *parts;
	size_t nr_parts, room_parts;
	struct word words[NR_WORDS];
	uint32_t generation;
	size_t nr_words;
	uint32_t current[SEM_NR_REGS];
	uint32_t at[SEM_NR_REGS];
	uint32_t next;
	size_t step;
	size_t part;
	uint64_t nr_contradictions;
	reg_values_constant_fn constant;
	void *constant_arg;
};

/* --- Making ------------------------------------------------------------- */

/* Where interrupts store an error code, and where they have a stack of their own. */
static bool has_error_code(uint8_t vector)
{
	static const uint32_t vectors = 1U << 8 | 1U << 10 | 1U << 11 | 1U << 12 | 1U << 13 |
		1U << 14 | 1U << 17 | 1U << 21 | 1U << 29 | 1U << 30;

	return vector < 32 && vectors >> vector & 1;
}

/* ist_idts[] of arch/x86/kernel/idt.c: #DB, NMI, #DF, #MC, #VC. */
static bool has_own_stack(uint8_t vector)
{
	return vector == 1 || vector == 2 || vector == 8 || vector == 18 || vector == 29;
}

struct reg_values *reg_values_new(void)
{
	struct reg_values *values = calloc(1, sizeof(*values));

	if (!values)
		return NULL;
	values->generation = 1;
	values->insns = calloc(1024, sizeof(values->insns[0]));
	values->room_insns = 1024;
	values->nr_insns = 1;
	if (!values->insns || !reg_values_cut(values)) {
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
	free(values);
}

/* Does the step make a version of the word that it pushes? */
static bool pushes(const struct sem_insn *insn)
{
	return insn->op == SEM_PUSH || insn->op == SEM_CALL;
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
	if (pushes(insn) && !new_version(values, 0))
		return false;
	values->steps[values->nr_steps++] = number;
	return true;
}

bool reg_values_cut(struct reg_values *values)
{
	struct part part = { .first_step = (uint32_t)values->nr_steps,
			     .first_version = (uint32_t)values->nr_versions };

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

/* Of interrupts, which have no bytes, the condition is the vector. */
static bool is_same(const struct sem_insn *a, const struct sem_insn *b)
{
	return a->ip == b->ip && a->cc == b->cc && a->length_bytes == b->length_bytes &&
	       !memcmp(a->bytes, b->bytes, a->length_bytes);
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

/* As an instruction of no length; its condition is the vector. */
bool reg_values_interrupt(struct reg_values *values, uint64_t ip, int vector)
{
	struct sem_insn insn;

	if (vector < 0 || vector > UINT8_MAX)
		return reg_values_cut(values);
	memset(&insn, 0, sizeof(insn));
	insn.ip = ip;
	insn.op = SEM_OTHER;
	insn.cc = (uint8_t)vector;
	insn.base = insn.index = SEM_NO_REG;
	insn.writes = 1U << SEM_RSP | 1U << SEM_FLAGS;
	insn.store_bytes = FRAME_BYTES;
	return reg_values_insn(values, &insn) != NO_PLACE;
}

void reg_values_anchor(struct reg_values *values, enum sem_reg reg, struct known known)
{
	values->versions[values->current[reg]].known = known;
}

/* --- Words of the stack ------------------------------------------------- */

static void words_forget(struct reg_values *values)
{
	values->generation++;
	values->nr_words = 0;
}

static struct word *word_at(struct reg_values *values, uint64_t address)
{
	size_t at = hash_of(address, NR_WORDS);

	while (values->words[at].generation == values->generation &&
	       values->words[at].address != address)
		at = (at + 1) % NR_WORDS;
	return &values->words[at];
}

/* 0: not known. */
static uint32_t word_get(struct reg_values *values, struct known address)
{
	const struct word *word;

	if (address.mask != UINT64_MAX)
		return 0;
	word = word_at(values, address.value);
	return word->generation == values->generation ? word->version : 0;
}

static void word_set(struct reg_values *values, uint64_t address, uint32_t version)
{
	struct word *word;

	if (values->nr_words > NR_WORDS / 2)
		words_forget(values);
	word = word_at(values, address);
	values->nr_words += word->generation != values->generation;
	*word = (struct word){ address, version, values->generation };
}

static void words_overwrite(struct reg_values *values, uint64_t address, uint64_t nr_bytes)
{
	uint64_t end = address + nr_bytes;

	for (address &= ~(uint64_t)(WORD_BYTES - 1); address < end; address += WORD_BYTES) {
		struct word *word = word_at(values, address);

		if (word->generation == values->generation)
			word->version = 0;
	}
}

static void words_store(struct reg_values *values, const struct sem_insn *insn,
			const struct sem_state *state)
{
	struct known address = sem_address(insn, state);
	uint32_t word;

	/* A variable of this CPU, at its place in the area of that: on no stack. */
	if (insn->segment && insn->base == SEM_NO_REG && insn->index == SEM_NO_REG &&
	    insn->store_bytes <= WORD_BYTES)
		return;
	if (insn->segment || address.mask != UINT64_MAX || insn->store_bytes > 512 ||
	    address.value + insn->store_bytes < address.value) {
		words_forget(values);
		return;
	}
	word = word_get(values, address);
	words_overwrite(values, address.value, insn->store_bytes);
	/* A retpoline replaces the address that its call has pushed. */
	if (word && insn->op == SEM_MOV && insn->store_bytes == WORD_BYTES && !insn->disp &&
	    insn->base == SEM_RSP && insn->index == SEM_NO_REG &&
	    insn->operands[1].kind == SEM_REGISTER)
		word_set(values, address.value, values->at[insn->operands[1].reg]);
}

/* --- One step ----------------------------------------------------------- */

static struct known *known_of(struct reg_values *values, uint32_t version)
{
	return &values->versions[version].known;
}

static bool is_interrupt(const struct sem_insn *insn)
{
	return !insn->length_bytes && insn->op == SEM_OTHER;
}

static void apply_interrupt(const struct sem_insn *insn, struct sem_state *state)
{
	uint64_t nr_bytes = FRAME_BYTES + (has_error_code(insn->cc) ? WORD_BYTES : 0);
	struct known *before = state->before[SEM_RSP], *behind = state->behind[SEM_RSP], old;
	struct known aligned = { before->value & ~FRAME_ALIGN_MASK,
				 before->mask | FRAME_ALIGN_MASK };

	if (has_own_stack(insn->cc))
		return;
	(void)known_merge(behind, known_add(aligned, known_all(-nr_bytes), false),
			&state->contradiction);
	old = known_add(*behind, known_all(nr_bytes), false);
	old.mask &= ~FRAME_ALIGN_MASK;
	old.value &= old.mask;
	(void)known_merge(before, old, &state->contradiction);
}

static void words_interrupt(struct reg_values *values, const struct sem_insn *insn,
			    const struct sem_state *state, uint32_t rsp_before)
{
	const struct known *rsp = state->behind[SEM_RSP];
	uint64_t error = has_error_code(insn->cc) ? WORD_BYTES : 0;

	if (has_own_stack(insn->cc))
		return;
	if (rsp->mask != UINT64_MAX) {
		words_forget(values);
		return;
	}
	words_overwrite(values, rsp->value, FRAME_BYTES + error);
	word_set(values, rsp->value + error + FRAME_RSP_BYTES, rsp_before);
}

/* The version of the word that it loads; 0: not known. */
static uint32_t load_of(struct reg_values *values, const struct sem_insn *insn,
			const struct sem_state *state)
{
	struct known frame_rsp = known_all(FRAME_RSP_BYTES);

	switch (insn->op) {
	case SEM_POP:
	case SEM_RET:
		return word_get(values, *state->before[SEM_RSP]);
	case SEM_LEAVE:
		return word_get(values, *state->before[SEM_RBP]);
	case SEM_IRET:
		return word_get(values, known_add(*state->before[SEM_RSP], frame_rsp, false));
	default:
		return insn->load_bytes == WORD_BYTES && !insn->segment ?
		       word_get(values, sem_address(insn, state)) : 0;
	}
}

/* Stands a register in the address of a variable of this CPU, it is not known whose it is. */
static bool constant_load(const struct reg_values *values, const struct sem_insn *insn,
			  const struct sem_state *state, struct known *ret)
{
	struct known address = sem_address(insn, state);
	uint64_t value;

	if (!values->constant || !insn->load_bytes || insn->load_bytes > WORD_BYTES ||
	    address.mask != UINT64_MAX)
		return false;
	if (insn->segment && (insn->base != SEM_NO_REG || insn->index != SEM_NO_REG))
		return false;
	if (!values->constant(values->constant_arg, insn->segment, address.value,
			      insn->load_bytes, &value))
		return false;
	*ret = known_all(value);
	return true;
}

static void apply_iret(struct sem_state *state)
{
	if (!state->load)
		return;
	(void)known_merge(state->behind[SEM_RSP], *state->load, &state->contradiction);
	(void)known_merge(state->load, *state->behind[SEM_RSP], &state->contradiction);
}

static void apply(const struct sem_insn *insn, struct sem_state *state)
{
	if (is_interrupt(insn))
		apply_interrupt(insn, state);
	else if (insn->op == SEM_IRET)
		apply_iret(state);
	else
		sem_apply(insn, state);
}

static void words_follow(struct reg_values *values, const struct sem_insn *insn,
			 const struct sem_state *state, uint32_t pushed)
{
	const struct known *rsp = state->behind[SEM_RSP];

	if (is_interrupt(insn)) {
		words_interrupt(values, insn, state, values->at[SEM_RSP]);
	} else if (pushes(insn)) {
		if (rsp->mask != UINT64_MAX || rsp->value % WORD_BYTES)
			words_forget(values);
		else
			word_set(values, rsp->value, pushed);
	} else if (insn->store_bytes) {
		words_store(values, insn, state);
	}
}

/* --- Passes ------------------------------------------------------------- */

static const struct sem_insn *insn_at(const struct reg_values *values, size_t step)
{
	return &values->insns[values->steps[step]];
}

/* Where the processor went on behind @step; 0: not known. */
static uint64_t next_ip(const struct reg_values *values, size_t step)
{
	if (step + 1 == values->nr_steps || values->steps[step + 1] == STEP_CUT)
		return 0;
	return insn_at(values, step + 1)->ip;
}

static uint32_t nr_made(const struct sem_insn *insn)
{
	return (uint32_t)__builtin_popcount(insn->writes) + pushes(insn);
}

/* With versions from @first on for what it writes, and the ones in @before. */
static void link_step(struct reg_values *values, const struct sem_insn *insn,
		      const uint32_t *before, uint32_t first, struct sem_state *ret)
{
	*ret = (struct sem_state){ .next_ip = next_ip(values, values->step) };
	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++) {
		ret->before[reg] = known_of(values, before[reg]);
		ret->behind[reg] = insn->writes & 1U << reg ? known_of(values, first++) :
							      ret->before[reg];
	}
	if (pushes(insn))
		ret->store = known_of(values, first);
}

static void step_over(struct reg_values *values, const struct sem_insn *insn)
{
	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++)
		if (insn->writes & 1U << reg)
			values->at[reg] = values->next++;
	values->next += pushes(insn);
	values->step++;
}

/* What was derived in a part that contradicts itself rests on something wrong: none is kept. */
static void give_up(struct reg_values *values, struct part *part)
{
	size_t last = part + 1 < values->parts + values->nr_parts ? part[1].first_version :
								     values->nr_versions;

	if (!part->dead)
		values->nr_contradictions++;
	part->dead = true;
	for (size_t i = part->first_version; i < last; i++)
		values->versions[i].known = (struct known){ 0, 0 };
}

static void enter_part(struct reg_values *values)
{
	if (values->part + 1 < values->nr_parts &&
	    values->parts[values->part + 1].first_step == values->step)
		values->part++;
}

static void forward_step(struct reg_values *values)
{
	const struct sem_insn *insn = insn_at(values, values->step);
	struct part *part = &values->parts[values->part];
	struct known constant;
	struct sem_state state;
	uint32_t load;

	link_step(values, insn, values->at, values->next, &state);
	if (insn->op == SEM_CUT) {
		words_forget(values);
		return;
	}
	load = load_of(values, insn, &state);
	if (load)
		state.load = known_of(values, load);
	else if (constant_load(values, insn, &state, &constant))
		state.load = &constant;
	apply(insn, &state);
	words_follow(values, insn, &state, values->next + nr_made(insn) - 1);
	if (state.contradiction)
		give_up(values, part);
}

static void pass_forward(struct reg_values *values)
{
	reg_values_begin(values);
	words_forget(values);
	while (values->step < values->nr_steps) {
		enter_part(values);
		if (!values->parts[values->part].dead)
			forward_step(values);
		step_over(values, insn_at(values, values->step));
	}
}

static void backward_step(struct reg_values *values, uint32_t *before)
{
	const struct sem_insn *insn = insn_at(values, values->step);
	struct sem_state state;
	uint32_t made = values->next;

	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++)
		if (insn->writes & 1U << reg)
			before[reg] = values->versions[made++].prev;
	if (insn->op == SEM_CUT || values->parts[values->part].dead)
		return;
	link_step(values, insn, before, values->next, &state);
	apply(insn, &state);
	if (state.contradiction)
		give_up(values, &values->parts[values->part]);
}

static void pass_backward(struct reg_values *values)
{
	uint32_t before[SEM_NR_REGS];

	memcpy(before, values->current, sizeof(before));
	values->next = (uint32_t)values->nr_versions;
	values->part = values->nr_parts - 1;
	for (values->step = values->nr_steps; values->step-- > 0;) {
		values->next -= nr_made(insn_at(values, values->step));
		backward_step(values, before);
		if (values->step == values->parts[values->part].first_step && values->part)
			values->part--;
	}
}

static uint64_t nr_known_bits(const struct reg_values *values)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < values->nr_versions; i++)
		nr += (uint64_t)__builtin_popcountll(values->versions[i].known.mask);
	return nr;
}

void reg_values_run(struct reg_values *values)
{
	uint64_t nr_before = UINT64_MAX, nr = nr_known_bits(values);

	for (unsigned int pass = 0; pass < MAX_PASSES && nr != nr_before; pass++) {
		pass_forward(values);
		pass_backward(values);
		nr_before = nr;
		nr = nr_known_bits(values);
	}
	reg_values_begin(values);
}

void reg_values_begin(struct reg_values *values)
{
	values->step = 0;
	values->next = 0;
	values->part = 0;
	memset(values->at, 0, sizeof(values->at));
}

const struct sem_insn *reg_values_next(struct reg_values *values, uint32_t place,
				       struct reg_values_at *ret)
{
	const struct sem_insn *insn;
	uint32_t made;

	while (values->step < place)
		step_over(values, insn_at(values, values->step));
	insn = insn_at(values, place);
	made = values->next;
	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++) {
		ret->before[reg] = *known_of(values, values->at[reg]);
		ret->behind[reg] = insn->writes & 1U << reg ? *known_of(values, made++) :
							      ret->before[reg];
	}
	return insn;
}

uint64_t reg_values_nr_contradictions(const struct reg_values *values)
{
	return values->nr_contradictions;
}

uint64_t reg_values_ip(const struct reg_values *values, uint32_t place)
{
	return insn_at(values, place)->ip;
}
