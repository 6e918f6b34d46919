// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "kernel/dpath.h"
#include "userkernel.h"

#define FILE_KVA	UK_KVA(UK_FILE_PA)

static struct uk uk;
static struct dpath path;

static struct uk_dentry *dentry(unsigned int i)
{
	return uk_at(&uk, UK_DENTRY_PA + 64 * i);
}

static uint64_t dentry_kva(unsigned int i)
{
	return UK_KVA(UK_DENTRY_PA + 64 * i);
}

static struct uk_mount *mount_at(uint64_t pa)
{
	return uk_at(&uk, pa);
}

static bool read_path(void)
{
	memset(&path, DIRT, sizeof(path));
	return dpath_read(&uk.kread, &uk_layout, FILE_KVA, &path);
}

static void expect(const char *text)
{
	ck_assert(read_path());
	ck_assert_str_eq(path.text, text);
}

START_TEST(over_a_mount)
{
	uk_init(&uk);
	expect(UK_PATH);
	ck_assert(!path.deleted);
}
END_TEST

START_TEST(deleted)
{
	uk_init(&uk);
	dentry(0)->d_hash.pprev = 0;
	expect(UK_PATH);
	ck_assert(path.deleted);
}
END_TEST

/* A file of memfd_create(): its dentry is its own parent, and no root of a mount. */
START_TEST(in_no_folder)
{
	uk_init(&uk);
	uk_put_dentry(&uk, 0, "memfd:x", dentry_kva(0));
	expect("/memfd:x");
}
END_TEST

/* Printing escapes them; here they are what they are. */
START_TEST(names_of_any_bytes)
{
	uk_init(&uk);
	uk_put_dentry(&uk, 0, "\x1b[2J\n\xff", dentry_kva(1));
	expect("/usr/bin/\x1b[2J\n\xff");
}
END_TEST

START_TEST(names_that_are_none)
{
	uk_init(&uk);
	dentry(0)->d_name.len = 0;
	ck_assert(!read_path());
	dentry(0)->d_name.len = 5;	/* with the NUL after it */
	ck_assert(!read_path());
	memset(uk_at(&uk, UK_NAMES_PA), 'x', 256);
	dentry(0)->d_name.len = 256;
	ck_assert(!read_path());
	dentry(0)->d_name.len = 0xffffffff;
	ck_assert(!read_path());
	dentry(0)->d_name.len = 255;
	ck_assert(read_path());
	ck_assert_uint_eq(strlen(path.text), strlen("/usr/bin/") + 255);
}
END_TEST

START_TEST(a_path_as_long_as_can_be)
{
	uk_init(&uk);
	/* Sixteen folders of 255 bytes are 4096; the last byte is for the NUL. */
	for (unsigned int i = 0; i < 16; i++) {
		uint64_t pa = 0xf000 + 64 * i;
		struct uk_dentry *folder = uk_at(&uk, pa);

		folder->d_parent = i < 15 ? UK_KVA(pa + 64) : UK_KVA(pa);
		folder->d_name.len = i ? 255 : 254;
		folder->d_name.name = UK_KVA(UK_NAMES_PA);
	}
	memset(uk_at(&uk, UK_NAMES_PA), 'n', 256);
	((struct uk_file *)uk_at(&uk, UK_FILE_PA))->f_path.dentry = UK_KVA(0xf000);
	ck_assert(read_path());
	ck_assert_uint_eq(strlen(path.text), DPATH_MAX_BYTES - 1);
	((struct uk_dentry *)uk_at(&uk, 0xf000))->d_name.len = 255;
	ck_assert(!read_path());
}
END_TEST

START_TEST(ways_that_do_not_end)
{
	uk_init(&uk);
	dentry(1)->d_parent = dentry_kva(0);
	ck_assert(!read_path());
	uk_init(&uk);	/* each mount on the other's root: no names at all */
	mount_at(UK_ROOTMOUNT_PA)->mnt_parent = UK_KVA(UK_MOUNT_PA);
	mount_at(UK_ROOTMOUNT_PA)->mnt_mountpoint = dentry_kva(2);
	mount_at(UK_MOUNT_PA)->mnt_mountpoint = dentry_kva(4);
	ck_assert(!read_path());
}
END_TEST

START_TEST(the_root_itself)
{
	uk_init(&uk);
	((struct uk_file *)uk_at(&uk, UK_FILE_PA))->f_path = (struct uk_path){
		UK_KVA(UK_ROOTMOUNT_PA) + offsetof(struct uk_mount, mnt), dentry_kva(4),
	};
	ck_assert(!read_path());
}
END_TEST

START_TEST(parts_that_are_not_in_the_dump)
{
	static const uint64_t holes_pa[] = { UK_FILE_PA, UK_NAMES_PA };

	for (unsigned int i = 0; i < 2; i++) {
		uk_init(&uk);
		uk.hole_pa = holes_pa[i];
		ck_assert(!read_path());
	}
	uk_init(&uk);
	((struct uk_file *)uk_at(&uk, UK_FILE_PA))->f_path.dentry = UK_KVA(UK_BYTES);
	ck_assert(!read_path());
	uk_init(&uk);
	dentry(1)->d_parent = UK_KVA(UK_BYTES);
	ck_assert(!read_path());
	uk_init(&uk);
	mount_at(UK_MOUNT_PA)->mnt_parent = UK_KVA(UK_BYTES);
	ck_assert(!read_path());
	uk_init(&uk);
	((struct uk_file *)uk_at(&uk, UK_FILE_PA))->f_path.mnt = UK_KVA(UK_BYTES) + 0x100;
	ck_assert(!read_path());
}
END_TEST

BTSREC_CK_MAIN("dpath", over_a_mount, deleted, in_no_folder, names_of_any_bytes,
	       names_that_are_none, a_path_as_long_as_can_be, ways_that_do_not_end,
	       the_root_itself, parts_that_are_not_in_the_dump)
