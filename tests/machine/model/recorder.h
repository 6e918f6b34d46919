/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The BTS unit of a vCPU: what happens to a branch. */
#ifndef BTSREC_TESTS_MODEL_RECORDER_H
#define BTSREC_TESTS_MODEL_RECORDER_H

#include "model_log.h"
#include "vcpu.h"

void recorder_branch(struct vcpu *cpu, uint64_t from, uint64_t to, enum model_log_kind kind);

#endif
