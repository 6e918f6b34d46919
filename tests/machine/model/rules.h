/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What would kill a real machine, or lose the trace on it. */
#ifndef BTSREC_TESTS_MODEL_RULES_H
#define BTSREC_TESTS_MODEL_RULES_H

#include <stdint.h>

struct vcpu;

enum rule {
	RULE_STORE_UNMAPPED,	/* the page tables in force cannot translate a store of BTS */
	RULE_DS_AREA_ZERO,	/* IA32_DS_AREA is 0 while BTS is on */
	RULE_DS_AREA_MOVED,	/* IA32_DS_AREA changed while BTS is on */
	RULE_RING_BOUNDS,	/* index outside the ring or between records */
	RULE_RING_MULTIPLE,	/* ring size no multiple of a record (erratum P79) */
	RULE_THRESHOLD_INSIDE,	/* circular ring with a threshold not beyond its maximum */
	RULE_DEBUGCTL_FOREIGN,	/* BTS switched and other DEBUGCTL bits changed by one write */
	RULE_BTS_ON_AT_KEXEC,	/* BTS on when the next kernel is entered */
	RULE_BTS_ON_AT_RESET,	/* BTS on when the machine is reset */
	RULE_BTS_AFTER_UNLOAD,	/* BTS on while the guest says that it must be off */
	NR_RULES,
};

const char *rule_name(enum rule rule);
void rule_broken(struct vcpu *cpu, enum rule rule, uint64_t ip, uint64_t addr, const char *detail);
void rules_judge_write(struct vcpu *cpu, uint64_t ip, uint64_t old_debugctl,
		       uint64_t old_ds_area);
void rules_judge_ring(struct vcpu *cpu, uint64_t ip);
void rules_next_kernel(struct vcpu *cpu, uint64_t ip);
void rules_reset(struct vcpu *cpu, uint64_t ip);
void rules_must_be_off(struct vcpu *cpu, uint64_t ip, int must_be_off);

#endif
