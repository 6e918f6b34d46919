// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/unwind.h"

#include <string.h>

#include "code/kernel_code.h"
#include "code/semantics.h"
#include "flow/saved_frame.h"

/* ftrace's call at the beginning of a function, maybe after an ENDBR. */
#define HOOK_CALL_BYTES	5

/* The longest call is one with an address of 4 bytes, an SIB byte and two prefixes. */
#define CALL_MAX_BYTES	9

#define FIRST_IRQ_VECTOR	32

/* PUSHF and POPF (SDM vol. 2B). */
#define OPCODE_PUSHF	0x9c
#define OPCODE_POPF	0x9d

/* Functions begin at multiples of this (FUNCTION_ALIGNMENT of arch/x86). */
#define FUNCTION_ALIGN	16

static bool read_word(struct code *code, uint64_t va, uint64_t *ret)
{
	size_t nr_bytes;
	uint64_t word;

	if (!code_is_kernel(va) || va % WORD_BYTES ||
	    code_bytes(code, 0, va, (uint8_t *)&word, sizeof(word), &nr_bytes))
		return false;
	*ret = word;
	return true;
}

/* A call of a thunk has a prefix, to have room for another one (-mindirect-branch-cs-prefix). */
static bool has_prefix(struct code *code, uint64_t va, const struct code_insn *call)
{
	struct code_insn insn;

	return call->there == CODE_THUNK_INDIRECT && !code_insn(code, 0, va - 1, false, &insn) &&
	       insn.class == CODE_CALL && insn.length_bytes == call->length_bytes + 1;
}

uint64_t unwind_call_in(struct code *code, uint64_t cr3, uint64_t va, uint64_t *ret_target,
			bool *ret_unknown)
{
	struct code_insn insn;

	*ret_target = 0;
	*ret_unknown = false;
	for (unsigned int nr = 2; nr <= CALL_MAX_BYTES; nr++) {
		enum code_fault fault = code_insn(code, cr3, va - nr, false, &insn);

		*ret_unknown |= code_fault_unknown(fault);
		if (fault || insn.length_bytes != nr)
			continue;
		if (insn.class == CODE_CALL)
			*ret_target = insn.target;
		if (insn.class == CODE_CALL || insn.class == CODE_CALL_IND)
			return has_prefix(code, va - nr, &insn) ? va - nr - 1 : va - nr;
	}
	return 0;
}

/* A direct call: E8 and the distance (SDM vol. 2A, "CALL").  A kprobe puts INT3 in place of E8. */
#define DIRECT_CALL_BYTES	5
#define INT3			0xcc

/* Where the distance leads a function begins, as it would not by chance. */
static uint64_t probed_call(struct code *code, uint64_t va, uint64_t *ret_target)
{
	uint8_t bytes[DIRECT_CALL_BYTES];
	size_t nr_bytes;
	int32_t distance;

	if (code_bytes(code, 0, va - sizeof(bytes), bytes, sizeof(bytes), &nr_bytes) ||
	    bytes[0] != INT3)
		return 0;
	memcpy(&distance, bytes + 1, sizeof(distance));
	if (!kernel_code_entry(code, va + (uint64_t)(int64_t)distance))
		return 0;
	*ret_target = va + (uint64_t)(int64_t)distance;
	return va - sizeof(bytes);
}

uint64_t unwind_call(struct code *code, uint64_t va, uint64_t *ret_target)
{
	uint64_t from;
	bool unknown;

	*ret_target = 0;
	if (!code_is_top(va))
		return 0;
	from = unwind_call_in(code, 0, va, ret_target, &unknown);
	return from ? from : probed_call(code, va, ret_target);
}

/* --- The ways out of a function ------------------------------------------ */

/* Of most functions these are all; a power of two. */
#define MAX_PLACES	2048
#define PLACE_SHIFT	53
#define MAX_TODO	512
/* Ends that must agree. */
#define MAX_ENDS	4

/** struct place - an instruction, and RSP and RBP before it; 0: not known */
struct place {
	uint64_t va;
	uint64_t sp;
	uint64_t bp;
};

