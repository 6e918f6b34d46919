/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions that reach the model: WRMSR, RDMSR, CPUID, RDPMC, MOV to CR. */
#ifndef BTSREC_TESTS_MODEL_MSR_H
#define BTSREC_TESTS_MODEL_MSR_H

#include "insn.h"
#include "qemu_api.h"
#include "vcpu.h"

void msr_model_perfmon(void);
void msr_model_cpuid(enum lbr_kind kind);
void msr_watch(struct qemu_plugin_insn *insn, enum insn_class class,
	       struct qemu_plugin_insn *next);

/* model.c: the blocks of a vCPU call the model only while it has to see them. */
void model_update_active(struct vcpu *cpu);
void model_check_reset(struct vcpu *cpu);

#endif
