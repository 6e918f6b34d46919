// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "base/status.h"

static struct msg msg;

static void dirty(void)
{
	memset(&msg, DIRT, sizeof(msg));
	msg_clear(&msg);
}

START_TEST(clear_makes_it_empty)
{
	dirty();
	ck_assert_str_eq(msg.text, "");
}
END_TEST

START_TEST(set_replaces_and_returns_the_status)
{
	dirty();
	btsrec_ck_status(msg_set(&msg, BTSREC_ERR_IO, "old"), BTSREC_ERR_IO);
	btsrec_ck_fails(msg_set(&msg, BTSREC_ERR_NOMEM, "page %d", 3), BTSREC_ERR_NOMEM, msg.text,
			"page 3");
	ck_assert_str_eq(msg.text, "page 3");
}
END_TEST

START_TEST(prepend_to_empty_has_no_separator)
{
	dirty();
	btsrec_ck_status(msg_prepend(&msg, BTSREC_ERR_IO, "outer"), BTSREC_ERR_IO);
	ck_assert_str_eq(msg.text, "outer");
}
END_TEST

START_TEST(prepend_puts_the_outermost_first)
{
	dirty();
	msg_set(&msg, BTSREC_ERR_IO, "cause");
	msg_prepend(&msg, BTSREC_ERR_IO, "inner");
	msg_prepend(&msg, BTSREC_ERR_IO, "outer %s", "one");
	ck_assert_str_eq(msg.text, "outer one: inner: cause");
}
END_TEST

START_TEST(append_joins_equals)
{
	dirty();
	msg_append(&msg, "a");
	msg_append(&msg, "b%d", 1);
	ck_assert_str_eq(msg.text, "a; b1");
}
END_TEST

START_TEST(overflow_is_cut)
{
	char big[MSG_BYTES + 10];

	dirty();
	memset(big, 'x', sizeof(big));
	big[sizeof(big) - 1] = '\0';
	msg_set(&msg, BTSREC_ERR_IO, "%s", big);
	ck_assert_uint_eq(strlen(msg.text), MSG_BYTES - 1);
	msg_prepend(&msg, BTSREC_ERR_IO, "outer");
	ck_assert_uint_eq(strlen(msg.text), MSG_BYTES - 1);
	ck_assert_msg(strncmp(msg.text, "outer: xxx", 10) == 0, "%.20s", msg.text);
	msg_append(&msg, "more");
	ck_assert_uint_eq(strlen(msg.text), MSG_BYTES - 1);
}
END_TEST

START_TEST(every_status_has_its_own_words)
{
	for (int i = BTSREC_OK; i <= BTSREC_ERR_TOO_NEW; i++) {
		for (int j = BTSREC_OK; j < i; j++)
			ck_assert_str_ne(btsrec_status_str(i), btsrec_status_str(j));
		ck_assert_str_ne(btsrec_status_str(i), "unknown status");
	}
	ck_assert_str_eq(btsrec_status_str(BTSREC_ERR_TOO_NEW + 1), "unknown status");
}
END_TEST

START_TEST(every_gap_is_one_word)
{
	for (int i = BTSREC_GAP_OVERWRITTEN; i <= BTSREC_GAP_NO_INDEX; i++) {
		const char *word = btsrec_gap_str(i);

		ck_assert_str_ne(word, "unknown");
		ck_assert_uint_eq(strspn(word, "abcdefghijklmnopqrstuvwxyz-"), strlen(word));
		for (int j = BTSREC_GAP_OVERWRITTEN; j < i; j++)
			ck_assert_str_ne(word, btsrec_gap_str(j));
	}
	ck_assert_str_eq(btsrec_gap_str(BTSREC_GAP_NO_INDEX + 1), "unknown");
}
END_TEST

START_TEST(every_reason_has_words)
{
	for (uint32_t i = BTSREC_REASON_NONE; i <= BTSREC_REASON_LBR; i++) {
		ck_assert_str_ne(btsrec_reason_str(i), "unknown");
		for (uint32_t j = BTSREC_REASON_NONE; j < i; j++)
			ck_assert_str_ne(btsrec_reason_str(i), btsrec_reason_str(j));
	}
	ck_assert_str_eq(btsrec_reason_str(BTSREC_REASON_LBR + 1), "unknown");
	ck_assert_str_eq(btsrec_reason_str(UINT32_MAX), "unknown");
}
END_TEST

BTSREC_CK_MAIN("status", clear_makes_it_empty, set_replaces_and_returns_the_status,
	       prepend_to_empty_has_no_separator, prepend_puts_the_outermost_first,
	       append_joins_equals, overflow_is_cut, every_status_has_its_own_words,
	       every_gap_is_one_word, every_reason_has_words)
