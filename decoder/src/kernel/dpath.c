// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/dpath.h"

#include <string.h>

/* NAME_MAX of include/uapi/linux/limits.h */
#define NAME_MAX_BYTES	255

/* More names than a path of DPATH_MAX_BYTES can have. */
#define MAX_STEPS	(DPATH_MAX_BYTES / 2)

/**
 * struct climb - on the way up
 * @mount_kva: struct mount, which has a struct vfsmount inside.
 * @at: what is there of the path begins here in @ret->text, which is filled from
 *	the end.
 */
struct climb {
	const struct kread *kread;
	const struct layout *layout;
	uint64_t mount_kva;
	uint64_t dentry_kva;
	size_t at;
	struct dpath *ret;
};

static bool climb_read(const struct climb *climb, uint64_t kva, enum layout_member member,
		       uint64_t *ret)
{
	return layout_read(climb->layout, climb->kread, kva, member, ret);
}

static bool prepend_name(struct climb *climb)
{
	uint64_t name_kva, nr_bytes;
	char *to;

	if (!climb_read(climb, climb->dentry_kva, DENTRY_NAME_LEN, &nr_bytes) ||
	    !climb_read(climb, climb->dentry_kva, DENTRY_NAME, &name_kva) ||
	    !nr_bytes || nr_bytes > NAME_MAX_BYTES || nr_bytes + 1 > climb->at)
		return false;
	climb->at -= nr_bytes;
	to = climb->ret->text + climb->at;
	if (!kread(climb->kread, name_kva, to, nr_bytes) || memchr(to, '\0', nr_bytes))
		return false;
	climb->ret->text[--climb->at] = '/';
	return true;
}

enum climb_result { CLIMB_ON, CLIMB_TOP, CLIMB_FAILED };

/* From the root of a mount to the place where it is mounted. */
static enum climb_result leave_mount(struct climb *climb)
{
	uint64_t parent_kva;

	if (!climb_read(climb, climb->mount_kva, MOUNT_PARENT, &parent_kva))
		return CLIMB_FAILED;
	if (parent_kva == climb->mount_kva)
		return CLIMB_TOP;
	if (!climb_read(climb, climb->mount_kva, MOUNT_MOUNTPOINT, &climb->dentry_kva))
		return CLIMB_FAILED;
	climb->mount_kva = parent_kva;
	return CLIMB_ON;
}

static enum climb_result climb_step(struct climb *climb)
{
	uint64_t mnt_kva = climb->mount_kva + climb->layout->at[MOUNT_MNT].offset_bytes;
	uint64_t root_kva, parent_kva;

	if (!climb_read(climb, mnt_kva, VFSMOUNT_ROOT, &root_kva))
		return CLIMB_FAILED;
	if (climb->dentry_kva == root_kva)
		return leave_mount(climb);
	if (!climb_read(climb, climb->dentry_kva, DENTRY_PARENT, &parent_kva) ||
	    !prepend_name(climb))
		return CLIMB_FAILED;
	/* A file that never was in a folder, such as those of memfd_create(). */
	if (parent_kva == climb->dentry_kva)
		return CLIMB_TOP;
	climb->dentry_kva = parent_kva;
	return CLIMB_ON;
}

/* d_unlinked(): not in the table of names any more. */
static bool read_deleted(struct climb *climb)
{
	uint64_t pprev_kva;

	if (!climb_read(climb, climb->dentry_kva, DENTRY_HASH_PPREV, &pprev_kva))
		return false;
	climb->ret->deleted = !pprev_kva;
	return true;
}

bool dpath_read(const struct kread *kernel, const struct layout *layout, uint64_t file_kva,
		struct dpath *ret)
{
	struct climb climb = { .kread = kernel, .layout = layout, .at = DPATH_MAX_BYTES - 1,
			       .ret = ret };
	enum climb_result result = CLIMB_ON;
	uint64_t mnt_kva;

	if (!climb_read(&climb, file_kva, FILE_MNT, &mnt_kva) ||
	    !climb_read(&climb, file_kva, FILE_DENTRY, &climb.dentry_kva) ||
	    !read_deleted(&climb))
		return false;
	climb.mount_kva = mnt_kva - layout->at[MOUNT_MNT].offset_bytes;
	ret->text[climb.at] = '\0';
	for (unsigned int i = 0; result == CLIMB_ON; i++)
		result = i < MAX_STEPS ? climb_step(&climb) : CLIMB_FAILED;
	if (result == CLIMB_FAILED || !ret->text[climb.at])
		return false;
	memmove(ret->text, ret->text + climb.at, DPATH_MAX_BYTES - climb.at);
	return true;
}
