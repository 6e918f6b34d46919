// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/elfdump.h"

#include <stddef.h>
#include <string.h>
#include <sys/uio.h>

#include "base/bounds.h"
#include "source/image.h"
#include "base/readat.h"

#define MAX_SEGMENTS		BOUND(1U << 20, 1U << 8)
/* Of all segments, which may have the same ones; 8192 CPUs with 2 KiB each. */
#define NOTES_MAX_BYTES		BOUND(16ULL << 20, 1ULL << 16)
#define NOTES_AT_ONCE_BYTES	BOUND(1U << 14, 1U << 6)

/** struct note_head - of a note, as far as it is the same for all */
struct note_head {
	Elf64_Nhdr note;
	char name[sizeof("VMCOREINFO")];
};

#define NOTE_HEAD_BYTES	(offsetof(struct note_head, name) + sizeof("VMCOREINFO"))

/** struct notes - @nr_bytes of them, from @begin of the file on; @left_bytes may yet be read */
struct notes {
	uint64_t left_bytes;
	uint64_t begin;
	size_t nr_bytes;
	uint8_t bytes[NOTES_AT_ONCE_BYTES];
};

bool elfdump_probe(const Elf64_Ehdr *header)
{
	return !memcmp(header->e_ident, ELFMAG, SELFMAG) && header->e_type == ET_CORE &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       header->e_phentsize == sizeof(Elf64_Phdr);
}

/* Notes count as memory does. */
static void describe(struct mkdump_headers *headers, const Elf64_Phdr *segment)
{
	uint64_t end = segment->p_offset + segment->p_filesz;

	if ((segment->p_type == PT_LOAD || segment->p_type == PT_NOTE) && segment->p_filesz &&
	    segment->p_offset <= INT64_MAX && segment->p_filesz <= INT64_MAX &&
	    headers->described_bytes < end)
		headers->described_bytes = end;
}

/* Segment number @number; where several overlap, as the kernel's text and its memory, the first. */
static enum btsrec_status add_memory(struct elfdump *elf, struct mkdump_headers *headers,
				     const Elf64_Phdr *segment, uint64_t number, struct msg *msg)
{
	uint64_t there_bytes = 0;

	/* What a segment claims beyond the end of the file is not there. */
	if (segment->p_offset < headers->file->end)
		there_bytes = min_u64(segment->p_filesz, headers->file->end - segment->p_offset);
	if (segment->p_paddr >= IMAGE_MAX_PA || there_bytes > IMAGE_MAX_PA || !there_bytes)
		return BTSREC_OK;
	if (headers->max_pa < segment->p_paddr + there_bytes)
		headers->max_pa = segment->p_paddr + there_bytes;
	if (!ranges_add(&elf->memory, segment->p_paddr, there_bytes, segment->p_offset,
			UINT64_MAX - number))
		return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
	return BTSREC_OK;
}

static uint64_t round_up_4(uint64_t nr_bytes)
{
	return (nr_bytes + 3) & ~3ULL;
}

/* The head of the note at @at, zeroes after what is there of it; false: not even its sizes are. */
static bool note_at(const struct notes *notes, uint64_t at, struct note_head *ret)
{
	uint64_t there_bytes = notes->nr_bytes - (at - notes->begin);

	memset(ret, 0, sizeof(*ret));
	memcpy(ret, notes->bytes + (at - notes->begin), min_u64(there_bytes, NOTE_HEAD_BYTES));
	return there_bytes >= sizeof(ret->note);
}

/* So that the head of the note at @at, of those up to @end, is in @notes if it is in the file. */
static enum btsrec_status load_notes(const struct mkdump_headers *headers, uint64_t at,
				     uint64_t end, struct msg *msg, struct notes *notes)
{
	if (at >= notes->begin && notes->nr_bytes >= NOTE_HEAD_BYTES &&
	    at - notes->begin <= notes->nr_bytes - NOTE_HEAD_BYTES)
		return BTSREC_OK;
	notes->begin = at;
	/* The last one's name may go on after the end. */
	return mkdump_headers_read(headers, at, notes->bytes,
				   min_u64(sizeof(notes->bytes), end - at + NOTE_HEAD_BYTES), msg,
				   &notes->nr_bytes);
}

static enum btsrec_status read_notes(struct mkdump_headers *headers, const Elf64_Phdr *segment,
				     struct msg *msg, struct notes *notes)
{
	uint64_t at = segment->p_offset, end = at + segment->p_filesz;
	enum btsrec_status status = BTSREC_OK;

