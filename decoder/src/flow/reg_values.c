// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/reg_values_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/grow.h"

#define NO_PLACE	UINT32_MAX
/* 16 MiB of ring have some 5 million instructions. */
#define MAX_STEPS	BOUND(1U << 25, 4096)
/* Each makes more known; what is not by then is left unknown. */
#define MAX_PASSES	32
/* So many steps are read in some microseconds. */
#define MARK_STEPS	BOUND(4096, 4)

/* --- Making ------------------------------------------------------------- */

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
	if (reg_values_pushes(insn) && !new_version(values, 0))
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

/* Of interrupts, which have no bytes, the condition is the vector. */
static bool is_same(const struct sem_insn *a, const struct sem_insn *b)
{
	return a->ip == b->ip && a->cc == b->cc && a->length_bytes == b->length_bytes &&
	       !memcmp(a->bytes, b->bytes, a->length_bytes);
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

bool reg_values_begun(struct reg_values *values, const struct sem_insn *insn)
{
	struct sem_insn begun = *insn;

	begun.op = SEM_OTHER;
	begun.cc = BEGUN;
	if (begun.store_bytes)
		begun.store_bytes = SEM_ANY_BYTES;
	return reg_values_insn(values, &begun) != NO_PLACE;
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
	return reg_values_insn(values, &insn) != NO_PLACE;
}

void reg_values_anchor(struct reg_values *values, enum sem_reg reg, struct known known)
{
	values->versions[values->current[reg]].known = known;
}

/* --- Distances ---------------------------------------------------------- */

/* What is as far from one root as each other can be compared, whatever the root holds. */
static struct number distance_of(const struct reg_values *values, uint32_t version)
{
	const struct version *of = &values->versions[version];

	if (of->known.mask == UINT64_MAX)
		return (struct number){ 0, of->known.value };
	return of->root ? (struct number){ of->root, of->offset } : (struct number){ version, 0 };
}

static struct known root_known(const struct reg_values *values, struct number number)
{
	return number.root ? values->versions[number.root].known : known_none();
}

/* Of the operand in memory; false: of two registers that are not known, or not of 64 bits. */
static bool operand_distance(const struct reg_values *values, const struct sem_insn *insn,
			     struct number *ret)
{
	struct number base = { 0, 0 }, index = { 0, 0 };

	if (insn->segment || insn->address_bytes != WORD_BYTES)
		return false;
	if (insn->base != SEM_NO_REG)
		base = distance_of(values, values->at[insn->base]);
	if (insn->index != SEM_NO_REG)
		index = distance_of(values, values->at[insn->index]);
	if (index.root)
		return false;
	ret->root = base.root;
	ret->offset = base.offset + (uint64_t)insn->disp + index.offset * insn->scale;
	return true;
}

/* The version of @reg that the step makes, or has. */
static uint32_t behind(const struct reg_values *values, const struct sem_insn *insn,
		       unsigned int reg)
{
	uint32_t below = insn->writes & ((1U << reg) - 1);

	return insn->writes >> reg & 1 ? values->next + (uint32_t)__builtin_popcount(below) :
					 values->at[reg];
}

static void set_distance(struct reg_values *values, uint32_t version, struct number number)
{
	/* It would be its own root. */
	if (number.root == version)
		return;
	values->versions[version].root = number.root;
	values->versions[version].offset = number.offset;
}

static bool is_whole(const struct sem_operand *operand)
{
	return operand->kind == SEM_REGISTER && operand->bytes == WORD_BYTES;
}

/* The step makes @reg of @from and @by. */
static void move_distance(struct reg_values *values, const struct sem_insn *insn,
			  unsigned int reg, unsigned int from, uint64_t by)
{
	struct number number = distance_of(values, values->at[from]);

	number.offset += by;
	if (insn->writes >> reg & 1)
		set_distance(values, behind(values, insn, reg), number);
}

/* RSP of instructions of the stack. */
static void follow_rsp(struct reg_values *values, const struct sem_insn *insn)
{
	const struct sem_operand *operand = &insn->operands[0];

	if (reg_values_pushes(insn))
		move_distance(values, insn, SEM_RSP, SEM_RSP, -(uint64_t)WORD_BYTES);
	else if ((insn->op == SEM_POP && is_whole(operand) && operand->reg != SEM_RSP) ||
		 (insn->op == SEM_RET && !operand->kind))
		move_distance(values, insn, SEM_RSP, SEM_RSP, WORD_BYTES);
	else if (insn->op == SEM_LEAVE)
		move_distance(values, insn, SEM_RSP, SEM_RBP, WORD_BYTES);
}

static void follow_operand(struct reg_values *values, const struct sem_insn *insn)
{
	const struct sem_operand *to = &insn->operands[0], *from = &insn->operands[1];
	struct number number;

	if (insn->op == SEM_MOV && is_whole(from))
		move_distance(values, insn, to->reg, from->reg, 0);
	else if (insn->op == SEM_LEA && operand_distance(values, insn, &number))
		set_distance(values, behind(values, insn, to->reg), number);
	else if ((insn->op == SEM_ADD || insn->op == SEM_SUB) && from->kind == SEM_IMMEDIATE)
		move_distance(values, insn, to->reg, to->reg,
			      insn->op == SEM_ADD ? from->value : -from->value);
}

/* What the step makes is as far from another version as it says; @load: of load_of(). */
static void follow_distances(struct reg_values *values, const struct sem_insn *insn, uint32_t load)
{
	const struct sem_operand *to = &insn->operands[0];
	unsigned int reg = insn->op == SEM_LEAVE ? SEM_RBP : insn->op == SEM_IRET ? SEM_RSP :
			   is_whole(to) ? to->reg : SEM_NO_REG;

	follow_rsp(values, insn);
	if (reg == SEM_NO_REG || !(insn->writes >> reg & 1))
		return;
	if (load && (insn->op == SEM_POP || insn->op == SEM_MOV || reg != to->reg))
		set_distance(values, behind(values, insn, reg), distance_of(values, load));
	else if (is_whole(to))
		follow_operand(values, insn);
}

/* --- Words of the stack ------------------------------------------------- */

/* The most that RSP becomes less by: of kstack offsets a random number, of alignments few bytes. */
#define MAX_MOVE_BYTES	(1U << 16)

static void move_stack(struct reg_values *values, const struct sem_insn *insn)
{
	const struct sem_operand *to = &insn->operands[0], *by = &insn->operands[1];
	struct number than = distance_of(values, values->at[SEM_RSP]);
	uint64_t max = UINT64_MAX;
	struct known known;

	if (!is_whole(to) || to->reg != SEM_RSP)
		return;
	if (insn->op == SEM_SUB && is_whole(by)) {
		known = values->versions[values->at[by->reg]].known;
		max = known.value | ~known.mask;
	} else if (insn->op == SEM_AND && by->kind == SEM_IMMEDIATE) {
		max = ~by->value;
	}
	if (max < MAX_MOVE_BYTES)
		words_below(&values->words, behind(values, insn, SEM_RSP), than, than.offset);
}

static void words_operand(struct reg_values *values, const struct sem_insn *insn)
{
	bool of_register = insn->op == SEM_MOV && insn->store_bytes == WORD_BYTES &&
			   insn->operands[1].kind == SEM_REGISTER;
	struct number at;
	uint32_t word;

	/* A variable of this CPU, at its place in the area of that: on no stack. */
	if (insn->segment && insn->base == SEM_NO_REG && insn->index == SEM_NO_REG &&
	    insn->store_bytes <= WORD_BYTES)
		return;
	/* POP finds its operand by RSP as it is after the load: SDM vol. 2, POP. */
	if (insn->op == SEM_POP || insn->store_bytes > 512 ||
	    !operand_distance(values, insn, &at)) {
		words_forget(&values->words);
		return;
	}
	word = words_get(&values->words, at);
	words_store(&values->words, at, root_known(values, at), insn->store_bytes);
	/*
	 * A retpoline replaces the address that its call has pushed.  The stack for interrupts
	 * begins with where the other one ends.
	 */
	if ((word && of_register && !insn->disp && insn->base == SEM_RSP &&
	     insn->index == SEM_NO_REG) ||
	    (of_register && insn->operands[1].reg == SEM_RSP))
		words_set(&values->words, at, root_known(values, at),
			  values->at[insn->operands[1].reg]);
}

/* --- One step ----------------------------------------------------------- */

static struct known *known_of(struct reg_values *values, uint32_t version)
{
	if (values->is_likely && version >= values->likely_version)
		return &values->likely[version - values->likely_version];
	return &values->versions[version].known;
}

static void apply_interrupt(const struct sem_insn *insn, struct sem_state *state)
{
	uint64_t nr_bytes = IRET_FRAME_BYTES +
			    (reg_values_has_error_code(insn->cc) ? WORD_BYTES : 0);
	struct known *before = state->before[SEM_RSP], *behind = state->behind[SEM_RSP], old;
	struct known aligned = { before->value & ~IRET_ALIGN_MASK,
				 before->mask | IRET_ALIGN_MASK };

	if (reg_values_has_own_stack(insn->cc))
		return;
	(void)known_merge(behind, known_add(aligned, known_all(-nr_bytes), false),
			&state->contradiction);
	old = known_add(*behind, known_all(nr_bytes), false);
	old.mask &= ~IRET_ALIGN_MASK;
	old.value &= old.mask;
	(void)known_merge(before, old, &state->contradiction);
}

/* @insn: the interrupt, which has stored a frame below where the stack was. */
static void words_interrupt(struct reg_values *values, const struct sem_insn *insn)
{
	unsigned int error = reg_values_has_error_code(insn->cc) ? WORD_BYTES : 0;
	uint32_t version = behind(values, insn, SEM_RSP);
	struct number at = distance_of(values, version);
	struct number than = distance_of(values, values->at[SEM_RSP]);
	uint64_t rsp = than.offset;

	if (reg_values_has_own_stack(insn->cc))
		return;
	than.offset -= IRET_FRAME_BYTES + error;
	if (at.root == version)
		words_below(&values->words, version, than, rsp);
	words_store(&values->words, at, root_known(values, at), IRET_FRAME_BYTES + error);
	at.offset += error + IRET_RSP * WORD_BYTES;
	words_set(&values->words, at, root_known(values, at), values->at[SEM_RSP]);
}

/* @insn pushes version @pushed. */
static void words_push(struct reg_values *values, const struct sem_insn *insn, uint32_t pushed)
{
	struct number at = distance_of(values, behind(values, insn, SEM_RSP));

	words_store(&values->words, at, root_known(values, at), WORD_BYTES);
	words_set(&values->words, at, root_known(values, at), pushed);
	if (insn->op == SEM_PUSH && is_whole(&insn->operands[0]))
		set_distance(values, pushed,
			     distance_of(values, values->at[insn->operands[0].reg]));
}

/* The version of the word that it loads; 0: not known. */
static uint32_t load_of(const struct reg_values *values, const struct sem_insn *insn)
{
	struct number at = distance_of(values, values->at[SEM_RSP]);

	switch (insn->op) {
	case SEM_POP:
	case SEM_RET:
		return words_get(&values->words, at);
	case SEM_LEAVE:
		return words_get(&values->words, distance_of(values, values->at[SEM_RBP]));
	case SEM_IRET:
		at.offset += IRET_RSP * WORD_BYTES;
		return words_get(&values->words, at);
	default:
		return insn->load_bytes == WORD_BYTES && operand_distance(values, insn, &at) ?
			       words_get(&values->words, at) : 0;
	}
}

/* Stands a register in the address of a variable of this CPU, it is not known whose it is. */
bool reg_values_constant(const struct reg_values *values, const struct sem_insn *insn,
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

void reg_values_apply(const struct sem_insn *insn, struct sem_state *state)
{
	if (reg_values_is_interrupt(insn))
		apply_interrupt(insn, state);
	else if (insn->op == SEM_IRET)
		apply_iret(state);
	else
		sem_apply(insn, state);
}

static void words_follow(struct reg_values *values, const struct sem_insn *insn)
{
	if (reg_values_is_interrupt(insn))
		words_interrupt(values, insn);
	else if (reg_values_pushes(insn))
		words_push(values, insn, values->next + reg_values_nr_made(insn) - 1);
	else if (insn->store_bytes)
		words_operand(values, insn);
	else
		move_stack(values, insn);
}

/* --- Interrupts --------------------------------------------------------- */

/* Of these the hardware is the cause, and no code knows where they come: SDM vol. 3A, 6.2. */
#define FIRST_EXTERNAL_VECTOR 32

static void interrupt_begins(struct reg_values *values, const struct sem_insn *insn)
{
	struct open_interrupt *open = &values->open[values->nr_open];

	if (values->nr_open == NR_OPEN) {
		values->nr_open = 0;
		return;
	}
	values->nr_open++;
	open->ip = insn->ip;
	open->vector = insn->cc;
	memcpy(open->versions, values->at, sizeof(open->versions));
}

/*
 * What an interrupt from outside came upon goes on with the registers that it had: it could not
 * go on otherwise.  Exceptions are handled in ways that change them.
 */
static void interrupt_ends(struct reg_values *values, const struct sem_insn *insn,
			   struct sem_state *state)
{
	const struct open_interrupt *open;

	if (!values->nr_open)
		return;
	open = &values->open[--values->nr_open];
	if (open->ip != state->next_ip) {
		values->nr_open = 0;
		return;
	}
	if (open->vector < FIRST_EXTERNAL_VECTOR)
		return;
	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++) {
		struct known *before = known_of(values, open->versions[reg]);

		(void)known_merge(before, *state->behind[reg], &state->contradiction);
		(void)known_merge(state->behind[reg], *before, &state->contradiction);
		set_distance(values, behind(values, insn, reg),
			     distance_of(values, open->versions[reg]));
	}
}

/* --- Passes ------------------------------------------------------------- */

/* Where the processor went on behind @step; 0: not known. */
static uint64_t next_ip(const struct reg_values *values, size_t step)
{
	if (step + 1 == values->nr_steps || values->steps[step + 1] == STEP_CUT)
		return 0;
	return reg_values_insn_at(values, step + 1)->ip;
}

/* With versions from @first on for what it writes, and the ones in @before. */
void reg_values_link(struct reg_values *values, const struct sem_insn *insn,
		      const uint32_t *before, uint32_t first, struct sem_state *ret)
{
	*ret = (struct sem_state){ .next_ip = next_ip(values, values->step) };
	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++) {
		ret->before[reg] = known_of(values, before[reg]);
		ret->behind[reg] = insn->writes & 1U << reg ? known_of(values, first++) :
							      ret->before[reg];
	}
	if (reg_values_pushes(insn))
		ret->store = known_of(values, first);
}

