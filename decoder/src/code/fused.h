/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BTSREC_FUSED_H
#define BTSREC_FUSED_H

#include "code/code.h"

/**
 * fused_find_branch() - let @record come from the branch that ran as one with what is at its "from"
 * @cr3: the address space for user addresses; 0: unknown.
 *
 * No guess: it changes only if an instruction is there that goes on to the next one, and that is a
 * conditional jump to @record->to.
 */
void fused_find_branch(struct code *code, uint64_t cr3, struct btsrec_record *record);

#endif /* BTSREC_FUSED_H */
