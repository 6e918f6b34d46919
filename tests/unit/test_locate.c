// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "failing_alloc.h"
#include "fixture.h"
#include "image.h"
#include "locate.h"

static struct fixture *fix;
static struct btsrec_image image;
static struct findings findings;
static struct msg msg;
static struct located *located;

static void setup(void)
{
	fix = fixture_new(3, 521);
	image = mem_image(&fix->mem);
	memset(&msg, DIRT, sizeof(msg));
	located = NULL;
}

static void teardown(void)
{
	located_free(located);
	findings_fini(&findings);
	fixture_free(fix);
}

static enum btsrec_status find(uint64_t root_pa, enum btsrec_scan scan)
{
	return locate(&image, root_pa, scan, &findings, &msg, &located);
}

/* Is there a finding of this status about @cpu with @text? */
static bool has_finding(enum btsrec_status status, uint32_t cpu, const char *text)
{
	for (size_t i = 0; i < findings.nr; i++) {
		if (findings.list[i].status == status && findings.list[i].cpu == cpu &&
		    strstr(findings.list[i].text, text))
			return true;
	}
	return false;
}

#define ck_finding(status, cpu, text) \
	ck_assert_msg(has_finding(status, cpu, text), "no finding \"%s\" for %d", text, (int)(cpu))

static size_t nr_faults(void)
{
	size_t nr = 0;

	for (size_t i = 0; i < findings.nr; i++)
		nr += findings.list[i].status != BTSREC_OK;
	return nr;
}

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

/* --- Search --- */

