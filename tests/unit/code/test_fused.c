// SPDX-License-Identifier: GPL-2.0-or-later
#include "codefix.h"
#include "code/fused.h"

/* What is at TEXT, where the branch goes from there, and how far on it comes from then. */
static const struct {
	const char *text;
	const char *bytes;
	size_t nr_bytes;
	uint64_t to;
	uint64_t from;
} pairs[] = {
#define PAIR(text, bytes, to, from) { text, bytes, sizeof(bytes) - 1, to, from }
	PAIR("cmp %rax,%rbx; je +5", "\x48\x39\xc3\x74\x05", 10, 3),
	PAIR("test %eax,%eax; jne near", "\x85\xc0\x0f\x85\x00\x01\x00\x00", 0x108, 2),
	PAIR("cmp; je elsewhere", "\x48\x39\xc3\x74\x05", 11, 0),
	PAIR("cmp; jmp there", "\x48\x39\xc3\xeb\x05", 10, 0),
	PAIR("cmp; call there", "\x48\x39\xc3\xe8\x05\x00\x00\x00", 13, 0),
	PAIR("je there; je there", "\x74\x05\x74\x03", 7, 0),
	PAIR("ud2; je there", "\x0f\x0b\x74\x05", 9, 0),
	PAIR("cmp; no instruction", "\x48\x39\xc3\x06\x05", 10, 0),
	PAIR("interrupted cmp", "\x48\x39\xc3\x74\x05", 0x1000, 0),
#undef PAIR
};

START_TEST(branch_behind_a_comparison)
{
	struct btsrec_record record = { .from = TEXT, .to = TEXT + pairs[_i].to, .flags = 1 };

	cf_setup();
	cf_put_bytes(TEXT, pairs[_i].bytes, pairs[_i].nr_bytes);
	cf_start();
	fused_find_branch(cf_code, 0, &record);
	ck_assert_msg(record.from == TEXT + pairs[_i].from, "%s: from +%d", pairs[_i].text,
		      (int)(record.from - TEXT));
	ck_assert_uint_eq(record.to, TEXT + pairs[_i].to);
	ck_assert_uint_eq(record.flags, 1);
	cf_finish();
}
END_TEST

START_TEST(no_code)
{
	struct btsrec_record record = { .from = TEXT + 0x100000, .to = TEXT };

	cf_setup();
	cf_start();
	fused_find_branch(cf_code, 0, &record);
	ck_assert_uint_eq(record.from, TEXT + 0x100000);
	cf_finish();
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("fused");

	tcase_set_timeout(tcase, BTSREC_CK_TIMEOUT_S);
	tcase_add_loop_test(tcase, branch_behind_a_comparison, 0,
			    sizeof(pairs) / sizeof(pairs[0]));
	tcase_add_test(tcase, no_code);
	return btsrec_ck_run_case("fused", tcase);
}
