// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the table says must be what Zydis says, which decides: for every opcode, with each REX and
 * none, each ModRM and, where there is one, SIB with each base.  What follows those has no part in
 * it, so it is random.
 */
#include "code/insn.h"

#include "check_btsrec.h"

#include <Zydis/Zydis.h>

#define VA	0xffffffff81000000ULL

static ZydisDecoder decoder;
static uint64_t nr_known;
static uint64_t random_state;

/* xorshift64: the same numbers in each run. */
static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static enum code_class class_by_zydis(const ZydisDecodedInstruction *insn)
{
	bool direct = insn->raw.imm[0].is_relative;

	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return CODE_COND;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return direct ? CODE_JUMP : CODE_JUMP_IND;
	case ZYDIS_CATEGORY_CALL:
		return direct ? CODE_CALL : CODE_CALL_IND;
	case ZYDIS_CATEGORY_RET:
		return CODE_RET;
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT:
		return CODE_UNREADABLE;
	default:
		break;
	}
	/* These are not for the table. */
	if (insn->mnemonic == ZYDIS_MNEMONIC_WRMSR || insn->mnemonic == ZYDIS_MNEMONIC_UD0 ||
	    insn->mnemonic == ZYDIS_MNEMONIC_UD1 || insn->mnemonic == ZYDIS_MNEMONIC_UD2 ||
	    insn->mnemonic == ZYDIS_MNEMONIC_XBEGIN)
		return CODE_UNREADABLE;
	return CODE_PLAIN;
}

static bool same_by_zydis(const uint8_t *bytes, const struct code_insn *got)
{
	ZydisDecodedInstruction insn;
	uint64_t target = 0;

	if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, CODE_INSN_MAX_BYTES,
						      &insn)))
		return false;
	if (insn.raw.imm[0].is_relative)
		target = VA + insn.length + (uint64_t)insn.raw.imm[0].value.s;
	return got->length_bytes == insn.length && got->class == class_by_zydis(&insn) &&
	       got->has_target == insn.raw.imm[0].is_relative && got->target == target &&
	       got->here == CODE_NO_THUNK && got->there == CODE_NO_THUNK;
}

static void ck_same(const uint8_t *bytes)
{
	struct code_insn got;

	memset(&got, 0xff, sizeof(got));
	if (!insn_common(bytes, VA, &got))
		return;
	nr_known++;
	if (!same_by_zydis(bytes, &got))
		ck_abort_msg("%02x %02x %02x %02x %02x %02x: class %d, %d bytes", bytes[0],
			     bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], got.class,
			     got.length_bytes);
}

static void fill(uint8_t *bytes, size_t from)
{
	uint64_t labels[2] = {next_random(), next_random()};

	memcpy(bytes + from, labels, CODE_INSN_MAX_BYTES - from);
}

/* @at: where the ModRM byte is, if there is one. */
static void ck_operands(uint8_t *bytes, size_t at)
{
	for (unsigned int modrm = 0; modrm < 256; modrm++) {
		bool sib = modrm < 0xc0 && (modrm & 7) == 4;

		bytes[at] = (uint8_t)modrm;
		for (unsigned int base = 0; base < (sib ? 8 : 1); base++) {
			fill(bytes, at + 1);
			if (sib)
				bytes[at + 1] = (uint8_t)((bytes[at + 1] & ~7U) | base);
			ck_same(bytes);
		}
	}
}

/* 0: none */
static void ck_opcodes(unsigned int rex)
{
	uint8_t bytes[CODE_INSN_MAX_BYTES];
	size_t at = 0;

	if (rex)
		bytes[at++] = (uint8_t)rex;
	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		bytes[at] = (uint8_t)opcode;
		if (opcode != 0x0f)
			ck_operands(bytes, at + 1);
		for (unsigned int second = 0; opcode == 0x0f && second < 256; second++) {
			bytes[at + 1] = (uint8_t)second;
			ck_operands(bytes, at + 2);
		}
	}
}

static void setup(void)
{
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	random_state = 0x9e3779b97f4a7c15ULL;
	nr_known = 0;
}

