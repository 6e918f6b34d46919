// SPDX-License-Identifier: GPL-2.0-or-later
/* What arithmetic, shifts and operations on bits do. */
#include "code/semantics_operands.h"

/* --- Arithmetic --------------------------------------------------------- */

/* Is it one register, or one part of it, with itself? */
static bool is_same(const struct sem_operand *a, const struct sem_operand *b)
{
	return a->kind == SEM_REGISTER && b->kind == SEM_REGISTER && a->reg == b->reg &&
	       a->shift == b->shift;
}

/* The result is @r: what is known of it by what is written, and by the flags, too. */
static struct known result(const struct sem_insn *insn, struct sem_state *state, struct known r)
{
	sem_becomes(insn, state, 0, r);
	r = known_low(r, sem_width(insn));
	sem_merge(state, &r, sem_got(insn, state, 0));
	r = sem_result_said(insn, state, r);
	sem_becomes(insn, state, 0, r);
	return r;
}

/* r = a + b + carry over the width of the operands, each from the two others. */
static void apply_add(const struct sem_insn *insn, struct sem_state *state, struct known carry)
{
	struct known a = sem_get(insn, state, 0), b = sem_get(insn, state, 1), r;
	unsigned int nr = sem_width(insn);

	r = result(insn, state, known_add_carry(a, b, carry));
	sem_set_flags(insn, state,
		      sem_sum_flags(insn, known_low(a, nr), known_low(b, nr), carry, r, false));
	if (carry.mask & 1) {
		sem_was(insn, state, 0, known_sub(r, known_add_carry(b, known_all(0), carry)));
		sem_was(insn, state, 1, known_sub(r, known_add_carry(a, known_all(0), carry)));
	}
}

static uint64_t max_of(struct known known)
{
	return known.value | ~known.mask;
}

/*
 * SDM vol. 1, "EFLAGS Register": CF of a - b is that b is above a, both without sign.  So the lower
 * one cannot be above the most that the other one is.  Nor is the higher one below the least that
 * the lower one is.  If they are not equal, each bound is closer by one.
 */
static void was_compared(const struct sem_insn *insn, struct sem_state *state, struct known a,
			 struct known b)
{
	struct known flags = known_only(*state->behind[SEM_FLAGS], insn->defines_flags);
	bool is_below = flags.value & SEM_CF;
	bool differ = is_below || (flags.mask & ~flags.value & SEM_ZF);
	unsigned int nr = sem_width(insn), low = !is_below, high = is_below;
	struct known of[2] = { known_low(a, nr), known_low(b, nr) };
	uint64_t max = max_of(of[high]), min = of[low].value;

	if (!(flags.mask & SEM_CF))
		return;
	if ((differ && (!max || min == UINT64_MAX)) || of[low].value > max - differ ||
	    max < min + differ) {
		state->contradiction = true;
		return;
	}
	if (max_of(of[low]) > max - differ)
		sem_was(insn, state, low, known_between(of[low].value, max - differ));
	if (of[high].value < min + differ)
		sem_was(insn, state, high, known_between(min + differ, max));
}

/* r = a - b - borrow = a + ~b + !borrow. */
static void apply_sub(const struct sem_insn *insn, struct sem_state *state, struct known borrow)
{
	struct known a = sem_get(insn, state, 0), b = sem_get(insn, state, 1), r;
	struct known carry = { (borrow.value ^ 1) & borrow.mask & 1, borrow.mask & 1 };
	unsigned int nr = sem_width(insn);

	r = result(insn, state, known_add_carry(a, known_not(b), carry));
	sem_set_flags(
		insn, state,
		sem_sum_flags(insn, known_low(a, nr), known_low(known_not(b), nr), carry, r, true));
	if (carry.mask & 1) {
		sem_was(insn, state, 0, known_add_carry(r, b, known_all(borrow.value & 1)));
		sem_was(insn, state, 1, known_add_carry(a, known_not(r), carry));
	}
	if (insn->op == SEM_SUB)
		was_compared(insn, state, a, b);
}

/* SBB of a register with itself: what is borrowed is all of it. */
static void apply_sbb(const struct sem_insn *insn, struct sem_state *state, struct known borrow)
{
	uint64_t width = known_bits(sem_width(insn));
	struct known r;

	if (!is_same(&insn->operands[0], &insn->operands[1])) {
		apply_sub(insn, state, borrow);
		return;
	}
	r = result(insn, state,
		   (struct known){ borrow.value ? width : 0, borrow.mask ? width : 0 });
	r = known_only(r, width);
	borrow = (struct known){ r.value ? SEM_CF : 0, r.mask ? SEM_CF : 0 };
	sem_merge(state, state->before[SEM_FLAGS], borrow);
	sem_set_flags(insn, state, borrow);
	r = (struct known){ r.value ? width : 0, r.mask ? width : 0 };
	sem_set_flags(insn, state, sem_result_flags(insn, known_low(result(insn, state, r),
								    sem_width(insn))));
}

