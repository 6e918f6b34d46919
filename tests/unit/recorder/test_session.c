// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "failing_alloc.h"
#include "historyfix.h"
#include "source/image.h"

/* --- Contract --- */

START_TEST(new_and_free)
{
	rec = session_new(NULL);
	ck_assert_str_eq(btsrec_errmsg(rec), "");
	ck_assert_ptr_null(btsrec_root(rec));
	ck_assert_uint_eq(btsrec_nr_cpu_ids(rec), 0);
	ck_assert_ptr_null(btsrec_cpu(rec, 0));
	ck_assert_ptr_null(btsrec_module_at(rec, 0));
	btsrec_free(rec);
	btsrec_free(NULL);
	failing_alloc_arm(1);
	ck_assert_ptr_null(session_new(NULL));
	ck_assert(failing_alloc_disarm());
	ck_assert_str_eq(btsrec_version(), BTSREC_VERSION);
}
END_TEST

START_TEST(calls_out_of_order)
{
	struct btsrec_image image, none = { .size = sizeof(none) }, unsized = { 0 };

	setup(33);
	image = mem_image(&fix->mem);
	btsrec_ck_fails(btsrec_locate(rec, 0, BTSREC_SCAN_DMA), BTSREC_ERR_INVAL,
			btsrec_errmsg(rec), "no source");
	btsrec_ck_fails(btsrec_open_image(rec, &unsized), BTSREC_ERR_INVAL, btsrec_errmsg(rec),
			"size is not set");
	btsrec_ck_fails(btsrec_open_image(rec, &none), BTSREC_ERR_INVAL, btsrec_errmsg(rec),
			"read_pa");
	btsrec_ck_ok(btsrec_open_image(rec, &image));
	btsrec_ck_fails(btsrec_open_image(rec, &image), BTSREC_ERR_INVAL, btsrec_errmsg(rec),
			"source already");
	btsrec_ck_fails(btsrec_events(rec, 0, take, &nr_events), BTSREC_ERR_INVAL,
			btsrec_errmsg(rec), "not been located");
	btsrec_ck_ok(btsrec_locate(rec, FIX_ROOT_PA, BTSREC_SCAN_NONE));
	btsrec_ck_fails(btsrec_locate(rec, FIX_ROOT_PA, BTSREC_SCAN_NONE), BTSREC_ERR_INVAL,
			btsrec_errmsg(rec), "located already");
	teardown();
}
END_TEST

START_TEST(a_failed_locate_may_be_repeated)
{
	struct btsrec_image image;

	setup(33);
	image = mem_image(&fix->mem);
	btsrec_ck_ok(btsrec_open_image(rec, &image));
	btsrec_ck_fails(btsrec_locate(rec, 0x5000, BTSREC_SCAN_NONE), BTSREC_ERR_NODATA,
			btsrec_errmsg(rec), "0x5000");
	ck_assert_uint_eq(rec->diags.nr, 1);
	btsrec_ck_ok(btsrec_locate(rec, 0, BTSREC_SCAN_DMA));
	ck_assert_ptr_nonnull(btsrec_root(rec));
	for (size_t i = 0; i < rec->diags.nr; i++)
		btsrec_ck_ok(rec->diags.list[i].status);
	teardown();
}
END_TEST

START_TEST(cpus)
{
	struct session_ring ring;

	setup(33);
	((uint64_t *)mem_page(&fix->mem, FIX_DIR_PA))[0] = 0;
	fixture_module(fix, 0)->state = BTSREC_MODULE_LIVE;
	fixture_module(fix, 0)->text_kva = 0xffffffffc0000000ULL;
	fixture_module(fix, 0)->text_bytes = 1;
	fixture_module(fix, 0)->name[0] = 'm';
	open_and_locate();
	ck_assert_uint_eq(btsrec_nr_cpu_ids(rec), 2);
	ck_assert_ptr_null(btsrec_cpu(rec, 0));
	ck_assert_uint_eq(btsrec_cpu(rec, 1)->cpu, 1);
	ck_assert_ptr_null(btsrec_cpu(rec, 2));
	ck_assert_str_eq(btsrec_module_at(rec, 0xffffffffc0000000ULL)->name, "m");
	btsrec_ck_fails(btsrec_events(rec, 0, take, &nr_events), BTSREC_ERR_NO_CPU,
			btsrec_errmsg(rec), "the recorder has no CPU 0, only 1");
	btsrec_ck_status(btsrec_events(rec, 2, take, &nr_events), BTSREC_ERR_NO_CPU);
	btsrec_ck_status(session_ring(rec, 0, &ring), BTSREC_ERR_NO_CPU);
	teardown();
}
END_TEST

