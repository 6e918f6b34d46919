// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdio.h>

#include "check_btsrec.h"
#include "render/name_cache.h"
#include "render/text_columns.h"

#define NR_LINES	250
#define LABEL_BYTES	200

static char written[1 << 20];
static size_t nr_written;

static bool take(void *arg, const char *text, size_t nr_bytes)
{
	(void)arg;
	ck_assert_uint_le(nr_written + nr_bytes, sizeof(written));
	memcpy(written + nr_written, text, nr_bytes);
	nr_written += nr_bytes;
	return true;
}

static const struct btsrec_sink sink = { .write = take };

static struct btsrec_record record(uint64_t i)
{
	uint64_t from = i * 0x9e3779b97f4a7c15ULL;

	return (struct btsrec_record){ from, ~from >> i % 64, i % 3 ? BTSREC_FLAG_PREDICTED : 0 };
}

/* From @n on; labels of all lengths. */
static void ck_lines(unsigned int cpu, uint64_t n)
{
	static struct btsrec_record records[NR_LINES];
	static const struct label *of_lines[NR_LINES];
	const struct branch_run run = { cpu, n, NULL, records, NR_LINES };
	struct label_cache label_cache = {0};
	static struct out out;
	char text[LABEL_BYTES + 1], want[2 * LABEL_BYTES];
	size_t at = 0;

	memset(text, '-', sizeof(text));
	text[LABEL_BYTES] = '\0';
	for (size_t i = 0; i < NR_LINES; i++) {
		struct label_key key = {.from = i};

		records[i] = record(i);
		of_lines[i] = label_cache_add(&label_cache, &key, text, i % LABEL_BYTES, 0);
	}
	nr_written = 0;
	out_init(&out, &sink);
	text_branches(&out, &run, of_lines);
	btsrec_ck_ok(out_flush(&out));
	for (size_t i = 0; i < NR_LINES; i++) {
		struct btsrec_record branch = record(i);
		int nr_bytes = snprintf(want, sizeof(want),
					"%3u %9" PRIu64 " branch  0x%016llx -> 0x%016llx %c%.*s",
					cpu, n + i, branch.from, branch.to, i % 3 ? 'P' : '-',
					(int)(i % LABEL_BYTES), text);

		ck_assert_uint_le(at + (size_t)nr_bytes, nr_written);
		ck_assert_mem_eq(written + at, want, (size_t)nr_bytes);
		at += (size_t)nr_bytes;
	}
	ck_assert_uint_eq(at, nr_written);
	label_cache_fini(&label_cache);
}

START_TEST(text_of_all_numbers)
{
	static const uint64_t first[] = { 0, 5, 99, 12345, 999999900, UINT64_MAX - NR_LINES };
	static const unsigned int cpus[] = { 0, 12, 999, 8191, UINT32_MAX };

	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		for (size_t j = 0; j < sizeof(cpus) / sizeof(cpus[0]); j++)
			ck_lines(cpus[j], first[i]);
}
END_TEST

/* As a thread goes from CPU to CPU and events are left out. */
START_TEST(heads_in_any_order)
{
	static const uint64_t numbers[] = { 7, 99, 100, 199, 150, 150, 200, 42, 123456, 123499 };
	static const unsigned int cpus[] = { 0, 1, 1, 0, 4095 };
	struct text_heads heads = { .more = "more" };
	char text[TEXT_HEAD_MAX_BYTES + 1], want[TEXT_HEAD_MAX_BYTES + 1];

	for (size_t i = 0; i < 50; i++) {
		uint64_t n = numbers[i % 10];
		unsigned int cpu = cpus[i % 5];

		*put_head(text, &heads, cpu, n) = '\0';
		snprintf(want, sizeof(want), "%3u %9" PRIu64 " more", cpu, n);
		ck_assert_str_eq(text, want);
	}
}
END_TEST

static void ck_kept(const struct name_cache_entry *place, uint64_t va, const char *text)
{
	ck_assert_uint_eq(place->va, va);
	ck_assert_uint_eq(place->nr_bytes, strlen(text));
	ck_assert_mem_eq(place->text, text, strlen(text));
}

START_TEST(names_are_kept)
{
	struct name_cache_entry *texts = name_cache_new(), *place;
	char longest[NAME_CACHE_MAX_BYTES + 2];

	ck_assert_ptr_nonnull(texts);
	place = name_cache_place(texts, UINT64_MAX);
	ck_assert(place >= texts && place < texts + NAME_CACHE_NR);
	ck_assert_uint_eq(place->va, 0);
	name_cache_keep(place, UINT64_MAX, "name", 4);
	ck_kept(place, UINT64_MAX, "name");
	/* What is too long leaves what is there. */
	memset(longest, 'x', sizeof(longest));
	name_cache_keep(place, 1, longest, sizeof(longest) - 1);
	ck_kept(place, UINT64_MAX, "name");
	longest[NAME_CACHE_MAX_BYTES] = '\0';
	name_cache_keep(place, 1, longest, NAME_CACHE_MAX_BYTES);
	ck_kept(place, 1, longest);
	free(texts);
}
END_TEST

BTSREC_CK_MAIN("text_columns", text_of_all_numbers, heads_in_any_order, names_are_kept)
