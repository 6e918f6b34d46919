// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Views that choose, follow and compare, the exports, the report and the small file, of
 * whole images.  What follows the last whole page of the input is text, a line for each
 * option that takes one, then a System.map.
 */
#include <string.h>

#include "fuzz_file.h"
#include "fuzz_image.h"

enum { PIDS, COMM, FROM, TO, SYMBOLS, RANGES, TYPES, THREAD, FUNCTION, NR_LINES };

/** struct texts - the lines; NULL: empty or not there */
struct texts {
	char room[512];
	const char *line[NR_LINES];
	const uint8_t *map;
	size_t map_bytes;
};

static void take_texts(const uint8_t *bytes, size_t nr_bytes, struct texts *ret)
{
	size_t at = 0, room_at = 0;

	memset(ret, 0, sizeof(*ret));
	for (int i = 0; i < NR_LINES && at < nr_bytes; i++) {
		const uint8_t *end = memchr(bytes + at, '\n', nr_bytes - at);
		size_t len_bytes = end ? (size_t)(end - bytes) - at : nr_bytes - at;

		if (len_bytes >= sizeof(ret->room) - room_at)
			return;
		memcpy(ret->room + room_at, bytes + at, len_bytes);
		if (len_bytes)
			ret->line[i] = ret->room + room_at;
		room_at += len_bytes + 1;
		at += len_bytes + 1;
	}
	if (at < nr_bytes) {
		ret->map = bytes + at;
		ret->map_bytes = nr_bytes - at;
	}
}

static void add_map(struct btsrec *rec, const struct texts *texts)
{
	static struct fuzz_named map;

	if (texts->map && fuzz_named(&map, texts->map, texts->map_bytes))
		(void)btsrec_add_system_map(rec, map.path);
}

static void follow(struct btsrec *rec, const struct texts *texts)
{
	const char *thread = texts->line[THREAD] ? texts->line[THREAD] : "7";
	struct btsrec_show show = { .size = sizeof(show), .thread = thread, .lines = true };
	struct btsrec_insns insns = { .size = sizeof(insns), .thread = thread, .max_events = 9 };
	struct btsrec_why why = { .size = sizeof(why), .value = "rbx" };
	struct btsrec_stack stack = { .size = sizeof(stack), .thread = thread };
	struct btsrec_calls calls = { .size = sizeof(calls), .thread = thread };

	(void)btsrec_show(rec, &show, &fuzz_text);
	show.max_events = 5;
	show.format = BTSREC_FORMAT_JSONL;
	(void)btsrec_show(rec, &show, &fuzz_text);
	(void)btsrec_insns(rec, &insns, &fuzz_text);
	(void)btsrec_stack(rec, &stack, &fuzz_text);
	(void)btsrec_why(rec, &why, &fuzz_text);
	(void)btsrec_calls(rec, &calls, &fuzz_text);
	calls.format = BTSREC_FORMAT_JSONL;
	(void)btsrec_calls(rec, &calls, &fuzz_text);
}

static void ask(struct btsrec *rec, const struct btsrec_filter *filter, const char *function)
{
	struct btsrec_filter places = *filter;
	struct btsrec_search search = { .size = sizeof(search), .filter = &places };

	places.types = NULL;
	for (unsigned int i = 0; i < 2; i++) {
		search.format = i ? BTSREC_FORMAT_JSONL : BTSREC_FORMAT_TEXT;
		for (search.question = 0; search.question <= BTSREC_LOCKS; search.question++) {
			bool has_two = search.question == BTSREC_PAIRS ||
				       search.question == BTSREC_PATH;
			bool has_none = search.question == BTSREC_MERGED ||
					search.question == BTSREC_SLOW ||
					search.question == BTSREC_LOCKS;

			search.what = has_none ? NULL :
				      search.question == BTSREC_AROUND ? "0:3" : function;
			search.second = has_two ? "*" : NULL;
			(void)btsrec_search(rec, &search, &fuzz_text);
		}
	}
}

