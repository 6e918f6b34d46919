// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/mkdump.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "source/elfdump.h"
#include "source/mkdump_headers.h"
#include "source/image.h"
#include "source/kdump_format.h"
#include "source/page_cache.h"
#include "base/readat.h"
#include "source/unpack.h"

/* A bitmap for 32 TiB of memory. */
#define BITMAP_MAX_BYTES	BOUND(1ULL << 30, 1ULL << 14)
#define BITMAP_CHUNK_BYTES	512

#define NOTES_MAX_BYTES		BOUND(16ULL << 20, 1ULL << 16)
#define NOTES_AT_ONCE_BYTES	4096

/* Entries of the table of pages that are read at once; neighbours are wanted next. */
#define NR_DESCS		64

/* Pages that a thread asks for at once: between locks there is much to do. */
#define NR_TOGETHER		32

/* Of so many threads that are not unpacking it is kept what they need for that. */
#define MAX_IDLE		16

/**
 * struct mkdump - an open dump
 * @is_elf: @elf has its memory; else @bitmap says which pages are there, and
 *	@nr_before[i] how many are before its chunk i.
 * @first_pfn, @end_pfn: of a split dump, the page frames that this file has; @nr_skipped
 *	pages of the bitmap are before them.  @max_pfn: after the last one of the set.
 * @bitmap_there_bytes: so much of @bitmap is in the file.
 * @notes_offset, @notes_bytes: the registers of all CPUs, by the sub-header.
 * @unpack: of the caller of mkdump_read_pa().
 * @lock: of the rest, which all threads that read change.
 * @kept: pages that were unpacked.
 * @descs: @nr_descs entries of the table of pages, from @first_desc on.
 * @idle: @nr_idle of them, for the next ones.
 */
struct mkdump {
	struct mkdump_headers headers;
	bool is_elf;
	struct elfdump elf;
	/* compressed */
	uint64_t table_offset;
	uint8_t *bitmap;
	uint64_t bitmap_bytes;
	uint64_t bitmap_there_bytes;
	uint64_t *nr_before;
	uint64_t first_pfn;
	uint64_t end_pfn;
	uint64_t max_pfn;
	uint64_t nr_skipped;
	uint64_t notes_offset;
	uint64_t notes_bytes;
	struct unpack unpack;
	pthread_mutex_t lock;
	struct page_cache kept;
	struct kdump_page_desc descs[NR_DESCS];
	uint64_t first_desc;
	uint64_t nr_descs;
	struct unpack idle[MAX_IDLE];
	size_t nr_idle;
};

/**
 * struct together - @nr pages that a thread reads into @buf; those not @kept are @packed there
 * @keep_them: from now on.
 */
struct together {
	const uint64_t *page_pa;
	uint8_t *buf;
	size_t nr;
	bool keep_them;
	bool kept[NR_TOGETHER];
	struct unpack_page packed[NR_TOGETHER];
};

/* --- Compressed --------------------------------------------------------- */

static uint64_t count_bits(const uint8_t *bytes, size_t nr_bytes)
{
	uint64_t nr_bits = 0, eight;
	size_t i;

	for (i = 0; i + sizeof(eight) <= nr_bytes; i += sizeof(eight)) {
		memcpy(&eight, bytes + i, sizeof(eight));
		nr_bits += (uint64_t)__builtin_popcountll(eight);
	}
	for (; i < nr_bytes; i++)
		nr_bits += (uint64_t)__builtin_popcount(bytes[i]);
	return nr_bits;
}

/* What is missing of the bitmap is as missing as the pages that it would name. */
static enum btsrec_status read_bitmap(struct mkdump *dump, const struct kdump_header *header,
				      struct msg *msg)
{
	uint64_t nr_bytes = (uint64_t)header->bitmap_blocks / 2 * header->block_size;
	uint64_t nr_chunks = nr_bytes / BITMAP_CHUNK_BYTES, i;
	enum btsrec_status status;
	size_t there_bytes;

	dump->bitmap = calloc(1, nr_bytes + 1);
	dump->nr_before = calloc(nr_chunks + 1, sizeof(*dump->nr_before));
	if (!dump->bitmap || !dump->nr_before)
		return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
	dump->bitmap_bytes = nr_bytes;
	dump->headers.max_pa = 8 * nr_bytes * BTSREC_PAGE_BYTES;
	status = mkdump_headers_read(&dump->headers, dump->table_offset - nr_bytes, dump->bitmap,
				     nr_bytes, msg, &there_bytes);
	dump->bitmap_there_bytes = there_bytes;
	for (i = 0; i < nr_chunks; i++)
		dump->nr_before[i + 1] = dump->nr_before[i] +
			count_bits(dump->bitmap + i * BITMAP_CHUNK_BYTES, BITMAP_CHUNK_BYTES);
	return status;
}