	if (segment->p_filesz > notes->left_bytes || end < at)
		return BTSREC_OK;
	notes->left_bytes -= segment->p_filesz;
	while (!status && !headers->vmcoreinfo && end - at > sizeof(Elf64_Nhdr)) {
		struct note_head head;
		uint64_t desc_at, next;

		status = load_notes(headers, at, end, msg, notes);
		if (status || !note_at(notes, at, &head))
			break;
		desc_at = at + sizeof(head.note) + round_up_4(head.note.n_namesz);
		next = desc_at + round_up_4(head.note.n_descsz);
		if (head.note.n_namesz == sizeof(head.name) &&
		    !memcmp(head.name, "VMCOREINFO", sizeof(head.name)))
			status = mkdump_headers_read_vmcoreinfo(headers, desc_at,
								head.note.n_descsz, msg);
		if (next > end)
			break;
		at = next;
	}
	return status;
}

/* The number of program headers, also if there are too many for the field. */
static enum btsrec_status count_segments(const struct mkdump_headers *headers,
					 const Elf64_Ehdr *header, struct msg *msg, uint64_t *ret)
{
	Elf64_Shdr section = { .sh_info = header->e_phnum };
	enum btsrec_status status = BTSREC_OK;

	if (header->e_phnum == PN_XNUM)
		status = mkdump_headers_read_all(headers, header->e_shoff, &section,
						 sizeof(section), msg);
	if (!status && (!section.sh_info || section.sh_info > MAX_SEGMENTS))
		return mkdump_headers_cut(msg);
	*ret = section.sh_info;
	return status;
}

static enum btsrec_status read_segment(struct elfdump *elf, struct mkdump_headers *headers,
				       const Elf64_Ehdr *header, uint64_t number, struct msg *msg,
				       struct notes *notes)
{
	Elf64_Phdr segment;
	enum btsrec_status status;

	status = mkdump_headers_read_all(headers, header->e_phoff + number * sizeof(segment),
					 &segment, sizeof(segment), msg);
	if (!status)
		describe(headers, &segment);
	if (!status && segment.p_type == PT_LOAD)
		status = add_memory(elf, headers, &segment, number, msg);
	if (!status && segment.p_type == PT_NOTE)
		status = read_notes(headers, &segment, msg, notes);
	return status;
}

enum btsrec_status elfdump_init(struct elfdump *ret, struct mkdump_headers *headers,
				const Elf64_Ehdr *header, struct msg *msg)
{
	struct notes notes = { .left_bytes = NOTES_MAX_BYTES };
	uint64_t nr_segments = 0;
	enum btsrec_status status = count_segments(headers, header, msg, &nr_segments);

	ret->file = headers->file;
	for (uint64_t i = 0; i < nr_segments && !status; i++)
		status = read_segment(ret, headers, header, i, msg, &notes);
	if (!status && !ranges_settle(&ret->memory))
		return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
	return status;
}

void elfdump_fini(struct elfdump *elf)
{
	ranges_fini(&elf->memory);
}

enum btsrec_status elfdump_read(const struct elfdump *elf, uint64_t pa, void *buf, size_t len_bytes,
				size_t *ret_bytes)
{
	const struct range *segment = ranges_find(&elf->memory, pa);
	uint64_t distance;

	*ret_bytes = 0;
	if (!segment)
		return BTSREC_ERR_NODATA;
	distance = pa - segment->begin;
	return mkdump_file_read(elf->file, segment->at + distance, buf,
				min_u64(segment->nr_bytes - distance, len_bytes), ret_bytes);
}

/* --- Many pages ---------------------------------------------------------- */

/* Read at once at most: more than a window of a ring has. */
#define RUN_MAX_PAGES	64

/* Where in the file, not as rearranged, the page at @pa is in one piece; false: it is not. */
static bool page_offset(const struct elfdump *elf, uint64_t pa, uint64_t *ret)
{
	const struct range *segment = ranges_find(&elf->memory, pa), *piece;
	uint64_t offset;

	if (!segment || segment->nr_bytes - (pa - segment->begin) < BTSREC_PAGE_BYTES)
		return false;
	offset = segment->at + (pa - segment->begin);
	piece = ranges_find(&elf->file->pieces, offset);
	if (!piece || piece->nr_bytes - (offset - piece->begin) < BTSREC_PAGE_BYTES)
		return false;
	*ret = piece->at + (offset - piece->begin);
	return true;
}

