// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "ds.h"
#include "extent.h"
#include "lbr.h"
#include "perfmon.h"
#include "shadow.h"
#include "vcpu.h"
#include "walk.h"

/* --- extent ------------------------------------------------------------- */

#define ENTRY	0xffffffff81001000ULL
#define TOP	0xffffc90000004000ULL

static struct extents extents;

static struct extent_counts counts(uint64_t nr)
{
	return (struct extent_counts){ nr, nr + 1, nr + 2, nr + 3 };
}

START_TEST(extent_lasts_until_the_stack_pointer_is_above)
{
	struct extent_counts at_entry = counts(100), later = counts(140), cost;

	extents_clear(&extents);
	ck_assert(extents_add(&extents, ENTRY));
	extents_enter(&extents, ENTRY + 4, TOP, &at_entry);
	ck_assert(!extent_leave(&extents.list[0], TOP + 8, &later, &cost));
	extents_enter(&extents, ENTRY, TOP, &at_entry);
	ck_assert(!extent_leave(&extents.list[0], TOP, &later, &cost));
	ck_assert(!extent_leave(&extents.list[0], TOP - 64, &later, &cost));
	extents_enter(&extents, ENTRY, TOP - 64, &later);
	ck_assert(extent_leave(&extents.list[0], TOP + 8, &later, &cost));
	ck_assert_uint_eq(cost.nr_insns, 40);
	ck_assert_uint_eq(cost.nr_msr_writes, 40);
	ck_assert_uint_eq(cost.nr_stores, 40);
	ck_assert_uint_eq(cost.nr_records, 40);
	ck_assert(!extents.list[0].disturbed);
	ck_assert(!extent_leave(&extents.list[0], TOP + 8, &later, &cost));
}
END_TEST

START_TEST(extent_shows_an_interrupt)
{
	struct extent_counts now = counts(1), cost;

	extents_clear(&extents);
	for (unsigned int i = 0; i < MAX_EXTENTS; i++)
		ck_assert(extents_add(&extents, ENTRY + i));
	ck_assert(!extents_add(&extents, ENTRY));
	extents_disturb(&extents);
	extents_enter(&extents, ENTRY + 1, TOP, &now);
	ck_assert(!extents.list[1].disturbed);
	extents_disturb(&extents);
	ck_assert(extent_leave(&extents.list[1], TOP + 8, &now, &cost));
	ck_assert(extents.list[1].disturbed);
}
END_TEST

/* --- shadow ------------------------------------------------------------- */

#define STACK	0xffffc90000100000ULL	/* of a thread: 16 KiB from here */
#define IRQ	0xffffc90000001000ULL	/* of interrupts */
#define USER	0x7ffe00001000ULL

static struct shadow shadow;

static void push(enum model_frame_kind kind, uint64_t sp)
{
	struct shadow_frame frame = { .logged = { .ret = sp, .kind = kind }, .sp = sp };

	shadow_push(&shadow, &frame);
}

START_TEST(shadow_calls_live_until_the_stack_pointer_is_above)
{
	shadow_clear(&shadow);
	push(MODEL_FRAME_CALL, STACK + 0x3000);
	push(MODEL_FRAME_CALL, STACK + 0x2000);
	push(MODEL_FRAME_CALL, STACK + 0x1000);
	shadow_drop_below(&shadow, STACK + 0x1000);
	ck_assert_uint_eq(shadow.nr, 3);
	shadow_drop_below(&shadow, STACK + 0x1008);
	ck_assert_uint_eq(shadow.nr, 2);
	shadow_drop_below(&shadow, STACK + 0x3008);
	ck_assert_uint_eq(shadow.nr, 0);
}
END_TEST

