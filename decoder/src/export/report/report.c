// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The report as one HTML file: a page that is the same for all dumps (report.html),
 * with the histories as JSON in it.
 */
#include "export/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/options.h"
#include "render/json.h"
#include "symbols/lines.h"
#include "render/render_branch.h"
#include "export/report/share.h"
#include "symbols/symbol.h"
#include "flow/trace_fault.h"
#include "recorder/cpus.h"

/* The page in two halves, made from report.html by the build. */
extern const char report_page_before[];
extern const char report_page_after[];

/* --- Addresses and kinds ------------------------------------------------ */

/* {"va":"0x...","sym":"name+0x1","line":"file.c:12"}; the last two only if known. */
static void put_address(struct report *report, const struct btsrec_side *side, uint64_t va)
{
	struct renderer *r = &report->names;
	struct line line;

	if (report->addresses.nr > 1)
		out_char(&r->out, ',');
	out_literal(&r->out, "{\"va\":\"");
	out_hex16(&r->out, va);
	out_char(&r->out, '"');
	r->side = side;
	json_sym(r, "sym", va);
	r->side = NULL;
	if (line_find(r->rec, side ? side->cr3 : 0, va, &line)) {
		json_text(&r->out, "file", line.file, LINE_FILE_BYTES);
		json_number(&r->out, "line", line.number);
	}
	out_char(&r->out, '}');
}

uint32_t report_find_address(struct report *report, const struct btsrec_side *side, uint64_t va,
			     struct report_recent *recent)
{
	const uint64_t key[COUNTER_MAP_KEY_WORDS] = {va,
						     side && !code_is_kernel(va) ? side->cr3 : 0};
	struct count *count = report->nomem ? NULL : counter_map_get(&report->addresses, key);

	if (!count) {
		report->nomem = true;
		return 0;
	}
	if (!count->nr[0]) {
		put_address(report, side, va);
		count->nr[0] = report->addresses.nr;
	}
	*recent = (struct report_recent){ key[0], key[1], (uint32_t)count->nr[0] };
	return recent->number - 1;
}

/* The number of the word @kind. */
static unsigned int find_kind(struct report *report, const char *kind)
{
	unsigned int i;

	for (i = 0; i < report->nr_kinds; i++)
		if (!strcmp(report->kinds[i], kind))
			return i;
	if (i == REPORT_MAX_KINDS)
		return REPORT_MAX_KINDS;
	memcpy(report->kinds[i], kind, strnlen(kind, sizeof(report->kinds[i]) - 1));
	report->nr_kinds++;
	return i;
}

unsigned int report_word_branch(struct report *report, const struct branch *branch,
				uint16_t *number)
{
	char kind[BRANCH_TEXT_BYTES];

	branch_text(kind, branch);
	*number = (uint16_t)(find_kind(report, kind) + 1);
	return *number - 1U;
}

unsigned int report_word_frame(struct report *report, enum frame_kind frame, int vector,
			       uint16_t *number)
{
	char kind[BRANCH_TEXT_BYTES];

	frame_text(kind, frame, vector);
	*number = (uint16_t)(find_kind(report, kind) + 1);
	return *number - 1U;
}

/* --- Sinks -------------------------------------------------------------- */

/* Into memory: the addresses, which come last in the page. */
static bool collect(void *arg, const char *text, size_t len_bytes)
{
	struct report *report = arg;

	if (report->text_bytes + len_bytes > report->text_room) {
		size_t room = 2 * (report->text_bytes + len_bytes);
		char *grown = realloc(report->text, room);

		if (!grown) {
			report->nomem = true;
			return false;
		}
		report->text = grown;
		report->text_room = room;
	}
	memcpy(report->text + report->text_bytes, text, len_bytes);
	report->text_bytes += len_bytes;
	return true;
}

/*
 * JSON inside HTML: a "<" could end the element that it is in, and is only found in
 * strings.
 */
