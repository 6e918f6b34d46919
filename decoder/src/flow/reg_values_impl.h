/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of reg_values.h share. */
#ifndef BTSREC_REG_VALUES_IMPL_H
#define BTSREC_REG_VALUES_IMPL_H

#include <stddef.h>

#include "flow/reg_values.h"
#include "flow/reg_values_words.h"
#include "flow/saved_frame.h"

/* The number of the one that is no instruction. */
#define STEP_CUT	0

/* In place of the condition of an instruction that an interrupt came into. */
#define BEGUN	0xff

/**
 * struct version - what a register holds from one write to the next
 * @prev: before that write.
 * @root, @offset: it holds @offset more than version @root, whatever that does; root 0: nothing is
 *	said.
 */
struct version {
	struct known known;
	uint32_t prev;
	uint32_t root;
	uint64_t offset;
};

/* Interrupts within interrupts. */
#define NR_OPEN		8

/**
 * struct open_interrupt - registers as @versions, when @vector interrupted the code at @ip
 * @frame: the version of RSP where it has stored its frame.
 */
struct open_interrupt {
	uint64_t ip;
	uint8_t vector;
	uint32_t frame;
	uint32_t versions[SEM_NR_REGS];
};

/** struct part - from one cut, for @why, to the next; @dead: contradicted itself */
struct part {
	uint32_t first_step;
	uint32_t first_version;
	enum reg_values_why why;
	bool dead;
};

struct likely;

/** struct mark - where reading can begin: @at, @next as in struct reg_values */
struct mark {
	uint32_t at[SEM_NR_REGS];
	uint32_t next;
};

/**
 * struct reg_values - steps, as numbers of instructions; each instruction is there once
 * @insns: cut, and interrupts, are the first; @places: by a hash of their address, from 1.
 * @open: @nr_open interrupts that have not returned, of the pass that is under way.
 * @current: the newest version of each register.
 * @constant: NULL: no memory is read.
 * @memory: of reg_values_likely().
 * @marks: of each MARK_STEPS steps; NULL: nobody has wanted them.
 * @at, @next: of the pass that is under way: versions before the step, and the next new one.
 * @likely: of the versions from @likely_version on, which the steps from @likely_step on make;
 *	NULL: none.  @is_likely: the pass is about those.
 * @pass: of what is likely; NULL: nothing is.
 * @asked: @words is what is known in front of this step; 0: of the pass that is under way.
 * @is_back: reg_values_back() is under way.
 */
struct reg_values {
	struct sem_insn *insns;
	size_t nr_insns, room_insns;
	uint32_t *places;
	size_t nr_places;
	uint32_t *steps;
	size_t nr_steps, room_steps;
	struct version *versions;
	size_t nr_versions, room_versions;
	struct part *parts;
	size_t nr_parts, room_parts;
	struct words words;
	struct open_interrupt open[NR_OPEN];
	unsigned int nr_open;
	uint32_t current[SEM_NR_REGS];
	uint32_t at[SEM_NR_REGS];
	uint32_t next;
	size_t step;
	size_t part;
	uint64_t nr_contradictions;
	reg_values_constant_fn constant;
	void *constant_arg;
	struct reg_values_memory memory;
	struct mark *marks;
	struct known *likely;
	uint32_t likely_version;
	uint32_t likely_step;
	uint32_t likely_part;
	struct likely *pass;
	uint32_t asked;
	bool is_likely;
	bool is_back;
};

/** likely_free() - NULL does nothing */
void likely_free(struct likely *pass);

/** likely_memory() - what is likely of at most 8 bytes at @address, in front of the step @place */
struct known likely_memory(struct reg_values *values, uint32_t place, uint64_t address,
			   unsigned int nr_bytes);

/** reg_values_insn_at() - of @step */
static inline const struct sem_insn *reg_values_insn_at(const struct reg_values *values,
							size_t step)
{
	return &values->insns[values->steps[step]];
}

/* Each register of @mask, which becomes 0. */
#define FOR_EACH_REG(reg, mask) \
	for (unsigned int reg; (mask) && (reg = (unsigned int)__builtin_ctz(mask), true); \
	     (mask) &= (mask) - 1)

/** reg_values_pushes() - does it make a version of the word that it pushes? */
static inline bool reg_values_pushes(const struct sem_insn *insn)
{
	return insn->op == SEM_PUSH || insn->op == SEM_CALL;
}

/** reg_values_is_interrupt() - is it no instruction but an interrupt or exception? */
static inline bool reg_values_is_interrupt(const struct sem_insn *insn)
{
	return !insn->length_bytes && insn->op == SEM_OTHER;
}

/* What versions of words an interrupt makes: where it came, and its error code, if it has one. */
enum {
	INTERRUPT_RIP,
	INTERRUPT_ERROR,
	NR_INTERRUPT_WORDS,
};

