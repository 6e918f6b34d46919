// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Dump files, through libkdumpfile where we do not read them ourselves; the only file that
 * includes its header.  ELF is read by flatdump.c, and so are compressed, split and flattened
 * dumps if that can unpack them.
 */
#include "image_kdump.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libkdumpfile/kdumpfile.h>

#include "cleanup.h"
#include "dumpfile.h"
#include "extract_read.h"
#include "flatdump.h"
#include "image.h"
#include "live.h"
#include "readat.h"
#include "session.h"

/**
 * struct dump - an open dump file
 * @vmcoreinfo: text of the note or NULL.
 * @flat_index, @flat: of a dump that flatdump.c reads; then @ctx is NULL.
 * @extract: of a file that btsrec_extract() wrote; then @ctx is NULL, too.
 */
struct dump {
	int fd;
	kdump_ctx_t *ctx;
	char *vmcoreinfo;
	struct dumpfile file;
	struct flatfile flat_index;
	struct flatdump *flat;
	struct extract_file *extract;
};

void dump_free(void *data)
{
	struct dump *dump = data;

	if (!dump)
		return;
	if (dump->ctx)
		kdump_free(dump->ctx);
	/* Its threads may be reading the file. */
	flatdump_free(dump->flat);
	flatfile_fini(&dump->flat_index);
	if (dump->fd >= 0)
		close(dump->fd);
	free(dump->vmcoreinfo);
	extract_close(dump->extract);
	free(dump);
}

static void cleanup_dump(struct dump **dump)
{
	dump_free(*dump);
}

#define _cleanup_dump_ __attribute__((cleanup(cleanup_dump)))

/* --- Reading ------------------------------------------------------------ */

/*
 * A page that cannot be decompressed or lies behind the end of the file is as
 * lost as one that was left out; only the system's own errors are errors: also that there
 * was no memory to decompress it with, for which libkdumpfile has no status (errno).
 */
static enum btsrec_status dump_status(kdump_status status)
{
	if (status != KDUMP_OK && errno == ENOMEM)
		return BTSREC_ERR_NOMEM;
	switch (status) {
	case KDUMP_OK:
		return BTSREC_OK;
	case KDUMP_ERR_SYSTEM:
	case KDUMP_ERR_BUSY:
		return BTSREC_ERR_IO;
	default:
		return BTSREC_ERR_NODATA;
	}
}

/*
 * A page behind the end of a compressed dump that is not compressed itself reads
 * as zeroes.  None of the recorder's own pages with content is all zeroes (they
 * have a magic, or the poison), so in a file that is cut off such a page is taken
 * for lost.  Returns how many bytes lie before the first one.
 */
static size_t bytes_before_lost_page(uint64_t pa, const uint8_t *bytes, size_t nr_bytes)
{
	size_t at = 0, end, i;

	while (at < nr_bytes) {
		end = at + BTSREC_PAGE_BYTES - (pa + at) % BTSREC_PAGE_BYTES;
		if (end > nr_bytes)
			end = nr_bytes;
		for (i = at; i < end && !bytes[i]; i++)
			;
		if (i == end)
			return at;
		at = end;
	}
	return nr_bytes;
}

/*
 * Machine addresses, because libkdumpfile 0.5.1 finds no translation from the
 * kernel's to them in dumps that QEMU wrote.  They differ in Xen's paravirtual
 * guests only, which have no Branch Trace Store.
 */
static enum btsrec_status dump_read_pa(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				       size_t *ret_bytes)
{
	struct dump *dump = arg;
	enum btsrec_status status;

	*ret_bytes = dumpfile_backed_bytes(&dump->file, pa, len_bytes);
	if (!*ret_bytes)
		return BTSREC_ERR_NODATA;
	errno = 0;
	status = dump_status(kdump_read(dump->ctx, KDUMP_MACHPHYSADDR, pa, buf, ret_bytes));
	if (dump->file.kind == DUMPFILE_COMPRESSED && dumpfile_is_cut(&dump->file))
		*ret_bytes = bytes_before_lost_page(pa, buf, *ret_bytes);
	if (!status && *ret_bytes < len_bytes)
		return BTSREC_ERR_NODATA;
	return status;
}

/* --- Opening ------------------------------------------------------------ */