static bool header_is_possible(const struct kdump_header *header)
{
	return header->block_size == BTSREC_PAGE_BYTES && header->sub_hdr_size &&
	       header->sub_hdr_size < 1 << 20 &&
	       header->bitmap_blocks / 2 <= BITMAP_MAX_BYTES / BTSREC_PAGE_BYTES;
}

/* How many pages of the bitmap, within it, are before @pfn. */
static uint64_t pages_before(const struct mkdump *dump, uint64_t pfn)
{
	uint64_t chunk = pfn / 8 / BITMAP_CHUNK_BYTES, at = chunk * BITMAP_CHUNK_BYTES;

	return dump->nr_before[chunk] + count_bits(dump->bitmap + at, pfn / 8 - at) +
	       (uint64_t)__builtin_popcount(dump->bitmap[pfn / 8] & ((1U << pfn % 8) - 1));
}

/* A file of a split dump has the whole bitmap, but only the pages of its own part. */
static void take_part(struct mkdump *dump, const struct kdump_header *header,
		      const struct kdump_sub_header *sub)
{
	const struct kdump_pfns pfns = kdump_pfns(header, sub);
	uint64_t nr_pfns = 8 * dump->bitmap_bytes;

	dump->end_pfn = UINT64_MAX;
	dump->max_pfn = pfns.max;
	if (!kdump_is_split(header, sub))
		return;
	dump->first_pfn = pfns.first;
	dump->end_pfn = pfns.end;
	if (header->header_version >= 4) {
		dump->notes_offset = sub->offset_note;
		dump->notes_bytes = sub->size_note;
	}
	dump->nr_skipped = pages_before(dump, min_u64(pfns.first, nr_pfns));
}

static enum btsrec_status kdump_open(struct mkdump *dump, const struct kdump_header *header,
				     struct msg *msg)
{
	const char *packer = unpack_missing(header->status);
	struct kdump_sub_header sub;
	enum btsrec_status status;

	if (!header_is_possible(header))
		return msg_set(msg, BTSREC_ERR_NOT_DUMP,
			       "the header of this compressed dump is no x86-64 kernel's");
	if (packer)
		return msg_set(msg, BTSREC_ERR_NOT_DUMP,
			       "a flattened dump packed with %s; make a plain one of it with "
			       "\"makedumpfile -R OUT < DUMP\"", packer);
	status =
		mkdump_headers_read_all(&dump->headers, header->block_size, &sub, sizeof(sub), msg);
	if (status)
		return status;
	dump->table_offset = kdump_table_offset(header);
	if (dump->table_offset > dump->headers.file->end)
		return mkdump_headers_cut(msg);
	status = read_bitmap(dump, header, msg);
	if (!status)
		take_part(dump, header, &sub);
	if (!status && header->header_version >= 3)
		status = mkdump_headers_read_vmcoreinfo(&dump->headers, sub.offset_vmcoreinfo,
							sub.size_vmcoreinfo, msg);
	return status;
}

/* The number of page @pfn among those in the file; false: it is not in it. */
static bool page_index(const struct mkdump *dump, uint64_t pfn, uint64_t *ret)
{
	if (pfn < dump->first_pfn || pfn >= dump->end_pfn || pfn / 8 >= dump->bitmap_bytes ||
	    !(dump->bitmap[pfn / 8] >> pfn % 8 & 1))
		return false;
	*ret = pages_before(dump, pfn) - dump->nr_skipped;
	return true;
}

static enum btsrec_status load_descs(struct mkdump *dump, uint64_t index, size_t nr_wanted)
{
	uint64_t offset = dump->table_offset + index * sizeof(*dump->descs);
	enum btsrec_status status;
	size_t nr_bytes;

	status = mkdump_file_read(dump->headers.file, offset, dump->descs,
				  nr_wanted * sizeof(*dump->descs), &nr_bytes);
	dump->nr_descs = nr_bytes / sizeof(*dump->descs);
	dump->first_desc = index;
	return dump->nr_descs ? BTSREC_OK : status;
}

/* Entry @index of the table of pages; locked. */
static enum btsrec_status desc_at(struct mkdump *dump, uint64_t index,
				  const struct kdump_page_desc **ret)
{
	enum btsrec_status status = BTSREC_OK;

	if (index - dump->first_desc >= dump->nr_descs)
		status = load_descs(dump, index, NR_DESCS);
	/* What cannot be read may be a neighbour. */
	if (status)
		status = load_descs(dump, index, 1);
	if (!status)
		*ret = &dump->descs[index - dump->first_desc];
	return status;
}

