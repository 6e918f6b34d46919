// SPDX-License-Identifier: GPL-2.0-only
/*
 * on_trigger=copy: what freeze_on= names freezes, a worker copies what is frozen, and recording
 * goes on.  The copy has a root of its own, from which a reader finds what it finds from that of a
 * frozen recorder: CPU pages, rings, module map and exec ring.
 *
 * Its memory is reserved with the rings.  The constant parts are written then, the live parts and
 * the rings at each copy.  A crash does not need it: its history is in the rings themselves.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <linux/workqueue.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#include "btsrec_trigger.h"

/* Changed under the device's command mutex, or at load. */
static bool copies;

/* NULL: no CPU has a ring yet, or on_trigger=freeze. Without its magic it is no copy. */
static struct btsrec_root *copy;

/* From the freeze until all recorded again, at the newest copy. */
static u64 pause_ticks;

static struct workqueue_struct *queue;

static void copy_frozen(struct work_struct *unused)
{
	mutex_lock(&btsrec_command_mutex);
	btsrec_copy_frozen();
	mutex_unlock(&btsrec_command_mutex);
	if (btsrec_copy_waits())
		btsrec_trigger_wake();
}

static DECLARE_WORK(work, copy_frozen);

/**
 * btsrec_copy_queue() - let a worker copy what is frozen, if that is to be copied
 *
 * In any context but an NMI.
 */
void btsrec_copy_queue(void)
{
	if (btsrec_copies() && btsrec_trigger_is_due() && !btsrec_copy_waits())
		queue_work(queue, &work);
}

/**
 * btsrec_copy_init() - make the worker
 *
 * Of no CPU, as one may be locked up, and before other work: recording rests meanwhile.
 *
 * Return: 0; -ENOMEM after a printed sentence.
 */
int __init btsrec_copy_init(void)
{
	queue = alloc_workqueue(KBUILD_MODNAME, WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM, 1);
	if (queue)
		return 0;
	pr_err("Not loaded: there is no free memory for a worker; free some and try again.\n");
	return -ENOMEM;
}

/** btsrec_copy_sync() - wait for the worker, which does nothing more once all is disarmed */
void btsrec_copy_sync(void)
{
	flush_work(&work);
}

/** btsrec_copy_exit() - no trigger is registered, and nothing is armed */
void btsrec_copy_exit(void)
{
	destroy_workqueue(queue);
}

/** btsrec_copies() - is it on_trigger=copy? In any context. */
bool btsrec_copies(void)
{
	return READ_ONCE(copies);
}

/** btsrec_copy_waits() - is there a copy that has not been taken? In any context. */
bool btsrec_copy_waits(void)
{
	return READ_ONCE(btsrec_root_page->copy_pa);
}

/* --- Memory --------------------------------------------------------------- */

/* The address of page @i of the ring. */
static u64 *list_entry_of(const struct btsrec_cpu *page, u32 i)
{
	u64 *list = __va(page->list_pa[i / BTSREC_PAS_PER_PAGE]);

	return &list[i % BTSREC_PAS_PER_PAGE];
}

/* Takes a half-built one, too. */
static void ring_free(struct btsrec_cpu *page)
{
	u32 i;

	for (i = 0; i < page->nr_ring_pages && page->list_pa[i / BTSREC_PAS_PER_PAGE]; i++)
		btsrec_page_free_pa(*list_entry_of(page, i));
	btsrec_pages_free(page->list_pa, BTSREC_MAX_LIST_PAGES);
	btsrec_page_free_pa(__pa(page));
}

/**
 * btsrec_copy_free() - give all memory back, with a copy that is there
 *
 * Does nothing if there is none.
 */
void btsrec_copy_free(void)
{
	struct btsrec_root *root = copy;
	unsigned int cpu;

	if (!root)
		return;
	WRITE_ONCE(copy, NULL);
	root->magic = 0;
	for_each_possible_cpu(cpu) {
		u64 pa = *btsrec_dir_entry(root, cpu);

		if (pa)
			ring_free(__va(pa));
	}
	btsrec_root_pages_free(root);
}

/* Older by a nanosecond than that of the rings: if a search finds both it takes that. */
static int root_new(void)
{
	struct btsrec_root *root = btsrec_page_new(NUMA_NO_NODE);

	if (!root)
		return -ENOMEM;
	memcpy(root, btsrec_root_page, BTSREC_ROOT_LIVE_OFFSET);
	memset(root->cpu_dir_pa, 0, sizeof(root->cpu_dir_pa));
	memset(root->module_pa, 0, sizeof(root->module_pa));
	memset(root->exec_pa, 0, sizeof(root->exec_pa));
	if (btsrec_root_pages_new(root)) {
		btsrec_root_pages_free(root);
		return -ENOMEM;
	}
	root->self_pa = __pa(root);
	root->generation--;
	root->crc32 = 0;
	root->crc32 = btsrec_constant_crc(root, root->constant_bytes);
	root->magic = 0;
	copy = root;
	return 0;
}

