// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorder/locate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "source/image.h"
#include "base/pageset.h"
#include "recorder/validate.h"

#define PA "0x%" PRIx64

/* ZONE_DMA on x86: MAX_DMA_PFN is 16 MiB.  The module allocates the root there. */
#define DMA_END_PA (16ULL << 20)

/* Half of the list pages of a ring of 64 MiB. */
#define PAGES_TOGETHER 16

/* --- Search ------------------------------------------------------------- */

/**
 * struct search - candidates seen so far
 * @best: the newest valid root, if @found.
 * @by_scan: what is found is not known to be of the kernel in the dump.
 * @worst: the failure of the others that says most; BTSREC_ERR_NO_ROOT: none seen.
 * @msg: one reason per reject.
 */
struct search {
	const struct btsrec_image *image;
	struct diags *diags;
	struct msg *msg;
	bool by_scan;
	bool found;
	struct btsrec_root best;
	enum btsrec_status worst;
};

/* Which failure says more about why there is no recorder; larger wins. */
static int weight(enum btsrec_status status)
{
	switch (status) {
	case BTSREC_ERR_VERSION:	return 5;
	case BTSREC_ERR_CORRUPT:	return 4;
	case BTSREC_ERR_BAD_ROOT:	return 3;
	case BTSREC_ERR_IO:		return 2;
	case BTSREC_ERR_NODATA:		return 1;
	default:			return 0;
	}
}

/* Failures that are about the machine we run on, not about the dump. */
static bool is_fatal(enum btsrec_status status)
{
	return status == BTSREC_ERR_NOMEM || status == BTSREC_ERR_STOPPED;
}

static void search_reject(struct search *search, enum btsrec_status status, uint64_t pa,
			  const char *source, const char *why)
{
	diags_add(search->diags, status, DIAG_NO_CPU, pa, "%s: %s", source, why);
	msg_append(search->msg, "%s, root at " PA ": %s", source, pa, why);
	if (weight(status) > weight(search->worst))
		search->worst = status;
}

/* Several sources may name one page; one reason is enough. */
static bool was_rejected(const struct search *search, uint64_t pa)
{
	for (size_t i = 0; i < search->diags->nr; i++)
		if (search->diags->list[i].pa == pa)
			return true;
	return false;
}

/*
 * Memory outlives a reset, and kexec, and so does a root. Each boot of a kernel with KASLR has
 * a phys_base of its own (arch/x86/boot/compressed/kaslr.c), which VMCOREINFO has in decimal.
 */
static bool is_of_other_boot(const struct btsrec_image *image, const struct btsrec_root *root)
{
	static const char key[] = "\nNUMBER(phys_base)=";
	const char *line = image->vmcoreinfo ? strstr(image->vmcoreinfo, key) : NULL;

	return line && strtoull(line + strlen(key), NULL, 10) != root->phys_base;
}

/*
 * A small file of an older version has of the page of the root what the root was then.  What was
 * added since is zero, as it is in the rest of that page.
 */
static enum btsrec_status read_root(const struct btsrec_image *image, uint64_t pa,
				    struct btsrec_root *ret)
{
	const size_t least_bytes = offsetof(struct btsrec_root, root_bytes) +
				   sizeof(ret->root_bytes);
	enum btsrec_status status;
	size_t nr_bytes;

	status = image_read_some(image, pa, ret, sizeof(*ret), &nr_bytes);
	memset((uint8_t *)ret + nr_bytes, 0, sizeof(*ret) - nr_bytes);
	if (status == BTSREC_ERR_NODATA && nr_bytes >= least_bytes && nr_bytes >= ret->root_bytes)
		return BTSREC_OK;
	return status;
}

/* Look at one candidate.  Return: BTSREC_OK, valid or not, or a fatal status. */
static enum btsrec_status consider(struct search *search, uint64_t pa, const char *source)
{
	enum btsrec_status status;
	struct btsrec_root root;
	struct msg why;

