// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>

#include "btsrec_compat.h"
#include "btsrec_lbr.h"

#define SELFTEST_TRIES		3

/* SDM vol. 4; the kernel's names for some are another's in some versions. */
#define LBR_SELECT		0x1c8
#define LBR_TOS			0x1c9
#define LBR_CAPABILITIES	0x345
#define LBR_FROM_0		0x680
#define LBR_TO_0		0x6c0
#define LBR_INFO_0		0xdc0

/* IA32_PERF_CAPABILITIES.LBR_FMT */
#define LBR_FORMAT_MASK		0x3f
#define LBR_FORMAT_FLAGS	3	/* FROM has a flag in bit 63 */
#define LBR_FORMAT_TSX		4	/* and two in bits 62 and 61 */
#define LBR_FORMAT_INFO		5	/* the flag is in LBR_INFO */
#define LBR_FORMAT_TIME		6	/* FROM as of 3, TO has a time in bits 48 to 63 */
#define LBR_FORMAT_INFO2	7	/* as 5 */
#define LBR_MISPREDICTED	BIT_ULL(63)

/* MSR_LBR_SELECT: what is left out. */
#define LBR_SELECT_NO_OS	BIT_ULL(0)
#define LBR_SELECT_NO_USER	BIT_ULL(1)

/* In the page of ours: what is in the place of the DS area, and the copies of the entries. */
#define COPIES_AT		(PAGE_SIZE / 2)

bool btsrec_uses_lbr __ro_after_init;

/* @nr_entries: 0: not looked at yet, or none that we know. */
static struct {
	u32 format;
	unsigned int nr_entries;
} layout;

/*
 * Format 3 is that of others, too, whose entries are fewer and elsewhere: these have 16 (SDM vol.
 * 3B, "LBR Stack Size and TOS Pointer Range"): Nehalem, Westmere, Sandy Bridge, Ivy Bridge.
 */
static bool is_format_3_known(void)
{
	static const u8 models[] = { 0x1a, 0x1e, 0x1f, 0x2e, 0x25, 0x2c, 0x2f, 0x2a, 0x2d, 0x3a,
				     0x3e };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(models); i++)
		if (boot_cpu_data.x86_model == models[i])
			return true;
	return false;
}

static unsigned int entries_of(u32 format)
{
	switch (format) {
	case LBR_FORMAT_FLAGS:
		return is_format_3_known() ? 16 : 0;
	case LBR_FORMAT_TSX:
		return 16;	/* Haswell, Broadwell */
	case LBR_FORMAT_INFO:
	case LBR_FORMAT_TIME:
	case LBR_FORMAT_INFO2:
		return 32;	/* Skylake, Goldmont and what came after them */
	}
	return 0;
}

static bool has_info(void)
{
	return layout.format == LBR_FORMAT_INFO || layout.format == LBR_FORMAT_INFO2;
}

/* On a processor that only pretends to have them a hypervisor raises #GP. */
static bool has_msrs(void)
{
	unsigned int last = layout.nr_entries - 1;
	const u32 msrs[] = { LBR_SELECT, LBR_TOS, LBR_FROM_0, LBR_FROM_0 + last, LBR_TO_0,
			     LBR_TO_0 + last, LBR_INFO_0, LBR_INFO_0 + last };
	size_t i, nr = ARRAY_SIZE(msrs) - (has_info() ? 0 : 2);
	u64 value;

	for (i = 0; i < nr; i++)
		if (btsrec_rdmsr_safe(msrs[i], &value))
			return false;
	return true;
}

/**
 * lbr_exists() - has the processor a last branch record that we know?
 *
 * What differs between CPUs is left to lbr_claim().
 */
bool lbr_exists(void)
{
	u64 capabilities;

	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL || boot_cpu_data.x86 != 6 ||
	    btsrec_rdmsr_safe(LBR_CAPABILITIES, &capabilities))
		return false;
	layout.format = capabilities & LBR_FORMAT_MASK;
	layout.nr_entries = entries_of(layout.format);
	return layout.nr_entries && has_msrs();
}

