// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "symbols/filestore.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char folder[] = "/tmp/btsrec-filestore-XXXXXX";

/* @path below the folder, for the rest of the test. */
static const char *in(const char *path)
{
	static char text[256];

	snprintf(text, sizeof(text), "%s/%s", folder, path);
	return text;
}

static void put(const char *path, const char *text)
{
	FILE *file = fopen(in(path), "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

/* A folder "root" to look in, and a file "secret" beside it. */
static void setup(void)
{
	strcpy(folder, "/tmp/btsrec-filestore-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(mkdir(in("root"), 0700), 0);
	ck_assert_int_eq(mkdir(in("root/.build-id"), 0700), 0);
	ck_assert_int_eq(mkdir(in("root/.build-id/ab"), 0700), 0);
	put("secret", "secret");
	put("root/file", "inside");
	put("root/.build-id/ab/cd0f.debug", "debug");
	unsetenv("DEBUGINFOD_URLS");
}

static void teardown(void)
{
	static const char *const paths[] = {
		"root/.build-id/ab/cd0f.debug", "root/.build-id/ab", "root/.build-id",
		"root/file", "root/link", "root/fifo", "root", "secret",
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		(void)remove(in(paths[i]));
	(void)rmdir(folder);
}

static char root_path[256];

static const char *root(void)
{
	snprintf(root_path, sizeof(root_path), "%s/root", folder);
	return root_path;
}

static void expect(int fd, const char *want)
{
	char text[16] = { 0 };

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(read(fd, text, sizeof(text) - 1), strlen(want));
	ck_assert_str_eq(text, want);
	close(fd);
}

START_TEST(a_file)
{
	setup();
	expect(filestore_open(root(), "/file"), "inside");
	expect(filestore_open(root(), "file"), "inside");
	expect(filestore_open(root(), "/.build-id/../file"), "inside");
	ck_assert_int_eq(filestore_open(root(), "/none"), -1);
	ck_assert_int_eq(filestore_open(root(), ""), -1);
	ck_assert_int_eq(filestore_open(in("none"), "/file"), -1);
	ck_assert_int_eq(filestore_open(in("secret"), "/file"), -1);
	teardown();
}
END_TEST

START_TEST(nothing_leads_out)
{
	setup();
	ck_assert_int_eq(filestore_open(root(), "../secret"), -1);
	ck_assert_int_eq(filestore_open(root(), "/../../../etc/passwd"), -1);
	ck_assert_int_eq(symlink("../secret", in("root/link")), 0);
	ck_assert_int_eq(filestore_open(root(), "/link"), -1);
	ck_assert_int_eq(unlink(in("root/link")), 0);
	ck_assert_int_eq(symlink("/file", in("root/link")), 0);
	expect(filestore_open(root(), "/link"), "inside");
	teardown();
}
END_TEST

/* An open of a FIFO would wait, and one of a device could do anything. */
START_TEST(only_regular_files)
{
	setup();
	ck_assert_int_eq(mkfifo(in("root/fifo"), 0600), 0);
	ck_assert_int_eq(filestore_open(root(), "/fifo"), -1);
	ck_assert_int_eq(filestore_open(root(), "/.build-id"), -1);
	ck_assert_int_eq(filestore_open("/dev", "null"), -1);
	ck_assert_int_eq(filestore_open("/proc", "self/fd/0"), -1);
	teardown();
}
END_TEST

/* /proc and /sys are below the root, but of no disk; the test's folder is. */
START_TEST(other_file_systems)
{
	setup();
	ck_assert_int_eq(filestore_open("/", "/proc/version"), -1);
	ck_assert_int_eq(filestore_open("/", "/proc/self/root/etc/passwd"), -1);
	ck_assert_int_eq(filestore_open("/", "/sys/kernel/uevent_seqnum"), -1);
	expect(filestore_open("/", in("root/file")), "inside");
	teardown();
}
END_TEST

/* Links that lead in a circle, that are chained, and beyond what there is. */
START_TEST(links)
{
	static char deep[3 * 4096];

	setup();
	ck_assert_int_eq(symlink("link", in("root/link")), 0);
	ck_assert_int_eq(filestore_open(root(), "/link"), -1);
	ck_assert_int_eq(unlink(in("root/link")), 0);
	ck_assert_int_eq(symlink(".build-id/ab", in("root/link")), 0);
	expect(filestore_open(root(), "link/../../file"), "inside");
	expect(filestore_open(root(), "//link/./cd0f.debug"), "debug");
	ck_assert_int_eq(filestore_open(root(), "link/cd0f.debug/"), -1);
	ck_assert_int_eq(filestore_open(root(), "link/cd0f.debug/x"), -1);
	memset(deep, '/', sizeof(deep) - 1);
	ck_assert_int_eq(filestore_open(root(), deep), -1);
	memset(deep, 'a', sizeof(deep) - 1);
	ck_assert_int_eq(filestore_open(root(), deep), -1);
	deep[300] = '\0';
	ck_assert_int_eq(filestore_open(root(), deep), -1);
	teardown();
}
END_TEST

/* As systemd 252 does it with RestrictSUIDSGID=. */
START_TEST(without_openat2)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	setup();
	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
	expect(filestore_open(root(), "/file"), "inside");
	ck_assert_int_eq(filestore_open(root(), "../secret"), -1);
	teardown();
}
END_TEST

static int next_debug(const char *folders, size_t build_id_bytes)
{
	static const uint8_t build_id[80] = { 0xab, 0xcd, 0x0f };
	struct filestore_debug search = { folders, build_id, build_id_bytes, false };

	return filestore_next_debug(&search);
}

START_TEST(by_build_id)
{
	setup();
	expect(next_debug(root(), 3), "debug");
	ck_assert_int_eq(next_debug(root(), 2), -1);
	ck_assert_int_eq(next_debug(root(), 1), -1);
	ck_assert_int_eq(next_debug(root(), 0), -1);
	ck_assert_int_eq(next_debug(root(), 64), -1);
	ck_assert_int_eq(next_debug(root(), 65), -1);
	/* What is no file is not opened: of this one nobody is going to write. */
	ck_assert_int_eq(unlink(in("root/.build-id/ab/cd0f.debug")), 0);
	ck_assert_int_eq(mkfifo(in("root/.build-id/ab/cd0f.debug"), 0600), 0);
	ck_assert_int_eq(next_debug(root(), 3), -1);
	teardown();
}
END_TEST

/* All that have it, one after the other; a name that is too long is none. */
START_TEST(in_several_folders)
{
	static const uint8_t build_id[3] = { 0xab, 0xcd, 0x0f };
	struct filestore_debug search = { NULL, build_id, sizeof(build_id), false };
	static char folders[2 * 4096];

	setup();
	snprintf(folders, sizeof(folders), "::/nowhere:%s:/:%s", root(), root());
	search.folders = folders;
	expect(filestore_next_debug(&search), "debug");
	expect(filestore_next_debug(&search), "debug");
	ck_assert_int_eq(filestore_next_debug(&search), -1);
	memset(folders, '/', 4096);
	snprintf(folders + 4096, 4096, ":%s", root());
	expect(next_debug(folders, 3), "debug");
	ck_assert_int_eq(next_debug("", 3), -1);
	ck_assert_int_eq(next_debug("/nowhere", 3), -1);
	teardown();
}
END_TEST

START_TEST(servers)
{
	unsetenv("DEBUGINFOD_URLS");
	ck_assert(!filestore_has_servers());
	setenv("DEBUGINFOD_URLS", "", 1);
	ck_assert(!filestore_has_servers());
	setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1/", 1);
	ck_assert(filestore_has_servers());
	unsetenv("DEBUGINFOD_URLS");
}
END_TEST

BTSREC_CK_MAIN("filestore", a_file, nothing_leads_out, only_regular_files, other_file_systems,
	       links, without_openat2, by_build_id, in_several_folders, servers)
