// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a value came from: the question, the chain, and what other CPUs stored there. */
#include "views/view_why.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/options.h"
#include "flow/stackmem.h"
#include "flow/thread.h"
#include "flow/trace_fault.h"
#include "flow/value_numbers.h"
#include "kernel/kread.h"
#include "recorder/cpus.h"
#include "symbols/symbol.h"
#include "views/values.h"

#define WORD_BYTES	8
#define VECTOR_INVALID_OPCODE	6
#define VECTOR_PAGE_FAULT	14
/* Between a comparison and the UD2 that it leads to there is hardly more than its branch. */
#define MAX_TEST_INSNS	8

/* --- Words -------------------------------------------------------------- */

const char *why_hop_str(enum origin_kind kind)
{
	static const char *const words[] = {
		[ORIGIN_ASKED] = "asked", [ORIGIN_MOVED] = "moved",
		[ORIGIN_COMPUTED] = "computed", [ORIGIN_LOADED] = "loaded",
		[ORIGIN_STORED] = "stored", [ORIGIN_CONSTANT] = "constant",
		[ORIGIN_JOINED] = "joined", [ORIGIN_OLDER] = "older",
		[ORIGIN_NO_ADDRESS] = "loaded", [ORIGIN_NO_RULE] = "written",
		[ORIGIN_CHANGED] = "stored", [ORIGIN_TOO_LONG] = "more",
		[ORIGIN_SUSPECT] = "maybe", [ORIGIN_COPIED] = "copied",
		[ORIGIN_INDEXED] = "indexed",
		[ORIGIN_SPOILED] = "spoiled", [ORIGIN_USER] = "loaded",
	};

	return words[kind];
}

const char *why_class_str(enum origin_class class)
{
	static const char *const words[] = { "certain", "likely", "unknown" };

	return words[class];
}

static const char *older_str(enum reg_values_why why)
{
	static const char *const words[] = {
		[REG_VALUES_BEGIN] = "older than the history",
		[REG_VALUES_GAP] = "older: events are missing here",
		[REG_VALUES_PAUSE] = "older: here another thread or the recorder ran",
		[REG_VALUES_USER] = "older: here user code ran",
		[REG_VALUES_BREAK] = "older: what ran here is not known",
		[REG_VALUES_WINDOW] = "older than the events that were looked at",
	};

	return words[why];
}

const char *why_end_str(const struct origin_hop *hop)
{
	switch (hop->kind) {
	case ORIGIN_CONSTANT: return "a constant of this instruction";
	case ORIGIN_STORED: return "a constant that this instruction stored";
	case ORIGIN_JOINED: return "made of several values; ask for one of them";
	case ORIGIN_OLDER:
		return hop->target.reg == SEM_NO_REG && hop->why != REG_VALUES_WINDOW ?
			       "no store to it is known" : older_str(hop->why);
	case ORIGIN_SPOILED:
		return "made by this instruction of an address of the kernel, which it is no more";
	case ORIGIN_USER: return "loaded from memory of the user";
	case ORIGIN_NO_ADDRESS: return "not known: loaded from an address that is not known";
	case ORIGIN_NO_RULE: return "not known: this instruction is not followed";
	case ORIGIN_SUSPECT:
		return "not known; this one stored that value, but where is not known";
	case ORIGIN_CHANGED:
		return "not known: after this store the memory was changed";
	default: return "not known: the way is too long; ask from here on";
	}
}

const struct origin_hop *why_oldest(const struct origin *origin)
{
	const struct origin_hop *found = NULL;

	for (size_t i = 0; i < origin->nr; i++)
		if (origin->hops[i].value_class != ORIGIN_UNKNOWN)
			found = &origin->hops[i];
	return found;
}

/* --- Places ------------------------------------------------------------- */

static void find_text(const struct why *why, struct why_place *place)
{
	uint8_t bytes[CODE_INSN_MAX_BYTES];

	if (!code_text(trace_code(why->renderer.rec), 0, place->ip, false, bytes, place->insn,
		       sizeof(place->insn)))
		place->insn[0] = '\0';
}

