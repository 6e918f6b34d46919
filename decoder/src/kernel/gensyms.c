// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/gensyms.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/grow.h"
#include "base/sorted.h"

/* KSYM_NAME_LEN of include/linux/kallsyms.h, v6.2 and later; 128 before. */
#define NAME_MAX_BYTES	512

/**
 * struct list - a circular list of structs that describe code
 * @kva: of the list's head.
 * @type, @node: the struct, and its list_head.
 * @start, @end: its members; @nr_bytes: instead of @end; neither: one page.
 * @name_member: the name in the struct; else @name is the name of all.
 */
struct list {
	uint64_t kva;
	const char *type;
	const char *node;
	const char *start;
	const char *end;
	const char *nr_bytes;
	const char *name_member;
	const char *name;
	const char *module;
};

/** struct fields - where the members of a struct list are; size 0: it has none of that name */
struct fields {
	struct types_field node;
	struct types_field start;
	struct types_field end;
	struct types_field nr_bytes;
	struct types_field name;
};

static bool find_field(const struct types *types, uint32_t id, const char *member,
		       struct types_field *ret)
{
	return !member || types_member(types, id, member, ret);
}

static bool find_fields(const struct types *types, const struct list *list, struct fields *ret)
{
	uint32_t id = types_struct(types, list->type);

	memset(ret, 0, sizeof(*ret));
	return find_field(types, id, list->node, &ret->node) &&
	       find_field(types, id, list->start, &ret->start) &&
	       find_field(types, id, list->end, &ret->end) &&
	       find_field(types, id, list->nr_bytes, &ret->nr_bytes) &&
	       find_field(types, id, list->name_member, &ret->name);
}

static bool read_number(const struct kread *kernel, uint64_t kva, const struct types_field *at,
			uint64_t *ret)
{
	return at->size_bytes == sizeof(*ret) &&
	       kread(kernel, kva + at->offset_bytes, ret, sizeof(*ret));
}

static char *copy_name(const struct kread *kernel, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		kread_nomem(kernel);
	return copy;
}

static char *read_name(const struct kread *kernel, uint64_t kva, const struct types_field *at)
{
	char raw[NAME_MAX_BYTES] = "", text[ESCAPED_MAX_BYTES * NAME_MAX_BYTES + 1];
	size_t nr_bytes = at->size_bytes < sizeof(raw) ? at->size_bytes : sizeof(raw);

	if (!kread(kernel, kva + at->offset_bytes, raw, nr_bytes))
		return NULL;
	escaped_copy(text, raw, sizeof(raw));
	return *text ? copy_name(kernel, text) : NULL;
}

static bool find_end(const struct kread *kernel, const struct fields *fields, uint64_t kva,
		     struct gensym *sym)
{
	uint64_t nr_bytes = BTSREC_PAGE_BYTES;

	if (fields->end.size_bytes)
		return read_number(kernel, kva, &fields->end, &sym->end);
	if (fields->nr_bytes.size_bytes &&
	    !read_number(kernel, kva, &fields->nr_bytes, &nr_bytes))
		return false;
	sym->end = sym->start + nr_bytes;
	return true;
}

static bool has_room(const struct kread *kernel, struct gensyms *syms)
{
	if (grow_from(&syms->list, sizeof(*syms->list), syms->nr, &syms->nr_room, 64))
		return true;
	kread_nomem(kernel);
	return false;
}

/* What makes no sense is left out: the code stays without a name. */
static void add(const struct kread *kernel, const struct list *list, const struct fields *fields,
		uint64_t kva, struct gensyms *syms)
{
	struct gensym sym = {.module = list->module};

	if (!read_number(kernel, kva, &fields->start, &sym.start) ||
	    !find_end(kernel, fields, kva, &sym) || sym.end <= sym.start ||
	    !has_room(kernel, syms))
		return;
	sym.name = list->name ? copy_name(kernel, list->name) :
				read_name(kernel, kva, &fields->name);
	if (sym.name)
		syms->list[syms->nr++] = sym;
}

static void read_list(const struct gensyms_source *source, const struct list *list,
		      struct gensyms *syms)
{
	const struct kread *kernel = source->kread;
	uint64_t kva = list->kva;
	struct fields fields;

	if (!list->kva || !find_fields(source->types, list, &fields))
		return;
	for (unsigned int i = 0; i < GENSYMS_MAX; i++) {
		if (!kread(kernel, kva, &kva, sizeof(kva)) || kva == list->kva)
			return;
		add(kernel, list, &fields, kva - fields.node.offset_bytes, syms);
	}
}

/* The list of pages in a struct kprobe_insn_cache. */
static uint64_t pages_of(const struct gensyms_source *source, uint64_t cache_kva)
{
	struct types_field pages;

	if (!cache_kva || !types_field(source->types, "kprobe_insn_cache", "pages", &pages))
		return 0;
	return cache_kva + pages.offset_bytes;
}

static int compare(const void *left, const void *right)
{
	const struct gensym *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

void gensyms_read(const struct gensyms_source *source, struct gensyms *ret)
{
	const struct list lists[] = {
		{ .kva = source->bpf_kallsyms_kva, .type = "bpf_ksym", .node = "lnode",
		  .start = "start", .end = "end", .name_member = "name", .module = "bpf" },
		{ .kva = source->ftrace_ops_trampoline_list_kva, .type = "ftrace_ops",
		  .node = "list", .start = "trampoline", .nr_bytes = "trampoline_size",
		  .name = "ftrace_trampoline", .module = "__builtin__ftrace" },
		{ .kva = pages_of(source, source->kprobe_insn_slots_kva),
		  .type = "kprobe_insn_page", .node = "list", .start = "insns",
		  .name = "kprobe_insn_page", .module = "__builtin__kprobes" },
		{ .kva = pages_of(source, source->kprobe_optinsn_slots_kva),
		  .type = "kprobe_insn_page", .node = "list", .start = "insns",
		  .name = "kprobe_optinsn_page", .module = "__builtin__kprobes" },
	};

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		read_list(source, &lists[i], ret);
	if (ret->nr)
		qsort(ret->list, ret->nr, sizeof(*ret->list), compare);
}

const struct gensym *gensyms_find(const struct gensyms *syms, uint64_t va)
{
	size_t nr = sorted_up_to(syms->list, syms->nr, start, va);

	return nr && va < syms->list[nr - 1].end ? &syms->list[nr - 1] : NULL;
}

void gensyms_fini(struct gensyms *syms)
{
	for (size_t i = 0; i < syms->nr; i++)
		free(syms->list[i].name);
	free(syms->list);
	memset(syms, 0, sizeof(*syms));
}
