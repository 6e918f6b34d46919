// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/mkdump_headers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"

#define VMCOREINFO_MAX_BYTES	BOUND(1ULL << 20, 1ULL << 14)

enum btsrec_status mkdump_headers_cut(struct msg *msg)
{
	return msg_set(msg, BTSREC_ERR_NOT_DUMP, "the dump is cut off within its headers");
}

static enum btsrec_status failed_read(struct msg *msg)
{
	return msg_set(msg, BTSREC_ERR_IO, "%s", strerror(errno));
}

enum btsrec_status mkdump_headers_read(const struct mkdump_headers *headers, uint64_t offset,
				       void *buf, size_t nr_bytes, struct msg *msg,
				       size_t *ret_bytes)
{
	if (mkdump_file_read(headers->file, offset, buf, nr_bytes, ret_bytes) == BTSREC_ERR_IO)
		return failed_read(msg);
	return BTSREC_OK;
}

enum btsrec_status mkdump_headers_read_all(const struct mkdump_headers *headers, uint64_t offset,
					   void *buf, size_t nr_bytes, struct msg *msg)
{
	switch (mkdump_file_read_all(headers->file, offset, buf, nr_bytes)) {
	case BTSREC_OK:
		return BTSREC_OK;
	case BTSREC_ERR_IO:
		return failed_read(msg);
	default:
		return mkdump_headers_cut(msg);
	}
}

enum btsrec_status mkdump_headers_read_vmcoreinfo(struct mkdump_headers *headers, uint64_t offset,
						  uint64_t nr_bytes, struct msg *msg)
{
	enum btsrec_status status;
	size_t there_bytes;

	if (!nr_bytes || nr_bytes > VMCOREINFO_MAX_BYTES || headers->vmcoreinfo)
		return BTSREC_OK;
	headers->vmcoreinfo = calloc(1, nr_bytes + 1);
	if (!headers->vmcoreinfo)
		return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
	status = mkdump_headers_read(headers, offset, headers->vmcoreinfo, nr_bytes, msg,
				     &there_bytes);
	/* The recorder's line is the last one: what is cut off says nothing about it. */
	if (!status && there_bytes < nr_bytes) {
		free(headers->vmcoreinfo);
		headers->vmcoreinfo = NULL;
	}
	return status;
}
