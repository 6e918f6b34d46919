// SPDX-License-Identifier: GPL-2.0-or-later
/* Which instruction has stored to memory, and what. */
#include "flow/origin_impl.h"

#include "code/code.h"

static bool is_in_stack(const struct origin_question *question, uint64_t address)
{
	uint64_t mask = ~(question->stack_bytes - 1);

	return address && question->sp && (address & mask) == (question->sp & mask);
}

bool origin_stores(const struct sem_insn *insn)
{
	return insn->store_bytes || insn->op == SEM_PUSH || insn->op == SEM_CALL;
}

/*
 * SDM vol. 2, BTS: a bit's number in a register goes beyond the word at *@address, which moves
 * there.
 */
static uint64_t nr_of_bit(const struct reg_values_step *step, uint64_t *address,
			  enum origin_class *ret)
{
	const struct sem_insn *insn = step->insn;
	enum origin_class class;
	struct known nr = origin_known(&step->at, insn->operands[1].reg, false, &class);
	unsigned int nr_bits = insn->operand_bytes * 8U;
	int64_t bit = nr_bits == 64 ? (int64_t)nr.value :
		      nr_bits == 32 ? (int32_t)nr.value : (int16_t)nr.value;

	*ret = origin_worse(*ret, class);
	*address += (uint64_t)((bit - (int64_t)((uint64_t)bit % nr_bits)) / 8);
	return *ret == ORIGIN_UNKNOWN ? 0 : insn->operand_bytes;
}

static bool is_bit_of_register(const struct sem_insn *insn)
{
	return (insn->op == SEM_BTS || insn->op == SEM_BTR || insn->op == SEM_BTC) &&
	       insn->operands[0].kind == SEM_MEMORY && insn->operands[1].kind == SEM_REGISTER;
}

/* How often a string instruction stores; false: not known. */
static bool nr_repeats(const struct reg_values_step *step, uint64_t *nr, enum origin_class *ret)
{
	enum origin_class class = ORIGIN_CERTAIN;

	*nr = step->insn->repeats ? origin_known(&step->at, SEM_RCX, false, &class).value : 1;
	*ret = origin_worse(*ret, class);
	return class != ORIGIN_UNKNOWN && *nr && *nr <= UINT32_MAX;
}

/*
 * The lowest address of @nr elements from @reg on.  SDM vol. 1, "DF Flag": going down is rare, so up
 * is likely.
 */
static uint64_t string_at(const struct reg_values_step *step, uint8_t reg, uint64_t nr,
			  enum origin_class *ret)
{
	struct known flags = step->at.certain.before[SEM_FLAGS];
	enum origin_class class;
	uint64_t at = origin_known(&step->at, reg, false, &class).value;

	if (!(flags.mask & SEM_DF))
		class = origin_worse(class, ORIGIN_LIKELY);
	*ret = origin_worse(*ret, class);
	return flags.mask & flags.value & SEM_DF ? at - (nr - 1) * step->insn->operand_bytes : at;
}

/* How many bytes from where; 0: not known. */
uint64_t origin_nr_stored(const struct reg_values *values, const struct reg_values_step *step,
			  uint64_t *address, enum origin_class *ret)
{
	const struct sem_insn *insn = step->insn;
	struct known to;
	uint64_t nr;

	if (insn->op != SEM_STRING) {
		to = origin_address(values, step, true, ret);
		*address = to.value;
		if (insn->op == SEM_PUSH || insn->op == SEM_CALL)
			return *ret == ORIGIN_UNKNOWN ? 0 : WORD_BYTES;
		if (is_bit_of_register(insn))
			return nr_of_bit(step, address, ret);
		return *ret == ORIGIN_UNKNOWN || insn->store_bytes == SEM_ANY_BYTES ?
			       0 : insn->store_bytes;
	}
	*ret = ORIGIN_CERTAIN;
	if (!nr_repeats(step, &nr, ret))
		return 0;
	*address = string_at(step, SEM_RDI, nr, ret);
	return *ret == ORIGIN_UNKNOWN ? 0 : nr * insn->operand_bytes;
}