/**
 * struct ways - all ways that lead on from an instruction
 * @goal: an instruction that is looked for; 0: the ends are.  @found: it is there, with @goal_sp.
 * @seen: by hash; @nr_seen of them.
 * @todo: @nr_todo places at which ways go on.
 * @nr_ends: returns that were found, with @end_sp and @end_bp; @is_iret: they are IRETs.
 * @to_user: one leads there, over another stack.
 * @failed: two ways disagree.
 */
struct ways {
	struct code *code;
	uint64_t goal;
	bool found;
	uint64_t goal_sp;
	struct place seen[MAX_PLACES];
	size_t nr_seen;
	struct place todo[MAX_TODO];
	size_t nr_todo;
	unsigned int nr_ends;
	uint64_t end_sp;
	uint64_t end_bp;
	bool is_iret;
	bool to_user;
	bool failed;
};

/* Has a way been here before?  A place that is known must have the same stack pointer. */
static bool was_seen(struct ways *ways, struct place place)
{
	size_t i = (place.va * 0x9e3779b97f4a7c15ULL) >> PLACE_SHIFT;

	while (ways->seen[i].va && ways->seen[i].va != place.va)
		i = (i + 1) % MAX_PLACES;
	if (ways->seen[i].va) {
		ways->failed |= ways->seen[i].sp != place.sp && !ways->goal;
		return true;
	}
	ways->seen[i] = place;
	ways->nr_seen++;
	return false;
}

static void go_on(struct ways *ways, uint64_t va, const struct place *from)
{
	if (ways->nr_todo < MAX_TODO)
		ways->todo[ways->nr_todo++] = (struct place){ va, from->sp, from->bp };
}

static void end_at(struct ways *ways, const struct place *place, bool is_iret)
{
	uint64_t sp = place->sp;

	if (!sp) {
		ways->to_user |= is_iret;
		return;
	}
	if (ways->nr_ends && (ways->end_sp != sp || ways->is_iret != is_iret))
		ways->failed = true;
	ways->end_bp = ways->nr_ends && ways->end_bp != place->bp ? 0 : place->bp;
	ways->nr_ends++;
	ways->end_sp = sp;
	ways->is_iret = is_iret;
}

static bool is_reg(const struct sem_operand *operand, enum sem_reg reg)
{
	return operand->kind == SEM_REGISTER && operand->reg == reg && operand->bytes == WORD_BYTES;
}

/* What MOV, LEA, ADD or SUB writes to RSP or RBP; 0: not known. */
static uint64_t result(const struct sem_insn *insn, const struct place *place)
{
	const struct sem_operand *to = &insn->operands[0], *from = &insn->operands[1];
	uint64_t old = is_reg(to, SEM_RSP) ? place->sp : place->bp, base;

	switch (insn->op) {
	case SEM_MOV:
		return is_reg(from, SEM_RSP) ? place->sp : is_reg(from, SEM_RBP) ? place->bp : 0;
	case SEM_LEA:
		base = insn->base == SEM_RSP ? place->sp : insn->base == SEM_RBP ? place->bp : 0;
		return base && insn->index == SEM_NO_REG ? base + (uint64_t)insn->disp : 0;
	case SEM_ADD:
		return old && from->kind == SEM_IMMEDIATE ? old + from->value : 0;
	case SEM_SUB:
		return old && from->kind == SEM_IMMEDIATE ? old - from->value : 0;
	default:
		return 0;
	}
}

static uint64_t popped(struct ways *ways, struct place *place)
{
	uint64_t word = 0;

	if (place->sp)
		(void)read_word(ways->code, place->sp, &word);
	place->sp += place->sp ? WORD_BYTES : 0;
	return word;
}

/* What an instruction that is no branch does to both registers. */
static void move(struct ways *ways, const struct sem_insn *insn, struct place *place)
{
	const struct sem_operand *to = &insn->operands[0];
	uint64_t value;

	if (insn->op == SEM_PUSH || insn->bytes[0] == OPCODE_PUSHF) {
		place->sp -= place->sp ? WORD_BYTES : 0;
	} else if (insn->op == SEM_POP || insn->bytes[0] == OPCODE_POPF) {
		value = popped(ways, place);
		if (is_reg(to, SEM_RBP))
			place->bp = value;
		else if (is_reg(to, SEM_RSP))
			place->sp = value;	/* back from another stack */
	} else if (insn->op == SEM_LEAVE) {
		place->sp = place->bp;
		place->bp = popped(ways, place);
	} else if (insn->writes & 1U << SEM_RSP) {
		place->sp = is_reg(to, SEM_RSP) ? result(insn, place) : 0;
	} else if (insn->writes & 1U << SEM_RBP) {
		place->bp = is_reg(to, SEM_RBP) ? result(insn, place) : 0;
	}
}

