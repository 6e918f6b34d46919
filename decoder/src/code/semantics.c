// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/semantics.h"

#include <Zydis/Zydis.h>
#include <string.h>

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
	ROW(PUSH, PUSH), ROW(POP, POP), ROW(CALL, CALL), ROW(RET, RET), ROW(LEAVE, LEAVE),
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

/* --- Known bits --------------------------------------------------------- */

static uint64_t bits(unsigned int nr)
{
	return nr < 64 ? (1ULL << nr) - 1 : UINT64_MAX;
}

static struct known known_none(void)
{
	return (struct known){ 0, 0 };
}

/* The lowest @nr bits, and above them zeros. */
static struct known low(struct known from, unsigned int nr)
{
	return (struct known){ from.value & bits(nr), from.mask | ~bits(nr) };
}

static struct known known_only(struct known from, uint64_t mask)
{
	return (struct known){ from.value & mask, from.mask & mask };
}

static struct known known_not(struct known a)
{
	return (struct known){ ~a.value & a.mask, a.mask };
}

static struct known known_and(struct known a, struct known b)
{
	uint64_t zeros = (a.mask & ~a.value) | (b.mask & ~b.value);

	return (struct known){ a.value & b.value, zeros | (a.mask & b.mask) };
}

static struct known known_or(struct known a, struct known b)
{
	return known_not(known_and(known_not(a), known_not(b)));
}

static struct known known_xor(struct known a, struct known b)
{
	uint64_t mask = a.mask & b.mask;

	return (struct known){ (a.value ^ b.value) & mask, mask };
}

/* A bit of a sum is known where both bits and the carry into it are. */
static struct known add_carry(struct known a, struct known b, struct known carry)
{
	uint64_t a_max = a.value | ~a.mask, b_max = b.value | ~b.mask;
	uint64_t max = a_max + b_max + (carry.mask & 1 ? carry.value & 1 : 1);
	uint64_t min = a.value + b.value + (carry.value & carry.mask & 1);
	uint64_t carry_zero = ~(max ^ a_max ^ b_max), carry_one = min ^ a.value ^ b.value;
	uint64_t mask = a.mask & b.mask & (carry_zero | carry_one);

	return (struct known){ min & mask, mask };
}

struct known known_add(struct known a, struct known b, bool carry)
{
	return add_carry(a, b, known_all(carry));
}

static struct known known_sub(struct known a, struct known b)
{
	return known_add(a, known_not(b), true);
}

static struct known sign_extend(struct known from, unsigned int nr)
{
	struct known sign = { from.value >> (nr - 1) & 1, from.mask >> (nr - 1) & 1 };
	struct known ret = known_only(from, bits(nr));

	if (sign.mask) {
		ret.mask |= ~bits(nr);
		ret.value |= sign.value ? ~bits(nr) : 0;
	}
	return ret;
}

bool sem_merge(struct known *to, struct known from, bool *contradiction)
{
	uint64_t news = from.mask & ~to->mask;

	if (to->mask & from.mask & (to->value ^ from.value)) {
		*contradiction = true;
		return false;
	}
	to->mask |= news;
	to->value |= from.value & news;
	return news;
}

/* --- Operands ----------------------------------------------------------- */

static void merge(struct sem_state *state, struct known *to, struct known from)
{
	(void)sem_merge(to, from, &state->contradiction);
}

static struct known part(const struct known *reg, const struct sem_operand *operand)
{
	struct known from = { reg->value >> operand->shift, reg->mask >> operand->shift };

	return low(from, operand->bytes * 8U);
}

struct known sem_address(const struct sem_insn *insn, const struct sem_state *state)
{
	struct known sum = known_all((uint64_t)insn->disp), index;

	if (insn->base != SEM_NO_REG)
		sum = known_add(sum, *state->before[insn->base], false);
	if (insn->index != SEM_NO_REG) {
		index = *state->before[insn->index];
		/* What was shifted in is known. */
		index.mask = index.mask * insn->scale | (insn->scale - 1U);
		index.value *= insn->scale;
		index.value &= index.mask;
		sum = known_add(sum, index, false);
	}
	return insn->address_bytes == 8 ? sum : low(sum, insn->address_bytes * 8U);
}

/* Of an operand as it is read. */
static struct known get(const struct sem_insn *insn, const struct sem_state *state, unsigned int i)
{
	const struct sem_operand *operand = &insn->operands[i];

	switch (operand->kind) {
	case SEM_REGISTER:
		return part(state->before[operand->reg], operand);
	case SEM_IMMEDIATE:
		return known_all(operand->value);
	case SEM_MEMORY:
		return low(state->load ? *state->load : known_none(), operand->bytes * 8U);
	default:
		return known_none();
	}
}

