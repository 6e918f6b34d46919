// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>
#include <asm/trace/irq_vectors.h>
#include <asm/tsc.h>

#include "btsrec_annot.h"
#include "btsrec_compat.h"
#include "btsrec_limit.h"

#define MAX_TASK_WORDS		8
#define MAX_LIST_BYTES		256

/* Below it credit may overflow; above it a record takes less than 10 ticks of a slow TSC. */
#define MIN_RATE		1000ULL
#define MAX_RATE		100000000ULL

/* Credit is counted in ticks of the TSC with so many binary places. */
#define CREDIT_SHIFT		8
/* What was saved below the rate is at most 1/20 s of it. */
#define CREDIT_PARTS		20

DEFINE_STATIC_KEY_FALSE(btsrec_limits);

enum task_kind { TASK_PROCESS, TASK_COMM, TASK_CGROUP };

/**
 * struct task_set - what a list of tasks= chooses
 * @nr: of @words that are used; 0: all threads
 * @text: the list
 * @words: its words; each chooses threads
 */
struct task_set {
	unsigned int nr;
	char text[MAX_LIST_BYTES];
	struct task_word {
		enum task_kind kind;
		pid_t tgid;
		char comm[TASK_COMM_LEN];
		struct cgroup *cgroup;
	} words[MAX_TASK_WORDS];
};

/* One is in use; a new list goes into the other.  Under the device's command mutex. */
static struct task_set sets[2];
static struct task_set *current_set = &sets[0];

/* Records a second; 0: any number.  @record_credit: what one costs. */
static u64 max_rate;
static u64 record_credit;
static struct tracepoint *tick;

/* --- Which threads --------------------------------------------------------- */

static bool is_meant(const struct task_word *word, const struct task_struct *task)
{
	switch (word->kind) {
	case TASK_PROCESS:
		return task->tgid == word->tgid;
	case TASK_COMM:
		return !strncmp(task->comm, word->comm, sizeof(word->comm));
	case TASK_CGROUP:
		return btsrec_is_in_cgroup((struct task_struct *)task, word->cgroup);
	}
	return false;
}

static bool is_chosen(const struct task_struct *task)
{
	const struct task_set *set = smp_load_acquire(&current_set);	/* btsrec_set_tasks() */
	unsigned int i, nr = READ_ONCE(set->nr);

	for (i = 0; i < nr; i++)
		if (is_meant(&set->words[i], task))
			return true;
	return !nr;
}

/* --- How many records ------------------------------------------------------ */

static s64 most_credit(void)
{
	return ((u64)tsc_khz * 1000 << CREDIT_SHIFT) / CREDIT_PARTS;
}

/*
 * The index counts the records, as it is read at each tick at least.  Where the ring has come round
 * meanwhile, that is seen once: of a rate above that of one ring a tick more is not known.
 */
static void count_credit(struct btsrec_pcpu *pc, u64 rate)
{
	u64 now = rdtsc_ordered(), bytes = btsrec_recorded_bytes(pc);
	s64 credit = pc->credit;

	/* An idle CPU may not have asked for months. */
	credit += min_t(u64, (now - pc->credit_tsc) << CREDIT_SHIFT, S64_MAX / 2);
	credit -= (bytes - pc->credit_bytes) / BTSREC_RECORD_BYTES * READ_ONCE(record_credit);
	pc->credit = pc->credit_rate == rate ? min(credit, most_credit()) : most_credit();
	pc->credit_rate = rate;
	pc->credit_tsc = now;
	pc->credit_bytes = bytes;
}

/*
 * Without credit the kernel's branches alone are recorded, until there is half of what there can
 * be.  If they are still too many nothing is, until there is no debt.  In mode=kernel and mode=user
 * there is nothing between all and nothing.
 */
static enum btsrec_rate_level next_level(const struct btsrec_pcpu *pc)
{
	bool has_levels = btsrec_root_page->mode == BTSREC_MODE_ALL;
	s64 credit = pc->credit, most = most_credit();

	if (pc->rate_level == BTSREC_RATE_ALL ? credit >= 0 : credit >= most / 2)
		return BTSREC_RATE_ALL;
	if (!has_levels || credit < -most)
		return BTSREC_RATE_OFF;
	return pc->rate_level == BTSREC_RATE_OFF && credit < 0 ? BTSREC_RATE_OFF :
	       BTSREC_RATE_KERNEL;
}

static void govern(struct btsrec_pcpu *pc)
{
	u64 rate = READ_ONCE(max_rate);

	if (rate)
		count_credit(pc, rate);
	pc->rate_level = rate ? next_level(pc) : BTSREC_RATE_ALL;
}

/* --- Both ------------------------------------------------------------------ */

static enum btsrec_reason why_not(struct btsrec_pcpu *pc, const struct task_struct *task)
{
	govern(pc);
	if (!is_chosen(task))
		return BTSREC_REASON_FILTERED;
	return pc->rate_level == BTSREC_RATE_OFF ? BTSREC_REASON_RATE : BTSREC_REASON_NONE;
}

