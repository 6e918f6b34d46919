// SPDX-License-Identifier: GPL-2.0-or-later
#include <elf.h>

#include "failing_alloc.h"
#include "kernel/modsyms.h"
#include "namesfix.h"

/* Module memory: pages that follow each other in address only. */
#define PGD_PA		0x100000ULL
#define MODULE_KVA	0xffffffffc0000000ULL
#define NR_PAGES	8
#define PAGE_PA(i)	(0x200000ULL + (NR_PAGES - (i)) * 0x2000)

#define WHERE_KVA	(MODULE_KVA + 0xff0)	/* over two pages */
#define SYMTAB_KVA	(MODULE_KVA + 0x2010)
#define TYPETAB_KVA	(MODULE_KVA + 0x3ff0)
#define STRTAB_KVA	(MODULE_KVA + 0x5ff8)

static struct walk walk;
static uint32_t nr_symbols, names_bytes;
static struct modsyms_room room;

static void put(uint64_t kva, const void *bytes, size_t nr_bytes)
{
	for (size_t i = 0; i < nr_bytes; i++) {
		uint64_t offset = kva + i - MODULE_KVA;

		*(uint8_t *)mem_page(&mem, PAGE_PA(offset / 4096) + offset % 4096) =
			((const uint8_t *)bytes)[i];
	}
}

static void put_entry(uint64_t table_pa, unsigned int i, uint64_t pa)
{
	((uint64_t *)mem_page(&mem, table_pa))[i] = pa | 3;
}

static void put_where(uint64_t symtab_kva, uint32_t nr, uint64_t strtab_kva, uint64_t typetab_kva)
{
	uint64_t labels[4] = {symtab_kva, nr, strtab_kva, typetab_kva};

	put(WHERE_KVA, labels, sizeof(labels));
}

static void put_symbol(uint64_t va, char letter, const char *name)
{
	Elf64_Sym symbol = { .st_name = names_bytes, .st_value = va };

	put(SYMTAB_KVA + nr_symbols * sizeof(symbol), &symbol, sizeof(symbol));
	put(TYPETAB_KVA + nr_symbols, &letter, 1);
	put(STRTAB_KVA + names_bytes, name, strlen(name) + 1);
	names_bytes += (uint32_t)strlen(name) + 1;
	put_where(SYMTAB_KVA, ++nr_symbols, STRTAB_KVA, TYPETAB_KVA);
}

/* 0xffffffffc0000000 is entry 511, 511, 0 of the tables, then page 0. */
static void setup(void)
{
	put_entry(PGD_PA, 511, PGD_PA + 0x1000);
	put_entry(PGD_PA + 0x1000, 511, PGD_PA + 0x2000);
	put_entry(PGD_PA + 0x2000, 0, PGD_PA + 0x3000);
	for (unsigned int i = 0; i < NR_PAGES; i++)
		put_entry(PGD_PA + 0x3000, i, PAGE_PA(i));
	image = mem_image(&mem);
	walk_init(&walk, &image, false);
	kernel = (struct kread){ .image = &image, .pgd_pa = PGD_PA, .walk = &walk };
	room = (struct modsyms_room)MODSYMS_ROOM;
	nr_symbols = 0;
	names_bytes = 0;
	put_symbol(0, '\0', "");
	put_symbol(MODULE_KVA + 0x100, 't', "loop_exit");
	put_symbol(MODULE_KVA + 0x100, 'T', "cleanup_module");
	put_symbol(MODULE_KVA + 0x200, 'd', "loop_data");
}

static enum btsrec_status run(void)
{
	forget();
	return modsyms_read(&kernel, WHERE_KVA, &msg, &list, &room, &names);
}

START_TEST(all_of_them)
{
	setup();
	btsrec_ck_ok(run());
	ck_assert_uint_eq(list.nr_entries, 3);
	ck_entry(0, MODULE_KVA + 0x100, "loop_exit");
	ck_entry(1, MODULE_KVA + 0x100, "cleanup_module");
	ck_entry(2, MODULE_KVA + 0x200, "loop_data");
	teardown();
}
END_TEST

