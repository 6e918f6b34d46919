// SPDX-License-Identifier: GPL-2.0-or-later
#include "btffix.h"
#include "check_btsrec.h"
#include "kernel/patch_sites.h"
#include "userkernel.h"

#define JUMPS_PA	UK_NAMES_PA
#define CALLS_PA	(UK_NAMES_PA + 0x100)
#define MODULE_PA	(UK_NAMES_PA + 0x200)
#define MODULE_JUMPS_PA	(UK_NAMES_PA + 0x300)
#define MODULE_CALLS_PA	(UK_NAMES_PA + 0x400)

struct jump_entry { int32_t code, target; int64_t key; };
struct call_site { int32_t addr, key; };
struct module {
	char name[24];
	uint64_t jump_entries;
	uint32_t num_jump_entries;
	int32_t num_static_call_sites;
	uint64_t static_call_sites;
};

static struct uk uk;
static struct types *types;
static struct patch_sites sites;
static struct patch_table jumps, calls;

static void make_types(void)
{
	struct btf *btf = btf__new_empty();
	int u64 = btf__add_int(btf, "long", 8, 0), u32 = btf__add_int(btf, "int", 4, 0);

	UK_STRUCT(btf, "module", module);
	UK_FIELD(btf, module, jump_entries, u64);
	UK_FIELD(btf, module, num_jump_entries, u32);
	UK_FIELD(btf, module, num_static_call_sites, u32);
	UK_FIELD(btf, module, static_call_sites, u64);
	types = types_of(btf);
}

static void put_jump(uint64_t pa, uint64_t code_kva)
{
	struct jump_entry *entry = uk_at(&uk, pa);

	*entry = (struct jump_entry){ (int32_t)(code_kva - UK_KVA(pa)), -1, -1 };
}

static void put_call(uint64_t pa, uint64_t code_kva)
{
	struct call_site *site = uk_at(&uk, pa);

	*site = (struct call_site){ (int32_t)(code_kva - UK_KVA(pa)), -1 };
}

/* Two jumps and a call of the kernel; a jump and two calls of a module. */
static void setup(void)
{
	struct module *module;

	uk_init(&uk);
	memset(uk_at(&uk, UK_NAMES_PA), 0, BTSREC_PAGE_BYTES);
	put_jump(JUMPS_PA, UK_KVA(0x9000));
	put_jump(JUMPS_PA + 16, UK_KVA(0x1000));
	put_call(CALLS_PA, UK_KVA(0x5000));
	put_jump(MODULE_JUMPS_PA, UK_KVA(0x7000));
	put_call(MODULE_CALLS_PA, UK_KVA(0x7010));
	put_call(MODULE_CALLS_PA + 8, UK_KVA(0x7020));
	module = uk_at(&uk, MODULE_PA);
	*module = (struct module){ .jump_entries = UK_KVA(MODULE_JUMPS_PA),
				   .num_jump_entries = 1,
				   .static_call_sites = UK_KVA(MODULE_CALLS_PA),
				   .num_static_call_sites = 2 };
	jumps = (struct patch_table){ UK_KVA(JUMPS_PA), UK_KVA(JUMPS_PA) + 32 };
	calls = (struct patch_table){ UK_KVA(CALLS_PA), UK_KVA(CALLS_PA) + 8 };
	make_types();
}

static void teardown(void)
{
	patch_sites_fini(&sites);
	types_free(types);
}

START_TEST(all_tables)
{
	static const uint64_t want_pa[] = { 0x1000, 0x5000, 0x7000, 0x7010, 0x7020, 0x9000 };

	setup();
	patch_sites_kernel(&sites, &uk.kread, &jumps, &calls);
	ck_assert(patch_sites_module(&sites, &uk.kread, types, UK_KVA(MODULE_PA)));
	patch_sites_end(&sites);
	ck_assert(sites.complete);
	ck_assert_uint_eq(sites.nr, 6);
	for (size_t i = 0; i < 6; i++) {
		ck_assert_uint_eq(sites.list[i], UK_KVA(want_pa[i]));
		ck_assert(patch_sites_has(&sites, UK_KVA(want_pa[i])));
		ck_assert(!patch_sites_has(&sites, UK_KVA(want_pa[i]) + 1));
	}
	teardown();
}
END_TEST

/* Kernels that only have trampolines for static calls. */
START_TEST(no_call_sites)
{
	setup();
	calls = (struct patch_table){ 0 };
	patch_sites_kernel(&sites, &uk.kread, &jumps, &calls);
	ck_assert(sites.complete);
	ck_assert_uint_eq(sites.nr, 2);
	teardown();
}
END_TEST

START_TEST(missing_tables)
{
	setup();
	patch_sites_end(&sites);
	ck_assert(!patch_sites_has(&sites, 0));
	uk.hole_pa = UK_NAMES_PA;
	patch_sites_kernel(&sites, &uk.kread, &jumps, &calls);
	ck_assert(!patch_sites_module(&sites, &uk.kread, types, UK_KVA(MODULE_PA)));
	ck_assert(!sites.complete);
	ck_assert_uint_eq(sites.nr, 0);
	teardown();
}
END_TEST

/* A table that ends before it begins, or is larger than any; a module that counts too many. */
START_TEST(hostile_tables)
{
	struct module *module;

	setup();
	jumps.end_kva = jumps.begin_kva - 16;
	calls.end_kva = calls.begin_kva + (1ULL << 40);
	patch_sites_kernel(&sites, &uk.kread, &jumps, &calls);
	module = uk_at(&uk, MODULE_PA);
	module->num_jump_entries = UINT32_MAX;
	module->num_static_call_sites = -1;
	ck_assert(!patch_sites_module(&sites, &uk.kread, types, UK_KVA(MODULE_PA)));
	ck_assert(!sites.complete);
	ck_assert_uint_eq(sites.nr, 0);
	teardown();
}
END_TEST

BTSREC_CK_MAIN("patch_sites", all_tables, no_call_sites, missing_tables, hostile_tables)
