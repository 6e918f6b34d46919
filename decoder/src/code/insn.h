/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commonest instructions, by a table of their opcodes.
 *
 * Most of what a kernel executes has no prefix but REX and a shape given by its
 * opcode: SDM vol. 2D, "Opcode Map".  Zydis, which knows all instructions, takes
 * twenty times as long for them.  The table holds only what is an instruction
 * whatever follows.
 */
#ifndef BTSREC_INSN_H
#define BTSREC_INSN_H

#include "code/code.h"

/**
 * insn_common() - the instruction at @va, in 64-bit code, if it is one of those
 * @bytes: CODE_INSN_MAX_BYTES of them.
 * @ret: if it is; without thunks.
 *
 * Return: false: it is another one, or none.
 */
bool insn_common(const uint8_t *bytes, uint64_t va, struct code_insn *ret);

/**
 * insn_newer() - the instruction of 64-bit code at @bytes, if it is one that kernels use and
 * Zydis 4.0 does not know
 * @ret: its class and length, if it is; all else stays.
 *
 * Return: its text, static; NULL: it is none of those.
 */
const char *insn_newer(const uint8_t *bytes, size_t nr_bytes, struct code_insn *ret);

#endif /* BTSREC_INSN_H */
