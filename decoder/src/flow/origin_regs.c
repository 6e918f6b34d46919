// SPDX-License-Identifier: GPL-2.0-or-later
/* The registers and the memory that an instruction has made a value of. */
#include "flow/origin_impl.h"

#include "code/code.h"

/* --- Loads -------------------------------------------------------------- */

static unsigned int nr_loaded(const struct sem_insn *insn)
{
	return insn->load_bytes && insn->load_bytes <= WORD_BYTES ? insn->load_bytes : WORD_BYTES;
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

		*ret = origin_worse(hop->class, hop->value_class);
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
	struct known address = origin_address(search->values, step, false, ret);

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

	origin_set_number(search, step, false, &target);
	if (!target.has_address && !target.has_number) {
		origin_add_reg(search, ORIGIN_NO_ADDRESS, step);
		return;
	}
	hop = origin_add_reg(search, ORIGIN_LOADED, step);
	hop->has_address = target.has_address;
	hop->address = address.value;
	class = target.has_address ? class : ORIGIN_LIKELY;
	value = hop->value_class == ORIGIN_UNKNOWN ? known_none() : known_all(hop->value);
	search->class = origin_worse(search->class, class);
	search->unsure = search->has_suspect = false;
	search->sought = step->place;
	search->target = target;
	if (target.has_address && !code_is_kernel(target.address)) {
		hop->kind = ORIGIN_USER;
		search->done = true;
	}
	/* MOVSX makes other bits above it. */
	search->expected = known_only(value, known_bits(search->target.nr_bytes * 8U));
}

/* --- Registers ---------------------------------------------------------- */

/* Nothing is mapped at @value, and it is no mask or negative number: these are near the end. */
static bool leads_nowhere(const struct origin_question *question, uint64_t value)
{
	return question->access && !code_is_top(value) &&
	       question->access(question->arg, value) == WALK_ACCESS_NONE;
}

uint8_t origin_bad_register(const struct origin_question *question,
			    const struct reg_values_at *at, uint8_t a, uint8_t b)
{
	enum origin_class class_a, class_b;
	uint64_t value_a, value_b;

	if (a == SEM_NO_REG || b == SEM_NO_REG)
		return a == SEM_NO_REG ? b : a;
	value_a = origin_known(at, a, false, &class_a).value;
	value_b = origin_known(at, b, false, &class_b).value;
	if (class_a == ORIGIN_UNKNOWN || class_b == ORIGIN_UNKNOWN ||
	    code_is_kernel(value_a) == code_is_kernel(value_b))
		return SEM_NO_REG;
	if (code_is_kernel(value_a))
		return leads_nowhere(question, value_a) ? a : b;
	return leads_nowhere(question, value_b) ? b : a;
}

/*
 * Of @a and @b, which are added, memory is at @a, but not at @b: @b leads away from it.  That is
 * likely: both look like addresses of the kernel.
 */
static bool leads_away(struct search *search, uint64_t a, uint64_t b)
{
	const struct origin_question *question = search->question;

	if (!question->is_there || !code_is_kernel(a) || !code_is_kernel(b) ||
	    !question->is_there(question->arg, a) || question->is_there(question->arg, b))
		return false;
	search->class = origin_worse(search->class, ORIGIN_LIKELY);
	return true;
}

/* An address of the kernel went in, and none came out. */
static bool spoils(struct search *search, const struct reg_values_step *step, uint8_t from)
{
	enum origin_class was_class, is_class;
	uint64_t was = origin_known(&step->at, from, false, &was_class).value;
	uint64_t is = origin_known(&step->at, search->target.reg, true, &is_class).value;

	/* SHL and what undoes it make a pointer of a bit field. */
	if (origin_worse(was_class, is_class) == ORIGIN_UNKNOWN || !code_is_kernel(was) ||
	    code_is_kernel(is) || step->insn->op == SEM_SHL)
		return false;
	search->class = origin_worse(search->class, origin_worse(was_class, is_class));
	origin_add_reg(search, ORIGIN_SPOILED, step);
	return true;
}

/*
 * Of a sum of @a and of @b, @scale times, what is not known of one the result says.  Which of the
 * two made it a bad address?  SEM_NO_REG: not known.
 */
