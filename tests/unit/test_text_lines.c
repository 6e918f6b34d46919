// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdio.h>

#include "check_btsrec.h"
#include "text_lines.h"

#define NR_LINES	250
#define TAIL_BYTES	200

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

/* From @n on; tails of all lengths. */
static void ck_lines(unsigned int cpu, uint64_t n)
{
	static struct btsrec_record records[NR_LINES];
	static const struct tail *of_lines[NR_LINES];
	const struct press_run run = { cpu, n, NULL, records, NR_LINES };
	struct tails tails = { 0 };
	struct tails_texts texts = { 0 };
	static struct out out;
	char text[TAIL_BYTES + 1], want[2 * TAIL_BYTES];
	size_t at = 0;

	memset(text, '-', sizeof(text));
	text[TAIL_BYTES] = '\0';
	for (size_t i = 0; i < NR_LINES; i++) {
		struct tails_key key = { .from = i };

		records[i] = record(i);
		of_lines[i] = tails_add(&tails, &texts, &key, text, i % TAIL_BYTES, 0);
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
					(int)(i % TAIL_BYTES), text);

		ck_assert_uint_le(at + (size_t)nr_bytes, nr_written);
		ck_assert_mem_eq(written + at, want, (size_t)nr_bytes);
		at += (size_t)nr_bytes;
	}
	ck_assert_uint_eq(at, nr_written);
	tails_fini(&tails);
	tails_texts_fini(&texts);
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

BTSREC_CK_MAIN("text_lines", text_of_all_numbers)