static int ring_fill(struct btsrec_cpu *page, const struct btsrec_cpu *live, int node)
{
	u32 i;

	memcpy(page, live, BTSREC_CPU_LIVE_OFFSET);
	memset(page->list_pa, 0, sizeof(page->list_pa));
	if (btsrec_pages_new(page->list_pa, page->nr_list_pages))
		return -ENOMEM;
	for (i = 0; i < page->nr_ring_pages; i++) {
		void *ring_page = btsrec_page_new(node);

		if (!ring_page)
			return -ENOMEM;
		*list_entry_of(page, i) = __pa(ring_page);
	}
	page->self_pa = __pa(page);
	page->root_pa = copy->self_pa;
	page->generation = copy->generation;
	page->crc32 = 0;
	page->crc32 = btsrec_constant_crc(page, page->constant_bytes);
	return 0;
}

/**
 * btsrec_copy_ring_build() - memory for the copy of a ring, if there are to be copies
 * @live: the ring's CPU page
 *
 * May sleep.
 *
 * Return: its CPU page, for btsrec_copy_ring_put(); NULL: there are to be none; or
 * ERR_PTR(-ENOMEM).
 */
struct btsrec_cpu *btsrec_copy_ring_build(const struct btsrec_cpu *live)
{
	int node = cpu_to_node(live->cpu);
	struct btsrec_cpu *page;

	if (!copies)
		return NULL;
	if (!copy && root_new())
		return ERR_PTR(-ENOMEM);
	page = btsrec_page_new(node);
	if (!page)
		return ERR_PTR(-ENOMEM);
	if (ring_fill(page, live, node)) {
		ring_free(page);
		return ERR_PTR(-ENOMEM);
	}
	return page;
}

/**
 * btsrec_copy_ring_put() - that is where a CPU's ring will be copied to
 * @cpu: the CPU
 * @page: of btsrec_copy_ring_build(); NULL: nowhere
 *
 * Frees what was there before.  No copy may wait that has it.
 */
void btsrec_copy_ring_put(unsigned int cpu, struct btsrec_cpu *page)
{
	u64 *entry, pa;

	if (!copy)
		return;
	entry = btsrec_dir_entry(copy, cpu);
	pa = *entry;
	WRITE_ONCE(*entry, page ? page->self_pa : 0);
	if (pa)
		ring_free(__va(pa));
}

/**
 * btsrec_copy_ring_new() - memory for the copy of a CPU's ring, if there are to be copies
 * @cpu: the CPU; it may have no ring, which needs none
 *
 * Does nothing if it is there.  May sleep.
 *
 * Return: 0; -ENOMEM.
 */
int btsrec_copy_ring_new(unsigned int cpu)
{
	const struct btsrec_cpu *live = per_cpu(btsrec_pcpu, cpu).page;
	struct btsrec_cpu *page;

	if (!copies || !live || (copy && *btsrec_dir_entry(copy, cpu)))
		return 0;
	page = btsrec_copy_ring_build(live);
	if (IS_ERR(page))
		return PTR_ERR(page);
	btsrec_copy_ring_put(cpu, page);
	return 0;
}

static int rings_new(void)
{
	unsigned int cpu;
	int err = 0;

	for_each_possible_cpu(cpu)
		err = err ?: btsrec_copy_ring_new(cpu);
	return err;
}

static bool is_refused(const char *word, const char *effect)
{
	if (strcmp(word, "freeze") && strcmp(word, "copy")) {
		pr_err("%s: on_trigger=%s is unknown; use freeze or copy.\n", effect, word);
		return true;
	}
	if (!btsrec_root_page || !btsrec_copy_waits())
		return false;
	pr_err("%s: a copy has not been taken; save it, and write \"taken\" to /dev/btsrec.\n",
	       effect);
	return true;
}

/**
 * btsrec_set_on_trigger() - what a freeze for freeze_on= becomes
 * @word: "freeze" or "copy"
 * @effect: what the sentence of a refusal begins with
 *
 * No CPU gets a ring meanwhile.  The caller serialises.
 *
 * Return: 0; -EINVAL or -ENOMEM after a printed sentence, with nothing changed, or, for want of
 * memory, "freeze".
 */
