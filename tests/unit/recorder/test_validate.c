// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "fixture.h"
#include "source/image.h"
#include "recorder/validate.h"

static struct fixture *fix;
static struct btsrec_root *root;
static struct btsrec_cpu *cpu;
static struct msg why;

static void setup(void)
{
	fix = fixture_new(2, 521);
	root = fixture_root(fix);
	cpu = fixture_cpu(fix, 1);
	memset(&why, 0, sizeof(why));
}

static void teardown(void)
{
	fixture_free(fix);
}

/* One field of a fresh, valid structure is changed and the checksum made right. */
#define ROOT_FAILS(change, status, reason)					\
do {										\
	setup();								\
	btsrec_ck_ok(validate_root(root, FIX_ROOT_PA, &why));			\
	change;									\
	fixture_seal(fix);							\
	btsrec_ck_fails(validate_root(root, FIX_ROOT_PA, &why), status, why.text, reason); \
	teardown();								\
} while (0)

#define ROOT_PASSES(change)							\
do {										\
	setup();								\
	change;									\
	fixture_seal(fix);							\
	btsrec_ck_ok(validate_root(root, FIX_ROOT_PA, &why));			\
	teardown();								\
} while (0)

#define CPU_FAILS(change, reason)						\
do {										\
	setup();								\
	btsrec_ck_ok(validate_cpu(cpu, root, 1, FIX_CPU_PA(1), &why));		\
	change;									\
	fixture_seal(fix);							\
	btsrec_ck_fails(validate_cpu(cpu, root, 1, FIX_CPU_PA(1), &why),	\
			BTSREC_ERR_CORRUPT, why.text, reason);			\
	teardown();								\
} while (0)

START_TEST(root_is_no_root)
{
	ROOT_FAILS(root->magic ^= 1, BTSREC_ERR_BAD_ROOT, "magic");
}
END_TEST

START_TEST(root_is_a_copy)
{
	ROOT_FAILS(root->self_pa = 0x5000, BTSREC_ERR_BAD_ROOT, "belongs at 0x5000");
}
END_TEST

START_TEST(root_of_another_major)
{
	ROOT_FAILS(root->version_major = 2, BTSREC_ERR_VERSION,
		   "version 2.10, this decoder reads 1.x");
	ROOT_FAILS(root->version_major = 0; root->version_minor = 7, BTSREC_ERR_VERSION, "0.7");
}
END_TEST

START_TEST(root_of_a_newer_minor)
{
	ROOT_PASSES(root->version_minor = 10; root->root_bytes = 4096; root->cpu_bytes = 2048;
		    root->errata = ~0U; root->reserved1[0] = 5; root->flags = ~0U;
		    root->mode = 9);
}
END_TEST

START_TEST(root_checksum)
{
	setup();
	root->tsc_khz ^= 1;
	btsrec_ck_fails(validate_root(root, FIX_ROOT_PA, &why), BTSREC_ERR_BAD_ROOT, why.text,
			"checksum");
	root->tsc_khz ^= 1;
	root->reserved1[128] ^= 1ULL << 63;
	btsrec_ck_status(validate_root(root, FIX_ROOT_PA, &why), BTSREC_ERR_BAD_ROOT);
	root->reserved1[128] ^= 1ULL << 63;
	root->crc32 ^= 1;
	btsrec_ck_status(validate_root(root, FIX_ROOT_PA, &why), BTSREC_ERR_BAD_ROOT);
	teardown();
}
END_TEST

START_TEST(root_live_part_is_not_in_the_checksum)
{
	setup();
	root->state = 77;
	root->nr_execs = 5;
	btsrec_ck_ok(validate_root(root, FIX_ROOT_PA, &why));
	teardown();
}
END_TEST

