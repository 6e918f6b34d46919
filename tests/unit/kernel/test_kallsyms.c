// SPDX-License-Identifier: GPL-2.0-or-later
#include "failing_alloc.h"
#include "kernel/kallsyms.h"
#include "namesfix.h"

#define PHYS_BASE	0x300000ULL
#define KVA(pa)		(KREAD_IMAGE_KVA + (pa) - PHYS_BASE)
#define COUNT_PA	0x400010ULL
#define BASE_PA		0x400018ULL
#define INDEX_PA	0x401000ULL
#define TOKENS_PA	0x402f00ULL	/* over two pages */
#define OFFSETS_PA	0x404ff8ULL
#define NAMES_PA	0x408ffeULL
#define BASE_KVA	0xffffffff81000000ULL
#define ANCHOR_KVA	(BASE_KVA + 0x1234)

/* The tokens of these bytes are texts; those of all others are themselves. */
#define TOKEN_SCHEDULE	1
#define TOKEN_T_SCHED	2
#define TOKEN_EMPTY	3
#define TOKEN_LONG	4
#define LONG_TOKEN	"longer_than_what_is_copied_in_one_piece"

static struct kallsyms_where where;
static struct kallsyms_anchor anchor;
static uint64_t names_end_pa;
static uint32_t nr_symbols;

static void put(uint64_t pa, const void *bytes, size_t nr_bytes)
{
	for (size_t i = 0; i < nr_bytes; i++)
		*(uint8_t *)mem_page(&mem, pa + i) = ((const uint8_t *)bytes)[i];
}

static void put_tokens(void)
{
	uint64_t pa = TOKENS_PA;

	for (unsigned int i = 0; i < 256; i++) {
		char text[64] = { (char)i };
		uint16_t at = (uint16_t)(pa - TOKENS_PA);

		if (i == TOKEN_SCHEDULE)
			strcpy(text, "schedule");
		if (i == TOKEN_T_SCHED)
			strcpy(text, "Tsched");
		if (i == TOKEN_LONG)
			strcpy(text, LONG_TOKEN);
		if (i == TOKEN_EMPTY)
			text[0] = '\0';
		put(INDEX_PA + 2 * i, &at, sizeof(at));
		put(pa, text, strlen(text) + 1);
		pa += strlen(text) + 1;
	}
}

/* A symbol by its tokens; the first one begins with the type letter. */
static void put_symbol(int32_t offset, const void *tokens, size_t nr_tokens)
{
	uint8_t head[2] = { (uint8_t)nr_tokens };
	size_t head_bytes = 1;

	if (nr_tokens > 127) {
		head[0] = 0x80 | (nr_tokens & 0x7f);
		head[1] = (uint8_t)(nr_tokens >> 7);
		head_bytes = 2;
	}
	put(names_end_pa, head, head_bytes);
	put(names_end_pa + head_bytes, tokens, nr_tokens);
	names_end_pa += head_bytes + nr_tokens;
	put(OFFSETS_PA + 4 * nr_symbols, &offset, sizeof(offset));
	nr_symbols++;
	put(COUNT_PA, &nr_symbols, sizeof(nr_symbols));
}

static void put_text(int32_t offset, const char *text)
{
	put_symbol(offset, text, strlen(text));
}

static void setup(void)
{
	uint64_t base = BASE_KVA;

	names_end_pa = NAMES_PA;
	nr_symbols = 0;
	put_tokens();
	put(BASE_PA, &base, sizeof(base));
	image = mem_image(&mem);
	kernel = (struct kread){ .image = &image, .phys_base = PHYS_BASE };
	where = (struct kallsyms_where){
		.num_syms_kva = KVA(COUNT_PA), .names_kva = KVA(NAMES_PA),
		.token_table_kva = KVA(TOKENS_PA), .token_index_kva = KVA(INDEX_PA),
		.offsets_kva = KVA(OFFSETS_PA), .relative_base_kva = KVA(BASE_PA),
	};
	anchor = (struct kallsyms_anchor){ "anchor", ANCHOR_KVA };
}

static enum btsrec_status run(void)
{
	forget();
	return kallsyms_read(&kernel, &where, &anchor, &msg, &list, &names);
}

START_TEST(tokens_are_expanded)
{
	setup();
	put_symbol(0x10, "t\1", 2);
	put_symbol(0x20, "\2_\1\3x", 5);
	put_text(0x1234, "Danchor");
	btsrec_ck_ok(run());
	ck_assert_uint_eq(list.nr_entries, 3);
	ck_entry(0, BASE_KVA + 0x10, "schedule");
	ck_entry(1, BASE_KVA + 0x20, "sched_schedulex");
	ck_entry(2, ANCHOR_KVA, "anchor");
	teardown();
}
END_TEST

