// SPDX-License-Identifier: GPL-2.0-or-later
/* Long runs, which are followed by pieces: what is decoded of them, and that it is the same. */
#include "codefix.h"

/* Of many long runs through the same code all but the ends is decoded once. */
START_TEST(long_runs)
{
	const uint64_t nr_runs = 1000, nr_bytes = 65000;
	unsigned int nr_wrong = 0;

	cf_setup();
	cf_put_nops(TEXT, 17);
	cf_start();
	for (uint64_t i = 0; i < nr_runs; i++)
		nr_wrong += cf_run(TEXT + i, TEXT + nr_bytes + i / 2)->nr_insns !=
			    nr_bytes + i / 2 - i;
	ck_assert_uint_eq(nr_wrong, 0);
	ck_assert_uint_lt(code_nr_decoded(cf_code), 17 * 4096 + nr_runs * 600);
	cf_finish();
}
END_TEST

/* There is code that is unrolled so far. */
START_TEST(longest_run)
{
	cf_setup();
	cf_put_nops(TEXT, 33);
	cf_start();
	cf_ck_fault(TEXT, TEXT + 92969, CODE_OK, 0);
	ck_assert_uint_eq(cf_run(TEXT, TEXT + 92969)->nr_insns, 92969);
	cf_ck_fault(TEXT, TEXT + CODE_RUN_MAX_BYTES, CODE_OK, 0);
	cf_ck_fault(TEXT, TEXT + CODE_RUN_MAX_BYTES + 1, CODE_TOO_LONG, TEXT);
	cf_finish();
}
END_TEST

START_TEST(last_of_long_runs)
{
	const uint64_t nr_runs = 1000, nr_bytes = 65000;
	unsigned int nr_wrong = 0;

	cf_setup();
	cf_put_nops(TEXT, 17);
	cf_start();
	for (uint64_t i = 0; i < nr_runs; i++)
		nr_wrong += code_last(cf_code, 0, TEXT + i, TEXT + nr_bytes) !=
			    TEXT + nr_bytes - 1;
	ck_assert_uint_eq(nr_wrong, 0);
	ck_assert_uint_lt(code_nr_decoded(cf_code), 17 * 4096 + nr_runs * 600);
	ck_assert_uint_eq(code_last(cf_code, 0, TEXT, TEXT), TEXT);
	ck_assert_uint_eq(code_last(cf_code, 0, TEXT + 9, TEXT), TEXT + 9);
	cf_finish();
}
END_TEST

/* Nor is what follows the start of a broken run decoded each time to find a guest. */
START_TEST(long_ways_to_no_guest)
{
	const uint64_t nr_runs = 1000;

	cf_setup();
	cf_put_nops(TEXT, 33);
	cf_start();
	for (uint64_t i = 0; i < nr_runs; i++) {
		cf_ck_fault(TEXT + 1 + i, TEXT + i, CODE_BACKWARD, TEXT + 1 + i);
		cf_ck_fault(TEXT + i, TEXT + i + CODE_RUN_MAX_BYTES + 1, CODE_TOO_LONG, TEXT + i);
	}
	ck_assert_uint_lt(code_nr_decoded(cf_code), 33 * 4096 + 2 * nr_runs * 300);
	cf_finish();
}
END_TEST

START_TEST(long_ways_to_a_guest)
{
	static const uint64_t places[] = { 0, 3, 255, 256, 700, 4090, 4095, 4096, 9000 };
	uint64_t vmentry = TEXT + places[_i];

	cf_setup();
	cf_put_nops(TEXT, 17);
	cf_put_bytes(vmentry, "\x0f\x01\xc2", 3);
	cf_put(TEXT + 9100, "\x0f\x01\xc3");
	cf_put(TEXT + 10000, "\xc3");
	cf_start();
	for (uint64_t start = TEXT; start <= vmentry; start++) {
		cf_ck_fault(start, TEXT - 1, CODE_GUEST, vmentry);
		cf_ck_fault(start, TEXT + 10001, CODE_GUEST, vmentry);
		cf_ck_fault(start, TEXT + 10000, CODE_OK, 0);
	}
	cf_ck_fault(TEXT + 9200, TEXT + 9100, CODE_BACKWARD, TEXT + 9200);
	cf_ck_fault(TEXT + 9200, TEXT + 10001, CODE_LEAVES, TEXT + 10000);
	cf_finish();
}
END_TEST