START_TEST(all_opcodes)
{
	setup();
	ck_opcodes(0);
	for (unsigned int rex = 0x40; rex < 0x50; rex++)
		ck_opcodes(rex);
	/* It is about something: */
	ck_assert_uint_gt(nr_known, 1000000);
}
END_TEST

/* Prefixes in any order, and what has several. */
START_TEST(random_bytes)
{
	static const uint8_t often[] = { 0x0f, 0x26, 0x2e, 0x36, 0x3e, 0x48, 0x64, 0x65,
					 0x66, 0x67, 0xc4, 0xc5, 0x62, 0xf0, 0xf2, 0xf3 };

	setup();
	for (unsigned int n = 0; n < 500000; n++) {
		uint8_t bytes[CODE_INSN_MAX_BYTES];

		fill(bytes, 0);
		for (size_t i = 0; i < n % 4; i++)
			bytes[i] = often[bytes[i] % sizeof(often)];
		ck_same(bytes);
	}
	ck_assert_uint_gt(nr_known, 50000);
}
END_TEST

static const struct {
	const char *text;
	uint8_t bytes[CODE_INSN_MAX_BYTES];
	enum code_class class;
	uint8_t length_bytes;	/* 0: not of the table */
	uint64_t target;
} insns[] = {
	{ "jz +4", { 0x74, 0x02 }, CODE_COND, 2, 4 },
	{ "jnz far", { 0x0f, 0x85, 0x00, 0x01, 0x00, 0x00 }, CODE_COND, 6, 0x106 },
	{ "jmp -2", { 0xeb, 0xfc }, CODE_JUMP, 2, (uint64_t)-2 },
	{ "call", { 0xe8, 0xfb, 0x0f, 0x00, 0x00 }, CODE_CALL, 5, 0x1000 },
	{ "call *8(%rip)", { 0xff, 0x15, 0x08, 0x00, 0x00, 0x00 }, CODE_CALL_IND, 6, 0 },
	{ "jmp *%r11", { 0x41, 0xff, 0xe3 }, CODE_JUMP_IND, 3, 0 },
	{ "ret", { 0xc3 }, CODE_RET, 1, 0 },
	{ "movabs", { 0x48, 0xb8 }, CODE_PLAIN, 10, 0 },
	{ "mov 0x10(%rsp,%rcx),%rax", { 0x48, 0x8b, 0x44, 0x0c, 0x10 }, CODE_PLAIN, 5, 0 },
	{ "endbr64", { 0xf3, 0x0f, 0x1e, 0xfa }, CODE_PLAIN, 4, 0 },
	{ "mov %gs:0,%rax", { 0x65, 0x48, 0x8b, 0x04, 0x25 }, CODE_PLAIN, 0, 0 },
	{ "lock inc (%rax)", { 0xf0, 0xff, 0x00 }, CODE_PLAIN, 0, 0 },
	{ "lea %eax,%eax", { 0x8d, 0xc0 }, CODE_PLAIN, 0, 0 },
	{ "xbegin", { 0xc7, 0xf8 }, CODE_PLAIN, 0, 0 },
	{ "ud2", { 0x0f, 0x0b }, CODE_TRAP, 0, 0 },
};

START_TEST(single)
{
	for (size_t i = 0; i < sizeof(insns) / sizeof(insns[0]); i++) {
		struct code_insn got;
		bool known = insn_common(insns[i].bytes, VA, &got);

		ck_assert_msg(known == (insns[i].length_bytes != 0), "%s", insns[i].text);
		if (!known)
			continue;
		ck_assert_msg(got.class == insns[i].class, "%s: class %d", insns[i].text,
			      got.class);
		ck_assert_uint_eq(got.length_bytes, insns[i].length_bytes);
		ck_assert_int_eq(got.has_target, insns[i].target != 0);
		ck_assert_uint_eq(got.target, insns[i].target ? VA + insns[i].target : 0);
	}
}
END_TEST

BTSREC_CK_MAIN("insn", all_opcodes, random_bytes, single)
