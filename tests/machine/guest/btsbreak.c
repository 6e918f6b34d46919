// SPDX-License-Identifier: GPL-2.0-only
/*
 * btsbreak: breaks one rule of the BTS model on purpose.
 *
 *   insmod btsbreak.ko rule=NAME
 *
 * arms BTS on the CPU that runs insmod, with a DS area and a ring of its own, and
 * does what violations.log then has to report under that name, and nothing else.
 * rule=NONE arms, records and stops as it should: no line may appear.
 * STORE_READ_ONLY and STORE_STRADDLE are other ways to STORE_UNMAPPED.
 * BTS_ON_AT_RESET resets the machine; BTS_ON_AT_KEXEC leaves BTS on for a reboot
 * into a loaded kernel ("kexec -e", or a panic with a capture kernel).
 * rmmod frees the buffers and switches BTS off if it is still on.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>
#include <asm/processor.h>

#include "guest.h"

#define RECORD_BYTES		24
#define RING_PAGES		64
#define RING_BYTES		(RING_PAGES * PAGE_SIZE / RECORD_BYTES * RECORD_BYTES)
#define BTS_ON			(DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS)
#define CONTROL_MUST_BE_OFF	0x42545304
#define CONTROL_MAY_BE_ON	0x42545305

struct ds {
	u64 base;
	u64 index;
	u64 absolute_maximum;
	u64 interrupt_threshold;
};

static char *rule = "NONE";
module_param(rule, charp, 0444);
MODULE_PARM_DESC(rule, "the rule to break");

static struct ds *ds, *other_ds;
static void *ring, *read_only;

static void set_ring(struct ds *area)
{
	area->base = (u64)ring;
	area->index = (u64)ring;
	area->absolute_maximum = (u64)ring + RING_BYTES;
	area->interrupt_threshold = area->absolute_maximum + RECORD_BYTES;
}

static u64 debugctl(void)
{
	return native_read_msr(MSR_IA32_DEBUGCTLMSR);
}

static void bts_on(void)
{
	native_wrmsrl(MSR_IA32_DEBUGCTLMSR, debugctl() | BTS_ON);
}

static void bts_off(void)
{
	native_wrmsrl(MSR_IA32_DEBUGCTLMSR, debugctl() & ~BTS_ON);
}

/* A few taken branches. */
static noinline void branches(unsigned int count)
{
	while (count--)
		cpu_relax();
}

static void record(void)
{
	bts_on();
	branches(4);
	bts_off();
}

static void break_none(void)
{
	record();
}

/* The linear address of a page that has never been mapped: after a vmalloc guard page. */
static void break_store_unmapped(void)
{
	ds->base = (u64)ring + RING_PAGES * PAGE_SIZE;
	ds->index = ds->base;
	ds->absolute_maximum = ds->base + PAGE_SIZE / RECORD_BYTES * RECORD_BYTES;
	ds->interrupt_threshold = ds->absolute_maximum + RECORD_BYTES;
	record();
}

/* The same ring at a second address, where it may only be read. */
static void break_store_read_only(void)
{
	ds->base = (u64)read_only;
	ds->index = ds->base;
	ds->absolute_maximum = ds->base + RING_BYTES;
	ds->interrupt_threshold = ds->absolute_maximum + RECORD_BYTES;
	record();
}

/* The first record begins in the last page and ends after it. */
static void break_store_straddle(void)
{
	ds->base = (u64)ring + RING_PAGES * PAGE_SIZE - 8;
	ds->index = ds->base;
	ds->absolute_maximum = ds->base + RING_BYTES;
	ds->interrupt_threshold = ds->absolute_maximum + RECORD_BYTES;
	record();
}

static void break_ds_area_zero(void)
{
	bts_on();
	native_wrmsrl(MSR_IA32_DS_AREA, 0);
	bts_off();
}

static void break_ds_area_moved(void)
{
	set_ring(other_ds);
	bts_on();
	native_wrmsrl(MSR_IA32_DS_AREA, (u64)other_ds);
	bts_off();
}

static void break_ring_bounds(void)
{
	ds->index = ds->absolute_maximum + RECORD_BYTES;
	record();
}

static void break_ring_multiple(void)
{
	ds->absolute_maximum -= 8;
	record();
}

static void break_threshold_inside(void)
{
	ds->interrupt_threshold = ds->absolute_maximum - RECORD_BYTES;
	record();
}

