/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's log beside the histories: its lines, and when they were printed by the TSC. */
#ifndef BTSREC_VIEWS_KERNEL_LOG_H
#define BTSREC_VIEWS_KERNEL_LOG_H

#include <btsrec/values.h>

#include "base/escape.h"
#include "flow/clock.h"
#include "kernel/printk_ring.h"
#include "kernel/sched_clock.h"
#include "render/out.h"

/**
 * struct kernel_log - the way through the log of a session, from the newest line to the oldest
 * @why: there is no log, static; NULL: there is.
 * @clock: valid unless @no_clock, static, says why times of lines are not known.
 * @nr_writing, @nr_missing: records that were passed and are no lines: somebody was still writing
 *	them, or the dump lacks their descriptors.
 */
struct kernel_log {
	const char *why;
	struct printk_ring ring;
	const char *no_clock;
	struct sched_clock clock;
	uint64_t nr_writing;
	uint64_t nr_missing;
};

/** struct kernel_log_line - a line without its text; @tsc: if @has_tsc */
struct kernel_log_line {
	struct printk_record record;
	bool has_tsc;
	uint64_t tsc;
};

/** struct kernel_log_text - room for a text, as it is and escaped; each ends with a NUL */
struct kernel_log_text {
	char raw[PRINTK_TEXT_BYTES + 1];
	char escaped[ESCAPED_MAX_BYTES * PRINTK_TEXT_BYTES + 1];
};

/**
 * kernel_log_clock() - how the clock of the log, which is that of the scheduler, follows the TSC
 *
 * Return: as sched_clock_read().
 */
const char *kernel_log_clock(struct btsrec *rec, const struct kread *kernel,
			     struct sched_clock *ret);

/** kernel_log_open() - before the newest line; nothing is to be freed */
void kernel_log_open(struct kernel_log *log, struct btsrec *rec);

/** kernel_log_next() - the next older line that was written to its end; false: no more */
bool kernel_log_next(struct kernel_log *log, struct kernel_log_line *ret);

/**
 * kernel_log_is_detail() - is it of a call trace, of registers or of the machine?
 *
 * The lines of a call trace are indented.
 */
bool kernel_log_is_detail(const struct kernel_log *log, const struct kernel_log_line *line);

#define KERNEL_LOG_LACKS_BYTES	128

/** kernel_log_lacks() - what is missing of what was passed, in words; NULL: nothing */
const char *kernel_log_lacks(const struct kernel_log *log, char ret[KERNEL_LOG_LACKS_BYTES]);

/** kernel_log_value() - @line with its text, which is read now; borrows @text */
struct btsrec_log_line kernel_log_value(const struct kernel_log *log,
					const struct kernel_log_line *line,
					struct kernel_log_text *text);

/**
 * kernel_log_text() - "[    5.123456] T99 TEXT": when, by the kernel's clock, and the thread
 * @max_chars: of the text; what is longer ends with "...".
 */
void kernel_log_text(struct out *out, const struct btsrec_log_line *line, size_t max_chars);

/** kernel_log_json() - an object of the kind "log"; @clock: for the time from the freeze */
void kernel_log_json(struct out *out, const struct btsrec_log_line *line,
		     const struct kernel_log_text *text, const struct clock *clock);

/** kernel_log_json_none() - the same of a log, or of lines, that are not there; @why: trusted */
void kernel_log_json_none(struct out *out, const char *why);

#endif /* BTSREC_VIEWS_KERNEL_LOG_H */
