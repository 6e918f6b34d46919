/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the unit tests share: asserts on status and message, and a small
 * physical memory with holes after a btsrec_image.
 */
#ifndef BTSREC_TESTS_CHECK_BTSREC_H
#define BTSREC_TESTS_CHECK_BTSREC_H

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <btsrec/decoder.h>

/* --- Asserts ------------------------------------------------------------ */

#define btsrec_ck_status(expr, want)						\
do {										\
	enum btsrec_status got_ = (expr);					\
										\
	ck_assert_msg(got_ == (want), "%s is \"%s\", wanted \"%s\"", #expr,	\
		      btsrec_status_str(got_), btsrec_status_str(want));	\
} while (0)

#define btsrec_ck_ok(expr) btsrec_ck_status(expr, BTSREC_OK)

/* The status and a part of the message that goes with it. */
#define btsrec_ck_fails(expr, want, text, part)					\
do {										\
	btsrec_ck_status(expr, want);						\
	ck_assert_msg(strstr(text, part), "message \"%s\" lacks \"%s\"", text, part); \
} while (0)

/* What a structure holds before the code under test has set it. */
#define DIRT 0xcd

/* --- Memory ------------------------------------------------------------- */

#define MEM_PAGES 4352	/* a little more than the first 16 MiB */

/**
 * struct mem - pages of physical memory; a NULL page is a hole
 * @valid_bytes: leading bytes of a page that are there.
 * @fail_pa: reads that touch this page fail with @fail_status; 0: none.
 * @fail_read: so does this read, counted from 1 in @nr_reads; 0: none.
 */
struct mem {
	uint8_t *page[MEM_PAGES];
	uint32_t valid_bytes[MEM_PAGES];
	uint64_t fail_pa;
	uint64_t fail_read;
	enum btsrec_status fail_status;
	uint64_t nr_reads;
};

static inline void mem_fini(struct mem *mem)
{
	for (size_t i = 0; i < MEM_PAGES; i++)
		free(mem->page[i]);
	memset(mem, 0, sizeof(*mem));
}

/* The page at @pa, made of zeros if it is a hole. */
static inline void *mem_page(struct mem *mem, uint64_t pa)
{
	size_t i = pa / BTSREC_PAGE_BYTES;

	/* No assert: each is a system call, and this is called for every word of a ring. */
	if (i >= MEM_PAGES)
		ck_abort_msg("no memory at 0x%jx", (uintmax_t)pa);
	if (!mem->page[i]) {
		mem->page[i] = calloc(1, BTSREC_PAGE_BYTES);
		mem->valid_bytes[i] = BTSREC_PAGE_BYTES;
	}
	return mem->page[i] + pa % BTSREC_PAGE_BYTES;
}

static inline void mem_cut(struct mem *mem, uint64_t pa, uint32_t valid_bytes)
{
	mem->valid_bytes[pa / BTSREC_PAGE_BYTES] = valid_bytes;
}

static inline enum btsrec_status mem_read(void *arg, uint64_t pa, void *buf, size_t len_bytes,
					  size_t *ret_bytes)
{
	struct mem *mem = arg;
	uint8_t *out = buf;

	*ret_bytes = 0;
	if (++mem->nr_reads == mem->fail_read)
		return mem->fail_status;
	while (*ret_bytes < len_bytes) {
		size_t i = pa / BTSREC_PAGE_BYTES, off = pa % BTSREC_PAGE_BYTES;
		size_t nr = len_bytes - *ret_bytes;

		if (mem->fail_pa && i == mem->fail_pa / BTSREC_PAGE_BYTES)
			return mem->fail_status;
		if (i >= MEM_PAGES || !mem->page[i] || off >= mem->valid_bytes[i])
			return BTSREC_ERR_NODATA;
		if (nr > mem->valid_bytes[i] - off)
			nr = mem->valid_bytes[i] - off;
		memcpy(out + *ret_bytes, mem->page[i] + off, nr);
		*ret_bytes += nr;
		pa += nr;
	}
	return BTSREC_OK;
}

static inline struct btsrec_image mem_image(struct mem *mem)
{
	return (struct btsrec_image){
		.size = sizeof(struct btsrec_image),
		.read_pa = mem_read,
		.max_pa = MEM_PAGES * BTSREC_PAGE_BYTES,
		.arg = mem,
	};
}

/* --- Runner ------------------------------------------------------------- */

/* The usual 4 s are little for a sanitizer on a busy machine. */
#define BTSREC_CK_TIMEOUT_S	600

/* What main() of a test program returns; @tcase has all its tests. */
static inline int btsrec_ck_run_case(const char *name, TCase *tcase)
{
	Suite *suite = suite_create(name);
	SRunner *runner;
	int nr_failed;

	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	nr_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return nr_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline int btsrec_ck_run(const char *name, const TTest *const *tests, size_t nr)
{
	TCase *tcase = tcase_create(name);

	tcase_set_timeout(tcase, BTSREC_CK_TIMEOUT_S);
	for (size_t i = 0; i < nr; i++)
		tcase_add_test(tcase, tests[i]);
	return btsrec_ck_run_case(name, tcase);
}

/* main() of a test program: its name and its tests; none is a loop. */
#define BTSREC_CK_MAIN(name, ...)						\
int main(void)									\
{										\
	const TTest *const tests[] = { __VA_ARGS__ };				\
										\
	return btsrec_ck_run(name, tests, sizeof(tests) / sizeof(tests[0]));	\
}

#endif /* BTSREC_TESTS_CHECK_BTSREC_H */
