// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a value came from: which value at which instruction, of what was asked or of the fault. */
#include "views/view_why.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "code/kernel_code.h"
#include "flow/stackmem.h"
#include "kernel/kread.h"
#include "symbols/symbol.h"

#define VECTOR_INVALID_OPCODE	6
#define VECTOR_PAGE_FAULT	14
/* Between a comparison and the UD2 that it leads to there is hardly more than its branch. */
#define MAX_TEST_INSNS	8

static enum btsrec_status refuse(struct why *why, const char *text)
{
	return msg_set(&why->renderer.rec->msg, BTSREC_ERR_INVAL, "%s", text);
}

/* Nothing was asked for that does not exist, but there is no answer. */
static enum btsrec_status lack(struct why *why, const char *text)
{
	why->lacks = text;
	return BTSREC_OK;
}

static void ask_reg(struct why *why, uint8_t reg)
{
	why->question.target = (struct origin_target){ .reg = reg, .nr_bytes = WHY_WORD_BYTES };
}

/* @word: what is there. */
static void ask_memory(struct why *why, uint64_t address, const char *word)
{
	why->memory_word = word;
	why->question.target = (struct origin_target){ .reg = SEM_NO_REG, .address = address,
						       .has_address = true,
						       .nr_bytes = WHY_WORD_BYTES };
}

static void look(struct why *why, uint32_t place, struct reg_values_at *ret)
{
	reg_values_begin(why->values.values);
	(void)reg_values_next(why->values.values, place, ret);
	reg_values_begin(why->values.values);
}

/* The question is in front of that instruction. */
static const struct sem_insn *ask_at(struct why *why, uint32_t place)
{
	const struct sem_insn *insn = reg_values_step_insn(why->values.values, place);

	why->question.place = place;
	why->asked_ip = insn->ip;
	why->asked_n = trace_values_range(&why->values, place)->n;
	return insn;
}

static bool in_thunk(const struct why *why, uint32_t place)
{
	const uint64_t ip = reg_values_step_insn(why->values.values, place)->ip;

	return kernel_code_thunk(trace_code(why->renderer.rec), 0, ip) == CODE_THUNK_INDIRECT;
}

/*
 * A thunk stands for the branch that led into it: by a register, which it jumps to or stores where
 * its RET finds it.  Return: false: @place is in none, or the register is not known.
 */
static bool ask_thunk(struct why *why, uint32_t place)
{
	uint8_t reg = SEM_NO_REG;

	for (; place && in_thunk(why, place); place--) {
		const struct sem_insn *insn = reg_values_step_insn(why->values.values, place);
		const struct sem_operand *operand = &insn->operands[insn->op == SEM_MOV];

		if ((insn->op == SEM_JMP || insn->op == SEM_MOV) && operand->kind == SEM_REGISTER)
			reg = operand->reg;
	}
	if (reg == SEM_NO_REG || !reg_values_step_insn(why->values.values, place)->length_bytes)
		return false;
	(void)ask_at(why, place);
	ask_reg(why, reg);
	return true;
}

/* The operand of the branch at @place, which led to where no code is. */
static enum btsrec_status ask_target(struct why *why, uint32_t place)
{
	const struct sem_insn *insn = ask_at(why, place);
	struct reg_values_at at;
	struct known address;

	if (ask_thunk(why, place))
		return BTSREC_OK;
	if ((insn->op == SEM_CALL || insn->op == SEM_JMP) &&
	    insn->operands[0].kind == SEM_REGISTER) {
		ask_reg(why, insn->operands[0].reg);
		return BTSREC_OK;
	}
	look(why, place, &at);
	address = reg_values_address(why->values.values, insn, &at.likely, false);
	if (insn->op != SEM_RET && insn->operands[0].kind != SEM_MEMORY)
		return lack(why, "the fault has no operand; name a register or an address");
	if (address.mask != UINT64_MAX)
		return lack(why, "it is not known where the address that was branched to lay");
	ask_memory(why, address.value, "the target");
	return BTSREC_OK;
}

/* SDM vol. 3A, table 6-1: these are of an address, or of what a division divides by. */
static bool has_operand(int vector)
{
	const int divide = 0, stack = 12, protection = 13, alignment = 17;

	return vector < 0 || vector == divide || vector == stack || vector == protection ||
	       vector == VECTOR_PAGE_FAULT || vector == alignment;
}

static bool is_string(const struct sem_insn *insn)
{
	return insn->op == SEM_STRING;
}

