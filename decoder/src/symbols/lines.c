// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/filestore.h"
#include "kernel/kread.h"
#include "symbols/lines_files.h"
#include "symbols/lines_object.h"
#include "symbols/lines_user.h"
#include "symbols/symbol.h"

/* A power of two; 2 MiB. A history asks for some tens of thousands of addresses. */
#define CACHE_LINES	(1U << 16)

#define DEFAULT_DEBUG_PATH	"/usr/lib/debug"

/** struct cached - an answer; @cr3: 0 of kernel code; @line.number 0: no line; @va 0: none yet */
struct cached {
	uint64_t cr3;
	uint64_t va;
	struct line line;
};

/**
 * struct lines - of one session
 * @objects: the kernel, then the modules in the order of the module map; NULL before
 *	the first question.
 * @user: of mapped files.
 */
struct lines {
	char *vmlinux;
	char *debug_path;
	struct lines_object *objects;
	size_t nr_objects;
	struct lines_user *user;
	struct cached *cache;
};

/* --- Life --------------------------------------------------------------- */

static void lines_free(void *data)
{
	struct lines *lines = data;

	for (size_t i = 0; i < lines->nr_objects; i++)
		lines_object_fini(&lines->objects[i]);
	free(lines->objects);
	lines_user_free(lines->user);
	free(lines->cache);
	free(lines->vmlinux);
	free(lines->debug_path);
	free(lines);
}

static struct lines *lines_get(struct btsrec *rec)
{
	if (!rec->lines.data) {
		rec->lines.data = calloc(1, sizeof(struct lines));
		rec->lines.free = rec->lines.data ? lines_free : NULL;
	}
	return rec->lines.data;
}

static bool set_string(char **at, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return false;
	free(*at);
	*at = copy;
	return true;
}

enum btsrec_status btsrec_set_debuginfo(struct btsrec *rec, const char *vmlinux,
					const char *folders)
{
	struct lines *lines = lines_get(rec);

	if (lines && lines->objects)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "debug files have been looked for already");
	if (!lines || (vmlinux && !set_string(&lines->vmlinux, vmlinux)) ||
	    (folders && !set_string(&lines->debug_path, folders)))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	return BTSREC_OK;
}

bool lines_clone(struct btsrec *clone, const struct btsrec *rec)
{
	const struct lines *lines = rec->lines.data;

	return !lines || !btsrec_set_debuginfo(clone, lines->vmlinux, lines->debug_path);
}

/* Room for answers; false: out of memory, now as then. */
static bool lines_ready(struct lines *lines, const struct located *located)
{
	size_t nr_objects = located->nr_modules + 1;

	if (lines->objects)
		return true;
	if (!lines->debug_path && !set_string(&lines->debug_path, DEFAULT_DEBUG_PATH))
		return false;
	if (!lines->cache)
		lines->cache = calloc(CACHE_LINES, sizeof(*lines->cache));
	if (lines->cache)
		lines->objects = calloc(nr_objects, sizeof(*lines->objects));
	if (lines->objects)
		lines->nr_objects = nr_objects;
	return lines->objects;
}

/* --- Files -------------------------------------------------------------- */

static struct dwarf_build_id build_id(const uint8_t *bytes, size_t nr_bytes)
{
	return (struct dwarf_build_id){
		bytes, nr_bytes <= BTSREC_BUILD_ID_BYTES ? nr_bytes : 0
	};
}

static bool place_module(struct btsrec *rec, struct lines_object *object,
			 const struct btsrec_module *module)
{
	const struct symbol_table *table = symbols_module(rec, module);

	errno = 0;
	if (table && lines_place_module(&object->place, object->file, table))
		return true;
	rec->nomem |= errno == ENOMEM;
	return false;
}

static void object_place(struct btsrec *rec, struct lines_object *object,
			 const struct btsrec_module *module)
{
	const struct btsrec_root *root = &rec->located->root;

	if (module && !place_module(rec, object, module))
		object->why = "the dump does not say where its sections were";
	errno = 0;
	if (!module && !lines_place_kernel(&object->place, object->file, root->symbol_name,
					   root->symbol_kva))
		object->why = "its symbols are those of another kernel";
	if (!object->why)
		return;
	rec->nomem |= !module && errno == ENOMEM;
	dwarf_file_close(object->file);
	object->file = NULL;
}

void lines_object_fini(struct lines_object *object)
{
	dwarf_file_close(object->file);
	free(object->path);
}

/* No server has the file: which were asked? */
static const char *why_no_file(void)
{
	return filestore_has_servers() ?
		       "no file with debug information found, nor has a server of "
		       "DEBUGINFOD_URLS one" :
		       "no file with debug information found; DEBUGINFOD_URLS names no server "
		       "to ask";
}

void lines_object_fault(struct lines_object *object, enum dwarf_fault fault)
{
	object->why = fault == DWARF_NO_FILE ? why_no_file() : dwarf_fault_str(fault);
}

