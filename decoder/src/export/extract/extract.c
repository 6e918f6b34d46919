// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps of a dump what the decoders read: all that they ask of it is watched once,
 * then just those lines of memory are written.  So a decoder sees no difference
 * between the small file and the dump, without a list of what it might need.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/options.h"
#include "export/extract/extract_watch.h"
#include "export/extract/extract_write.h"
#include "recorder/cpus.h"
#include "recorder/recorder_pages.h"
#include "recorder/session.h"
#include "export/extract/image_record.h"

/* --- Writing ------------------------------------------------------------ */

/* The first run of set bits in @bits; returns its length. */
static unsigned int first_run(uint64_t bits, unsigned int *ret_first)
{
	unsigned int first = (unsigned int)__builtin_ctzll(bits);
	uint64_t after = ~(bits >> first);

	*ret_first = first;
	return after ? (unsigned int)__builtin_ctzll(after) : 64;
}

static uint64_t run_bits(unsigned int first, unsigned int nr)
{
	return nr ? UINT64_MAX >> (64 - nr) << first : 0;
}

/*
 * Read the lines @wanted of the page at @page->pa, one after another, and store in
 * page->lines which were there: a dump that is cut off may end inside one, which @writer gets.
 */
static enum btsrec_status read_lines(struct extract_writer *writer,
				     const struct btsrec_image *image, uint64_t wanted,
				     struct extract_page *page)
{
	size_t nr_room;
	uint8_t *buf = extract_room(writer, &nr_room);

	page->lines = 0;
	while (wanted) {
		unsigned int first, nr = first_run(wanted, &first);
		size_t got_bytes;
		enum btsrec_status status =
			image_read_some(image, page->pa + first * IMAGE_RECORD_LINE_BYTES, buf,
					nr * IMAGE_RECORD_LINE_BYTES, &got_bytes);

		if (status != BTSREC_OK && status != BTSREC_ERR_NODATA)
			return status;
		wanted &= ~run_bits(first, nr);
		nr = (unsigned int)(got_bytes / IMAGE_RECORD_LINE_BYTES);
		page->lines |= run_bits(first, nr);
		buf += nr * IMAGE_RECORD_LINE_BYTES;
		if (got_bytes % IMAGE_RECORD_LINE_BYTES &&
		    extract_add_cut(writer, page->pa + (first + nr) * IMAGE_RECORD_LINE_BYTES, buf,
				    got_bytes % IMAGE_RECORD_LINE_BYTES))
			return BTSREC_ERR_NOMEM;
	}
	return BTSREC_OK;
}

static enum btsrec_status write_page(struct extract_writer *writer,
				     const struct btsrec_image *image,
				     const struct pageset_page *wanted)
{
	struct extract_page page = { .pa = wanted->pa };
	enum btsrec_status status;

	status = read_lines(writer, image, wanted->bits, &page);
	if (!status && page.lines)
		status = extract_add(writer, &page);
	return status;
}

/* Of @nr pages the first ones that are wanted as a whole, read at once; returns how many. */
static size_t read_whole_pages(struct extract_writer *writer, const struct btsrec_image *image,
			       const struct pageset_page *wanted, size_t nr)
{
	uint64_t page_pa[EXTRACT_FRAME_PAGES];
	size_t nr_whole = 0, nr_room;
	uint8_t *room = extract_room(writer, &nr_room);

	for (; nr_whole < nr && nr_whole < nr_room && wanted[nr_whole].bits == UINT64_MAX;
	     nr_whole++)
		page_pa[nr_whole] = wanted[nr_whole].pa;
	return nr_whole && image_read_pages(image, page_pa, nr_whole, room) ? nr_whole : 0;
}

/* Some of the @nr pages, at least one. */
static enum btsrec_status write_some(struct extract_writer *writer,
				     const struct btsrec_image *image,
				     const struct pageset_page *wanted, size_t nr, size_t *ret_nr)
{
	size_t nr_whole = read_whole_pages(writer, image, wanted, nr);
	enum btsrec_status status = BTSREC_OK;

	*ret_nr = nr_whole ? nr_whole : 1;
	if (!nr_whole)
		return write_page(writer, image, wanted);
	for (size_t i = 0; !status && i < nr_whole; i++)
		status = extract_add(writer, &(struct extract_page){ wanted[i].pa, UINT64_MAX });
	return status;
}

/* Where in the file the page at @pa is: structures, then rings, then all else. */
static unsigned int place_of(const struct pageset *recorder, uint64_t pa)
{
	const struct pageset_page *page = pageset_find(recorder, pa);

	if (!page)
		return 2;
	return page->bits == RECORDER_PAGE_STRUCTURE ? 0 : 1;
}

/* @pages, those of @recorder first, each part in ascending order; NULL: out of memory. */
static struct pageset_page *in_order(struct pageset *pages, const struct pageset *recorder)
{
	struct pageset_page *ordered = malloc((pages->nr + 1) * sizeof(*ordered));
	size_t nr = 0;

