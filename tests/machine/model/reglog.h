/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpuN.regs: the general registers before each instruction; see model_log.h. */
#ifndef BTSREC_TESTS_MODEL_REGLOG_H
#define BTSREC_TESTS_MODEL_REGLOG_H

#include <stdint.h>

#include "qemu_api.h"

void reglog_init(uint64_t capacity);
void reglog_open_cpu(unsigned int cpu);
void reglog_watch(struct qemu_plugin_insn *insn, uint64_t offset, qemu_plugin_u64 active);

#endif
