// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdbool.h>
#include <stdio.h>

#include "log.h"
#include "rules.h"
#include "vcpu.h"

/* The bits of IA32_DEBUGCTL that a BTS recorder may change. */
#define DEBUGCTL_RECORDER	(DEBUGCTL_TR | DEBUGCTL_BTS | DEBUGCTL_BTINT | \
				 DEBUGCTL_BTS_OFF_OS | DEBUGCTL_BTS_OFF_USR)

/* Lines of one rule and CPU in violations.log; the summary counts all. */
#define MAX_LINES	1000
#define CODE_BYTES	15	/* the longest x86 instruction */

static bool bts_must_be_off;

/** rule_name() - the name that violations.log and the tests use */
const char *rule_name(enum rule rule)
{
	switch (rule) {
	case RULE_STORE_UNMAPPED:
		return "STORE_UNMAPPED";
	case RULE_DS_AREA_ZERO:
		return "DS_AREA_ZERO";
	case RULE_DS_AREA_MOVED:
		return "DS_AREA_MOVED";
	case RULE_RING_BOUNDS:
		return "RING_BOUNDS";
	case RULE_RING_MULTIPLE:
		return "RING_MULTIPLE";
	case RULE_THRESHOLD_INSIDE:
		return "THRESHOLD_INSIDE";
	case RULE_DEBUGCTL_FOREIGN:
		return "DEBUGCTL_FOREIGN";
	case RULE_BTS_ON_AT_KEXEC:
		return "BTS_ON_AT_KEXEC";
	case RULE_BTS_ON_AT_RESET:
		return "BTS_ON_AT_RESET";
	case RULE_BTS_AFTER_UNLOAD:
		return "BTS_AFTER_UNLOAD";
	case NR_RULES:
		break;
	}
	return "NO_RULE";
}

/**
 * rule_broken() - write one line of violations.log
 * @cpu: the calling vCPU
 * @rule: which rule
 * @ip: instruction that broke it; for a store, the branch that was to be recorded
 * @addr: address that the rule is about, or 0
 * @detail: rest of the line
 */
void rule_broken(struct vcpu *cpu, enum rule rule, uint64_t ip, uint64_t addr, const char *detail)
{
	uint8_t code[CODE_BYTES];
	char hex[2 * CODE_BYTES + 1] = "-";
	unsigned int nr_bytes;

	if (cpu->nr_broken[rule]++ >= MAX_LINES)
		return;
	nr_bytes = vcpu_read_code(ip, code, sizeof(code));
	for (unsigned int i = 0; i < nr_bytes; i++)
		snprintf(hex + 2 * i, 3, "%02x", code[i]);
	log_violation("%s cpu=%u ip=0x%016llx addr=0x%016llx insn=%s %s\n", rule_name(rule),
		      cpu->index, (unsigned long long)ip, (unsigned long long)addr, hex, detail);
}

static void judge_ds_area(struct vcpu *cpu, uint64_t ip, bool was_on, uint64_t old_ds_area)
{
	if (!cpu->ds_area)
		rule_broken(cpu, RULE_DS_AREA_ZERO, ip, 0, "IA32_DS_AREA is 0 while BTS is on");
	else if (was_on && cpu->ds_area != old_ds_area)
		rule_broken(cpu, RULE_DS_AREA_MOVED, ip, cpu->ds_area,
			    "IA32_DS_AREA was changed while BTS is on");
}

/**
 * rules_judge_write() - judge a write of IA32_DEBUGCTL or IA32_DS_AREA
 * @cpu: state after the write
 * @ip: the WRMSR
 * @old_debugctl: value before
 * @old_ds_area: value before
 *
 * Bits that belong to others (BTF, FREEZE_IN_SMM, ...) may be changed by their
 * owners; what the rule forbids is one write that switches BTS and also changes them:
 * a recorder that does not preserve what it does not own.
 */
void rules_judge_write(struct vcpu *cpu, uint64_t ip, uint64_t old_debugctl, uint64_t old_ds_area)
{
	uint64_t wanted = DEBUGCTL_TR | DEBUGCTL_BTS;
	uint64_t changed = old_debugctl ^ cpu->debugctl;
	bool was_on = (old_debugctl & wanted) == wanted;
	char detail[80];

	if (changed & wanted && changed & ~DEBUGCTL_RECORDER) {
		snprintf(detail, sizeof(detail), "DEBUGCTL 0x%llx -> 0x%llx",
			 (unsigned long long)old_debugctl, (unsigned long long)cpu->debugctl);
		rule_broken(cpu, RULE_DEBUGCTL_FOREIGN, ip, MSR_DEBUGCTL, detail);
	}
	if (!vcpu_bts_on(cpu))
		return;
	judge_ds_area(cpu, ip, was_on, old_ds_area);
	if (!was_on && __atomic_load_n(&bts_must_be_off, __ATOMIC_RELAXED))
		rule_broken(cpu, RULE_BTS_AFTER_UNLOAD, ip, MSR_DEBUGCTL, "BTS switched on");
}

/**
 * rules_judge_ring() - judge size and threshold of the ring in @cpu->judged
 * @cpu: the calling vCPU
 * @ip: the branch that is to be recorded
 *
 * A circular ring needs its threshold beyond the maximum: SDM vol. 3B, "Setting Up
 * the BTS Buffer".
 */
void rules_judge_ring(struct vcpu *cpu, uint64_t ip)
{
	const struct ds_area *ds = &cpu->judged;
	bool circular = !(cpu->debugctl & DEBUGCTL_BTINT);
	char detail[96];

	snprintf(detail, sizeof(detail), "base=0x%llx max=0x%llx threshold=0x%llx",
		 (unsigned long long)ds->base, (unsigned long long)ds->absolute_maximum,
		 (unsigned long long)ds->interrupt_threshold);
	if ((ds->absolute_maximum - ds->base) % DS_RECORD_BYTES)
		rule_broken(cpu, RULE_RING_MULTIPLE, ip, ds->absolute_maximum, detail);
	if (circular && ds->interrupt_threshold <= ds->absolute_maximum)
		rule_broken(cpu, RULE_THRESHOLD_INSIDE, ip, ds->interrupt_threshold, detail);
}

/* One line for each vCPU with BTS on, written by the vCPU that noticed. */
static void judge_all_off(struct vcpu *cpu, enum rule rule, uint64_t ip)
{
	for (unsigned int i = 0; i < MAX_VCPUS; i++) {
		struct vcpu *other = vcpu_find(i);
		char detail[64];

		if (!other || !vcpu_bts_on(other))
			continue;
		snprintf(detail, sizeof(detail), "BTS is on at cpu=%u", i);
		rule_broken(cpu, rule, ip, MSR_DEBUGCTL, detail);
	}
}

/** rules_next_kernel() - @cpu runs at CPL 0 in an identity map: the way to another kernel */
void rules_next_kernel(struct vcpu *cpu, uint64_t ip)
{
	judge_all_off(cpu, RULE_BTS_ON_AT_KEXEC, ip);
}

/** rules_reset() - @cpu is at the reset vector */
void rules_reset(struct vcpu *cpu, uint64_t ip)
{
	judge_all_off(cpu, RULE_BTS_ON_AT_RESET, ip);
}

/** rules_must_be_off() - the guest says that BTS must be off on all CPUs from now on, or not */
void rules_must_be_off(struct vcpu *cpu, uint64_t ip, int must_be_off)
{
	__atomic_store_n(&bts_must_be_off, must_be_off, __ATOMIC_RELAXED);
	if (must_be_off)
		judge_all_off(cpu, RULE_BTS_AFTER_UNLOAD, ip);
}
