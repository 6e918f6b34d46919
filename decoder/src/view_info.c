// SPDX-License-Identifier: GPL-2.0-or-later
/* What was found in the dump: the recorder, and one line per CPU. */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "render.h"
#include "session.h"
#include "symbol.h"

#define NR_GAP_KINDS	(BTSREC_GAP_NO_INDEX + 1)

/**
 * struct cpu_info - what the history of one CPU amounts to
 * @nr_gaps, @nr_gap_slots: by kind.
 */
struct cpu_info {
	struct session_ring ring;
	uint64_t nr_valid_slots;
	uint64_t nr_events;
	uint64_t nr_gaps[NR_GAP_KINDS];
	uint64_t nr_gap_slots[NR_GAP_KINDS];
};

static bool count_event(void *arg, const struct btsrec_event *event)
{
	struct cpu_info *info = arg;

	info->nr_events++;
	if (event->kind == BTSREC_EVENT_GAP) {
		info->nr_gaps[event->gap.kind]++;
		info->nr_gap_slots[event->gap.kind] += event->gap.nr_slots;
	}
	return true;
}

static enum btsrec_status cpu_info_init(struct cpu_info *info, struct btsrec *rec, unsigned int cpu)
{
	enum btsrec_status status;
	unsigned int i;

	memset(info, 0, sizeof(*info));
	status = session_ring(rec, cpu, &info->ring);
	if (status)
		return status;
	if (!info->ring.index_status)
		for (i = 0; i < info->ring.layout.nr_spans; i++)
			info->nr_valid_slots += info->ring.layout.spans[i].nr_slots;
	return btsrec_events(rec, cpu, count_event, info);
}

static bool gap_is_loss(unsigned int kind)
{
	return kind != BTSREC_GAP_PAUSED;
}

static const char *mode_str(uint32_t mode)
{
	switch ((enum btsrec_mode)mode) {
	case BTSREC_MODE_ALL:
		return "all";
	case BTSREC_MODE_KERNEL:
		return "kernel";
	case BTSREC_MODE_USER:
		return "user";
	}
	return "unknown";
}

static const char *state_str(uint32_t state)
{
	switch ((enum btsrec_root_state)state) {
	case BTSREC_ROOT_LOADED:
		return "loaded";
	case BTSREC_ROOT_ARMED:
		return "armed";
	case BTSREC_ROOT_DISARMED:
		return "disarmed";
	case BTSREC_ROOT_FROZEN:
		return "frozen";
	}
	return "unknown";
}

static const char *cpu_state_str(uint32_t state)
{
	switch ((enum btsrec_cpu_state)state) {
	case BTSREC_CPU_NEVER:
		return "never-armed";
	case BTSREC_CPU_ARMED:
		return "armed";
	case BTSREC_CPU_STOPPED:
		return "stopped";
	case BTSREC_CPU_FROZEN:
		return "frozen";
	}
	return "unknown";
}

/* Why @cpu does not record any more; NULL: it does, or it never did. */
static const char *cpu_reason_str(const struct btsrec_cpu *cpu)
{
	if (cpu->state == BTSREC_CPU_FROZEN)
		return btsrec_reason_str(cpu->freeze.reason);
	if (cpu->state == BTSREC_CPU_STOPPED)
		return btsrec_reason_str(cpu->stop_reason);
	return NULL;
}

static const char *wrapped_str(const struct session_ring *ring)
{
	if (ring->index_status)
		return "?";
	switch (ring->layout.lap) {
	case RING_LAP_UNKNOWN:
		return "?";
	case RING_LAP_FIRST:
		return "no";
	case RING_LAP_LATER:
		return "yes";
	}
	return "?";
}

/* --- Text --------------------------------------------------------------- */

static void text_key(struct out *out, const char *key)
{
	out_pad(out, key, 13);
}

static void text_build_id(struct out *out, const struct btsrec_root *root)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t i;

	for (i = 0; i < root->build_id_bytes && i < sizeof(root->build_id); i++) {
		out_char(out, digits[root->build_id[i] >> 4]);
		out_char(out, digits[root->build_id[i] & 15]);
	}
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

