// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "userkernel.h"

static struct uk uk;
static uint8_t btf_bytes[UK_BYTES];

static const char *init(const char *mtime, struct layout *ret)
{
	struct types *types = types_new(btf_bytes, uk_btf(btf_bytes, sizeof(btf_bytes), mtime));
	const char *missing;

	ck_assert_ptr_nonnull(types);
	missing = layout_init(types, ret);
	types_free(types);
	return missing;
}

START_TEST(all_members)
{
	struct layout layout;

	memset(&layout, DIRT, sizeof(layout));
	ck_assert_ptr_null(init("i_mtime_sec", &layout));
	for (unsigned int i = 0; i < NR_LAYOUT_MEMBERS; i++) {
		ck_assert_uint_eq(layout.at[i].offset_bytes, uk_layout.at[i].offset_bytes);
		ck_assert_uint_eq(layout.at[i].size_bytes, uk_layout.at[i].size_bytes);
	}
}
END_TEST

START_TEST(a_member_that_is_missing)
{
	struct layout layout, before;

	memset(&layout, DIRT, sizeof(layout));
	before = layout;
	ck_assert_str_eq(init("i_mtime_other", &layout), "i_mtime.tv_sec");
	ck_assert_mem_eq(&layout, &before, sizeof(layout));
}
END_TEST

START_TEST(reads)
{
	struct layout layout = uk_layout;
	uint64_t value = DIRT;

	uk_init(&uk);
	ck_assert(layout_read(&layout, &uk.kread, UK_KVA(UK_TASK_PA), TASK_TGID, &value));
	ck_assert_uint_eq(value, UK_TGID);
	ck_assert(layout_read(&layout, &uk.kread, UK_KVA(UK_TASK_PA), TASK_MM, &value));
	ck_assert_uint_eq(value, UK_KVA(UK_MM_PA));
	value = DIRT;
	ck_assert(!layout_read(&layout, &uk.kread, UK_KVA(UK_BYTES), TASK_MM, &value));
	layout.at[TASK_MM].size_bytes = 9;
	ck_assert(!layout_read(&layout, &uk.kread, UK_KVA(UK_TASK_PA), TASK_MM, &value));
	ck_assert_uint_eq(value, DIRT);
}
END_TEST

BTSREC_CK_MAIN("layout", all_members, a_member_that_is_missing, reads)