	if (was_rejected(search, pa))
		return BTSREC_OK;
	if (!image_pa_ok(pa)) {
		search_reject(search, BTSREC_ERR_BAD_ROOT, pa, source, "not the address of a page");
		return BTSREC_OK;
	}
	status = read_root(search->image, pa, &root);
	if (is_fatal(status))
		return status;
	if (status != BTSREC_OK) {
		search_reject(search, status, pa, source, btsrec_status_str(status));
		return BTSREC_OK;
	}
	status = validate_root(&root, pa, &why);
	if (status != BTSREC_OK) {
		search_reject(search, status, pa, source, why.text);
		return BTSREC_OK;
	}
	if (search->by_scan && is_of_other_boot(search->image, &root)) {
		search_reject(search, BTSREC_ERR_BAD_ROOT, pa, source, "left by another boot; --root reads it all the same");
		return BTSREC_OK;
	}
	if (!search->found || root.generation > search->best.generation)
		search->best = root;
	search->found = true;
	return BTSREC_OK;
}

/* One line per load of the module; the newest valid root wins. */
static enum btsrec_status search_vmcoreinfo(struct search *search)
{
	const size_t key_bytes = strlen(BTSREC_VMCOREINFO_KEY);
	const char *line = search->image->vmcoreinfo;
	enum btsrec_status status = BTSREC_OK;
	const char *next;

	for (; line && status == BTSREC_OK; line = next) {
		next = strchr(line, '\n');
		if (next)
			next++;
		if (strncmp(line, BTSREC_VMCOREINFO_KEY, key_bytes) == 0)
			status = consider(search, strtoull(line + key_bytes, NULL, 16),
					  "VMCOREINFO");
	}
	return status;
}

/* The first page from @pa on that is there, or a part of it. */
static uint64_t next_page(const struct btsrec_image *image, uint64_t pa)
{
	uint64_t next_pa = image_next_pa(image, pa);

	return next_pa - next_pa % BTSREC_PAGE_BYTES;
}

/* The page at @pa, which begins with @magic, or which @status says why not. */
static enum btsrec_status scan_page(struct search *search, uint64_t pa, enum btsrec_status status,
				    uint64_t magic)
{
	if (status == BTSREC_OK && magic == BTSREC_ROOT_MAGIC)
		return consider(search, pa, "scan");
	if (status == BTSREC_ERR_IO && search->worst == BTSREC_ERR_NO_ROOT)
		search_reject(search, status, pa, "scan", btsrec_status_str(status));
	return is_fatal(status) ? status : BTSREC_OK;
}

static enum btsrec_status scan_pages(struct search *search, const uint64_t *page_pa, size_t nr)
{
	uint64_t pages[PAGES_TOGETHER][BTSREC_PAGE_BYTES / sizeof(uint64_t)];
	const struct btsrec_image *image = search->image;
	enum btsrec_status status = BTSREC_OK;
	bool are_read = image_read_pages(image, page_pa, nr, pages);

	for (size_t i = 0; i < nr && status == BTSREC_OK; i++) {
		if (!are_read)
			status = image_read(image, page_pa[i], pages[i], sizeof(pages[i][0]));
		status = scan_page(search, page_pa[i], status, pages[i][0]);
	}
	return status;
}

static enum btsrec_status search_memory(struct search *search, uint64_t end_pa)
{
	enum btsrec_status status = BTSREC_OK;
	/* A file of some KB can claim to have memory up to 2^52. */
	uint64_t pa = next_page(search->image, BTSREC_PAGE_BYTES);

	while (pa < end_pa && status == BTSREC_OK) {
		uint64_t page_pa[PAGES_TOGETHER];
		size_t nr = 0;

		for (; nr < PAGES_TOGETHER && pa < end_pa; nr++) {
			page_pa[nr] = pa;
			pa = next_page(search->image, pa + BTSREC_PAGE_BYTES);
		}
		status = scan_pages(search, page_pa, nr);
	}
	return status;
}

/* Memory is full of copies of pages; they matter only as long as nothing is found. */
static void forgive(struct diags *diags, size_t first)
{
	for (size_t i = first; i < diags->nr; i++)
		diags->list[i].status = BTSREC_OK;
}

static enum btsrec_status search_scan(struct search *search, enum btsrec_scan scan)
{
	size_t nr_before = search->diags->nr;
	enum btsrec_status status;
	uint64_t end_pa = 0;

