// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that a dump reader finds: the root page, the CPU pages, the rings and
 * their page-frame lists.  All are single kernel pages, which makedumpfile
 * keeps at every dump level.
 *
 *	root page --cpu_dir_pa[]--> directory pages --> CPU page of each CPU
 *	CPU page  --list_pa[]-----> list pages -------> the ring's page frames
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/crc32.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <asm/dma.h>
#include <asm/io.h>
#include <asm/pgtable_types.h>

#include "btsrec_lbr.h"

/* Not static: crash finds the recorder by these two symbols. */
struct btsrec_root *btsrec_root_page;
u64 btsrec_root_pa;

/**
 * btsrec_constant_crc() - CRC-32 of zlib over the constant part of a page
 * @page: the page, whose field for it is zero still
 * @constant_bytes: of the part
 */
u32 btsrec_constant_crc(const void *page, size_t constant_bytes)
{
	return ~crc32_le(~0, page, constant_bytes);
}

/**
 * btsrec_page_new() - a zeroed page
 * @node: where it shall be
 *
 * Return: the page; NULL: there is none.
 */
void *btsrec_page_new(int node)
{
	struct page *page = alloc_pages_node(node, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN |
					     __GFP_RETRY_MAYFAIL, 0);

	return page ? page_address(page) : NULL;
}

/**
 * btsrec_page_free_pa() - free a page, wiped, so that no valid descriptor stays in free memory
 * @pa: its address; 0: there is none
 */
void btsrec_page_free_pa(u64 pa)
{
	if (!pa)
		return;
	memset(__va(pa), 0, PAGE_SIZE);
	free_page((unsigned long)__va(pa));
}

/**
 * btsrec_pages_new() - several zeroed pages
 * @pas: where their addresses go
 * @nr: how many
 *
 * Return: 0; -ENOMEM: some are there.
 */
int btsrec_pages_new(u64 *pas, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		void *page = btsrec_page_new(NUMA_NO_NODE);

		if (!page)
			return -ENOMEM;
		pas[i] = __pa(page);
	}
	return 0;
}

/**
 * btsrec_pages_free() - free several pages
 * @pas: their addresses; 0: there is none
 * @nr: how many
 */
void btsrec_pages_free(const u64 *pas, u32 nr)
{
	while (nr--)
		btsrec_page_free_pa(pas[nr]);
}

/**
 * btsrec_root_pages_new() - the pages that a root names
 * @root: whose
 *
 * Return: 0; -ENOMEM: some are there.
 */
int btsrec_root_pages_new(struct btsrec_root *root)
{
	return btsrec_pages_new(root->cpu_dir_pa, root->nr_cpu_dir_pages) ?:
	       btsrec_pages_new(root->module_pa, BTSREC_NR_MODULE_PAGES) ?:
	       btsrec_pages_new(root->exec_pa, BTSREC_NR_EXEC_PAGES);
}

/**
 * btsrec_root_pages_free() - free those that are there, and the root
 * @root: the root
 */
void btsrec_root_pages_free(struct btsrec_root *root)
{
	btsrec_pages_free(root->cpu_dir_pa, BTSREC_MAX_CPU_DIR_PAGES);
	btsrec_pages_free(root->module_pa, BTSREC_NR_MODULE_PAGES);
	btsrec_pages_free(root->exec_pa, BTSREC_NR_EXEC_PAGES);
	btsrec_page_free_pa(__pa(root));
}

static void root_describe(struct btsrec_root *root, enum btsrec_mode mode)
{
	root->magic = BTSREC_ROOT_MAGIC;
	root->version_major = BTSREC_ABI_MAJOR;
	root->version_minor = BTSREC_ABI_MINOR;
	root->self_pa = __pa(root);
	root->constant_bytes = BTSREC_ROOT_LIVE_OFFSET;
	root->root_bytes = sizeof(*root);
	root->cpu_bytes = sizeof(struct btsrec_cpu);
	root->record_bytes = BTSREC_RECORD_BYTES;
	root->page_bytes = BTSREC_PAGE_BYTES;
	root->nr_cpu_ids = nr_cpu_ids;
	root->nr_cpu_dir_pages = DIV_ROUND_UP(nr_cpu_ids, BTSREC_PAS_PER_PAGE);
	root->mode = mode;
	root->poison = BTSREC_POISON;
	root->ring_bytes = btsrec_size_of_others();
	root->nr_module_pages = BTSREC_NR_MODULE_PAGES;
	root->nr_exec_pages = BTSREC_NR_EXEC_PAGES;
	root->errata = btsrec_uses_lbr ? 0 : btsrec_errata(mode);	/* they are of BTS */
	btsrec_facts_fill(root);
	btsrec_cpus_publish();
}

