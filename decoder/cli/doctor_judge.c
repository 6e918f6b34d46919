// SPDX-License-Identifier: GPL-2.0-or-later
/* From facts to results: what keeps a history from being there after a crash. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "doctor.h"

#define MIB	(1ull << 20)
/* What Debian's kdump-tools reserves for the capture kernel (crashkernel=384M-:128M). */
#define CRASH_BYTES	(128 * MIB)
/* An extract is smaller than the rings: it holds them, and what decoding needs, compressed. */
#define SMALL_FILE_SLACK	(16 * MIB)

__attribute__((format(printf, 5, 6)))
static void find(struct doctor_report *report, const char *name, enum doctor_level level,
		 const char *remedy, const char *fmt, ...)
{
	struct doctor_check *check = &report->checks[report->nr];
	va_list args;

	if (report->nr == DOCTOR_MAX_CHECKS)
		return;
	report->nr++;
	*check = (struct doctor_check){ .name = name, .level = level, .remedy = remedy };
	va_start(args, fmt);
	vsnprintf(check->text, sizeof(check->text), fmt, args);
	va_end(args);
	if (level > report->level)
		report->level = level;
}

static void judge_cpu(const struct doctor_facts *facts, struct doctor_report *report)
{
	if (!facts->has_cpuinfo)
		find(report, "cpu", DOCTOR_NO_HISTORY, "Mount /proc.",
		     "/proc/cpuinfo says nothing.");
	else if (facts->nr_last_branches)
		find(report, "cpu", DOCTOR_DEGRADED,
		     "Record on a machine with Branch Trace Store for more; a guest of KVM has none.",
		     "The source is the last branch record: a history has the last %u branches of a CPU.",
		     facts->nr_last_branches);
	else if (!facts->is_intel)
		find(report, "cpu", DOCTOR_NO_HISTORY, "Use a machine with Intel's CPU.",
		     "Branch Trace Store is a feature of Intel's CPUs; this is none.");
	else if (facts->has_bts && facts->has_dtes64)
		find(report, "cpu", DOCTOR_GOOD, "", "Branch Trace Store on %u CPUs.",
		     facts->nr_online);
	else if (facts->is_guest)
		find(report, "cpu", DOCTOR_NO_HISTORY,
		     "Record on the machine itself; or load the module: it takes the last branch record, if that is passed on.",
		     "This is a virtual machine, to which no Branch Trace Store is passed on.");
	else
		find(report, "cpu", DOCTOR_NO_HISTORY,
		     "Look in the firmware's setup for a switch of debug or trace features.",
		     "The CPU offers no Branch Trace Store in 64-bit mode (flags %s); firmware can switch it off.",
		     facts->has_bts ? "bts without dtes64" : "without bts");
}

static void judge_pti(const struct doctor_facts *facts, struct doctor_report *report)
{
	if (!facts->is_pti_known)
		find(report, "pti", DOCTOR_DEGRADED, "Mount /sys.",
		     "Whether page tables are isolated is not known: vulnerabilities/meltdown says nothing.");
	else if (facts->nr_last_branches)
		find(report, "pti", DOCTOR_GOOD, "",
		     "The last branch record needs no ring that user page tables show.");
	else if (!facts->has_pti)
		find(report, "pti", DOCTOR_GOOD, "", "Page tables are not isolated.");
	else if (!facts->maps_pti)
		find(report, "pti", DOCTOR_NO_HISTORY,
		     "Set PTI=map in /etc/btsrec.conf if every process may read the history, or boot with nopti.",
		     "Page tables are isolated, and the recorder is not set to record then.");
	else
		find(report, "pti", DOCTOR_GOOD, "",
		     "Page tables are isolated; the rings are shown to user page tables, where Meltdown reads them.");
}

