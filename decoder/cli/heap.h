/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The heap of a program that answers one question and ends.  In some virtual machines a new page
 * costs a fault of 10 us.  There faults are half of the time until the first line.
 */
#ifndef BTSREC_CLI_HEAP_H
#define BTSREC_CLI_HEAP_H

/**
 * heap_expect_names() - names of a kernel are going to be read
 *
 * Worth 11 to 15 % of the processor time of `show --types` and `summary` in a virtual machine:
 * 4,500 page faults less.  The dump is of the emulated machine.
 *
 * Memory for them comes without a fault for each page: in large pages, where the system gives
 * them, when it is used; else now, and if the system has none, later.
 * From here on what is freed is used again, instead of given back to the system.  So the program
 * may have some 10 MiB more: not in a capture kernel.
 */
void heap_expect_names(void);

#endif /* BTSREC_CLI_HEAP_H */
