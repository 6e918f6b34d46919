// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* How many names a member has had. */
#define NR_PATHS	3

/** struct member - one member; @paths by age of the kernel, NULL after the last */
struct member {
	const char *type;
	const char *paths[NR_PATHS];
};

static const struct member members[NR_LAYOUT_MEMBERS] = {
	[TASK_TASKS]		= { "task_struct", { "tasks.next" } },
	[TASK_MM]		= { "task_struct", { "mm" } },
	[TASK_PID]		= { "task_struct", { "pid" } },
	[TASK_TGID]		= { "task_struct", { "tgid" } },
	[TASK_SIGNAL]		= { "task_struct", { "signal" } },
	[TASK_THREAD_NODE]	= { "task_struct", { "thread_node.next" } },
	[SIGNAL_THREAD_HEAD]	= { "signal_struct", { "thread_head.next" } },
	[MM_MA_ROOT]		= { "mm_struct", { "mm_mt.ma_root" } },
	[MM_PGD]		= { "mm_struct", { "pgd" } },
	[MM_START_BRK]		= { "mm_struct", { "start_brk" } },
	[MM_BRK]		= { "mm_struct", { "brk" } },
	[MM_START_STACK]	= { "mm_struct", { "start_stack" } },
	[MM_VDSO]		= { "mm_struct", { "context.vdso" } },
	[MM_VDSO_IMAGE]		= { "mm_struct", { "context.vdso_image" } },
	[VDSO_DATA]		= { "vdso_image", { "data" } },
	[VDSO_SIZE]		= { "vdso_image", { "size" } },
	[VMA_START]		= { "vm_area_struct", { "vm_start" } },
	[VMA_END]		= { "vm_area_struct", { "vm_end" } },
	[VMA_MM]		= { "vm_area_struct", { "vm_mm" } },
	[VMA_PGOFF]		= { "vm_area_struct", { "vm_pgoff" } },
	[VMA_FILE]		= { "vm_area_struct", { "vm_file" } },
	[RANGE_PIVOT]		= { "maple_range_64", { "pivot" } },
	[RANGE_SLOT]		= { "maple_range_64", { "slot" } },
	[RANGE_END]		= { "maple_range_64", { "meta.end" } },
	[ARANGE_PIVOT]		= { "maple_arange_64", { "pivot" } },
	[ARANGE_SLOT]		= { "maple_arange_64", { "slot" } },
	[ARANGE_END]		= { "maple_arange_64", { "meta.end" } },
	[FILE_MNT]		= { "file", { "f_path.mnt" } },
	[FILE_DENTRY]		= { "file", { "f_path.dentry" } },
	[FILE_INODE]		= { "file", { "f_inode" } },
	[DENTRY_PARENT]		= { "dentry", { "d_parent" } },
	[DENTRY_NAME_LEN]	= { "dentry", { "d_name.len" } },
	[DENTRY_NAME]		= { "dentry", { "d_name.name" } },
	[DENTRY_HASH_PPREV]	= { "dentry", { "d_hash.pprev" } },
	[VFSMOUNT_ROOT]		= { "vfsmount", { "mnt_root" } },
	[MOUNT_MNT]		= { "mount", { "mnt" } },
	[MOUNT_PARENT]		= { "mount", { "mnt_parent" } },
	[MOUNT_MOUNTPOINT]	= { "mount", { "mnt_mountpoint" } },
	[INODE_SIZE]		= { "inode", { "i_size" } },
	/* Up to v6.6; to v6.10; since v6.11 (struct inode in include/linux/fs.h). */
	[INODE_MTIME_SEC]	= { "inode", { "i_mtime.tv_sec", "__i_mtime.tv_sec",
					       "i_mtime_sec" } },
};

static bool member_init(const struct types *types, uint32_t id, const struct member *member,
			struct types_field *ret)
{
	for (unsigned int i = 0; i < NR_PATHS && member->paths[i]; i++)
		if (types_member(types, id, member->paths[i], ret))
			return true;
	return false;
}

/* NULL with *@ret filled, or why not. */
static const char *read_types(const struct kread *kernel, uint64_t btf_kva, uint64_t nr_bytes,
			      struct types **ret)
{
	_cleanup_free_ void *btf = malloc(nr_bytes);

	if (!btf) {
		kread_nomem(kernel);
		return "out of memory";
	}
	if (!kread(kernel, btf_kva, btf, nr_bytes))
		return "the kernel's BTF is not in the dump";
	errno = 0;
	*ret = types_new(btf, nr_bytes);
	if (!*ret && errno == ENOMEM)
		kread_nomem(kernel);
	return *ret ? NULL : "the kernel's BTF cannot be read";
}

static const char *try_types(struct layout_btf *btf)
{
	if (!btf->begin_kva || !btf->end_kva)
		return "kallsyms does not say where the kernel's BTF is";
	if (btf->end_kva <= btf->begin_kva || btf->end_kva - btf->begin_kva > TYPES_MAX_BYTES)
		return "the kernel's BTF has no size";
	return read_types(btf->kernel, btf->begin_kva, btf->end_kva - btf->begin_kva,
			  &btf->types);
}

const struct types *layout_types(struct layout_btf *btf, const char **ret_why)
{
	if (!btf->tried)
		btf->why = try_types(btf);
	btf->tried = true;
	if (ret_why)
		*ret_why = btf->why;
	return btf->types;
}

void layout_btf_fini(struct layout_btf *btf)
{
	types_free(btf->types);
	memset(btf, 0, sizeof(*btf));
}

const char *layout_init(const struct types *types, struct layout *ret)
{
	struct layout layout;
	uint32_t id = 0;

	for (unsigned int i = 0; i < NR_LAYOUT_MEMBERS; i++) {
		if (!i || strcmp(members[i].type, members[i - 1].type))
			id = types_struct(types, members[i].type);
		if (!member_init(types, id, &members[i], &layout.at[i]))
			return members[i].paths[0];
	}
	*ret = layout;
	return NULL;
}

bool layout_read(const struct layout *layout, const struct kread *kernel, uint64_t kva,
		 enum layout_member member, uint64_t *ret)
{
	const struct types_field *at = &layout->at[member];
	uint64_t value = 0;

	if (at->size_bytes > sizeof(value) ||
	    !kread(kernel, kva + at->offset_bytes, &value, at->size_bytes))
		return false;
	*ret = value;
	return true;
}