START_TEST(shadow_keeps_a_thread_below_its_interrupt)
{
	shadow_clear(&shadow);
	push(MODEL_FRAME_CALL, STACK + 0x2000);
	push(MODEL_FRAME_KERNEL_ENTRY, STACK + 0x1000);
	push(MODEL_FRAME_CALL, STACK + 0x0f00);
	push(MODEL_FRAME_CALL, IRQ + 0x3ff0);
	shadow_drop_below(&shadow, STACK + 0x0f00);
	ck_assert_uint_eq(shadow.nr, 4);
	shadow_drop_below(&shadow, IRQ + 0x3ff8);
	ck_assert_uint_eq(shadow.nr, 3);
	shadow_drop_below(&shadow, STACK + 0x3ff0);
	ck_assert_uint_eq(shadow.nr, 2);
	shadow_iret_kernel(&shadow, STACK + 0x0fff);
	ck_assert_uint_eq(shadow.nr, 2);
	shadow_iret_kernel(&shadow, STACK + 0x1000);
	ck_assert_uint_eq(shadow.nr, 1);
}
END_TEST

START_TEST(shadow_return_from_a_copied_address)
{
	shadow_clear(&shadow);
	push(MODEL_FRAME_CALL, STACK + 0x2000);
	push(MODEL_FRAME_CALL, STACK + 0x1000);
	shadow_return(&shadow, STACK + 0x1234);
	ck_assert_uint_eq(shadow.nr, 2);
	shadow_return(&shadow, STACK + 0x1000);
	ck_assert_uint_eq(shadow.nr, 1);
}
END_TEST

START_TEST(shadow_user_stack_outlives_the_kernel_but_not_exec)
{
	shadow_clear(&shadow);
	push(MODEL_FRAME_CALL, USER);
	push(MODEL_FRAME_USER_ENTRY, USER - 64);
	push(MODEL_FRAME_CALL, STACK + 0x3f00);
	shadow_to_user(&shadow, 0x1805);
	ck_assert_uint_eq(shadow.nr, 1);
	push(MODEL_FRAME_USER_ENTRY, USER - 64);
	shadow_to_user(&shadow, 0x5000);
	ck_assert_uint_eq(shadow.nr, 0);
	push(MODEL_FRAME_CALL, STACK + 0x3f00);
	shadow_to_user(&shadow, 0x5000);
	ck_assert_uint_eq(shadow.nr, 0);
}
END_TEST

START_TEST(shadow_forgets_the_oldest)
{
	shadow_clear(&shadow);
	for (unsigned int i = 0; i < SHADOW_MAX_FRAMES + 3; i++)
		push(MODEL_FRAME_CALL, USER - 8 * i);
	ck_assert_uint_eq(shadow.nr, SHADOW_MAX_FRAMES);
	ck_assert_uint_eq(shadow.nr_lost, 3);
	ck_assert_uint_eq(shadow.frames[0].sp, USER - 24);
}
END_TEST

/* --- ds ----------------------------------------------------------------- */

#define BASE	0xffff888000001008ULL

static const struct ds_area three_records = {
	.base = BASE,
	.index = BASE,
	.absolute_maximum = BASE + 3 * DS_RECORD_BYTES,
	.interrupt_threshold = BASE + 4 * DS_RECORD_BYTES,
};

START_TEST(ds_circular_wraps_at_maximum)
{
	struct ds_area ds = three_records;
	struct ds_step step;

	for (unsigned int i = 0; i < 7; i++) {
		ck_assert_int_eq(ds_next(&ds, true, &step), DS_STORE);
		ck_assert_uint_eq(step.slot_addr, BASE + i % 3 * DS_RECORD_BYTES);
		ds.index = step.next_index;
		ck_assert_uint_eq(ds.index, BASE + (i + 1) % 3 * DS_RECORD_BYTES);
	}
}
END_TEST

START_TEST(ds_linear_stops_at_maximum)
{
	struct ds_area ds = three_records;
	struct ds_step step;

	for (unsigned int i = 0; i < 3; i++) {
		ck_assert_int_eq(ds_next(&ds, false, &step), DS_STORE);
		ds.index = step.next_index;
	}
	ck_assert_uint_eq(ds.index, ds.absolute_maximum);
	ck_assert_int_eq(ds_next(&ds, false, &step), DS_FULL);
}
END_TEST

START_TEST(ds_index_at_maximum_means_base_if_circular)
{
	struct ds_area ds = three_records;
	struct ds_step step;

	ds.index = ds.absolute_maximum;
	ck_assert_int_eq(ds_next(&ds, true, &step), DS_STORE);
	ck_assert_uint_eq(step.slot_addr, BASE);
}
END_TEST

