/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The summary: what it prints of one CPU, in each format. */
#ifndef BTSREC_VIEW_SUMMARY_H
#define BTSREC_VIEW_SUMMARY_H

#include "flow/unwind.h"
#include "kernel/sleep_lock.h"
#include "kernel/tasks.h"
#include "tally/signature.h"
#include "tally/verdict.h"
#include "views/kernel_log.h"
#include "views/view_calls.h"
#include "views/view_why.h"

#define SUMMARY_SWITCHES	3
#define SUMMARY_GAP_KINDS	(BTSREC_GAP_NO_INDEX + 1)
/* Two long names, and what is said of them. */
#define SUMMARY_SENTENCE_BYTES	2048

/**
 * struct summary_subject - the thread that hung
 * @pid: 0: none, or not known.
 * @seen: it was switched from on @cpu, the last time at @tsc; @comm: as it was called then.
 * @arrived: else the kernel says that it came to run on @cpu the last time at @tsc.
 * @why: where it waits is not known, a phrase; NULL: it is.
 */
struct summary_subject {
	uint32_t pid;
	bool seen;
	bool arrived;
	unsigned int cpu;
	uint64_t tsc;
	char comm[BTSREC_COMM_BYTES];
	const char *why;
};

/* More than this nobody reads; the signature needs fewer. */
#define SUMMARY_MAX_PLACES	24

/**
 * struct summary_stack - what stands still, by the memory of its stack
 * @fault: an exception that the history does not show; FAULT_UNKNOWN: none.
 * @pid: of a thread that does not run; 0: it is that of the freeze.
 * @comm: of the thread with @pid.
 * @places: the innermost first, @nr of them; 0: there is no such stack.
 * @to_user: the last one was entered from user code.
 * @target: of UNWIND_CALLED: where the call led; 0: not known, it is an indirect one.
 * @beyond: the first one is the outermost that the history has, and the others are its callers.
 */
struct summary_stack {
	struct fault fault;
	uint32_t pid;
	char comm[BTSREC_COMM_BYTES];
	size_t nr;
	bool to_user;
	bool beyond;
	struct summary_place {
		enum unwind_how how;
		int vector;
		uint64_t ip;
		uint64_t target;
	} places[SUMMARY_MAX_PLACES];
};

/* Of the kernel's log: the newest lines before the fault, and the oldest from it on. */
#define SUMMARY_LOG_BEFORE	4
#define SUMMARY_LOG_AFTER	3

/**
 * struct summary_log - lines of the kernel's log around the fault, the newest first
 * @lines: @nr of them; without a time of the fault, or of the lines, the newest of all.
 * @is_around: their times are from @end_tsc; else they have none.
 * @nr_newer: so many newer ones are left out; @nr_details: so many of call traces and
 *	registers, between these.
 */
struct summary_log {
	struct kernel_log log;
	struct kernel_log_line lines[SUMMARY_LOG_BEFORE + SUMMARY_LOG_AFTER];
	size_t nr;
	bool is_around;
	uint64_t end_tsc;
	uint64_t nr_newer;
	uint64_t nr_details;
	struct kernel_log_text text;
};

/* More than these nobody reads on a first page. */
#define SUMMARY_MAX_WAITS	8
#define SUMMARY_MAX_HELD	64

/**
 * struct summary_lock - a call that waits for a lock, or that has taken one
 * @cpu: where @task runs, or ran last.
 * @lock: its kind.  @address: where it is; 0: not known.
 * @from: where it was called; 0: the history does not have that.  @wait: what it waits in.
 * @has_owner: @owner has taken it.
 */
struct summary_lock {
	unsigned int cpu;
	struct btsrec_task task;
	const char *lock;
	uint64_t address;
	uint64_t from;
	uint64_t wait;
	bool has_owner;
	struct btsrec_task owner;
};