static bool plain(struct ways *ways, struct place *place)
{
	uint8_t bytes[CODE_INSN_MAX_BYTES];
	struct sem_insn insn;
	size_t nr_bytes;

	(void)code_bytes(ways->code, 0, place->va, bytes, sizeof(bytes), &nr_bytes);
	if (!nr_bytes || !sem_decode(bytes, nr_bytes, place->va, &insn))
		return false;
	move(ways, &insn, place);
	return true;
}

/* A call that never returns is maybe the last of its function: then another one begins. */
static bool begins_function(const struct ways *ways, uint64_t va)
{
	return va % FUNCTION_ALIGN == 0 && kernel_code_entry(ways->code, va);
}

/* One instruction; false: the way ends here. */
static bool step(struct ways *ways, struct place *place)
{
	struct code_insn insn;

	if (code_insn(ways->code, 0, place->va, false, &insn))
		return false;
	switch (insn.class) {
	case CODE_PLAIN:
	case CODE_WRMSR:
		if (!plain(ways, place))
			return false;
		break;
	case CODE_RET:
		end_at(ways, place, false);
		return false;
	case CODE_ERET:
		place->sp += place->sp ? WORD_BYTES : 0;
		end_at(ways, place, true);
		return false;
	case CODE_IRET:
		end_at(ways, place, true);
		return false;
	case CODE_SYSRET:
		ways->to_user = true;
		return false;
	case CODE_JUMP:
		if (insn.there == CODE_THUNK_RETURN)
			end_at(ways, place, false);
		else if (!insn.there)
			go_on(ways, insn.target, place);
		return false;
	case CODE_COND:
		if (!insn.there)
			go_on(ways, insn.target, place);
		break;
	case CODE_CALL:
	case CODE_CALL_IND:
		break;
	default:
		return false;
	}
	place->va += insn.length_bytes;
	return !begins_function(ways, place->va);
}

static void follow(struct ways *ways, uint64_t va, uint64_t sp, uint64_t bp)
{
	const struct place first = { va, sp, bp };

	go_on(ways, va, &first);
	while (ways->nr_todo && !ways->failed && !ways->found && ways->nr_ends < MAX_ENDS) {
		struct place place = ways->todo[--ways->nr_todo];

		/* Half of the table is left free, so that it is fast. */
		do {
			ways->found = ways->goal && place.va == ways->goal;
			ways->goal_sp = place.sp;
			if (ways->nr_seen >= MAX_PLACES / 2)
				return;
		} while (!ways->found && !was_seen(ways, place) && step(ways, &place));
	}
}

/* --- Where they lead ----------------------------------------------------- */

/* Entries are shorter than this, and their handlers are the last ones before what is in them. */
#define ENTRY_MAX_BYTES	1024

int unwind_vector(struct code *code, uint64_t ip)
{
	const struct idt *idt = code_idt(code);
	const struct idt_gate *gate = NULL;
	struct ways ways = { .code = code, .goal = ip };

	for (unsigned int i = 0; i < idt->nr && idt->sorted[i].handler_kva < ip; i++)
		gate = &idt->sorted[i];
	if (!gate || gate->vector >= FIRST_IRQ_VECTOR || ip - gate->handler_kva > ENTRY_MAX_BYTES)
		return -1;
	follow(&ways, gate->handler_kva, 0, 0);
	return ways.found ? (int)gate->vector : -1;
}

static bool out_of(struct unwind *unwind, enum unwind_how how)
{
	unwind->how = how;
	return how != UNWIND_UNKNOWN;
}