	if (scan != BTSREC_SCAN_NONE)
		end_pa = DMA_END_PA;
	if (scan == BTSREC_SCAN_ALL && search->image->max_pa)
		end_pa = search->image->max_pa;
	search->by_scan = true;
	status = search_memory(search, end_pa);
	if (search->found)
		forgive(search->diags, nr_before);
	return status;
}

static enum btsrec_status search_all(struct search *search, uint64_t root_pa,
				     enum btsrec_scan scan)
{
	enum btsrec_status status;

	if (root_pa)
		return consider(search, root_pa, "given address");
	status = search_vmcoreinfo(search);
	if (status == BTSREC_OK && !search->found && search->image->root_pa_hint)
		status = consider(search, search->image->root_pa_hint, "symbol");
	if (status == BTSREC_OK && !search->found)
		status = search_scan(search, scan);
	return status;
}

static enum btsrec_status search_root(struct search *search, uint64_t root_pa,
				      enum btsrec_scan scan)
{
	enum btsrec_status status = search_all(search, root_pa, scan);

	if (status != BTSREC_OK)
		return msg_set(search->msg, status, "search for the recorder: %s",
			       btsrec_status_str(status));
	if (!search->found)
		return msg_prepend(search->msg, search->worst, "no valid recorder in this dump");
	msg_clear(search->msg);
	return BTSREC_OK;
}

/* --- Load --------------------------------------------------------------- */

/** struct load - what is needed to follow a valid root */
struct load {
	const struct btsrec_image *image;
	struct diags *diags;
	struct located *located;
	struct pageset pages;
};

/*
 * Claim and read a page that a valid structure names.
 * @is_read: @buf has it already.
 *
 * Return: BTSREC_OK; a fatal status; or another, which is a diagnostic already.
 */
static enum btsrec_status claim_page(struct load *load, uint32_t cpu, uint64_t pa, void *buf,
				     size_t bytes, bool is_read, const char *what)
{
	enum btsrec_status status = pageset_claim(&load->pages, pa);

	if (status == BTSREC_ERR_CORRUPT) {
		diags_add(load->diags, status, cpu, pa, "%s is a page that something else uses",
			  what);
		return status;
	}
	if (status == BTSREC_OK && !is_read)
		status = image_read(load->image, pa, buf, bytes);
	if (status != BTSREC_OK && !is_fatal(status))
		diags_add(load->diags, status, cpu, pa, "%s: %s", what, btsrec_status_str(status));
	return status;
}

static enum btsrec_status load_page(struct load *load, uint32_t cpu, uint64_t pa, void *buf,
				    size_t bytes, const char *what)
{
	return claim_page(load, cpu, pa, buf, bytes, false, what);
}

/* Entries that cannot be a page of this ring are dropped, the others stay useful. */
static enum btsrec_status load_list(struct load *load, struct located_cpu *lc, uint32_t first,
				    const uint64_t *list)
{
	uint32_t nr = lc->page.nr_ring_pages - first, nr_bad = 0, first_bad = 0;
	enum btsrec_status status;

	for (uint32_t i = 0; i < nr && i < BTSREC_PAS_PER_PAGE; i++) {
		status = BTSREC_ERR_CORRUPT;
		if (image_pa_ok(list[i]))
			status = pageset_claim(&load->pages, list[i]);
		if (is_fatal(status))
			return status;
		if (status == BTSREC_OK)
			lc->ring_pa[first + i] = list[i];
		else if (!nr_bad++)
			first_bad = i;
	}
	if (nr_bad)
		diags_add(load->diags, BTSREC_ERR_CORRUPT, lc->page.cpu,
			  lc->page.list_pa[first / BTSREC_PAS_PER_PAGE],
			  "%u entries of a list page are no pages of the ring, "
			  "first is ring page %u at " PA,
			  nr_bad, first + first_bad, list[first_bad]);
	return BTSREC_OK;
}

