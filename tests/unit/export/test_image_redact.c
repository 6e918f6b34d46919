// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "failing_alloc.h"
#include "fixture.h"
#include "export/extract/image_redact.h"

#define NR_SLOTS	512	/* three pages */
#define USER		0x00007f0000001000ULL
#define KERNEL		0xffffffff81000000ULL

static struct fixture *fix;
static struct btsrec_image below;
static struct diags diags;
static struct located *located;
static struct image_redact image_redact;

static void setup(bool no_user, bool no_paths)
{
	static struct msg msg;

	fix = fixture_new(1, NR_SLOTS);
	below = mem_image(&fix->mem);
	btsrec_ck_ok(locate(&below, FIX_ROOT_PA, BTSREC_SCAN_NONE, &diags, &msg, &located));
	image_redact = (struct image_redact){&below, located, no_user, no_paths, false, {0}};
	btsrec_ck_ok(image_redact_init(&image_redact));
}

static void teardown(void)
{
	image_redact_fini(&image_redact);
	located_free(located);
	diags_fini(&diags);
	fixture_free(fix);
}

/* The 24 bytes of @slot as they read through the redaction, byte by byte. */
static struct btsrec_record read_slot(uint64_t slot)
{
	struct btsrec_record record;
	uint8_t *bytes = (uint8_t *)&record;

	for (size_t i = 0; i < sizeof(record); i++) {
		uint64_t at = slot * sizeof(record) + i;
		uint64_t pa = fixture_ring_page_pa(fix, 0, at / BTSREC_PAGE_BYTES) +
			      at % BTSREC_PAGE_BYTES;
		size_t got_bytes;

		btsrec_ck_ok(image_redact_read_pa(&image_redact, pa, &bytes[i], 1, &got_bytes));
	}
	return record;
}

static void ck_slots(struct btsrec_record put, struct btsrec_record want)
{
	for (uint64_t slot = 0; slot < NR_SLOTS; slot++)
		fixture_put(fix, 0, slot, put);
	for (uint64_t slot = 0; slot < NR_SLOTS; slot++) {
		struct btsrec_record got = read_slot(slot);

		ck_assert_mem_eq(&got, &want, sizeof(want));
	}
}

/* A reserved bit of the flags, which nobody judges. */
#define REDACTED	(1ULL << 63)

START_TEST(addresses_of_user_space_read_zero)
{
	setup(true, false);
	ck_slots((struct btsrec_record){ USER, USER + 1, 0x10 },
		 (struct btsrec_record){ 0, 0, REDACTED | 0x10 });
	ck_slots((struct btsrec_record){ KERNEL, USER, USER },
		 (struct btsrec_record){ KERNEL, 0, USER });
	ck_slots((struct btsrec_record){ USER, KERNEL, 0 },
		 (struct btsrec_record){ 0, KERNEL, REDACTED });
	/* What was zero before was no record, and becomes none. */
	ck_slots((struct btsrec_record){ 0 }, (struct btsrec_record){ 0 });
	teardown();
}
END_TEST

/* Payload that looks like an address is none, also where it begins a page. */
START_TEST(annotations_and_poison_stay)
{
	struct btsrec_record part = fixture_part(BTSREC_ANNOT_SWITCH, 0, 5, 1);
	struct btsrec_record poison = { BTSREC_POISON, BTSREC_POISON, BTSREC_POISON };

	setup(true, false);
	part.to = USER;
	part.flags = USER;
	ck_slots(part, part);
	ck_slots(poison, poison);
	teardown();
}
END_TEST

START_TEST(five_levels)
{
	uint64_t high = 1ULL << 50;

	setup(true, false);
	ck_slots((struct btsrec_record){ KERNEL, high, 0 },
		 (struct btsrec_record){ KERNEL, high, 0 });
	located->root.flags |= BTSREC_ROOT_F_LA57;
	ck_slots((struct btsrec_record){ KERNEL, high, 0 },
		 (struct btsrec_record){ KERNEL, 0, 0 });
	teardown();
}
END_TEST

/* A CPU that was stopped in a program, or with a number in its frame pointer. */
START_TEST(freezes_lose_what_is_no_address_of_the_kernel)
{
	struct btsrec_cpu *cpu, got;
	size_t got_bytes;

	setup(true, false);
	cpu = fixture_cpu(fix, 0);
	cpu->freeze.ip = USER;
	cpu->freeze.sp = KERNEL;
	cpu->freeze.bp = INT64_MAX;
	cpu->freeze.stop_ip = KERNEL + 1;
	btsrec_ck_ok(image_redact_read_pa(&image_redact, cpu->self_pa, &got, sizeof(got),
					  &got_bytes));
	ck_assert_uint_eq(got.freeze.ip, 0);
	ck_assert_uint_eq(got.freeze.sp, KERNEL);
	ck_assert_uint_eq(got.freeze.bp, 0);
	ck_assert_uint_eq(got.freeze.stop_ip, KERNEL + 1);
	teardown();
}
END_TEST

