// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory by virtual address: page tables, code, interrupt gates. */
#include "mkimage.h"

#include <stdlib.h>
#include <string.h>

/* Where the top page tables are; the kernel's is before that of user0. */
#define SPACES_PA	0xff000ULL
#define IDT_KVA		0xfffffe0000000000ULL

/* "kernel" or "userN" at *@at, which moves to its end. */
unsigned int space_of(const char *text, char **ret_end)
{
	unsigned long number;

	if (!strncmp(text, "kernel", 6)) {
		*ret_end = (char *)text + 6;
		return 0;
	}
	number = strncmp(text, "user", 4) ? MAX_SPACES : strtoul(text + 4, ret_end, 10) + 1;
	if (number >= MAX_SPACES)
		die("there is no space '%s'", text);
	return (unsigned int)number;
}

uint64_t space_pa(unsigned int space)
{
	uint64_t pa = SPACES_PA + space * (uint64_t)BTSREC_PAGE_BYTES, next_pfn = image.next_pfn;

	if (!image.has_space[space]) {
		image.next_pfn = pa / BTSREC_PAGE_BYTES;
		alloc_page();
		image.nr_spaces++;
		image.next_pfn = next_pfn;
		image.has_space[space] = true;
	}
	if (!space)
		image.root->kernel_pgd_pa = pa;
	return pa;
}

/* The entry of the page of @va, which is mapped if it is not yet. */
static uint64_t *mapped_entry(unsigned int space, uint64_t va)
{
	uint64_t table_pa = space_pa(space), *entry = NULL;
	unsigned int level;

	for (level = 4; level; level--) {
		entry = (uint64_t *)at_pa(table_pa) + (va >> (3 + 9 * level) & 511);
		if (!*entry)
			*entry = alloc_page() | 0x63;
		table_pa = *entry & ~0xfffULL;
	}
	return entry;
}

/* The byte after @va, which is mapped if it is not yet. */
uint64_t mapped_pa(unsigned int space, uint64_t va)
{
	return (*mapped_entry(space, va) & ~0xfffULL) + va % BTSREC_PAGE_BYTES;
}

void do_code(struct statement *statement)
{
	const char *hex;
	unsigned int space;
	uint64_t va;
	char *end;

	if (statement->nr_words != 4)
		die("code SPACE VA HEX");
	space = space_of(statement->words[1].text, &end);
	va = word_number(statement, 2);
	for (hex = statement->words[3].text; *hex; hex += 2, va++) {
		if (hex_digit(hex[0]) < 0 || hex_digit(hex[1]) < 0)
			die("no byte: '%s'", hex);
		*(uint8_t *)at_pa(mapped_pa(space, va)) =
			(uint8_t)(hex_digit(hex[0]) << 4 | hex_digit(hex[1]));
	}
}

void do_protect(struct statement *statement)
{
	const uint64_t write = 1 << 1;

	*mapped_entry(0, word_number(statement, 1)) &= ~write;
}

void do_idt(struct statement *statement)
{
	uint64_t gate_kva = IDT_KVA + 16 * word_number(statement, 1);
	uint64_t handler_kva = word_number(statement, 2);
	uint16_t *gate = at_pa(mapped_pa(0, gate_kva));

	gate[0] = (uint16_t)handler_kva;
	gate[1] = 0x10;
	/* Programs may use that of system calls, as in Linux. */
	gate[2] = word_number(statement, 1) == 0x80 ? 0xee00 : 0x8e00;
	gate[3] = (uint16_t)(handler_kva >> 16);
	gate[4] = (uint16_t)(handler_kva >> 32);
	gate[5] = (uint16_t)(handler_kva >> 48);
}

/* All page tables have the kernel's image in common. */
void finish_spaces(void)
{
	uint64_t behind_pfn = SPACES_PA / BTSREC_PAGE_BYTES + MAX_SPACES;
	unsigned int space;

	if (image.nr_spaces && image.next_pfn < behind_pfn)
		image.next_pfn = behind_pfn;
	for (space = 1; image.has_space[0] && space < MAX_SPACES; space++)
		if (image.has_space[space])
			((uint64_t *)at_pa(space_pa(space)))[511] =
				((uint64_t *)at_pa(space_pa(0)))[511];
}