/* The first operand of @insn.  @word: what it is in memory; @unknown: if it is not known where. */
static enum btsrec_status ask_first(struct why *why, uint32_t place, const struct sem_insn *insn,
				    const char *word, const char *unknown)
{
	const struct sem_operand *operand = &insn->operands[0];
	struct reg_values_at at;
	struct known address;

	if (operand->kind == SEM_REGISTER) {
		ask_reg(why, operand->reg);
		return BTSREC_OK;
	}
	look(why, place, &at);
	address = reg_values_address(why->values.values, insn, &at.likely, false);
	if (operand->kind != SEM_MEMORY || address.mask != UINT64_MAX)
		return lack(why, unknown);
	ask_memory(why, address.value, word);
	why->question.target.nr_bytes = operand->bytes;
	return BTSREC_OK;
}

/* SDM vol. 2, DIV and IDIV: the only operand that is shown. */
static enum btsrec_status ask_divisor(struct why *why, const struct sem_insn *insn)
{
	return ask_first(why, why->values.fault_place, insn, "the divisor",
			 "it is not known where the divisor lay");
}

/*
 * Of MOVS and CMPS two registers are addresses.  SDM vol. 3A, 4.7: bit 1 of the error code of a
 * page fault says that it was a write, which is by RDI.
 */
static uint8_t string_register(const struct why *why, const struct sem_insn *insn)
{
	const struct btsrec_registers *registers = why->values.registers;
	const uint64_t is_write = 1U << 1;

	if (why->fault.vector != VECTOR_PAGE_FAULT || !(insn->reads >> SEM_RSI & 1) ||
	    !insn->store_bytes || !registers || !(registers->flags & BTSREC_REGISTERS_ENTRY) ||
	    registers->entry.ip != why->fault.from)
		return SEM_NO_REG;
	return registers->error_code & is_write ? SEM_RDI : SEM_RSI;
}

static bool is_there(void *arg, uint64_t address)
{
	const struct kread *kernel = symbols_kread(arg);
	uint64_t pa;

	return kernel && kread_pa(kernel, address, &pa);
}

/*
 * Of two registers that both look like addresses of the kernel.  Where memory is at the base, it is
 * the index that leads away from it.
 */
static uint8_t bad_by_memory(struct why *why, const struct reg_values_at *at, uint8_t base,
			     uint8_t index)
{
	const struct known *value = &at->likely.before[base];

	if (index == SEM_NO_REG || value->mask != UINT64_MAX)
		return base;
	return is_there(why->renderer.rec, value->value) ? index : base;
}

/* The address that @insn could not access. */
static enum btsrec_status ask_operand(struct why *why, const struct sem_insn *insn)
{
	uint8_t base = insn->base, index = insn->index, reg;
	struct reg_values_at at;

	if (!why->fault.vector)
		return ask_divisor(why, insn);
	if (insn->op == SEM_RET && ask_thunk(why, why->values.fault_place - 1))
		return BTSREC_OK;
	if (is_string(insn) && string_register(why, insn) != SEM_NO_REG) {
		ask_reg(why, string_register(why, insn));
		return BTSREC_OK;
	}
	if (is_string(insn)) {
		base = insn->writes & 1U << SEM_RDI ? SEM_RDI : SEM_RSI;
		index = insn->writes & 1U << SEM_RSI ? SEM_RSI : SEM_NO_REG;
	} else if (insn->op == SEM_RET || insn->op == SEM_PUSH || insn->op == SEM_POP) {
		base = SEM_RSP;
	} else if ((insn->op == SEM_CALL || insn->op == SEM_JMP) &&
		   insn->operands[0].kind == SEM_REGISTER) {
		base = insn->operands[0].reg;
	}
	if (base == SEM_NO_REG && index == SEM_NO_REG)
		return lack(why, "no register made the fault; name one, or an address");
	look(why, why->values.fault_place, &at);
	reg = origin_bad_register(&why->question, &at, base, index);
	/* A branch to what is no address faults itself: the word that RET took is at RSP. */
	if (insn->op == SEM_RET && at.likely.before[SEM_RSP].mask == UINT64_MAX)
		ask_memory(why, at.likely.before[SEM_RSP].value, "the target");
	else
		ask_reg(why, reg == SEM_NO_REG ? bad_by_memory(why, &at, base, index) : reg);
	if (insn->op != SEM_RET && base != SEM_NO_REG && index != SEM_NO_REG)
		why->question.class = origin_choice(&at, why->question.target.reg);
	return BTSREC_OK;
}

static bool is_ud2(const struct sem_insn *insn)
{
	return insn->length_bytes == 2 && insn->bytes[0] == 0x0f && insn->bytes[1] == 0x0b;
}

