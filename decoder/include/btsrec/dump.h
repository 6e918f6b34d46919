/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Part of <btsrec/decoder.h>: where the bytes come from, and the recorder in them. */
#ifndef BTSREC_DUMP_H
#define BTSREC_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <btsrec/abi.h>
#include <btsrec/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Image -------------------------------------------------------------- */

/**
 * struct btsrec_image - where the bytes come from; it grows, see base.h
 * @read_pa: read up to @len_bytes bytes of physical memory at @pa into @buf and
 *	store in *@ret_bytes how many leading bytes are valid.  BTSREC_OK when all
 *	are; BTSREC_ERR_NODATA when the rest is not in the dump (excluded, cut off);
 *	BTSREC_ERR_CORRUPT when what should be there is damaged; BTSREC_ERR_IO when the medium
 *	failed; BTSREC_ERR_NOMEM.
 * @vmcoreinfo: text of the VMCOREINFO note or NULL; borrowed, NUL-terminated.
 * @root_pa_hint: physical address of the root from a symbol lookup; 0: none.
 * @max_pa: first physical address beyond memory, bounds a full scan; 0: unknown.
 * @read_pages: read the @nr whole pages at @page_pa, one after the other, into @buf; no @page_pa is
 *	0; false: @read_pa has to be asked for them.  NULL: it always has.  With
 *	btsrec_set_threads(), several threads may call it at once, also while @read_pa is asked.  A
 *	source that has to unpack pages should keep them, but for those of a call that wants 64
 *	or more: its caller keeps them.
 * @next_pa: the first address from @pa on that may be in the dump and is not known to be zero,
 *	UINT64_MAX: none is; so that a full scan does not ask for the others.  NULL: each may be.
 * @arg: given to all of them.
 */
struct btsrec_image {
	size_t size;
	enum btsrec_status (*read_pa)(void *arg, uint64_t pa, void *buf,
				      size_t len_bytes, size_t *ret_bytes);
	const char *vmcoreinfo;
	uint64_t root_pa_hint;
	uint64_t max_pa;
	bool (*read_pages)(void *arg, const uint64_t *page_pa, size_t nr, void *buf);
	uint64_t (*next_pa)(void *arg, uint64_t pa);
	void *arg;
};

/**
 * btsrec_open_image() - use @image as the source of @rec
 *
 * Return: BTSREC_OK; BTSREC_ERR_INVAL if @rec has a source already or @image no read_pa;
 * BTSREC_ERR_TOO_NEW.
 */
BTSREC_API enum btsrec_status
btsrec_open_image(struct btsrec *rec, const struct btsrec_image *image);

/**
 * btsrec_set_threads() - how many processors a view may keep busy
 * @nr_threads: with the caller's; 0 or 1: no others.
 *
 * Views print several CPUs at once, if the source has read_pages, there is no resolver and no
 * source lines are asked for.  Each thread takes the memory that one does, and all together keep
 * at most 64 MiB of text that waits for its turn.  The sink is called by all of them, one at a
 * time.  The output is the same.  For btsrec_extract() see there.
 */
BTSREC_API void btsrec_set_threads(struct btsrec *rec, unsigned int nr_threads);

/**
 * btsrec_open_dump() - use the dump file at @path; "-": that of the standard input, no pipe
 *
 * In libbtsrec only, not in the part that the crash extension links.  "/proc/kcore" is
 * what btsrec_open_live() opens.
 *
 * Return: BTSREC_OK; BTSREC_ERR_IO (missing, no permission, a directory, read
 * error); BTSREC_ERR_NOT_DUMP (empty file, unknown format); BTSREC_ERR_NOMEM;
 * BTSREC_ERR_INVAL if @rec has a source already.
 */
BTSREC_API enum btsrec_status
btsrec_open_dump(struct btsrec *rec, const char *path);

/**
 * btsrec_open_split() - as btsrec_open_dump(), of a dump in @nr_paths files
 * @paths: what makedumpfile --split wrote, in any order; or one dump of any kind.
 *
 * Return: as btsrec_open_dump(); BTSREC_ERR_INVAL also if the files do not belong together.
 */
BTSREC_API enum btsrec_status
btsrec_open_split(struct btsrec *rec, const char *const *paths, size_t nr_paths);

/**
 * btsrec_open_live() - use the recorder that runs on this machine
 *
 * The recorder pauses, some milliseconds, while what it writes is copied; a gap with
 * the reason "snapshot" stays in its history.  All other memory is read through
 * /proc/kcore when it is asked for.  In libbtsrec only.
 *
 * Return: BTSREC_OK; BTSREC_ERR_IO (no recorder, not root, a locked-down kernel, another
 * one copies just now); what btsrec_locate() returns; BTSREC_ERR_NOMEM; BTSREC_ERR_INVAL
 * if @rec has a source already.
 */
BTSREC_API enum btsrec_status btsrec_open_live(struct btsrec *rec);

/**
 * btsrec_vmcoreinfo_key() - a key of VMCOREINFO that the library asks for, besides
 * BTSREC_VMCOREINFO_KEY
 * @i: from 0.
 *
 * For a source that has no text of it, but its values by their keys.
 *
 * Return: as "SYMBOL(prb)", static; NULL: there are no more.
 */
BTSREC_API const char *btsrec_vmcoreinfo_key(size_t i);

/* --- Recorder ----------------------------------------------------------- */

/** enum btsrec_scan - how far btsrec_locate() may search without a pointer */
enum btsrec_scan {
	BTSREC_SCAN_DMA,	/* the first 16 MiB, where the module puts the root */
	BTSREC_SCAN_ALL,	/* all physical memory */
	BTSREC_SCAN_NONE,
};

/**
 * btsrec_locate() - find and validate the recorder
 * @root_pa: where the caller says the root is; 0: search VMCOREINFO, then the
 *	image's hint, then as far as @scan says.  With several valid roots the
 *	one with the newest generation is taken.
 *
 * Return: BTSREC_OK; BTSREC_ERR_NO_ROOT; BTSREC_ERR_BAD_ROOT, BTSREC_ERR_VERSION or
 * BTSREC_ERR_CORRUPT with one reason per reject in btsrec_errmsg(); BTSREC_ERR_NODATA
 * if the page that was named is not in the dump; BTSREC_ERR_IO; BTSREC_ERR_NOMEM;
 * BTSREC_ERR_INVAL without a source.
 */
BTSREC_API enum btsrec_status
btsrec_locate(struct btsrec *rec, uint64_t root_pa, enum btsrec_scan scan);

/** btsrec_root() - the validated root, host copy; NULL before btsrec_locate(). */
BTSREC_API const struct btsrec_root *btsrec_root(const struct btsrec *rec);

/** btsrec_nr_cpu_ids() - CPU numbers run from 0 below this; 0 before btsrec_locate(). */
BTSREC_API unsigned int btsrec_nr_cpu_ids(const struct btsrec *rec);

/**
 * btsrec_cpu() - the validated CPU page of @cpu, host copy
 *
 * NULL if that CPU has no ring or its page is not usable; btsrec_check() says why.
 */
BTSREC_API const struct btsrec_cpu *btsrec_cpu(const struct btsrec *rec,
					       unsigned int cpu);

/**
 * btsrec_module_at() - the module with @kva in its text, or NULL
 *
 * Modules that are gone are found too, unless a live one has the address.
 */
BTSREC_API const struct btsrec_module *
btsrec_module_at(const struct btsrec *rec, uint64_t kva);

#ifdef __cplusplus
}
#endif

#endif /* BTSREC_DUMP_H */
