/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What bounds the cost: tasks= records chosen threads only, max_rate= so many branches a second.
 *
 * Both are decided at a switch of threads, while BTS is off for the annotation: it stays off then,
 * and the CPU stays live.  A GAP with the reason says so, at each switch another one in its place,
 * which names the thread, and one at the end.  So no history of a thread is without the GAP in it.
 * Without either setting a switch passes one NOP.
 */
#ifndef BTSREC_LIMIT_H
#define BTSREC_LIMIT_H

#include <linux/jump_label.h>

#include "btsrec_bts.h"

struct seq_file;
struct task_struct;

DECLARE_STATIC_KEY_FALSE(btsrec_limits);

bool btsrec_limit_apply(struct btsrec_pcpu *pc, const struct task_struct *task, u64 *debugctl);
void btsrec_limit_begin(struct btsrec_pcpu *pc);
int btsrec_set_tasks(const char *list, const char *effect);
int btsrec_set_max_rate(const char *text, const char *effect);
void btsrec_limits_show(struct seq_file *m);
void btsrec_limits_exit(void);

/* With a limit that has been lifted while others had the DS area it is off for nothing. */
static __always_inline bool btsrec_limit_keeps_off(const struct btsrec_pcpu *pc)
{
	return static_branch_unlikely(&btsrec_limits) && pc->off_reason;
}

/**
 * btsrec_limit() - is @task to be recorded from now on?
 * @pc: this CPU's, paused
 * @task: the thread that runs, or will run next
 * @debugctl: for btsrec_resume(); without BTS, which stays off then, if not
 *
 * Return: true: it is not.  A switch to it has been annotated.
 */
static __always_inline bool btsrec_limit(struct btsrec_pcpu *pc, const struct task_struct *task,
					 u64 *debugctl)
{
	return static_branch_unlikely(&btsrec_limits) && btsrec_limit_apply(pc, task, debugctl);
}

#endif /* BTSREC_LIMIT_H */
