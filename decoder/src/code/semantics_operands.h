/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of semantics.h share: operands and flags.  @i: operand number i. */
#ifndef BTSREC_SEMANTICS_OPERANDS_H
#define BTSREC_SEMANTICS_OPERANDS_H

#include "code/semantics.h"

/** sem_merge() - @to is @from, too; a contradiction is noted in @state */
void sem_merge(struct sem_state *state, struct known *to, struct known from);

/** sem_get(), sem_got() - an operand as it is read, and as it is written; zeros above its width */
struct known sem_get(const struct sem_insn *insn, const struct sem_state *state, unsigned int i);
struct known sem_got(const struct sem_insn *insn, const struct sem_state *state, unsigned int i);

/** sem_was() - it turns out what operand @i was */
void sem_was(const struct sem_insn *insn, struct sem_state *state, unsigned int i,
	     struct known value);

/** sem_becomes() - it becomes @value: what of a register is not written stays, or is cleared */
void sem_becomes(const struct sem_insn *insn, struct sem_state *state, unsigned int i,
		 struct known value);

/** sem_width() - of the first operand, in bits */
unsigned int sem_width(const struct sem_insn *insn);

/** sem_flag() - the flag @flag as bit 0; the other bits are known zeros */
struct known sem_flag(const struct known *flags, uint64_t flag);

/** sem_add_flag() - @flag, 0 in *@flags so far, is @value, if that is @known */
void sem_add_flag(struct known *flags, uint64_t flag, bool known, bool value);

/** sem_result_flags() - zero, sign and parity of a result */
struct known sem_result_flags(const struct sem_insn *insn, struct known result);

/**
 * sem_sum_flags() - flags of @a + @b + @carry = @r
 * @borrow: @b and @carry are those of a subtraction, inverted.
 */
struct known sem_sum_flags(const struct sem_insn *insn, struct known a, struct known b,
			   struct known carry, struct known r, bool borrow);

/** sem_set_flags() - those that the instruction defines are as in @flags */
void sem_set_flags(const struct sem_insn *insn, struct sem_state *state, struct known flags);

/** sem_result_said() - @r is the result, and what the flags behind say of it, too */
struct known sem_result_said(const struct sem_insn *insn, struct sem_state *state, struct known r);

/** sem_condition() - whether condition @cc holds: bit 0 of what is returned */
struct known sem_condition(const struct known *flags, uint8_t cc);

/** sem_condition_was() - it turns out that condition @cc was @holds */
void sem_condition_was(struct sem_state *state, uint8_t cc, bool holds);

/* sem_apply() for SEM_ADD to SEM_NOT and SEM_IMUL, and for SEM_SHL to SEM_POPCNT and SEM_BSWAP. */
void sem_apply_arithmetic(const struct sem_insn *insn, struct sem_state *state);
void sem_apply_bits(const struct sem_insn *insn, struct sem_state *state);

#endif /* BTSREC_SEMANTICS_OPERANDS_H */