static bool put_safely(void *arg, const char *text, size_t len_bytes)
{
	const struct btsrec_sink *sink = arg;

	while (len_bytes) {
		const char *bad = memchr(text, '<', len_bytes);
		size_t nr_bytes = bad ? (size_t)(bad - text) : len_bytes;

		if (nr_bytes && !sink->write(sink->arg, text, nr_bytes))
			return false;
		if (bad && !sink->write(sink->arg, "\\u003c", 6))
			return false;
		nr_bytes += bad != NULL;
		text += nr_bytes;
		len_bytes -= nr_bytes;
	}
	return true;
}

bool report_in_string(void *arg, const char *text, size_t len_bytes)
{
	struct out *out = arg;

	for (size_t i = 0; i < len_bytes; i++) {
		if (text[i] == '\n') {
			out_literal(out, "\\n");
			continue;
		}
		if (text[i] == '"' || text[i] == '\\')
			out_char(out, '\\');
		out_char(out, text[i]);
	}
	return !out->stopped;
}

/* --- How much ----------------------------------------------------------- */

/* The events of each CPU that has a ring, @nr_cpus of them; @nr is owned. */
struct sizes {
	struct btsrec *rec;
	uint64_t *nr;
	size_t nr_cpus;
};

static enum btsrec_status add_size(void *arg, unsigned int cpu)
{
	struct sizes *sizes = arg;

	return session_nr_events(sizes->rec, cpu, &sizes->nr[sizes->nr_cpus++]);
}

/* Nearly every event takes a slot: where these are few, nothing is read to count those. */
static enum btsrec_status add_slots(void *arg, unsigned int cpu)
{
	struct sizes *sizes = arg;

	sizes->nr[sizes->nr_cpus++] = btsrec_cpu(sizes->rec, cpu)->ring_bytes / BTSREC_RECORD_BYTES;
	return BTSREC_OK;
}

/* Of each CPU: by what is asked for, and by how many there are of all. */
static enum btsrec_status limit(struct report *report, const struct btsrec_report *opts)
{
	struct btsrec *rec = report->html.rec;
	_cleanup_free_ uint64_t *nr = calloc(btsrec_nr_cpu_ids(rec) + 1UL, sizeof(*nr));
	struct sizes sizes = { .rec = rec, .nr = nr };
	enum btsrec_status status;
	uint64_t max_events;

	report->max_events = opts->max_events;
	report->nomem = !nr;
	if (!nr)
		return BTSREC_ERR_NOMEM;
	status = cpus_for_each(rec, NULL, 0, add_slots, &sizes);
	if (status || !opts->max_all_events ||
	    share_fits(nr, sizes.nr_cpus, UINT64_MAX, opts->max_all_events))
		return status;
	sizes.nr_cpus = 0;
	status = cpus_for_each(rec, NULL, 0, add_size, &sizes);
	max_events = share_evenly(nr, sizes.nr_cpus, opts->max_all_events);
	if (max_events < UINT64_MAX && (!opts->max_events || max_events < opts->max_events))
		report->max_events = max_events;
	return status;
}

/* --- Report ------------------------------------------------------------- */

static enum btsrec_status put_summary(struct report *report)
{
	struct btsrec_sink sink = { .write = report_in_string, .arg = &report->html.out };
	enum btsrec_status status;

	out_literal(&report->html.out, ",\"summary\":\"");
	status = btsrec_summary(report->html.rec, BTSREC_FORMAT_TEXT, &sink);
	out_char(&report->html.out, '"');
	/* That a CPU is missing is said when the page is whole. */
	return status == BTSREC_ERR_CORRUPT ? BTSREC_OK : status;
}

static enum btsrec_status put_fault(struct report *report, struct fault *ret)
{
	const struct btsrec_root *root = btsrec_root(report->html.rec);
	struct out *out = &report->html.out;
	enum btsrec_status status = BTSREC_OK;

	if (!root->freeze_reason)
		return BTSREC_OK;
	/* There was a fault also if the history of its CPU is lost. */
	json_number(out, "fault_cpu", root->freeze_cpu);
	json_word(out, "reason", btsrec_reason_str(root->freeze_reason));
	if (session_failed_cpu(report->html.rec))
		status = trace_fault(report->html.rec, root->freeze_cpu, ret);
	if (!status && ret->kind != FAULT_UNKNOWN)
		json_number(out, "fault_n", ret->n);
	return status;
}

