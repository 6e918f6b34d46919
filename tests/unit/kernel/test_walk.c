// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "kernel/walk.h"

#define PGD_PA	0x1000ULL
#define VA	0xffffffff81234567ULL

static struct mem mem;
static struct btsrec_image image;
static struct walk walk;

static void setup(bool la57)
{
	mem_fini(&mem);
	image = mem_image(&mem);
	walk_init(&walk, &image, la57);
}

static void put_entry(uint64_t table_pa, uint64_t va, unsigned int level, uint64_t entry)
{
	uint64_t *table = mem_page(&mem, table_pa);

	table[(va >> (12 + 9 * (level - 1))) & 511] = entry;
}

/* Tables at 0x1000 and up, one a level; present, writable, accessed; NX in the last. */
static void map(uint64_t va, unsigned int top, unsigned int last, uint64_t entry)
{
	uint64_t table_pa = PGD_PA;

	for (unsigned int level = top; level > last; level--, table_pa += 0x1000)
		put_entry(table_pa, va, level, (table_pa + 0x1000) | 0x63);
	put_entry(table_pa, va, last, entry);
}

static void ck_pa(uint64_t va, uint64_t want_pa)
{
	uint64_t pa = 0;

	ck_assert_int_eq(walk_pa(&walk, PGD_PA, va, &pa), WALK_OK);
	ck_assert_uint_eq(pa, want_pa);
}

static void ck_fails(uint64_t va, enum walk_result want)
{
	uint64_t pa = 1;

	ck_assert_int_eq(walk_pa(&walk, PGD_PA, va, &pa), want);
	ck_assert_uint_eq(pa, 1);
}

START_TEST(small_page)
{
	setup(false);
	map(VA, 4, 1, 0x8000000000abc063);
	ck_pa(VA, 0xabc567);
	ck_pa(VA - 0x567, 0xabc000);
	ck_pa(VA | 0xfff, 0xabcfff);
	ck_fails(VA + 0x1000, WALK_NOT_PRESENT);
}
END_TEST

START_TEST(large_pages)
{
	setup(false);
	/* Bit 12 of a large entry is an attribute, not an address. */
	map(VA, 4, 2, 0x00000000120010e3);
	ck_pa(VA, 0x12034567);
	setup(false);
	map(VA, 4, 3, 0x00000001400010e3);
	ck_pa(VA, 0x140000000 + (VA & 0x3fffffff));
}
END_TEST

START_TEST(five_levels)
{
	uint64_t va = 0x0012345678abcdefULL;

	setup(true);
	map(va, 5, 1, 0x777067);
	ck_pa(va, 0x777def);
	setup(false);
	ck_fails(va, WALK_BAD_VA);
}
END_TEST

START_TEST(large_bit_at_the_top_is_no_page)
{
	setup(false);
	put_entry(PGD_PA, VA, 4, 0x2000 | 0xe3);
	mem_page(&mem, 0x2000);
	ck_fails(VA, WALK_NOT_PRESENT);
}
END_TEST

START_TEST(canonical)
{
	setup(false);
	mem_page(&mem, PGD_PA);
	ck_fails(0x0000800000000000, WALK_BAD_VA);
	ck_fails(0xffff7fffffffffff, WALK_BAD_VA);
	ck_fails(0x00007fffffffffff, WALK_NOT_PRESENT);
	ck_fails(0xffff800000000000, WALK_NOT_PRESENT);
}
END_TEST

START_TEST(missing_tables)
{
	uint64_t pa;

	setup(false);
	ck_fails(VA, WALK_NO_TABLE);
	setup(false);
	map(VA, 4, 3, 0x55000 | 0x63);
	ck_fails(VA, WALK_NO_TABLE);
	ck_assert_int_eq(walk_pa(&walk, 0, VA, &pa), WALK_NO_ROOT);
	setup(false);
	map(VA, 4, 1, 0xabc063);
	mem.fail_pa = PGD_PA;
	mem.fail_status = BTSREC_ERR_IO;
	ck_fails(VA, WALK_FAILED);
}
END_TEST