/**
 * btsrec_root_new() - make and publish the root page, without rings
 * @mode: what will be recorded
 *
 * The page comes from ZONE_DMA, so that a scan of the first 16 MiB finds it.
 *
 * Return: 0; -ENOMEM after a printed sentence, with nothing allocated.
 */
int btsrec_root_new(enum btsrec_mode mode)
{
	struct btsrec_root *root = (void *)get_zeroed_page(GFP_KERNEL | GFP_DMA | __GFP_NOWARN);

	if (!root)
		goto fail;
	btsrec_root_page = root;
	root_describe(root, mode);
	if (btsrec_root_pages_new(root))
		goto fail;
	root->crc32 = btsrec_constant_crc(root, root->constant_bytes);
	root->state = BTSREC_ROOT_LOADED;
	btsrec_root_pa = root->self_pa;
	return 0;

fail:
	pr_err("Not loaded: there is no free memory for the root page and its tables; free some and try again.\n");
	btsrec_root_free();
	return -ENOMEM;
}

/**
 * btsrec_root_say_place() - print and keep it if a scan will not find the root page
 */
void btsrec_root_say_place(void)
{
	if (btsrec_root_pa >> PAGE_SHIFT >= MAX_DMA_PFN)
		btsrec_hook_unsupported("CONFIG_ZONE_DMA",
					"a dump without VMCOREINFO needs --scan=all, or --root with the address in the kernel log");
}

/**
 * btsrec_root_forget() - leave nothing that looks like a recorder of the next kernel
 *
 * Memory outlives kexec, and a warm reset. In any context, at the very end: no reader finds
 * the history from now on.
 */
void btsrec_root_forget(void)
{
	WRITE_ONCE(btsrec_root_page->magic, 0);
	btsrec_copy_hide();
}

/**
 * btsrec_dir_entry() - where a root has the address of a CPU's page
 * @root: the root
 * @cpu: the CPU
 */
u64 *btsrec_dir_entry(const struct btsrec_root *root, unsigned int cpu)
{
	u64 *dir = __va(root->cpu_dir_pa[cpu / BTSREC_PAS_PER_PAGE]);

	return &dir[cpu % BTSREC_PAS_PER_PAGE];
}

/* Takes a half-built ring too; one that is mapped was unmapped by btsrec_map_free(). */
static void ring_free(struct btsrec_pcpu *pc)
{
	u32 i, nr_pages = pc->page ? pc->page->nr_ring_pages : 0;

	for (i = 0; pc->pages && i < nr_pages && pc->pages[i]; i++)
		__free_page(pc->pages[i]);
	kvfree(pc->pages);
	free_page((unsigned long)pc->scratch);
	if (pc->page) {
		btsrec_pages_free(pc->page->list_pa, BTSREC_MAX_LIST_PAGES);
		btsrec_page_free_pa(__pa(pc->page));
	}
	memset(pc, 0, sizeof(*pc));
}

/**
 * btsrec_root_free() - free everything; takes a half-built root and NULL
 *
 * No CPU may be recording, and no probe or hook may be registered.
 */
void btsrec_root_free(void)
{
	struct btsrec_root *root = btsrec_root_page;
	unsigned int cpu;

	if (!root)
		return;
	btsrec_root_pa = 0;
	btsrec_root_page = NULL;
	root->magic = 0;
	btsrec_copy_free();
	btsrec_map_free();
	for_each_possible_cpu(cpu)
		ring_free(per_cpu_ptr(&btsrec_pcpu, cpu));
	btsrec_root_pages_free(root);
}

