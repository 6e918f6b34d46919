// SPDX-License-Identifier: GPL-2.0-or-later
/* Operands and flags, before and after an instruction. */
#include "code/semantics_operands.h"

/* --- Operands ----------------------------------------------------------- */

void sem_merge(struct sem_state *state, struct known *to, struct known from)
{
	(void)known_merge(to, from, &state->contradiction);
}

static struct known part(const struct known *reg, const struct sem_operand *operand)
{
	struct known from = { reg->value >> operand->shift, reg->mask >> operand->shift };

	return known_low(from, operand->bytes * 8U);
}

struct known sem_address(const struct sem_insn *insn, const struct sem_state *state)
{
	struct known sum = known_all((uint64_t)insn->disp), index;

	if (insn->base != SEM_NO_REG)
		sum = known_add(sum, *state->before[insn->base], false);
	if (insn->index != SEM_NO_REG) {
		index = *state->before[insn->index];
		/* What was shifted in is known. */
		index.mask = index.mask * insn->scale | (insn->scale - 1U);
		index.value *= insn->scale;
		index.value &= index.mask;
		sum = known_add(sum, index, false);
	}
	return insn->address_bytes == 8 ? sum : known_low(sum, insn->address_bytes * 8U);
}

/* Of an operand as it is read. */
struct known sem_get(const struct sem_insn *insn, const struct sem_state *state, unsigned int i)
{
	const struct sem_operand *operand = &insn->operands[i];

	switch (operand->kind) {
	case SEM_REGISTER:
		return part(state->before[operand->reg], operand);
	case SEM_IMMEDIATE:
		return known_all(operand->value);
	case SEM_MEMORY:
		return known_low(state->load ? *state->load : known_none(), operand->bytes * 8U);
	default:
		return known_none();
	}
}

/* Of an operand as it is written. */
struct known sem_got(const struct sem_insn *insn, const struct sem_state *state, unsigned int i)
{
	const struct sem_operand *operand = &insn->operands[i];

	if (operand->kind == SEM_REGISTER)
		return part(state->behind[operand->reg], operand);
	return known_low(operand->kind == SEM_MEMORY && state->store ? *state->store : known_none(),
		   operand->bytes * 8U);
}

static struct known placed(const struct sem_operand *operand, struct known value)
{
	uint64_t width = known_bits(operand->bytes * 8U);

	return (struct known){ (value.value & width) << operand->shift,
			       (value.mask & width) << operand->shift };
}

/* It turns out what operand @i was. */
void sem_was(const struct sem_insn *insn, struct sem_state *state, unsigned int i,
		struct known value)
{
	const struct sem_operand *operand = &insn->operands[i];

	if (operand->kind == SEM_REGISTER)
		sem_merge(state, state->before[operand->reg], placed(operand, value));
	else if (operand->kind == SEM_MEMORY && state->load)
		sem_merge(state, state->load, placed(operand, value));
}

/* Operand @i becomes @value: what of the register is not written stays, or is cleared. */
void sem_becomes(const struct sem_insn *insn, struct sem_state *state, unsigned int i,
		    struct known value)
{
	const struct sem_operand *operand = &insn->operands[i];
	uint64_t kept = ~(known_bits(operand->bytes * 8U) << operand->shift);
	struct known *before, *behind;

	if (operand->kind == SEM_MEMORY && state->store)
		sem_merge(state, state->store, placed(operand, value));
	if (operand->kind != SEM_REGISTER)
		return;
	before = state->before[operand->reg];
	behind = state->behind[operand->reg];
	sem_merge(state, behind, placed(operand, value));
	if (operand->bytes == 4) {
		sem_merge(state, behind, (struct known){ 0, kept });
	} else if (kept && before != behind) {
		sem_merge(state, behind, known_only(*before, kept));
		sem_merge(state, before, known_only(*behind, kept));
	}
}

unsigned int sem_width(const struct sem_insn *insn)
{
	return insn->operands[0].bytes * 8U;
}

/* --- Flags -------------------------------------------------------------- */

struct known sem_flag(const struct known *flags, uint64_t flag)
{
	return (struct known){ (flags->value & flag) != 0, ((flags->mask & flag) != 0) | ~1ULL };
}

void sem_add_flag(struct known *flags, uint64_t flag, bool known, bool value)
{
	if (!known)
		return;
	flags->mask |= flag;
	flags->value |= value ? flag : 0;
}

/* Zero, sign and parity of a result. */
struct known sem_result_flags(const struct sem_insn *insn, struct known result)
{
	unsigned int nr = sem_width(insn);
	struct known flags = known_none();
	uint64_t ones = result.value & known_bits(nr);

	sem_add_flag(&flags, SEM_ZF, ones || known_is_all(result, nr), !ones);
	sem_add_flag(&flags, SEM_SF, result.mask >> (nr - 1) & 1, result.value >> (nr - 1) & 1);
	sem_add_flag(&flags, SEM_PF, known_is_all(result, 8),
		     !__builtin_parityll(result.value & 0xff));
	return flags;
}