/* Long tokens and short ones, one after the other and as the last of all. */
START_TEST(tokens_of_any_length)
{
	setup();
	put_text(0x1234, "Tanchor");
	put_symbol(0x10, "\2\4\4x", 4);
	put_symbol(0x20, "Ta\4b\1", 5);
	put_symbol(0x30, "T\1\4", 3);
	btsrec_ck_ok(run());
	ck_entry(1, BASE_KVA + 0x10, "sched" LONG_TOKEN LONG_TOKEN "x");
	ck_entry(2, BASE_KVA + 0x20, "a" LONG_TOKEN "bschedule");
	ck_entry(3, BASE_KVA + 0x30, "schedule" LONG_TOKEN);
	teardown();
}
END_TEST

/* What does not fit is cut where the limit is, within a token as well. */
START_TEST(tokens_beyond_the_limit)
{
	char tokens[120], text[121 * sizeof(LONG_TOKEN)] = "";

	setup();
	put_text(0x1234, "Tanchor");
	memset(tokens, TOKEN_LONG, sizeof(tokens));
	tokens[0] = 'T';
	put_symbol(0, tokens, sizeof(tokens));
	memset(tokens, TOKEN_SCHEDULE, sizeof(tokens));
	tokens[0] = 'T';
	put_symbol(0, tokens, sizeof(tokens));
	put_text(0, "Tlast");
	btsrec_ck_ok(run());
	for (size_t i = 0; i + 1 < sizeof(tokens); i++)
		strcat(text, LONG_TOKEN);
	ck_assert_uint_eq(list.entries[1].name_bytes, SYMBOL_NAME_MAX_BYTES);
	ck_assert_mem_eq(list.entries[1].name, text, SYMBOL_NAME_MAX_BYTES);
	ck_assert_uint_eq(list.entries[2].name_bytes, SYMBOL_NAME_MAX_BYTES);
	ck_assert_mem_eq(list.entries[2].name + SYMBOL_NAME_MAX_BYTES - 7, "schedul", 7);
	ck_entry(3, BASE_KVA, "last");
	teardown();
}
END_TEST

START_TEST(from_base_is_unsigned)
{
	setup();
	put_text(-16, "Tfar");
	put_text(0x20, "Anowhere");
	put_text(0x1234, "Tanchor");
	btsrec_ck_ok(run());
	ck_entry(0, BASE_KVA + 0xfffffff0, "far");
	ck_entry(1, 0, "nowhere");
	teardown();
}
END_TEST

START_TEST(negative_is_from_base)
{
	setup();
	put_text(0x20, "Aper_cpu");
	put_text(-1, "T_stext");
	put_text(-1 - 0x1234, "Tanchor");
	btsrec_ck_ok(run());
	ck_entry(0, 0x20, "per_cpu");
	ck_entry(1, BASE_KVA, "_stext");
	ck_entry(2, ANCHOR_KVA, "anchor");
	teardown();
}
END_TEST

START_TEST(from_place)
{
	setup();
	where.relative_base_kva = 0;
	put_text(-0x100, "Tbelow");
	put_text((int32_t)(ANCHOR_KVA - (where.offsets_kva + 4)), "Tanchor");
	btsrec_ck_ok(run());
	ck_entry(0, where.offsets_kva - 0x100, "below");
	ck_entry(1, ANCHOR_KVA, "anchor");
	teardown();
}
END_TEST

START_TEST(one_of_several_anchors)
{
	setup();
	put_text(0x10, "tanchor");
	put_text(0x1234, "Tanchor");
	btsrec_ck_ok(run());
	ck_assert_uint_eq(list.nr_entries, 2);
	teardown();
}
END_TEST

START_TEST(another_kernel)
{
	setup();
	put_text(0x1230, "Tanchor");
	btsrec_ck_fails(run(), BTSREC_ERR_MISMATCH, msg.text, "the symbol that the recorder noted");
	anchor.name = "gone";
	btsrec_ck_status(run(), BTSREC_ERR_MISMATCH);
	anchor.name = "";
	btsrec_ck_status(run(), BTSREC_ERR_MISMATCH);
	teardown();
}
END_TEST

START_TEST(long_names)
{
	char text[600];

	setup();
	memset(text, 'n', sizeof(text));
	text[0] = 'T';
	put_symbol(0, text, 128);
	put_symbol(0, text, 512);
	put_symbol(0, text, 600);
	put_text(0x1234, "Tanchor");
	btsrec_ck_ok(run());
	ck_assert_uint_eq(list.entries[0].name_bytes, 127);
	ck_assert_uint_eq(list.entries[1].name_bytes, SYMBOL_NAME_MAX_BYTES);
	ck_assert_uint_eq(list.entries[2].name_bytes, SYMBOL_NAME_MAX_BYTES);
	ck_entry(3, ANCHOR_KVA, "anchor");
	teardown();
}
END_TEST

/* More than is read at a time, so that the names arrive in several steps. */
START_TEST(many_symbols)
{
	char text[400];

	setup();
	memset(text, 'n', sizeof(text));
	text[0] = 'T';
	put_text(0x1234, "Tanchor");
	for (int i = 0; i < 3000; i++)
		put_symbol(i, text, sizeof(text));
	btsrec_ck_ok(run());
	ck_assert_uint_eq(list.nr_entries, 3001);
	ck_assert_uint_eq(list.entries[3000].va, BASE_KVA + 2999);
	teardown();
}
END_TEST

