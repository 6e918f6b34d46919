/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a processor might do otherwise than the model, one at a time: the guest asks for it by the
 * control channel.  Each must be found by an experiment of "btsrec verify-hardware".  With the
 * plugin's option "mutations" alone, because some take callbacks at more instructions.
 */
#ifndef BTSREC_TESTS_MODEL_MUTATE_H
#define BTSREC_TESTS_MODEL_MUTATE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * By their numbers; scenarios/verify_hardware.py reads names and comments here.
 * All up to TRAP are of user code alone, so that the recorder itself is as it was.
 */
enum mutation {
	MUTATION_NONE,
	MUTATION_DROP,		/* a record is lost, in a thousand */
	MUTATION_DOUBLE,	/* a record is stored twice, in a thousand */
	MUTATION_JUMP_NEXT,	/* no record of a jump to the next instruction */
	MUTATION_INDIRECT,	/* no record of an indirect jump */
	MUTATION_UNTAKEN,	/* a record of a conditional branch that is not taken */
	MUTATION_RET,		/* no record of RET */
	MUTATION_STRING,	/* a record of a string instruction with REP */
	MUTATION_SYSCALL,	/* no record of SYSCALL */
	MUTATION_SYSRET,	/* no record of SYSRET */
	MUTATION_INT3_NEXT,	/* the record of INT3 is from the next instruction */
	MUTATION_FAULT_NEXT,	/* the record of #UD, #DE and #PF is from two bytes later */
	MUTATION_FAR,		/* no record of a far transfer */
	MUTATION_INTERRUPT,	/* no record of an interrupt of a string instruction */
	MUTATION_INTERRUPT_FROM, /* the record of an interrupt of such is from one byte before */
	MUTATION_TRAP,		/* no record of a branch behind which an exception is at once */
	MUTATION_FLAGS,		/* bit 0 of the third word is set */
	MUTATION_PREDICTED,	/* "predicted" is set where the prediction failed */
	MUTATION_PREDICTOR,	/* not wrong: "predicted" is set of jumps backwards alone */
	MUTATION_IDLE,		/* BTS is off after an idle CPU wakes */
	MUTATION_LATE,		/* NMIs reach other CPUs than the first a tenth of a second late */
	NR_MUTATIONS,
};

/** mutation - the one in force */
extern enum mutation mutation;

void mutate_set(uint64_t number);
bool mutate_untaken(uint64_t from);
bool mutate_drops_trap(uint64_t from);
bool mutate_drops_interrupt(uint64_t from);
uint64_t mutate_from(uint64_t from);
unsigned int mutate_times(uint64_t from, uint64_t to);
uint64_t mutate_flags(uint64_t flags, uint64_t from, uint64_t to);
void mutate_entry(unsigned int cpu, uint64_t to);

#endif
