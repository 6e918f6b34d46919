// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Faults injected into the library, one at a time, at every place in turn.
 *
 * usage: faults alloc|helpers|read|page|threads [-e EVERY] [-v] FILE...
 *
 * FILE is memory as "mkimage --pages" writes it.  Each view is asked without a fault
 * first, then again with the Nth allocation failing (alloc), also of two threads, of whichever
 * comes Nth (helpers), with the Nth read of memory
 * failing or ending early (read), with the Nth page of the dump missing (page), or with that or
 * reads of it failing, at once or from the first text on, for a sink with room for all or for
 * a little (threads).  N is each number from 1 on.  Of all faults of all views and files every
 * EVERYth is tried: answers that are alike have their faults at different places then.  Of
 * allocations also the first of each view that comes the way it came.  What must hold:
 *
 * alloc, helpers  the answer is the whole one, or the view ends with BTSREC_ERR_NOMEM.
 * read   a read that the system refuses: the whole answer or BTSREC_ERR_IO.
 * page   a status that is documented; a message of one line where there is one; the
 *	answer is not longer than a multiple of the whole one; "check" says nothing twice.
 * threads  of "extract": several threads end as one does, with as much written and the same
 *	message.
 *
 * A leak is found by the sanitizer that this is built with, a hang by the time limit.
 * Exit status 1: something did not hold, and was printed.
 */
#include <execinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "failing_alloc.h"
#include "jobs.h"

/* An answer about a damaged dump may be longer: gaps, and addresses instead of names. */
#define LONGER_TIMES	4
#define LONGER_BYTES	65536

/* A search of all low memory reads each of its pages: then but a few reads fail in turn. */
#define MAX_READS	2000
#define NR_SAMPLES	20

/* Of a small file the header and VMCOREINFO, but not the first frame. */
#define LITTLE_ROOM_BYTES	1500

/** enum refusal - how a read fails */
enum refusal { REFUSE_NODATA, REFUSE_SHORT, REFUSE_IO, NR_REFUSALS };

static const char *const refusal_names[] = { "no data", "short", "I/O error" };

/**
 * struct memory - a file's pages, and what is wrong with them
 * @fail_nth: which read from now on fails, from 1; 0: none.
 * @missing: which page is not there, from 1; 0: none.  If it @is_refused, it is, but cannot be
 *	read; with @refused_behind, as soon as that is not 0 any more.
 * @nr_threads: 0: of a source for one thread.
 */
struct memory {
	struct fuzz_memory input;
	struct btsrec_image plain;
	uint64_t nr_reads;
	uint64_t fail_nth;
	enum refusal refusal;
	uint64_t missing;
	bool is_refused;
	const size_t *refused_behind;
	unsigned int nr_threads;
};

/** struct answer - what a view said */
struct answer {
	enum btsrec_status status;
	char errmsg[1024];
	char *text;
	size_t nr_bytes;
	size_t nr_room;
};

static struct answer whole, faulty;
static const char *file_name;
static unsigned long nr_runs, nr_faults, nr_wrong, every = 1;
static bool verbose;

