/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User addresses: from a page table to its process, from there to what was mapped,
 * from a mapped file to its symbols and its code.  Everything is read when it is
 * first needed, and kept.
 */
#ifndef BTSREC_USER_H
#define BTSREC_USER_H

#include "code/code.h"
#include "kernel/kread.h"
#include "kernel/layout.h"
#include "kernel/tasks.h"
#include "symbols/symbol.h"

/**
 * struct user_source - what is needed
 * @kread: borrowed.
 * @root: borrowed.
 * @btf: the kernel's; borrowed.
 * @init_task_kva: 0: not known.
 * @no_files: what is mapped from which file is not looked at.
 * @is_kept: what is read is kept for readers that may ask of one process alone.
 * @sysroot, @debuginfo: folders, see mapped_init(); borrowed.
 */
struct user_source {
	const struct kread *kread;
	const struct btsrec_root *root;
	struct layout_btf *btf;
	uint64_t init_task_kva;
	bool no_files;
	bool is_kept;
	const char *sysroot;
	const char *debuginfo;
};

struct user;

/** user_new() - nothing is read yet; for user_free(); NULL: out of memory */
struct user *user_new(const struct user_source *source);

/** user_free() - NULL is allowed */
void user_free(struct user *user);

/**
 * user_missing() - why no user address can be named
 *
 * Return: a phrase, valid until user_free(); NULL: they can.
 */
const char *user_missing(struct user *user);

/**
 * user_space_lost() - is the page table @side->cr3 another process's by now?
 * @end_tsc: when @side ran last.
 *
 * Return: false also if that is not known.
 */
bool user_space_lost(struct user *user, const struct btsrec_side *side, uint64_t end_tsc);

/**
 * user_find() - name @va in the address space @cr3
 * @raw: as symbol_find_as().
 *
 * Return: why it has no symbol, or SYMBOL_NAMED; *@ret has a module, and is filled, if
 * at least what is mapped there is known.
 */
enum symbol_why user_find(struct user *user, uint64_t cr3, uint64_t va, bool raw,
			   struct symbol_name *ret);

/**
 * user_code() - what is mapped at @va, from a file that is the same
 *
 * Return: how many leading bytes of @buf are valid.
 */
size_t user_code(struct user *user, uint64_t cr3, uint64_t va, void *buf, size_t len_bytes);

/** user_is_made() - is code at @va in no file: a program's own, as that of a JIT? */
bool user_is_made(struct user *user, uint64_t cr3, uint64_t va);

/** user_thread() - as tasks_thread() */
bool user_thread(struct user *user, uint32_t pid, struct tasks_thread *ret);

/** user_thread_at() - as tasks_thread_at() */
enum tasks_found user_thread_at(struct user *user, uint64_t task_kva, struct tasks_thread *ret);

/** user_sleepers() - as tasks_sleepers() */
void user_sleepers(struct user *user, bool (*visit)(void *arg, const struct tasks_thread *thread),
		   void *arg);

/**
 * user_mode() - in which mode the code at @va ran
 *
 * A file says for which processor it is; one without its beginning is taken for one
 * of the same kind as the vDSO.  Code in no file, or in one that is no ELF file, is
 * 32-bit code if the vDSO is; a 64-bit process may well have both.
 */
enum code_mode user_mode(struct user *user, uint64_t cr3, uint64_t va);

/**
 * struct user_mapping - what is mapped from one file
 * @start, @end: user addresses, @end after the last byte.
 * @offset_bytes: of @start in the file.
 * @path: escaped, as symbol_name.module; NUL-terminated.
 * @build_id: @build_id_bytes of it, 1 to 20.
 */
struct user_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset_bytes;
	const char *path;
	const uint8_t *build_id;
	size_t build_id_bytes;
};

/**
 * user_mapping() - the mapping that holds @va in the address space @cr3
 * @ret: texts are valid until user_free().
 *
 * Return: false: no file is mapped there, or its build-id is not known; the vDSO is no file.
 */
bool user_mapping(struct user *user, uint64_t cr3, uint64_t va, struct user_mapping *ret);

/**
 * struct user_linked - a place in a mapped file
 * @file: stands for the file, the same for all places in it.
 * @name: escaped, as symbol_name.module; NUL-terminated.
 * @why: SYMBOL_NAMED: it is proven which file it is; else why not.
 * @placed: @address is known: where it was linked to be.
 * @fd: the file itself, to be borrowed; -1: not at hand.
 * @build_id: @build_id_bytes of it; 0: not known.
 */
struct user_linked {
	const void *file;
	const char *name;
	enum symbol_why why;
	bool placed;
	uint64_t address;
	int fd;
	const uint8_t *build_id;
	size_t build_id_bytes;
};

/**
 * user_linked() - the place in a file that is mapped at @va in the address space @cr3
 * @ret: texts and bytes are valid until user_free().
 *
 * Return: false: no file is known to be mapped there.
 */
bool user_linked(struct user *user, uint64_t cr3, uint64_t va, struct user_linked *ret);

#endif /* BTSREC_USER_H */
