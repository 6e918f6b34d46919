// SPDX-License-Identifier: GPL-2.0-or-later
/* The overview as JSON lines: one object for the root, one per CPU. */
#include "recorder/errata.h"
#include "render/json.h"
#include "views/view_info.h"

/* A recorder of format 1.0 did not know any. */
static void json_errata(struct out *out, const struct btsrec_root *root)
{
	uint32_t errata = root->errata;
	const char *separator = "";

	if (!root->version_minor)
		return;
	out_literal(out, ",\"errata\":[");
	while (errata) {
		out_str(out, separator);
		out_json_string(out, errata_next(&errata)->id, 16);
		separator = ",";
	}
	out_char(out, ']');
}

static void json_left_out(struct out *out, const struct btsrec *rec)
{
	bool has_any = false;

	for (unsigned int cpu = 0; cpu < btsrec_nr_cpu_ids(rec); cpu++) {
		if (!session_left_out(rec, cpu))
			continue;
		out_str(out, has_any ? "," : ",\"cpus_left_out\":[");
		out_dec(out, cpu, 0);
		has_any = true;
	}
	if (has_any)
		out_char(out, ']');
}

static void json_root(struct renderer *r)
{
	const struct btsrec_root *root = btsrec_root(r->rec);
	struct out *out = &r->out;

	out_literal(out, "{\"kind\":\"root\"");
	json_text(out, "release", root->release, sizeof(root->release));
	out_literal(out, ",\"build_id\":\"");
	info_build_id(out, root);
	out_char(out, '"');
	json_address(out, "root_pa", root->self_pa);
	json_number(out, "abi_major", root->version_major);
	json_number(out, "abi_minor", root->version_minor);
	if (session_is_newer(r->rec))
		json_number(out, "abi_minor_known", BTSREC_ABI_MINOR);
	json_number(out, "generation", root->generation);
	json_word(out, "state", info_state_str(root->state));
	json_number(out, "nr_arms", root->nr_arms);
	json_word(out, "mode", info_mode_str(root->mode));
	json_number(out, "ring_bytes", root->ring_bytes);
	json_errata(out, root);
	if (root->fred_config)
		json_address(out, "fred_config", root->fred_config);
	json_left_out(out, r->rec);
	json_number(out, "nr_modules", root->nr_modules);
	json_number(out, "nr_modules_lost", root->nr_modules_lost);
	if (root->freeze_reason) {
		json_number(out, "freeze_tsc", root->freeze_tsc);
		json_number(out, "freeze_cpu", root->freeze_cpu);
		json_word(out, "freeze_reason", btsrec_reason_str(root->freeze_reason));
		if (*root->freeze_trigger)
			json_text(out, "freeze_trigger", root->freeze_trigger,
				  sizeof(root->freeze_trigger));
		if (root->nr_late_triggers)
			json_number(out, "nr_late_triggers", root->nr_late_triggers);
	}
	if (root->copy_pa)
		json_address(out, "copy_pa", root->copy_pa);
	if (root->nr_copies)
		json_number(out, "nr_copies", root->nr_copies);
	if (root->nr_missed_triggers)
		json_number(out, "nr_missed_triggers", root->nr_missed_triggers);
	if (*r->rec->notice)
		json_text(out, "notice", r->rec->notice, sizeof(r->rec->notice));
	out_literal(out, "}\n");
}

static void json_frozen_at(struct out *out, const struct btsrec_freeze *freeze)
{
	json_address(out, "ip", freeze->ip);
	json_thread(out, freeze->pid, freeze->tgid, freeze->comm);
}

static void json_loss(struct out *out, const struct cpu_info *info)
{
	const char *separator = "";
	unsigned int kind;

	out_literal(out, ",\"loss\":{");
	for (kind = 0; kind < NR_GAP_KINDS; kind++) {
		if (!info->nr_gaps[kind] || !info_gap_is_loss(kind))
			continue;
		out_str(out, separator);
		out_json_string(out, btsrec_gap_str((enum btsrec_gap_kind)kind), 64);
		out_char(out, ':');
		out_dec(out, info->nr_gap_slots[kind], 0);
		separator = ",";
	}
	out_char(out, '}');
}

void info_source_json(struct out *out, const struct btsrec_cpu *cpu)
{
	if (cpu->source != BTSREC_SOURCE_LBR)
		return;
	json_word(out, "source", "lbr");
	json_number(out, "last_branches", cpu->nr_last_branches);
}

static void json_cpu(struct renderer *r, const struct btsrec_cpu *cpu, const struct cpu_info *info)
{
	struct out *out = &r->out;
	const char *reason = info_reason_str(cpu);

	out_literal(out, "{\"kind\":\"cpu\",\"cpu\":");
	out_dec(out, cpu->cpu, 0);
	json_word(out, "state", info_cpu_state_str(cpu->state));
	if (reason)
		json_word(out, "reason", reason);
	info_source_json(out, cpu);
	json_number(out, "ring_bytes", cpu->ring_bytes);
	json_number(out, "slots", cpu->ring_bytes / BTSREC_RECORD_BYTES);
	json_number(out, "valid_slots", info->nr_valid_slots);
	json_number(out, "events", info->nr_events);
	json_word(out, "wrapped", info_wrapped_str(&info->ring));
	json_number(out, "annotations", cpu->annot_end);
	json_number(out, "annotations_skipped", cpu->nr_annot_skipped);
	if (cpu->recorded_bytes) {
		json_number(out, "records", cpu->recorded_bytes / BTSREC_RECORD_BYTES);
		json_number(out, "recorded_tsc", info_recorded_ticks(cpu));
	}
	if (cpu->frozen)
		json_frozen_at(out, &cpu->freeze);
	if (info->registers)
		info_registers_json(r, cpu);
	json_loss(out, info);
	out_literal(out, "}\n");
}

const struct info_format info_jsonl = {
	.begin = json_root,
	.cpu = json_cpu,
};