/**
 * struct summary_blocked - a thread that waits for a lock and does not run, by memory
 * @lock: what is said of it in any format.
 * @state, @owner_kva: of the lock; @found: whether its owner is a thread.
 * @owner_runs: on @owner_cpu; else @owner_ip: where it waits for something else; 0: not known.
 * @is_deadlock: its owner waits for it, too, at once or through others.
 * @is_unproven: it waits for a lock, and no memory proves for which; the rest is empty.
 */
struct summary_blocked {
	struct summary_lock lock;
	enum sleep_lock_state state;
	uint64_t owner_kva;
	enum tasks_found found;
	bool owner_runs;
	unsigned int owner_cpu;
	uint64_t owner_ip;
	bool is_deadlock;
	bool is_unproven;
};

/**
 * struct summary_irqs - since when interrupts were off at the fault
 * @by: a word of JSON's "by"; NULL: they were on, or that is not known.
 * @n, @ip: up to which event, and where, if it is not 0.
 * @was_on: they were on right before; else they may have been off for longer.
 */
struct summary_irqs {
	const char *by;
	uint64_t n;
	uint64_t ip;
	bool was_on;
};

/**
 * struct summary_locks - of all CPUs, what is certain
 * @held: those that nothing has released, if it is known where they are.
 * @irqs: of CPU @judged_cpu.
 */
struct summary_locks {
	struct summary_lock waits[SUMMARY_MAX_WAITS];
	size_t nr_waits;
	struct summary_lock held[SUMMARY_MAX_HELD];
	size_t nr_held;
	struct summary_irqs irqs;
	unsigned int judged_cpu;
};

/**
 * struct summary_operand - what is said of the operand that made the fault
 * @what: it, and where it was loaded from.
 * @from: where its value came from; empty: nothing that is of use is known.
 */
struct summary_operand {
	char what[SUMMARY_SENTENCE_BYTES];
	char from[SUMMARY_SENTENCE_BYTES];
};

#define SUMMARY_GROUP_BYTES	512
/* More CPUs than these beside the one that failed are printed in groups. */
#define SUMMARY_MAX_FULL	3

struct lock_function;
struct sentence;

/** struct summary_groups - of CPUs, what each was doing; owned; @nomem: some are missing */
struct summary_groups {
	struct summary_member {
		unsigned int cpu;
		char text[SUMMARY_GROUP_BYTES];
	} *list;
	size_t nr;
	size_t nr_room;
	bool nomem;
};

/* Functions of the module at fault that are named of another CPU. */
#define SUMMARY_RAN_NAMES	3

/**
 * struct summary_ran - what CPUs had run of modules before the fault; owned
 * @list: @nr of them, the newest first after summary_ran_sort().
 * @nr_more: of them are not printed.
 * @culprit: the module that is innermost on the path to the fault; NULL: none is.
 * @nomem: some are missing.
 */
struct summary_ran {
	/**
	 * struct summary_ran_cpu - of one module on one CPU
	 * @va: @nr functions, the newest first, which was entered at event @n, within
	 *	@min_tsc and @max_tsc; see time_axis_when().
	 * @known: @side ran it.
	 */
	struct summary_ran_cpu {
		unsigned int cpu;
		const struct btsrec_module *module;
		uint64_t n;
		size_t nr;
		uint64_t va[SUMMARY_RAN_NAMES];
		uint64_t min_tsc;
		uint64_t max_tsc;
		bool known;
		struct btsrec_side side;
	} *list;
	size_t nr;
	size_t nr_room;
	size_t nr_more;
	const struct btsrec_module *culprit;
	bool nomem;
};

/**
 * struct summary_moment - of the first fault
 * @tsc: when it was; if it is not known where it was, when its CPU stopped, and @is_stop; 0: no CPU
 *	had one.
 */
struct summary_moment {
	uint64_t tsc;
	bool is_stop;
};