static void choose(struct btsrec *rec, const struct texts *texts)
{
	const char *function = texts->line[FUNCTION] ? texts->line[FUNCTION] : "0xffffffff81000000";
	struct btsrec_filter filter = {
		.size = sizeof(filter),
		.pids = texts->line[PIDS], .comm = texts->line[COMM], .from = texts->line[FROM],
		.to = texts->line[TO], .symbols = texts->line[SYMBOLS],
		.ranges = texts->line[RANGES], .types = texts->line[TYPES],
	};
	struct btsrec_show show = {
		.size = sizeof(show), .filter = &filter, .fold = true, .types = true
	};
	struct btsrec_insns insns = { .size = sizeof(insns), .filter = &filter, .lines = true };
	struct btsrec_calls calls = { .size = sizeof(calls), .filter = &filter, .max_depth = 2 };
	struct btsrec_functions functions = {
		.size = sizeof(functions), .filter = &filter, .by = BTSREC_BY_CPU
	};
	struct btsrec_coverage coverage = {
		.size = sizeof(coverage), .filter = &filter, .function = function, .lines = true
	};
	struct btsrec_timeline timeline = {
		.size = sizeof(timeline), .filter = &filter, .format = BTSREC_FORMAT_JSONL
	};

	(void)btsrec_show(rec, &show, &fuzz_text);
	show.format = BTSREC_FORMAT_TSV;
	(void)btsrec_show(rec, &show, &fuzz_text);
	(void)btsrec_insns(rec, &insns, &fuzz_text);
	(void)btsrec_calls(rec, &calls, &fuzz_text);
	(void)btsrec_functions(rec, &functions, &fuzz_text);
	(void)btsrec_coverage(rec, &coverage, &fuzz_text);
	coverage.format = BTSREC_FORMAT_JSONL;
	(void)btsrec_coverage(rec, &coverage, &fuzz_text);
	(void)btsrec_timeline(rec, &timeline, &fuzz_text);
	ask(rec, &filter, function);
}

static void write_files(struct btsrec *rec)
{
	struct btsrec_export export = { .size = sizeof(export) };
	struct btsrec_extract extract = { .size = sizeof(extract), .no_user = true };
	struct btsrec_report report = { .size = sizeof(report) };

	(void)btsrec_export_perf(rec, &export, &fuzz_sink);
	(void)btsrec_export_chrome(rec, &export, &fuzz_text);
	(void)btsrec_export_folded(rec, &export, &fuzz_text);
	(void)btsrec_export_lcov(rec, &export, &fuzz_text);
	(void)btsrec_export_tables(rec, NULL, &fuzz_text, 1);
	(void)btsrec_report(rec, &report, &fuzz_sink);
	report.max_all_events = 8;
	(void)btsrec_report(rec, &report, &fuzz_sink);
	(void)btsrec_extract(rec, &extract, &fuzz_sink);
	extract = (struct btsrec_extract){ .size = sizeof(extract), .no_paths = true };
	(void)btsrec_extract(rec, &extract, &fuzz_sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	size_t image_bytes = fuzz_text_at(nr_bytes);
	struct fuzz_memory memory = { bytes, image_bytes };
	struct btsrec *rec = fuzz_session(&memory), *other;
	struct btsrec_diff diff = { .size = sizeof(diff), .format = BTSREC_FORMAT_TEXT };
	struct texts texts;
	bool differs;

	if (!rec)
		return 0;
	take_texts(bytes + image_bytes, nr_bytes - image_bytes, &texts);
	add_map(rec, &texts);
	follow(rec, &texts);
	choose(rec, &texts);
	write_files(rec);
	other = fuzz_session(&memory);
	if (other)
		(void)btsrec_diff(rec, other, &diff, &fuzz_text, &differs);
	btsrec_free(other);
	btsrec_free(rec);
	return 0;
}
