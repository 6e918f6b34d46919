/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State of one virtual CPU.  Each vCPU thread touches its own only, except for
 * @debugctl, which other threads read (vcpu_bts_on()) to judge the rules.
 *
 * Also the access to its registers and memory.
 */
#ifndef BTSREC_TESTS_MODEL_VCPU_H
#define BTSREC_TESTS_MODEL_VCPU_H

#include <stdbool.h>
#include <stdint.h>

#include "ds.h"
#include "extent.h"
#include "lbr.h"
#include "model_log.h"
#include "rules.h"
#include "walk.h"

#define MAX_VCPUS	64

/* Intel SDM vol. 4, IA32_DEBUGCTL; the names of asm/msr-index.h. */
#define MSR_DEBUGCTL		0x1d9
#define MSR_DS_AREA		0x600
#define DEBUGCTL_LBR		(1ULL << 0)
#define DEBUGCTL_TR		(1ULL << 6)
#define DEBUGCTL_BTS		(1ULL << 7)
#define DEBUGCTL_BTINT		(1ULL << 8)
#define DEBUGCTL_BTS_OFF_OS	(1ULL << 9)
#define DEBUGCTL_BTS_OFF_USR	(1ULL << 10)

enum vcpu_reg {
	REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RSP, REG_RIP, REG_CS, REG_CR0,
	REG_CR3, REG_CR4, REG_RBP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
	REG_R15, NR_REGS,
};

/* What the control channel asked to be counted: see control.c. */
struct footprint {
	uint64_t start;
	uint64_t end;		/* 0: nothing is counted */
	uint64_t nr_insns;
	uint64_t nr_msr_writes;
	uint64_t nr_records;	/* with an end in the range */
};

struct perfmon {
	uint64_t msr[128];
};

struct vcpu {
	unsigned int index;
	uint64_t debugctl;
	uint64_t ds_area;
	unsigned int reset_seen;	/* resets of the machine that this vCPU has followed */

	bool in_kernel;			/* runs a kernel at its own, high addresses */
	bool was_on;			/* BTS was, so the call stack is followed from then on */
	uint64_t block_rip;		/* run-time start of the block that ran last */
	bool space_stale;		/* CR3 or CR4 may have changed */
	struct walk_space space;
	struct walk_cache ds_walk;
	struct walk_cache ring_walk;
	uint64_t nr_of_area;		/* records since IA32_DS_AREA was written */
	bool ring_judged;		/* size and threshold of this ring were looked at */
	struct ds_area judged;

	struct model_log_header *log;
	uint64_t nr_full;		/* records dropped because a non-circular buffer is full */
	uint64_t nr_stores_refused;	/* records not stored because a rule was broken */
	uint64_t nr_broken[NR_RULES];
	struct footprint footprint;
	struct extents extents;
	struct extent_counts counts;	/* its nr_stores and nr_records: when last looked at */
	struct perfmon perfmon;
	struct lbr lbr;
	unsigned int fused_bytes;	/* of what precedes the branch and runs as one with it */
	uint32_t cpuid_leaf;		/* of the CPUID that runs */
};

struct vcpu *vcpu_get(unsigned int index);
struct vcpu *vcpu_find(unsigned int index);
void vcpu_init(unsigned int index);
void vcpu_reset(struct vcpu *cpu);
bool vcpu_bts_on(const struct vcpu *cpu);
bool vcpu_records(const struct vcpu *cpu);

uint64_t vcpu_reg(enum vcpu_reg reg);
uint64_t vcpu_general_reg(unsigned int number);
void vcpu_set_reg(enum vcpu_reg reg, uint64_t value);
unsigned int vcpu_cpl(void);
bool vcpu_read_pa(uint64_t pa, void *dest, unsigned int nr_bytes);
bool vcpu_write_pa(uint64_t pa, const void *src, unsigned int nr_bytes);
unsigned int vcpu_read_code(uint64_t addr, uint8_t *dest, unsigned int nr_bytes);
bool vcpu_translate_store(struct vcpu *cpu, uint64_t addr, struct walk_cache *cache,
			  uint64_t *pa_ret);

#endif