START_TEST(root_sizes)
{
	ROOT_FAILS(root->constant_bytes--, BTSREC_ERR_BAD_ROOT, "constant part of 2047");
	ROOT_FAILS(root->root_bytes = 2087, BTSREC_ERR_CORRUPT, "root of 2087");
	ROOT_FAILS(root->root_bytes = 4097, BTSREC_ERR_CORRUPT, "root of 4097");
	ROOT_FAILS(root->cpu_bytes = 1303, BTSREC_ERR_CORRUPT, "CPU pages of 1303");
	ROOT_PASSES(root->cpu_bytes = 1304);
	ROOT_FAILS(root->cpu_bytes = 4097, BTSREC_ERR_CORRUPT, "CPU pages of 4097");
	ROOT_FAILS(root->record_bytes = 12, BTSREC_ERR_CORRUPT, "records of 12");
	ROOT_FAILS(root->page_bytes = 65536, BTSREC_ERR_CORRUPT, "pages of 65536");
	ROOT_FAILS(root->poison = 0, BTSREC_ERR_CORRUPT, "poison");
	ROOT_FAILS(root->build_id_bytes = 33, BTSREC_ERR_CORRUPT, "build-id of 33");
	ROOT_PASSES(root->build_id_bytes = 32);
}
END_TEST

START_TEST(root_counts)
{
	ROOT_FAILS(root->nr_cpu_ids = 0; root->nr_cpu_dir_pages = 0, BTSREC_ERR_CORRUPT,
		   "0 CPU numbers");
	ROOT_FAILS(root->nr_cpu_ids = 32769; root->nr_cpu_dir_pages = 65, BTSREC_ERR_CORRUPT,
		   "32769 CPU numbers");
	ROOT_FAILS(root->nr_cpu_dir_pages = 2; root->cpu_dir_pa[1] = 0x7000, BTSREC_ERR_CORRUPT,
		   "2 CPU directory pages");
	ROOT_FAILS(root->nr_cpu_ids = 513, BTSREC_ERR_CORRUPT, "1 CPU directory pages for 513");
	ROOT_FAILS(root->nr_module_pages = 17, BTSREC_ERR_CORRUPT, "17 module map pages");
	ROOT_FAILS(root->nr_exec_pages = 9, BTSREC_ERR_CORRUPT, "9 exec ring pages");
	ROOT_PASSES(root->nr_module_pages = 0; root->nr_exec_pages = 0);
	ROOT_PASSES(root->nr_cpu_ids = 512);
}
END_TEST

START_TEST(root_ring_size)
{
	ROOT_FAILS(root->ring_bytes = 0, BTSREC_ERR_CORRUPT, "no whole records");
	ROOT_FAILS(root->ring_bytes = 521 * 24 + 8, BTSREC_ERR_CORRUPT, "no whole records");
	/* 128 MiB is no multiple of 24; the next one is 8 bytes more. */
	ROOT_FAILS(root->ring_bytes = (128ULL << 20) + 16, BTSREC_ERR_CORRUPT, "too large");
	ROOT_PASSES(root->ring_bytes = (128ULL << 20) - 8);
}
END_TEST

START_TEST(root_addresses)
{
	ROOT_FAILS(root->cpu_dir_pa[0] = 0, BTSREC_ERR_CORRUPT, "CPU directory page 0 is at 0x0");
	ROOT_FAILS(root->cpu_dir_pa[0] = 0x1008, BTSREC_ERR_CORRUPT, "is at 0x1008");
	ROOT_FAILS(root->cpu_dir_pa[0] = IMAGE_MAX_PA, BTSREC_ERR_CORRUPT, "CPU directory");
	ROOT_FAILS(root->module_pa[0] = 1, BTSREC_ERR_CORRUPT, "module map page 0 is at 0x1");
	ROOT_FAILS(root->exec_pa[0] = 2, BTSREC_ERR_CORRUPT, "exec ring page 0 is at 0x2");
	ROOT_PASSES(root->cpu_dir_pa[1] = 3; root->module_pa[1] = 3; root->exec_pa[1] = 3);
}
END_TEST

START_TEST(cpu_identity)
{
	CPU_FAILS(cpu->magic ^= 1, "magic");
	CPU_FAILS(cpu->self_pa += 0x1000, "belongs at 0x211000");
	CPU_FAILS(cpu->constant_bytes = 1023, "constant part of 1023");
	CPU_FAILS(cpu->cpu = 0, "page of CPU 0");
	CPU_FAILS(cpu->root_pa = 0x5000, "root at 0x5000");
	CPU_FAILS(cpu->generation++, "generation 1234567891, the root's is 1234567890");
}
END_TEST

