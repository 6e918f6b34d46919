// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/mapped.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/symbol_function.h"
#include "symbols/filestore.h"

/* Beyond any program; keeps the table of a file with odd segments small. */
#define IMAGE_MAX_BYTES	BOUND(2ULL << 30, 1ULL << 16)

/**
 * struct lookup - the files under consideration
 * @memory: the beginning, as in the dump.
 * @minidebug: what is packed in @file.
 */
struct lookup {
	struct elffile memory;
	struct elffile file;
	struct elffile debug;
	struct elffile minidebug;
	bool has_file;
	bool has_debug;
};

static void lookup_init(struct lookup *lookup, struct mapped_facts *facts)
{
	memset(lookup, 0, sizeof(*lookup));
	elffile_none(&lookup->file);
	elffile_none(&lookup->debug);
	elffile_none(&lookup->minidebug);
	if (!elffile_init_memory(&lookup->memory, facts->head, facts->head_bytes))
		elffile_fini(&lookup->memory);
}

static void lookup_fini(struct lookup *lookup)
{
	elffile_fini(&lookup->memory);
	elffile_fini(&lookup->file);
	elffile_fini(&lookup->debug);
	elffile_fini(&lookup->minidebug);
}

static bool same_size_and_time(const struct elffile *file, const struct mapped_facts *facts)
{
	struct stat stat;

	return !fstat(file->fd, &stat) && (uint64_t)stat.st_size == facts->size_bytes &&
	       stat.st_mtime == facts->mtime_s;
}

/* Is the file that was found under the path the one that was mapped? */
static enum mapped_why prove_file(const struct lookup *lookup, const struct mapped_facts *facts,
				  bool *ret_by_time)
{
	if (lookup->memory.build_id)
		return elffile_same(&lookup->memory, &lookup->file) ? MAPPED_OK : MAPPED_DIFFERS;
	if (same_size_and_time(&lookup->file, facts)) {
		*ret_by_time = true;
		return MAPPED_OK;
	}
	if (facts->head_bytes)
		return MAPPED_DIFFERS;
	return facts->head_lost ? MAPPED_EXCLUDED : MAPPED_UNPROVEN;
}

static enum mapped_why open_file(struct lookup *lookup, const struct mapped_facts *facts,
				 const char *sysroot, bool *ret_by_time)
{
	enum mapped_why why;
	struct msg msg;
	int fd = facts->path ? filestore_open(sysroot, facts->path) : -1;

	if (fd < 0)
		return MAPPED_NOT_FOUND;
	if (elffile_init(&lookup->file, &msg, fd))
		return MAPPED_DIFFERS;
	why = prove_file(lookup, facts, ret_by_time);
	lookup->has_file = !why;
	return why;
}

/* Which build it was, as the dump or, if proven, the file says; NULL: neither does. */
static const struct elffile *build_of(const struct lookup *lookup)
{
	if (lookup->memory.build_id)
		return &lookup->memory;
	return lookup->has_file && lookup->file.build_id ? &lookup->file : NULL;
}

static void take_build_id(struct mapped *mapped, const struct lookup *lookup)
{
	const struct elffile *of = build_of(lookup);

	if (!of || of->build_id_bytes > sizeof(mapped->build_id))
		return;
	mapped->build_id_bytes = of->build_id_bytes;
	memcpy(mapped->build_id, of->build_id, of->build_id_bytes);
}

/* Debug information of that build. */
static void open_debug(struct lookup *lookup, const char *debuginfo)
{
	const struct elffile *of = build_of(lookup);
	struct filestore_debug search = { .folders = debuginfo };
	struct msg msg;
	int fd;

	if (!of)
		return;
	search.build_id = of->build_id;
	search.build_id_bytes = of->build_id_bytes;
	while (!lookup->has_debug && (fd = filestore_next_debug(&search)) >= 0) {
		elffile_fini(&lookup->debug);
		lookup->has_debug = !elffile_init_packed(&lookup->debug, &msg, fd) &&
				    elffile_same(of, &lookup->debug);
	}
}

/* Of what was in memory, else of the file that is proven to be the same. */
static uint16_t machine_of(const struct lookup *lookup)
{
	uint16_t machine = elffile_machine(&lookup->memory);

	return machine == EM_NONE && lookup->has_file ? elffile_machine(&lookup->file) : machine;
}

/* --- Symbols ------------------------------------------------------------ */

static bool image_bounds(const struct mapped *mapped, uint64_t *ret_begin, uint64_t *ret_end)
{
	uint64_t begin = UINT64_MAX, end = 0;

	for (size_t i = 0; i < mapped->nr_segments; i++) {
		const struct elffile_segment *segment = &mapped->segments[i];

		if (begin > segment->va)
			begin = segment->va;
		if (end < segment->va + segment->nr_bytes)
			end = segment->va + segment->nr_bytes;
	}
	*ret_begin = begin;
	*ret_end = end;
	return begin < end && end - begin <= IMAGE_MAX_BYTES;
}

