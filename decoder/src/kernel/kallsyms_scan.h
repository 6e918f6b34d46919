/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the kernel's symbol table is, for a dump whose VMCOREINFO does not say so: a hypervisor
 * has written it, or the kernel is older than v6.0.  The table is found by its own structure.
 */
#ifndef BTSREC_KALLSYMS_SCAN_H
#define BTSREC_KALLSYMS_SCAN_H

#include "kernel/kallsyms.h"

/* Orders of its parts and ways to store addresses that there have been, and two alignments. */
#define KALLSYMS_NR_LAYOUTS 6

/**
 * kallsyms_scan() - look for the table in the image of the kernel
 * @near_kva: an address in that image.
 * @ret: for each layout where the parts would be, all 0 if they are not; kallsyms_read() and its
 *	anchor show which one is right.
 *
 * The tokens of the ten digits stand beside each other, since each stands for itself; around them
 * are all 256, and an index of them.  Before them are the names, and markers after each 256.
 * Sources: scripts/kallsyms.c, v5.10 to v7.3.
 *
 * Return: false: it is not there, not in the dump, or out of memory, which @kread notes.
 */
bool kallsyms_scan(const struct kread *kread, uint64_t near_kva,
		   struct kallsyms_where ret[KALLSYMS_NR_LAYOUTS]);

#endif /* BTSREC_KALLSYMS_SCAN_H */
