/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which addresses of the kernel are in thunks, by the names of its symbols; and where thunks
 * without a name may be, which are known by their bytes.
 */
#ifndef BTSREC_RETPOLINE_H
#define BTSREC_RETPOLINE_H

#include "code/code.h"

struct btsrec;

/** retpoline_at() - the thunk that the kernel address @va is in, or may be in; @arg: the session */
enum code_thunk retpoline_at(void *arg, uint64_t va);

/** retpoline_where() - where retpoline_at() needs no asking; zero where names have no tables */
void retpoline_where(struct btsrec *rec, struct code_thunks *ret);

#endif /* BTSREC_RETPOLINE_H */
