// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What code would try that has taken over the decoder: each way out is a line of the output,
 * "NAME out" or "NAME refused REASON".  Run where nothing is refused it has to get out by each:
 * otherwise a refusal would say nothing.
 *
 * usage: escape FOLDER PID <FILE
 * FOLDER may be written to; PID is a process of the same user, in the unit the collector, which may
 * read any file; FILE is what the decoder reads.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *folder;
static pid_t other;

/* --- Systemd and what else listens ---------------------------------------- */

static bool run(const char *const *words)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		execv(words[0], (char *const *)words);
		_exit(127);
	}
	errno = EPERM;
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       !WEXITSTATUS(status);
}

static bool transient_unit(void)
{
	return run((const char *const[]){ "/usr/bin/systemd-run", "--quiet", "--wait",
					  "/usr/bin/touch", "/var/escaped", NULL });
}

static bool connect_to(const char *path, int type)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	return fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address));
}

static bool manager_socket(void)
{
	return connect_to("/run/systemd/private", SOCK_STREAM);
}

static bool message_bus(void)
{
	return connect_to("/run/dbus/system_bus_socket", SOCK_STREAM);
}

static bool udev_control(void)
{
	return connect_to("/run/udev/control", SOCK_SEQPACKET);
}

static bool journal_control(void)
{
	return connect_to("/run/systemd/journal/io.systemd.journal", SOCK_STREAM);
}

static bool internet(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) >= 0;
}

static bool netlink(void)
{
	return socket(AF_NETLINK, SOCK_RAW, 0) >= 0;
}

static bool packets(void)
{
	return socket(AF_PACKET, SOCK_RAW, 0) >= 0;
}

/* --- Devices -------------------------------------------------------------- */

static bool opens(const char *path, int flags)
{
	return open(path, flags | O_CLOEXEC | O_NONBLOCK, 0600) >= 0;
}

static bool disk(void)
{
	return opens("/dev/vda", O_RDONLY);
}

static bool memory(void)
{
	return opens("/dev/mem", O_RDONLY);
}

static bool kernel_log(void)
{
	return opens("/dev/kmsg", O_RDONLY);
}

static bool terminal(void)
{
	return opens("/dev/ttyS0", O_WRONLY | O_NOCTTY);
}

/* The disk under another name. */
static bool own_device(void)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/device", folder);
	unlink(path);
	if (mknod(path, S_IFBLK | 0600, makedev(254, 0)))
		return false;
	return opens(path, O_RDONLY) || errno == ENXIO;
}

/* --- Other processes ------------------------------------------------------ */

static bool trace(void)
{
	if (ptrace(PTRACE_ATTACH, other, NULL, NULL))
		return false;
	waitpid(other, NULL, __WALL);
	ptrace(PTRACE_DETACH, other, NULL, NULL);
	return true;
}

static bool memory_of_other(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", other);
	return opens(path, O_RDWR);
}

static bool memory_by_call(void)
{
	char byte;
	struct iovec here = { &byte, 1 }, there = { (void *)0x400000, 1 };

	return process_vm_readv(other, &here, 1, &there, 1, 0) == 1 || errno == EFAULT;
}

static bool signal_manager(void)
{
	return !kill(1, 0);
}

/* --- Keyrings ------------------------------------------------------------- */

static bool session_key(void)
{
	return syscall(SYS_add_key, "user", "escape", "x", 1, KEY_SPEC_SESSION_KEYRING) >= 0;
}

static bool user_keyring(void)
{
	return syscall(SYS_keyctl, KEYCTL_LINK, KEY_SPEC_USER_KEYRING,
		       KEY_SPEC_PROCESS_KEYRING) >= 0;
}

/* --- Files ---------------------------------------------------------------- */

static bool shadow(void)
{
	return opens("/etc/shadow", O_RDONLY);
}

static bool write_etc(void)
{
	return opens("/etc/escaped", O_WRONLY | O_CREAT);
}

static bool write_hooks(void)
{
	return opens("/etc/btsrec/report.d/escaped", O_WRONLY | O_CREAT);
}

