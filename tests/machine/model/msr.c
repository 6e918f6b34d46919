// SPDX-License-Identifier: GPL-2.0-or-later
#include "control.h"
#include "log.h"
#include "msr.h"
#include "perfmon.h"

#define CR0_PG	(1ULL << 31)

/* Intel SDM vol. 2A, "CPUID"; AMD APM vol. 3, "Fn8000_0022": 6 counters, 16 entries of LbrExtV2. */
#define FEATURES_CPUID_LEAF		0x7
#define FEATURES_CPUID_EDX_ARCH_LBR	(1U << 19)
#define ARCH_LBR_CPUID_LEAF		0x1c
#define AMD_LBR_CPUID_LEAF		0x80000022
#define AMD_LBR_CPUID_EAX		0x2
#define AMD_LBR_CPUID_EBX		(6U | 16U << 4)

#define LOW_32	0xffffffffULL

static bool perfmon_on;
static enum lbr_kind cpuid_lbr;

/* RDMSR, CPUID and RDPMC are two bytes, and nobody puts prefixes before them. */
#define SHORT_INSN_BYTES	2

/*
 * The address at which the instruction runs.  In the middle of a block QEMU's rip may be that of an
 * earlier instruction of the block.  The address seen at translation (@udata) may be that of
 * another mapping of the same physical page: the kernel's first steps run on the identity map.
 * Together they give it.
 */
static uint64_t runtime_ip(void *udata)
{
	uint64_t rip = vcpu_reg(REG_RIP);

	return rip + (((uint64_t)(uintptr_t)udata - rip) & (WALK_PAGE_BYTES - 1));
}

static void finish_read(uint64_t rip, uint64_t value)
{
	vcpu_set_reg(REG_RAX, value & LOW_32);
	vcpu_set_reg(REG_RDX, value >> 32);
	qemu_plugin_set_pc(rip + SHORT_INSN_BYTES);
}

static void write_bts_msr(struct vcpu *cpu, uint64_t ip, uint32_t msr, uint64_t value)
{
	uint64_t old_debugctl = cpu->debugctl, old_ds_area = cpu->ds_area;
	uint64_t old = msr == MSR_DEBUGCTL ? old_debugctl : old_ds_area;

	if (msr == MSR_DEBUGCTL)
		__atomic_store_n(&cpu->debugctl, value, __ATOMIC_RELAXED);
	else
		cpu->ds_area = value;
	if (old == value)
		return;
	if (msr == MSR_DS_AREA)
		cpu->nr_of_area = 0;
	log_msr(false, "cpu=%u ip=0x%016llx %s old=0x%llx new=0x%llx records=%llu\n", cpu->index,
		(unsigned long long)ip, msr == MSR_DEBUGCTL ? "DEBUGCTL" : "DS_AREA",
		(unsigned long long)old, (unsigned long long)value,
		(unsigned long long)cpu->log->total);
	cpu->ring_judged = false;
	cpu->space_stale = true;
	rules_judge_write(cpu, ip, old_debugctl, old_ds_area);
	model_update_active(cpu);
}

/* The newest entry that software has overwritten, with how many branches before it. */
static bool write_lbr(struct vcpu *cpu, uint64_t ip, uint32_t msr, uint64_t value)
{
	if (!lbr_write(&cpu->lbr, msr, value))
		return false;
	model_update_active(cpu);
	if (lbr_is_newest(&cpu->lbr, msr))
		log_msr(true, "cpu=%u ip=0x%016llx LBR_FROM_TOS value=0x%llx records=%llu\n",
			cpu->index, (unsigned long long)ip, (unsigned long long)value,
			(unsigned long long)cpu->log->total);
	return true;
}

/*
 * Runs before the instruction, and before TCG's privilege check.  TCG takes these MSRs
 * for unknown ones and ignores the write.  It ends the block after each WRMSR, so the
 * first branch after it is the first that the model sees, or no longer sees.
 */
static void on_wrmsr(unsigned int index, void *udata)
{
	struct vcpu *cpu = vcpu_get(index);
	uint64_t value, ip = runtime_ip(udata);
	uint32_t msr;

	if (vcpu_cpl())
		return;
	model_check_reset(cpu);
	msr = (uint32_t)vcpu_reg(REG_RCX);
	value = (vcpu_reg(REG_RAX) & LOW_32) | vcpu_reg(REG_RDX) << 32;
	if (ip >= cpu->footprint.start && ip < cpu->footprint.end)
		cpu->footprint.nr_msr_writes++;
	cpu->counts.nr_msr_writes++;
	if (msr == MSR_DEBUGCTL || msr == MSR_DS_AREA)
		write_bts_msr(cpu, ip, msr, value);
	else if (!control_write(cpu, ip, msr, value) && !write_lbr(cpu, ip, msr, value) &&
		 perfmon_on)
		perfmon_write(&cpu->perfmon, msr, value);
}

static void on_rdmsr(unsigned int index, void *udata)
{
	struct vcpu *cpu = vcpu_get(index);
	uint64_t value, ip = runtime_ip(udata);
	uint32_t msr;

	if (vcpu_cpl())
		return;
	model_check_reset(cpu);
	msr = (uint32_t)vcpu_reg(REG_RCX);
	if (msr == MSR_DEBUGCTL)
		finish_read(ip, cpu->debugctl);
	if (msr == MSR_DS_AREA)
		finish_read(ip, cpu->ds_area);
	if (lbr_read(&cpu->lbr, msr, &value))
		finish_read(ip, value);
	else if (perfmon_on && perfmon_read(&cpu->perfmon, msr, &value))
		finish_read(ip, value);
}

