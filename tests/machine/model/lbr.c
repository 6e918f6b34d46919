// SPDX-License-Identifier: GPL-2.0-or-later
#include "lbr.h"

#include <string.h>

#define SELECT_NO_OS	(1ULL << 0)
#define SELECT_NO_USER	(1ULL << 1)
#define ARCH_ENABLE	(1ULL << 0)
#define ARCH_OS		(1ULL << 1)
#define ARCH_USER	(1ULL << 2)
#define AMD_ENABLE	(1ULL << 6)
#define NR_AMD_ENTRIES	16

/** lbr_is_on() - @debugctl_lbr: DEBUGCTL.LBR, which switches that by model */
bool lbr_is_on(const struct lbr *lbr, bool debugctl_lbr)
{
	switch (lbr->kind) {
	case LBR_BY_MODEL:
		return debugctl_lbr;
	case LBR_ARCHITECTURAL:
		return lbr->control & ARCH_ENABLE;
	case LBR_AMD:
		return lbr->control & AMD_ENABLE;
	case LBR_NONE:
		break;
	}
	return false;
}

/**
 * lbr_filters() - does a filter leave a branch out?
 * @lbr: its state
 * @to: where the branch leads
 *
 * "When set, do not capture branches ending in ring 0", and "in ring >0" (SDM vol. 3B, table
 * "MSR_LBR_SELECT"; AMD's is the same in these two).  IA32_LBR_CTL has bits that record.  The level
 * is taken from the address, as Linux uses it.  The bits that leave out kinds of branches are kept
 * and do nothing.
 */
bool lbr_filters(const struct lbr *lbr, uint64_t to)
{
	if (lbr->kind == LBR_ARCHITECTURAL)
		return !(lbr->control & (to >> 63 ? ARCH_OS : ARCH_USER));
	return lbr->select & (to >> 63 ? SELECT_NO_OS : SELECT_NO_USER);
}

static unsigned int nr_entries(const struct lbr *lbr)
{
	return lbr->kind == LBR_AMD ? NR_AMD_ENTRIES : LBR_MAX_ENTRIES;
}

static void push(struct lbr *lbr, uint64_t from, uint64_t to, uint64_t info)
{
	lbr->tos = (lbr->tos + 1) % nr_entries(lbr);
	lbr->from[lbr->tos] = from;
	lbr->to[lbr->tos] = to;
	lbr->info[lbr->tos] = info;
}

/** lbr_push() - a branch was taken while it is on */
void lbr_push(struct lbr *lbr, uint64_t from, uint64_t to, bool predicted)
{
	uint64_t flag = predicted ? 0 : LBR_MISPREDICTED;

	if (lbr->kind == LBR_AMD)
		push(lbr, (from & LBR_AMD_ADDRESS) | flag, (to & LBR_AMD_ADDRESS) | LBR_AMD_VALID, 0);
	else
		push(lbr, from, to, flag);
}

/** lbr_push_wrong_path() - a branch was taken by speculation only: AMD's has such, too */
void lbr_push_wrong_path(struct lbr *lbr, uint64_t from, uint64_t to)
{
	push(lbr, from & LBR_AMD_ADDRESS, (to & LBR_AMD_ADDRESS) | LBR_AMD_SPECULATIVE, 0);
}

/* What the guest calls entry @number: without a TOS that is counted from the newest one. */
static unsigned int place(const struct lbr *lbr, unsigned int number)
{
	if (lbr->kind == LBR_BY_MODEL)
		return number;
	return (lbr->tos + nr_entries(lbr) - number) % nr_entries(lbr);
}

static uint64_t *place_by_model(struct lbr *lbr, uint32_t msr)
{
	if (msr == MSR_LBR_SELECT)
		return &lbr->select;
	if (msr == MSR_LBR_TOS)
		return &lbr->tos;
	if (msr - MSR_LBR_FROM_0 < LBR_MAX_ENTRIES)
		return &lbr->from[msr - MSR_LBR_FROM_0];
	if (msr - MSR_LBR_TO_0 < LBR_MAX_ENTRIES)
		return &lbr->to[msr - MSR_LBR_TO_0];
	if (msr - MSR_LBR_INFO_0 < LBR_MAX_ENTRIES)
		return &lbr->info[msr - MSR_LBR_INFO_0];
	return NULL;
}