/* 150 MB of 4: what little a dump has must not become more than memory has. */
START_TEST(names_that_are_too_long)
{
	uint8_t name[15] = { 14, 'T' };
	uint32_t count = 300000;

	setup();
	memset(name + 2, TOKEN_LONG, sizeof(name) - 2);
	put_text(0x1234, "Tanchor");
	put(COUNT_PA, &count, sizeof(count));
	for (uint32_t i = 1; i < count; i++, names_end_pa += sizeof(name))
		put(names_end_pa, name, sizeof(name));
	btsrec_ck_fails(run(), BTSREC_ERR_CORRUPT, msg.text, "too long");
	teardown();
}
END_TEST

START_TEST(parts_not_in_the_dump)
{
	static const struct {
		uint64_t pa;
		const char *part;
	} parts[] = {
		{ COUNT_PA, "kallsyms_num_syms" }, { INDEX_PA, "kallsyms_token_index" },
		{ TOKENS_PA + 0x100, "kallsyms_token_table" },
		{ OFFSETS_PA + 8, "kallsyms_offsets" }, { NAMES_PA, "kallsyms_names" },
		{ NAMES_PA + 2, "kallsyms_names" },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		setup();
		for (int nr = 0; nr < 3; nr++)
			put_text(0x1234, "Tanchor");
		mem_cut(&mem, parts[i].pa, 0);
		btsrec_ck_fails(run(), BTSREC_ERR_NODATA, msg.text, parts[i].part);
		teardown();
	}
}
END_TEST

START_TEST(impossible_counts)
{
	uint32_t count = 0;

	setup();
	put_text(0x1234, "Tanchor");
	put(COUNT_PA, &count, sizeof(count));
	btsrec_ck_fails(run(), BTSREC_ERR_CORRUPT, msg.text, "kallsyms_num_syms is 0");
	count = UINT32_MAX;
	put(COUNT_PA, &count, sizeof(count));
	btsrec_ck_fails(run(), BTSREC_ERR_CORRUPT, msg.text, "kallsyms_num_syms is 4294967295");
	count = 1 << 22;
	put(COUNT_PA, &count, sizeof(count));
	btsrec_ck_fails(run(), BTSREC_ERR_CORRUPT, msg.text, "symbol 1 in kallsyms_names is empty");
	teardown();
}
END_TEST

START_TEST(addresses_that_are_nowhere)
{
	setup();
	put_text(0x1234, "Tanchor");
	where.names_kva = 0x1000;
	btsrec_ck_fails(run(), BTSREC_ERR_NODATA, msg.text, "kallsyms_names");
	where.names_kva = UINT64_MAX;
	btsrec_ck_fails(run(), BTSREC_ERR_NODATA, msg.text, "kallsyms_names");
	teardown();
}
END_TEST

START_TEST(no_memory)
{
	unsigned int nr = 1;

	setup();
	put_text(0x1234, "Tanchor");
	for (;; nr++) {
		enum btsrec_status status;

		failing_alloc_arm(nr);
		status = run();
		if (!failing_alloc_disarm())
			break;
		btsrec_ck_status(status, BTSREC_ERR_NOMEM);
	}
	ck_assert_uint_gt(nr, 5);
	teardown();
}
END_TEST

START_TEST(vmcoreinfo)
{
	static const char text[] =
		"OSRELEASE=6.1.0\n"
		"SYMBOL(kallsyms_names)=ffffffff81000001\n"
		"SYMBOL(kallsyms_num_syms)=ffffffff81000002\n"
		"SYMBOL(kallsyms_token_table)=ffffffff81000003\n"
		"SYMBOL(kallsyms_token_index)=ffffffff81000004\n"
		"SYMBOL(kallsyms_offsets)=ffffffff81000005\n";

	ck_assert(kallsyms_where(text, &where));
	ck_assert_uint_eq(where.names_kva, 0xffffffff81000001);
	ck_assert_uint_eq(where.num_syms_kva, 0xffffffff81000002);
	ck_assert_uint_eq(where.token_table_kva, 0xffffffff81000003);
	ck_assert_uint_eq(where.token_index_kva, 0xffffffff81000004);
	ck_assert_uint_eq(where.offsets_kva, 0xffffffff81000005);
	ck_assert_uint_eq(where.relative_base_kva, 0);
	ck_assert(!kallsyms_where(strchr(text, 'S') + 60, &where));
	ck_assert(!kallsyms_where("", &where));
	ck_assert(!kallsyms_where(NULL, &where));
}
END_TEST

BTSREC_CK_MAIN("kallsyms", tokens_are_expanded, tokens_of_any_length,
	       tokens_beyond_the_limit, from_base_is_unsigned, negative_is_from_base,
	       from_place, one_of_several_anchors, another_kernel, long_names, many_symbols,
	       names_that_are_too_long, parts_not_in_the_dump, impossible_counts, addresses_that_are_nowhere, no_memory,
	       vmcoreinfo)