static enum btsrec_status put_cpu(void *arg, unsigned int cpu)
{
	struct report *report = arg;
	enum btsrec_status status;

	if (report->html.out.stopped)
		return BTSREC_ERR_STOPPED;
	if (report->nr_cpus++)
		out_literal(&report->html.out, ",\n");
	status = report_cpu(report, cpu);
	return report->nomem ? BTSREC_ERR_NOMEM : status;
}

static void put_kinds(struct report *report)
{
	struct out *out = &report->html.out;

	out_literal(out, "],\"kinds\":[");
	for (unsigned int i = 0; i < report->nr_kinds; i++) {
		out_str(out, i ? ",\"" : "\"");
		out_str(out, report->kinds[i]);
		out_char(out, '"');
	}
	out_literal(out, "],\"addresses\":[");
}

/* The addresses were collected by the histories before. */
static enum btsrec_status put_addresses(struct report *report)
{
	struct out *out = &report->html.out;
	enum btsrec_status status = out_flush(&report->names.out);

	for (size_t at = 0; !status && at < report->text_bytes; at += OUT_BUFFER_BYTES / 2) {
		size_t nr_bytes = report->text_bytes - at;

		out_bytes(out, report->text + at,
			  nr_bytes < OUT_BUFFER_BYTES / 2 ? nr_bytes : OUT_BUFFER_BYTES / 2);
	}
	out_literal(out, "]}");
	return status;
}

static enum btsrec_status put_data(struct report *report)
{
	const struct btsrec_root *root = btsrec_root(report->html.rec);
	struct out *out = &report->html.out;
	struct fault fault = { .kind = FAULT_UNKNOWN };
	enum btsrec_status status;

	out_literal(out, "{\"version\":\"");
	out_str(out, btsrec_version());
	out_char(out, '"');
	json_text(out, "kernel", root->release, sizeof(root->release));
	json_number(out, "tsc_khz", root->tsc_khz);
	if (report->max_events)
		json_number(out, "max_events", report->max_events);
	status = put_fault(report, &fault);
	if (!status)
		status = put_summary(report);
	if (!status && session_failed_cpu(report->html.rec))
		status = report_path(report, &fault);
	out_literal(out, ",\"cpus\":[");
	if (!status)
		status = cpus_for_each(report->html.rec, NULL, 0, put_cpu, report);
	put_kinds(report);
	return status ? status : put_addresses(report);
}

static enum btsrec_status put_page(struct report *report, const struct btsrec_sink *sink)
{
	struct btsrec_sink safe = { .write = put_safely, .arg = (void *)sink };
	enum btsrec_status status, flushed;

	if (!sink->write(sink->arg, report_page_before, strlen(report_page_before)))
		return BTSREC_ERR_STOPPED;
	out_init(&report->html.out, &safe);
	status = put_data(report);
	flushed = out_flush(&report->html.out);
	if (status || flushed)
		return status ? status : flushed;
	return sink->write(sink->arg, report_page_after, strlen(report_page_after)) ?
		BTSREC_OK : BTSREC_ERR_STOPPED;
}

static enum btsrec_status write_report(struct btsrec *rec, const struct btsrec_report *opts,
				       const struct btsrec_sink *sink)
{
	enum btsrec_status status = cpus_check(rec, NULL, 0);
	_cleanup_free_ struct report *report = NULL;
	struct btsrec_sink memory = { .write = collect };

	if (status)
		return status;
	report = calloc(1, sizeof(*report));
	if (!report)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	memory.arg = report;
	report->html.rec = rec;
	report->names.rec = rec;
	out_init(&report->names.out, &memory);
	status = limit(report, opts);
	if (!status)
		status = put_page(report, sink);
	free(report->text);
	counter_map_fini(&report->addresses);
	if (report->nomem || (status == BTSREC_ERR_NOMEM && !report->too_many))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	return cpus_end(rec, NULL, status);
}

enum btsrec_status btsrec_report(struct btsrec *rec, const struct btsrec_report *given,
				 const struct btsrec_sink *sink)
{
	struct btsrec_report opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	return status ? status : write_report(rec, &opts, sink);
}
