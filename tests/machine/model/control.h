/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The channel by which the guest speaks to the model: WRMSR to MSRs that nobody has. */
#ifndef BTSREC_TESTS_MODEL_CONTROL_H
#define BTSREC_TESTS_MODEL_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

struct vcpu;

/* MSR numbers; "BTS" in ASCII.  The guest's side: tests/machine/guest/btsctl.c. */
enum control_msr {
	CONTROL_MARK = 0x42545300,	/* value and each CPU's records into msr.log */
	CONTROL_RANGE_START,		/* count what happens in [start, end) on this CPU */
	CONTROL_RANGE_END,		/* 0: stop counting */
	CONTROL_REPORT,			/* counters into msr.log, then zero them */
	CONTROL_MUST_BE_OFF,		/* BTS must be off on all CPUs from now on */
	CONTROL_MAY_BE_ON,
	CONTROL_EXTENT,			/* log each call of the function there; 0: no more */
	CONTROL_MUTATE,			/* be another processor: enum mutation */
};

bool control_write(struct vcpu *cpu, uint64_t ip, uint32_t msr, uint64_t value);

#endif
