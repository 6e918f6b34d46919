// SPDX-License-Identifier: GPL-2.0-or-later
/* An ELF vmcore, or pages with their addresses. */
#include "mkimage.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

_Static_assert(NOTE_HEAD_BYTES == sizeof(Elf64_Nhdr) + 12, "note header and padded name");

bool is_there(uint64_t pfn)
{
	return pfn < image.next_pfn && image.pages[pfn].bytes && !image.pages[pfn].hole;
}

void put(FILE *to, const void *bytes, size_t nr_bytes)
{
	if (fwrite(bytes, 1, nr_bytes, to) != nr_bytes)
		die("cannot write: %s", strerror(errno));
}

void put_page(FILE *to, uint64_t pfn)
{
	put(to, image.pages[pfn].bytes, BTSREC_PAGE_BYTES);
}

static int make_vmcoreinfo(char *ret)
{
	int nr_chars = sprintf(ret, "OSRELEASE=6.1.0-test\nPAGESIZE=4096\n");

	if (!image.no_vmcoreinfo)
		nr_chars += sprintf(ret + nr_chars, BTSREC_VMCOREINFO_KEY "0x%llx\n",
				    (unsigned long long)image.vmcoreinfo_pa);
	if (image.vmcoreinfo_phys_base)
		nr_chars += sprintf(ret + nr_chars, "NUMBER(phys_base)=%lld\n",
				    (long long)image.vmcoreinfo_phys_base);
	if (image.kallsyms_pa)
		nr_chars += put_kallsyms_lines(ret + nr_chars);
	if (image.log_pa)
		nr_chars += put_log_lines(ret + nr_chars);
	return nr_chars;
}

void write_pages(FILE *to)
{
	uint64_t pfn, note_pa = NOTE_PAGE_PA;
	char note[BTSREC_PAGE_BYTES] = "";

	(void)make_vmcoreinfo(note);
	put(to, &note_pa, sizeof(note_pa));
	put(to, note, sizeof(note));
	for (pfn = 0; pfn < image.next_pfn; pfn++) {
		uint64_t pa = pfn * BTSREC_PAGE_BYTES;

		if (!is_there(pfn))
			continue;
		put(to, &pa, sizeof(pa));
		put_page(to, pfn);
	}
}

/* The pages from *@pfn on that are there in a row; 0: no more. */
static uint64_t next_run(uint64_t *pfn)
{
	uint64_t end;

	while (*pfn < image.next_pfn && !is_there(*pfn))
		(*pfn)++;
	for (end = *pfn; is_there(end); end++)
		;
	return end - *pfn;
}

/* A VMCOREINFO note; *@ret_bytes is padded to 4 as notes are. */
void make_note(char *ret, size_t *ret_bytes)
{
	Elf64_Nhdr *note = (Elf64_Nhdr *)ret;
	int nr_chars = make_vmcoreinfo(ret + NOTE_HEAD_BYTES);

	note->n_namesz = sizeof("VMCOREINFO");
	note->n_descsz = (Elf64_Word)nr_chars;
	note->n_type = 0;
	memcpy(ret + sizeof(*note), "VMCOREINFO", sizeof("VMCOREINFO"));
	*ret_bytes = (NOTE_HEAD_BYTES + (size_t)nr_chars + 3) & ~(size_t)3;
}

static void put_headers(FILE *to, uint16_t nr_runs, size_t note_bytes, uint64_t data_offset)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_CORE, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_phoff = sizeof(header), .e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = nr_runs + 1,
	};
	Elf64_Phdr segment = {
		.p_type = PT_NOTE, .p_filesz = note_bytes, .p_memsz = note_bytes,
		.p_offset = sizeof(header) + (nr_runs + 1U) * sizeof(segment),
	};
	uint64_t pfn = 0, nr_pages;

	put(to, &header, sizeof(header));
	put(to, &segment, sizeof(segment));
	for (; (nr_pages = next_run(&pfn)); pfn += nr_pages) {
		segment.p_type = PT_LOAD;
		segment.p_offset = data_offset;
		segment.p_paddr = pfn * BTSREC_PAGE_BYTES;
		segment.p_filesz = nr_pages * BTSREC_PAGE_BYTES;
		segment.p_memsz = segment.p_filesz;
		put(to, &segment, sizeof(segment));
		data_offset += segment.p_filesz;
	}
}

void write_elf(FILE *to)
{
	static const char zeroes[BTSREC_PAGE_BYTES];
	char note[4096] __attribute__((aligned(8))) = { 0 };
	uint64_t pfn, nr_pages, data_offset;
	size_t note_bytes, head_bytes;
	uint16_t nr_runs = 0;

	for (pfn = 0; (nr_pages = next_run(&pfn)); pfn += nr_pages)
		nr_runs++;
	make_note(note, &note_bytes);
	head_bytes = sizeof(Elf64_Ehdr) + (nr_runs + 1U) * sizeof(Elf64_Phdr) + note_bytes;
	data_offset = (head_bytes + BTSREC_PAGE_BYTES - 1) & ~(BTSREC_PAGE_BYTES - 1ULL);
	put_headers(to, nr_runs, note_bytes, data_offset);
	put(to, note, note_bytes);
	for (; head_bytes < data_offset; head_bytes++)
		put(to, zeroes, 1);
	for (pfn = 0; pfn < image.next_pfn; pfn++)
		if (is_there(pfn))
			put_page(to, pfn);
}
