/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbols that the kernel keeps of a loaded module, in the module's own
 * memory.  Pure: bytes of kernel memory in, symbols out.
 */
#ifndef BTSREC_MODSYMS_H
#define BTSREC_MODSYMS_H

#include "kread.h"
#include "status.h"
#include "symbol_table.h"

/**
 * modsyms_read() - all functions and data in a module's struct mod_kallsyms
 * @kva: of the struct, as the recorder noted it.
 * @list: zero-filled by the caller, who frees it with symbol_list_fini() in every
 *	case.  Addresses are run-time addresses.
 * @ret_names: what the names in @list point into, to free() after the list.
 *
 * Local and global functions rank alike, since crash, which must choose the same
 * name, does not know the difference.
 *
 * Source: struct mod_kallsyms in include/linux/module.h, v6.1; used as it is by
 * find_kallsyms_symbol() in kernel/module/kallsyms.c.
 *
 * Return: BTSREC_OK; BTSREC_ERR_NODATA: a part is not in the dump;
 * BTSREC_ERR_CORRUPT; BTSREC_ERR_NOMEM; @msg says which.
 */
enum btsrec_status modsyms_read(const struct kread *kread, uint64_t kva, struct msg *msg,
				struct symbol_list *list, char **ret_names);

#endif /* BTSREC_MODSYMS_H */
