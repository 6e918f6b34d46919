// SPDX-License-Identifier: GPL-2.0-or-later
/* What is remembered of runs: tables that grow, or cannot, and briefs. */
#include "codefix.h"
#include "failing_alloc.h"

/* More runs than the table ever holds: each answer is right all the same. */
START_TEST(many_runs)
{
	unsigned int nr_wrong = 0;

	cf_setup();
	cf_put_nops(TEXT, 33);
	cf_start();
	for (uint64_t start = 0; start < 32 * 4096; start++)
		for (uint64_t nr = 0; nr < 4; nr++)
			nr_wrong += cf_run(TEXT + start, TEXT + start + nr)->nr_insns != nr;
	ck_assert_uint_eq(nr_wrong, 0);
	ck_assert_uint_le(code_runs(cf_code)->nr, CODE_MAX_RUNS);
	cf_finish();
}
END_TEST

START_TEST(no_memory)
{
	struct code_source source = { .image = &cf_image };
	unsigned int nr_wrong = 0;

	cf_setup();
	for (unsigned int nth = 1; nth <= 4; nth++) {
		failing_alloc_arm(nth);
		ck_assert_ptr_null(code_new(&source));
		ck_assert(failing_alloc_disarm());
	}
	/* No pieces, or the table of runs cannot grow and is emptied instead. */
	cf_put_nops(TEXT, 1);
	for (unsigned int nth = 1; nth <= 3; nth++) {
		cf_start();
		failing_alloc_arm(nth);
		for (uint64_t end = 0; end < 4000; end++)
			nr_wrong += cf_run(TEXT, TEXT + end)->nr_insns != end;
		ck_assert(failing_alloc_disarm());
	}
	ck_assert_uint_eq(nr_wrong, 0);
	cf_finish();
}
END_TEST

/* What is known of the run if it is judged to be @judged; 0: its brief does not say. */
static unsigned int judged(uint64_t cr3, uint64_t start, uint64_t end, uint8_t judged)
{
	const struct code_runs *runs = code_runs(cf_code);
	const struct code_brief *brief;

	code_judged(cf_code, code_run(cf_code, cr3, start, end), judged);
	brief = code_known(runs, start, end);
	return brief ? brief->judged : 0;
}

START_TEST(briefs)
{
	const struct code_brief *brief;

	cf_setup();
	cf_put(TEXT, "\x90\x90\xe8\x01\x00\x00\x00\xc3");
	cf_start();
	ck_assert_ptr_null(code_known(code_runs(cf_code), TEXT, TEXT + 2));
	ck_assert_uint_eq(cf_run(TEXT, TEXT + 2)->nr_insns, 2);
	brief = code_known(code_runs(cf_code), TEXT, TEXT + 2);
	ck_assert_ptr_nonnull(brief);
	ck_assert_uint_eq(brief->judged, 0);
	ck_assert_uint_eq(judged(USER_PGD, TEXT, TEXT + 2, 3), 3);
	ck_assert_uint_eq(brief->target, (uint32_t)(TEXT + 8));
	ck_assert_uint_eq(brief->nr_insns, 2);
	ck_assert_uint_eq(brief->length_bytes, 5);
	ck_assert_uint_eq(judged(USER_PGD, TEXT + 7, TEXT + 7, 4), 4);
	brief = code_known(code_runs(cf_code), TEXT + 7, TEXT + 7);
	ck_assert_uint_eq(brief->target, 0);
	ck_assert_uint_eq(brief->nr_insns, 0);
	ck_assert_uint_eq(brief->length_bytes, 1);
	cf_finish();
}
END_TEST

static struct code_run first_and_judged(uint64_t start, uint64_t end, struct code_run *ret_first)
{
	*ret_first = *cf_run(start, end);
	code_judged(cf_code, cf_run(start, end), 5);
	/* Another one, where the first may have been kept. */
	cf_run(TEXT, TEXT);
	return *cf_run(start, end);
}

/* A run that was judged is made anew from its brief, and is the same. */
START_TEST(made_again)
{
	static const struct { uint64_t start, end; } runs[] = {
		{ TEXT + 1, TEXT + 2 }, { TEXT + 7, TEXT + 7 }, { TEXT + 8, TEXT + 9 },
		{ TEXT + 11, TEXT + 12 }, { TEXT + 14, TEXT + 15 },
	};

	cf_setup();
	cf_put_nops(TEXT, 1);
	cf_put(TEXT, "\x90\x90\xe8\x01\x00\x00\x00\xc3\x90\xeb\x02\x90\x74\x02\x90\xff\xd0");
	cf_start();
	for (unsigned int i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct code_run first, again = first_and_judged(runs[i].start, runs[i].end, &first);

		ck_assert_uint_eq(again.cr3, first.cr3);
		ck_assert_uint_eq(again.start, first.start);
		ck_assert_uint_eq(again.end, first.end);
		ck_assert_int_eq(first.fault, CODE_OK);
		ck_assert_int_eq(again.fault, first.fault);
		ck_assert_uint_eq(again.fault_va, first.fault_va);
		ck_assert_uint_eq(again.nr_insns, first.nr_insns);
		ck_assert_uint_eq(again.place, first.place);
		ck_assert(again.compat == first.compat && again.guessed == first.guessed);
		ck_assert_int_eq(again.last.class, first.last.class);
		ck_assert_uint_eq(again.last.length_bytes, first.last.length_bytes);
		ck_assert(again.last.has_target == first.last.has_target);
		ck_assert_uint_eq(again.last.target, first.last.target);
		ck_assert_int_eq(again.last.vector, first.last.vector);
		ck_assert_int_eq(again.last.here, first.last.here);
		ck_assert_int_eq(again.last.there, first.last.there);
	}
	cf_finish();
}
END_TEST

