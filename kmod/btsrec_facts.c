// SPDX-License-Identifier: GPL-2.0-only
/*
 * Facts about the kernel for the root page: what a decoder needs to check
 * that symbols fit, to undo KASLR, and to turn TSC values into time.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/stringify.h>
#include <linux/timekeeping.h>
#include <linux/utsname.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/page.h>
#include <asm/pgtable.h>
#include <asm/tsc.h>

#include "btsrec.h"
#include "btsrec_compat.h"

static void fill_clocks(struct btsrec_root *root)
{
	unsigned long flags;

	local_irq_save(flags);
	root->anchor_tsc = rdtsc_ordered();
	root->anchor_realtime_ns = ktime_get_real_ns();
	root->anchor_boottime_ns = ktime_get_boottime_ns();
	local_irq_restore(flags);
	root->tsc_khz = tsc_khz;
	root->generation = root->anchor_realtime_ns;
}

static void fill_build_id(struct btsrec_root *root)
{
	char hex[2 * BTSREC_BUILD_ID_BYTES + 1];
	size_t length = btsrec_vmcoreinfo_get("BUILD-ID=", hex, sizeof(hex));

	if (length && !(length & 1) && !hex2bin(root->build_id, hex, length / 2))
		root->build_id_bytes = length / 2;
}

/* init_mm is not exported, but the VMCOREINFO note names its page table. */
static void fill_kernel_pgd(struct btsrec_root *root)
{
	char hex[2 * sizeof(u64) + 1];
	u64 kva;

	if (btsrec_vmcoreinfo_get("SYMBOL(swapper_pg_dir)=", hex, sizeof(hex)) &&
	    !kstrtoull(hex, 16, &kva))
		root->kernel_pgd_pa = kva - __START_KERNEL_map + phys_base;
}

/* SDM vol. 3A, "FRED": CR4 and MSR by number, which older kernels have no names for. */
#define CR4_FRED		BIT_ULL(32)
#define MSR_FRED_CONFIG		0x1d4

/* Where events enter, which no dump has: it is in a register of the processor alone. */
static void fill_fred(struct btsrec_root *root)
{
	unsigned long cr4;
	u64 config;

	asm volatile("mov %%cr4, %0" : "=r" (cr4) : : "memory");
	if (cr4 & CR4_FRED && !btsrec_rdmsr_safe(MSR_FRED_CONFIG, &config))
		root->fred_config = config;
}

/**
 * btsrec_facts_fill() - fill the fields of the root that describe the kernel
 * @root: the root page, zeroed
 *
 * A fact that cannot be had stays zero.
 */
void btsrec_facts_fill(struct btsrec_root *root)
{
	if (boot_cpu_has(X86_FEATURE_PTI))
		root->flags |= BTSREC_ROOT_F_PTI;
	if (pgtable_l5_enabled())
		root->flags |= BTSREC_ROOT_F_LA57;
	fill_clocks(root);
	root->symbol_kva = (u64)BTSREC_PRINTK;
	strscpy(root->symbol_name, __stringify(BTSREC_PRINTK), sizeof(root->symbol_name));
	root->page_offset_kva = PAGE_OFFSET;
	root->phys_base = phys_base;
	fill_kernel_pgd(root);
	fill_fred(root);
	strscpy(root->release, init_utsname()->release, sizeof(root->release));
	fill_build_id(root);
}