/* How many of the @nr pages follow each other in the file, up or down; where, and the first one. */
static size_t next_run(const struct elfdump *elf, const uint64_t *page_pa, size_t nr,
		       uint64_t *ret_offset, bool *ret_down)
{
	uint64_t first, at, step = 0;
	size_t i;

	if (!page_offset(elf, page_pa[0], &first))
		return 0;
	*ret_offset = first;
	for (i = 1; i < nr && i < RUN_MAX_PAGES; i++) {
		if (!page_offset(elf, page_pa[i], &at))
			break;
		if (i == 1 && (at == first + BTSREC_PAGE_BYTES || at + BTSREC_PAGE_BYTES == first))
			step = at - first;
		if (!step || at != first + i * step)
			break;
		*ret_offset = min_u64(*ret_offset, at);
	}
	*ret_down = *ret_offset != first;
	return i;
}

static bool read_run(int fd, uint64_t offset, uint8_t *buf, size_t nr, bool down)
{
	struct iovec pages[RUN_MAX_PAGES];
	ssize_t nr_read;

	if (!down)
		return read_at(fd, offset, buf, nr * BTSREC_PAGE_BYTES);
	for (size_t i = 0; i < nr; i++)
		pages[i] = (struct iovec){ buf + (nr - 1 - i) * BTSREC_PAGE_BYTES,
					   BTSREC_PAGE_BYTES };
	do
		nr_read = preadv(fd, pages, (int)nr, (off_t)offset);
	while (nr_read < 0 && errno == EINTR);
	return nr_read == (ssize_t)(nr * BTSREC_PAGE_BYTES);
}

/* One that is in several pieces. */
static bool read_page(const struct elfdump *elf, uint64_t pa, uint8_t *buf)
{
	size_t nr_bytes;

	return !elfdump_read(elf, pa, buf, BTSREC_PAGE_BYTES, &nr_bytes) &&
	       nr_bytes == BTSREC_PAGE_BYTES;
}

bool elfdump_read_pages(const struct elfdump *elf, const uint64_t *page_pa, size_t nr, uint8_t *buf)
{
	size_t nr_run;

	for (size_t i = 0; i < nr; i += nr_run) {
		uint8_t *to = buf + i * BTSREC_PAGE_BYTES;
		uint64_t offset;
		bool down;

		nr_run = next_run(elf, page_pa + i, nr - i, &offset, &down);
		if (nr_run && !read_run(elf->file->fd, offset, to, nr_run, down))
			return false;
		if (!nr_run && !read_page(elf, page_pa[i], to))
			return false;
		nr_run += !nr_run;
	}
	return true;
}

/* --- What there is ------------------------------------------------------- */

/* Where in the file, from @at on, is no hole; where the system does not know holes, @at. */
static uint64_t skip_hole(struct elfdump *elf, uint64_t at)
{
	int fd = elf->file->fd;
	off_t data, hole;

	if (at - elf->data_at < elf->data_bytes)
		return at;
	data = lseek(fd, (off_t)at, SEEK_DATA);
	if (data < 0 && errno == ENXIO)
		return UINT64_MAX;
	if (data < 0)
		data = (off_t)at;
	hole = lseek(fd, data, SEEK_HOLE);
	elf->data_at = (uint64_t)data;
	elf->data_bytes = hole > data ? (uint64_t)(hole - data) : UINT64_MAX;
	return elf->data_at;
}

/* The first offset from @offset on with a byte in a piece and in no hole. */
static uint64_t next_data(struct elfdump *elf, uint64_t offset)
{
	const struct range *piece;

	while ((piece = ranges_next(&elf->file->pieces, offset))) {
		uint64_t at;

		if (offset < piece->begin)
			offset = piece->begin;
		at = skip_hole(elf, piece->at + (offset - piece->begin));
		if (at - piece->at < piece->nr_bytes)
			return piece->begin + (at - piece->at);
		offset = piece->begin + piece->nr_bytes;
	}
	return UINT64_MAX;
}

uint64_t elfdump_next_pa(struct elfdump *elf, uint64_t pa)
{
	const struct range *segment;

	while ((segment = ranges_next(&elf->memory, pa))) {
		uint64_t offset;

		if (pa < segment->begin)
			pa = segment->begin;
		offset = next_data(elf, segment->at + (pa - segment->begin));
		if (offset - segment->at < segment->nr_bytes)
			return segment->begin + (offset - segment->at);
		pa = segment->begin + segment->nr_bytes;
	}
	return UINT64_MAX;
}
