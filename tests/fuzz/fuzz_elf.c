// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ELF files, whole and in memory: build-ids, segments, symbols, what is packed in them.  libelf
 * reads them; it is not instrumented.
 */
#include <unistd.h>

#include "../../decoder/src/symbols/elffile.h"
#include "fuzz_file.h"
#include "fuzz_image.h"
#include "fuzz_located.h"

#define MAX_SEGMENTS	8

static bool any_name(const char *name)
{
	return *name != '$';
}

static void use_symbols(const struct elffile *file, uint32_t type)
{
	struct symbol_list list = { 0 };
	struct symbol_table *table = NULL;
	uint64_t offset_bytes;
	const char *name;
	size_t name_bytes;

	if (!elffile_symbols(file, type, any_name, &list))
		table = symbol_table_new(&list, 0, UINT64_MAX);
	for (uint64_t va = 0; table && va < 64; va++)
		if (symbol_table_find(table, FUZZ_SYMBOL_KVA + va * 16, &name, &name_bytes,
				      &offset_bytes))
			(void)memchr(name, '\n', name_bytes);
	symbol_table_free(table);
	symbol_list_fini(&list);
}

static void use(struct elffile *file)
{
	struct elffile_segment segments[MAX_SEGMENTS];
	struct elffile packed;
	uint8_t sum = 0;

	for (size_t i = 0; i < file->build_id_bytes; i++)
		sum ^= file->build_id[i];
	if (elffile_segments(file, segments, MAX_SEGMENTS) > UINT32_MAX || !elffile_same(file, file))
		sum++;
	(void)elffile_machine(file);
	use_symbols(file, SHT_SYMTAB);
	use_symbols(file, SHT_DYNSYM);
	elffile_none(&packed);
	if (elffile_init_minidebug(&packed, file))
		use_symbols(&packed, SHT_SYMTAB);
	elffile_fini(&packed);
}

/* As the first page of a mapped file, which is all that a dump may have of it. */
static void use_memory(const uint8_t *bytes, size_t nr_bytes)
{
	uint8_t *copy = malloc(nr_bytes + !nr_bytes);
	struct elffile file;

	if (!copy)
		abort();
	memcpy(copy, bytes, nr_bytes);
	elffile_none(&file);
	if (elffile_init_memory(&file, copy, nr_bytes))
		use(&file);
	elffile_fini(&file);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	static struct fuzz_named named;
	static struct msg msg;
	struct btsrec *rec = fuzz_located();
	struct btsrec_symbol symbol;
	struct elffile file;

	if (!fuzz_named(&named, bytes, nr_bytes))
		abort();
	if (!btsrec_add_vmlinux(rec, named.path))
		(void)btsrec_resolve(rec, FUZZ_SYMBOL_KVA + 1, &symbol);
	btsrec_free(rec);
	elffile_none(&file);
	if (!elffile_init_packed(&file, &msg, dup(named.fd)))
		use(&file);
	elffile_fini(&file);
	use_memory(bytes, nr_bytes);
	return 0;
}
