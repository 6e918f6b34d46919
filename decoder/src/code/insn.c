// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/insn.h"

#include <string.h>

/**
 * struct shape - of the instructions of an opcode
 * @known: it has one.
 * @modrm: a ModRM byte follows, and what that asks for.
 * @group: instead, ModRM.reg decides, see groups.
 * @imm_bytes: of an immediate operand, the last; a branch leads as far from its end.
 */
struct shape {
	bool known;
	bool modrm;
	uint8_t group;
	uint8_t imm_bytes;
	enum code_class class : 8;
};

#define PLAIN(imm)	{ .known = true, .imm_bytes = (imm) }
#define MODRM(imm)	{ .known = true, .modrm = true, .imm_bytes = (imm) }
#define FLOW(c, imm)	{ .known = true, .imm_bytes = (imm), .class = (c) }
#define FLOW_MODRM(c)	{ .known = true, .modrm = true, .class = (c) }
#define GROUP(i)	{ .group = (i) }
/* The eight ways of an operation of two operands; the last two are prefixes or none. */
#define ARITHMETIC(op)	[op] = MODRM(0), [(op) + 1] = MODRM(0), [(op) + 2] = MODRM(0), \
			[(op) + 3] = MODRM(0), [(op) + 4] = PLAIN(1), [(op) + 5] = PLAIN(4)

#define REX_W		0x08
#define MOV_IMM		0xb8		/* to 0xbf: with REX.W of eight bytes, as no other */
#define LEA		0x8d		/* of memory only */

enum { NO_GROUP, MOV_8, MOV_32, TEST_8, TEST_32, INC_8, INC_JUMP, BIT_8, NOPS };

/* SDM vol. 2D, "Opcode Extensions for One-Byte and Two-byte Opcodes" */
static const struct shape groups[][8] = {
	[MOV_8] = { MODRM(1) },
	[MOV_32] = { MODRM(4) },
	[TEST_8] = { MODRM(1), [2 ... 7] = MODRM(0) },
	[TEST_32] = { MODRM(4), [2 ... 7] = MODRM(0) },
	[INC_8] = { MODRM(0), MODRM(0) },
	[INC_JUMP] = { MODRM(0), MODRM(0), FLOW_MODRM(CODE_CALL_IND),
		       [4] = FLOW_MODRM(CODE_JUMP_IND), [6] = MODRM(0) },
	[BIT_8] = { [4 ... 7] = MODRM(1) },
	[NOPS] = { MODRM(0) },
};

static const struct shape one_byte[256] = {
	ARITHMETIC(0x00), ARITHMETIC(0x08), ARITHMETIC(0x10), ARITHMETIC(0x18),
	ARITHMETIC(0x20), ARITHMETIC(0x28), ARITHMETIC(0x30), ARITHMETIC(0x38),
	[0x50 ... 0x5f] = PLAIN(0),			/* push, pop */
	[0x63] = MODRM(0),				/* movslq */
	[0x68] = PLAIN(4), [0x6a] = PLAIN(1),		/* push */
	[0x69] = MODRM(4), [0x6b] = MODRM(1),		/* imul */
	[0x70 ... 0x7f] = FLOW(CODE_COND, 1),
	[0x80] = MODRM(1), [0x81] = MODRM(4), [0x83] = MODRM(1),
	[0x84 ... 0x8b] = MODRM(0),			/* test, xchg, mov */
	[LEA] = MODRM(0),
	[0x90 ... 0x99] = PLAIN(0),			/* nop, xchg, cltq, cqto */
	[0x9c ... 0x9d] = PLAIN(0),			/* pushf, popf */
	[0xa4 ... 0xa7] = PLAIN(0),			/* movs, cmps */
	[0xa8] = PLAIN(1), [0xa9] = PLAIN(4),		/* test */
	[0xaa ... 0xaf] = PLAIN(0),			/* stos, lods, scas */
	[0xb0 ... 0xb7] = PLAIN(1),
	[0xb8 ... 0xbf] = PLAIN(4),
	[0xc0 ... 0xc1] = MODRM(1),			/* shifts */
	[0xc2] = FLOW(CODE_RET, 2), [0xc3] = FLOW(CODE_RET, 0),
	[0xc6] = GROUP(MOV_8), [0xc7] = GROUP(MOV_32),
	[0xc9] = PLAIN(0),				/* leave */
	[0xd0 ... 0xd3] = MODRM(0),			/* shifts */
	[0xe0 ... 0xe3] = FLOW(CODE_COND, 1),		/* loop, jrcxz */
	[0xe8] = FLOW(CODE_CALL, 4), [0xe9] = FLOW(CODE_JUMP, 4), [0xeb] = FLOW(CODE_JUMP, 1),
	[0xf6] = GROUP(TEST_8), [0xf7] = GROUP(TEST_32),
	[0xf8 ... 0xfd] = PLAIN(0),			/* clc, stc, cli, sti, cld, std */
	[0xfe] = GROUP(INC_8), [0xff] = GROUP(INC_JUMP),
};