bool origin_overlaps(const struct origin_target *target, uint64_t address, uint64_t nr_bytes)
{
	return address - target->address < target->nr_bytes ||
	       target->address - address < nr_bytes;
}

/* What was stored is not what was loaded. */
static bool is_other(const struct search *search, struct known stored)
{
	return search->expected.mask & stored.mask & (search->expected.value ^ stored.value);
}

/* Whole words that an instruction makes such a constant of are rare from here on. */
#define MIN_CONSTANT 0x10

static bool is_rare_constant(const struct search *search, const struct sem_insn *insn)
{
	return search->expected.value >= MIN_CONSTANT && insn->op == SEM_MOV &&
	       insn->operands[1].kind == SEM_IMMEDIATE && insn->store_bytes == WORD_BYTES;
}

/* Is it that, rather than a store of what is not known?  A pointer is stored to many places. */
static bool prefers_suspect(const struct search *search)
{
	return search->has_suspect && (!search->target.has_address ||
				       is_rare_constant(search, search->suspect.insn));
}

/* @operand is what was stored, all of what was loaded. */
static void store_of(struct search *search, const struct reg_values_step *step,
		     const struct sem_operand *operand, struct origin_hop *hop)
{
	uint64_t width = known_bits(search->target.nr_bytes * 8U);
	struct known stored = known_none();

	if (operand->kind == SEM_IMMEDIATE)
		stored = known_all(operand->value);
	else if (operand->kind == SEM_REGISTER)
		stored = origin_known(&step->at, operand->reg, false, &hop->value_class);
	if (operand->kind == SEM_IMMEDIATE)
		hop->value_class = ORIGIN_CERTAIN;
	stored.mask &= width;
	stored.value &= width;
	hop->value = stored.value;
	/* What is the same place by its number was stored to by an address, too: see suspect(). */
	if (is_other(search, stored) ||
	    (prefers_suspect(search) && (stored.mask & width) != width)) {
		hop->kind = ORIGIN_CHANGED;
		search->done = true;
	} else if (operand->kind == SEM_REGISTER && !operand->shift) {
		origin_follow(search, operand->reg);
	} else if (operand->kind == SEM_IMMEDIATE) {
		hop->kind = ORIGIN_STORED;
		search->done = true;
	} else {
		hop->kind = ORIGIN_NO_RULE;
		search->done = true;
	}
}

/* Of a copy what is looked for was where it was copied from; of a fill, in RAX. */
static bool store_string(struct search *search, const struct reg_values_step *step,
			 struct origin_hop *hop, uint64_t address, uint64_t nr_bytes)
{
	const struct sem_insn *insn = step->insn;
	uint64_t offset = search->target.address - address;
	enum origin_class class = ORIGIN_CERTAIN;
	uint64_t from;

	if (insn->op != SEM_STRING || !insn->operand_bytes || !search->target.has_address ||
	    offset >= nr_bytes || search->target.nr_bytes > nr_bytes - offset)
		return false;
	if (!(insn->reads >> SEM_RSI & 1)) {
		origin_follow(search, SEM_RAX);
		return true;
	}
	from = string_at(step, SEM_RSI, nr_bytes / insn->operand_bytes, &class);
	if (class == ORIGIN_UNKNOWN)
		return false;
	hop->kind = ORIGIN_COPIED;
	hop->address = from + offset;
	search->class = origin_worse(search->class, class);
	search->unsure = search->has_suspect = false;
	search->sought = step->place;
	search->target.address = from + offset;
	search->target.has_number = false;
	return true;
}

/*
 * Of an address whose upper half is stored apart that half is the bad one, if it is neither the
 * kernel's nor nothing.  Then the store of the lower half is passed.
 */