void reg_values_step_over(struct reg_values *values, const struct sem_insn *insn)
{
	uint32_t writes = insn->writes;

	FOR_EACH_REG(reg, writes)
		values->at[reg] = values->next++;
	values->next += reg_values_pushes(insn);
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

void reg_values_start(struct reg_values *values, const uint32_t *at, struct sem_state *ret)
{
	*ret = (struct sem_state){ 0 };
	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++)
		ret->before[reg] = ret->behind[reg] = known_of(values, at[reg]);
}

void reg_values_meet(struct reg_values *values, const struct sem_insn *insn, uint32_t first,
		     struct sem_state *state)
{
	uint32_t writes = insn->writes;

	state->next_ip = next_ip(values, values->step);
	state->load = NULL;
	state->contradiction = false;
	FOR_EACH_REG(reg, writes)
		state->behind[reg] = known_of(values, first++);
	state->store = reg_values_pushes(insn) ? known_of(values, first) : NULL;
}

void reg_values_meet_back(struct reg_values *values, const struct sem_insn *insn,
			  const uint32_t *before, struct sem_state *state)
{
	uint32_t writes = insn->writes;

	reg_values_meet(values, insn, values->next, state);
	FOR_EACH_REG(reg, writes)
		state->before[reg] = known_of(values, before[reg]);
}