struct cpuid {
	uint32_t eax;
	uint32_t ebx;
	uint32_t ecx;
	uint32_t edx;
};

/* Leaves that QEMU has nothing in. */
static bool whole_leaf(uint32_t leaf, struct cpuid *ret)
{
	if (perfmon_on && leaf == PERFMON_CPUID_LEAF)
		*ret = (struct cpuid){ .eax = PERFMON_CPUID_EAX, .edx = PERFMON_CPUID_EDX };
	else if (cpuid_lbr == LBR_ARCHITECTURAL && leaf == ARCH_LBR_CPUID_LEAF)
		*ret = (struct cpuid){ .eax = 1U << (LBR_MAX_ENTRIES / 8 - 1), .ebx = 3, .ecx = 1 };
	else if (cpuid_lbr == LBR_AMD && leaf == AMD_LBR_CPUID_LEAF)
		*ret = (struct cpuid){ .eax = AMD_LBR_CPUID_EAX, .ebx = AMD_LBR_CPUID_EBX };
	else
		return false;
	return true;
}

static void on_cpuid(unsigned int index, void *udata)
{
	struct vcpu *cpu = vcpu_get(index);
	uint64_t ip = runtime_ip(udata);
	struct cpuid cpuid;

	cpu->cpuid_leaf = (uint32_t)vcpu_reg(REG_RAX);
	if (!whole_leaf(cpu->cpuid_leaf, &cpuid))
		return;
	vcpu_set_reg(REG_RBX, cpuid.ebx);
	vcpu_set_reg(REG_RCX, cpuid.ecx);
	finish_read(ip, cpuid.eax | (uint64_t)cpuid.edx << 32);
}

/* A feature among those that QEMU has. */
static void on_after_cpuid(unsigned int index, void *udata)
{
	struct vcpu *cpu = vcpu_get(index);

	(void)udata;
	if (cpu->cpuid_leaf == FEATURES_CPUID_LEAF)
		vcpu_set_reg(REG_RDX, vcpu_reg(REG_RDX) | FEATURES_CPUID_EDX_ARCH_LBR);
	cpu->cpuid_leaf = 0;
}

static void on_rdpmc(unsigned int index, void *udata)
{
	uint64_t ip = runtime_ip(udata);

	if (vcpu_cpl())
		return;
	finish_read(ip, perfmon_read_counter(&vcpu_get(index)->perfmon,
					     (uint32_t)vcpu_reg(REG_RCX)));
}

/*
 * Only CPL 0 gets through MOV to CR.  A kernel runs it at a low address, on an identity
 * map, in two cases: on a CPU that comes from RESET or INIT, and then first with paging
 * off; and on the way to another kernel, with paging on all the time (relocate_kernel
 * of kexec, arch/x86/kernel/relocate_kernel_64.S).
 */
static void on_write_cr(unsigned int index, void *udata)
{
	struct vcpu *cpu = vcpu_get(index);
	uint64_t ip = runtime_ip(udata);

	model_check_reset(cpu);
	cpu->space_stale = true;
	if (ip >> 63) {
		cpu->in_kernel = true;
		return;
	}
	if (!cpu->in_kernel || vcpu_cpl())
		return;
	cpu->in_kernel = false;
	if (vcpu_reg(REG_CR0) & CR0_PG)
		rules_next_kernel(cpu, ip);
}

/** msr_model_perfmon() - model performance monitoring, too; before anything is translated */
void msr_model_perfmon(void)
{
	perfmon_on = true;
}

/** msr_model_cpuid() - CPUID says that there is such an LBR; before anything is translated */
void msr_model_cpuid(enum lbr_kind kind)
{
	cpuid_lbr = kind;
}

static void watch_cpuid(struct qemu_plugin_insn *insn, struct qemu_plugin_insn *next, void *ip)
{
	qemu_plugin_register_vcpu_insn_exec_cb(insn, on_cpuid, QEMU_PLUGIN_CB_RW_REGS_PC, ip);
	if (next && cpuid_lbr == LBR_ARCHITECTURAL)
		qemu_plugin_register_vcpu_insn_exec_cb(next, on_after_cpuid,
						       QEMU_PLUGIN_CB_RW_REGS, NULL);
}

/**
 * msr_watch() - watch one instruction that is being translated
 * @insn: QEMU's handle
 * @class: its class; nothing happens for those that the model does not watch
 * @next: the one behind it; NULL: another block has it
 */
void msr_watch(struct qemu_plugin_insn *insn, enum insn_class class,
	       struct qemu_plugin_insn *next)
{
	void *ip = (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn);

	if (class == INSN_WRMSR)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_wrmsr, QEMU_PLUGIN_CB_R_REGS, ip);
	else if (class == INSN_RDMSR)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_rdmsr, QEMU_PLUGIN_CB_RW_REGS_PC,
						       ip);
	else if (class == INSN_WRITE_CR)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_write_cr, QEMU_PLUGIN_CB_R_REGS,
						       ip);
	else if (class == INSN_CPUID && (perfmon_on || cpuid_lbr))
		watch_cpuid(insn, next, ip);
	else if (class == INSN_RDPMC && perfmon_on)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_rdpmc, QEMU_PLUGIN_CB_RW_REGS_PC,
						       ip);
}