static bool pass_lower(struct search *search, const struct reg_values_step *step,
		       uint64_t address, uint64_t nr_bytes, enum origin_class class)
{
	uint64_t covered = address + nr_bytes - search->target.address;
	uint64_t rest = search->expected.value >> (covered * 8 % 64);

	if (step->insn->op != SEM_MOV || !search->target.has_address ||
	    address > search->target.address ||
	    covered >= search->target.nr_bytes || search->target.nr_bytes != WORD_BYTES ||
	    search->expected.mask != UINT64_MAX || !rest ||
	    code_is_kernel(search->expected.value))
		return false;
	search->class = origin_worse(search->class, class);
	search->target.address += covered;
	search->target.nr_bytes -= (uint8_t)covered;
	search->target.has_number = false;
	search->expected = (struct known){ .value = rest,
					   .mask = known_bits(search->target.nr_bytes * 8U) };
	return true;
}

/* Some of what was loaded, or of what was stored, or with what was there before. */
static void store_other(struct search *search, const struct reg_values_step *step, bool is_all,
			struct origin_hop *hop)
{
	hop->kind = step->insn->op == SEM_MOV && !is_all ? ORIGIN_PART : ORIGIN_NO_RULE;
	search->done = true;
}

static void found_store(struct search *search, const struct reg_values_step *step,
			uint64_t address, uint64_t nr_bytes, enum origin_class class)
{
	const struct sem_insn *insn = step->insn;
	bool own = is_in_stack(search->question, search->target.address);
	struct origin_hop *hop;
	bool is_all;

	if (pass_lower(search, step, address, nr_bytes, class))
		return;
	search->class = origin_worse(search->class, class);
	/* To what was pushed no pointer is made. */
	if (search->unsure || !own ||
	    (search->class == ORIGIN_CERTAIN && insn->op != SEM_PUSH && insn->op != SEM_CALL &&
	     !origin_is_private(search)))
		search->class = origin_worse(search->class, ORIGIN_LIKELY);
	hop = origin_add(search, ORIGIN_STORED, step);
	hop->has_address = search->target.has_address;
	hop->address = search->target.address;
	if (search->done)
		return;
	is_all = address == search->target.address && nr_bytes >= search->target.nr_bytes;
	if (is_all && (insn->op == SEM_MOV || insn->op == SEM_PUSH))
		store_of(search, step, &insn->operands[insn->op == SEM_MOV], hop);
	else if (is_all && insn->op == SEM_XCHG)
		store_of(search, step, &insn->operands[insn->operands[0].kind == SEM_MEMORY], hop);
	else if (!store_string(search, step, hop, address, nr_bytes))
		store_other(search, step, is_all, hop);
}

/* By its number: whatever the address is, it is @search->target's. */
static uint64_t nr_numbered(const struct search *search, const struct reg_values_step *step)
{
	const struct sem_insn *insn = step->insn;
	uint64_t nr_bytes = insn->store_bytes ? insn->store_bytes : WORD_BYTES;
	struct origin_target place = { 0 };

	if (!search->target.has_number || insn->op == SEM_STRING || nr_bytes == SEM_ANY_BYTES)
		return 0;
	origin_set_number(search, step, true, &place);
	return place.has_number && place.root == search->target.root &&
	       place.offset == search->target.offset ? nr_bytes : 0;
}

/* What each word holds that STOS fills with the low @nr_bytes of RAX. */
static uint64_t filled(uint64_t rax, unsigned int nr_bytes)
{
	uint64_t value = rax & known_bits(nr_bytes * 8);

	for (unsigned int nr = nr_bytes; nr && nr < WORD_BYTES; nr *= 2)
		value |= value << nr * 8;
	return value;
}

