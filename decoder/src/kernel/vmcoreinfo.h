/* SPDX-License-Identifier: GPL-2.0-or-later */
/* VMCOREINFO, the text in which a kernel says where its data is.  Pure. */
#ifndef BTSREC_VMCOREINFO_H
#define BTSREC_VMCOREINFO_H

#include <stdbool.h>
#include <stdint.h>

/**
 * vmcoreinfo_number() - what the line "@key=..." says
 * @text: NUL-terminated, or NULL; from the dump.
 * @key: as "SYMBOL(prb)", "OFFSET(printk_info.seq)".
 * @base: 16 for addresses, 10 for the rest (Documentation/admin-guide/kdump/vmcoreinfo.rst).
 *
 * Return: false: there is no such line, or no number in it.
 */
bool vmcoreinfo_number(const char *text, const char *key, int base, uint64_t *ret);

#endif /* BTSREC_VMCOREINFO_H */
