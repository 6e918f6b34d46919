// SPDX-License-Identifier: GPL-2.0-or-later
/* Instructions as rows of the table: what they are, what they read and what they write. */
#include <Zydis/Zydis.h>
#include <string.h>

#include "code/semantics.h"

#define SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* --- The table ---------------------------------------------------------- */

/** struct row - what @mnemonic does; @cc: its condition */
struct row {
	uint16_t mnemonic;
	uint8_t op;
	uint8_t cc;
};

#define ROW(name, op)	{ ZYDIS_MNEMONIC_##name, SEM_##op, 0 }
/* In the order of SDM vol. 1, appendix B, "EFLAGS Condition Codes". */
#define ROWS_CC(name, op)						\
	{ ZYDIS_MNEMONIC_##name##O, SEM_##op, 0 }, { ZYDIS_MNEMONIC_##name##NO, SEM_##op, 1 },	\
	{ ZYDIS_MNEMONIC_##name##B, SEM_##op, 2 }, { ZYDIS_MNEMONIC_##name##NB, SEM_##op, 3 },	\
	{ ZYDIS_MNEMONIC_##name##Z, SEM_##op, 4 }, { ZYDIS_MNEMONIC_##name##NZ, SEM_##op, 5 },	\
	{ ZYDIS_MNEMONIC_##name##BE, SEM_##op, 6 }, { ZYDIS_MNEMONIC_##name##NBE, SEM_##op, 7 }, \
	{ ZYDIS_MNEMONIC_##name##S, SEM_##op, 8 }, { ZYDIS_MNEMONIC_##name##NS, SEM_##op, 9 },	\
	{ ZYDIS_MNEMONIC_##name##P, SEM_##op, 10 }, { ZYDIS_MNEMONIC_##name##NP, SEM_##op, 11 }, \
	{ ZYDIS_MNEMONIC_##name##L, SEM_##op, 12 }, { ZYDIS_MNEMONIC_##name##NL, SEM_##op, 13 }, \
	{ ZYDIS_MNEMONIC_##name##LE, SEM_##op, 14 }, { ZYDIS_MNEMONIC_##name##NLE, SEM_##op, 15 }

static const struct row table[] = {
	ROW(MOV, MOV), ROW(MOVZX, MOV), ROW(MOVSX, MOVSX), ROW(MOVSXD, MOVSX), ROW(LEA, LEA),
	ROW(XCHG, XCHG), ROW(XADD, XADD),
	ROW(ADD, ADD), ROW(ADC, ADC), ROW(SUB, SUB), ROW(SBB, SBB), ROW(CMP, CMP),
	ROW(AND, AND), ROW(TEST, TEST), ROW(OR, OR), ROW(XOR, XOR),
	ROW(INC, INC), ROW(DEC, DEC), ROW(NEG, NEG), ROW(NOT, NOT),
	ROW(SHL, SHL), ROW(SHR, SHR), ROW(SAR, SAR), ROW(ROL, ROL), ROW(ROR, ROR),
	ROW(IMUL, IMUL), ROW(BSWAP, BSWAP), ROW(BT, BT), ROW(BTS, BTS), ROW(BTR, BTR),
	ROW(BTC, BTC), ROW(BSF, BSF), ROW(BSR, BSR), ROW(TZCNT, TZCNT), ROW(POPCNT, POPCNT),
	ROWS_CC(SET, SETCC), ROWS_CC(CMOV, CMOVCC), ROWS_CC(J, JCC),
	ROW(CBW, CBW), ROW(CWDE, CBW), ROW(CDQE, CBW), ROW(CWD, CWD), ROW(CDQ, CWD), ROW(CQO, CWD),
	ROW(PUSH, PUSH), ROW(POP, POP), ROW(PUSHFQ, PUSH), ROW(POPFQ, POP),
	ROW(CALL, CALL), ROW(RET, RET), ROW(LEAVE, LEAVE),
	ROW(JMP, JMP), ROW(SYSCALL, SYSCALL), ROW(IRETQ, IRET),
	ROW(STOSB, STRING), ROW(STOSW, STRING), ROW(STOSD, STRING), ROW(STOSQ, STRING),
	ROW(MOVSB, STRING), ROW(MOVSW, STRING), ROW(MOVSD, STRING), ROW(MOVSQ, STRING),
};

/* Leaves 64-bit code, or does to registers what its operands do not say. */
static bool is_cut(const ZydisDecodedInstruction *insn)
{
	switch (insn->meta.isa_set) {
	case ZYDIS_ISA_SET_RTM:
	case ZYDIS_ISA_SET_SGX:
	case ZYDIS_ISA_SET_SGX_ENCLV:
	case ZYDIS_ISA_SET_SMX:
	case ZYDIS_ISA_SET_SVM:
	case ZYDIS_ISA_SET_TDX:
	case ZYDIS_ISA_SET_UINTR:
		return true;
	default:
		break;
	}
	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_VTX:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
		return true;
	default:
		return insn->mnemonic == ZYDIS_MNEMONIC_RSM ||
		       insn->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
	}
}

static void find_row(const ZydisDecodedInstruction *insn, struct sem_insn *ret)
{
	for (size_t i = 0; i < SIZE(table); i++) {
		if (table[i].mnemonic != insn->mnemonic)
			continue;
		ret->op = table[i].op;
		ret->cc = table[i].cc;
		return;
	}
	ret->op = is_cut(insn) ? SEM_CUT : SEM_OTHER;
}

/* --- Decoding ----------------------------------------------------------- */

/* SEM_NO_REG: not a general register. */
static uint8_t reg_of(ZydisRegister reg)
{
	ZydisRegister wide = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (wide >= ZYDIS_REGISTER_RAX && wide <= ZYDIS_REGISTER_R15)
		return (uint8_t)(wide - ZYDIS_REGISTER_RAX);
	return SEM_NO_REG;
}

static uint8_t shift_of(ZydisRegister reg)
{
	return reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH ? 8 : 0;
}

static void note_reads(struct sem_insn *insn, ZydisRegister reg)
{
	uint8_t number = reg_of(reg);

	if (number != SEM_NO_REG)
		insn->reads |= 1U << number;
}

static void show(struct sem_insn *insn, ZydisRegister reg, bool read, bool written)
{
	struct sem_shown shown = { .reg = reg_of(reg), .shift = shift_of(reg),
				   .bytes = (uint8_t)(ZydisRegisterGetWidth(
					   ZYDIS_MACHINE_MODE_LONG_64, reg) / 8),
				   .read = read, .written = written };

	if (shown.reg == SEM_NO_REG || insn->nr_shown == SEM_MAX_SHOWN)
		return;
	for (unsigned int i = 0; i < insn->nr_shown; i++) {
		struct sem_shown *old = &insn->shown[i];

		if (old->reg == shown.reg && old->shift == shown.shift &&
		    old->bytes == shown.bytes) {
			old->read |= read;
			old->written |= written;
			return;
		}
	}
	insn->shown[insn->nr_shown++] = shown;
}

static void decode_register(const ZydisDecodedOperand *from, struct sem_insn *insn)
{
	uint8_t reg = reg_of(from->reg.value);
	bool read = from->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	bool written = from->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;

	if (reg == SEM_NO_REG)
		return;
	insn->reads |= (uint32_t)read << reg;
	insn->writes |= (uint32_t)written << reg;
	if (from->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN)
		show(insn, from->reg.value, read, written);
}

/* Pushes and pops have hidden ones: their place is said by what they are. */
static void decode_memory(const ZydisDecodedOperand *from, struct sem_insn *insn)
{
	const ZydisDecodedOperandMem *mem = &from->mem;
	uint32_t nr_bytes = from->size ? from->size / 8 : SEM_ANY_BYTES;

	note_reads(insn, mem->base);
	note_reads(insn, mem->index);
	if (from->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN) {
		if (from->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			insn->store_bytes = SEM_ANY_BYTES;
		return;
	}
	show(insn, mem->base, true, false);
	show(insn, mem->index, true, false);
	if (mem->type == ZYDIS_MEMOP_TYPE_VSIB || mem->type == ZYDIS_MEMOP_TYPE_MIB)
		nr_bytes = SEM_ANY_BYTES;
	insn->base = mem->base == ZYDIS_REGISTER_RIP ? SEM_NO_REG : reg_of(mem->base);
	insn->index = reg_of(mem->index);
	insn->scale = mem->scale;
	insn->disp = mem->disp.value;
	if (mem->base == ZYDIS_REGISTER_RIP)
		insn->disp += (int64_t)(insn->ip + insn->length_bytes);
	insn->segment = mem->segment == ZYDIS_REGISTER_FS || mem->segment == ZYDIS_REGISTER_GS;
	if (mem->type == ZYDIS_MEMOP_TYPE_AGEN)
		return;
	if (from->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		insn->load_bytes = nr_bytes;
	if (from->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		insn->store_bytes = nr_bytes;
}

static void decode_visible(const ZydisDecodedOperand *from, struct sem_operand *ret)
{
	ret->bytes = (uint8_t)(from->size / 8);
	if (from->type == ZYDIS_OPERAND_TYPE_REGISTER && reg_of(from->reg.value) != SEM_NO_REG) {
		ret->kind = SEM_REGISTER;
		ret->reg = reg_of(from->reg.value);
		ret->shift = shift_of(from->reg.value);
	} else if (from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		ret->kind = SEM_IMMEDIATE;
		ret->value = from->imm.is_signed ? (uint64_t)from->imm.value.s : from->imm.value.u;
	} else if (from->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		ret->kind = SEM_MEMORY;
	}
}

static void decode_flags(const ZydisDecodedInstruction *from, struct sem_insn *insn)
{
	const ZydisAccessedFlags *flags = from->cpu_flags;

	insn->keeps_flags = UINT32_MAX;
	if (!flags)
		return;
	insn->sets_flags = flags->set_1;
	insn->clears_flags = flags->set_0;
	insn->defines_flags = flags->modified & ~flags->undefined;
	insn->keeps_flags = ~(flags->modified | flags->set_0 | flags->set_1 | flags->undefined);
	if (flags->tested)
		insn->reads |= 1U << SEM_FLAGS;
	if (insn->keeps_flags != UINT32_MAX)
		insn->writes |= 1U << SEM_FLAGS;
}

/* What the table says of operands that it was not made for would be wrong: FS, segments, CR0. */
static void check_row(const ZydisDecodedInstruction *from, const ZydisDecodedOperand *operands,
		      struct sem_insn *insn)
{
	bool foreign = insn->op == SEM_POP && operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY;
	bool near = from->meta.branch_type != ZYDIS_BRANCH_TYPE_FAR;

	for (unsigned int i = 0; i < from->operand_count_visible && i < 3; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER && !insn->operands[i].kind)
			foreign = true;
	if (insn->op == SEM_CUT || insn->op == SEM_OTHER || insn->op == SEM_STRING)
		return;
	/* BSWAP of 16 bits is undefined. */
	if (foreign || (insn->op == SEM_BSWAP && insn->operands[0].bytes == 2))
		insn->op = SEM_OTHER;
	/* AMD and Intel differ in what a near one does with an operand size prefix. */
	if ((!near || from->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) &&
	    (insn->op == SEM_CALL || insn->op == SEM_RET || insn->op == SEM_JMP))
		insn->op = SEM_CUT;
	if ((insn->op == SEM_PUSH || insn->op == SEM_POP || insn->op == SEM_LEAVE) &&
	    from->operand_width != 64)
		insn->op = SEM_OTHER;
	if ((insn->op == SEM_XOR || insn->op == SEM_SUB) &&
	    insn->operands[0].kind == SEM_REGISTER && insn->operands[1].kind == SEM_REGISTER &&
	    insn->operands[0].reg == insn->operands[1].reg &&
	    insn->operands[0].shift == insn->operands[1].shift)
		insn->op = SEM_ZERO;
}

/* A system call and a return from an interrupt are in the table, and no cut. */
static void decode_operands(const ZydisDecodedInstruction *from,
			    const ZydisDecodedOperand *operands, struct sem_insn *insn)
{
	for (unsigned int i = 0; i < from->operand_count; i++) {
		if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
			decode_register(&operands[i], insn);
		else if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			decode_memory(&operands[i], insn);
		if (i < from->operand_count_visible && i < SIZE(insn->operands))
			decode_visible(&operands[i], &insn->operands[i]);
	}
}

bool sem_decode(const uint8_t *bytes, size_t nr_bytes, uint64_t ip, struct sem_insn *ret)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction from;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, bytes, nr_bytes, &from, operands)))
		return false;
	memset(ret, 0, sizeof(*ret));
	ret->ip = ip;
	ret->length_bytes = from.length;
	memcpy(ret->bytes, bytes, from.length);
	ret->base = ret->index = SEM_NO_REG;
	ret->address_bytes = from.address_width / 8;
	ret->operand_bytes = from.operand_width / 8;
	ret->repeats = from.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
					  ZYDIS_ATTRIB_HAS_REPNE);
	find_row(&from, ret);
	/* SDM vol. 2, NOP: the operand of a long one is there to make it longer. */
	if (from.mnemonic != ZYDIS_MNEMONIC_NOP)
		decode_operands(&from, operands, ret);
	decode_flags(&from, ret);
	check_row(&from, operands, ret);
	if (ret->op == SEM_CUT || ret->op == SEM_IRET)
		ret->writes = (1U << SEM_NR_REGS) - 1;
	if (ret->op == SEM_IRET)
		ret->writes = 1U << SEM_RSP | 1U << SEM_FLAGS;
	if (ret->op == SEM_CUT)
		ret->store_bytes = SEM_ANY_BYTES;
	return true;
}

const char *sem_shown_name(const struct sem_shown *shown)
{
	ZydisRegisterClass class = shown->bytes == 8 ? ZYDIS_REGCLASS_GPR64 :
				   shown->bytes == 4 ? ZYDIS_REGCLASS_GPR32 :
				   shown->bytes == 2 ? ZYDIS_REGCLASS_GPR16 : ZYDIS_REGCLASS_GPR8;
	uint8_t number = shown->reg;

	/* Of the bytes, AH to BH are numbers 4 to 7. */
	if (shown->bytes == 1 && (shown->shift || shown->reg >= 4))
		number += 4;
	return ZydisRegisterGetString(ZydisRegisterEncode(class, number));
}

const char *sem_reg_name(uint8_t reg)
{
	const struct sem_shown shown = { .reg = reg, .bytes = 8 };

	return sem_shown_name(&shown);
}