START_TEST(ds_index_outside_or_between_records)
{
	static const int64_t offsets[] = { -24, -1, 1, 8, 23, 73, 96, 1 << 20 };
	struct ds_area ds = three_records;
	struct ds_step step;

	ds.index = BASE + (uint64_t)offsets[_i];
	ck_assert_int_eq(ds_next(&ds, true, &step), DS_OUT_OF_RING);
	ck_assert_int_eq(ds_next(&ds, false, &step), DS_OUT_OF_RING);
}
END_TEST

START_TEST(ds_size_no_multiple_never_leaves_ring)
{
	struct ds_area ds = three_records;
	struct ds_step step;

	ds.absolute_maximum += 16;
	for (unsigned int i = 0; i < 7; i++) {
		ck_assert_int_eq(ds_next(&ds, true, &step), DS_STORE);
		ck_assert_uint_le(step.slot_addr + DS_RECORD_BYTES, ds.absolute_maximum);
		ds.index = step.next_index;
	}
}
END_TEST

START_TEST(ds_predicted_is_stable_and_mixed)
{
	unsigned int nr_predicted = 0;

	for (unsigned int i = 0; i < 1000; i++) {
		uint64_t flags = ds_flags(BASE + i, BASE, i);

		ck_assert(flags == 0 || flags == DS_FLAG_PREDICTED);
		ck_assert_uint_eq(flags, ds_flags(BASE + i, BASE, i));
		nr_predicted += flags != 0;
	}
	ck_assert_uint_gt(nr_predicted, 300);
	ck_assert_uint_lt(nr_predicted, 700);
}
END_TEST

/* --- walk --------------------------------------------------------------- */

#define NR_TABLES	6
#define PRESENT_WRITE	3ULL
#define HUGE_LEAF	(1ULL << 7)
#define PAGE_PA		0x7654000ULL

/* Table n is physical page n + 1; table 0 is the top. */
static uint64_t tables[NR_TABLES][512];
static unsigned int nr_reads;

static bool read_table(void *arg, uint64_t pa, uint64_t *value_ret)
{
	(void)arg;
	nr_reads++;
	if (pa < WALK_PAGE_BYTES || pa >= (NR_TABLES + 1) * WALK_PAGE_BYTES)
		return false;
	*value_ret = ((uint64_t *)tables)[(pa - WALK_PAGE_BYTES) / sizeof(uint64_t)];
	return true;
}

static const uint64_t address = 0xffff912345678abcULL;

static unsigned int entry_of(unsigned int shift)
{
	return (address >> shift) & 511;
}

/* Maps @address at 4 KiB, through @nr_levels tables. */
static struct walk_space map(unsigned int nr_levels)
{
	struct walk_space space = { .cr3 = WALK_PAGE_BYTES | 0x18, .read = read_table };
	unsigned int shift = 12 + 9 * (nr_levels - 1);

	memset(tables, 0, sizeof(tables));
	for (unsigned int i = 0; i < nr_levels; i++, shift -= 9)
		tables[i][entry_of(shift)] = PRESENT_WRITE |
			(i + 1 < nr_levels ? (i + 2) * WALK_PAGE_BYTES : PAGE_PA);
	space.la57 = nr_levels == 5;
	return space;
}

START_TEST(walk_translates_4_and_5_levels)
{
	struct walk_space space = map((unsigned int)_i);
	struct walk_cache cache = { 0 };
	uint64_t pa = 0;

	ck_assert(walk_store(&space, address, &cache, &pa));
	ck_assert_uint_eq(pa, PAGE_PA | 0xabc);
}
END_TEST

START_TEST(walk_translates_large_pages)
{
	struct walk_space space = map(4);
	struct walk_cache cache = { 0 };
	uint64_t pa = 0;

	tables[2][entry_of(21)] = PRESENT_WRITE | HUGE_LEAF | 0x40000000;
	ck_assert(walk_store(&space, address, &cache, &pa));
	ck_assert_uint_eq(pa, 0x40000000 | (address & 0x1fffff));
}
END_TEST

