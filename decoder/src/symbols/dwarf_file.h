/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines of one file with debug information: an executable, a kernel module,
 * or the separate debug file of either.  The only part that knows elfutils.
 *
 * Addresses here are those of the file.  The sections of a module, which has none
 * before it is loaded, are laid out one after the other.
 */
#ifndef BTSREC_DWARF_FILE_H
#define BTSREC_DWARF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** enum dwarf_fault - why a file is of no use; the later the nearer to what is wanted */
enum dwarf_fault {
	DWARF_OK,
	DWARF_NO_MEMORY,
	DWARF_NO_FILE,		/* missing, or may not be read */
	DWARF_NO_ELF,		/* something else than an ELF file */
	DWARF_OTHER_BUILD,	/* it has another build-id, or none */
	DWARF_PACKED,		/* it is compressed, and nothing here undoes that */
	DWARF_NO_LINES,		/* no debug information in it, nor beside it */
};

/** dwarf_fault_str() - the fault as a phrase; static. */
const char *dwarf_fault_str(enum dwarf_fault fault);

/**
 * struct dwarf_build_id - the build-id of what ran
 * @nr_bytes: 0: not known, then no file is refused for its own.
 */
struct dwarf_build_id {
	const uint8_t *bytes;
	size_t nr_bytes;
};

struct dwarf_file;

/**
 * dwarf_file_open() - the file at @path, if it is the one that ran
 * @debug_path: where separate debug files are, "DIR:DIR"; borrowed, must live as long.
 * @ret: for dwarf_file_close(); untouched on failure.
 */
enum dwarf_fault dwarf_file_open(const char *path, const struct dwarf_build_id *id,
				 char *debug_path, struct dwarf_file **ret);

/**
 * dwarf_file_open_fd() - dwarf_file_open() of a file that is open
 * @fd: closed with the file, and also on failure.
 */
enum dwarf_fault dwarf_file_open_fd(int fd, const struct dwarf_build_id *id, char *debug_path,
				    struct dwarf_file **ret);

/** dwarf_file_bias() - what addresses here are above those that the file was linked for */
uint64_t dwarf_file_bias(const struct dwarf_file *file);

/**
 * dwarf_file_find() - the debug file with this build-id, wherever it is
 * @debug_path: folders that are looked at for .build-id/xx/yyyy.debug; then the servers that
 *	DEBUGINFOD_URLS names, which may take long.
 */
enum dwarf_fault dwarf_file_find(const struct dwarf_build_id *id, char *debug_path,
				 struct dwarf_file **ret);

/** dwarf_file_close() - NULL is allowed */
void dwarf_file_close(struct dwarf_file *file);

/**
 * dwarf_symbol_fn - receives one function or label
 * @section: where it is; @begin, @end: of the section.
 *
 * Return: false to stop.
 */
typedef bool (*dwarf_symbol_fn)(void *arg, const char *name, uint64_t address, size_t section,
				uint64_t begin, uint64_t end);

/** dwarf_file_symbols() - all symbols in sections with code */
void dwarf_file_symbols(struct dwarf_file *file, dwarf_symbol_fn fn, void *arg);

/**
 * dwarf_file_line() - the line that the instruction at @address was made from
 * @ret_file: as the compiler noted it; hostile text, valid until the file is closed.
 *
 * Inlined code gives the line where it is written, not the line that it was called
 * from, as addr2line without -i does.
 *
 * Return: false if the file does not say.
 */
bool dwarf_file_line(struct dwarf_file *file, uint64_t address, const char **ret_file,
		     unsigned int *ret_line);

/**
 * struct dwarf_inlined - a call that the compiler replaced by the code of the function
 * @function: hostile text; @file, @line: where the call is written.  The texts are valid until the
 *	file is closed.
 */
struct dwarf_inlined {
	const char *function;
	const char *file;
	unsigned int line;
};

/**
 * dwarf_file_inlined() - the functions that the instruction at @address was inlined from
 * @ret: at most @max of them, the innermost first.
 *
 * Return: how many; 0: it stands in the function itself, or the file does not say.
 */
size_t dwarf_file_inlined(struct dwarf_file *file, uint64_t address, struct dwarf_inlined *ret,
			  size_t max);

#endif /* BTSREC_DWARF_FILE_H */
