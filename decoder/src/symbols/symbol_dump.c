// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/symbol_dump.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "kernel/gensyms.h"
#include "kernel/kallsyms_scan.h"
#include "kernel/kmodule.h"
#include "kernel/layout.h"
#include "kernel/modsyms.h"
#include "kernel/patch_sites.h"

/* Beyond any module there is; keeps the tables of a hostile map small. */
#define MODULE_TEXT_MAX_BYTES	(128ULL << 20)

/**
 * struct symbol_dump - what has been read so far
 * @clone_of: NULL, or whose @kernel and types of @btf these are.
 * @reading: locked by a clone that takes them.
 * @module_sites_known: @sites has those of all modules that are loaded.
 * @module_tried: per entry of the module map; @modules: NULL: no names; @room: for more of them.
 * @inits: per entry, of the code that initialises it; NULL: none is known.
 */
struct symbol_dump {
	struct symbol_dump *clone_of;
	pthread_mutex_t reading;
	const struct btsrec_image *image;
	const struct located *located;
	struct walk walk;
	struct kread kread;
	struct msg kernel_msg;
	bool kernel_tried;
	struct symbol_table *kernel;
	uint64_t places[SYMBOL_DUMP_NR_PLACES];
	struct layout_btf btf;
	bool *module_tried;
	struct symbol_table **modules;
	bool inits_tried;
	struct symbol_table **inits;
	struct modsyms_room room;
	bool gensyms_tried;
	struct gensyms gensyms;
	bool sites_tried;
	bool module_sites_known;
	struct patch_sites sites;
};

struct symbol_dump *symbol_dump_new(const struct btsrec_image *image,
				    const struct located *located, unsigned int nr_threads,
				    bool *nomem)
{
	struct symbol_dump *dump = calloc(1, sizeof(*dump));

	if (!dump)
		return NULL;
	pthread_mutex_init(&dump->reading, NULL);
	dump->image = image;
	dump->located = located;
	walk_init(&dump->walk, image, located->root.flags & BTSREC_ROOT_F_LA57);
	dump->kread = (struct kread){ image, located->root.phys_base,
				      located->root.kernel_pgd_pa, &dump->walk, nomem,
				      nr_threads };
	dump->btf.kernel = &dump->kread;
	dump->room = (struct modsyms_room)MODSYMS_ROOM;
	dump->module_tried = calloc(located->nr_modules + 1, sizeof(*dump->module_tried));
	dump->modules = calloc(located->nr_modules + 1, sizeof(*dump->modules));
	dump->inits = calloc(located->nr_modules + 1, sizeof(*dump->inits));
	if (dump->module_tried && dump->modules && dump->inits)
		return dump;
	symbol_dump_free(dump);
	return NULL;
}

void symbol_dump_free(struct symbol_dump *dump)
{
	size_t i;

	if (!dump)
		return;
	if (!dump->clone_of) {
		symbol_table_free(dump->kernel);
		layout_btf_fini(&dump->btf);
	}
	for (i = 0; dump->modules && dump->inits && i < dump->located->nr_modules; i++) {
		symbol_table_free(dump->modules[i]);
		symbol_table_free(dump->inits[i]);
	}
	free(dump->modules);
	free(dump->inits);
	free(dump->module_tried);
	gensyms_fini(&dump->gensyms);
	patch_sites_fini(&dump->sites);
	pthread_mutex_destroy(&dump->reading);
	free(dump);
}

/* --- The kernel --------------------------------------------------------- */

/*
 * Where the kernel's image is.  A kernel without CONFIG_KALLSYMS_ALL lists its
 * functions only, and then the end of its functions has to do.
 */
static bool kernel_bounds(const struct symbol_list *list, uint64_t *ret_begin_va,
			  uint64_t *ret_end_va)
{
	static const char *const ends[] = { "_end", "_einittext", "_etext" };
	const struct symbol_entry *begin = symbol_list_by_name(list, "_stext"), *end = NULL;
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]) && !end; i++)
		end = symbol_list_by_name(list, ends[i]);
	if (!begin || !end || end->va <= begin->va || end->va - begin->va > KREAD_IMAGE_BYTES)
		return false;
	*ret_begin_va = begin->va;
	*ret_end_va = end->va;
	return true;
}