static int ring_pages_new(struct btsrec_pcpu *pc, int node)
{
	u32 i, nr_pages = pc->page->nr_ring_pages;

	pc->pages = kvcalloc(nr_pages, sizeof(*pc->pages), GFP_KERNEL);
	if (!pc->pages)
		return -ENOMEM;
	for (i = 0; i < nr_pages; i++) {
		pc->pages[i] = alloc_pages_node(node, GFP_KERNEL | __GFP_NOWARN |
						__GFP_RETRY_MAYFAIL, 0);
		if (!pc->pages[i])
			return -ENOMEM;
	}
	return 0;
}

static int ring_lists_new(struct btsrec_pcpu *pc)
{
	struct btsrec_cpu *page = pc->page;
	u32 i;

	if (btsrec_pages_new(page->list_pa, page->nr_list_pages))
		return -ENOMEM;
	for (i = 0; i < page->nr_ring_pages; i++) {
		u64 *list = __va(page->list_pa[i / BTSREC_PAS_PER_PAGE]);

		list[i % BTSREC_PAS_PER_PAGE] = page_to_phys(pc->pages[i]);
	}
	return 0;
}

static void cpu_describe(struct btsrec_pcpu *pc, unsigned int cpu)
{
	struct debug_store *ds = btsrec_uses_lbr ? lbr_debug_store(pc) : bts_debug_store(cpu);
	struct btsrec_cpu *page = pc->page;

	page->magic = BTSREC_CPU_MAGIC;
	page->cpu = cpu;
	page->self_pa = __pa(page);
	page->root_pa = btsrec_root_pa;
	page->generation = btsrec_root_page->generation;
	page->constant_bytes = BTSREC_CPU_LIVE_OFFSET;
	page->ring_kva = pc->base_kva;
	page->ring_bytes = pc->end_kva - pc->base_kva;
	page->ds_kva = (u64)ds;
	page->ds_pa = slow_virt_to_phys(ds);
	page->source = btsrec_uses_lbr ? BTSREC_SOURCE_LBR : BTSREC_SOURCE_BTS;
	page->nr_last_branches = btsrec_uses_lbr ? lbr_nr_entries() : 0;
	page->crc32 = btsrec_constant_crc(page, page->constant_bytes);
}

static int ring_build(struct btsrec_pcpu *pc, unsigned int cpu, u64 ring_bytes)
{
	int err, node = cpu_to_node(cpu);

	pc->page = btsrec_page_new(node);
	pc->scratch = btsrec_page_new(node);
	if (!pc->page || !pc->scratch)
		return -ENOMEM;
	pc->page->nr_ring_pages = DIV_ROUND_UP(ring_bytes, PAGE_SIZE);
	pc->page->nr_list_pages = DIV_ROUND_UP(pc->page->nr_ring_pages, BTSREC_PAS_PER_PAGE);
	if (ring_pages_new(pc, node) || ring_lists_new(pc))
		return -ENOMEM;
	err = btsrec_map(pc);	/* last: what is mapped is freed after btsrec_unmap() alone */
	if (err)
		return err;
	pc->end_kva = pc->base_kva + ring_bytes;
	memset64((u64 *)pc->base_kva, BTSREC_POISON,
		 pc->page->nr_ring_pages * PAGE_SIZE / sizeof(u64));
	cpu_describe(pc, cpu);
	return 0;
}

/* Nothing has changed; @effect is what a sentence about it begins with. */
static void say_no_ring(unsigned int cpu, int err, u64 ring_bytes, const char *effect)
{
	if (err == -ENOSPC)
		pr_err("%s: page-table isolation (PTI) is on and the page tables of this kernel have no free place that they share for the ring of CPU %u; boot with \"nopti\" on the kernel command line if that is acceptable.\n",
		       effect, cpu);
	else
		pr_err("%s: there is no free memory for a ring of %llu bytes for CPU %u%s; choose a smaller ring_bytes.\n",
		       effect, ring_bytes, cpu,
		       btsrec_copies() ? " and for its copy (on_trigger=copy)" : "");
}

static void publish(unsigned int cpu, const struct btsrec_cpu *page)
{
	smp_wmb();	/* the directory names whole CPU pages only */
	WRITE_ONCE(*btsrec_dir_entry(btsrec_root_page, cpu), page->self_pa);
}

