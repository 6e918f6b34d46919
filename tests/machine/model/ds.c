// SPDX-License-Identifier: GPL-2.0-or-later
#include "ds.h"

/**
 * ds_next() - where a record goes and what the index is afterwards
 * @ds: the DS area as it is in memory now
 * @circular: DEBUGCTL.BTINT is clear
 * @step_ret: filled for DS_STORE only
 *
 * Circular: the record that reaches the absolute maximum moves the index back to
 * the base.  An index that software left at the maximum means the base, too.
 * Not circular: the index stays at the maximum and nothing more is stored; a
 * processor raises an interrupt at the threshold long before, which a plugin
 * cannot.  (Intel SDM vol. 3B, "Setting Up the BTS Buffer" and "Detection of the
 * BTS interrupt".)
 */
enum ds_verdict ds_next(const struct ds_area *ds, bool circular, struct ds_step *step_ret)
{
	uint64_t index = ds->index;

	if (index == ds->absolute_maximum) {
		if (!circular)
			return DS_FULL;
		index = ds->base;
	}
	if (index < ds->base || index > ds->absolute_maximum ||
	    (index - ds->base) % DS_RECORD_BYTES)
		return DS_OUT_OF_RING;
	if (ds->absolute_maximum - index < DS_RECORD_BYTES)
		return circular ? DS_OUT_OF_RING : DS_FULL;
	step_ret->slot_addr = index;
	index += DS_RECORD_BYTES;
	if (circular && ds->absolute_maximum - index < DS_RECORD_BYTES)
		index = ds->base;
	step_ret->next_index = index;
	return DS_STORE;
}

/**
 * ds_flags() - third word of a record
 * @from: branch source
 * @to: branch target
 * @nr_records: records stored before this one
 *
 * TCG predicts nothing, so the "predicted" bit is a hash of the record: the same
 * for the same run, set about half of the time, and impossible to guess for a
 * decoder that does not carry it.
 */
uint64_t ds_flags(uint64_t from, uint64_t to, uint64_t nr_records)
{
	uint64_t hash = (from ^ (to << 1) ^ (nr_records << 7)) * 0x9e3779b97f4a7c15ULL;

	return hash >> 63 ? DS_FLAG_PREDICTED : 0;
}