static bool interrupted(struct unwind *unwind, uint64_t sp)
{
	uint64_t words[IRET_WORDS];

	for (unsigned int i = 0; i < IRET_WORDS; i++)
		if (!read_word(unwind->code, sp + (uint64_t)i * WORD_BYTES, &words[i]))
			return out_of(unwind, UNWIND_UNKNOWN);
	if (!(words[IRET_RFLAGS] & RFLAGS_ALWAYS))
		return out_of(unwind, UNWIND_UNKNOWN);
	unwind->regs_kva = sp - REGS_RIP_BYTES;
	if (iret_is_user(words[IRET_CS]))
		return out_of(unwind, UNWIND_USER);
	if ((words[IRET_CS] & SEGMENT_MASK) != KERNEL_CS)
		return out_of(unwind, UNWIND_UNKNOWN);
	unwind->vector = unwind_vector(unwind->code, unwind->ip);
	unwind->ip = words[IRET_RIP];
	unwind->from = unwind->ip;
	unwind->sp = words[IRET_RSP];
	unwind->bp = 0;
	(void)read_word(unwind->code, unwind->regs_kva + REGS_RBP * WORD_BYTES, &unwind->bp);
	return out_of(unwind, UNWIND_INTERRUPTED);
}

/* The return address at @sp. */
static bool returned(struct unwind *unwind, uint64_t sp)
{
	uint64_t target, word, from = 0;

	if (read_word(unwind->code, sp, &word))
		from = unwind_call(unwind->code, word, &target);
	if (!from)
		return out_of(unwind, UNWIND_UNKNOWN);
	unwind->from = from;
	unwind->ip = word;
	unwind->sp = sp + WORD_BYTES;
	return out_of(unwind, UNWIND_CALLED);
}

/* How far back a function begins. */
#define FUNCTION_MAX_BYTES	16384
/* Few that call what never returns have more on the stack. */
#define CALL_MAX_ROOM_BYTES	512
/* The stack pointer at an entry, where it does not matter; no address of the kernel. */
#define ANY_SP			(1ULL << 40)

/* How much the function that begins at @va has on the stack when it is at @unwind. */
static bool room_of(const struct unwind *unwind, uint64_t va, uint64_t *ret_bytes)
{
	struct ways ways = { .code = unwind->code, .goal = unwind->ip };

	follow(&ways, va, ANY_SP, 0);
	*ret_bytes = ANY_SP - ways.goal_sp;
	return ways.found && ways.goal_sp;
}

/* The nearest beginning of a function before it. */
static bool find_entry(const struct unwind *unwind, uint64_t *ret_bytes)
{
	uint64_t va = unwind->ip / FUNCTION_ALIGN * FUNCTION_ALIGN;

	/* Maybe another one begins after the call. */
	if (unwind->how == UNWIND_CALLED && va == unwind->ip)
		va -= FUNCTION_ALIGN;
	while (!kernel_code_entry(unwind->code, va)) {
		va -= FUNCTION_ALIGN;
		if (unwind->ip - va > FUNCTION_MAX_BYTES)
			return false;
	}
	return room_of(unwind, va, ret_bytes);
}

/*
 * What runs seldom begins anywhere.  The call that led there says where it begins.  From there as
 * much is put on the stack as lies below the return address of that call.
 */
static bool find_call(const struct unwind *unwind, uint64_t *ret_bytes)
{
	uint64_t word, target;

	for (uint64_t at = 0; at < CALL_MAX_ROOM_BYTES; at += WORD_BYTES) {
		if (!read_word(unwind->code, unwind->sp + at, &word))
			return false;
		if (unwind_call(unwind->code, word, &target) && target &&
		    room_of(unwind, target, ret_bytes) && *ret_bytes == at)
			return true;
	}
	return false;
}

/*
 * Does the call before the return address there lead here?  A function may put more on the stack in
 * some ways: do_syscall_64() does, by a random number.  Then the word is of an older call.
 */
static bool leads_here(const struct unwind *unwind, uint64_t nr_bytes)
{
	uint64_t word, target, nr_unused;

	return read_word(unwind->code, unwind->sp + nr_bytes, &word) &&
	       unwind_call(unwind->code, word, &target) &&
	       (!target || kernel_code_thunk(unwind->code, 0, target) ||
		room_of(unwind, target, &nr_unused));
}

/* No way leads out: the call never returns.  How far in it is the way there says. */
static bool returned_from_entry(struct unwind *unwind)
{
	uint64_t nr_bytes;

	if (!find_call(unwind, &nr_bytes) &&
	    !(find_entry(unwind, &nr_bytes) && leads_here(unwind, nr_bytes)))
		return out_of(unwind, UNWIND_UNKNOWN);
	unwind->bp = 0;
	return returned(unwind, unwind->sp + nr_bytes);
}

