// SPDX-License-Identifier: GPL-2.0-or-later
/* Histories: decode, render in every format and order, check, prove by the code. */
#include "fuzz_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	struct fuzz_memory memory = { bytes, nr_bytes };
	struct btsrec *rec = fuzz_session(&memory);
	const struct btsrec_filter late = {
		.size = sizeof(late), .user = true, .from = "tsc:1500"
	};
	const struct btsrec_filter threads = { .size = sizeof(threads), .kernel = true,
					       .pids = "1,7,34" };
	const struct btsrec_filter kinds = { .size = sizeof(kinds), .types = "call,ret",
					     .comm = "*" };
	struct btsrec_show show = { .size = sizeof(show), .format = BTSREC_FORMAT_TEXT };
	struct btsrec_timeline timeline = {
		.size = sizeof(timeline), .format = BTSREC_FORMAT_TEXT, .max_events = 5
	};
	const struct btsrec_span every[] = { { 0, UINT64_MAX } };
	struct btsrec_stack stack = { .size = sizeof(stack), .format = BTSREC_FORMAT_JSONL };
	struct btsrec_insns insns = {
		.size = sizeof(insns), .format = BTSREC_FORMAT_JSONL, .bytes = true
	};
	uint64_t nr_faults;

	if (rec) {
		(void)btsrec_show(rec, &show, &fuzz_text);
		show = (struct btsrec_show){
			.size = sizeof(show), .format = BTSREC_FORMAT_JSONL, .newest_first = true
		};
		(void)btsrec_show(rec, &show, &fuzz_text);
		show = (struct btsrec_show){
			.size = sizeof(show), .format = BTSREC_FORMAT_TSV, .max_events = 7
		};
		(void)btsrec_show(rec, &show, &fuzz_text);
		(void)btsrec_check(rec, &fuzz_text, &nr_faults);
		show = (struct btsrec_show){
			.size = sizeof(show), .format = BTSREC_FORMAT_TEXT, .types = true
		};
		(void)btsrec_show(rec, &show, &fuzz_text);
		show = (struct btsrec_show){ .size = sizeof(show), .filter = &late };
		(void)btsrec_show(rec, &show, &fuzz_text);
		show = (struct btsrec_show){ .size = sizeof(show), .filter = &threads,
					     .max_events = 3, .newest_first = true };
		(void)btsrec_show(rec, &show, &fuzz_text);
		show = (struct btsrec_show){ .size = sizeof(show), .filter = &kinds };
		(void)btsrec_show(rec, &show, &fuzz_text);
		(void)btsrec_timeline(rec, &timeline, &fuzz_text);
		timeline.format = BTSREC_FORMAT_JSONL;
		(void)btsrec_timeline(rec, &timeline, &fuzz_text);
		(void)btsrec_insns(rec, &insns, &fuzz_text);
		(void)btsrec_stack(rec, &stack, &fuzz_text);
		stack = (struct btsrec_stack){ .size = sizeof(stack), .at = every, .nr_at = 1 };
		(void)btsrec_stack(rec, &stack, &fuzz_text);
		(void)btsrec_prove(rec, BTSREC_FORMAT_JSONL, &fuzz_text, &nr_faults);
	}
	btsrec_free(rec);
	return 0;
}
