// SPDX-License-Identifier: GPL-2.0-or-later
/* The overview as tab-separated values: a header line, then one line per CPU. */
#include "views/view_info.h"

static void tsv_header(struct renderer *r)
{
	out_literal(&r->out, "cpu\tstate\treason\tring_bytes\tslots\tvalid_slots\twrapped\t"
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
	const char *reason = info_reason_str(cpu);

	out_dec(out, cpu->cpu, 0);
	out_char(out, '\t');
	out_str(out, info_cpu_state_str(cpu->state));
	out_char(out, '\t');
	out_str(out, reason ? reason : "");
	tsv_number(out, cpu->ring_bytes);
	tsv_number(out, cpu->ring_bytes / BTSREC_RECORD_BYTES);
	tsv_number(out, info->nr_valid_slots);
	out_char(out, '\t');
	out_str(out, info_wrapped_str(&info->ring));
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

const struct info_format info_tsv = {
	.begin = tsv_header,
	.cpu = tsv_cpu,
};