/* Of an operand as it is written. */
static struct known got(const struct sem_insn *insn, const struct sem_state *state, unsigned int i)
{
	const struct sem_operand *operand = &insn->operands[i];

	if (operand->kind == SEM_REGISTER)
		return part(state->behind[operand->reg], operand);
	return low(operand->kind == SEM_MEMORY && state->store ? *state->store : known_none(),
		   operand->bytes * 8U);
}

static struct known placed(const struct sem_operand *operand, struct known value)
{
	uint64_t width = bits(operand->bytes * 8U);

	return (struct known){ (value.value & width) << operand->shift,
			       (value.mask & width) << operand->shift };
}

/* It turns out what operand @i was. */
static void was(const struct sem_insn *insn, struct sem_state *state, unsigned int i,
		struct known value)
{
	const struct sem_operand *operand = &insn->operands[i];

	if (operand->kind == SEM_REGISTER)
		merge(state, state->before[operand->reg], placed(operand, value));
	else if (operand->kind == SEM_MEMORY && state->load)
		merge(state, state->load, placed(operand, value));
}

/* Operand @i becomes @value: what of the register is not written stays, or is cleared. */
static void becomes(const struct sem_insn *insn, struct sem_state *state, unsigned int i,
		    struct known value)
{
	const struct sem_operand *operand = &insn->operands[i];
	uint64_t kept = ~(bits(operand->bytes * 8U) << operand->shift);
	struct known *before, *behind;

	if (operand->kind == SEM_MEMORY && state->store)
		merge(state, state->store, placed(operand, value));
	if (operand->kind != SEM_REGISTER)
		return;
	before = state->before[operand->reg];
	behind = state->behind[operand->reg];
	merge(state, behind, placed(operand, value));
	if (operand->bytes == 4) {
		merge(state, behind, (struct known){ 0, kept });
	} else if (kept && before != behind) {
		merge(state, behind, known_only(*before, kept));
		merge(state, before, known_only(*behind, kept));
	}
}

static unsigned int width(const struct sem_insn *insn)
{
	return insn->operands[0].bytes * 8U;
}

/* --- Flags -------------------------------------------------------------- */

static struct known flag_of(const struct known *flags, uint64_t flag)
{
	return (struct known){ (flags->value & flag) != 0, ((flags->mask & flag) != 0) | ~1ULL };
}

static void flag(struct known *flags, uint64_t flag, bool known, bool value)
{
	if (!known)
		return;
	flags->mask |= flag;
	flags->value |= value ? flag : 0;
}

/* Zero, sign and parity of a result. */
static struct known result_flags(const struct sem_insn *insn, struct known result)
{
	unsigned int nr = width(insn);
	struct known flags = known_none();
	uint64_t ones = result.value & bits(nr);

	flag(&flags, SEM_ZF, ones || known_is_all(result, nr), !ones);
	flag(&flags, SEM_SF, result.mask >> (nr - 1) & 1, result.value >> (nr - 1) & 1);
	flag(&flags, SEM_PF, known_is_all(result, 8), !__builtin_parityll(result.value & 0xff));
	return flags;
}

static void set_flags(const struct sem_insn *insn, struct sem_state *state, struct known flags)
{
	merge(state, state->behind[SEM_FLAGS], known_only(flags, insn->defines_flags));
}

/* Is a + b + carry above @nr bits?  By its least and its greatest possible value. */
static void carry_flag(struct known *flags, struct known a, struct known b, struct known carry,
		       unsigned int nr)
{
	unsigned __int128 min = (unsigned __int128)(a.value & bits(nr)) + (b.value & bits(nr)) +
				(carry.value & carry.mask & 1);
	unsigned __int128 max = (unsigned __int128)((a.value | ~a.mask) & bits(nr)) +
				((b.value | ~b.mask) & bits(nr)) +
				(carry.mask & 1 ? carry.value & 1 : 1);

	flag(flags, SEM_CF, min >> nr == max >> nr, (bool)(min >> nr));
}

/* Flags of @a + @b + @carry = @r; @borrow: b and carry are those of a subtraction, inverted. */
static struct known sum_flags(const struct sem_insn *insn, struct known a, struct known b,
			      struct known carry, struct known r, bool borrow)
{
	unsigned int nr = width(insn);
	struct known flags = result_flags(insn, r), signs, fours;

