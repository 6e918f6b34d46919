// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/csv.h"

#include <string.h>

/* What is in quotation marks has each of them twice. */
static void put_start(struct csv *csv)
{
	if (!csv->quoted)
		out_char(&csv->out, '"');
	for (size_t i = 0; i < csv->nr_bytes; i++) {
		if (csv->column[i] == '"')
			out_char(&csv->out, '"');
		out_char(&csv->out, csv->column[i]);
	}
	csv->quoted = true;
	csv->nr_bytes = 0;
}

static void end_column(struct csv *csv)
{
	bool special = memchr(csv->column, '"', csv->nr_bytes) ||
		       memchr(csv->column, ',', csv->nr_bytes);

	if (csv->quoted || special) {
		put_start(csv);
		out_char(&csv->out, '"');
	} else {
		out_bytes(&csv->out, csv->column, csv->nr_bytes);
	}
	csv->nr_bytes = 0;
	csv->quoted = false;
}

static void put_byte(struct csv *csv, char byte)
{
	if (byte == '\t' || byte == '\n') {
		end_column(csv);
		if (byte == '\n')
			out_literal(&csv->out, "\r\n");
		else
			out_char(&csv->out, ',');
		return;
	}
	if (csv->nr_bytes == sizeof(csv->column))
		put_start(csv);
	csv->column[csv->nr_bytes++] = byte;
}

static bool csv_write(void *arg, const char *text, size_t len_bytes)
{
	struct csv *csv = arg;

	for (size_t i = 0; i < len_bytes; i++)
		put_byte(csv, text[i]);
	return out_flush(&csv->out) == BTSREC_OK;
}

struct btsrec_sink csv_sink(struct csv *csv, const struct btsrec_sink *to)
{
	out_init(&csv->out, to);
	csv->nr_bytes = 0;
	csv->quoted = false;
	return (struct btsrec_sink){ .write = csv_write, .arg = csv };
}
