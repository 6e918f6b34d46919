// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "insn.h"

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65:	/* segment */
	case 0x66: case 0x67: case 0xf0: case 0xf2: case 0xf3:
		return true;
	default:
		return byte >= 0x40 && byte <= 0x4f;	/* REX */
	}
}

/* Where the opcode is; @nr_bytes: there is none. */
static size_t opcode_at(const uint8_t *bytes, size_t nr_bytes)
{
	size_t i = 0;

	while (i < nr_bytes && is_prefix(bytes[i]))
		i++;
	return i;
}

static enum insn_class classify_0f(uint8_t opcode)
{
	switch (opcode) {
	case 0x05:		/* SYSCALL */
	case 0x07:		/* SYSRET */
	case 0x34:		/* SYSENTER */
	case 0x35:		/* SYSEXIT */
	case 0xaa:		/* RSM */
		return INSN_ALWAYS;
	case 0x22:
		return INSN_WRITE_CR;
	case 0x30:
		return INSN_WRMSR;
	case 0x32:
		return INSN_RDMSR;
	case 0x33:
		return INSN_RDPMC;
	case 0xa2:
		return INSN_CPUID;
	default:
		return opcode >= 0x80 && opcode <= 0x8f ? INSN_CONDITIONAL : INSN_OTHER;
	}
}

/* Group 5: /2 and /3 call, /4 and /5 jump through a register or memory. */
static enum insn_class classify_ff(uint8_t modrm)
{
	unsigned int op = (modrm >> 3) & 7;

	return op >= 2 && op <= 5 ? INSN_ALWAYS : INSN_OTHER;
}

static enum insn_class classify_opcode(uint8_t opcode)
{
	switch (opcode) {
	case 0xe0: case 0xe1: case 0xe2: case 0xe3:	/* LOOPcc, JrCXZ */
		return INSN_CONDITIONAL;
	case 0x9a: case 0xea:		/* far CALL and JMP, not in 64-bit mode */
	case 0xc2: case 0xc3:		/* RET */
	case 0xca: case 0xcb:		/* far RET */
	case 0xcf:			/* IRET */
	case 0xe8: case 0xe9: case 0xeb:
		return INSN_ALWAYS;
	default:
		return opcode >= 0x70 && opcode <= 0x7f ? INSN_CONDITIONAL : INSN_OTHER;
	}
}

/**
 * insn_classify() - what an instruction means to the model
 * @bytes: the instruction
 * @nr_bytes: its length; nothing after it is looked at
 *
 * INT n, INT3 and UD2 are INSN_OTHER: QEMU reports what they do as an exception.
 * In 32-bit code 0x40-0x4f are whole instructions (INC, DEC); taking them for a
 * REX prefix does no harm, because then no byte is left for an opcode.
 *
 * Source: Intel SDM vol. 2, appendix A, opcode maps.
 */
enum insn_class insn_classify(const uint8_t *bytes, size_t nr_bytes)
{
	size_t i = opcode_at(bytes, nr_bytes);

	if (i >= nr_bytes)
		return INSN_OTHER;
	if (bytes[i] == 0x0f)
		return i + 1 < nr_bytes ? classify_0f(bytes[i + 1]) : INSN_OTHER;
	if (bytes[i] == 0xff)
		return i + 1 < nr_bytes ? classify_ff(bytes[i + 1]) : INSN_OTHER;
	return classify_opcode(bytes[i]);
}

/**
 * insn_flow() - what a control transfer does to the call stack
 * @bytes: an instruction that insn_classify() calls a control transfer
 * @nr_bytes: its length
 */
enum insn_flow insn_flow(const uint8_t *bytes, size_t nr_bytes)
{
	size_t i = opcode_at(bytes, nr_bytes);

	if (i >= nr_bytes)
		return FLOW_OTHER;
	if (bytes[i] == 0xe8)
		return FLOW_CALL;
	if (bytes[i] == 0xc2 || bytes[i] == 0xc3)
		return FLOW_RET;
	if (bytes[i] == 0xcf)
		return FLOW_IRET;
	if (i + 1 >= nr_bytes)
		return FLOW_OTHER;
	if (bytes[i] == 0xff)
		return ((bytes[i + 1] >> 3) & 7) <= 3 ? FLOW_CALL : FLOW_OTHER;
	if (bytes[i] != 0x0f)
		return FLOW_OTHER;
	if (bytes[i + 1] == 0x05)
		return FLOW_SYSCALL;
	return bytes[i + 1] == 0x07 ? FLOW_SYSRET : FLOW_OTHER;
}

/**
 * insn_may_stay() - whether a control transfer is a direct one to itself
 * @bytes: an instruction that insn_classify() calls a control transfer
 * @nr_bytes: its length
 *
 * A CPU that is found at an instruction of another kind again has begun it anew.
 */
bool insn_may_stay(const uint8_t *bytes, size_t nr_bytes)
{
	int32_t wide = 0;
	size_t i = opcode_at(bytes, nr_bytes);

	if (i + 2 == nr_bytes)
		return bytes[i] != 0xff && (int8_t)bytes[i + 1] == -(int)nr_bytes;
	if (nr_bytes - i < 1 + sizeof(wide))
		return false;
	memcpy(&wide, bytes + nr_bytes - sizeof(wide), sizeof(wide));
	return bytes[i] != 0xff && wide == -(int)nr_bytes;
}

/**
 * insn_is_jcc() - whether an instruction is a conditional jump that tests flags
 * @bytes: the instruction
 * @nr_bytes: its length
 */
bool insn_is_jcc(const uint8_t *bytes, size_t nr_bytes)
{
	size_t i = opcode_at(bytes, nr_bytes);

	if (i >= nr_bytes)
		return false;
	if (bytes[i] == 0x0f)
		return i + 1 < nr_bytes && bytes[i + 1] >= 0x80 && bytes[i + 1] <= 0x8f;
	return bytes[i] >= 0x70 && bytes[i] <= 0x7f;
}

/**
 * insn_fuses() - whether an instruction is a CMP or TEST, which runs as one with a Jcc behind it
 * @bytes: the instruction
 * @nr_bytes: its length
 *
 * Source: AMD, "Software Optimization Guide for the AMD Zen4 Microarchitecture", "Branch Fusion".
 * Others fuse, too, and there are conditions; these are enough to have such branches.
 */
bool insn_fuses(const uint8_t *bytes, size_t nr_bytes)
{
	unsigned int op;
	size_t i = opcode_at(bytes, nr_bytes);

	if (i + 1 >= nr_bytes)
		return false;
	op = bytes[i + 1] >> 3 & 7;
	switch (bytes[i]) {
	case 0x38: case 0x39: case 0x3a: case 0x3b: case 0x3c: case 0x3d:	/* CMP */
	case 0x84: case 0x85: case 0xa8: case 0xa9:				/* TEST */
		return true;
	case 0x80: case 0x81: case 0x83:
		return op == 7;
	case 0xf6: case 0xf7:
		return op == 0;
	default:
		return false;
	}
}

/** insn_repeats() - whether it is a string instruction with REP, as written in @bytes */
bool insn_repeats(const uint8_t *bytes, size_t nr_bytes)
{
	bool rep = false;
	size_t i = 0;

	for (; i < nr_bytes && is_prefix(bytes[i]); i++)
		rep |= bytes[i] == 0xf2 || bytes[i] == 0xf3;
	return rep && i < nr_bytes &&
	       ((bytes[i] >= 0xa4 && bytes[i] <= 0xa7) || (bytes[i] >= 0xaa && bytes[i] <= 0xaf));
}
