/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the kernel writes a branch over a NOP, or a NOP over a branch, while it runs: the tables
 * of static keys and of static calls.  Pure: kernel memory in, addresses out.
 *
 * Alternatives are no such places: the kernel settles them before their code runs.  Where ftrace
 * and kprobes write is in no table that stays in memory.
 */
#ifndef BTSREC_PATCH_SITES_H
#define BTSREC_PATCH_SITES_H

#include "kernel/kread.h"
#include "kernel/types.h"

/** struct patch_table - bytes @begin_kva up to @end_kva; both 0: not known */
struct patch_table {
	uint64_t begin_kva;
	uint64_t end_kva;
};

/**
 * struct patch_sites - @nr addresses of code, ascending; owned
 * @complete: all of the kernel's own are among them.
 */
struct patch_sites {
	uint64_t *list;
	size_t nr;
	size_t nr_room;
	bool complete;
};

/**
 * patch_sites_kernel() - add those of the kernel's image
 * @jumps: struct jump_entry, __start___jump_table to __stop___jump_table.
 * @calls: struct static_call_site, __start_static_call_sites to __stop_static_call_sites; kernels
 *	without CONFIG_HAVE_STATIC_CALL_INLINE have none.
 */
void patch_sites_kernel(struct patch_sites *sites, const struct kread *kernel,
			const struct patch_table *jumps, const struct patch_table *calls);

/**
 * patch_sites_module() - add those of the module with its struct module at @kva
 *
 * Return: all of them are added; false: the types do not have a module, or the dump lacks a part.
 */
bool patch_sites_module(struct patch_sites *sites, const struct kread *kernel,
			const struct types *types, uint64_t kva);

/** patch_sites_end() - nothing more is added: before the first question */
void patch_sites_end(struct patch_sites *sites);

/** patch_sites_has() - is there one at @va? */
bool patch_sites_has(const struct patch_sites *sites, uint64_t va);

/** patch_sites_fini() - free all and leave none */
void patch_sites_fini(struct patch_sites *sites);

#endif /* BTSREC_PATCH_SITES_H */
