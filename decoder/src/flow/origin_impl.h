/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of origin.h share. */
#ifndef BTSREC_ORIGIN_IMPL_H
#define BTSREC_ORIGIN_IMPL_H

#include "flow/origin.h"
#include "flow/value_numbers.h"

#define WORD_BYTES 8

/* Values up to here are everywhere. */
#define ORIGIN_MAX_COMMON 0xff

/**
 * struct search - one way back
 * @target: what is looked for now.
 * @class: of the chain so far.
 * @begun: the first step back was seen.
 * @unsure: since the load stores to unknown addresses were passed, or what was not followed.
 * @sought: what the memory held in front of this place is looked for.
 * @expected: what was loaded, as far as it is known.
 * @suspect: if @has_suspect, the newest store of that value to an address that is not known.
 * @resume: what ran from this place on was the handler of an interrupt, and the register is one
 *	of what it came upon.
 * @done: the chain has its end.
 */
struct search {
	struct reg_values *values;
	const struct origin_question *question;
	struct origin *origin;
	struct origin_target target;
	enum origin_class class;
	bool unsure;
	uint32_t sought;
	struct known expected;
	struct origin_hop suspect;
	bool has_suspect;
	bool begun;
	uint32_t resume;
	bool done;
};

/** origin_worse() - the class of what rests on both */
static inline enum origin_class origin_worse(enum origin_class a, enum origin_class b)
{
	return a > b ? a : b;
}

/** origin_known() - what is known of @reg before or behind a step */
struct known origin_known(const struct reg_values_at *at, unsigned int reg, bool behind,
			  enum origin_class *ret);

/** origin_address() - where the step loads or stores */
struct known origin_address(const struct reg_values *values, const struct reg_values_step *step,
			    bool is_store, enum origin_class *ret);

/** origin_set_number() - the number of that place, if it has one */
void origin_set_number(const struct search *search, const struct reg_values_step *step,
		       bool is_store, struct origin_target *ret);

/** origin_add() - the next hop */
struct origin_hop *origin_add(struct search *search, enum origin_kind kind,
			      const struct reg_values_step *step);

/** origin_add_reg() - the same, with the value that the register has behind the step */
struct origin_hop *origin_add_reg(struct search *search, enum origin_kind kind,
				  const struct reg_values_step *step);

/** origin_follow() - from here on back, @reg is looked for */
void origin_follow(struct search *search, uint8_t reg);

/** origin_written() - the step writes the register that is looked for */
void origin_written(struct search *search, const struct reg_values_step *step);

/** origin_stores() - does it store? */
bool origin_stores(const struct sem_insn *insn);

/** origin_nr_stored() - how many bytes it stores, from *@address on; 0: not known */
uint64_t origin_nr_stored(const struct reg_values *values, const struct reg_values_step *step,
			  uint64_t *address, enum origin_class *ret);

/** origin_overlaps() - do @nr_bytes bytes at @address touch the target? */
bool origin_overlaps(const struct origin_target *target, uint64_t address, uint64_t nr_bytes);

/** origin_stored() - the step stores, and memory is looked for */
void origin_stored(struct search *search, const struct reg_values_step *step);

/** origin_is_counted() - are the last two hops rounds of a loop, and @insn, which counts, again? */
bool origin_is_counted(const struct origin *origin, const struct sem_insn *insn);

/** origin_is_private() - could nobody have stored to the word of the stack by a pointer to it? */
bool origin_is_private(const struct search *search);

/** origin_add_suspect() - at the end, if the chain was lost in memory */
void origin_add_suspect(struct search *search);

#endif /* BTSREC_ORIGIN_IMPL_H */