static enum btsrec_status dump_open_file(struct dump *dump, struct msg *msg, const char *path,
					 struct stat *ret_stat)
{
	/* As a descriptor it comes from somebody who may open more than this process. */
	if (!strcmp(path, "-"))
		dump->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	else
		dump->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (dump->fd < 0 || fstat(dump->fd, ret_stat))
		return msg_set(msg, BTSREC_ERR_IO, "%s", strerror(errno));
	if (S_ISDIR(ret_stat->st_mode))
		return msg_set(msg, BTSREC_ERR_IO, "%s", strerror(EISDIR));
	if (S_ISFIFO(ret_stat->st_mode) || S_ISSOCK(ret_stat->st_mode))
		return msg_set(msg, BTSREC_ERR_IO, "not a file that can be searched");
	if (S_ISREG(ret_stat->st_mode) && !ret_stat->st_size)
		return msg_set(msg, BTSREC_ERR_NOT_DUMP, "the file is empty");
	return BTSREC_OK;
}

/* libkdumpfile's reason without the names of its attribute and of its file in front. */
static const char *dump_cause(const struct dump *dump)
{
	static const char *const contexts[] = { "Cannot set file.set.0.fd: ", "file #0: " };
	const char *text = kdump_get_err(dump->ctx);
	size_t i, len_bytes;

	for (i = 0; i < sizeof(contexts) / sizeof(contexts[0]); i++) {
		len_bytes = strlen(contexts[i]);
		if (!strncmp(text, contexts[i], len_bytes))
			text += len_bytes;
	}
	return text;
}

/* libkdumpfile 0.5.1 dies of freeing a compressed dump that it refused; 0.5.4 does not. */
static bool dump_must_leak(const struct dump *dump)
{
	return KDUMPFILE_VERSION < KDUMPFILE_MKVER(0, 5, 4) &&
	       dump->file.kind == DUMPFILE_COMPRESSED;
}

/* Why libkdumpfile took the file for no dump, in one line. */
static enum btsrec_status dump_refused(struct dump *dump, struct msg *msg, kdump_status status)
{
	if (status == KDUMP_ERR_SYSTEM)
		msg_set(msg, BTSREC_ERR_IO, "%s", dump_cause(dump));
	else
		msg_set(msg, BTSREC_ERR_NOT_DUMP, "not a kernel dump: %s", dump_cause(dump));
	if (dump_must_leak(dump))
		dump->ctx = NULL;
	return status == KDUMP_ERR_SYSTEM ? BTSREC_ERR_IO : BTSREC_ERR_NOT_DUMP;
}

/* Whoever reads a mapping behind the end of its file is killed: only of whole files. */
static kdump_mmap_policy_t dump_mmap_policy(const struct dumpfile *file)
{
	if (file->kind == DUMPFILE_OTHER || dumpfile_is_cut(file))
		return KDUMP_MMAP_NEVER;
	return KDUMP_MMAP_TRY;
}

static enum btsrec_status dump_open_kdump(struct dump *dump, struct msg *msg)
{
	kdump_status status;

	dump->ctx = kdump_new();
	if (!dump->ctx)
		return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
	status = kdump_set_number_attr(dump->ctx, KDUMP_ATTR_FILE_MMAP_POLICY,
				       dump_mmap_policy(&dump->file));
	if (status == KDUMP_OK)
		status = kdump_open_fd(dump->ctx, dump->fd);
	if (status != KDUMP_OK)
		return dump_refused(dump, msg, status);
	/* VMCOREINFO is an attribute of the operating system: unknown until this is set. */
	if (kdump_set_string_attr(dump->ctx, KDUMP_ATTR_OSTYPE, "linux") != KDUMP_OK)
		kdump_clear_err(dump->ctx);
	if (kdump_vmcoreinfo_raw(dump->ctx, &dump->vmcoreinfo) != KDUMP_OK) {
		dump->vmcoreinfo = NULL;
		kdump_clear_err(dump->ctx);
	}
	return BTSREC_OK;
}

/* First address beyond memory; 0: the format does not say. */
static uint64_t dump_max_pa(struct dump *dump)
{
	kdump_num_t max_pfn;

	if (kdump_get_number_attr(dump->ctx, "max_pfn", &max_pfn) != KDUMP_OK) {
		kdump_clear_err(dump->ctx);
		return 0;
	}
	if (max_pfn > IMAGE_MAX_PA / BTSREC_PAGE_BYTES)
		return IMAGE_MAX_PA;
	return max_pfn * BTSREC_PAGE_BYTES;
}

static void dump_notice(const struct dumpfile *file, struct btsrec *rec)
{
	rec->incomplete = dumpfile_is_cut(file);
	if (rec->incomplete)
		snprintf(rec->notice, sizeof(rec->notice),
			 "the dump is cut off: %llu of %llu bytes are there",
			 (unsigned long long)file->file_bytes,
			 (unsigned long long)file->described_bytes);
}

