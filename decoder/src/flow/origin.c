// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/origin.h"

#include "code/code.h"
#include "flow/value_numbers.h"

#define WORD_BYTES 8

/**
 * struct search - one way back
 * @target: what is looked for now.
 * @class: of the chain so far.
 * @begun: the first step back was seen.
 * @unsure: since the load stores to unknown addresses were passed, or what was not followed.
 * @expected: what was loaded, as far as it is known.
 * @suspect: if @has_suspect, the newest store of that value to an address that is not known.
 * @done: the chain has its end.
 */
struct search {
	struct reg_values *values;
	const struct origin_question *question;
	struct origin *origin;
	struct origin_target target;
	enum origin_class class;
	bool unsure;
	struct known expected;
	struct origin_hop suspect;
	bool has_suspect;
	bool begun;
	bool done;
};

static enum origin_class worse(enum origin_class a, enum origin_class b)
{
	return a > b ? a : b;
}

/* --- Values ------------------------------------------------------------- */

/* What is known of a register before or behind a step. */
static struct known reg_known(const struct reg_values_at *at, unsigned int reg, bool behind,
			      enum origin_class *ret)
{
	const struct reg_values_tier *certain = &at->certain, *likely = &at->likely;
	struct known known = behind ? certain->behind[reg] : certain->before[reg];

	*ret = ORIGIN_CERTAIN;
	if (known.mask == UINT64_MAX)
		return known;
	known = behind ? likely->behind[reg] : likely->before[reg];
	*ret = known.mask == UINT64_MAX ? ORIGIN_LIKELY : ORIGIN_UNKNOWN;
	return known;
}

static struct known address_of(const struct reg_values *values,
			       const struct reg_values_step *step, bool is_store,
			       enum origin_class *ret)
{
	struct known known = reg_values_address(values, step->insn, &step->at.certain, is_store);

	*ret = ORIGIN_CERTAIN;
	if (known.mask == UINT64_MAX)
		return known;
	known = reg_values_address(values, step->insn, &step->at.likely, is_store);
	*ret = known.mask == UINT64_MAX ? ORIGIN_LIKELY : ORIGIN_UNKNOWN;
	return known;
}

static bool is_in_stack(const struct origin_question *question, uint64_t address)
{
	uint64_t mask = ~(question->stack_bytes - 1);

	return address && question->sp && (address & mask) == (question->sp & mask);
}

/* --- The chain ---------------------------------------------------------- */

static struct origin_hop *add(struct search *search, enum origin_kind kind,
			      const struct reg_values_step *step)
{
	struct origin *origin = search->origin;
	struct origin_hop *hop = &origin->hops[origin->nr];

	*hop = (struct origin_hop){ .kind = kind, .place = step->place, .insn = step->insn,
				    .target = search->target, .class = search->class,
				    .value_class = ORIGIN_UNKNOWN };
	search->done = kind >= ORIGIN_CONSTANT;
	if (++origin->nr < ORIGIN_MAX_HOPS)
		return hop;
	hop->kind = ORIGIN_TOO_LONG;
	search->done = true;
	return hop;
}

/* With the value that the register has then. */
static struct origin_hop *add_reg(struct search *search, enum origin_kind kind,
				  const struct reg_values_step *step)
{
	struct origin_hop *hop = add(search, kind, step);

	hop->value = reg_known(&step->at, hop->target.reg, true, &hop->value_class).value;
	return hop;
}

static void follow(struct search *search, uint8_t reg)
{
	search->target = (struct origin_target){ .reg = reg, .nr_bytes = WORD_BYTES };
}

/* --- Loads -------------------------------------------------------------- */

static unsigned int nr_loaded(const struct sem_insn *insn)
{
	return insn->load_bytes && insn->load_bytes <= WORD_BYTES ? insn->load_bytes : WORD_BYTES;
}

static void set_number(const struct search *search, const struct reg_values_step *step,
		       bool is_store, struct origin_target *ret)
{
	struct value_number number;

	ret->has_number = search->question->numbers &&
			  value_numbers_address(search->question->numbers, step, is_store,
						&number) && number.root;
	if (!ret->has_number)
		return;
	ret->root = number.root;
	ret->offset = number.offset;
}

