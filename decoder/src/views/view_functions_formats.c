// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The profile as text, JSON lines and tab-separated values.  As text:
 *
 *    BRANCHES   SHARE     CALLS FUNCTION
 *       12345  28.31%       432 memcpy
 */
#include "render/json.h"
#include "views/view_functions.h"

#define PPM 1000000U

uint64_t functions_share_ppm(const struct functions *view, uint64_t nr_branches)
{
	uint64_t nr_all = view->profile.nr_branches;

	return nr_all ? (uint64_t)((unsigned __int128)nr_branches * PPM / nr_all) : 0;
}

/* --- Text --------------------------------------------------------------- */

static void out_percent(struct out *out, uint64_t ppm, unsigned int width)
{
	out_dec(out, ppm / 10000, width);
	out_char(out, '.');
	out_char(out, (char)('0' + ppm / 1000 % 10));
	out_char(out, (char)('0' + ppm / 100 % 10));
	out_char(out, '%');
}

static void text_sums(struct out *out, uint64_t nr_branches, uint64_t nr_calls)
{
	out_dec(out, nr_branches, 0);
	out_literal(out, " branches, ");
	out_dec(out, nr_calls, 0);
	out_literal(out, " calls");
}

static void text_begin(struct functions *view)
{
	struct out *out = &view->renderer.out;

	out_literal(out, "# ");
	out_dec(out, view->nr_cpus, 0);
	out_str(out, view->nr_cpus == 1 ? " CPU: " : " CPUs: ");
	text_sums(out, view->profile.nr_branches, view->profile.nr_calls);
	out_literal(out, "\n# BRANCHES   SHARE     CALLS FUNCTION\n");
}

static void text_group(struct functions *view, const struct profile_group *group)
{
	struct functions_group what;
	struct out *out = &view->renderer.out;

	functions_group(group, &what);
	out_literal(out, "# ");
	if (view->opts->by == BTSREC_BY_CPU) {
		out_literal(out, "CPU ");
		out_dec(out, what.cpu, 0);
	} else if (what.has_thread) {
		out_thread(out, what.pid, what.tgid, what.comm);
	} else {
		out_literal(out, "unknown thread");
	}
	out_literal(out, ": ");
	out_percent(out, functions_share_ppm(view, group->nr_branches), 0);
	out_literal(out, ", ");
	text_sums(out, group->nr_branches, group->nr_calls);
	out_char(out, '\n');
}

static void text_row(struct functions *view, const struct profile_row *row)
{
	struct out *out = &view->renderer.out;

	out_dec(out, row->nr_branches, 10);
	out_char(out, ' ');
	out_percent(out, functions_share_ppm(view, row->nr_branches), 3);
	out_char(out, ' ');
	out_dec(out, row->nr_calls, 9);
	out_char(out, ' ');
	out_str(out, row->name);
	out_char(out, '\n');
}

static void text_end(struct functions *view)
{
	struct out *out = &view->renderer.out;

	if (!view->nr_gaps)
		return;
	out_literal(out, "# gaps: ");
	out_dec(out, view->nr_gaps, 0);
	out_literal(out, "; what ran there is not counted\n");
}

/* --- JSON lines --------------------------------------------------------- */

static const char *by_str(enum btsrec_by by)
{
	if (by == BTSREC_BY_TASK)
		return "task";
	return by == BTSREC_BY_CPU ? "cpu" : "function";
}

static void json_counts(struct out *out, uint64_t nr_branches, uint64_t nr_calls)
{
	json_number(out, "branches", nr_branches);
	json_number(out, "calls", nr_calls);
}

static void json_begin(struct functions *view)
{
	struct out *out = &view->renderer.out;

	out_literal(out, "{\"kind\":\"profile\"");
	json_word(out, "by", by_str(view->opts->by));
	json_number(out, "cpus", view->nr_cpus);
	json_counts(out, view->profile.nr_branches, view->profile.nr_calls);
	json_number(out, "gaps", view->nr_gaps);
	out_literal(out, "}\n");
}

