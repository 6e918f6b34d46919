// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's names and those of its modules, in the form that v6.1 keeps them. */
#include "mkimage.h"

#include <elf.h>
#include <string.h>

#define KERNEL_MAP_KVA	0xffffffff80000000ULL

/* Where the parts of the kernel's table begin, each with room to grow. */
enum {
	KALLSYMS_COUNT = 0,
	KALLSYMS_BASE = 8,
	KALLSYMS_INDEX = 0x100,
	KALLSYMS_TOKENS = 0x400,
	KALLSYMS_OFFSETS = 0x1000,
	KALLSYMS_NAMES = 0x2000,
	KALLSYMS_PAGES = 2 + MAX_SYMBOLS * 512 / BTSREC_PAGE_BYTES + 1,
};

/* And those of a module's. */
enum {
	MODSYMS_SYMTAB = 0x40,
	MODSYMS_TYPETAB = 0x2000,
	MODSYMS_STRTAB = 0x2200,
	MODSYMS_PAGES = 3 + MAX_SYMBOLS * 512 / BTSREC_PAGE_BYTES,
};

struct symbol *add_symbol(const char *name, uint64_t va)
{
	struct symbol *symbol = &image.symbols[image.nr_symbols++];

	if (image.nr_symbols > MAX_SYMBOLS)
		die("more than %d symbols", MAX_SYMBOLS);
	snprintf(symbol->name, sizeof(symbol->name), "%s", name);
	symbol->letter = 'D';
	symbol->va = va;
	return symbol;
}

static void describe_symbol(struct statement *statement, uint32_t module)
{
	struct symbol *symbol;

	if (statement->nr_words != 4)
		die("NAME LETTER KVA");
	symbol = add_symbol(statement->words[1].text, word_number(statement, 3));
	symbol->letter = *statement->words[2].text;
	symbol->module = module;
}

void do_symbol(struct statement *statement)
{
	describe_symbol(statement, 0);
}

void do_modsym(struct statement *statement)
{
	if (!image.root->nr_modules)
		die("for which module?");
	describe_symbol(statement, image.root->nr_modules);
}

static uint64_t symbol_kva_of(uint64_t pa)
{
	return KERNEL_MAP_KVA + pa - image.root->phys_base;
}

/* Every byte stands for itself; real tables have longer tokens for most. */
static void write_tokens(uint64_t pa)
{
	unsigned int i;

	for (i = 0; i < 256; i++) {
		char token[2] = { (char)i };
		uint16_t at = (uint16_t)(2 * i);

		memory_write(pa + KALLSYMS_INDEX + 2 * i, &at, sizeof(at));
		memory_write(pa + KALLSYMS_TOKENS + at, token, sizeof(token));
	}
}

/* The form of v6.1: what is not absolute is negative, and one more than its distance. */
static int32_t symbol_offset(const struct symbol *symbol)
{
	if (symbol->va < KERNEL_MAP_KVA)
		return (int32_t)symbol->va;
	return (int32_t)(-1 - (int64_t)(symbol->va - KERNEL_MAP_KVA));
}

static void write_kallsyms(uint64_t pa)
{
	uint64_t base = KERNEL_MAP_KVA, at = pa + KALLSYMS_NAMES;
	uint32_t count = 0;
	size_t i;

	write_tokens(pa);
	memory_write(pa + KALLSYMS_BASE, &base, sizeof(base));
	for (i = 0; i < image.nr_symbols; i++) {
		const struct symbol *symbol = &image.symbols[i];
		size_t nr_bytes = strlen(symbol->name) + 1;
		uint8_t head[2] = { (uint8_t)(0x80 | (nr_bytes & 0x7f)), (uint8_t)(nr_bytes >> 7) };
		int32_t offset = symbol_offset(symbol);

		if (symbol->module)
			continue;
		memory_write(pa + KALLSYMS_OFFSETS + 4 * count++, &offset, sizeof(offset));
		memory_write(at, head, sizeof(head));
		memory_write(at + 2, &symbol->letter, 1);
		memory_write(at + 3, symbol->name, nr_bytes - 1);
		at += 2 + nr_bytes;
	}
	memory_write(pa + KALLSYMS_COUNT, &count, sizeof(count));
}

/* A variable of a module. */
#define DATA_BYTES	32

static void write_modsyms(uint64_t pa, uint32_t module)
{
	uint64_t where[4] = { symbol_kva_of(pa + MODSYMS_SYMTAB), 0,
			      symbol_kva_of(pa + MODSYMS_STRTAB),
			      symbol_kva_of(pa + MODSYMS_TYPETAB) };
	uint32_t name_at = 1;
	size_t i;

	for (i = 0; i < image.nr_symbols; i++) {
		const struct symbol *symbol = &image.symbols[i];
		Elf64_Sym entry = { .st_name = name_at, .st_value = symbol->va,
				    .st_size = strchr("DdBb", symbol->letter) ? DATA_BYTES : 0 };

		if (symbol->module != module)
			continue;
		memory_write(pa + MODSYMS_SYMTAB + where[1] * sizeof(entry), &entry, sizeof(entry));
		memory_write(pa + MODSYMS_TYPETAB + where[1], &symbol->letter, 1);
		memory_write(pa + MODSYMS_STRTAB + name_at, symbol->name, strlen(symbol->name) + 1);
		name_at += (uint32_t)strlen(symbol->name) + 1;
		where[1]++;
	}
	memory_write(pa, where, sizeof(where));
}

/* The tables, made when the first statement about damage needs them, else at the end. */
void make_symbols(void)
{
	size_t i;

	for (i = 0; i < image.nr_symbols; i++) {
		uint32_t module = image.symbols[i].module;
		uint64_t *pa = module ? &image.modsyms_pa[module - 1] : &image.kallsyms_pa;

		if (*pa)
			continue;
		*pa = alloc_pages(module ? MODSYMS_PAGES : KALLSYMS_PAGES);
		if (module)
			write_modsyms(*pa, module);
		else
			write_kallsyms(*pa);
		if (module)
			image.modules[module - 1].kallsyms_kva = symbol_kva_of(*pa);
	}
}

int put_kallsyms_lines(char *ret)
{
	static const struct {
		const char *name;
		uint64_t offset;
	} parts[] = {
		{ "num_syms", KALLSYMS_COUNT }, { "relative_base", KALLSYMS_BASE },
		{ "token_index", KALLSYMS_INDEX }, { "token_table", KALLSYMS_TOKENS },
		{ "offsets", KALLSYMS_OFFSETS }, { "names", KALLSYMS_NAMES },
	};
	int nr_chars = 0;
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		nr_chars += sprintf(ret + nr_chars, "SYMBOL(kallsyms_%s)=%llx\n", parts[i].name,
				    (unsigned long long)symbol_kva_of(image.kallsyms_pa +
								      parts[i].offset));
	return nr_chars;
}
