// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzzdev: random and boundary input for /dev/btsrec, each answer compared with what the
 * device's grammar says.
 *
 *   fuzzdev SECONDS SEED	as root, in three processes at once
 *   fuzzdev marks SEED	random bytes, one command each, then "freeze"
 *   fuzzdev denied ERRNO	as user 1000: no way of opening works, each fails with ERRNO
 *
 * Exit code: 0, or 1 after a sentence.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEVICE		"/dev/btsrec"
#define NR_PROCESSES	3
#define MAX_SLOW	3	/* commands that stop or start the CPUs */
#define COMMAND_BYTES	272	/* of kmod/btsrec_dev.c: as many and more are refused */
#define MAX_BYTES	65536
#define PAGE_BYTES	4096
#define NR_MARKS	30
#define NR(array)	(sizeof(array) / sizeof((array)[0]))

static const char *const verbs[] = { "arm", "disarm", "freeze", "hold", "release", "mark",
				      "freeze_on", "cpus", "tasks", "max_rate", "on_trigger",
				      "taken", "ring_bytes" };
static const size_t lengths[] = { 0, 1, 2, 4, 5, 31, 270, 271, 272, 273, 4095, 4096, MAX_BYTES };

static uint64_t random_state;
static unsigned int nr_slow_left;
/* Ends where nothing is mapped: to read further gives EFAULT. */
static unsigned char *buffer_end;

static uint32_t draw(uint32_t below)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(random_state >> 33) % below;
}

static void fail(const char *what, long got, const unsigned char *text, size_t nr_bytes)
{
	fprintf(stderr, "fuzzdev: %s: %ld, errno %d, for %zu bytes:", what, got, errno, nr_bytes);
	for (size_t i = 0; i < nr_bytes && i < 32; i++)
		fprintf(stderr, " %02x", text[i]);
	fprintf(stderr, "\n");
	exit(1);
}

/* --- What to write ------------------------------------------------------ */

static size_t noise(unsigned char *at, size_t nr_bytes)
{
	for (size_t i = 0; i < nr_bytes; i++)
		at[i] = (unsigned char)draw(256);
	return nr_bytes;
}

/* A verb, perhaps with one byte of it changed, and something after it. */
static size_t near_command(unsigned char *at)
{
	static const char *const tails[] = { "", "\n", " ", " \n", "  x", " x", "\t", "x", "\xa0",
					     " arm", "\narm" };
	const char *verb = verbs[draw(NR(verbs))], *tail = tails[draw(NR(tails))];
	size_t nr_bytes = strlen(verb);

	memcpy(at, verb, nr_bytes);
	if (!draw(4))
		at[draw((uint32_t)nr_bytes)] = (unsigned char)draw(256);
	memcpy(at + nr_bytes, tail, strlen(tail));
	nr_bytes += strlen(tail);
	if (!draw(4))
		nr_bytes += noise(at + nr_bytes, draw(COMMAND_BYTES - 16));
	return nr_bytes;
}

/* --- What the answer must be -------------------------------------------- */

/* As isspace() of the kernel (lib/ctype.c), with the no-break space of Latin 1. */
static bool is_space(unsigned char byte)
{
	return byte == ' ' || (byte >= '\t' && byte <= '\r') || byte == 0xa0;
}

enum answer { REFUSED, DONE, DONE_OR_ENXIO, DONE_OR_EBUSY };

static enum answer answer_to_verb(const char *verb, bool has_argument, bool is_empty)
{
	if (!strcmp(verb, "mark"))
		return has_argument && !is_empty ? DONE_OR_ENXIO : REFUSED;
	if (!strcmp(verb, "freeze") && has_argument)
		return is_empty ? REFUSED : DONE_OR_ENXIO;
	if (has_argument)
		return REFUSED;
	if (!strcmp(verb, "arm") || !strcmp(verb, "disarm") || !strcmp(verb, "release"))
		return DONE;
	if (!strcmp(verb, "freeze") || !strcmp(verb, "taken"))
		return DONE_OR_ENXIO;
	return strcmp(verb, "hold") ? REFUSED : DONE_OR_EBUSY;
}