static void forward_step(struct reg_values *values, struct sem_state *state)
{
	const struct sem_insn *insn = reg_values_insn_at(values, values->step);
	struct part *part = &values->parts[values->part];
	uint32_t load, writes = insn->writes;
	struct known constant;

	reg_values_meet(values, insn, values->next, state);
	if (insn->op == SEM_CUT) {
		words_forget(&values->words);
	} else {
		load = load_of(values, insn);
		if (load)
			state->load = &values->versions[load].known;
		else if (reg_values_constant(values, insn, state, &constant))
			state->load = &constant;
		reg_values_apply(insn, state);
		follow_distances(values, insn, load);
		if (insn->op == SEM_IRET)
			interrupt_ends(values, insn, state);
		words_follow(values, insn);
		if (reg_values_is_interrupt(insn))
			interrupt_begins(values, insn);
	}
	if (state->contradiction)
		give_up(values, part);
	FOR_EACH_REG(reg, writes)
		state->before[reg] = state->behind[reg];
}

/* From the cut that begins the part, and makes all registers anew, to its end. */
static void pass_forward(struct reg_values *values, size_t end, struct sem_state *state)
{
	const struct part *part = &values->parts[values->part];

	values->step = part->first_step;
	values->next = part->first_version;
	values->nr_open = 0;
	words_forget(&values->words);
	while (values->step < end && !part->dead) {
		forward_step(values, state);
		reg_values_step_over(values, reg_values_insn_at(values, values->step));
	}
}