static unsigned int nr_part_frees;

static void free_part(void *data)
{
	ck_assert_ptr_eq(data, &nr_part_frees);
	nr_part_frees++;
}

START_TEST(parts_are_freed_once)
{
	struct btsrec_image image;
	struct session_part part = { &nr_part_frees, free_part };

	setup(33);
	image = mem_image(&fix->mem);
	btsrec_ck_ok(session_open(rec, &image, part));
	btsrec_ck_status(session_open(rec, &image, part), BTSREC_ERR_INVAL);
	ck_assert_uint_eq(nr_part_frees, 0);
	rec->symbols = part;
	teardown();
	ck_assert_uint_eq(nr_part_frees, 2);
}
END_TEST

/* --- What ends a view --- */

START_TEST(notice_comes_first)
{
	struct btsrec_image image;

	setup(33);
	image = mem_image(&fix->mem);
	btsrec_ck_ok(btsrec_open_image(rec, &image));
	snprintf(rec->notice, sizeof(rec->notice), "cut off");
	btsrec_ck_fails(btsrec_locate(rec, 0x5000, BTSREC_SCAN_NONE), BTSREC_ERR_NODATA,
			btsrec_errmsg(rec), "cut off: no valid recorder");
	teardown();
}
END_TEST

/* The reader goes on without; the view must not look whole. */
START_TEST(a_refused_read_ends_every_view)
{
	uint8_t byte;

	setup(33);
	open_and_locate();
	btsrec_ck_ok(session_end(rec, BTSREC_OK));
	fix->mem.fail_pa = FIX_EXEC_PA;
	fix->mem.fail_status = BTSREC_ERR_NODATA;
	btsrec_ck_status(image_read(&rec->image, FIX_EXEC_PA, &byte, 1), BTSREC_ERR_NODATA);
	btsrec_ck_ok(session_end(rec, BTSREC_OK));
	fix->mem.fail_status = BTSREC_ERR_IO;
	btsrec_ck_status(image_read(&rec->image, FIX_EXEC_PA, &byte, 1), BTSREC_ERR_IO);
	btsrec_ck_status(image_read(&rec->image, FIX_EXEC_PA + 8, &byte, 1), BTSREC_ERR_IO);
	for (int i = 0; i < 2; i++)
		btsrec_ck_fails(session_end(rec, BTSREC_OK), BTSREC_ERR_IO, btsrec_errmsg(rec),
				"the memory at 0x103000 cannot be read");
	btsrec_ck_status(session_end(rec, BTSREC_ERR_STOPPED), BTSREC_ERR_STOPPED);
	btsrec_ck_status(session_end(rec, BTSREC_ERR_NODATA), BTSREC_ERR_IO);
	rec->nomem = true;
	btsrec_ck_fails(session_end(rec, BTSREC_OK), BTSREC_ERR_NOMEM, btsrec_errmsg(rec),
			"out of memory");
	teardown();
}
END_TEST

START_TEST(an_image_out_of_memory_ends_every_view)
{
	uint8_t byte;

	setup(33);
	open_and_locate();
	fix->mem.fail_pa = FIX_EXEC_PA;
	fix->mem.fail_status = BTSREC_ERR_NOMEM;
	btsrec_ck_status(image_read(&rec->image, FIX_EXEC_PA, &byte, 1), BTSREC_ERR_NOMEM);
	btsrec_ck_fails(session_end(rec, BTSREC_OK), BTSREC_ERR_NOMEM, btsrec_errmsg(rec),
			"out of memory");
	teardown();
}
END_TEST

BTSREC_CK_MAIN("session", new_and_free, calls_out_of_order, a_failed_locate_may_be_repeated, cpus,
	       parts_are_freed_once, notice_comes_first, a_refused_read_ends_every_view,
	       an_image_out_of_memory_ends_every_view)
