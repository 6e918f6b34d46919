// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Dump files through libkdumpfile; the only file that includes its header.
 *
 * libkdumpfile reads zeroes behind the end of a file that was cut off, and for the
 * page before a segment of an ELF dump, which would turn lost history into wrong
 * history.  So for ELF dumps what is there is decided here, to the byte, by their
 * program headers.  Compressed dumps notice by themselves: what is behind the end
 * does not decompress.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libkdumpfile/kdumpfile.h>

#include "cleanup.h"
#include "image.h"
#include "session.h"

/**
 * struct dump_extent - memory that an ELF dump describes
 * @begin_pa: as the program header has it.
 * @backed_end_pa: what the file really holds ends here.
 */
struct dump_extent {
	uint64_t begin_pa;
	uint64_t backed_end_pa;
};

/**
 * struct dump - an open dump file
 * @vmcoreinfo: text of the note or NULL.
 * @extents: of an ELF dump, may overlap; NULL for other formats.
 * @last_extent: where the previous read ended; most go on there.
 * @described_bytes: how long the file would be if it were whole.
 */
struct dump {
	int fd;
	kdump_ctx_t *ctx;
	char *vmcoreinfo;
	struct dump_extent *extents;
	size_t nr_extents;
	size_t last_extent;
	uint64_t described_bytes;
};

static void dump_free(void *data)
{
	struct dump *dump = data;

	if (!dump)
		return;
	if (dump->ctx)
		kdump_free(dump->ctx);
	if (dump->fd >= 0)
		close(dump->fd);
	free(dump->vmcoreinfo);
	free(dump->extents);
	free(dump);
}

static void cleanup_dump(struct dump **dump)
{
	dump_free(*dump);
}

#define _cleanup_dump_ __attribute__((cleanup(cleanup_dump)))

/* --- The end of the file ------------------------------------------------ */

static bool extent_has(const struct dump_extent *extent, uint64_t pa)
{
	return pa >= extent->begin_pa && pa < extent->backed_end_pa;
}

/* An extent that has @pa, or NULL. */
static const struct dump_extent *dump_extent_at(struct dump *dump, uint64_t pa)
{
	size_t i;

	if (dump->nr_extents && extent_has(&dump->extents[dump->last_extent], pa))
		return &dump->extents[dump->last_extent];
	for (i = 0; i < dump->nr_extents; i++) {
		if (!extent_has(&dump->extents[i], pa))
			continue;
		dump->last_extent = i;
		return &dump->extents[i];
	}
	return NULL;
}

