// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the report has of the way to the first fault:
 *
 *   "locks":"...","code":[{...},...]
 *
 * locks is what btsrec locks prints.  code has the lines of btsrec coverage --source --format jsonl
 * of the functions on the path, on the CPU that failed, the innermost first.  In front of them is
 * that in which it failed, which may come again.
 */
#include "export/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "flow/trace_fault.h"
#include "symbols/symbol.h"
#include "views/view_coverage.h"

#include <btsrec/values.h>

/* More functions nobody reads. */
#define MAX_FUNCTIONS	8

/**
 * struct path - the functions that were open at the fault, a ring of the newest
 * @end_n: the event of the fault, which entered none of them.
 * @culprit: the instruction of the verdict; 0: not known.
 */
struct path {
	uint64_t end_n;
	uint64_t culprit;
	uint64_t functions[MAX_FUNCTIONS];
	size_t nr;
};

static bool is_new(const struct path *path, uint64_t function)
{
	size_t nr = path->nr < MAX_FUNCTIONS ? path->nr : MAX_FUNCTIONS;

	for (size_t i = 0; i < nr; i++)
		if (path->functions[i] == function)
			return false;
	return true;
}

static bool add_digest(void *arg, const struct btsrec_digest *digest)
{
	struct path *path = arg;

	if (digest->kind == BTSREC_DIGEST_VERDICT)
		path->culprit = digest->ip_va;
	if (digest->kind != BTSREC_DIGEST_CALL || digest->call->kind != BTSREC_CALL_ENTER ||
	    digest->call->ended || digest->call->n >= path->end_n ||
	    !code_is_kernel(digest->call->to_va) || !is_new(path, digest->call->to_va))
		return true;
	path->functions[path->nr++ % MAX_FUNCTIONS] = digest->call->to_va;
	return true;
}

/*
 * JSON Lines into an array.  That debug files are missing is known of all that the session has
 * looked for, and is no answer about these functions.
 */
static void put_lines(struct out *out, const struct out_text *text)
{
	static const char missing[] = "{\"kind\":\"no-lines\"";
	const char *line = text->bytes, *next;
	size_t left = text->nr_bytes;
	uint64_t nr = 0;

	/* Without a line there are no bytes to point at. */
	while (left && (next = memchr(line, '\n', left))) {
		size_t len = (size_t)(next - line);

		if (strncmp(line, missing, sizeof(missing) - 1)) {
			if (nr++)
				out_char(out, ',');
			out_bytes(out, line, len);
		}
		line = next + 1;
		left -= len + 1;
	}
}

static enum btsrec_status put_functions(struct report *report, const uint64_t *functions, size_t nr)
{
	struct out_text lines = { 0 };
	struct btsrec_sink sink = { .write = out_text_take, .arg = &lines };
	const unsigned int cpu = btsrec_root(report->html.rec)->freeze_cpu;
	const struct btsrec_coverage opts = {
		.size = sizeof(opts),
		.cpus = &cpu,
		.nr_cpus = 1,
		.lines = true,
		.format = BTSREC_FORMAT_JSONL,
	};
	enum btsrec_status status;

	status = cover_functions(report->html.rec, &opts, functions, nr, &sink);
	if (status == BTSREC_ERR_STOPPED)
		status = msg_set(&report->html.rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	put_lines(&report->html.out, &lines);
	free(lines.bytes);
	/* The code is not there: no more can be said of them. */
	return status == BTSREC_ERR_NOMEM || status == BTSREC_ERR_IO ? status : BTSREC_OK;
}

/* Compilers split functions: the part that failed need not be the one that was called. */
static enum btsrec_status put_code(struct report *report, struct path *path)
{
	size_t nr = path->nr < MAX_FUNCTIONS ? path->nr : MAX_FUNCTIONS, nr_all = 0;
	uint64_t functions[MAX_FUNCTIONS + 1];
	enum btsrec_status status;

	if (path->culprit)
		functions[nr_all++] = path->culprit;
	for (size_t i = 0; i < nr; i++)
		functions[nr_all++] = path->functions[(path->nr - 1 - i) % MAX_FUNCTIONS];
	out_literal(&report->html.out, ",\"code\":[");
	status = put_functions(report, functions, nr_all);
	out_char(&report->html.out, ']');
	return status;
}

static enum btsrec_status put_locks(struct report *report)
{
	struct btsrec_search opts = { .size = sizeof(opts), .question = BTSREC_LOCKS };
	struct btsrec_sink sink = { .write = report_in_string, .arg = &report->html.out };
	enum btsrec_status status;

	out_literal(&report->html.out, ",\"locks\":\"");
	status = btsrec_search(report->html.rec, &opts, &sink);
	out_char(&report->html.out, '"');
	return status == BTSREC_ERR_NOMEM || status == BTSREC_ERR_IO ? status : BTSREC_OK;
}

enum btsrec_status report_path(struct report *report, const struct fault *fault)
{
	struct path path = { .end_n = fault->kind ? fault->n : UINT64_MAX };
	enum btsrec_status status;

	if (!symbols_present(report->html.rec))
		return BTSREC_OK;
	status = btsrec_summary_each(report->html.rec, add_digest, &path);
	if (status == BTSREC_ERR_NOMEM || status == BTSREC_ERR_IO)
		return status;
	status = put_locks(report);
	return status ? status : put_code(report, &path);
}
