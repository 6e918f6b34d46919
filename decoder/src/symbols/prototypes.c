// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/prototypes.h"

#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"

/**
 * struct prototypes - @types, @table: the session's
 * @stems: hashes of the names that functions of the kernel have in the source, @nr_stems,
 *	ascending.
 */
struct prototypes {
	const struct types *types;
	const struct symbol_table *table;
	struct types_functions *functions;
	uint64_t *stems;
	size_t nr_stems;
};

static int by_number(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* F.isra.0 may be of another F than F itself is; F.cold and __pfx_F are parts of theirs. */
static bool read_stems(struct prototypes *prototypes)
{
	const struct symbol_table *table = prototypes->table;

	prototypes->stems = calloc(table->nr_names + 1, sizeof(prototypes->stems[0]));
	if (!prototypes->stems)
		return false;
	for (size_t i = 0; i < table->nr_names; i++) {
		size_t nr_bytes, stem_bytes;
		const char *name = symbol_table_name(table, i, &nr_bytes);
		const char *stem = symbol_stem(name, nr_bytes, &stem_bytes);

		if (stem == name && !symbol_is_split(name, nr_bytes))
			prototypes->stems[prototypes->nr_stems++] =
				fnv_line(FNV_BASIS, stem, stem_bytes);
	}
	qsort(prototypes->stems, prototypes->nr_stems, sizeof(prototypes->stems[0]), by_number);
	return true;
}

bool prototypes_new(struct btsrec *rec, struct prototypes **ret, const char **ret_why)
{
	struct prototypes made = { .table = symbols_kernel(rec) };
	struct prototypes *prototypes;

	*ret = NULL;
	if (!made.table) {
		*ret_why = "the kernel's names are not known";
		return true;
	}
	made.types = symbols_types(rec, ret_why);
	if (!made.types)
		return true;
	prototypes = malloc(sizeof(*prototypes));
	if (!prototypes)
		return false;
	*prototypes = made;
	prototypes->functions = types_functions_new(prototypes->types);
	if (!prototypes->functions || !read_stems(prototypes)) {
		prototypes_free(prototypes);
		return false;
	}
	*ret = prototypes;
	return true;
}

void prototypes_free(struct prototypes *prototypes)
{
	if (!prototypes)
		return;
	types_functions_free(prototypes->functions);
	free(prototypes->stems);
	free(prototypes);
}

const struct types *prototypes_types(const struct prototypes *prototypes)
{
	return prototypes->types;
}

/* What is equal lies side by side. */
static bool is_only_one(const struct prototypes *prototypes, const char *name, size_t nr_bytes)
{
	uint64_t hash = fnv_line(FNV_BASIS, name, nr_bytes);
	const uint64_t *found = bsearch(&hash, prototypes->stems, prototypes->nr_stems,
					sizeof(hash), by_number);
	const uint64_t *end = prototypes->stems + prototypes->nr_stems;

	return found && (found == prototypes->stems || found[-1] != hash) &&
	       (found + 1 == end || found[1] != hash);
}

uint32_t prototypes_of(const struct prototypes *prototypes, uint64_t va, const char **ret_why)
{
	const struct symbol_table *table = prototypes->table;
	size_t i, nr_bytes, stem_bytes;
	const char *name;
	uint32_t ret;

	if (va - table->shift - table->begin_va >= table->end_va - table->begin_va) {
		*ret_why = "not of the kernel itself";
		return 0;
	}
	if (!symbol_table_at(table, va, &i) || symbol_table_va(table, i) != va) {
		*ret_why = "not the start of a function";
		return 0;
	}
	name = symbol_table_name(table, i, &nr_bytes);
	if (symbol_stem(name, nr_bytes, &stem_bytes) != name || stem_bytes != nr_bytes) {
		*ret_why = "the compiler made it of another function";
		return 0;
	}
	if (!is_only_one(prototypes, name, nr_bytes)) {
		*ret_why = "several functions have its name";
		return 0;
	}
	ret = types_function(prototypes->functions, name, nr_bytes);
	if (!ret)
		*ret_why = "no prototype in the kernel's BTF";
	return ret;
}
