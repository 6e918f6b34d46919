// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "check_btsrec.h"
#include "tally/signature.h"

#define PAGE_FAULT	"exception", 14
#define PANIC_CALL	"call", -1

static bool add(struct signature *signature, const char *name, const char *module)
{
	return signature_add(signature, name, strlen(name), module);
}

/* The hash of what the manual page says, computed by another program. */
START_TEST(the_hash_is_as_documented)
{
	struct signature signature;

	signature_begin(&signature, "panic", PANIC_CALL);
	ck_assert(add(&signature, "sysrq_handle_crash", ""));
	ck_assert(add(&signature, "on_write", "driver"));
	signature_end(&signature, true);
	/* printf 'v2\npanic\ncall\nsysrq_handle_crash\non_write [driver]\n', FNV-1a */
	ck_assert_uint_eq(signature.hash, 0x38742d5cf829931eULL);
	ck_assert(signature.complete);
	signature_begin(&signature, "oops", PAGE_FAULT);
	ck_assert(add(&signature, "f", ""));
	/* printf 'v2\noops\nexception\n14\nf\n' */
	ck_assert_uint_eq(signature.hash, 0xbdbf9229cd4b8512ULL);
}
END_TEST

START_TEST(what_compilers_add_is_left_out)
{
	static const char *const same[] = {
		"foo", "foo.isra.0", "foo.constprop.0", "foo.part.0.cold", "foo.llvm.123",
	};
	struct signature first, other;

	signature_begin(&first, "oops", PAGE_FAULT);
	ck_assert(add(&first, "foo", ""));
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		signature_begin(&other, "oops", PAGE_FAULT);
		ck_assert(add(&other, same[i], ""));
		ck_assert_uint_eq(other.hash, first.hash);
	}
	signature_begin(&other, "oops", PAGE_FAULT);
	ck_assert(add(&other, ".foo", ""));
	ck_assert_str_eq(other.names[0], ".foo");
}
END_TEST

START_TEST(parts_of_a_function_count_once)
{
	struct signature signature;
	uint64_t hash;

	signature_begin(&signature, "oops", PAGE_FAULT);
	ck_assert(add(&signature, "foo.part.0", ""));
	hash = signature.hash;
	ck_assert(add(&signature, "foo", ""));
	ck_assert_uint_eq(signature.hash, hash);
	ck_assert(add(&signature, "foo", "module"));
	ck_assert_uint_ne(signature.hash, hash);
	ck_assert_uint_eq(signature.nr_names, 2);
}
END_TEST

START_TEST(all_of_it_matters)
{
	struct signature a, b;

	signature_begin(&a, "oops", PAGE_FAULT);
	signature_begin(&b, "panic", PAGE_FAULT);
	ck_assert_uint_ne(a.hash, b.hash);
	signature_begin(&b, "oops", "exception", 13);
	ck_assert_uint_ne(a.hash, b.hash);
	signature_begin(&b, "oops", PANIC_CALL);
	ck_assert_uint_ne(a.hash, b.hash);
}
END_TEST

START_TEST(eight_names_are_enough)
{
	char name[2] = "a";
	struct signature signature;
	uint64_t hash;

	signature_begin(&signature, "oops", PAGE_FAULT);
	for (; name[0] < 'a' + SIGNATURE_MAX_NAMES; name[0]++)
		ck_assert(add(&signature, name, ""));
	hash = signature.hash;
	ck_assert(!add(&signature, name, ""));
	ck_assert_uint_eq(signature.hash, hash);
	signature_end(&signature, false);
	ck_assert(signature.complete);
	signature_begin(&signature, "oops", PAGE_FAULT);
	ck_assert(add(&signature, name, ""));
	signature_end(&signature, false);
	ck_assert(!signature.complete);
}
END_TEST

START_TEST(long_names_are_cut)
{
	char name[2 * SIGNATURE_NAME_BYTES];
	struct signature signature;

	memset(name, 'x', sizeof(name));
	signature_begin(&signature, "oops", PAGE_FAULT);
	ck_assert(signature_add(&signature, name, sizeof(name), "module"));
	ck_assert_uint_eq(strlen(signature.names[0]), SIGNATURE_NAME_BYTES - 1);
}
END_TEST

BTSREC_CK_MAIN("signature", the_hash_is_as_documented, what_compilers_add_is_left_out,
	       parts_of_a_function_count_once, all_of_it_matters, eight_names_are_enough,
	       long_names_are_cut)
