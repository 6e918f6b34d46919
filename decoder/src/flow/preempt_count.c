// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/preempt_count.h"

/* The variable has 4 bytes, of 7.3 it has 8. */
#define SHORT_BYTES	4
#define LONG_BYTES	8

static struct preempt_change adds(int64_t added)
{
	return (struct preempt_change){ PREEMPT_ADDS, (int32_t)added };
}

/*
 * Does @insn only write PREEMPT_NEED_RESCHED of arch/x86/include/asm/preempt.h?  It is the
 * uppermost bit of 4 bytes, and no count.  No constant of an instruction has only that of 8 bytes.
 */
static bool is_need_resched(const struct sem_insn *insn)
{
	const uint32_t need_resched = 1U << 31;
	uint32_t mask = (uint32_t)insn->operands[1].value;

	if (insn->store_bytes != SHORT_BYTES)
		return false;
	return insn->op == SEM_AND ? mask == ~need_resched :
	       insn->op == SEM_OR  ? mask == need_resched :
				     false;
}

struct preempt_change preempt_change_of(const struct sem_insn *insn, uint64_t place)
{
	bool has_value = insn->operands[1].kind == SEM_IMMEDIATE;

	if (!insn->segment || !insn->store_bytes || insn->base != SEM_NO_REG ||
	    insn->index != SEM_NO_REG || (uint64_t)insn->disp != place)
		return (struct preempt_change){ PREEMPT_KEEPS, 0 };
	if (insn->store_bytes != SHORT_BYTES && insn->store_bytes != LONG_BYTES)
		return (struct preempt_change){ PREEMPT_SETS, 0 };
	if (insn->op == SEM_INC)
		return adds(1);
	if (insn->op == SEM_DEC)
		return adds(-1);
	if (insn->op == SEM_ADD && has_value)
		return adds((int32_t)insn->operands[1].value);
	if (insn->op == SEM_SUB && has_value)
		return adds(-(int64_t)(int32_t)insn->operands[1].value);
	return (struct preempt_change){ has_value && is_need_resched(insn) ? PREEMPT_KEEPS :
									     PREEMPT_SETS, 0 };
}

static void judge(struct preempt_count *count, uint64_t n, uint64_t ip)
{
	bool was_on = count->now.is == ONOFF_ON;

	if (!count->count)
		count->now = (struct onoff){ .is = count->exact ? ONOFF_ON : ONOFF_UNKNOWN };
	else if (count->now.is != ONOFF_OFF)
		count->now = (struct onoff){ .is = ONOFF_OFF, .by = ONOFF_COUNT, .n = n, .ip = ip,
					     .was_on = was_on };
	count->now.count = (uint32_t)count->count;
}

void preempt_count_insn(struct preempt_count *count, const struct preempt_change *change,
			uint64_t n, uint64_t ip)
{
	if (change->op == PREEMPT_KEEPS)
		return;
	if (change->op == PREEMPT_SETS) {
		preempt_count_cut(count);
		return;
	}
	count->count += change->added;
	if (count->count < 0) {
		/* More was taken away than was known: that is the lowest point now. */
		count->count = 0;
		count->exact = false;
	}
	judge(count, n, ip);
}

void preempt_count_user(struct preempt_count *count)
{
	*count = (struct preempt_count){ .now = { .is = ONOFF_ON }, .exact = true };
}

void preempt_count_cut(struct preempt_count *count)
{
	*count = (struct preempt_count){ 0 };
}
