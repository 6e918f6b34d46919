// SPDX-License-Identifier: GPL-2.0-or-later
/* What moves, the stack and control do; and which file does the others. */
#include "code/semantics.h"

#include "code/semantics_operands.h"

/* --- Moves -------------------------------------------------------------- */

static void apply_mov(const struct sem_insn *insn, struct sem_state *state)
{
	sem_becomes(insn, state, 0, sem_get(insn, state, 1));
	sem_was(insn, state, 1, sem_got(insn, state, 0));
}

static void apply_movsx(const struct sem_insn *insn, struct sem_state *state)
{
	sem_becomes(insn, state, 0,
		    known_sign_extend(sem_get(insn, state, 1), insn->operands[1].bytes * 8U));
	/* MOVSXD may have a destination that is the shorter one. */
	sem_was(insn, state, 1, known_only(sem_got(insn, state, 0), known_bits(sem_width(insn))));
}

static void apply_lea(const struct sem_insn *insn, struct sem_state *state)
{
	struct known r, rest = known_all((uint64_t)insn->disp);

	sem_becomes(insn, state, 0, sem_address(insn, state));
	r = sem_got(insn, state, 0);
	if (insn->base == SEM_NO_REG || insn->address_bytes != 8 || sem_width(insn) != 64)
		return;
	if (insn->index != SEM_NO_REG && state->before[insn->index]->mask == UINT64_MAX)
		rest.value += state->before[insn->index]->value * insn->scale;
	else if (insn->index != SEM_NO_REG)
		return;
	sem_merge(state, state->before[insn->base], known_sub(r, rest));
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
	sem_becomes(insn, state, 0, sem_get(insn, state, 1));
	sem_becomes(insn, state, 1, sem_get(insn, state, 0));
	sem_was(insn, state, 1, sem_got(insn, state, 0));
	sem_was(insn, state, 0, sem_got(insn, state, 1));
}

static void apply_xadd(const struct sem_insn *insn, struct sem_state *state)
{
	struct known a = sem_get(insn, state, 0), b = sem_get(insn, state, 1);

	if (is_same_register(insn))
		return;
	sem_becomes(insn, state, 0, known_add(a, b, false));
	sem_becomes(insn, state, 1, a);
	sem_was(insn, state, 0, sem_got(insn, state, 1));
}

static void apply_setcc(const struct sem_insn *insn, struct sem_state *state)
{
	struct known holds = sem_condition(state->before[SEM_FLAGS], insn->cc), r;

	sem_becomes(insn, state, 0, (struct known){ holds.value, holds.mask | ~1ULL });
	r = sem_got(insn, state, 0);
	if (r.mask & 1)
		sem_condition_was(state, insn->cc, r.value & 1);
}

static bool differ(struct known a, struct known b, unsigned int nr)
{
	return a.mask & b.mask & (a.value ^ b.value) & known_bits(nr);
}

/* Did @b replace @a, as it became @r?  What differs from @r did not become it. */
static struct known moved(struct sem_state *state, struct known a, struct known b,
			  struct known r, unsigned int nr)
{
	bool by_b = differ(a, r, nr), by_a = differ(b, r, nr);

	state->contradiction |= by_a && by_b;
	return (struct known){ by_b, by_a != by_b };
}

