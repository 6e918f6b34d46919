/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which addresses of the kernel are in thunks, by the names of its symbols; and where thunks
 * without a name may be, which their bytes tell.
 */
#ifndef BTSREC_THUNKS_H
#define BTSREC_THUNKS_H

#include "code.h"

struct btsrec;

/** thunks_at() - the thunk that the kernel address @va is in, or may be in; @arg: the session */
enum code_thunk thunks_at(void *arg, uint64_t va);

/** thunks_at_shared() - the same, by any thread; @arg: a struct symbols_shared */
enum code_thunk thunks_at_shared(void *arg, uint64_t va);

/** thunks_where() - where thunks_at() needs no asking; all zero where names are not in tables */
void thunks_where(struct btsrec *rec, struct code_thunks *ret);

#endif /* BTSREC_THUNKS_H */
