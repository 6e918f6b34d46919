// SPDX-License-Identifier: GPL-2.0-or-later
/* What only other callers than the command line ask of a timeline. */
#include <string.h>

#include "historyfix.h"

struct text {
	char bytes[4096];
	size_t nr_bytes;
};

static bool keep(void *arg, const char *bytes, size_t nr_bytes)
{
	struct text *text = arg;

	ck_assert_uint_lt(text->nr_bytes + nr_bytes, sizeof(text->bytes));
	memcpy(text->bytes + text->nr_bytes, bytes, nr_bytes);
	text->nr_bytes += nr_bytes;
	return true;
}

static void print_timeline(struct btsrec_filter filter, struct text *ret)
{
	const struct btsrec_timeline opts = { .size = sizeof(opts), .filter = &filter };
	const struct btsrec_sink sink = { .write = keep, .arg = ret };

	filter.size = sizeof(filter);
	memset(ret, 0, sizeof(*ret));
	btsrec_ck_ok(btsrec_timeline(rec, &opts, &sink));
}

/* Where there are no branches, which branches are wanted must not take away all else. */
START_TEST(branches_are_not_filtered)
{
	static const struct btsrec_filter filters[] = {
		{ .symbols = "panic" },
		{ .ranges = "ffffffff81000000-ffffffff81000fff" },
		{ .types = "call" },
		{ .kernel = true },
	};
	struct text all, filtered;

	setup(33);
	fixture_branches(fix, 1, 0, 8, 0);
	fixture_annotation(fix, 1, 8, BTSREC_ANNOT_TIME, 2, 8);
	fixture_freeze(fix, 1, 10);
	open_and_locate();
	print_timeline((struct btsrec_filter){0}, &all);
	ck_assert_ptr_nonnull(strstr(all.bytes, "freeze"));
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		print_timeline(filters[i], &filtered);
		ck_assert_str_eq(filtered.bytes, all.bytes);
	}
	teardown();
}
END_TEST

BTSREC_CK_MAIN("view_timeline", branches_are_not_filtered)
