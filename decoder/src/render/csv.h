/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comma-separated values as RFC 4180 has them, made of tab-separated ones on their way to
 * a sink: the columns are written once.
 */
#ifndef BTSREC_CSV_H
#define BTSREC_CSV_H

#include "render/out.h"

/* A longer column is quoted whatever is in it. */
#define CSV_COLUMN_BYTES	512

/**
 * struct csv - a sink in front of another
 * @out: what goes to the other.
 * @column: the start of the column that has not ended, @nr_bytes of it.
 * @quoted: that start has gone out, after a quotation mark.
 */
struct csv {
	struct out out;
	size_t nr_bytes;
	bool quoted;
	char column[CSV_COLUMN_BYTES];
};

/**
 * csv_sink() - a sink for lines of columns with tabs between; @csv is where it works
 * @to: takes the lines with commas, each at once when it is whole; borrowed.
 *
 * It stops when @to does.
 */
struct btsrec_sink csv_sink(struct csv *csv, const struct btsrec_sink *to);

#endif /* BTSREC_CSV_H */
