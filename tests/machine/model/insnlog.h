/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpuN.insns: every instruction that was begun while BTS was on; see model_log.h. */
#ifndef BTSREC_TESTS_MODEL_INSNLOG_H
#define BTSREC_TESTS_MODEL_INSNLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu_api.h"

struct vcpu;

void insnlog_init(uint64_t capacity);
void insnlog_open_cpu(unsigned int cpu);
void insnlog_watch(struct qemu_plugin_insn *insn, uint64_t offset, qemu_plugin_u64 active);

#endif
