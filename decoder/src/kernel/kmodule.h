/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's struct module.  Code that runs once, while the module is loaded, lies apart from the
 * rest, and the kernel frees it when it has returned.  Pure: kernel memory in, numbers out.
 */
#ifndef BTSREC_KMODULE_H
#define BTSREC_KMODULE_H

#include "kernel/kread.h"
#include "kernel/types.h"

/**
 * struct kmodule_init - the code that runs once
 * @begin_kva, @end_kva: where it is.
 * @kallsyms_kva: the struct mod_kallsyms that the kernel looks into meanwhile: all symbols of the
 *	module are there, and later those of the rest only.
 */
struct kmodule_init {
	uint64_t begin_kva;
	uint64_t end_kva;
	uint64_t kallsyms_kva;
};

/**
 * kmodule_member() - read the member @path of the struct module at @kva
 * @path: see types_member(); of at most eight bytes.
 *
 * Return: false, with 0 in @ret: there is none, or it is not in the dump.
 */
bool kmodule_member(const struct kread *kernel, const struct types *types, uint64_t kva,
		    const char *path, uint64_t *ret);

/**
 * kmodule_is_coming() - has the struct module at @kva not been initialised yet?
 *
 * The answer needs no types: enum module_state is its first member.  It stays so where the code
 * that initialises it died.
 *
 * Source: include/linux/module.h and do_init_module() in kernel/module/main.c, v5.10 to v7.2.
 */
bool kmodule_is_coming(const struct kread *kernel, uint64_t kva);

/**
 * kmodule_init() - where the code is that initialises the struct module at @kva
 *
 * Source: include/linux/module.h: init_layout up to v6.3, mem[MOD_INIT_TEXT] since v6.4.
 *
 * Return: false: it has none, or that is not known.
 */
bool kmodule_init(const struct kread *kernel, const struct types *types, uint64_t kva,
		      struct kmodule_init *ret);

#endif /* BTSREC_KMODULE_H */