static enum answer answer_to(const unsigned char *bytes, size_t nr_bytes)
{
	char copy[COMMAND_BYTES], *text = copy, *space;
	size_t length;

	if (nr_bytes >= COMMAND_BYTES)
		return REFUSED;
	memcpy(copy, bytes, nr_bytes);
	copy[nr_bytes] = '\0';
	length = strlen(text);
	while (length && is_space((unsigned char)text[length - 1]))
		text[--length] = '\0';
	while (is_space((unsigned char)*text))
		text++;
	space = strchr(text, ' ');
	if (space)
		*space = '\0';
	return answer_to_verb(text, space, space && !space[1]);
}

static void judge(enum answer expected, ssize_t got, const unsigned char *bytes, size_t nr_bytes)
{
	bool done = got == (ssize_t)nr_bytes && nr_bytes;

	if (got >= 0 && !done && nr_bytes)
		fail("written in part", got, bytes, nr_bytes);
	if (expected == REFUSED && (done || (got < 0 && errno != EINVAL)))
		fail("not refused with EINVAL", got, bytes, nr_bytes);
	if (expected == DONE && !done)
		fail("not done", got, bytes, nr_bytes);
	if (expected == DONE_OR_ENXIO && !done && errno != ENXIO)
		fail("neither done nor ENXIO", got, bytes, nr_bytes);
	if (expected == DONE_OR_EBUSY && !done && errno != EBUSY)
		fail("neither done nor EBUSY", got, bytes, nr_bytes);
}

/* --- What to do --------------------------------------------------------- */

/* Whether the CPUs stop or start, which takes seconds on an emulated machine. */
static bool is_slow(const unsigned char *text, size_t nr_bytes)
{
	enum answer answer = answer_to(text, nr_bytes);

	return (answer == DONE && !memmem(text, nr_bytes, "release", 7)) ||
	       (answer == DONE_OR_ENXIO && memmem(text, nr_bytes, "freeze", 6));
}

static void write_something(int fd)
{
	unsigned char text[COMMAND_BYTES * 2], *at;
	size_t nr_bytes;

	if (draw(3)) {
		do {
			nr_bytes = near_command(text);
		} while (is_slow(text, nr_bytes) && !nr_slow_left);
		nr_slow_left -= is_slow(text, nr_bytes);
		at = memcpy(buffer_end - nr_bytes, text, nr_bytes);
	} else {
		nr_bytes = lengths[draw(NR(lengths))];
		at = buffer_end - nr_bytes;
		noise(at, nr_bytes);
	}
	errno = 0;
	judge(answer_to(at, nr_bytes), write(fd, at, nr_bytes), at, nr_bytes);
}

static void write_from_nowhere(int fd)
{
	static const uintptr_t nowhere[] = { 0, 8, UINTPTR_MAX, 0xffff888000000000, 1ULL << 47 };
	void *at = draw(2) ? (void *)nowhere[draw(NR(nowhere))] : buffer_end - draw(3);

	if (write(fd, at, 3 + draw(100)) != -1 || errno != EFAULT)
		fail("memory that is not there", 0, NULL, 0);
}

static void read_something(int fd)
{
	static const off_t offsets[] = { 0, 1, 100, 4096, 1LL << 40, INT64_MAX - 1 };
	size_t nr_bytes = lengths[draw(NR(lengths))];
	ssize_t got = pread(fd, buffer_end - nr_bytes, nr_bytes, offsets[draw(NR(offsets))]);

	if (got > (ssize_t)nr_bytes)
		fail("more than was asked for", got, NULL, 0);
	if (pread(fd, buffer_end, 100, 0) != -1 || errno != EFAULT)
		fail("read to nowhere", 0, NULL, 0);
	lseek(fd, offsets[draw(NR(offsets))], (int)draw(6));
	lseek(fd, 0, SEEK_SET);
	got = read(fd, buffer_end - PAGE_BYTES, PAGE_BYTES);
	if (got < 7 || memcmp(buffer_end - PAGE_BYTES, "state: ", 7))
		fail("the state", got, buffer_end - PAGE_BYTES, 16);
}

