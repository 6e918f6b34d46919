// SPDX-License-Identifier: GPL-2.0-or-later
/* What hangs on a root: CPUs, their pages, modules. */
#include "failing_alloc.h"
#include "locatefix.h"

/* --- CPUs --- */

static void ck_cpu_lost(unsigned int cpu, enum btsrec_status status, const char *text)
{
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_diag(status, cpu, text);
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
	ck_diag(BTSREC_ERR_NODATA, DIAG_NO_CPU, "CPU directory page");
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
	ck_diag(BTSREC_ERR_NODATA, 1, "list page: not in the dump");
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
	ck_diag(BTSREC_ERR_CORRUPT, 1, "list page is a page that something else uses");
	ck_assert_uint_eq(located->cpus[1]->ring_pa[0], 0);
	teardown();
}
END_TEST

static void ck_bad_entry(uint64_t entry)
{
	setup();
	((uint64_t *)mem_page(&fix->mem, FIX_LIST_PA(1)))[2] = entry;
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_diag(BTSREC_ERR_CORRUPT, 1, "1 entries of a list page");
	ck_diag(BTSREC_ERR_CORRUPT, 1, "first is ring page 2");
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

/* 0 and 3 were where 2 is; 1 is the same as 2, and 4 as 5. */
START_TEST(modules_gone)
{
	const struct btsrec_module *gone;

	setup();
	put_module(0, BTSREC_MODULE_GONE, MOD, 0x3000);
	put_module(1, BTSREC_MODULE_GONE, MOD + 0x1000, 0x1000);
	put_module(2, BTSREC_MODULE_LIVE, MOD + 0x1000, 0x1000);
	put_module(3, BTSREC_MODULE_GONE, MOD + 0x1800, 0x1000);
	put_module(4, BTSREC_MODULE_GONE, MOD + 0x8000, 0x1000);
	put_module(5, BTSREC_MODULE_LIVE, MOD + 0x8000, 0x1000);
	memset(fixture_module(fix, 1)->name, 'c', BTSREC_MODULE_NAME_BYTES);
	memset(fixture_module(fix, 4)->name, 'f', BTSREC_MODULE_NAME_BYTES);
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	gone = located_module_gone(located, MOD + 0x1000, NULL);
	ck_assert_uint_eq(gone->name[0], 'a');
	ck_assert_ptr_null(located_module_gone(located, MOD + 0x1000, gone));
	gone = located_module_gone(located, MOD + 0x1800, gone);
	ck_assert_uint_eq(gone->name[0], 'd');
	ck_assert_ptr_null(located_module_gone(located, MOD, NULL));
	ck_assert(!located_module_stays(located, MOD));
	ck_assert(!located_module_stays(located, MOD + 0x1000));
	ck_assert(located_module_stays(located, MOD + 0x8000));
	ck_assert(!located_module_stays(located, MOD - 1));
	teardown();
}
END_TEST

START_TEST(module_invalid)
{
	setup();
	put_module(0, 7, MOD, 0x3000);
	put_module(31, BTSREC_MODULE_LIVE, MOD, 0x1000);
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_diag(BTSREC_ERR_CORRUPT, DIAG_NO_CPU, "slot 0 of the module map: state 7");
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
	ck_diag(BTSREC_ERR_NODATA, DIAG_NO_CPU, "module map page");
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
	ck_diag(BTSREC_ERR_CORRUPT, DIAG_NO_CPU, "module map page is a page that");
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

/* What is behind the structures of an older recorder is none of it. */
START_TEST(older_minor_with_something_behind)
{
	struct btsrec_registers none = { 0 };

	setup();
	fixture_root(fix)->version_minor = 3;
	fixture_root(fix)->cpu_bytes = BTSREC_CPU_MIN_BYTES;
	memset(&fixture_cpu(fix, 0)->registers, 0xff, sizeof(none));
	fixture_seal(fix);
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	ck_assert(!memcmp(&located->cpus[0]->page.registers, &none, sizeof(none)));
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
			ck_assert_msg(!failed || diags.nr_dropped, "allocation %u ignored", nth);
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
		btsrec_ck_status(status,
				 failed && !diags.nr_dropped ? BTSREC_ERR_NOMEM : BTSREC_OK);
		teardown();
		located = NULL;
	}
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

BTSREC_CK_MAIN("located", cpu_without_ring, no_cpu_has_a_ring,
	       directory_entries_beyond_the_last_cpu_are_not_read, cpu_page_at_no_page,
	       cpu_page_missing, cpu_page_unreadable, cpu_page_invalid, two_cpus_on_one_page,
	       cpu_page_is_the_root, rings_mapped_over_each_other, rings_mapped_side_by_side,
	       directory_page_missing, all_cpus_missing_is_still_a_recorder, all_cpus_invalid,
	       many_cpus_and_directory_pages, list_page_missing, list_page_used_twice,
	       ring_page_at_no_page, ring_page_used_twice,
	       list_entries_beyond_the_ring_are_not_read, two_list_pages, modules, modules_gone, module_invalid,
	       module_page_missing, no_module_map, module_page_used_twice, strings_end,
	       newer_minor_with_more_behind, older_minor_with_something_behind,
	       every_allocation_fails_once, no_memory_in_the_middle_of_a_list, free_of_nothing)
