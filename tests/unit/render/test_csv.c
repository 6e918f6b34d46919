// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "render/csv.h"

static char written[8 * CSV_COLUMN_BYTES];
static size_t nr_written, nr_allowed;
static struct csv csv;

static bool take(void *arg, const char *text, size_t nr_bytes)
{
	(void)arg;
	if (nr_written + nr_bytes > nr_allowed)
		return false;
	memcpy(written + nr_written, text, nr_bytes);
	nr_written += nr_bytes;
	return true;
}

static const struct btsrec_sink sink = { .write = take };

static struct btsrec_sink start(void)
{
	nr_written = 0;
	nr_allowed = sizeof(written);
	return csv_sink(&csv, &sink);
}

/* In pieces of @step bytes: where a write ends must not matter. */
static void give(const char *text, size_t nr_bytes, size_t step)
{
	struct btsrec_sink to = start();

	for (size_t at = 0; at < nr_bytes; at += step)
		ck_assert(to.write(to.arg, text + at,
				   nr_bytes - at < step ? nr_bytes - at : step));
}

static void ck_csv(const char *lines, const char *want)
{
	for (size_t step = 1; step <= strlen(lines); step++) {
		give(lines, strlen(lines), step);
		ck_assert_uint_eq(nr_written, strlen(want));
		ck_assert_mem_eq(written, want, nr_written);
	}
}

START_TEST(columns)
{
	ck_csv("cpu\tn\n0\t12\n", "cpu,n\r\n0,12\r\n");
	ck_csv("\t\n", ",\r\n");
	ck_csv("a b\t-\n", "a b,-\r\n");
}
END_TEST

/* RFC 4180, 2: rules 5 to 7. */
START_TEST(quoted)
{
	ck_csv("a,b\tc\n", "\"a,b\",c\r\n");
	ck_csv("say \"x\"\t\"\n", "\"say \"\"x\"\"\",\"\"\"\"\r\n");
	ck_csv("\",\"\n", "\"\"\",\"\"\"\r\n");
}
END_TEST

/* Quoted whatever is in it, and nothing of it is lost. */
START_TEST(long_column)
{
	char line[3 * CSV_COLUMN_BYTES + 1];

	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\n';
	give(line, sizeof(line), 100);
	ck_assert_uint_eq(nr_written, sizeof(line) - 1 + 4);
	ck_assert(written[0] == '"' && !memcmp(written + nr_written - 3, "\"\r\n", 3));
	ck_assert_mem_eq(written + 1, line, sizeof(line) - 1);
	give(line + 2 * CSV_COLUMN_BYTES, CSV_COLUMN_BYTES + 1, 100);
	ck_assert_uint_eq(nr_written, CSV_COLUMN_BYTES + 2);
}
END_TEST

START_TEST(stops)
{
	struct btsrec_sink to = start();

	nr_allowed = 3;
	ck_assert(!to.write(to.arg, "ab\tc\n", 5));
}
END_TEST

BTSREC_CK_MAIN("csv", columns, quoted, long_column, stops)