static void __attribute__((format(printf, 2, 3)))
wrong(const struct job *job, const char *fmt, ...)
{
	va_list args;

	nr_wrong++;
	printf("%s: %s: ", file_name, job->name);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

/* Whether the next fault is one of those that are tried. */
static bool is_turn(void)
{
	return nr_faults++ % every == 0;
}

/* --- Memory ------------------------------------------------------------- */

static bool is_missing(const struct memory *memory, uint64_t pa, size_t len_bytes)
{
	uint64_t page_pa;

	if (!memory->missing || (memory->refused_behind && !*memory->refused_behind))
		return false;
	memcpy(&page_pa, memory->input.bytes + (memory->missing - 1) * FUZZ_PAGE_BYTES,
	       sizeof(page_pa));
	return pa < page_pa + BTSREC_PAGE_BYTES && page_pa < pa + len_bytes;
}

static enum btsrec_status read_pa(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				  size_t *ret_bytes)
{
	struct memory *memory = arg;
	enum btsrec_status status;

	*ret_bytes = 0;
	if (is_missing(memory, pa, len_bytes))
		return memory->is_refused ? BTSREC_ERR_IO : BTSREC_ERR_NODATA;
	if (++memory->nr_reads != memory->fail_nth)
		return memory->plain.read_pa(memory->plain.arg, pa, buf, len_bytes, ret_bytes);
	if (memory->refusal == REFUSE_IO)
		return BTSREC_ERR_IO;
	if (memory->refusal == REFUSE_NODATA || len_bytes < 2)
		return BTSREC_ERR_NODATA;
	status = memory->plain.read_pa(memory->plain.arg, pa, buf, len_bytes / 2, ret_bytes);
	return status ? status : BTSREC_ERR_NODATA;
}

static bool read_pages(void *arg, const uint64_t *page_pa, size_t nr, void *buf)
{
	const struct memory *memory = arg;
	size_t nr_bytes;

	for (size_t i = 0; i < nr; i++) {
		uint8_t *to = (uint8_t *)buf + i * BTSREC_PAGE_BYTES;

		if (is_missing(memory, page_pa[i], BTSREC_PAGE_BYTES) ||
		    memory->plain.read_pa(memory->plain.arg, page_pa[i], to, BTSREC_PAGE_BYTES,
					  &nr_bytes) ||
		    nr_bytes < BTSREC_PAGE_BYTES)
			return false;
	}
	return true;
}

/* --- One view ----------------------------------------------------------- */

/* Grown without the allocator under test: a failure here would be no fault of the library. */
static bool keep(void *arg, const char *text, size_t len_bytes)
{
	struct answer *answer = arg;

	if (answer->nr_bytes + len_bytes > answer->nr_room)
		return false;
	memcpy(answer->text + answer->nr_bytes, text, len_bytes);
	answer->nr_bytes += len_bytes;
	return true;
}

static void ask(const struct job *job, struct memory *memory, struct answer *ret)
{
	struct btsrec_sink sink = { .write = keep, .arg = ret };
	struct btsrec_image image = memory->plain;
	struct btsrec *rec;

	nr_runs++;
	image.read_pa = read_pa;
	image.read_pages = memory->nr_threads ? read_pages : NULL;
	image.arg = memory;
	memory->nr_reads = 0;
	ret->nr_bytes = 0;
	*ret->errmsg = '\0';
	rec = btsrec_new();
	if (rec)
		btsrec_set_threads(rec, memory->nr_threads);
	ret->status = rec ? btsrec_open_image(rec, &image) : BTSREC_ERR_NOMEM;
	if (!ret->status)
		ret->status = btsrec_locate(rec, 0, BTSREC_SCAN_DMA);
	if (!ret->status)
		ret->status = job->run(rec, &image, &sink);
	if (ret->status && rec)
		snprintf(ret->errmsg, sizeof(ret->errmsg), "%s", btsrec_errmsg(rec));
	btsrec_free(rec);
}

static bool same_answer(void)
{
	return faulty.status == whole.status && faulty.nr_bytes == whole.nr_bytes &&
	       !memcmp(faulty.text, whole.text, whole.nr_bytes) &&
	       !strcmp(faulty.errmsg, whole.errmsg);
}

static void check_message(const struct job *job, const char *fault, unsigned long n)
{
	if (strchr(faulty.errmsg, '\n'))
		wrong(job, "%s %lu: a message of several lines: %s", fault, n, faulty.errmsg);
}

/* --- Allocations -------------------------------------------------------- */

static bool check_alloc(const struct job *job, unsigned long n)
{
	if (same_answer())
		return true;
	if (faulty.status != BTSREC_ERR_NOMEM)
		wrong(job, "allocation %lu: status %d (%s), %zu bytes instead of %zu", n,
		      faulty.status, faulty.errmsg, faulty.nr_bytes, whole.nr_bytes);
	else if (*faulty.errmsg && !strstr(faulty.errmsg, "out of memory"))
		wrong(job, "allocation %lu: the message is: %s", n, faulty.errmsg);
	return true;
}

/* Recursion makes any number of ways to one allocation; 8 callers tell apart what matters. */
#define NR_CALLERS	8
#define NR_WAYS		(1 << 20)
#define MAX_ALLOCS	(1 << 20)

/**
 * struct ways - by which calls allocations came
 * @known: hashes of them and of the view, at their value's place or behind it; 0: none.
 * @is_new: of each allocation of the answer that was watched: none before came that way.
 */
static struct {
	uint64_t known[NR_WAYS];
	bool is_new[MAX_ALLOCS];
	unsigned long nr_allocs;
	uint64_t seed;
} ways;

static bool is_new_way(uint64_t hash)
{
	size_t i = hash % NR_WAYS;

	while (ways.known[i] && ways.known[i] != hash)
		i = (i + 1) % NR_WAYS;
	if (ways.known[i])
		return false;
	ways.known[i] = hash;
	return true;
}

static void note_way(void)
{
	uint64_t hash = ways.seed;
	void *callers[NR_CALLERS];
	int nr = backtrace(callers, NR_CALLERS);

	for (int i = 0; i < nr; i++)
		hash = (hash ^ (uintptr_t)callers[i]) * 0x100000001b3;
	if (ways.nr_allocs < MAX_ALLOCS)
		ways.is_new[ways.nr_allocs++] = is_new_way(hash | 1);
}

static bool fail_alloc(const struct job *job, struct memory *memory, unsigned long n)
{
	bool failed;

	failing_alloc_arm((unsigned int)n);
	ask(job, memory, &faulty);
	failed = failing_alloc_disarm();
	if (failed)
		check_alloc(job, n);
	check_message(job, "allocation", n);
	return failed;
}

static void fail_allocs(const struct job *job, struct memory *memory)
{
	ways.nr_allocs = 0;
	ways.seed = (uintptr_t)job;
	failing_alloc_watch(note_way);
	ask(job, memory, &faulty);
	failing_alloc_watch(NULL);
	for (unsigned long n = 1; n <= ways.nr_allocs; n++)
		if (ways.is_new[n - 1] | is_turn())
			fail_alloc(job, memory, n);
}

/* Which allocation comes Nth differs from answer to answer. */
static void fail_allocs_of_two(const struct job *job, struct memory *memory)
{
	bool failed = true;

	memory->nr_threads = 2;
	for (unsigned long n = 1; failed; n++)
		if (is_turn())
			failed = fail_alloc(job, memory, n);
	memory->nr_threads = 0;
}

/* --- Reads -------------------------------------------------------------- */

static void check_read(const struct job *job, const char *fault, enum refusal refusal,
		       unsigned long n)
{
	check_message(job, fault, n);
	if (faulty.nr_bytes > LONGER_TIMES * whole.nr_bytes + LONGER_BYTES)
		wrong(job, "%s %lu: %zu bytes instead of %zu", fault, n, faulty.nr_bytes,
		      whole.nr_bytes);
	if (refusal == REFUSE_IO && !same_answer() && faulty.status != BTSREC_ERR_IO)
		wrong(job, "%s %lu: status %d (%s), %zu bytes instead of %zu", fault, n,
		      faulty.status, faulty.errmsg, faulty.nr_bytes, whole.nr_bytes);
}

static void fail_reads(const struct job *job, struct memory *memory)
{
	uint64_t nr_reads = memory->nr_reads;
	uint64_t step = nr_reads > MAX_READS ? nr_reads / NR_SAMPLES : 1;

	for (memory->refusal = 0; memory->refusal < NR_REFUSALS; memory->refusal++) {
		for (memory->fail_nth = 1; memory->fail_nth <= nr_reads;
		     memory->fail_nth += step) {
			if (!is_turn())
				continue;
			ask(job, memory, &faulty);
			check_read(job, refusal_names[memory->refusal], memory->refusal,
				   memory->fail_nth);
		}
	}
	memory->fail_nth = 0;
}

/* --- Pages -------------------------------------------------------------- */

static void check_lines_once(const struct job *job, unsigned long n)
{
	const char *text = faulty.text, *line = text, *end;

	faulty.text[faulty.nr_bytes] = '\0';
	for (; (end = strchr(line, '\n')); line = end + 1)
		for (const char *later = end + 1; *later; later = strchr(later, '\n') + 1)
			if (!strncmp(line, later, (size_t)(end - line) + 1))
				wrong(job, "page %lu: said twice: %.*s", n, (int)(end - line), line);
}

static void drop_pages(const struct job *job, struct memory *memory)
{
	uint64_t nr_pages = memory->input.nr_bytes / FUZZ_PAGE_BYTES;

	for (memory->missing = 1; memory->missing <= nr_pages; memory->missing++) {
		if (!is_turn())
			continue;
		ask(job, memory, &faulty);
		check_read(job, "page", REFUSE_NODATA, memory->missing);
		if (job->says_once)
			check_lines_once(job, memory->missing);
	}
	memory->missing = 0;
}

/* --- Threads ------------------------------------------------------------ */

/** struct when - what else is wrong: @after the first text; a sink with @room_bytes, 0: enough */
struct when {
	bool behind;
	size_t room_bytes;
};

static void ask_threads(const struct job *job, struct memory *memory, unsigned int nr,
			const struct when *when, struct answer *ret)
{
	size_t usual_bytes = ret->nr_room;

	memory->nr_threads = nr;
	memory->refused_behind = when->behind ? &ret->nr_bytes : NULL;
	if (when->room_bytes)
		ret->nr_room = when->room_bytes;
	ask(job, memory, ret);
	ret->nr_room = usual_bytes;
	memory->refused_behind = NULL;
}

/* The source for one thread reads no pages at once, either. */
static void compare_threads(const struct job *job, struct memory *memory,
			    const struct when *when)
{
	static const unsigned int numbers[] = { 1, 2, 5 };

	ask_threads(job, memory, 0, when, &whole);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		ask_threads(job, memory, numbers[i], when, &faulty);
		if (!same_answer())
			wrong(job, "page %lu%s: %u threads: status %d (%s), %zu bytes instead of "
			      "%d (%s), %zu", (unsigned long)memory->missing,
			      when->behind ? " refused late" : memory->is_refused ? " refused" : "",
			      numbers[i], faulty.status,
			      faulty.errmsg, faulty.nr_bytes, whole.status, whole.errmsg,
			      whole.nr_bytes);
	}
}

