// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/extract/image_redact.h"

#include <assert.h>
#include <string.h>

/* What a page is: an exec page, a CPU page, or page "index" of the ring of "cpu". */
#define PAGE_EXEC		UINT64_MAX
#define PAGE_CPU		(UINT64_MAX - 1)
#define PAGE_RING(cpu, index)	((uint64_t)(cpu) << 32 | (index))

/*
 * Marks a record that loses its source, among the reserved bits of the flags: a record of zeroes
 * alone is none.
 */
#define FLAG_REDACTED		(1ULL << 63)

#define WORDS_PER_RECORD (BTSREC_RECORD_BYTES / sizeof(uint64_t))

/* --- Which pages -------------------------------------------------------- */

static enum btsrec_status add_cpu(struct image_redact *image_redact, unsigned int cpu)
{
	const struct located_cpu *lc = image_redact->located->cpus[cpu];
	struct pageset *pages = &image_redact->pages;
	enum btsrec_status status =
		lc ? pageset_put(pages, lc->page.self_pa, PAGE_CPU) : BTSREC_OK;

	for (uint32_t i = 0; lc && !status && i < lc->page.nr_ring_pages; i++)
		status = pageset_put(pages, lc->ring_pa[i], PAGE_RING(cpu, i));
	return status;
}

enum btsrec_status image_redact_init(struct image_redact *image_redact)
{
	const struct btsrec_root *root = &image_redact->located->root;
	enum btsrec_status status = BTSREC_OK;

	for (unsigned int cpu = 0;
	     image_redact->no_user && !status && cpu < image_redact->located->nr_cpus; cpu++)
		status = add_cpu(image_redact, cpu);
	for (uint32_t i = 0; image_redact->no_paths && !status && i < root->nr_exec_pages; i++)
		status = pageset_put(&image_redact->pages, root->exec_pa[i], PAGE_EXEC);
	return status;
}

void image_redact_fini(struct image_redact *image_redact)
{
	pageset_fini(&image_redact->pages);
}

/* --- What is in them ---------------------------------------------------- */

static bool is_user(const struct image_redact *image_redact, uint64_t va)
{
	return !(va >> (image_redact->located->root.flags & BTSREC_ROOT_F_LA57 ? 56 : 47));
}

/* An address, and no annotation's tag or poison. */
static bool is_address(const struct image_redact *image_redact, uint64_t word)
{
	return is_user(image_redact, word) || is_user(image_redact, ~word);
}

/*
 * The source of the record in which page @index of the ring begins, if that is not
 * its first word.  If it is lost, so is the record: any answer will do.
 */
static uint64_t source_before(const struct image_redact *image_redact, const struct located_cpu *lc,
			      uint32_t index, unsigned int nr_words)
{
	uint64_t from = 0;

	if (nr_words && index && lc->ring_pa[index - 1] &&
	    image_read(image_redact->below,
		       lc->ring_pa[index - 1] + BTSREC_PAGE_BYTES - nr_words * sizeof(from), &from,
		       sizeof(from)) != BTSREC_OK)
		return 0;
	return from;
}

static void image_redact_ring(const struct image_redact *image_redact, uint64_t what,
			      uint64_t *labels, size_t nr_words)
{
	const struct located_cpu *lc = image_redact->located->cpus[what >> 32];
	uint32_t index = (uint32_t)what;
	uint64_t first = (uint64_t)index * BTSREC_PAGE_BYTES / sizeof(*labels);
	uint64_t from = source_before(image_redact, lc, index, first % WORDS_PER_RECORD);

	for (size_t i = 0; i < nr_words; i++) {
		unsigned int field = (first + i) % WORDS_PER_RECORD;

		if ((first + i) * sizeof(*labels) >= lc->page.ring_bytes)
			break;
		if (field == 0)
			from = labels[i];
		if (field < 2 && is_address(image_redact, from) && is_user(image_redact, labels[i]))
			labels[i] = 0;
		if (field == 2 && from && is_user(image_redact, from))
			labels[i] |= FLAG_REDACTED;
	}
}

