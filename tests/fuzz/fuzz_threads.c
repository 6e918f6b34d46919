// SPDX-License-Identifier: GPL-2.0-or-later
/* Views by three threads, each CPU by another one, print the same bytes as those by one. */
#include <stdlib.h>

#include "fuzz_heard.h"
#include "fuzz_image.h"

static void look(struct btsrec *rec, struct fuzz_heard *heard)
{
	const struct btsrec_sink sink = fuzz_heard_sink(heard);
	struct btsrec_filter filter = { .size = sizeof(filter), .pids = "1,7,34" };
	struct btsrec_show show = { .size = sizeof(show), .types = true };
	struct btsrec_insns insns = { .size = sizeof(insns), .format = BTSREC_FORMAT_JSONL };
	struct btsrec_stack stack = { .size = sizeof(stack) };
	struct btsrec_calls calls = { .size = sizeof(calls) };
	struct btsrec_functions functions = { .size = sizeof(functions), .by = BTSREC_BY_CPU };
	struct btsrec_search search = { .size = sizeof(search), .question = BTSREC_SLOW };
	struct btsrec_export export = { .size = sizeof(export) };
	uint64_t nr_faults = 0;

	fuzz_heard_number(heard, "show", btsrec_show(rec, &show, &sink));
	show.filter = &filter;
	show.format = BTSREC_FORMAT_JSONL;
	fuzz_heard_number(heard, "filtered", btsrec_show(rec, &show, &sink));
	fuzz_heard_number(heard, "insns", btsrec_insns(rec, &insns, &sink));
	fuzz_heard_number(heard, "calls", btsrec_calls(rec, &calls, &sink));
	fuzz_heard_number(heard, "functions", btsrec_functions(rec, &functions, &sink));
	fuzz_heard_number(heard, "stack", btsrec_stack(rec, &stack, &sink));
	fuzz_heard_number(heard, "slow", btsrec_search(rec, &search, &sink));
	fuzz_heard_number(heard, "summary", btsrec_summary(rec, BTSREC_FORMAT_TEXT, &sink));
	fuzz_heard_number(heard, "prove", btsrec_prove(rec, BTSREC_FORMAT_TEXT, &sink, &nr_faults));
	fuzz_heard_number(heard, "check", btsrec_check(rec, &sink, &nr_faults));
	fuzz_heard_number(heard, "folded", btsrec_export_folded(rec, &export, &sink));
}

static bool hear(struct fuzz_memory *memory, unsigned int nr_threads, struct fuzz_heard *heard)
{
	struct btsrec_image image = fuzz_plain_image(memory);
	struct btsrec *rec = btsrec_new();
	bool located;

	heard->nr_bytes = 0;
	image.read_pages = fuzz_read_pages;
	btsrec_set_threads(rec, nr_threads);
	located = btsrec_open_image(rec, &image) == BTSREC_OK &&
		  btsrec_locate(rec, 0, BTSREC_SCAN_ALL) == BTSREC_OK;
	if (located)
		look(rec, heard);
	btsrec_free(rec);
	return located;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	static struct fuzz_heard alone, together;
	struct fuzz_memory memory = { bytes, nr_bytes };

	if (hear(&memory, 1, &alone) != hear(&memory, 3, &together))
		abort();
	fuzz_heard_same(&alone, "one thread", &together, "three threads");
	return 0;
}