/* There are none of these. */
static void use_what_is_not_there(int fd)
{
	static const unsigned long requests[] = { 0, 1, 0x5401, 0x40081201, UINT32_MAX };
	unsigned long request = draw(2) ? requests[draw(NR(requests))] : 0x10000 + draw(1U << 31);

	if (ioctl(fd, request, draw(2) ? NULL : (void *)buffer_end) != -1 || errno != ENOTTY)
		fail("ioctl", (long)request, NULL, 0);
	if (mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED)
		fail("mmap", 0, NULL, 0);
	if (ftruncate(fd, draw(100)) != -1)
		fail("ftruncate", 0, NULL, 0);
}

static int open_device(void)
{
	int fd = open(DEVICE, O_RDWR | (draw(2) ? O_TRUNC | O_APPEND : O_CREAT), 0666);

	if (fd < 0)
		fail("open", fd, NULL, 0);
	return fd;
}

/* Two files; either may hold.  Now and then one is closed in the middle of it. */
static void fuzz(time_t seconds)
{
	struct timespec now, end;
	int fds[2] = { open_device(), open_device() };
	unsigned long nr = 0;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += seconds;
	do {
		int *fd = &fds[draw(2)];

		switch (draw(8)) {
		case 0:
			close(*fd);
			*fd = open_device();
			break;
		case 1:
			read_something(*fd);
			break;
		case 2:
			use_what_is_not_there(*fd);
			break;
		case 3:
			write_from_nowhere(*fd);
			break;
		default:
			write_something(*fd);
		}
		nr++;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec);
	printf("fuzzdev: %lu actions\n", nr);
}

static int fuzz_in_processes(time_t seconds, uint64_t seed)
{
	int status, bad = 0;

	for (unsigned int i = 0; i < NR_PROCESSES; i++) {
		if (fork())
			continue;
		random_state = seed * NR_PROCESSES + i;
		nr_slow_left = i ? 0 : MAX_SLOW;
		fuzz(seconds);
		exit(0);
	}
	while (wait(&status) > 0)
		bad |= status;
	return bad ? 1 : 0;
}

/* Each begins with a comma, by which it is known. */
static int mark_and_freeze(uint64_t seed)
{
	unsigned char text[COMMAND_BYTES - 1] = "mark ,";
	int fd = open_device();

	random_state = seed;
	for (unsigned int i = 0; i < NR_MARKS; i++) {
		noise(text + 6, sizeof(text) - 6);
		if (write(fd, text, sizeof(text)) != sizeof(text))
			fail("no mark", i, text, sizeof(text));
	}
	if (write(fd, "freeze", 6) != 6)
		fail("no freeze", 0, NULL, 0);
	return 0;
}

static int be_denied(int wanted)
{
	static const int ways[] = { O_RDONLY, O_WRONLY, O_RDWR, O_RDWR | O_TRUNC, 3 };

	if (setgid(1000) || setuid(1000))
		fail("setuid", 0, NULL, 0);
	for (unsigned int i = 0; i < NR(ways); i++) {
		int fd = open(DEVICE, ways[i]);

		if (fd >= 0 || errno != wanted)
			fail("open by a user", ways[i], NULL, 0);
	}
	if (!unlink(DEVICE) || !chmod(DEVICE, 0666))
		fail("the node of the device", 0, NULL, 0);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned char *buffer = mmap(NULL, MAX_BYTES + PAGE_BYTES, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (argc != 3 || buffer == MAP_FAILED)
		return 1;
	buffer_end = buffer + MAX_BYTES;
	munmap(buffer_end, PAGE_BYTES);
	if (!strcmp(argv[1], "denied"))
		return be_denied(atoi(argv[2]));
	if (!strcmp(argv[1], "marks"))
		return mark_and_freeze(strtoull(argv[2], NULL, 0));
	return fuzz_in_processes(atol(argv[1]), strtoull(argv[2], NULL, 0));
}
