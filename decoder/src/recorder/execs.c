// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorder/execs.h"

#include <string.h>

/* A slot that was being written has no number, or one that belongs elsewhere. */
static bool is_whole(const struct btsrec_exec *exec, size_t slot, size_t nr_slots)
{
	return exec->seq && (exec->seq - 1) % nr_slots == slot;
}

static void read_page(const struct btsrec_image *image, uint64_t pa, size_t first_slot,
		      size_t nr_slots, struct execs *ret)
{
	struct btsrec_exec page[BTSREC_EXECS_PER_PAGE];

	if (image_read(image, pa, page, sizeof(page)))
		return;
	for (size_t i = 0; i < BTSREC_EXECS_PER_PAGE; i++)
		if (is_whole(&page[i], first_slot + i, nr_slots))
			ret->list[ret->nr++] = (struct execs_one){ page[i].tsc, page[i].cr3,
								   page[i].tgid };
}

void execs_read(const struct btsrec_image *image, const struct btsrec_root *root,
		struct execs *ret)
{
	size_t nr_slots = root->nr_exec_pages * BTSREC_EXECS_PER_PAGE;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < root->nr_exec_pages; i++)
		read_page(image, root->exec_pa[i], i * BTSREC_EXECS_PER_PAGE, nr_slots, ret);
}

bool execs_replaced(const struct execs *execs, uint32_t tgid, uint64_t cr3, uint64_t tsc)
{
	for (size_t i = 0; i < execs->nr; i++) {
		const struct execs_one *exec = &execs->list[i];

		if (exec->tgid == tgid && exec->cr3 != cr3 && exec->tsc > tsc)
			return true;
	}
	return false;
}
