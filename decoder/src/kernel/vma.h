/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is mapped at a user address: a walk of the maple tree that an mm_struct keeps
 * its VMAs in.  Pure: kernel memory in, one VMA out.
 */
#ifndef BTSREC_VMA_H
#define BTSREC_VMA_H

#include "kernel/layout.h"

/** enum vma_result - why there is no VMA */
enum vma_result {
	VMA_OK,
	VMA_NONE,		/* nothing is mapped there */
	VMA_NOT_IN_DUMP,	/* a part of the tree is not in the dump, or was being changed */
};

/** enum vma_kind - what a mapping without a file is */
enum vma_kind {
	VMA_OF_FILE,
	VMA_OF_VDSO,
	VMA_OF_HEAP,
	VMA_OF_STACK,
	VMA_ANONYMOUS,
};

/**
 * struct vma - one mapping
 * @start, @end: user addresses, @end after the last byte.
 * @file_kva: struct file, 0: none.
 * @offset_bytes: of @start in the file.
 */
struct vma {
	uint64_t kva;
	uint64_t start;
	uint64_t end;
	uint64_t file_kva;
	uint64_t offset_bytes;
	enum vma_kind kind;
};

/**
 * vma_find() - the VMA of @mm_kva that holds @va
 *
 * The tree is that of lib/maple_tree.c and include/linux/maple_tree.h, v6.1 to v7.2.
 * A VMA that does not say itself that it is of this mm and holds @va is not believed.
 *
 * Return: VMA_OK with *@ret filled, or why not.
 */
enum vma_result vma_find(const struct kread *kernel, const struct layout *layout,
			 uint64_t mm_kva, uint64_t va, struct vma *ret);

#endif /* BTSREC_VMA_H */