static void judge_module(const struct doctor_facts *facts, struct doctor_report *report)
{
	if (facts->is_loaded)
		find(report, "module", DOCTOR_GOOD, "", "The module is loaded.");
	else if (!*facts->module)
		find(report, "module", DOCTOR_NO_HISTORY,
		     "Install btsrec-dkms and the headers of this kernel; 'dkms status' says more.",
		     "There is no module for the kernel %s.",
		     *facts->release ? facts->release : "that runs");
	else if (facts->wants_signed && !facts->is_signed)
		find(report, "module", DOCTOR_NO_HISTORY,
		     "Enrol DKMS's key ('mokutil --import /var/lib/dkms/mok.pub', reboot) and rebuild.",
		     "The kernel loads signed modules only; %s has no signature.", facts->module);
	else
		find(report, "module", DOCTOR_NO_HISTORY,
		     "Run 'systemctl start btsrec'; 'systemctl status btsrec' says why it did not.",
		     "The module is there%s and not loaded.",
		     facts->wants_signed ? ", signed," : "");
}

/* The module makes the device, and the kernel the file in devtmpfs. */
static const char *unread_device_remedy(int error)
{
	if (error == EACCES || error == EPERM)
		return "Run it as root.";
	if (error == ENOENT)
		return "Mount devtmpfs at /dev; in a container, ask the machine itself.";
	return "The kernel log may say why.";
}

static void judge_armed(const struct doctor_facts *facts, struct doctor_report *report)
{
	if (facts->device_errno)
		find(report, "armed", DOCTOR_DEGRADED,
		     unread_device_remedy(facts->device_errno),
		     "Whether the recorder is armed is not known: /dev/btsrec: %s.",
		     strerror(facts->device_errno));
	else if (!strcmp(facts->state, "frozen"))
		find(report, "armed", DOCTOR_NO_HISTORY,
		     "Read it (a dump of the running system), then write arm to /dev/btsrec.",
		     "The recorder holds the history of an earlier fault and records no more.");
	else if (strcmp(facts->state, "armed"))
		find(report, "armed", DOCTOR_NO_HISTORY,
		     "Write arm to /dev/btsrec; the kernel log says why if it refuses.",
		     "The recorder is not armed: %s.", facts->state);
	else if (!facts->nr_armed || facts->nr_armed + facts->nr_left_out < facts->nr_online)
		find(report, "armed", facts->nr_armed ? DOCTOR_DEGRADED : DOCTOR_NO_HISTORY,
		     "Write disarm, then arm, to /dev/btsrec; something else may trace the others.",
		     "%u of %u CPUs record.", facts->nr_armed,
		     facts->nr_online - facts->nr_left_out);
	else
		find(report, "armed", DOCTOR_GOOD, "",
		     "%u CPUs record, each passed the self-test when it was armed.",
		     facts->nr_armed);
}

static void judge_perf(const struct doctor_facts *facts, struct doctor_report *report)
{
	if (facts->nr_foreign_stops)
		find(report, "perf", DOCTOR_DEGRADED,
		     "Find what traces branches beside the recorder; 'perf record -e intel_bts//' does.",
		     "Recording was ended %llu times by somebody else.",
		     (unsigned long long)facts->nr_foreign_stops);
	else
		find(report, "perf", DOCTOR_GOOD, "", "Nobody else has taken Branch Trace Store.");
	if (facts->nr_skipped)
		find(report, "gaps", DOCTOR_DEGRADED, "",
		     "%llu annotations could not be written.",
		     (unsigned long long)facts->nr_skipped);
}

/* Without each of them the history of some fault is the kernel's report of it. */
static void judge_hooks(const struct doctor_facts *facts, struct doctor_report *report)
{
	if (facts->nr_missing_hooks)
		find(report, "hooks", DOCTOR_DEGRADED,
		     "/dev/btsrec and the kernel log say what the history lacks without each.",
		     "The recorder does without %u hooks in the kernel: %s.",
		     facts->nr_missing_hooks, facts->missing_hooks);
}

