/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the stage code share; nobody else includes this. */
#ifndef BTSREC_CODE_IMPL_H
#define BTSREC_CODE_IMPL_H

#include "code/kernel_code.h"

#include <Zydis/Zydis.h>

#include "base/bounds.h"

/* 8 MiB of code; of what is run beyond that, pages are read again. */
#define CODE_NR_PAGES	BOUND(2048, 16)
#define CODE_NR_SPACES	BOUND(64, 8)

#define CODE_NO_PA	UINT64_MAX	/* of no page of memory */

/**
 * struct code_page - a page of code; @valid_bytes of @bytes are there, the rest has @fault
 * @pa: of all that is there; CODE_NO_PA: some of it is from a file.
 * @bytes: memory that nobody touches before there is a page for it: to look at memory before
 *	it is written costs a second page fault, and where there are threads all wait for it.
 */
struct code_page {
	bool used;
	uint64_t pgd_pa;
	uint64_t va;
	uint64_t pa;
	enum code_fault fault;
	size_t valid_bytes;
	uint8_t *bytes;
};

/** struct code_space - whether @cr3 still is a page table of this kernel */
struct code_space {
	uint64_t cr3;
	bool alive;
};

/**
 * struct code_piece - instructions one after the other; each goes on to the next
 * @pgd_pa, @at: where: 0 and a physical address or, if some of the page is from a file, a
 *	virtual one.
 * @nr_bytes: of whole instructions in one page, to the next multiple of PIECE_BYTES
 *	(code_follow.c) or beyond it; fewer if one does not go on or is not whole there; code_run()
 *	looks at that one.
 * @last_bytes: how far after @at the last of them begins.
 * @vmentry_bytes: how far after @at the first CODE_VMENTRY is; @nr_bytes: there is none.
 *
 * By what is there and not by where it is mapped, because tables of pages can map a few pages
 * everywhere.
 */
struct code_piece {
	uint64_t pgd_pa;
	uint64_t at;
	uint16_t nr_bytes;
	uint16_t nr_insns;
	uint16_t vmentry_bytes;
	uint8_t last_bytes;
	bool compat;
};

/**
 * struct code - all that is remembered
 * @nr_used: places of @runs.
 * @run_list: the runs that are kept, @nr_runs with room for @nr_room; @built: the last one that
 *	was not and that somebody asked for.
 * @bytes: of all @pages, one after the other as they are used first: @nr_pages of them.
 * @pieces: by a hash of where they are, once there are any; @piece: one that is not among them.
 * @nr_decoded: instructions of runs.
 * @last_switch: of kernel_code_switched().
 */
struct code {
	struct code_source source;
	struct idt idt;
	ZydisDecoder decoders[2];	/* by compat */
	ZydisFormatter formatter;
	struct code_runs runs;
	size_t nr_used;
	struct code_run *run_list;
	size_t nr_runs;
	size_t nr_room;
	struct code_run built;
	struct code_space spaces[CODE_NR_SPACES];
	struct walk walk;
	uint64_t nr_from_files;
	uint64_t nr_decoded;
	struct kernel_switch last_switch;
	struct code_piece piece;
	struct code_piece *pieces;
	struct code_page pages[CODE_NR_PAGES];
	uint8_t *bytes;
	size_t nr_pages;
};

/* --- Pages -------------------------------------------------------------- */

static inline size_t code_place_of_page(uint64_t pgd_pa, uint64_t va)
{
	return ((pgd_pa ^ va) / BTSREC_PAGE_BYTES) % CODE_NR_PAGES;
}

/** code_fill_page() - have @page hold the page at @page_va in the tables at @pgd_pa */
void code_fill_page(struct code *code, uint64_t cr3, uint64_t pgd_pa, uint64_t page_va,
		    struct code_page *page);

/** code_page_at() - the page that holds @va; its fault says why it does not hold all its bytes */
static inline const struct code_page *code_page_at(struct code *code, uint64_t cr3, uint64_t va)
{
	uint64_t kernel_pgd_pa = code->source.kernel_pgd_pa;
	uint64_t pgd_pa = code_is_kernel(va) && kernel_pgd_pa ? kernel_pgd_pa : cr3;
	uint64_t page_va = va & ~(uint64_t)(BTSREC_PAGE_BYTES - 1);
	struct code_page *page = &code->pages[code_place_of_page(pgd_pa, va)];

	if (!page->used || page->pgd_pa != pgd_pa || page->va != page_va)
		code_fill_page(code, cr3, pgd_pa, page_va, page);
	return page;
}

/* --- Instructions ------------------------------------------------------- */

/** code_decode_init() - the decoders and what formats their text */
void code_decode_init(struct code *code);

/** code_decode() - code_insn() without the thunks */
enum code_fault code_decode(struct code *code, uint64_t cr3, uint64_t va, bool compat,
			    struct code_insn *ret);

/** code_decode_in_page() - the instruction at @offset if all of it is in what is there of @page */
enum code_fault code_decode_in_page(const struct code *code, const struct code_page *page,
				    size_t offset, bool compat, struct code_insn *ret);

/* --- Runs --------------------------------------------------------------- */

/** code_find_run() - fill in a run; its CR3 and both ends are set */
void code_find_run(struct code *code, struct code_run *run);

#endif /* BTSREC_CODE_IMPL_H */