	if (!ordered)
		return NULL;
	pageset_sort(pages);
	for (unsigned int place = 0; place <= 2; place++)
		for (size_t i = 0; i < pages->nr; i++)
			if (place_of(recorder, pages->slots[i].pa) == place)
				ordered[nr++] = pages->slots[i];
	return ordered;
}

static enum btsrec_status write_pages(struct extract_writer *writer,
				      const struct btsrec_image *image, struct pageset *pages,
				      const struct pageset *recorder)
{
	_cleanup_free_ struct pageset_page *ordered = in_order(pages, recorder);
	enum btsrec_status status = ordered ? BTSREC_OK : BTSREC_ERR_NOMEM, before;
	size_t nr;

	for (size_t i = 0; !status && i < pages->nr; i += nr)
		status = write_some(writer, image, &ordered[i], pages->nr - i, &nr);
	/* What is in front of a page that cannot be read is written, unless it fails first. */
	before = extract_settle(writer);
	return before ? before : status;
}

/* Lines about programs that crash have their names and user addresses. */
static bool leaves_log_out(const struct btsrec_extract *opts)
{
	return opts->no_log || opts->no_user || opts->no_paths;
}

/* What is lost in a file that is whole otherwise: all that is written has been read before. */
static bool lacks_something(const struct btsrec *rec)
{
	return rec->incomplete || rec->trouble == BTSREC_ERR_CORRUPT;
}

static enum btsrec_status write_all(struct btsrec *rec, const struct btsrec_extract *opts,
				    const struct btsrec_image *image, struct pageset *pages,
				    const struct pageset *recorder, const struct btsrec_sink *sink)
{
	struct extract_writer *writer = extract_writer_new(sink, rec->nr_threads);
	struct extract_header header = {
		.flags = (opts->no_user ? EXTRACT_F_NO_USER : 0) |
			 (opts->no_paths ? EXTRACT_F_NO_PATHS : 0) |
			 (leaves_log_out(opts) ? EXTRACT_F_NO_LOG : 0) |
			 (lacks_something(rec) ? EXTRACT_F_INCOMPLETE : 0),
		.root_pa = rec->located->root.self_pa,
		.max_pa = rec->image.max_pa,
	};
	enum btsrec_status status;

	if (!writer)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	snprintf(header.maker, sizeof(header.maker), "btsrec %s", btsrec_version());
	status = extract_begin(writer, &header, rec->image.vmcoreinfo);
	if (!status)
		status = write_pages(writer, image, pages, recorder);
	if (!status)
		status = extract_end(writer);
	extract_writer_free(writer);
	return status ? msg_set(&rec->msg, status, "%s", btsrec_status_str(status)) : BTSREC_OK;
}

/* --- Both --------------------------------------------------------------- */

static enum btsrec_status watch_and_write(struct btsrec *rec, const struct btsrec_extract *opts,
					  struct image_redact *image_redact,
					  const struct btsrec_sink *sink)
{
	struct btsrec_image image = image_redact_image(image_redact);
	struct pageset pages = { 0 }, recorder = { 0 };
	enum btsrec_status status;

	status = extract_watch(rec, image_redact, &pages);
	if (!status && recorder_pages(rec->located, &recorder))
		status = msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (!status)
		status = write_all(rec, opts, &image, &pages, &recorder, sink);
	pageset_fini(&recorder);
	pageset_fini(&pages);
	return status;
}

/* What the dump lacks, the file lacks, too, which is whole otherwise: the first CPU is named. */
static enum btsrec_status find_losses(struct btsrec *rec)
{
	bool lost = false;

	for (unsigned int cpu = 0; cpu < btsrec_nr_cpu_ids(rec); cpu++) {
		enum btsrec_status status = btsrec_cpu(rec, cpu) ?
			btsrec_has_losses(rec, cpu, 0, &lost) : BTSREC_OK;

		if (status)
			return status;
		if (lost)
			return msg_set(&rec->msg, BTSREC_ERR_CORRUPT,
				       "a part of the history of CPU %u is missing", cpu);
	}
	return BTSREC_OK;
}

static enum btsrec_status write_extract(struct btsrec *rec, const struct btsrec_extract *opts,
					const struct btsrec_sink *sink)
{
	struct image_redact image_redact = {
		.below = &rec->image,
		.located = rec->located,
		.no_user = opts->no_user,
		.no_paths = opts->no_paths,
		.no_log = leaves_log_out(opts),
	};
	enum btsrec_status status;

	if (!rec->located)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no recorder located yet");
	status = image_redact_init(&image_redact);
	if (status)
		msg_set(&rec->msg, status, "out of memory");
	else
		status = watch_and_write(rec, opts, &image_redact, sink);
	image_redact_fini(&image_redact);
	if (!status)
		status = find_losses(rec);
	return cpus_end(rec, NULL, status);
}

enum btsrec_status btsrec_extract(struct btsrec *rec, const struct btsrec_extract *given,
				  const struct btsrec_sink *sink)
{
	struct btsrec_extract opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	return status ? status : write_extract(rec, &opts, sink);
}
