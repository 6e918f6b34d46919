/* SPDX-License-Identifier: GPL-2.0-only */
/* What the guest's test modules share: the model's control MSRs, and kernel differences. */
#ifndef BTSREC_TESTS_GUEST_H
#define BTSREC_TESTS_GUEST_H

#include <linux/version.h>
#include <asm/msr.h>
#if __has_include(<linux/panic.h>)
#include <linux/panic.h>
#endif

/* No processor has it and QEMU ignores it (../model/control.h). */
#define CONTROL_MARK	0x42545300

/* "x86/msr: Rename 'native_wrmsrl()' to 'native_wrmsrq()'", v6.16. */
#ifdef rdmsrq
#define native_wrmsrl(msr, value)	native_wrmsrq(msr, value)
#endif

/* "hrtimers: Introduce hrtimer_setup() to replace hrtimer_init()", v6.13. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define setup_hrtimer		hrtimer_setup
#else
#define setup_hrtimer(timer, fn, clock, mode) \
	do { hrtimer_init(timer, clock, mode); (timer)->function = (fn); } while (0)
#endif

/* "kprobes: Remove kretprobe hash", v5.11. */
#ifndef HAVE_GET_KRETPROBE
#define get_kretprobe(instance)		((instance)->rp)
#endif

/* The model notes how many records each CPU has made so far. */
static __always_inline void model_mark(void)
{
	native_wrmsrl(CONTROL_MARK, 0);
}

#endif /* BTSREC_TESTS_GUEST_H */
