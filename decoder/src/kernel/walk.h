/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Virtual to physical, by the page tables that are in the dump.  They may be
 * gone, reused or hostile: a walk is at most five reads of eight bytes, and ends
 * in an address or in one reason.
 */
#ifndef BTSREC_WALK_H
#define BTSREC_WALK_H

#include "base/bounds.h"
#include "source/image.h"

/** enum walk_result - why there is no physical address */
enum walk_result {
	WALK_OK,
	WALK_NO_ROOT,		/* no page table is known */
	WALK_BAD_VA,		/* not canonical */
	WALK_NOT_PRESENT,	/* an entry says that nothing is there */
	WALK_NO_TABLE,		/* a page of the tables is not in the dump */
	WALK_FAILED,		/* the medium failed */
};

/** enum walk_access - what the kernel may do with a byte */
enum walk_access {
	WALK_ACCESS_UNKNOWN,
	WALK_ACCESS_NONE,	/* no address, or nothing is mapped there */
	WALK_ACCESS_READ,
	WALK_ACCESS_WRITE,	/* and read */
};

#define WALK_TLB_ENTRIES BOUND(2048, 16)

/**
 * struct walk - walks of one image
 * @image: borrowed.
 * @la57: five levels.
 * @tlb: answers by page, @pgd_pa and @va page-aligned; @pgd_pa 0: unused.
 *	@no_execute: no code is executed there.  @read_only: nothing is written there.
 */
struct walk {
	const struct btsrec_image *image;
	bool la57;
	struct walk_tlb {
		uint64_t pgd_pa;
		uint64_t va;
		uint64_t pa;
		enum walk_result result;
		bool no_execute;
		bool read_only;
	} tlb[WALK_TLB_ENTRIES];
};

/** walk_init() - an empty cache over @image */
void walk_init(struct walk *walk, const struct btsrec_image *image, bool la57);

/**
 * walk_pa() - where the byte at @va is
 * @pgd_pa: the top table; what CR3 has in the bits below the page is ignored.
 * @ret_pa: set if WALK_OK; the rest of its 4 KiB page follows.
 */
enum walk_result walk_pa(struct walk *walk, uint64_t pgd_pa, uint64_t va, uint64_t *ret_pa);

/**
 * walk_forbids() - does an instruction at @va fault before it is executed?
 *
 * Return: true: nothing is mapped there, or no code; false: it does not, or that is not known.
 */
bool walk_forbids(struct walk *walk, uint64_t pgd_pa, uint64_t va);

/** walk_access() - what the kernel may do at @va, if CR0.WP is set, as Linux has it */
enum walk_access walk_access(struct walk *walk, uint64_t pgd_pa, uint64_t va);

/** walk_result_str() - the result as a phrase; static. */
const char *walk_result_str(enum walk_result result);

#endif /* BTSREC_WALK_H */
