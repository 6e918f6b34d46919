/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What elfutils cannot undo in every build: zstd, of a whole file (NAME.ko.zst) and of debug
 * sections.  gzip, bzip2 and xz it undoes itself.
 */
#ifndef BTSREC_ELF_UNPACK_H
#define BTSREC_ELF_UNPACK_H

#include <stdbool.h>

#include <libelf.h>

/**
 * elf_unpack() - the same file without zstd
 * @fd: taken over; of a regular file, or -1.
 *
 * What is damaged, or grows beyond 4 GiB, stays as it is.  Fields of the format: System V gABI,
 * "Compressed Sections"; magic number of a frame: RFC 8878.
 *
 * Return: a descriptor, the caller's: of a file in memory, or @fd.
 */
int elf_unpack(int fd);

/** elf_file_is_packed() - does the file begin as gzip, bzip2, xz or zstd write it? */
bool elf_file_is_packed(int fd);

/** elf_is_packed() - has @elf a section that neither elf_unpack() nor zlib could undo? */
bool elf_is_packed(Elf *elf);

#endif /* BTSREC_ELF_UNPACK_H */
