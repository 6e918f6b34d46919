// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/code_impl.h"

#include <stdio.h>
#include <string.h>

#include "code/insn.h"

void code_decode_init(struct code *code)
{
	ZydisDecoderInit(&code->decoders[false], ZYDIS_MACHINE_MODE_LONG_64,
			 ZYDIS_STACK_WIDTH_64);
	ZydisDecoderInit(&code->decoders[true], ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
			 ZYDIS_STACK_WIDTH_32);
	ZydisFormatterInit(&code->formatter, ZYDIS_FORMATTER_STYLE_ATT);
	ZydisFormatterSetProperty(&code->formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	ZydisFormatterSetProperty(&code->formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
				  ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&code->formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING,
				  ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&code->formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING,
				  ZYDIS_PADDING_DISABLED);
}

static enum code_class class_of_mnemonic(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_WRMSR:
		return CODE_WRMSR;
	case ZYDIS_MNEMONIC_VMLAUNCH:
	case ZYDIS_MNEMONIC_VMRESUME:
		return CODE_VMENTRY;
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
		return CODE_TRAP;
	default:
		return CODE_PLAIN;
	}
}

static bool is_iret(ZydisMnemonic mnemonic)
{
	return mnemonic == ZYDIS_MNEMONIC_IRET || mnemonic == ZYDIS_MNEMONIC_IRETD ||
	       mnemonic == ZYDIS_MNEMONIC_IRETQ;
}

static enum code_class classify(const ZydisDecodedInstruction *insn)
{
	bool direct = insn->raw.imm[0].is_relative;

	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		/* The one relative operand that is taken only when something fails. */
		return insn->mnemonic == ZYDIS_MNEMONIC_XBEGIN ? CODE_PLAIN : CODE_COND;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return direct ? CODE_JUMP : CODE_JUMP_IND;
	case ZYDIS_CATEGORY_CALL:
		return direct ? CODE_CALL : CODE_CALL_IND;
	case ZYDIS_CATEGORY_RET:
		return is_iret(insn->mnemonic) ? CODE_IRET : CODE_RET;
	case ZYDIS_CATEGORY_SYSCALL:
		return CODE_SYSCALL;
	case ZYDIS_CATEGORY_SYSRET:
		return CODE_SYSRET;
	case ZYDIS_CATEGORY_INTERRUPT:
		/* BOUND goes on, or is a fault. */
		return insn->mnemonic == ZYDIS_MNEMONIC_BOUND ? CODE_PLAIN : CODE_INT;
	default:
		return class_of_mnemonic(insn->mnemonic);
	}
}

/* SDM vol. 2A, "INT n/INTO/INT3/INT1". */
static uint8_t vector_of(const ZydisDecodedInstruction *insn)
{
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_INT1:
		return 1;
	case ZYDIS_MNEMONIC_INT3:
		return 3;
	case ZYDIS_MNEMONIC_INTO:
		return 4;
	default:
		return (uint8_t)insn->raw.imm[0].value.u;
	}
}

/* @fault: why there are no more than @nr_bytes. */
static enum code_fault decode_any(const struct code *code, const uint8_t *bytes, size_t nr_bytes,
				  enum code_fault fault, uint64_t va, bool compat,
				  struct code_insn *ret)
{
	ZydisDecodedInstruction insn;

	memset(ret, 0, sizeof(*ret));
	ret->class = CODE_UNREADABLE;
	if (!nr_bytes || ZYAN_FAILED(ZydisDecoderDecodeInstruction(&code->decoders[compat], NULL,
								   bytes, nr_bytes, &insn))) {
		if (!compat && insn_newer(bytes, nr_bytes, ret))
			return CODE_OK;
		return fault ? fault : CODE_NO_INSN;
	}
	ret->class = classify(&insn);
	ret->length_bytes = insn.length;
	if (ret->class == CODE_INT)
		ret->vector = vector_of(&insn);
	if (ret->class >= CODE_COND && ret->class <= CODE_CALL && insn.raw.imm[0].is_relative) {
		ret->has_target = true;
		ret->target = va + insn.length + (uint64_t)insn.raw.imm[0].value.s;
		if (compat)
			ret->target = (uint32_t)ret->target;
	}
	return CODE_OK;
}

enum code_fault code_decode_in_page(const struct code *code, const struct code_page *page,
				    size_t offset, bool compat, struct code_insn *ret)
{
	const uint8_t *bytes = page->bytes + offset;
	size_t nr_bytes = page->valid_bytes - offset;
	uint64_t va = page->va + offset;

	if (nr_bytes < CODE_INSN_MAX_BYTES)
		return decode_any(code, bytes, nr_bytes, CODE_NO_INSN, va, compat, ret);
	if (!compat && insn_common(bytes, va, ret))
		return CODE_OK;
	return decode_any(code, bytes, CODE_INSN_MAX_BYTES, CODE_OK, va, compat, ret);
}

enum code_fault code_decode(struct code *code, uint64_t cr3, uint64_t va, bool compat,
			    struct code_insn *ret)
{
	const struct code_page *page = code_page_at(code, cr3, va);
	size_t offset = va % BTSREC_PAGE_BYTES, nr_bytes;
	uint8_t bytes[CODE_INSN_MAX_BYTES];
	enum code_fault fault;

	if (offset + CODE_INSN_MAX_BYTES <= page->valid_bytes)
		return code_decode_in_page(code, page, offset, compat, ret);
	fault = code_bytes(code, cr3, va, bytes, sizeof(bytes), &nr_bytes);
	return decode_any(code, bytes, nr_bytes, fault, va, compat, ret);
}

/* A function that only returns is one when it is called. */
static enum code_thunk thunk_there(struct code *code, uint64_t cr3, const struct code_insn *insn)
{
	enum code_thunk thunk = kernel_code_thunk(code, cr3, insn->target);

	return insn->class == CODE_CALL && !insn->here && thunk == CODE_THUNK_RETURN ?
		       CODE_NO_THUNK : thunk;
}

enum code_fault code_insn(struct code *code, uint64_t cr3, uint64_t va, bool compat,
			  struct code_insn *ret)
{
	enum code_fault fault = code_decode(code, cr3, va, compat, ret);

	if (fault)
		return fault;
	if (ret->class >= CODE_COND && ret->class <= CODE_RET && code_is_kernel(va))
		ret->here = kernel_code_thunk(code, cr3, va);
	if (ret->has_target && code_is_kernel(ret->target))
		ret->there = thunk_there(code, cr3, ret);
	return CODE_OK;
}

size_t code_text(struct code *code, uint64_t cr3, uint64_t va, bool compat, uint8_t *bytes,
		 char *text, size_t text_bytes)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	struct code_insn other;
	const char *newer;
	size_t nr_bytes;

	(void)code_bytes(code, cr3, va, bytes, CODE_INSN_MAX_BYTES, &nr_bytes);
	newer = compat ? NULL : insn_newer(bytes, nr_bytes, &other);
	if (newer) {
		snprintf(text, text_bytes, "%s", newer);
		return other.length_bytes;
	}
	if (!nr_bytes || ZYAN_FAILED(ZydisDecoderDecodeFull(&code->decoders[compat], bytes,
							    nr_bytes, &insn, operands)))
		return 0;
	if (ZYAN_FAILED(ZydisFormatterFormatInstruction(&code->formatter, &insn, operands,
							insn.operand_count_visible, text,
							text_bytes, va, NULL)))
		return 0;
	return insn.length;
}
