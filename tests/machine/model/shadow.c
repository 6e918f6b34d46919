// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "shadow.h"

/* THREAD_SIZE and the alignment of stacks (arch/x86/include/asm/page_64_types.h). */
#define KERNEL_STACK_BYTES	16384
#define GUARD_BYTES		4096	/* between stacks that are neighbours */

/* CR3 without PCID and without the halves of page-table isolation. */
#define CR3_SPACE_MASK		0x000fffffffffe000ULL

/** shadow_clear() - nothing is known of the stack */
void shadow_clear(struct shadow *shadow)
{
	shadow->nr = 0;
	shadow->nr_lost = 0;
}

/** shadow_push() - a call, or an entry of the kernel */
void shadow_push(struct shadow *shadow, const struct shadow_frame *frame)
{
	if (shadow->nr == SHADOW_MAX_FRAMES) {
		memmove(shadow->frames, shadow->frames + 1,
			(SHADOW_MAX_FRAMES - 1) * sizeof(*shadow->frames));
		shadow->nr--;
		shadow->nr_lost++;
	}
	shadow->frames[shadow->nr++] = *frame;
}

/* Interrupts run on a stack of their own; what lies on the thread's stays alive. */
static bool same_stack(uint64_t slot, uint64_t sp)
{
	if (slot >> 63 != sp >> 63)
		return false;
	return !(sp >> 63) || sp - slot < GUARD_BYTES ||
		slot / KERNEL_STACK_BYTES == sp / KERNEL_STACK_BYTES;
}

/** shadow_drop_below() - the stack pointer is @sp now: calls below are over */
void shadow_drop_below(struct shadow *shadow, uint64_t sp)
{
	while (shadow->nr) {
		const struct shadow_frame *top = &shadow->frames[shadow->nr - 1];

		if (top->logged.kind != MODEL_FRAME_CALL || top->sp >= sp ||
		    !same_stack(top->sp, sp))
			return;
		shadow->nr--;
	}
}

/**
 * shadow_return() - a return led to @to and left the innermost call on the stack
 *
 * The entry code makes room for registers below a return address and returns from a
 * copy of it (PUSH_AND_CLEAR_REGS with save_ret, arch/x86/entry/calling.h).
 */
void shadow_return(struct shadow *shadow, uint64_t to)
{
	const struct shadow_frame *top = &shadow->frames[shadow->nr - 1];

	if (shadow->nr && top->logged.kind == MODEL_FRAME_CALL && top->logged.ret == to)
		shadow->nr--;
}

/**
 * shadow_iret_kernel() - IRET led to kernel code and left the stack pointer at @sp
 *
 * The kernel also uses IRET to serialize, to the next instruction: then @sp is that of
 * no interrupted code.
 */
void shadow_iret_kernel(struct shadow *shadow, uint64_t sp)
{
	for (unsigned int nr = shadow->nr; nr; nr--) {
		const struct shadow_frame *frame = &shadow->frames[nr - 1];

		if (frame->logged.kind == MODEL_FRAME_KERNEL_ENTRY && frame->sp == sp) {
			shadow->nr = nr - 1;
			return;
		}
	}
}

/**
 * shadow_to_user() - user mode begins or goes on
 * @cr3: where; other than at the entry: exec, and the old stack is gone
 */
void shadow_to_user(struct shadow *shadow, uint64_t cr3)
{
	while (shadow->nr) {
		const struct shadow_frame *frame = &shadow->frames[--shadow->nr];

		if (frame->logged.kind != MODEL_FRAME_USER_ENTRY)
			continue;
		if ((frame->cr3 ^ cr3) & CR3_SPACE_MASK)
			shadow_clear(shadow);
		return;
	}
	shadow->nr_lost = 0;
}