void reg_values_step_back(struct reg_values *values, const struct sem_insn *insn,
			  uint32_t *before)
{
	uint32_t writes = insn->writes, made;

	values->next -= reg_values_nr_made(insn);
	made = values->next;
	FOR_EACH_REG(reg, writes)
		before[reg] = values->versions[made++].prev;
}

static void backward_step(struct reg_values *values, uint32_t *before, struct sem_state *state)
{
	const struct sem_insn *insn = reg_values_insn_at(values, values->step);
	uint32_t writes = insn->writes;

	reg_values_step_back(values, insn, before);
	reg_values_meet_back(values, insn, before, state);
	if (insn->op != SEM_CUT)
		reg_values_apply(insn, state);
	if (state->contradiction)
		give_up(values, &values->parts[values->part]);
	FOR_EACH_REG(reg, writes)
		state->behind[reg] = state->before[reg];
}

/* From the end, where pass_forward() is, to the cut. */
static void pass_backward(struct reg_values *values, struct sem_state *state)
{
	const struct part *part = &values->parts[values->part];
	uint32_t before[SEM_NR_REGS];

	memcpy(before, values->at, sizeof(before));
	while (values->step > part->first_step && !part->dead) {
		values->step--;
		backward_step(values, before, state);
	}
}

static uint64_t nr_known_bits(const struct reg_values *values, size_t first, size_t last)
{
	uint64_t nr = 0;

	for (size_t i = first; i < last; i++)
		nr += (uint64_t)__builtin_popcountll(values->versions[i].known.mask);
	return nr;
}