static void judge_freeze_on(const struct doctor_facts *facts, struct doctor_report *report)
{
	bool is_set = *facts->freeze_on && strcmp(facts->freeze_on, "none");

	if (is_set && facts->copies)
		find(report, "freeze-on", DOCTOR_GOOD, "",
		     "The recorder copies its rings for %s: %llu times so far.", facts->freeze_on,
		     (unsigned long long)facts->nr_copies);
	else if (is_set)
		find(report, "freeze-on", DOCTOR_GOOD, "",
		     "Besides a crash the recorder stops for %s.", facts->freeze_on);
	if (facts->nr_missed)
		find(report, "missed", DOCTOR_GOOD, "",
		     "What FREEZE_ON names was reached %llu times while a copy had not been taken.",
		     (unsigned long long)facts->nr_missed);
}

static void judge_left_out(const struct doctor_facts *facts, struct doctor_report *report)
{
	if (facts->nr_left_out)
		find(report, "left-out", DOCTOR_GOOD, "",
		     "Of %u CPUs there will be no history: they are not in CPUS=%s.",
		     facts->nr_left_out, facts->cpus);
}

static void judge_limits(const struct doctor_facts *facts, struct doctor_report *report)
{
	if (*facts->tasks && strcmp(facts->tasks, "all"))
		find(report, "tasks", DOCTOR_GOOD, "",
		     "Of threads not in TASKS=%s only the switches are recorded.", facts->tasks);
	if (facts->max_rate)
		find(report, "max-rate", DOCTOR_GOOD, "",
		     "At most %llu branches a second are recorded on a CPU; what is more is not.",
		     (unsigned long long)facts->max_rate);
	if (facts->nr_records)
		find(report, "recorded", DOCTOR_GOOD, "",
		     "At least %llu branches in %llu s of CPU time since the module was loaded.",
		     (unsigned long long)facts->nr_records,
		     (unsigned long long)facts->recorded_ms / 1000);
}

static void judge_recorder(const struct doctor_facts *facts, struct doctor_report *report)
{
	judge_module(facts, report);
	if (!facts->is_loaded)
		return;
	judge_armed(facts, report);
	if (!facts->device_errno) {
		judge_perf(facts, report);
		judge_hooks(facts, report);
		judge_freeze_on(facts, report);
		judge_left_out(facts, report);
		judge_limits(facts, report);
	}
}

/* Without a capture kernel the console's tail is all there is. */
static void judge_no_kdump(const struct doctor_facts *facts, struct doctor_report *report)
{
	const char *remedy = facts->crash_bytes
		? "Load it: 'systemctl start kdump-tools' (Debian) or 'kdumpctl start'."
		: "Install kdump-tools and boot with crashkernel=, for example crashkernel=256M.";

	if (facts->console_records && facts->has_pstore)
		find(report, "kdump", DOCTOR_DEGRADED, remedy,
		     "No capture kernel is loaded; pstore will keep the newest %llu branches of one CPU.",
		     (unsigned long long)facts->console_records);
	else
		find(report, "kdump", DOCTOR_NO_HISTORY, remedy,
		     "%s", facts->crash_bytes
		     ? "Memory for a capture kernel is reserved, but none is loaded."
		     : "No memory is reserved for a capture kernel.");
}

static void judge_kdump(const struct doctor_facts *facts, struct doctor_report *report)
{
	unsigned long long mib = facts->crash_bytes / MIB;

	if (!facts->is_crash_kernel_loaded) {
		judge_no_kdump(facts, report);
		return;
	}
	if (facts->crash_bytes < CRASH_BYTES)
		find(report, "kdump", DOCTOR_DEGRADED, "Boot with crashkernel=256M.",
		     "The capture kernel has %llu MiB, less than Debian's 128.", mib);
	else
		find(report, "kdump", DOCTOR_GOOD, "", "A capture kernel is loaded, with %llu MiB.",
		     mib);
	if (facts->conf_errno)
		find(report, "capture", DOCTOR_DEGRADED, "Run it as root.",
		     "Whether a small file is written before the dump is not known: /etc/btsrec.conf: %s.",
		     strerror(facts->conf_errno));
	else if (!facts->captures)
		find(report, "capture", DOCTOR_DEGRADED, "Remove CAPTURE= from /etc/btsrec.conf.",
		     "No small file will be written before the dump: CAPTURE is not yes.");
}

