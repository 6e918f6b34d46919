// SPDX-License-Identifier: GPL-2.0-or-later
/* Which root is found, and what is said if none is. */
#include "locatefix.h"

/* A second valid root without CPUs. */
static void put_root(uint64_t pa, uint64_t generation)
{
	struct btsrec_root *first = fixture_root(fix), keep = *first;
	struct btsrec_root *root = mem_page(&fix->mem, pa);

	first->self_pa = pa;
	first->generation = generation;
	first->cpu_dir_pa[0] = 0x108000;
	mem_page(&fix->mem, 0x108000);
	fixture_seal(fix);
	*root = *first;
	*first = keep;
}

START_TEST(given_address)
{
	setup();
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_assert_str_eq(msg.text, "");
	ck_assert_uint_eq(located->root.self_pa, FIX_ROOT_PA);
	ck_assert_uint_eq(located->nr_cpus, 3);
	/* One remark for each CPU that was still recording, nothing else. */
	ck_assert_uint_eq(diags.nr, 3);
	ck_assert_uint_eq(nr_faults(), 0);
	for (unsigned int cpu = 0; cpu < 3; cpu++) {
		ck_assert_uint_eq(located->cpus[cpu]->page.cpu, cpu);
		for (unsigned int i = 0; i < 4; i++)
			ck_assert_uint_eq(located->cpus[cpu]->ring_pa[i],
					  fixture_ring_page_pa(fix, cpu, i));
	}
	teardown();
}
END_TEST

START_TEST(given_address_that_is_no_page)
{
	setup();
	btsrec_ck_fails(find(FIX_ROOT_PA + 8, BTSREC_SCAN_DMA), BTSREC_ERR_BAD_ROOT, msg.text,
			"root at 0x100008: not the address of a page");
	ck_assert_ptr_null(located);
	teardown();
}
END_TEST

START_TEST(given_address_not_in_the_dump)
{
	setup();
	btsrec_ck_fails(find(0x109000, BTSREC_SCAN_DMA), BTSREC_ERR_NODATA, msg.text,
			"given address, root at 0x109000: not in the dump");
	teardown();
}
END_TEST

START_TEST(root_page_cut_short)
{
	setup();
	mem_cut(&fix->mem, FIX_ROOT_PA, sizeof(struct btsrec_root) - 1);
	btsrec_ck_status(find(FIX_ROOT_PA, BTSREC_SCAN_NONE), BTSREC_ERR_NODATA);
	teardown();
}
END_TEST

START_TEST(given_address_is_not_replaced_by_a_search)
{
	setup();
	mem_page(&fix->mem, 0x109000);
	btsrec_ck_fails(find(0x109000, BTSREC_SCAN_DMA), BTSREC_ERR_BAD_ROOT, msg.text, "magic");
	teardown();
}
END_TEST

START_TEST(nothing_anywhere)
{
	setup();
	fixture_root(fix)->magic = 0;
	btsrec_ck_fails(find(0, BTSREC_SCAN_DMA), BTSREC_ERR_NO_ROOT, msg.text,
			"no valid recorder in this dump");
	teardown();
}
END_TEST

START_TEST(by_vmcoreinfo)
{
	setup();
	image.vmcoreinfo = "OSRELEASE=6.1\nNUMBER(BTSREC_ROOT)=0x100000\nEND=1\n";
	btsrec_ck_ok(find(0, BTSREC_SCAN_NONE));
	ck_assert_uint_eq(located->root.self_pa, FIX_ROOT_PA);
	teardown();
}
END_TEST

START_TEST(by_vmcoreinfo_without_newlines)
{
	setup();
	image.vmcoreinfo = "NUMBER(BTSREC_ROOT)=0x100000";
	btsrec_ck_ok(find(0, BTSREC_SCAN_NONE));
	teardown();
}
END_TEST

START_TEST(vmcoreinfo_key_only_at_line_starts)
{
	setup();
	image.vmcoreinfo = "X=NUMBER(BTSREC_ROOT)=0x100000\n";
	btsrec_ck_status(find(0, BTSREC_SCAN_NONE), BTSREC_ERR_NO_ROOT);
	image.vmcoreinfo = "";
	btsrec_ck_status(find(0, BTSREC_SCAN_NONE), BTSREC_ERR_NO_ROOT);
	teardown();
}
END_TEST

