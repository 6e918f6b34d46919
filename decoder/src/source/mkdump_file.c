// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/mkdump_file.h"

#include <endian.h>
#include <string.h>

#include "base/readat.h"

/*
 * The format as makedumpfile's IMPLEMENTATION file has it: a head of 4096 bytes,
 * then pieces, each a header and its data, until a header of minus ones.  All
 * numbers are big-endian.
 */
#define HEAD_BYTES	4096
#define FLATTENED_TYPE	1
#define FLATTENED_VERSION	1

struct flattened_header {
	char signature[16];
	uint64_t type;
	uint64_t version;
};

struct flattened_piece {
	uint64_t offset;
	uint64_t nr_bytes;
};

static const char flattened_signature[16] = "makedumpfile";

bool mkdump_file_probe(int fd)
{
	char bytes[sizeof(flattened_signature)];

	return read_at(fd, 0, bytes, sizeof(bytes)) &&
	       !memcmp(bytes, flattened_signature, sizeof(bytes));
}

/* --- The index ---------------------------------------------------------- */

static bool is_end_mark(const struct flattened_piece *header)
{
	return header->offset == UINT64_MAX && header->nr_bytes == UINT64_MAX;
}

/* The header at @at in host order; false: there is none, or none that can be. */
static bool read_header(struct mkdump_file *file, uint64_t at, struct flattened_piece *ret)
{
	if (at > file->file_bytes || file->file_bytes - at < sizeof(*ret) ||
	    !read_at(file->fd, at, ret, sizeof(*ret)))
		return false;
	ret->offset = be64toh(ret->offset);
	ret->nr_bytes = be64toh(ret->nr_bytes);
	return is_end_mark(ret) || (ret->nr_bytes && ret->nr_bytes <= INT64_MAX &&
				    ret->offset <= INT64_MAX - ret->nr_bytes);
}

static enum btsrec_status read_pieces(struct mkdump_file *file, struct msg *msg)
{
	struct flattened_piece header;
	uint64_t at = HEAD_BYTES;

	while (read_header(file, at, &header)) {
		uint64_t there_bytes = file->file_bytes - at - sizeof(header);

		if (is_end_mark(&header)) {
			file->whole = true;
			return BTSREC_OK;
		}
		at += sizeof(header);
		if (file->end < header.offset + header.nr_bytes)
			file->end = header.offset + header.nr_bytes;
		if (there_bytes > header.nr_bytes)
			there_bytes = header.nr_bytes;
		/* What is newer comes later. */
		if (!ranges_add(&file->pieces, header.offset, there_bytes, at, at))
			return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
		at += header.nr_bytes;
	}
	if (errno)
		return msg_set(msg, BTSREC_ERR_IO, "%s", strerror(errno));
	return BTSREC_OK;
}

enum btsrec_status mkdump_file_init(struct mkdump_file *ret, int fd, uint64_t file_bytes,
				    struct msg *msg)
{
	enum btsrec_status status;
	struct flattened_header head;

	ret->fd = fd;
	ret->file_bytes = file_bytes;
	if (!read_at(fd, 0, &head, sizeof(head)) && errno)
		return msg_set(msg, BTSREC_ERR_IO, "%s", strerror(errno));
	if (file_bytes < HEAD_BYTES)
		return msg_set(msg, BTSREC_ERR_NOT_DUMP, "the dump is cut off within its headers");
	if (be64toh(head.type) != FLATTENED_TYPE || be64toh(head.version) != FLATTENED_VERSION)
		return msg_set(msg, BTSREC_ERR_NOT_DUMP, "a flattened dump of type %llu, version %llu",
			       (unsigned long long)be64toh(head.type),
			       (unsigned long long)be64toh(head.version));
	errno = 0;
	status = read_pieces(ret, msg);
	if (!status && !ranges_settle(&ret->pieces))
		return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
	return status;
}

bool mkdump_file_init_plain(struct mkdump_file *ret, int fd, uint64_t file_bytes)
{
	if (!ranges_add(&ret->pieces, 0, file_bytes, 0, 0))
		return false;
	ret->fd = fd;
	ret->whole = true;
	ret->file_bytes = file_bytes;
	ret->end = file_bytes;
	return true;
}

void mkdump_file_fini(struct mkdump_file *file)
{
	ranges_fini(&file->pieces);
	memset(file, 0, sizeof(*file));
}

/* --- Reading ------------------------------------------------------------ */

enum btsrec_status mkdump_file_read(const struct mkdump_file *file, uint64_t offset, void *buf,
				    size_t len_bytes, size_t *ret_bytes)
{
	*ret_bytes = 0;
	while (*ret_bytes < len_bytes) {
		uint64_t distance, nr_bytes, from = offset + *ret_bytes;
		const struct range *piece = ranges_find(&file->pieces, from);

		if (!piece)
			return BTSREC_ERR_NODATA;
		distance = from - piece->begin;
		nr_bytes = min_u64(piece->nr_bytes - distance, len_bytes - *ret_bytes);
		if (!read_at(file->fd, piece->at + distance, (uint8_t *)buf + *ret_bytes, nr_bytes))
			return errno ? BTSREC_ERR_IO : BTSREC_ERR_NODATA;
		*ret_bytes += nr_bytes;
	}
	return BTSREC_OK;
}

enum btsrec_status mkdump_file_read_all(const struct mkdump_file *file, uint64_t offset, void *buf,
					size_t len_bytes)
{
	size_t nr_bytes;

	return mkdump_file_read(file, offset, buf, len_bytes, &nr_bytes);
}
