// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfmon.h"
#include "vcpu.h"

#define MSR_PERF_GLOBAL_STATUS	0x38e
#define MSR_PMC0		0xc1
#define MSR_FIXED_CTR0		0x309
#define RDPMC_FIXED		(1U << 30)
#define RDPMC_INDEX_MASK	0x1f

/* Storage without function: nothing counts, overflows or records a last branch. */
static const struct {
	uint32_t first;
	uint32_t last;
} stored[] = {
	{ MSR_PMC0, 0xc4 },
	{ 0x186, 0x189 },		/* PERFEVTSEL0-3 */
	{ MSR_FIXED_CTR0, 0x30b },
	{ 0x38d, 0x38d },		/* FIXED_CTR_CTRL */
	{ 0x38f, 0x390 },		/* PERF_GLOBAL_CTRL, GLOBAL_OVF_CTRL */
	{ 0x3f1, 0x3f1 },		/* PEBS_ENABLE */
	{ 0x1c8, 0x1c9 },		/* LBR_SELECT, LASTBRANCH_TOS */
	{ 0x680, 0x69f },		/* LASTBRANCH_0-31_FROM_IP */
	{ 0x6c0, 0x6df },		/* LASTBRANCH_0-31_TO_IP */
	{ 0xdc0, 0xddf },		/* LBR_INFO_0-31 */
};

static int slot_of(uint32_t msr)
{
	unsigned int slot = 0;

	for (unsigned int i = 0; i < sizeof(stored) / sizeof(stored[0]); i++) {
		if (msr >= stored[i].first && msr <= stored[i].last)
			return (int)(slot + msr - stored[i].first);
		slot += stored[i].last - stored[i].first + 1;
	}
	return -1;
}

/** perfmon_read() - value of a performance-monitoring MSR; false if @msr is none */
bool perfmon_read(const struct perfmon *perfmon, uint32_t msr, uint64_t *value_ret)
{
	int slot = slot_of(msr);

	if (msr == MSR_PERF_GLOBAL_STATUS) {
		*value_ret = 0;
		return true;
	}
	if (slot < 0)
		return false;
	*value_ret = perfmon->msr[slot];
	return true;
}

/** perfmon_write() - keep a performance-monitoring MSR; false if @msr is none */
bool perfmon_write(struct perfmon *perfmon, uint32_t msr, uint64_t value)
{
	int slot = slot_of(msr);

	if (slot < 0)
		return false;
	perfmon->msr[slot] = value;
	return true;
}

/** perfmon_read_counter() - what RDPMC returns; a counter that is not there reads 0 */
uint64_t perfmon_read_counter(const struct perfmon *perfmon, uint32_t rdpmc_ecx)
{
	uint32_t first = rdpmc_ecx & RDPMC_FIXED ? MSR_FIXED_CTR0 : MSR_PMC0;
	uint64_t value = 0;

	perfmon_read(perfmon, first + (rdpmc_ecx & RDPMC_INDEX_MASK), &value);
	return value;
}
