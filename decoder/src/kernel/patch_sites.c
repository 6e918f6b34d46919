// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/patch_sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "kernel/kmodule.h"

/* Debian's 6.1 has 5,000 jumps and 1,300 calls in its image, and few in a module. */
#define TABLE_MAX_BYTES	BOUND(16U << 20, 1U << 16)

/*
 * struct jump_entry (linux/jump_label.h, CONFIG_HAVE_ARCH_JUMP_LABEL_RELATIVE, on x86-64 since
 * v4.19) and struct static_call_site (linux/static_call_types.h, v5.10).  Both begin with how far
 * the code is from there.
 */
#define JUMP_ENTRY_BYTES	16
#define CALL_SITE_BYTES		8

static bool add_site(struct patch_sites *sites, const struct kread *kernel, uint64_t va)
{
	if (!grow(&sites->list, sizeof(*sites->list), sites->nr, &sites->nr_room)) {
		kread_nomem(kernel);
		return false;
	}
	sites->list[sites->nr++] = va;
	return true;
}

static bool add_entries(struct patch_sites *sites, const struct kread *kernel, uint64_t kva,
			const uint8_t *entries, size_t nr_bytes, size_t entry_bytes)
{
	for (size_t at = 0; at + entry_bytes <= nr_bytes; at += entry_bytes) {
		int32_t distance;

		memcpy(&distance, entries + at, sizeof(distance));
		if (!add_site(sites, kernel, kva + at + (uint64_t)(int64_t)distance))
			return false;
	}
	return true;
}

/* False: some of the table is missing. */
static bool add_table(struct patch_sites *sites, const struct kread *kernel,
		      const struct patch_table *table, size_t entry_bytes)
{
	uint64_t nr_bytes = table->end_kva - table->begin_kva;
	_cleanup_free_ uint8_t *entries = NULL;

	if (!table->begin_kva || table->end_kva < table->begin_kva || nr_bytes > TABLE_MAX_BYTES)
		return false;
	entries = malloc(nr_bytes + 1);
	if (!entries) {
		kread_nomem(kernel);
		return false;
	}
	return kread(kernel, table->begin_kva, entries, nr_bytes) &&
	       add_entries(sites, kernel, table->begin_kva, entries, nr_bytes, entry_bytes);
}

void patch_sites_kernel(struct patch_sites *sites, const struct kread *kernel,
			const struct patch_table *jumps, const struct patch_table *calls)
{
	sites->complete = add_table(sites, kernel, jumps, JUMP_ENTRY_BYTES);
	if (calls->begin_kva)
		sites->complete &= add_table(sites, kernel, calls, CALL_SITE_BYTES);
}

static bool add_of_module(struct patch_sites *sites, const struct kread *kernel,
			  const struct types *types, uint64_t kva, const char *entries,
			  const char *nr_entries, size_t entry_bytes)
{
	struct types_field field;
	struct patch_table table;
	uint64_t nr;

	/* Some kernels have no such table. */
	if (!types_field(types, "module", entries, &field))
		return true;
	if (!kmodule_member(kernel, types, kva, entries, &table.begin_kva) ||
	    !kmodule_member(kernel, types, kva, nr_entries, &nr) ||
	    nr > TABLE_MAX_BYTES / entry_bytes)
		return false;
	table.end_kva = table.begin_kva + nr * entry_bytes;
	return !nr || add_table(sites, kernel, &table, entry_bytes);
}

bool patch_sites_module(struct patch_sites *sites, const struct kread *kernel,
			const struct types *types, uint64_t kva)
{
	return types_struct(types, "module") &&
	       add_of_module(sites, kernel, types, kva, "jump_entries", "num_jump_entries",
			     JUMP_ENTRY_BYTES) &&
	       add_of_module(sites, kernel, types, kva, "static_call_sites",
			     "num_static_call_sites", CALL_SITE_BYTES);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

void patch_sites_end(struct patch_sites *sites)
{
	if (sites->nr)
		qsort(sites->list, sites->nr, sizeof(*sites->list), compare);
}

bool patch_sites_has(const struct patch_sites *sites, uint64_t va)
{
	return sites->nr && bsearch(&va, sites->list, sites->nr, sizeof(*sites->list), compare);
}

void patch_sites_fini(struct patch_sites *sites)
{
	free(sites->list);
	memset(sites, 0, sizeof(*sites));
}
