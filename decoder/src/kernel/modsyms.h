/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbols that the kernel keeps of a loaded module, in the module's own
 * memory.  Pure: bytes of kernel memory in, symbols out.
 */
#ifndef BTSREC_MODSYMS_H
#define BTSREC_MODSYMS_H

#include "base/bounds.h"
#include "kernel/kread.h"
#include "base/status.h"
#include "base/symbol_table.h"

/**
 * struct modsyms_room - what the modules of a dump may still take, all together
 *
 * A large distribution's kernel with all that it can load has some hundred thousand symbols.
 * Without such a bound each module of a damaged map could claim the same memory.  The modules that
 * are asked about first have names then.
 */
struct modsyms_room {
	size_t nr_symbols;
	size_t names_bytes;
};

/** MODSYMS_ROOM - before the first module */
#define MODSYMS_ROOM { BOUND(1u << 21, 1u << 11), BOUND(128u << 20, 1u << 18) }

/**
 * modsyms_read() - all functions and data in a module's struct mod_kallsyms
 * @kva: of the struct, as the recorder noted it.
 * @list: zero-filled by the caller, which frees it with symbol_list_fini() in every
 *	case.  Addresses are run-time addresses; sizes are those of the module's file.
 * @room: what the module takes is taken from it, as far as it is read.
 * @ret_names: what the names in @list point into, to free() after the list.
 *
 * Local and global functions rank alike, since crash, which must choose the same
 * name, does not know the difference.
 *
 * Source: struct mod_kallsyms in include/linux/module.h, v6.1; used as it is by
 * find_kallsyms_symbol() in kernel/module/kallsyms.c.
 *
 * Return: BTSREC_OK; BTSREC_ERR_NODATA: a part is not in the dump;
 * BTSREC_ERR_CORRUPT, also if there is no room; BTSREC_ERR_NOMEM; @msg says which.
 */
enum btsrec_status modsyms_read(const struct kread *kread, uint64_t kva, struct msg *msg,
				struct symbol_list *list, struct modsyms_room *room,
				char **ret_names);

#endif /* BTSREC_MODSYMS_H */