/* Does the value stay the same on this hop? */
static bool keeps_value(const struct origin_hop *hop)
{
	const struct sem_insn *insn = hop->insn;

	switch (hop->kind) {
	case ORIGIN_ASKED:
		return true;
	case ORIGIN_MOVED:
		return insn->op == SEM_MOV && insn->operands[0].bytes == WORD_BYTES;
	case ORIGIN_LOADED:
		return insn->op == SEM_POP ||
		       (insn->op == SEM_MOV && insn->operands[0].bytes == WORD_BYTES);
	case ORIGIN_STORED:
		return hop->target.nr_bytes == WORD_BYTES;
	default:
		return false;
	}
}

/* A register that is lost and was kept on the stack has the value that it had there. */
static struct known kept_value(struct search *search, const struct reg_values_step *step,
			       uint8_t reg, enum origin_class *ret)
{
	struct origin_question question = *search->question;
	struct origin origin;

	question.place = step->place;
	question.target = (struct origin_target){ .reg = reg, .nr_bytes = WORD_BYTES };
	question.is_within = true;
	origin_find(search->values, &question, &origin);
	for (size_t i = 0; i < origin.nr && keeps_value(&origin.hops[i]); i++) {
		const struct origin_hop *hop = &origin.hops[i];

		*ret = worse(hop->class, hop->value_class);
		if (*ret != ORIGIN_UNKNOWN)
			return known_all(hop->value);
	}
	*ret = ORIGIN_UNKNOWN;
	return known_none();
}

static struct known load_address(struct search *search, const struct reg_values_step *step,
				 enum origin_class *ret)
{
	const struct sem_insn *insn = step->insn;
	struct known address = address_of(search->values, step, false, ret);

	if (*ret != ORIGIN_UNKNOWN || search->question->is_within || insn->op != SEM_MOV ||
	    insn->base == SEM_NO_REG || insn->index != SEM_NO_REG || insn->segment ||
	    insn->address_bytes != WORD_BYTES)
		return address;
	address = kept_value(search, step, insn->base, ret);
	return *ret == ORIGIN_UNKNOWN ? address :
					known_all(address.value + (uint64_t)insn->disp);
}

static void load(struct search *search, const struct reg_values_step *step)
{
	enum origin_class class;
	struct known address = load_address(search, step, &class), value;
	struct origin_target target = { .reg = SEM_NO_REG, .address = address.value,
					.has_address = class != ORIGIN_UNKNOWN,
					.nr_bytes = (uint8_t)nr_loaded(step->insn) };
	struct origin_hop *hop;

	set_number(search, step, false, &target);
	if (!target.has_address && !target.has_number) {
		add_reg(search, ORIGIN_NO_ADDRESS, step);
		return;
	}
	hop = add_reg(search, ORIGIN_LOADED, step);
	hop->has_address = target.has_address;
	hop->address = address.value;
	class = target.has_address ? class : ORIGIN_LIKELY;
	value = hop->value_class == ORIGIN_UNKNOWN ? known_none() : known_all(hop->value);
	search->class = worse(search->class, class);
	search->unsure = search->has_suspect = false;
	search->target = target;
	if (target.has_address && !code_is_kernel(target.address)) {
		hop->kind = ORIGIN_USER;
		search->done = true;
	}
	/* MOVSX makes other bits above it. */
	search->expected = known_only(value, known_bits(search->target.nr_bytes * 8U));
}

/* --- Registers ---------------------------------------------------------- */

uint8_t origin_bad_register(const struct reg_values_at *at, uint8_t a, uint8_t b)
{
	enum origin_class class_a, class_b;
	bool is_kernel_a, is_kernel_b;

	if (a == SEM_NO_REG || b == SEM_NO_REG)
		return a == SEM_NO_REG ? b : a;
	is_kernel_a = code_is_kernel(reg_known(at, a, false, &class_a).value);
	is_kernel_b = code_is_kernel(reg_known(at, b, false, &class_b).value);
	if (class_a == ORIGIN_UNKNOWN || class_b == ORIGIN_UNKNOWN || is_kernel_a == is_kernel_b)
		return SEM_NO_REG;
	return is_kernel_a ? b : a;
}

/* An address of the kernel went in, and none came out. */
static bool spoils(struct search *search, const struct reg_values_step *step, uint8_t from)
{
	enum origin_class was_class, is_class;
	uint64_t was = reg_known(&step->at, from, false, &was_class).value;
	uint64_t is = reg_known(&step->at, search->target.reg, true, &is_class).value;

	if (worse(was_class, is_class) == ORIGIN_UNKNOWN || !code_is_kernel(was) ||
	    code_is_kernel(is))
		return false;
	search->class = worse(search->class, worse(was_class, is_class));
	add_reg(search, ORIGIN_SPOILED, step);
	return true;
}

