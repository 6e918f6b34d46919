// SPDX-License-Identifier: GPL-2.0-or-later
/* What of the kernel's log is on the summary. */
#include <string.h>

#include "views/view_summary.h"

#define MAX_LINES	(SUMMARY_LOG_BEFORE + SUMMARY_LOG_AFTER)

/* The path of the fault is on the summary; call traces and registers are not repeated. */
static bool next_line(struct summary_log *log, struct kernel_log_line *ret)
{
	while (kernel_log_next(&log->log, ret)) {
		if (!kernel_log_is_detail(&log->log, ret))
			return true;
		log->nr_details++;
	}
	return false;
}

/* The newest of those that are kept gives way to @line, which is older. */
static void keep(struct summary_log *log, const struct kernel_log_line *line, size_t max)
{
	if (log->nr == max) {
		memmove(log->lines, log->lines + 1, (max - 1) * sizeof(*log->lines));
		log->nr--;
		log->nr_newer++;
	}
	log->lines[log->nr++] = *line;
}

/* From the fault on: the oldest few of all.  False: there is none before it. */
static bool read_after(struct summary_log *log, struct kernel_log_line *ret_before)
{
	while (next_line(log, ret_before)) {
		if (ret_before->has_tsc && ret_before->tsc < log->end_tsc)
			return true;
		keep(log, ret_before, SUMMARY_LOG_AFTER);
	}
	return false;
}

static void read_before(struct summary_log *log, size_t end)
{
	while (log->nr < end && next_line(log, &log->lines[log->nr]))
		log->nr++;
}

void summary_log_read(struct btsrec *rec, uint64_t end_tsc, struct summary_log *ret)
{
	struct kernel_log_line line;

	memset(ret, 0, sizeof(*ret));
	kernel_log_open(&ret->log, rec);
	if (ret->log.why)
		return;
	ret->is_around = end_tsc && !ret->log.no_clock;
	if (!ret->is_around) {
		read_before(ret, MAX_LINES);
		return;
	}
	ret->end_tsc = end_tsc;
	if (!read_after(ret, &line))
		return;
	ret->lines[ret->nr++] = line;
	read_before(ret, ret->nr + SUMMARY_LOG_BEFORE - 1);
}
