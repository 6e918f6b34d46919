// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a thread that is followed ran next, in each format. */
#include "flow/clock.h"
#include "render/json.h"
#include "render/render.h"
#include "flow/sched_intervals.h"
#include "render/text_columns.h"

/* --- Text and TSV ------------------------------------------------------- */

static void out_tsc(struct out *out, const char *name, const char *relation, uint64_t tsc)
{
	out_char(out, ' ');
	out_str(out, name);
	out_str(out, relation);
	out_dec(out, tsc, 0);
}

/* Are both ends of the time between them known? */
static bool is_exact(const struct interval *before, const struct interval *interval)
{
	return before->ends && interval->begins;
}

static bool later_ns(const struct renderer *r, const struct interval *before,
		     const struct interval *interval, uint64_t *ret)
{
	const struct clock clock = {.tsc_khz = btsrec_root(r->rec)->tsc_khz};

	if (!clock.tsc_khz || interval->order != INTERVAL_PROVEN || !before->timed ||
	    !interval->timed || interval->first_tsc < before->last_tsc)
		return false;
	*ret = clock_ns(&clock, interval->first_tsc - before->last_tsc);
	return true;
}

static void out_later(struct renderer *r, const struct interval *before,
		      const struct interval *interval)
{
	struct out *out = &r->out;
	uint64_t ns;

	if (!later_ns(r, before, interval, &ns))
		return;
	out_str(out, is_exact(before, interval) ? " " : " up to ");
	out_dec(out, ns / 1000, 0);
	out_char(out, '.');
	for (uint64_t digit = 100; digit; digit /= 10)
		out_char(out, (char)('0' + ns / digit % 10));
	out_literal(out, " us later");
}

static void out_order(struct renderer *r, const struct interval *before,
		      const struct interval *interval)
{
	struct out *out = &r->out;

	out_literal(out, " continues on CPU ");
	out_dec(out, interval->cpu, 0);
	out_later(r, before, interval);
	if (interval->order == INTERVAL_UNTIMED)
		out_literal(out, ", but no time stamp proves the order");
	else if (interval->order == INTERVAL_CONTRADICTED)
		out_literal(out, ", but the time stamps of both CPUs contradict each other");
	if (!interval->maybe)
		return;
	out_literal(out, "; the history of CPU ");
	out_dec(out, interval->maybe_cpu, 0);
	out_literal(out, " does not show whether it ran there in between");
}

static void out_details(struct renderer *r, const struct interval *before,
			const struct interval *interval)
{
	struct out *out = &r->out;

	out_literal(out, "to=");
	out_dec(out, interval->last_n, 0);
	if (interval->timed) {
		out_tsc(out, "begin", interval->begins ? "=" : "<=", interval->first_tsc);
		out_tsc(out, "end", interval->ends ? "=" : ">=", interval->last_tsc);
	}
	if (before)
		out_order(r, before, interval);
}

void interval_text(struct renderer *r, const struct interval *before,
		   const struct interval *interval)
{
	struct out *out = &r->out;

	out_event(out, interval->cpu, interval->first_n);
	out_literal(out, "interval ");
	out_details(r, before, interval);
	out_char(out, '\n');
}

void interval_tsv(struct renderer *r, const struct interval *before,
		  const struct interval *interval)
{
	struct out *out = &r->out;

	out_dec(out, interval->cpu, 0);
	out_char(out, '\t');
	out_dec(out, interval->first_n, 0);
	tsv_only_details(r, "interval");
	out_details(r, before, interval);
	out_char(out, '\n');
}

/* --- JSON lines --------------------------------------------------------- */

static const char *order_str(enum interval_order order)
{
	static const char *const names[] = {
		[INTERVAL_FIRST] = "first",
		[INTERVAL_PROVEN] = "proven",
		[INTERVAL_UNTIMED] = "untimed",
		[INTERVAL_CONTRADICTED] = "contradicted",
	};

	return names[order];
}

void interval_json(struct renderer *r, const struct interval *before,
		   const struct interval *interval)
{
	struct out *out = &r->out;
	uint64_t ns;

	out_literal(out, "{\"cpu\":");
	out_dec(out, interval->cpu, 0);
	json_number(out, "n", interval->first_n);
	json_word(out, "kind", "interval");
	json_number(out, "last_n", interval->last_n);
	if (interval->timed) {
		json_number(out, "begin_tsc", interval->first_tsc);
		json_number(out, "end_tsc", interval->last_tsc);
	}
	json_bool(out, "begins", interval->begins);
	json_bool(out, "ends", interval->ends);
	json_word(out, "order", order_str(interval->order));
	if (before && before->cpu != interval->cpu)
		json_number(out, "from_cpu", before->cpu);
	if (before && later_ns(r, before, interval, &ns))
		json_number(out, is_exact(before, interval) ? "later_ns" : "max_later_ns", ns);
	if (interval->maybe)
		json_number(out, "maybe_cpu", interval->maybe_cpu);
	out_literal(out, "}\n");
}
