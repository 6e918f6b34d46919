// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol.h"

#include <stdlib.h>
#include <string.h>

#include "render.h"
#include "session.h"

/* The mapping of the kernel image is at most this big (KERNEL_IMAGE_SIZE, arch/x86). */
#define KERNEL_IMAGE_MAX_BYTES	(1ULL << 30)

/*
 * KASLR moves the kernel by multiples of CONFIG_PHYSICAL_ALIGN, on x86-64 at
 * least 2 MiB (arch/x86/Kconfig).
 */
#define KASLR_STEP_BYTES	(2ULL << 20)

/* Longest name kept; the kernel's own KSYM_NAME_LEN is 512. */
#define NAME_MAX_BYTES		511

/* --- Tables ------------------------------------------------------------- */

static void table_free(struct symbol_table *table)
{
	if (!table)
		return;
	free(table->vas);
	free(table->name_at);
	free(table->granules);
	free(table->names);
	free(table);
}

static void tables_free(void *data)
{
	struct symbol_table *table = data, *next;

	for (; table; table = next) {
		next = table->next;
		table_free(table);
	}
}

/* Tables are asked in the order in which they were added. */
static void tables_append(struct btsrec *rec, struct symbol_table *table)
{
	struct symbol_table *last = rec->symbols.data;

	rec->symbols.free = tables_free;
	if (!last) {
		rec->symbols.data = table;
		return;
	}
	while (last->next)
		last = last->next;
	last->next = table;
}

bool symbols_present(const struct btsrec *rec)
{
	return rec->has_resolver || rec->symbols.data;
}

static bool table_find(const struct symbol_table *table, uint64_t va, struct symbol_name *ret)
{
	uint64_t file_va = va - table->shift;
	size_t i;

	if (file_va < table->begin_va || file_va >= table->end_va)
		return false;
	i = table->granules[(file_va - table->begin_va) / SYMBOL_GRANULE_BYTES];
	while (i + 1 < table->nr_symbols && table->vas[i + 1] <= file_va)
		i++;
	ret->name = table->names + table->name_at[i];
	ret->name_bytes = table->name_at[i + 1] - table->name_at[i];
	ret->module = "";
	ret->offset_bytes = file_va - table->vas[i];
	return true;
}

/* --- From a file to a table --------------------------------------------- */

/*
 * Several symbols share many addresses.  Global functions win over local ones
 * and both over data, so that the answer does not depend on the file's order.
 * UINT8_MAX: no symbol of the image at all.
 */
static uint8_t symbol_rank(char letter)
{
	if (strchr("TWtw", letter))
		return letter == 'T' || letter == 'W' ? 0 : 1;
	if (strchr("DRBVdrbv", letter))
		return letter < 'a' ? 2 : 3;
	return UINT8_MAX;
}

static bool symbol_file_grow(struct symbol_file *file)
{
	size_t nr_room = file->nr_room ? 2 * file->nr_room : 4096;
	struct symbol_entry *entries;

	if (file->nr_entries < file->nr_room)
		return true;
	entries = realloc(file->entries, nr_room * sizeof(*entries));
	if (!entries)
		return false;
	file->entries = entries;
	file->nr_room = nr_room;
	return true;
}

enum btsrec_status symbol_file_add(struct symbol_file *file, uint64_t va, char letter,
				   const char *name, size_t name_bytes)
{
	uint8_t rank = symbol_rank(letter);
	struct symbol_entry *entry;

	if (rank == UINT8_MAX || !name_bytes)
		return BTSREC_OK;
	if (!symbol_file_grow(file))
		return BTSREC_ERR_NOMEM;
	entry = &file->entries[file->nr_entries++];
	entry->va = va;
	entry->name = name;
	entry->name_bytes = name_bytes > NAME_MAX_BYTES ? NAME_MAX_BYTES : (uint32_t)name_bytes;
	entry->rank = rank;
	return BTSREC_OK;
}

void symbol_file_fini(struct symbol_file *file)
{
	free(file->entries);
	memset(file, 0, sizeof(*file));
}

static unsigned int nr_underscores(const struct symbol_entry *entry)
{
	unsigned int nr = 0;

	while (nr < entry->name_bytes && entry->name[nr] == '_')
		nr++;
	return nr;
}

