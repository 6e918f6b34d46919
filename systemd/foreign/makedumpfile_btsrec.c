// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An extension of makedumpfile (newer than 1.7.9, built with EXTENSION=on): at any dump level the
 * dump keeps the pages that the branch history needs.  Level 31 leaves out the code of programs, so
 * their instructions would not be known.
 *
 * Which pages these are, libbtsrec shows: the small file has all that decoding needs, so what is
 * read while it is made is what has to stay.  It is made for its reads alone and goes nowhere.
 *
 * makedumpfile installs no headers.  DIR has its sources, as "make EXTENSION=on" left them:
 *
 *	cc -O2 -fPIC -shared -I DIR -Wl,-T,DIR/makedumpfile.ld -o btsrec.so \
 *		makedumpfile_btsrec.c -lbtsrec
 */
#include <btsrec/decoder.h>

#include "makedumpfile.h"
#include "btf_info.h"
#include "elf_info.h"
#include "extension.h"
#include "kallsyms.h"

/* kernel/crash_core.c, vmcore_info.c from 6.10 on: the note's text and its length. */
INIT_OPT_MOD_SYM(vmlinux, vmcoreinfo_data);
INIT_OPT_MOD_SYM(vmlinux, vmcoreinfo_size);
/* makedumpfile refuses an extension that asks for no type. */
INIT_OPT_MOD_STRUCT_MEMBER(vmlinux, task_struct, mm);

#define MAX_VMCOREINFO_BYTES 65536

/* One bit for each page frame below max_mapnr: it is kept. */
static unsigned char *kept;
static unsigned long nr_kept;
/* What is read from now on is kept: the search for the recorder looks at more. */
static bool keeps;

static void keep(unsigned long pfn)
{
	if (!(kept[pfn / 8] & 1 << pfn % 8))
		nr_kept++;
	kept[pfn / 8] |= 1 << pfn % 8;
}

/* Up to the first page that /proc/vmcore does not have; struct btsrec_image. */
static enum btsrec_status read_pa(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				  size_t *ret_bytes)
{
	size_t at, part_bytes;

	(void)arg;
	for (at = 0; at < len_bytes; at += part_bytes) {
		part_bytes = info->page_size - (pa + at) % info->page_size;
		if (part_bytes > len_bytes - at)
			part_bytes = len_bytes - at;
		if ((pa + at) / info->page_size >= info->max_mapnr || !paddr_to_offset(pa + at) ||
		    !readmem(PADDR, pa + at, (char *)buf + at, part_bytes))
			break;
		if (keeps)
			keep((pa + at) / info->page_size);
	}
	*ret_bytes = at;
	return at < len_bytes ? BTSREC_ERR_NODATA : BTSREC_OK;
}

static bool nowhere(void *arg, const char *text, size_t len_bytes)
{
	(void)arg;
	(void)text;
	(void)len_bytes;
	return true;
}

/* The text of the note, or NULL: the root is searched for then.  The caller frees it. */
static char *read_vmcoreinfo(void)
{
	uint64_t kva, len_bytes;
	char *text;

	if (!MOD_SYM_EXIST(vmlinux, vmcoreinfo_data) || !MOD_SYM_EXIST(vmlinux, vmcoreinfo_size) ||
	    !readmem(VADDR, GET_MOD_SYM(vmlinux, vmcoreinfo_data), &kva, sizeof(kva)) ||
	    !readmem(VADDR, GET_MOD_SYM(vmlinux, vmcoreinfo_size), &len_bytes, sizeof(len_bytes)) ||
	    len_bytes > MAX_VMCOREINFO_BYTES)
		return NULL;
	text = calloc(1, len_bytes + 1);
	if (text && readmem(VADDR, kva, text, len_bytes))
		return text;
	free(text);
	return NULL;
}

static enum btsrec_status read_history(struct btsrec *rec, const char *vmcoreinfo)
{
	const struct btsrec_image image = {
		.size = sizeof(image),
		.read_pa = read_pa,
		.vmcoreinfo = vmcoreinfo,
		.max_pa = info->max_mapnr * info->page_size,
	};
	const struct btsrec_sink sink = { .write = nowhere };
	enum btsrec_status status;

	status = btsrec_open_image(rec, &image);
	if (!status)
		status = btsrec_locate(rec, 0, BTSREC_SCAN_DMA);
	if (status)
		return status;
	keeps = true;
	return btsrec_extract(rec, NULL, &sink);
}

/* Without a history the dump is what it is without the extension. */
void extension_init(void)
{
	char *vmcoreinfo = read_vmcoreinfo();
	struct btsrec *rec = btsrec_new();
	enum btsrec_status status = BTSREC_ERR_NOMEM;

	kept = calloc(1, info->max_mapnr / 8 + 1);
	if (rec && kept)
		status = read_history(rec, vmcoreinfo);
	MSG("btsrec.so: %lu pages are kept for the branch history%s%s\n", nr_kept,
	    status ? "; not whole: " : "", !status ? "" : rec ? btsrec_errmsg(rec) : "no memory");
	btsrec_free(rec);
	free(vmcoreinfo);
}

int extension_callback(unsigned long pfn, const void *pcache)
{
	(void)pcache;
	return kept && pfn < info->max_mapnr && kept[pfn / 8] & 1 << pfn % 8 ? PG_INCLUDE :
									      PG_UNDECID;
}

__attribute__((destructor)) static void extension_cleanup(void)
{
	free(kept);
}
