// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/symbol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "recorder/session.h"
#include "symbols/filestore.h"
#include "symbols/symbol_dump.h"
#include "symbols/user.h"

/* The mapping of the kernel image is at most this big (KERNEL_IMAGE_SIZE, arch/x86). */
#define KERNEL_IMAGE_MAX_BYTES	(1ULL << 30)

/* --- Sources ------------------------------------------------------------ */

/**
 * struct symbols - the sources of a session besides the front end's resolver
 * @files: tables of files, in the order in which they are asked.
 * @dump, @user: NULL before the first name was asked for.
 * @is_clone: @files are another session's.
 */
struct symbols {
	struct symbol_table *files;
	struct symbol_dump *dump;
	struct user *user;
	bool is_clone;
};

static void symbols_free(void *data)
{
	struct symbols *symbols = data;
	struct symbol_table *table, *next;

	for (table = symbols->is_clone ? NULL : symbols->files; table; table = next) {
		next = table->next;
		symbol_table_free(table);
	}
	user_free(symbols->user);
	symbol_dump_free(symbols->dump);
	free(symbols);
}

/* The session's sources, made when they are first needed; NULL: out of memory. */
static struct symbols *symbols_get(struct btsrec *rec)
{
	if (!rec->symbols.data) {
		rec->symbols.data = calloc(1, sizeof(struct symbols));
		rec->symbols.free = rec->symbols.data ? symbols_free : NULL;
	}
	return rec->symbols.data;
}

static void files_append(struct symbols *symbols, struct symbol_table *table)
{
	struct symbol_table **at = &symbols->files;

	while (*at)
		at = &(*at)->next;
	*at = table;
}

/* What the dump itself knows, or NULL: out of memory. */
static struct symbol_dump *dump_get(struct btsrec *rec)
{
	struct symbols *symbols = rec->located ? symbols_get(rec) : NULL;

	if (symbols && !symbols->dump)
		symbols->dump = symbol_dump_new(&rec->image, rec->located,
						rec->nr_threads, &rec->nomem);
	if (rec->located && (!symbols || !symbols->dump))
		rec->nomem = true;
	return symbols ? symbols->dump : NULL;
}

/* The same, or NULL if names from the dump are not wanted. */
static struct symbol_dump *symbols_dump(struct btsrec *rec)
{
	return rec->no_dump_names ? NULL : dump_get(rec);
}

bool symbols_present(struct btsrec *rec)
{
	const struct symbols *symbols = rec->symbols.data;
	struct symbol_dump *dump;

	if (rec->has_resolver || (symbols && symbols->files))
		return true;
	dump = symbols_dump(rec);
	return dump && symbol_dump_kernel(dump, NULL);
}

bool symbols_bounded(struct btsrec *rec)
{
	const struct symbols *symbols = rec->symbols.data;
	struct symbol_dump *dump;

	if (rec->has_resolver || (symbols && symbols->files))
		return true;
	dump = dump_get(rec);
	return dump && symbol_dump_kernel(dump, NULL);
}

const char *symbols_missing(struct btsrec *rec)
{
	struct symbol_dump *dump;
	const char *why;

	if (symbols_present(rec) || rec->no_dump_names)
		return NULL;
	dump = symbols_dump(rec);
	if (!dump)
		return "out of memory";
	symbol_dump_kernel(dump, &why);
	return why;
}

bool symbols_clone(struct btsrec *clone, struct btsrec *rec)
{
	const struct symbols *symbols;
	struct symbols *ret;

	(void)dump_get(rec);
	symbols = rec->symbols.data;
	ret = symbols_get(clone);
	if (!ret)
		return false;
	ret->is_clone = true;
	ret->files = symbols ? symbols->files : NULL;
	if (!symbols || !symbols->dump)
		return true;
	ret->dump = symbol_dump_clone(symbols->dump, &clone->image, &clone->nomem);
	return ret->dump;
}

/* Ways that were noted know the bounds of functions that there were. */
static void names_changed(struct btsrec *rec)
{
	session_part_free(&rec->code);
}