START_TEST(walk_refuses_read_only_or_absent_at_any_level)
{
	for (unsigned int level = 0; level < 4; level++) {
		for (uint64_t bits = 0; bits < PRESENT_WRITE; bits++) {
			struct walk_space space = map(4);
			struct walk_cache cache = { 0 };
			uint64_t *entry = &tables[level][entry_of(39 - 9 * level)];
			uint64_t pa;

			*entry = (*entry & ~PRESENT_WRITE) | bits;
			ck_assert(!walk_store(&space, address, &cache, &pa));
		}
	}
}
END_TEST

START_TEST(walk_refuses_addresses_that_are_not_canonical)
{
	struct walk_space space = map(4);
	struct walk_cache cache = { 0 };
	uint64_t pa;

	ck_assert(!walk_store(&space, address ^ (1ULL << 48), &cache, &pa));
	ck_assert(!walk_store(&space, address ^ (1ULL << 63), &cache, &pa));
}
END_TEST

START_TEST(walk_notices_an_unmapped_page_soon)
{
	struct walk_space space = map(4);
	struct walk_cache cache = { 0 };
	unsigned int uses = 0;
	uint64_t pa;

	ck_assert(walk_store(&space, address, &cache, &pa));
	tables[3][entry_of(12)] &= ~1ULL;
	while (walk_store(&space, address, &cache, &pa))
		ck_assert_uint_le(++uses, WALK_MAX_TRUST);
	ck_assert(!walk_store(&space, address, &cache, &pa));
}
END_TEST

START_TEST(walk_trusts_a_page_whose_accessed_bit_changes)
{
	struct walk_space space = map(4);
	struct walk_cache cache = { 0 };
	uint64_t pa;

	ck_assert(walk_store(&space, address, &cache, &pa));
	tables[3][entry_of(12)] |= 0x60;
	nr_reads = 0;
	for (unsigned int i = 0; i <= WALK_MAX_TRUST; i++)
		ck_assert(walk_store(&space, address, &cache, &pa));
	ck_assert_uint_eq(nr_reads, 1);
}
END_TEST

/* --- perfmon ------------------------------------------------------------ */

START_TEST(perfmon_msrs_are_apart)
{
	static const uint32_t msrs[] = { 0xc1, 0xc4, 0x186, 0x189, 0x309, 0x30b, 0x38d, 0x38f,
					 0x390, 0x3f1 };
	struct perfmon perfmon = { { 0 } };
	uint64_t value;

	for (unsigned int i = 0; i < sizeof(msrs) / sizeof(msrs[0]); i++)
		ck_assert(perfmon_write(&perfmon, msrs[i], i + 1));
	for (unsigned int i = 0; i < sizeof(msrs) / sizeof(msrs[0]); i++) {
		ck_assert(perfmon_read(&perfmon, msrs[i], &value));
		ck_assert_uint_eq(value, i + 1);
	}
	ck_assert_uint_eq(perfmon_read_counter(&perfmon, 3), 2);
	ck_assert_uint_eq(perfmon_read_counter(&perfmon, (1U << 30) | 2), 6);
	ck_assert(!perfmon_read(&perfmon, 0xc5, &value));
	ck_assert(!perfmon_write(&perfmon, MSR_DEBUGCTL, 1));
}
END_TEST

/* --- lbr ---------------------------------------------------------------- */

START_TEST(lbr_keeps_the_newest)
{
	struct lbr lbr = { .kind = LBR_BY_MODEL };
	uint64_t value;

	for (uint64_t i = 1; i <= LBR_MAX_ENTRIES + 2; i++)
		lbr_push(&lbr, i << 8, i << 8 | 1, i % 2);
	ck_assert(lbr_read(&lbr, MSR_LBR_TOS, &value));
	ck_assert_uint_eq(value, 2);
	for (uint32_t age = 0; age < LBR_MAX_ENTRIES; age++) {
		uint32_t slot = (2 - age) % LBR_MAX_ENTRIES;
		uint64_t i = LBR_MAX_ENTRIES + 2 - age;

		ck_assert(lbr_read(&lbr, MSR_LBR_FROM_0 + slot, &value));
		ck_assert_uint_eq(value, i << 8);
		ck_assert(lbr_read(&lbr, MSR_LBR_TO_0 + slot, &value));
		ck_assert_uint_eq(value, i << 8 | 1);
		ck_assert(lbr_read(&lbr, MSR_LBR_INFO_0 + slot, &value));
		ck_assert_uint_eq(value, i % 2 ? 0 : LBR_MISPREDICTED);
	}
}
END_TEST

