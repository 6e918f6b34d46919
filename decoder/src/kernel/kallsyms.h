/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbol table that a kernel carries in its own memory (CONFIG_KALLSYMS), as
 * VMCOREINFO names its parts.  Pure: bytes of kernel memory in, symbols out.
 */
#ifndef BTSREC_KALLSYMS_H
#define BTSREC_KALLSYMS_H

#include "kernel/kread.h"
#include "base/status.h"
#include "base/symbol_table.h"

/**
 * struct kallsyms_where - the parts of the table, kernel virtual addresses
 * @relative_base_kva: 0: this kernel has none.
 */
struct kallsyms_where {
	uint64_t num_syms_kva;
	uint64_t names_kva;
	uint64_t token_table_kva;
	uint64_t token_index_kva;
	uint64_t offsets_kva;
	uint64_t relative_base_kva;
};

#define NR_KALLSYMS_KEYS	6

/** kallsyms_keys - the lines of VMCOREINFO with these, in their order */
extern const char *const kallsyms_keys[NR_KALLSYMS_KEYS];

/**
 * kallsyms_where() - take the addresses out of the text of VMCOREINFO
 * @vmcoreinfo: NUL-terminated, or NULL.
 *
 * Return: false if a part is missing (a kernel without kallsyms, a dump without
 * VMCOREINFO).
 */
bool kallsyms_where(const char *vmcoreinfo, struct kallsyms_where *ret);

/**
 * struct kallsyms_anchor - a symbol with a known address
 *
 * It decides which of the ways to store an address this kernel uses, and proves
 * that the table is this kernel's.
 */
struct kallsyms_anchor {
	const char *name;
	uint64_t kva;
};

/**
 * kallsyms_read() - all symbols of the table
 * @list: zero-filled by the caller, which frees it with symbol_list_fini() in every
 *	case.  Addresses are run-time addresses; that of a CPU's variable is in the area of
 *	the CPU (6.1 and 6.12), and 0 is not known.
 * @ret_names: what the names in @list point into, to free() after the list.
 *
 * Linux 6.1 to 7.2.  Sources: kernel/kallsyms.c and scripts/kallsyms.c; long names
 * since v6.1 (two bytes of length); 7.2 stores addresses without a common base.
 *
 * Return: BTSREC_OK; BTSREC_ERR_NODATA: a part is not in the dump;
 * BTSREC_ERR_CORRUPT: it is there, but is no table; BTSREC_ERR_MISMATCH: the anchor
 * is not in it, or elsewhere; BTSREC_ERR_NOMEM; @msg says which.
 */
enum btsrec_status kallsyms_read(const struct kread *kread, const struct kallsyms_where *where,
				 const struct kallsyms_anchor *anchor, struct msg *msg,
				 struct symbol_list *list, char **ret_names);

#endif /* BTSREC_KALLSYMS_H */