START_TEST(local_and_global_functions_rank_alike)
{
	setup();
	btsrec_ck_ok(run());
	ck_assert_uint_eq(list.entries[0].rank, list.entries[1].rank);
	ck_assert_uint_lt(list.entries[0].rank, list.entries[2].rank);
	teardown();
}
END_TEST

START_TEST(labels_are_left_out)
{
	setup();
	put_symbol(MODULE_KVA, 't', ".L123");
	put_symbol(MODULE_KVA, 't', "$x");
	put_symbol(MODULE_KVA, 'U', "_printk");
	btsrec_ck_ok(run());
	ck_assert_uint_eq(list.nr_entries, 3);
	teardown();
}
END_TEST

START_TEST(no_symbols)
{
	setup();
	put_where(SYMTAB_KVA, 0, STRTAB_KVA, TYPETAB_KVA);
	btsrec_ck_ok(run());
	ck_assert_uint_eq(list.nr_entries, 0);
	teardown();
}
END_TEST

START_TEST(parts_not_in_the_dump)
{
	static const struct {
		unsigned int page;
		const char *part;
	} parts[] = {
		{ 0, "mod_kallsyms" }, { 1, "mod_kallsyms" }, { 2, "symbol table" },
		{ 3, "table of types" }, { 5, "table of names" }, { 6, "table of names" },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		setup();
		mem_cut(&mem, PAGE_PA(parts[i].page), 0);
		btsrec_ck_fails(run(), BTSREC_ERR_NODATA, msg.text, parts[i].part);
		teardown();
	}
}
END_TEST

START_TEST(freed_memory)
{
	Elf64_Sym symbol = { .st_name = UINT32_MAX };

	setup();
	put_where(SYMTAB_KVA, UINT32_MAX, STRTAB_KVA, TYPETAB_KVA);
	btsrec_ck_fails(run(), BTSREC_ERR_CORRUPT, msg.text, "4294967295 symbols");
	put_where(0x6b6b6b6b6b6b6b6b, 1, 0x6b6b6b6b6b6b6b6b, 0x6b6b6b6b6b6b6b6b);
	btsrec_ck_status(run(), BTSREC_ERR_NODATA);
	put_where(SYMTAB_KVA, 1, STRTAB_KVA, TYPETAB_KVA);
	put(SYMTAB_KVA, &symbol, sizeof(symbol));
	btsrec_ck_fails(run(), BTSREC_ERR_CORRUPT, msg.text, "a name at");
	teardown();
}
END_TEST

/* The first of the four is nameless, and counts as one. */
START_TEST(room_for_all_modules)
{
	const size_t all_bytes = strlen("loop_exit") + strlen("cleanup_module") + strlen("loop_data");

	setup();
	room = (struct modsyms_room){ 9, 2 * all_bytes };
	btsrec_ck_ok(run());
	ck_assert_uint_eq(room.nr_symbols, 5);
	ck_assert_uint_eq(room.names_bytes, all_bytes);
	btsrec_ck_ok(run());
	btsrec_ck_fails(run(), BTSREC_ERR_CORRUPT, msg.text, "too many symbols");
	room = (struct modsyms_room){ 4, all_bytes - 1 };
	btsrec_ck_fails(run(), BTSREC_ERR_CORRUPT, msg.text, "too long");
	teardown();
}
END_TEST

START_TEST(no_page_table)
{
	setup();
	kernel.pgd_pa = 0;
	btsrec_ck_status(run(), BTSREC_ERR_NODATA);
	teardown();
}
END_TEST

START_TEST(no_memory)
{
	unsigned int nr = 1;

	setup();
	for (;; nr++) {
		enum btsrec_status status;

		failing_alloc_arm(nr);
		status = run();
		if (!failing_alloc_disarm())
			break;
		btsrec_ck_status(status, BTSREC_ERR_NOMEM);
	}
	ck_assert_uint_eq(nr, 5);
	teardown();
}
END_TEST

BTSREC_CK_MAIN("modsyms", all_of_them, local_and_global_functions_rank_alike,
	       labels_are_left_out, no_symbols, parts_not_in_the_dump, freed_memory,
	       room_for_all_modules, no_page_table, no_memory)
