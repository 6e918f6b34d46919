// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which source lines of the kernel and its modules ran, as geninfo(1) writes it.
 *
 * Only functions that ran in part have lines, so that lines that never ran are
 * printed only of those.  In one function a line ran as often as the one of its
 * instructions that ran most often; of a line in several (inlined) the sum counts.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/cleanup.h"
#include "base/counter_map.h"
#include "base/grow.h"
#include "base/options.h"
#include "symbols/lines.h"
#include "render/render_lines.h"
#include "flow/event_filter.h"
#include "flow/trace.h"
#include "recorder/cpus.h"
#include "views/view_coverage.h"

/* No range is longer: a straight run, and the branch at its end. */
#define MAX_RANGE_BYTES (CODE_RUN_MAX_BYTES + CODE_INSN_MAX_BYTES)

/* A power of two. */
#define NR_RECENT BOUND(1U << 12, 1U << 2)

/** struct recent - a range that ran not long ago, @nr times that are not counted yet */
struct recent {
	struct proof_range range;
	uint64_t nr;
};

/**
 * struct lcov - one btsrec_export_lcov() under way
 * @ranges: code that ran, by start and end; without what is in @recent.
 * @paths: names of source files, @nr_paths of them, borrowed from the session.
 * @files: the number of a path, by its pointer; one path may have several.
 * @lines: by file, line and function.
 * @functions: by file, line and start.
 */
struct lcov {
	struct renderer r;
	const struct btsrec_export *opts;
	struct event_filter event_filter;
	struct code *code;
	struct counter_map ranges;
	struct recent recent[NR_RECENT];
	const char **paths;
	size_t nr_paths;
	size_t nr_paths_room;
	struct counter_map files;
	struct counter_map lines;
	struct counter_map functions;
	bool nomem;
};

/* --- What ran ----------------------------------------------------------- */

static void add(struct lcov *lcov, struct counter_map *map, const uint64_t *key, uint64_t nr,
		bool most)
{
	struct count *count = counter_map_get(map, key);

	if (!count)
		lcov->nomem = true;
	else if (!most)
		count->nr[0] += nr;
	else if (count->nr[0] < nr)
		count->nr[0] = nr;
}

static void count_recent(struct lcov *lcov, struct recent *recent)
{
	const uint64_t key[COUNTER_MAP_KEY_WORDS] = {recent->range.start, recent->range.stop};

	if (recent->nr)
		add(lcov, &lcov->ranges, key, recent->nr, false);
	recent->nr = 0;
}

static void count_range(struct lcov *lcov, uint64_t start, uint64_t stop)
{
	uint64_t sum = (start ^ stop << 20) * 0x9e3779b97f4a7c15ULL;
	struct recent *recent = &lcov->recent[(sum >> 32) % NR_RECENT];

	if (recent->range.start != start || recent->range.stop != stop) {
		count_recent(lcov, recent);
		recent->range = (struct proof_range){ start, stop };
	}
	recent->nr++;
}

static void count_event(struct lcov *lcov, const struct trace_event *traced)
{
	const struct proof_step *step = traced->step;

	if (!event_filter_wants(&lcov->event_filter, traced->event) || !step)
		return;
	for (unsigned int i = 0; i < step->nr_ranges; i++)
		if (code_is_kernel(step->ranges[i].start))
			count_range(lcov, step->ranges[i].start, step->ranges[i].stop);
}

/* Of these proof_feed() would give one range each, up to and with the branch. */
static void count_plain(struct lcov *lcov, struct trace *trace)
{
	struct trace_way way = trace_way_begin(trace);
	const struct code_brief *run;

	if (lcov->event_filter.filter.any || !proof_is_plain(&trace->proof))
		return;
	while ((run = trace_way_run(trace, &way)) != NULL) {
		count_range(lcov, way.prev_to, way.branch->from + run->length_bytes);
		trace_way_pass(trace, &way, run);
	}
	trace_way_end(trace, &way);
}