	carry_flag(&flags, a, b, carry, nr);
	signs = known_and(known_not(known_xor(a, b)), known_xor(a, r));
	flag(&flags, SEM_OF, signs.mask >> (nr - 1) & 1, signs.value >> (nr - 1) & 1);
	fours = known_xor(known_xor(a, b), r);
	flag(&flags, SEM_AF, fours.mask >> 4 & 1, fours.value >> 4 & 1);
	if (borrow)
		flags.value ^= flags.mask & (SEM_CF | SEM_AF);
	return flags;
}

/* SDM vol. 1, appendix B: a condition is one of eight, or its opposite. */
static struct known condition(const struct known *flags, uint8_t cc)
{
	struct known less = known_xor(flag_of(flags, SEM_SF), flag_of(flags, SEM_OF));
	struct known of[] = {
		flag_of(flags, SEM_OF), flag_of(flags, SEM_CF), flag_of(flags, SEM_ZF),
		known_or(flag_of(flags, SEM_CF), flag_of(flags, SEM_ZF)), flag_of(flags, SEM_SF),
		flag_of(flags, SEM_PF), less, known_or(flag_of(flags, SEM_ZF), less),
	};
	struct known ret = of[cc / 2];

	ret.value ^= cc & 1 & ret.mask;
	return known_only(ret, 1);
}

/* It turns out that condition @cc was @holds. */
static void condition_was(struct sem_state *state, uint8_t cc, bool holds)
{
	static const uint64_t single[] = { SEM_OF, SEM_CF, SEM_ZF, 0, SEM_SF, SEM_PF, 0, 0 };
	struct known *flags = state->before[SEM_FLAGS];
	uint64_t flag = single[cc / 2];
	bool base = holds ^ (cc & 1);

	if (flag)
		merge(state, flags, (struct known){ base ? flag : 0, flag });
	else if (cc / 2 == 3 && !base)
		merge(state, flags, (struct known){ 0, SEM_CF | SEM_ZF });
	else if (cc / 2 == 7 && !base)
		merge(state, flags, (struct known){ 0, SEM_ZF });
}

/* --- Arithmetic --------------------------------------------------------- */

/* r = a + b + carry over the width of the operands, each from the two others. */
static void apply_add(const struct sem_insn *insn, struct sem_state *state, struct known carry)
{
	struct known a = get(insn, state, 0), b = get(insn, state, 1), r;
	unsigned int nr = width(insn);

	becomes(insn, state, 0, add_carry(a, b, carry));
	r = got(insn, state, 0);
	set_flags(insn, state, sum_flags(insn, low(a, nr), low(b, nr), carry, r, false));
	if (carry.mask & 1) {
		was(insn, state, 0, known_sub(r, add_carry(b, known_all(0), carry)));
		was(insn, state, 1, known_sub(r, add_carry(a, known_all(0), carry)));
	}
}

/* r = a - b - borrow = a + ~b + !borrow. */
static void apply_sub(const struct sem_insn *insn, struct sem_state *state, struct known borrow)
{
	struct known a = get(insn, state, 0), b = get(insn, state, 1), r;
	struct known carry = { (borrow.value ^ 1) & borrow.mask & 1, borrow.mask & 1 };
	unsigned int nr = width(insn);

	becomes(insn, state, 0, add_carry(a, known_not(b), carry));
	r = got(insn, state, 0);
	set_flags(insn, state,
		  sum_flags(insn, low(a, nr), low(known_not(b), nr), carry, r, true));
	if (carry.mask & 1) {
		was(insn, state, 0, add_carry(r, b, known_all(borrow.value & 1)));
		was(insn, state, 1, add_carry(a, known_not(r), carry));
	}
}

/* What is compared equal is the same. */
static void apply_cmp(const struct sem_insn *insn, struct sem_state *state)
{
	struct known a = get(insn, state, 0), b = get(insn, state, 1);
	unsigned int nr = width(insn);
	struct known r = low(known_sub(a, b), nr), zero = flag_of(state->behind[SEM_FLAGS], SEM_ZF);

	set_flags(insn, state,
		  sum_flags(insn, low(a, nr), low(known_not(b), nr), known_all(1), r, true));
	if (!(zero.mask & zero.value & 1))
		return;
	was(insn, state, 0, b);
	was(insn, state, 1, a);
}

static void apply_test(const struct sem_insn *insn, struct sem_state *state)
{
	struct known a = get(insn, state, 0), b = get(insn, state, 1), zero;

	set_flags(insn, state, result_flags(insn, low(known_and(a, b), width(insn))));
	zero = flag_of(state->behind[SEM_FLAGS], SEM_ZF);
	if (!(zero.mask & zero.value & 1))
		return;
	if (insn->operands[0].kind == SEM_REGISTER && insn->operands[1].kind == SEM_REGISTER &&
	    insn->operands[0].reg == insn->operands[1].reg &&
	    insn->operands[0].shift == insn->operands[1].shift)
		was(insn, state, 0, known_all(0));
	else
		was(insn, state, 0, (struct known){ 0, b.mask & b.value });
}