/*
 * libkdumpfile 0.5.1 dies of one wrong byte in the header of an ELF dump, and gives wrong
 * bytes, or dies, some time after it was asked for a page that makedumpfile left out: ELF is for
 * our own reader, and compressed dumps are, too, unless they are cut off or it cannot unpack
 * them.  libkdumpfile does not know split ones.
 */
static bool is_for_us(const struct dumpfile *file)
{
	return file->kind == DUMPFILE_ELF ||
	       (file->kind == DUMPFILE_COMPRESSED && (file->is_split || !dumpfile_is_cut(file)));
}

static enum btsrec_status dump_open_own(struct dump *dump, struct msg *msg)
{
	struct msg own = { 0 };
	enum btsrec_status status;

	if (!is_for_us(&dump->file))
		return dump_open_kdump(dump, msg);
	if (!flatfile_init_plain(&dump->flat_index, dump->fd, dump->file.file_bytes))
		return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
	status = flatdump_new(&dump->flat_index, &own, &dump->flat);
	if (status == BTSREC_ERR_NOT_DUMP && dump->file.kind != DUMPFILE_ELF)
		return dump_open_kdump(dump, msg);
	if (status)
		return msg_set(msg, status, "%s", own.text);
	if (dump->file.kind == DUMPFILE_ELF)
		dump->file.described_bytes = flatdump_described_bytes(dump->flat);
	return BTSREC_OK;
}

static enum btsrec_status dump_open_plain(struct dump *dump, struct btsrec *rec,
					  uint64_t file_bytes)
{
	enum btsrec_status status = dumpfile_probe(&dump->file, dump->fd, file_bytes, &rec->msg);

	if (!status)
		status = dump_open_own(dump, &rec->msg);
	if (!status)
		dump_notice(&dump->file, rec);
	return status;
}

static bool was_elf(const struct flatfile *flat)
{
	char magic[SELFMAG];

	return !flatfile_read_all(flat, 0, magic, sizeof(magic)) &&
	       !memcmp(magic, ELFMAG, sizeof(magic));
}

/*
 * libkdumpfile reads flattened dumps since 0.5.4, but says nothing of holes in those
 * that are ELF: it gets only what flatdump.c cannot unpack.
 */
static enum btsrec_status dump_open_flattened(struct dump *dump, struct btsrec *rec,
					      uint64_t file_bytes)
{
	struct msg ignored = { 0 };
	enum btsrec_status status =
		flatfile_init(&dump->flat_index, dump->fd, file_bytes, &rec->msg);

	if (status)
		return status;
	rec->incomplete = !dump->flat_index.whole;
	if (rec->incomplete)
		snprintf(rec->notice, sizeof(rec->notice),
			 "the dump is cut off: its end mark is not there");
	status = flatdump_new(&dump->flat_index, &rec->msg, &dump->flat);
	if (status != BTSREC_ERR_NOT_DUMP || !dump->flat_index.whole || was_elf(&dump->flat_index))
		return status;
	return dump_open_kdump(dump, &ignored) ? status : BTSREC_OK;
}

/* A loss matters more than how the file was made. */
static void extract_notice(const struct extract_file *file, struct btsrec *rec)
{
	uint32_t flags = extract_header(file)->flags;
	const char *text = "";

	rec->incomplete = !extract_is_whole(file) || (flags & EXTRACT_F_INCOMPLETE);
	if (!extract_is_whole(file))
		text = "the extract was not written to the end, or is damaged";
	else if (rec->incomplete)
		text = "the extract was made from a dump that was cut off";
	else if ((flags & EXTRACT_F_NO_USER) && (flags & EXTRACT_F_NO_PATHS))
		text = "made without addresses of user space, which read 0, and without paths";
	else if (flags & EXTRACT_F_NO_USER)
		text = "made without addresses of user space, which read 0";
	else if (flags & EXTRACT_F_NO_PATHS)
		text = "made without paths";
	snprintf(rec->notice, sizeof(rec->notice), "%s", text);
}

static enum btsrec_status dump_open_extract(struct dump *dump, struct btsrec *rec,
					    uint64_t file_bytes)
{
	enum btsrec_status status = extract_open(dump->fd, file_bytes, &rec->msg, &dump->extract);

	if (!status)
		extract_notice(dump->extract, rec);
	return status;
}

static enum btsrec_status dump_open(struct dump *dump, struct btsrec *rec, const char *path)
{
	enum btsrec_status status;
	struct stat stat = { 0 };
	uint64_t file_bytes;

