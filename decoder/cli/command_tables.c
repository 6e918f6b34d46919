// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * export --to tables: a file of compressed JSON Lines for each table.
 *
 * They are compressed in memory, where a crash takes some 100 KB, and written when all are whole.
 * The one row of crash is written last: a folder that has it has all tables of that crash.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <zstd.h>

#include "cli.h"
#include "out_file.h"

/*
 * Rows repeat earlier rows at length, where a parser that weighs matches pays if long ones are
 * taken as they are: all tables are smaller by a sixth than at level 15, in 0.9 s instead of
 * 0.3 s. ZSTD_btultra makes edge smaller by half a percent, in 0.2 s more. For the calls it takes
 * 1.2 s more.
 */
#define ZSTD_LEVEL    15
#define ZSTD_STRATEGY ZSTD_btultra
#define ZSTD_LONG     999
#define ZSTD_SEARCHES 5

/* The calls are most of the bytes. The tree has their last 2 MiB: 16 MiB of memory. */
#define ZSTD_WINDOW_LOG	    22
#define ZSTD_HASH_LOG	    17
#define ZSTD_TREE_LOG	    19
#define ZSTD_CALLS_LOG	    22
#define ZSTD_CALLS_STRATEGY ZSTD_btopt
#define ZSTD_CALLS_SEARCHES 4
#define ZSTD_CALLS_MATCH    5

/*
 * Nearly a row of 228 bytes: smaller by 2 % than 999, which takes a third longer. 192 and less lose
 * all of that, 220 loses a third.
 */
#define ZSTD_CALLS_LONG 203

/** struct table - a table being compressed; @failed: for lack of memory */
struct table {
	ZSTD_CCtx *zstd;
	char *bytes;
	size_t nr_bytes;
	size_t nr_room;
	bool failed;
};

static bool make_room(struct table *table)
{
	size_t nr_room = table->nr_room ? 2 * table->nr_room : ZSTD_CStreamOutSize();
	char *bytes;

	if (table->nr_bytes < table->nr_room)
		return true;
	bytes = realloc(table->bytes, nr_room);
	if (!bytes)
		return false;
	table->bytes = bytes;
	table->nr_room = nr_room;
	return true;
}

/* All of @text, and with ZSTD_e_end the end of the frame. */
static bool compress(struct table *table, const char *text, size_t len_bytes,
		     ZSTD_EndDirective directive)
{
	ZSTD_inBuffer in = {.src = text, .size = len_bytes};
	size_t left = 1;

	while (!table->failed && (in.pos < in.size || (directive == ZSTD_e_end && left))) {
		ZSTD_outBuffer out;

		if (!make_room(table)) {
			table->failed = true;
			break;
		}
		out = (ZSTD_outBuffer){
			.dst = table->bytes, .size = table->nr_room, .pos = table->nr_bytes};
		left = ZSTD_compressStream2(table->zstd, &out, &in, directive);
		table->nr_bytes = out.pos;
		table->failed = ZSTD_isError(left);
	}
	return !table->failed;
}

static bool write_rows(void *arg, const char *text, size_t len_bytes)
{
	return compress(arg, text, len_bytes, ZSTD_e_continue);
}

static void set_parser(ZSTD_CCtx *zstd)
{
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_strategy, ZSTD_STRATEGY);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_targetLength, ZSTD_LONG);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_searchLog, ZSTD_SEARCHES);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_chainLog, ZSTD_TREE_LOG);
}

static void set_parser_of_calls(ZSTD_CCtx *zstd)
{
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_strategy, ZSTD_CALLS_STRATEGY);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_targetLength, ZSTD_CALLS_LONG);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_searchLog, ZSTD_CALLS_SEARCHES);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_minMatch, ZSTD_CALLS_MATCH);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_chainLog, ZSTD_CALLS_LOG);
}

static bool table_init(struct table *table, enum btsrec_table number)
{
	table->zstd = ZSTD_createCCtx();
	if (!table->zstd)
		return false;
	ZSTD_CCtx_setParameter(table->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	ZSTD_CCtx_setParameter(table->zstd, ZSTD_c_windowLog, ZSTD_WINDOW_LOG);
	ZSTD_CCtx_setParameter(table->zstd, ZSTD_c_hashLog, ZSTD_HASH_LOG);
	ZSTD_CCtx_setParameter(table->zstd, ZSTD_c_checksumFlag, 1);
	if (number == BTSREC_TABLE_CALL)
		set_parser_of_calls(table->zstd);
	else
		set_parser(table->zstd);
	return true;
}

static void table_fini(struct table *table)
{
	ZSTD_freeCCtx(table->zstd);
	free(table->bytes);
}

static enum command_exit no_memory(void)
{
	front_error("out of memory");
	return COMMAND_SYSTEM;
}

static enum command_exit write_table(const struct command_options *options,
				     const struct table *table, enum btsrec_table number)
{
	enum command_exit exit;
	char *path;

	if (asprintf(&path, "%s/%s.jsonl.zst", options->second, btsrec_table_str(number)) < 0)
		return no_memory();
	exit = out_file_put(options, path, table->bytes, table->nr_bytes);
	free(path);
	return exit;
}

static enum command_exit write_tables(const struct command_options *options, struct table *tables)
{
	enum command_exit exit = COMMAND_OK;

	if (mkdir(options->second, 0777) && errno != EEXIST) {
		front_error("%s: %s", options->second, strerror(errno));
		return COMMAND_SYSTEM;
	}
	for (size_t i = BTSREC_NR_TABLES; i-- && !exit;)
		exit = compress(&tables[i], NULL, 0, ZSTD_e_end) ?
			       write_table(options, &tables[i], (enum btsrec_table)i) :
			       no_memory();
	return exit;
}

static enum command_exit run(struct btsrec *rec, const struct command_options *options,
			     struct table *tables)
{
	const struct btsrec_tables opts = {
		.size = sizeof(opts),
		.cpus = options->show.cpus,
		.nr_cpus = options->show.nr_cpus,
		.filter = &options->filter,
		.no_user = options->extract.no_user,
		.no_paths = options->extract.no_paths,
	};
	struct btsrec_sink sinks[BTSREC_NR_TABLES];
	enum command_exit written = COMMAND_OK;
	enum btsrec_status status;

	if (!strcmp(options->second, "-")) {
		front_error("tables are files of a folder, and cannot be the standard output");
		return COMMAND_USAGE;
	}
	for (size_t i = 0; i < BTSREC_NR_TABLES; i++) {
		if (!table_init(&tables[i], (enum btsrec_table)i))
			return no_memory();
		sinks[i] = (struct btsrec_sink){.write = write_rows, .arg = &tables[i]};
	}
	status = btsrec_export_tables(rec, &opts, sinks, BTSREC_NR_TABLES);
	/* They are whole, also if they say that a CPU is missing. */
	if (!status || status == BTSREC_ERR_CORRUPT)
		written = write_tables(options, tables);
	else if (status == BTSREC_ERR_STOPPED)
		return no_memory();
	return written ? written : command_ended(rec, status);
}

enum command_exit cli_export_tables(struct btsrec *rec, const struct command_options *options)
{
	struct table tables[BTSREC_NR_TABLES] = {0};
	enum command_exit exit = run(rec, options, tables);

	for (size_t i = 0; i < BTSREC_NR_TABLES; i++)
		table_fini(&tables[i]);
	return exit;
}