static int first_ring(struct btsrec_pcpu *pc, unsigned int cpu)
{
	u64 ring_bytes = btsrec_size_of(cpu);
	int err = ring_build(pc, cpu, ring_bytes);

	if (err) {
		say_no_ring(cpu, err, ring_bytes, "Not armed");
		ring_free(pc);
		return err;
	}
	publish(cpu, pc->page);
	return 0;
}

/*
 * From now on @pc is of the ring of @other, and @other of the one that @pc had.  On the CPU, which
 * is not live and holds nothing: an NMI looks at the page at most.
 */
static void exchange(struct btsrec_pcpu *pc, struct btsrec_pcpu *other)
{
	unsigned long flags;

	local_irq_save(flags);
	swap(pc->page, other->page);
	swap(pc->pages, other->pages);
	swap(pc->scratch, other->scratch);
	swap(pc->scratch_kva, other->scratch_kva);
	swap(pc->base_kva, other->base_kva);
	swap(pc->end_kva, other->end_kva);
	local_irq_restore(flags);
}

/* All of the new one is there before the old one goes: if it fails nothing has changed. */
static int another_ring(struct btsrec_pcpu *pc, unsigned int cpu)
{
	u64 ring_bytes = btsrec_size_of(cpu);
	struct btsrec_pcpu other = { };
	struct btsrec_cpu *copy_page;
	int err = ring_build(&other, cpu, ring_bytes);

	if (err)
		goto fail;
	copy_page = btsrec_copy_ring_build(other.page);
	if (IS_ERR(copy_page)) {
		err = PTR_ERR(copy_page);
		btsrec_unmap(&other);
		goto fail;
	}
	exchange(pc, &other);
	publish(cpu, pc->page);
	btsrec_copy_ring_put(cpu, copy_page);
	synchronize_rcu();	/* what looks at the old page has interrupts off */
	btsrec_unmap(&other);
	ring_free(&other);
	return 0;

fail:
	say_no_ring(cpu, err, ring_bytes, "Not resized");
	ring_free(&other);
	return err;
}

/* A ring that somebody still reads stays, and one whose copy does. */
static bool may_go(const struct btsrec_pcpu *pc)
{
	return !pc->held && !btsrec_is_frozen() && !btsrec_is_held() && !btsrec_copy_waits();
}

/**
 * btsrec_ring_new() - give a CPU its ring, filled with poison, and publish it
 * @cpu: the CPU, on which this runs; it is not live
 *
 * Does nothing if the CPU has one of the size that it is to have.  One of another size goes, with
 * what it holds, unless it is kept for a reader.  With on_trigger=copy there is memory for its
 * copy, too.  May sleep.
 *
 * Return: 0; -ENOMEM, or -ENOSPC (see btsrec_map()), after a printed sentence: there is no ring, or
 * no memory for its copy, or still the ring of another size.
 */
int btsrec_ring_new(unsigned int cpu)
{
	struct btsrec_pcpu *pc = per_cpu_ptr(&btsrec_pcpu, cpu);
	int err;

	if (pc->page && pc->page->ring_bytes != btsrec_size_of(cpu) && may_go(pc))
		return another_ring(pc, cpu);
	err = pc->page ? 0 : first_ring(pc, cpu);
	if (err)
		return err;
	err = btsrec_copy_ring_new(cpu);
	if (err)
		say_no_ring(cpu, err, pc->page->ring_bytes, "Not armed");
	return err;
}

/**
 * btsrec_module_slot() - one slot of the module map
 * @slot: below BTSREC_NR_MODULE_PAGES * BTSREC_MODULES_PER_PAGE
 */
struct btsrec_module *btsrec_module_slot(u32 slot)
{
	struct btsrec_module *page = __va(btsrec_root_page->module_pa[slot /
								      BTSREC_MODULES_PER_PAGE]);

	return &page[slot % BTSREC_MODULES_PER_PAGE];
}

/**
 * btsrec_exec_slot() - the slot of an exec
 * @number: how many execs were before it
 */
struct btsrec_exec *btsrec_exec_slot(u64 number)
{
	u32 slot = number % (BTSREC_NR_EXEC_PAGES * BTSREC_EXECS_PER_PAGE);
	struct btsrec_exec *page = __va(btsrec_root_page->exec_pa[slot / BTSREC_EXECS_PER_PAGE]);

	return &page[slot % BTSREC_EXECS_PER_PAGE];
}
