// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opening a dump file: which reader a file is for, and what its user must know of it.
 *
 * ELF is read by mkdump.c, and so are compressed, split and flattened dumps if that can unpack
 * them.  The rest is for libkdumpfile (kdump.c).
 */
#include "recorder/open.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "source/dump_probe.h"
#include "source/extract_read.h"
#include "source/image.h"
#include "source/kdump.h"
#include "source/mkdump.h"
#include "recorder/live.h"
#include "base/readat.h"
#include "recorder/session.h"

/**
 * struct dump - an open dump file
 * @pieces, @mkdump: of a dump that mkdump.c reads.
 * @extract: of a file that btsrec_extract() wrote.
 * @kdump: of a dump that libkdumpfile reads.
 */
struct dump {
	int fd;
	struct dump_probe file;
	struct mkdump_file pieces;
	struct mkdump *mkdump;
	struct extract_file *extract;
	struct kdump_source *kdump;
};

void dump_free(void *data)
{
	struct dump *dump = data;

	if (!dump)
		return;
	kdump_source_free(dump->kdump);
	/* Its threads may be reading the file. */
	mkdump_free(dump->mkdump);
	mkdump_file_fini(&dump->pieces);
	if (dump->fd >= 0)
		close(dump->fd);
	extract_close(dump->extract);
	free(dump);
}

static void cleanup_dump(struct dump **dump)
{
	dump_free(*dump);
}

#define _cleanup_dump_ __attribute__((cleanup(cleanup_dump)))

/* --- Opening ------------------------------------------------------------ */

static enum btsrec_status dump_open_file(struct dump *dump, struct msg *msg, const char *path,
					 struct stat *ret_stat)
{
	/* As a descriptor it comes from a process that may open more than this one. */
	if (!strcmp(path, "-"))
		dump->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	else
		dump->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (dump->fd < 0 || fstat(dump->fd, ret_stat))
		return msg_set(msg, BTSREC_ERR_IO, "%s", strerror(errno));
	if (S_ISDIR(ret_stat->st_mode))
		return msg_set(msg, BTSREC_ERR_IO, "%s", strerror(EISDIR));
	if (S_ISFIFO(ret_stat->st_mode) || S_ISSOCK(ret_stat->st_mode))
		return msg_set(msg, BTSREC_ERR_IO, "a pipe cannot be searched; "
			       "copy it into a file first");
	if (S_ISREG(ret_stat->st_mode) && !ret_stat->st_size)
		return msg_set(msg, BTSREC_ERR_NOT_DUMP, "the file is empty");
	return BTSREC_OK;
}

static void dump_notice(const struct dump_probe *file, struct btsrec *rec)
{
	rec->incomplete = dump_probe_is_cut(file);
	if (rec->incomplete)
		snprintf(rec->notice, sizeof(rec->notice),
			 "the dump is cut off: %llu of %llu bytes are there",
			 (unsigned long long)file->file_bytes,
			 (unsigned long long)file->described_bytes);
	else if (file->unsafe)
		snprintf(rec->notice, sizeof(rec->notice), "%s", file->unsafe);
}

/*
 * libkdumpfile 0.5.1 dies of one wrong byte in the header of an ELF dump.  It gives wrong bytes, or
 * dies, some time after it was asked for a page that makedumpfile left out.  Of a compressed dump
 * that is cut off it refuses good pages after one that failed.  So it gets only what our own reader
 * cannot unpack.
 */
static bool is_for_us(const struct dump_probe *file)
{
	return file->kind == DUMP_ELF || file->kind == DUMP_COMPRESSED;
}

static enum btsrec_status dump_open_own(struct dump *dump, struct msg *msg)
{
	struct msg own = { 0 };
	enum btsrec_status status;

	if (!is_for_us(&dump->file))
		return kdump_source_open(dump->fd, &dump->file, msg, &dump->kdump);
	if (!mkdump_file_init_plain(&dump->pieces, dump->fd, dump->file.file_bytes))
		return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
	status = mkdump_new(&dump->pieces, &own, &dump->mkdump);
	if (status == BTSREC_ERR_NOT_DUMP && dump->file.kind != DUMP_ELF)
		return kdump_source_open(dump->fd, &dump->file, msg, &dump->kdump);
	if (status)
		return msg_set(msg, status, "%s", own.text);
	if (dump->file.kind == DUMP_ELF)
		dump->file.described_bytes = mkdump_described_bytes(dump->mkdump);
	return BTSREC_OK;
}

static enum btsrec_status dump_open_plain(struct dump *dump, struct btsrec *rec,
					  uint64_t file_bytes)
{
	enum btsrec_status status = dump_probe_file(&dump->file, dump->fd, file_bytes, &rec->msg);

	if (!status)
		status = dump_open_own(dump, &rec->msg);
	if (!status)
		dump_notice(&dump->file, rec);
	return status;
}