/**
 * lbr_nr_entries() - so many branches a CPU keeps, after lbr_exists()
 */
unsigned int lbr_nr_entries(void)
{
	return layout.nr_entries;
}

/**
 * lbr_check() - can this machine record by LBR?
 *
 * Prints a sentence for each refusal.
 *
 * Return: 0; -ENODEV: no LBR that we know; -EBUSY: Processor Trace would exclude it.
 */
int lbr_check(void)
{
	if (!lbr_exists()) {
		pr_err("Not armed: the processor shows no last branch record that the recorder knows; %s.\n",
		       boot_cpu_has(X86_FEATURE_HYPERVISOR) ?
		       "this is a virtual machine, so let its hypervisor pass on LBR (QEMU: -cpu host,lbr-fmt=5 on a host of that format), or load the module on the machine itself" :
		       "use an Intel machine from Nehalem on that has no architectural LBR");
		return -ENODEV;
	}
	/* SDM vol. 3C, "Intel PT and Other Branch Tracing": on Broadwell one excludes the other. */
	if (layout.format == LBR_FORMAT_TSX && boot_cpu_has(X86_FEATURE_INTEL_PT)) {
		pr_err("Not armed: on this processor the last branch record excludes Processor Trace, and perf could not use that; boot with \"clearcpuid=intel_pt\" or use source=bts.\n");
		return -EBUSY;
	}
	return 0;
}