static void share_faults(const struct job *job, struct memory *memory)
{
	uint64_t nr_pages = memory->input.nr_bytes / FUZZ_PAGE_BYTES;

	for (memory->missing = 0; memory->missing <= nr_pages; memory->missing++) {
		if (!is_turn())
			continue;
		memory->is_refused = false;
		compare_threads(job, memory, &(struct when){ 0 });
		memory->is_refused = true;
		compare_threads(job, memory, &(struct when){ 0 });
		compare_threads(job, memory, &(struct when){ .behind = true });
		compare_threads(job, memory, &(struct when){ true, LITTLE_ROOM_BYTES });
	}
	memory->is_refused = false;
	memory->missing = 0;
	memory->nr_threads = 0;
}

/* --- All ---------------------------------------------------------------- */

static void (*mode_of(const char *name))(const struct job *job, struct memory *memory)
{
	if (!strcmp(name, "alloc"))
		return fail_allocs;
	if (!strcmp(name, "read"))
		return fail_reads;
	if (!strcmp(name, "helpers"))
		return fail_allocs_of_two;
	if (!strcmp(name, "threads"))
		return share_faults;
	return strcmp(name, "page") ? NULL : drop_pages;
}

/* Of other views the tests compare answers where nothing fails. */
static bool suits(const struct job *job, void (*mode)(const struct job *, struct memory *))
{
	return mode != share_faults || !strncmp(job->name, "extract", strlen("extract"));
}

