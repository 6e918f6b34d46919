// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "kernel/poison.h"

static void check(uint64_t value, const char *wanted)
{
	char text[POISON_TEXT_BYTES];

	if (wanted)
		ck_assert_str_eq(poison_text(value, text), wanted);
	else
		ck_assert_ptr_null(poison_text(value, text));
}

START_TEST(errors)
{
	check((uint64_t)-1, "as the error -EPERM");
	check((uint64_t)-12, "as the error -ENOMEM");
	check((uint64_t)-4095, "as the error -4095");
	check((uint64_t)-4096, NULL);
	check(0, NULL);
	check(12, NULL);
}
END_TEST

START_TEST(poison)
{
	check(0xdead000000000100ULL, "as LIST_POISON1, of what left a list");
	check(0xdead000000000122ULL, "as LIST_POISON2, of what left a list");
	check(0x6b6b6b6b6b6b6b6bULL, "as POISON_FREE, of freed objects");
	check(0x5a5a5a5a5a5a5a5aULL, "as POISON_INUSE, of objects not initialised");
	check(0xdead000000000101ULL, NULL);
	check(0x6b6b6b6b, NULL);
}
END_TEST

BTSREC_CK_MAIN("poison", errors, poison)