static void text_kernel(struct out *out, const struct btsrec_root *root)
{
	text_key(out, "kernel:");
	out_escaped(out, root->release, sizeof(root->release));
	out_char(out, '\n');
	if (root->build_id_bytes) {
		text_key(out, "build-id:");
		text_build_id(out, root);
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
	out_char(out, '\n');
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
	const char *why = symbols_missing(rec);

	if (!why)
		return;
	text_key(out, "names:");
	out_literal(out, "none: ");
	out_str(out, why);
	out_char(out, '\n');
}

static void text_root(struct out *out, struct btsrec *rec)
{
	const struct btsrec_root *root = btsrec_root(rec);

	text_kernel(out, root);
	text_key(out, "state:");
	out_str(out, state_str(root->state));
	out_literal(out, ", armed ");
	out_dec(out, root->nr_arms, 0);
	out_str(out, root->nr_arms == 1 ? " time\n" : " times\n");
	text_key(out, "mode:");
	out_str(out, mode_str(root->mode));
	out_literal(out, ", ");
	out_dec(out, root->ring_bytes, 0);
	out_literal(out, " bytes per CPU\n");
	text_modules(out, root);
	text_first_fault(out, root);
	text_names(out, rec);
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
	out_dec(out, freeze->pid, 0);
	out_char(out, '/');
	out_dec(out, freeze->tgid, 0);
	out_char(out, ' ');
	out_quoted(out, freeze->comm, sizeof(freeze->comm));
	if (symbol_find(r->rec, freeze->ip, &name)) {
		out_literal(out, "  ");
		out_name(out, &name);
	}
}

/* Who ran last, of a CPU that left no snapshot. */
static void text_context(struct out *out, const struct btsrec_cpu *cpu)
{
	const struct btsrec_side *now = &cpu->context.next;

	out_literal(out, "-                  ");
	if (!cpu->context_seq) {
		out_char(out, '-');
		return;
	}
	out_dec(out, now->pid, 0);
	out_char(out, '/');
	out_dec(out, now->tgid, 0);
	out_char(out, ' ');
	out_quoted(out, now->comm, sizeof(now->comm));
}

static void text_cpu(struct renderer *r, const struct btsrec_cpu *cpu, const struct cpu_info *info)
{
	struct out *out = &r->out;
	const char *reason = cpu_reason_str(cpu);

	out_dec(out, cpu->cpu, 3);
	out_char(out, ' ');
	out_pad(out, cpu_state_str(cpu->state), 12);
	out_pad(out, reason ? reason : "-", 14);
	out_char(out, ' ');
	out_dec(out, cpu->ring_bytes, 10);
	out_char(out, ' ');
	out_dec(out, cpu->ring_bytes / BTSREC_RECORD_BYTES, 8);
	out_char(out, ' ');
	out_dec(out, info->nr_valid_slots, 8);
	out_char(out, ' ');
	out_pad(out, wrapped_str(&info->ring), 7);
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

static void text_loss(struct out *out, const struct btsrec_cpu *cpu, const struct cpu_info *info)
{
	unsigned int kind;

	for (kind = 0; kind < NR_GAP_KINDS; kind++) {
		if (!info->nr_gaps[kind] || !gap_is_loss(kind))
			continue;
		out_literal(out, "loss CPU ");
		out_dec(out, cpu->cpu, 0);
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

static void text_findings(struct out *out, const struct btsrec *rec)
{
	size_t i;

	for (i = 0; i < rec->findings.nr; i++) {
		const struct finding *finding = &rec->findings.list[i];

		if (!finding->status)
			continue;
		out_literal(out, "loss ");
		if (finding->cpu != FINDING_NO_CPU) {
			out_literal(out, "CPU ");
			out_dec(out, finding->cpu, 0);
			out_literal(out, ": ");
		}
		out_escaped(out, finding->text, sizeof(finding->text));
		out_char(out, '\n');
	}
}

/* --- JSON lines --------------------------------------------------------- */

static void json_number(struct out *out, const char *key, uint64_t value)
{
	out_literal(out, ",\"");
	out_str(out, key);
	out_literal(out, "\":");
	out_dec(out, value, 0);
}

static void json_string(struct out *out, const char *key, const char *text, size_t max_bytes)
{
	out_literal(out, ",\"");
	out_str(out, key);
	out_literal(out, "\":");
	out_json_string(out, text, max_bytes);
}

static void json_address(struct out *out, const char *key, uint64_t value)
{
	out_literal(out, ",\"");
	out_str(out, key);
	out_literal(out, "\":\"");
	out_hex16(out, value);
	out_char(out, '"');
}

static void json_root(struct out *out, const struct btsrec *rec)
{
	const struct btsrec_root *root = btsrec_root(rec);

	out_literal(out, "{\"kind\":\"root\"");
	json_string(out, "release", root->release, sizeof(root->release));
	out_literal(out, ",\"build_id\":\"");
	text_build_id(out, root);
	out_char(out, '"');
	json_address(out, "root_pa", root->self_pa);
	json_number(out, "abi_major", root->version_major);
	json_number(out, "abi_minor", root->version_minor);
	json_number(out, "generation", root->generation);
	json_string(out, "state", state_str(root->state), 32);
	json_number(out, "nr_arms", root->nr_arms);
	json_string(out, "mode", mode_str(root->mode), 32);
	json_number(out, "ring_bytes", root->ring_bytes);
	json_number(out, "nr_modules", root->nr_modules);
	json_number(out, "nr_modules_lost", root->nr_modules_lost);
	if (root->freeze_reason) {
		json_number(out, "freeze_cpu", root->freeze_cpu);
		json_string(out, "freeze_reason", btsrec_reason_str(root->freeze_reason), 32);
	}
	if (*rec->notice)
		json_string(out, "notice", rec->notice, sizeof(rec->notice));
	out_literal(out, "}\n");
}

static void json_frozen_at(struct out *out, const struct btsrec_freeze *freeze)
{
	json_address(out, "ip", freeze->ip);
	json_number(out, "pid", freeze->pid);
	json_number(out, "tgid", freeze->tgid);
	json_string(out, "comm", freeze->comm, sizeof(freeze->comm));
}

static void json_loss(struct out *out, const struct cpu_info *info)
{
	const char *separator = "";
	unsigned int kind;

	out_literal(out, ",\"loss\":{");
	for (kind = 0; kind < NR_GAP_KINDS; kind++) {
		if (!info->nr_gaps[kind] || !gap_is_loss(kind))
			continue;
		out_str(out, separator);
		out_json_string(out, btsrec_gap_str((enum btsrec_gap_kind)kind), 64);
		out_char(out, ':');
		out_dec(out, info->nr_gap_slots[kind], 0);
		separator = ",";
	}
	out_char(out, '}');
}

static void json_cpu(struct renderer *r, const struct btsrec_cpu *cpu, const struct cpu_info *info)
{
	struct out *out = &r->out;
	const char *reason = cpu_reason_str(cpu);

	out_literal(out, "{\"kind\":\"cpu\",\"cpu\":");
	out_dec(out, cpu->cpu, 0);
	json_string(out, "state", cpu_state_str(cpu->state), 32);
	if (reason)
		json_string(out, "reason", reason, 32);
	json_number(out, "ring_bytes", cpu->ring_bytes);
	json_number(out, "slots", cpu->ring_bytes / BTSREC_RECORD_BYTES);
	json_number(out, "valid_slots", info->nr_valid_slots);
	json_number(out, "events", info->nr_events);
	json_string(out, "wrapped", wrapped_str(&info->ring), 8);
	json_number(out, "annotations", cpu->annot_end);
	json_number(out, "annotations_skipped", cpu->nr_annot_skipped);
	if (cpu->frozen)
		json_frozen_at(out, &cpu->freeze);
	json_loss(out, info);
	out_literal(out, "}\n");
}

/* --- Tab-separated values ----------------------------------------------- */

static void tsv_header(struct out *out)
{
	out_literal(out, "cpu\tstate\treason\tring_bytes\tslots\tvalid_slots\twrapped\t"
			 "annotations\tskipped\tip\tpid\ttgid\tcomm\n");
}

static void tsv_number(struct out *out, uint64_t value)
{
	out_char(out, '\t');
	out_dec(out, value, 0);
}

static void tsv_cpu(struct renderer *r, const struct btsrec_cpu *cpu, const struct cpu_info *info)
{
	struct out *out = &r->out;
	const char *reason = cpu_reason_str(cpu);

	out_dec(out, cpu->cpu, 0);
	out_char(out, '\t');
	out_str(out, cpu_state_str(cpu->state));
	out_char(out, '\t');
	out_str(out, reason ? reason : "");
	tsv_number(out, cpu->ring_bytes);
	tsv_number(out, cpu->ring_bytes / BTSREC_RECORD_BYTES);
	tsv_number(out, info->nr_valid_slots);
	out_char(out, '\t');
	out_str(out, wrapped_str(&info->ring));
	tsv_number(out, cpu->annot_end);
	tsv_number(out, cpu->nr_annot_skipped);
	out_char(out, '\t');
	if (cpu->frozen) {
		out_hex16(out, cpu->freeze.ip);
		tsv_number(out, cpu->freeze.pid);
		tsv_number(out, cpu->freeze.tgid);
		out_char(out, '\t');
		out_escaped(out, cpu->freeze.comm, sizeof(cpu->freeze.comm));
	} else {
		out_literal(out, "\t\t\t");
	}
	out_char(out, '\n');
}

/* --- The view ----------------------------------------------------------- */

static void info_begin(struct renderer *r, enum btsrec_format format)
{
	switch (format) {
	case BTSREC_FORMAT_TEXT:
		text_root(&r->out, r->rec);
		text_header(&r->out);
		break;
	case BTSREC_FORMAT_JSONL:
		json_root(&r->out, r->rec);
		break;
	case BTSREC_FORMAT_TSV:
		tsv_header(&r->out);
		break;
	}
}

static void info_cpu(struct renderer *r, enum btsrec_format format, const struct btsrec_cpu *cpu,
		     const struct cpu_info *info)
{
	switch (format) {
	case BTSREC_FORMAT_TEXT:
		text_cpu(r, cpu, info);
		break;
	case BTSREC_FORMAT_JSONL:
		json_cpu(r, cpu, info);
		break;
	case BTSREC_FORMAT_TSV:
		tsv_cpu(r, cpu, info);
		break;
	}
}

/* One pass over all CPUs; @losses: the lines that follow the table of the text format. */
static enum btsrec_status info_cpus(struct renderer *r, enum btsrec_format format, bool losses)
{
	struct cpu_info info;
	unsigned int cpu;

	for (cpu = 0; cpu < btsrec_nr_cpu_ids(r->rec); cpu++) {
		const struct btsrec_cpu *page = btsrec_cpu(r->rec, cpu);
		enum btsrec_status status;

		if (!page)
			continue;
		status = cpu_info_init(&info, r->rec, cpu);
		if (status)
			return status;
		if (losses)
			text_loss(&r->out, page, &info);
		else
			info_cpu(r, format, page, &info);
	}
	return BTSREC_OK;
}

static enum btsrec_status info_run(struct renderer *r, enum btsrec_format format)
{
	enum btsrec_status status;

	info_begin(r, format);
	status = info_cpus(r, format, false);
	if (status || format != BTSREC_FORMAT_TEXT)
		return status;
	text_findings(&r->out, r->rec);
	return info_cpus(r, format, true);
}

enum btsrec_status btsrec_info(struct btsrec *rec, enum btsrec_format format,
			       const struct btsrec_sink *sink)
{
	enum btsrec_status status, flushed;
	struct renderer *r;

	if (!btsrec_root(rec))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no recorder located yet");
	if (!render_format_of(format))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no such output format");
	r = calloc(1, sizeof(*r));
	if (!r)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	r->rec = rec;
	r->names = symbols_present(rec);
	out_init(&r->out, sink);
	status = info_run(r, format);
	flushed = out_flush(&r->out);
	free(r);
	return status ? status : flushed;
}