static uint64_t *place_architectural(struct lbr *lbr, uint32_t msr)
{
	if (msr == MSR_ARCH_LBR_CTL)
		return &lbr->control;
	if (msr - MSR_ARCH_LBR_FROM_0 < LBR_MAX_ENTRIES)
		return &lbr->from[place(lbr, msr - MSR_ARCH_LBR_FROM_0)];
	if (msr - MSR_ARCH_LBR_TO_0 < LBR_MAX_ENTRIES)
		return &lbr->to[place(lbr, msr - MSR_ARCH_LBR_TO_0)];
	if (msr - MSR_ARCH_LBR_INFO_0 < LBR_MAX_ENTRIES)
		return &lbr->info[place(lbr, msr - MSR_ARCH_LBR_INFO_0)];
	return NULL;
}

static uint64_t *place_amd(struct lbr *lbr, uint32_t msr)
{
	uint32_t nr = msr - MSR_AMD_LBR_FROM_0;

	if (msr == MSR_AMD_LBR_SELECT)
		return &lbr->select;
	if (msr == MSR_AMD_DBG_EXTN_CFG)
		return &lbr->control;
	if (nr >= 2 * NR_AMD_ENTRIES)
		return NULL;
	return nr % 2 ? &lbr->to[place(lbr, nr / 2)] : &lbr->from[place(lbr, nr / 2)];
}

static uint64_t *place_of(struct lbr *lbr, uint32_t msr)
{
	switch (lbr->kind) {
	case LBR_BY_MODEL:
		return place_by_model(lbr, msr);
	case LBR_ARCHITECTURAL:
		return place_architectural(lbr, msr);
	case LBR_AMD:
		return place_amd(lbr, msr);
	case LBR_NONE:
		break;
	}
	return NULL;
}

/** lbr_is_newest() - is @msr the FROM of the newest entry? */
bool lbr_is_newest(const struct lbr *lbr, uint32_t msr)
{
	return place_of((struct lbr *)lbr, msr) == &lbr->from[lbr->tos];
}

/** lbr_read() - value of an MSR of it, or IA32_PERF_CAPABILITIES; false if @msr is none */
bool lbr_read(const struct lbr *lbr, uint32_t msr, uint64_t *value_ret)
{
	const uint64_t *value = place_of((struct lbr *)lbr, msr);

	if (lbr->kind == LBR_BY_MODEL && msr == MSR_PERF_CAPABILITIES)
		*value_ret = LBR_FORMAT;
	else if (lbr->kind == LBR_ARCHITECTURAL && msr == MSR_ARCH_LBR_DEPTH)
		*value_ret = LBR_MAX_ENTRIES;
	else if (value)
		*value_ret = *value;
	else
		return false;
	return true;
}

/* "IA32_LBR_DEPTH: a write resets all LBR entries" (SDM vol. 3B). */
static bool write_depth(struct lbr *lbr, uint32_t msr)
{
	if (lbr->kind != LBR_ARCHITECTURAL || msr != MSR_ARCH_LBR_DEPTH)
		return false;
	memset(lbr->from, 0, sizeof(lbr->from));
	memset(lbr->to, 0, sizeof(lbr->to));
	memset(lbr->info, 0, sizeof(lbr->info));
	return true;
}

/** lbr_write() - false if @msr is none of it */
bool lbr_write(struct lbr *lbr, uint32_t msr, uint64_t value)
{
	uint64_t *to = place_of(lbr, msr);

	if (!to)
		return write_depth(lbr, msr);
	*to = to == &lbr->tos ? value % nr_entries(lbr) : value;
	return true;
}