static void apply_cmov(const struct sem_insn *insn, struct sem_state *state)
{
	struct known holds = sem_condition(state->before[SEM_FLAGS], insn->cc);
	struct known a = sem_get(insn, state, 0), b = sem_get(insn, state, 1);

	if (!holds.mask) {
		holds = moved(state, a, b, sem_got(insn, state, 0), sem_width(insn));
		if (holds.mask)
			sem_condition_was(state, insn->cc, holds.value);
	}
	if (holds.mask) {
		sem_becomes(insn, state, 0, holds.value ? b : a);
		sem_was(insn, state, holds.value ? 1 : 0, sem_got(insn, state, 0));
	} else {
		a.mask &= b.mask & ~(a.value ^ b.value);
		a.value &= a.mask;
		sem_becomes(insn, state, 0, a);
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
	sem_becomes(&move, state, 0, rax->mask >> sign & 1 ?
		known_all(rax->value >> sign & 1 ? UINT64_MAX : 0) : known_none());
}

/* --- The stack and control ---------------------------------------------- */

/* RSP moves by @by, whatever happens besides. */
static void move_stack(struct sem_state *state, int64_t by)
{
	struct known *before = state->before[SEM_RSP], *behind = state->behind[SEM_RSP];
	struct known step = known_all((uint64_t)by);

	sem_merge(state, behind, known_add(*before, step, false));
	sem_merge(state, before, known_sub(*behind, step));
}

/* SDM vol. 2, PUSHF: RF and VM are pushed as zeros.  Reserved bits: vol. 1, "EFLAGS Register". */
static void apply_pushf(struct sem_state *state)
{
	const uint64_t zeros = ~0x3fffffULL | 1U << 17 | 1U << 16 | 1U << 15 | 1U << 5 | 1U << 3;
	const uint64_t ones = 1U << 1;
	struct known flags = known_only(*state->before[SEM_FLAGS], SEM_STATUS_FLAGS | SEM_DF);

	move_stack(state, -8);
	if (!state->store)
		return;
	flags.mask |= zeros | ones;
	flags.value |= ones;
	sem_merge(state, state->store, flags);
	sem_merge(state, state->before[SEM_FLAGS],
		  known_only(*state->store, SEM_STATUS_FLAGS | SEM_DF));
}

/* SDM vol. 2, POPF: of these flags all are loaded, whatever the privilege level. */
static void apply_popf(struct sem_state *state)
{
	const uint64_t loaded = SEM_STATUS_FLAGS | SEM_DF;

	move_stack(state, 8);
	if (!state->load)
		return;
	sem_merge(state, state->behind[SEM_FLAGS], known_only(*state->load, loaded));
	sem_merge(state, state->load, known_only(*state->behind[SEM_FLAGS], loaded));
}

static void apply_push(const struct sem_insn *insn, struct sem_state *state)
{
	struct known pushed = sem_get(insn, state, 0);

	if (!insn->operands[0].kind) {
		apply_pushf(state);
		return;
	}
	move_stack(state, -8);
	if (state->store) {
		sem_merge(state, state->store, pushed);
		sem_was(insn, state, 0, *state->store);
	}
}

static void apply_pop(const struct sem_insn *insn, struct sem_state *state)
{
	bool is_rsp = insn->operands[0].reg == SEM_RSP;

	if (!insn->operands[0].kind) {
		apply_popf(state);
		return;
	}
	if (!is_rsp)
		move_stack(state, 8);
	if (state->load) {
		sem_becomes(insn, state, 0, *state->load);
		sem_merge(state, state->load, sem_got(insn, state, 0));
	}
}

/* The register or the word is where it led. */
static void apply_target(const struct sem_insn *insn, struct sem_state *state)
{
	if (state->next_ip)
		sem_was(insn, state, 0, known_all(state->next_ip));
}

static void apply_call(const struct sem_insn *insn, struct sem_state *state)
{
	apply_target(insn, state);
	move_stack(state, -8);
	if (state->store)
		sem_merge(state, state->store, known_all(insn->ip + insn->length_bytes));
}

static void apply_ret(const struct sem_insn *insn, struct sem_state *state)
{
	move_stack(state, 8 + (insn->operands[0].kind ? (int64_t)insn->operands[0].value : 0));
	if (state->load && state->next_ip)
		sem_merge(state, state->load, known_all(state->next_ip));
}

static void apply_leave(struct sem_state *state)
{
	struct known eight = known_all(8);

	sem_merge(state, state->behind[SEM_RSP], known_add(*state->before[SEM_RBP], eight, false));
	sem_merge(state, state->before[SEM_RBP], known_sub(*state->behind[SEM_RSP], eight));
	if (!state->load)
		return;
	sem_merge(state, state->behind[SEM_RBP], *state->load);
	sem_merge(state, state->load, *state->behind[SEM_RBP]);
}

/* Where both ways are one, nothing becomes known. */
static void apply_jcc(const struct sem_insn *insn, struct sem_state *state)
{
	uint64_t behind = insn->ip + insn->length_bytes, target = behind + insn->operands[0].value;

	if (target == behind || (state->next_ip != target && state->next_ip != behind))
		return;
	sem_condition_was(state, insn->cc, state->next_ip == target);
}

/* SDM vol. 2B, "SYSCALL": RCX is where to return, R11 the flags. */
static void apply_syscall(const struct sem_insn *insn, struct sem_state *state)
{
	sem_merge(state, state->behind[SEM_RCX], known_all(insn->ip + insn->length_bytes));
	sem_merge(state, state->behind[SEM_R11], *state->before[SEM_FLAGS]);
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
		sem_merge(state, state->behind[SEM_RCX], known_all(0));
	if (count.mask != UINT64_MAX || !(flags->mask & SEM_DF))
		return;
	if (flags->value & SEM_DF)
		step = -step;
	for (unsigned int reg = SEM_RSI; reg <= SEM_RDI; reg++) {
		if (!(insn->writes & 1U << reg))
			continue;
		sem_merge(state, state->behind[reg],
		      known_add(*state->before[reg], known_all(step), false));
		sem_merge(state, state->before[reg],
			  known_sub(*state->behind[reg], known_all(step)));
	}
}

/* --- All of them -------------------------------------------------------- */

static void apply_flags(const struct sem_insn *insn, struct sem_state *state)
{
	struct known *before = state->before[SEM_FLAGS], *behind = state->behind[SEM_FLAGS];

	if (!(insn->writes & 1U << SEM_FLAGS) || insn->op == SEM_CUT || insn->op == SEM_IRET)
		return;
	sem_merge(state, behind, known_only(*before, insn->keeps_flags));
	sem_merge(state, before, known_only(*behind, insn->keeps_flags));
	sem_merge(state, behind, (struct known){ insn->sets_flags,
					     insn->sets_flags | insn->clears_flags });
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
		sem_apply_arithmetic(insn, state);
	else if (insn->op >= SEM_SHL && insn->op <= SEM_POPCNT)
		sem_apply_bits(insn, state);
	else if ((insn->op >= SEM_PUSH && insn->op <= SEM_IRET) || insn->op == SEM_JCC)
		apply_control(insn, state);
	else
		apply_moves(insn, state);
}
