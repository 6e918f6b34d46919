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

/* In FROM without LBR_INFO, else there. */
#define LBR_MISPREDICTED	BIT_ULL(63)

/* In AMD's TO. */
#define LBR_IS_VALID		BIT_ULL(63)
#define LBR_IS_WRONG		BIT_ULL(61)	/* erratum 1452 of Zen 4, as Linux has it */

/* In the page of ours: what is in the place of the DS area, and the copies of the entries. */
#define COPIES_AT		(PAGE_SIZE / 2)

bool btsrec_uses_lbr __ro_after_init;

enum lbr_state { LBR_TAKEN, LBR_NOT_TAKEN, LBR_EMPTY };

static u32 msr_of(u32 first, unsigned int i)
{
	return first + i * lbr_layout.stride;
}

/**
 * lbr_has_msrs() - are all of them there?
 *
 * On a processor that only pretends to have them a hypervisor raises #GP.
 */
bool lbr_has_msrs(void)
{
	unsigned int last = lbr_layout.nr_entries - 1;
	const u32 msrs[] = {
		lbr_layout.control, lbr_layout.select, lbr_layout.depth, lbr_layout.tos,
		lbr_layout.from_0, lbr_layout.to_0, lbr_layout.info_0,
		msr_of(lbr_layout.from_0, last), msr_of(lbr_layout.to_0, last),
		lbr_layout.info_0 ? msr_of(lbr_layout.info_0, last) : 0,
	};
	size_t i;
	u64 value;

	if (!lbr_layout.nr_entries)
		return false;
	for (i = 0; i < ARRAY_SIZE(msrs); i++)
		if (msrs[i] && btsrec_rdmsr_safe(msrs[i], &value))
			return false;
	return true;
}

/**
 * lbr_use() - it is the source, for as long as the module is loaded
 *
 * After lbr_find(), also if that has found none: arming says so then.
 */
void __init lbr_use(void)
{
	btsrec_uses_lbr = true;
	if (!lbr_nr_entries())
		return;
	btsrec_control_msr = lbr_layout.control;
	btsrec_record_bits = lbr_layout.enable;
	btsrec_filter_bits = lbr_layout.filter;
}

/**
 * lbr_debugctl() - DEBUGCTL as a reader of the dump expects it
 * @control: of the MSR that switches recording
 */