/* Where one bit decides nothing, the result says what the other one was. */
static void apply_and_or(const struct sem_insn *insn, struct sem_state *state)
{
	struct known a = get(insn, state, 0), b = get(insn, state, 1), r;
	bool is_and = insn->op == SEM_AND;
	struct known known = is_and ? known_and(a, b) : known_or(a, b);
	uint64_t passes_a, passes_b, decided;

	becomes(insn, state, 0, known);
	r = got(insn, state, 0);
	set_flags(insn, state, result_flags(insn, low(r, width(insn))));
	passes_a = b.mask & (is_and ? b.value : ~b.value);
	passes_b = a.mask & (is_and ? a.value : ~a.value);
	decided = r.mask & (is_and ? r.value : ~r.value);
	was(insn, state, 0, known_only(r, passes_a | decided));
	was(insn, state, 1, known_only(r, passes_b | decided));
}

static void apply_xor(const struct sem_insn *insn, struct sem_state *state)
{
	struct known a = get(insn, state, 0), b = get(insn, state, 1), r;

	becomes(insn, state, 0, known_xor(a, b));
	r = got(insn, state, 0);
	set_flags(insn, state, result_flags(insn, low(r, width(insn))));
	was(insn, state, 0, known_xor(r, b));
	was(insn, state, 1, known_xor(r, a));
}

static void apply_zero(const struct sem_insn *insn, struct sem_state *state)
{
	struct known flags = result_flags(insn, known_all(0));

	flag(&flags, SEM_CF | SEM_OF | SEM_AF, true, false);
	becomes(insn, state, 0, known_all(0));
	set_flags(insn, state, flags);
}

/* INC and DEC: @by 1 and -1; they leave CF alone. */
static void apply_step(const struct sem_insn *insn, struct sem_state *state, uint64_t by)
{
	struct known a = get(insn, state, 0), b = known_all(by), r;
	unsigned int nr = width(insn);
	bool down = by != 1;

	becomes(insn, state, 0, known_add(a, b, false));
	r = got(insn, state, 0);
	set_flags(insn, state, sum_flags(insn, a, low(b, nr), known_all(0), low(r, nr), down));
	was(insn, state, 0, known_sub(r, b));
}

static void apply_neg(const struct sem_insn *insn, struct sem_state *state)
{
	struct known a = get(insn, state, 0), r, zero = known_all(0);
	unsigned int nr = width(insn);

	becomes(insn, state, 0, known_sub(zero, a));
	r = got(insn, state, 0);
	set_flags(insn, state, sum_flags(insn, zero, low(known_not(a), nr), known_all(1), r, true));
	was(insn, state, 0, known_sub(zero, r));
}

static void apply_not(const struct sem_insn *insn, struct sem_state *state)
{
	becomes(insn, state, 0, known_not(get(insn, state, 0)));
	was(insn, state, 0, known_not(got(insn, state, 0)));
}

/* --- Shifts ------------------------------------------------------------- */

static struct known shift_left(struct known a, unsigned int by)
{
	return (struct known){ a.value << by, a.mask << by | bits(by) };
}

static struct known shift_right(struct known a, unsigned int by)
{
	return (struct known){ a.value >> by, by ? a.mask >> by | ~(UINT64_MAX >> by) : a.mask };
}

static struct known rotate_left(struct known a, unsigned int by, unsigned int nr)
{
	uint64_t value = a.value & bits(nr), mask = a.mask & bits(nr);

	if (!by)
		return a;
	return low((struct known){ value << by | value >> (nr - by),
				   mask << by | mask >> (nr - by) }, nr);
}

/* The last bit that left. */
static struct known shift_flags(const struct sem_insn *insn, struct known a, struct known r,
				unsigned int by)
{
	unsigned int nr = width(insn);
	unsigned int at = insn->op == SEM_SHL ? nr - by : by - 1;
	struct known flags = result_flags(insn, r);

	if (by <= nr)
		flag(&flags, SEM_CF, a.mask >> at & 1, a.value >> at & 1);
	return flags;
}

