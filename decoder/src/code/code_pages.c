// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/code_impl.h"

#include <string.h>

#include "recorder/record.h"

/* The top-level entry that maps the kernel's own image, in every page table. */
#define KERNEL_ENTRY	511
#define VA_BITS		48
#define VA_BITS_LA57	57
/* SDM vol. 3A, "Accessed and Dirty Flags": the processor may set this one in a copy. */
#define PTE_ACCESSED	(1ULL << 5)

/*
 * Every page table has the kernel's image in the same place.  A table that has not
 * was freed and is something else now, and what it seems to map is not what ran.
 */
static bool check_space(struct code *code, uint64_t cr3)
{
	uint64_t offset = KERNEL_ENTRY * sizeof(uint64_t), kernel, user;

	if (!code->source.kernel_pgd_pa)
		return true;
	if (image_read(code->source.image, code->source.kernel_pgd_pa + offset, &kernel,
		       sizeof(kernel)) ||
	    image_read(code->source.image, cr3 + offset, &user, sizeof(user)))
		return true;
	return (kernel | PTE_ACCESSED) == (user | PTE_ACCESSED);
}

static bool space_alive(struct code *code, uint64_t cr3)
{
	struct code_space *space = &code->spaces[(cr3 / BTSREC_PAGE_BYTES) % CODE_NR_SPACES];

	if (space->cr3 != cr3) {
		space->cr3 = cr3;
		space->alive = check_space(code, cr3);
	}
	return space->alive;
}

static enum code_fault fault_of_walk(enum walk_result result)
{
	switch (result) {
	case WALK_OK:
		return CODE_OK;
	case WALK_NO_ROOT:
		return CODE_NO_SPACE;
	case WALK_BAD_VA:
	case WALK_NOT_PRESENT:
		return CODE_NOT_MAPPED;
	case WALK_NO_TABLE:
		return CODE_NO_TABLE;
	case WALK_FAILED:
		break;
	}
	return CODE_NOT_IN_DUMP;
}

void code_fetch(const struct code *code, uint64_t va)
{
	const struct code_page *page =
		&code->pages[code_place_of_page(code->source.kernel_pgd_pa, va)];

	if (page->used)
		__builtin_prefetch(page->bytes + va % BTSREC_PAGE_BYTES);
}

static void read_page(struct code *code, struct code_page *page)
{
	uint64_t pa;

	page->valid_bytes = 0;
	page->pa = CODE_NO_PA;
	page->fault = fault_of_walk(walk_pa(&code->walk, page->pgd_pa, page->va, &pa));
	if (page->fault)
		return;
	page->pa = pa;
	if (image_read_some(code->source.image, pa, page->bytes, BTSREC_PAGE_BYTES,
			    &page->valid_bytes))
		page->fault = CODE_NOT_IN_DUMP;
}

/* A page of a process that was dropped, or paged out, may be there in a file. */
static void read_file(struct code *code, uint64_t cr3, struct code_page *page)
{
	size_t nr_bytes;

	if (!code->source.file || !cr3 || code_is_kernel(page->va))
		return;
	nr_bytes = code->source.file(code->source.arg, cr3, page->va, page->bytes,
				     BTSREC_PAGE_BYTES);
	if (nr_bytes <= page->valid_bytes)
		return;
	page->valid_bytes = nr_bytes;
	page->pa = CODE_NO_PA;
	code->nr_from_files++;
}

void code_fill_page(struct code *code, uint64_t cr3, uint64_t pgd_pa, uint64_t page_va,
		    struct code_page *page)
{
	if (!page->used)
		page->bytes = code->bytes + code->nr_pages++ * BTSREC_PAGE_BYTES;
	page->used = true;
	page->pgd_pa = pgd_pa;
	page->va = page_va;
	if (pgd_pa == cr3 && cr3 && !space_alive(code, cr3)) {
		page->valid_bytes = 0;
		page->fault = CODE_NO_SPACE;
	} else {
		read_page(code, page);
		if (page->fault)
			read_file(code, cr3, page);
	}
}

enum code_fault code_bytes(struct code *code, uint64_t cr3, uint64_t va, uint8_t *buf,
			   size_t len_bytes, size_t *ret_bytes)
{
	*ret_bytes = 0;
	while (*ret_bytes < len_bytes) {
		size_t offset = va % BTSREC_PAGE_BYTES, nr = len_bytes - *ret_bytes;
		const struct code_page *page = code_page_at(code, cr3, va);

		if (offset >= page->valid_bytes)
			return page->fault;
		if (nr > page->valid_bytes - offset)
			nr = page->valid_bytes - offset;
		memcpy(buf + *ret_bytes, page->bytes + offset, nr);
		*ret_bytes += nr;
		va += nr;
	}
	return CODE_OK;
}

bool code_pa(struct code *code, uint64_t va, uint64_t *ret_pa)
{
	const struct code_page *page = code_page_at(code, 0, va);

	if (page->pa == CODE_NO_PA)
		return false;
	*ret_pa = page->pa + va % BTSREC_PAGE_BYTES;
	return true;
}

bool code_is_none(struct code *code, uint64_t va)
{
	return !code_is_kernel(va) ||
	       walk_forbids(&code->walk, code->source.kernel_pgd_pa, va);
}

enum walk_access code_access(struct code *code, uint64_t va)
{
	/* A process has its own there; what is no address of any is nowhere. */
	if (!code_is_kernel(va) && record_canonical(va, code->walk.la57 ? VA_BITS_LA57 : VA_BITS))
		return WALK_ACCESS_UNKNOWN;
	return walk_access(&code->walk, code->source.kernel_pgd_pa, va);
}

uint64_t code_from_files(const struct code *code)
{
	return code->nr_from_files;
}