void sem_set_flags(const struct sem_insn *insn, struct sem_state *state, struct known flags)
{
	sem_merge(state, state->behind[SEM_FLAGS], known_only(flags, insn->defines_flags));
}

/* All of a result is zero, if ZF says so, and its highest bit is SF. */
struct known sem_result_said(const struct sem_insn *insn, struct sem_state *state, struct known r)
{
	struct known flags = known_only(*state->behind[SEM_FLAGS], insn->defines_flags);
	uint64_t width = known_bits(sem_width(insn)), sign = width ^ width >> 1, unknown;

	r = known_low(r, sem_width(insn));
	if (flags.mask & SEM_SF)
		sem_merge(state, &r, (struct known){ flags.value & SEM_SF ? sign : 0, sign });
	if (flags.value & SEM_ZF)
		sem_merge(state, &r, known_all(0));
	unknown = ~r.mask;
	/* Something of it is not zero: then it is the only bit that can be. */
	if (flags.mask & ~flags.value & SEM_ZF && !r.value && __builtin_popcountll(unknown) == 1)
		sem_merge(state, &r, (struct known){ unknown, unknown });
	return r;
}

/* Is a + b + carry above @nr bits?  By its least and its greatest possible value. */
static void carry_flag(struct known *flags, struct known a, struct known b, struct known carry,
		       unsigned int nr)
{
	unsigned __int128 min = (unsigned __int128)(a.value & known_bits(nr)) +
				(b.value & known_bits(nr)) + (carry.value & carry.mask & 1);
	unsigned __int128 max = (unsigned __int128)((a.value | ~a.mask) & known_bits(nr)) +
				((b.value | ~b.mask) & known_bits(nr)) +
				(carry.mask & 1 ? carry.value & 1 : 1);

	sem_add_flag(flags, SEM_CF, min >> nr == max >> nr, (bool)(min >> nr));
}

/* Flags of @a + @b + @carry = @r; @borrow: b and carry are those of a subtraction, inverted. */
struct known sem_sum_flags(const struct sem_insn *insn, struct known a, struct known b,
			      struct known carry, struct known r, bool borrow)
{
	unsigned int nr = sem_width(insn);
	struct known flags = sem_result_flags(insn, r), signs, fours;

	carry_flag(&flags, a, b, carry, nr);
	signs = known_and(known_not(known_xor(a, b)), known_xor(a, r));
	sem_add_flag(&flags, SEM_OF, signs.mask >> (nr - 1) & 1, signs.value >> (nr - 1) & 1);
	fours = known_xor(known_xor(a, b), r);
	sem_add_flag(&flags, SEM_AF, fours.mask >> 4 & 1, fours.value >> 4 & 1);
	if (borrow)
		flags.value ^= flags.mask & (SEM_CF | SEM_AF);
	return flags;
}

/* SDM vol. 1, appendix B: a condition is one of eight, or its opposite. */
struct known sem_condition(const struct known *flags, uint8_t cc)
{
	struct known less = known_xor(sem_flag(flags, SEM_SF), sem_flag(flags, SEM_OF));
	struct known of[] = {
		sem_flag(flags, SEM_OF), sem_flag(flags, SEM_CF), sem_flag(flags, SEM_ZF),
		known_or(sem_flag(flags, SEM_CF), sem_flag(flags, SEM_ZF)), sem_flag(flags, SEM_SF),
		sem_flag(flags, SEM_PF), less, known_or(sem_flag(flags, SEM_ZF), less),
	};
	struct known ret = of[cc / 2];

	ret.value ^= cc & 1 & ret.mask;
	return known_only(ret, 1);
}

/*
 * It turns out that condition @cc was @holds: known is what all flags have in common with which it
 * would have been so.  If there are none, that is a contradiction.
 */
void sem_condition_was(struct sem_state *state, uint8_t cc, bool holds)
{
	static const uint64_t of[] = { SEM_OF, SEM_CF, SEM_ZF, SEM_CF | SEM_ZF, SEM_SF, SEM_PF,
				       SEM_SF | SEM_OF, SEM_ZF | SEM_SF | SEM_OF };
	struct known *flags = state->before[SEM_FLAGS], common = known_none();
	uint64_t tested = of[cc / 2], value = tested;
	bool any = false;

	/* All subsets of what is tested, from all of it to none. */
	for (uint64_t left = 1ULL << __builtin_popcountll(tested); left--;) {
		struct known tried = { value, tested };

		if (!((value ^ flags->value) & flags->mask & tested) &&
		    (bool)sem_condition(&tried, cc).value == holds) {
			common.mask = any ? common.mask & ~(common.value ^ value) : tested;
			common.value = value & common.mask;
			any = true;
		}
		value = (value - 1) & tested;
	}
	state->contradiction |= !any;
	sem_merge(state, flags, common);
}