static uint8_t bad_summand(struct search *search, const struct reg_values_step *step, uint8_t a,
			   uint8_t b, unsigned int scale, uint64_t disp)
{
	enum origin_class sum_class, a_class, b_class;
	uint64_t sum = origin_known(&step->at, search->target.reg, true, &sum_class).value - disp;
	uint64_t of_a = origin_known(&step->at, a, false, &a_class).value;
	uint64_t of_b = origin_known(&step->at, b, false, &b_class).value * scale;

	if (sum_class == ORIGIN_UNKNOWN ||
	    (a_class == ORIGIN_UNKNOWN && b_class == ORIGIN_UNKNOWN))
		return SEM_NO_REG;
	if (a_class == ORIGIN_UNKNOWN)
		of_a = sum - of_b;
	if (b_class == ORIGIN_UNKNOWN)
		of_b = sum - of_a;
	if (code_is_kernel(of_a) != code_is_kernel(of_b))
		return code_is_kernel(of_a) ? b : a;
	return leads_away(search, of_a, of_b) ? b : leads_away(search, of_b, of_a) ? a : SEM_NO_REG;
}

/* Which of @a and @b made a product, or what both have, nothing?  SEM_NO_REG: not known. */
static uint8_t zero_factor(const struct search *search, const struct reg_values_step *step,
			   uint8_t a, uint8_t b)
{
	enum origin_class a_class, b_class, class;
	uint64_t of_a = origin_known(&step->at, a, false, &a_class).value;
	uint64_t of_b = origin_known(&step->at, b, false, &b_class).value;
	uint64_t is = origin_known(&step->at, search->target.reg, true, &class).value;

	class = origin_worse(class, origin_worse(a_class, b_class));
	if ((step->insn->op != SEM_IMUL && step->insn->op != SEM_AND) ||
	    class == ORIGIN_UNKNOWN || is || !of_a == !of_b)
		return SEM_NO_REG;
	return of_a ? b : a;
}

/* No object of the kernel is so large. */
#define OBJECT_MAX_BYTES (1ULL << 30)

enum origin_class origin_choice(const struct reg_values_at *at, uint8_t reg)
{
	enum origin_class class;
	uint64_t value = origin_known(at, reg, false, &class).value;

	return class == ORIGIN_UNKNOWN || code_is_kernel(value) || value < OBJECT_MAX_BYTES ?
		       ORIGIN_LIKELY : ORIGIN_CERTAIN;
}

static void compute(struct search *search, const struct reg_values_step *step, uint8_t a,
		    uint8_t b)
{
	const struct sem_insn *insn = step->insn;
	uint8_t reg = origin_bad_register(search->question, &step->at, a, b);

	if (a == SEM_NO_REG && b == SEM_NO_REG) {
		origin_add_reg(search, ORIGIN_CONSTANT, step);
		return;
	}
	if ((a == SEM_NO_REG || b == SEM_NO_REG) && spoils(search, step, reg))
		return;
	if (reg == SEM_NO_REG && insn->operand_bytes == WORD_BYTES &&
	    (insn->op == SEM_ADD || insn->op == SEM_LEA))
		reg = insn->op == SEM_ADD ? bad_summand(search, step, a, b, 1, 0) :
		      bad_summand(search, step, a, b, insn->scale, (uint64_t)insn->disp);
	if (reg != SEM_NO_REG && a != SEM_NO_REG && b != SEM_NO_REG)
		search->class = origin_worse(search->class, origin_choice(&step->at, reg));
	if (reg == SEM_NO_REG)
		reg = zero_factor(search, step, a, b);
	origin_add_reg(search, reg == SEM_NO_REG ? ORIGIN_JOINED : ORIGIN_COMPUTED, step);
	if (reg != SEM_NO_REG)
		origin_follow(search, reg);
}

/* The operand @i becomes what is looked for. */
static void take(struct search *search, const struct reg_values_step *step, unsigned int i)
{
	const struct sem_operand *operand = &step->insn->operands[i];

	switch (operand->kind) {
	case SEM_REGISTER:
		if (spoils(search, step, operand->reg))
			break;
		origin_add_reg(search, ORIGIN_MOVED, step);
		origin_follow(search, operand->reg);
		break;
	case SEM_MEMORY:
		load(search, step);
		break;
	case SEM_IMMEDIATE:
		origin_add_reg(search, ORIGIN_CONSTANT, step);
		break;
	default:
		origin_add_reg(search, ORIGIN_NO_RULE, step);
		break;
	}
}

/*
 * A sum of a register and of memory.  If one of the two is an address of the kernel, the other one
 * made it a bad address.  If both are, it is the one where no memory is.  What was in memory is the
 * difference.
 */