static bool write_state(void)
{
	return opens("/var/lib/btsrec/escaped", O_WRONLY | O_CREAT);
}

static bool write_crash(void)
{
	return opens("/var/crash/escaped", O_WRONLY | O_CREAT);
}

static bool write_dump(void)
{
	return opens("/proc/self/fd/0", O_WRONLY | O_APPEND);
}

/* Past what is mounted read-only: from a folder of the same disk that may be written to. */
static bool write_by_handle(void)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} file = { .handle.handle_bytes = MAX_HANDLE_SZ };
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), mount_id;

	return fd >= 0 && !name_to_handle_at(AT_FDCWD, "/etc/hostname", &file.handle, &mount_id, 0) &&
	       open_by_handle_at(fd, &file.handle, O_WRONLY | O_APPEND) >= 0;
}

static bool remount(void)
{
	return !mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL);
}

/* --- Rights and limits ---------------------------------------------------- */

static bool new_privileges(void)
{
	return !prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
}

static bool become_root(void)
{
	return !getuid() || !setuid(0);
}

static bool namespaces(void)
{
	return !unshare(CLONE_NEWUSER | CLONE_NEWNS);
}

static bool writable_code(void)
{
	return mmap(NULL, 4096, PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	       MAP_FAILED;
}

static bool io_uring(void)
{
	char parameters[120] = { 0 };

	return syscall(SYS_io_uring_setup, 1, parameters) >= 0;
}

static bool bpf(void)
{
	/* A map of one byte. */
	unsigned int attributes[32] = { 2, 4, 1, 1 };

	return syscall(SYS_bpf, 0, attributes, sizeof(attributes)) >= 0;
}

/* More than the collector and a decoder with all its threads need. */
static bool many_processes(void)
{
	int nr = 0;
	pid_t pid;

	while (nr < 200 && (pid = fork()) >= 0) {
		if (!pid)
			pause();
		nr++;
	}
	pid = nr < 200 ? -1 : 0;
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	errno = EAGAIN;
	return !pid;
}

static bool huge_file(void)
{
	char path[256];
	int fd;

	signal(SIGXFSZ, SIG_IGN);
	snprintf(path, sizeof(path), "%s/huge", folder);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	unlink(path);
	return fd >= 0 && !ftruncate(fd, (off_t)1 << 40);
}

static bool core_file(void)
{
	struct rlimit limit;

	errno = EPERM;
	return !getrlimit(RLIMIT_CORE, &limit) && limit.rlim_max;
}

#define WAY(name) { #name, name }

static const struct {
	const char *name;
	bool (*gets_out)(void);
} ways[] = {
	WAY(transient_unit), WAY(manager_socket), WAY(message_bus), WAY(udev_control),
	WAY(journal_control), WAY(internet), WAY(netlink), WAY(packets),
	WAY(disk), WAY(memory), WAY(kernel_log), WAY(terminal), WAY(own_device),
	WAY(trace), WAY(memory_of_other), WAY(memory_by_call), WAY(signal_manager),
	WAY(session_key), WAY(user_keyring),
	WAY(shadow), WAY(write_etc), WAY(write_hooks), WAY(write_state), WAY(write_crash),
	WAY(write_dump), WAY(write_by_handle), WAY(remount),
	WAY(new_privileges), WAY(become_root), WAY(namespaces), WAY(writable_code), WAY(io_uring),
	WAY(bpf), WAY(many_processes), WAY(huge_file), WAY(core_file),
};

/* In a process of its own, for what is killed by its way. */
static void try(const char *name, bool (*gets_out)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		setpgid(0, 0);
		errno = 0;
		if (gets_out())
			printf("%s out\n", name);
		else
			printf("%s refused %s\n", name, strerror(errno));
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		printf("%s refused %s\n", name, strsignal(WTERMSIG(status)));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	folder = argv[1];
	other = atoi(argv[2]);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		try(ways[i].name, ways[i].gets_out);
	return 0;
}