static enum btsrec_status count_events(struct lcov *lcov, struct trace *trace)
{
	struct trace_event event;

	while (!lcov->nomem) {
		count_plain(lcov, trace);
		if (!trace_next(trace, &event))
			return trace->status;
		count_event(lcov, &event);
	}
	return BTSREC_ERR_NOMEM;
}

static enum btsrec_status count_cpu(void *arg, unsigned int cpu)
{
	struct lcov *lcov = arg;
	struct btsrec *rec = lcov->r.rec;
	struct trace trace;
	enum btsrec_status status =
		event_filter_init(&lcov->event_filter, rec, cpu, lcov->opts->filter, 0);

	if (!status) {
		status = trace_open(&trace, rec, cpu, 0, true);
		if (!status)
			status = count_events(lcov, &trace);
		trace_close(&trace);
	}
	event_filter_fini(&lcov->event_filter);
	return lcov->nomem ? BTSREC_ERR_NOMEM : status;
}

/* --- Lines -------------------------------------------------------------- */

static size_t path_number(struct lcov *lcov, const char *path)
{
	size_t i;

	for (i = 0; i < lcov->nr_paths; i++)
		if (!strcmp(lcov->paths[i], path))
			return i;
	if (!grow(&lcov->paths, sizeof(*lcov->paths), lcov->nr_paths, &lcov->nr_paths_room)) {
		lcov->nomem = true;
		return 0;
	}
	lcov->paths[lcov->nr_paths++] = path;
	return i;
}

static uint64_t file_number(struct lcov *lcov, const char *path)
{
	const uint64_t key[COUNTER_MAP_KEY_WORDS] = {(uintptr_t)path};
	struct count *count = counter_map_get(&lcov->files, key);

	if (!count) {
		lcov->nomem = true;
		return 0;
	}
	if (!count->nr[0])
		count->nr[0] = path_number(lcov, path) + 1;
	return count->nr[0] - 1;
}

static void count_insn(struct lcov *lcov, const struct cover *cover, const struct cover_insn *insn)
{
	uint64_t start = cover->coverage.start, nr = coverage_nr(&cover->coverage, insn->ip);
	struct line line;

	if (insn->fault || !line_find(lcov->r.rec, 0, insn->ip, &line))
		return;
	const uint64_t key[COUNTER_MAP_KEY_WORDS] = {file_number(lcov, line.file), line.number,
						     start};

	add(lcov, &lcov->lines, key, nr, true);
	if (insn->ip == start)
		add(lcov, &lcov->functions, key, nr, true);
}

/* All that ran in the function; what runs over its start began shortly before. */
static void cover_ranges(const struct lcov *lcov, size_t i, struct coverage *coverage)
{
	const struct count *ranges = lcov->ranges.table;
	uint64_t end = coverage->start + coverage->nr_bytes;

	while (i && ranges[i - 1].key[0] + MAX_RANGE_BYTES > coverage->start)
		i--;
	for (; i < lcov->ranges.nr && ranges[i].key[0] < end; i++)
		coverage_add_times(coverage, ranges[i].key[0], ranges[i].key[1], ranges[i].nr[0]);
}

/* Returns where the function ends. */
static uint64_t count_function(struct lcov *lcov, size_t range, uint64_t start)
{
	struct cover cover = { 0 };
	uint64_t end = start;

	if (cover_read(lcov->r.rec, lcov->code, start, &cover)) {
		cover_ranges(lcov, range, &cover.coverage);
		end += cover.coverage.nr_bytes;
		cover_end(lcov->code, &cover);
		for (size_t i = 0; i < cover.nr_insns; i++)
			count_insn(lcov, &cover, &cover.insns[i]);
	} else {
		lcov->nomem = true;
	}
	cover_fini(&cover);
	return end;
}