void why_place(const struct why *why, const struct trace_values *values, unsigned int cpu,
	       const struct origin_hop *hop, struct why_place *ret)
{
	const struct trace_values_range *range = trace_values_range(values, hop->place);

	*ret = (struct why_place){ .cpu = range ? range->cpu : cpu };
	/* What is older than all of them is so at the first. */
	ret->n = range ? range->n : values->nr ? values->ranges[0].n : 0;
	ret->side = trace_values_side(values, range);
	if (hop->kind == ORIGIN_ASKED) {
		ret->cpu = cpu;
		ret->n = why->asked_n;
		ret->ip = why->asked_ip;
	} else if (hop->insn && hop->insn->length_bytes) {
		ret->ip = hop->insn->ip;
		find_text(why, ret);
	}
}

/* --- The question ------------------------------------------------------- */

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
	why->question.target = (struct origin_target){ .reg = reg, .nr_bytes = WORD_BYTES };
}

/* @word: what is there. */
static void ask_memory(struct why *why, uint64_t address, const char *word)
{
	why->memory_word = word;
	why->question.target = (struct origin_target){ .reg = SEM_NO_REG, .address = address,
						       .has_address = true,
						       .nr_bytes = WORD_BYTES };
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

/* The operand of the branch at @place, which led to where no code is. */
static enum btsrec_status ask_target(struct why *why, uint32_t place)
{
	const struct sem_insn *insn = ask_at(why, place);
	struct reg_values_at at;
	struct known address;

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

/* @arg: the session. */
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
	reg = origin_bad_register(&at, base, index);
	/* A branch to what is no address faults itself: the word that RET took is at RSP. */
	if (insn->op == SEM_RET && at.likely.before[SEM_RSP].mask == UINT64_MAX)
		ask_memory(why, at.likely.before[SEM_RSP].value, "the target");
	else
		ask_reg(why, reg == SEM_NO_REG ? bad_by_memory(why, &at, base, index) : reg);
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
		return refuse(why, "a value is a register, as rax, or an address of the kernel");
	ask_memory(why, address, "the memory");
	return BTSREC_OK;
}

static enum btsrec_status ask(struct why *why)
{
	enum btsrec_status status = find_place(why);
	struct reg_values_at at;

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

/* --- Other CPUs --------------------------------------------------------- */

/* The memory whose store is not certain; NULL: there is none. */
static const struct origin_hop *open_load(const struct why *why)
{
	const struct origin_hop *found = NULL;

	for (size_t i = 0; i < why->origin.nr; i++) {
		const struct origin_hop *hop = &why->origin.hops[i];

		if (hop->kind == ORIGIN_LOADED)
			found = hop;
		if (hop->kind == ORIGIN_STORED && hop->class == ORIGIN_CERTAIN)
			found = NULL;
	}
	return found;
}

/* The values of @cpu, as many as the question is about. */
static enum btsrec_status open_values(struct why *why, unsigned int cpu, const struct fault *fault,
				      struct trace_values *ret)
{
	return trace_values_newest(why->renderer.rec, cpu, fault, why->opts->max_events,
				   why->max_bytes, ret);
}

static enum btsrec_status look_at_cpu(struct why *why, unsigned int cpu,
				      const struct origin_target *target)
{
	struct why_candidate *candidate = &why->candidates[why->nr_candidates];
	struct btsrec *rec = why->renderer.rec;
	struct trace_values values = { 0 };
	struct fault fault;
	enum btsrec_status status = trace_fault(rec, cpu, &fault);

	if (!status)
		status = open_values(why, cpu, &fault, &values);
	if (!status && origin_store(values.values, target, &candidate->hop)) {
		why_place(why, &values, cpu, &candidate->hop, &candidate->place);
		candidate->has_side = candidate->place.side;
		if (candidate->has_side)
			candidate->side = *candidate->place.side;
		candidate->place.side = NULL;
		candidate->hop.insn = NULL;
		why->nr_candidates++;
	}
	trace_values_close(&values);
	return status;
}

static enum btsrec_status find_candidates(struct why *why)
{
	const struct origin_hop *load = open_load(why);
	struct btsrec *rec = why->renderer.rec;
	enum btsrec_status status = BTSREC_OK;
	struct origin_target target;

	if (!load || !load->has_address)
		return BTSREC_OK;
	target = (struct origin_target){ .reg = SEM_NO_REG, .address = load->address,
					 .has_address = true,
					 .nr_bytes = WORD_BYTES };
	for (unsigned int cpu = 0; cpu < btsrec_nr_cpu_ids(rec) && !status; cpu++)
		if (cpu != why->cpu && btsrec_cpu(rec, cpu) &&
		    why->nr_candidates < WHY_MAX_CANDIDATES)
			status = look_at_cpu(why, cpu, &target);
	/* A history that cannot be read says nothing. */
	return status == BTSREC_ERR_NOMEM || status == BTSREC_ERR_IO ? status : BTSREC_OK;
}

/* --- All ---------------------------------------------------------------- */

/* @max_bytes: the summary has no words for more than one chain. */
static enum btsrec_status find_in(struct why *why, struct trace_values *values,
				  struct origin_question *question, struct origin *ret)
{
	struct value_numbers *numbers = value_numbers_new(values->values);

	if (!numbers)
		return msg_set(&why->renderer.rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	question->numbers = numbers;
	question->is_there = is_there;
	question->arg = why->renderer.rec;
	origin_find(values->values, question, ret);
	if (!why->max_bytes)
		origin_find_index(values->values, question, ret);
	value_numbers_free(numbers);
	return BTSREC_OK;
}

static bool is_older(const struct origin *origin)
{
	return origin->nr && origin->hops[origin->nr - 1].kind == ORIGIN_OLDER;
}

/* The thread that the question is about; 0: not known, or each CPU has its own. */
static uint32_t asked_thread(const struct why *why)
{
	const struct btsrec_side *side = trace_values_side(
		&why->values, trace_values_range(&why->values, why->question.place));

	return side ? side->pid : 0;
}

static uint32_t place_in(const struct why *why, const struct trace_values *values)
{
	return why->question.place == why->values.fault_place ?
		       values->fault_place :
		       trace_values_at(values, why->cpu, why->asked_n, why->asked_ip);
}

/* What no store on this CPU has made, the thread may have, before it slept or came here. */
static enum btsrec_status find_of_thread(struct why *why, uint32_t pid)
{
	struct origin_question question = why->question;
	_cleanup_free_ struct origin *origin = calloc(1, sizeof(*origin));
	struct trace_values values;
	enum btsrec_status status;

	if (!origin)
		return msg_set(&why->renderer.rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	status = trace_values_thread(why->renderer.rec, why->cpu, &why->fault, why->cpu, pid,
				     &values);
	question.place = status ? TRACE_VALUES_NONE : place_in(why, &values);
	if (question.place != TRACE_VALUES_NONE)
		status = find_in(why, &values, &question, origin);
	if (!status && origin->nr && !is_older(origin)) {
		struct trace_values was = why->values;

		why->values = values;
		why->origin = *origin;
		values = was;
	}
	trace_values_close(&values);
	return status;
}

static enum btsrec_status find_origin(struct why *why)
{
	uint32_t pid = asked_thread(why);
	enum btsrec_status status = find_in(why, &why->values, &why->question, &why->origin);

	if (status || why->max_bytes || why->opts->max_events || !pid ||
	    why->values.constants.of_thread || !is_older(&why->origin))
		return status;
	return find_of_thread(why, pid);
}

/* The handler of the fault has gone to another CPU, where it froze: the fault is on @why->cpu. */
static enum btsrec_status find_moved(struct why *why)
{
	const struct btsrec_cpu *page = btsrec_cpu(why->renderer.rec, why->cpu);
	unsigned int cpu = why->cpu;
	struct thread thread = { 0 };
	enum btsrec_status status;
	struct fault fault;
	size_t interval;
	uint32_t pid = page && page->frozen ? page->freeze.pid : 0;

	if (!pid)
		return BTSREC_OK;
	status = thread_open(&thread, why->renderer.rec, pid, false);
	if (!status)
		status = trace_fault_moved(&thread, cpu, &fault, &interval);
	if (!status && fault.kind != FAULT_UNKNOWN) {
		why->fault = fault;
		why->cpu = thread.intervals.list[interval].cpu;
		status = trace_values_thread(why->renderer.rec, cpu, &why->fault, why->cpu, pid,
					     &why->values);
	}
	thread_close(&thread);
	return status;
}

static enum btsrec_status find_answer(struct why *why)
{
	enum btsrec_status status = trace_fault(why->renderer.rec, why->cpu, &why->fault);

	if (!status && why->fault.kind == FAULT_UNKNOWN && !why->opts->has_at &&
	    !why->opts->max_events && !why->max_bytes)
		status = find_moved(why);
	if (!status && !why->values.values)
		status = open_values(why, why->cpu, &why->fault, &why->values);
	if (!status)
		status = ask(why);
	if (status || why->lacks)
		return status;
	return find_origin(why);
}

static enum btsrec_status answer(struct why *why)
{
	enum btsrec_status status = find_answer(why);

	if (!status)
		status = find_candidates(why);
	if (status)
		return status;
	if (why->fn)
		why_values(why);
	else if (why->opts->format == BTSREC_FORMAT_JSONL)
		why_json(why);
	else
		why_text(why);
	return out_flush(&why->renderer.out);
}

static enum btsrec_status check(struct btsrec *rec, struct why *why)
{
	enum btsrec_status status = cpus_check(rec, NULL, 0);

	if (status)
		return status;
	if (why->opts->format != BTSREC_FORMAT_TEXT && why->opts->format != BTSREC_FORMAT_JSONL)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "why answers as text or JSON lines");
	if (!trace_code(rec))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	why->cpu = why->opts->has_cpu ? why->opts->cpu : btsrec_root(rec)->freeze_cpu;
	return cpus_check(rec, &why->cpu, 1);
}

/* As text to @sink, or, if there is @fn, as values to it. */
static enum btsrec_status put_why(struct btsrec *rec, const struct btsrec_why *opts,
				  const struct btsrec_sink *sink, btsrec_origin_fn fn, void *arg)
{
	_cleanup_free_ struct why *why = calloc(1, sizeof(*why));
	enum btsrec_status status;

	if (!why)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	why->opts = opts;
	why->fn = fn;
	why->arg = arg;
	why->renderer.rec = rec;
	status = check(rec, why);
	if (!status) {
		out_init(&why->renderer.out, sink);
		status = answer(why);
		trace_values_close(&why->values);
	}
	return cpus_end(rec, &why->cpu, status);
}

enum btsrec_status btsrec_why(struct btsrec *rec, const struct btsrec_why *given,
			      const struct btsrec_sink *sink)
{
	struct btsrec_why opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	return status ? status : put_why(rec, &opts, sink, NULL, NULL);
}

enum btsrec_status btsrec_why_each(struct btsrec *rec, const struct btsrec_why *given,
				   btsrec_origin_fn fn, void *arg)
{
	struct btsrec_why opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = values_check(&rec->msg, opts.format);
	return status ? status : put_why(rec, &opts, &values_sink, fn, arg);
}

/* --- For the summary ------------------------------------------------------ */

enum btsrec_status why_newest(struct why *why, struct btsrec *rec, unsigned int cpu,
			      const struct btsrec_why *opts, uint64_t max_bytes)
{
	why->opts = opts;
	why->cpu = cpu;
	why->max_bytes = max_bytes;
	why->renderer.rec = rec;
	if (!trace_code(rec))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	return find_answer(why);
}

void why_fini(struct why *why)
{
	trace_values_close(&why->values);
}