int btsrec_set_on_trigger(const char *word, const char *effect)
{
	int err;

	if (is_refused(word, effect))
		return -EINVAL;
	cpus_read_lock();
	WRITE_ONCE(copies, !strcmp(word, "copy"));
	err = rings_new();
	if (err)
		WRITE_ONCE(copies, false);
	if (!copies)
		btsrec_copy_free();
	cpus_read_unlock();
	if (err)
		pr_err("%s: on_trigger=copy: there is no free memory for as much again as the rings take; choose a smaller ring_bytes.\n",
		       effect);
	if (btsrec_root_page)
		btsrec_trigger_wake();
	return err;
}

/* --- Copying -------------------------------------------------------------- */

static void copy_cpu(const struct btsrec_pcpu *pc, struct btsrec_cpu *page)
{
	u32 i;

	for (i = 0; i < page->nr_ring_pages; i++) {
		copy_page(__va(*list_entry_of(page, i)), page_address(pc->pages[i]));
		cond_resched();
	}
	memcpy((u8 *)page + BTSREC_CPU_LIVE_OFFSET, (u8 *)pc->page + BTSREC_CPU_LIVE_OFFSET,
	       PAGE_SIZE - BTSREC_CPU_LIVE_OFFSET);
}

/**
 * btsrec_copy_make() - copy what is frozen; no copy waits, no CPU records, none gets a ring
 *
 * A reader of an older copy that was given back finds its magic or its freeze_tsc changed.  May
 * sleep.
 */
void btsrec_copy_make(void)
{
	struct btsrec_root *live = btsrec_root_page;
	unsigned int cpu;
	u32 i;

	if (!copy)
		return;
	for_each_possible_cpu(cpu) {
		u64 pa = *btsrec_dir_entry(copy, cpu);

		if (pa)
			copy_cpu(per_cpu_ptr(&btsrec_pcpu, cpu), __va(pa));
	}
	btsrec_modmap_copy(copy->module_pa);
	for (i = 0; i < BTSREC_NR_EXEC_PAGES; i++)
		copy_page(__va(copy->exec_pa[i]), __va(live->exec_pa[i]));
	memcpy((u8 *)copy + BTSREC_ROOT_LIVE_OFFSET, (u8 *)live + BTSREC_ROOT_LIVE_OFFSET,
	       PAGE_SIZE - BTSREC_ROOT_LIVE_OFFSET);
	smp_wmb();	/* the magic of a whole copy only */
	WRITE_ONCE(copy->magic, BTSREC_ROOT_MAGIC);
	WRITE_ONCE(live->nr_copies, live->nr_copies + 1);
	WRITE_ONCE(live->copy_pa, copy->self_pa);
}

/** btsrec_copy_over() - all record again after a copy; there is none if no CPU has a ring */
void btsrec_copy_over(void)
{
	if (btsrec_copy_waits())
		pause_ticks = rdtsc_ordered() - copy->freeze_tsc;
	else
		btsrec_triggers_copy_taken();
}

/** btsrec_copy_hide() - at the very end of this kernel: what follows it finds no copy */
void btsrec_copy_hide(void)
{
	struct btsrec_root *root = READ_ONCE(copy);

	if (root)
		WRITE_ONCE(root->magic, 0);
}

/**
 * btsrec_copy_taken() - somebody has saved the copy: the next trigger may copy
 *
 * The caller serialises.
 *
 * Return: 0; -ENXIO: there is no copy.
 */
int btsrec_copy_taken(void)
{
	if (!btsrec_copy_waits())
		return -ENXIO;
	btsrec_copy_hide();
	WRITE_ONCE(btsrec_root_page->copy_pa, 0);
	btsrec_triggers_copy_taken();
	return 0;
}

/**
 * btsrec_copy_show() - the lines of /dev/btsrec about copies
 * @m: where they go
 */
void btsrec_copy_show(struct seq_file *m)
{
	const struct btsrec_root *live = btsrec_root_page;

	seq_printf(m, "on_trigger: %s\n", copies ? "copy" : "freeze");
	seq_printf(m, "copies: %llu\n", live->nr_copies);
	seq_printf(m, "missed_triggers: %llu\n", READ_ONCE(live->nr_missed_triggers));
	seq_printf(m, "copy_pause_us: %llu\n", tsc_khz ? pause_ticks * 1000 / tsc_khz : 0);
	seq_printf(m, "copy_pa: 0x%llx\n", live->copy_pa);
	if (!btsrec_copy_waits())
		return;
	seq_printf(m, "copy_reason: %u\n", copy->freeze_reason);
	seq_printf(m, "copy_trigger: %*pE\n",
		   (int)strnlen(copy->freeze_trigger, sizeof(copy->freeze_trigger)),
		   copy->freeze_trigger);
}
