// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/sched_clock.h"

#include <string.h>

#define NS_PER_MS	1000000U

/* mul * khz >> shift is NS_PER_MS but for what rounding leaves. */
#define MAX_DRIFT_PPM	100U

/* v5.10: pv_ops begins with struct pv_init_ops and struct pv_time_ops, a function each. */
#define NR_PV_WORDS	4

/** struct cyc2ns_data - as arch/x86/include/asm/timer.h has it since v4.15 */
struct cyc2ns_data {
	uint32_t mul;
	uint32_t shift;
	uint64_t offset_ns;
};

static bool calls_native(const struct kread *kernel, const struct sched_clock_places *places)
{
	uint64_t at = places->call_kva ? places->call_kva : places->pv_ops_kva;
	uint64_t words[NR_PV_WORDS];

	if (!at)
		return true;
	if (!places->native_kva || !kread(kernel, at, words, sizeof(words)))
		return false;
	/* struct static_call_key begins with the function. */
	for (size_t i = 0; i < (places->call_kva ? 1 : NR_PV_WORDS); i++)
		if (words[i] == places->native_kva)
			return true;
	return false;
}

/* struct static_key begins with how often it was enabled. */
static bool is_stable(const struct kread *kernel, uint64_t stable_kva)
{
	int32_t enabled;

	return stable_kva && kread(kernel, stable_kva, &enabled, sizeof(enabled)) && enabled > 0;
}

static bool fits(const struct cyc2ns_data *data, uint32_t tsc_khz)
{
	uint64_t ns_per_ms, drift;

	if (!tsc_khz || !data->mul || data->shift >= 32)
		return false;
	ns_per_ms = (uint64_t)data->mul * tsc_khz >> data->shift;
	drift = ns_per_ms > NS_PER_MS ? ns_per_ms - NS_PER_MS : NS_PER_MS - ns_per_ms;
	return drift <= MAX_DRIFT_PPM;
}

/* struct cyc2ns has two copies: one may be just written. */
const char *sched_clock_read(const struct kread *kernel, const struct sched_clock_places *places,
			     uint32_t tsc_khz, struct sched_clock *ret)
{
	struct cyc2ns_data data[2];
	uint64_t offset_ns;

	if (!places->cyc2ns_kva || !places->offset_kva || !places->stable_kva)
		return "the kernel's names do not say where the constants of its clock are";
	if (!calls_native(kernel, places) || !is_stable(kernel, places->stable_kva))
		return "the kernel's clock is not the TSC alone";
	if (!kread(kernel, places->cyc2ns_kva, data, sizeof(data)) ||
	    !kread(kernel, places->offset_kva, &offset_ns, sizeof(offset_ns)))
		return "the constants of the kernel's clock are not in the dump";
	if (memcmp(&data[0], &data[1], sizeof(data[0])) != 0 || !fits(&data[0], tsc_khz))
		return "the constants of the kernel's clock do not fit the TSC's frequency";
	*ret = (struct sched_clock){ data[0].mul, data[0].shift, data[0].offset_ns + offset_ns };
	return NULL;
}

bool sched_clock_tsc(const struct sched_clock *clock, uint64_t ns, uint64_t *ret)
{
	uint64_t since_ns = ns - clock->offset_ns;
	unsigned __int128 scaled = (unsigned __int128)since_ns << clock->shift;
	unsigned __int128 cycles = (scaled + clock->mul - 1) / clock->mul;

	if (since_ns > INT64_MAX || cycles > UINT64_MAX)
		return false;
	*ret = (uint64_t)cycles;
	return true;
}
