// SPDX-License-Identifier: GPL-2.0-or-later
/* Dump files through libkdumpfile; the only file that includes its header. */
#include "source/kdump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libkdumpfile/kdumpfile.h>

#include "source/image.h"

/**
 * struct kdump_source - an open dump
 * @ctx: NULL after a refusal, see must_leak().
 * @vmcoreinfo: text of the note or NULL; owned.
 */
struct kdump_source {
	kdump_ctx_t *ctx;
	char *vmcoreinfo;
	struct dump_probe file;
};

void kdump_source_free(struct kdump_source *source)
{
	if (!source)
		return;
	if (source->ctx)
		kdump_free(source->ctx);
	free(source->vmcoreinfo);
	free(source);
}

/*
 * A page that cannot be decompressed or lies after the end of the file is as
 * lost as one that was left out; only the system's own errors are errors: also that there
 * was no memory to decompress it with, for which libkdumpfile has no status (errno).
 */
static enum btsrec_status source_status(kdump_status status)
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
 * A page after the end of a compressed dump that is not compressed itself reads as
 * zeroes.  No page of the recorder with content is all zeroes: it has a magic, or
 * the poison.  So in a file that is cut off such a page is taken for lost.  Returns
 * how many bytes lie before the first one.
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
enum btsrec_status kdump_source_read_pa(struct kdump_source *source, uint64_t pa, void *buf,
					size_t len_bytes, size_t *ret_bytes)
{
	enum btsrec_status status;

	*ret_bytes = dump_probe_backed_bytes(&source->file, pa, len_bytes);
	if (!*ret_bytes)
		return BTSREC_ERR_NODATA;
	errno = 0;
	status = source_status(kdump_read(source->ctx, KDUMP_MACHPHYSADDR, pa, buf, ret_bytes));
	if (source->file.kind == DUMP_COMPRESSED && dump_probe_is_cut(&source->file))
		*ret_bytes = bytes_before_lost_page(pa, buf, *ret_bytes);
	if (!status && *ret_bytes < len_bytes)
		return BTSREC_ERR_NODATA;
	return status;
}

/* libkdumpfile's reason without the names of its attribute and of its file in front. */
static const char *source_cause(const struct kdump_source *source)
{
	static const char *const contexts[] = {"Cannot set file.set.0.fd: ", "file #0: "};
	const char *text = kdump_get_err(source->ctx);
	size_t i, len_bytes;

	for (i = 0; i < sizeof(contexts) / sizeof(contexts[0]); i++) {
		len_bytes = strlen(contexts[i]);
		if (!strncmp(text, contexts[i], len_bytes))
			text += len_bytes;
	}
	return text;
}

/* libkdumpfile 0.5.1 dies of freeing a compressed dump that it refused; 0.5.4 does not. */
static bool must_leak(const struct kdump_source *source)
{
	return KDUMPFILE_VERSION < KDUMPFILE_MKVER(0, 5, 4) && source->file.kind == DUMP_COMPRESSED;
}

/* Why libkdumpfile took the file for no dump, in one line. */
static enum btsrec_status source_refused(struct kdump_source *source, struct msg *msg,
					 kdump_status status)
{
	if (status == KDUMP_ERR_SYSTEM)
		msg_set(msg, BTSREC_ERR_IO, "%s", source_cause(source));
	else
		msg_set(msg, BTSREC_ERR_NOT_DUMP, "not a kernel dump: %s", source_cause(source));
	if (must_leak(source))
		source->ctx = NULL;
	return status == KDUMP_ERR_SYSTEM ? BTSREC_ERR_IO : BTSREC_ERR_NOT_DUMP;
}

/* A read of a mapping past the end of its file kills the process: only of whole files. */
static kdump_mmap_policy_t mmap_policy(const struct dump_probe *file)
{
	if (file->kind == DUMP_OTHER || dump_probe_is_cut(file))
		return KDUMP_MMAP_NEVER;
	return KDUMP_MMAP_TRY;
}

static enum btsrec_status open_source(struct kdump_source *source, int fd, struct msg *msg)
{
	kdump_status status;

	source->ctx = kdump_new();
	if (!source->ctx)
		return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
	status = kdump_set_number_attr(source->ctx, KDUMP_ATTR_FILE_MMAP_POLICY,
				       mmap_policy(&source->file));
	if (status == KDUMP_OK)
		status = kdump_open_fd(source->ctx, fd);
	if (status != KDUMP_OK)
		return source_refused(source, msg, status);
	/* VMCOREINFO is an attribute of the operating system: unknown until this is set. */
	if (kdump_set_string_attr(source->ctx, KDUMP_ATTR_OSTYPE, "linux") != KDUMP_OK)
		kdump_clear_err(source->ctx);
	if (kdump_vmcoreinfo_raw(source->ctx, &source->vmcoreinfo) != KDUMP_OK) {
		source->vmcoreinfo = NULL;
		kdump_clear_err(source->ctx);
	}
	return BTSREC_OK;
}

enum btsrec_status kdump_source_open(int fd, const struct dump_probe *file, struct msg *msg,
				     struct kdump_source **ret)
{
	struct kdump_source *source;
	enum btsrec_status status;

	if (file->unsafe)
		return msg_set(msg, BTSREC_ERR_NOT_DUMP, "%s", file->unsafe);
	source = calloc(1, sizeof(*source));
	if (!source)
		return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
	source->file = *file;
	status = open_source(source, fd, msg);
	if (status)
		kdump_source_free(source);
	else
		*ret = source;
	return status;
}

const char *kdump_source_vmcoreinfo(const struct kdump_source *source)
{
	return source->vmcoreinfo;
}

uint64_t kdump_source_max_pa(struct kdump_source *source)
{
	kdump_num_t max_pfn;

	if (kdump_get_number_attr(source->ctx, "max_pfn", &max_pfn) != KDUMP_OK) {
		kdump_clear_err(source->ctx);
		return 0;
	}
	if (max_pfn > IMAGE_MAX_PA / BTSREC_PAGE_BYTES)
		return IMAGE_MAX_PA;
	return max_pfn * BTSREC_PAGE_BYTES;
}
