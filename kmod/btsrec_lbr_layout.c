// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which last branch record a processor has, and where.
 *
 *  - Intel, by model: IA32_PERF_CAPABILITIES.LBR_FMT (SDM vol. 3B, "Last Branch, Interrupt, and
 *    Exception Recording").
 *  - Intel, architectural: CPUID leaf 1CH (SDM vol. 3B, "Architectural Last Branch Records").
 *  - AMD from Zen 4 on: CPUID Fn8000_0022, "LbrExtV2" (APM vol. 2, "Last Branch Record").
 *
 * Numbers of registers and bits are those of the kernel, too: arch/x86/include/asm/msr-index.h and
 * arch/x86/events/{intel,amd}/lbr.c.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>

#include "btsrec_compat.h"
#include "btsrec_lbr.h"

#define LBR_CAPABILITIES	0x345

/* IA32_PERF_CAPABILITIES.LBR_FMT */
#define LBR_FORMAT_MASK		0x3f
#define LBR_FORMAT_FLAGS	3	/* FROM has a flag in bit 63 */
#define LBR_FORMAT_TSX		4	/* and two in bits 62 and 61 */
#define LBR_FORMAT_INFO		5	/* the flag is in LBR_INFO */
#define LBR_FORMAT_TIME		6	/* FROM as of 3, TO has a time in bits 48 to 63 */
#define LBR_FORMAT_INFO2	7	/* as 5 */

/* CPUID */
#define LEAF_FEATURES		0x7
#define FEATURE_ARCH_LBR	BIT(19)		/* EDX */
#define LEAF_ARCH_LBR		0x1c
#define ARCH_DEPTHS_MASK	0xff		/* EAX: bit N: 8 * (N + 1) entries */
#define ARCH_HAS_LEVELS		BIT(0)		/* EBX: can leave out a privilege level */
#define ARCH_HAS_KINDS		BIT(1)		/* EBX: can leave out kinds of branches */
#define LEAF_AMD_MONITORING	0x80000022
#define AMD_HAS_LBR_V2		BIT(1)		/* EAX */
#define AMD_NR_ENTRIES_SHIFT	4		/* EBX, bits 4 to 9 */
#define AMD_NR_ENTRIES_MASK	0x3f

/* IA32_LBR_CTL: what is recorded. */
#define ARCH_ENABLE		BIT_ULL(0)
#define ARCH_OS			BIT_ULL(1)
#define ARCH_USER		BIT_ULL(2)
#define ARCH_ALL_KINDS		GENMASK_ULL(22, 16)

/* MSR_LBR_SELECT, of AMD's, too: what is left out. */
#define SELECT_NO_OS		BIT_ULL(0)
#define SELECT_NO_USER		BIT_ULL(1)

struct lbr_layout lbr_layout __ro_after_init;

static const struct lbr_layout by_model = {
	.control = MSR_IA32_DEBUGCTLMSR,
	.enable = DEBUGCTLMSR_LBR,
	.filter = BTS_OFF_BITS,
	.tos = 0x1c9,
	.select = 0x1c8,
	.from_0 = 0x680,
	.to_0 = 0x6c0,
	.stride = 1,
	.no_user = SELECT_NO_USER,
	.no_os = SELECT_NO_OS,
};

/* Its control register has the filter.  A write of the depth empties all entries. */
static const struct lbr_layout architectural = {
	.control = 0x14ce,
	.enable = ARCH_ENABLE,
	.filter = ARCH_OS | ARCH_USER | ARCH_ALL_KINDS,
	.record = ARCH_OS | ARCH_USER,
	.depth = 0x14cf,
	.from_0 = 0x1500,
	.to_0 = 0x1600,
	.info_0 = 0x1200,
	.stride = 1,
	.no_user = ARCH_USER,
	.no_os = ARCH_OS,
};

/* FROM and TO take turns. */
static const struct lbr_layout amd_v2 = {
	.control = 0xc000010f,
	.enable = BIT_ULL(6),
	.select = 0xc000010e,
	.from_0 = 0xc0010300,
	.to_0 = 0xc0010301,
	.stride = 2,
	.no_user = SELECT_NO_USER,
	.no_os = SELECT_NO_OS,
	.nr_from_flags = 6,
	.nr_to_flags = 6,
	.to_has_state = true,
};

/*
 * Format 3 is that of others, too, whose entries are fewer and elsewhere: these have 16 (SDM vol.
 * 3B, "LBR Stack Size and TOS Pointer Range"): Nehalem, Westmere, Sandy Bridge, Ivy Bridge.
 */
static bool __init is_format_3_known(void)
{
	static const u8 models[] __initconst = { 0x1a, 0x1e, 0x1f, 0x2e, 0x25, 0x2c, 0x2f, 0x2a,
						 0x2d, 0x3a, 0x3e };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(models); i++)
		if (boot_cpu_data.x86_model == models[i])
			return true;
	return false;
}