static int entry_name_compare(const struct symbol_entry *a, const struct symbol_entry *b)
{
	uint32_t nr_common = a->name_bytes < b->name_bytes ? a->name_bytes : b->name_bytes;
	int order = memcmp(a->name, b->name, nr_common);

	if (order)
		return order;
	return (a->name_bytes > b->name_bytes) - (a->name_bytes < b->name_bytes);
}

/* By address; at one address the name to print first. */
static int entry_compare(const void *left, const void *right)
{
	const struct symbol_entry *a = left, *b = right;
	unsigned int nr_a, nr_b;

	if (a->va != b->va)
		return a->va < b->va ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	nr_a = nr_underscores(a);
	nr_b = nr_underscores(b);
	if (nr_a != nr_b)
		return nr_a < nr_b ? -1 : 1;
	return entry_name_compare(a, b);
}

static const struct symbol_entry *entry_by_name(const struct symbol_file *file, const char *name)
{
	size_t name_bytes = strlen(name), i;

	for (i = 0; i < file->nr_entries; i++) {
		const struct symbol_entry *entry = &file->entries[i];

		if (entry->name_bytes == name_bytes && !memcmp(entry->name, name, name_bytes))
			return entry;
	}
	return NULL;
}

/* Drop what is outside the image or second at its address; sorted afterwards. */
static void file_reduce(struct symbol_file *file, uint64_t begin_va, uint64_t end_va)
{
	size_t i, nr_kept = 0;

	qsort(file->entries, file->nr_entries, sizeof(*file->entries), entry_compare);
	for (i = 0; i < file->nr_entries; i++) {
		const struct symbol_entry *entry = &file->entries[i];

		if (entry->va < begin_va || entry->va >= end_va)
			continue;
		if (nr_kept && file->entries[nr_kept - 1].va == entry->va)
			continue;
		file->entries[nr_kept++] = *entry;
	}
	file->nr_entries = nr_kept;
}

static bool table_alloc(struct symbol_table *table, const struct symbol_file *file)
{
	uint64_t nr_granules = (table->end_va - table->begin_va) / SYMBOL_GRANULE_BYTES + 1;
	size_t names_bytes = 1, i;

	for (i = 0; i < file->nr_entries; i++)
		names_bytes += 4 * (size_t)file->entries[i].name_bytes + 1;
	if (names_bytes > UINT32_MAX)
		return false;
	table->vas = calloc(file->nr_entries, sizeof(*table->vas));
	table->name_at = calloc(file->nr_entries + 1, sizeof(*table->name_at));
	table->granules = calloc(nr_granules, sizeof(*table->granules));
	table->names = malloc(names_bytes);
	return table->vas && table->name_at && table->granules && table->names;
}

static void table_fill(struct symbol_table *table, const struct symbol_file *file)
{
	uint64_t nr_granules = (table->end_va - table->begin_va) / SYMBOL_GRANULE_BYTES + 1;
	uint64_t granule;
	uint32_t at = 0;
	size_t i;

	for (i = 0; i < file->nr_entries; i++) {
		const struct symbol_entry *entry = &file->entries[i];

		table->vas[i] = entry->va;
		table->name_at[i] = at;
		at += (uint32_t)escaped_copy(table->names + at, entry->name, entry->name_bytes);
	}
	table->name_at[i] = at;
	table->nr_symbols = file->nr_entries;

	for (i = 0, granule = 0; granule < nr_granules; granule++) {
		uint64_t va = table->begin_va + granule * SYMBOL_GRANULE_BYTES;

		while (i + 1 < table->nr_symbols && table->vas[i + 1] <= va)
			i++;
		table->granules[granule] = (uint32_t)i;
	}
}

/* Where the file says the image is.  _stext itself is a symbol, so entries exist. */
static enum btsrec_status table_bounds(struct msg *msg, const struct symbol_file *file,
				       struct symbol_table *table)
{
	const struct symbol_entry *begin = entry_by_name(file, "_stext");
	const struct symbol_entry *end = entry_by_name(file, "_end");

	if (!begin || !end)
		return msg_set(msg, BTSREC_ERR_CORRUPT, "no kernel symbols: %s is not there",
			       begin ? "_end" : "_stext");
	if (end->va <= begin->va || end->va - begin->va > KERNEL_IMAGE_MAX_BYTES)
		return msg_set(msg, BTSREC_ERR_CORRUPT,
			       "_end is not within 1 GiB after _stext");
	table->begin_va = begin->va;
	table->end_va = end->va;
	return BTSREC_OK;
}