/* What is compared equal is the same. */
static void apply_cmp(const struct sem_insn *insn, struct sem_state *state)
{
	struct known a = sem_get(insn, state, 0), b = sem_get(insn, state, 1), r;
	unsigned int nr = sem_width(insn);

	r = sem_result_said(insn, state, known_sub(a, b));
	sem_set_flags(insn, state,
		      sem_sum_flags(insn, known_low(a, nr), known_low(known_not(b), nr),
				    known_all(1), r, true));
	sem_was(insn, state, 0, known_add(r, b, false));
	sem_was(insn, state, 1, known_sub(a, r));
	was_compared(insn, state, a, b);
}

/* Where one bit decides nothing, the result @r says what the other one was. */
static void were_combined(const struct sem_insn *insn, struct sem_state *state, struct known a,
			  struct known b, struct known r)
{
	bool is_or = insn->op == SEM_OR;
	uint64_t passes_a = b.mask & (is_or ? ~b.value : b.value);
	uint64_t passes_b = a.mask & (is_or ? ~a.value : a.value);
	uint64_t decided = r.mask & (is_or ? ~r.value : r.value);

	if (is_same(&insn->operands[0], &insn->operands[1]))
		passes_a = UINT64_MAX;
	sem_was(insn, state, 0, known_only(r, passes_a | decided));
	sem_was(insn, state, 1, known_only(r, passes_b | decided));
}

static void apply_test(const struct sem_insn *insn, struct sem_state *state)
{
	struct known a = sem_get(insn, state, 0), b = sem_get(insn, state, 1);
	struct known r = sem_result_said(insn, state, known_and(a, b));

	sem_set_flags(insn, state, sem_result_flags(insn, r));
	were_combined(insn, state, a, b, r);
}

static void apply_and_or(const struct sem_insn *insn, struct sem_state *state)
{
	struct known a = sem_get(insn, state, 0), b = sem_get(insn, state, 1), r;

	r = result(insn, state, insn->op == SEM_AND ? known_and(a, b) : known_or(a, b));
	sem_set_flags(insn, state, sem_result_flags(insn, r));
	were_combined(insn, state, a, b, r);
}

static void apply_xor(const struct sem_insn *insn, struct sem_state *state)
{
	struct known a = sem_get(insn, state, 0), b = sem_get(insn, state, 1), r;

	r = result(insn, state, known_xor(a, b));
	sem_set_flags(insn, state, sem_result_flags(insn, r));
	sem_was(insn, state, 0, known_xor(r, b));
	sem_was(insn, state, 1, known_xor(r, a));
}

static void apply_zero(const struct sem_insn *insn, struct sem_state *state)
{
	struct known flags = sem_result_flags(insn, known_all(0));

	sem_add_flag(&flags, SEM_CF | SEM_OF | SEM_AF, true, false);
	sem_becomes(insn, state, 0, known_all(0));
	sem_set_flags(insn, state, flags);
}

/* INC and DEC: @by 1 and -1; they leave CF alone. */
static void apply_step(const struct sem_insn *insn, struct sem_state *state, uint64_t by)
{
	struct known a = sem_get(insn, state, 0), b = known_all(by), r;
	unsigned int nr = sem_width(insn);
	bool down = by != 1;

	r = result(insn, state, known_add(a, b, false));
	sem_set_flags(insn, state,
		      sem_sum_flags(insn, a, known_low(b, nr), known_all(0), r, down));
	sem_was(insn, state, 0, known_sub(r, b));
}

/* SDM vol. 2, NEG: CF is that it was not zero. */
static void apply_neg(const struct sem_insn *insn, struct sem_state *state)
{
	struct known a = sem_get(insn, state, 0), r, zero = known_all(0);
	unsigned int nr = sem_width(insn);

	r = result(insn, state, known_sub(zero, a));
	sem_set_flags(
		insn, state,
		sem_sum_flags(insn, zero, known_low(known_not(a), nr), known_all(1), r, true));
	if (state->behind[SEM_FLAGS]->mask & ~state->behind[SEM_FLAGS]->value & SEM_CF)
		r = result(insn, state, zero);
	sem_was(insn, state, 0, known_sub(zero, r));
}

static void apply_not(const struct sem_insn *insn, struct sem_state *state)
{
	sem_becomes(insn, state, 0, known_not(sem_get(insn, state, 0)));
	sem_was(insn, state, 0, known_not(sem_got(insn, state, 0)));
}

/* --- Shifts ------------------------------------------------------------- */

static struct known shift_left(struct known a, unsigned int by)
{
	return (struct known){ a.value << by, a.mask << by | known_bits(by) };
}

