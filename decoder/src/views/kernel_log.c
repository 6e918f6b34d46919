// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/kernel_log.h"

#include <stdio.h>
#include <string.h>

#include "recorder/session.h"
#include "render/json.h"
#include "symbols/symbol.h"

#define NS_PER_S	1000000000U
#define NS_PER_US	1000U

void btsrec_set_log(struct btsrec *rec, bool wanted)
{
	rec->no_log = !wanted;
}

/* --- Reading ------------------------------------------------------------ */

/* Where @cpu has its struct cyc2ns; 0: not known. */
static uint64_t cyc2ns_kva(struct btsrec *rec, const struct kread *kernel, unsigned int cpu)
{
	uint64_t table = symbols_place(rec, SYMBOL_DUMP_PER_CPU_OFFSET);
	uint64_t at = symbols_place(rec, SYMBOL_DUMP_CYC2NS), offset;

	if (!table || !at || !kread(kernel, table + 8ULL * cpu, &offset, sizeof(offset)))
		return 0;
	return at + offset;
}

const char *kernel_log_clock(struct btsrec *rec, const struct kread *kernel,
			     struct sched_clock *ret)
{
	const struct btsrec_root *root = btsrec_root(rec);
	/* All CPUs have the same constants: cyc2ns_init_secondary_cpus() of tsc.c. */
	const struct sched_clock_places places = {
		.cyc2ns_kva = cyc2ns_kva(rec, kernel, root->freeze_reason ? root->freeze_cpu : 0),
		.stable_kva = symbols_place(rec, SYMBOL_DUMP_CLOCK_STABLE),
		.offset_kva = symbols_place(rec, SYMBOL_DUMP_CLOCK_OFFSET),
		.native_kva = symbols_place(rec, SYMBOL_DUMP_NATIVE_CLOCK),
		.call_kva = symbols_place(rec, SYMBOL_DUMP_PV_CLOCK),
		.pv_ops_kva = symbols_place(rec, SYMBOL_DUMP_PV_OPS),
	};

	return sched_clock_read(kernel, &places, root->tsc_khz, ret);
}

void kernel_log_open(struct kernel_log *log, struct btsrec *rec)
{
	const struct kread *kernel = symbols_kread(rec);

	memset(log, 0, sizeof(*log));
	if (rec->log_left_out)
		log->why = "it was left out of this small file";
	else
		log->why = kernel ? printk_ring_open(kernel, rec->image.vmcoreinfo, &log->ring) :
				   "out of memory";
	if (!log->why)
		log->no_clock = kernel_log_clock(rec, kernel, &log->clock);
}

bool kernel_log_next(struct kernel_log *log, struct kernel_log_line *ret)
{
	memset(ret, 0, sizeof(*ret));
	while (printk_ring_next(&log->ring, &ret->record)) {
		log->nr_writing += ret->record.state == PRINTK_WRITING;
		log->nr_missing += ret->record.state == PRINTK_MISSING;
		if (ret->record.state != PRINTK_READY)
			continue;
		ret->has_tsc = !log->no_clock &&
			       sched_clock_tsc(&log->clock, ret->record.ts_nsec, &ret->tsc);
		return true;
	}
	return false;
}

/*
 * How lines of a report begin that say what is in registers, in code and in the machine: show_ip(),
 * __show_regs() and show_opcodes() of arch/x86/kernel, dump_stack_print_info(), print_modules().
 */
static bool is_of_state(const char *text, size_t nr_bytes)
{
	static const char *const words[] = {
		"RIP: ", "RSP: ", "RAX: ", "RDX: ", "RBP: ", "R10: ", "R13: ", "FS: ", "CS: ",
		"CR2: ", "DR0: ", "DR3: ", "PKRU: ", "Code: ", "CPU: ", "Hardware name: ",
		"Modules linked in: ", "Call Trace:", "Workqueue: ", "Tainted: ",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (nr_bytes >= strlen(words[i]) && !memcmp(text, words[i], strlen(words[i])))
			return true;
	return false;
}

bool kernel_log_is_detail(const struct kernel_log *log, const struct kernel_log_line *line)
{
	char text[PRINTK_TEXT_BYTES];
	size_t nr_bytes;

	return !printk_ring_text(&log->ring, &line->record, text, &nr_bytes) && nr_bytes &&
	       (*text == ' ' || is_of_state(text, nr_bytes));
}

const char *kernel_log_lacks(const struct kernel_log *log, char ret[KERNEL_LOG_LACKS_BYTES])
{
	if (!log->nr_missing && !log->nr_writing)
		return NULL;
	(void)snprintf(ret, KERNEL_LOG_LACKS_BYTES,
		       "records left out: %llu that were being written, %llu not in the dump",
		       (unsigned long long)log->nr_writing, (unsigned long long)log->nr_missing);
	return ret;
}

struct btsrec_log_line kernel_log_value(const struct kernel_log *log,
					const struct kernel_log_line *line,
					struct kernel_log_text *text)
{
	struct btsrec_log_line value = {
		.size = sizeof(value),
		.seq = line->record.seq,
		.ts_nsec = line->record.ts_nsec,
		.has_tsc = line->has_tsc,
		.tsc = line->tsc,
		.by_cpu = line->record.caller & PRINTK_CALLER_CPU,
		.caller = line->record.caller & ~PRINTK_CALLER_CPU,
	};
	size_t nr_bytes = 0;

	value.no_text = printk_ring_text(&log->ring, &line->record, text->raw, &nr_bytes);
	text->raw[nr_bytes] = '\0';
	escaped_copy(text->escaped, text->raw, nr_bytes);
	if (!value.no_text)
		value.text = text->escaped;
	return value;
}

/* --- Printing ----------------------------------------------------------- */

void kernel_log_text(struct out *out, const struct btsrec_log_line *line, size_t max_chars)
{
	char head[64];
	size_t nr_chars;

	(void)snprintf(head, sizeof(head), "[%5llu.%06u] %c%u ",
		       (unsigned long long)(line->ts_nsec / NS_PER_S),
		       (unsigned int)(line->ts_nsec % NS_PER_S / NS_PER_US),
		       line->by_cpu ? 'C' : 'T', line->caller);
	out_str(out, head);
	if (!line->text) {
		out_char(out, '(');
		out_str(out, line->no_text);
		out_char(out, ')');
		return;
	}
	nr_chars = strlen(line->text);
	out_bytes(out, line->text, nr_chars < max_chars ? nr_chars : max_chars);
	if (nr_chars > max_chars)
		out_literal(out, "...");
}

/* --- JSON lines --------------------------------------------------------- */

void kernel_log_json(struct out *out, const struct btsrec_log_line *line,
		     const struct kernel_log_text *text, const struct clock *clock)
{
	out_literal(out, "{\"kind\":\"log\"");
	json_number(out, "seq", line->seq);
	json_number(out, "ts_ns", line->ts_nsec);
	if (line->has_tsc) {
		json_number(out, "tsc", line->tsc);
		json_from_freeze(out, "from_freeze_ns", clock, line->tsc);
	}
	json_number(out, line->by_cpu ? "cpu" : "pid", line->caller);
	if (line->text)
		json_text(out, "text", text->raw, sizeof(text->raw));
	else
		json_word(out, "why", line->no_text);
	out_literal(out, "}\n");
}

void kernel_log_json_none(struct out *out, const char *why)
{
	out_literal(out, "{\"kind\":\"log\"");
	json_word(out, "why", why);
	out_literal(out, "}\n");
}