void btsrec_set_resolver(struct btsrec *rec, const struct btsrec_resolver *resolver)
{
	names_changed(rec);
	rec->resolver = *resolver;
	rec->has_resolver = resolver->resolve;
}

void btsrec_set_dump_names(struct btsrec *rec, bool wanted)
{
	rec->no_dump_names = !wanted;
}

void btsrec_set_raw_names(struct btsrec *rec, bool wanted)
{
	rec->raw_names = wanted;
}

struct user *symbols_user(struct btsrec *rec)
{
	struct symbol_dump *dump = dump_get(rec);
	struct symbols *symbols = rec->symbols.data;
	struct user_source source = { .sysroot = "/", .debuginfo = "/usr/lib/debug",
				      .no_files = rec->no_paths,
				      .is_kept = rec->is_kept };

	if (rec->no_user)
		return NULL;
	if (!dump || symbols->user)
		return dump ? symbols->user : NULL;
	symbol_dump_kernel(dump, NULL);
	source.kread = symbol_dump_kread(dump);
	source.root = btsrec_root(rec);
	source.btf = symbol_dump_btf(dump);
	source.init_task_kva = symbol_dump_place(dump, SYMBOL_DUMP_INIT_TASK);
	if (rec->sysroot)
		source.sysroot = rec->sysroot;
	if (rec->debuginfo)
		source.debuginfo = rec->debuginfo;
	symbols->user = user_new(&source);
	if (!symbols->user)
		rec->nomem = true;
	return symbols->user;
}

struct user *symbols_user_names(struct btsrec *rec)
{
	return rec->no_dump_names ? NULL : symbols_user(rec);
}

bool symbols_user_present(struct btsrec *rec)
{
	struct user *user = symbols_user_names(rec);

	return user && !user_missing(user);
}

const char *symbols_user_missing(struct btsrec *rec)
{
	struct user *user = symbols_user(rec);

	if (rec->no_dump_names || rec->no_user || rec->no_paths)
		return NULL;
	return user ? user_missing(user) : "out of memory";
}

/* A copy of @text in *@place; NULL stays NULL. */
static bool replace_text(char **place, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		return false;
	free(*place);
	*place = copy;
	return true;
}

enum btsrec_status btsrec_set_files(struct btsrec *rec, const char *sysroot,
				    const char *debuginfo)
{
	const struct symbols *symbols = rec->symbols.data;
	enum btsrec_status status;

	if (symbols && symbols->user)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "user addresses have been named");
	status = filestore_check_folders(&rec->msg, sysroot, debuginfo);
	if (status)
		return status;
	if (!replace_text(&rec->sysroot, sysroot) || !replace_text(&rec->debuginfo, debuginfo))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	return BTSREC_OK;
}

/* --- From a file to a table --------------------------------------------- */

/* Where the file says the image is.  _stext itself is a symbol, so entries exist. */
static enum btsrec_status table_bounds(struct msg *msg, const struct symbol_list *list,
				       uint64_t *ret_begin_va, uint64_t *ret_end_va)
{
	const struct symbol_entry *begin = symbol_list_by_name(list, "_stext");
	const struct symbol_entry *end = symbol_list_by_name(list, "_end");

	if (!begin || !end)
		return msg_set(msg, BTSREC_ERR_CORRUPT, "no kernel symbols: %s is not there",
			       begin ? "_end" : "_stext");
	if (end->va <= begin->va || end->va - begin->va > KERNEL_IMAGE_MAX_BYTES)
		return msg_set(msg, BTSREC_ERR_CORRUPT,
			       "_end is not within 1 GiB after _stext");
	*ret_begin_va = begin->va;
	*ret_end_va = end->va;
	return BTSREC_OK;
}

