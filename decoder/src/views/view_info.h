/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The overview: what it prints of one CPU, in each format. */
#ifndef BTSREC_VIEW_INFO_H
#define BTSREC_VIEW_INFO_H

#include <btsrec/values.h>

#include "render/render.h"
#include "recorder/session.h"

#define NR_GAP_KINDS	(BTSREC_GAP_NO_INDEX + 1)

/**
 * struct cpu_info - what the history of one CPU amounts to
 * @nr_gaps, @nr_gap_slots: by kind.
 * @registers: they are wanted.
 */
struct cpu_info {
	struct session_ring ring;
	uint64_t nr_valid_slots;
	uint64_t nr_events;
	uint64_t nr_gaps[NR_GAP_KINDS];
	uint64_t nr_gap_slots[NR_GAP_KINDS];
	bool registers;
};

/**
 * struct info_format - how one format words the overview
 * @begin: once, before the CPUs.
 * @cpu: one line.
 * @end: once, with the @nr_infos infos of all CPUs by number; may be NULL.
 * @registers: of one CPU, after all else; NULL: this format has them in @cpu, or none.
 */
struct info_format {
	void (*begin)(struct renderer *r);
	void (*cpu)(struct renderer *r, const struct btsrec_cpu *cpu, const struct cpu_info *info);
	void (*registers)(struct renderer *r, const struct btsrec_cpu *cpu);
	void (*end)(struct renderer *r, const struct cpu_info *infos, unsigned int nr_infos);
};

extern const struct info_format info_text;
extern const struct info_format info_jsonl;
extern const struct info_format info_tsv;

/** info_value() - @cpu as a value for @fn; false: it wants no more */
bool info_value(const struct btsrec_cpu *cpu, const struct cpu_info *info, btsrec_ring_fn fn,
		void *arg);

/* Fields of the recorder's structures as words; static. */
const char *info_mode_str(uint32_t mode);
const char *info_state_str(uint32_t state);
const char *info_cpu_state_str(uint32_t state);

/** info_recorded_ticks() - in how many ticks of the TSC @cpu recorded, up to what is known last */
uint64_t info_recorded_ticks(const struct btsrec_cpu *cpu);

/** info_reason_str() - why @cpu does not record any more; NULL: it does, or never did */
const char *info_reason_str(const struct btsrec_cpu *cpu);

/** info_wrapped_str() - "yes", "no" or "?" */
const char *info_wrapped_str(const struct session_ring *ring);

/* The registers of the freeze of @cpu, or why there are none: a text, and members of an object. */
void info_registers_text(struct renderer *r, const struct btsrec_cpu *cpu);
void info_registers_json(struct renderer *r, const struct btsrec_cpu *cpu);

/** info_left_out_text() - a line of the CPUs that cpus= did not name, if there are any */
void info_left_out_text(struct out *out, const struct btsrec *rec);

/** info_source_text() - a line of how short the histories are, where LBR is the source */
void info_source_text(struct out *out, const struct btsrec *rec);

/** info_source_json() - members of an object, of a CPU whose source is another than BTS */
void info_source_json(struct out *out, const struct btsrec_cpu *cpu);

/** info_gap_is_loss() - a pause is in order, all other gaps are losses */
bool info_gap_is_loss(unsigned int kind);

/** info_build_id() - the kernel's build-id as digits */
void info_build_id(struct out *out, const struct btsrec_root *root);

#endif /* BTSREC_VIEW_INFO_H */
