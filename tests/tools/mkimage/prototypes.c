// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's BTF, with the prototypes of its functions, and a few structs. */
#include "mkimage.h"

#include <bpf/btf.h>
#include <string.h>

#define KERNEL_MAP_KVA	0xffffffff80000000ULL

enum { INT, U8, BOOL, LONG, FILE_POINTER, TEXT, PAIR, LIST, DOUBLE, PACKED, NR_TYPES };

/* The types that a prototype may name, made when they are first needed. */
static struct btf *btf;
static const char *const words[NR_TYPES] = { "int",  "u8",   "bool", "long",   "file",
					     "text", "pair", "list", "double", "packed" };
static int ids[NR_TYPES];

static int struct_of_longs(const char *name, unsigned int nr)
{
	int id = btf__add_struct(btf, name, 8 * nr);

	for (unsigned int i = 0; i < nr; i++)
		btf__add_field(btf, "", ids[LONG], 64 * i, 0);
	return id;
}

static void make_types(void)
{
	int layout;

	btf = btf__new_empty();
	ids[INT] = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	ids[U8] = btf__add_typedef(btf, "u8", btf__add_int(btf, "unsigned char", 1, 0));
	ids[BOOL] = btf__add_int(btf, "_Bool", 1, BTF_INT_BOOL);
	ids[LONG] = btf__add_int(btf, "long unsigned int", 8, 0);
	ids[FILE_POINTER] = btf__add_ptr(btf, btf__add_struct(btf, "file", 8));
	ids[TEXT] = btf__add_int(btf, "char", 1, BTF_INT_SIGNED);
	ids[TEXT] = btf__add_ptr(btf, btf__add_const(btf, ids[TEXT]));
	ids[PAIR] = struct_of_longs("pair", 2);
	ids[LIST] = struct_of_longs("list", 3);
	ids[DOUBLE] = btf__add_float(btf, "double", 8);
	ids[PACKED] = btf__add_struct(btf, "packed", 9);
	btf__add_field(btf, "byte", ids[U8], 0, 0);
	btf__add_field(btf, "number", ids[LONG], 8, 0);
	btf__add_struct(btf, "task_struct", 16);
	btf__add_field(btf, "pid", ids[INT], 0, 0);
	btf__add_field(btf, "stack", ids[LONG], 64, 0);
	btf__add_struct(btf, "rcu_data", 24);
	btf__add_field(btf, "ticks_this_gp", ids[LONG], 0, 0);
	btf__add_field(btf, "mynode", ids[LONG], 64, 0);
	btf__add_field(btf, "grpmask", ids[LONG], 128, 0);
	btf__add_struct(btf, "rcu_node", 16);
	btf__add_field(btf, "qsmask", ids[LONG], 64, 0);
	layout = btf__add_struct(btf, "module_layout", 16);
	btf__add_field(btf, "base", ids[LONG], 0, 0);
	btf__add_field(btf, "text_size", ids[INT], 64, 0);
	btf__add_struct(btf, "module", 32);
	btf__add_field(btf, "init_layout", layout, 64, 0);
	btf__add_field(btf, "kallsyms", ids[LONG], 192, 0);
}

static int type_of(const char *word)
{
	for (size_t i = 0; i < NR_TYPES; i++)
		if (!strcmp(words[i], word))
			return ids[i];
	die("there is no type '%s'", word);
}

void do_prototype(struct statement *statement)
{
	int prototype;

	if (statement->nr_words < 2)
		die("prototype NAME [PARAMETER=TYPE]...");
	if (!btf)
		make_types();
	prototype = btf__add_func_proto(btf, ids[INT]);
	for (size_t i = 2; i < statement->nr_words; i++) {
		const struct word *word = &statement->words[i];

		if (!strcmp(word->text, "..."))
			btf__add_func_param(btf, "", 0);
		else if (word->value)
			btf__add_func_param(btf, word->text, type_of(word->value));
		else
			die("PARAMETER=TYPE");
	}
	btf__add_func(btf, statement->words[1].text, BTF_FUNC_GLOBAL, prototype);
}

/* Behind all else, as the symbols that say where it is are the last. */
void make_prototypes(void)
{
	uint64_t pa, kva;
	uint32_t nr_bytes;
	const void *bytes;

	if (!btf)
		return;
	bytes = btf__raw_data(btf, &nr_bytes);
	pa = alloc_pages(nr_bytes / BTSREC_PAGE_BYTES + 1);
	kva = KERNEL_MAP_KVA + pa - image.root->phys_base;
	memory_write(pa, bytes, nr_bytes);
	add_symbol("__start_BTF", kva);
	add_symbol("__stop_BTF", kva + nr_bytes);
	btf__free(btf);
	btf = NULL;
}
