// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/string.h>
#include <asm/cpu_entry_area.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>

#include "btsrec_bts.h"
#include "btsrec_compat.h"
#include "btsrec_lbr.h"

#define SELFTEST_TRIES		3
#define SCRATCH_BYTES		(PAGE_SIZE / BTSREC_RECORD_BYTES * BTSREC_RECORD_BYTES)

u32 btsrec_control_msr __ro_after_init = MSR_IA32_DEBUGCTLMSR;
u64 btsrec_record_bits __ro_after_init = BTS_ON;
u64 btsrec_filter_bits __ro_after_init = BTS_OFF_BITS;

/**
 * bts_debug_store() - the kernel's own DS save area of a CPU
 * @cpu: the CPU
 *
 * It is in the cpu_entry_area; every mm shares its page tables.  The kernel maps it
 * on Intel processors only, so ask bts_check() first.
 */
struct debug_store *bts_debug_store(unsigned int cpu)
{
	return &get_cpu_entry_area(cpu)->cpu_debug_store;
}

/**
 * bts_exists() - does the processor show BTS in 64-bit mode?
 */
bool bts_exists(void)
{
	return boot_cpu_data.x86_vendor == X86_VENDOR_INTEL && boot_cpu_has(X86_FEATURE_BTS) &&
	       boot_cpu_has(X86_FEATURE_DTES64);
}

static int check_processor(void)
{
	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL) {
		pr_err("Not armed: the processor is from %s, and Branch Trace Store exists on Intel processors only; use an Intel machine.\n",
		       boot_cpu_data.x86_vendor_id[0] ? boot_cpu_data.x86_vendor_id : "nobody");
		return -ENODEV;
	}
	if (!bts_exists()) {
		pr_err("Not armed: the processor does not offer 64-bit Branch Trace Store (no \"bts\" and \"dtes64\" in /proc/cpuinfo); %s.\n",
		       boot_cpu_has(X86_FEATURE_HYPERVISOR) ?
		       "this is a virtual machine, and hypervisors hide it, so load the module on the machine itself" :
		       "a hypervisor hides it or the firmware disables it, so use the machine itself or change the firmware's settings");
		return -ENODEV;
	}
	return 0;
}

/**
 * bts_check() - can this machine record in this mode?
 * @mode: what is to be recorded
 * @map_with_pti: show the ring to user page tables if page-table isolation is on
 *
 * Prints a sentence for each refusal.  What differs between CPUs is left to
 * bts_claim().
 *
 * Return: 0; -ENODEV: no BTS; -EOPNOTSUPP: page-table isolation is on and the
 * ring may not be mapped under it, or the mode needs DS-CPL.  What lbr_check() says, if that is
 * the source.
 */
int bts_check(enum btsrec_mode mode, bool map_with_pti)
{
	int err;

	if (btsrec_uses_lbr)
		return lbr_check();
	err = check_processor();
	if (err)
		return err;
	if (boot_cpu_has(X86_FEATURE_PTI) && !map_with_pti) {
		pr_err("Not armed: page-table isolation (PTI) is on and pti=refuse forbids a ring that the user page tables show; load the module with pti=map, or boot with \"nopti\" on the kernel command line if that is acceptable.\n");
		return -EOPNOTSUPP;
	}
	if (mode != BTSREC_MODE_ALL && !boot_cpu_has(X86_FEATURE_DSCPL)) {
		pr_err("Not armed: the processor cannot filter branches by privilege level (no \"ds_cpl\" in /proc/cpuinfo); load the module with mode=all.\n");
		return -EOPNOTSUPP;
	}
	return 0;
}

/**
 * bts_point_at() - describe a buffer to the hardware
 * @pc: this CPU's, claimed
 * @base_kva: first byte
 * @index_kva: where the next record goes
 * @end_kva: first byte after it; a whole number of records from @base_kva
 *
 * BTS must be off.  The interrupt threshold lies after the end: the SDM asks
 * for it in a circular buffer, and perf's PMI handler compares against it.
 */