START_TEST(cpu_checksum)
{
	setup();
	cpu->reserved0[51] ^= 1;
	btsrec_ck_fails(validate_cpu(cpu, root, 1, FIX_CPU_PA(1), &why), BTSREC_ERR_CORRUPT,
			why.text, "checksum");
	cpu->reserved0[51] ^= 1;
	cpu->state = 77;
	btsrec_ck_ok(validate_cpu(cpu, root, 1, FIX_CPU_PA(1), &why));
	teardown();
}
END_TEST

START_TEST(cpu_ring)
{
	CPU_FAILS(root->version_minor = 8;
		  cpu->ring_bytes += 24, "ring of 12528 bytes, the root says 12504");
	CPU_FAILS(cpu->ring_bytes += 8, "rings of 12512 bytes: no whole records");
	CPU_FAILS(cpu->ring_bytes = 0, "no whole records");
	CPU_FAILS(cpu->ring_bytes = (128ULL << 20) + 16, "too large");
	CPU_FAILS(cpu->ring_bytes = 5 * 4080, "4 pages for a ring of 20400 bytes");
	CPU_FAILS(cpu->ring_kva += 24, "ring is mapped at");
	CPU_FAILS(cpu->ring_kva = 0x1000, "ring is mapped at 0x0000000000001000");
	CPU_FAILS(cpu->ring_kva = 0xfeffffffffff0000ULL, "ring is mapped at");
	CPU_FAILS(cpu->ring_kva = UINT64_MAX - 0xfff, "ring is mapped at");
	CPU_FAILS(cpu->nr_ring_pages++, "5 pages for a ring of 12504 bytes");
	CPU_FAILS(cpu->nr_ring_pages--, "3 pages");
	CPU_FAILS(cpu->nr_list_pages = 0, "0 list pages");
	CPU_FAILS(cpu->nr_list_pages = 2; cpu->list_pa[1] = 0x7000, "2 list pages");
	CPU_FAILS(cpu->list_pa[0] = 0x7001, "list page 0 is at 0x7001");
}
END_TEST

/* Since 1.9. */
START_TEST(cpu_ring_of_its_own_size)
{
	setup();
	cpu->ring_bytes -= 24;
	fixture_seal(fix);
	btsrec_ck_ok(validate_cpu(cpu, root, 1, FIX_CPU_PA(1), &why));
	root->version_minor = 8;
	btsrec_ck_fails(validate_cpu(cpu, root, 1, FIX_CPU_PA(1), &why), BTSREC_ERR_CORRUPT,
			why.text, "ring of 12480 bytes, the root says 12504");
	teardown();
}
END_TEST

START_TEST(cpu_ds_area)
{
	CPU_FAILS(cpu->ds_pa = 0, "DS area is at 0x0");
	CPU_FAILS(cpu->ds_pa = IMAGE_MAX_PA, "DS area is at 0x10000000000000");
	CPU_FAILS(cpu->ds_pa += 4; cpu->ds_kva += 4, "DS area is at");
	CPU_FAILS(cpu->ds_pa += 0xff8; cpu->ds_kva += 0xff8, "DS area is at");
	CPU_FAILS(cpu->ds_kva = 0x12000, "DS area is mapped at 0x0000000000012000");
	CPU_FAILS(cpu->ds_kva = UINT64_MAX - 0xfff, "DS area is mapped at");
	CPU_FAILS(cpu->ds_kva += 0x100, "cannot be mapped at");
}
END_TEST

START_TEST(cpu_ds_area_inside_a_page)
{
	setup();
	cpu->ds_pa += 0xff0;
	cpu->ds_kva += 0xff0;
	fixture_seal(fix);
	btsrec_ck_ok(validate_cpu(cpu, root, 1, FIX_CPU_PA(1), &why));
	teardown();
}
END_TEST

static const struct btsrec_module valid_module = {
	.text_kva = 0xffffffffc0000000ULL, .text_bytes = 0x2000,
	.state = BTSREC_MODULE_LIVE, .name = "m",
};

static void ck_module(struct btsrec_module module, const char *reason)
{
	btsrec_ck_ok(validate_module(&valid_module, &why));
	btsrec_ck_fails(validate_module(&module, &why), BTSREC_ERR_CORRUPT, why.text, reason);
}