/* List pages @first to @first + @nr. */
static enum btsrec_status load_some_lists(struct load *load, struct located_cpu *lc, uint32_t first,
					  uint32_t nr)
{
	uint64_t list_pa[PAGES_TOGETHER] = { 0 }, lists[PAGES_TOGETHER][BTSREC_PAS_PER_PAGE];
	enum btsrec_status status;
	bool are_read;

	for (uint32_t i = 0; i < nr; i++)
		list_pa[i] = lc->page.list_pa[first + i];
	are_read = image_read_pages(load->image, list_pa, nr, lists);
	for (uint32_t i = 0; i < nr; i++) {
		status = claim_page(load, lc->page.cpu, list_pa[i], lists[i], sizeof(lists[i]),
				    are_read, "list page");
		if (status == BTSREC_OK)
			status = load_list(load, lc, (first + i) * BTSREC_PAS_PER_PAGE, lists[i]);
		if (is_fatal(status))
			return status;
	}
	return BTSREC_OK;
}

static enum btsrec_status load_lists(struct load *load, struct located_cpu *lc)
{
	enum btsrec_status status = BTSREC_OK;
	uint32_t nr = lc->page.nr_list_pages;

	for (uint32_t i = 0; i < nr && !status; i += PAGES_TOGETHER)
		status = load_some_lists(load, lc, i, nr - i < PAGES_TOGETHER ? nr - i :
									       PAGES_TOGETHER);
	return status;
}

/* Of a CPU with @page, no page of its ring known yet; NULL: out of memory. */
static struct located_cpu *new_cpu(const struct btsrec_cpu *page)
{
	size_t nr_bytes = sizeof(struct located_cpu) + page->nr_ring_pages * sizeof(uint64_t);
	struct located_cpu *lc = calloc(1, nr_bytes);

	if (!lc)
		return NULL;
	lc->page = *page;
	return lc;
}

/* Return: BTSREC_OK, also for a CPU that is not usable, or a fatal status. */
static enum btsrec_status load_cpu(struct load *load, uint32_t cpu, uint64_t pa)
{
	_cleanup_free_ struct located_cpu *lc = NULL;
	/* What an older recorder does not have is 0. */
	size_t nr_bytes = load->located->root.cpu_bytes;
	struct btsrec_cpu page = { 0 };
	enum btsrec_status status;
	struct msg why;

	if (!image_pa_ok(pa)) {
		diags_add(load->diags, BTSREC_ERR_CORRUPT, cpu, pa,
			  "CPU page is not at the address of a page");
		return BTSREC_OK;
	}
	if (nr_bytes > sizeof(page))
		nr_bytes = sizeof(page);
	status = load_page(load, cpu, pa, &page, nr_bytes, "CPU page");
	if (status != BTSREC_OK)
		return is_fatal(status) ? status : BTSREC_OK;
	status = validate_cpu(&page, &load->located->root, cpu, pa, &why);
	if (status != BTSREC_OK) {
		diags_add(load->diags, status, cpu, pa, "CPU page: %s", why.text);
		return BTSREC_OK;
	}
	lc = new_cpu(&page);
	if (!lc)
		return BTSREC_ERR_NOMEM;
	validate_cpu_live(&page, load->diags);
	status = load_lists(load, lc);
	if (status == BTSREC_OK)
		load->located->cpus[cpu] = take_ptr(lc);
	return status;
}

static enum btsrec_status load_dir_page(struct load *load, uint32_t dir)
{
	uint32_t first = dir * BTSREC_PAS_PER_PAGE;
	uint64_t pas[BTSREC_PAS_PER_PAGE];
	enum btsrec_status status;

	status = load_page(load, DIAG_NO_CPU, load->located->root.cpu_dir_pa[dir], pas, sizeof(pas),
			   "CPU directory page");
	if (status != BTSREC_OK)
		return is_fatal(status) ? status : BTSREC_OK;
	for (uint32_t i = 0; i < BTSREC_PAS_PER_PAGE && first + i < load->located->nr_cpus; i++) {
		if (pas[i])
			status = load_cpu(load, first + i, pas[i]);
		if (status != BTSREC_OK)
			return status;
	}
	return BTSREC_OK;
}

static enum btsrec_status load_module_page(struct load *load, uint64_t pa)
{
	struct btsrec_module slots[BTSREC_MODULES_PER_PAGE];
	struct located *located = load->located;
	enum btsrec_status status;
	struct msg why;

