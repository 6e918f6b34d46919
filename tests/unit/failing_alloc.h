/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An allocator that fails once, at a chosen call.  Linked with --wrap, so that
 * it stands before every malloc, calloc, realloc, reallocarray, aligned_alloc, strdup,
 * asprintf and vasprintf of the program.
 */
#ifndef BTSREC_TESTS_UNIT_FAILING_ALLOC_H
#define BTSREC_TESTS_UNIT_FAILING_ALLOC_H

#include <stdbool.h>

/** failing_alloc_arm() - let the @nth allocation from now on fail, counted from 1. */
void failing_alloc_arm(unsigned int nth);

/** failing_alloc_watch() - @on_alloc is called before each allocation from now on; NULL: none is. */
void failing_alloc_watch(void (*on_alloc)(void));

/** failing_alloc_disarm() - Return: true if an allocation has failed since. */
bool failing_alloc_disarm(void);

#endif /* BTSREC_TESTS_UNIT_FAILING_ALLOC_H */
