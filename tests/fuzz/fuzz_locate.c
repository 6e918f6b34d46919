// SPDX-License-Identifier: GPL-2.0-or-later
/* Locate and validate: any memory, then every question about what was found. */
#include "fuzz_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	struct fuzz_memory memory = { bytes, nr_bytes };
	struct btsrec *rec = fuzz_session(&memory);
	struct btsrec_info info = { .size = sizeof(info), .registers = true };
	struct btsrec_symbol symbol;

	if (rec) {
		(void)btsrec_info(rec, &info, &fuzz_text);
		info.format = BTSREC_FORMAT_JSONL;
		(void)btsrec_info(rec, &info, &fuzz_text);
		(void)btsrec_resolve(rec, 0xffffffffc0000010, &symbol);
	}
	btsrec_free(rec);
	return 0;
}