void bts_point_at(struct btsrec_pcpu *pc, u64 base_kva, u64 index_kva, u64 end_kva)
{
	struct debug_store *ds = pc->ds;

	WRITE_ONCE(ds->bts_buffer_base, base_kva);
	WRITE_ONCE(ds->bts_index, index_kva);
	WRITE_ONCE(ds->bts_absolute_maximum, end_kva);
	WRITE_ONCE(ds->bts_interrupt_threshold, end_kva + BTSREC_RECORD_BYTES);
}

/**
 * bts_point_at_scratch() - let later records miss the ring
 * @pc: this CPU's, claimed
 *
 * After a freeze somebody may write an old DEBUGCTL back (KVM at a VM exit);
 * what is then stored must not overwrite the history.
 */
void bts_point_at_scratch(struct btsrec_pcpu *pc)
{
	u64 base_kva = pc->scratch_kva;

	bts_point_at(pc, base_kva, base_kva, base_kva + SCRATCH_BYTES);
}

/**
 * bts_area_is_ours() - would a record go into our ring if BTS were on?
 * @pc: this CPU's
 */
bool bts_area_is_ours(const struct btsrec_pcpu *pc)
{
	u64 area, index_kva = bts_index(pc);

	return bts_fields_are_ours(pc) &&
	       READ_ONCE(pc->ds->bts_absolute_maximum) == pc->end_kva &&
	       index_kva >= pc->base_kva && index_kva <= pc->end_kva &&
	       (btsrec_uses_lbr ||
		(!btsrec_rdmsr_safe(MSR_IA32_DS_AREA, &area) && area == (u64)pc->ds));
}

/**
 * bts_is_unused() - is perf done with a CPU that was left to it?
 * @pc: this CPU's, released; interrupts are off, as perf has them while it looks after BTS
 *
 * It is not before it has taken the records out of its buffer, and set the index back
 * (intel_pmu_drain_bts_buffer(), arch/x86/events/intel/ds.c).
 */
bool bts_is_unused(const struct btsrec_pcpu *pc)
{
	if (btsrec_uses_lbr)
		return !(bts_read_debugctl() & btsrec_record_bits);
	return !(bts_read_debugctl() & (BTS_ON | DEBUGCTLMSR_BTINT)) &&
	       bts_index(pc) == READ_ONCE(pc->ds->bts_buffer_base);
}

/**
 * bts_switch_off() - take the bits away on a CPU that does not record any more
 *
 * On the panic path and in any context.  A KVM exit, or a btsrec_resume() that a freeze
 * interrupted, has set them: nothing else would take them away.  Does not write where there is
 * nothing to be taken.
 */
void bts_switch_off(void)
{
	u64 debugctl = bts_read_debugctl();

	if (debugctl & btsrec_record_bits)
		bts_write_debugctl(debugctl & ~btsrec_record_bits);
}

/**
 * bts_keep_off() - the same where BTS may have come back after a freeze
 * @pc: this CPU's, not live
 *
 * KVM writes back at a VM exit what it found at the entry.  A freeze may have come
 * between two instructions of the code that switches it.  The CPU would go on
 * writing into the scratch page.  In the next kernel nothing would switch BTS off,
 * and the buffer is not mapped there.
 */
void bts_keep_off(const struct btsrec_pcpu *pc)
{
	if (bts_fields_are_held(pc))
		bts_switch_off();
}

/**
 * bts_run_known_branches() - record three jumps
 * @on: the value of DEBUGCTL that records
 * @off: the one that ends it
 * @expected: BTS_KNOWN_BRANCHES; their addresses go there
 */
