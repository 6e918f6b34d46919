// SPDX-License-Identifier: GPL-2.0-or-later
/* The files of a split dump (makedumpfile --split) as one source. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "source/image.h"
#include "recorder/open.h"
#include "recorder/session.h"

/** struct split - the files differ in which pages they have */
struct split {
	size_t nr_parts;
	struct split_part {
		struct dump *dump;
		struct btsrec_image image;
		struct mkdump_part has;
	} parts[];
};

static void split_free(void *data)
{
	struct split *split = data;

	for (size_t i = 0; split && i < split->nr_parts; i++)
		dump_free(split->parts[i].dump);
	free(split);
}

static void cleanup_split(struct split **split)
{
	split_free(*split);
}

/* The part that has what is at @pa, or NULL. */
static const struct split_part *part_at(const struct split *split, uint64_t pa)
{
	uint64_t pfn = pa / BTSREC_PAGE_BYTES;

	for (size_t i = 0; i < split->nr_parts; i++) {
		const struct split_part *part = &split->parts[i];

		if (pfn >= part->has.first_pfn && pfn < part->has.end_pfn)
			return part;
	}
	return NULL;
}

static enum btsrec_status split_read_pa(void *arg, uint64_t pa, void *buf, size_t len_bytes,
					size_t *ret_bytes)
{
	enum btsrec_status status = BTSREC_OK;
	size_t nr_bytes = 1;

	*ret_bytes = 0;
	/* What is not in one part may be in the next; that it cannot be read ends it. */
	while ((!status || status == BTSREC_ERR_NODATA) && nr_bytes && *ret_bytes < len_bytes) {
		const struct split_part *part = part_at(arg, pa + *ret_bytes);

		nr_bytes = 0;
		status = BTSREC_ERR_NODATA;
		if (part)
			status = part->image.read_pa(part->dump, pa + *ret_bytes,
						     (uint8_t *)buf + *ret_bytes,
						     len_bytes - *ret_bytes, &nr_bytes);
		*ret_bytes += nr_bytes;
	}
	return *ret_bytes == len_bytes ? BTSREC_OK : status;
}

/* How many of the @nr pages, with the first one, @part has in a row. */
static size_t nr_of_part(const struct split *split, const struct split_part *part,
			 const uint64_t *page_pa, size_t nr)
{
	size_t i = 1;

	while (i < nr && part_at(split, page_pa[i]) == part)
		i++;
	return i;
}

static bool split_read_pages(void *arg, const uint64_t *page_pa, size_t nr, void *buf)
{
	size_t nr_run;

	for (size_t i = 0; i < nr; i += nr_run) {
		const struct split_part *part = part_at(arg, page_pa[i]);

		nr_run = nr_of_part(arg, part, page_pa + i, nr - i);
		if (!part || !part->image.read_pages(part->dump, page_pa + i, nr_run,
						     (uint8_t *)buf + i * BTSREC_PAGE_BYTES))
			return false;
	}
	return true;
}

/* Each part has the bitmap of all. */
static uint64_t split_next_pa(void *arg, uint64_t pa)
{
	const struct split *split = arg;

	return split->parts[0].image.next_pa(split->parts[0].dump, pa);
}

static enum btsrec_status open_part(struct btsrec *rec, const char *path, struct split *split)
{
	struct split_part *part = &split->parts[split->nr_parts];
	const char *first = split->parts[0].image.vmcoreinfo;
	enum btsrec_status status = dump_open_path(rec, path, &part->dump);

	if (status)
		return status;
	split->nr_parts++;
	dump_image(part->dump, &part->image);
	if (!dump_part(part->dump, &part->has))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "%s: several files must be parts of one split dump, and this is "
			       "none", path);
	if ((first && part->image.vmcoreinfo && strcmp(first, part->image.vmcoreinfo)) ||
	    !dump_same(split->parts[0].dump, part->dump))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "%s: this is a part of another dump than the first file", path);
	return BTSREC_OK;
}

/* Do the parts have all page frames? */
static bool split_is_whole(const struct split *split)
{
	uint64_t pfn = 0;
	size_t i = 0;

	while (i < split->nr_parts && pfn < split->parts[0].has.max_pfn) {
		const struct mkdump_part *has = &split->parts[i++].has;

		if (pfn < has->first_pfn || pfn >= has->end_pfn)
			continue;
		pfn = has->end_pfn;
		i = 0;
	}
	return pfn >= split->parts[0].has.max_pfn;
}

static enum btsrec_status open_split(struct btsrec *rec, const char *const *paths,
				     size_t nr_paths)
{
	__attribute__((cleanup(cleanup_split))) struct split *split =
		calloc(1, sizeof(*split) + nr_paths * sizeof(*split->parts));
	enum btsrec_status status = BTSREC_OK;
	struct btsrec_image image;
	bool incomplete = false;

	if (!split)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < nr_paths && !status; i++) {
		status = open_part(rec, paths[i], split);
		/* Each file says so of itself. */
		incomplete |= rec->incomplete;
	}
	if (status)
		return status;
	rec->incomplete = incomplete;
	image = image_over(&split->parts[0].image, split_read_pa, split);
	image.read_pages = split_read_pages;
	image.next_pa = split_next_pa;
	if (!split_is_whole(split)) {
		rec->incomplete = true;
		snprintf(rec->notice, sizeof(rec->notice), "files of the split dump are missing");
	}
	status = session_open(rec, &image, (struct session_part){ split, split_free });
	rec->is_file |= !status;
	if (!status)
		(void)take_ptr(split);
	return status;
}

enum btsrec_status btsrec_open_split(struct btsrec *rec, const char *const *paths,
				     size_t nr_paths)
{
	if (!nr_paths)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no file");
	return nr_paths == 1 ? btsrec_open_dump(rec, *paths) : open_split(rec, paths, nr_paths);
}
