// SPDX-License-Identifier: GPL-2.0-or-later
#include <btsrec/dump.h>

#include "kernel/kallsyms.h"
#include "kernel/printk_ring.h"

#define NR_LOG_KEYS	(NR_PRINTK_MEMBERS + 1)

const char *btsrec_vmcoreinfo_key(size_t i)
{
	if (i < NR_KALLSYMS_KEYS)
		return kallsyms_keys[i];
	return i - NR_KALLSYMS_KEYS < NR_LOG_KEYS ? printk_ring_keys[i - NR_KALLSYMS_KEYS] : NULL;
}
