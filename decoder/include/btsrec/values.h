/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What views print, as values.
 *
 * Each function here is the view of the same options.  It calls @fn for each value in the order in
 * which the view prints it; options.format must be 0.  Values and their texts belong to the library
 * and are valid during the call of @fn, which runs on the thread of the caller.  It returns true to
 * go on.  A value begins with its size: a program that is newer than the library must not read a
 * member that begins at or after it.  Texts are escaped as views print them, so they hold no
 * control characters.
 *
 * Return, of all: what the view returns; BTSREC_ERR_STOPPED: @fn returned false;
 * BTSREC_ERR_INVAL also for a format that is not 0.
 */
#ifndef BTSREC_VALUES_H
#define BTSREC_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <btsrec/abi.h>
#include <btsrec/base.h>
#include <btsrec/dump.h>
#include <btsrec/events.h>
#include <btsrec/views.h>

#ifdef __cplusplus
extern "C" {
#endif

/** struct btsrec_task - a thread */
struct btsrec_task {
	uint32_t pid;
	uint32_t tgid;
	char comm[BTSREC_COMM_BYTES];	/* as in the dump: not escaped, may lack its NUL */
};

/** struct btsrec_name - what an address is called */
struct btsrec_name {
	const char *name;	/* of the function; @name_bytes, no NUL; NULL: none */
	size_t name_bytes;
	const char *module;	/* of a user address the path; "": the kernel; NULL: no name */
	uint64_t offset_bytes;	/* of the address in the function, module or file */
	const char *no_name;	/* why there is none, as a phrase; NULL: there is one */
};

/** struct btsrec_function - a line of btsrec_functions() */
struct btsrec_function {
	size_t size;
	const char *name;	/* or, in parentheses, why there is none; NUL-terminated */
	uint64_t start_kva;	/* of a function of the kernel; 0: not known, or user code */
	uint64_t nr_branches;	/* that left it */
	uint64_t nr_calls;	/* that entered it */
	uint64_t share_ppm;	/* of all branches that were counted, in millionths */
	bool has_task;		/* with BTSREC_BY_TASK, if the thread is known */
	struct btsrec_task task;
	bool has_cpu;		/* with BTSREC_BY_CPU */
	unsigned int cpu;
};

/** btsrec_function_fn - receives a value, see above */
typedef bool (*btsrec_function_fn)(void *arg, const struct btsrec_function *function);

/** btsrec_functions_each() - the lines of btsrec_functions(): most branches first */
BTSREC_API enum btsrec_status
btsrec_functions_each(struct btsrec *rec, const struct btsrec_functions *opts,
		      btsrec_function_fn fn, void *arg);

/** struct btsrec_log_line - a record of the kernel's log */
struct btsrec_log_line {
	size_t size;
	uint64_t seq;		/* its number since boot */
	uint64_t ts_nsec;	/* when, by the kernel's clock */
	bool has_tsc;		/* and by the TSC: @tsc is the first cycle of that nanosecond */
	uint64_t tsc;
	bool by_cpu;		/* printed in an interrupt on CPU @caller; else by thread @caller */
	uint32_t caller;
	const char *text;	/* NUL-terminated; NULL: @no_text says why */
	const char *no_text;
};

/** struct btsrec_moment - a line of btsrec_timeline() */
struct btsrec_moment {
	size_t size;
	const struct btsrec_event *event; /* NULL: it is @log */
	uint64_t nr_branches;	/* of that CPU since its line before */
	bool timed;		/* the event, or line of the log, has a time of its own: @tsc */
	uint64_t tsc;		/* not @timed: that of the last one before it; 0: none */
	bool has_from_freeze;	/* @timed, and the dump says how fast the clock is */
	int64_t from_freeze_ns;	/* negative before the freeze */
	bool has_task;		/* the thread that ran is known */
	struct btsrec_task task;
	const struct btsrec_log_line *log; /* NULL: it is @event */
};

/** btsrec_moment_fn - receives a value, see above */
typedef bool (*btsrec_moment_fn)(void *arg, const struct btsrec_moment *moment);

/** btsrec_timeline_each() - the lines of btsrec_timeline(): oldest first, of all CPUs */
BTSREC_API enum btsrec_status
btsrec_timeline_each(struct btsrec *rec, const struct btsrec_timeline *opts,
		     btsrec_moment_fn fn, void *arg);

/** struct btsrec_arg - an argument of a call, as the caller has passed it */
struct btsrec_arg {
	const char *type;	/* as in C; NUL-terminated, as all texts here */
	const char *name;	/* of the parameter; NULL: it has none */
	const char *certainty;	/* a word of JSON's "class" of arguments */
	bool has_value;		/* unless that is "unknown" */
	uint64_t value;		/* extended by zeros from @length_bytes */
	size_t length_bytes;	/* of the type; 0: not known */
	const char *why;	/* "unknown": why, as a phrase; else NULL */
	const char *text;	/* what it points to, if that is read-only text; else NULL */
	bool is_cut;		/* @text goes on */
};

/** struct btsrec_inlined - a call that the compiler replaced by the code of the function */
struct btsrec_inlined {
	const char *function;
	const char *from_file;	/* where the call is written */
	unsigned int from_line;	/* from 1 */
};

/** struct btsrec_frame - a frame of btsrec_stack(), the innermost of a stack first */
struct btsrec_frame {
	size_t size;
	unsigned int cpu;	/* the stack is that after event @n of @cpu */
	uint64_t n;
	size_t number;		/* of @nr_frames, from 0 */
	size_t nr_frames;
	bool complete;		/* the outermost frame is where the thread began */
	bool has_task;		/* whose stack it is is known */
	struct btsrec_task task;
	uint64_t ip_va;		/* what runs, or where it goes on */
	struct btsrec_name ip;
	bool entered;		/* how it was entered is known; else it began before */
	const char *how;	/* a word of JSON's "how" of frames; NULL: not known */
	int vector;		/* of an interrupt or exception; -1: none */
	unsigned int entered_cpu; /* by event @entered_n of that CPU, at @entered_va */
	uint64_t entered_n;
	uint64_t entered_va;
	bool gone;		/* it left by a jump to the function of the frame before */
	bool unreliable;		/* this frame and all outer ones may be otherwise */
	bool looked;		/* @ip_va was looked for in the memory of the stack */
	bool in_memory;		/* and was there */
	const struct btsrec_arg *args; /* with options.args: @nr_args, as it was entered with */
	size_t nr_args;
	bool more_args;		/* and others */
	const char *no_args;	/* why there are none, as a phrase; NULL: @args are all */
	const char *file;	/* with options.lines: as the compiler noted it; or NULL */
	unsigned int line;	/* from 1 */
	const struct btsrec_inlined *inlined; /* there: @nr_inlined, innermost first */
	size_t nr_inlined;
};

/** btsrec_frame_fn - receives a value, see above */
typedef bool (*btsrec_frame_fn)(void *arg, const struct btsrec_frame *frame);

/** btsrec_stack_each() - the frames of btsrec_stack() */
BTSREC_API enum btsrec_status
btsrec_stack_each(struct btsrec *rec, const struct btsrec_stack *opts,
		  btsrec_frame_fn fn, void *arg);

/** struct btsrec_shown - an event of btsrec_show() */
struct btsrec_shown {
	size_t size;
	const struct btsrec_event *event;
	bool has_task;		/* the thread that ran is known */
	struct btsrec_task task;
	const char *type;	/* with options.types, of a branch: a word of JSON's "type" */
};

/** btsrec_shown_fn - receives a value, see above */
typedef bool (*btsrec_shown_fn)(void *arg, const struct btsrec_shown *shown);

/**
 * btsrec_show_each() - the events of btsrec_show(), CPU by CPU
 *
 * A level that is not wanted has no line for an interval.  Options thread, newest_first and fold
 * are refused with BTSREC_ERR_INVAL.  Without a filter btsrec_events() is faster.
 */
BTSREC_API enum btsrec_status
btsrec_show_each(struct btsrec *rec, const struct btsrec_show *opts, btsrec_shown_fn fn,
		 void *arg);

/** enum btsrec_call_kind - what a line of btsrec_calls() is */
enum btsrec_call_kind {
	BTSREC_CALL_ENTER,	/* a function or handler was entered */
	BTSREC_CALL_RETURN,	/* to a function that was entered before what is known */
	BTSREC_CALL_ASTRAY,	/* a return to where none was expected */
	BTSREC_CALL_RESUME,	/* IRET in the kernel to another place than was interrupted */
	BTSREC_CALL_THREAD,	/* from here on the stack of @task, which goes on at @from_va */
	BTSREC_CALL_INTERVAL,	/* the thread that is followed continues on @cpu */
	BTSREC_CALL_LOST,	/* calls that were open in this thread may have ended elsewhere */
	BTSREC_CALL_CYCLE,	/* branches that go round without a call */
	BTSREC_CALL_BREAK,	/* the history contradicts the code, or the code is not known */
	BTSREC_CALL_FAULT,	/* what follows dealt with the fault */
	BTSREC_CALL_EVENT,	/* @event, which is no branch */
};

/** struct btsrec_call - a line of the tree of btsrec_calls() */
struct btsrec_call {
	size_t size;
	enum btsrec_call_kind kind;
	unsigned int cpu;	/* event @n of @cpu made the line */
	uint64_t n;
	uint32_t level;		/* how deep: JSON's "level"; 0 where the kind has none */
	uint64_t from_va;	/* of that branch, or of the break */
	uint64_t to_va;
	struct btsrec_name from; /* not of a break */
	struct btsrec_name to;	/* nor of a thread */
	const char *how;	/* of ENTER: a word of JSON's "type" of calls; else NULL */
	int vector;		/* of an interrupt or exception; -1: none */
	uint64_t nr_branches;	/* of ENTER: between @n and its end; of CYCLE: of one round */
	uint64_t nr_rounds;	/* of CYCLE */
	bool ended;		/* ENTER, CYCLE: by event @last_n of @last_cpu */
	unsigned int last_cpu;
	uint64_t last_n;
	bool complete;		/* ENTER: @ended, and @nr_branches are all */
	bool has_ns;		/* ENTER: how long it took is known, within bounds */
	uint64_t min_ns;
	uint64_t max_ns;
	bool has_task;		/* of THREAD, if it is known */
	struct btsrec_task task;
	const struct btsrec_event *event; /* of EVENT; else NULL */
	const struct btsrec_arg *args; /* of ENTER, with options.args: @nr_args */
	size_t nr_args;
	bool more_args;		/* and others */
	const char *no_args;	/* why there are none, as a phrase; NULL: @args are all */
};

/** btsrec_call_fn - receives a value, see above */
typedef bool (*btsrec_call_fn)(void *arg, const struct btsrec_call *call);

/** btsrec_calls_each() - the lines of btsrec_calls() in JSON: loops of calls are not folded */
BTSREC_API enum btsrec_status
btsrec_calls_each(struct btsrec *rec, const struct btsrec_calls *opts, btsrec_call_fn fn,
		  void *arg);

/** enum btsrec_insn_kind - what a line of btsrec_insns() is */
enum btsrec_insn_kind {
	BTSREC_INSN_EXECUTED,	/* an instruction */
	BTSREC_INSN_ENTRY,	/* an interrupt or exception hit @ip_va and led to @to_va */
	BTSREC_INSN_BREAK,	/* what ran up to the branch is not known, see @why */
};

/** struct btsrec_insn - a line of btsrec_insns(), but for events that are no branches */
struct btsrec_insn {
	size_t size;
	enum btsrec_insn_kind kind;
	unsigned int cpu;	/* it ran up to event @n of @cpu */
	uint64_t n;
	bool has_task;		/* the thread that ran is known */
	struct btsrec_task task;
	uint64_t ip_va;
	size_t length_bytes;	/* of EXECUTED */
	const char *text;	/* of EXECUTED: in AT&T syntax; @text_bytes, no NUL; else NULL */
	size_t text_bytes;
	bool is_32_bit;		/* of EXECUTED: it is 32-bit code */
	/* Of ENTRY; of BREAK the branch up to which it is not known; of EXECUTED the function of
	   the kernel that it calls directly, or whose beginning it jumps to, if it has a name. */
	uint64_t to_va;
	const char *why;	/* of BREAK: a word of JSON's "cause", if it has one; else NULL */
};

/** btsrec_insn_fn - receives a value, see above */
typedef bool (*btsrec_insn_fn)(void *arg, const struct btsrec_insn *insn);

/** btsrec_insns_each() - the instructions of btsrec_insns(); options.values is not for it */
BTSREC_API enum btsrec_status
btsrec_insns_each(struct btsrec *rec, const struct btsrec_insns *opts, btsrec_insn_fn fn,
		  void *arg);

/** struct btsrec_executed - an instruction of btsrec_coverage(), in the order of addresses */
struct btsrec_executed {
	size_t size;
	struct btsrec_name function; /* its offset is 0 */
	uint64_t start_kva;	/* of the function; several may have its name */
	uint64_t ip_va;
	uint64_t nr_times;	/* that it was executed */
	const char *text;	/* in AT&T syntax; @text_bytes, no NUL; NULL: see @no_code */
	size_t text_bytes;
	const char *no_code;	/* why it and the rest are not known, as a phrase; else NULL */
};

/** btsrec_executed_fn - receives a value, see above */
typedef bool (*btsrec_executed_fn)(void *arg, const struct btsrec_executed *executed);

/** btsrec_coverage_each() - the instructions of btsrec_coverage() */
BTSREC_API enum btsrec_status
btsrec_coverage_each(struct btsrec *rec, const struct btsrec_coverage *opts,
		     btsrec_executed_fn fn, void *arg);

/** enum btsrec_digest_kind - what a value of btsrec_summary_each() is */
enum btsrec_digest_kind {
	BTSREC_DIGEST_FAULT,	/* the first fault: before all CPUs, if there was one */
	BTSREC_DIGEST_CPU,	/* what @cpu was doing; the ones below are of the CPU before them */
	BTSREC_DIGEST_FRAME,	/* of its call stack, the innermost first */
	BTSREC_DIGEST_SWITCH,	/* one of its newest task switches, the oldest first */
	BTSREC_DIGEST_CALL,	/* of the path to the first fault */
	BTSREC_DIGEST_VERDICT,	/* on the first fault: before it */
	BTSREC_DIGEST_MEMORY,	/* after it: a place of its JSON's "memory_stack" */
	BTSREC_DIGEST_LOCK,	/* after the fault: a thread that waits for a lock */
	BTSREC_DIGEST_LOG,	/* after the path: a line of the kernel's log, the oldest first */
	BTSREC_DIGEST_OPERAND,	/* before FAULT: where the operand came from that made it */
};

struct btsrec_origin;

/** struct btsrec_digest - a part of btsrec_summary() in JSON */
struct btsrec_digest {
	size_t size;
	enum btsrec_digest_kind kind;
	unsigned int cpu;
	const char *reason;	/* of FAULT and CPU: a word of JSON's "reason"; NULL: none */
	const char *signature;	/* of FAULT: "v1:" and 16 digits; NULL: @no_signature says why */
	const char *no_signature;
	bool complete;		/* of FAULT: JSON's "complete" of the signature */
	const char *const *functions; /* of FAULT: @nr_functions, the innermost first */
	size_t nr_functions;
	const struct btsrec_cpu *page; /* of CPU: valid as what btsrec_cpu() returns; else NULL */
	bool first_fault;	/* of CPU: it is the one of the first fault */
	uint64_t nr_branches;	/* of CPU: in its history; of VERDICT: JSON's "branches", or 0 */
	const char *how;	/* of FRAME, MEMORY: a word of JSON's "type" of stacks; else NULL */
	int vector;		/* of both, of an interrupt or exception; -1: none */
	uint64_t ip_va;		/* of both: where it was, or called from; of VERDICT: "ip", or 0 */
	struct btsrec_name ip;	/* of all three */
	const struct btsrec_event *event; /* of SWITCH; else NULL */
	const struct btsrec_call *call; /* of CALL; else NULL */
	const char *verdict;	/* of VERDICT: a word of JSON's "verdict"; else NULL */
	const char *sentence;	/* of VERDICT, LOCK and OPERAND: what it says; else NULL */
	const char *access;	/* of VERDICT: a word of JSON's "access"; NULL: none */
	bool has_address;	/* of VERDICT: @address_va is what the access led to; of LOCK: it */
				/* of OPERAND: it is what that held */
	uint64_t address_va;
	uint32_t pid;		/* of VERDICT: the thread that hung; 0: none; of LOCK: that waits */
	bool survived;		/* of VERDICT: the system went on after the oops */
	bool moved;		/* of VERDICT: the fault was on @fault_cpu, see JSON */
	unsigned int fault_cpu;
	const struct btsrec_log_line *log; /* of LOG; else NULL */
	const char *lock;	/* of LOCK: a word of JSON's "lock"; else NULL; @ip_va: the call */
	const struct btsrec_origin *origin; /* of OPERAND: the last step back to it; else NULL */
	const char *operand;	/* of OPERAND: the register; NULL: it is the target of a branch */
	uint32_t owner_pid;	/* of LOCK: the thread that has taken it; 0: not known */
};

/** btsrec_digest_fn - receives a value, see above */
typedef bool (*btsrec_digest_fn)(void *arg, const struct btsrec_digest *digest);

/** btsrec_summary_each() - the parts of btsrec_summary(), which has no options */
BTSREC_API enum btsrec_status
btsrec_summary_each(struct btsrec *rec, btsrec_digest_fn fn, void *arg);

/** struct btsrec_origin - a step of btsrec_why(), or a store of another CPU that may be one */
struct btsrec_origin {
	size_t size;
	bool is_candidate;	/* a store of another CPU to @address_va, or, without one, of that
				 * value to the same member; it has no @what */
	unsigned int cpu;	/* in event @n of @cpu */
	uint64_t n;
	bool has_task;		/* the thread that ran is known */
	struct btsrec_task task;
	bool has_ip;		/* the instruction is known */
	uint64_t ip_va;
	struct btsrec_name ip;	/* if @has_ip */
	const char *insn;	/* its text, as JSON's "insn"; NULL: not known */
	const char *what;	/* a word of JSON's "what" */
	const char *reg;	/* what was looked for is this register; NULL: it is memory */
	bool has_memory;	/* at @memory_va */
	uint64_t memory_va;
	const char *value_certainty; /* of @value: a word of JSON's "value_class" */
	uint64_t value;		/* unless that is "unknown" */
	bool has_address;	/* loaded from @address_va, or stored there */
	uint64_t address_va;
	const char *certainty;	/* of the steps so far: a word of JSON's "class" */
	const char *end;	/* of the last step: a sentence on where the way ends; else NULL */
};

/** btsrec_origin_fn - receives a value, see above */
typedef bool (*btsrec_origin_fn)(void *arg, const struct btsrec_origin *origin);

/** btsrec_why_each() - the steps of btsrec_why() backwards, then the candidates */
BTSREC_API enum btsrec_status
btsrec_why_each(struct btsrec *rec, const struct btsrec_why *opts, btsrec_origin_fn fn, void *arg);

/** enum btsrec_found_kind - what a value of btsrec_search_each() is */
enum btsrec_found_kind {
	BTSREC_FOUND_SEARCH,	/* what all histories together lack: before all others */
	BTSREC_FOUND_CALL,	/* a call */
	BTSREC_FOUND_RUNS,	/* of BTSREC_AROUND: a thread runs from event @n to @last_n */
	BTSREC_FOUND_INTERRUPTS, /* of BTSREC_LOCKS: whether they were on at the fault of @cpu */
	BTSREC_FOUND_PREEMPTION, /* likewise preemption; the rest is as of INTERRUPTS */
};

/** struct btsrec_chain_link - a call of a chain */
struct btsrec_chain_link {
	uint64_t n;		/* the event that made it, of the CPU of the chain */
	const char *how;	/* a word of JSON's "type" of calls */
	uint64_t from_va;
	uint64_t to_va;
	struct btsrec_name from;
	struct btsrec_name to;
};

/** struct btsrec_found - a line of btsrec_search() in JSON */
struct btsrec_found {
	size_t size;
	enum btsrec_found_kind kind;
	uint64_t nr_lines;	/* of SEARCH: that there are, shown or not */
	uint64_t nr_gaps;	/* of SEARCH: what ran there is not known */
	bool has_forgotten;	/* of SEARCH: the history of @cpu is the shortest: from @max_tsc */
	unsigned int cpu;	/* event @n of @cpu */
	uint64_t n;
	uint64_t last_n;	/* the event that ended it; UINT64_MAX: not known */
	bool has_task;		/* the thread is known */
	struct btsrec_task task;
	uint64_t min_tsc;	/* when @n was, at the earliest; 0: nothing bounds it */
	uint64_t max_tsc;	/* at the latest; UINT64_MAX: nothing bounds it */
	uint64_t nr_branches;	/* of CALL, as the rest: in it */
	bool entered;		/* its entry was seen, else it is known from @n on */
	uint64_t from_va;	/* if @entered; of INTERRUPTS, if not 0 */
	uint64_t to_va;
	struct btsrec_name from; /* if there is @from_va */
	struct btsrec_name to;
	bool open;		/* its thread ran in it at the end of the history */
	bool lost;		/* it may have ended elsewhere */
	bool after_fault;	/* it dealt with the fault */
	uint64_t nr_calls;	/* of LAST by task: of this thread on this CPU; else 0 */
	uint64_t first_n;	/* of these the oldest */
	uint64_t first_min_tsc;
	uint64_t first_max_tsc;
	uint32_t level;		/* of MERGED and AROUND: how deep, JSON's "level" */
	const char *state;	/* of PAIRS, LOCKS: a phrase of JSON's "state"; else NULL */
	bool has_unseen;	/* of PAIRS, LOCKS: @unseen_cpu may have the other call */
	unsigned int unseen_cpu;
	bool in_ns;		/* of SLOW: durations are ns, else ticks of the TSC */
	uint64_t min_duration;
	uint64_t max_duration;	/* UINT64_MAX: nothing bounds it */
	uint64_t nr_times;	/* of PATH: the chain was taken; this is the newest */
	const struct btsrec_chain_link *links; /* of PATH: @nr_links, the outermost first */
	size_t nr_links;
	const char *lock;	/* of LOCKS: a word of JSON's "lock"; else NULL */
	const char *certainty;	/* of LOCKS: "certain", "likely" or "unknown"; else NULL */
	const char *reason;	/* of LOCKS: why it is not certain; NULL: it is */
	bool has_address;	/* of LOCKS: the lock is at @address_va, for certain */
	uint64_t address_va;
	struct btsrec_name address; /* if @has_address */
	bool has_wait;		/* of LOCKS: it waits in the function at @wait_va since @wait_n */
	uint64_t wait_n;
	uint64_t wait_va;
	struct btsrec_name wait; /* if @has_wait */
	bool caller_returned;	/* of LOCKS: the function that took it has returned */
	const char *how;	/* of INTERRUPTS that are off: a word of JSON's "by"; else NULL */
	bool was_on;		/* of INTERRUPTS that are off: they were on before @n */
	uint64_t ip_va;		/* of INTERRUPTS that are off: the instruction; 0: not known */
	struct btsrec_name ip;	/* if there is @ip_va */
	uint32_t preempt_count;	/* of PREEMPTION that is off: the kernel's own; or more, if not
				 * @was_on */
};

/** btsrec_found_fn - receives a value, see above */
typedef bool (*btsrec_found_fn)(void *arg, const struct btsrec_found *found);

/** btsrec_search_each() - the lines of btsrec_search() in JSON: runs of calls are not folded */
BTSREC_API enum btsrec_status
btsrec_search_each(struct btsrec *rec, const struct btsrec_search *opts, btsrec_found_fn fn,
		   void *arg);

/** struct btsrec_loss - what a history lacks for one reason */
struct btsrec_loss {
	enum btsrec_gap_kind kind;
	uint64_t nr_places;
	uint64_t nr_slots;	/* of all places together */
};

/** struct btsrec_ring - a CPU of btsrec_info(); btsrec_root() has the rest */
struct btsrec_ring {
	size_t size;
	const struct btsrec_cpu *page; /* valid as what btsrec_cpu() returns */
	const char *state;	/* a word of JSON's "state" */
	const char *reason;	/* why it does not record any more; NULL: it does, or never did */
	uint64_t nr_slots;
	uint64_t nr_valid_slots; /* that hold a part of the history */
	uint64_t nr_events;
	const char *wrapped;	/* "yes", "no" or "?" */
	const struct btsrec_loss *losses; /* @nr_losses; pauses are none */
	size_t nr_losses;
	const struct btsrec_registers *registers; /* at the freeze; NULL: none; valid as @page */
};

/** btsrec_ring_fn - receives a value, see above */
typedef bool (*btsrec_ring_fn)(void *arg, const struct btsrec_ring *ring);

/** btsrec_info_each() - the CPUs of btsrec_info(); no option changes them */
BTSREC_API enum btsrec_status
btsrec_info_each(struct btsrec *rec, btsrec_ring_fn fn, void *arg);

/** struct btsrec_diag - a line of btsrec_check(), but for the last */
struct btsrec_diag {
	size_t size;
	bool fault;		/* else a remark */
	bool has_cpu;		/* it is about @cpu, else about the recorder */
	unsigned int cpu;
	const char *text;	/* a sentence that does not name @cpu */
};

/** btsrec_diag_fn - receives a value, see above */
typedef bool (*btsrec_diag_fn)(void *arg, const struct btsrec_diag *diag);

/** btsrec_check_each() - the lines of btsrec_check(), which has no options */
BTSREC_API enum btsrec_status
btsrec_check_each(struct btsrec *rec, btsrec_diag_fn fn, void *arg);

/** struct btsrec_pair - two branches between which the code does not lead as recorded */
struct btsrec_pair {
	uint64_t n;		/* the event of the later one */
	bool has_task;		/* the thread that ran is known */
	struct btsrec_task task;
	uint64_t start_va;	/* where the earlier one went */
	bool is_stop;		/* in place of the later one, recording stopped at @from_va */
	uint64_t from_va;
	uint64_t to_va;		/* not of a stop */
	uint64_t fault_va;	/* the instruction at which it fails */
	const char *cause;	/* a word of JSON's "cause" */
	const char *likely;	/* what most likely made it impossible; NULL: it may be possible */
};

/** struct btsrec_proof - a CPU of btsrec_prove(): pairs of branches, and the first of each kind */
struct btsrec_proof {
	size_t size;
	unsigned int cpu;
	uint64_t nr_kernel_proven;
	uint64_t nr_user_proven;
	uint64_t nr_unknown;	/* could not be checked */
	uint64_t nr_patched;	/* lie in code that was patched since it ran */
	uint64_t nr_broken;	/* are impossible */
	uint64_t nr_filtered;	/* span what was not recorded */
	uint64_t nr_insns;	/* instructions that ran */
	uint64_t nr_file_pages;	/* pages of code from files, which no CPU before had needed */
	bool stop_proven;	/* the newest branch leads to the stop */
	const struct btsrec_pair *unknown; /* the first; NULL: none */
	const struct btsrec_pair *patched;
	const struct btsrec_pair *broken;
};

/** btsrec_proof_fn - receives a value, see above */
typedef bool (*btsrec_proof_fn)(void *arg, const struct btsrec_proof *proof);

/** btsrec_prove_each() - the CPUs of btsrec_prove(), which has no options */
BTSREC_API enum btsrec_status
btsrec_prove_each(struct btsrec *rec, btsrec_proof_fn fn, void *arg);

/** enum btsrec_compared_kind - what a value of btsrec_diff_each() is */
enum btsrec_compared_kind {
	BTSREC_COMPARED_A,	/* what of the first history is compared: first of all */
	BTSREC_COMPARED_B,	/* and of the second one */
	BTSREC_COMPARED_SAME,	/* a call of both, the oldest first */
	BTSREC_COMPARED_ONLY_A,	/* one of the newest calls before these, if they differ */
	BTSREC_COMPARED_ONLY_B,
};

/** struct btsrec_compared - a line of btsrec_diff() in JSON */
struct btsrec_compared {
	size_t size;
	enum btsrec_compared_kind kind;
	unsigned int cpu;	/* of A and B */
	bool has_task;		/* of A and B: the thread is known */
	struct btsrec_task task;
	bool to_fault;		/* of A and B: up to the fault, else up to the end */
	uint64_t nr_calls;	/* of A and B: of this thread */
	uint64_t a_n;		/* of SAME and ONLY_A: the event that made the call */
	uint64_t b_n;		/* of SAME and ONLY_B */
	const char *function;	/* of calls: without what compilers add; "-": no name */
};

/** btsrec_compared_fn - receives a value, see above */
typedef bool (*btsrec_compared_fn)(void *arg, const struct btsrec_compared *compared);

/** btsrec_diff_each() - the lines of btsrec_diff() in JSON; messages are in @a */
BTSREC_API enum btsrec_status
btsrec_diff_each(struct btsrec *a, struct btsrec *b, const struct btsrec_diff *opts,
		 btsrec_compared_fn fn, void *arg);

#ifdef __cplusplus
}
#endif

#endif /* BTSREC_VALUES_H */
