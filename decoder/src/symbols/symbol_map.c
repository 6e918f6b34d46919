// SPDX-License-Identifier: GPL-2.0-or-later
/* Kernel names from System.map: lines of address, type letter and name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/readat.h"
#include "recorder/session.h"
#include "symbols/symbol.h"

/* No System.map comes near; keeps a device or a dump from filling memory. */
#define MAP_MAX_BYTES	(256u << 20)

static void cleanup_fclose(FILE **file)
{
	if (*file)
		fclose(*file);
}

#define _cleanup_fclose_ __attribute__((cleanup(cleanup_fclose)))

static enum btsrec_status map_grow(struct msg *msg, char **text, size_t *nr_room)
{
	char *grown;

	if (*nr_room >= MAP_MAX_BYTES)
		return msg_set(msg, BTSREC_ERR_CORRUPT, "too big to be a System.map");
	*nr_room = *nr_room ? 2 * *nr_room : 1 << 20;
	grown = realloc(*text, *nr_room);
	if (!grown)
		return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
	*text = grown;
	return BTSREC_OK;
}

/* The whole file; *@text stays the caller's to free in every case. */
static enum btsrec_status map_read(struct msg *msg, const char *path, char **text,
				   size_t *ret_bytes)
{
	int fd = open_regular(path);
	_cleanup_fclose_ FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	size_t nr_bytes = 0, nr_room = 0;
	enum btsrec_status status;

	if (!file) {
		msg_set(msg, BTSREC_ERR_IO, "%s", open_regular_error());
		if (fd >= 0)
			close(fd);
		return BTSREC_ERR_IO;
	}
	do {
		status = nr_bytes == nr_room ? map_grow(msg, text, &nr_room) : BTSREC_OK;
		if (status)
			return status;
		nr_bytes += fread(*text + nr_bytes, 1, nr_room - nr_bytes, file);
		if (ferror(file))
			return msg_set(msg, BTSREC_ERR_IO, "%s", strerror(errno));
	} while (!feof(file));
	*ret_bytes = nr_bytes;
	return BTSREC_OK;
}

/* How many hex digits are at @at, up to 16, and their value. */
static size_t map_address(const char *at, const char *end, uint64_t *ret)
{
	const char *begin = at;
	uint64_t value = 0;

	for (; at < end && at - begin < 16; at++) {
		if (*at >= '0' && *at <= '9')
			value = value << 4 | (uint64_t)(*at - '0');
		else if (*at >= 'a' && *at <= 'f')
			value = value << 4 | (uint64_t)(*at - 'a' + 10);
		else
			break;
	}
	*ret = value;
	return (size_t)(at - begin);
}

static enum btsrec_status map_line(struct symbol_list *list, const char *line, const char *end)
{
	uint64_t va;
	size_t nr_digits = map_address(line, end, &va);
	const char *at = line + nr_digits;

	/* It came by way of another system. */
	if (end > at && end[-1] == '\r')
		end--;
	if (!nr_digits || end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return BTSREC_ERR_CORRUPT;
	if (!symbol_list_add(list, va, at[1], at + 3, (size_t)(end - at - 3)))
		return BTSREC_ERR_NOMEM;
	return BTSREC_OK;
}

static enum btsrec_status map_parse(struct msg *msg, const char *text, size_t nr_bytes,
				    struct symbol_list *list)
{
	const char *at = text, *end = text + nr_bytes;
	enum btsrec_status status;
	unsigned long nr_lines = 0;

	while (text && at < end) {
		const char *eol = memchr(at, '\n', (size_t)(end - at));

		nr_lines++;
		status = map_line(list, at, eol ? eol : end);
		if (status == BTSREC_ERR_CORRUPT)
			return msg_set(msg, status, "not a System.map: line %lu is no symbol",
				       nr_lines);
		if (status)
			return msg_set(msg, status, "out of memory");
		at = eol ? eol + 1 : end;
	}
	return BTSREC_OK;
}

/* What Debian has in /boot instead has one line, which says where the real one is. */
static bool is_stand_in(const char *text, size_t nr_bytes)
{
	static const char says[] = " The real System.map is in ";

	return text && memmem(text, nr_bytes, says, sizeof(says) - 1);
}

enum btsrec_status btsrec_add_system_map(struct btsrec *rec, const char *path)
{
	_cleanup_free_ char *text = NULL;
	struct symbol_list list = { 0 };
	enum btsrec_status status;
	size_t nr_bytes = 0;

	if (!btsrec_root(rec))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no recorder located yet");
	status = map_read(&rec->msg, path, &text, &nr_bytes);
	if (!status && is_stand_in(text, nr_bytes))
		status = msg_set(&rec->msg, BTSREC_ERR_CORRUPT,
				 "only a stand-in: the package linux-image-...-dbg has the real "
				 "one, below /usr/lib/debug/boot");
	if (!status)
		status = map_parse(&rec->msg, text, nr_bytes, &list);
	if (status) {
		symbol_list_fini(&list);
		return msg_prepend(&rec->msg, status, "%s", path);
	}
	status = symbol_file_finish(rec, &list, path);
	symbol_list_fini(&list);
	return status;
}
