// SPDX-License-Identifier: GPL-2.0-or-later
/* The overview as text: what the root says, a table of CPUs, and what is lost. */
#include <string.h>
#include <time.h>

#include "recorder/errata.h"
#include "symbols/symbol.h"
#include "views/view_info.h"

static void text_key(struct out *out, const char *key)
{
	out_pad(out, key, 13);
}

/* The load time in UTC; a generation that is no time is printed as a number. */
static void text_generation(struct out *out, uint64_t generation)
{
	time_t seconds = (time_t)(generation / 1000000000);
	char text[32];
	struct tm tm;

	out_dec(out, generation, 0);
	if (gmtime_r(&seconds, &tm) && strftime(text, sizeof(text), " (%Y-%m-%dT%H:%M:%SZ)", &tm))
		out_str(out, text);
}

static void text_newer(struct out *out, const struct btsrec *rec)
{
	if (!session_is_newer(rec))
		return;
	text_key(out, "newer:");
	out_literal(out, "this decoder knows format ");
	out_dec(out, BTSREC_ABI_MAJOR, 0);
	out_char(out, '.');
	out_dec(out, BTSREC_ABI_MINOR, 0);
	out_literal(out, ": what was added since is a gap, or is not shown\n");
}

static void text_kernel(struct out *out, const struct btsrec_root *root)
{
	text_key(out, "kernel:");
	out_escaped(out, root->release, sizeof(root->release));
	out_char(out, '\n');
	if (root->build_id_bytes) {
		text_key(out, "build-id:");
		info_build_id(out, root);
		out_char(out, '\n');
	}
	text_key(out, "root:");
	out_hex16(out, root->self_pa);
	out_literal(out, ", format ");
	out_dec(out, root->version_major, 0);
	out_char(out, '.');
	out_dec(out, root->version_minor, 0);
	out_char(out, '\n');
	text_key(out, "loaded:");
	text_generation(out, root->generation);
	out_char(out, '\n');
}

static void text_first_fault(struct out *out, const struct btsrec_root *root)
{
	if (!root->freeze_reason)
		return;
	text_key(out, "first fault:");
	out_literal(out, "CPU ");
	out_dec(out, root->freeze_cpu, 0);
	out_literal(out, ", ");
	out_str(out, btsrec_reason_str(root->freeze_reason));
	if (*root->freeze_trigger) {
		out_char(out, ' ');
		out_escaped(out, root->freeze_trigger, sizeof(root->freeze_trigger));
	}
	if (root->nr_late_triggers) {
		out_literal(out, "; later triggers: ");
		out_dec(out, root->nr_late_triggers, 0);
	}
	out_char(out, '\n');
}

static void text_copies(struct out *out, const struct btsrec_root *root)
{
	if (!root->nr_copies && !root->nr_missed_triggers)
		return;
	text_key(out, "copies:");
	out_dec(out, root->nr_copies, 0);
	if (root->copy_pa) {
		out_literal(out, "; --root ");
		out_hex16(out, root->copy_pa);
		out_literal(out, " reads the newest");
	}
	if (root->nr_missed_triggers) {
		out_literal(out, "; missed triggers: ");
		out_dec(out, root->nr_missed_triggers, 0);
	}
	out_char(out, '\n');
}

static void text_errata(struct out *out, uint32_t errata)
{
	while (errata) {
		const struct erratum *erratum = errata_next(&errata);

		text_key(out, "erratum:");
		out_str(out, erratum->id);
		out_literal(out, ": ");
		out_str(out, erratum->effect);
		out_char(out, '\n');
	}
}

static void text_fred(struct out *out, uint64_t config)
{
	if (!config)
		return;
	text_key(out, "FRED:");
	out_literal(out, "events enter by FRED, IA32_FRED_CONFIG ");
	out_hex16(out, config);
	out_char(out, '\n');
}

void info_left_out_text(struct out *out, const struct btsrec *rec)
{
	char cpus[128];

	session_list_left_out(rec, cpus, sizeof(cpus));
	if (!*cpus)
		return;
	text_key(out, "left out:");
	out_literal(out, "CPU ");
	out_str(out, cpus);
	out_literal(out, ", which cpus= did not name\n");
}

void info_source_text(struct out *out, const struct btsrec *rec)
{
	uint32_t nr = session_last_branches(rec);

	if (!nr)
		return;
	text_key(out, "source:");
	out_literal(out, "last branch record (LBR): at most the last ");
	out_dec(out, nr, 0);
	out_literal(out, " branches of a CPU\n");
}