/* By name, since another symbol may be the one to print at that address. */
static void kernel_places(struct symbol_dump *dump, const struct symbol_list *list)
{
	static const char *const names[SYMBOL_DUMP_NR_PLACES] = {
		[SYMBOL_DUMP_BTF] = "__start_BTF",
		[SYMBOL_DUMP_BTF_END] = "__stop_BTF",
		[SYMBOL_DUMP_INIT_TASK] = "init_task",
		[SYMBOL_DUMP_THUNK_ARRAY] = "__x86_indirect_thunk_array",
		[SYMBOL_DUMP_BPF_KALLSYMS] = "bpf_kallsyms",
		[SYMBOL_DUMP_FTRACE_TRAMPOLINES] = "ftrace_ops_trampoline_list",
		[SYMBOL_DUMP_KPROBE_SLOTS] = "kprobe_insn_slots",
		[SYMBOL_DUMP_KPROBE_OPTSLOTS] = "kprobe_optinsn_slots",
		[SYMBOL_DUMP_RODATA] = "__start_rodata",
		[SYMBOL_DUMP_RODATA_END] = "__end_rodata",
		[SYMBOL_DUMP_SCHED_TEXT] = "__sched_text_start",
		[SYMBOL_DUMP_SCHED_TEXT_END] = "__sched_text_end",
		[SYMBOL_DUMP_SOFTIRQ_TEXT] = "__softirqentry_text_start",
		[SYMBOL_DUMP_SOFTIRQ_TEXT_END] = "__softirqentry_text_end",
		[SYMBOL_DUMP_PANIC_CPU] = "panic_cpu",
		[SYMBOL_DUMP_RODATA_ENABLED] = "rodata_enabled",
		[SYMBOL_DUMP_PER_CPU_OFFSET] = "__per_cpu_offset",
		[SYMBOL_DUMP_THIS_CPU_OFF] = "this_cpu_off",
		[SYMBOL_DUMP_CPU_NUMBER] = "cpu_number",
		[SYMBOL_DUMP_CURRENT_TASK] = "current_task",
		[SYMBOL_DUMP_TOP_OF_STACK] = "cpu_current_top_of_stack",
		[SYMBOL_DUMP_HARDIRQ_STACK] = "hardirq_stack_ptr",
		[SYMBOL_DUMP_PREEMPT_COUNT] = "__preempt_count",
		[SYMBOL_DUMP_PCPU_HOT] = "pcpu_hot",
		[SYMBOL_DUMP_JUMP_TABLE] = "__start___jump_table",
		[SYMBOL_DUMP_JUMP_TABLE_END] = "__stop___jump_table",
		[SYMBOL_DUMP_CALL_SITES] = "__start_static_call_sites",
		[SYMBOL_DUMP_CALL_SITES_END] = "__stop_static_call_sites",
		[SYMBOL_DUMP_CYC2NS] = "cyc2ns",
		[SYMBOL_DUMP_CLOCK_STABLE] = "__sched_clock_stable",
		[SYMBOL_DUMP_CLOCK_OFFSET] = "__sched_clock_offset",
		[SYMBOL_DUMP_NATIVE_CLOCK] = "native_sched_clock",
		[SYMBOL_DUMP_PV_CLOCK] = "__SCK__pv_sched_clock",
		[SYMBOL_DUMP_PV_OPS] = "pv_ops",
		[SYMBOL_DUMP_RCU_DATA] = "rcu_data",
	};

	const struct symbol_entry *entries[SYMBOL_DUMP_NR_PLACES];

	symbol_list_by_names(list, names, SYMBOL_DUMP_NR_PLACES, entries);
	for (size_t i = 0; i < SYMBOL_DUMP_NR_PLACES; i++)
		dump->places[i] = entries[i] ? entries[i]->va : 0;
	dump->btf.begin_kva = dump->places[SYMBOL_DUMP_BTF];
	dump->btf.end_kva = dump->places[SYMBOL_DUMP_BTF_END];
}

uint64_t symbol_dump_place(const struct symbol_dump *dump, enum symbol_dump_place place)
{
	return dump->places[place];
}

struct layout_btf *symbol_dump_btf(struct symbol_dump *dump)
{
	return &dump->btf;
}

const struct kread *symbol_dump_kread(const struct symbol_dump *dump)
{
	return &dump->kread;
}

static enum btsrec_status kernel_table(struct symbol_dump *dump, struct symbol_list *list)
{
	uint64_t begin_va, end_va;

	kernel_places(dump, list);
	if (!kernel_bounds(list, &begin_va, &end_va))
		return msg_set(&dump->kernel_msg, BTSREC_ERR_CORRUPT,
			       "kallsyms does not say where the kernel begins and ends");
	dump->kernel = symbol_table_new(list, begin_va, end_va);
	if (!dump->kernel)
		return msg_set(&dump->kernel_msg, BTSREC_ERR_NOMEM, "out of memory");
	return BTSREC_OK;
}