START_TEST(vmcoreinfo_with_nonsense)
{
	setup();
	image.vmcoreinfo = "NUMBER(BTSREC_ROOT)=zebra\n";
	btsrec_ck_fails(find(0, BTSREC_SCAN_NONE), BTSREC_ERR_BAD_ROOT, msg.text,
			"VMCOREINFO, root at 0x0: not the address of a page");
	teardown();
}
END_TEST

START_TEST(newest_of_several_lines)
{
	setup();
	put_root(0x106000, FIX_GENERATION + 1);
	put_root(0x107000, FIX_GENERATION - 1);
	image.vmcoreinfo = "NUMBER(BTSREC_ROOT)=0x100000\nNUMBER(BTSREC_ROOT)=0x106000\n"
			   "NUMBER(BTSREC_ROOT)=0x107000\n";
	btsrec_ck_ok(find(0, BTSREC_SCAN_NONE));
	ck_assert_uint_eq(located->root.self_pa, 0x106000);
	teardown();
}
END_TEST

START_TEST(stale_vmcoreinfo_falls_back)
{
	setup();
	image.vmcoreinfo = "NUMBER(BTSREC_ROOT)=0x109000\n";
	image.root_pa_hint = FIX_ROOT_PA;
	btsrec_ck_ok(find(0, BTSREC_SCAN_NONE));
	ck_diag(BTSREC_ERR_NODATA, DIAG_NO_CPU, "VMCOREINFO");
	teardown();
	setup();
	image.vmcoreinfo = "NUMBER(BTSREC_ROOT)=0x109000\n";
	btsrec_ck_ok(find(0, BTSREC_SCAN_DMA));
	teardown();
	setup();
	image.vmcoreinfo = "NUMBER(BTSREC_ROOT)=0x109000\n";
	btsrec_ck_status(find(0, BTSREC_SCAN_NONE), BTSREC_ERR_NODATA);
	teardown();
}
END_TEST

START_TEST(vmcoreinfo_wins_over_the_hint)
{
	setup();
	put_root(0x106000, FIX_GENERATION + 1);
	image.vmcoreinfo = "NUMBER(BTSREC_ROOT)=0x100000\n";
	image.root_pa_hint = 0x106000;
	btsrec_ck_ok(find(0, BTSREC_SCAN_DMA));
	ck_assert_uint_eq(located->root.self_pa, FIX_ROOT_PA);
	teardown();
}
END_TEST

START_TEST(by_scan)
{
	setup();
	btsrec_ck_ok(find(0, BTSREC_SCAN_DMA));
	ck_assert_uint_eq(located->root.self_pa, FIX_ROOT_PA);
	teardown();
}
END_TEST

START_TEST(scan_none_does_not_read)
{
	setup();
	btsrec_ck_status(find(0, BTSREC_SCAN_NONE), BTSREC_ERR_NO_ROOT);
	ck_assert_uint_eq(fix->mem.nr_reads, 0);
	teardown();
}
END_TEST

START_TEST(scan_takes_the_newest)
{
	setup();
	put_root(0x80000, FIX_GENERATION - 1);
	put_root(0x106000, FIX_GENERATION + 1);
	put_root(0x107000, FIX_GENERATION);
	btsrec_ck_ok(find(0, BTSREC_SCAN_DMA));
	ck_assert_uint_eq(located->root.self_pa, 0x106000);
	teardown();
}
END_TEST

START_TEST(scan_finds_the_last_page_of_its_range)
{
	setup();
	fixture_root(fix)->magic = 0;
	put_root(0x108000 - 0x1000, 1);
	fixture_root(fix)->magic = BTSREC_ROOT_MAGIC;
	put_root(0xfff000, FIX_GENERATION);
	put_root(0x1000000, FIX_GENERATION + 5);
	fixture_root(fix)->magic = 0;
	btsrec_ck_ok(find(0, BTSREC_SCAN_DMA));
	ck_assert_uint_eq(located->root.self_pa, 0xfff000);
	located_free(located);
	btsrec_ck_ok(find(0, BTSREC_SCAN_ALL));
	ck_assert_uint_eq(located->root.self_pa, 0x1000000);
	located_free(located);
	image.max_pa = 0;
	btsrec_ck_ok(find(0, BTSREC_SCAN_ALL));
	ck_assert_uint_eq(located->root.self_pa, 0xfff000);
	teardown();
}
END_TEST

