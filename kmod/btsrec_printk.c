// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a console's driver does with a line is not recorded.  A UART at 115,200 baud
 * is asked some thousand times for each character of it whether it is ready.  So
 * one line would be more than a ring of 1 MiB.  The kernel prints before some of
 * its faults (__warn_printk(), pr_err() before BUG()).  Where recording goes on, a
 * GAP says so.
 *
 * A legacy console's driver is called with interrupts off between __printk_safe_enter() and
 * __printk_safe_exit() (kernel/printk/printk.c).  Before it console_emit_next_record() formats the
 * line; it may be inlined.  The pause is from the first of them that can be hooked to the exit.
 * What takes and gives up the console lock enters and exits, too.  It waits for another CPU's line,
 * and is paused as well.  A line that is none for the console ends its pause with the exit of the
 * next line, or of up_console_sem().
 *
 * The output of what has no legacy console is not paused: a thread of its own writes an nbcon
 * console; on the path of a fault it is written only after the freeze or a pause at the fault.
 */
#include <linux/errno.h>
#include <linux/kernel.h>

#include "btsrec_compat.h"
#include "btsrec_suspect.h"

#define END	"__printk_safe_exit"

/* The first that there is. */
static const char *const begins[] = {
	"console_emit_next_record",
	"__printk_safe_enter",
};

BTSREC_HOOK_HANDLER(on_begin, regs)
{
	pause_on_suspicion(NULL, BTSREC_REASON_CONSOLE);
}

/* Interrupts are off. */
static noinline void written(struct btsrec_pcpu *pc)
{
	u64 debugctl;

	if (btsrec_pause(pc, &debugctl))
		btsrec_resume(pc, debugctl);
}

BTSREC_HOOK_HANDLER(on_end, regs)
{
	struct btsrec_pcpu *pc = this_cpu_ptr(&btsrec_pcpu);

	if (unlikely(pc->suspect == BTSREC_REASON_CONSOLE))
		written(pc);
}

static struct btsrec_hook begin_hook = BTSREC_HOOK(on_begin);
static struct btsrec_hook end_hook = BTSREC_HOOK(on_end);
static bool is_registered;

static int begin_register(void)
{
	int err = -EINVAL;
	size_t i;

	for (i = 0; err == -EINVAL && i < ARRAY_SIZE(begins); i++)
		err = btsrec_hook_register(&begin_hook, begins[i]);
	return err;
}

/* The end first: what pauses must have something that resumes. */
static int both_register(void)
{
	int err = btsrec_hook_register(&end_hook, END);

	if (err)
		return err;
	err = begin_register();
	if (err)
		btsrec_hook_unregister(&end_hook);
	return err;
}

/**
 * btsrec_printk_register() - leave console output out of the history
 *
 * Where that cannot be, it goes to btsrec_hook_missing().
 */
void btsrec_printk_register(void)
{
	int err = both_register();

	is_registered = !err;
	if (err)
		btsrec_hook_missing(END, err,
				    "what the kernel prints before a fault overwrites the history");
}

/**
 * btsrec_printk_unregister() - no longer; also if nothing is registered
 */
void btsrec_printk_unregister(void)
{
	if (!is_registered)
		return;
	btsrec_hook_unregister(&begin_hook);
	btsrec_hook_unregister(&end_hook);
	is_registered = false;
}

/**
 * btsrec_printk_exit() - give back what ftrace keeps for the hooks; see btsrec_hook_exit()
 */
void btsrec_printk_exit(void)
{
	btsrec_hook_exit(&begin_hook);
	btsrec_hook_exit(&end_hook);
}
