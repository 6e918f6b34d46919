/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether interrupts or preemption are on at one moment, and what has switched them off. */
#ifndef BTSREC_ONOFF_H
#define BTSREC_ONOFF_H

#include <stdbool.h>
#include <stdint.h>

/** enum onoff_is - what is known */
enum onoff_is {
	ONOFF_UNKNOWN,
	ONOFF_ON,
	ONOFF_OFF,
};

/** enum onoff_by - what switched it off */
enum onoff_by {
	ONOFF_CLI,
	ONOFF_SYSCALL,	/* the entry of a system call */
	ONOFF_ENTRY,	/* that of an interrupt or exception */
	ONOFF_COUNT,	/* preemption: an instruction that raised the count */
	ONOFF_OLDER,	/* what is older than all that is known */
};

/**
 * struct onoff - what is known at one moment
 * @by, @n, @ip: of ONOFF_OFF: since when, as the number of the event up to which the instruction
 *	ran, or that entered; and where that was.
 * @was_on: it was on right before; else it may have been off for longer.
 * @count: of ONOFF_COUNT: what forbids preemption now; without @was_on at least.
 */
struct onoff {
	enum onoff_is is;
	enum onoff_by by;
	uint64_t n;
	uint64_t ip;
	bool was_on;
	uint32_t count;
};

#endif /* BTSREC_ONOFF_H */