noinline void bts_run_known_branches(u64 on, u64 off, struct btsrec_record *expected)
{
	u64 at[BTS_KNOWN_BRANCHES + 1];
	u64 low = (u32)on, high = on >> 32;

	asm volatile("wrmsr\n"
		     "1:	jmp 3f\n"
		     "2:	jmp 4f\n"
		     "3:	jmp 2b\n"
		     "4:	mov %[off_low], %%eax\n"
		     "	mov %[off_high], %%edx\n"
		     "	wrmsr\n"
		     "	lea 1b(%%rip), %%rax\n"
		     "	mov %%rax, 0(%[at])\n"
		     "	lea 2b(%%rip), %%rax\n"
		     "	mov %%rax, 8(%[at])\n"
		     "	lea 3b(%%rip), %%rax\n"
		     "	mov %%rax, 16(%[at])\n"
		     "	lea 4b(%%rip), %%rax\n"
		     "	mov %%rax, 24(%[at])\n"
		     : "+a" (low), "+d" (high)
		     : "c" (btsrec_control_msr), [at] "r" (at),
		       [off_low] "r" ((u32)off), [off_high] "r" ((u32)(off >> 32))
		     : "memory");
	expected[0] = (struct btsrec_record){ .from = at[0], .to = at[2] };
	expected[1] = (struct btsrec_record){ .from = at[2], .to = at[1] };
	expected[2] = (struct btsrec_record){ .from = at[1], .to = at[3] };
}

/**
 * bts_find_branches() - are the three jumps in a history?
 * @ring: its records, oldest first
 * @nr: how many
 * @expected: of bts_run_known_branches()
 *
 * They may stand between those of an NMI.
 */
bool bts_find_branches(const struct btsrec_record *ring, size_t nr,
		       const struct btsrec_record *expected)
{
	size_t i, match = 0;

	for (i = 0; i < nr && match < BTS_KNOWN_BRANCHES; i++) {
		if (ring[i].from == expected[match].from && ring[i].to == expected[match].to)
			match++;
	}
	return match == BTS_KNOWN_BRANCHES;
}

static int self_test(struct btsrec_pcpu *pc, unsigned int cpu, u64 off)
{
	struct btsrec_record expected[BTS_KNOWN_BRANCHES];
	u64 read_back = 0, index_kva = 0;
	int try;

	bts_point_at_scratch(pc);
	if (btsrec_wrmsr_safe(MSR_IA32_DEBUGCTLMSR, off | pc->on_bits)) {
		pr_err("Not armed: the self-test failed on CPU %u, which refuses the BTS bits of DEBUGCTL; stop Processor Trace or whatever else traces this CPU.\n",
		       cpu);
		return -EIO;
	}
	read_back = bts_read_debugctl();
	bts_write_debugctl(off);
	if ((read_back & pc->on_bits) != pc->on_bits) {
		pr_err("Not armed: the self-test failed on CPU %u, which does not keep the BTS bits of DEBUGCTL; this is a virtual machine that only pretends to have BTS, so use the machine itself.\n",
		       cpu);
		return -EIO;
	}
	for (try = 0; try < SELFTEST_TRIES; try++) {
		memset(pc->scratch, 0, PAGE_SIZE);
		bts_point_at_scratch(pc);
		bts_run_known_branches(off | BTS_ON, off, expected);
		index_kva = bts_index(pc);
		if (bts_find_branches(pc->scratch, SCRATCH_BYTES / BTSREC_RECORD_BYTES, expected) &&
		    index_kva > pc->scratch_kva &&
		    index_kva <= pc->scratch_kva + SCRATCH_BYTES)
			return 0;
	}
	pr_err("Not armed: the self-test failed on CPU %u, which did not record three known branches (%lld bytes written); its Branch Trace Store cannot be trusted, so take this CPU offline or use another machine.\n",
	       cpu, (s64)(index_kva - pc->scratch_kva));
	return -EIO;
}

/*
 * Is BTS in use already?  The kernel's own area is shared: perf's BTS fields have
 * no use while BTS is off, and come back with bts_release().
 */