static enum btsrec_status table_shift(struct msg *msg, const struct symbol_list *list,
				      const struct btsrec_root *root, uint64_t *ret_shift)
{
	char name[4 * sizeof(root->symbol_name) + 1];
	const struct symbol_entry *entry = symbol_list_by_name(list, root->symbol_name);

	escaped_copy(name, root->symbol_name, sizeof(root->symbol_name));
	if (!*name)
		return msg_set(msg, BTSREC_ERR_MISMATCH, "the recorder names no kernel symbol");
	if (!entry)
		return msg_set(msg, BTSREC_ERR_MISMATCH,
			       "symbols of another kernel: %s is not there", name);
	*ret_shift = root->symbol_kva - entry->va;
	if (*ret_shift % SYMBOL_KASLR_STEP_BYTES)
		return msg_set(msg, BTSREC_ERR_MISMATCH,
			       "symbols of another kernel: %s differs by %#llx, which is no "
			       "multiple of 2 MiB",
			       name, (unsigned long long)*ret_shift);
	return BTSREC_OK;
}

static enum btsrec_status file_table(struct btsrec *rec, struct symbol_list *list)
{
	struct symbols *symbols = symbols_get(rec);
	uint64_t begin_va = 0, end_va = 0, shift = 0;
	struct symbol_table *table;
	enum btsrec_status status = table_bounds(&rec->msg, list, &begin_va, &end_va);

	if (!status)
		status = table_shift(&rec->msg, list, btsrec_root(rec), &shift);
	if (status)
		return status;
	table = symbols ? symbol_table_new(list, begin_va, end_va) : NULL;
	if (!table)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	table->shift = shift;
	files_append(symbols, table);
	names_changed(rec);
	return BTSREC_OK;
}

enum btsrec_status symbol_file_finish(struct btsrec *rec, struct symbol_list *list,
				      const char *path)
{
	enum btsrec_status status = file_table(rec, list);

	return status ? msg_prepend(&rec->msg, status, "%s", path) : BTSREC_OK;
}

/* --- Lookup ------------------------------------------------------------- */

bool symbol_table_name_of(const struct symbol_table *table, uint64_t va, bool raw,
			  struct symbol_name *ret)
{
	typeof(&symbol_table_find) find = raw ? symbol_table_find : symbol_table_function;

	return find(table, va, &ret->name, &ret->name_bytes, &ret->offset_bytes);
}

/* A resolver does not say where a function is; what is in front of it ends where it begins. */
static uint64_t resolver_function(const struct btsrec *rec, uint64_t va,
				  const struct symbol_name *found)
{
	struct btsrec_symbol symbol;
	uint64_t start = va - found->offset_bytes;

	for (unsigned int i = 1; i < SYMBOL_FRONT_MAX_BYTES; i++)
		if (rec->resolver.resolve(rec->resolver.arg, start + i, &symbol) == BTSREC_OK &&
		    !symbol.offset_bytes)
			return start + i;
	return start;
}

/* Where the function begins that @symbol, a part at @va, was split off; @ret_va is kept if not. */
static void resolver_warm(const struct btsrec_resolver *resolver, uint64_t va,
			  struct btsrec_symbol *symbol, uint64_t *ret_va)
{
	size_t nr_bytes = strnlen(symbol->name, sizeof(symbol->name) - 1);
	size_t warm_bytes = symbol_warm_bytes(symbol->name, nr_bytes);

	if (warm_bytes == nr_bytes || !resolver->find)
		return;
	symbol->name[warm_bytes] = '\0';
	(void)resolver->find(resolver->arg, va, symbol->name, ret_va);
}

static void resolver_stem(const struct btsrec *rec, uint64_t va, struct btsrec_symbol *symbol,
			  struct symbol_name *ret)
{
	uint64_t start = va - ret->offset_bytes;
	size_t nr_bytes;
	const char *stem = symbol_stem(ret->name, ret->name_bytes, &nr_bytes);

	if (stem != ret->name)
		start = resolver_function(rec, va, ret);
	else
		resolver_warm(&rec->resolver, va, symbol, &start);
	ret->offset_bytes = va - start;
	ret->name = stem;
	ret->name_bytes = nr_bytes;
}

static bool resolver_find(const struct btsrec *rec, uint64_t va, bool raw,
			  struct symbol_name *ret)
{
	struct btsrec_symbol symbol;