/* A table that is its own child ends like any other. */
START_TEST(loop)
{
	setup(false);
	for (unsigned int i = 0; i < 512; i++)
		((uint64_t *)mem_page(&mem, PGD_PA))[i] = PGD_PA | 0x63;
	ck_pa(VA, PGD_PA + (VA & 0xfff));
	ck_assert_uint_eq(mem.nr_reads, 4);
}
END_TEST

START_TEST(cache)
{
	uint64_t pa;

	setup(false);
	map(VA, 4, 1, 0xabc063);
	ck_pa(VA, 0xabc567);
	ck_pa(VA + 1, 0xabc568);
	ck_assert_uint_eq(mem.nr_reads, 4);
	/* The low bits of a CR3 do not matter. */
	ck_assert_int_eq(walk_pa(&walk, PGD_PA | 0x801, VA, &pa), WALK_OK);
	ck_assert_uint_eq(mem.nr_reads, 4);
	/* Another space with the same address, and other addresses in the same place. */
	ck_assert_int_eq(walk_pa(&walk, 0x2000, VA, &pa), WALK_NOT_PRESENT);
	ck_fails(VA + WALK_TLB_ENTRIES * 4096ULL, WALK_NOT_PRESENT);
	ck_pa(VA, 0xabc567);
	mem_fini(&mem);
}
END_TEST

START_TEST(what_forbids_to_execute)
{
	setup(false);
	map(VA, 4, 1, 0x8000000000abc063);
	ck_assert(walk_forbids(&walk, PGD_PA, VA));
	setup(false);
	map(VA, 4, 1, 0xabc063);
	ck_assert(!walk_forbids(&walk, PGD_PA, VA));
	ck_assert(!walk_forbids(&walk, 0, VA));
	ck_assert(walk_forbids(&walk, PGD_PA, VA + 0x1000));
	ck_assert(walk_forbids(&walk, PGD_PA, 0x5a5a000000000000));
	/* A table may forbid it for all that it maps. */
	put_entry(PGD_PA, VA, 4, 0x8000000000002063);
	walk_init(&walk, &image, false);
	ck_assert(walk_forbids(&walk, PGD_PA, VA));
	/* A table that is not in the dump. */
	put_entry(PGD_PA, VA, 4, 0x7777000063);
	walk_init(&walk, &image, false);
	ck_assert(!walk_forbids(&walk, PGD_PA, VA));
	mem_fini(&mem);
}
END_TEST

START_TEST(what_allows_access)
{
	setup(false);
	map(VA, 4, 1, 0xabc063);
	ck_assert_int_eq(walk_access(&walk, PGD_PA, VA), WALK_ACCESS_WRITE);
	ck_assert_int_eq(walk_access(&walk, 0, VA), WALK_ACCESS_UNKNOWN);
	ck_assert_int_eq(walk_access(&walk, PGD_PA, VA + 0x1000), WALK_ACCESS_NONE);
	ck_assert_int_eq(walk_access(&walk, PGD_PA, 0x5a5a000000000000), WALK_ACCESS_NONE);
	/* One level that forbids it is enough. */
	put_entry(PGD_PA, VA, 4, 0x2061);
	walk_init(&walk, &image, false);
	ck_assert_int_eq(walk_access(&walk, PGD_PA, VA), WALK_ACCESS_READ);
	mem_fini(&mem);
}
END_TEST

START_TEST(labels)
{
	for (int result = WALK_OK; result <= WALK_FAILED; result++)
		ck_assert_str_ne(walk_result_str((enum walk_result)result), "unknown");
	ck_assert_str_eq(walk_result_str((enum walk_result)99), "unknown");
}
END_TEST

BTSREC_CK_MAIN("walk", small_page, large_pages, five_levels, large_bit_at_the_top_is_no_page,
	       canonical, missing_tables, loop, cache, what_forbids_to_execute,
	       what_allows_access, labels)