static uint64_t nr_asked;

/* Two pages of 4 PiB. */
static uint64_t next_of_two(void *arg, uint64_t pa)
{
	ck_assert_ptr_nonnull(arg);
	nr_asked++;
	return pa <= 0x3008 ? 0x3008 : pa <= 0x1000000 ? 0x1000000 : UINT64_MAX;
}

START_TEST(a_full_scan_asks_only_for_what_there_is)
{
	setup();
	put_root(0x1000000, FIX_GENERATION + 5);
	fixture_root(fix)->magic = 0;
	image.max_pa = 1ULL << 52;
	image.next_pa = next_of_two;
	nr_asked = 0;
	btsrec_ck_ok(find(0, BTSREC_SCAN_ALL));
	ck_assert_uint_eq(located->root.self_pa, 0x1000000);
	ck_assert_uint_eq(nr_asked, 3);
	teardown();
}
END_TEST

static unsigned int nr_together;

/* All, or false: one of them is not there. */
static bool read_together(void *arg, const uint64_t *page_pa, size_t nr, void *buf)
{
	nr_together++;
	for (size_t i = 0; i < nr; i++) {
		size_t nr_bytes;

		if (mem_read(arg, page_pa[i], (uint8_t *)buf + i * BTSREC_PAGE_BYTES,
			     BTSREC_PAGE_BYTES, &nr_bytes))
			return false;
	}
	return true;
}

/* The root is where @root_pa says, also with @all of its neighbourhood there. */
static void ck_scan_together(uint64_t root_pa, bool all)
{
	setup();
	for (uint64_t pa = 0x1000; all && pa < 0x60000; pa += BTSREC_PAGE_BYTES)
		mem_page(&fix->mem, pa);
	put_root(root_pa, FIX_GENERATION + 5);
	fixture_root(fix)->magic = 0;
	image.read_pages = read_together;
	nr_together = 0;
	btsrec_ck_ok(find(0, BTSREC_SCAN_DMA));
	ck_assert_uint_eq(located->root.self_pa, root_pa);
	teardown();
}

START_TEST(a_scan_reads_pages_together)
{
	static const uint64_t places[] = { 0x1000, 0x20000, 0x4f000, 0x50000, 0xfff000 };

	for (size_t i = 0; i < 2 * sizeof(places) / sizeof(places[0]); i++) {
		ck_scan_together(places[i / 2], i % 2);
		/* Of 4095 pages, 16 at once; what the recorder has are some more. */
		ck_assert_uint_ge(nr_together, 256);
		ck_assert_uint_lt(nr_together, 300);
	}
}
END_TEST

START_TEST(copies_are_remarks_once_a_root_is_found)
{
	setup();
	*(struct btsrec_root *)mem_page(&fix->mem, 0x106000) = *fixture_root(fix);
	btsrec_ck_ok(find(0, BTSREC_SCAN_DMA));
	ck_diag(BTSREC_OK, DIAG_NO_CPU, "copy of a root");
	ck_assert_uint_eq(nr_faults(), 0);
	teardown();
}
END_TEST

START_TEST(each_reject_has_its_reason)
{
	setup();
	*(struct btsrec_root *)mem_page(&fix->mem, 0x106000) = *fixture_root(fix);
	fixture_root(fix)->tsc_khz++;
	btsrec_ck_fails(find(0, BTSREC_SCAN_DMA), BTSREC_ERR_BAD_ROOT, msg.text,
			"root at 0x100000: checksum");
	ck_assert_msg(strstr(msg.text, "root at 0x106000: copy of a root that belongs at 0x100000"),
		      "%s", msg.text);
	ck_assert_uint_eq(nr_faults(), 2);
	teardown();
}
END_TEST