static void shift_by(const struct sem_insn *insn, struct sem_state *state, unsigned int by)
{
	unsigned int nr = width(insn);
	struct known a = get(insn, state, 0), r;

	if (insn->op == SEM_SHL)
		becomes(insn, state, 0, by < 64 ? shift_left(a, by) : known_all(0));
	else if (insn->op == SEM_SHR)
		becomes(insn, state, 0, shift_right(a, by));
	else
		becomes(insn, state, 0, (struct known){
			(uint64_t)((int64_t)sign_extend(a, nr).value >> by),
			(uint64_t)((int64_t)sign_extend(a, nr).mask >> by) });
	r = got(insn, state, 0);
	set_flags(insn, state, shift_flags(insn, a, low(r, nr), by));
	if (by >= nr)
		return;
	if (insn->op == SEM_SHL)
		was(insn, state, 0, known_only(shift_right(r, by), bits(nr - by)));
	else
		was(insn, state, 0, known_only(shift_left(low(r, nr), by), bits(nr) & ~bits(by)));
}

static void rotate_by(const struct sem_insn *insn, struct sem_state *state, unsigned int by)
{
	unsigned int nr = width(insn);

	by %= nr;
	if (insn->op == SEM_ROR)
		by = (nr - by) % nr;
	becomes(insn, state, 0, rotate_left(get(insn, state, 0), by, nr));
	was(insn, state, 0, rotate_left(got(insn, state, 0), (nr - by) % nr, nr));
}

/* SDM: the count is masked to 5 bits, of 64-bit operands to 6.  None changes no flag. */
static void apply_shift(const struct sem_insn *insn, struct sem_state *state)
{
	unsigned int count_bits = insn->operands[0].bytes == 8 ? 6 : 5;
	struct known count = get(insn, state, 1);
	unsigned int by = (unsigned int)(count.value & bits(count_bits));

	if (!known_is_all(count, count_bits))
		return;
	if (!by) {
		becomes(insn, state, 0, get(insn, state, 0));
		was(insn, state, 0, got(insn, state, 0));
	} else if (insn->op == SEM_ROL || insn->op == SEM_ROR) {
		rotate_by(insn, state, by);
	} else {
		shift_by(insn, state, by);
	}
}

/* --- Bits --------------------------------------------------------------- */

static void apply_bit_test(const struct sem_insn *insn, struct sem_state *state)
{
	unsigned int nr = width(insn);
	struct known index = get(insn, state, 1), a = get(insn, state, 0);
	struct known flags = known_none(), r = a;
	uint64_t bit;

	/* With memory and a register the index may lead anywhere. */
	if (!known_is_all(index, nr == 64 ? 6 : 5) || insn->operands[0].kind != SEM_REGISTER)
		return;
	bit = 1ULL << (index.value & (nr - 1));
	flag(&flags, SEM_CF, a.mask & bit, a.value & bit);
	set_flags(insn, state, flags);
	if (insn->op == SEM_BT)
		return;
	if (insn->op == SEM_BTS)
		r = (struct known){ a.value | bit, a.mask | bit };
	else if (insn->op == SEM_BTR)
		r = (struct known){ a.value & ~bit, a.mask | bit };
	else
		r.value ^= bit & r.mask;
	becomes(insn, state, 0, r);
	was(insn, state, 0, known_only(got(insn, state, 0), ~bit));
}

/*
 * Only of what is known whole.  BSF and BSR of 0 leave something that the SDM does not define, and
 * processors without BMI1 take TZCNT for BSF; LZCNT, another one's BSR, is not in the table.
 */
static void apply_count(const struct sem_insn *insn, struct sem_state *state)
{
	unsigned int nr = width(insn);
	struct known a = low(get(insn, state, 1), nr), flags = known_none();
	bool bit_scan = insn->op == SEM_BSF || insn->op == SEM_BSR;
	uint64_t r;

	if (a.mask != UINT64_MAX)
		return;
	if (bit_scan)
		flag(&flags, SEM_ZF, true, !a.value);
	set_flags(insn, state, flags);
	if (insn->op != SEM_POPCNT && !a.value)
		return;
	if (insn->op == SEM_POPCNT)
		r = (uint64_t)__builtin_popcountll(a.value);
	else if (insn->op == SEM_BSR)
		r = 63 - (uint64_t)__builtin_clzll(a.value);
	else
		r = (uint64_t)__builtin_ctzll(a.value);
	becomes(insn, state, 0, known_all(r));
}

static void apply_bswap(const struct sem_insn *insn, struct sem_state *state)
{
	unsigned int unused = 64 - width(insn);
	struct known a = get(insn, state, 0), r;

	becomes(insn, state, 0, (struct known){ __builtin_bswap64(a.value) >> unused,
						__builtin_bswap64(a.mask) >> unused });
	r = got(insn, state, 0);
	was(insn, state, 0, (struct known){ __builtin_bswap64(r.value) >> unused,
					    __builtin_bswap64(r.mask) >> unused });
}

