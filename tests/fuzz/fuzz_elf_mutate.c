// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How ELF files change: a blind change that moves bytes leaves no table where the header says it
 * is.  So most changes keep the length and are made to a word of a header, of a section's header,
 * or of what is in a section.
 */
#include <elf.h>
#include <string.h>

#include "fuzz_image.h"

static uint64_t pick(unsigned int *seed, uint64_t nr)
{
	*seed = *seed * 1103515245u + 12345u;
	return nr ? (*seed >> 8) % nr : 0;
}

/* Bytes that mean one thing: the header, a section's header, or a section; all within the file. */
static size_t pick_part(const uint8_t *bytes, size_t nr_bytes, unsigned int *seed,
			size_t *ret_bytes)
{
	uint64_t at, kind = pick(seed, 8);
	Elf64_Ehdr header;
	Elf64_Shdr section;

	memcpy(&header, bytes, sizeof(header));
	*ret_bytes = sizeof(header);
	at = header.e_shoff + pick(seed, header.e_shnum) * sizeof(section);
	if (!kind || header.e_shoff > nr_bytes || at > nr_bytes - sizeof(section))
		return 0;
	*ret_bytes = sizeof(section);
	memcpy(&section, bytes + at, sizeof(section));
	if (kind < 4 || section.sh_type == SHT_NOBITS || section.sh_offset >= nr_bytes ||
	    !section.sh_size)
		return at;
	*ret_bytes = nr_bytes - section.sh_offset < section.sh_size ?
		     nr_bytes - section.sh_offset : section.sh_size;
	return section.sh_offset;
}

/* A size, an offset or an index: near what it was, near the file's end, or what overflows. */
static uint64_t other_value(uint64_t value, size_t nr_bytes, unsigned int *seed)
{
	switch (pick(seed, 5)) {
	case 0:
		return value + pick(seed, 17) - 8;
	case 1:
		return nr_bytes - pick(seed, 65);
	case 2:
		return UINT64_MAX - pick(seed, nr_bytes);
	case 3:
		return pick(seed, 64);
	default:
		return value ^ 1ULL << pick(seed, 64);
	}
}

static void change_word(uint8_t *part, size_t part_bytes, size_t nr_bytes, unsigned int *seed)
{
	size_t word_bytes = (size_t)1 << pick(seed, 4);
	uint64_t value = 0;
	uint8_t *at;

	if (part_bytes < word_bytes)
		word_bytes = part_bytes;
	at = part + pick(seed, part_bytes / word_bytes) * word_bytes;
	memcpy(&value, at, word_bytes);
	value = other_value(value, nr_bytes, seed);
	memcpy(at, &value, word_bytes);
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t nr_bytes, size_t max_bytes,
			       unsigned int seed)
{
	size_t at, part_bytes;
	uint64_t kind = pick(&seed, 8);

	if (!kind || nr_bytes < sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr))
		return LLVMFuzzerMutate(bytes, nr_bytes, max_bytes);
	at = pick_part(bytes, nr_bytes, &seed, &part_bytes);
	if (kind < 3)
		(void)LLVMFuzzerMutate(bytes + at, part_bytes, part_bytes);
	else
		change_word(bytes + at, part_bytes, nr_bytes, &seed);
	return nr_bytes;
}