static void object_open(struct btsrec *rec, struct lines *lines, struct lines_object *object,
			const struct btsrec_module *module)
{
	const struct btsrec_root *root = &rec->located->root;
	struct lines_wanted wanted = {
		.release = root->release,
		.module = module ? module->name : NULL,
		.vmlinux = lines->vmlinux,
		.debug_path = lines->debug_path,
	};
	enum dwarf_fault fault;

	wanted.id = module ? build_id(module->build_id, module->build_id_bytes) :
		    build_id(root->build_id, root->build_id_bytes);
	fault = lines_file_find(&wanted, &object->path, &object->file);
	if (fault == DWARF_NO_MEMORY)
		rec->nomem = true;
	if (fault)
		lines_object_fault(object, fault);
	else
		object_place(rec, object, module);
}

static struct lines_object *kernel_at(struct btsrec *rec, struct lines *lines, uint64_t va,
				      uint64_t *ret_address)
{
	const struct btsrec_module *module = located_module_at(rec->located, va);
	struct lines_object *object;

	if (!module && va - KREAD_IMAGE_KVA >= KREAD_IMAGE_BYTES)
		return NULL;
	object = &lines->objects[module ? module - rec->located->modules + 1 : 0];
	if (!object->tried)
		object_open(rec, lines, object, module);
	object->tried = true;
	return object->file && lines_place_find(&object->place, va, ret_address) ? object : NULL;
}

/* What has the line of @va, at *@ret_address in its file; NULL: nothing. */
static struct lines_object *object_at(struct btsrec *rec, struct lines *lines, uint64_t cr3,
				      uint64_t va, uint64_t *ret_address)
{
	return code_is_kernel(va) ?
		       kernel_at(rec, lines, va, ret_address) :
		       lines_user_at(rec, &lines->user, lines->debug_path, cr3, va, ret_address);
}

/* --- Lines -------------------------------------------------------------- */

static struct line look_up(struct btsrec *rec, struct lines *lines, uint64_t cr3, uint64_t va)
{
	uint64_t address;
	struct lines_object *object = object_at(rec, lines, cr3, va, &address);
	struct line line = { 0 };

	errno = 0;
	if (object && !dwarf_file_line(object->file, address, &line.file, &line.number))
		line.number = 0;
	rec->nomem |= !line.number && errno == ENOMEM;
	return line;
}

bool line_find(struct btsrec *rec, uint64_t cr3, uint64_t va, struct line *ret)
{
	struct lines *lines = rec->located ? lines_get(rec) : NULL;
	struct cached *cached;

	if (code_is_kernel(va))
		cr3 = 0;
	if (rec->located && (!lines || !lines_ready(lines, rec->located)))
		rec->nomem = true;
	if (!lines || !lines->objects)
		return false;
	/* Fibonacci hashing: the multiplier is 2^64 divided by the golden ratio. */
	cached = &lines->cache[(va ^ cr3) * 0x9e3779b97f4a7c15ULL >> 48 & (CACHE_LINES - 1)];
	if (cached->va != va || cached->cr3 != cr3 || !va)
		*cached = (struct cached){ cr3, va, look_up(rec, lines, cr3, va) };
	if (!cached->line.number)
		return false;
	*ret = cached->line;
	return true;
}

size_t line_inlined(struct btsrec *rec, uint64_t cr3, uint64_t va, struct line_inlined *ret)
{
	struct dwarf_inlined inlined[LINE_MAX_INLINED];
	struct lines_object *object;
	uint64_t address;
	struct line line;
	size_t nr = 0;

	/* This opens the file. */
	if (!line_find(rec, cr3, va, &line))
		return 0;
	object = object_at(rec, rec->lines.data, cr3, va, &address);
	if (object)
		nr = dwarf_file_inlined(object->file, address, inlined, LINE_MAX_INLINED);
	for (size_t i = 0; i < nr; i++)
		ret[i] = (struct line_inlined){ inlined[i].function,
						{ inlined[i].file, inlined[i].line } };
	return nr;
}

static void missing_of(const struct lines_object *object, struct line_missing *ret)
{
	*ret = (struct line_missing){
		.module = "", .path = object->path ? object->path : "", .why = object->why
	};
}

bool lines_missing(struct btsrec *rec, size_t i, struct line_missing *ret)
{
	const struct lines *lines = rec->lines.data;
	const struct lines_user *user;
	size_t at;

	for (at = 0; lines && at < lines->nr_objects; at++) {
		const struct lines_object *object = &lines->objects[at];

		if (!object->tried || object->file || i--)
			continue;
		missing_of(object, ret);
		ret->module = at ? rec->located->modules[at - 1].name : "";
		return true;
	}
	for (user = lines ? lines->user : NULL; user; user = user->next) {
		if (user->object.file || i--)
			continue;
		missing_of(&user->object, ret);
		ret->mapped = user->name;
		return true;
	}
	return false;
}