/* Of two or three operands, and only what is known whole. */
static void apply_imul(const struct sem_insn *insn, struct sem_state *state)
{
	unsigned int nr = width(insn);
	unsigned int first = insn->operands[2].kind ? 1 : 0;
	struct known a = get(insn, state, first), b = get(insn, state, first + 1);
	unsigned int zeros;
	uint64_t mask;

	if (!insn->operands[1].kind)
		return;
	zeros = (unsigned int)__builtin_ctzll(~(a.mask & b.mask) | (1ULL << 63));
	mask = (a.mask & b.mask) == UINT64_MAX ? UINT64_MAX : bits(zeros);
	becomes(insn, state, 0, (struct known){ (a.value * b.value) & mask & bits(nr), mask });
}

/* --- Moves -------------------------------------------------------------- */

static void apply_mov(const struct sem_insn *insn, struct sem_state *state)
{
	becomes(insn, state, 0, get(insn, state, 1));
	was(insn, state, 1, got(insn, state, 0));
}

static void apply_movsx(const struct sem_insn *insn, struct sem_state *state)
{
	becomes(insn, state, 0, sign_extend(get(insn, state, 1), insn->operands[1].bytes * 8U));
	/* MOVSXD may have a destination that is the shorter one. */
	was(insn, state, 1, known_only(got(insn, state, 0), bits(width(insn))));
}

static void apply_lea(const struct sem_insn *insn, struct sem_state *state)
{
	struct known r, rest = known_all((uint64_t)insn->disp);

	becomes(insn, state, 0, sem_address(insn, state));
	r = got(insn, state, 0);
	if (insn->base == SEM_NO_REG || insn->address_bytes != 8 || width(insn) != 64)
		return;
	if (insn->index != SEM_NO_REG && state->before[insn->index]->mask == UINT64_MAX)
		rest.value += state->before[insn->index]->value * insn->scale;
	else if (insn->index != SEM_NO_REG)
		return;
	merge(state, state->before[insn->base], known_sub(r, rest));
}

static bool is_same_register(const struct sem_insn *insn)
{
	return insn->operands[0].kind == SEM_REGISTER && insn->operands[1].kind == SEM_REGISTER &&
	       insn->operands[0].reg == insn->operands[1].reg;
}

static void apply_xchg(const struct sem_insn *insn, struct sem_state *state)
{
	/* AL with AH, or nothing at all. */
	if (is_same_register(insn))
		return;
	becomes(insn, state, 0, get(insn, state, 1));
	becomes(insn, state, 1, get(insn, state, 0));
	was(insn, state, 1, got(insn, state, 0));
	was(insn, state, 0, got(insn, state, 1));
}

static void apply_xadd(const struct sem_insn *insn, struct sem_state *state)
{
	struct known a = get(insn, state, 0), b = get(insn, state, 1);

	if (is_same_register(insn))
		return;
	becomes(insn, state, 0, known_add(a, b, false));
	becomes(insn, state, 1, a);
	was(insn, state, 0, got(insn, state, 1));
}

static void apply_setcc(const struct sem_insn *insn, struct sem_state *state)
{
	struct known holds = condition(state->before[SEM_FLAGS], insn->cc), r;

	becomes(insn, state, 0, (struct known){ holds.value, holds.mask | ~1ULL });
	r = got(insn, state, 0);
	if (r.mask & 1)
		condition_was(state, insn->cc, r.value & 1);
}

static void apply_cmov(const struct sem_insn *insn, struct sem_state *state)
{
	struct known holds = condition(state->before[SEM_FLAGS], insn->cc);
	struct known a = get(insn, state, 0), b = get(insn, state, 1);

	if (holds.mask) {
		becomes(insn, state, 0, holds.value ? b : a);
		was(insn, state, holds.value ? 1 : 0, got(insn, state, 0));
	} else {
		a.mask &= b.mask & ~(a.value ^ b.value);
		a.value &= a.mask;
		becomes(insn, state, 0, a);
	}
}

/* CBW, CWDE, CDQE have hidden operands: half of RAX becomes the next larger part. */
static struct sem_operand accumulator(unsigned int nr_bytes)
{
	return (struct sem_operand){ .kind = SEM_REGISTER, .bytes = (uint8_t)nr_bytes };
}

