/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The summary: what it prints of one CPU, in each format. */
#ifndef BTSREC_VIEW_SUMMARY_H
#define BTSREC_VIEW_SUMMARY_H

#include "tally/signature.h"
#include "tally/verdict.h"
#include "views/view_calls.h"

#define SUMMARY_SWITCHES	3
#define SUMMARY_GAP_KINDS	(BTSREC_GAP_NO_INDEX + 1)
/* Two long names, and what is said of them. */
#define SUMMARY_SENTENCE_BYTES	2048

/**
 * struct summary_subject - the thread that hung
 * @pid: 0: none, or not known.
 * @seen: it was switched from on @cpu, the last time at @tsc; @comm: as it was called then.
 */
struct summary_subject {
	uint32_t pid;
	bool seen;
	unsigned int cpu;
	uint64_t tsc;
	char comm[BTSREC_COMM_BYTES];
};

/**
 * struct summary - one summary under way, and what the history of one CPU comes to
 * @calls: its tree holds the newest calls of the CPU.
 * @nr_events: all; @nr_branches: of them branches.
 * @switches: the newest, @nr_switches in all; number i is at i % SUMMARY_SWITCHES.
 * @nr_gaps: by kind.
 * @oldest_tsc: of the first event that has one; 0: none.
 * @ends_before: the history ends some time before the stop, see fault_ends_before().
 * @ip: where the CPU was stopped, or, if it ends before or was not, where its newest branch led.
 * @moved: the fault lies on @fault_cpu: its handler went on elsewhere, and the tree is that of its
 *	thread, @followed, over all CPUs.
 * @verdict: of the first fault; @sentence: what it says, or why there is none.
 * @survived: the task of an oops died, and the system went on.
 * @signature: of the first fault; @no_signature: why it has none, NULL: it has.
 * @nr_open: the calls that were open there: so many of those of the tree.
 * @first_open: of them the first one of the path that is printed.
 * @fn, @arg: receive each part as a value; NULL: it is printed.
 */
struct summary {
	struct calls calls;
	const struct summary_format *format;
	uint64_t nr_events;
	uint64_t nr_branches;
	uint64_t nr_switches;
	struct btsrec_event switches[SUMMARY_SWITCHES];
	uint64_t nr_gaps[SUMMARY_GAP_KINDS];
	uint64_t oldest_tsc;
	bool ends_before;
	uint64_t ip;
	bool moved;
	unsigned int fault_cpu;
	struct view_thread followed;
	struct verdict verdict;
	struct summary_subject subject;
	bool survived;
	char sentence[SUMMARY_SENTENCE_BYTES];
	struct signature signature;
	const char *no_signature;
	size_t nr_open;
	size_t first_open;
	btsrec_digest_fn fn;
	void *arg;
};

/**
 * struct summary_format - how one format words it
 * @begin: once; the CPU that failed first is the one at hand.
 * @cpu: what @cpu was doing; its path is printed after it if it is the one that
 *	@failed first.
 * @recursion: NULL, or called where so many open calls are left out of the path, which repeat
 *	those before.
 */
struct summary_format {
	void (*begin)(struct summary *view);
	void (*cpu)(struct summary *view, const struct btsrec_cpu *cpu, bool failed);
	void (*recursion)(struct summary *view, size_t nr_calls);
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

/** summary_sign() - the signature of the fault of @failed, which is judged, or why it has none */
void summary_sign(struct summary *view, struct btsrec *rec, const struct btsrec_cpu *failed);

/** summary_unreliable_n() - the newest event before @end_n at which calls may have ended unseen */
uint64_t summary_unreliable_n(const struct summary *view, uint64_t end_n);

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

/** summary_say() - word the verdict, which is known */
void summary_say(struct summary *view, const struct btsrec_cpu *failed);

/** summary_put_call() - for struct calls: a line of the path as a value; @arg: struct summary */
bool summary_put_call(void *arg, const struct btsrec_call *call);

#endif /* BTSREC_VIEW_SUMMARY_H */