	if (rec->resolver.resolve(rec->resolver.arg, va, &symbol) != BTSREC_OK)
		return false;
	/* cppcheck-suppress uninitvar ; the address of what is written next */
	ret->name = ret->buf.name;
	ret->name_bytes = escaped_copy(ret->buf.name, symbol.name, sizeof(symbol.name));
	ret->module = ret->buf.module;
	escaped_copy(ret->buf.module, symbol.module, sizeof(symbol.module));
	ret->offset_bytes = symbol.offset_bytes;
	if (!raw)
		resolver_stem(rec, va, &symbol, ret);
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

static bool files_find(const struct symbol_table *table, uint64_t va, bool raw,
		       struct symbol_name *ret)
{
	ret->module = "";
	for (; table; table = table->next)
		if (symbol_table_name_of(table, va, raw, ret))
			return true;
	return false;
}

static bool dump_find(struct symbol_dump *dump, uint64_t va, bool raw, struct symbol_name *ret)
{
	return dump && symbol_dump_find(dump, va, raw, ret);
}

/* @dump: NULL: not wanted, or out of memory. */
static bool find(struct btsrec *rec, struct symbol_dump *dump, uint64_t va, bool raw,
		 struct symbol_name *ret)
{
	const struct symbols *symbols = rec->symbols.data;

	if (rec->has_resolver && resolver_find(rec, va, raw, ret))
		return true;
	if (va < KERNEL_HALF_KVA)
		return false;
	return files_find(symbols ? symbols->files : NULL, va, raw, ret) ||
	       dump_find(dump, va, raw, ret) || module_find(rec, va, ret);
}

bool symbol_find_as(struct btsrec *rec, uint64_t va, bool raw, struct symbol_name *ret)
{
	return find(rec, symbols_dump(rec), va, raw, ret);
}

bool symbol_bounds(struct btsrec *rec, uint64_t va, bool raw, struct symbol_name *ret)
{
	return find(rec, dump_get(rec), va, raw, ret);
}

/* The modules that had that place before: older branches may be of them. */
static void add_gone(const struct btsrec *rec, uint64_t va, struct symbol_name *ret)
{
	const struct btsrec_module *gone = NULL;
	char name[4 * sizeof(gone->name) + 1];

	if (code_is_top(va) && rec->located)
		gone = located_module_gone(rec->located, va, NULL);
	if (!gone)
		return;
	/* The names of one are at the front already. */
	if (ret->module != ret->buf.module)
		snprintf(ret->buf.module, sizeof(ret->buf.module), "%s", ret->module);
	ret->module = ret->buf.module;
	for (; gone; gone = located_module_gone(rec->located, va, gone)) {
		size_t nr_bytes = strlen(ret->buf.module);

		escaped_copy(name, gone->name, sizeof(gone->name));
		snprintf(ret->buf.module + nr_bytes, sizeof(ret->buf.module) - nr_bytes, "|%s",
			 name);
	}
}

bool symbol_find(struct btsrec *rec, uint64_t va, struct symbol_name *ret)
{
	bool found = symbol_find_as(rec, va, rec->raw_names, ret);

	if (found)
		add_gone(rec, va, ret);
	return found;
}

void symbol_fetch(const struct btsrec *rec, uint64_t va)
{
	const struct symbols *symbols = rec->symbols.data;
	const struct symbol_table *table = symbols ? symbols->files : NULL;

	if (!table && symbols && symbols->dump)
		table = symbol_dump_known(symbols->dump);
	if (table && table->nr_symbols)
		symbol_table_fetch(table, va);
}

const struct symbol_table *symbols_table(const struct btsrec *rec, size_t i)
{
	const struct symbols *symbols = rec->symbols.data;
	const struct symbol_table *table = symbols ? symbols->files : NULL;

	if (rec->has_resolver || !symbols)
		return NULL;
	for (; table && i; i--)
		table = table->next;
	if (table || i || !symbols->dump || rec->no_dump_names)
		return table;
	return symbol_dump_table(symbols->dump, 0);
}

/* Addresses found by name: @nr of @max. */
struct found {
	uint64_t *vas;
	size_t nr;
	size_t max;
};

static void add_found(struct found *found, uint64_t va)
{
	for (size_t i = 0; i < found->nr; i++)
		if (found->vas[i] == va)
			return;
	if (found->nr < found->max)
		found->vas[found->nr++] = va;
}

/* All parts of a function are it, but for what is in front of it. */
static bool is_of_function(const struct symbol_table *table, size_t i, const char *name,
			   size_t name_bytes)
{
	size_t nr_bytes, stem_bytes;
	const char *its_name = symbol_table_name(table, i, &nr_bytes);

	if (nr_bytes <= name_bytes || its_name[name_bytes] != '.' ||
	    memcmp(its_name, name, name_bytes))
		return false;
	return symbol_stem(its_name, nr_bytes, &stem_bytes) == its_name && stem_bytes == name_bytes;
}

static void find_in_table(const struct symbol_table *table, const char *name, struct found *found)
{
	size_t name_bytes = strlen(name);
	uint64_t va;

	for (size_t at = 0; table && symbol_table_by_name(table, name, &at, &va);)
		add_found(found, va);
	for (size_t i = 0; table && i < table->nr_names; i++)
		if (is_of_function(table, i, name, name_bytes))
			add_found(found, symbol_table_va(table, i));
}

bool symbol_parse_address(const char *text, uint64_t *ret)
{
	char *end;

	if (strncmp(text, "0x", 2))
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 16);
	return !errno && !*end && end != text + 2;
}

