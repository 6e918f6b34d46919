/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of the name tables share: a memory, and the list that is read from it. */
#ifndef BTSREC_TESTS_NAMESFIX_H
#define BTSREC_TESTS_NAMESFIX_H

#include "check_btsrec.h"
#include "kernel/kread.h"
#include "base/symbol_table.h"

static struct mem mem;
static struct btsrec_image image;
static struct kread kernel;
static struct symbol_list list;
static struct msg msg;
static char *names;

/* Before the next list is read. */
static void forget(void)
{
	symbol_list_fini(&list);
	free(names);
	names = NULL;
}

static void teardown(void)
{
	forget();
	mem_fini(&mem);
}

static void ck_entry(size_t i, uint64_t va, const char *name)
{
	ck_assert_uint_lt(i, list.nr_entries);
	ck_assert_uint_eq(list.entries[i].va, va);
	ck_assert_uint_eq(list.entries[i].name_bytes, strlen(name));
	ck_assert(!memcmp(list.entries[i].name, name, strlen(name)));
}

#endif /* BTSREC_TESTS_NAMESFIX_H */