static void compute(struct search *search, const struct reg_values_step *step, uint8_t a,
		    uint8_t b)
{
	uint8_t reg = origin_bad_register(&step->at, a, b);

	if (a == SEM_NO_REG && b == SEM_NO_REG) {
		add_reg(search, ORIGIN_CONSTANT, step);
		return;
	}
	if ((a == SEM_NO_REG || b == SEM_NO_REG) && spoils(search, step, reg))
		return;
	add_reg(search, reg == SEM_NO_REG ? ORIGIN_JOINED : ORIGIN_COMPUTED, step);
	if (reg != SEM_NO_REG)
		follow(search, reg);
}

/* The operand @i becomes what is looked for. */
static void take(struct search *search, const struct reg_values_step *step, unsigned int i)
{
	const struct sem_operand *operand = &step->insn->operands[i];

	switch (operand->kind) {
	case SEM_REGISTER:
		if (spoils(search, step, operand->reg))
			break;
		add_reg(search, ORIGIN_MOVED, step);
		follow(search, operand->reg);
		break;
	case SEM_MEMORY:
		load(search, step);
		break;
	case SEM_IMMEDIATE:
		add_reg(search, ORIGIN_CONSTANT, step);
		break;
	default:
		add_reg(search, ORIGIN_NO_RULE, step);
		break;
	}
}

/*
 * A sum of a register and of memory.  If one of the two is an address of the kernel, the other one
 * made it a bad address.  What was in memory is the difference.
 */
static bool sum_with_memory(struct search *search, const struct reg_values_step *step)
{
	const struct sem_operand *own = &step->insn->operands[0];
	enum origin_class sum_class, own_class;
	uint64_t sum, was;

	if (step->insn->op != SEM_ADD || own->kind != SEM_REGISTER ||
	    step->insn->load_bytes != WORD_BYTES)
		return false;
	sum = reg_known(&step->at, own->reg, true, &sum_class).value;
	was = reg_known(&step->at, own->reg, false, &own_class).value;
	if (sum_class == ORIGIN_UNKNOWN || own_class == ORIGIN_UNKNOWN ||
	    code_is_kernel(was) == code_is_kernel(sum - was))
		return false;
	if (code_is_kernel(was)) {
		load(search, step);
		search->expected = known_all(sum - was);
		return true;
	}
	add_reg(search, ORIGIN_COMPUTED, step);
	follow(search, own->reg);
	return true;
}

/* Two operands make it; one is its own register. */
static void combine(struct search *search, const struct reg_values_step *step)
{
	const struct sem_insn *insn = step->insn;
	const struct sem_operand *own = &insn->operands[0], *other = &insn->operands[1];

	if (other->kind == SEM_MEMORY && sum_with_memory(search, step))
		return;
	if (own->kind != SEM_REGISTER || other->kind == SEM_MEMORY)
		add_reg(search, ORIGIN_JOINED, step);
	else
		compute(search, step, own->reg,
			other->kind == SEM_REGISTER ? other->reg : SEM_NO_REG);
}

/* The addresses and the count of a string instruction, also of one that an interrupt came into. */
static bool counts(const struct sem_insn *insn, uint8_t reg)
{
	return (insn->op == SEM_STRING || (insn->op == SEM_OTHER && insn->repeats)) &&
	       (reg == SEM_RSI || reg == SEM_RDI || reg == SEM_RCX);
}

static void exchange(struct search *search, const struct reg_values_step *step)
{
	const struct sem_insn *insn = step->insn;

	take(search, step, insn->operands[0].kind == SEM_REGISTER &&
			   insn->operands[0].reg == search->target.reg);
}

/* Of IMUL with three operands the first is only written. */
static void multiply(struct search *search, const struct reg_values_step *step)
{
	const struct sem_insn *insn = step->insn;
	const struct sem_operand *from = &insn->operands[1];

	if (insn->operands[2].kind != SEM_IMMEDIATE)
		combine(search, step);
	else if (from->kind == SEM_REGISTER)
		compute(search, step, from->reg, SEM_NO_REG);
	else
		add_reg(search, ORIGIN_JOINED, step);
}