/* The entry calls with struct pt_regs on top; new threads of the kernel have an empty one. */
static bool has_user_regs(struct unwind *unwind)
{
	uint64_t cs;

	unwind->regs_kva = unwind->sp;
	return read_word(unwind->code, unwind->sp + REGS_CS * WORD_BYTES, &cs) && iret_is_user(cs);
}

bool unwind_next(struct unwind *unwind)
{
	struct ways ways = { .code = unwind->code };

	if (unwind->how >= UNWIND_USER)
		return false;
	unwind->regs_kva = 0;
	unwind->vector = -1;
	if (unwind->entry) {
		unwind->entry = false;
		return returned(unwind, unwind->sp);
	}
	follow(&ways, unwind->ip, unwind->sp, unwind->bp);
	if (!ways.nr_ends && ways.to_user && !ways.failed)
		return out_of(unwind, has_user_regs(unwind) ? UNWIND_USER : UNWIND_UNKNOWN);
	if (!ways.nr_ends || ways.failed)
		return returned_from_entry(unwind);
	unwind->bp = ways.end_bp;
	return ways.is_iret ? interrupted(unwind, ways.end_sp) : returned(unwind, ways.end_sp);
}

/* --- Where they begin ---------------------------------------------------- */

void unwind_begin(struct unwind *unwind, struct code *code, uint64_t ip, uint64_t sp, uint64_t bp)
{
	*unwind = (struct unwind){ .code = code, .from = ip, .ip = ip, .sp = sp, .bp = bp,
				    .vector = -1 };
}

/*
 * Where a function at its first instruction returns to is on top of the stack.  ftrace takes it off
 * before it hands out registers (ftrace_regs_caller() of ftrace_64.S), kprobes do not.  The call
 * before it leads to the function: so it is one, and is there.
 */
static bool is_at_entry(struct code *code, uint64_t sp, uint64_t ip)
{
	uint64_t target, word;

	return read_word(code, sp, &word) && unwind_call(code, word, &target) &&
	       ip - HOOK_CALL_BYTES - target <= KERNEL_CODE_ENDBR_BYTES;
}

void unwind_freeze(struct unwind *unwind, struct code *code, const struct btsrec_freeze *freeze)
{
	unwind_begin(unwind, code, freeze->ip, freeze->sp, freeze->bp);
	for (uint64_t below = 0; below <= WORD_BYTES && !unwind->entry; below += WORD_BYTES) {
		unwind->entry = is_at_entry(code, freeze->sp - below, freeze->ip);
		if (unwind->entry)
			unwind->sp = freeze->sp - below;
	}
}

/* What __switch_to_asm() pushes: struct inactive_task_frame of asm/switch_to.h. */
#define SWITCH_RBP_BYTES	40
#define SWITCH_PUSHED_BYTES	48

/* "push %rbp; push %rbx; push %r12 ... %r15; mov %rsp,D(%rdi)" of __switch_to_asm(). */
static bool changes_stacks(struct code *code, uint64_t va)
{
	static const uint8_t wanted[] = { 0x55, 0x53, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56,
					  0x41, 0x57, 0x48, 0x89, 0xa7 };
	uint8_t bytes[KERNEL_CODE_ENDBR_BYTES + sizeof(wanted)];
	size_t nr_bytes, at;

	if (code_bytes(code, 0, va, bytes, sizeof(bytes), &nr_bytes))
		return false;
	at = kernel_code_endbr(bytes, nr_bytes);
	return !memcmp(bytes + at, wanted, sizeof(wanted));
}

bool unwind_switched(struct unwind *unwind, struct code *code, uint64_t sp)
{
	uint64_t word, target, from;

	unwind_begin(unwind, code, 0, sp, 0);
	if (!read_word(code, sp + SWITCH_PUSHED_BYTES, &word) ||
	    !read_word(code, sp + SWITCH_RBP_BYTES, &unwind->bp))
		return false;
	from = unwind_call(code, word, &target);
	if (!from || !changes_stacks(code, target))
		return false;
	unwind->from = from;
	unwind->ip = word;
	unwind->sp = sp + SWITCH_PUSHED_BYTES + WORD_BYTES;
	unwind->how = UNWIND_CALLED;
	return true;
}