static void __init find_by_model(struct lbr_layout *layout)
{
	u64 capabilities;

	if (boot_cpu_data.x86 != 6 || btsrec_rdmsr_safe(LBR_CAPABILITIES, &capabilities))
		return;
	*layout = by_model;
	switch (capabilities & LBR_FORMAT_MASK) {
	case LBR_FORMAT_FLAGS:
		layout->nr_entries = is_format_3_known() ? 16 : 0;
		layout->nr_from_flags = 1;
		break;
	case LBR_FORMAT_TSX:		/* Haswell, Broadwell */
		layout->nr_entries = 16;
		layout->nr_from_flags = 3;
		layout->excludes_pt = true;
		break;
	case LBR_FORMAT_TIME:		/* Goldmont */
		layout->nr_entries = 32;
		layout->nr_from_flags = 1;
		layout->nr_to_flags = 16;
		break;
	case LBR_FORMAT_INFO:		/* Skylake and what came after it */
	case LBR_FORMAT_INFO2:
		layout->nr_entries = 32;
		layout->info_0 = 0xdc0;
		break;
	}
}

static bool __init is_architectural(void)
{
	return boot_cpu_data.cpuid_level >= LEAF_ARCH_LBR &&
	       cpuid_edx(LEAF_FEATURES) & FEATURE_ARCH_LBR;
}

static void __init find_architectural(struct lbr_layout *layout)
{
	u32 eax, ebx, ecx, edx, depths;

	cpuid_count(LEAF_ARCH_LBR, 0, &eax, &ebx, &ecx, &edx);
	depths = eax & ARCH_DEPTHS_MASK & (BIT(LBR_MAX_ENTRIES / 8) - 1);
	*layout = architectural;
	layout->nr_entries = 8 * fls(depths);
	if (ebx & ARCH_HAS_KINDS)
		layout->record |= ARCH_ALL_KINDS;
	if (!(ebx & ARCH_HAS_LEVELS))
		layout->no_user = layout->no_os = 0;
}

static void __init find_amd(struct lbr_layout *layout)
{
	u32 eax, ebx, ecx, edx;

	if (boot_cpu_data.extended_cpuid_level < LEAF_AMD_MONITORING)
		return;
	cpuid_count(LEAF_AMD_MONITORING, 0, &eax, &ebx, &ecx, &edx);
	if (!(eax & AMD_HAS_LBR_V2))
		return;
	*layout = amd_v2;
	layout->nr_entries = min_t(u32, ebx >> AMD_NR_ENTRIES_SHIFT & AMD_NR_ENTRIES_MASK,
				   LBR_MAX_ENTRIES);
}

/**
 * lbr_find() - has the processor a last branch record that we know?
 *
 * At load; @lbr_layout says where it is.  What differs between CPUs is left to lbr_claim().
 */
bool __init lbr_find(void)
{
	struct lbr_layout found = { };

	if (boot_cpu_data.x86_vendor == X86_VENDOR_AMD)
		find_amd(&found);
	else if (boot_cpu_data.x86_vendor == X86_VENDOR_INTEL && is_architectural())
		find_architectural(&found);
	else if (boot_cpu_data.x86_vendor == X86_VENDOR_INTEL)
		find_by_model(&found);
	lbr_layout = found;
	if (!lbr_has_msrs())
		lbr_layout.nr_entries = 0;
	return lbr_layout.nr_entries;
}