size_t symbols_by_name(struct btsrec *rec, const char *name, uint64_t *ret, size_t max)
{
	struct found found = { .vas = ret, .max = max };
	struct symbol_dump *dump = symbols_dump(rec);
	const struct symbols *symbols = rec->symbols.data;
	const struct symbol_table *table;

	for (table = symbols ? symbols->files : NULL; table; table = table->next)
		find_in_table(table, name, &found);
	for (size_t i = 0; dump && i < symbol_dump_nr_tables(dump); i++)
		find_in_table(symbol_dump_table(dump, i), name, &found);
	return found.nr;
}

static bool give_name(const char *name, size_t name_bytes, symbols_name_fn fn, void *arg)
{
	char text[SYMBOL_NAME_MAX_BYTES + 1];

	if (name_bytes >= sizeof(text))
		return true;
	memcpy(text, name, name_bytes);
	text[name_bytes] = '\0';
	return fn(arg, text);
}

static bool give_names(const struct symbol_table *table, symbols_name_fn fn, void *arg)
{
	for (size_t i = 0; table && i < table->nr_names; i++) {
		size_t name_bytes, stem_bytes;
		const char *name = symbol_table_name(table, i, &name_bytes);
		const char *stem = symbol_stem(name, name_bytes, &stem_bytes);

		if (!give_name(name, name_bytes, fn, arg))
			return false;
		if (stem_bytes != name_bytes && !give_name(stem, stem_bytes, fn, arg))
			return false;
	}
	return true;
}

void symbols_each_name(struct btsrec *rec, symbols_name_fn fn, void *arg)
{
	struct symbol_dump *dump = symbols_dump(rec);
	const struct symbols *symbols = rec->symbols.data;
	bool more = true;

	for (const struct symbol_table *table = symbols ? symbols->files : NULL; table && more;
	     table = table->next)
		more = give_names(table, fn, arg);
	for (size_t i = 0; dump && more && i < symbol_dump_nr_tables(dump); i++)
		more = give_names(symbol_dump_table(dump, i), fn, arg);
}

bool symbols_object(struct btsrec *rec, uint64_t va, struct symbol_name *ret)
{
	struct symbol_dump *dump = symbols_dump(rec);

	return dump && symbol_dump_object(dump, va, ret);
}

const struct symbol_table *symbols_module(struct btsrec *rec, const struct btsrec_module *module)
{
	struct symbol_dump *dump = dump_get(rec);

	return dump ? symbol_dump_module(dump, module) : NULL;
}

