/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Architectural performance monitoring, so that perf's own intel_bts driver loads. */
#ifndef BTSREC_TESTS_MODEL_PERFMON_H
#define BTSREC_TESTS_MODEL_PERFMON_H

#include <stdbool.h>
#include <stdint.h>

struct perfmon;

#define PERFMON_CPUID_LEAF	0xa
#define PERFMON_CPUID_EAX	0x07300402	/* version 2, 4 counters of 48 bits, 7 events */
#define PERFMON_CPUID_EDX	0x00000603	/* 3 fixed counters of 48 bits */

bool perfmon_read(const struct perfmon *perfmon, uint32_t msr, uint64_t *value_ret);
bool perfmon_write(struct perfmon *perfmon, uint32_t msr, uint64_t value);
uint64_t perfmon_read_counter(const struct perfmon *perfmon, uint32_t rdpmc_ecx);

#endif