static int check_unused(struct btsrec_pcpu *pc, unsigned int cpu, u64 debugctl)
{
	u64 area;

	if (!this_cpu_has(X86_FEATURE_BTS) || btsrec_rdmsr_safe(MSR_IA32_DS_AREA, &area)) {
		pr_err("Not armed: CPU %u has no Branch Trace Store although the boot CPU has; take it offline.\n",
		       cpu);
		return -ENODEV;
	}
	if (debugctl & (BTS_ON | DEBUGCTLMSR_BTINT)) {
		pr_err("Not armed: branch tracing is already on on CPU %u (DEBUGCTL is 0x%llx); stop the other user of BTS, for instance \"perf record -e intel_bts//\".\n",
		       cpu, debugctl);
		return -EBUSY;
	}
	if (area && area != (u64)pc->ds) {
		pr_err("Not armed: the DS area of CPU %u is in use by somebody else (IA32_DS_AREA is not the kernel's own); unload the module that uses it.\n",
		       cpu);
		return -EBUSY;
	}
	pc->area_written = !area;
	return 0;
}

static u64 mode_bits(enum btsrec_mode mode)
{
	switch (mode) {
	case BTSREC_MODE_KERNEL:
		return BTS_ON | DEBUGCTLMSR_BTS_OFF_USR;
	case BTSREC_MODE_USER:
		return BTS_ON | DEBUGCTLMSR_BTS_OFF_OS;
	case BTSREC_MODE_ALL:
		break;
	}
	return BTS_ON;
}

/**
 * bts_claim() - take the BTS fields of this CPU's DS area, and test BTS
 * @pc: this CPU's, released, with a scratch page
 * @cpu: its number, for the messages
 * @mode: what will be recorded
 *
 * Interrupts must be off.  Uses the kernel's own debug store in the
 * cpu_entry_area and writes IA32_DS_AREA only where it is zero.  Leaves BTS
 * off and the fields at the scratch page.  Prints a sentence for each refusal.
 *
 * Return: 0; -ENODEV, -EBUSY or -EIO with everything as it was.
 */
int bts_claim(struct btsrec_pcpu *pc, unsigned int cpu, enum btsrec_mode mode)
{
	u64 off, debugctl = bts_read_debugctl();
	int err;

	if (btsrec_uses_lbr)
		return lbr_claim(pc, cpu, mode);
	pc->ds = bts_debug_store(cpu);
	err = check_unused(pc, cpu, debugctl);
	if (err)
		return err;
	memcpy(pc->saved_fields, pc->ds, sizeof(pc->saved_fields));
	pc->saved_off_bits = debugctl & BTS_OFF_BITS;
	pc->on_bits = mode_bits(mode);
	off = debugctl & ~BTS_OFF_BITS;
	bts_point_at_scratch(pc);
	if (pc->area_written)
		btsrec_wrmsr_safe(MSR_IA32_DS_AREA, (u64)pc->ds);
	pc->held = true;
	err = self_test(pc, cpu, off);
	if (err)
		bts_release(pc);
	return err;
}

/**
 * bts_release() - give the BTS fields of this CPU's DS area back
 * @pc: this CPU's, BTS off
 *
 * Interrupts must be off.  Fields that somebody else has changed meanwhile
 * stay as they are.  Does nothing if they are not held.
 */
void bts_release(struct btsrec_pcpu *pc)
{
	u64 area, debugctl = bts_read_debugctl();
	bool has_fields = bts_fields_are_held(pc);

	pc->held = false;
	if (!has_fields)
		return;
	bts_write_debugctl((debugctl & ~(btsrec_record_bits | btsrec_filter_bits)) |
			   pc->saved_off_bits);
	if (btsrec_uses_lbr) {
		lbr_release(pc);
		return;
	}
	if (pc->area_written && !btsrec_rdmsr_safe(MSR_IA32_DS_AREA, &area) &&
	    area == (u64)pc->ds)
		btsrec_wrmsr_safe(MSR_IA32_DS_AREA, 0);
	memcpy(pc->ds, pc->saved_fields, sizeof(pc->saved_fields));
}
