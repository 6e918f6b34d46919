// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a thread that is followed ran next, in each format. */
#include "clock.h"
#include "json.h"
#include "render.h"
#include "stretches.h"
#include "text_lines.h"

/* --- Text and TSV ------------------------------------------------------- */

static void out_tsc(struct out *out, const char *name, const char *relation, uint64_t tsc)
{
	out_char(out, ' ');
	out_str(out, name);
	out_str(out, relation);
	out_dec(out, tsc, 0);
}

/* Are both ends of the time between them known? */
static bool is_exact(const struct stretch *before, const struct stretch *stretch)
{
	return before->ends && stretch->begins;
}

static bool later_ns(const struct renderer *r, const struct stretch *before,
		     const struct stretch *stretch, uint64_t *ret)
{
	const struct clock clock = { .tsc_khz = btsrec_root(r->rec)->tsc_khz };

	if (!clock.tsc_khz || stretch->order != STRETCH_PROVEN || !before->timed ||
	    !stretch->timed || stretch->first_tsc < before->last_tsc)
		return false;
	*ret = clock_ns(&clock, stretch->first_tsc - before->last_tsc);
	return true;
}

static void out_later(struct renderer *r, const struct stretch *before,
		      const struct stretch *stretch)
{
	struct out *out = &r->out;
	uint64_t ns;

	if (!later_ns(r, before, stretch, &ns))
		return;
	out_str(out, is_exact(before, stretch) ? " " : " up to ");
	out_dec(out, ns / 1000, 0);
	out_char(out, '.');
	for (uint64_t digit = 100; digit; digit /= 10)
		out_char(out, (char)('0' + ns / digit % 10));
	out_literal(out, " us later");
}

static void out_order(struct renderer *r, const struct stretch *before,
		      const struct stretch *stretch)
{
	struct out *out = &r->out;

	out_literal(out, " continues on CPU ");
	out_dec(out, stretch->cpu, 0);
	out_later(r, before, stretch);
	if (stretch->order == STRETCH_UNTIMED)
		out_literal(out, ", but no time stamp proves the order");
	else if (stretch->order == STRETCH_CONTRADICTED)
		out_literal(out, ", but the time stamps of both CPUs contradict each other");
	if (!stretch->maybe)
		return;
	out_literal(out, "; the history of CPU ");
	out_dec(out, stretch->maybe_cpu, 0);
	out_literal(out, " does not tell whether it ran there in between");
}

static void out_details(struct renderer *r, const struct stretch *before,
			const struct stretch *stretch)
{
	struct out *out = &r->out;

	out_literal(out, "to=");
	out_dec(out, stretch->last_n, 0);
	if (stretch->timed) {
		out_tsc(out, "begin", stretch->begins ? "=" : "<=", stretch->first_tsc);
		out_tsc(out, "end", stretch->ends ? "=" : ">=", stretch->last_tsc);
	}
	if (before)
		out_order(r, before, stretch);
}

void stretch_text(struct renderer *r, const struct stretch *before,
		  const struct stretch *stretch)
{
	struct out *out = &r->out;

	out_event(out, stretch->cpu, stretch->first_n);
	out_literal(out, "stretch ");
	out_details(r, before, stretch);
	out_char(out, '\n');
}

void stretch_tsv(struct renderer *r, const struct stretch *before,
		 const struct stretch *stretch)
{
	struct out *out = &r->out;

	out_dec(out, stretch->cpu, 0);
	out_char(out, '\t');
	out_dec(out, stretch->first_n, 0);
	tsv_only_details(r, "stretch");
	out_details(r, before, stretch);
	out_char(out, '\n');
}

/* --- JSON lines --------------------------------------------------------- */

static const char *order_str(enum stretch_order order)
{
	static const char *const names[] = {
		[STRETCH_FIRST] = "first",
		[STRETCH_PROVEN] = "proven",
		[STRETCH_UNTIMED] = "untimed",
		[STRETCH_CONTRADICTED] = "contradicted",
	};

	return names[order];
}

void stretch_json(struct renderer *r, const struct stretch *before,
		  const struct stretch *stretch)
{
	struct out *out = &r->out;
	uint64_t ns;

	out_literal(out, "{\"cpu\":");
	out_dec(out, stretch->cpu, 0);
	json_number(out, "n", stretch->first_n);
	json_word(out, "kind", "stretch");
	json_number(out, "last_n", stretch->last_n);
	if (stretch->timed) {
		json_number(out, "begin_tsc", stretch->first_tsc);
		json_number(out, "end_tsc", stretch->last_tsc);
	}
	json_bool(out, "begins", stretch->begins);
	json_bool(out, "ends", stretch->ends);
	json_word(out, "order", order_str(stretch->order));
	if (before && before->cpu != stretch->cpu)
		json_number(out, "from_cpu", before->cpu);
	if (before && later_ns(r, before, stretch, &ns))
		json_number(out, is_exact(before, stretch) ? "later_ns" : "max_later_ns", ns);
	if (stretch->maybe)
		json_number(out, "maybe_cpu", stretch->maybe_cpu);
	out_literal(out, "}\n");
}