START_TEST(lbr_msrs_are_apart)
{
	static const uint32_t msrs[] = { MSR_LBR_SELECT, MSR_LBR_FROM_0, MSR_LBR_FROM_0 + 31,
					 MSR_LBR_TO_0, MSR_LBR_TO_0 + 31, MSR_LBR_INFO_0,
					 MSR_LBR_INFO_0 + 31 };
	struct lbr lbr = { .kind = LBR_BY_MODEL };
	uint64_t value;

	for (unsigned int i = 0; i < sizeof(msrs) / sizeof(msrs[0]); i++)
		ck_assert(lbr_write(&lbr, msrs[i], i + 1));
	for (unsigned int i = 0; i < sizeof(msrs) / sizeof(msrs[0]); i++) {
		ck_assert(lbr_read(&lbr, msrs[i], &value));
		ck_assert_uint_eq(value, i + 1);
	}
	ck_assert(lbr_write(&lbr, MSR_LBR_TOS, LBR_MAX_ENTRIES + 3));
	ck_assert_uint_eq(lbr.tos, 3);
	ck_assert(lbr_read(&lbr, MSR_PERF_CAPABILITIES, &value));
	ck_assert_uint_eq(value, LBR_FORMAT);
	ck_assert(!lbr_write(&lbr, MSR_PERF_CAPABILITIES, 1));
	ck_assert(!lbr_read(&lbr, MSR_LBR_FROM_0 + LBR_MAX_ENTRIES, &value));
	ck_assert(!lbr_write(&lbr, MSR_DEBUGCTL, 1));
}
END_TEST

START_TEST(lbr_filters_by_the_target)
{
	struct lbr lbr = { .kind = LBR_BY_MODEL };

	ck_assert(!lbr_filters(&lbr, 0x401000) && !lbr_filters(&lbr, 0xffffffff81000000));
	lbr_write(&lbr, MSR_LBR_SELECT, 1);
	ck_assert(!lbr_filters(&lbr, 0x401000) && lbr_filters(&lbr, 0xffffffff81000000));
	lbr_write(&lbr, MSR_LBR_SELECT, 2);
	ck_assert(lbr_filters(&lbr, 0x401000) && !lbr_filters(&lbr, 0xffffffff81000000));
}
END_TEST

static uint64_t lbr_value(const struct lbr *lbr, uint32_t msr)
{
	uint64_t value = 0;

	ck_assert(lbr_read(lbr, msr, &value));
	return value;
}

START_TEST(lbr_architectural_begins_with_the_newest)
{
	struct lbr lbr = { .kind = LBR_ARCHITECTURAL };

	ck_assert(!lbr_is_on(&lbr, true));
	ck_assert(lbr_write(&lbr, MSR_ARCH_LBR_CTL, 3));
	ck_assert(lbr_is_on(&lbr, false));
	ck_assert(lbr_filters(&lbr, 0x401000) && !lbr_filters(&lbr, 0xffffffff81000000));
	for (uint64_t i = 1; i <= LBR_MAX_ENTRIES + 2; i++)
		lbr_push(&lbr, i << 8, i << 8 | 1, i % 2);
	for (uint32_t age = 0; age < LBR_MAX_ENTRIES; age++) {
		uint64_t i = LBR_MAX_ENTRIES + 2 - age;

		ck_assert_uint_eq(lbr_value(&lbr, MSR_ARCH_LBR_FROM_0 + age), i << 8);
		ck_assert_uint_eq(lbr_value(&lbr, MSR_ARCH_LBR_TO_0 + age), i << 8 | 1);
		ck_assert_uint_eq(lbr_value(&lbr, MSR_ARCH_LBR_INFO_0 + age),
				  i % 2 ? 0 : LBR_MISPREDICTED);
	}
	ck_assert(lbr_is_newest(&lbr, MSR_ARCH_LBR_FROM_0));
	ck_assert(!lbr_is_newest(&lbr, MSR_ARCH_LBR_FROM_0 + 1));
	ck_assert(lbr_write(&lbr, MSR_ARCH_LBR_DEPTH, LBR_MAX_ENTRIES));
	ck_assert_uint_eq(lbr_value(&lbr, MSR_ARCH_LBR_FROM_0), 0);
	ck_assert(!lbr_write(&lbr, MSR_LBR_FROM_0, 1));
}
END_TEST

