/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that the model leaves: cpuN.log, violations.log, msr.log, extents.log, summary.json. */
#ifndef BTSREC_TESTS_MODEL_LOG_FILES_H
#define BTSREC_TESTS_MODEL_LOG_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "extent.h"
#include "model_log.h"

bool log_open(const char *outdir, uint64_t records);
struct model_log_header *log_open_cpu(unsigned int cpu);
void *log_map_cpu(unsigned int cpu, const char *suffix, uint64_t nr_bytes);
void log_record(struct model_log_header *log, const struct model_log_record *record);
void log_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_msr(bool flush, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_extent(unsigned int cpu, const struct extent *extent, const struct extent_counts *cost);
void log_summary(void);

#endif
