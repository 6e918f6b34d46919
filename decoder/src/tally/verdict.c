// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/verdict.h"

#include "code/code.h"
#include "recorder/record.h"

/* SDM vol. 3A, "Exception and Interrupt Vectors". */
#define VECTOR_INVALID_OPCODE	6
#define VECTOR_DOUBLE_FAULT	8
#define VECTOR_PROTECTION	13
#define VECTOR_PAGE_FAULT	14

/* The kernel calls an address below this one a NULL pointer (arch/x86/mm/fault.c). */
#define NULL_BYTES		4096

/* Bits of a page fault's error code (SDM vol. 3A, "Page-Fault Exception (#PF)"). */
#define ERROR_PRESENT		(1U << 0)
#define ERROR_RESERVED		(1U << 3)

/* Of five levels: what is not canonical there is so nowhere. */
#define VA_BITS_MAX		57

/* What the access of the instruction does, if it has one and only one. */
static enum verdict_access access_of(const struct sem_insn *insn)
{
	if (!insn || insn->load_bytes == SEM_ANY_BYTES || insn->store_bytes == SEM_ANY_BYTES)
		return VERDICT_UNKNOWN_ACCESS;
	switch (insn->op) {
	case SEM_PUSH:
	case SEM_POP:
	case SEM_CALL:
	case SEM_RET:
	case SEM_LEAVE:
	case SEM_IRET:
	case SEM_STRING:
		return VERDICT_UNKNOWN_ACCESS;	/* of the stack, or of two places */
	default:
		break;
	}
	if (insn->store_bytes)
		return VERDICT_WRITE;
	return insn->load_bytes ? VERDICT_READ : VERDICT_UNKNOWN_ACCESS;
}

bool verdict_address(const struct verdict_facts *facts, uint64_t *ret)
{
	struct known regs[SEM_NR_REGS], address;
	struct sem_state state = { 0 };

	if (!facts->frame || facts->insn->segment)
		return false;
	for (size_t i = 0; i < SEM_NR_REGS; i++) {
		regs[i] = known_all(facts->frame->regs[i]);
		state.before[i] = &regs[i];
		state.behind[i] = &regs[i];
	}
	address = sem_address(facts->insn, &state);
	*ret = address.value;
	return known_is_all(address, 64);
}

static enum walk_access access_at(const struct verdict_facts *facts, uint64_t va)
{
	return facts->access_at ? facts->access_at(facts->arg, va) : WALK_ACCESS_UNKNOWN;
}

/* Does the access at @va make the exception?  @ret: it does not; both false: that is not known. */
static bool is_culprit(const struct verdict_facts *facts, uint64_t va, bool writes, bool *ret)
{
	enum walk_access access = va < NULL_BYTES ? WALK_ACCESS_NONE : access_at(facts, va);
	bool canonical = record_canonical(va, VA_BITS_MAX);

	*ret = false;
	if (facts->fault->vector == VECTOR_PROTECTION) {
		*ret = access == WALK_ACCESS_WRITE || (canonical && access == WALK_ACCESS_NONE);
		return !canonical;
	}
	*ret = access == WALK_ACCESS_WRITE || (access == WALK_ACCESS_READ && !writes);
	return access && !*ret;
}

/*
 * MOVS reads at RSI and writes at RDI, STOS only writes (SDM vol. 2): the one that faults, if it is
 * known that the other does not.  The registers are those of the round that did.
 */
static enum verdict_access string_access(const struct verdict_facts *facts, uint64_t *ret)
{
	const struct sem_insn *insn = facts->insn;
	bool loads, stores, no_load = true, no_store;

	if (!insn || insn->op != SEM_STRING || !facts->frame || insn->segment ||
	    insn->address_bytes != sizeof(uint64_t))
		return VERDICT_UNKNOWN_ACCESS;
	loads = insn->writes & 1U << SEM_RSI &&
		is_culprit(facts, facts->frame->regs[SEM_RSI], false, &no_load);
	stores = is_culprit(facts, facts->frame->regs[SEM_RDI], true, &no_store);
	if ((!loads || !no_store) && (!stores || !no_load))
		return VERDICT_UNKNOWN_ACCESS;
	*ret = facts->frame->regs[loads ? SEM_RSI : SEM_RDI];
	return loads ? VERDICT_READ : VERDICT_WRITE;
}