static void goes_on(struct btsrec_pcpu *pc, u64 now, u64 *debugctl)
{
	btsrec_annot_resume(pc, BTSREC_ANNOT_GAP, pc->off_reason, pc->gap_tsc);
	pc->off_reason = BTSREC_REASON_NONE;
	WRITE_ONCE(pc->page->since_tsc, now);
	*debugctl = (*debugctl & ~btsrec_filter_bits) | pc->on_bits;
}

/* DEBUGCTL.BTS_OFF_USR is the change: a GAP where it is set, and one where it is taken away. */
static void leave_out_user(struct btsrec_pcpu *pc, u64 now, u64 *debugctl)
{
	bool wanted = pc->rate_level == BTSREC_RATE_KERNEL;

	if (wanted == !!pc->user_off_tsc)
		return;
	btsrec_annot_resume(pc, BTSREC_ANNOT_GAP, BTSREC_REASON_RATE_USER, pc->user_off_tsc);
	if (wanted) {
		WRITE_ONCE(pc->page->kernel_only, 1);
		pc->on_bits |= DEBUGCTLMSR_BTS_OFF_USR;
	} else {
		pc->on_bits &= ~(u64)DEBUGCTLMSR_BTS_OFF_USR;
	}
	pc->user_off_tsc = wanted ? now : 0;
	*debugctl = (*debugctl & ~btsrec_filter_bits) | pc->on_bits;
}

static void stays_off(struct btsrec_pcpu *pc, const struct task_struct *task, u64 now,
		      enum btsrec_reason reason)
{
	u64 cr3 = bts_cr3() & CR3_BASE_MASK;
	bool was_off = pc->off_reason;

	btsrec_annot_lost(pc, BTSREC_ANNOT_GAP, was_off ? pc->off_reason : reason,
			  was_off ? pc->gap_tsc : now, task,
			  task == current ? cr3 : btsrec_next_cr3(task, cr3));
	if (!was_off) {
		btsrec_recorded_until(pc, now);
		pc->off_tsc = now;
	}
	pc->off_reason = reason;
	pc->gap_tsc = now;
}

/**
 * btsrec_limit_apply() - the slow half of btsrec_limit(), which see
 * @pc: this CPU's, paused
 * @task: the thread that runs, or will run next
 * @debugctl: for btsrec_resume()
 *
 * Where BTS is on although it was kept off, a VM exit has brought it back: what that has recorded
 * is after the GAP before, and another one ends it.
 */
bool btsrec_limit_apply(struct btsrec_pcpu *pc, const struct task_struct *task, u64 *debugctl)
{
	enum btsrec_reason reason = why_not(pc, task);
	u64 now = rdtsc_ordered();

	if (!reason && pc->off_reason)
		goes_on(pc, now, debugctl);
	if (!reason) {
		leave_out_user(pc, now, debugctl);
		return false;
	}
	if (reason != pc->off_reason || task != current || *debugctl & btsrec_record_bits)
		stays_off(pc, task, now, reason);
	*debugctl &= ~btsrec_record_bits;
	return true;
}

/**
 * btsrec_limit_begin() - a CPU begins to record, with all the credit that it can have
 * @pc: this CPU's, not live
 */
void btsrec_limit_begin(struct btsrec_pcpu *pc)
{
	pc->off_reason = BTSREC_REASON_NONE;
	pc->user_off_tsc = 0;
	pc->rate_level = BTSREC_RATE_ALL;
	pc->credit_rate = 0;
}

/*
 * The thread that runs, now that something has changed.  The annotation shows if a ring wraps.  A
 * pause at what may become a crash goes on.
 */
static void apply_here(void)
{
	struct btsrec_pcpu *pc = this_cpu_ptr(&btsrec_pcpu);
	struct btsrec_time time;
	u64 debugctl;

	if (pc->suspect || !btsrec_pause(pc, &debugctl))
		return;
	if (!btsrec_limit(pc, current, &debugctl)) {
		time = (struct btsrec_time){
			.tsc = rdtsc_ordered(),
			.realtime_ns = ktime_get_real_fast_ns(),
			.boottime_ns = ktime_get_boot_fast_ns(),
		};
		btsrec_annot_put(pc, BTSREC_ANNOT_TIME, &time, sizeof(time));
	}
	btsrec_resume(pc, debugctl);
}

/* Interrupts are off: the timer's has come. */
static void probe_local_timer_entry(void *data, int vector)
{
	apply_here();
}

static void apply_by_ipi(void *unused)
{
	apply_here();
}

/* While the switch path asks: before it stops to, or after it has begun. */
static void apply_everywhere(void)
{
	on_each_cpu(apply_by_ipi, NULL, 1);
}

static void follow_change(void)
{
	if (current_set->nr || max_rate) {
		static_branch_enable(&btsrec_limits);
		apply_everywhere();
	} else {
		apply_everywhere();
		static_branch_disable(&btsrec_limits);
	}
}

/* --- Settings --------------------------------------------------------------- */

static void set_free(struct task_set *set)
{
	unsigned int i;

	for (i = 0; i < set->nr; i++)
		if (set->words[i].kind == TASK_CGROUP)
			btsrec_cgroup_put(set->words[i].cgroup);
	set->nr = 0;
	*set->text = '\0';
}

