// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * failnth: an action in which one allocation of this thread fails: the first, then the second,
 * until it needs fewer (the kernel's Documentation/fault-injection, "fail-nth").
 *
 *   failnth ACTION MOST
 *
 * ACTION is load, arm, disarm, read or mark. After MOST failures each other allocation is left
 * out, after as many again three of four, and so on. What must hold after each failure is in
 * "actions" below; else it says what did not, and exits with status 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEVICE		"/dev/btsrec"
#define MODULE		"/modules/btsrec.ko"
#define PARAMETERS	"/sys/module/"
#define KLOG_READ_CLEAR	4
#define MAX_BYTES	(1 << 16)

static const char *name;
static unsigned int nth;
static int err;			/* of the action */
static bool device_open;	/* the last command came to it */
static int nth_fd;
static int module_fd;
static const char *load_parameters;
static char log_text[MAX_BYTES];
static char before[MAX_BYTES];

static void die(const char *fmt, ...)
{
	va_list list;

	va_start(list, fmt);
	printf("failnth: %s, allocation %u, %s: ", name, nth, strerror(err));
	vprintf(fmt, list);
	printf("\n%s\n", log_text);
	va_end(list);
	exit(1);
}

static void write_text(int fd, const char *path, const char *text)
{
	if (fd < 0 || pwrite(fd, text, strlen(text), 0) < 0)
		die("%s: %s", path, strerror(errno));
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	write_text(fd, path, text);
	close(fd);
}

/* Appends a file to @text; its errno. */
static int take(const char *path, char *text)
{
	int fd = open(path, O_RDONLY), error = errno;
	ssize_t nr_bytes = 1;

	if (fd < 0)
		return error;
	text += strlen(text);
	while (nr_bytes > 0) {
		nr_bytes = read(fd, text, 4096);
		error = nr_bytes < 0 ? errno : 0;
		text += nr_bytes > 0 ? nr_bytes : 0;
		*text = '\0';
	}
	close(fd);
	return error;
}

static int command(const char *text)
{
	int fd = open(DEVICE, O_WRONLY), error;

	device_open = fd >= 0;
	if (fd < 0)
		return errno;
	error = write(fd, text, strlen(text)) < 0 ? errno : 0;
	close(fd);
	return error;
}

/* --- What is so --------------------------------------------------------- */

static void hardware(char *text)
{
	*text = '\0';
	if (take(PARAMETERS "btsmsr/parameters/state", text) ||
	    take(PARAMETERS "btstables/parameters/used", text))
		die("no state of the hardware");
}

static bool armed(void)
{
	static char text[MAX_BYTES];
	int error;

	*text = '\0';
	error = take(DEVICE, text);
	if (error)
		die("%s cannot be read: %s", DEVICE, strerror(error));
	return !strncmp(text, "state: armed\n", strlen("state: armed\n"));
}

static void want_clean(void)
{
	static char now[MAX_BYTES];

	hardware(now);
	if (strcmp(now, before))
		die("before:\n%s\nnow:\n%s", before, now);
}

static void want_armed(bool wanted)
{
	if (armed() != wanted)
		die(wanted ? "not armed" : "armed");
}

static void want_command(const char *text)
{
	int error = command(text);

	if (error)
		die("\"%s\" fails: %s", text, strerror(error));
}

static void want_sentence(void)
{
	if (!strstr(log_text, "btsrec: Not "))
		die("no sentence");
}

/* --- Actions ------------------------------------------------------------ */

static void disarmed(void)
{
	want_command("disarm");
	want_clean();
}

static int arm(void)
{
	return command("arm");
}

static void after_arm(void)
{
	if (!err) {
		want_armed(true);
		return;
	}
	if (device_open)
		want_sentence();
	want_armed(false);
	want_clean();
	want_command("arm");
	want_armed(true);
}

static void rearmed(void)
{
	want_command("arm");
}

static int disarm(void)
{
	return command("disarm");
}

/* Opening the device may fail; disarming does not. */
static void after_disarm(void)
{
	if (err)
		want_command("disarm");
	want_armed(false);
	want_clean();
}

static int look(void)
{
	static char text[MAX_BYTES];

	*text = '\0';
	return take(DEVICE, text);
}

static int mark(void)
{
	return command("mark so");
}

static void nothing(void)
{
}

static void unharmed(void)
{
	want_armed(true);
}

static int load(void)
{
	return syscall(SYS_finit_module, module_fd, load_parameters, 0) ? errno : 0;
}

static void after_load(void)
{
	static char held[MAX_BYTES];

	if (err) {
		want_sentence();
	} else {
		want_armed(false);
		if (syscall(SYS_delete_module, "btsrec", O_NONBLOCK))
			die("does not unload: %s", strerror(errno));
	}
	want_clean();
	*held = '\0';
	if (take(PARAMETERS "btsfail/parameters/held", held) || strcmp(held, "none\n"))
		die("left over: %s", held);
}

static const struct action {
	const char *name;
	void (*begin)(void);
	int (*act)(void);
	void (*after)(void);
} actions[] = {
	{ "read", nothing, look, unharmed },
	{ "mark", nothing, mark, unharmed },
	{ "disarm", rearmed, disarm, after_disarm },
	{ "arm", disarmed, arm, after_arm },
	{ "load", nothing, load, after_load },
};

/* --- One after the other ------------------------------------------------ */

/* A module's init is counted by btsfail: the allocations of the loader are many, and not ours. */
static void set_nth(unsigned int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", n);
	/* To end it comes first: what follows allocates. */
	if (!n || strcmp(name, "load"))
		write_text(nth_fd, "fail-nth", text);
	if (!strcmp(name, "load"))
		put(PARAMETERS "btsfail/parameters/init_nth", text);
}

/* Returns by how much the action has needed fewer than the Nth; 0: the Nth has failed. */
static unsigned int try(const struct action *action)
{
	char left[16] = "";
	int nr_bytes;

	action->begin();
	(void)klogctl(KLOG_READ_CLEAR, log_text, sizeof(log_text) - 1);
	set_nth(nth);
	err = action->act();
	if (pread(nth_fd, left, sizeof(left) - 1, 0) < 0)
		die("fail-nth: %s", strerror(errno));
	set_nth(0);
	nr_bytes = klogctl(KLOG_READ_CLEAR, log_text, sizeof(log_text) - 1);
	log_text[nr_bytes > 0 ? nr_bytes : 0] = '\0';
	action->after();
	return (unsigned int)atoi(left);
}

static void each(const struct action *action, unsigned int most)
{
	unsigned int nr_failed = 0, nr_refused = 0, stride = 1, left;

	for (nth = 1; !(left = try(action)); nth += stride) {
		nr_refused += !!err;
		if (++nr_failed % most == 0)
			stride *= 2;
	}
	printf("%s: %u of %u allocations failed, %u times it was refused\n", name, nr_failed,
	       nth - left, nr_refused);
}

int main(int argc, char **argv)
{
	size_t i = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	name = argc > 2 ? argv[1] : "";
	load_parameters = argc > 3 ? argv[3] : "";
	while (i < sizeof(actions) / sizeof(*actions) && strcmp(actions[i].name, name))
		i++;
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR);
	module_fd = open(MODULE, O_RDONLY);
	if (i == sizeof(actions) / sizeof(*actions) || nth_fd < 0 || atoi(argv[2]) < 1)
		die("usage, or this kernel has no fault injection");
	if (strcmp(name, "load"))
		want_command("disarm");
	hardware(before);
	if (strcmp(name, "load") && strcmp(name, "arm"))
		want_command("arm");
	each(&actions[i], (unsigned int)atoi(argv[2]));
	return 0;
}
