/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which versions of registers hold the same value, whatever it is: each is a distance from a
 * root.  So two accesses can be known to be of one place whose address is not known.  Pure.
 *
 * Words of memory are followed by such places, too.  A store to another place is taken to be
 * elsewhere, so what rests on these numbers is likely, not certain.
 */
#ifndef BTSREC_VALUE_NUMBERS_H
#define BTSREC_VALUE_NUMBERS_H

#include "flow/reg_values.h"

/** struct value_number - @offset bytes from what @root stands for; root 0: the number itself */
struct value_number {
	uint64_t root;
	uint64_t offset;
};

/** struct value_numbers - one for each version of @values; owned */
struct value_numbers;

/** value_numbers_new() - of all that ran; NULL: out of memory; free with value_numbers_free() */
struct value_numbers *value_numbers_new(struct reg_values *values);
void value_numbers_free(struct value_numbers *numbers);

/**
 * value_numbers_address() - where the operand in memory of @step is, or the word that it pushes
 * or pops
 *
 * Return: false: not even that is known.
 */
bool value_numbers_address(const struct value_numbers *numbers,
			   const struct reg_values_step *step, bool is_store,
			   struct value_number *ret);

#endif /* BTSREC_VALUE_NUMBERS_H */
