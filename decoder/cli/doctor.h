/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * btsrec doctor: will this machine give a history after a crash?  doctor_facts.c reads what
 * the machine shows in files, doctor_judge.c judges it, doctor_print.c says it.
 */
#ifndef BTSREC_DOCTOR_H
#define BTSREC_DOCTOR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Also the exit status of the command. */
enum doctor_level {
	DOCTOR_GOOD = 0,
	DOCTOR_DEGRADED = 1,	/* a history, but less than there could be */
	DOCTOR_NO_HISTORY = 2,
	DOCTOR_USAGE = 3,	/* exit status only: wrong command line */
};

#define DOCTOR_UNKNOWN	UINT64_MAX

/**
 * struct doctor_facts - what the files of a machine say
 * @release: of the kernel; "": not known.
 * @has_bts, @has_dtes64: flags of the CPU (/proc/cpuinfo; the kernel clears "bts" where
 *	IA32_MISC_ENABLE says that firmware switched it off, arch/x86/kernel/cpu/intel.c).
 * @has_pti: the kernel isolates page tables (vulnerabilities/meltdown), if @is_pti_known.
 * @maps_pti: the loaded module records then; of one that is not loaded, /etc/btsrec.conf.
 * @wants_signed: a module without a signature is refused, by lockdown or sig_enforce.
 * @is_signed: what @module ends with is a signature; false also if it is compressed.
 * @module: path of btsrec.ko for @release; "": there is none.
 * @device_errno: why /dev/btsrec could not be read; 0: it was.
 * @state: "armed" and so on, as /dev/btsrec says; "": not known.
 * @nr_cpus: with a ring.
 * @ring_bytes: of a CPU without a size in its line; @rings_bytes: the sum of those in the lines.
 * @nr_annotations: task switches and the like, of all CPUs, since arming; wraps never.
 * @nr_skipped: annotations that were wanted and not written.
 * @nr_missing_hooks: hooks that the recorder does without; @missing_hooks: the names of the
 *	first of them, with ", " between.
 * @cpus: which CPUs record, as /dev/btsrec has it; @nr_left_out: online CPUs that do not for it.
 * @tasks: which threads it records; "": not known; @max_rate: branches a second and CPU; 0: any.
 * @nr_records, @recorded_ms: branches of all CPUs, at least, and in how much time of theirs.
 * @nr_last_branches: how long a history is where the source is LBR; 0: it is BTS, or not known.
 * @freeze_on: what the recorder stops for besides a crash, as /dev/btsrec has it; "": not known.
 * @copies: it copies the rings then, and records on; @nr_copies: how often it has.
 * @nr_missed: of what @freeze_on names, while a copy had not been taken.
 * @nr_foreign_stops: how often a CPU's BTS was found off by another's hand.
 * @conf_errno: why /etc/btsrec.conf could not be read; 0: it was, or there is none.
 * @crash_bytes: memory that is reserved for the capture kernel.
 * @console_records: as the module's parameter.
 * @kernel_bytes: memory that the kernel uses for itself, which is about what a dump without user
 *	pages holds; 0: not known.
 * @dump_free_bytes: room in the first folder of DUMP_DIRS, or where it will be made;
 *	DOCTOR_UNKNOWN: not known.
 * @state_free_bytes: the same of /var/lib/btsrec.
 * @min_free_bytes: MIN_FREE_MBYTES, room that a report wants beside the rings.
 * @arms_at_boot, @collects: the units are enabled.
 */
struct doctor_facts {
	char release[128];
	bool has_cpuinfo, is_intel, has_bts, has_dtes64, is_guest;
	unsigned int nr_online;
	bool is_pti_known, has_pti, maps_pti;
	bool wants_signed, is_signed;
	char module[PATH_MAX];
	bool is_loaded;
	int device_errno;
	char state[16];
	unsigned int nr_cpus, nr_armed, nr_left_out, nr_last_branches;
	char cpus[256], tasks[256];
	uint64_t max_rate, nr_records, recorded_ms;
	uint64_t ring_bytes, rings_bytes, nr_arms, nr_execs;
	uint64_t nr_annotations, nr_skipped, nr_foreign_stops;
	unsigned int nr_missing_hooks;
	char missing_hooks[160];
	char freeze_on[256];
	bool copies;
	uint64_t nr_copies, nr_missed;
	int conf_errno;
	bool is_crash_kernel_loaded, captures;
	uint64_t crash_bytes;
	bool has_pstore;
	uint64_t console_records;
	char dump_dir[PATH_MAX];
	uint64_t kernel_bytes, dump_free_bytes, state_free_bytes, min_free_bytes;
	bool arms_at_boot, collects;
};

/** doctor_facts_read() - read the facts of the machine with its files below @root */
void doctor_facts_read(const char *root, struct doctor_facts *ret);

/**
 * struct doctor_check - one judgement
 * @remedy: what to do; "": nothing.
 */
struct doctor_check {
	const char *name;
	enum doctor_level level;
	char text[320];
	const char *remedy;
};

#define DOCTOR_MAX_CHECKS	24

/** struct doctor_report - all judgements; @level is the worst */
struct doctor_report {
	struct doctor_check checks[DOCTOR_MAX_CHECKS];
	size_t nr;
	enum doctor_level level;
};

/** doctor_judge() - judge facts; a pure function */
void doctor_judge(const struct doctor_facts *facts, struct doctor_report *ret);

/** doctor_level_str() - "good", "degraded", "no-history" */
const char *doctor_level_str(enum doctor_level level);

/* Each writes a report to standard output. */
void doctor_print_text(const struct doctor_report *report);
void doctor_print_jsonl(const struct doctor_report *report);
void doctor_print_prometheus(const struct doctor_report *report, const struct doctor_facts *facts);

#endif /* BTSREC_DOCTOR_H */
