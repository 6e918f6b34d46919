/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of a crash as tables: the functions that rows name, and what all rows are made of. */
#ifndef BTSREC_EXPORT_TABLES_H
#define BTSREC_EXPORT_TABLES_H

#include <stdint.h>

#include "base/counter_map.h"
#include "flow/event_filter.h"
#include "render/render.h"

#define NO_FUNCTION SIZE_MAX

/*
 * Columns of the two tables that are most of the bytes.  Rows of one length, with each column at
 * the same place, repeat each other at few distances.  zstd writes these in fewer bits: call is
 * smaller by a tenth.  A value that needs more columns is written whole.
 */
#define WIDE_OFFSET 5
#define WIDE_COUNT  5
#define WIDE_TYPE   9 /* "exception" */
#define WIDE_LEVEL  2
#define WIDE_PID    5
#define WIDE_CPU    2
#define WIDE_N	    6

/**
 * struct table_function - a function of the crash
 * @key: the same on every machine.
 * @name: or, in parentheses, why there is none; escaped, owned.
 * @module: "": the kernel; of user code the path; escaped, owned.
 * @build_id: of that; @build_id_bytes 0: not known.
 */
struct table_function {
	uint64_t key;
	char *name;
	char *module;
	bool user;
	uint8_t build_id[BTSREC_BUILD_ID_BYTES];
	size_t build_id_bytes;
	uint64_t nr_branches;
	uint64_t nr_calls;
};

/** struct place - an address: at @offset_bytes in a function, by its number or NO_FUNCTION */
struct place {
	size_t function;
	uint64_t offset_bytes;
};

/**
 * struct tables - one btsrec_export_tables() under way
 * @crash: the key of the crash.
 * @numbers: of a function, by a hash of what is printed of it: its number + 1.
 * @edges: by ends and address space; @places: the same by places.
 * @threads: by pid, tgid and name.
 * @pid: of the calls that come; @has_pid: it is known.
 */
struct tables {
	struct renderer r;
	const struct btsrec_tables *opts;
	struct out out[BTSREC_NR_TABLES];
	char crash[33];
	struct table_function *functions;
	size_t nr_functions;
	size_t nr_functions_room;
	struct counter_map numbers;
	struct counter_map edges;
	struct counter_map places;
	struct counter_map threads;
	struct event_filter event_filter;
	bool has_pid;
	uint32_t pid;
	uint64_t nr_steps;
	bool nomem;
};

/**
 * tables_number_of() - the number of a function, which is new if @name and @module are
 *
 * NO_FUNCTION: out of memory.
 */
size_t tables_number_of(struct tables *tables, const struct btsrec_side *side, uint64_t va,
			const char *name, size_t name_bytes, const char *module, bool user);

/** tables_place_at(), tables_place_named() - of @va; @side: of a user address, or NULL */
struct place tables_place_at(struct tables *tables, const struct btsrec_side *side, uint64_t va);
struct place tables_place_named(struct tables *tables, uint64_t va, const struct btsrec_name *name);

/** tables_row(), tables_row_end() - begin a row of @table with the key of the crash; end it */
struct out *tables_row(struct tables *tables, enum btsrec_table table);
void tables_row_end(struct out *out);

/* Members of a row; what is not known is left out. */
void tables_put_hex(struct out *out, const char *key, const uint8_t *bytes, size_t nr_bytes);
void tables_put_key(struct tables *tables, struct out *out, const char *key, size_t function);
void tables_put_place(struct tables *tables, struct out *out, const char *key,
		      const char *offset_key, struct place place);
void tables_put_text(struct out *out, const char *key, const char *text);

/** tables_put_offset() - the same in a row whose columns are aligned: blanks are left */
void tables_put_offset(struct out *out, const char *key, struct place place);

/** tables_go_on() - nobody has stopped it, and there was memory */
bool tables_go_on(const struct tables *tables);

#endif