static struct known shift_right(struct known a, unsigned int by)
{
	return (struct known){ a.value >> by, by ? a.mask >> by | ~(UINT64_MAX >> by) : a.mask };
}

static struct known rotate_left(struct known a, unsigned int by, unsigned int nr)
{
	uint64_t value = a.value & known_bits(nr), mask = a.mask & known_bits(nr);

	if (!by)
		return a;
	return known_low((struct known){ value << by | value >> (nr - by),
				   mask << by | mask >> (nr - by) }, nr);
}

/* CF behind is what bit @at was. */
static struct known bit_was(const struct sem_state *state, unsigned int at)
{
	struct known carry = sem_flag(state->behind[SEM_FLAGS], SEM_CF);

	return (struct known){ (carry.value & 1) << at, (carry.mask & 1) << at };
}

/* The last bit that leaves, if @by is the width at most. */
static unsigned int last_out(const struct sem_insn *insn, unsigned int by)
{
	return insn->op == SEM_SHL ? sem_width(insn) - by : by - 1;
}

static struct known shift_flags(const struct sem_insn *insn, struct known a, struct known r,
				unsigned int by)
{
	unsigned int at = last_out(insn, by);
	struct known flags = sem_result_flags(insn, r);

	if (by <= sem_width(insn))
		sem_add_flag(&flags, SEM_CF, a.mask >> at & 1, a.value >> at & 1);
	return flags;
}

static void shift_by(const struct sem_insn *insn, struct sem_state *state, unsigned int by)
{
	unsigned int nr = sem_width(insn);
	struct known a = sem_get(insn, state, 0), r;

	if (insn->op == SEM_SHL)
		sem_becomes(insn, state, 0, by < 64 ? shift_left(a, by) : known_all(0));
	else if (insn->op == SEM_SHR)
		sem_becomes(insn, state, 0, shift_right(a, by));
	else
		sem_becomes(insn, state, 0, (struct known){
			(uint64_t)((int64_t)known_sign_extend(a, nr).value >> by),
			(uint64_t)((int64_t)known_sign_extend(a, nr).mask >> by) });
	r = result(insn, state, sem_got(insn, state, 0));
	sem_set_flags(insn, state, shift_flags(insn, a, r, by));
	if (by >= nr)
		return;
	sem_was(insn, state, 0, bit_was(state, last_out(insn, by)));
	if (insn->op == SEM_SHL)
		sem_was(insn, state, 0, known_only(shift_right(r, by), known_bits(nr - by)));
	else
		sem_was(insn, state, 0,
			known_only(shift_left(known_low(r, nr), by),
				   known_bits(nr) & ~known_bits(by)));
}

static void rotate_by(const struct sem_insn *insn, struct sem_state *state, unsigned int by)
{
	unsigned int nr = sem_width(insn);

	by %= nr;
	if (insn->op == SEM_ROR)
		by = (nr - by) % nr;
	sem_becomes(insn, state, 0, rotate_left(sem_get(insn, state, 0), by, nr));
	sem_was(insn, state, 0, rotate_left(sem_got(insn, state, 0), (nr - by) % nr, nr));
}

/* SDM: the count is masked to 5 bits, of 64-bit operands to 6.  None changes no flag. */
static void apply_shift(const struct sem_insn *insn, struct sem_state *state)
{
	unsigned int count_bits = insn->operands[0].bytes == 8 ? 6 : 5;
	struct known count = sem_get(insn, state, 1);
	unsigned int by = (unsigned int)(count.value & known_bits(count_bits));

	if (!known_is_all(count, count_bits))
		return;
	if (!by) {
		sem_becomes(insn, state, 0, sem_get(insn, state, 0));
		sem_was(insn, state, 0, sem_got(insn, state, 0));
	} else if (insn->op == SEM_ROL || insn->op == SEM_ROR) {
		rotate_by(insn, state, by);
	} else {
		shift_by(insn, state, by);
	}
}

/* --- Bits --------------------------------------------------------------- */

static void apply_bit_test(const struct sem_insn *insn, struct sem_state *state)
{
	unsigned int nr = sem_width(insn);
	struct known index = sem_get(insn, state, 1), a = sem_get(insn, state, 0);
	struct known flags = known_none(), r = a;
	uint64_t bit;

	/* With memory and a register the index may lead anywhere. */
	if (!known_is_all(index, nr == 64 ? 6 : 5) ||
	    (insn->operands[0].kind != SEM_REGISTER && insn->operands[1].kind != SEM_IMMEDIATE))
		return;
	bit = 1ULL << (index.value & (nr - 1));
	sem_add_flag(&flags, SEM_CF, a.mask & bit, a.value & bit);
	sem_set_flags(insn, state, flags);
	sem_was(insn, state, 0, bit_was(state, index.value & (nr - 1)));
	if (insn->op == SEM_BT)
		return;
	if (insn->op == SEM_BTS)
		r = (struct known){ a.value | bit, a.mask | bit };
	else if (insn->op == SEM_BTR)
		r = (struct known){ a.value & ~bit, a.mask | bit };
	else
		r.value ^= bit & r.mask;
	sem_becomes(insn, state, 0, r);
	sem_was(insn, state, 0, known_only(sem_got(insn, state, 0), ~bit));
}

