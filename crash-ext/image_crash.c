// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads go by physical address only and never with an error handle that makes
 * crash jump out of the decoder: a page that the dump does not hold is an answer.
 */
#include "image_crash.h"

#include <crash/defs.h>

static enum btsrec_status read_pa(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				  size_t *ret_bytes)
{
	const struct image_crash *crash = arg;
	size_t done = 0;

	/* Page by page, because readmem() does not say how far it came. */
	while (done < len_bytes) {
		uint64_t at = pa + done;
		size_t chunk_bytes = BTSREC_PAGE_BYTES - at % BTSREC_PAGE_BYTES;

		*ret_bytes = done;
		if (crash->interrupted())
			return BTSREC_ERR_STOPPED;
		if (chunk_bytes > len_bytes - done)
			chunk_bytes = len_bytes - done;
		if (!readmem(at, PHYSADDR, (char *)buf + done, (long)chunk_bytes, "btsrec",
			     RETURN_ON_ERROR | QUIET))
			return BTSREC_ERR_NODATA;
		done += chunk_bytes;
	}
	*ret_bytes = done;
	return BTSREC_OK;
}

/* crash gives the value of a key; the decoder wants the line. */
static void find_line(struct image_crash *crash, const char *key)
{
	size_t at = strlen(crash->vmcoreinfo);
	char *value = pc->read_vmcoreinfo(key);

	if (!value)
		return;
	(void)snprintf(crash->vmcoreinfo + at, sizeof(crash->vmcoreinfo) - at, "%s=%s\n", key,
		       value);
	crash->image.vmcoreinfo = crash->vmcoreinfo;
	free(value);
}

/* The recorder, and what the decoder looks up in the kernel. */
static void find_vmcoreinfo(struct image_crash *crash)
{
	char key[] = BTSREC_VMCOREINFO_KEY;
	const char *other;

	key[sizeof(key) - 2] = '\0';	/* crash appends the '=' itself */
	find_line(crash, key);
	for (size_t i = 0; (other = btsrec_vmcoreinfo_key(i)); i++)
		find_line(crash, other);
}

/* The module's own variable, by the symbols that crash took from its kallsyms. */
static uint64_t find_root_pa(void)
{
	struct syment *sp = symbol_search("btsrec_root_pa");
	uint64_t root_pa;

	if (!sp || !readmem(sp->value, KVADDR, &root_pa, sizeof(root_pa), "btsrec_root_pa",
			    RETURN_ON_ERROR | QUIET))
		return 0;
	return root_pa;
}

void image_crash_init(struct image_crash *crash, bool (*interrupted)(void))
{
	memset(crash, 0, sizeof(*crash));
	crash->interrupted = interrupted;
	crash->image.size = sizeof(crash->image);
	crash->image.read_pa = read_pa;
	crash->image.arg = crash;
	find_vmcoreinfo(crash);
	crash->image.root_pa_hint = find_root_pa();
}
