/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Part of <btsrec/decoder.h>: the names and source lines of addresses. */
#ifndef BTSREC_SYMBOLS_H
#define BTSREC_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include <btsrec/abi.h>
#include <btsrec/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** struct btsrec_symbol - the name of an address */
struct btsrec_symbol {
	char name[256];		/* cut, NUL-terminated */
	char module[BTSREC_MODULE_NAME_BYTES];	/* empty: vmlinux */
	uint64_t offset_bytes;	/* address - start of the symbol */
};

/**
 * struct btsrec_resolver - the front end's own symbol lookup
 * @resolve: fill *@ret for @va, or BTSREC_ERR_NO_SYMBOL.
 * @find: where the one function called @name begins, in the module that has @near_va or in
 *	the kernel; BTSREC_ERR_NO_SYMBOL if there is none, or more.  NULL: parts that a
 *	compiler split off a function, F.cold, count from their own start.
 */
struct btsrec_resolver {
	enum btsrec_status (*resolve)(void *arg, uint64_t va,
				      struct btsrec_symbol *ret);
	enum btsrec_status (*find)(void *arg, uint64_t near_va, const char *name, uint64_t *ret_va);
	void *arg;
};

/** btsrec_set_resolver() - ask @resolver before any file given; copied. */
BTSREC_API void btsrec_set_resolver(struct btsrec *rec,
				    const struct btsrec_resolver *resolver);

/**
 * btsrec_set_dump_names() - are names taken from the dump itself? Yes, unless
 * this says otherwise.
 *
 * They are the kernel's kallsyms and those of its modules; read when the first
 * address is asked for that neither the resolver nor a file knows.
 */
BTSREC_API void btsrec_set_dump_names(struct btsrec *rec, bool wanted);

/**
 * btsrec_set_raw_names() - are addresses named by their symbols? No, unless this says so.
 *
 * A function may have several symbols that compilers and the linker make: __cfi_F and __pfx_F
 * in front of it, F.isra.0, F.constprop.0, F.part.0, F.cold and F.llvm.1 for clones and parts.
 * They all are F otherwise.  Calls, stacks and signatures do not depend on it.
 */
BTSREC_API void btsrec_set_raw_names(struct btsrec *rec, bool wanted);

/**
 * btsrec_set_files() - where the files are that processes had mapped
 * @sysroot: folder that stands for the root of the machine in the dump; NULL: "/".
 * @debuginfo: "DIR:DIR", folders with debug files by build-id; NULL: /usr/lib/debug.
 *
 * User addresses are named from these files and from what the dump has of each
 * process.  A file is used only if it is the one that was mapped.  It must have the
 * build-id that is in the dump.  Where the dump lacks that page, size and time of
 * last change must be the same.
 *
 * Return: BTSREC_OK; BTSREC_ERR_IO: one of the folders cannot be opened; BTSREC_ERR_NOMEM;
 * BTSREC_ERR_INVAL after the first user address has been asked for.
 */
BTSREC_API enum btsrec_status
btsrec_set_files(struct btsrec *rec, const char *sysroot, const char *debuginfo);

/**
 * btsrec_add_system_map() - kernel names from a System.map
 * btsrec_add_vmlinux() - kernel names from the symbol table of an ELF vmlinux
 *
 * Needs btsrec_locate() first: the KASLR shift is the root's symbol_kva less the
 * file's value of symbol_name, and a build-id that differs is refused.
 *
 * Return: BTSREC_OK; BTSREC_ERR_IO; BTSREC_ERR_MISMATCH (other build-id, or symbol_name
 * not in the file); BTSREC_ERR_CORRUPT (not an ELF, not a map); BTSREC_ERR_NOMEM;
 * BTSREC_ERR_INVAL before btsrec_locate().
 */
BTSREC_API enum btsrec_status
btsrec_add_system_map(struct btsrec *rec, const char *path);
BTSREC_API enum btsrec_status
btsrec_add_vmlinux(struct btsrec *rec, const char *path);

/**
 * btsrec_set_debuginfo() - where files with debug information are, for source lines
 * @vmlinux: the kernel's own, or NULL.
 * @folders: "DIR:DIR" with the debug files of kernel and modules as distributions lay
 *	them out, or by build-id; NULL: as before, at first "/usr/lib/debug".
 *
 * Strings are copied.  Nothing is opened before the first line is asked for; then
 * what the environment variable DEBUGINFOD_URLS names is asked, too.  A file with
 * another build-id than the dump says is not used, and views say so.
 *
 * Return: BTSREC_OK; BTSREC_ERR_NOMEM; BTSREC_ERR_INVAL: lines have been asked for.
 */
BTSREC_API enum btsrec_status
btsrec_set_debuginfo(struct btsrec *rec, const char *vmlinux, const char *folders);

/**
 * btsrec_resolve() - name @va: the front end's resolver, then files, then the
 * dump itself, then the module map (then name is empty and module says which)
 *
 * Return: BTSREC_OK or BTSREC_ERR_NO_SYMBOL; *@ret untouched on failure.
 */
BTSREC_API enum btsrec_status
btsrec_resolve(struct btsrec *rec, uint64_t va, struct btsrec_symbol *ret);

#ifdef __cplusplus
}
#endif

#endif /* BTSREC_SYMBOLS_H */
