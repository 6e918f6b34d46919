/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The BTS part of the DS save area and where the next record goes. */
#ifndef BTSREC_TESTS_MODEL_DS_H
#define BTSREC_TESTS_MODEL_DS_H

#include <stdbool.h>
#include <stdint.h>

#define DS_RECORD_BYTES		24
#define DS_FLAG_PREDICTED	(1ULL << 4)

/* Intel SDM vol. 3B, "64-bit DS save area": the first four fields. */
struct ds_area {
	uint64_t base;
	uint64_t index;
	uint64_t absolute_maximum;
	uint64_t interrupt_threshold;
};

enum ds_verdict {
	DS_STORE,	/* store at @slot_addr, then @next_index */
	DS_FULL,	/* not circular and full: the record is dropped */
	DS_OUT_OF_RING,	/* hardware would write outside the ring */
};

struct ds_step {
	uint64_t slot_addr;
	uint64_t next_index;
};

enum ds_verdict ds_next(const struct ds_area *ds, bool circular, struct ds_step *step_ret);
uint64_t ds_flags(uint64_t from, uint64_t to, uint64_t nr_records);

#endif
