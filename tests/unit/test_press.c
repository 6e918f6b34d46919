// SPDX-License-Identifier: GPL-2.0-or-later
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "check_btsrec.h"
#include "failing_alloc.h"
#include "press.h"

#define NR_LINES	60000
#define NR_TAILS	100
/* Longer than the buffer of a batch with all lines of a batch. */
#define LONG_TAIL_BYTES	3000

static char *written;
static size_t nr_written, nr_room, nr_allowed;
static pthread_mutex_t in_sink = PTHREAD_MUTEX_INITIALIZER;
static const struct tail *tails_by_number[NR_TAILS];
static struct tails tails;

static bool take(void *arg, const char *text, size_t nr_bytes)
{
	(void)arg;
	/* One at a time. */
	if (pthread_mutex_trylock(&in_sink))
		abort();
	if (nr_written + nr_bytes > nr_room) {
		nr_room = 2 * (nr_written + nr_bytes);
		written = realloc(written, nr_room);
	}
	memcpy(written + nr_written, text, nr_bytes);
	nr_written += nr_bytes;
	pthread_mutex_unlock(&in_sink);
	return nr_written <= nr_allowed;
}

static const struct btsrec_sink sink = { .write = take };

static void head(struct out *out, unsigned int cpu, uint64_t n, const struct btsrec_record *branch)
{
	out_dec(out, cpu, 0);
	out_char(out, ' ');
	out_dec(out, n, 0);
	out_char(out, ' ');
	out_hex(out, branch->from);
}

static void lines(struct out *out, unsigned int cpu, const struct press_branch *branches, size_t nr)
{
	press_lines(out, cpu, branches, nr, head);
}

static void setup(void)
{
	static char text[LONG_TAIL_BYTES];

	memset(text, '-', sizeof(text));
	text[sizeof(text) - 1] = '\n';
	for (uint64_t i = 0; i < NR_TAILS; i++) {
		struct tails_key key = { .from = i };
		size_t nr_bytes = i % 10 ? i + 1 : sizeof(text);

		tails_by_number[i] = tails_add(&tails, &key, text + sizeof(text) - nr_bytes,
					       nr_bytes, 0);
	}
	nr_written = 0;
	nr_allowed = SIZE_MAX;
}

static void teardown(void)
{
	tails_forget(&tails);
	free(written);
	written = NULL;
	nr_room = 0;
}

static void put_line(struct press *press, uint64_t n)
{
	size_t nr_free;
	struct press_branch *branch = press_room(press, (unsigned int)(n / 20000), &nr_free);

	branch->n = n;
	branch->record = (struct btsrec_record){ .from = n * 3 };
	branch->tail = tails_by_number[n % NR_TAILS];
	ck_assert_uint_ge(nr_free, 1);
	press_filled(press, 1);
}

/* Runs of lines with text between, some of it as long as may be. */
static enum btsrec_status put_lines(struct press *press)
{
	static const char text[OUT_WRITE_BYTES];
	const struct btsrec_sink *between = press_sink(press);

	for (uint64_t n = 0; n < NR_LINES && !press_stopped(press); n++) {
		put_line(press, n);
		if (n % 777 == 0)
			between->write(between->arg, text, n % 2 ? sizeof(text) : 7);
	}
	return press_wait(press);
}

static char *print(unsigned int nr_threads, size_t *ret_bytes)
{
	struct press *press = press_new(&sink, lines, nr_threads);
	char *all;

	nr_written = 0;
	btsrec_ck_ok(put_lines(press));
	press_free(press);
	all = malloc(nr_written);
	memcpy(all, written, nr_written);
	*ret_bytes = nr_written;
	return all;
}

START_TEST(text_of_one_thread)
{
	struct press *press;

	setup();
	press = press_new(&sink, lines, 0);
	put_line(press, 1);
	press_sink(press)->write(press_sink(press)->arg, "two\n", 4);
	put_line(press, 20003);
	put_line(press, 20004);
	btsrec_ck_ok(press_wait(press));
	press_free(press);
	ck_assert_uint_eq(nr_written, strlen("0 1 0x3-\ntwo\n1 20003 0xea69---\n"
					     "1 20004 0xea6c----\n"));
	ck_assert_mem_eq(written, "0 1 0x3-\ntwo\n1 20003 0xea69---\n1 20004 0xea6c----\n",
			 nr_written);
	teardown();
}
END_TEST

START_TEST(any_number_of_threads_writes_the_same)
{
	size_t one_bytes, nr_bytes;
	char *one, *other;

	setup();
	one = print(1, &one_bytes);
	for (unsigned int nr_threads = 2; nr_threads <= PRESS_MAX_THREADS + 1; nr_threads += 5) {
		other = print(nr_threads, &nr_bytes);
		ck_assert_uint_eq(nr_bytes, one_bytes);
		ck_assert(!memcmp(other, one, one_bytes));
		free(other);
	}
	free(one);
	teardown();
}
END_TEST

START_TEST(stops_with_the_sink)
{
	setup();
	for (unsigned int nr_threads = 1; nr_threads <= 3; nr_threads++) {
		struct press *press = press_new(&sink, lines, nr_threads);

		nr_written = 0;
		nr_allowed = 5000000;
		btsrec_ck_status(put_lines(press), BTSREC_ERR_STOPPED);
		ck_assert_uint_le(nr_written, nr_allowed + OUT_WRITE_BYTES);
		press_free(press);
	}
	teardown();
}
END_TEST

START_TEST(ends_with_lines_left)
{
	setup();
	for (unsigned int nr_threads = 1; nr_threads <= 3; nr_threads++) {
		struct press *press = press_new(&sink, lines, nr_threads);

		for (uint64_t n = 0; n < NR_LINES; n++)
			put_line(press, n);
		press_free(press);
	}
	press_free(NULL);
	teardown();
}
END_TEST

START_TEST(out_of_memory)
{
	for (unsigned int nth = 1; nth <= 2; nth++) {
		struct press *press;

		failing_alloc_arm(nth);
		press = press_new(&sink, lines, 2);
		ck_assert(failing_alloc_disarm());
		ck_assert_ptr_null(press);
	}
}
END_TEST

BTSREC_CK_MAIN("press", text_of_one_thread, any_number_of_threads_writes_the_same,
	       stops_with_the_sink, ends_with_lines_left, out_of_memory)