START_TEST(paths_are_empty)
{
	struct btsrec_exec exec = { .tsc = 1, .seq = 2, .pid = 3, .path = "/bin/secret" };
	struct btsrec_exec got;
	size_t got_bytes;

	setup(false, true);
	memcpy(mem_page(&fix->mem, FIX_EXEC_PA + sizeof(exec)), &exec, sizeof(exec));
	btsrec_ck_ok(image_redact_read_pa(&image_redact, FIX_EXEC_PA + sizeof(exec), &got,
					  sizeof(got), &got_bytes));
	ck_assert_uint_eq(got.pid, 3);
	ck_assert_str_eq(got.path, "");
	teardown();
}
END_TEST

/* Of what is there of a word that is an address, and of an exec, nothing is shown either. */
START_TEST(what_ends_too_early)
{
	struct btsrec_exec exec = { .pid = 3, .path = "/bin/secret" }, got;
	struct btsrec_record record;
	uint64_t ring_pa;
	size_t got_bytes;

	setup(true, true);
	ring_pa = fixture_ring_page_pa(fix, 0, 0);
	fixture_put(fix, 0, 0, (struct btsrec_record){ USER, USER, 0 });
	mem_cut(&fix->mem, ring_pa, 13);
	btsrec_ck_status(
		image_redact_read_pa(&image_redact, ring_pa, &record, sizeof(record), &got_bytes),
		BTSREC_ERR_NODATA);
	ck_assert_uint_eq(got_bytes, 8);
	ck_assert_uint_eq(record.from, 0);
	memcpy(mem_page(&fix->mem, FIX_EXEC_PA), &exec, sizeof(exec));
	mem_cut(&fix->mem, FIX_EXEC_PA, 64);
	btsrec_ck_status(
		image_redact_read_pa(&image_redact, FIX_EXEC_PA, &got, sizeof(got), &got_bytes),
		BTSREC_ERR_NODATA);
	ck_assert_uint_eq(got_bytes, 64);
	ck_assert_uint_eq(got.pid, 3);
	ck_assert_uint_eq(got.path[0], 0);
	teardown();
}
END_TEST

START_TEST(what_was_not_asked_for_stays)
{
	struct btsrec_record user = { USER, USER, 0 };

	setup(false, false);
	ck_slots(user, user);
	teardown();
}
END_TEST

START_TEST(other_memory_over_pages)
{
	uint8_t buf[16];
	size_t got_bytes;

	setup(true, true);
	memset(mem_page(&fix->mem, 0x600000), 1, BTSREC_PAGE_BYTES);
	memset(mem_page(&fix->mem, 0x601000), 2, BTSREC_PAGE_BYTES);
	btsrec_ck_ok(image_redact_read_pa(&image_redact, 0x600ff8, buf, sizeof(buf), &got_bytes));
	ck_assert_uint_eq(buf[7], 1);
	ck_assert_uint_eq(buf[8], 2);
	teardown();
}
END_TEST

START_TEST(parts_and_failures)
{
	uint64_t ring_pa;
	uint8_t buf[16];
	size_t got_bytes;

	setup(true, false);
	ring_pa = fixture_ring_page_pa(fix, 0, 1);
	mem_cut(&fix->mem, ring_pa, 100);
	btsrec_ck_status(
		image_redact_read_pa(&image_redact, ring_pa + 96, buf, sizeof(buf), &got_bytes),
		BTSREC_ERR_NODATA);
	ck_assert_uint_eq(got_bytes, 0);
	btsrec_ck_ok(
		image_redact_read_pa(&image_redact, ring_pa + 80, buf, sizeof(buf), &got_bytes));
	btsrec_ck_status(
		image_redact_read_pa(&image_redact, ring_pa + 200, buf, sizeof(buf), &got_bytes),
		BTSREC_ERR_NODATA);
	ck_assert_uint_eq(got_bytes, 0);
	fix->mem.fail_pa = ring_pa;
	fix->mem.fail_status = BTSREC_ERR_IO;
	btsrec_ck_status(image_redact_read_pa(&image_redact, ring_pa, buf, sizeof(buf), &got_bytes),
			 BTSREC_ERR_IO);
	teardown();
}
END_TEST

START_TEST(no_memory)
{
	setup(true, true);
	image_redact_fini(&image_redact);
	failing_alloc_arm(1);
	btsrec_ck_status(image_redact_init(&image_redact), BTSREC_ERR_NOMEM);
	ck_assert(failing_alloc_disarm());
	teardown();
}
END_TEST

BTSREC_CK_MAIN("image_redact", addresses_of_user_space_read_zero, annotations_and_poison_stay,
	       five_levels, freezes_lose_what_is_no_address_of_the_kernel, paths_are_empty,
	       what_ends_too_early, what_was_not_asked_for_stays,
	       other_memory_over_pages, parts_and_failures, no_memory)
