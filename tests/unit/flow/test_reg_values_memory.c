// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/reg_values_memory.h"

#include "check_btsrec.h"

#define AT 0xffff888000001000ULL

static struct memory memory;

static void ck_known(uint64_t address, unsigned int nr_bytes, uint64_t value, uint64_t mask)
{
	struct known known = memory_get(&memory, address, nr_bytes);

	ck_assert_uint_eq(known.value, value);
	ck_assert_uint_eq(known.mask & known_bits(nr_bytes * 8), mask);
}

START_TEST(pieces)
{
	memory_forget(&memory);
	ck_known(AT, 8, 0, 0);
	memory_set(&memory, AT + 6, 4, known_all(0x11223344));
	ck_known(AT + 6, 4, 0x11223344, 0xffffffff);
	ck_known(AT, 8, 0x3344000000000000, 0xffff000000000000);
	ck_known(AT + 8, 1, 0x22, 0xff);
	ck_assert(memory_has(&memory, AT, 8));
	ck_assert(memory_has(&memory, AT + 4, 8));
	ck_assert(!memory_has(&memory, AT + 9, 8));
	memory_set(&memory, AT + 7, 2, known_none());
	ck_known(AT + 6, 4, 0x11000044, 0xff0000ff);
	memory_set(&memory, AT, 8, (struct known){ 0x10, 0xf0 });
	ck_known(AT, 8, 0x10, 0xf0);
	memory_forget(&memory);
	ck_assert(!memory_has(&memory, AT, 1));
	ck_known(AT, 8, 0, 0);
	memory_fini(&memory);
}
END_TEST

START_TEST(many_words)
{
	memory_forget(&memory);
	for (uint64_t i = 0; i < 20000; i++)
		memory_set(&memory, AT + 64 * i, 8, known_all(i));
	for (uint64_t i = 0; i < 20000; i++)
		ck_known(AT + 64 * i, 8, i, UINT64_MAX);
	ck_assert(!memory.nomem);
	memory_fini(&memory);
}
END_TEST

BTSREC_CK_MAIN("reg_values_memory", pieces, many_words)
