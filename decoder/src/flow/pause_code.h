/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the code between two places of one function may do to registers, on any way.  Pure. */
#ifndef BTSREC_PAUSE_CODE_H
#define BTSREC_PAUSE_CODE_H

#include "code/semantics.h"

/** pause_insn_fn - the instruction at @ip; false: not known */
typedef bool (*pause_insn_fn)(void *arg, uint64_t ip, struct sem_insn *ret);

/**
 * pause_code_writes() - the registers that may change from @from to where @to comes first
 * @ret: a bit each.  Functions that are called change those that belong to them by the calling
 *	convention (System V ABI, AMD64 supplement, 3.2.1), and return.
 *
 * Only ways that stay in the function count: the others do not lead there.
 *
 * Return: false: not known.  The stack pointer may have moved, or there are too many ways.
 */
bool pause_code_writes(uint64_t from, uint64_t to, pause_insn_fn fn, void *arg, uint32_t *ret);

#endif /* BTSREC_PAUSE_CODE_H */
