/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last branch record of three kinds of processors. */
#ifndef BTSREC_TESTS_MODEL_LBR_H
#define BTSREC_TESTS_MODEL_LBR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LBR_MAX_ENTRIES	32

/* Intel SDM vol. 4, by model */
#define MSR_LBR_SELECT		0x1c8
#define MSR_LBR_TOS		0x1c9
#define MSR_PERF_CAPABILITIES	0x345
#define MSR_LBR_FROM_0		0x680
#define MSR_LBR_TO_0		0x6c0
#define MSR_LBR_INFO_0		0xdc0

/* the same, architectural */
#define MSR_ARCH_LBR_CTL	0x14ce
#define MSR_ARCH_LBR_DEPTH	0x14cf
#define MSR_ARCH_LBR_INFO_0	0x1200
#define MSR_ARCH_LBR_FROM_0	0x1500
#define MSR_ARCH_LBR_TO_0	0x1600

/* AMD APM vol. 2, "LbrExtV2" */
#define MSR_AMD_LBR_SELECT	0xc000010e
#define MSR_AMD_DBG_EXTN_CFG	0xc000010f
#define MSR_AMD_LBR_FROM_0	0xc0010300	/* TO of entry 0 follows it, and so on */

#define LBR_FORMAT		5
#define LBR_MISPREDICTED	(1ULL << 63)
#define LBR_AMD_VALID		(1ULL << 63)
#define LBR_AMD_SPECULATIVE	(1ULL << 62)
#define LBR_AMD_ADDRESS		((1ULL << 58) - 1)

/**
 * enum lbr_kind - by model: LBR_FMT 5 of Intel's processors from Skylake on, 32 entries and a
 *	number of the newest; architectural: 32, the newest is entry 0; AMD from Zen 4 on: 16 likewise
 */
enum lbr_kind { LBR_NONE, LBR_BY_MODEL, LBR_ARCHITECTURAL, LBR_AMD };

/**
 * struct lbr - @control: IA32_LBR_CTL or DBG_EXTN_CFG; by model DEBUGCTL has the bit.
 * @tos: place of the newest entry in the arrays, whatever the guest sees.
 */
struct lbr {
	enum lbr_kind kind;
	uint64_t control;
	uint64_t select;
	uint64_t tos;
	uint64_t from[LBR_MAX_ENTRIES];
	uint64_t to[LBR_MAX_ENTRIES];
	uint64_t info[LBR_MAX_ENTRIES];
};

bool lbr_is_on(const struct lbr *lbr, bool debugctl_lbr);
bool lbr_filters(const struct lbr *lbr, uint64_t to);
void lbr_push(struct lbr *lbr, uint64_t from, uint64_t to, bool predicted);
void lbr_push_wrong_path(struct lbr *lbr, uint64_t from, uint64_t to);
bool lbr_read(const struct lbr *lbr, uint32_t msr, uint64_t *value_ret);
bool lbr_write(struct lbr *lbr, uint32_t msr, uint64_t value);
bool lbr_is_newest(const struct lbr *lbr, uint32_t msr);

#endif