START_TEST(the_failure_that_says_most_wins)
{
	setup();
	*(struct btsrec_root *)mem_page(&fix->mem, 0x106000) = *fixture_root(fix);
	fixture_root(fix)->version_major = 9;
	btsrec_ck_status(find(0, BTSREC_SCAN_DMA), BTSREC_ERR_VERSION);
	teardown();
	setup();
	*(struct btsrec_root *)mem_page(&fix->mem, 0x106000) = *fixture_root(fix);
	fixture_root(fix)->nr_cpu_ids = 0;
	fixture_seal(fix);
	btsrec_ck_status(find(0, BTSREC_SCAN_DMA), BTSREC_ERR_CORRUPT);
	teardown();
}
END_TEST

START_TEST(medium_fails)
{
	setup();
	fix->mem.fail_pa = FIX_ROOT_PA;
	fix->mem.fail_status = BTSREC_ERR_IO;
	btsrec_ck_status(find(FIX_ROOT_PA, BTSREC_SCAN_NONE), BTSREC_ERR_IO);
	diags_fini(&diags);
	btsrec_ck_status(find(0, BTSREC_SCAN_DMA), BTSREC_ERR_IO);
	put_root(0x106000, 1);
	diags_fini(&diags);
	btsrec_ck_ok(find(0, BTSREC_SCAN_DMA));
	teardown();
}
END_TEST

static enum btsrec_status read_nothing(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				       size_t *ret_bytes)
{
	(void)arg;
	(void)pa;
	(void)buf;
	(void)len_bytes;
	*ret_bytes = 0;
	return BTSREC_ERR_IO;
}

START_TEST(medium_fails_everywhere)
{
	setup();
	image.read_pa = read_nothing;
	btsrec_ck_fails(find(0, BTSREC_SCAN_DMA), BTSREC_ERR_IO, msg.text,
			"root at 0x1000: cannot read");
	ck_assert_uint_eq(diags.nr, 1);
	teardown();
}
END_TEST

START_TEST(stop_from_the_callback)
{
	static const uint64_t places[] = {
		FIX_ROOT_PA, FIX_DIR_PA, FIX_CPU_PA(1), FIX_LIST_PA(1), FIX_MODULE_PA,
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		setup();
		fix->mem.fail_pa = places[i];
		fix->mem.fail_status = BTSREC_ERR_STOPPED;
		btsrec_ck_fails(find(FIX_ROOT_PA, BTSREC_SCAN_NONE), BTSREC_ERR_STOPPED, msg.text,
				"stopped");
		ck_assert_uint_eq(nr_faults(), 0);
		btsrec_ck_status(find(0, BTSREC_SCAN_DMA), BTSREC_ERR_STOPPED);
		teardown();
	}
}
END_TEST

/* The reader asks us to stop at any place: then we do, and leak nothing. */
START_TEST(stop_at_every_read)
{
	enum btsrec_status status = BTSREC_ERR_STOPPED;
	uint64_t nth;

	for (nth = 1; status == BTSREC_ERR_STOPPED; nth++) {
		setup();
		image.vmcoreinfo = "NUMBER(BTSREC_ROOT)=0x109000\n";
		fix->mem.fail_read = nth;
		fix->mem.fail_status = BTSREC_ERR_STOPPED;
		status = find(0, BTSREC_SCAN_DMA);
		btsrec_ck_status(status, fix->mem.nr_reads < nth ? BTSREC_OK : BTSREC_ERR_STOPPED);
		teardown();
	}
	ck_assert_uint_gt(nth, 4096);
}
END_TEST

BTSREC_CK_MAIN("locate", given_address, given_address_that_is_no_page,
	       given_address_not_in_the_dump, root_page_cut_short,
	       given_address_is_not_replaced_by_a_search, nothing_anywhere, by_vmcoreinfo,
	       by_vmcoreinfo_without_newlines, vmcoreinfo_key_only_at_line_starts,
	       vmcoreinfo_with_nonsense, newest_of_several_lines, stale_vmcoreinfo_falls_back,
	       vmcoreinfo_wins_over_the_hint, by_scan, scan_none_does_not_read,
	       scan_takes_the_newest, scan_finds_the_last_page_of_its_range,
	       a_full_scan_asks_only_for_what_there_is, a_scan_reads_pages_together,
	       copies_are_remarks_once_a_root_is_found, each_reject_has_its_reason,
	       the_failure_that_says_most_wins, medium_fails, medium_fails_everywhere,
	       stop_from_the_callback, stop_at_every_read)