static enum btsrec_status kernel_read_at(struct symbol_dump *dump,
					 const struct kallsyms_where *where)
{
	const struct btsrec_root *root = &dump->located->root;
	struct kallsyms_anchor anchor = { root->symbol_name, root->symbol_kva };
	_cleanup_free_ char *names = NULL;
	struct symbol_list list = { 0 };
	enum btsrec_status status;

	status = kallsyms_read(&dump->kread, where, &anchor, &dump->kernel_msg, &list, &names);
	if (!status)
		status = kernel_table(dump, &list);
	symbol_list_fini(&list);
	if (status == BTSREC_ERR_NOMEM)
		kread_nomem(&dump->kread);
	return status;
}

static enum btsrec_status kernel_read(struct symbol_dump *dump)
{
	struct kallsyms_where layouts[KALLSYMS_NR_LAYOUTS], where;
	enum btsrec_status status = BTSREC_ERR_NODATA;

	if (kallsyms_where(dump->image->vmcoreinfo, &where))
		return kernel_read_at(dump, &where);
	if (!kallsyms_scan(&dump->kread, dump->located->root.symbol_kva, layouts))
		return msg_set(&dump->kernel_msg, BTSREC_ERR_NODATA,
			       "VMCOREINFO does not say where kallsyms is");
	for (size_t i = 0; status && i < KALLSYMS_NR_LAYOUTS; i++)
		if (layouts[i].names_kva)
			status = kernel_read_at(dump, &layouts[i]);
	return status;
}

/* What the session has that @clone is of, which is used by clones alone. */
static void take_kernel(struct symbol_dump *clone)
{
	struct symbol_dump *dump = clone->clone_of;

	pthread_mutex_lock(&dump->reading);
	(void)symbol_dump_kernel(dump, NULL);
	(void)layout_types(&dump->btf, NULL);
	clone->kernel_msg = dump->kernel_msg;
	clone->kernel = dump->kernel;
	memcpy(clone->places, dump->places, sizeof(clone->places));
	clone->btf = dump->btf;
	clone->btf.kernel = &clone->kread;
	pthread_mutex_unlock(&dump->reading);
}

size_t symbol_dump_kernel(struct symbol_dump *dump, const char **ret_why)
{
	if (!dump->kernel_tried && dump->clone_of)
		take_kernel(dump);
	else if (!dump->kernel_tried)
		kernel_read(dump);
	dump->kernel_tried = true;
	if (ret_why)
		*ret_why = dump->kernel_msg.text;
	return dump->kernel ? dump->kernel->nr_symbols : 0;
}

struct symbol_dump *symbol_dump_clone(struct symbol_dump *dump, const struct btsrec_image *image,
				      bool *nomem)
{
	struct symbol_dump *clone = symbol_dump_new(image, dump->located, 1, nomem);

	if (clone)
		clone->clone_of = dump;
	return clone;
}

/* --- Modules ------------------------------------------------------------ */

static struct symbol_table *module_read(struct symbol_dump *dump, uint64_t kallsyms_kva,
					uint64_t begin_kva, uint64_t end_kva)
{
	_cleanup_free_ char *names = NULL;
	struct symbol_table *table = NULL;
	struct symbol_list list = { 0 };
	enum btsrec_status status;
	struct msg msg;

	status = modsyms_read(&dump->kread, kallsyms_kva, &msg, &list, &dump->room, &names);
	if (!status)
		table = symbol_table_new(&list, begin_kva, end_kva);
	if (status == BTSREC_ERR_NOMEM || (!status && !table))
		kread_nomem(&dump->kread);
	symbol_list_fini(&list);
	return table;
}

const struct symbol_table *symbol_dump_module(struct symbol_dump *dump,
					      const struct btsrec_module *module)
{
	size_t i = (size_t)(module - dump->located->modules);

	if (module->state != BTSREC_MODULE_LIVE || !module->kallsyms_kva ||
	    module->text_bytes > MODULE_TEXT_MAX_BYTES)
		return NULL;
	if (!dump->module_tried[i])
		dump->modules[i] = module_read(dump, module->kallsyms_kva, module->text_kva,
					       module->text_kva + module->text_bytes);
	dump->module_tried[i] = true;
	return dump->modules[i];
}

static bool find_of_module(const struct symbol_table *table, const struct btsrec_module *module,
			   uint64_t va, bool raw, struct symbol_name *ret)
{
	if (!table || !symbol_table_name_of(table, va, raw, ret))
		return false;
	ret->module = ret->buf.module;
	escaped_copy(ret->buf.module, module->name, sizeof(module->name));
	return true;
}