/* Behind 0x0f. */
static const struct shape two_bytes[256] = {
	[0x1f] = GROUP(NOPS),
	[0x40 ... 0x4f] = MODRM(0),			/* cmov */
	[0x80 ... 0x8f] = FLOW(CODE_COND, 4),
	[0x90 ... 0x9f] = MODRM(0),			/* set */
	[0xa3] = MODRM(0), [0xab] = MODRM(0), [0xb3] = MODRM(0), [0xbb] = MODRM(0),
	[0xa4] = MODRM(1), [0xa5] = MODRM(0), [0xac] = MODRM(1), [0xad] = MODRM(0),
	[0xaf ... 0xb1] = MODRM(0),			/* imul, cmpxchg */
	[0xb6 ... 0xb7] = MODRM(0), [0xbe ... 0xbf] = MODRM(0),
	[0xba] = GROUP(BIT_8), [0xbc ... 0xbd] = MODRM(0),
	[0xc0 ... 0xc1] = MODRM(0),			/* xadd */
	[0xc8 ... 0xcf] = PLAIN(0),			/* bswap */
};

/* ModRM, SIB and displacement: SDM vol. 2A, "ModR/M and SIB Bytes". */
static unsigned int modrm_bytes(const uint8_t *at)
{
	static const uint8_t by_mod[] = { 1, 2, 5, 1 };
	unsigned int mod = at[0] >> 6, rm = at[0] & 7, nr_bytes = by_mod[mod];

	if (mod == 3)
		return nr_bytes;
	if (rm == 4) {
		rm = at[1] & 7;
		nr_bytes++;
	}
	return nr_bytes + (!mod && rm == 5 ? 4 : 0);
}

static uint64_t relative(const uint8_t *end, unsigned int imm_bytes)
{
	int32_t relative;

	if (imm_bytes == 1)
		return (uint64_t)(int8_t)end[-1];
	memcpy(&relative, end - sizeof(relative), sizeof(relative));
	return (uint64_t)relative;
}

/* The first instruction of most functions of a kernel that has IBT: F3 means no repetition. */
static bool is_endbr64(const uint8_t *bytes, struct code_insn *ret)
{
	if (memcmp(bytes, "\xf3\x0f\x1e\xfa", 4))
		return false;
	*ret = (struct code_insn){ .class = CODE_PLAIN, .length_bytes = 4 };
	return true;
}

/* NULL: another instruction, or none.  *@at is its opcode, afterwards the last byte of that. */
static const struct shape *shape_of(const uint8_t **at, uint8_t rex)
{
	static const struct shape mov_wide = PLAIN(8);
	const struct shape *shape = &one_byte[**at];

	if (**at == LEA && (*at)[1] >= 0xc0)
		return NULL;
	if (rex & REX_W && (**at & 0xf8) == MOV_IMM)
		return &mov_wide;
	if (**at == 0x0f)
		shape = &two_bytes[*++*at];
	if (shape->group)
		shape = &groups[shape->group][(*at)[1] >> 3 & 7];
	return shape->known ? shape : NULL;
}

bool insn_common(const uint8_t *bytes, uint64_t va, struct code_insn *ret)
{
	uint8_t rex = (bytes[0] & 0xf0) == 0x40 ? bytes[0] : 0;
	const uint8_t *at = bytes + !!rex;
	const struct shape *shape = shape_of(&at, rex);

	if (!shape)
		return is_endbr64(bytes, ret);
	at += 1 + (shape->modrm ? modrm_bytes(at + 1) : 0) + shape->imm_bytes;
	*ret = (struct code_insn){ .class = shape->class, .length_bytes = (uint8_t)(at - bytes) };
	ret->has_target = shape->class >= CODE_COND && shape->class <= CODE_CALL &&
			  shape->imm_bytes;
	if (ret->has_target)
		ret->target = va + ret->length_bytes + relative(at, shape->imm_bytes);
	return true;
}

#define NEWER_BYTES 4

/* SDM vol. 2; LKGS in the one form that Linux has (native_lkgs() of asm/special_insns.h). */
static const struct newer {
	uint8_t bytes[NEWER_BYTES];
	enum code_class class;
	const char *text;
} newer[] = {
	{ { 0xf3, 0x0f, 0x01, 0xca }, CODE_ERET, "eretu" },
	{ { 0xf2, 0x0f, 0x01, 0xca }, CODE_ERET, "erets" },
	{ { 0xf2, 0x0f, 0x00, 0xf7 }, CODE_PLAIN, "lkgs %edi" },
};

const char *insn_newer(const uint8_t *bytes, size_t nr_bytes, struct code_insn *ret)
{
	for (size_t i = 0; nr_bytes >= NEWER_BYTES && i < sizeof(newer) / sizeof(newer[0]); i++) {
		if (memcmp(bytes, newer[i].bytes, NEWER_BYTES))
			continue;
		ret->class = newer[i].class;
		ret->length_bytes = NEWER_BYTES;
		return newer[i].text;
	}
	return NULL;
}