/* @more: another file with symbols of the same; NULL: none. */
static void take_symbols(struct mapped *mapped, const struct elffile *file, uint32_t type,
			 const struct elffile *more)
{
	struct symbol_list list = { 0 };
	uint64_t begin, end;

	if (mapped->symbols || !image_bounds(mapped, &begin, &end))
		return;
	mapped->nomem |= elffile_symbols(file, type, NULL, &list) == BTSREC_ERR_NOMEM ||
			 (more && elffile_symbols(more, SHT_SYMTAB, NULL, &list) ==
				  BTSREC_ERR_NOMEM) || !symbol_list_end(&list);
	if (list.nr_entries)
		mapped->symbols = symbol_table_new(&list, begin, end);
	mapped->nomem |= list.nr_entries && !mapped->symbols;
	symbol_list_fini(&list);
	if (mapped->symbols && !mapped->symbols->nr_symbols) {
		symbol_table_free(mapped->symbols);
		mapped->symbols = NULL;
	}
}

static void take_all(struct mapped *mapped, struct lookup *lookup)
{
	const struct elffile *shape = lookup->memory.elf ? &lookup->memory : &lookup->file;

	mapped->nr_segments = elffile_segments(shape, mapped->segments, MAPPED_MAX_SEGMENTS);
	if (lookup->has_debug)
		take_symbols(mapped, &lookup->debug, SHT_SYMTAB, NULL);
	if (lookup->has_file) {
		take_symbols(mapped, &lookup->file, SHT_SYMTAB, NULL);
		if (!mapped->symbols && elffile_init_minidebug(&lookup->minidebug, &lookup->file))
			take_symbols(mapped, &lookup->file, SHT_DYNSYM, &lookup->minidebug);
		take_symbols(mapped, &lookup->file, SHT_DYNSYM, NULL);
		mapped->fd = lookup->file.fd;
		lookup->file.fd = -1;
	}
	if (mapped->symbols)
		mapped->why = MAPPED_OK;
	else if (!mapped->why)
		mapped->why = MAPPED_STRIPPED;
}

/* --- Life --------------------------------------------------------------- */

void mapped_init(struct mapped *mapped, struct mapped_facts *facts, const char *sysroot,
		 const char *debuginfo)
{
	struct lookup lookup;

	memset(mapped, 0, sizeof(*mapped));
	mapped->fd = -1;
	lookup_init(&lookup, facts);
	mapped->why = open_file(&lookup, facts, sysroot, &mapped->by_time);
	mapped->headless = !facts->head_bytes && !lookup.has_file;
	mapped->machine = machine_of(&lookup);
	take_build_id(mapped, &lookup);
	open_debug(&lookup, debuginfo);
	if (lookup.has_file || lookup.has_debug)
		take_all(mapped, &lookup);
	lookup_fini(&lookup);
}

void mapped_init_image(struct mapped *mapped, void *bytes, size_t nr_bytes)
{
	struct elffile image;

	memset(mapped, 0, sizeof(*mapped));
	mapped->fd = -1;
	mapped->why = MAPPED_STRIPPED;
	elffile_none(&image);
	if (elf_version(EV_CURRENT) != EV_NONE)
		image.elf = elf_memory(bytes, nr_bytes);
	if (image.elf && elf_kind(image.elf) == ELF_K_ELF) {
		mapped->nr_segments = elffile_segments(&image, mapped->segments,
						       MAPPED_MAX_SEGMENTS);
		mapped->machine = elffile_machine(&image);
		take_symbols(mapped, &image, SHT_DYNSYM, NULL);
	}
	if (mapped->symbols)
		mapped->why = MAPPED_OK;
	elffile_fini(&image);
}

void mapped_drop_file(struct mapped *mapped)
{
	if (mapped->fd >= 0)
		close(mapped->fd);
	mapped->fd = -1;
}

void mapped_fini(struct mapped *mapped)
{
	symbol_table_free(mapped->symbols);
	mapped_drop_file(mapped);
	memset(mapped, 0, sizeof(*mapped));
	mapped->fd = -1;
}

/* --- Questions ---------------------------------------------------------- */

bool mapped_linked(const struct mapped *mapped, uint64_t offset_bytes, uint64_t *ret_address)
{
	for (size_t i = 0; i < mapped->nr_segments; i++) {
		const struct elffile_segment *segment = &mapped->segments[i];

		if (offset_bytes - segment->offset_bytes < segment->nr_bytes) {
			*ret_address = offset_bytes - segment->offset_bytes + segment->va;
			return true;
		}
	}
	return false;
}

bool mapped_find(const struct mapped *mapped, uint64_t offset_bytes, bool raw,
		 const char **ret_name, size_t *ret_name_bytes, uint64_t *ret_offset_bytes)
{
	typeof(&symbol_table_find) find = raw ? symbol_table_find : symbol_table_function;
	uint64_t address;

	return mapped->symbols && mapped_linked(mapped, offset_bytes, &address) &&
	       find(mapped->symbols, address, ret_name, ret_name_bytes, ret_offset_bytes);
}

size_t mapped_read(const struct mapped *mapped, uint64_t offset_bytes, void *buf,
		   size_t len_bytes)
{
	ssize_t nr_bytes;

	if (mapped->fd < 0 || offset_bytes > INT64_MAX)
		return 0;
	nr_bytes = pread(mapped->fd, buf, len_bytes, (off_t)offset_bytes);
	return nr_bytes > 0 ? (size_t)nr_bytes : 0;
}
