// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorder/recorder_pages.h"

/* The page that has @pa; 0: there is none. */
static enum btsrec_status add_page(struct pageset *pages, uint64_t pa, enum recorder_page what)
{
	return pageset_put(pages, pa - pa % BTSREC_PAGE_BYTES, what);
}

static enum btsrec_status add_structures(struct pageset *pages, const __u64 *pa, size_t nr)
{
	enum btsrec_status status = BTSREC_OK;

	for (size_t i = 0; !status && i < nr; i++)
		status = add_page(pages, pa[i], RECORDER_PAGE_STRUCTURE);
	return status;
}

static enum btsrec_status add_cpu(struct pageset *pages, const struct located_cpu *lc)
{
	enum btsrec_status status = add_structures(pages, lc->page.list_pa,
						   lc->page.nr_list_pages);

	for (uint32_t i = 0; !status && i < lc->page.nr_ring_pages; i++)
		status = add_page(pages, lc->ring_pa[i], RECORDER_PAGE_RING);
	if (!status)
		status = add_structures(pages, &lc->page.self_pa, 1);
	return status ? status : add_structures(pages, &lc->page.ds_pa, 1);
}

enum btsrec_status recorder_pages(const struct located *located, struct pageset *ret)
{
	const struct btsrec_root *root = &located->root;
	enum btsrec_status status = add_structures(ret, &root->self_pa, 1);

	for (unsigned int cpu = 0; !status && cpu < located->nr_cpus; cpu++)
		if (located->cpus[cpu])
			status = add_cpu(ret, located->cpus[cpu]);
	if (!status)
		status = add_structures(ret, root->cpu_dir_pa, root->nr_cpu_dir_pages);
	if (!status)
		status = add_structures(ret, root->module_pa, root->nr_module_pages);
	return status ? status : add_structures(ret, root->exec_pa, root->nr_exec_pages);
}