/**
 * struct summary - one summary under way, and what the history of one CPU comes to
 * @calls: its tree holds the newest calls of the CPU.
 * @is_text: it is printed as text, which alone has what sums up many CPUs.
 * @nr_events: all; @nr_branches: of them branches.
 * @switches: the newest, @nr_switches in all; number i is at i % SUMMARY_SWITCHES.
 * @nr_gaps: by kind; @loses: there is one in which the thread may have gone on.
 * @oldest_tsc: of the first event that has one; 0: none.
 * @ends_before: the history ends some time before the stop, see fault_ends_before().
 * @ip: where the CPU was stopped, or, if it ends before or was not, where its newest branch led.
 * @moved: the fault lies on @fault_cpu: its handler went on elsewhere, and the tree is that of its
 *	thread, @followed, over all CPUs.
 * @judged: the CPU whose history the verdict is of, which is printed first; NULL: none failed.
 * @verdict: of the first fault; @sentence: what it says, or why there is none.
 * @below: of a verdict.stay.below_interrupt: what the interrupt came upon.
 * @stack: what the history lacks, from memory.
 * @survived: the system went on, so that memory is not of the time of the freeze.
 * @signature: of the first fault; @no_signature: why it has none, NULL: it has.
 * @nr_open: the calls that were open there: so many of those of the tree.
 * @first_open: of them the first one of the path that is printed.
 * @operand: the way back from the operand that made the fault, owned; NULL: there is none.
 * @operand_text: what is said of it.
 * @locks: of a lockup or a hung task; else there are none.
 * @blocked: @nr_blocked of them: the first @nr_chain are the thread that hung, what it waits for,
 *	and so on; the others wait for what the thread that hung owns.
 * @lock_unknown: that one waits for a lock, and it is not known for which.
 * @moment: to which times are related.
 * @groups: of CPUs that are not printed in full; @is_grouped: there are some.
 * @ran: of modules, of all CPUs but the judged one.
 * @fn, @arg: receive each part as a value; NULL: it is printed.
 */
struct summary {
	struct calls calls;
	const struct summary_format *format;
	bool is_text;
	uint64_t nr_events;
	uint64_t nr_branches;
	uint64_t nr_switches;
	struct btsrec_event switches[SUMMARY_SWITCHES];
	uint64_t nr_gaps[SUMMARY_GAP_KINDS];
	bool loses;
	uint64_t oldest_tsc;
	bool ends_before;
	uint64_t ip;
	bool moved;
	unsigned int fault_cpu;
	struct view_thread followed;
	const struct btsrec_cpu *judged;
	struct verdict verdict;
	struct summary_subject subject;
	struct unwind below;
	struct summary_stack stack;
	bool survived;
	char sentence[SUMMARY_SENTENCE_BYTES];
	struct signature signature;
	const char *no_signature;
	size_t nr_open;
	size_t first_open;
	struct why *operand;
	struct summary_operand operand_text;
	const struct summary_locks *locks;
	struct summary_blocked blocked[SUMMARY_MAX_WAITS];
	size_t nr_chain;
	size_t nr_blocked;
	bool lock_unknown;
	struct summary_moment moment;
	struct summary_groups groups;
	bool is_grouped;
	struct summary_ran ran;
	btsrec_digest_fn fn;
	void *arg;
};

/**
 * summary_judged_cpu() - the CPU that failed first, or the one for which it had waited
 *
 * A CPU that reports an RCU stall may have found it of another one.
 *
 * Return: NULL: none failed.
 */
const struct btsrec_cpu *summary_judged_cpu(struct btsrec *rec);

/**
 * summary_stalls_below() - does what @cpu did stall, and not the interrupt that it is in?
 *
 * So many ticks came in the grace period that the kernel waits for.  An interrupt that stalls keeps
 * them out.  None came upon user code or an idle CPU: that ends the wait.
 */
bool summary_stalls_below(struct btsrec *rec, const struct btsrec_cpu *cpu);

/** summary_verdict_cpu() - the number of the CPU that the verdict is of */
static inline unsigned int summary_verdict_cpu(const struct summary *view)
{
	return view->judged ? view->judged->cpu :
			      btsrec_root(view->calls.renderer.rec)->freeze_cpu;
}