/* Where a program was, and its stack; and a frame pointer that holds something else. */
static void image_redact_freeze(uint8_t *page, size_t nr_bytes)
{
	static const size_t words[] = {
		offsetof(struct btsrec_cpu, freeze.ip),
		offsetof(struct btsrec_cpu, freeze.sp),
		offsetof(struct btsrec_cpu, freeze.bp),
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		uint64_t word;

		if (nr_bytes < words[i] + sizeof(word))
			continue;
		memcpy(&word, page + words[i], sizeof(word));
		/* Addresses of the kernel are in the upper half. */
		if (!(word >> 63))
			memset(page + words[i], 0, sizeof(word));
	}
}

/* Registers hold what a program works on, in the kernel, too. */
static void image_redact_cpu(uint8_t *page, size_t nr_bytes)
{
	size_t at = offsetof(struct btsrec_cpu, registers);

	if (nr_bytes > at)
		memset(page + at, 0, nr_bytes - at);
	image_redact_freeze(page, nr_bytes);
}

/* Also of one without its end. */
static void image_redact_execs(struct btsrec_exec *execs, size_t nr_bytes)
{
	static_assert(BTSREC_PAGE_BYTES % sizeof(*execs) == 0, "an exec crosses pages");
	for (size_t i = 0; i * sizeof(*execs) < nr_bytes; i++)
		memset(execs[i].path, 0, sizeof(execs[i].path));
}

/* Read the whole page, change it, hand on what was asked for. */
static enum btsrec_status read_page(const struct image_redact *image_redact,
				    const struct pageset_page *page, uint64_t offset, void *buf,
				    size_t len_bytes, size_t *ret_bytes)
{
	uint64_t labels[BTSREC_PAGE_BYTES / sizeof(uint64_t)];
	size_t got_bytes;
	enum btsrec_status status =
		image_read_some(image_redact->below, page->pa, labels, sizeof(labels), &got_bytes);

	*ret_bytes = 0;
	if (status != BTSREC_OK && status != BTSREC_ERR_NODATA)
		return status;
	/* What a part of a word belongs to is not known. */
	got_bytes -= got_bytes % sizeof(*labels);
	if (page->bits == PAGE_EXEC)
		image_redact_execs((struct btsrec_exec *)labels, got_bytes);
	else if (page->bits == PAGE_CPU)
		image_redact_cpu((uint8_t *)labels, got_bytes);
	else
		image_redact_ring(image_redact, page->bits, labels, got_bytes / sizeof(*labels));
	if (offset < got_bytes)
		*ret_bytes = got_bytes - offset < len_bytes ? got_bytes - offset : len_bytes;
	memcpy(buf, (uint8_t *)labels + offset, *ret_bytes);
	return *ret_bytes == len_bytes ? BTSREC_OK : BTSREC_ERR_NODATA;
}

enum btsrec_status image_redact_read_pa(void *arg, uint64_t pa, void *buf, size_t len_bytes,
					size_t *ret_bytes)
{
	const struct image_redact *image_redact = arg;
	enum btsrec_status status = BTSREC_OK;

	*ret_bytes = 0;
	while (!status && *ret_bytes < len_bytes) {
		uint64_t at_pa = pa + *ret_bytes, offset = at_pa % BTSREC_PAGE_BYTES;
		const struct pageset_page *page =
			pageset_find(&image_redact->pages, at_pa - offset);
		size_t here_bytes = BTSREC_PAGE_BYTES - offset, got_bytes;
		uint8_t *at = (uint8_t *)buf + *ret_bytes;

		if (here_bytes > len_bytes - *ret_bytes)
			here_bytes = len_bytes - *ret_bytes;
		if (page)
			status = read_page(image_redact, page, offset, at, here_bytes, &got_bytes);
		else
			status = image_read_some(image_redact->below, at_pa, at, here_bytes,
						 &got_bytes);
		*ret_bytes += got_bytes;
	}
	return status;
}

/* Where nothing is to be left out, it reads as much at once as the source can. */
struct btsrec_image image_redact_image(struct image_redact *image_redact)
{
	if (!image_redact->pages.nr)
		return *image_redact->below;
	return image_over(image_redact->below, image_redact_read_pa, image_redact);
}