static bool sum_with_memory(struct search *search, const struct reg_values_step *step)
{
	const struct sem_operand *own = &step->insn->operands[0];
	enum origin_class sum_class, own_class;
	uint64_t sum, was;
	bool is_memory;

	if (step->insn->op != SEM_ADD || own->kind != SEM_REGISTER ||
	    step->insn->load_bytes != WORD_BYTES)
		return false;
	sum = origin_known(&step->at, own->reg, true, &sum_class).value;
	was = origin_known(&step->at, own->reg, false, &own_class).value;
	if (sum_class == ORIGIN_UNKNOWN || own_class == ORIGIN_UNKNOWN)
		return false;
	is_memory = code_is_kernel(was) && !code_is_kernel(sum - was);
	if (code_is_kernel(was) == code_is_kernel(sum - was)) {
		is_memory = leads_away(search, was, sum - was);
		if (!is_memory && !leads_away(search, sum - was, was))
			return false;
	}
	if (is_memory) {
		load(search, step);
		search->expected = known_all(sum - was);
		return true;
	}
	origin_add_reg(search, ORIGIN_COMPUTED, step);
	origin_follow(search, own->reg);
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
		origin_add_reg(search, ORIGIN_JOINED, step);
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

/* XADD leaves the sum in its first operand, and what that held in the second one. */
static void exchange(struct search *search, const struct reg_values_step *step)
{
	const struct sem_insn *insn = step->insn;
	bool is_first = insn->operands[0].kind == SEM_REGISTER &&
			insn->operands[0].reg == search->target.reg;

	if (insn->op == SEM_XADD && is_first)
		combine(search, step);
	else
		take(search, step, is_first);
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
		origin_add_reg(search, ORIGIN_JOINED, step);
}

/* Which of two operands CMOVcc took, by what came out; SEM_NO_REG: not known, or not a register. */
static uint8_t taken(const struct reg_values_step *step, uint8_t own)
{
	const struct sem_operand *other = &step->insn->operands[1];
	enum origin_class was_class, is_class, other_class;
	uint64_t was = origin_known(&step->at, own, false, &was_class).value;
	uint64_t is = origin_known(&step->at, own, true, &is_class).value, from;

	if (other->kind != SEM_REGISTER)
		return SEM_NO_REG;
	from = origin_known(&step->at, other->reg, false, &other_class).value;
	if (origin_worse(origin_worse(was_class, is_class), other_class) != ORIGIN_CERTAIN ||
	    was == from)
		return SEM_NO_REG;
	return is == was ? own : is == from ? other->reg : SEM_NO_REG;
}

static void pick(struct search *search, const struct reg_values_step *step)
{
	uint8_t own = search->target.reg, reg = taken(step, own);

	if (reg == own)
		return;
	origin_add_reg(search, reg == SEM_NO_REG ? ORIGIN_JOINED : ORIGIN_MOVED, step);
	if (reg != SEM_NO_REG)
		origin_follow(search, reg);
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
		origin_follow(search, SEM_RSP);
	else
		origin_add_reg(search, ORIGIN_NO_RULE, step);
}

/* SDM vol. 1, "General-Purpose Registers in 64-Bit Mode": 8 or 16 bits leave the others alone. */
static bool is_partial(const struct sem_insn *insn)
{
	const struct sem_operand *to = &insn->operands[0];

	return to->kind == SEM_REGISTER && to->bytes < 4 &&
	       (insn->op == SEM_MOV || insn->op == SEM_MOVSX || insn->op == SEM_ZERO ||
		insn->op == SEM_XCHG || insn->op == SEM_XADD || insn->op == SEM_CMOVCC);
}

/* @step writes the register that is looked for. */
void origin_written(struct search *search, const struct reg_values_step *step)
{
	const struct sem_insn *insn = step->insn;

	if (is_partial(insn)) {
		origin_add_reg(search, ORIGIN_JOINED, step);
		return;
	}
	switch (insn->op) {
	case SEM_MOV:
	case SEM_MOVSX:
		take(search, step, 1);
		break;
	case SEM_LEA:
		compute(search, step, insn->base, insn->index);
		break;
	case SEM_ZERO:
		origin_add_reg(search, ORIGIN_CONSTANT, step);
		break;
	case SEM_XCHG:
	case SEM_XADD:
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
			origin_add_reg(search, ORIGIN_NO_RULE, step);
		break;
	}
}