/* The same as code_run() finds, one by one. */
static enum code_fault step_through(uint64_t cr3, uint64_t start, uint64_t end, bool compat,
				    uint64_t *ret_va, uint32_t *ret_nr)
{
	struct code_insn insn;
	enum code_fault fault;
	uint64_t va = start;

	for (*ret_nr = 0; va < end; ++*ret_nr) {
		*ret_va = va;
		fault = code_insn(cf_code, cr3, va, compat, &insn);
		if (fault)
			return fault;
		if (insn.class != CODE_PLAIN && insn.class != CODE_COND)
			return CODE_LEAVES;
		va += insn.length_bytes;
	}
	*ret_va = end;
	return va == end ? CODE_OK : CODE_INSIDE;
}

/* 1: code_run() finds something else. */
static unsigned int differs(uint64_t cr3, uint64_t start, uint64_t end)
{
	const struct code_run *run = code_run(cf_code, cr3, start, end);
	struct code_run found = *run;
	enum code_fault fault;
	uint32_t nr_insns;
	uint64_t va;

	fault = step_through(cr3, start, end, found.compat, &va, &nr_insns);
	return found.fault != fault || found.fault_va != va || found.nr_insns != nr_insns;
}

/* Instructions of one to ten bytes, also over ends of pages, with a return in few. */
static void put_any_code(uint64_t va, size_t nr_bytes, uint32_t seed, unsigned int one_ret_in)
{
	static const struct { const char *bytes; size_t nr_bytes; } any[] = {
		{ "\x90", 1 }, { "\x75\x10", 2 }, { "\x48\x89\xc3", 3 }, { "\xf3\x90", 2 },
		{ "\xb8\xc3\xc3\xc3\xc3", 5 }, { "\x48\x8d\x80\xeb\xeb\xeb\xeb", 7 },
		{ "\x48\xb8\xc3\xe8\xcc\x90\x06\xc3\xc3\xe8", 10 }, { "\xf4", 1 },
	};

	for (uint64_t end = va + nr_bytes; va < end;) {
		unsigned int i = (seed = seed * 1103515245 + 12345) >> 16 & 7;

		cf_put_bytes(va, any[i].bytes, any[i].nr_bytes);
		va += any[i].nr_bytes;
		if ((seed >> 8) % one_ret_in == 0)
			cf_put(va++, "\xc3");
	}
}

static unsigned int last_differs(uint64_t cr3, uint64_t start, uint64_t end)
{
	uint64_t va = start, last = start;
	struct code_insn insn;

	while (va < end && !code_insn(cf_code, cr3, va, false, &insn)) {
		last = va;
		va += insn.length_bytes;
	}
	return code_last(cf_code, cr3, start, end) != last;
}

/* Whatever was looked at before, from wherever to wherever. */
START_TEST(pieces_are_what_is_there)
{
	static const unsigned int ret_in[] = { 50, 500, 5000, 1000000 };
	uint32_t seed = (uint32_t)_i + 1;
	unsigned int nr_wrong = 0;

	cf_setup();
	put_any_code(USER, 5 * 4096 - 20, seed, ret_in[_i]);
	put_any_code(TEXT, 5 * 4096, seed + 9, ret_in[_i]);
	cf_start();
	for (unsigned int i = 0; i < 4000; i++) {
		uint64_t start = (seed = seed * 1103515245 + 12345) >> 8 & 0x3fff;
		uint64_t end = start + ((seed = seed * 1103515245 + 12345) >> 8 & 0x1fff);

		nr_wrong += differs(USER_PGD, USER + start, USER + end);
		nr_wrong += differs(USER_PGD, TEXT + start, TEXT + end);
		nr_wrong += last_differs(USER_PGD, USER + start, USER + end);
	}
	ck_assert_uint_eq(nr_wrong, 0);
	/* The end of what is in the dump may be inside a page, and inside an instruction. */
	for (uint64_t nr_bytes = 1; nr_bytes < 40; nr_bytes++) {
		mem_cut(&cf_mem, cf_map(USER_PGD, USER + 4 * 4096), 2048 - nr_bytes);
		cf_start();
		for (uint64_t start = USER + 4 * 4096; start < USER + 4 * 4096 + 40; start++) {
			nr_wrong += differs(USER_PGD, start, USER + 5 * 4096);
			nr_wrong += last_differs(USER_PGD, start, USER + 5 * 4096);
		}
	}
	ck_assert_uint_eq(nr_wrong, 0);
	cf_finish();
}
END_TEST

