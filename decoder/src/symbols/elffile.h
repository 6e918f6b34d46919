/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file, or the beginning of one in memory: its build-id, where its segments
 * go, and its symbols.
 */
#ifndef BTSREC_ELFFILE_H
#define BTSREC_ELFFILE_H

#include <gelf.h>

#include "base/status.h"
#include "base/symbol_table.h"

/**
 * struct elffile - while it is read
 * @fd: owned; -1: none.
 * @build_id: @elf's; NULL: it has none.
 */
struct elffile {
	int fd;
	Elf *elf;
	const uint8_t *build_id;
	size_t build_id_bytes;
};

/** elffile_none() - no file, which elffile_fini() takes, too */
void elffile_none(struct elffile *file);

/**
 * elffile_init() - read the ELF file that is open as @fd
 * @fd: closed by elffile_fini(), also after a failure.  The file may be packed with gzip, bzip2
 *	or xz.
 *
 * Return: BTSREC_OK; BTSREC_ERR_CORRUPT; BTSREC_ERR_IO, with @msg set.
 */
enum btsrec_status elffile_init(struct elffile *file, struct msg *msg, int fd);

/** elffile_init_packed() - as elffile_init(), of a file that may be packed with zstd */
enum btsrec_status elffile_init_packed(struct elffile *file, struct msg *msg, int fd);

/**
 * elffile_init_minidebug() - the ELF file in section .gnu_debugdata of @of, packed with xz
 *
 * Distributions put symbols of functions there that .dynsym lacks ("MiniDebugInfo" in GDB's
 * manual).
 *
 * Return: false: there is none; elffile_fini() is allowed.
 */
bool elffile_init_minidebug(struct elffile *file, const struct elffile *of);

/**
 * elffile_init_memory() - read the beginning of an ELF file
 * @bytes: @nr_bytes of it, any bytes; changed, and borrowed until elffile_fini().
 *
 * Return: false: it is none.
 */
bool elffile_init_memory(struct elffile *file, void *bytes, size_t nr_bytes);

/** elffile_fini() - one that failed is allowed; none is left */
void elffile_fini(struct elffile *file);

/** elffile_machine() - e_machine of its header; EM_NONE: it has none */
uint16_t elffile_machine(const struct elffile *file);

/** elffile_same() - whether two files have a build-id and the same one */
bool elffile_same(const struct elffile *a, const struct elffile *b);

/**
 * struct elffile_segment - a part of a file that is loaded
 * @va: as linked.
 */
struct elffile_segment {
	uint64_t offset_bytes;
	uint64_t nr_bytes;
	uint64_t va;
};

/** elffile_segments() - the first @max of them into @ret; returns how many there are there */
size_t elffile_segments(const struct elffile *file, struct elffile_segment *ret, size_t max);

/** elffile_is_cut() - does the file end before its table of sections, or before a section, does? */
bool elffile_is_cut(const struct elffile *file);

/**
 * elffile_symbols() - functions and data of one symbol table
 * @type: SHT_SYMTAB or SHT_DYNSYM.
 * @wanted: NULL: all; else is asked for each name.
 * @list: names are @file's.
 *
 * Each symbol gets the letter that nm gives it, so that all sources rank alike.
 *
 * Return: BTSREC_OK; BTSREC_ERR_NO_SYMBOL: there is no such table; BTSREC_ERR_NOMEM.
 */
enum btsrec_status elffile_symbols(const struct elffile *file, uint32_t type,
				   bool (*wanted)(const char *name), struct symbol_list *list);

#endif /* BTSREC_ELFFILE_H */
