// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "doctor.h"

/* What the whole comes to. */
static const char *verdict(enum doctor_level level)
{
	switch (level) {
	case DOCTOR_GOOD:
		return "After a crash of this machine there will be a history.";
	case DOCTOR_DEGRADED:
		return "After a crash of this machine there will be a history, with less than there could be.";
	case DOCTOR_NO_HISTORY:
	case DOCTOR_USAGE:
		break;
	}
	return "After a crash of this machine there will be no history.";
}

const char *doctor_level_str(enum doctor_level level)
{
	switch (level) {
	case DOCTOR_GOOD:
		return "good";
	case DOCTOR_DEGRADED:
		return "degraded";
	case DOCTOR_NO_HISTORY:
	case DOCTOR_USAGE:
		break;
	}
	return "no-history";
}

/* Texts hold file names, which may hold anything. */
static void put_escaped(const char *text, const char *special)
{
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte < 0x20 || byte >= 0x7f)
			printf("\\u%04x", byte);
		else if (byte == (unsigned char)special[0] || byte == (unsigned char)special[1])
			printf("\\%c", byte);
		else
			putchar(byte);
	}
}

void doctor_print_text(const struct doctor_report *report)
{
	size_t i;

	for (i = 0; i < report->nr; i++) {
		const struct doctor_check *check = &report->checks[i];

		printf("%-10s  %-7s  ", doctor_level_str(check->level), check->name);
		put_escaped(check->text, "\\\\");
		putchar('\n');
		if (*check->remedy)
			printf("%21s%s\n", "", check->remedy);
	}
	puts(verdict(report->level));
}

void doctor_print_jsonl(const struct doctor_report *report)
{
	size_t i;

	for (i = 0; i < report->nr; i++) {
		const struct doctor_check *check = &report->checks[i];

		printf("{\"kind\":\"check\",\"name\":\"%s\",\"level\":\"%s\",\"text\":\"",
		       check->name, doctor_level_str(check->level));
		put_escaped(check->text, "\\\"");
		fputs("\",\"remedy\":", stdout);
		if (*check->remedy) {
			putchar('"');
			put_escaped(check->remedy, "\\\"");
			puts("\"}");
		} else {
			puts("null}");
		}
	}
	printf("{\"kind\":\"verdict\",\"level\":\"%s\",\"text\":\"%s\"}\n",
	       doctor_level_str(report->level), verdict(report->level));
}

static void metric(const char *name, const char *type, const char *help, uint64_t value)
{
	printf("# HELP btsrec_%s %s\n# TYPE btsrec_%s %s\nbtsrec_%s %llu\n", name, help, name,
	       type, name, (unsigned long long)value);
}

void doctor_print_prometheus(const struct doctor_report *report, const struct doctor_facts *facts)
{
	size_t i;

	metric("history_level", "gauge", "After a crash: 0 a history, 1 less of it, 2 none.",
	       report->level);
	printf("# HELP btsrec_check_level What btsrec doctor finds, levels likewise.\n"
	       "# TYPE btsrec_check_level gauge\n");
	for (i = 0; i < report->nr; i++)
		printf("btsrec_check_level{name=\"%s\"} %d\n", report->checks[i].name,
		       report->checks[i].level);
	metric("cpus", "gauge", "CPUs that are online.", facts->nr_online);
	metric("cpus_armed", "gauge", "CPUs that record.", facts->nr_armed);
	metric("cpus_left_out", "gauge", "CPUs that CPUS= leaves out.", facts->nr_left_out);
	metric("records_total", "counter", "Branches recorded on all CPUs, at least.",
	       facts->nr_records);
	metric("recorded_milliseconds_total", "counter", "Time in which CPUs recorded, together.",
	       facts->recorded_ms);
	metric("annotations_total", "counter", "Switches, execs, gaps and marks recorded.",
	       facts->nr_annotations);
	metric("annotations_skipped_total", "counter", "Annotations that could not be written.",
	       facts->nr_skipped);
	metric("foreign_stops_total", "counter", "Times that somebody else ended recording.",
	       facts->nr_foreign_stops);
	metric("copies_total", "counter", "Copies of the rings at what FREEZE_ON names.",
	       facts->nr_copies);
	metric("missed_triggers_total", "counter",
	       "What FREEZE_ON names, while a copy had not been taken.", facts->nr_missed);
	metric("execs_total", "counter", "Programs that were started.", facts->nr_execs);
	metric("arms_total", "counter", "Times that the recorder was armed.", facts->nr_arms);
}