static bool load(const char *path, struct memory *ret)
{
	static uint8_t bytes[1 << 24];
	FILE *file = fopen(path, "re");

	memset(ret, 0, sizeof(*ret));
	if (!file) {
		perror(path);
		return false;
	}
	ret->input.bytes = bytes;
	ret->input.nr_bytes = fread(bytes, 1, sizeof(bytes), file);
	ret->plain = fuzz_plain_image(&ret->input);
	fclose(file);
	return true;
}

static void run_file(const char *path, void (*mode)(const struct job *, struct memory *))
{
	struct memory memory;

	file_name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	if (!load(path, &memory)) {
		nr_wrong++;
		return;
	}
	for (const struct job *job = jobs; job->name; job++) {
		unsigned long nr_before = nr_runs;

		if (!suits(job, mode))
			continue;
		ask(job, &memory, &whole);
		mode(job, &memory);
		if (verbose)
			printf("%s: %s: %lu\n", file_name, job->name, nr_runs - nr_before);
	}
}

static bool make_room(struct answer *answer)
{
	answer->nr_room = 1 << 24;
	answer->text = malloc(answer->nr_room + 1);
	return answer->text;
}

int main(int argc, char **argv)
{
	void (*mode)(const struct job *, struct memory *) = argc > 1 ? mode_of(argv[1]) : NULL;
	int option;

	optind = 2;
	while (mode && (option = getopt(argc, argv, "e:v")) != -1) {
		if (option == 'e')
			every = strtoul(optarg, NULL, 10);
		else if (option == 'v')
			verbose = true;
		else
			mode = NULL;
	}
	if (!mode || !every) {
		fprintf(stderr, "usage: faults alloc|helpers|read|page|threads [-e EVERY] [-v] "
			"FILE...\n");
		return 2;
	}
	if (!make_room(&whole) || !make_room(&faulty))
		return 2;
	for (; optind < argc; optind++)
		run_file(argv[optind], mode);
	free(whole.text);
	free(faulty.text);
	printf("%lu faults, 1 of %lu tried, %lu runs, %lu wrong\n", nr_faults, every, nr_runs,
	       nr_wrong);
	return nr_wrong || !nr_faults;
}