/** summary_log_read() - the lines around the fault at @end_tsc; 0: there was none */
void summary_log_read(struct btsrec *rec, uint64_t end_tsc, struct summary_log *ret);

/**
 * struct summary_format - how one format words it
 * @begin: once; the CPU that is judged is the one at hand.
 * @lock: after it, once for each of summary.locks->waits, with its @sentence.
 * @cpu: what @cpu was doing; its path is printed after it if it is the one that is judged.
 * @log: once, after the path, or after the beginning if no CPU failed.
 * @recursion: NULL, or called where so many open calls are left out of the path, which repeat
 *	those before.
 */
struct summary_format {
	void (*begin)(struct summary *view);
	void (*lock)(struct summary *view, const struct summary_lock *lock, const char *sentence);
	void (*cpu)(struct summary *view, const struct btsrec_cpu *cpu);
	void (*recursion)(struct summary *view, size_t nr_calls);
	void (*log)(struct summary *view, struct summary_log *log);
};

/** summary_first_switch() - the number of the oldest switch that is kept */
static inline uint64_t summary_first_switch(const struct summary *view)
{
	return view->nr_switches > SUMMARY_SWITCHES ? view->nr_switches - SUMMARY_SWITCHES : 0;
}

/**
 * summary_follow() - of the CPU at hand, @failed: if its thread has brought the fault along from
 *	another CPU, the fault and the calls that led to it there
 *
 * Return: as btsrec_events(); summary_unfollow() is allowed after all of them.
 */
enum btsrec_status summary_follow(struct summary *view, struct btsrec *rec,
				  const struct btsrec_cpu *failed);

/** summary_unfollow() - free what summary_follow() has; the tree stays */
void summary_unfollow(struct summary *view);

/**
 * summary_stack_fault() - of an oops: the fault on the stack of @failed that its history lacks
 *
 * Return: false: there is none.
 */
bool summary_stack_fault(struct summary *view, struct code *code,
			 const struct btsrec_cpu *failed);

/** summary_stack_panic() - the callers of panic() on @failed, in a handler that is not recorded */
void summary_stack_panic(struct summary *view, struct code *code,
			 const struct btsrec_cpu *failed);

/**
 * summary_stack_stuck() - the registers of what the report of a lockup on @failed interrupted
 *
 * Returns as fault_frame_interrupted().
 */
bool summary_stack_stuck(const struct summary *view, struct code *code,
			 const struct btsrec_cpu *failed, struct fault_frame *ret, bool *ret_whole);

/** summary_stack_lockup() - what the report of a lockup on @failed interrupted, and its callers */
void summary_stack_lockup(struct summary *view, struct code *code,
			  const struct btsrec_cpu *failed);

/**
 * summary_stack_beyond() - callers of the outermost function on the path to the fault of @failed
 * @frame: the registers at an exception; NULL: not known, or it is none.
 *
 * There are none if the history reaches back to where the kernel was entered.
 */
void summary_stack_beyond(struct summary *view, struct code *code,
			  const struct btsrec_cpu *failed, const struct fault_frame *frame);

/** summary_stack_thread() - where the thread that hung is, which does not run, or why not */
void summary_stack_thread(struct summary *view, struct btsrec *rec, struct code *code);

/**
 * summary_thread_runs() - may it run on a CPU?  Then what memory has of its stack is older
 * @ret_cpu: there; NULL: not asked for.
 * @ret_sure: it does; NULL: not asked for.
 */
bool summary_thread_runs(const struct btsrec *rec, uint32_t pid, unsigned int *ret_cpu,
			 bool *ret_sure);

/** summary_in_sched() - does its function only wait (in_sched_functions() of the kernel)? */
bool summary_in_sched(struct btsrec *rec, uint64_t ip);

/**
 * summary_waits_read() - what the thread that hung waits for, what the owner does, and so on
 *
 * And which threads wait for it.
 */
void summary_waits_read(struct summary *view, struct btsrec *rec, struct code *code);

