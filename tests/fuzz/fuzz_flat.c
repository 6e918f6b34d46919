// SPDX-License-Identifier: GPL-2.0-or-later
/* Flattened dumps: the input is what follows the format's head. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../decoder/src/flatdump.h"
#include "fuzz_image.h"

static void use(const struct flatfile *flat)
{
	static uint8_t buf[3 * BTSREC_PAGE_BYTES];
	struct flatdump *dump = NULL;
	static struct msg msg;
	size_t nr_bytes;
	uint64_t pa;

	(void)flatfile_read(flat, 0, buf, sizeof(buf));
	if (flatdump_new(flat, &msg, &dump))
		return;
	for (pa = 0; pa < 64 * BTSREC_PAGE_BYTES; pa += 4093)
		(void)flatdump_read_pa(dump, pa, buf, sizeof(buf), &nr_bytes);
	(void)flatdump_read_pa(dump, flatdump_max_pa(dump) - 1, buf, sizeof(buf), &nr_bytes);
	if (flatdump_vmcoreinfo(dump))
		(void)strlen(flatdump_vmcoreinfo(dump));
	flatdump_free(dump);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	uint8_t head[4096] = "makedumpfile";
	struct flatfile flat = { 0 };
	static struct msg msg;
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("flat", MFD_CLOEXEC);
	head[23] = 1;
	head[31] = 1;
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, head, sizeof(head), 0) < 0 ||
	    pwrite(fd, bytes, nr_bytes, sizeof(head)) != (ssize_t)nr_bytes)
		return 0;
	if (!flatfile_init(&flat, fd, sizeof(head) + nr_bytes, &msg))
		use(&flat);
	flatfile_fini(&flat);
	return 0;
}