/* How many bytes from @pa on the file has without a hole, at most @len_bytes. */
static size_t dump_backed_bytes(struct dump *dump, uint64_t pa, size_t len_bytes)
{
	const struct dump_extent *extent;
	size_t nr_backed = 0;

	while (nr_backed < len_bytes && (extent = dump_extent_at(dump, pa + nr_backed))) {
		uint64_t rest_bytes = extent->backed_end_pa - (pa + nr_backed);

		if (rest_bytes >= len_bytes - nr_backed)
			return len_bytes;
		nr_backed += rest_bytes;
	}
	return nr_backed;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void dump_add_segment(struct dump *dump, const Elf64_Phdr *segment, uint64_t file_bytes)
{
	struct dump_extent *extent = &dump->extents[dump->nr_extents];
	uint64_t there_bytes = 0;

	if (segment->p_type != PT_LOAD || !segment->p_filesz ||
	    segment->p_offset > INT64_MAX || segment->p_filesz > INT64_MAX)
		return;
	if (segment->p_offset < file_bytes)
		there_bytes = min_u64(segment->p_filesz, file_bytes - segment->p_offset);
	extent->begin_pa = segment->p_paddr;
	extent->backed_end_pa = segment->p_paddr + there_bytes;
	dump->nr_extents++;
	if (dump->described_bytes < segment->p_offset + segment->p_filesz)
		dump->described_bytes = segment->p_offset + segment->p_filesz;
}

/* The number of program headers, also if there are too many for the field. */
static uint64_t elf_nr_segments(int fd, const Elf64_Ehdr *header)
{
	Elf64_Shdr section;

	if (header->e_phnum != PN_XNUM)
		return header->e_phnum;
	if (pread(fd, &section, sizeof(section), (off_t)header->e_shoff) != sizeof(section))
		return 0;
	return section.sh_info;
}

static bool elf_is_core(int fd, Elf64_Ehdr *ret)
{
	return pread(fd, ret, sizeof(*ret), 0) == sizeof(*ret) &&
	       !memcmp(ret->e_ident, ELFMAG, SELFMAG) && ret->e_type == ET_CORE &&
	       ret->e_ident[EI_CLASS] == ELFCLASS64 && ret->e_phentsize == sizeof(Elf64_Phdr);
}

/*
 * Fill @dump->extents from an ELF dump.  A table of program headers that is
 * itself cut off keeps libkdumpfile from opening the file, so it is no concern here.
 */
static void dump_read_extents(struct dump *dump, uint64_t file_bytes)
{
	_cleanup_free_ Elf64_Phdr *segments = NULL;
	uint64_t nr_segments, i;
	Elf64_Ehdr header;

	if (!elf_is_core(dump->fd, &header))
		return;
	nr_segments = min_u64(elf_nr_segments(dump->fd, &header), file_bytes / sizeof(*segments));
	segments = calloc(nr_segments + 1, sizeof(*segments));
	dump->extents = calloc(nr_segments + 1, sizeof(*dump->extents));
	if (!segments || !dump->extents)
		return;
	if (pread(dump->fd, segments, nr_segments * sizeof(*segments), (off_t)header.e_phoff) !=
	    (ssize_t)(nr_segments * sizeof(*segments)))
		return;
	for (i = 0; i < nr_segments; i++)
		dump_add_segment(dump, &segments[i], file_bytes);
}

/* Find out whether the file is whole; @notice is for humans, empty: it is. */
static void dump_check_end(struct dump *dump, uint64_t file_bytes, char *notice,
			   size_t notice_bytes)
{
	dump_read_extents(dump, file_bytes);
	if (dump->described_bytes > file_bytes)
		snprintf(notice, notice_bytes, "the dump is cut off: %llu of %llu bytes are there",
			 (unsigned long long)file_bytes,
			 (unsigned long long)dump->described_bytes);
}

/* --- Reading ------------------------------------------------------------ */

/*
 * A page that cannot be decompressed or lies behind the end of the file is as
 * lost as one that was left out; only the system's own errors are errors.
 */
static enum btsrec_status dump_status(kdump_status status)
{
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
 * Machine addresses, because libkdumpfile 0.5.1 finds no translation from the
 * kernel's to them in dumps that QEMU wrote.  They differ in Xen's paravirtual
 * guests only, which have no Branch Trace Store.
 */
static enum btsrec_status dump_read_pa(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				       size_t *ret_bytes)
{
	struct dump *dump = arg;
	size_t want_bytes = len_bytes;
	enum btsrec_status status;

	if (dump->extents)
		want_bytes = dump_backed_bytes(dump, pa, len_bytes);
	*ret_bytes = want_bytes;
	if (!want_bytes)
		return BTSREC_ERR_NODATA;
	status = dump_status(kdump_read(dump->ctx, KDUMP_MACHPHYSADDR, pa, buf, ret_bytes));
	if (!status && want_bytes < len_bytes)
		return BTSREC_ERR_NODATA;
	return status;
}

/* --- Opening ------------------------------------------------------------ */

static enum btsrec_status dump_open_file(struct dump *dump, struct msg *msg, const char *path,
					 struct stat *ret_stat)
{
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

/*
 * makedumpfile -F writes a stream of pieces under this signature (16 bytes,
 * padded with zeroes); libkdumpfile before 0.5.4 cannot read it.
 */
static bool dump_is_flattened(int fd)
{
	static const char signature[16] = "makedumpfile";
	char bytes[sizeof(signature)];

	return pread(fd, bytes, sizeof(bytes), 0) == sizeof(bytes) &&
	       !memcmp(bytes, signature, sizeof(signature));
}

/* libkdumpfile's reason without the name of its attribute in front. */
static const char *dump_cause(const struct dump *dump)
{
	static const char context[] = "Cannot set file.set.0.fd: ";
	const char *text = kdump_get_err(dump->ctx);

	return strncmp(text, context, sizeof(context) - 1) ? text : text + sizeof(context) - 1;
}

/* Why libkdumpfile took the file for no dump, in one line. */
static enum btsrec_status dump_refused(struct dump *dump, struct msg *msg, kdump_status status)
{
	Elf64_Ehdr header;

	if (status == KDUMP_ERR_SYSTEM)
		return msg_set(msg, BTSREC_ERR_IO, "%s", dump_cause(dump));
	if (elf_is_core(dump->fd, &header))
		return msg_set(msg, BTSREC_ERR_NOT_DUMP,
			       "the dump is cut off within its headers: %s",
			       dump_cause(dump));
	return msg_set(msg, BTSREC_ERR_NOT_DUMP, "not a kernel dump: %s",
		       dump_cause(dump));
}

static enum btsrec_status dump_open_kdump(struct dump *dump, struct msg *msg)
{
	kdump_status status;

	dump->ctx = kdump_new();
	if (!dump->ctx)
		return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
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
	return min_u64(max_pfn, IMAGE_MAX_PA / BTSREC_PAGE_BYTES) * BTSREC_PAGE_BYTES;
}

static enum btsrec_status dump_open(struct dump *dump, struct btsrec *rec, const char *path)
{
	struct msg *msg = &rec->msg;
	enum btsrec_status status;
	struct stat stat;

	status = dump_open_file(dump, msg, path, &stat);
	if (status)
		return status;
	if (dump_is_flattened(dump->fd))
		return msg_set(msg, BTSREC_ERR_NOT_DUMP,
			       "a flattened dump; make a plain one of it with "
			       "\"makedumpfile -R OUT < %s\"", path);
	status = dump_open_kdump(dump, msg);
	if (status)
		return status;
	if (S_ISREG(stat.st_mode))
		dump_check_end(dump, (uint64_t)stat.st_size, rec->notice, sizeof(rec->notice));
	return BTSREC_OK;
}

enum btsrec_status btsrec_open_dump(struct btsrec *rec, const char *path)
{
	_cleanup_dump_ struct dump *dump = calloc(1, sizeof(*dump));
	struct btsrec_image image = { .read_pa = dump_read_pa };
	enum btsrec_status status;

	if (!dump)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "%s: out of memory", path);
	dump->fd = -1;
	status = dump_open(dump, rec, path);
	if (status)
		return msg_prepend(&rec->msg, status, "%s", path);
	image.vmcoreinfo = dump->vmcoreinfo;
	image.max_pa = dump_max_pa(dump);
	image.arg = dump;
	status = session_open(rec, &image, (struct session_part){ dump, dump_free });
	if (!status)
		(void)take_ptr(dump);
	return status;
}