/* Every function that a range is in, once: they are in the order of their addresses. */
static void count_functions(struct lcov *lcov)
{
	uint64_t done = 0;

	counter_map_sort(&lcov->ranges);
	for (size_t i = 0; i < lcov->ranges.nr && !lcov->nomem; i++) {
		const uint64_t *range = lcov->ranges.table[i].key;
		uint64_t at = range[0] < done ? done : range[0];
		struct symbol_name name;

		while (at < range[1] && symbol_find_as(lcov->r.rec, at, true, &name) &&
		       name.name_bytes) {
			done = count_function(lcov, i, at - name.offset_bytes);
			if (done <= at)
				break;
			at = done;
		}
	}
	counter_map_sort(&lcov->lines);
	counter_map_sort(&lcov->functions);
}

/* --- The file ----------------------------------------------------------- */

static bool same_name(const struct symbol_name *a, const struct symbol_name *b)
{
	return a->name_bytes == b->name_bytes && !memcmp(a->name, b->name, a->name_bytes);
}

/*
 * Add up what the functions after @function that have its name, file and line ran: of a
 * static function in a header there may be several.  False: one before it has done that.
 * Names are those of symbols: lcov takes a part that begins at another line for the function.
 */
static bool merge(struct lcov *lcov, const struct count *function, struct symbol_name *ret_name,
		  uint64_t *ret_nr)
{
	const struct count *first = lcov->functions.table, *end = first + lcov->functions.nr;
	struct symbol_name other;

	if (!symbol_find_as(lcov->r.rec, function->key[2], true, ret_name))
		return false;
	*ret_nr = function->nr[0];
	for (const struct count *at = function; at > first && at[-1].key[0] == function->key[0] &&
						at[-1].key[1] == function->key[1]; at--)
		if (symbol_find_as(lcov->r.rec, at[-1].key[2], true, &other) &&
		    same_name(&other, ret_name))
			return false;
	for (const struct count *at = function + 1; at < end && at->key[0] == function->key[0] &&
						    at->key[1] == function->key[1]; at++)
		if (symbol_find_as(lcov->r.rec, at->key[2], true, &other) &&
		    same_name(&other, ret_name))
			*ret_nr += at->nr[0];
	return true;
}

static void put_function(struct out *out, const struct symbol_name *name, uint64_t line,
			 uint64_t nr)
{
	out_literal(out, "FN:");
	out_dec(out, line, 0);
	out_char(out, ',');
	out_bytes(out, name->name, name->name_bytes);
	out_literal(out, "\nFNDA:");
	out_dec(out, nr, 0);
	out_char(out, ',');
	out_bytes(out, name->name, name->name_bytes);
	out_char(out, '\n');
}

static void put_total(struct out *out, const char *what, uint64_t nr)
{
	out_str(out, what);
	out_dec(out, nr, 0);
	out_char(out, '\n');
}

static size_t put_functions(struct lcov *lcov, size_t at, uint64_t file)
{
	const struct counter_map *functions = &lcov->functions;
	uint64_t nr = 0, nr_hit = 0, nr_times;
	struct symbol_name name;

	for (; at < functions->nr && functions->table[at].key[0] == file; at++) {
		if (!merge(lcov, &functions->table[at], &name, &nr_times))
			continue;
		put_function(&lcov->r.out, &name, functions->table[at].key[1], nr_times);
		nr++;
		nr_hit += nr_times > 0;
	}
	put_total(&lcov->r.out, "FNF:", nr);
	put_total(&lcov->r.out, "FNH:", nr_hit);
	return at;
}

static size_t put_lines(struct lcov *lcov, size_t at, uint64_t file)
{
	const struct counter_map *lines = &lcov->lines;
	struct out *out = &lcov->r.out;
	uint64_t nr = 0, nr_hit = 0;

	while (at < lines->nr && lines->table[at].key[0] == file) {
		uint64_t line = lines->table[at].key[1], count = 0;

		for (; at < lines->nr && lines->table[at].key[0] == file &&
		       lines->table[at].key[1] == line; at++)
			count += lines->table[at].nr[0];
		out_literal(out, "DA:");
		out_dec(out, line, 0);
		out_char(out, ',');
		out_dec(out, count, 0);
		out_char(out, '\n');
		nr++;
		nr_hit += count > 0;
	}
	put_total(out, "LF:", nr);
	put_total(out, "LH:", nr_hit);
	return at;
}

