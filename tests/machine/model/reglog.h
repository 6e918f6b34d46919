/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpuN.regs and cpuN.entries: general registers of what ran; see model_log.h. */
#ifndef BTSREC_TESTS_MODEL_REGLOG_H
#define BTSREC_TESTS_MODEL_REGLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu_api.h"

struct vcpu;

void reglog_init(uint64_t capacity);
void reglog_init_entries(uint64_t capacity);
bool reglog_wants_entries(void);
void reglog_entry(const struct vcpu *cpu, uint64_t ip, uint64_t sp);
void reglog_open_cpu(unsigned int cpu);
void reglog_watch(struct qemu_plugin_insn *insn, uint64_t offset, qemu_plugin_u64 active);

#endif
