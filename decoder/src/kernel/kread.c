// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/kread.h"

#include "base/pool.h"

/* As many as a thread reads before it asks for more. */
#define TOGETHER_EACH		(IMAGE_MUCH_BYTES / BTSREC_PAGE_BYTES)

/** struct together - @nr_pages pages from @pa on, which threads read into @buf */
struct together {
	const struct btsrec_image *image;
	uint64_t pa;
	size_t nr_pages;
	uint8_t *buf;
};

static enum btsrec_status read_each(void *arg, unsigned int worker, size_t task,
				    const struct pool_text *text)
{
	const struct together *together = arg;
	size_t first = task * TOGETHER_EACH, nr = together->nr_pages - first;
	uint64_t page_pa[TOGETHER_EACH];
	bool good;

	(void)worker;
	(void)text;
	if (nr > TOGETHER_EACH)
		nr = TOGETHER_EACH;
	for (size_t i = 0; i < nr; i++)
		page_pa[i] = together->pa + (first + i) * BTSREC_PAGE_BYTES;
	good = image_read_pages(together->image, page_pa, nr,
				together->buf + first * BTSREC_PAGE_BYTES);
	return good ? BTSREC_OK : BTSREC_ERR_NODATA;
}

/* False: image_read_some() has to say what is there. */
static bool read_together(const struct kread *kread, uint64_t pa, void *buf, size_t len_bytes)
{
	struct together together = { kread->image, pa, len_bytes / BTSREC_PAGE_BYTES, buf };
	const struct pool_work work = {
		.nr_tasks = (together.nr_pages + TOGETHER_EACH - 1) / TOGETHER_EACH,
		.nr_workers = kread->nr_threads,
		.run = read_each,
		.arg = &together,
	};
	unsigned int worker;

	return !pool_run(&work, NULL, &worker);
}

/* Other threads help: to unpack it takes longer than to start them. */
static bool is_much(const struct kread *kread, size_t len_bytes)
{
	return kread->nr_threads > 1 && len_bytes >= IMAGE_MUCH_BYTES;
}

/* How many are read at once: of much the part of a page that it begins with, then whole pages. */
static size_t piece_bytes(const struct kread *kread, uint64_t pa, size_t len_bytes)
{
	size_t offset = pa % BTSREC_PAGE_BYTES;

	if (!is_much(kread, len_bytes))
		return len_bytes;
	return offset ? BTSREC_PAGE_BYTES - offset : len_bytes - len_bytes % BTSREC_PAGE_BYTES;
}

/* Return: the number of leading bytes of @buf that are valid. */
static size_t read_piece(const struct kread *kread, uint64_t pa, void *buf, size_t len_bytes)
{
	size_t got_bytes;

	if (is_much(kread, len_bytes) && read_together(kread, pa, buf, len_bytes))
		return len_bytes;
	image_read_some(kread->image, pa, buf, len_bytes, &got_bytes);
	return got_bytes;
}

/* Where the byte at @kva is, and how many more follow it there. */
static bool find_pa(const struct kread *kread, uint64_t kva, uint64_t *ret_pa,
		    uint64_t *ret_bytes)
{
	uint64_t offset = kva - KREAD_IMAGE_KVA;

	if (offset < KREAD_IMAGE_BYTES) {
		*ret_pa = offset + kread->phys_base;
		*ret_bytes = KREAD_IMAGE_BYTES - offset;
		return true;
	}
	*ret_bytes = BTSREC_PAGE_BYTES - kva % BTSREC_PAGE_BYTES;
	return kread->pgd_pa && walk_pa(kread->walk, kread->pgd_pa, kva, ret_pa) == WALK_OK;
}

bool kread_pa(const struct kread *kread, uint64_t kva, uint64_t *ret_pa)
{
	uint64_t nr_bytes;

	return find_pa(kread, kva, ret_pa, &nr_bytes);
}

size_t kread_some(const struct kread *kread, uint64_t kva, void *buf, size_t len_bytes)
{
	size_t nr_done = 0;

	while (nr_done < len_bytes) {
		size_t want_bytes = len_bytes - nr_done, got_bytes;
		uint64_t pa, there_bytes;

		if (!find_pa(kread, kva + nr_done, &pa, &there_bytes))
			break;
		if (want_bytes > there_bytes)
			want_bytes = there_bytes;
		want_bytes = piece_bytes(kread, pa, want_bytes);
		got_bytes = read_piece(kread, pa, (uint8_t *)buf + nr_done, want_bytes);
		nr_done += got_bytes;
		if (got_bytes < want_bytes)
			break;
	}
	return nr_done;
}
