// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "recorder/execs.h"
#include "userkernel.h"

#define NR_SLOTS	(2 * BTSREC_EXECS_PER_PAGE)

static struct uk uk;
static struct btsrec_root root;
static struct execs execs;

static void start(void)
{
	uk_init(&uk);
	memset(&root, 0, sizeof(root));
	root.nr_exec_pages = 2;
	root.exec_pa[0] = UK_EXECS_PA + 0x1000;
	root.exec_pa[1] = UK_EXECS_PA;
}

/* Exec number @n, counted from 0, as the recorder writes it. */
static struct btsrec_exec *put(uint64_t n, uint64_t tsc, uint64_t cr3, uint32_t tgid)
{
	uint64_t slot = n % NR_SLOTS;
	struct btsrec_exec *exec = uk_at(&uk, root.exec_pa[slot / BTSREC_EXECS_PER_PAGE]);

	exec += slot % BTSREC_EXECS_PER_PAGE;
	*exec = (struct btsrec_exec){ .tsc = tsc, .seq = n + 1, .cr3 = cr3, .tgid = tgid };
	return exec;
}

static void read_execs(void)
{
	memset(&execs, DIRT, sizeof(execs));
	execs_read(&uk.image, &root, &execs);
}

START_TEST(both_pages)
{
	start();
	put(0, 100, 0x1000, 7);
	put(NR_SLOTS - 1, 200, 0x2000, 8);
	read_execs();
	ck_assert_uint_eq(execs.nr, 2);
	ck_assert_uint_eq(execs.list[0].tsc, 100);
	ck_assert_uint_eq(execs.list[0].cr3, 0x1000);
	ck_assert_uint_eq(execs.list[0].tgid, 7);
	ck_assert_uint_eq(execs.list[1].tsc, 200);
}
END_TEST

START_TEST(the_ring_goes_round)
{
	start();
	put(NR_SLOTS + 3, 300, 0x3000, 9);
	read_execs();
	ck_assert_uint_eq(execs.nr, 1);
	ck_assert_uint_eq(execs.list[0].tgid, 9);
}
END_TEST

START_TEST(slots_that_are_not_whole)
{
	start();
	put(0, 100, 0x1000, 7)->seq = 0;
	put(1, 100, 0x1000, 7)->seq = 9;
	put(2, 100, 0x1000, 7)->seq = UINT64_MAX;
	read_execs();
	ck_assert_uint_eq(execs.nr, 0);
}
END_TEST

START_TEST(a_page_that_is_not_in_the_dump)
{
	start();
	put(0, 100, 0x1000, 7);
	put(NR_SLOTS - 1, 200, 0x2000, 8);
	uk.hole_pa = root.exec_pa[0];
	read_execs();
	ck_assert_uint_eq(execs.nr, 1);
	ck_assert_uint_eq(execs.list[0].tgid, 8);
}
END_TEST

START_TEST(a_full_ring)
{
	start();
	root.nr_exec_pages = 8;
	for (unsigned int i = 0; i < 8; i++)
		root.exec_pa[i] = 0x10000 + 0x1000ULL * i;
	for (unsigned int i = 0; i < EXECS_MAX; i++)
		((struct btsrec_exec *)uk_at(&uk, 0x10000))[i] = (struct btsrec_exec){
			.seq = i + 1, .tgid = i };
	read_execs();
	ck_assert_uint_eq(execs.nr, EXECS_MAX);
	ck_assert_uint_eq(execs.list[EXECS_MAX - 1].tgid, EXECS_MAX - 1);
	root.nr_exec_pages = 0;
	read_execs();
	ck_assert_uint_eq(execs.nr, 0);
}
END_TEST

START_TEST(replaced)
{
	start();
	put(0, 100, 0x1000, 7);
	read_execs();
	ck_assert(execs_replaced(&execs, 7, 0x2000, 99));
	ck_assert(!execs_replaced(&execs, 7, 0x2000, 100));
	ck_assert(!execs_replaced(&execs, 7, 0x1000, 99));
	ck_assert(!execs_replaced(&execs, 8, 0x2000, 99));
}
END_TEST

BTSREC_CK_MAIN("execs", both_pages, the_ring_goes_round, slots_that_are_not_whole,
	       a_page_that_is_not_in_the_dump, a_full_ring, replaced)
