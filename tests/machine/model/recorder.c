// SPDX-License-Identifier: GPL-2.0-or-later
#include <stddef.h>

#include "log.h"
#include "mutate.h"
#include "recorder.h"

#define WRONG_PATH_EVERY	8

/* Stores that may lie in two pages, which need not be neighbours in physical memory. */
static bool access_split(struct vcpu *cpu, uint64_t addr, void *data, unsigned int nr_bytes,
			 bool write, struct walk_cache *cache, uint64_t *fault_ret)
{
	unsigned int left_in_page = WALK_PAGE_BYTES - (addr & (WALK_PAGE_BYTES - 1));
	unsigned int first = nr_bytes < left_in_page ? nr_bytes : left_in_page;
	uint64_t pa, second_pa = 0;

	*fault_ret = addr;
	if (!vcpu_translate_store(cpu, addr, cache, &pa))
		return false;
	if (first < nr_bytes) {
		*fault_ret = addr + first;
		if (!vcpu_translate_store(cpu, addr + first, cache, &second_pa))
			return false;
	}
	if (write ? !vcpu_write_pa(pa, data, first) : !vcpu_read_pa(pa, data, first))
		return false;
	if (first == nr_bytes)
		return true;
	data = (char *)data + first;
	nr_bytes -= first;
	return write ? vcpu_write_pa(second_pa, data, nr_bytes) :
		vcpu_read_pa(second_pa, data, nr_bytes);
}

/*
 * By the level after the branch: the record is written once the branch has retired,
 * and "ending in ring 0" is what Intel documents for the same filter of LBR_SELECT.
 * For BTS the SDM says only "if CPL = 0" (table "IA32_DEBUGCTL flag encodings"), and
 * errata (AR62, W125) say that sources at a change of level may be wrong.  So a
 * decoder must expect one end of a record in the level that was filtered out.
 *
 * The level is taken from the address, as Linux uses it.  Only a user program that jumps
 * to a kernel address, and faults there, makes a difference.
 */
static bool is_filtered(const struct vcpu *cpu, uint64_t to)
{
	bool kernel = to >> 63;

	return cpu->debugctl & (kernel ? DEBUGCTL_BTS_OFF_OS : DEBUGCTL_BTS_OFF_USR);
}

static void refuse(struct vcpu *cpu, enum rule rule, uint64_t ip, uint64_t addr,
		   const char *detail)
{
	cpu->nr_stores_refused++;
	rule_broken(cpu, rule, ip, addr, detail);
}

static bool read_ds(struct vcpu *cpu, uint64_t ip, struct ds_area *ds)
{
	uint64_t fault;

	if (!cpu->ds_area) {
		cpu->nr_stores_refused++;	/* DS_AREA_ZERO was said at the WRMSR */
		return false;
	}
	if (!access_split(cpu, cpu->ds_area, ds, sizeof(*ds), false, &cpu->ds_walk, &fault)) {
		refuse(cpu, RULE_STORE_UNMAPPED, ip, fault, "DS area");
		return false;
	}
	return true;
}

/* Once for each ring, and again when its size or threshold changes. */
static void judge_ring(struct vcpu *cpu, uint64_t ip, const struct ds_area *ds)
{
	if (cpu->ring_judged && cpu->judged.base == ds->base &&
	    cpu->judged.absolute_maximum == ds->absolute_maximum &&
	    cpu->judged.interrupt_threshold == ds->interrupt_threshold)
		return;
	cpu->judged = *ds;
	cpu->ring_judged = true;
	rules_judge_ring(cpu, ip);
}

static bool store(struct vcpu *cpu, const struct ds_step *step, struct model_log_record *record)
{
	uint64_t words[3] = { record->from, record->to, record->flags };
	uint64_t next_index = step->next_index, fault;

	if (!access_split(cpu, step->slot_addr, words, sizeof(words), true, &cpu->ring_walk,
			  &fault)) {
		refuse(cpu, RULE_STORE_UNMAPPED, record->from, fault, "BTS buffer");
		return false;
	}
	if (!access_split(cpu, cpu->ds_area + offsetof(struct ds_area, index), &next_index,
			  sizeof(next_index), true, &cpu->ds_walk, &fault)) {
		refuse(cpu, RULE_STORE_UNMAPPED, record->from, fault, "DS area");
		return false;
	}
	return true;
}

static void count_footprint(struct footprint *footprint, uint64_t from, uint64_t to)
{
	if ((from >= footprint->start && from < footprint->end) ||
	    (to >= footprint->start && to < footprint->end))
		footprint->nr_records++;
}

/*
 * No slot: it is in no ring before software copies it there.  AMD's has the address of the
 * comparison where that and the branch run as one (see perf's branch_type_fused(),
 * arch/x86/events/utils.c), and branches on wrong paths: here after every eighth.
 */
static void keep_last(struct vcpu *cpu, uint64_t from, uint64_t to, enum model_log_kind kind)
{
	struct model_log_record record = { .from = from, .to = to, .kind = kind };

	if (lbr_filters(&cpu->lbr, to))
		return;
	record.flags = ds_flags(from, to, cpu->log->total);
	if (cpu->lbr.kind == LBR_AMD && kind == MODEL_LOG_BRANCH)
		from -= cpu->fused_bytes;
	lbr_push(&cpu->lbr, from, to, record.flags & DS_FLAG_PREDICTED);
	log_record(cpu->log, &record);
	if (cpu->lbr.kind == LBR_AMD && !(cpu->log->total % WRONG_PATH_EVERY))
		lbr_push_wrong_path(&cpu->lbr, to, from);
}

static void store_branch(struct vcpu *cpu, uint64_t from, uint64_t to, enum model_log_kind kind)
{
	struct model_log_record record = { .from = from, .to = to, .kind = kind };
	struct ds_area ds;
	struct ds_step step;

	if (!vcpu_bts_on(cpu)) {
		keep_last(cpu, from, to, kind);
		return;
	}
	if (is_filtered(cpu, to) || !read_ds(cpu, from, &ds))
		return;
	judge_ring(cpu, from, &ds);
	switch (ds_next(&ds, !(cpu->debugctl & DEBUGCTL_BTINT), &step)) {
	case DS_FULL:
		cpu->nr_full++;
		return;
	case DS_OUT_OF_RING:
		refuse(cpu, RULE_RING_BOUNDS, from, ds.index, "index outside or unaligned");
		return;
	case DS_STORE:
		break;
	}
	record.flags = ds_flags(from, to, cpu->log->total);
	if (mutation)
		record.flags = mutate_flags(record.flags, from, to);
	record.slot = (step.slot_addr - ds.base) / DS_RECORD_BYTES;
	if (!store(cpu, &step, &record))
		return;
	log_record(cpu->log, &record);
	cpu->nr_of_area++;
	if (cpu->footprint.end)
		count_footprint(&cpu->footprint, from, to);
}

/**
 * recorder_branch() - a branch was taken while BTS or LBR is on
 * @cpu: the calling vCPU, in a callback that may read registers
 * @from: address of the branch, or of the instruction that was interrupted
 * @to: where execution goes on
 * @kind: branch or interrupt
 *
 * Stores the record as the processor would, through the page tables in force, and
 * logs it; or reports the rule that forbids it and stores nothing.  With BTS off it goes to the LBR.
 */
void recorder_branch(struct vcpu *cpu, uint64_t from, uint64_t to, enum model_log_kind kind)
{
	unsigned int times = mutation ? mutate_times(from, to) : 1;

	while (times--)
		store_branch(cpu, from, to, kind);
}