/* Where page @pfn is; BTSREC_ERR_NODATA: the dump does not say; locked. */
static enum btsrec_status find_page(struct mkdump *dump, uint64_t pfn, struct unpack_page *ret)
{
	const struct kdump_page_desc *desc;
	enum btsrec_status status;
	uint64_t index;

	if (!page_index(dump, pfn, &index))
		return BTSREC_ERR_NODATA;
	status = desc_at(dump, index, &desc);
	if (!status)
		*ret = (struct unpack_page){ desc->offset, desc->size, desc->flags };
	return status;
}

/* If page @pfn is kept, @nr_bytes of it from @offset on; locked. */
static bool copy_kept(struct mkdump *dump, uint64_t pfn, size_t offset, void *buf, size_t nr_bytes)
{
	const uint8_t *page = page_cache_find(&dump->kept, pfn);

	if (page)
		memcpy(buf, page + offset, nr_bytes);
	return page;
}

/* Without memory for it, it is unpacked again; locked. */
static void keep(struct mkdump *dump, uint64_t pfn, const uint8_t *page)
{
	uint8_t *room = page_cache_find(&dump->kept, pfn) ? NULL : page_cache_room(&dump->kept);

	if (!room)
		return;
	memcpy(room, page, BTSREC_PAGE_BYTES);
	page_cache_add(&dump->kept, pfn);
}

/* The file may end within a page that is not packed: what is before the end is there. */
static enum btsrec_status read_plain(const struct mkdump *dump, const struct unpack_page *page,
				     size_t offset, void *buf, size_t nr_bytes, size_t *ret_bytes)
{
	if (page->flags || page->nr_bytes != BTSREC_PAGE_BYTES)
		return BTSREC_ERR_NODATA;
	return mkdump_file_read(dump->headers.file, page->offset + offset, buf, nr_bytes,
				ret_bytes);
}

/* @nr_bytes of page @pfn from @offset on. */
static enum btsrec_status load_page(struct mkdump *dump, uint64_t pfn, bool keep_it, size_t offset,
				    void *buf, size_t nr_bytes, size_t *ret_bytes)
{
	uint8_t page[BTSREC_PAGE_BYTES];
	struct unpack_page packed;
	enum btsrec_status status;

	pthread_mutex_lock(&dump->lock);
	status = find_page(dump, pfn, &packed);
	pthread_mutex_unlock(&dump->lock);
	if (status)
		return status;
	status = unpack_page(&dump->unpack, dump->headers.file, &packed, page);
	if (status == BTSREC_ERR_NODATA)
		return read_plain(dump, &packed, offset, buf, nr_bytes, ret_bytes);
	if (status)
		return status;
	if (keep_it) {
		pthread_mutex_lock(&dump->lock);
		keep(dump, pfn, page);
		pthread_mutex_unlock(&dump->lock);
	}
	memcpy(buf, page + offset, nr_bytes);
	*ret_bytes = nr_bytes;
	return BTSREC_OK;
}

/* The bytes at @pa into @buf; *@ret_bytes of them are in one page.  @keep_it: if it is packed. */
static enum btsrec_status kdump_read_page(struct mkdump *dump, uint64_t pa, bool keep_it, void *buf,
					  size_t len_bytes, size_t *ret_bytes)
{
	size_t offset = pa % BTSREC_PAGE_BYTES;
	size_t nr_bytes = min_u64(BTSREC_PAGE_BYTES - offset, len_bytes);
	uint64_t pfn = pa / BTSREC_PAGE_BYTES;
	bool kept;

	pthread_mutex_lock(&dump->lock);
	kept = copy_kept(dump, pfn, offset, buf, nr_bytes);
	pthread_mutex_unlock(&dump->lock);
	*ret_bytes = kept ? nr_bytes : 0;
	return kept ? BTSREC_OK : load_page(dump, pfn, keep_it, offset, buf, nr_bytes, ret_bytes);
}

/* --- Any ---------------------------------------------------------------- */

enum btsrec_status mkdump_read_pa(struct mkdump *dump, uint64_t pa, void *buf, size_t len_bytes,
				  size_t *ret_bytes)
{
	enum btsrec_status status = BTSREC_OK;
	size_t nr_done = 0, nr_bytes = 1;
	bool keep_it = len_bytes < IMAGE_MUCH_BYTES;

	while (nr_done < len_bytes && nr_bytes) {
		uint8_t *to = (uint8_t *)buf + nr_done;
		size_t rest_bytes = len_bytes - nr_done;

		if (dump->is_elf)
			status = elfdump_read(&dump->elf, pa + nr_done, to, rest_bytes, &nr_bytes);
		else
			status = kdump_read_page(dump, pa + nr_done, keep_it, to, rest_bytes,
						 &nr_bytes);
		nr_done += nr_bytes;
		if (status)
			break;
	}
	*ret_bytes = nr_done;
	return nr_done == len_bytes ? BTSREC_OK : status;
}