/* A page that is mapped twice goes on in one place as it does there, not as in the other. */
START_TEST(pieces_of_a_page_mapped_twice)
{
	uint64_t *table;

	cf_setup();
	cf_put_nops(TEXT, 5);
	cf_put(TEXT + 4094, "\xb8\x90\x90\x90\xc3");	/* mov; there is the ret in it */
	cf_put(TEXT + 4 * 4096, "\xc3");
	table = mem_page(&cf_mem, cf_map(KERNEL_PGD, TEXT) - 4096);
	ck_assert_uint_eq(table[0] & ~0xfffULL, cf_map(KERNEL_PGD, TEXT));
	table[3] = table[0];
	cf_start();
	cf_ck_fault(TEXT, TEXT + 4099, CODE_OK, 0);
	cf_ck_fault(TEXT, TEXT + 8000, CODE_OK, 0);
	cf_ck_fault(TEXT + 3 * 4096, TEXT + 4 * 4096 + 100, CODE_OK, 0);
	cf_ck_fault(TEXT + 2 * 4096, TEXT + 4 * 4096 + 2, CODE_INSIDE, TEXT + 4 * 4096 + 2);
	cf_ck_fault(TEXT, TEXT + 4100, CODE_OK, 0);
	cf_finish();
}
END_TEST

/* rex nop, or inc %eax and nop; pop %es, which 64-bit code does not have, is far behind. */
START_TEST(pieces_of_both_modes)
{
	const uint64_t start = 0x08048000, nr_pairs = 500;

	cf_setup();
	for (uint64_t i = 0; i < nr_pairs; i++)
		cf_put(start + 2 * i, "\x40\x90");
	cf_put(start + 2 * nr_pairs, "\x90\xc3\x07\xc3");
	cf_start();
	for (unsigned int i = 0; i < 2; i++) {
		cf_ck_fault(start, start + 2 * nr_pairs, CODE_OK, 0);
		ck_assert(!cf_run(start, start + 2 * nr_pairs)->compat);
		ck_assert_uint_eq(cf_run(start, start + 2 * nr_pairs)->nr_insns, nr_pairs);
		/* 64-bit code would end inside an instruction. */
		cf_ck_fault(start, start + 2 * nr_pairs - 1, CODE_OK, 0);
		ck_assert(cf_run(start, start + 2 * nr_pairs - 1)->compat);
		ck_assert_uint_eq(cf_run(start, start + 2 * nr_pairs - 1)->nr_insns,
				  2 * nr_pairs - 1);
	}
	cf_finish();
}
END_TEST

/* In all address spaces but this one a return is in the page. */
static size_t file_of_space(void *arg, uint64_t cr3, uint64_t va, void *buf, size_t len_bytes)
{
	ck_assert_ptr_null(arg);
	memset(buf, 0x90, len_bytes);
	if (cr3 != USER_PGD || va / 4096 % 2)
		((uint8_t *)buf)[600] = 0xc3;
	return len_bytes;
}

START_TEST(pieces_of_files)
{
	struct code_source source = { .image = &cf_image, .kernel_pgd_pa = KERNEL_PGD,
				      .file = file_of_space };
	const uint64_t va = 0x7ffff7000000;

	cf_setup();
	memcpy(mem_page(&cf_mem, 0x3000), mem_page(&cf_mem, USER_PGD), 4096);
	memset(mem_page(&cf_mem, cf_map(USER_PGD, USER)), 0x90, 4096);
	mem_cut(&cf_mem, cf_map(USER_PGD, USER), 300);
	code_free(cf_code);
	cf_code = code_new(&source);
	for (uint64_t i = 0; i < 20; i++) {
		cf_ck_fault(va + i, va + 2000, CODE_OK, 0);
		cf_ck_fault(va + i, va + 4096 + 2000, CODE_LEAVES, va + 4096 + 600);
		ck_assert_int_eq(code_run(cf_code, 0x3000, va + i, va + 2000)->fault, CODE_LEAVES);
		ck_assert_int_eq(code_run(cf_code, 0, va + i, va + 2000)->fault, CODE_NO_SPACE);
	}
	ck_assert_uint_ge(code_from_files(cf_code), 3);
	/* The same page of memory, and after what is left of it different files. */
	cf_ck_fault(USER, USER + 2000, CODE_OK, 0);
	ck_assert_int_eq(code_run(cf_code, 0x3000, USER, USER + 2000)->fault, CODE_LEAVES);
	cf_finish();
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("code_follow");

	tcase_set_timeout(tcase, BTSREC_CK_TIMEOUT_S);
	tcase_add_test(tcase, long_runs);
	tcase_add_test(tcase, longest_run);
	tcase_add_test(tcase, last_of_long_runs);
	tcase_add_test(tcase, long_ways_to_no_guest);
	tcase_add_loop_test(tcase, long_ways_to_a_guest, 0, 9);
	tcase_add_loop_test(tcase, pieces_are_what_is_there, 0, 4);
	tcase_add_test(tcase, pieces_of_a_page_mapped_twice);
	tcase_add_test(tcase, pieces_of_both_modes);
	tcase_add_test(tcase, pieces_of_files);
	return btsrec_ck_run_case("code_follow", tcase);
}