/* BTF belongs to single-stepping; it is put back alone, which is allowed. */
static void break_debugctl_foreign(void)
{
	u64 before = debugctl();

	native_wrmsrl(MSR_IA32_DEBUGCTLMSR, before | BTS_ON | DEBUGCTLMSR_BTF);
	branches(4);
	native_wrmsrl(MSR_IA32_DEBUGCTLMSR, before | DEBUGCTLMSR_BTF);
	native_wrmsrl(MSR_IA32_DEBUGCTLMSR, before);
}

static void break_after_unload(void)
{
	native_wrmsrl(CONTROL_MUST_BE_OFF, 0);
	record();
	native_wrmsrl(CONTROL_MAY_BE_ON, 0);
}

/* A triple fault would do, too; this is what a board reset does. */
static void break_at_reset(void)
{
	bts_on();
	outb(0x06, 0xcf9);
	mdelay(1000);
	bts_off();
}

static void break_at_kexec(void)
{
	bts_on();
}

static const struct {
	const char *name;
	void (*run)(void);
} breaks[] = {
	{ "NONE", break_none },
	{ "STORE_UNMAPPED", break_store_unmapped },
	{ "STORE_READ_ONLY", break_store_read_only },
	{ "STORE_STRADDLE", break_store_straddle },
	{ "DS_AREA_ZERO", break_ds_area_zero },
	{ "DS_AREA_MOVED", break_ds_area_moved },
	{ "RING_BOUNDS", break_ring_bounds },
	{ "RING_MULTIPLE", break_ring_multiple },
	{ "THRESHOLD_INSIDE", break_threshold_inside },
	{ "DEBUGCTL_FOREIGN", break_debugctl_foreign },
	{ "BTS_AFTER_UNLOAD", break_after_unload },
	{ "BTS_ON_AT_RESET", break_at_reset },
	{ "BTS_ON_AT_KEXEC", break_at_kexec },
};

static int allocate(void)
{
	static struct page *pages[RING_PAGES];
	unsigned int i;

	ds = (void *)get_zeroed_page(GFP_KERNEL);
	other_ds = (void *)get_zeroed_page(GFP_KERNEL);
	ring = vmalloc(RING_PAGES * PAGE_SIZE);
	if (!ds || !other_ds || !ring)
		return -ENOMEM;
	for (i = 0; i < RING_PAGES; i++)
		pages[i] = vmalloc_to_page(ring + i * PAGE_SIZE);
	read_only = vmap(pages, RING_PAGES, VM_MAP, PAGE_KERNEL_RO);
	return read_only ? 0 : -ENOMEM;
}

static void release(void)
{
	vunmap(read_only);
	vfree(ring);
	free_page((unsigned long)other_ds);
	free_page((unsigned long)ds);
}

/* Interrupts off: with them, this CPU's other work would break the rule again and again. */
static void run(void (*break_it)(void))
{
	unsigned long flags;
	u64 old_ds_area;

	local_irq_save(flags);
	old_ds_area = native_read_msr(MSR_IA32_DS_AREA);
	set_ring(ds);
	native_wrmsrl(MSR_IA32_DS_AREA, (u64)ds);
	break_it();
	if (!(debugctl() & DEBUGCTLMSR_BTS))
		native_wrmsrl(MSR_IA32_DS_AREA, old_ds_area);
	local_irq_restore(flags);
}

static int __init btsbreak_init(void)
{
	int err = allocate();
	size_t i;

	for (i = 0; !err && i < ARRAY_SIZE(breaks); i++) {
		if (strcmp(rule, breaks[i].name))
			continue;
		run(breaks[i].run);
		pr_info("btsbreak: %s done\n", rule);
		return 0;
	}
	release();
	return err ?: -EINVAL;
}

static void stop_on_cpu(void *arg)
{
	if (native_read_msr(MSR_IA32_DS_AREA) != (u64)ds)
		return;
	bts_off();
	native_wrmsrl(MSR_IA32_DS_AREA, 0);
}

static void __exit btsbreak_exit(void)
{
	on_each_cpu(stop_on_cpu, NULL, 1);
	release();
}

module_init(btsbreak_init);
module_exit(btsbreak_exit);
MODULE_DESCRIPTION("Breaks the rules of the emulated Branch Trace Store on purpose");
MODULE_LICENSE("GPL");