static bool was_elf(const struct mkdump_file *pieces)
{
	char magic[SELFMAG];

	return !mkdump_file_read_all(pieces, 0, magic, sizeof(magic)) &&
	       !memcmp(magic, ELFMAG, sizeof(magic));
}

/*
 * libkdumpfile reads flattened dumps since 0.5.4, but says nothing of holes in those
 * that are ELF: it gets only what mkdump.c cannot unpack.
 */
static enum btsrec_status dump_open_flattened(struct dump *dump, struct btsrec *rec,
					      uint64_t file_bytes)
{
	struct msg ignored = { 0 };
	enum btsrec_status status =
		mkdump_file_init(&dump->pieces, dump->fd, file_bytes, &rec->msg);

	if (status)
		return status;
	rec->incomplete = !dump->pieces.whole;
	if (rec->incomplete)
		snprintf(rec->notice, sizeof(rec->notice),
			 "the dump is cut off: its end mark is not there");
	status = mkdump_new(&dump->pieces, &rec->msg, &dump->mkdump);
	if (status != BTSREC_ERR_NOT_DUMP || !dump->pieces.whole || was_elf(&dump->pieces))
		return status;
	return kdump_source_open(dump->fd, &dump->file, &ignored, &dump->kdump) ? status :
										  BTSREC_OK;
}

/* A loss matters more than how the file was made. */
static void extract_notice(const struct extract_file *file, struct btsrec *rec)
{
	uint32_t flags = extract_header(file)->flags;
	const char *text = "";

	rec->log_left_out = flags & EXTRACT_F_NO_LOG;
	rec->incomplete = !extract_is_whole(file) || (flags & EXTRACT_F_INCOMPLETE);
	if (!extract_is_whole(file))
		text = "the extract was not written to the end, or is damaged";
	else if (rec->incomplete)
		text = "the extract was made from a dump that was cut off, or is damaged";
	else if ((flags & EXTRACT_F_NO_USER) && (flags & EXTRACT_F_NO_PATHS))
		text = "made without addresses of user space, which read 0, and without paths";
	else if (flags & EXTRACT_F_NO_USER)
		text = "made without addresses of user space, which read 0";
	else if (flags & EXTRACT_F_NO_PATHS)
		text = "made without paths";
	else if (rec->log_left_out)
		text = "made without the kernel's log";
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
	if (mkdump_file_probe(dump->fd))
		return dump_open_flattened(dump, rec, file_bytes);
	return dump_open_plain(dump, rec, file_bytes);
}

static enum btsrec_status mkdump_read(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				      size_t *ret_bytes)
{
	struct dump *dump = arg;

	return mkdump_read_pa(dump->mkdump, pa, buf, len_bytes, ret_bytes);
}

static bool mkdump_whole_pages(void *arg, const uint64_t *page_pa, size_t nr, void *buf)
{
	struct dump *dump = arg;

	return mkdump_read_pages(dump->mkdump, page_pa, nr, buf);
}

static uint64_t mkdump_next(void *arg, uint64_t pa)
{
	struct dump *dump = arg;

	return mkdump_next_pa(dump->mkdump, pa);
}

static enum btsrec_status extract_read(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				       size_t *ret_bytes)
{
	struct dump *dump = arg;

	return extract_read_pa(dump->extract, pa, buf, len_bytes, ret_bytes);
}

static enum btsrec_status kdump_read(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				     size_t *ret_bytes)
{
	struct dump *dump = arg;

	return kdump_source_read_pa(dump->kdump, pa, buf, len_bytes, ret_bytes);
}

static uint64_t extract_next(void *arg, uint64_t pa)
{
	struct dump *dump = arg;

	return extract_next_pa(dump->extract, pa);
}

void dump_image(struct dump *dump, struct btsrec_image *ret)
{
	*ret = (struct btsrec_image){ .arg = dump };
	if (dump->mkdump) {
		ret->read_pa = mkdump_read;
		ret->read_pages = mkdump_whole_pages;
		ret->next_pa = mkdump_next;
		ret->vmcoreinfo = mkdump_vmcoreinfo(dump->mkdump);
		ret->max_pa = mkdump_max_pa(dump->mkdump);
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
	ret->read_pa = kdump_read;
	ret->vmcoreinfo = kdump_source_vmcoreinfo(dump->kdump);
	ret->max_pa = kdump_source_max_pa(dump->kdump);
}

bool dump_part(const struct dump *dump, struct mkdump_part *ret)
{
	return dump->mkdump && mkdump_part(dump->mkdump, ret);
}

bool dump_same(const struct dump *a, const struct dump *b)
{
	return mkdump_same_dump(a->mkdump, b->mkdump);
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
	*ret = take_ptr(dump);
	return BTSREC_OK;
}

/* One file of several is better than nothing, if that is said. */
static void part_notice(const struct dump *dump, struct btsrec *rec)
{
	struct mkdump_part part;

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
	rec->is_file |= !status;
	if (!status)
		(void)take_ptr(dump);
	return status;
}