/** reg_values_nr_words() - so many versions of words of the stack it makes, behind the others */
static inline uint32_t reg_values_nr_words(const struct sem_insn *insn)
{
	return reg_values_is_interrupt(insn) ? NR_INTERRUPT_WORDS : reg_values_pushes(insn);
}

/** reg_values_nr_made() - so many versions */
static inline uint32_t reg_values_nr_made(const struct sem_insn *insn)
{
	return (uint32_t)__builtin_popcount(insn->writes) + reg_values_nr_words(insn);
}

/* In place of the condition: other threads run in this pause, or from this MOV on. */
#define OTHERS	1

/** reg_values_is_pause() - is it no instruction but what reg_values_pause() has said? */
static inline bool reg_values_is_pause(const struct sem_insn *insn)
{
	return !insn->length_bytes && insn->op == SEM_JMP;
}

/** reg_values_has_error_code(), reg_values_has_own_stack() - of an interrupt of @vector */
bool reg_values_has_error_code(uint8_t vector);
bool reg_values_has_own_stack(uint8_t vector);

/** reg_values_made() - the version of @reg that the step makes, or has */
uint32_t reg_values_made(const struct reg_values *values, const struct sem_insn *insn,
			 unsigned int reg);

/**
 * reg_values_distance() - of @version from its root
 *
 * What is as far from one root as each other can be compared, whatever the root holds.
 */
struct number reg_values_distance(const struct reg_values *values, uint32_t version);
void reg_values_set_distance(struct reg_values *values, uint32_t version, struct number number);

/** reg_values_known_of() - what the pass that is under way knows of @version */
struct known *reg_values_known_of(struct reg_values *values, uint32_t version);

/** reg_values_interrupt_begins() - a pass comes forwards to the interrupt @insn */
void reg_values_interrupt_begins(struct reg_values *values, const struct sem_insn *insn);

/**
 * reg_values_interrupt_ends() - a pass comes forwards behind the IRET @insn
 *
 * If it leads back to where the newest open interrupt came, registers are as they were there.
 *
 * Return: the registers where that is contradicted, a bit each; @state says so, too.
 */
uint32_t reg_values_interrupt_ends(struct reg_values *values, const struct sem_insn *insn,
				   struct sem_state *state);

/** reg_values_load() - the version of the word of the stack that it loads; 0: not known */
uint32_t reg_values_load(const struct reg_values *values, const struct sem_insn *insn);

/**
 * reg_values_follow_distances() - what the step makes is as far from another version as it says
 * @load: of reg_values_load().
 */
void reg_values_follow_distances(struct reg_values *values, const struct sem_insn *insn,
				 uint32_t load);

/** reg_values_follow_words() - what the step stores to words of the stack */
void reg_values_follow_words(struct reg_values *values, const struct sem_insn *insn);

/**
 * reg_values_link() - the step that is under way
 * @before: versions before it; @first: the first that it makes.
 */
void reg_values_link(struct reg_values *values, const struct sem_insn *insn,
		     const uint32_t *before, uint32_t first, struct sem_state *ret);

/** reg_values_start() - a pass begins with @state behind versions @at */
void reg_values_start(struct reg_values *values, const uint32_t *at, struct sem_state *ret);

/**
 * reg_values_meet() - going on, @state comes to the step that makes versions from @first on
 *
 * Before and behind a step each register that it does not write has one place.  Behind the step
 * the caller makes what it has written what was before.
 */
void reg_values_meet(struct reg_values *values, const struct sem_insn *insn, uint32_t first,
		     struct sem_state *state);

/** reg_values_meet_back() - the same going back, after reg_values_step_back() */
void reg_values_meet_back(struct reg_values *values, const struct sem_insn *insn,
			  const uint32_t *before, struct sem_state *state);

/** reg_values_place() - reg_values_address() in a pass */
struct known reg_values_place(const struct reg_values *values, const struct sem_insn *insn,
			      const struct sem_state *state, bool is_store);

/** reg_values_apply() - sem_apply(), of interrupts, too */
void reg_values_apply(const struct sem_insn *insn, struct sem_state *state);

/** reg_values_step_over() - to the next step */
void reg_values_step_over(struct reg_values *values, const struct sem_insn *insn);

/** reg_values_step_back() - before that step: *@before becomes the versions there */
void reg_values_step_back(struct reg_values *values, const struct sem_insn *insn,
			  uint32_t *before);

/** reg_values_constant() - what a load of memory that is never written gives; false: not known */
bool reg_values_constant(const struct reg_values *values, const struct sem_insn *insn,
			 const struct sem_state *state, struct known *ret);

#endif /* BTSREC_REG_VALUES_IMPL_H */