static bool module_find(struct symbol_dump *dump, uint64_t va, bool raw, struct symbol_name *ret)
{
	const struct btsrec_module *module = located_module_at(dump->located, va);
	const struct symbol_table *table = module ? symbol_dump_module(dump, module) : NULL;

	return find_of_module(table, module, va, raw, ret);
}

static bool is_being_loaded(const struct symbol_dump *dump, const struct btsrec_module *module)
{
	return module->state == BTSREC_MODULE_LIVE &&
	       kmodule_is_coming(&dump->kread, module->module_kva);
}

static void read_init(struct symbol_dump *dump, size_t i)
{
	const struct types *types = NULL;
	struct kmodule_init init;

	if (symbol_dump_kernel(dump, NULL))
		types = layout_types(&dump->btf, NULL);
	if (types &&
	    kmodule_init(&dump->kread, types, dump->located->modules[i].module_kva, &init))
		dump->inits[i] = module_read(dump, init.kallsyms_kva, init.begin_kva,
					     init.end_kva);
}

static void read_inits(struct symbol_dump *dump)
{
	for (size_t i = 0; i < dump->located->nr_modules; i++)
		if (is_being_loaded(dump, &dump->located->modules[i]))
			read_init(dump, i);
}

/* Of the code that initialises module @i, if that is under way. */
static const struct symbol_table *init_table(struct symbol_dump *dump, size_t i)
{
	if (!dump->inits_tried)
		read_inits(dump);
	dump->inits_tried = true;
	return dump->inits[i];
}

/* The module that the code at @va initialises, with its *@ret_table; NULL: none. */
static const struct btsrec_module *init_at(struct symbol_dump *dump, uint64_t va,
					   const struct symbol_table **ret_table)
{
	for (size_t i = 0; va >= KERNEL_HALF_KVA && i < dump->located->nr_modules; i++) {
		const struct symbol_table *table = init_table(dump, i);

		*ret_table = table;
		if (table && va - table->begin_va < table->end_va - table->begin_va)
			return &dump->located->modules[i];
	}
	return NULL;
}

bool symbol_dump_init(struct symbol_dump *dump, uint64_t va)
{
	const struct symbol_table *table;

	return init_at(dump, va, &table);
}

static bool init_find(struct symbol_dump *dump, uint64_t va, bool raw, struct symbol_name *ret)
{
	const struct symbol_table *table;
	const struct btsrec_module *module = init_at(dump, va, &table);

	return module && find_of_module(table, module, va, raw, ret);
}

static bool find_object(const struct symbol_list *list, uint64_t va, struct symbol_name *ret)
{
	for (size_t i = 0; i < list->nr_entries; i++) {
		const struct symbol_entry *entry = &list->entries[i];

		if (va - entry->va >= entry->nr_bytes)
			continue;
		ret->name = ret->buf.name;
		ret->name_bytes = escaped_copy(ret->buf.name, entry->name,
					       entry->name_bytes < sizeof(ret->buf.name) / 4 ?
						       entry->name_bytes :
						       sizeof(ret->buf.name) / 4);
		ret->offset_bytes = va - entry->va;
		return true;
	}
	return false;
}

static bool find_in_module(struct symbol_dump *dump, const struct btsrec_module *module,
			   uint64_t va, struct symbol_name *ret)
{
	struct modsyms_room room = MODSYMS_ROOM;
	_cleanup_free_ char *names = NULL;
	struct symbol_list list = { 0 };
	enum btsrec_status status;
	bool found = false;
	struct msg msg;

	status = modsyms_read(&dump->kread, module->kallsyms_kva, &msg, &list, &room, &names);
	if (status == BTSREC_ERR_NOMEM)
		kread_nomem(&dump->kread);
	if (!status)
		found = find_object(&list, va, ret);
	symbol_list_fini(&list);
	if (!found)
		return false;
	ret->module = ret->buf.module;
	escaped_copy(ret->buf.module, module->name, sizeof(module->name));
	return true;
}

bool symbol_dump_object(struct symbol_dump *dump, uint64_t va, struct symbol_name *ret)
{
	for (size_t i = 0; i < dump->located->nr_modules; i++) {
		const struct btsrec_module *module = &dump->located->modules[i];

		if (module->state == BTSREC_MODULE_LIVE && module->kallsyms_kva &&
		    find_in_module(dump, module, va, ret))
			return true;
	}
	return false;
}

/* --- Code that the kernel made ------------------------------------------- */

