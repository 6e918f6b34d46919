/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel memory by virtual address.  The kernel's own image lies in one piece,
 * so that no page table is needed for it; everything else is looked up in the
 * kernel's page tables, page by page.
 */
#ifndef BTSREC_KREAD_H
#define BTSREC_KREAD_H

#include "kernel/walk.h"

/* __START_KERNEL_map and KERNEL_IMAGE_SIZE of arch/x86 with KASLR. */
#define KREAD_IMAGE_KVA		0xffffffff80000000ULL
#define KREAD_IMAGE_BYTES	(1ULL << 30)

/**
 * struct kread - how one kernel is mapped
 * @phys_base: what __pa() of the kernel's own text adds.
 * @pgd_pa: a page table of the kernel; 0: only its image can be read.
 * @walk: borrowed; over @image.
 * @nomem: set when something of the kernel had to be left out for want of memory of our own,
 *	see kread_nomem(); NULL: nobody asks.
 * @nr_threads: that read much at once; 0 as 1.
 */
struct kread {
	const struct btsrec_image *image;
	uint64_t phys_base;
	uint64_t pgd_pa;
	struct walk *walk;
	bool *nomem;
	unsigned int nr_threads;
};

/** kread_nomem() - for those that answer "there is none" when they are out of memory */
static inline void kread_nomem(const struct kread *kread)
{
	if (kread->nomem)
		*kread->nomem = true;
}

/**
 * kread_some() - as many of the @len_bytes bytes at @kva as there are
 *
 * Return: the number of leading bytes of @buf that are valid; short if a page is
 * not mapped, not in the dump or cannot be read.
 */
size_t kread_some(const struct kread *kread, uint64_t kva, void *buf, size_t len_bytes);

/** kread_pa() - where the byte at @kva is; false: not mapped, or not in the dump */
bool kread_pa(const struct kread *kread, uint64_t kva, uint64_t *ret_pa);

/** kread() - all of the @len_bytes bytes at @kva; false: some are missing */
static inline bool kread(const struct kread *kread, uint64_t kva, void *buf, size_t len_bytes)
{
	return kread_some(kread, kva, buf, len_bytes) == len_bytes;
}

#endif /* BTSREC_KREAD_H */
