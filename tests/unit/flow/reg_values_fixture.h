/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of reg_values.h begin with: one history, and what is known at a place of it. */
#ifndef BTSREC_REG_VALUES_FIXTURE_H
#define BTSREC_REG_VALUES_FIXTURE_H

#include "flow/reg_values.h"

#include "check_btsrec.h"

#define SP 0xffffc90000003f00ULL

static struct reg_values *values;
static struct reg_values_at at;

static uint32_t insn(uint64_t ip, const char *bytes, size_t nr_bytes)
{
	struct sem_insn decoded;
	uint32_t place;

	ck_assert(sem_decode((const uint8_t *)bytes, nr_bytes, ip, &decoded));
	place = reg_values_insn(values, &decoded);
	ck_assert_uint_ne(place, UINT32_MAX);
	return place;
}

#define INSN(ip, bytes) insn(ip, bytes, sizeof(bytes) - 1)

static void setup(void)
{
	values = reg_values_new();
	ck_assert_ptr_nonnull(values);
}

static void look(uint32_t place)
{
	reg_values_begin(values);
	reg_values_next(values, place, &at);
}

static void ck_is(struct known known, uint64_t value)
{
	ck_assert_uint_eq(known.mask, UINT64_MAX);
	ck_assert_uint_eq(known.value, value);
}

#endif /* BTSREC_REG_VALUES_FIXTURE_H */