static enum btsrec_status table_shift(struct msg *msg, const struct symbol_file *file,
				      const struct btsrec_root *root, struct symbol_table *table)
{
	char name[4 * sizeof(root->symbol_name) + 1];
	const struct symbol_entry *entry = entry_by_name(file, root->symbol_name);

	escaped_copy(name, root->symbol_name, sizeof(root->symbol_name));
	if (!*name)
		return msg_set(msg, BTSREC_ERR_MISMATCH, "the recorder names no kernel symbol");
	if (!entry)
		return msg_set(msg, BTSREC_ERR_MISMATCH,
			       "symbols of another kernel: %s is not there", name);
	table->shift = root->symbol_kva - entry->va;
	if (table->shift % KASLR_STEP_BYTES)
		return msg_set(msg, BTSREC_ERR_MISMATCH,
			       "symbols of another kernel: %s differs by %#llx, which is no "
			       "multiple of 2 MiB",
			       name, (unsigned long long)table->shift);
	return BTSREC_OK;
}

static enum btsrec_status table_build(struct btsrec *rec, struct symbol_file *file,
				      struct symbol_table *table)
{
	enum btsrec_status status = table_bounds(&rec->msg, file, table);

	if (status)
		return status;
	status = table_shift(&rec->msg, file, btsrec_root(rec), table);
	if (status)
		return status;
	file_reduce(file, table->begin_va, table->end_va);
	if (!table_alloc(table, file))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	table_fill(table, file);
	return BTSREC_OK;
}

enum btsrec_status symbol_file_finish(struct btsrec *rec, struct symbol_file *file,
				      const char *path)
{
	struct symbol_table *table = calloc(1, sizeof(*table));
	enum btsrec_status status;

	if (!table)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "%s: out of memory", path);
	status = table_build(rec, file, table);
	if (status) {
		table_free(table);
		return msg_prepend(&rec->msg, status, "%s", path);
	}
	tables_append(rec, table);
	return BTSREC_OK;
}

void btsrec_set_resolver(struct btsrec *rec, const struct btsrec_resolver *resolver)
{
	rec->resolver = *resolver;
	rec->has_resolver = resolver->resolve;
}

/* --- Lookup ------------------------------------------------------------- */

static bool resolver_find(const struct btsrec *rec, uint64_t va, struct symbol_name *ret)
{
	struct btsrec_symbol symbol;

	if (rec->resolver.resolve(rec->resolver.arg, va, &symbol) != BTSREC_OK)
		return false;
	ret->name = ret->buf.name;
	ret->name_bytes = escaped_copy(ret->buf.name, symbol.name, sizeof(symbol.name));
	ret->module = ret->buf.module;
	escaped_copy(ret->buf.module, symbol.module, sizeof(symbol.module));
	ret->offset_bytes = symbol.offset_bytes;
	return ret->name_bytes || *ret->module;
}

static bool module_find(const struct btsrec *rec, uint64_t va, struct symbol_name *ret)
{
	const struct btsrec_module *module = btsrec_module_at(rec, va);

	if (!module)
		return false;
	ret->name = "";
	ret->name_bytes = 0;
	ret->module = ret->buf.module;
	escaped_copy(ret->buf.module, module->name, sizeof(module->name));
	ret->offset_bytes = va - module->text_kva;
	return true;
}

bool symbol_find(struct btsrec *rec, uint64_t va, struct symbol_name *ret)
{
	const struct symbol_table *table;

	if (rec->has_resolver && resolver_find(rec, va, ret))
		return true;
	for (table = rec->symbols.data; table; table = table->next)
		if (table_find(table, va, ret))
			return true;
	return module_find(rec, va, ret);
}

enum btsrec_status btsrec_resolve(struct btsrec *rec, uint64_t va, struct btsrec_symbol *ret)
{
	struct symbol_name name;
	size_t nr_bytes;

	if (!symbol_find(rec, va, &name))
		return BTSREC_ERR_NO_SYMBOL;
	nr_bytes = name.name_bytes < sizeof(ret->name) ? name.name_bytes : sizeof(ret->name) - 1;
	memcpy(ret->name, name.name, nr_bytes);
	ret->name[nr_bytes] = '\0';
	nr_bytes = strnlen(name.module, sizeof(ret->module) - 1);
	memcpy(ret->module, name.module, nr_bytes);
	ret->module[nr_bytes] = '\0';
	ret->offset_bytes = name.offset_bytes;
	return BTSREC_OK;
}