static void write_msr(u32 msr, u64 value)
{
	asm volatile("1:	wrmsr\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : : "c" (msr), "a" ((u32)value), "d" ((u32)(value >> 32)) : "memory");
}

static unsigned int newest(void)
{
	return bts_read_msr(LBR_TOS) & (layout.nr_entries - 1);
}

static u64 sign_extend(u64 value, unsigned int nr_flags)
{
	return (u64)((s64)(value << nr_flags) >> nr_flags);
}

static void read_entry(unsigned int i, struct btsrec_record *record)
{
	u64 from = bts_read_msr(LBR_FROM_0 + i), to = bts_read_msr(LBR_TO_0 + i);
	u64 flags = has_info() ? bts_read_msr(LBR_INFO_0 + i) : from;

	if (layout.format == LBR_FORMAT_FLAGS || layout.format == LBR_FORMAT_TIME)
		from = sign_extend(from, 1);
	else if (layout.format == LBR_FORMAT_TSX)
		from = sign_extend(from, 3);
	if (layout.format == LBR_FORMAT_TIME)
		to = sign_extend(to, 16);
	record->from = from;
	record->to = to;
	record->flags = flags & LBR_MISPREDICTED ? 0 : BTSREC_FLAG_PREDICTED;
}

/* No branch comes from a ring, whose pages cannot be executed. */
static u64 mark_of(const struct btsrec_pcpu *pc)
{
	return pc->base_kva;
}

/**
 * lbr_mark() - what the processor has up to now is older than the annotation that is written
 * @pc: this CPU's, paused
 */
void lbr_mark(const struct btsrec_pcpu *pc)
{
	write_msr(LBR_FROM_0 + newest(), mark_of(pc));
}

/**
 * lbr_copy() - what is newer than the newest mark
 * @pc: this CPU's, held, LBR off
 * @ret_nr: how many
 *
 * In any context.  A deep idle state empties the entries: one without addresses ends them.
 *
 * Return: oldest first; in memory of @pc.
 */
const struct btsrec_record *lbr_copy(const struct btsrec_pcpu *pc, unsigned int *ret_nr)
{
	struct btsrec_record *copies = (void *)pc->scratch + COPIES_AT;
	unsigned int nr, at = newest();

	for (nr = 0; nr < layout.nr_entries; nr++) {
		struct btsrec_record *record = &copies[layout.nr_entries - 1 - nr];

		read_entry((at - nr) & (layout.nr_entries - 1), record);
		if (record->from == mark_of(pc) || !(record->from | record->to))
			break;
	}
	*ret_nr = nr;
	return &copies[layout.nr_entries - nr];
}

/* As perf does it before it gives the entries to another thread. */
static void forget(void)
{
	unsigned int i;

	for (i = 0; i < layout.nr_entries; i++) {
		write_msr(LBR_FROM_0 + i, 0);
		write_msr(LBR_TO_0 + i, 0);
		if (has_info())
			write_msr(LBR_INFO_0 + i, 0);
	}
}

static int check_unused(unsigned int cpu, u64 debugctl)
{
	if (!has_msrs()) {
		pr_err("Not armed: CPU %u has no last branch record although the boot CPU has; take it offline.\n",
		       cpu);
		return -ENODEV;
	}
	if (debugctl & DEBUGCTLMSR_LBR) {
		pr_err("Not armed: the last branch record of CPU %u is in use (DEBUGCTL is 0x%llx); stop the other user, for instance \"perf record -b\" or \"perf record --call-graph lbr\", and arm again.\n",
		       cpu, debugctl);
		return -EBUSY;
	}
	return 0;
}

/* Records three jumps; see bts_run_known_branches(). */
static int self_test(const struct btsrec_pcpu *pc, unsigned int cpu, u64 off)
{
	struct btsrec_record expected[BTS_KNOWN_BRANCHES];
	const struct btsrec_record *copies;
	unsigned int nr = 0;
	int try;

	for (try = 0; try < SELFTEST_TRIES; try++) {
		lbr_mark(pc);
		bts_run_known_branches(off | pc->on_bits, off, expected);
		copies = lbr_copy(pc, &nr);
		if (bts_find_branches(copies, nr, expected))
			return 0;
	}
	pr_err("Not armed: the self-test failed on CPU %u, whose last branch record does not have three known branches (but %u); %s.\n",
	       cpu, nr, boot_cpu_has(X86_FEATURE_HYPERVISOR) ?
	       "this is a virtual machine that only pretends to have it, so use the machine itself" :
	       "it cannot be trusted, so take this CPU offline or use another machine");
	return -EIO;
}

/* The filter is by the level after the branch.  In the self-test nothing is left out. */
static u64 select_bits(enum btsrec_mode mode)
{
	switch (mode) {
	case BTSREC_MODE_KERNEL:
		return LBR_SELECT_NO_USER;
	case BTSREC_MODE_USER:
		return LBR_SELECT_NO_OS;
	case BTSREC_MODE_ALL:
		break;
	}
	return 0;
}

/**
 * lbr_claim() - take the last branch record of this CPU, and test it
 * @pc: this CPU's, released, with a scratch page
 * @cpu: its number, for the messages
 * @mode: what will be recorded
 *
 * As bts_claim().
 */
int lbr_claim(struct btsrec_pcpu *pc, unsigned int cpu, enum btsrec_mode mode)
{
	u64 debugctl = bts_read_debugctl();
	int err = check_unused(cpu, debugctl);

	BUILD_BUG_ON(offsetof(struct debug_store, pebs_buffer_base) > COPIES_AT);
	BUILD_BUG_ON(LBR_MAX_ENTRIES * sizeof(struct btsrec_record) > PAGE_SIZE - COPIES_AT);
	if (err)
		return err;
	pc->ds = lbr_debug_store(pc);
	pc->saved_off_bits = debugctl & BTS_OFF_BITS;
	pc->saved_select = bts_read_msr(LBR_SELECT);
	pc->on_bits = DEBUGCTLMSR_LBR;
	bts_point_at_scratch(pc);
	write_msr(LBR_SELECT, 0);
	forget();
	pc->held = true;
	err = self_test(pc, cpu, debugctl);
	if (err)
		bts_release(pc);
	else
		write_msr(LBR_SELECT, select_bits(mode));
	return err;
}

/**
 * lbr_release() - give the last branch record back, with nothing of ours in it
 * @pc: this CPU's, LBR off
 *
 * The next user of it may not be allowed to see what the kernel did.
 */
void lbr_release(struct btsrec_pcpu *pc)
{
	forget();
	write_msr(LBR_SELECT, pc->saved_select);
}