static void apply_cbw(const struct sem_insn *insn, struct sem_state *state)
{
	struct sem_insn move = *insn;

	move.operands[0] = accumulator(insn->operand_bytes);
	move.operands[1] = accumulator(insn->operand_bytes / 2);
	apply_movsx(&move, state);
}

static void apply_cwd(const struct sem_insn *insn, struct sem_state *state)
{
	unsigned int sign = insn->operand_bytes * 8U - 1;
	const struct known *rax = state->before[SEM_RAX];
	struct sem_insn move = *insn;

	move.operands[0] = accumulator(insn->operand_bytes);
	move.operands[0].reg = SEM_RDX;
	becomes(&move, state, 0, rax->mask >> sign & 1 ?
		known_all(rax->value >> sign & 1 ? UINT64_MAX : 0) : known_none());
}

/* --- The stack and control ---------------------------------------------- */

/* RSP moves by @by, whatever happens besides. */
static void move_stack(struct sem_state *state, int64_t by)
{
	struct known *before = state->before[SEM_RSP], *behind = state->behind[SEM_RSP];
	struct known step = known_all((uint64_t)by);

	merge(state, behind, known_add(*before, step, false));
	merge(state, before, known_sub(*behind, step));
}

static void apply_push(const struct sem_insn *insn, struct sem_state *state)
{
	struct known pushed = get(insn, state, 0);

	move_stack(state, -8);
	if (state->store) {
		merge(state, state->store, pushed);
		was(insn, state, 0, *state->store);
	}
}

static void apply_pop(const struct sem_insn *insn, struct sem_state *state)
{
	bool is_rsp = insn->operands[0].reg == SEM_RSP;

	if (!is_rsp)
		move_stack(state, 8);
	if (state->load) {
		becomes(insn, state, 0, *state->load);
		merge(state, state->load, got(insn, state, 0));
	}
}

/* The register, if it is one, is where it led. */
static void apply_target(const struct sem_insn *insn, struct sem_state *state)
{
	if (state->next_ip && insn->operands[0].kind == SEM_REGISTER)
		was(insn, state, 0, known_all(state->next_ip));
}

static void apply_call(const struct sem_insn *insn, struct sem_state *state)
{
	apply_target(insn, state);
	move_stack(state, -8);
	if (state->store)
		merge(state, state->store, known_all(insn->ip + insn->length_bytes));
}

static void apply_ret(const struct sem_insn *insn, struct sem_state *state)
{
	move_stack(state, 8 + (insn->operands[0].kind ? (int64_t)insn->operands[0].value : 0));
	if (state->load && state->next_ip)
		merge(state, state->load, known_all(state->next_ip));
}

static void apply_leave(struct sem_state *state)
{
	struct known eight = known_all(8);

	merge(state, state->behind[SEM_RSP], known_add(*state->before[SEM_RBP], eight, false));
	merge(state, state->before[SEM_RBP], known_sub(*state->behind[SEM_RSP], eight));
	if (!state->load)
		return;
	merge(state, state->behind[SEM_RBP], *state->load);
	merge(state, state->load, *state->behind[SEM_RBP]);
}

/* Where both ways are one, nothing becomes known. */
static void apply_jcc(const struct sem_insn *insn, struct sem_state *state)
{
	uint64_t behind = insn->ip + insn->length_bytes, target = behind + insn->operands[0].value;

	if (target == behind || (state->next_ip != target && state->next_ip != behind))
		return;
	condition_was(state, insn->cc, state->next_ip == target);
}

/* SDM vol. 2B, "SYSCALL": RCX is where to return, R11 the flags. */
static void apply_syscall(const struct sem_insn *insn, struct sem_state *state)
{
	merge(state, state->behind[SEM_RCX], known_all(insn->ip + insn->length_bytes));
	merge(state, state->behind[SEM_R11], *state->before[SEM_FLAGS]);
}

/* A repeated one that completed has counted RCX down; a single one steps by its width. */
static void apply_string(const struct sem_insn *insn, struct sem_state *state)
{
	const struct known *flags = state->before[SEM_FLAGS];
	struct known count = insn->repeats ? *state->before[SEM_RCX] : known_all(1);
	uint64_t step = insn->operand_bytes * count.value;

	if (insn->address_bytes != 8)
		return;
	if (insn->repeats)
		merge(state, state->behind[SEM_RCX], known_all(0));
	if (count.mask != UINT64_MAX || !(flags->mask & SEM_DF))
		return;
	if (flags->value & SEM_DF)
		step = -step;
	for (unsigned int reg = SEM_RSI; reg <= SEM_RDI; reg++) {
		if (!(insn->writes & 1U << reg))
			continue;
		merge(state, state->behind[reg],
		      known_add(*state->before[reg], known_all(step), false));
		merge(state, state->before[reg], known_sub(*state->behind[reg], known_all(step)));
	}
}

