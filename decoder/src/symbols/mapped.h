/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that a process had mapped: what the dump has of it, the file of this machine that is the
 * same one, its symbols and its code.
 */
#ifndef BTSREC_MAPPED_H
#define BTSREC_MAPPED_H

#include "symbols/elffile.h"

/** enum mapped_why - why addresses in a file have no symbols */
enum mapped_why {
	MAPPED_OK,
	MAPPED_EXCLUDED,	/* what would prove that it is this file is not in the dump */
	MAPPED_UNPROVEN,	/* ... was in the memory of no process */
	MAPPED_NOT_FOUND,
	MAPPED_DIFFERS,		/* the file here is another one */
	MAPPED_STRIPPED,	/* the same, but neither it nor a debug file has symbols */
};

#define MAPPED_HEAD_BYTES	4096
#define MAPPED_MAX_SEGMENTS	16
#define MAPPED_BUILD_ID_BYTES	20	/* SHA-1, the longest that a perf.data has room for */

/**
 * struct mapped_facts - what the dump has of a file
 * @path: NUL-terminated, any other bytes; NULL: it has none any more.
 * @size_bytes, @mtime_s: of its inode.
 * @head: its first @head_bytes bytes as they were in memory; 0: there are none.
 * @head_lost: they may have been in the memory of a process, and the dump lacks it.
 */
struct mapped_facts {
	const char *path;
	uint64_t size_bytes;
	int64_t mtime_s;
	uint8_t head[MAPPED_HEAD_BYTES];
	size_t head_bytes;
	bool head_lost;
};

/**
 * struct mapped - one file
 * @by_time: it is the same by size and time, for lack of a build-id in the dump.
 * @headless: neither the dump nor a file here has its beginning.
 * @machine: for which processor, EM_X86_64 or EM_386; EM_NONE: no ELF file, or @headless.
 * @symbols: NULL: none.
 * @fd: the file itself; -1: not at hand.
 * @build_id_bytes: of @build_id; 0: neither the dump nor a file that is proven to be the same has
 *	one, or it is too long.
 * @nomem: there was no memory for all of the symbols.
 */
struct mapped {
	enum mapped_why why;
	bool by_time;
	bool headless;
	uint16_t machine;
	struct symbol_table *symbols;
	int fd;
	uint8_t build_id[MAPPED_BUILD_ID_BYTES];
	size_t build_id_bytes;
	bool nomem;
	size_t nr_segments;
	struct elffile_segment segments[MAPPED_MAX_SEGMENTS];
};

/**
 * mapped_init() - look the file up on this machine
 * @sysroot: folder below which @facts->path is looked for.
 * @debuginfo: folder with debug files by build-id.
 *
 * A file with another build-id is not used.  Where the beginning of the file is not
 * in the dump, its size and the time of its last change decide.
 */
void mapped_init(struct mapped *mapped, struct mapped_facts *facts, const char *sysroot,
		 const char *debuginfo);

/**
 * mapped_init_image() - an ELF image that the dump has as a whole, such as the vDSO
 * @bytes: @nr_bytes, any.
 */
void mapped_init_image(struct mapped *mapped, void *bytes, size_t nr_bytes);

/** mapped_fini() - free what was allocated */
void mapped_fini(struct mapped *mapped);

/** mapped_drop_file() - close the file; the symbols stay */
void mapped_drop_file(struct mapped *mapped);

/** mapped_linked() - where @offset_bytes of the file is, as it was linked; false: not known */
bool mapped_linked(const struct mapped *mapped, uint64_t offset_bytes, uint64_t *ret_address);

/**
 * mapped_find() - the symbol at @offset_bytes of the file; as symbol_table_find() if @raw, else
 * as symbol_table_function()
 */
bool mapped_find(const struct mapped *mapped, uint64_t offset_bytes, bool raw,
		 const char **ret_name,
		 size_t *ret_name_bytes, uint64_t *ret_offset_bytes);

/** mapped_read() - bytes of the file, if it is the same; returns how many */
size_t mapped_read(const struct mapped *mapped, uint64_t offset_bytes, void *buf,
		   size_t len_bytes);

#endif /* BTSREC_MAPPED_H */
