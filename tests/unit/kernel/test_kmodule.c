// SPDX-License-Identifier: GPL-2.0-or-later
#include "btffix.h"
#include "check_btsrec.h"
#include "kernel/kmodule.h"
#include "userkernel.h"

#define MODULE_PA	UK_NAMES_PA
#define INIT_KVA	0xffffffffc0100000ULL
#define KALLSYMS_KVA	0xffffffffc0103000ULL
#define NR_MEMORIES	7
#define INIT_TEXT	4
#define COMING		1

struct memory { uint64_t base; uint32_t size; };
struct init_layout { uint64_t base; uint32_t size, text_size; };

/* Up to v6.3, and since v6.4. */
struct older { uint32_t state; struct init_layout init_layout; uint64_t kallsyms; };
struct newer { uint32_t state; struct memory mem[NR_MEMORIES]; uint64_t kallsyms; };

static struct uk uk;
static struct types *types;
static struct kmodule_init init;

static void begin(struct btf *btf)
{
	uk_init(&uk);
	memset(uk_at(&uk, UK_NAMES_PA), 0, BTSREC_PAGE_BYTES);
	types = types_of(btf);
}

static struct older *put_older(void)
{
	struct btf *btf = btf__new_empty();
	int u64 = btf__add_int(btf, "long", 8, 0), u32 = btf__add_int(btf, "int", 4, 0);
	int layout = UK_STRUCT(btf, "module_layout", init_layout);
	struct older *module;

	UK_FIELD(btf, init_layout, base, u64);
	UK_FIELD(btf, init_layout, size, u32);
	UK_FIELD(btf, init_layout, text_size, u32);
	UK_STRUCT(btf, "module", older);
	UK_FIELD(btf, older, init_layout, layout);
	UK_FIELD(btf, older, kallsyms, u64);
	begin(btf);
	module = uk_at(&uk, MODULE_PA);
	*module = (struct older){ COMING, { INIT_KVA, 0x3000, 0x1000 }, KALLSYMS_KVA };
	return module;
}

static struct newer *put_newer(void)
{
	struct btf *btf = btf__new_empty();
	int u64 = btf__add_int(btf, "long", 8, 0), u32 = btf__add_int(btf, "int", 4, 0), array;
	int memory = UK_STRUCT(btf, "module_memory", memory);
	struct newer *module;

	UK_FIELD(btf, memory, base, u64);
	UK_FIELD(btf, memory, size, u32);
	array = btf__add_array(btf, u32, memory, NR_MEMORIES);
	UK_STRUCT(btf, "module", newer);
	UK_FIELD(btf, newer, mem, array);
	UK_FIELD(btf, newer, kallsyms, u64);
	begin(btf);
	module = uk_at(&uk, MODULE_PA);
	*module = (struct newer){ COMING, { { 0 } }, KALLSYMS_KVA };
	module->mem[INIT_TEXT] = (struct memory){ INIT_KVA, 0x1000 };
	return module;
}

static void end(void)
{
	types_free(types);
}

static bool find(void)
{
	return kmodule_init(&uk.kread, types, UK_KVA(MODULE_PA), &init);
}

static void expect_init(void)
{
	ck_assert(find());
	ck_assert_uint_eq(init.begin_kva, INIT_KVA);
	ck_assert_uint_eq(init.end_kva, INIT_KVA + 0x1000);
	ck_assert_uint_eq(init.kallsyms_kva, KALLSYMS_KVA);
}

START_TEST(state)
{
	struct older *module = put_older();

	ck_assert(kmodule_is_coming(&uk.kread, UK_KVA(MODULE_PA)));
	module->state = 0;
	ck_assert(!kmodule_is_coming(&uk.kread, UK_KVA(MODULE_PA)));
	ck_assert(!kmodule_is_coming(&uk.kread, 0));
	end();
}
END_TEST

START_TEST(older)
{
	struct older *module = put_older();

	expect_init();
	module->init_layout.base = 0;
	ck_assert(!find());
	end();
}
END_TEST

START_TEST(newer)
{
	struct newer *module = put_newer();

	expect_init();
	module->mem[INIT_TEXT].base = 0;
	ck_assert(!find());
	end();
}
END_TEST

/* Numbers that make no sense. */
START_TEST(broken)
{
	struct older *module = put_older();

	module->init_layout.text_size = 0;
	ck_assert(!find());
	module->init_layout.text_size = UINT32_MAX;
	ck_assert(!find());
	module->init_layout = (struct init_layout){ UINT64_MAX - 0xfff, 0x1000, 0x1000 };
	ck_assert(!find());
	ck_assert(!kmodule_init(&uk.kread, types, 0, &init));
	end();
}
END_TEST

START_TEST(member)
{
	uint64_t value = 1;

	put_older();
	ck_assert(!kmodule_member(&uk.kread, types, UK_KVA(MODULE_PA), "init_layout", &value));
	ck_assert_uint_eq(value, 0);
	ck_assert(!kmodule_member(&uk.kread, types, UK_KVA(MODULE_PA), "mem[4].base", &value));
	end();
}
END_TEST

BTSREC_CK_MAIN("kmodule", state, older, newer, broken, member)