START_TEST(modules)
{
	struct btsrec_module module = valid_module;

	module.state = BTSREC_MODULE_GONE;
	btsrec_ck_ok(validate_module(&module, &why));
	module.state = 3;
	ck_module(module, "state 3");
	module = valid_module;
	module.text_kva = 0x1000;
	ck_module(module, "text of 8192 bytes");
	module = valid_module;
	module.text_bytes = UINT64_MAX;
	ck_module(module, "text of");
	module = valid_module;
	module.build_id_bytes = 33;
	ck_module(module, "build-id of 33");
	module = valid_module;
	module.name[0] = '\0';
	ck_module(module, "no name");
}
END_TEST

/* The one diagnostic about a change of a quiet, valid live part. */
static void ck_live(const struct diags *diags, enum btsrec_status status, const char *text)
{
	ck_assert_uint_eq(diags->nr, 1);
	btsrec_ck_status(diags->list[0].status, status);
	ck_assert_msg(strstr(diags->list[0].text, text), "%s", diags->list[0].text);
}

#define CPU_LIVE(change, status, reason)                 \
	do {                                             \
		struct diags diags = {0};                \
                                                         \
		setup();                                 \
		cpu->state = BTSREC_CPU_STOPPED;         \
		validate_cpu_live(cpu, &diags);          \
		ck_assert_uint_eq(diags.nr, 0);          \
		change;                                  \
		validate_cpu_live(cpu, &diags);          \
		ck_live(&diags, status, reason);         \
		ck_assert_uint_eq(diags.list[0].cpu, 1); \
		diags_fini(&diags);                      \
		teardown();                              \
	} while (0)

START_TEST(cpu_live_part)
{
	CPU_LIVE(cpu->state = 4, BTSREC_ERR_CORRUPT, "state 4");
	CPU_LIVE(cpu->state = BTSREC_CPU_FROZEN, BTSREC_ERR_CORRUPT, "not whole");
	CPU_LIVE(cpu->annot_begin = 2, BTSREC_ERR_CORRUPT, "2 annotations begun, 0 ended");
	CPU_LIVE(cpu->annot_end = 1, BTSREC_ERR_CORRUPT, "0 annotations begun, 1 ended");
	CPU_LIVE(cpu->annot_begin = 1, BTSREC_OK, "writing an annotation");
	CPU_LIVE(cpu->context_seq = 3, BTSREC_OK, "current context");
	CPU_LIVE(cpu->state = BTSREC_CPU_ARMED, BTSREC_OK, "still recording");
}
END_TEST

START_TEST(cpu_live_frozen_is_quiet)
{
	struct diags diags = {0};

	setup();
	fixture_freeze(fix, 1, 5);
	validate_cpu_live(cpu, &diags);
	ck_assert_uint_eq(diags.nr, 0);
	cpu->state = BTSREC_CPU_ARMED;
	validate_cpu_live(cpu, &diags);
	ck_assert_uint_eq(diags.nr, 0);
	teardown();
}
END_TEST

#define ROOT_LIVE(change, status, reason)         \
	do {                                      \
		struct diags diags = {0};         \
                                                  \
		setup();                          \
		validate_root_live(root, &diags); \
		ck_assert_uint_eq(diags.nr, 0);   \
		change;                           \
		validate_root_live(root, &diags); \
		ck_live(&diags, status, reason);  \
		diags_fini(&diags);               \
		teardown();                       \
	} while (0)

START_TEST(root_live_part)
{
	ROOT_LIVE(root->state = 0, BTSREC_ERR_CORRUPT, "state 0");
	ROOT_LIVE(root->state = 5, BTSREC_ERR_CORRUPT, "state 5");
	ROOT_LIVE(root->nr_modules = 33, BTSREC_ERR_CORRUPT, "33 modules in a map of 32");
	ROOT_LIVE(root->nr_modules_lost = 2, BTSREC_OK, "2 modules found no place");
}
END_TEST

BTSREC_CK_MAIN("validate", root_is_no_root, root_is_a_copy, root_of_another_major,
	       root_of_a_newer_minor, root_checksum, root_live_part_is_not_in_the_checksum,
	       root_sizes, root_counts, root_ring_size, root_addresses, cpu_identity,
	       cpu_checksum, cpu_ring, cpu_ring_of_its_own_size, cpu_ds_area, cpu_ds_area_inside_a_page, modules,
	       cpu_live_part, cpu_live_frozen_is_quiet, root_live_part)
