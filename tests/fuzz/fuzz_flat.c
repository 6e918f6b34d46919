// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Dumps: the input is a whole ELF or compressed one, or what follows the head of the flattened
 * format.
 */
#include <string.h>

#include "../../decoder/src/source/dump_probe.h"
#include "../../decoder/src/source/mkdump.h"
#include "fuzz_file.h"
#include "fuzz_image.h"

#define HEAD_BYTES	4096
#define MAX_BYTES	(1 << 20)

static void use(const struct mkdump_file *dump_file)
{
	static const uint64_t page_pa[] = { 0x3000, 0x4000, 0x5000, 0x9000, 0x8000, 0x7000 };
	static uint8_t buf[6 * BTSREC_PAGE_BYTES];
	struct mkdump *dump = NULL;
	static struct msg msg;
	size_t nr_bytes;
	uint64_t pa;

	(void)mkdump_file_read(dump_file, 0, buf, 2 * BTSREC_PAGE_BYTES, &nr_bytes);
	if (mkdump_new(dump_file, &msg, &dump))
		return;
	for (pa = 0; pa < 64 * BTSREC_PAGE_BYTES; pa += 2 * BTSREC_PAGE_BYTES - 3)
		(void)mkdump_read_pa(dump, pa, buf, 2 * BTSREC_PAGE_BYTES, &nr_bytes);
	(void)mkdump_read_pa(dump, mkdump_max_pa(dump) - 1, buf, 2 * BTSREC_PAGE_BYTES, &nr_bytes);
	(void)mkdump_read_pages(dump, page_pa, sizeof(page_pa) / sizeof(*page_pa), buf);
	/* Each step is one that a full scan takes. */
	pa = 0;
	for (int i = 0; i < 100 && pa < UINT64_MAX - BTSREC_PAGE_BYTES; i++) {
		uint64_t next_pa = mkdump_next_pa(dump, pa);

		if (next_pa < pa)
			__builtin_trap();
		pa = next_pa + (next_pa < UINT64_MAX - BTSREC_PAGE_BYTES ? BTSREC_PAGE_BYTES : 0);
	}
	if (mkdump_vmcoreinfo(dump))
		(void)strlen(mkdump_vmcoreinfo(dump));
	mkdump_free(dump);
}

static bool is_plain(const uint8_t *bytes, size_t nr_bytes)
{
	return nr_bytes > 8 && (!memcmp(bytes, "\177ELF", 4) || !memcmp(bytes, "KDUMP   ", 8));
}

/* As open.c does, but that there libkdumpfile is asked next. */
static void use_plain(const uint8_t *bytes, size_t nr_bytes)
{
	struct dump_probe dump_probe = {0};
	struct mkdump_file dump_file = {0};
	static struct msg msg;

	fuzz_file(bytes, nr_bytes);
	if (dump_probe_file(&dump_probe, FUZZ_FD, nr_bytes, &msg))
		return;
	for (uint64_t pa = 0; pa < 8 * BTSREC_PAGE_BYTES; pa += 100)
		if (dump_probe_backed_bytes(&dump_probe, pa, BTSREC_PAGE_BYTES) > BTSREC_PAGE_BYTES)
			__builtin_trap();
	if (mkdump_file_init_plain(&dump_file, FUZZ_FD, nr_bytes))
		use(&dump_file);
	mkdump_file_fini(&dump_file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	static uint8_t file[HEAD_BYTES + MAX_BYTES] = "makedumpfile";
	struct mkdump_file dump_file = {0};
	static struct msg msg;

	if (nr_bytes > MAX_BYTES)
		return 0;
	if (is_plain(bytes, nr_bytes)) {
		use_plain(bytes, nr_bytes);
		return 0;
	}
	/* Type and version, big-endian. */
	file[23] = 1;
	file[31] = 1;
	memcpy(file + HEAD_BYTES, bytes, nr_bytes);
	fuzz_file(file, HEAD_BYTES + nr_bytes);
	if (!mkdump_file_init(&dump_file, FUZZ_FD, HEAD_BYTES + nr_bytes, &msg))
		use(&dump_file);
	mkdump_file_fini(&dump_file);
	return 0;
}