static enum verdict_kind kind_of_fault(const struct verdict_facts *facts,
				       const struct verdict *verdict)
{
	uint64_t error = facts->frame && facts->frame->has_error_code ? facts->frame->error_code :
									 0;

	if (verdict->address < NULL_BYTES)
		return VERDICT_NULL;
	if (error & ERROR_RESERVED)
		return VERDICT_PAGE_TABLE;
	if (error & ERROR_PRESENT && !code_is_kernel(verdict->address))
		return VERDICT_USER_MEMORY;
	if (verdict->access == VERDICT_WRITE &&
	    access_at(facts, verdict->address) == WALK_ACCESS_READ)
		return VERDICT_READ_ONLY;
	return VERDICT_ADDRESS;
}

/* A page fault or #GP of an instruction that is there. */
static struct verdict verdict_of_access(const struct verdict_facts *facts, bool is_page_fault)
{
	struct verdict verdict = {
		.kind = is_page_fault ? VERDICT_ACCESS : VERDICT_PROTECTION,
		.access = access_of(facts->insn),
		.ip = facts->fault->from,
	};
	enum verdict_access string = string_access(facts, &verdict.address);

	if (string) {
		verdict.access = string;
	} else if (!verdict.access || !verdict_address(facts, &verdict.address)) {
		if (!is_page_fault)
			verdict.access = VERDICT_UNKNOWN_ACCESS;
		return verdict;
	}
	verdict.has_address = true;
	if (is_page_fault)
		verdict.kind = kind_of_fault(facts, &verdict);
	else if (!record_canonical(verdict.address, VA_BITS_MAX))
		verdict.kind = VERDICT_NON_CANONICAL;
	else
		verdict = (struct verdict){ .kind = VERDICT_PROTECTION, .ip = verdict.ip };
	return verdict;
}

/*
 * A double fault: what was stored had no place below the stack pointer.  A stack that has
 * overflowed is right above a page that is left free for that.
 */
static void find_stack(const struct verdict_facts *facts, struct verdict *verdict)
{
	uint64_t sp, above;

	if (!facts->frame)
		return;
	sp = facts->frame->regs[SEM_RSP];
	above = sp - sizeof(uint64_t) + BTSREC_PAGE_BYTES;
	if (access_at(facts, sp - sizeof(uint64_t)) != WALK_ACCESS_NONE)
		return;
	if (access_at(facts, above) == WALK_ACCESS_WRITE) {
		verdict->kind = VERDICT_STACK_OVERFLOW;
	} else if (above < sp || access_at(facts, above) == WALK_ACCESS_NONE) {
		verdict->kind = VERDICT_BAD_STACK;
		verdict->has_address = true;
		verdict->address = sp;
	}
}

/* The branch is the newest one, and what it led to is no code. */
static struct verdict verdict_of_branch(const struct verdict_facts *facts)
{
	return (struct verdict){
		.kind = VERDICT_NO_CODE,
		.access = facts->came ? facts->came_by : VERDICT_UNKNOWN_ACCESS,
		.has_address = true,
		.address = facts->fault->from,
		.ip = facts->came ? facts->came->from : 0,
	};
}

bool verdict_is_indirect(const struct sem_insn *insn)
{
	return insn->op == SEM_RET || ((insn->op == SEM_JMP || insn->op == SEM_CALL) &&
				       insn->operands[0].kind != SEM_IMMEDIATE);
}

/*
 * A near branch to what no address can be is a #GP of its own.  If it reads no memory but the
 * stack, it has no other (SDM vol. 2, "JMP", "CALL", "RET", 64-bit mode exceptions).
 */
static bool is_wild(const struct verdict_facts *facts)
{
	if (!facts->insn || !verdict_is_indirect(facts->insn))
		return false;
	if (facts->has_target)
		return !record_canonical(facts->target, VA_BITS_MAX);
	return facts->insn->operands[0].kind != SEM_MEMORY;
}

static struct verdict verdict_of_wild(const struct verdict_facts *facts)
{
	return (struct verdict){
		.kind = VERDICT_NO_CODE,
		.access = facts->came_by,
		.has_address = facts->has_target,
		.address = facts->target,
		.ip = facts->came ? facts->came->from : facts->fault->from,
	};
}

static struct verdict verdict_of_exception(const struct verdict_facts *facts)
{
	struct verdict verdict = { .kind = VERDICT_EXCEPTION, .ip = facts->fault->from };
	int vector = facts->fault->vector;