/* Which of two operands CMOVcc took, by what came out; SEM_NO_REG: not known, or not a register. */
static uint8_t taken(const struct reg_values_step *step, uint8_t own)
{
	const struct sem_operand *other = &step->insn->operands[1];
	enum origin_class was_class, is_class, other_class;
	uint64_t was = reg_known(&step->at, own, false, &was_class).value;
	uint64_t is = reg_known(&step->at, own, true, &is_class).value, from;

	if (other->kind != SEM_REGISTER)
		return SEM_NO_REG;
	from = reg_known(&step->at, other->reg, false, &other_class).value;
	if (worse(worse(was_class, is_class), other_class) != ORIGIN_CERTAIN || was == from)
		return SEM_NO_REG;
	return is == was ? own : is == from ? other->reg : SEM_NO_REG;
}

static void pick(struct search *search, const struct reg_values_step *step)
{
	uint8_t own = search->target.reg, reg = taken(step, own);

	if (reg == own)
		return;
	add_reg(search, reg == SEM_NO_REG ? ORIGIN_JOINED : ORIGIN_MOVED, step);
	if (reg != SEM_NO_REG)
		follow(search, reg);
}

static void other_stack(struct search *search, const struct reg_values_step *step)
{
	const struct sem_insn *insn = step->insn;
	bool is_sp = search->target.reg == SEM_RSP;

	if ((insn->op == SEM_POP || insn->op == SEM_LEAVE) && !is_sp)
		load(search, step);
	else if (insn->op == SEM_LEAVE)
		compute(search, step, SEM_RBP, SEM_NO_REG);
	else if (is_sp && insn->op != SEM_IRET)
		/* PUSH, POP, CALL and RET move it: no news. */
		follow(search, SEM_RSP);
	else
		add_reg(search, ORIGIN_NO_RULE, step);
}

/* @step writes the register that is looked for. */
static void written(struct search *search, const struct reg_values_step *step)
{
	const struct sem_insn *insn = step->insn;

	switch (insn->op) {
	case SEM_MOV:
	case SEM_MOVSX:
		take(search, step, 1);
		break;
	case SEM_LEA:
		compute(search, step, insn->base, insn->index);
		break;
	case SEM_ZERO:
		add_reg(search, ORIGIN_CONSTANT, step);
		break;
	case SEM_XCHG:
		exchange(search, step);
		break;
	case SEM_ADD: case SEM_ADC: case SEM_SUB: case SEM_SBB:
	case SEM_AND: case SEM_OR: case SEM_XOR:
		combine(search, step);
		break;
	case SEM_IMUL:
		multiply(search, step);
		break;
	case SEM_INC: case SEM_DEC: case SEM_NEG: case SEM_NOT:
	case SEM_SHL: case SEM_SHR: case SEM_SAR: case SEM_ROL: case SEM_ROR:
	case SEM_BSWAP: case SEM_BTS: case SEM_BTR: case SEM_BTC:
		compute(search, step, search->target.reg, SEM_NO_REG);
		break;
	case SEM_CBW:
	case SEM_CWD:
		compute(search, step, SEM_RAX, SEM_NO_REG);
		break;
	case SEM_CMOVCC:
		pick(search, step);
		break;
	case SEM_PUSH: case SEM_POP: case SEM_CALL: case SEM_RET: case SEM_LEAVE: case SEM_IRET:
		other_stack(search, step);
		break;
	default:
		if (counts(insn, search->target.reg))
			compute(search, step, search->target.reg, SEM_NO_REG);
		else
			add_reg(search, ORIGIN_NO_RULE, step);
		break;
	}
}

/* --- Stores ------------------------------------------------------------- */

static bool stores(const struct sem_insn *insn)
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
	struct known nr = reg_known(&step->at, insn->operands[1].reg, false, &class);
	unsigned int nr_bits = insn->operand_bytes * 8U;
	int64_t bit = nr_bits == 64 ? (int64_t)nr.value :
		      nr_bits == 32 ? (int32_t)nr.value : (int16_t)nr.value;

	*ret = worse(*ret, class);
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

	*nr = step->insn->repeats ? reg_known(&step->at, SEM_RCX, false, &class).value : 1;
	*ret = worse(*ret, class);
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
	uint64_t at = reg_known(&step->at, reg, false, &class).value;

	*ret = worse(*ret, worse(class, flags.mask & SEM_DF ? ORIGIN_CERTAIN : ORIGIN_LIKELY));
	return flags.mask & flags.value & SEM_DF ? at - (nr - 1) * step->insn->operand_bytes : at;
}

