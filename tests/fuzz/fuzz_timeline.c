// SPDX-License-Identifier: GPL-2.0-or-later
/* Histories: decode, render in every format and order, check, prove by the code. */
#include "fuzz_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	struct fuzz_memory memory = { bytes, nr_bytes };
	struct btsrec *rec = fuzz_session(&memory);
	struct btsrec_show show = { .format = BTSREC_FORMAT_TEXT };
	struct btsrec_insns insns = { .format = BTSREC_FORMAT_JSONL, .bytes = true };
	uint64_t nr_faults;

	if (rec) {
		(void)btsrec_show(rec, &show, &fuzz_sink);
		show = (struct btsrec_show){ .format = BTSREC_FORMAT_JSONL, .newest_first = true };
		(void)btsrec_show(rec, &show, &fuzz_sink);
		show = (struct btsrec_show){ .format = BTSREC_FORMAT_TSV, .max_events = 7 };
		(void)btsrec_show(rec, &show, &fuzz_sink);
		(void)btsrec_check(rec, &fuzz_sink, &nr_faults);
		show = (struct btsrec_show){ .format = BTSREC_FORMAT_TEXT, .types = true };
		(void)btsrec_show(rec, &show, &fuzz_sink);
		(void)btsrec_insns(rec, &insns, &fuzz_sink);
		(void)btsrec_prove(rec, BTSREC_FORMAT_JSONL, &fuzz_sink, &nr_faults);
	}
	btsrec_free(rec);
	return 0;
}