static void put_file(struct lcov *lcov)
{
	struct out *out = &lcov->r.out;
	size_t line = 0, function = 0;

	/* Lines that geninfo(1) does not know are passed over. */
	text_lines_missing(&lcov->r);
	for (uint64_t file = 0; file < lcov->nr_paths; file++) {
		out_literal(out, "TN:\nSF:");
		out_escaped(out, lcov->paths[file], LINE_FILE_BYTES);
		out_char(out, '\n');
		function = put_functions(lcov, function, file);
		line = put_lines(lcov, line, file);
		out_literal(out, "end_of_record\n");
	}
}

/* A file without a line would be taken for code that never ran. */
static enum btsrec_status no_lines(struct lcov *lcov)
{
	struct btsrec *rec = lcov->r.rec;
	struct line_missing missing;

	if (!lcov->ranges.nr)
		return msg_set(&rec->msg, BTSREC_ERR_NO_SYMBOL, "no code of the kernel is known to "
			       "have run, by what is in the dump and is wanted");
	if (!lines_missing(rec, 0, &missing))
		missing.why = "no debug file was found";
	return msg_set(&rec->msg, BTSREC_ERR_NO_SYMBOL, "no source lines are known: %s; "
		       "--vmlinux or --debuginfo may name a file with debug information",
		       missing.why);
}

static enum btsrec_status lcov_check(struct btsrec *rec, const struct btsrec_export *opts)
{
	enum btsrec_status status = cpus_check(rec, opts->cpus, opts->nr_cpus);

	return status ? status : event_filter_check(rec, opts->filter);
}

static enum btsrec_status write_lcov(struct lcov *lcov)
{
	const struct btsrec_export *opts = lcov->opts;
	struct btsrec *rec = lcov->r.rec;
	enum btsrec_status status;

	status = cpus_for_each(rec, opts->cpus, opts->nr_cpus, count_cpu, lcov);
	for (size_t i = 0; i < NR_RECENT; i++)
		count_recent(lcov, &lcov->recent[i]);
	if (!status)
		count_functions(lcov);
	if (lcov->nomem)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (status)
		return status;
	if (!lcov->lines.nr)
		return no_lines(lcov);
	put_file(lcov);
	return out_flush(&lcov->r.out);
}

static enum btsrec_status export_lcov(struct btsrec *rec, const struct btsrec_export *opts,
				      const struct btsrec_sink *sink)
{
	enum btsrec_status status = lcov_check(rec, opts);
	_cleanup_free_ struct lcov *lcov = NULL;

	if (status)
		return status;
	lcov = calloc(1, sizeof(*lcov));
	if (!lcov || !trace_code(rec))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	lcov->r.rec = rec;
	lcov->r.lines = true;
	lcov->opts = opts;
	lcov->code = trace_code(rec);
	out_init(&lcov->r.out, sink);
	status = write_lcov(lcov);
	counter_map_fini(&lcov->ranges);
	counter_map_fini(&lcov->files);
	counter_map_fini(&lcov->lines);
	counter_map_fini(&lcov->functions);
	free(lcov->paths);
	return cpus_end(rec, opts->cpus, status);
}

enum btsrec_status btsrec_export_lcov(struct btsrec *rec, const struct btsrec_export *given,
				      const struct btsrec_sink *sink)
{
	struct btsrec_filter filter;
	struct btsrec_export opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = options_filter(&rec->msg, &opts.filter, &filter);
	return status ? status : export_lcov(rec, &opts, sink);
}