static void read_gensyms(struct symbol_dump *dump)
{
	struct gensyms_source source = {.kread = &dump->kread};

	if (!symbol_dump_kernel(dump, NULL))
		return;
	source.types = layout_types(&dump->btf, NULL);
	if (!source.types)
		return;
	source.bpf_kallsyms_kva = dump->places[SYMBOL_DUMP_BPF_KALLSYMS];
	source.ftrace_ops_trampoline_list_kva = dump->places[SYMBOL_DUMP_FTRACE_TRAMPOLINES];
	source.kprobe_insn_slots_kva = dump->places[SYMBOL_DUMP_KPROBE_SLOTS];
	source.kprobe_optinsn_slots_kva = dump->places[SYMBOL_DUMP_KPROBE_OPTSLOTS];
	gensyms_read(&source, &dump->gensyms);
}

static bool find_gensym(struct symbol_dump *dump, uint64_t va, struct symbol_name *ret)
{
	const struct gensym *sym;

	if (va < KERNEL_HALF_KVA)
		return false;
	if (!dump->gensyms_tried)
		read_gensyms(dump);
	dump->gensyms_tried = true;
	sym = gensyms_find(&dump->gensyms, va);
	if (!sym)
		return false;
	ret->name = sym->name;
	ret->name_bytes = strlen(sym->name);
	ret->module = sym->module;
	ret->offset_bytes = va - sym->start;
	return true;
}

/* --- Code that the kernel changes ---------------------------------------- */

static void read_sites(struct symbol_dump *dump)
{
	struct patch_table jumps, calls;
	const struct types *types;

	if (!symbol_dump_kernel(dump, NULL))
		return;
	jumps = (struct patch_table){ dump->places[SYMBOL_DUMP_JUMP_TABLE],
				      dump->places[SYMBOL_DUMP_JUMP_TABLE_END] };
	calls = (struct patch_table){ dump->places[SYMBOL_DUMP_CALL_SITES],
				      dump->places[SYMBOL_DUMP_CALL_SITES_END] };
	patch_sites_kernel(&dump->sites, &dump->kread, &jumps, &calls);
	types = layout_types(&dump->btf, NULL);
	dump->module_sites_known = types;
	for (size_t i = 0; types && i < dump->located->nr_modules; i++)
		if (dump->located->modules[i].state == BTSREC_MODULE_LIVE)
			dump->module_sites_known &=
				patch_sites_module(&dump->sites, &dump->kread, types,
						   dump->located->modules[i].module_kva);
	patch_sites_end(&dump->sites);
}

bool symbol_dump_site(struct symbol_dump *dump, uint64_t va)
{
	if (!dump->sites_tried)
		read_sites(dump);
	dump->sites_tried = true;
	return patch_sites_has(&dump->sites, va);
}

bool symbol_dump_sites_known(const struct symbol_dump *dump, uint64_t va)
{
	return located_module_at(dump->located, va) ? dump->module_sites_known :
						      dump->sites.complete;
}

bool symbol_dump_image(struct symbol_dump *dump, uint64_t va)
{
	const struct symbol_table *kernel = symbol_dump_kernel(dump, NULL) ? dump->kernel : NULL;

	if (!kernel)
		return va - KREAD_IMAGE_KVA < KREAD_IMAGE_BYTES;
	return va - kernel->begin_va < kernel->end_va - kernel->begin_va;
}

size_t symbol_dump_nr_tables(const struct symbol_dump *dump)
{
	return 1 + 2 * dump->located->nr_modules;
}

const struct symbol_table *symbol_dump_table(struct symbol_dump *dump, size_t i)
{
	size_t nr_modules = dump->located->nr_modules;

	if (i > nr_modules)
		return init_table(dump, i - nr_modules - 1);
	if (i)
		return symbol_dump_module(dump, &dump->located->modules[i - 1]);
	return symbol_dump_kernel(dump, NULL) ? dump->kernel : NULL;
}

const struct symbol_table *symbol_dump_known(const struct symbol_dump *dump)
{
	return dump->kernel;
}

static bool kernel_find(struct symbol_dump *dump, uint64_t va, bool raw, struct symbol_name *ret)
{
	if (va - KREAD_IMAGE_KVA >= KREAD_IMAGE_BYTES || !symbol_dump_kernel(dump, NULL))
		return false;
	ret->module = "";
	return symbol_table_name_of(dump->kernel, va, raw, ret);
}

bool symbol_dump_find(struct symbol_dump *dump, uint64_t va, bool raw, struct symbol_name *ret)
{
	return kernel_find(dump, va, raw, ret) || module_find(dump, va, raw, ret) ||
	       init_find(dump, va, raw, ret) || find_gensym(dump, va, ret);
}
