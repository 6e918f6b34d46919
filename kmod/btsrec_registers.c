// SPDX-License-Identifier: GPL-2.0-only
/*
 * All registers of a CPU at its freeze.  In any context, with BTS off and interrupts off: nothing
 * here allocates, locks, prints or can fault.  The frames are on the stack of the caller.
 */
#include <linux/build_bug.h>
#include <linux/string.h>
#include <asm/ptrace.h>
#include <asm/trapnr.h>

#include "btsrec_bts.h"

/* SDM vol. 3A, "Error Code": #DF, #TS, #NP, #SS, #GP, #PF, #AC, #CP, #VC, #SX. */
#define HAVE_ERROR_CODE	(1U << 8 | 1U << 10 | 1U << 11 | 1U << 12 | 1U << 13 | 1U << 14 |	\
			 1U << 17 | 1U << 21 | 1U << 29 | 1U << 30)

static void copy_general(struct btsrec_general *general, const struct pt_regs *regs)
{
	const u64 reg[] = { regs->ax, regs->cx, regs->dx, regs->bx, regs->sp, regs->bp,
			    regs->si, regs->di, regs->r8, regs->r9, regs->r10, regs->r11,
			    regs->r12, regs->r13, regs->r14, regs->r15 };

	BUILD_BUG_ON(sizeof(reg) != sizeof(general->reg));
	memcpy(general->reg, reg, sizeof(reg));
	general->ip = regs->ip;
	general->rflags = regs->flags;
	general->cs = regs->cs;
	general->ss = regs->ss;
}

/**
 * btsrec_registers_enter() - keep what an exception or NMI interrupted, whose handler runs
 * @pc: this CPU's, which has just paused
 * @regs: of the interrupted code
 * @vector: of the exception; X86_TRAP_NMI
 * @error_code: if it has one
 * @address: whose access faulted, of a page fault
 *
 * It is of use to a freeze that finds this pause open.
 */
void btsrec_registers_enter(struct btsrec_pcpu *pc, const struct pt_regs *regs, u32 vector,
			    u64 error_code, u64 address)
{
	struct btsrec_registers *registers = &pc->page->registers;
	u32 flags = BTSREC_REGISTERS_ENTRY;

	copy_general(&registers->entry, regs);
	registers->vector = vector;
	registers->error_code = error_code;
	registers->address = address;
	if (vector < 32 && HAVE_ERROR_CODE >> vector & 1)
		flags |= BTSREC_REGISTERS_ERROR;
	if (vector == X86_TRAP_PF)
		flags |= BTSREC_REGISTERS_ADDRESS;
	barrier();	/* an NMI that freezes sees all of it, or nothing */
	WRITE_ONCE(pc->entry_flags, flags);
}

/**
 * btsrec_registers_freeze() - all of it, for the reader of a dump
 * @pc: this CPU's, whose page says what was paused
 * @regs: what the freeze interrupted, or the caller of what it hooked; NULL: not known
 */
void btsrec_registers_freeze(struct btsrec_pcpu *pc, const struct pt_regs *regs)
{
	struct btsrec_registers *registers = &pc->page->registers;
	u32 paused = pc->page->freeze.pause_reason, flags = BTSREC_REGISTERS_SYSTEM;

	if (regs) {
		copy_general(&registers->stop, regs);
		flags |= BTSREC_REGISTERS_STOP;
	}
	if (paused == BTSREC_REASON_OOPS || paused == BTSREC_REASON_NMI)
		flags |= READ_ONCE(pc->entry_flags);
	registers->fs_base = bts_read_msr(MSR_FS_BASE);
	registers->gs_base = bts_read_msr(MSR_GS_BASE);
	registers->kernel_gs_base = bts_read_msr(MSR_KERNEL_GS_BASE);
	registers->cr2 = bts_cr2();
	registers->flags = flags;
}
