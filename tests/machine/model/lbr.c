// SPDX-License-Identifier: GPL-2.0-or-later
#include "lbr.h"

#define SELECT_NO_OS	(1ULL << 0)
#define SELECT_NO_USER	(1ULL << 1)

/**
 * lbr_filters() - does MSR_LBR_SELECT leave a branch out?
 * @lbr: its state
 * @to: where the branch leads
 *
 * "When set, do not capture branches ending in ring 0", and "in ring >0" (SDM vol. 3B, table
 * "MSR_LBR_SELECT").  The level is taken from the address, as Linux uses it.  The bits that leave
 * out kinds of branches are kept and do nothing.
 */
bool lbr_filters(const struct lbr *lbr, uint64_t to)
{
	return lbr->select & (to >> 63 ? SELECT_NO_OS : SELECT_NO_USER);
}

/** lbr_push() - a branch was taken while DEBUGCTL.LBR is set */
void lbr_push(struct lbr *lbr, uint64_t from, uint64_t to, bool predicted)
{
	lbr->tos = (lbr->tos + 1) % LBR_NR_ENTRIES;
	lbr->from[lbr->tos] = from;
	lbr->to[lbr->tos] = to;
	lbr->info[lbr->tos] = predicted ? 0 : LBR_INFO_MISPREDICTED;
}

static uint64_t *place_of(struct lbr *lbr, uint32_t msr)
{
	if (msr == MSR_LBR_SELECT)
		return &lbr->select;
	if (msr == MSR_LBR_TOS)
		return &lbr->tos;
	if (msr - MSR_LBR_FROM_0 < LBR_NR_ENTRIES)
		return &lbr->from[msr - MSR_LBR_FROM_0];
	if (msr - MSR_LBR_TO_0 < LBR_NR_ENTRIES)
		return &lbr->to[msr - MSR_LBR_TO_0];
	if (msr - MSR_LBR_INFO_0 < LBR_NR_ENTRIES)
		return &lbr->info[msr - MSR_LBR_INFO_0];
	return NULL;
}

/** lbr_read() - value of an MSR of it, or IA32_PERF_CAPABILITIES; false if @msr is none */
bool lbr_read(const struct lbr *lbr, uint32_t msr, uint64_t *value_ret)
{
	const uint64_t *place = place_of((struct lbr *)lbr, msr);

	if (msr == MSR_PERF_CAPABILITIES)
		*value_ret = LBR_FORMAT;
	else if (place)
		*value_ret = *place;
	return place || msr == MSR_PERF_CAPABILITIES;
}

/** lbr_write() - false if @msr is none of it */
bool lbr_write(struct lbr *lbr, uint32_t msr, uint64_t value)
{
	uint64_t *place = place_of(lbr, msr);

	if (place)
		*place = msr == MSR_LBR_TOS ? value % LBR_NR_ENTRIES : value;
	return place;
}