/* No part knows of another: each begins with a cut. */
static void run_part(struct reg_values *values)
{
	const struct part *part = &values->parts[values->part], *after = part + 1;
	bool is_last = values->part + 1 == values->nr_parts;
	size_t end = is_last ? values->nr_steps : after->first_step;
	size_t last = is_last ? values->nr_versions : after->first_version;
	uint64_t nr_before, nr = UINT64_MAX;
	struct sem_state state = { 0 };

	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++)
		state.before[reg] = state.behind[reg] =
			&values->versions[part->first_version].known;
	for (unsigned int pass = 0; pass < MAX_PASSES; pass++) {
		pass_forward(values, end, &state);
		nr_before = nr;
		nr = nr_known_bits(values, part->first_version, last);
		/* Going back says no more of a step than going on does. */
		if (part->dead || nr == nr_before)
			return;
		pass_backward(values, &state);
		nr_before = nr;
		nr = nr_known_bits(values, part->first_version, last);
		if (part->dead || (pass && nr == nr_before))
			return;
	}
}

void reg_values_run(struct reg_values *values)
{
	for (values->part = 0; values->part < values->nr_parts; values->part++)
		run_part(values);
	reg_values_begin(values);
}

void reg_values_begin(struct reg_values *values)
{
	values->step = 0;
	values->next = 0;
	values->part = 0;
	memset(values->at, 0, sizeof(values->at));
}

static void make_marks(struct reg_values *values)
{
	size_t nr = values->nr_steps / MARK_STEPS + 1;

	values->marks = malloc(nr * sizeof(values->marks[0]));
	reg_values_begin(values);
	for (size_t i = 0; values->marks && i < nr; i++) {
		while (values->step < i * MARK_STEPS)
			reg_values_step_over(values, reg_values_insn_at(values, values->step));
		memcpy(values->marks[i].at, values->at, sizeof(values->at));
		values->marks[i].next = values->next;
	}
}

/* Without memory for marks, from the beginning. */
void reg_values_seek(struct reg_values *values, uint32_t place)
{
	const struct mark *mark;

	if (values->step <= place && place - values->step < MARK_STEPS)
		return;
	if (!values->marks)
		make_marks(values);
	reg_values_begin(values);
	if (!values->marks)
		return;
	mark = &values->marks[place / MARK_STEPS];
	values->step = place / MARK_STEPS * MARK_STEPS;
	values->next = mark->next;
	memcpy(values->at, mark->at, sizeof(values->at));
}