/* How many bytes from where; 0: not known. */
static uint64_t nr_stored(const struct reg_values *values, const struct reg_values_step *step,
			  uint64_t *address, enum origin_class *ret)
{
	const struct sem_insn *insn = step->insn;
	struct known to;
	uint64_t nr;

	if (insn->op != SEM_STRING) {
		to = address_of(values, step, true, ret);
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

static bool overlaps(const struct origin_target *target, uint64_t address, uint64_t nr_bytes)
{
	return address - target->address < target->nr_bytes ||
	       target->address - address < nr_bytes;
}

/* What was stored is not what was loaded. */
static bool is_other(const struct search *search, struct known stored)
{
	return search->expected.mask & stored.mask & (search->expected.value ^ stored.value);
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
		stored = reg_known(&step->at, operand->reg, false, &hop->value_class);
	if (operand->kind == SEM_IMMEDIATE)
		hop->value_class = ORIGIN_CERTAIN;
	stored.mask &= width;
	stored.value &= width;
	hop->value = stored.value;
	/* What is the same place by its number was stored to by an address, too: see suspect(). */
	if (is_other(search, stored) ||
	    (search->has_suspect && !search->target.has_address &&
	     (stored.mask & width) != width)) {
		hop->kind = ORIGIN_CHANGED;
		search->done = true;
	} else if (operand->kind == SEM_REGISTER && !operand->shift) {
		follow(search, operand->reg);
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

	if (insn->op != SEM_STRING || !search->target.has_address || offset >= nr_bytes ||
	    search->target.nr_bytes > nr_bytes - offset)
		return false;
	if (!(insn->reads >> SEM_RSI & 1)) {
		follow(search, SEM_RAX);
		return true;
	}
	from = string_at(step, SEM_RSI, nr_bytes / insn->operand_bytes, &class);
	if (class == ORIGIN_UNKNOWN)
		return false;
	hop->kind = ORIGIN_COPIED;
	hop->address = from + offset;
	search->class = worse(search->class, class);
	search->unsure = search->has_suspect = false;
	search->target.address = from + offset;
	search->target.has_number = false;
	return true;
}

/* Some of what was loaded, or of what was stored, or with what was there before. */
static void store_other(struct search *search, struct origin_hop *hop)
{
	hop->kind = ORIGIN_NO_RULE;
	search->done = true;
}

static void found_store(struct search *search, const struct reg_values_step *step,
			uint64_t address, uint64_t nr_bytes, enum origin_class class)
{
	const struct sem_insn *insn = step->insn;
	bool own = is_in_stack(search->question, search->target.address);
	struct origin_hop *hop;
	bool is_all;

	search->class = worse(search->class, class);
	if (search->unsure || !own)
		search->class = worse(search->class, ORIGIN_LIKELY);
	hop = add(search, ORIGIN_STORED, step);
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
		store_other(search, hop);
}

/* By its number: whatever the address is, it is @search->target's. */
static uint64_t nr_numbered(const struct search *search, const struct reg_values_step *step)
{
	const struct sem_insn *insn = step->insn;
	uint64_t nr_bytes = insn->store_bytes ? insn->store_bytes : WORD_BYTES;
	struct origin_target place = { 0 };

	if (!search->target.has_number || insn->op == SEM_STRING || nr_bytes == SEM_ANY_BYTES)
		return 0;
	set_number(search, step, true, &place);
	return place.has_number && place.root == search->target.root &&
	       place.offset == search->target.offset ? nr_bytes : 0;
}

/* Values up to here are everywhere. */
#define MAX_COMMON 0xff

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
		return filled(reg_known(&step->at, SEM_RAX, false, ret).value,
			      insn->operand_bytes);
	if (insn->op != SEM_MOV || insn->segment || insn->store_bytes != search->target.nr_bytes)
		*ret = ORIGIN_UNKNOWN;
	else if (from->kind == SEM_REGISTER)
		return reg_known(&step->at, from->reg, false, ret).value;
	return from->value;
}

/* Does @step store what was loaded, and nobody knows where? */
static void suspect(struct search *search, const struct reg_values_step *step)
{
	enum origin_class class;
	uint64_t value;

	if (search->has_suspect ||
	    search->expected.mask != known_bits(search->target.nr_bytes * 8U) ||
	    search->expected.value <= MAX_COMMON)
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
static void add_suspect(struct search *search)
{
	struct origin *origin = search->origin;
	enum origin_kind last;

	if (!search->has_suspect || !origin->nr || origin->nr == ORIGIN_MAX_HOPS)
		return;
	last = origin->hops[origin->nr - 1].kind;
	if (last == ORIGIN_CHANGED || last == ORIGIN_OLDER)
		origin->hops[origin->nr++] = search->suspect;
}

static void stored(struct search *search, const struct reg_values_step *step)
{
	enum origin_class class;
	uint64_t address, nr_bytes = nr_stored(search->values, step, &address, &class);
	uint64_t nr_by_number = nr_numbered(search, step);

	if (nr_by_number && !(nr_bytes && search->target.has_address)) {
		found_store(search, step, search->target.address, nr_by_number, ORIGIN_LIKELY);
	} else if (!nr_bytes || !search->target.has_address) {
		/* A variable of the CPU, at its place in the area of that, is on no stack. */
		search->unsure |= !step->insn->segment;
		suspect(search, step);
	} else if (overlaps(&search->target, address, nr_bytes)) {
		found_store(search, step, address, nr_bytes, class);
	}
}

/* --- The way back ------------------------------------------------------- */

/* Is memory, unlike registers, followed across it? */
static bool goes_on(const struct search *search, enum reg_values_why why)
{
	return search->target.reg == SEM_NO_REG &&
	       (why == REG_VALUES_USER || why == REG_VALUES_PAUSE);
}

static void pass_cut(struct search *search, const struct reg_values_step *step)
{
	struct origin_hop *hop;

	search->unsure = true;
	if (goes_on(search, step->why))
		return;
	/* What no known store has made, an unknown one may have. */
	if (search->target.reg == SEM_NO_REG)
		search->class = worse(search->class, ORIGIN_LIKELY);
	if (step->why == REG_VALUES_WINDOW)
		search->class = ORIGIN_UNKNOWN;
	hop = add(search, ORIGIN_OLDER, step);
	hop->insn = NULL;
	hop->why = step->why;
}

/* What is asked for is as it was behind the first step. */
static void begin(struct search *search, const struct reg_values_step *step)
{
	struct origin_hop *hop = add(search, ORIGIN_ASKED, step);

	search->begun = true;
	hop->place = search->question->place;
	hop->insn = NULL;
	if (search->target.reg != SEM_NO_REG)
		hop->value = reg_known(&step->at, search->target.reg, true,
				       &hop->value_class).value;
}

static bool go_back(void *arg, struct reg_values_step *step)
{
	struct search *search = arg;
	bool is_memory = search->target.reg == SEM_NO_REG;
	bool is_written = is_memory ? stores(step->insn) :
				      step->insn->writes >> search->target.reg & 1;

	if (!search->begun || is_written)
		reg_values_look(search->values, step);
	if (!search->begun)
		begin(search, step);
	if (step->cut)
		pass_cut(search, step);
	else if (is_written && is_memory)
		stored(search, step);
	else if (is_written)
		written(search, step);
	return !search->done;
}

void origin_find(struct reg_values *values, const struct origin_question *question,
		 struct origin *ret)
{
	struct search search = { .values = values, .question = question, .origin = ret,
				 .target = question->target };

	ret->nr = 0;
	if (!question->place)
		return;
	reg_values_back(values, question->place - 1, go_back, &search);
	add_suspect(&search);
}

/** struct store_search - the newest store to @target */
struct store_search {
	struct reg_values *values;
	const struct origin_target *target;
	struct origin_hop *ret;
	bool found;
};

static bool look_for_store(void *arg, struct reg_values_step *step)
{
	struct store_search *search = arg;
	enum origin_class class;
	uint64_t address, nr_bytes;

	if (step->cut || !stores(step->insn))
		return true;
	reg_values_look(search->values, step);
	nr_bytes = nr_stored(search->values, step, &address, &class);
	if (!nr_bytes || !overlaps(search->target, address, nr_bytes))
		return true;
	search->found = true;
	*search->ret = (struct origin_hop){ .kind = ORIGIN_STORED, .place = step->place,
		.insn = step->insn, .target = *search->target, .has_address = true,
		.address = search->target->address, .class = ORIGIN_LIKELY,
		.value_class = ORIGIN_UNKNOWN };
	return false;
}

bool origin_store(struct reg_values *values, const struct origin_target *target,
		  struct origin_hop *ret)
{
	struct store_search search = { .values = values, .target = target, .ret = ret };

	reg_values_back(values, UINT32_MAX, look_for_store, &search);
	return search.found;
}