static void text_modules(struct out *out, const struct btsrec_root *root)
{
	text_key(out, "modules:");
	out_dec(out, root->nr_modules, 0);
	if (root->nr_modules_lost) {
		out_literal(out, ", and ");
		out_dec(out, root->nr_modules_lost, 0);
		out_literal(out, " that found no room");
	}
	out_char(out, '\n');
}

static void text_names(struct out *out, struct btsrec *rec)
{
	const char *why = symbols_missing(rec), *key = "names:";

	if (!why && symbols_present(rec)) {
		why = symbols_user_missing(rec);
		key = "user names:";
	}
	if (!why)
		return;
	text_key(out, key);
	out_literal(out, "none: ");
	out_str(out, why);
	out_char(out, '\n');
}

/* Where functions have no bounds, a jump to another one is known by the code that is there. */
static void text_tails(struct out *out, struct btsrec *rec)
{
	if (symbols_bounded(rec))
		return;
	text_key(out, "tail calls:");
	out_literal(out, "only those of functions that can be traced\n");
}

/* Of the CPUs that have a ring; else what the root says. */
static void text_ring_bytes(struct out *out, const struct btsrec *rec)
{
	uint64_t least = 0, most = 0;

	for (unsigned int cpu = 0; cpu < btsrec_nr_cpu_ids(rec); cpu++) {
		const struct btsrec_cpu *page = btsrec_cpu(rec, cpu);

		if (!page)
			continue;
		least = !least || page->ring_bytes < least ? page->ring_bytes : least;
		most = page->ring_bytes > most ? page->ring_bytes : most;
	}
	if (!most)
		least = most = btsrec_root(rec)->ring_bytes;
	out_dec(out, least, 0);
	if (least != most) {
		out_literal(out, " to ");
		out_dec(out, most, 0);
	}
	out_literal(out, " bytes per CPU\n");
}

static void text_root(struct out *out, struct btsrec *rec)
{
	const struct btsrec_root *root = btsrec_root(rec);

	text_kernel(out, root);
	text_newer(out, rec);
	text_key(out, "state:");
	out_str(out, info_state_str(root->state));
	out_literal(out, ", armed ");
	out_dec(out, root->nr_arms, 0);
	out_str(out, root->nr_arms == 1 ? " time\n" : " times\n");
	text_key(out, "mode:");
	out_str(out, info_mode_str(root->mode));
	out_literal(out, ", ");
	text_ring_bytes(out, rec);
	info_source_text(out, rec);
	info_left_out_text(out, rec);
	text_errata(out, root->errata);
	text_fred(out, root->fred_config);
	text_modules(out, root);
	text_first_fault(out, root);
	text_copies(out, root);
	text_names(out, rec);
	text_tails(out, rec);
	if (*rec->notice) {
		text_key(out, "notice:");
		out_str(out, rec->notice);
		out_char(out, '\n');
	}
}

static void text_header(struct out *out)
{
	out_literal(out, "\nCPU STATE       REASON         RING_BYTES    SLOTS    VALID WRAPPED"
			 "     ANNOTS SKIPPED IP                 TASK\n");
}

static void text_frozen_at(struct renderer *r, const struct btsrec_freeze *freeze)
{
	struct out *out = &r->out;
	struct symbol_name name;

	out_hex16(out, freeze->ip);
	out_char(out, ' ');
	out_thread(out, freeze->pid, freeze->tgid, freeze->comm);
	if (symbol_find(r->rec, freeze->ip, &name)) {
		out_literal(out, "  ");
		out_name(out, &name);
	}
}

/* The thread that ran last on a CPU without a snapshot. */
static void text_context(struct out *out, const struct btsrec_cpu *cpu)
{
	const struct btsrec_side *now = &cpu->context.next;

	out_literal(out, "-                  ");
	if (!cpu->context_seq) {
		out_char(out, '-');
		return;
	}
	out_thread(out, now->pid, now->tgid, now->comm);
}

