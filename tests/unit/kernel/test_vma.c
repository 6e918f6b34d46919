// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "userkernel.h"
#include "kernel/vma.h"

#define MM_KVA	UK_KVA(UK_MM_PA)

static struct uk uk;
static struct layout layout;

static void start(void)
{
	uk_init(&uk);
	layout = uk_layout;
}

static struct uk_mm *mm(void)
{
	return uk_at(&uk, UK_MM_PA);
}

static struct uk_range *node(uint64_t pa)
{
	return uk_at(&uk, pa);
}

static struct uk_vma *vma_of(enum uk_mapping mapping)
{
	return uk_at(&uk, uk_vma_pa(mapping));
}

static void expect(uint64_t va, enum uk_mapping mapping, enum vma_kind kind)
{
	struct vma vma;

	ck_assert_int_eq(vma_find(&uk.kread, &layout, MM_KVA, va, &vma), VMA_OK);
	ck_assert_uint_eq(vma.kva, UK_KVA(uk_vma_pa(mapping)));
	ck_assert_uint_eq(vma.start, vma_of(mapping)->vm_start);
	ck_assert_uint_eq(vma.end, vma_of(mapping)->vm_end);
	ck_assert_uint_eq(vma.file_kva, vma_of(mapping)->vm_file);
	ck_assert_uint_eq(vma.offset_bytes, vma_of(mapping)->vm_pgoff * 4096);
	ck_assert_int_eq(vma.kind, kind);
}

static void expect_not(uint64_t va, enum vma_result result)
{
	struct vma vma, before;

	memset(&vma, DIRT, sizeof(vma));
	before = vma;
	ck_assert_int_eq(vma_find(&uk.kread, &layout, MM_KVA, va, &vma), result);
	ck_assert_mem_eq(&vma, &before, sizeof(vma));
}

START_TEST(each_kind)
{
	start();
	expect(UK_TEXT, UK_OF_TEXT, VMA_OF_FILE);
	expect(UK_DATA - 1, UK_OF_TEXT, VMA_OF_FILE);
	expect(UK_DATA, UK_OF_DATA, VMA_OF_FILE);
	expect(UK_HEAP + 0x800, UK_OF_HEAP, VMA_OF_HEAP);
	expect(UK_ANON, UK_OF_ANON, VMA_ANONYMOUS);
	expect(UK_VDSO + 1, UK_OF_VDSO, VMA_OF_VDSO);
	expect(UK_STACK, UK_OF_STACK, VMA_OF_STACK);
	expect(UK_STACK_TOP - 1, UK_OF_STACK, VMA_OF_STACK);
}
END_TEST

START_TEST(nothing_there)
{
	start();
	expect_not(0, VMA_NONE);
	expect_not(UK_TEXT - 1, VMA_NONE);
	expect_not(UK_DATA + 0x1000, VMA_NONE);
	expect_not(UK_HEAP - 1, VMA_NONE);
	expect_not(UK_ANON + 0x1000, VMA_NONE);
	expect_not(UK_STACK - 1, VMA_NONE);
	expect_not(UK_STACK_TOP, VMA_NONE);
	expect_not(UINT64_MAX, VMA_NONE);
}
END_TEST

/* An empty tree, and one of a single entry from 0 on, which no process has. */
START_TEST(a_root_that_is_no_node)
{
	start();
	mm()->mm_mt.ma_root = 0;
	expect_not(UK_TEXT, VMA_NONE);
	mm()->mm_mt.ma_root = UK_KVA(uk_vma_pa(UK_OF_TEXT));
	expect_not(UK_TEXT, VMA_NONE);
	mm()->mm_mt.ma_root = 0x102;
	expect_not(UK_TEXT, VMA_NONE);
}
END_TEST

/* The last pivot of a full node is where others have their length. */
START_TEST(a_full_leaf)
{
	start();
	for (unsigned int i = 0; i < 15; i++) {
		node(UK_LEAF0_PA)->pivot[i] = UK_TEXT + 0x1000 * i - 1;
		node(UK_LEAF0_PA)->slot[i] = 0;
	}
	node(UK_LEAF0_PA)->slot[15] = uk_leaf_entry(UK_OF_HEAP);
	expect(UK_HEAP, UK_OF_HEAP, VMA_OF_HEAP);
	node(UK_LEAF0_PA)->slot[14] = uk_leaf_entry(UK_OF_TEXT);
	vma_of(UK_OF_TEXT)->vm_end = UK_TEXT + 0xe000;
	expect(UK_TEXT + 0xdfff, UK_OF_TEXT, VMA_OF_FILE);
	expect_not(UK_TEXT, VMA_NONE);
}
END_TEST

START_TEST(the_root_is_a_leaf)
{
	start();
	mm()->mm_mt.ma_root = uk_node(UK_LEAF0_PA, 1);
	expect(UK_TEXT, UK_OF_TEXT, VMA_OF_FILE);
	expect_not(UK_TEXT - 1, VMA_NONE);
}
END_TEST

