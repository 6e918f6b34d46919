// SPDX-License-Identifier: GPL-2.0-or-later
/* Trees of calls, profiles and summaries of whole images. */
#include "fuzz_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	struct fuzz_memory memory = { bytes, nr_bytes };
	struct btsrec *rec = fuzz_session(&memory);
	struct btsrec_calls calls = { .size = sizeof(calls), .format = BTSREC_FORMAT_TEXT };
	struct btsrec_coverage coverage = {
		.size = sizeof(coverage), .function = "0xffffffff81000000"
	};
	struct btsrec_functions functions = {
		.size = sizeof(functions), .by = BTSREC_BY_TASK, .format = BTSREC_FORMAT_TEXT
	};

	if (rec) {
		(void)btsrec_calls(rec, &calls, &fuzz_text);
		calls = (struct btsrec_calls){ .size = sizeof(calls),
					      .format = BTSREC_FORMAT_JSONL, .max_events = 9,
					       .max_depth = 3 };
		(void)btsrec_calls(rec, &calls, &fuzz_text);
		(void)btsrec_functions(rec, &functions, &fuzz_text);
		(void)btsrec_coverage(rec, &coverage, &fuzz_text);
		functions.format = BTSREC_FORMAT_JSONL;
		(void)btsrec_functions(rec, &functions, &fuzz_text);
		(void)btsrec_summary(rec, BTSREC_FORMAT_TEXT, &fuzz_text);
		(void)btsrec_summary(rec, BTSREC_FORMAT_JSONL, &fuzz_text);
	}
	btsrec_free(rec);
	return 0;
}