/* --- By any thread ------------------------------------------------------ */

/* Locked. */
static struct unpack begin_unpack(struct mkdump *dump)
{
	return dump->nr_idle ? dump->idle[--dump->nr_idle] : (struct unpack){ 0 };
}

/* Locked. */
static void end_unpack(struct mkdump *dump, struct unpack *unpack)
{
	if (dump->nr_idle < MAX_IDLE)
		dump->idle[dump->nr_idle++] = *unpack;
	else
		unpack_fini(unpack);
}

/* Page @i of those to @buf; locked. */
static bool begin_page(struct mkdump *dump, struct together *together, size_t i)
{
	uint64_t pfn = together->page_pa[i] / BTSREC_PAGE_BYTES;

	together->kept[i] = copy_kept(dump, pfn, 0, together->buf + i * BTSREC_PAGE_BYTES,
				      BTSREC_PAGE_BYTES);
	return together->kept[i] || !find_page(dump, pfn, &together->packed[i]);
}

/* What begin_page() has said is packed; not locked. */
static bool unpack_pages(struct mkdump *dump, const struct together *together,
			 struct unpack *unpack)
{
	for (size_t i = 0; i < together->nr; i++)
		if (!together->kept[i] &&
		    unpack_page(unpack, dump->headers.file, &together->packed[i],
				together->buf + i * BTSREC_PAGE_BYTES))
			return false;
	return true;
}

/* Locked, but not while pages are unpacked; false: not all are there. */
static bool read_together(struct mkdump *dump, struct together *together, struct unpack *unpack)
{
	size_t nr_kept = 0;
	bool good;

	for (size_t i = 0; i < together->nr; i++) {
		if (!begin_page(dump, together, i))
			return false;
		nr_kept += together->kept[i];
	}
	if (nr_kept == together->nr)
		return true;
	pthread_mutex_unlock(&dump->lock);
	good = unpack_pages(dump, together, unpack);
	pthread_mutex_lock(&dump->lock);
	for (size_t i = 0; good && together->keep_them && i < together->nr; i++)
		if (!together->kept[i])
			keep(dump, together->page_pa[i] / BTSREC_PAGE_BYTES,
			     together->buf + i * BTSREC_PAGE_BYTES);
	return good;
}

static bool kdump_read_pages(struct mkdump *dump, const uint64_t *page_pa, size_t nr, uint8_t *buf)
{
	struct together together;
	struct unpack unpack;
	bool good = true;

	together.keep_them = nr * BTSREC_PAGE_BYTES < IMAGE_MUCH_BYTES;
	pthread_mutex_lock(&dump->lock);
	unpack = begin_unpack(dump);
	for (size_t i = 0; good && i < nr; i += together.nr) {
		together.page_pa = page_pa + i;
		together.buf = buf + i * BTSREC_PAGE_BYTES;
		together.nr = nr - i < NR_TOGETHER ? nr - i : NR_TOGETHER;
		good = read_together(dump, &together, &unpack);
	}
	end_unpack(dump, &unpack);
	pthread_mutex_unlock(&dump->lock);
	return good;
}

bool mkdump_read_pages(struct mkdump *dump, const uint64_t *page_pa, size_t nr, uint8_t *buf)
{
	return dump->is_elf ? elfdump_read_pages(&dump->elf, page_pa, nr, buf) :
			      kdump_read_pages(dump, page_pa, nr, buf);
}

/* --- About it ----------------------------------------------------------- */

const char *mkdump_vmcoreinfo(const struct mkdump *dump)
{
	return dump->headers.vmcoreinfo;
}

uint64_t mkdump_max_pa(const struct mkdump *dump)
{
	return dump->headers.max_pa < IMAGE_MAX_PA ? dump->headers.max_pa : IMAGE_MAX_PA;
}

uint64_t mkdump_described_bytes(const struct mkdump *dump)
{
	return dump->headers.described_bytes;
}