static void json_row(struct functions *view, const struct profile_row *row)
{
	struct functions_group what;
	struct out *out = &view->renderer.out;

	functions_group(row->group, &what);
	out_literal(out, "{\"kind\":\"function\"");
	if (view->opts->by == BTSREC_BY_CPU)
		json_number(out, "cpu", what.cpu);
	if (view->opts->by == BTSREC_BY_TASK && what.has_thread)
		json_thread(out, what.pid, what.tgid, what.comm);
	json_text(out, "function", row->name, strlen(row->name));
	if (row->start)
		json_address(out, "start", row->start);
	json_counts(out, row->nr_branches, row->nr_calls);
	json_number(out, "share_ppm", functions_share_ppm(view, row->nr_branches));
	out_literal(out, "}\n");
}

/* --- Tab-separated values ----------------------------------------------- */

static void tsv_begin(struct functions *view)
{
	out_literal(&view->renderer.out, "cpu\tpid\ttgid\tcomm\tbranches\tshare_ppm\tcalls\t"
					 "start\tfunction\n");
}

/* Columns of what the profile is not divided by are empty. */
static void tsv_group(struct functions *view, const struct profile_group *group)
{
	struct functions_group what;
	struct out *out = &view->renderer.out;

	functions_group(group, &what);
	if (view->opts->by == BTSREC_BY_CPU)
		out_dec(out, what.cpu, 0);
	out_char(out, '\t');
	if (view->opts->by != BTSREC_BY_TASK || !what.has_thread) {
		out_literal(out, "\t\t\t");
		return;
	}
	out_dec(out, what.pid, 0);
	out_char(out, '\t');
	out_dec(out, what.tgid, 0);
	out_char(out, '\t');
	out_escaped(out, what.comm, sizeof(what.comm));
	out_char(out, '\t');
}

static void tsv_row(struct functions *view, const struct profile_row *row)
{
	struct out *out = &view->renderer.out;

	tsv_group(view, row->group);
	out_dec(out, row->nr_branches, 0);
	out_char(out, '\t');
	out_dec(out, functions_share_ppm(view, row->nr_branches), 0);
	out_char(out, '\t');
	out_dec(out, row->nr_calls, 0);
	out_char(out, '\t');
	if (row->start)
		out_hex16(out, row->start);
	out_char(out, '\t');
	out_str(out, row->name);
	out_char(out, '\n');
}

/* --- Values ------------------------------------------------------------- */

static void values_begin(struct functions *view)
{
	(void)view;
}

static void values_row(struct functions *view, const struct profile_row *row)
{
	struct functions_group what;
	struct btsrec_function value;

	functions_group(row->group, &what);
	value = (struct btsrec_function){
		.size = sizeof(value),
		.name = row->name,
		.start_kva = row->start,
		.nr_branches = row->nr_branches,
		.nr_calls = row->nr_calls,
		.share_ppm = functions_share_ppm(view, row->nr_branches),
		.has_task = view->opts->by == BTSREC_BY_TASK && what.has_thread,
		.task = { .pid = what.pid, .tgid = what.tgid },
		.has_cpu = view->opts->by == BTSREC_BY_CPU,
		.cpu = what.cpu,
	};
	memcpy(value.task.comm, what.comm, sizeof(value.task.comm));
	if (!view->fn(view->arg, &value))
		view->renderer.out.stopped = true;
}

const struct functions_format functions_values = { .begin = values_begin, .row = values_row };

/* --- All ---------------------------------------------------------------- */

const struct functions_format *functions_format_of(enum btsrec_format format)
{
	static const struct functions_format formats[] = {
		[BTSREC_FORMAT_TEXT] = { text_begin, text_group, text_row, text_end },
		[BTSREC_FORMAT_JSONL] = { .begin = json_begin, .row = json_row },
		[BTSREC_FORMAT_TSV] = { .begin = tsv_begin, .row = tsv_row },
	};

	return format < sizeof(formats) / sizeof(formats[0]) ? &formats[format] : NULL;
}