	if (vector == VECTOR_PAGE_FAULT && facts->is_none)
		return verdict_of_branch(facts);
	if (vector == VECTOR_PROTECTION && is_wild(facts))
		return verdict_of_wild(facts);
	if (vector == VECTOR_PAGE_FAULT || vector == VECTOR_PROTECTION)
		return verdict_of_access(facts, vector == VECTOR_PAGE_FAULT);
	if (vector == VECTOR_INVALID_OPCODE && facts->is_trap)
		verdict.kind = facts->reason == BTSREC_REASON_OOPS ? VERDICT_BUG : VERDICT_WARN;
	else if (vector == VECTOR_DOUBLE_FAULT)
		find_stack(facts, &verdict);
	return verdict;
}

/* A lockup or a stall: what was interrupted, or reports it, and has not come back. */
static struct verdict verdict_of_stay(const struct verdict_facts *facts)
{
	if (!facts->stay)
		return (struct verdict){ .kind = VERDICT_LOCKUP };
	return (struct verdict){
		.kind = VERDICT_STUCK,
		.ip = facts->stay->ip,
		.stay = *facts->stay,
	};
}

bool verdict_is_lockup(enum btsrec_reason reason)
{
	return reason == BTSREC_REASON_HARD_LOCKUP || reason == BTSREC_REASON_SOFT_LOCKUP ||
	       reason == BTSREC_REASON_RCU_STALL;
}

struct verdict verdict_of(const struct verdict_facts *facts)
{
	const struct fault *fault = facts->fault;

	if (verdict_is_lockup(facts->reason))
		return verdict_of_stay(facts);
	switch (facts->reason) {
	case BTSREC_REASON_HUNG_TASK:
		return (struct verdict){ .kind = VERDICT_HUNG_TASK };
	case BTSREC_REASON_MCE:
		return (struct verdict){ .kind = VERDICT_MACHINE_CHECK,
					 .ip = fault->kind ? fault->from : 0 };
	case BTSREC_REASON_FUNCTION:
	case BTSREC_REASON_TRACEPOINT:
	case BTSREC_REASON_REQUEST:
		return (struct verdict){ .kind = VERDICT_TRIGGER,
					 .ip = fault->kind == FAULT_CALL ? fault->from : 0 };
	case BTSREC_REASON_PANIC:
	case BTSREC_REASON_OOPS:
	case BTSREC_REASON_NMI:
	case BTSREC_REASON_WARN:
		break;
	default:
		return (struct verdict){ .kind = VERDICT_NONE };
	}
	switch (fault->kind) {
	case FAULT_EXCEPTION:
		return verdict_of_exception(facts);
	case FAULT_CALL:
		return (struct verdict){ .kind = VERDICT_PANIC, .ip = fault->from };
	case FAULT_NMI:
		return (struct verdict){ .kind = VERDICT_NMI, .ip = fault->from };
	case FAULT_STOP:
	case FAULT_UNKNOWN:
		break;
	}
	return (struct verdict){ .kind = VERDICT_NONE };
}

const char *verdict_kind_str(enum verdict_kind kind)
{
	switch (kind) {
	case VERDICT_NONE:
		return "none";
	case VERDICT_NULL:
		return "null-pointer";
	case VERDICT_ADDRESS:
		return "bad-address";
	case VERDICT_READ_ONLY:
		return "read-only";
	case VERDICT_USER_MEMORY:
		return "user-memory";
	case VERDICT_PAGE_TABLE:
		return "page-table";
	case VERDICT_NON_CANONICAL:
		return "non-canonical-address";
	case VERDICT_ACCESS:
		return "page-fault";
	case VERDICT_NO_CODE:
		return "no-code";
	case VERDICT_PROTECTION:
		return "general-protection";
	case VERDICT_BUG:
		return "bug";
	case VERDICT_WARN:
		return "warning";
	case VERDICT_STACK_OVERFLOW:
		return "stack-overflow";
	case VERDICT_BAD_STACK:
		return "bad-stack";
	case VERDICT_EXCEPTION:
		return "exception";
	case VERDICT_PANIC:
		return "panic";
	case VERDICT_NMI:
		return "nmi";
	case VERDICT_MACHINE_CHECK:
		return "machine-check";
	case VERDICT_STUCK:
		return "stuck";
	case VERDICT_LOCKUP:
		return "lockup";
	case VERDICT_HUNG_TASK:
		return "hung-task";
	case VERDICT_TRIGGER:
		return "trigger";
	}
	return "unknown";
}

const char *verdict_access_str(enum verdict_access access)
{
	switch (access) {
	case VERDICT_READ:
		return "read";
	case VERDICT_WRITE:
		return "write";
	case VERDICT_CALL:
		return "call";
	case VERDICT_JUMP:
		return "jump";
	case VERDICT_RETURN:
		return "return";
	case VERDICT_UNKNOWN_ACCESS:
		break;
	}
	return NULL;
}
