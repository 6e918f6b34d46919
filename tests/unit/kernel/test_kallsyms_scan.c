// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "failing_alloc.h"
#include "kernel/kallsyms_scan.h"
#include "namesfix.h"

#define PHYS_BASE	0x200000ULL
#define KVA(pa)		(KREAD_IMAGE_KVA + (pa) - PHYS_BASE)
#define NAMES_PA	0x801000ULL
#define TEXT_PA		0x600000ULL
#define BASE_KVA	KVA(TEXT_PA)
#define NR_SYMBOLS	600U
#define ANCHOR		500U

/* Where parts are in memory, one after the other, and what their addresses are multiples of. */
static uint64_t end_pa;
static uint64_t align_bytes;
static struct kallsyms_where where;

static void put_at(uint64_t pa, const void *bytes, size_t nr_bytes)
{
	for (size_t i = 0; i < nr_bytes; i++)
		*(uint8_t *)mem_page(&mem, pa + i) = ((const uint8_t *)bytes)[i];
}

/* The next part, aligned; its address. */
static uint64_t put(const void *bytes, size_t nr_bytes)
{
	uint64_t pa = (end_pa + align_bytes - 1) & ~(align_bytes - 1);

	put_at(pa, bytes, nr_bytes);
	end_pa = pa + nr_bytes;
	return KVA(pa);
}

static void put_names(void)
{
	uint32_t count = NR_SYMBOLS, markers[3];
	uint64_t names_pa;

	where.num_syms_kva = put(&count, sizeof(count));
	names_pa = (end_pa + align_bytes - 1) & ~(align_bytes - 1);
	end_pa = names_pa;
	where.names_kva = KVA(names_pa);
	for (uint32_t i = 0; i < NR_SYMBOLS; i++) {
		char text[32];
		uint8_t len = (uint8_t)sprintf(text, i == ANCHOR ? "Tanchor" : "Tname_%u", i);

		if (i % 256 == 0)
			markers[i / 256] = (uint32_t)(end_pa - names_pa);
		put_at(end_pa, &len, 1);
		put_at(end_pa + 1, text, len);
		end_pa += 1 + len;
	}
	put(markers, sizeof(markers));
}

/* What has been between the markers and the tokens since v6.1: no NUL at its end. */
static void put_order(void)
{
	static const uint8_t order[3 * 8] = "\1\2\3\4\5\6\7\1\2\3\4\5\6\7\1\2\3\4\5\6\7\1\2\3";

	put(order, sizeof(order));
}

static void put_tokens(void)
{
	uint16_t index[256];
	char text[2048];
	size_t at = 0;

	for (unsigned int i = 0; i < 256; i++) {
		index[i] = (uint16_t)at;
		if (i >= 0x80)
			at += (size_t)sprintf(text + at, "tok%u", i) + 1;
		else
			at += (size_t)sprintf(text + at, "%c", i ? (char)i : 'x') + 1;
	}
	where.token_table_kva = put(text, at);
	where.token_index_kva = put(index, sizeof(index));
}

static void put_addresses(bool from_place)
{
	uint64_t base = BASE_KVA, first_kva = KVA((end_pa + align_bytes - 1) & ~(align_bytes - 1));
	int32_t offsets[NR_SYMBOLS];

	for (uint32_t i = 0; i < NR_SYMBOLS; i++)
		offsets[i] = from_place ? (int32_t)(base + 16 * i - (first_kva + 4 * i)) :
					  (int32_t)(16 * i);
	where.offsets_kva = put(offsets, sizeof(offsets));
	if (!from_place)
		where.relative_base_kva = put(&base, sizeof(base));
}

/* 0: before v6.5; 1: since then; 2: v7.2; 3: v7.3. */
static void setup(int order)
{
	align_bytes = order == 3 ? 4 : 8;
	memset(&where, 0, sizeof(where));
	image = mem_image(&mem);
	kernel = (struct kread){ .image = &image, .phys_base = PHYS_BASE };
	end_pa = NAMES_PA - 1;
	if (order == 0)
		put_addresses(false);
	put_names();
	if (order != 3)
		put_order();
	put_tokens();
	if (order != 0)
		put_addresses(order >= 2);
	put("\1\1\1\1\1\1\1\1", 8);
}

static bool read_one(const struct kallsyms_where *at)
{
	const struct kallsyms_anchor anchor = { "anchor", BASE_KVA + 16 * ANCHOR };

	forget();
	return !kallsyms_read(&kernel, at, &anchor, &msg, &list, &names);
}

START_TEST(each_order)
{
	struct kallsyms_where found[KALLSYMS_NR_LAYOUTS];
	unsigned int nr_same = 0;

	setup(_i);
	ck_assert(kallsyms_scan(&kernel, BASE_KVA, found));
	for (size_t i = 0; i < KALLSYMS_NR_LAYOUTS; i++) {
		if (memcmp(&found[i], &where, sizeof(where)))
			continue;
		nr_same++;
		ck_assert(read_one(&found[i]));
		ck_assert_uint_eq(list.nr_entries, NR_SYMBOLS);
		ck_entry(1, BASE_KVA + 16, "name_1");
	}
	ck_assert_uint_eq(nr_same, 1);
	teardown();
}
END_TEST

/* An address behind the table, and one that is not the image's. */
START_TEST(from_elsewhere)
{
	struct kallsyms_where found[KALLSYMS_NR_LAYOUTS];

	setup(1);
	ck_assert(kallsyms_scan(&kernel, KVA(end_pa + 0x100000), found));
	ck_assert_uint_eq(found[0].names_kva, where.names_kva);
	ck_assert(!kallsyms_scan(&kernel, 0xffff888000000000ULL, found));
	teardown();
}
END_TEST

/* A byte changed in each part: there is no table, or not where it seems to be. */
START_TEST(damage)
{
	struct kallsyms_where found[KALLSYMS_NR_LAYOUTS];

	for (int part = 0; part < 4; part++) {
		uint64_t kva;

		setup(1);
		kva = part == 0 ? where.num_syms_kva : part == 1 ? where.names_kva :
		      part == 2 ? where.token_table_kva + 2 * '3' : where.token_index_kva + 20;
		*((uint8_t *)mem_page(&mem, kva - KREAD_IMAGE_KVA + PHYS_BASE)) ^= 0x41;
		ck_assert(!kallsyms_scan(&kernel, BASE_KVA, found));
		teardown();
	}
}
END_TEST

START_TEST(out_of_memory)
{
	struct kallsyms_where found[KALLSYMS_NR_LAYOUTS];
	bool nomem = false;

	setup(1);
	kernel.nomem = &nomem;
	for (int nth = 1; nth <= 4; nth++) {
		nomem = false;
		failing_alloc_arm((unsigned int)nth);
		(void)kallsyms_scan(&kernel, BASE_KVA, found);
		ck_assert(failing_alloc_disarm() && nomem);
	}
	ck_assert(kallsyms_scan(&kernel, BASE_KVA, found));
	teardown();
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("kallsyms_scan");

	tcase_set_timeout(tcase, BTSREC_CK_TIMEOUT_S);
	tcase_add_loop_test(tcase, each_order, 0, 4);
	tcase_add_test(tcase, from_elsewhere);
	tcase_add_test(tcase, damage);
	tcase_add_test(tcase, out_of_memory);
	return btsrec_ck_run_case("kallsyms_scan", tcase);
}