/* The first page frame from @pfn on that is in the bitmap; after its end: none. */
static uint64_t next_pfn(const struct mkdump *dump, uint64_t pfn)
{
	while (pfn / 8 < dump->bitmap_bytes) {
		uint64_t chunk = pfn / 8 / BITMAP_CHUNK_BYTES;
		bool has_any = dump->nr_before[chunk] != dump->nr_before[chunk + 1];

		if (has_any && dump->bitmap[pfn / 8] >> pfn % 8 & 1)
			return pfn;
		pfn = has_any ? pfn + 1 : 8 * BITMAP_CHUNK_BYTES * (chunk + 1);
	}
	return UINT64_MAX / BTSREC_PAGE_BYTES;
}

uint64_t mkdump_next_pa(struct mkdump *dump, uint64_t pa)
{
	uint64_t pfn = pa / BTSREC_PAGE_BYTES, next;

	if (dump->is_elf)
		return elfdump_next_pa(&dump->elf, pa);
	next = next_pfn(dump, pfn);
	return next == pfn ? pa : next * BTSREC_PAGE_BYTES;
}

bool mkdump_part(const struct mkdump *dump, struct mkdump_part *ret)
{
	if (dump->is_elf || dump->end_pfn == UINT64_MAX)
		return false;
	ret->first_pfn = dump->first_pfn;
	ret->end_pfn = dump->end_pfn;
	ret->max_pfn = dump->max_pfn;
	return true;
}

/* What is there of both is the same; of notes that are too large, their begin. */
static bool same_notes(const struct mkdump *a, const struct mkdump *b)
{
	uint8_t of_a[NOTES_AT_ONCE_BYTES], of_b[NOTES_AT_ONCE_BYTES];
	uint64_t end = min_u64(a->notes_bytes, NOTES_MAX_BYTES);
	size_t nr_a = 1, nr_b = 1;

	if (a->notes_bytes != b->notes_bytes)
		return false;
	for (uint64_t at = 0; at < end && nr_a && nr_b; at += min_u64(nr_a, nr_b)) {
		size_t nr_bytes = min_u64(sizeof(of_a), end - at);

		/* What is cut off is no difference. */
		(void)mkdump_file_read(a->headers.file, a->notes_offset + at, of_a, nr_bytes,
				       &nr_a);
		(void)mkdump_file_read(b->headers.file, b->notes_offset + at, of_b, nr_bytes,
				       &nr_b);
		if (memcmp(of_a, of_b, min_u64(nr_a, nr_b)))
			return false;
	}
	return true;
}

bool mkdump_same_dump(const struct mkdump *a, const struct mkdump *b)
{
	return a->max_pfn == b->max_pfn && a->bitmap_bytes == b->bitmap_bytes &&
	       !memcmp(a->bitmap, b->bitmap,
		       min_u64(a->bitmap_there_bytes, b->bitmap_there_bytes)) &&
	       same_notes(a, b);
}

void mkdump_free(struct mkdump *dump)
{
	if (!dump)
		return;
	free(dump->headers.vmcoreinfo);
	elfdump_fini(&dump->elf);
	free(dump->bitmap);
	free(dump->nr_before);
	page_cache_fini(&dump->kept);
	unpack_fini(&dump->unpack);
	while (dump->nr_idle)
		unpack_fini(&dump->idle[--dump->nr_idle]);
	pthread_mutex_destroy(&dump->lock);
	free(dump);
}

static enum btsrec_status open_any(struct mkdump *dump, struct msg *msg)
{
	union {
		Elf64_Ehdr elf;
		struct kdump_header kdump;
	} head = { 0 };
	enum btsrec_status status;
	size_t nr_bytes;

	status = mkdump_headers_read(&dump->headers, 0, &head, sizeof(head), msg, &nr_bytes);
	if (status)
		return status;
	dump->is_elf = nr_bytes >= sizeof(head.elf) && elfdump_probe(&head.elf);
	if (dump->is_elf)
		return elfdump_init(&dump->elf, &dump->headers, &head.elf, msg);
	if (nr_bytes < sizeof(head))
		return mkdump_headers_cut(msg);
	if (!memcmp(head.kdump.signature, "KDUMP   ", sizeof(head.kdump.signature)))
		return kdump_open(dump, &head.kdump, msg);
	return msg_set(msg, BTSREC_ERR_NOT_DUMP, "what was flattened is no kernel dump");
}

enum btsrec_status mkdump_new(const struct mkdump_file *file, struct msg *msg, struct mkdump **ret)
{
	struct mkdump *dump = calloc(1, sizeof(*dump));
	enum btsrec_status status;

	if (!dump)
		return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
	dump->headers.file = file;
	pthread_mutex_init(&dump->lock, NULL);
	status = open_any(dump, msg);
	if (status) {
		mkdump_free(dump);
		return status;
	}
	*ret = dump;
	return BTSREC_OK;
}