/* --- All of them -------------------------------------------------------- */

static void apply_flags(const struct sem_insn *insn, struct sem_state *state)
{
	struct known *before = state->before[SEM_FLAGS], *behind = state->behind[SEM_FLAGS];

	if (!(insn->writes & 1U << SEM_FLAGS) || insn->op == SEM_CUT || insn->op == SEM_IRET)
		return;
	merge(state, behind, known_only(*before, insn->keeps_flags));
	merge(state, before, known_only(*behind, insn->keeps_flags));
	merge(state, behind, (struct known){ insn->sets_flags,
					     insn->sets_flags | insn->clears_flags });
}

static void apply_arithmetic(const struct sem_insn *insn, struct sem_state *state)
{
	struct known carry = known_only(flag_of(state->before[SEM_FLAGS], SEM_CF), 1);

	switch (insn->op) {
	case SEM_ADD: apply_add(insn, state, known_all(0)); break;
	case SEM_ADC: apply_add(insn, state, carry); break;
	case SEM_SUB: apply_sub(insn, state, known_all(0)); break;
	case SEM_SBB: apply_sub(insn, state, carry); break;
	case SEM_CMP: apply_cmp(insn, state); break;
	case SEM_TEST: apply_test(insn, state); break;
	case SEM_AND:
	case SEM_OR: apply_and_or(insn, state); break;
	case SEM_XOR: apply_xor(insn, state); break;
	case SEM_ZERO: apply_zero(insn, state); break;
	case SEM_INC: apply_step(insn, state, 1); break;
	case SEM_DEC: apply_step(insn, state, UINT64_MAX); break;
	case SEM_NEG: apply_neg(insn, state); break;
	case SEM_NOT: apply_not(insn, state); break;
	case SEM_IMUL: apply_imul(insn, state); break;
	default: break;
	}
}

static void apply_bits(const struct sem_insn *insn, struct sem_state *state)
{
	switch (insn->op) {
	case SEM_SHL: case SEM_SHR: case SEM_SAR: case SEM_ROL: case SEM_ROR:
		apply_shift(insn, state);
		break;
	case SEM_BT: case SEM_BTS: case SEM_BTR: case SEM_BTC:
		apply_bit_test(insn, state);
		break;
	case SEM_BSF: case SEM_BSR: case SEM_TZCNT: case SEM_POPCNT:
		apply_count(insn, state);
		break;
	default:
		apply_bswap(insn, state);
		break;
	}
}

static void apply_moves(const struct sem_insn *insn, struct sem_state *state)
{
	switch (insn->op) {
	case SEM_MOV: apply_mov(insn, state); break;
	case SEM_MOVSX: apply_movsx(insn, state); break;
	case SEM_LEA: apply_lea(insn, state); break;
	case SEM_XCHG: apply_xchg(insn, state); break;
	case SEM_XADD: apply_xadd(insn, state); break;
	case SEM_SETCC: apply_setcc(insn, state); break;
	case SEM_CMOVCC: apply_cmov(insn, state); break;
	case SEM_CBW: apply_cbw(insn, state); break;
	case SEM_CWD: apply_cwd(insn, state); break;
	case SEM_STRING: apply_string(insn, state); break;
	default: break;
	}
}

static void apply_control(const struct sem_insn *insn, struct sem_state *state)
{
	switch (insn->op) {
	case SEM_PUSH: apply_push(insn, state); break;
	case SEM_POP: apply_pop(insn, state); break;
	case SEM_CALL: apply_call(insn, state); break;
	case SEM_RET: apply_ret(insn, state); break;
	case SEM_LEAVE: apply_leave(state); break;
	case SEM_JMP: apply_target(insn, state); break;
	case SEM_JCC: apply_jcc(insn, state); break;
	case SEM_SYSCALL: apply_syscall(insn, state); break;
	default: break;
	}
}

void sem_apply(const struct sem_insn *insn, struct sem_state *state)
{
	apply_flags(insn, state);
	if ((insn->op >= SEM_ADD && insn->op <= SEM_NOT) || insn->op == SEM_IMUL)
		apply_arithmetic(insn, state);
	else if (insn->op >= SEM_SHL && insn->op <= SEM_POPCNT)
		apply_bits(insn, state);
	else if ((insn->op >= SEM_PUSH && insn->op <= SEM_IRET) || insn->op == SEM_JCC)
		apply_control(insn, state);
	else
		apply_moves(insn, state);
}
