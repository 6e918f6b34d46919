/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the members of kernel structs are that lead from a task to its files, and
 * reading them.  Pure: types and kernel memory in, numbers out.
 */
#ifndef BTSREC_LAYOUT_H
#define BTSREC_LAYOUT_H

#include "kernel/kread.h"
#include "kernel/types.h"

/** enum layout_member - the members by struct, as named in layout.c */
enum layout_member {
	TASK_TASKS,
	TASK_MM,
	TASK_PID,
	TASK_TGID,
	TASK_SIGNAL,
	TASK_THREAD_NODE,
	SIGNAL_THREAD_HEAD,
	MM_MA_ROOT,
	MM_PGD,
	MM_START_BRK,
	MM_BRK,
	MM_START_STACK,
	MM_VDSO,
	MM_VDSO_IMAGE,
	VDSO_DATA,
	VDSO_SIZE,
	VMA_START,
	VMA_END,
	VMA_MM,
	VMA_PGOFF,
	VMA_FILE,
	RANGE_PIVOT,
	RANGE_SLOT,
	RANGE_END,
	ARANGE_PIVOT,
	ARANGE_SLOT,
	ARANGE_END,
	FILE_MNT,
	FILE_DENTRY,
	FILE_INODE,
	DENTRY_PARENT,
	DENTRY_NAME_LEN,
	DENTRY_NAME,
	DENTRY_HASH_PPREV,
	VFSMOUNT_ROOT,
	MOUNT_MNT,
	MOUNT_PARENT,
	MOUNT_MOUNTPOINT,
	INODE_SIZE,
	INODE_MTIME_SEC,
	NR_LAYOUT_MEMBERS,
};

/** struct layout - where each member is */
struct layout {
	struct types_field at[NR_LAYOUT_MEMBERS];
};

/**
 * struct layout_btf - the types of the kernel in the dump
 * @kernel: borrowed.
 * @begin_kva, @end_kva: where its BTF is; 0: not known.
 * The rest is layout_types()'s, and zero before.
 */
struct layout_btf {
	const struct kread *kernel;
	uint64_t begin_kva;
	uint64_t end_kva;
	bool tried;
	struct types *types;
	const char *why;
};

/**
 * layout_types() - the types, which are read when they are first asked for, and kept
 * @ret_why: why there are none, static, else NULL; NULL: not asked for.
 *
 * Return: valid until layout_btf_fini(), or NULL.
 */
const struct types *layout_types(struct layout_btf *btf, const char **ret_why);

/** layout_btf_fini() - free what layout_types() keeps */
void layout_btf_fini(struct layout_btf *btf);

/**
 * layout_init() - look all members up
 *
 * Linux 6.1 to 7.2; a member that has had several names is looked for under each.
 *
 * Return: NULL with *@ret filled; else the first member that is not there, static.
 */
const char *layout_init(const struct types *types, struct layout *ret);

/**
 * layout_read() - the member of the struct at @kva
 *
 * Return: false if it is not in the dump or no number of at most eight bytes.
 */
bool layout_read(const struct layout *layout, const struct kread *kernel, uint64_t kva,
		 enum layout_member member, uint64_t *ret);

#endif /* BTSREC_LAYOUT_H */
