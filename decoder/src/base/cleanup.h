/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree's one cleanup idiom: a local that owns something says so in its
 * declaration and is released at the end of its scope, on every path.
 */
#ifndef BTSREC_CLEANUP_H
#define BTSREC_CLEANUP_H

#include <stdlib.h>

static inline void cleanup_free(void *owner)
{
	free(*(void **)owner);
}

/* The local is a heap pointer that this scope owns. */
#define _cleanup_free_ __attribute__((cleanup(cleanup_free)))

/* Hand the pointer in @p to somebody else: its value, and @p becomes NULL. */
#define take_ptr(p)			\
({					\
	__typeof__(p) taken_ = (p);	\
	(p) = NULL;			\
	taken_;				\
})

#endif /* BTSREC_CLEANUP_H */