START_TEST(nodes_that_are_none)
{
	start();
	mm()->mm_mt.ma_root = uk_node(UK_ROOT_PA, 0);	/* maple_dense: not in an mm */
	expect_not(UK_TEXT, VMA_NOT_IN_DUMP);
	mm()->mm_mt.ma_root = uk_node(UK_ROOT_PA, 4);
	expect_not(UK_TEXT, VMA_NOT_IN_DUMP);
	mm()->mm_mt.ma_root = uk_node(UK_BYTES, 3);
	expect_not(UK_TEXT, VMA_NOT_IN_DUMP);
	start();
	node(UK_RANGE_PA)->parent = UK_KVA(UK_RANGE_PA) | 6;	/* dead */
	expect_not(UK_TEXT, VMA_NOT_IN_DUMP);
	start();
	node(UK_RANGE_PA)->meta.end = 16;
	expect_not(UK_TEXT, VMA_NOT_IN_DUMP);
	((struct uk_arange *)uk_at(&uk, UK_ROOT_PA))->meta.end = 10;
	expect_not(UK_TEXT, VMA_NOT_IN_DUMP);
}
END_TEST

START_TEST(a_tree_in_a_circle)
{
	start();
	node(UK_RANGE_PA)->slot[0] = uk_node(UK_ROOT_PA, 3);
	expect_not(UK_TEXT, VMA_NOT_IN_DUMP);
	node(UK_RANGE_PA)->slot[0] = uk_node(UK_RANGE_PA, 2);
	expect_not(UK_TEXT, VMA_NOT_IN_DUMP);
	expect(UK_ANON, UK_OF_ANON, VMA_ANONYMOUS);
}
END_TEST

START_TEST(inner_slots_that_are_empty)
{
	start();
	node(UK_RANGE_PA)->slot[0] = 0;
	expect_not(UK_TEXT, VMA_NONE);
	node(UK_LEAF1_PA)->slot[1] = 0x402;	/* XA_ZERO_ENTRY: reserved, no VMA yet */
	expect_not(UK_ANON, VMA_NONE);
}
END_TEST

START_TEST(vmas_that_are_not_believed)
{
	start();
	vma_of(UK_OF_TEXT)->vm_mm++;
	expect_not(UK_TEXT, VMA_NOT_IN_DUMP);
	start();
	vma_of(UK_OF_TEXT)->vm_start = UK_TEXT + 0x1000;
	expect_not(UK_TEXT, VMA_NOT_IN_DUMP);
	expect(UK_TEXT + 0x1000, UK_OF_TEXT, VMA_OF_FILE);
	start();
	vma_of(UK_OF_TEXT)->vm_end = UK_TEXT + 0x1000;
	expect_not(UK_TEXT + 0x1000, VMA_NOT_IN_DUMP);
	expect(UK_TEXT + 0xfff, UK_OF_TEXT, VMA_OF_FILE);
}
END_TEST

START_TEST(parts_that_are_not_in_the_dump)
{
	start();
	uk.hole_pa = UK_MM_PA;
	expect_not(UK_TEXT, VMA_NOT_IN_DUMP);
	uk.hole_pa = UK_VMA_PA;
	expect_not(UK_TEXT, VMA_NOT_IN_DUMP);
	expect_not(UK_TEXT - 1, VMA_NONE);
	uk.hole_pa = UK_ROOT_PA;
	expect_not(UK_TEXT, VMA_NOT_IN_DUMP);
}
END_TEST

/* Arrays of any length are in a BTF that lies: as many reads would not end. */
static uint64_t nr_reads;

static enum btsrec_status read_zeros(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				     size_t *ret_bytes)
{
	uint64_t root = uk_node(UK_ROOT_PA, 3);

	(void)arg;
	nr_reads++;
	memset(buf, 0, len_bytes);
	if (pa == UK_MM_PA + layout.at[MM_MA_ROOT].offset_bytes)
		memcpy(buf, &root, sizeof(root));
	if (pa == UK_ROOT_PA + layout.at[ARANGE_END].offset_bytes)
		memset(buf, 0x07, len_bytes);
	*ret_bytes = len_bytes;
	return BTSREC_OK;
}

START_TEST(arrays_of_any_length)
{
	struct vma vma;

	start();
	uk.image.read_pa = read_zeros;
	uk.image.max_pa = IMAGE_MAX_PA;
	layout.at[ARANGE_PIVOT].size_bytes = 0xffffffff;
	layout.at[ARANGE_SLOT].size_bytes = 0xffffffff;
	layout.at[ARANGE_END].size_bytes = 4;
	nr_reads = 0;
	ck_assert_int_eq(vma_find(&uk.kread, &layout, MM_KVA, UK_TEXT, &vma), VMA_NOT_IN_DUMP);
	ck_assert_uint_le(nr_reads, 1000);
	layout.at[ARANGE_PIVOT].size_bytes = 0;
	layout.at[ARANGE_SLOT].size_bytes = 0;
	ck_assert_int_eq(vma_find(&uk.kread, &layout, MM_KVA, UK_TEXT, &vma), VMA_NOT_IN_DUMP);
}
END_TEST

BTSREC_CK_MAIN("vma", each_kind, nothing_there, a_root_that_is_no_node, a_full_leaf,
	       the_root_is_a_leaf, nodes_that_are_none, a_tree_in_a_circle,
	       inner_slots_that_are_empty, vmas_that_are_not_believed,
	       parts_that_are_not_in_the_dump, arrays_of_any_length)