/* Of a run with addresses or a length that have no room in a brief nothing is known so soon. */
START_TEST(no_briefs)
{
	const uint64_t others[] = { (uint32_t)TEXT, TEXT & ~(1ULL << 40), 0xffffffff7ffffffeULL };

	cf_setup();
	for (unsigned int i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		cf_put_nops(others[i], 1);
	cf_put_nops(TEXT, 17);
	cf_start();
	for (unsigned int i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ck_assert_uint_eq(judged(USER_PGD, others[i], others[i], 3), 0);
	ck_assert_uint_eq(judged(USER_PGD, 0xffffffff7ffffffeULL, 0xffffffff80000001ULL, 3), 0);
	ck_assert_uint_eq(judged(USER_PGD, TEXT + 65535, TEXT, 3), 0);
	ck_assert_uint_eq(judged(USER_PGD, TEXT, TEXT + 65536, 3), 0);
	ck_assert_uint_eq(judged(USER_PGD, TEXT, TEXT + 65535, 3), 3);
	ck_assert_uint_eq(judged(USER_PGD, TEXT, TEXT, 3), 3);
	/* Below the highest 2 GiB. */
	cf_put_nops(0xffffffff80000000ULL, 1);
	cf_put(0xffffffff80000000ULL, "\xe8\xf0\xff\xff\xff\xc3");
	cf_start();
	ck_assert_uint_eq(cf_run(0xffffffff80000000ULL, 0xffffffff80000000ULL)->last.target,
			  0xffffffff7ffffff5ULL);
	ck_assert_uint_eq(judged(USER_PGD, 0xffffffff80000000ULL, 0xffffffff80000000ULL, 3), 0);
	ck_assert_uint_eq(judged(USER_PGD, 0xffffffff80000005ULL, 0xffffffff80000005ULL, 3), 3);
	cf_finish();
}
END_TEST

/* What was found out of a run goes with it when the table grows. */
START_TEST(briefs_move)
{
	unsigned int nr_wrong = 0;

	cf_setup();
	cf_put_nops(TEXT, 8);
	cf_start();
	for (uint64_t i = 0; i < 30000; i++)
		nr_wrong += judged(USER_PGD, TEXT, TEXT + i, 1 + i % 15) != 1 + i % 15;
	for (uint64_t i = 0; i < 30000; i++)
		nr_wrong += code_known(code_runs(cf_code), TEXT, TEXT + i)->judged != 1 + i % 15;
	ck_assert_uint_eq(nr_wrong, 0);
	cf_finish();
}
END_TEST

/* Do both have the same place in the table?  Runs of the kernel have no CR3 there. */
static bool meet(uint64_t cr3, uint64_t start, uint64_t end, uint64_t other_cr3,
		 uint64_t other_start, uint64_t other_end)
{
	const struct code_runs *runs = code_runs(cf_code);

	return code_place(runs, cr3, start, end) ==
	       code_place(runs, other_cr3, other_start, other_end);
}

static void start_with_nops(void)
{
	cf_setup();
	cf_put_nops(TEXT, 33);
	memset(mem_page(&cf_mem, cf_map(USER_PGD, USER)), 0x90, 4096);
	cf_start();
}

/* What a brief has of both starts is the same: the kernel's code, and where nothing is. */
START_TEST(starts_that_meet)
{
	uint64_t user = (uint32_t)TEXT, nr = 7;

	start_with_nops();
	do {
		user += 1ULL << 32;
		ck_assert(!code_is_kernel(user));
	} while (!meet(0, TEXT, TEXT + nr, USER_PGD, user, user + nr));
	if (_i)
		ck_assert_uint_eq(judged(USER_PGD, TEXT, TEXT + nr, 5), 5);
	else
		cf_ck_fault(TEXT, TEXT + nr, CODE_OK, 0);
	cf_ck_fault(user, user + nr, CODE_NOT_MAPPED, user);
	cf_ck_fault(TEXT, TEXT + nr, CODE_OK, 0);
	cf_ck_fault(user, user + nr, CODE_NOT_MAPPED, user);
	cf_finish();
}
END_TEST

/* The same run of another address space, which is not in the dump. */
START_TEST(spaces_that_meet)
{
	uint64_t gone = 0x7000000000, nr = 7;

	start_with_nops();
	while (!meet(USER_PGD, USER, USER + nr, gone, USER, USER + nr))
		gone += 4096;
	cf_ck_fault(USER, USER + nr, CODE_OK, 0);
	ck_assert_int_eq(code_run(cf_code, gone, USER, USER + nr)->fault, CODE_NO_TABLE);
	cf_ck_fault(USER, USER + nr, CODE_OK, 0);
	cf_finish();
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("code_runs");

	tcase_set_timeout(tcase, BTSREC_CK_TIMEOUT_S);
	tcase_add_test(tcase, many_runs);
	tcase_add_test(tcase, no_memory);
	tcase_add_test(tcase, briefs);
	tcase_add_test(tcase, no_briefs);
	tcase_add_test(tcase, made_again);
	tcase_add_test(tcase, briefs_move);
	tcase_add_loop_test(tcase, starts_that_meet, 0, 2);
	tcase_add_test(tcase, spaces_that_meet);
	return btsrec_ck_run_case("code_runs", tcase);
}