static const char *parse_word(const char *text, struct task_word *word)
{
	if (!strncmp(text, "process:", 8)) {
		word->kind = TASK_PROCESS;
		return kstrtoint(text + 8, 10, &word->tgid) || word->tgid <= 0 ?
		       "process: has the number of a process" : NULL;
	}
	if (!strncmp(text, "comm:", 5)) {
		word->kind = TASK_COMM;
		return strscpy(word->comm, text + 5, sizeof(word->comm)) <= 0 ?
		       "comm: has the name of a thread, 1 to 15 characters" : NULL;
	}
	if (strncmp(text, "cgroup:", 7))
		return "the words are process:PID, comm:NAME and cgroup:/PATH";
	word->kind = TASK_CGROUP;
	word->cgroup = btsrec_cgroup_get(text + 7);
	return IS_ERR(word->cgroup) ?
	       btsrec_remedy(PTR_ERR(word->cgroup), "there is no such cgroup of version 2") : NULL;
}

static const char *parse_tasks(const char *list, struct task_set *set)
{
	char copy[MAX_LIST_BYTES], *rest = copy, *text;
	const char *why;

	if (!strcmp(list, "all"))
		return NULL;
	if (strscpy(copy, list, sizeof(copy)) < 0)
		return "the list has more than 255 characters";
	strscpy(set->text, list, sizeof(set->text));
	while ((text = strsep(&rest, ","))) {
		if (set->nr == MAX_TASK_WORDS)
			return "there can be eight words";
		why = parse_word(text, &set->words[set->nr]);
		if (why)
			return why;
		set->nr++;
	}
	return NULL;
}

/**
 * btsrec_set_tasks() - other threads are recorded
 * @list: "all", or words process:PID, comm:NAME, cgroup:/PATH with commas between them
 * @effect: what the sentence of a refusal begins with
 *
 * Takes effect at once.  A thread that joins or leaves a cgroup, or has another name, is looked at
 * again at its next switch.  The caller serialises.
 *
 * Return: 0; -EINVAL after a printed sentence, with nothing changed.
 */
int btsrec_set_tasks(const char *list, const char *effect)
{
	struct task_set *old = current_set, *set = old == &sets[0] ? &sets[1] : &sets[0];
	const char *why = parse_tasks(list, set);

	if (why) {
		set_free(set);
		pr_err("%s: tasks=%s: %s.\n", effect, list, why);
		return -EINVAL;
	}
	smp_store_release(&current_set, set);	/* is_chosen() finds all words */
	follow_change();
	synchronize_rcu();	/* a CPU that looks at the old one has interrupts off */
	set_free(old);
	return 0;
}

static const char *watch_ticks(bool wanted)
{
	int err = -ENOENT;

	check_trace_callback_type_local_timer_entry(probe_local_timer_entry);
	if (wanted && !tick) {
		tick = btsrec_find_tracepoint("local_timer_entry");
		if (tick)
			err = tracepoint_probe_register(tick, probe_local_timer_entry, NULL);
		if (err) {
			tick = NULL;
			return btsrec_remedy(err, "this kernel lets nobody see its timer's interrupts");
		}
	} else if (!wanted && tick) {
		tracepoint_probe_unregister(tick, probe_local_timer_entry, NULL);
		tracepoint_synchronize_unregister();
		tick = NULL;
	}
	return NULL;
}

/**
 * btsrec_set_max_rate() - record so many branches a second on each CPU
 * @text: the number; 0: any number
 * @effect: what the sentence of a refusal begins with
 *
 * Takes effect at once.  The caller serialises.
 *
 * Return: 0; -EINVAL after a printed sentence, with nothing changed.
 */
int btsrec_set_max_rate(const char *text, const char *effect)
{
	const char *why = "it is a number from 1000 to 100000000, or 0 for no limit";
	u64 rate;

	if (kstrtoull(text, 0, &rate) || rate > MAX_RATE ||
	    (rate && (rate < MIN_RATE || !tsc_khz)))
		goto refuse;
	why = watch_ticks(rate);
	if (why)
		goto refuse;
	if (rate)
		WRITE_ONCE(record_credit,
			   div64_u64((u64)tsc_khz * 1000 << CREDIT_SHIFT, rate));
	WRITE_ONCE(max_rate, rate);
	follow_change();
	return 0;

refuse:
	pr_err("%s: max_rate=%s: %s.\n", effect, text, why);
	return -EINVAL;
}

/**
 * btsrec_limits_show() - both settings as lines of /dev/btsrec
 * @m: where they go
 */
void btsrec_limits_show(struct seq_file *m)
{
	seq_printf(m, "tasks: %s\n", current_set->nr ? current_set->text : "all");
	seq_printf(m, "max_rate: %llu\n", max_rate);
}

/**
 * btsrec_limits_exit() - give back what the settings hold; nothing records any more
 */
void btsrec_limits_exit(void)
{
	watch_ticks(false);
	set_free(&sets[0]);
	set_free(&sets[1]);
}