/** summary_say_blocked() - word it; @ret has SUMMARY_SENTENCE_BYTES */
void summary_say_blocked(struct summary *view, const struct summary_blocked *blocked, char *ret);

/** summary_add_owner() - to the verdict: the lock that the thread that hung waits for */
void summary_add_owner(struct sentence *sentence, const struct summary *view);

/** summary_lock_owner() - find which thread has taken a lock that the history has */
void summary_lock_owner(const struct summary_locks *locks, struct summary_lock *lock);

/**
 * summary_interrupts_off() - did an NMI stop @cpu in kernel code that had interrupts off?
 *
 * Return: false also if that is not known.
 */
bool summary_interrupts_off(const struct summary *view, const struct btsrec_cpu *cpu);

/**
 * summary_panic_cpu() - the CPU on which the kernel panicked, by the kernel's own note
 *
 * Return: false: it has not, or that is not known.
 */
bool summary_panic_cpu(struct btsrec *rec, unsigned int *ret);

/** summary_failed_too() - had @cpu the same kind of fault as @failed before it could be stopped? */
bool summary_failed_too(const struct btsrec *rec, const struct btsrec_cpu *failed,
			const struct btsrec_cpu *cpu);

/** summary_group_add() - the CPU at hand, @cpu, is going to be printed in a group */
void summary_group_add(struct summary *view, const struct btsrec_cpu *cpu);

/** summary_groups_join() - those of @from, too; it is left empty */
void summary_groups_join(struct summary_groups *groups, struct summary_groups *from);

/** summary_groups_text() - print them, those with most CPUs first */
void summary_groups_text(struct out *out, struct summary_groups *groups);

/** summary_groups_fini() - free them and leave none */
void summary_groups_fini(struct summary_groups *groups);

/** summary_ran_read() - what the CPU at hand had run of modules before the fault */
enum btsrec_status summary_ran_read(struct summary *view, struct btsrec *rec);

/** summary_ran_culprit() - which module is on the path of @judged, whose verdict is known */
void summary_ran_culprit(struct summary *view, struct btsrec *rec, const struct btsrec_cpu *judged);

/** summary_ran_join() - those of @from, too; it is left empty */
void summary_ran_join(struct summary_ran *ran, struct summary_ran *from);

/** summary_ran_sort() - leave those of the culprit, the newest first; false: there are none */
bool summary_ran_sort(struct summary_ran *ran);

/** summary_ran_text() - print @view->ran, which is sorted */
void summary_ran_text(struct summary *view);

/** summary_ran_fini() - free them and leave none */
void summary_ran_fini(struct summary_ran *ran);

/** summary_place_str() - how the place was left for the one before it, as a word of JSON; static */
const char *summary_place_str(const struct summary_place *place);

/** summary_sign() - the signature of the fault of @failed, which is judged, or why it has none */
void summary_sign(struct summary *view, struct btsrec *rec, const struct btsrec_cpu *failed);

/** summary_unreliable_n() - the newest event before @end_n at which calls may have ended unseen */
uint64_t summary_unreliable_n(const struct summary *view, uint64_t end_n);

/**
 * summary_probed() - as trace_probed(), and of a copy behind which no jump back stands
 *
 * Such a copy runs between two INT3.  The IRET of the first one has led to it, in this history.
 */
uint64_t summary_probed(const struct summary *view, uint64_t va);

/** out_signature() - its version, a colon and 16 hexadecimal digits */
void out_signature(struct out *out, const struct signature *signature);

extern const struct summary_format summary_text;
extern const struct summary_format summary_json;
extern const struct summary_format summary_values;

/**
 * summary_judge() - the verdict on the fault of @failed, the CPU at hand, and its sentence
 *
 * Return: BTSREC_OK; BTSREC_ERR_NOMEM; BTSREC_ERR_IO.
 */
enum btsrec_status summary_judge(struct summary *view, struct btsrec *rec,
				 const struct btsrec_cpu *failed);