	status = dump_open_file(dump, &rec->msg, path, &stat);
	if (status)
		return status;
	file_bytes = S_ISREG(stat.st_mode) ? (uint64_t)stat.st_size : UINT64_MAX;
	if (extract_probe(dump->fd))
		return dump_open_extract(dump, rec, file_bytes);
	if (flatfile_probe(dump->fd))
		return dump_open_flattened(dump, rec, file_bytes);
	return dump_open_plain(dump, rec, file_bytes);
}

static enum btsrec_status flat_read_pa(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				       size_t *ret_bytes)
{
	struct dump *dump = arg;

	return flatdump_read_pa(dump->flat, pa, buf, len_bytes, ret_bytes);
}

static bool flat_read_pages(void *arg, const uint64_t *page_pa, size_t nr, void *buf)
{
	struct dump *dump = arg;

	return flatdump_read_pages(dump->flat, page_pa, nr, buf);
}

static void flat_expect(void *arg, const uint64_t *page_pa, size_t nr)
{
	struct dump *dump = arg;

	flatdump_expect(dump->flat, page_pa, nr);
}

static uint64_t flat_next_pa(void *arg, uint64_t pa)
{
	struct dump *dump = arg;

	return flatdump_next_pa(dump->flat, pa);
}

static enum btsrec_status extract_read(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				       size_t *ret_bytes)
{
	struct dump *dump = arg;

	return extract_read_pa(dump->extract, pa, buf, len_bytes, ret_bytes);
}

static uint64_t extract_next(void *arg, uint64_t pa)
{
	struct dump *dump = arg;

	return extract_next_pa(dump->extract, pa);
}

void dump_image(struct dump *dump, struct btsrec_image *ret)
{
	*ret = (struct btsrec_image){ .arg = dump };
	if (dump->flat) {
		ret->read_pa = flat_read_pa;
		ret->expect = flatdump_is_packed(dump->flat) ? flat_expect : NULL;
		ret->read_pages = flat_read_pages;
		ret->next_pa = flat_next_pa;
		ret->vmcoreinfo = flatdump_vmcoreinfo(dump->flat);
		ret->max_pa = flatdump_max_pa(dump->flat);
		return;
	}
	if (dump->extract) {
		ret->read_pa = extract_read;
		ret->next_pa = extract_next;
		ret->vmcoreinfo = extract_vmcoreinfo(dump->extract);
		ret->root_pa_hint = extract_header(dump->extract)->root_pa;
		ret->max_pa = extract_header(dump->extract)->max_pa;
		return;
	}
	ret->read_pa = dump_read_pa;
	ret->vmcoreinfo = dump->vmcoreinfo;
	ret->max_pa = dump_max_pa(dump);
}

bool dump_part(const struct dump *dump, struct flatdump_part *ret)
{
	return dump->flat && flatdump_part(dump->flat, ret);
}

enum btsrec_status dump_open_path(struct btsrec *rec, const char *path, struct dump **ret)
{
	_cleanup_dump_ struct dump *dump = calloc(1, sizeof(*dump));
	enum btsrec_status status;

	if (!dump) {
		msg_set(&rec->msg, BTSREC_ERR_NOMEM, "%s: out of memory", path);
		return BTSREC_ERR_NOMEM;
	}
	dump->fd = -1;
	status = dump_open(dump, rec, path);
	if (status) {
		msg_prepend(&rec->msg, status, "%s", path);
		return status;
	}
	if (dump->flat)
		flatdump_use_threads(dump->flat, rec->nr_threads);
	*ret = take_ptr(dump);
	return BTSREC_OK;
}

/* One file of several is better than nothing, if that is said. */
static void part_notice(const struct dump *dump, struct btsrec *rec)
{
	struct flatdump_part part;

	if (rec->incomplete || !dump_part(dump, &part) ||
	    (!part.first_pfn && part.end_pfn >= part.max_pfn))
		return;
	rec->incomplete = true;
	snprintf(rec->notice, sizeof(rec->notice),
		 "one file of a split dump; name all of them to have the whole");
}

enum btsrec_status btsrec_open_dump(struct btsrec *rec, const char *path)
{
	_cleanup_dump_ struct dump *dump = NULL;
	struct btsrec_image image;
	enum btsrec_status status;

	if (!strcmp(path, LIVE_CORE))
		return btsrec_open_live(rec);
	status = dump_open_path(rec, path, &dump);
	if (status)
		return status;
	part_notice(dump, rec);
	dump_image(dump, &image);
	status = session_open(rec, &image, (struct session_part){ dump, dump_free });
	if (!status)
		(void)take_ptr(dump);
	return status;
}
