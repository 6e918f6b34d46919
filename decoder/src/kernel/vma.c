// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/vma.h"

/* include/linux/maple_tree.h: how a pointer to a node encodes the type of the node. */
#define NODE_MASK	255ULL
#define NODE_TYPE_SHIFT	3
#define NODE_TYPE_MASK	15ULL
#define NODE_LEAF_64	1
#define NODE_RANGE_64	2
#define NODE_ARANGE_64	3

/* include/linux/xarray.h: xa_is_node(); an entry of small value is none. */
#define ENTRY_TAG_MASK	3ULL
#define ENTRY_NODE_TAG	2ULL
#define ENTRY_MIN_NODE	4096ULL

/* MAPLE_HEIGHT_MAX */
#define MAX_HEIGHT	31

/* MAPLE_RANGE64_SLOTS is 16; arrays of more are not from a kernel that this is for. */
#define MAX_SLOTS	64

#define USER_PAGE_SHIFT	12

/** struct node - one node, as far as it is read; @entry is the pointer to it */
struct node {
	const struct kread *kread;
	const struct layout *layout;
	uint64_t kva;
	unsigned int type;
	enum layout_member pivot;
	enum layout_member slot;
	enum layout_member end;
};

static bool is_node(uint64_t entry)
{
	return (entry & ENTRY_TAG_MASK) == ENTRY_NODE_TAG && entry > ENTRY_MIN_NODE;
}

static bool node_init(struct node *node, const struct kread *kernel, const struct layout *layout,
		      uint64_t entry)
{
	uint64_t parent;
	bool arange;

	node->kread = kernel;
	node->layout = layout;
	node->kva = entry & ~NODE_MASK;
	node->type = (unsigned int)(entry >> NODE_TYPE_SHIFT & NODE_TYPE_MASK);
	arange = node->type == NODE_ARANGE_64;
	node->pivot = arange ? ARANGE_PIVOT : RANGE_PIVOT;
	node->slot = arange ? ARANGE_SLOT : RANGE_SLOT;
	node->end = arange ? ARANGE_END : RANGE_END;
	if (node->type < NODE_LEAF_64 || node->type > NODE_ARANGE_64)
		return false;
	/* ma_dead_node(): a node that has been replaced is its own parent. */
	return kread(kernel, node->kva, &parent, sizeof(parent)) &&
	       (parent & ~NODE_MASK) != node->kva;
}

static unsigned int nr_words(const struct node *node, enum layout_member member)
{
	uint32_t nr = node->layout->at[member].size_bytes / sizeof(uint64_t);

	return nr <= MAX_SLOTS ? nr : 0;
}

static bool node_word(const struct node *node, enum layout_member member, unsigned int i,
		      uint64_t *ret)
{
	return i < nr_words(node, member) &&
	       kread(node->kread, node->kva + node->layout->at[member].offset_bytes +
		     i * sizeof(*ret), ret, sizeof(*ret));
}

/*
 * ma_data_end(): the number of the last slot in use.  A node of ranges that is full
 * has a pivot where others say how far they are filled.
 */
static bool node_end(const struct node *node, uint64_t *ret)
{
	unsigned int nr_pivots = nr_words(node, node->pivot);
	uint64_t last_pivot = 0;

	if (node->type != NODE_ARANGE_64 &&
	    !node_word(node, node->pivot, nr_pivots - 1, &last_pivot))
		return false;
	if (last_pivot)
		*ret = nr_pivots;
	else if (!layout_read(node->layout, node->kread, node->kva, node->end, ret))
		return false;
	return *ret < nr_words(node, node->slot);
}

/* What the node has for @va. */
static bool node_find(const struct node *node, uint64_t va, uint64_t *ret)
{
	uint64_t end, pivot;
	unsigned int i;

	if (!node_end(node, &end))
		return false;
	for (i = 0; i < end && i < nr_words(node, node->pivot); i++) {
		if (!node_word(node, node->pivot, i, &pivot))
			return false;
		if (va <= pivot)
			break;
	}
	return node_word(node, node->slot, i, ret);
}

/* The entry of the tree for @va; 0: none. */
static enum vma_result tree_find(const struct kread *kernel, const struct layout *layout,
				 uint64_t mm_kva, uint64_t va, uint64_t *ret)
{
	unsigned int height;
	struct node node;
	uint64_t entry;

	if (!layout_read(layout, kernel, mm_kva, MM_MA_ROOT, &entry))
		return VMA_NOT_IN_DUMP;
	if (!is_node(entry))
		return VMA_NONE;
	for (height = 0; height < MAX_HEIGHT; height++) {
		if (!node_init(&node, kernel, layout, entry) || !node_find(&node, va, &entry))
			return VMA_NOT_IN_DUMP;
		if (node.type == NODE_LEAF_64) {
			*ret = entry;
			return entry & ENTRY_TAG_MASK ? VMA_NONE : VMA_OK;
		}
		if (!entry)
			return VMA_NONE;
	}
	return VMA_NOT_IN_DUMP;
}

/* As arch_vma_name() and fs/proc/task_mmu.c name mappings without a file. */
static bool read_kind(const struct kread *kernel, const struct layout *layout, uint64_t mm_kva,
		      struct vma *vma)
{
	uint64_t vdso, brk_start, brk_end, stack;

	if (!layout_read(layout, kernel, mm_kva, MM_VDSO, &vdso) ||
	    !layout_read(layout, kernel, mm_kva, MM_START_BRK, &brk_start) ||
	    !layout_read(layout, kernel, mm_kva, MM_BRK, &brk_end) ||
	    !layout_read(layout, kernel, mm_kva, MM_START_STACK, &stack))
		return false;
	if (vdso == vma->start)
		vma->kind = VMA_OF_VDSO;
	else if (vma->start <= brk_end && vma->end >= brk_start)
		vma->kind = VMA_OF_HEAP;
	else if (vma->start <= stack && vma->end >= stack)
		vma->kind = VMA_OF_STACK;
	else
		vma->kind = VMA_ANONYMOUS;
	return true;
}

enum vma_result vma_find(const struct kread *kernel, const struct layout *layout,
			 uint64_t mm_kva, uint64_t va, struct vma *ret)
{
	struct vma vma = { 0 };
	uint64_t owner_kva, pgoff;
	enum vma_result result = tree_find(kernel, layout, mm_kva, va, &vma.kva);

	if (result || !vma.kva)
		return result ? result : VMA_NONE;
	if (!layout_read(layout, kernel, vma.kva, VMA_START, &vma.start) ||
	    !layout_read(layout, kernel, vma.kva, VMA_END, &vma.end) ||
	    !layout_read(layout, kernel, vma.kva, VMA_MM, &owner_kva) ||
	    !layout_read(layout, kernel, vma.kva, VMA_PGOFF, &pgoff) ||
	    !layout_read(layout, kernel, vma.kva, VMA_FILE, &vma.file_kva))
		return VMA_NOT_IN_DUMP;
	if (owner_kva != mm_kva || va < vma.start || va >= vma.end)
		return VMA_NOT_IN_DUMP;
	vma.offset_bytes = pgoff << USER_PAGE_SHIFT;
	if (!vma.file_kva && !read_kind(kernel, layout, mm_kva, &vma))
		return VMA_NOT_IN_DUMP;
	*ret = vma;
	return VMA_OK;
}