	status = load_page(load, DIAG_NO_CPU, pa, slots, sizeof(slots), "module map page");
	if (status != BTSREC_OK)
		return is_fatal(status) ? status : BTSREC_OK;
	for (size_t i = 0; i < BTSREC_MODULES_PER_PAGE; i++) {
		if (!slots[i].state)
			continue;
		slots[i].name[sizeof(slots[i].name) - 1] = '\0';
		if (validate_module(&slots[i], &why) != BTSREC_OK) {
			diags_add(load->diags, BTSREC_ERR_CORRUPT, DIAG_NO_CPU, pa,
				  "slot %zu of the module map: %s", i, why.text);
			continue;
		}
		located->modules[located->nr_modules++] = slots[i];
		located->nr_gone += slots[i].state == BTSREC_MODULE_GONE;
	}
	return BTSREC_OK;
}

static enum btsrec_status load_modules(struct load *load)
{
	struct located *located = load->located;
	size_t nr_slots = located->root.nr_module_pages * BTSREC_MODULES_PER_PAGE;
	enum btsrec_status status = BTSREC_OK;

	located->modules = calloc(nr_slots, sizeof(*located->modules));
	if (!located->modules)
		return BTSREC_ERR_NOMEM;
	for (uint32_t i = 0; i < located->root.nr_module_pages && status == BTSREC_OK; i++)
		status = load_module_page(load, located->root.module_pa[i]);
	return status;
}

static int compare_rings(const void *a, const void *b)
{
	const struct located_cpu *const *x = a, *const *y = b;

	if ((*x)->page.ring_kva != (*y)->page.ring_kva)
		return (*x)->page.ring_kva < (*y)->page.ring_kva ? -1 : 1;
	return (*x)->page.cpu < (*y)->page.cpu ? -1 : 1;
}

/* @later has an address that is not lower. */
static bool begins_inside(const struct located_cpu *later, const struct located_cpu *other)
{
	return later->page.ring_kva - other->page.ring_kva < other->page.ring_bytes;
}

/* A ring that begins inside another one is not usable: one of the two lies. */
static enum btsrec_status reject_overlaps(struct load *load)
{
	struct located *located = load->located;
	_cleanup_free_ struct located_cpu **sorted = NULL;
	const struct located_cpu *last = NULL;
	size_t nr = 0;

	sorted = calloc(located->nr_cpus, sizeof(*sorted));
	if (!sorted)
		return BTSREC_ERR_NOMEM;
	for (uint32_t cpu = 0; cpu < located->nr_cpus; cpu++) {
		if (located->cpus[cpu])
			sorted[nr++] = located->cpus[cpu];
	}
	qsort(sorted, nr, sizeof(*sorted), compare_rings);
	for (size_t i = 0; i < nr; i++) {
		if (!last || !begins_inside(sorted[i], last)) {
			last = sorted[i];
			continue;
		}
		diags_add(load->diags, BTSREC_ERR_CORRUPT, sorted[i]->page.cpu,
			  sorted[i]->page.self_pa, "ring is mapped over the ring of CPU %u",
			  last->page.cpu);
		located->cpus[sorted[i]->page.cpu] = NULL;
		free(sorted[i]);
	}
	return BTSREC_OK;
}

static enum btsrec_status load_all(struct load *load)
{
	struct located *located = load->located;
	enum btsrec_status status;

	located->root.release[BTSREC_RELEASE_BYTES - 1] = '\0';
	located->root.symbol_name[BTSREC_SYMBOL_BYTES - 1] = '\0';
	located->nr_cpus = located->root.nr_cpu_ids;
	located->cpus = calloc(located->nr_cpus, sizeof(*located->cpus));
	if (!located->cpus)
		return BTSREC_ERR_NOMEM;
	validate_root_live(&located->root, load->diags);
	status = pageset_claim(&load->pages, located->root.self_pa);
	for (uint32_t i = 0; i < located->root.nr_cpu_dir_pages && status == BTSREC_OK; i++)
		status = load_dir_page(load, i);
	if (status == BTSREC_OK)
		status = reject_overlaps(load);
	if (status == BTSREC_OK)
		status = load_modules(load);
	return status;
}

/* --- Entry points ------------------------------------------------------- */