/*
 * Only of what is known whole.  BSF and BSR of 0 leave something that the SDM does not define, and
 * processors without BMI1 take TZCNT for BSF; LZCNT, another one's BSR, is not in the table.
 */
static void apply_count(const struct sem_insn *insn, struct sem_state *state)
{
	unsigned int nr = sem_width(insn);
	struct known a = known_low(sem_get(insn, state, 1), nr), flags = known_none();
	bool bit_scan = insn->op == SEM_BSF || insn->op == SEM_BSR;
	uint64_t r;

	if (a.mask != UINT64_MAX)
		return;
	if (bit_scan)
		sem_add_flag(&flags, SEM_ZF, true, !a.value);
	sem_set_flags(insn, state, flags);
	if (insn->op != SEM_POPCNT && !a.value)
		return;
	if (insn->op == SEM_POPCNT)
		r = (uint64_t)__builtin_popcountll(a.value);
	else if (insn->op == SEM_BSR)
		r = 63 - (uint64_t)__builtin_clzll(a.value);
	else
		r = (uint64_t)__builtin_ctzll(a.value);
	sem_becomes(insn, state, 0, known_all(r));
}

static void apply_bswap(const struct sem_insn *insn, struct sem_state *state)
{
	unsigned int unused = 64 - sem_width(insn);
	struct known a = sem_get(insn, state, 0), r;

	sem_becomes(insn, state, 0, (struct known){ __builtin_bswap64(a.value) >> unused,
						__builtin_bswap64(a.mask) >> unused });
	r = sem_got(insn, state, 0);
	sem_was(insn, state, 0, (struct known){ __builtin_bswap64(r.value) >> unused,
					    __builtin_bswap64(r.mask) >> unused });
}

/* Of two or three operands, and only what is known whole. */
static void apply_imul(const struct sem_insn *insn, struct sem_state *state)
{
	unsigned int nr = sem_width(insn);
	unsigned int first = insn->operands[2].kind ? 1 : 0;
	struct known a = sem_get(insn, state, first), b = sem_get(insn, state, first + 1);
	unsigned int zeros;
	uint64_t mask;

	if (!insn->operands[1].kind)
		return;
	zeros = (unsigned int)__builtin_ctzll(~(a.mask & b.mask) | (1ULL << 63));
	mask = (a.mask & b.mask) == UINT64_MAX ? UINT64_MAX : known_bits(zeros);
	sem_becomes(insn, state, 0,
		    (struct known){(a.value * b.value) & mask & known_bits(nr), mask});
}

/* --- All of them -------------------------------------------------------- */

void sem_apply_arithmetic(const struct sem_insn *insn, struct sem_state *state)
{
	struct known carry = known_only(sem_flag(state->before[SEM_FLAGS], SEM_CF), 1);

	switch (insn->op) {
	case SEM_ADD: apply_add(insn, state, known_all(0)); break;
	case SEM_ADC: apply_add(insn, state, carry); break;
	case SEM_SUB: apply_sub(insn, state, known_all(0)); break;
	case SEM_SBB: apply_sbb(insn, state, carry); break;
	case SEM_CMP: apply_cmp(insn, state); break;
	case SEM_TEST: apply_test(insn, state); break;
	case SEM_AND:
	case SEM_OR: apply_and_or(insn, state); break;
	case SEM_XOR: apply_xor(insn, state); break;
	case SEM_ZERO: apply_zero(insn, state); break;
	case SEM_INC: apply_step(insn, state, 1); break;
	case SEM_DEC: apply_step(insn, state, UINT64_MAX); break;
	case SEM_NEG: apply_neg(insn, state); break;
	case SEM_NOT: apply_not(insn, state); break;
	case SEM_IMUL: apply_imul(insn, state); break;
	default: break;
	}
}

void sem_apply_bits(const struct sem_insn *insn, struct sem_state *state)
{
	switch (insn->op) {
	case SEM_SHL: case SEM_SHR: case SEM_SAR: case SEM_ROL: case SEM_ROR:
		apply_shift(insn, state);
		break;
	case SEM_BT: case SEM_BTS: case SEM_BTR: case SEM_BTC:
		apply_bit_test(insn, state);
		break;
	case SEM_BSF: case SEM_BSR: case SEM_TZCNT: case SEM_POPCNT:
		apply_count(insn, state);
		break;
	default:
		apply_bswap(insn, state);
		break;
	}
}
