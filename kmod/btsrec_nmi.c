// SPDX-License-Identifier: GPL-2.0-only
/*
 * NMI handlers are not recorded: perf's is long, a backtrace of all CPUs longer.  A
 * hard lockup is reported in one before panic().  The first handler, that of the
 * freeze, pauses, the last one resumes; a GAP records it.  Both return NMI_DONE, so
 * no NMI of others is claimed.  Handlers that others register after us come after
 * the last one and are recorded.
 *
 * Handlers do not nest: the kernel latches an NMI that comes during another
 * (arch/x86/kernel/nmi.c, nmi_state).  An NMI may find BTS off, because it
 * interrupted an annotation or left a guest of KVM.  That is none of our pauses, so
 * what we interrupt is never the writing of an annotation.
 */
#include <asm/nmi.h>
#include <asm/trapnr.h>

#include "btsrec_annot.h"

#define LAST_HANDLER_NAME	"btsrec-last"

/**
 * btsrec_nmi_pause() - pause this CPU until the last NMI handler
 * @regs: of what the NMI interrupted
 */
void btsrec_nmi_pause(const struct pt_regs *regs)
{
	struct btsrec_pcpu *pc = this_cpu_ptr(&btsrec_pcpu);
	u64 debugctl = bts_read_debugctl();

	if (!READ_ONCE(pc->live) || !bts_is_on(debugctl) || !bts_fields_are_ours(pc))
		return;
	pc->nmi_stop_tsc = rdtsc_ordered();
	bts_stop(&pc->nmi_stop_ip, debugctl & ~btsrec_record_bits);
	btsrec_registers_enter(pc, regs, X86_TRAP_NMI, 0, 0);
}

static int on_last(unsigned int type, struct pt_regs *regs)
{
	struct btsrec_pcpu *pc = this_cpu_ptr(&btsrec_pcpu);
	u64 debugctl, stop_tsc = pc->nmi_stop_tsc;

	pc->nmi_stop_tsc = 0;
	if (!stop_tsc || !READ_ONCE(pc->live) || !btsrec_pause_ends(pc, &debugctl))
		return NMI_DONE;
	btsrec_annot_nmi_over(pc, stop_tsc);
	btsrec_resume(pc, debugctl | pc->on_bits);
	return NMI_DONE;
}

/**
 * btsrec_nmi_register() - resume after the handlers that are registered now
 *
 * Return: 0, or a negative errno.
 */
int btsrec_nmi_register(void)
{
	return register_nmi_handler(NMI_LOCAL, on_last, 0, LAST_HANDLER_NAME);
}

/**
 * btsrec_nmi_unregister() - the end of it; btsrec_nmi_pause() must not be called any more
 */
void btsrec_nmi_unregister(void)
{
	unregister_nmi_handler(NMI_LOCAL, LAST_HANDLER_NAME);
}