void located_free(struct located *located)
{
	if (!located)
		return;
	for (unsigned int cpu = 0; located->cpus && cpu < located->nr_cpus; cpu++)
		free(located->cpus[cpu]);
	free(located->cpus);
	free(located->modules);
	free(located);
}

/* CPUs were named, none is usable, and not only because pages are missing. */
static enum btsrec_status check_any_cpu(const struct located *located, const struct diags *diags,
					struct msg *msg)
{
	const struct diag *first = NULL;

	for (unsigned int cpu = 0; cpu < located->nr_cpus; cpu++) {
		if (located->cpus[cpu])
			return BTSREC_OK;
	}
	for (size_t i = 0; i < diags->nr && !first; i++) {
		if (diags->list[i].status == BTSREC_ERR_CORRUPT &&
		    diags->list[i].cpu != DIAG_NO_CPU)
			first = &diags->list[i];
	}
	if (!first)
		return BTSREC_OK;
	return msg_set(msg, BTSREC_ERR_CORRUPT, "no CPU of the recorder at " PA
		       " is usable: CPU %u, page at " PA ": %s",
		       (uint64_t)located->root.self_pa, first->cpu, first->pa, first->text);
}

enum btsrec_status locate(const struct btsrec_image *image, uint64_t root_pa, enum btsrec_scan scan,
			  struct diags *diags, struct msg *msg, struct located **ret)
{
	struct search search = {
		.image = image,
		.diags = diags,
		.msg = msg,
		.worst = BTSREC_ERR_NO_ROOT,
	};
	struct load load = {.image = image, .diags = diags};
	enum btsrec_status status;

	msg_clear(msg);
	status = search_root(&search, root_pa, scan);
	if (status != BTSREC_OK)
		return status;
	load.located = calloc(1, sizeof(*load.located));
	if (!load.located)
		return msg_set(msg, BTSREC_ERR_NOMEM, "%s", btsrec_status_str(BTSREC_ERR_NOMEM));
	load.located->root = search.best;
	status = load_all(&load);
	pageset_fini(&load.pages);
	if (status != BTSREC_OK)
		msg_set(msg, status, "recorder at " PA ": %s", (uint64_t)search.best.self_pa,
			btsrec_status_str(status));
	else
		status = check_any_cpu(load.located, diags, msg);
	if (status == BTSREC_OK)
		*ret = load.located;
	else
		located_free(load.located);
	return status;
}

const struct btsrec_module *located_module_at(const struct located *located, uint64_t kva)
{
	const struct btsrec_module *gone = NULL;

	for (size_t i = 0; i < located->nr_modules; i++) {
		const struct btsrec_module *module = &located->modules[i];

		/* An address below the text makes the difference huge. */
		if (kva - module->text_kva >= module->text_bytes)
			continue;
		if (module->state == BTSREC_MODULE_LIVE)
			return module;
		gone = module;
	}
	return gone;
}

static bool is_same_code(const struct btsrec_module *a, const struct btsrec_module *b)
{
	return a->text_kva == b->text_kva && a->text_bytes == b->text_bytes &&
	       a->build_id_bytes == b->build_id_bytes &&
	       !memcmp(a->build_id, b->build_id, sizeof(a->build_id)) &&
	       !strncmp(a->name, b->name, sizeof(a->name));
}

const struct btsrec_module *located_module_gone(const struct located *located, uint64_t kva,
						const struct btsrec_module *after)
{
	const struct btsrec_module *now;
	size_t i = after ? (size_t)(after - located->modules) + 1 : 0;

	if (!located->nr_gone)
		return NULL;
	now = located_module_at(located, kva);
	if (!now)
		return NULL;
	for (; i < located->nr_modules; i++) {
		const struct btsrec_module *module = &located->modules[i];

		if (module->state == BTSREC_MODULE_GONE &&
		    kva - module->text_kva < module->text_bytes && !is_same_code(module, now))
			return module;
	}
	return NULL;
}

bool located_module_stays(const struct located *located, uint64_t kva)
{
	const struct btsrec_module *now = located_module_at(located, kva);

	return now && now->state == BTSREC_MODULE_LIVE && !located_module_gone(located, kva, NULL);
}
