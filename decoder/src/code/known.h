/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values whose bits are known in part, and what operations make of them.  Pure. */
#ifndef BTSREC_KNOWN_H
#define BTSREC_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

/** struct known - 64 bits, those of @mask are known; the others are 0 in @value */
struct known {
	uint64_t value;
	uint64_t mask;
};

/** known_all() - all 64 bits are */
static inline struct known known_all(uint64_t value)
{
	return (struct known){ value, UINT64_MAX };
}

/** known_is_all() - whether the lowest @nr_bits are */
static inline bool known_is_all(struct known known, unsigned int nr_bits)
{
	uint64_t bits = nr_bits < 64 ? (1ULL << nr_bits) - 1 : UINT64_MAX;

	return (known.mask & bits) == bits;
}

/** known_bits() - the lowest @nr, 64 at most */
static inline uint64_t known_bits(unsigned int nr)
{
	return nr < 64 ? (1ULL << nr) - 1 : UINT64_MAX;
}

/** known_none() - no bit is */
static inline struct known known_none(void)
{
	return (struct known){ 0, 0 };
}

/** known_low() - the lowest @nr bits, and above them zeros */
static inline struct known known_low(struct known from, unsigned int nr)
{
	return (struct known){ from.value & known_bits(nr), from.mask | ~known_bits(nr) };
}

/** known_only() - of @from those of @mask */
static inline struct known known_only(struct known from, uint64_t mask)
{
	return (struct known){ from.value & mask, from.mask & mask };
}

/* Of each bit that an operation makes of known ones. */
static inline struct known known_not(struct known a)
{
	return (struct known){ ~a.value & a.mask, a.mask };
}

static inline struct known known_and(struct known a, struct known b)
{
	uint64_t zeros = (a.mask & ~a.value) | (b.mask & ~b.value);

	return (struct known){ a.value & b.value, zeros | (a.mask & b.mask) };
}

static inline struct known known_or(struct known a, struct known b)
{
	return known_not(known_and(known_not(a), known_not(b)));
}

static inline struct known known_xor(struct known a, struct known b)
{
	uint64_t mask = a.mask & b.mask;

	return (struct known){ (a.value ^ b.value) & mask, mask };
}

/** known_between() - the bits that all numbers from @min to @max begin with */
static inline struct known known_between(uint64_t min, uint64_t max)
{
	uint64_t mask = min == max ? UINT64_MAX : ~(UINT64_MAX >> __builtin_clzll(min ^ max));

	return (struct known){ min & mask, mask };
}

/* Has @sum, of the two and maybe 1, lost a bit?  Hacker's Delight, 2-13. */
static inline bool known_overflows(uint64_t a, uint64_t b, uint64_t sum)
{
	return ((a & b) | ((a | b) & ~sum)) >> 63;
}

/**
 * known_add_carry() - @a + @b + the lowest bit of @carry: a bit of a sum is known where both bits
 * and the carry into it are
 */
static inline struct known known_add_carry(struct known a, struct known b, struct known carry)
{
	uint64_t a_max = a.value | ~a.mask, b_max = b.value | ~b.mask;
	uint64_t max = a_max + b_max + (carry.mask & 1 ? carry.value & 1 : 1);
	uint64_t min = a.value + b.value + (carry.value & carry.mask & 1);
	uint64_t carry_zero = ~(max ^ a_max ^ b_max), carry_one = min ^ a.value ^ b.value;
	uint64_t mask = a.mask & b.mask & (carry_zero | carry_one);

	/* Between two numbers the bits that both begin with do not change. */
	if (known_overflows(a_max, b_max, max) == known_overflows(a.value, b.value, min))
		mask |= known_between(min, max).mask;
	return (struct known){ min & mask, mask };
}

/** known_add() - @a + @b + @carry */
static inline struct known known_add(struct known a, struct known b, bool carry)
{
	return known_add_carry(a, b, known_all(carry));
}

/** known_sub() - @a - @b */
static inline struct known known_sub(struct known a, struct known b)
{
	return known_add(a, known_not(b), true);
}

/** known_sign_extend() - the lowest @nr bits, and above them the highest of these */
static inline struct known known_sign_extend(struct known from, unsigned int nr)
{
	struct known sign = { from.value >> (nr - 1) & 1, from.mask >> (nr - 1) & 1 };
	struct known ret = known_only(from, known_bits(nr));

	if (sign.mask) {
		ret.mask |= ~known_bits(nr);
		ret.value |= sign.value ? ~known_bits(nr) : 0;
	}
	return ret;
}

/** known_merge() - what @from knows, @to knows; false: they disagree, or nothing is new */
static inline bool known_merge(struct known *to, struct known from, bool *contradiction)
{
	uint64_t news = from.mask & ~to->mask;

	if (to->mask & from.mask & (to->value ^ from.value)) {
		*contradiction = true;
		return false;
	}
	to->mask |= news;
	to->value |= from.value & news;
	return news;
}

#endif /* BTSREC_KNOWN_H */
