// SPDX-License-Identifier: GPL-2.0-or-later
/* Flattened dumps: the input is what follows the format's head. */
#include <string.h>

#include "../../decoder/src/flatdump.h"
#include "fuzz_file.h"
#include "fuzz_image.h"

#define HEAD_BYTES	4096
#define MAX_BYTES	(1 << 20)

static void use(const struct flatfile *flat)
{
	static uint8_t buf[2 * BTSREC_PAGE_BYTES];
	struct flatdump *dump = NULL;
	static struct msg msg;
	size_t nr_bytes;
	uint64_t pa;

	(void)flatfile_read(flat, 0, buf, sizeof(buf), &nr_bytes);
	if (flatdump_new(flat, &msg, &dump))
		return;
	for (pa = 0; pa < 64 * BTSREC_PAGE_BYTES; pa += sizeof(buf) - 3)
		(void)flatdump_read_pa(dump, pa, buf, sizeof(buf), &nr_bytes);
	(void)flatdump_read_pa(dump, flatdump_max_pa(dump) - 1, buf, sizeof(buf), &nr_bytes);
	if (flatdump_vmcoreinfo(dump))
		(void)strlen(flatdump_vmcoreinfo(dump));
	flatdump_free(dump);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	static uint8_t file[HEAD_BYTES + MAX_BYTES] = "makedumpfile";
	struct flatfile flat = { 0 };
	static struct msg msg;

	if (nr_bytes > MAX_BYTES)
		return 0;
	/* Type and version, big-endian. */
	file[23] = 1;
	file[31] = 1;
	memcpy(file + HEAD_BYTES, bytes, nr_bytes);
	fuzz_file(file, HEAD_BYTES + nr_bytes);
	if (!flatfile_init(&flat, FUZZ_FD, HEAD_BYTES + nr_bytes, &msg))
		use(&flat);
	flatfile_fini(&flat);
	return 0;
}