START_TEST(lbr_of_amd_has_the_state_in_to)
{
	struct lbr lbr = { .kind = LBR_AMD };
	uint64_t kernel = 0xffffffff81000000, low = kernel & LBR_AMD_ADDRESS;

	ck_assert(!lbr_is_on(&lbr, true));
	ck_assert(lbr_write(&lbr, MSR_AMD_DBG_EXTN_CFG, 0x40));
	ck_assert(lbr_is_on(&lbr, false));
	lbr_push(&lbr, kernel, kernel + 8, false);
	lbr_push_wrong_path(&lbr, kernel, kernel + 16);
	ck_assert_uint_eq(lbr_value(&lbr, MSR_AMD_LBR_FROM_0), low);
	ck_assert_uint_eq(lbr_value(&lbr, MSR_AMD_LBR_FROM_0 + 1),
			  (low + 16) | LBR_AMD_SPECULATIVE);
	ck_assert_uint_eq(lbr_value(&lbr, MSR_AMD_LBR_FROM_0 + 2), low | LBR_MISPREDICTED);
	ck_assert_uint_eq(lbr_value(&lbr, MSR_AMD_LBR_FROM_0 + 3), (low + 8) | LBR_AMD_VALID);
	ck_assert(lbr_is_newest(&lbr, MSR_AMD_LBR_FROM_0));
	ck_assert(!lbr_write(&lbr, MSR_AMD_LBR_FROM_0 + 32, 1));
	ck_assert(lbr_write(&lbr, MSR_AMD_LBR_SELECT, 2));
	ck_assert(lbr_filters(&lbr, 0x401000) && !lbr_filters(&lbr, kernel));
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("all");

	tcase_add_test(tcase, shadow_calls_live_until_the_stack_pointer_is_above);
	tcase_add_test(tcase, shadow_keeps_a_thread_below_its_interrupt);
	tcase_add_test(tcase, shadow_return_from_a_copied_address);
	tcase_add_test(tcase, shadow_user_stack_outlives_the_kernel_but_not_exec);
	tcase_add_test(tcase, shadow_forgets_the_oldest);
	tcase_add_test(tcase, extent_lasts_until_the_stack_pointer_is_above);
	tcase_add_test(tcase, extent_shows_an_interrupt);
	tcase_add_test(tcase, ds_circular_wraps_at_maximum);
	tcase_add_test(tcase, ds_linear_stops_at_maximum);
	tcase_add_test(tcase, ds_index_at_maximum_means_base_if_circular);
	tcase_add_loop_test(tcase, ds_index_outside_or_between_records, 0, 8);
	tcase_add_test(tcase, ds_size_no_multiple_never_leaves_ring);
	tcase_add_test(tcase, ds_predicted_is_stable_and_mixed);
	tcase_add_loop_test(tcase, walk_translates_4_and_5_levels, 4, 6);
	tcase_add_test(tcase, walk_translates_large_pages);
	tcase_add_test(tcase, walk_refuses_read_only_or_absent_at_any_level);
	tcase_add_test(tcase, walk_refuses_addresses_that_are_not_canonical);
	tcase_add_test(tcase, walk_notices_an_unmapped_page_soon);
	tcase_add_test(tcase, walk_trusts_a_page_whose_accessed_bit_changes);
	tcase_add_test(tcase, perfmon_msrs_are_apart);
	tcase_add_test(tcase, lbr_keeps_the_newest);
	tcase_add_test(tcase, lbr_msrs_are_apart);
	tcase_add_test(tcase, lbr_filters_by_the_target);
	tcase_add_test(tcase, lbr_architectural_begins_with_the_newest);
	tcase_add_test(tcase, lbr_of_amd_has_the_state_in_to);
	return btsrec_ck_run_case("model", tcase);
}
