/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of locate() share: a recorder of three CPUs, and what is found of it. */
#ifndef BTSREC_TESTS_UNIT_LOCATEFIX_H
#define BTSREC_TESTS_UNIT_LOCATEFIX_H

#include "check_btsrec.h"
#include "fixture.h"
#include "source/image.h"
#include "recorder/locate.h"

static struct fixture *fix;
static struct btsrec_image image;
static struct diags diags;
static struct msg msg;
static struct located *located;

static inline void setup(void)
{
	fix = fixture_new(3, 521);
	image = mem_image(&fix->mem);
	memset(&msg, DIRT, sizeof(msg));
	located = NULL;
}

static inline void teardown(void)
{
	located_free(located);
	diags_fini(&diags);
	fixture_free(fix);
}

static inline enum btsrec_status find(uint64_t root_pa, enum btsrec_scan scan)
{
	return locate(&image, root_pa, scan, &diags, &msg, &located);
}

/* Is there a diagnostic of this status about @cpu with @text? */
static inline bool has_diag(enum btsrec_status status, uint32_t cpu, const char *text)
{
	for (size_t i = 0; i < diags.nr; i++) {
		if (diags.list[i].status == status && diags.list[i].cpu == cpu &&
		    strstr(diags.list[i].text, text))
			return true;
	}
	return false;
}

#define ck_diag(status, cpu, text) \
	ck_assert_msg(has_diag(status, cpu, text), "no diagnostic \"%s\" for %d", text, (int)(cpu))

static inline size_t nr_faults(void)
{
	size_t nr = 0;

	for (size_t i = 0; i < diags.nr; i++)
		nr += diags.list[i].status != BTSREC_OK;
	return nr;
}

#endif /* BTSREC_TESTS_UNIT_LOCATEFIX_H */