u64 lbr_debugctl(u64 control)
{
	if (lbr_layout.control == MSR_IA32_DEBUGCTLMSR)
		return control;
	return control & lbr_layout.enable ? DEBUGCTLMSR_LBR : 0;
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
	if (!lbr_nr_entries()) {
		pr_err("Not armed: the processor shows no last branch record that the recorder knows; %s.\n",
		       boot_cpu_has(X86_FEATURE_HYPERVISOR) ?
		       "this is a virtual machine, so let its hypervisor pass on LBR (QEMU: -cpu host,lbr-fmt=5 on a host of that format), or load the module on the machine itself" :
		       "use a machine with a processor of Intel from Nehalem on, or of AMD from Zen 4 on");
		return -ENODEV;
	}
	/* SDM vol. 3C, "Intel PT and Other Branch Tracing": on Broadwell one excludes the other. */
	if (lbr_layout.excludes_pt && boot_cpu_has(X86_FEATURE_INTEL_PT)) {
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
	if (!lbr_layout.tos)
		return 0;
	return bts_read_msr(lbr_layout.tos) & (lbr_layout.nr_entries - 1);
}

/* The one that is older by @age; with a TOS their number is a power of two. */
static unsigned int entry_of(unsigned int newest, unsigned int age)
{
	return lbr_layout.tos ? (newest - age) & (lbr_layout.nr_entries - 1) : age;
}

static u64 sign_extend(u64 value, unsigned int nr_flags)
{
	return (u64)((s64)(value << nr_flags) >> nr_flags);
}

/*
 * AMD's has branches that were not taken after all, too: "speculative", and not "valid".
 * A deep idle state empties the entries: one without addresses ends them.
 */
static enum lbr_state read_entry(unsigned int i, struct btsrec_record *record)
{
	u64 from = bts_read_msr(msr_of(lbr_layout.from_0, i));
	u64 to = bts_read_msr(msr_of(lbr_layout.to_0, i));
	u64 flags = lbr_layout.info_0 ? bts_read_msr(msr_of(lbr_layout.info_0, i)) : from;

	record->from = sign_extend(from, lbr_layout.nr_from_flags);
	record->to = sign_extend(to, lbr_layout.nr_to_flags);
	record->flags = flags & LBR_MISPREDICTED ? 0 : BTSREC_FLAG_PREDICTED;
	if (!(from | to))
		return LBR_EMPTY;
	if (lbr_layout.to_has_state &&
	    (!(to & LBR_IS_VALID) || to & LBR_IS_WRONG))
		return LBR_NOT_TAKEN;
	return LBR_TAKEN;
}

/* No branch comes from a ring, whose pages cannot be executed. */
static u64 mark_of(const struct btsrec_pcpu *pc)
{
	return pc->base_kva;
}

/**
 * lbr_mark() - what the processor has up to now is older than the annotation that is written
 * @pc: this CPU's, paused
 *
 * The bits that are no address stay clear: those of AMD are reserved.
 */
void lbr_mark(const struct btsrec_pcpu *pc)
{
	write_msr(msr_of(lbr_layout.from_0, newest()),
		  mark_of(pc) & GENMASK_ULL(63 - lbr_layout.nr_from_flags, 0));
}

/**
 * lbr_copy() - what is newer than the newest mark
 * @pc: this CPU's, held, LBR off
 * @ret_nr: how many
 *
 * In any context.
 *
 * Return: oldest first; in memory of @pc.
 */
const struct btsrec_record *lbr_copy(const struct btsrec_pcpu *pc, unsigned int *ret_nr)
{
	struct btsrec_record *copies = (void *)pc->scratch + COPIES_AT;
	struct btsrec_record *record = &copies[lbr_layout.nr_entries];
	unsigned int age, at = newest();

	for (age = 0; age < lbr_layout.nr_entries; age++) {
		enum lbr_state state = read_entry(entry_of(at, age), record - 1);

		if (state == LBR_EMPTY || record[-1].from == mark_of(pc))
			break;
		if (state == LBR_TAKEN)
			record--;
	}
	*ret_nr = &copies[lbr_layout.nr_entries] - record;
	return record;
}

/* As perf does it before it gives the entries to another thread. */
static void forget(void)
{
	unsigned int i;

	for (i = 0; i < lbr_layout.nr_entries; i++) {
		write_msr(msr_of(lbr_layout.from_0, i), 0);
		write_msr(msr_of(lbr_layout.to_0, i), 0);
		if (lbr_layout.info_0)
			write_msr(msr_of(lbr_layout.info_0, i), 0);
	}
}

static int check_unused(unsigned int cpu, u64 debugctl)
{
	if (!lbr_has_msrs()) {
		pr_err("Not armed: CPU %u has no last branch record although the boot CPU has; take it offline.\n",
		       cpu);
		return -ENODEV;
	}
	if (debugctl & lbr_layout.enable) {
		pr_err("Not armed: the last branch record of CPU %u is in use (MSR 0x%x is 0x%llx); stop the other user, for instance \"perf record -b\" or \"perf record --call-graph lbr\", and arm again.\n",
		       cpu, lbr_layout.control, debugctl);
		return -EBUSY;
	}
	return 0;
}

/* Records three jumps, see bts_run_known_branches(), on top of a mark that must be kept. */
static int self_test(const struct btsrec_pcpu *pc, unsigned int cpu, u64 off)
{
	struct btsrec_record expected[BTS_KNOWN_BRANCHES];
	const struct btsrec_record *copies;
	unsigned int nr = 0;
	int try;

	for (try = 0; try < SELFTEST_TRIES; try++) {
		bts_run_known_branches(off | pc->on_bits, off, expected);
		lbr_mark(pc);
		lbr_copy(pc, &nr);
		if (nr)
			break;
		bts_run_known_branches(off | pc->on_bits, off, expected);
		copies = lbr_copy(pc, &nr);
		if (bts_find_branches(copies, nr, expected))
			return 0;
	}
	pr_err("Not armed: the self-test failed on CPU %u, whose last branch record does not have three known branches, or has older ones, too (%u in all); %s.\n",
	       cpu, nr, boot_cpu_has(X86_FEATURE_HYPERVISOR) ?
	       "this is a virtual machine that only pretends to have it, so use the machine itself" :
	       "it cannot be trusted, so take this CPU offline or use another machine");
	return -EIO;
}

/* What is not to be recorded, by the level after the branch; see struct lbr_layout. */
static u64 left_out(enum btsrec_mode mode)
{
	switch (mode) {
	case BTSREC_MODE_KERNEL:
		return lbr_layout.no_user;
	case BTSREC_MODE_USER:
		return lbr_layout.no_os;
	case BTSREC_MODE_ALL:
		break;
	}
	return 0;
}

/* In the self-test nothing is left out. */
static void set_mode(struct btsrec_pcpu *pc, enum btsrec_mode mode)
{
	if (lbr_layout.select)
		write_msr(lbr_layout.select, left_out(mode));
	else
		pc->on_bits &= ~left_out(mode);
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
	pc->saved_off_bits = debugctl & lbr_layout.filter;
	pc->saved_select = lbr_layout.select ? bts_read_msr(lbr_layout.select) : 0;
	pc->on_bits = lbr_layout.enable | lbr_layout.record;
	bts_point_at_scratch(pc);
	if (lbr_layout.select)
		write_msr(lbr_layout.select, 0);
	if (lbr_layout.depth)
		write_msr(lbr_layout.depth, lbr_layout.nr_entries);
	forget();
	pc->held = true;
	err = self_test(pc, cpu, debugctl & ~lbr_layout.filter);
	if (err)
		bts_release(pc);
	else
		set_mode(pc, mode);
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
	if (lbr_layout.select)
		write_msr(lbr_layout.select, pc->saved_select);
}
