/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an instruction of 64-bit code does to general registers, flags and memory, bit by bit:
 * from what is known before it to what is known after it, and back.  Pure.
 *
 * An instruction is a relation between the state before and the state behind.  Whatever bits are
 * known of either narrow the other; nothing that is derived here is a guess.  What the table
 * lacks makes all unknown that Zydis says it writes.  Source: SDM vol. 2, "Operation" of each.
 */
#ifndef BTSREC_SEMANTICS_H
#define BTSREC_SEMANTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code/known.h"

/** enum sem_reg - general registers by their numbers in an encoding, and the flags */
enum sem_reg {
	SEM_RAX, SEM_RCX, SEM_RDX, SEM_RBX, SEM_RSP, SEM_RBP, SEM_RSI, SEM_RDI,
	SEM_R8, SEM_R9, SEM_R10, SEM_R11, SEM_R12, SEM_R13, SEM_R14, SEM_R15,
	SEM_FLAGS,
	SEM_NR_REGS,
	SEM_NO_REG = 0xff,
};

/* RFLAGS, SDM vol. 1, "EFLAGS Register". */
#define SEM_CF	(1ULL << 0)
#define SEM_PF	(1ULL << 2)
#define SEM_AF	(1ULL << 4)
#define SEM_ZF	(1ULL << 6)
#define SEM_SF	(1ULL << 7)
#define SEM_DF	(1ULL << 10)
#define SEM_OF	(1ULL << 11)
#define SEM_STATUS_FLAGS	(SEM_CF | SEM_PF | SEM_AF | SEM_ZF | SEM_SF | SEM_OF)

/** enum sem_op - rows of the table that are alike */
enum sem_op {
	SEM_OTHER,	/* not in the table */
	SEM_CUT,	/* what it does to registers is not said by its operands */
	SEM_MOV, SEM_MOVSX, SEM_LEA, SEM_XCHG, SEM_XADD,
	SEM_ADD, SEM_ADC, SEM_SUB, SEM_SBB, SEM_CMP, SEM_AND, SEM_TEST, SEM_OR, SEM_XOR,
	SEM_ZERO,	/* of a register with itself: XOR, SUB */
	SEM_INC, SEM_DEC, SEM_NEG, SEM_NOT,
	SEM_SHL, SEM_SHR, SEM_SAR, SEM_ROL, SEM_ROR,
	SEM_IMUL, SEM_BSWAP, SEM_BT, SEM_BTS, SEM_BTR, SEM_BTC,
	SEM_BSF, SEM_BSR, SEM_TZCNT, SEM_POPCNT,
	SEM_SETCC, SEM_CMOVCC, SEM_JCC, SEM_CBW, SEM_CWD,
	SEM_PUSH, SEM_POP, SEM_CALL, SEM_RET, SEM_LEAVE, SEM_JMP, SEM_SYSCALL, SEM_IRET,
	SEM_STRING,
};

/** enum sem_operand_kind - where an operand is */
enum sem_operand_kind {
	SEM_NO_OPERAND,
	SEM_REGISTER,
	SEM_IMMEDIATE,
	SEM_MEMORY,
};

/**
 * struct sem_operand - one operand, @bytes wide
 * @reg, @shift: of a register: which, and its lowest bit in it: 8 of AH, CH, DH and BH, else 0.
 * @value: of an immediate, extended to 64 bits.
 */
struct sem_operand {
	enum sem_operand_kind kind : 8;
	uint8_t bytes;
	uint8_t reg;
	uint8_t shift;
	uint64_t value;
};

#define SEM_MAX_SHOWN	6
#define SEM_ANY_BYTES	UINT32_MAX

/** struct sem_shown - a general register among the visible operands, its parts of addresses too */
struct sem_shown {
	uint8_t reg;
	uint8_t shift;
	uint8_t bytes;
	bool read;
	bool written;
};

/**
 * struct sem_insn - one instruction
 * @cc: its condition, as in its opcode.
 * @operands: the visible ones, destination first.  PUSH and POP without one are of the flags.
 * @ip: where it is; @bytes: what it is, @length_bytes of them.
 * @reads, @writes: general registers and flags, a bit each.
 * @keeps_flags: those that it leaves as they are; @sets, @clears: always.
 * @defines_flags: those that depend on its operands.
 * @base, @index, @scale, @disp: of the address; @segment: it has a base that is not known here.
 * @operand_bytes: width of the operation.  @address_bytes: 8 or 4.
 * @load_bytes, @store_bytes: of memory; 0: none; SEM_ANY_BYTES: of several places, or of one that
 *	only the instruction says.
 * @repeats: it has a REP prefix.
 * @shown: @nr_shown of them.
 */
struct sem_insn {
	uint64_t ip;
	enum sem_op op : 8;
	uint8_t cc;
	uint8_t length_bytes;
	bool repeats;
	uint8_t bytes[15];
	struct sem_operand operands[3];
	uint32_t reads;
	uint32_t writes;
	uint32_t keeps_flags;
	uint32_t sets_flags;
	uint32_t clears_flags;
	uint32_t defines_flags;
	uint8_t base;
	uint8_t index;
	uint8_t scale;
	uint8_t address_bytes;
	uint8_t operand_bytes;
	int64_t disp;
	bool segment;
	uint32_t load_bytes;
	uint32_t store_bytes;
	uint8_t nr_shown;
	struct sem_shown shown[SEM_MAX_SHOWN];
};

/**
 * sem_decode() - the instruction of 64-bit code at @ip
 *
 * Return: false: the bytes are none.
 */
bool sem_decode(const uint8_t *bytes, size_t nr_bytes, uint64_t ip, struct sem_insn *ret);

/**
 * struct sem_state - what is known around one instruction; narrowed by sem_apply()
 * @before, @behind: of each register; the same place where the instruction leaves it alone.
 * @load: what it loads; NULL: not known, and nobody asks.
 * @store: likewise, what it stores.
 * @next_ip: where the processor went on; 0: not known.
 * @contradiction: two sources disagree on a bit: some premise is wrong.
 */
struct sem_state {
	struct known *before[SEM_NR_REGS];
	struct known *behind[SEM_NR_REGS];
	struct known *load;
	struct known *store;
	uint64_t next_ip;
	bool contradiction;
};

/** sem_apply() - narrow what is before by what is behind, and the other way round */
void sem_apply(const struct sem_insn *insn, struct sem_state *state);

/** sem_address() - where its memory operand is, as far as is known before it */
struct known sem_address(const struct sem_insn *insn, const struct sem_state *state);

/** sem_reg_name() - the 64 bits of general register @reg, "rax"; static */
const char *sem_reg_name(uint8_t reg);

/** sem_shown_name() - the register as it is written in code: "eax"; static */
const char *sem_shown_name(const struct sem_shown *shown);

#endif /* BTSREC_SEMANTICS_H */