/* The value that @step stores, if it is of the kind that stores what was in one place. */
static uint64_t value_stored(const struct search *search, const struct reg_values_step *step,
			     enum origin_class *ret)
{
	const struct sem_insn *insn = step->insn;
	const struct sem_operand *from = &insn->operands[1];
	bool is_fill = insn->op == SEM_STRING && insn->store_bytes &&
		       !(insn->reads >> SEM_RSI & 1);

	*ret = ORIGIN_CERTAIN;
	if (is_fill)
		return filled(origin_known(&step->at, SEM_RAX, false, ret).value,
			      insn->operand_bytes);
	if (insn->op != SEM_MOV || insn->segment || insn->store_bytes != search->target.nr_bytes)
		*ret = ORIGIN_UNKNOWN;
	else if (from->kind == SEM_REGISTER)
		return origin_known(&step->at, from->reg, false, ret).value;
	return from->value;
}

/* Objects that are filled as a whole are seldom larger. */
#define MAX_FILL_BYTES 4096

/* A fill whose length is not known begins below what was loaded, or there. */
static bool fills_towards(const struct search *search, const struct reg_values_step *step)
{
	const struct sem_insn *insn = step->insn;
	enum origin_class class;
	uint64_t from;

	if (insn->op != SEM_STRING || !insn->store_bytes || insn->reads >> SEM_RSI & 1 ||
	    !search->target.has_address)
		return false;
	from = origin_known(&step->at, SEM_RDI, false, &class).value;
	return class != ORIGIN_UNKNOWN && search->target.address - from < MAX_FILL_BYTES;
}

/* Does @step store what was loaded, and nobody knows where? */
static void suspect(struct search *search, const struct reg_values_step *step)
{
	enum origin_class class;
	uint64_t value;

	if (search->has_suspect ||
	    search->expected.mask != known_bits(search->target.nr_bytes * 8U) ||
	    (search->expected.value <= ORIGIN_MAX_COMMON && !fills_towards(search, step) &&
	     !is_rare_constant(search, step->insn)))
		return;
	value = value_stored(search, step, &class);
	if (class == ORIGIN_UNKNOWN || (value & search->expected.mask) != search->expected.value)
		return;
	search->has_suspect = true;
	search->suspect = (struct origin_hop){ .kind = ORIGIN_SUSPECT, .place = step->place,
		.insn = step->insn, .target = search->target, .value = search->expected.value,
		.value_class = class, .class = ORIGIN_UNKNOWN };
}

/* Where the chain is lost in memory. */
void origin_add_suspect(struct search *search)
{
	struct origin *origin = search->origin;
	enum origin_kind last;

	if (!search->has_suspect || !origin->nr || origin->nr == ORIGIN_MAX_HOPS)
		return;
	last = origin->hops[origin->nr - 1].kind;
	/* A value that is everywhere was there before, if no store to it is known. */
	if (last == ORIGIN_CHANGED ||
	    (last == ORIGIN_OLDER && (search->suspect.value > ORIGIN_MAX_COMMON ||
				      is_rare_constant(search, search->suspect.insn))))
		origin->hops[origin->nr++] = search->suspect;
}

/* At its place in the area of that: on no stack. */
static bool is_variable_of_cpu(const struct sem_insn *insn)
{
	return insn->segment && insn->base == SEM_NO_REG && insn->index == SEM_NO_REG;
}

void origin_stored(struct search *search, const struct reg_values_step *step)
{
	enum origin_class class;
	uint64_t address, nr_bytes = origin_nr_stored(search->values, step, &address, &class);
	uint64_t nr_by_number = nr_numbered(search, step);

	if (nr_by_number && !(nr_bytes && search->target.has_address)) {
		found_store(search, step, search->target.address, nr_by_number, ORIGIN_LIKELY);
	} else if (!nr_bytes || !search->target.has_address) {
		search->unsure |= !is_variable_of_cpu(step->insn);
		suspect(search, step);
	} else if (origin_overlaps(&search->target, address, nr_bytes)) {
		found_store(search, step, address, nr_bytes, class);
	}
}
