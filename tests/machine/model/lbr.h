/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last branch record of Intel processors from Skylake on, of LBR_FMT 5: 32 entries. */
#ifndef BTSREC_TESTS_MODEL_LBR_H
#define BTSREC_TESTS_MODEL_LBR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LBR_NR_ENTRIES	32

/* Intel SDM vol. 4 */
#define MSR_LBR_SELECT		0x1c8
#define MSR_LBR_TOS		0x1c9
#define MSR_PERF_CAPABILITIES	0x345
#define MSR_LBR_FROM_0		0x680
#define MSR_LBR_TO_0		0x6c0
#define MSR_LBR_INFO_0		0xdc0

#define LBR_FORMAT		5
#define LBR_INFO_MISPREDICTED	(1ULL << 63)

struct lbr {
	uint64_t select;
	uint64_t tos;
	uint64_t from[LBR_NR_ENTRIES];
	uint64_t to[LBR_NR_ENTRIES];
	uint64_t info[LBR_NR_ENTRIES];
};

bool lbr_filters(const struct lbr *lbr, uint64_t to);
void lbr_push(struct lbr *lbr, uint64_t from, uint64_t to, bool predicted);
bool lbr_read(const struct lbr *lbr, uint32_t msr, uint64_t *value_ret);
bool lbr_write(struct lbr *lbr, uint32_t msr, uint64_t value);

#endif
