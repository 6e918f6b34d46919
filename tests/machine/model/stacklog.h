/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpuN.stacks: the true call stack behind every so many records; see model_log.h. */
#ifndef BTSREC_TESTS_MODEL_STACKLOG_H
#define BTSREC_TESTS_MODEL_STACKLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "insn.h"

struct vcpu;

/** struct stacklog_saved - what an interrupt or exception has put on the stack */
struct stacklog_saved {
	uint64_t ip;
	uint64_t sp;
};

bool stacklog_option(const char *name, uint64_t value);
bool stacklog_wanted(void);
void stacklog_open_cpu(unsigned int cpu);
void stacklog_transfer(struct vcpu *cpu, uint64_t sp, enum insn_flow flow, uint64_t ret,
		       uint64_t to, uint64_t nr_before);
struct stacklog_saved stacklog_saved(uint64_t from);
void stacklog_interrupt(struct vcpu *cpu, const struct stacklog_saved *saved,
			uint64_t nr_before);
void stacklog_block(struct vcpu *cpu, uint64_t ip);

#endif
