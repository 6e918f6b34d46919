// SPDX-License-Identifier: GPL-2.0-or-later
#include "flatelf.h"

#include <stddef.h>
#include <string.h>

#include "bounds.h"
#include "image.h"
#include "readat.h"

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

bool flatelf_probe(const Elf64_Ehdr *header)
{
	return !memcmp(header->e_ident, ELFMAG, SELFMAG) && header->e_type == ET_CORE &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       header->e_phentsize == sizeof(Elf64_Phdr);
}

/* Segment number @number; where several overlap, as the kernel's text and its memory, the first. */
static enum btsrec_status add_memory(struct flatelf *elf, struct flatheaders *headers,
				     const Elf64_Phdr *segment, uint64_t number, struct msg *msg)
{
	if (segment->p_paddr >= IMAGE_MAX_PA || segment->p_filesz > IMAGE_MAX_PA ||
	    !segment->p_filesz)
		return BTSREC_OK;
	if (headers->max_pa < segment->p_paddr + segment->p_filesz)
		headers->max_pa = segment->p_paddr + segment->p_filesz;
	if (!ranges_add(&elf->memory, segment->p_paddr, segment->p_filesz, segment->p_offset,
			UINT64_MAX - number))
		return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
	return BTSREC_OK;
}

static uint64_t round_up_4(uint64_t nr_bytes)
{
	return (nr_bytes + 3) & ~3ULL;
}

/* The head of the note at @at, zeroes behind what is there of it; false: not even its sizes are. */
static bool note_at(const struct notes *notes, uint64_t at, struct note_head *ret)
{
	uint64_t there_bytes = notes->nr_bytes - (at - notes->begin);

	memset(ret, 0, sizeof(*ret));
	memcpy(ret, notes->bytes + (at - notes->begin), min_u64(there_bytes, NOTE_HEAD_BYTES));
	return there_bytes >= sizeof(ret->note);
}

/* So that the head of the note at @at, of those up to @end, is in @notes if it is in the file. */
static enum btsrec_status load_notes(const struct flatheaders *headers, uint64_t at, uint64_t end,
				     struct msg *msg, struct notes *notes)
{
	if (at >= notes->begin && notes->nr_bytes >= NOTE_HEAD_BYTES &&
	    at - notes->begin <= notes->nr_bytes - NOTE_HEAD_BYTES)
		return BTSREC_OK;
	notes->begin = at;
	/* The last one's name may go on behind the end. */
	return flatheaders_read(headers, at, notes->bytes,
				min_u64(sizeof(notes->bytes), end - at + NOTE_HEAD_BYTES), msg,
				&notes->nr_bytes);
}

static enum btsrec_status read_notes(struct flatheaders *headers, const Elf64_Phdr *segment,
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
			status = flatheaders_read_vmcoreinfo(headers, desc_at, head.note.n_descsz,
							     msg);
		if (next > end)
			break;
		at = next;
	}
	return status;
}

/* The number of program headers, also if there are too many for the field. */
static enum btsrec_status count_segments(const struct flatheaders *headers,
					 const Elf64_Ehdr *header, struct msg *msg, uint64_t *ret)
{
	Elf64_Shdr section = { .sh_info = header->e_phnum };
	enum btsrec_status status = BTSREC_OK;

	if (header->e_phnum == PN_XNUM)
		status = flatheaders_read_all(headers, header->e_shoff, &section, sizeof(section),
					      msg);
	if (!status && (!section.sh_info || section.sh_info > MAX_SEGMENTS))
		return flatheaders_cut(msg);
	*ret = section.sh_info;
	return status;
}

static enum btsrec_status read_segment(struct flatelf *elf, struct flatheaders *headers,
				       const Elf64_Ehdr *header, uint64_t number, struct msg *msg,
				       struct notes *notes)
{
	Elf64_Phdr segment;
	enum btsrec_status status;

	status = flatheaders_read_all(headers, header->e_phoff + number * sizeof(segment), &segment,
				      sizeof(segment), msg);
	if (!status && segment.p_type == PT_LOAD)
		status = add_memory(elf, headers, &segment, number, msg);
	if (!status && segment.p_type == PT_NOTE)
		status = read_notes(headers, &segment, msg, notes);
	return status;
}

enum btsrec_status flatelf_init(struct flatelf *ret, struct flatheaders *headers,
				const Elf64_Ehdr *header, struct msg *msg)
{
	struct notes notes = { .left_bytes = NOTES_MAX_BYTES };
	uint64_t nr_segments = 0;
	enum btsrec_status status = count_segments(headers, header, msg, &nr_segments);

	ret->flat = headers->flat;
	for (uint64_t i = 0; i < nr_segments && !status; i++)
		status = read_segment(ret, headers, header, i, msg, &notes);
	if (!status && !ranges_settle(&ret->memory))
		return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
	return status;
}

void flatelf_fini(struct flatelf *elf)
{
	ranges_fini(&elf->memory);
}

enum btsrec_status flatelf_read(const struct flatelf *elf, uint64_t pa, void *buf, size_t len_bytes,
				size_t *ret_bytes)
{
	const struct range *segment = ranges_find(&elf->memory, pa);
	uint64_t distance;

	*ret_bytes = 0;
	if (!segment)
		return BTSREC_ERR_NODATA;
	distance = pa - segment->begin;
	return flatfile_read(elf->flat, segment->at + distance, buf,
			     min_u64(segment->nr_bytes - distance, len_bytes), ret_bytes);
}

bool flatelf_read_pages(const struct flatelf *elf, const uint64_t *page_pa, size_t nr, uint8_t *buf)
{
	size_t i = 0, nr_bytes = BTSREC_PAGE_BYTES;

	while (i < nr && nr_bytes == BTSREC_PAGE_BYTES) {
		flatelf_read(elf, page_pa[i], buf + i * BTSREC_PAGE_BYTES, BTSREC_PAGE_BYTES,
			     &nr_bytes);
		i += nr_bytes == BTSREC_PAGE_BYTES;
	}
	return i == nr;
}
