/* SPDX-License-Identifier: GPL-2.0-only */
/* What work.c calls in another file of the process. */
#ifndef BTSREC_TESTS_LIBRARY_H
#define BTSREC_TESTS_LIBRARY_H

unsigned int library_work(unsigned int value);

#endif