const struct kread *symbols_kread(struct btsrec *rec)
{
	struct symbol_dump *dump = dump_get(rec);

	return dump ? symbol_dump_kread(dump) : NULL;
}

uint64_t symbols_place(struct btsrec *rec, enum symbol_dump_place place)
{
	struct symbol_dump *dump = dump_get(rec);

	if (!dump || !symbol_dump_kernel(dump, NULL))
		return 0;
	return symbol_dump_place(dump, place);
}

const struct symbol_table *symbols_kernel(struct btsrec *rec)
{
	struct symbol_dump *dump = symbols_dump(rec);

	return dump ? symbol_dump_table(dump, 0) : NULL;
}

const struct types *symbols_types(struct btsrec *rec, const char **ret_why)
{
	struct symbol_dump *dump = dump_get(rec);
	const struct types *types = NULL;
	const char *why = "the kernel's names are not known";

	if (dump && symbol_dump_kernel(dump, NULL))
		types = layout_types(symbol_dump_btf(dump), &why);
	if (!types)
		*ret_why = why;
	return types;
}

uint64_t symbols_cpu_place(struct btsrec *rec, enum symbol_dump_place place, const char *member)
{
	uint64_t at = symbols_place(rec, place), hot = symbols_place(rec, SYMBOL_DUMP_PCPU_HOT);
	const struct types *types;
	struct types_field field;
	const char *why;

	if (at || !hot)
		return at;
	types = symbols_types(rec, &why);
	return types && types_field(types, "pcpu_hot", member, &field) ? hot + field.offset_bytes :
									 0;
}

bool symbols_init(struct btsrec *rec, uint64_t va)
{
	struct symbol_dump *dump = dump_get(rec);

	return dump && symbol_dump_init(dump, va);
}

enum code_text symbols_text(struct btsrec *rec, uint64_t va)
{
	struct symbol_dump *dump = dump_get(rec);

	if (!dump || !code_is_top(va))
		return CODE_TEXT_STAYS;
	if (symbol_dump_site(dump, va))
		return CODE_TEXT_SITE;
	if (!symbol_dump_image(dump, va) && !located_module_stays(rec->located, va))
		return CODE_TEXT_ANEW;
	return symbol_dump_sites_known(dump, va) ? CODE_TEXT_STAYS : CODE_TEXT_MAYBE;
}

const char *symbol_why_str(enum symbol_why why)
{
	switch (why) {
	case SYMBOL_NAMED:	return "named";
	case SYMBOL_UNKNOWN:	return "unknown";
	case SYMBOL_MM_GONE:	return "mm gone";
	case SYMBOL_NOT_MAPPED:	return "not mapped";
	case SYMBOL_EXCLUDED:	return "page excluded";
	case SYMBOL_UNPROVEN:	return "file not proven";
	case SYMBOL_NO_FILE:	return "file not found";
	case SYMBOL_OTHER_FILE:	return "build-id differs";
	case SYMBOL_NO_SYMBOL:	return "no symbol";
	case SYMBOL_NOT_A_FILE:	return "not a file";
	}
	return "unknown";
}

bool symbol_find_in_as(struct btsrec *rec, const struct btsrec_side *side, uint64_t va, bool raw,
		       struct symbol_name *ret, enum symbol_why *ret_why)
{
	struct user *user;

	*ret_why = SYMBOL_NAMED;
	if (symbol_find_as(rec, va, raw, ret))
		return true;
	*ret_why = SYMBOL_UNKNOWN;
	if (va >= KERNEL_HALF_KVA || !side)
		return false;
	user = symbols_user_names(rec);
	if (!user)
		return false;
	ret->module = NULL;
	*ret_why = user_find(user, side->cr3, va, raw, ret);
	return ret->module;
}

bool symbol_find_in(struct btsrec *rec, const struct btsrec_side *side, uint64_t va,
		    struct symbol_name *ret, enum symbol_why *ret_why)
{
	bool found = symbol_find_in_as(rec, side, va, rec->raw_names, ret, ret_why);

	if (found)
		add_gone(rec, va, ret);
	return found;
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
