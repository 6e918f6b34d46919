// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "nearest.h"

/* Of the commands and options that there are. */
static const char *const words[] = {
	"show", "insns", "calls", "check", "stack", "types", "newest-first", "no-names", "no-user",
};

static const char *nearest_word(const char *typed)
{
	struct nearest nearest = nearest_to(typed);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		nearest_offer(&nearest, words[i]);
	return nearest.word;
}

START_TEST(one_edit)
{
	ck_assert_str_eq(nearest_word("shwo"), "show");
	ck_assert_str_eq(nearest_word("shows"), "show");
	ck_assert_str_eq(nearest_word("sow"), "show");
	ck_assert_str_eq(nearest_word("tipes"), "types");
	ck_assert_str_eq(nearest_word("chekc"), "check");
}
END_TEST

START_TEST(more_of_longer_words)
{
	ck_assert_str_eq(nearest_word("newst-frist"), "newest-first");
	ck_assert_str_eq(nearest_word("nonames"), "no-names");
}
END_TEST

START_TEST(not_typed_to_the_end)
{
	ck_assert_str_eq(nearest_word("newest"), "newest-first");
	ck_assert_str_eq(nearest_word("st"), "stack");
	ck_assert_ptr_null(nearest_word("s"));
}
END_TEST

/* A word that only shares letters would mislead. */
START_TEST(nothing_is_near)
{
	ck_assert_ptr_null(nearest_word(""));
	ck_assert_ptr_null(nearest_word("frobnicate"));
	ck_assert_ptr_null(nearest_word("hsow1"));
	ck_assert_ptr_null(nearest_word("a-word-that-is-longer-than-any-name"));
}
END_TEST

BTSREC_CK_MAIN("nearest", one_edit, more_of_longer_words, not_typed_to_the_end, nothing_is_near)
