// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "kernel/sched_clock.h"
#include "userkernel.h"

#define CYC2NS_PA	UK_NAMES_PA
#define STABLE_PA	(UK_NAMES_PA + 0x100)
#define OFFSET_PA	(UK_NAMES_PA + 0x200)
#define CALL_PA		(UK_NAMES_PA + 0x300)

#define NATIVE_KVA	0xffffffff81002000ULL
#define KHZ		2500000U

struct cyc2ns_data { uint32_t mul, shift; uint64_t offset_ns; };

static struct uk uk;
static struct sched_clock_places places;
static struct sched_clock clock_of_kernel;

static const char *read_clock(uint32_t tsc_khz)
{
	return sched_clock_read(&uk.kread, &places, tsc_khz, &clock_of_kernel);
}

/* 2.5 GHz: 0.4 ns a cycle; 7 s behind, and 3 s more that all clocks of the kernel have. */
static struct cyc2ns_data *setup(void)
{
	struct cyc2ns_data *data;

	uk_init(&uk);
	memset(uk_at(&uk, UK_NAMES_PA), 0, BTSREC_PAGE_BYTES);
	data = uk_at(&uk, CYC2NS_PA);
	data[0] = data[1] = (struct cyc2ns_data){ 429496730, 30, -7000000000ULL };
	*(uint32_t *)uk_at(&uk, STABLE_PA) = 1;
	*(uint64_t *)uk_at(&uk, OFFSET_PA) = 3000000000ULL;
	*(uint64_t *)uk_at(&uk, CALL_PA) = NATIVE_KVA;
	places = (struct sched_clock_places){
		.cyc2ns_kva = UK_KVA(CYC2NS_PA),
		.stable_kva = UK_KVA(STABLE_PA),
		.offset_kva = UK_KVA(OFFSET_PA),
		.native_kva = NATIVE_KVA,
		.call_kva = UK_KVA(CALL_PA),
	};
	return data;
}

/* What the kernel computes of a time stamp, cycles_2_ns(). */
static uint64_t to_ns(uint64_t tsc)
{
	return (uint64_t)((unsigned __int128)tsc * clock_of_kernel.mul >> clock_of_kernel.shift) +
	       clock_of_kernel.offset_ns;
}

START_TEST(first_cycle)
{
	uint64_t tsc;

	(void)setup();
	ck_assert_ptr_null(read_clock(KHZ));
	for (uint64_t ns = 1; ns < 10000000000000ULL; ns = ns * 3 + 1) {
		ck_assert(sched_clock_tsc(&clock_of_kernel, ns, &tsc));
		ck_assert_uint_eq(to_ns(tsc), ns);
		ck_assert_uint_lt(to_ns(tsc - 1), ns);
	}
	/* Before the TSC began. */
	clock_of_kernel.offset_ns = 1000;
	ck_assert(!sched_clock_tsc(&clock_of_kernel, 999, &tsc));
	ck_assert(sched_clock_tsc(&clock_of_kernel, 1000, &tsc));
	ck_assert_uint_eq(tsc, 0);
}
END_TEST

START_TEST(other_clocks)
{
	(void)setup();
	*(uint64_t *)uk_at(&uk, CALL_PA) = NATIVE_KVA + 16;
	ck_assert_str_eq(read_clock(KHZ), "the kernel's clock is not the TSC alone");
	*(uint64_t *)uk_at(&uk, CALL_PA) = NATIVE_KVA;
	*(uint32_t *)uk_at(&uk, STABLE_PA) = 0;
	ck_assert_str_eq(read_clock(KHZ), "the kernel's clock is not the TSC alone");
	*(uint32_t *)uk_at(&uk, STABLE_PA) = 1;
	/* v5.10 has a table of functions; a kernel without CONFIG_PARAVIRT neither. */
	places.pv_ops_kva = places.call_kva - 8;
	places.call_kva = 0;
	ck_assert_ptr_null(read_clock(KHZ));
	places.pv_ops_kva = 0;
	ck_assert_ptr_null(read_clock(KHZ));
	places.pv_ops_kva = UK_KVA(STABLE_PA);
	ck_assert_ptr_nonnull(read_clock(KHZ));
}
END_TEST

START_TEST(constants_that_do_not_fit)
{
	struct cyc2ns_data *data = setup();

	ck_assert_ptr_nonnull(read_clock(KHZ + 2 * KHZ / 1000));
	ck_assert_ptr_nonnull(read_clock(0));
	data[1].offset_ns++;
	ck_assert_ptr_nonnull(read_clock(KHZ));
	data[0] = data[1] = (struct cyc2ns_data){ 429496730, 94, 0 };
	ck_assert_ptr_nonnull(read_clock(KHZ));
	memset(data, 0, 2 * sizeof(*data));
	ck_assert_ptr_nonnull(read_clock(KHZ));
	uk.hole_pa = UK_NAMES_PA;
	ck_assert_ptr_nonnull(read_clock(KHZ));
	places.cyc2ns_kva = 0;
	ck_assert_str_eq(read_clock(KHZ), "the kernel's names do not say where the constants of "
					  "its clock are");
}
END_TEST

BTSREC_CK_MAIN("sched_clock", first_cycle, other_clocks, constants_that_do_not_fit)
