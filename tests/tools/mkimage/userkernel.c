// SPDX-License-Identifier: GPL-2.0-or-later
/* A process with mappings, names and a vDSO, and the kernel's BTF that says how to find them. */
#include "mkimage.h"

#include <string.h>

#include "../../userkernel.h"

#define KERNEL_MAP_KVA	0xffffffff80000000ULL

static struct uk uk;

/* What points into it, also with the marks that a maple tree has in the low bits. */
static void relocate(uint64_t to_kva)
{
	uint64_t *words = (uint64_t *)uk.bytes;

	for (size_t i = 0; i < UK_BTF_PA / sizeof(*words); i++)
		if (words[i] - UK_KVA(0) < UK_BYTES)
			words[i] += to_kva - UK_KVA(0);
}

void do_userkernel(struct statement *statement)
{
	uint64_t pa = alloc_pages(UK_BYTES / BTSREC_PAGE_BYTES);
	uint64_t kva = KERNEL_MAP_KVA + pa - image.root->phys_base;
	unsigned int space;
	struct uk_mm *mm;
	char *end;

	if (statement->nr_words != 2)
		die("userkernel SPACE");
	space = space_of(statement->words[1].text, &end);
	uk_init(&uk);
	relocate(kva);
	memory_write(mapped_pa(space, UK_TEXT), uk.bytes + UK_HEAD_PA, BTSREC_PAGE_BYTES);
	mm = (struct uk_mm *)(uk.bytes + UK_MM_PA);
	mm->pgd = KERNEL_MAP_KVA + space_pa(space) - image.root->phys_base;
	memory_write(pa, uk.bytes, UK_BYTES);
	add_symbol("init_task", kva + UK_INIT_PA);
	add_symbol("__start_BTF", kva + UK_BTF_PA);
	add_symbol("__stop_BTF", kva + UK_BTF_PA + uk.btf_bytes);
}