/* A module that is older than the sizes of single CPUs gives the one of all. */
static uint64_t rings_bytes(const struct doctor_facts *facts)
{
	return facts->rings_bytes ? facts->rings_bytes : facts->ring_bytes * facts->nr_cpus;
}

/* Without so much room the collector makes none (report() of systemd/collect). */
static uint64_t report_bytes(const struct doctor_facts *facts)
{
	return facts->min_free_bytes + rings_bytes(facts);
}

/* The capture kernel's small file, which lies beside the report until that is made. */
static uint64_t capture_bytes(const struct doctor_facts *facts)
{
	if (!facts->is_crash_kernel_loaded || !facts->captures)
		return 0;
	return rings_bytes(facts) + SMALL_FILE_SLACK;
}

/* What is wanted and is not known to be there. */
static void judge_unknown_space(const struct doctor_facts *facts, struct doctor_report *report)
{
	if (facts->state_free_bytes == DOCTOR_UNKNOWN)
		find(report, "space", DOCTOR_DEGRADED, "Look at /var/lib/btsrec as root.",
		     "How much room there is for reports is not known.");
	else if (facts->dump_free_bytes == DOCTOR_UNKNOWN)
		find(report, "space", DOCTOR_DEGRADED, "Look at that folder as root.",
		     "How much room there is in %.200s is not known.", facts->dump_dir);
	else
		find(report, "space", DOCTOR_DEGRADED, "Mount /proc.",
		     "How much room a dump takes is not known: /proc/meminfo says nothing.");
}

static void judge_space(const struct doctor_facts *facts, struct doctor_report *report)
{
	uint64_t wanted_bytes = report_bytes(facts) + capture_bytes(facts);
	unsigned long long dump_mib = facts->dump_free_bytes / MIB;

	if (facts->state_free_bytes < wanted_bytes)
		find(report, "space", DOCTOR_DEGRADED, "Make room below /var/lib/btsrec.",
		     "%llu MiB are free for reports; a crash may want %llu.",
		     (unsigned long long)(facts->state_free_bytes / MIB),
		     (unsigned long long)(wanted_bytes / MIB));
	else if (facts->dump_free_bytes < facts->kernel_bytes)
		find(report, "space", DOCTOR_DEGRADED,
		     "Make room, or set DUMP_DIRS and kdump's folder.",
		     "%llu MiB are free in %.200s; the kernel's own memory is %llu.", dump_mib,
		     facts->dump_dir, (unsigned long long)(facts->kernel_bytes / MIB));
	else if (facts->state_free_bytes == DOCTOR_UNKNOWN ||
		 facts->dump_free_bytes == DOCTOR_UNKNOWN || !facts->kernel_bytes)
		judge_unknown_space(facts, report);
	else
		find(report, "space", DOCTOR_GOOD, "", "There is room for a dump in %.200s.",
		     facts->dump_dir);
}

static void judge_units(const struct doctor_facts *facts, struct doctor_report *report)
{
	if (!facts->arms_at_boot)
		find(report, "units", DOCTOR_DEGRADED, "Run 'systemctl enable btsrec'.",
		     "The recorder is not armed at boot.");
	else if (!facts->collects)
		find(report, "units", DOCTOR_DEGRADED,
		     "Run 'systemctl enable btsrec-collect.service btsrec-collect.path btsrec-collect.timer'.",
		     "Nobody makes a report after a crash.");
	else
		find(report, "units", DOCTOR_GOOD, "",
		     "The recorder is armed at boot, a crash is reported after it.");
}

void doctor_judge(const struct doctor_facts *facts, struct doctor_report *ret)
{
	memset(ret, 0, sizeof(*ret));
	judge_cpu(facts, ret);
	judge_pti(facts, ret);
	judge_recorder(facts, ret);
	judge_kdump(facts, ret);
	judge_space(facts, ret);
	judge_units(facts, ret);
}