START_TEST(given_address)
{
	setup();
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_assert_str_eq(msg.text, "");
	ck_assert_uint_eq(located->root.self_pa, FIX_ROOT_PA);
	ck_assert_uint_eq(located->nr_cpus, 3);
	/* One remark for each CPU that was still recording, nothing else. */
	ck_assert_uint_eq(findings.nr, 3);
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
	ck_finding(BTSREC_ERR_NODATA, FINDING_NO_CPU, "VMCOREINFO");
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

START_TEST(copies_are_remarks_once_a_root_is_found)
{
	setup();
	*(struct btsrec_root *)mem_page(&fix->mem, 0x106000) = *fixture_root(fix);
	btsrec_ck_ok(find(0, BTSREC_SCAN_DMA));
	ck_finding(BTSREC_OK, FINDING_NO_CPU, "copy of a root");
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

START_TEST(the_most_telling_failure_wins)
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
	findings_fini(&findings);
	btsrec_ck_status(find(0, BTSREC_SCAN_DMA), BTSREC_ERR_IO);
	put_root(0x106000, 1);
	findings_fini(&findings);
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
	ck_assert_uint_eq(findings.nr, 1);
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

/* --- CPUs --- */

static void ck_cpu_lost(unsigned int cpu, enum btsrec_status status, const char *text)
{
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_finding(status, cpu, text);
	for (unsigned int i = 0; i < 3; i++)
		ck_assert_int_eq(!located->cpus[i], i == cpu);
}

START_TEST(cpu_without_ring)
{
	setup();
	((uint64_t *)mem_page(&fix->mem, FIX_DIR_PA))[1] = 0;
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_assert_ptr_null(located->cpus[1]);
	ck_assert_uint_eq(nr_faults(), 0);
	teardown();
}
END_TEST

START_TEST(no_cpu_has_a_ring)
{
	setup();
	memset(mem_page(&fix->mem, FIX_DIR_PA), 0, BTSREC_PAGE_BYTES);
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_assert_uint_eq(nr_faults(), 0);
	teardown();
}
END_TEST

START_TEST(directory_entries_beyond_the_last_cpu_are_not_read)
{
	setup();
	((uint64_t *)mem_page(&fix->mem, FIX_DIR_PA))[3] = 0x123;
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_assert_uint_eq(nr_faults(), 0);
	teardown();
}
END_TEST

START_TEST(cpu_page_at_no_page)
{
	setup();
	((uint64_t *)mem_page(&fix->mem, FIX_DIR_PA))[1] = FIX_CPU_PA(1) + 8;
	ck_cpu_lost(1, BTSREC_ERR_CORRUPT, "not at the address of a page");
	teardown();
}
END_TEST

START_TEST(cpu_page_missing)
{
	setup();
	mem_cut(&fix->mem, FIX_CPU_PA(1), 0);
	ck_cpu_lost(1, BTSREC_ERR_NODATA, "CPU page: not in the dump");
	teardown();
}
END_TEST

START_TEST(cpu_page_unreadable)
{
	setup();
	fix->mem.fail_pa = FIX_CPU_PA(1);
	fix->mem.fail_status = BTSREC_ERR_IO;
	ck_cpu_lost(1, BTSREC_ERR_IO, "CPU page: cannot read");
	teardown();
}
END_TEST

START_TEST(cpu_page_invalid)
{
	setup();
	fixture_cpu(fix, 1)->flags++;
	ck_cpu_lost(1, BTSREC_ERR_CORRUPT, "CPU page: checksum");
	teardown();
}
END_TEST

START_TEST(two_cpus_on_one_page)
{
	setup();
	((uint64_t *)mem_page(&fix->mem, FIX_DIR_PA))[1] = FIX_CPU_PA(0);
	ck_cpu_lost(1, BTSREC_ERR_CORRUPT, "something else uses");
	teardown();
}
END_TEST

START_TEST(cpu_page_is_the_root)
{
	setup();
	((uint64_t *)mem_page(&fix->mem, FIX_DIR_PA))[1] = FIX_ROOT_PA;
	ck_cpu_lost(1, BTSREC_ERR_CORRUPT, "something else uses");
	teardown();
}
END_TEST

START_TEST(rings_mapped_over_each_other)
{
	setup();
	fixture_cpu(fix, 1)->ring_kva = FIX_RING_KVA(0) + 3 * BTSREC_PAGE_BYTES;
	fixture_seal(fix);
	ck_cpu_lost(1, BTSREC_ERR_CORRUPT, "mapped over the ring of CPU 0");
	teardown();
	setup();
	fixture_cpu(fix, 0)->ring_kva = FIX_RING_KVA(2);
	fixture_seal(fix);
	ck_cpu_lost(2, BTSREC_ERR_CORRUPT, "mapped over the ring of CPU 0");
	teardown();
}
END_TEST

START_TEST(rings_mapped_side_by_side)
{
	setup();
	fixture_cpu(fix, 1)->ring_kva = FIX_RING_KVA(0) + 4 * BTSREC_PAGE_BYTES;
	fixture_cpu(fix, 2)->ring_kva = FIX_RING_KVA(0) - 4 * BTSREC_PAGE_BYTES;
	fixture_seal(fix);
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_assert_uint_eq(nr_faults(), 0);
	teardown();
}
END_TEST

START_TEST(directory_page_missing)
{
	setup();
	mem_cut(&fix->mem, FIX_DIR_PA, 100);
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_finding(BTSREC_ERR_NODATA, FINDING_NO_CPU, "CPU directory page");
	teardown();
}
END_TEST

START_TEST(all_cpus_missing_is_still_a_recorder)
{
	setup();
	for (unsigned int cpu = 0; cpu < 3; cpu++)
		mem_cut(&fix->mem, FIX_CPU_PA(cpu), 0);
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_assert_uint_eq(nr_faults(), 3);
	teardown();
}
END_TEST

START_TEST(all_cpus_invalid)
{
	setup();
	for (unsigned int cpu = 0; cpu < 3; cpu++)
		fixture_cpu(fix, cpu)->flags++;
	btsrec_ck_fails(find(FIX_ROOT_PA, BTSREC_SCAN_NONE), BTSREC_ERR_CORRUPT, msg.text,
			"CPU 0, page at 0x200000: CPU page: checksum");
	ck_assert_ptr_null(located);
	teardown();
}
END_TEST

START_TEST(many_cpus_and_directory_pages)
{
	uint64_t *second;

	setup();
	fixture_root(fix)->nr_cpu_ids = 514;
	fixture_root(fix)->nr_cpu_dir_pages = 2;
	fixture_root(fix)->cpu_dir_pa[1] = 0x105000;
	second = mem_page(&fix->mem, 0x105000);
	second[1] = FIX_CPU_PA(2);
	((uint64_t *)mem_page(&fix->mem, FIX_DIR_PA))[2] = 0;
	fixture_cpu(fix, 2)->cpu = 513;
	fixture_seal(fix);
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_assert_uint_eq(nr_faults(), 0);
	ck_assert_uint_eq(located->cpus[513]->page.cpu, 513);
	ck_assert_ptr_null(located->cpus[2]);
	teardown();
}
END_TEST

/* --- Page lists --- */

START_TEST(list_page_missing)
{
	setup();
	mem_cut(&fix->mem, FIX_LIST_PA(1), 0);
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_finding(BTSREC_ERR_NODATA, 1, "list page: not in the dump");
	for (unsigned int i = 0; i < 4; i++)
		ck_assert_uint_eq(located->cpus[1]->ring_pa[i], 0);
	teardown();
}
END_TEST

START_TEST(list_page_used_twice)
{
	setup();
	fixture_cpu(fix, 1)->list_pa[0] = FIX_LIST_PA(0);
	fixture_seal(fix);
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_finding(BTSREC_ERR_CORRUPT, 1, "list page is a page that something else uses");
	ck_assert_uint_eq(located->cpus[1]->ring_pa[0], 0);
	teardown();
}
END_TEST

static void ck_bad_entry(uint64_t entry)
{
	setup();
	((uint64_t *)mem_page(&fix->mem, FIX_LIST_PA(1)))[2] = entry;
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_finding(BTSREC_ERR_CORRUPT, 1, "1 entries of a list page");
	ck_finding(BTSREC_ERR_CORRUPT, 1, "first is ring page 2");
	ck_assert_uint_eq(located->cpus[1]->ring_pa[2], 0);
	ck_assert_uint_eq(located->cpus[1]->ring_pa[3], fixture_ring_page_pa(fix, 1, 3));
	teardown();
}

START_TEST(ring_page_at_no_page)
{
	ck_bad_entry(0);
	ck_bad_entry(0x400001);
	ck_bad_entry(IMAGE_MAX_PA);
}
END_TEST

START_TEST(ring_page_used_twice)
{
	ck_bad_entry(FIX_RING_PA(1));
	ck_bad_entry(FIX_RING_PA(0));
	ck_bad_entry(FIX_ROOT_PA);
	ck_bad_entry(FIX_CPU_PA(0));
	ck_bad_entry(FIX_LIST_PA(1));
}
END_TEST

START_TEST(list_entries_beyond_the_ring_are_not_read)
{
	setup();
	((uint64_t *)mem_page(&fix->mem, FIX_LIST_PA(1)))[4] = 1;
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_assert_uint_eq(nr_faults(), 0);
	teardown();
}
END_TEST

/* 513 pages: the second list page holds one entry. */
START_TEST(two_list_pages)
{
	struct btsrec_cpu *cpu;
	uint64_t *list;

	fix = fixture_new(1, 100);
	image = mem_image(&fix->mem);
	cpu = fixture_cpu(fix, 0);
	fixture_root(fix)->ring_bytes = cpu->ring_bytes = 513 * 4096 - 4096 % 24;
	fixture_root(fix)->ring_bytes = cpu->ring_bytes -= cpu->ring_bytes % 24;
	cpu->nr_ring_pages = 513;
	cpu->nr_list_pages = 2;
	cpu->list_pa[1] = 0x300000;
	list = mem_page(&fix->mem, FIX_LIST_PA(0));
	for (unsigned int i = 0; i < 512; i++)
		list[i] = 0x10000000 + i * 4096;
	((uint64_t *)mem_page(&fix->mem, 0x300000))[0] = 0x20000000;
	fixture_seal(fix);
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_assert_uint_eq(nr_faults(), 0);
	ck_assert_uint_eq(located->cpus[0]->ring_pa[511], 0x10000000 + 511 * 4096);
	ck_assert_uint_eq(located->cpus[0]->ring_pa[512], 0x20000000);
	teardown();
}
END_TEST

/* --- Modules --- */

static void put_module(unsigned int slot, uint32_t state, uint64_t kva, uint64_t bytes)
{
	struct btsrec_module *module = fixture_module(fix, slot);

	module->state = state;
	module->text_kva = kva;
	module->text_bytes = bytes;
	memset(module->name, 'a' + slot, sizeof(module->name));
}

#define MOD 0xffffffffc0000000ULL

START_TEST(modules)
{
	setup();
	put_module(0, BTSREC_MODULE_GONE, MOD, 0x3000);
	put_module(2, BTSREC_MODULE_LIVE, MOD + 0x1000, 0x1000);
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_assert_uint_eq(located->nr_modules, 2);
	ck_assert_ptr_null(located_module_at(located, MOD - 1));
	ck_assert_uint_eq(located_module_at(located, MOD)->name[0], 'a');
	ck_assert_uint_eq(located_module_at(located, MOD + 0xfff)->name[0], 'a');
	ck_assert_uint_eq(located_module_at(located, MOD + 0x1000)->name[0], 'c');
	ck_assert_uint_eq(located_module_at(located, MOD + 0x1fff)->name[0], 'c');
	ck_assert_uint_eq(located_module_at(located, MOD + 0x2000)->name[0], 'a');
	ck_assert_ptr_null(located_module_at(located, MOD + 0x3000));
	ck_assert_uint_eq(strlen(located_module_at(located, MOD)->name),
			  BTSREC_MODULE_NAME_BYTES - 1);
	teardown();
}
END_TEST

START_TEST(module_invalid)
{
	setup();
	put_module(0, 7, MOD, 0x3000);
	put_module(31, BTSREC_MODULE_LIVE, MOD, 0x1000);
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_finding(BTSREC_ERR_CORRUPT, FINDING_NO_CPU, "slot 0 of the module map: state 7");
	ck_assert_uint_eq(located->nr_modules, 1);
	teardown();
}
END_TEST

START_TEST(module_page_missing)
{
	setup();
	put_module(0, BTSREC_MODULE_LIVE, MOD, 0x1000);
	mem_cut(&fix->mem, FIX_MODULE_PA, BTSREC_PAGE_BYTES - 1);
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_finding(BTSREC_ERR_NODATA, FINDING_NO_CPU, "module map page");
	ck_assert_ptr_null(located_module_at(located, MOD));
	teardown();
}
END_TEST

START_TEST(no_module_map)
{
	setup();
	fixture_root(fix)->nr_module_pages = 0;
	fixture_seal(fix);
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_assert_ptr_null(located_module_at(located, MOD));
	teardown();
}
END_TEST

START_TEST(module_page_used_twice)
{
	setup();
	fixture_root(fix)->module_pa[0] = FIX_DIR_PA;
	fixture_seal(fix);
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_finding(BTSREC_ERR_CORRUPT, FINDING_NO_CPU, "module map page is a page that");
	teardown();
}
END_TEST

/* --- Robustness --- */

START_TEST(strings_end)
{
	setup();
	memset(fixture_root(fix)->release, 'r', BTSREC_RELEASE_BYTES);
	memset(fixture_root(fix)->symbol_name, 's', BTSREC_SYMBOL_BYTES);
	fixture_seal(fix);
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_assert_uint_eq(strlen(located->root.release), BTSREC_RELEASE_BYTES - 1);
	ck_assert_uint_eq(strlen(located->root.symbol_name), BTSREC_SYMBOL_BYTES - 1);
	teardown();
}
END_TEST

START_TEST(newer_minor_with_more_behind)
{
	setup();
	fixture_root(fix)->version_minor = 3;
	fixture_root(fix)->root_bytes = 4096;
	fixture_root(fix)->cpu_bytes = 4096;
	memset((uint8_t *)mem_page(&fix->mem, FIX_ROOT_PA) + sizeof(struct btsrec_root), 0xff,
	       BTSREC_PAGE_BYTES - sizeof(struct btsrec_root));
	fixture_seal(fix);
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_assert_uint_eq(located->root.version_minor, 3);
	ck_assert_uint_eq(nr_faults(), 0);
	teardown();
}
END_TEST

/* Either all memory is there or the call says so; nothing leaks, nothing crashes. */
START_TEST(every_allocation_fails_once)
{
	enum btsrec_status status;
	bool failed = true;
	unsigned int nth;

	for (nth = 1; failed; nth++) {
		setup();
		put_module(0, BTSREC_MODULE_LIVE, MOD, 0x1000);
		failing_alloc_arm(nth);
		status = find(FIX_ROOT_PA, BTSREC_SCAN_NONE);
		failed = failing_alloc_disarm();
		if (status != BTSREC_OK)
			btsrec_ck_fails(status, BTSREC_ERR_NOMEM, msg.text, "out of memory");
		else
			ck_assert_msg(!failed || findings.nr_dropped, "allocation %u ignored", nth);
		teardown();
	}
	ck_assert_uint_ge(nth, 8);
}
END_TEST

/* Page lists long enough that the set of claimed pages has to grow inside one. */
START_TEST(no_memory_in_the_middle_of_a_list)
{
	bool failed = true;

	for (unsigned int nth = 1; failed; nth++) {
		enum btsrec_status status;

		fix = fixture_new(4, 256 * 4096 / 24);
		image = mem_image(&fix->mem);
		failing_alloc_arm(nth);
		status = find(FIX_ROOT_PA, BTSREC_SCAN_NONE);
		failed = failing_alloc_disarm();
		btsrec_ck_status(status, failed && !findings.nr_dropped ? BTSREC_ERR_NOMEM :
									  BTSREC_OK);
		teardown();
		located = NULL;
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

START_TEST(free_of_nothing)
{
	struct located *half = calloc(1, sizeof(*half));

	located_free(NULL);
	half->nr_cpus = 5;
	located_free(half);
}
END_TEST

BTSREC_CK_MAIN("locate", given_address, given_address_that_is_no_page,
	       given_address_not_in_the_dump, root_page_cut_short,
	       given_address_is_not_replaced_by_a_search, nothing_anywhere, by_vmcoreinfo,
	       by_vmcoreinfo_without_newlines, vmcoreinfo_key_only_at_line_starts,
	       vmcoreinfo_with_nonsense, newest_of_several_lines, stale_vmcoreinfo_falls_back,
	       vmcoreinfo_wins_over_the_hint, by_scan, scan_none_does_not_read,
	       scan_takes_the_newest, scan_finds_the_last_page_of_its_range,
	       copies_are_remarks_once_a_root_is_found, each_reject_has_its_reason,
	       the_most_telling_failure_wins, medium_fails, medium_fails_everywhere,
	       stop_from_the_callback,
	       cpu_without_ring, no_cpu_has_a_ring,
	       directory_entries_beyond_the_last_cpu_are_not_read, cpu_page_at_no_page,
	       cpu_page_missing, cpu_page_unreadable, cpu_page_invalid, two_cpus_on_one_page,
	       cpu_page_is_the_root, rings_mapped_over_each_other, rings_mapped_side_by_side,
	       directory_page_missing, all_cpus_missing_is_still_a_recorder, all_cpus_invalid,
	       many_cpus_and_directory_pages, list_page_missing, list_page_used_twice,
	       ring_page_at_no_page, ring_page_used_twice,
	       list_entries_beyond_the_ring_are_not_read, two_list_pages, modules,
	       module_invalid, module_page_missing, no_module_map, module_page_used_twice,
	       strings_end, newer_minor_with_more_behind, every_allocation_fails_once,
	       no_memory_in_the_middle_of_a_list, stop_at_every_read, free_of_nothing)