/**
 * struct summary_recursion - calls of one function that were open when a stack overflowed
 * @end: the innermost of them is the last of so many open calls.
 * @nr: how many there are, at least.
 * @has_leaves: it had called others meanwhile, and one of those found the stack full.
 */
struct summary_recursion {
	size_t end;
	size_t nr;
	bool has_leaves;
};

/** summary_recursion() - false: the open calls have none */
bool summary_recursion(const struct summary *view, struct summary_recursion *ret);

/** summary_say_recursion() - of the verdict: what called itself until the stack was full */
void summary_say_recursion(struct sentence *sentence, const struct summary *view);

/** summary_say_callers() - of the verdict: the callers of the function at fault; none: not known */
void summary_say_callers(struct sentence *sentence, const struct summary *view);

/**
 * summary_begins_softirqs() - is @ip in what calls softirqs, and in none of them?
 * @arg: struct btsrec.
 *
 * That ends by itself, within 2 ms (MAX_SOFTIRQ_TIME, kernel/softirq.c).
 */
bool summary_begins_softirqs(void *arg, uint64_t ip);

/** summary_say_interrupt() - of the verdict: the interrupt or softirq that it was in, if it was */
void summary_say_interrupt(struct sentence *sentence, const struct summary *view,
			   const struct btsrec_freeze *freeze);

/** summary_say_others() - of the verdict: which CPUs failed too, or reported it */
void summary_say_others(struct sentence *sentence, const struct summary *view);

/** summary_say() - word the verdict, which is known */
void summary_say(struct summary *view, const struct btsrec_cpu *failed);

/**
 * summary_locks_read() - what waits for locks, and what holds them, if the fault of @failed is one
 *	that they explain; @ret->judged_cpu is set
 *
 * Return: as btsrec_search_each().
 */
enum btsrec_status summary_locks_read(struct btsrec *rec, const struct btsrec_cpu *failed,
				      struct summary_locks *ret);

/** summary_say_irqs() - of the verdict on what does not go on: since when interrupts are off */
void summary_say_irqs(struct sentence *sentence, const struct summary *view);

/**
 * summary_spin_read() - of the verdict on what does not go on: what it reads again and again
 * @cpu: at hand, which is judged.
 *
 * Return: BTSREC_OK; BTSREC_ERR_NOMEM; BTSREC_ERR_IO.
 */
enum btsrec_status summary_spin_read(struct summary *view, struct btsrec *rec,
				     const struct btsrec_cpu *cpu);

/**
 * summary_operand_read() - find where the operand came from that made the fault of @failed, the CPU
 *	at hand, which is judged, and word it
 *
 * Return: BTSREC_OK; BTSREC_ERR_NOMEM; BTSREC_ERR_IO.
 */
enum btsrec_status summary_operand_read(struct summary *view, struct btsrec *rec,
					const struct btsrec_cpu *failed);

/**
 * summary_operand_ends() - the first and the last hop of the way, and where the last one is
 *
 * Return: false: there is no way.
 */
bool summary_operand_ends(const struct summary *view, const struct origin_hop **ret_asked,
			  const struct origin_hop **ret_last, struct why_place *ret_place);

/** summary_operand_drop() - free it */
void summary_operand_drop(struct summary *view);

/** summary_lock_function() - the row of the kernel's function that @ip is in; NULL: none */
const struct lock_function *summary_lock_function(struct renderer *r, uint64_t ip);

/**
 * summary_lock_complete() - of a wait on the CPU that is judged, whose entry the history lacks: its
 *	caller and the address, if the verdict has them
 */
void summary_lock_complete(struct summary *view, struct summary_lock *lock);

/** summary_say_lock() - word what waits; @ret has SUMMARY_SENTENCE_BYTES */
void summary_say_lock(struct summary *view, const struct summary_lock *lock, char *ret);

/** summary_put_call() - for struct calls: a line of the path as a value; @arg: struct summary */
bool summary_put_call(void *arg, const struct btsrec_call *call);

#endif /* BTSREC_VIEW_SUMMARY_H */