static void copy_tier(const struct sem_state *state, struct reg_values_tier *ret)
{
	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++) {
		ret->before[reg] = *state->before[reg];
		ret->behind[reg] = *state->behind[reg];
	}
}

/* What is certain and what is likely of the step that is under way. */
static void read_step(struct reg_values *values, const struct sem_insn *insn,
		      const uint32_t *before, uint32_t first, struct reg_values_at *ret)
{
	struct sem_state state;

	reg_values_link(values, insn, before, first, &state);
	copy_tier(&state, &ret->certain);
	values->is_likely = values->likely;
	reg_values_link(values, insn, before, first, &state);
	copy_tier(&state, &ret->likely);
	values->is_likely = false;
}

const struct sem_insn *reg_values_next(struct reg_values *values, uint32_t place,
				       struct reg_values_at *ret)
{
	const struct sem_insn *insn;

	while (values->step < place)
		reg_values_step_over(values, reg_values_insn_at(values, values->step));
	insn = reg_values_insn_at(values, place);
	read_step(values, insn, values->at, values->next, ret);
	return insn;
}

void reg_values_look(struct reg_values *values, struct reg_values_step *step)
{
	read_step(values, step->insn, step->before, step->first, &step->at);
}

void reg_values_back(struct reg_values *values, uint32_t place, reg_values_step_fn fn, void *arg)
{
	struct reg_values_step step;
	uint32_t before[SEM_NR_REGS], was_next = values->next;
	size_t was_step = values->step, was_part = values->part;
	bool is_within = values->is_back;

	values->is_back = true;
	memcpy(before, values->current, sizeof(before));
	values->next = (uint32_t)values->nr_versions;
	values->part = values->nr_parts - 1;
	for (values->step = values->nr_steps; values->step-- > 0;) {
		step.insn = reg_values_insn_at(values, values->step);
		reg_values_step_back(values, step.insn, before);
		step.cut = values->steps[values->step] == STEP_CUT;
		step.why = values->parts[values->part].why;
		step.place = (uint32_t)values->step;
		if (values->step == values->parts[values->part].first_step && values->part)
			values->part--;
		if (values->step > place)
			continue;
		step.before = before;
		step.first = values->next;
		if (!fn(arg, &step))
			break;
	}
	values->is_back = is_within;
	reg_values_begin(values);
	if (!is_within)
		return;
	values->step = was_step;
	values->next = was_next;
	values->part = was_part;
}

/* RSP or RBP leads to the word, and no operand that is shown; SEM_NO_REG: an operand does. */
static uint8_t hidden_base(const struct sem_insn *insn, bool is_store)
{
	if (!is_store && insn->op == SEM_LEAVE)
		return SEM_RBP;
	if (is_store ? reg_values_pushes(insn) || reg_values_is_interrupt(insn) :
		       insn->op == SEM_POP || insn->op == SEM_RET)
		return SEM_RSP;
	return SEM_NO_REG;
}

struct known reg_values_address(const struct reg_values *values, const struct sem_insn *insn,
				const struct reg_values_tier *tier, bool is_store)
{
	struct sem_state state = { 0 };

	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++) {
		state.before[reg] = (struct known *)&tier->before[reg];
		state.behind[reg] = (struct known *)&tier->behind[reg];
	}
	return reg_values_place(values, insn, &state, is_store);
}

struct known reg_values_place(const struct reg_values *values, const struct sem_insn *insn,
			      const struct sem_state *state, bool is_store)
{
	uint8_t base = hidden_base(insn, is_store);
	struct known address;

	if (base != SEM_NO_REG)
		return is_store ? *state->behind[base] : *state->before[base];
	address = sem_address(insn, state);
	if (!insn->segment)
		return address;
	return values->memory.has_area ?
		       known_add(address, known_all(values->memory.area), false) : known_none();
}

uint64_t reg_values_nr_contradictions(const struct reg_values *values)
{
	return values->nr_contradictions;
}

uint64_t reg_values_ip(const struct reg_values *values, uint32_t place)
{
	return reg_values_insn_at(values, place)->ip;
}

uint32_t reg_values_nr(const struct reg_values *values)
{
	return (uint32_t)values->nr_steps;
}

const struct sem_insn *reg_values_step_insn(const struct reg_values *values, uint32_t place)
{
	return reg_values_insn_at(values, place);
}