/* What set the flags for the branch that is right before @place; TRACE_VALUES_NONE: unknown. */
static uint32_t find_test(const struct why *why, uint32_t place)
{
	const struct reg_values *values = why->values.values;

	if (!place || reg_values_step_insn(values, place - 1)->op != SEM_JCC)
		return TRACE_VALUES_NONE;
	for (uint32_t i = place - 1; i-- && place - i <= MAX_TEST_INSNS;) {
		const struct sem_insn *insn = reg_values_step_insn(values, i);

		if (insn->op == SEM_CALL || insn->op == SEM_RET || !insn->length_bytes)
			break;
		if (insn->writes >> SEM_FLAGS & 1)
			return i;
	}
	return TRACE_VALUES_NONE;
}

/* BUG_ON() is a branch to a UD2, or around it: what it tested. */
static enum btsrec_status ask_tested(struct why *why, uint32_t fault_place)
{
	uint32_t place = find_test(why, fault_place);

	if (place == TRACE_VALUES_NONE)
		return lack(why, "no operand made the fault; name a register or an address");
	return ask_first(why, place, ask_at(why, place), "what was tested",
			 "it is not known where the value lay that was tested");
}

static enum btsrec_status ask_fault(struct why *why)
{
	uint32_t place = why->values.fault_place;
	struct code *code = trace_code(why->renderer.rec);
	struct sem_insn insn;

	if (place == TRACE_VALUES_NONE || !place)
		return lack(why, "no operand made the CPU stop; name a register or an address");
	if (code_is_none(code, why->fault.from) &&
	    reg_values_step_insn(why->values.values, place - 1)->length_bytes)
		return ask_target(why, place - 1);
	if (!trace_values_insn(code, why->fault.from, &insn))
		return lack(why, "the instruction of the fault is not in the dump");
	if (why->fault.vector == VECTOR_INVALID_OPCODE && is_ud2(&insn))
		return ask_tested(why, place);
	if (!has_operand(why->fault.vector))
		return lack(why, "no operand made the fault; name a register or an address");
	return ask_operand(why, &insn);
}

/* Where the question is: at the fault, or at the end of an event. */
static enum btsrec_status find_place(struct why *why)
{
	const struct trace_values_range *range;
	uint64_t n = why->opts->has_at ? why->opts->at_n : why->fault.n;

	why->question.place = why->values.fault_place;
	why->asked_ip = why->fault.from;
	why->asked_n = n;
	if (!why->opts->has_at && why->fault.kind == FAULT_UNKNOWN)
		return lack(why, "the fault is not in the history; say --at which event");
	if (!why->opts->has_at && why->question.place != TRACE_VALUES_NONE)
		return BTSREC_OK;
	range = trace_values_event(&why->values, n);
	if (!range && why->opts->max_events)
		return lack(why, "of that event no instruction was looked at");
	if (!range && !why->opts->has_at)
		return lack(why, "of what ran up to there no instruction is known; say --at");
	if (!range)
		return refuse(why, "of that event no instruction of the kernel is known");
	why->question.place = range->place + range->nr - 1;
	why->asked_ip = reg_values_ip(why->values.values, why->question.place);
	return BTSREC_OK;
}

/* With or without 0x. */
static bool parse_address(const char *text, uint64_t *ret)
{
	char *end;

	if (!strncmp(text, "0x", 2))
		text += 2;
	if (!isxdigit((unsigned char)*text))
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 16);
	return !errno && !*end && code_is_kernel(*ret);
}

/* "rax", "%rax", "0xffff888000001000" or "ffff888000001000". */
static enum btsrec_status ask_value(struct why *why, const char *text)
{
	const char *name = *text == '%' ? text + 1 : text;
	uint64_t address;

	for (unsigned int reg = 0; reg < SEM_FLAGS; reg++) {
		if (strcmp(name, sem_reg_name((uint8_t)reg)))
			continue;
		ask_reg(why, (uint8_t)reg);
		return BTSREC_OK;
	}
	if (!parse_address(text, &address))
		return refuse(why, "a value is an address of the kernel or one of the registers "
				   "rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp and r8 to r15");
	ask_memory(why, address, "the memory");
	return BTSREC_OK;
}

static enum walk_access access_at(void *arg, uint64_t address)
{
	return code_access(trace_code(arg), address);
}

enum btsrec_status why_ask(struct why *why)
{
	enum btsrec_status status = find_place(why);
	struct reg_values_at at;

	why->question.is_there = is_there;
	why->question.access = access_at;
	why->question.arg = why->renderer.rec;
	if (!status && !why->lacks)
		status = why->opts->value ? ask_value(why, why->opts->value) :
			 why->opts->has_at ? refuse(why, "--at needs a register or an address") :
					     ask_fault(why);
	if (status || why->lacks)
		return status;
	look(why, why->question.place, &at);
	if (at.certain.before[SEM_RSP].mask == UINT64_MAX)
		why->question.sp = at.certain.before[SEM_RSP].value;
	/* Stacks are aligned to their size. */
	why->question.stack_bytes = STACKMEM_KERNEL_BYTES;
	return BTSREC_OK;
}
