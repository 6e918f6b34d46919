// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "base/options.h"

/* What a library knows, and what a caller that is newer gives. */
struct known {
	size_t size;
	uint64_t a;
	uint64_t b;
};

struct newer {
	size_t size;
	uint64_t a;
	uint64_t b;
	uint64_t c;
};

static struct msg msg;

static struct known dirty(void)
{
	struct known ret;

	memset(&ret, DIRT, sizeof(ret));
	msg_clear(&msg);
	return ret;
}

START_TEST(same_age_is_copied)
{
	const struct known given = { .size = sizeof(given), .a = 1, .b = 2 };
	struct known ret = dirty();

	btsrec_ck_ok(options_read(&msg, &given, &ret, sizeof(ret)));
	ck_assert_uint_eq(ret.size, sizeof(ret));
	ck_assert_uint_eq(ret.a, 1);
	ck_assert_uint_eq(ret.b, 2);
}
END_TEST

START_TEST(nothing_given_is_zero)
{
	struct known ret = dirty();

	btsrec_ck_ok(options_read(&msg, NULL, &ret, sizeof(ret)));
	ck_assert_uint_eq(ret.size, sizeof(ret));
	ck_assert_uint_eq(ret.a, 0);
	ck_assert_uint_eq(ret.b, 0);
}
END_TEST

/* What is beyond an older caller's structure is not read, whatever it is. */
START_TEST(older_caller_has_zeros)
{
	const struct known given = { .size = offsetof(struct known, b), .a = 1, .b = UINT64_MAX };
	struct known ret = dirty();

	btsrec_ck_ok(options_read(&msg, &given, &ret, sizeof(ret)));
	ck_assert_uint_eq(ret.size, sizeof(ret));
	ck_assert_uint_eq(ret.a, 1);
	ck_assert_uint_eq(ret.b, 0);
}
END_TEST

START_TEST(oldest_caller_has_a_size_only)
{
	const struct known given = { .size = sizeof(given.size), .a = UINT64_MAX };
	struct known ret = dirty();

	btsrec_ck_ok(options_read(&msg, &given, &ret, sizeof(ret)));
	ck_assert_uint_eq(ret.a, 0);
}
END_TEST

START_TEST(newer_caller_with_zeros_is_understood)
{
	const struct newer given = { .size = sizeof(given), .a = 1, .b = 2 };
	struct known ret = dirty();

	btsrec_ck_ok(options_read(&msg, &given, &ret, sizeof(ret)));
	ck_assert_uint_eq(ret.size, sizeof(ret));
	ck_assert_uint_eq(ret.b, 2);
}
END_TEST

/* Any bit of it, also the last. */
START_TEST(newer_caller_with_a_new_option_is_refused)
{
	const struct newer given = { .size = sizeof(given), .c = 1ULL << 63 };
	struct known ret = dirty();

	btsrec_ck_fails(options_read(&msg, &given, &ret, sizeof(ret)), BTSREC_ERR_TOO_NEW,
			msg.text, "options of 32 bytes: this library knows the first 24");
}
END_TEST

START_TEST(size_that_is_not_set_is_refused)
{
	for (size_t size = 0; size < sizeof(size_t); size++) {
		const struct known given = { .size = size };
		struct known ret = dirty();

		btsrec_ck_fails(options_read(&msg, &given, &ret, sizeof(ret)), BTSREC_ERR_INVAL,
				msg.text, "their size is not set");
	}
}
END_TEST

START_TEST(filter_is_replaced)
{
	const struct btsrec_filter given = { .size = sizeof(given), .pids = "7" };
	const struct btsrec_filter *filter = &given;
	struct btsrec_filter ret;

	msg_clear(&msg);
	btsrec_ck_ok(options_filter(&msg, &filter, &ret));
	ck_assert_ptr_eq(filter, &ret);
	ck_assert_str_eq(ret.pids, "7");
	filter = NULL;
	btsrec_ck_ok(options_filter(&msg, &filter, &ret));
	ck_assert_ptr_eq(filter, &ret);
	ck_assert_ptr_null(ret.pids);
}
END_TEST

START_TEST(filter_without_size_is_refused)
{
	const struct btsrec_filter given = { .pids = "7" }, *filter = &given;
	struct btsrec_filter ret;

	msg_clear(&msg);
	btsrec_ck_status(options_filter(&msg, &filter, &ret), BTSREC_ERR_INVAL);
}
END_TEST

BTSREC_CK_MAIN("options", same_age_is_copied, nothing_given_is_zero, older_caller_has_zeros,
	       oldest_caller_has_a_size_only, newer_caller_with_zeros_is_understood,
	       newer_caller_with_a_new_option_is_refused, size_that_is_not_set_is_refused,
	       filter_is_replaced, filter_without_size_is_refused)