static void text_cpu(struct renderer *r, const struct btsrec_cpu *cpu, const struct cpu_info *info)
{
	struct out *out = &r->out;
	const char *reason = info_reason_str(cpu);

	out_dec(out, cpu->cpu, 3);
	out_char(out, ' ');
	out_pad(out, info_cpu_state_str(cpu->state), 12);
	out_pad(out, reason ? reason : "-", 14);
	out_char(out, ' ');
	out_dec(out, cpu->ring_bytes, 10);
	out_char(out, ' ');
	out_dec(out, cpu->ring_bytes / BTSREC_RECORD_BYTES, 8);
	out_char(out, ' ');
	out_dec(out, info->nr_valid_slots, 8);
	out_char(out, ' ');
	out_pad(out, info_wrapped_str(&info->ring), 7);
	out_char(out, ' ');
	out_dec(out, cpu->annot_end, 10);
	out_char(out, ' ');
	out_dec(out, cpu->nr_annot_skipped, 7);
	out_char(out, ' ');
	if (cpu->frozen)
		text_frozen_at(r, &cpu->freeze);
	else
		text_context(out, cpu);
	out_char(out, '\n');
}

static void text_loss(struct out *out, unsigned int cpu, const struct cpu_info *info)
{
	unsigned int kind;

	for (kind = 0; kind < NR_GAP_KINDS; kind++) {
		if (!info->nr_gaps[kind] || !info_gap_is_loss(kind))
			continue;
		out_literal(out, "loss CPU ");
		out_dec(out, cpu, 0);
		out_literal(out, ": ");
		out_str(out, btsrec_gap_str((enum btsrec_gap_kind)kind));
		if (kind != BTSREC_GAP_OVERWRITTEN) {
			out_literal(out, ", places ");
			out_dec(out, info->nr_gaps[kind], 0);
			out_literal(out, ", slots ");
			out_dec(out, info->nr_gap_slots[kind], 0);
		}
		out_char(out, '\n');
	}
}

/* How many in a row say the same of several pages. */
static size_t nr_alike(const struct diags *diags, size_t i)
{
	const struct diag *first = &diags->list[i];
	size_t nr = 1;

	while (i + nr < diags->nr && diags->list[i + nr].status == first->status &&
	       diags->list[i + nr].cpu == first->cpu &&
	       !strncmp(diags->list[i + nr].text, first->text, sizeof(first->text)))
		nr++;
	return nr;
}

static void text_diags(struct out *out, const struct btsrec *rec)
{
	size_t nr;

	for (size_t i = 0; i < rec->diags.nr; i += nr) {
		const struct diag *diag = &rec->diags.list[i];

		nr = nr_alike(&rec->diags, i);
		if (!diag->status)
			continue;
		out_literal(out, "loss ");
		if (diag->cpu != DIAG_NO_CPU) {
			out_literal(out, "CPU ");
			out_dec(out, diag->cpu, 0);
			out_literal(out, ": ");
		}
		out_escaped(out, diag->text, sizeof(diag->text));
		if (nr > 1) {
			out_literal(out, ", pages ");
			out_dec(out, nr, 0);
		}
		out_char(out, '\n');
	}
}

/* Since it was armed, which is more than what is in the ring. */
static void text_recorded(struct out *out, const struct btsrec_root *root,
			  const struct btsrec_cpu *cpu)
{
	uint64_t ms = root->tsc_khz ? info_recorded_ticks(cpu) / root->tsc_khz : 0;

	if (!cpu->recorded_bytes)
		return;
	out_literal(out, "recorded CPU ");
	out_dec(out, cpu->cpu, 0);
	out_literal(out, ": at least ");
	out_dec(out, cpu->recorded_bytes / BTSREC_RECORD_BYTES, 0);
	out_literal(out, " branches in ");
	out_dec(out, ms, 0);
	out_literal(out, " ms\n");
}

static void text_begin(struct renderer *r)
{
	text_root(&r->out, r->rec);
	text_header(&r->out);
}

static void text_end(struct renderer *r, const struct cpu_info *infos, unsigned int nr_infos)
{
	text_diags(&r->out, r->rec);
	for (unsigned int cpu = 0; cpu < nr_infos; cpu++)
		if (btsrec_cpu(r->rec, cpu))
			text_loss(&r->out, cpu, &infos[cpu]);
	for (unsigned int cpu = 0; cpu < nr_infos; cpu++)
		if (btsrec_cpu(r->rec, cpu))
			text_recorded(&r->out, btsrec_root(r->rec), btsrec_cpu(r->rec, cpu));
}

const struct info_format info_text = {
	.begin = text_begin,
	.cpu = text_cpu,
	.registers = info_registers_text,
	.end = text_end,
};
