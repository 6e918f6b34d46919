/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The values of general registers along the kernel's instructions of one CPU: what certainly was
 * in them, and nothing else.  Pure.
 *
 * Each write of a register makes a version of it, which has one value up to the next write.  The
 * passes go along the instructions until no version becomes better known.  What is not followed
 * is cut: gaps, breaks, user code, instructions that are not in the dump.  Across an annotation
 * goes what the code of the recorder leaves alone, if that is known.
 *
 * Of memory only what pushes and calls have put on the stack is followed, from the store to the
 * load: no compiler takes the address of such a word, so no other CPU writes it.  A store to an
 * address that is not known ends that; see reg_values_words.h.  Other memory is read only where
 * nothing can have written.
 */
#ifndef BTSREC_REG_VALUES_H
#define BTSREC_REG_VALUES_H

#include "code/semantics.h"

/** struct reg_values - of one CPU; owned */
struct reg_values;

/** reg_values_new() - nothing yet; NULL: out of memory; free with reg_values_free() */
struct reg_values *reg_values_new(void);
void reg_values_free(struct reg_values *values);

/**
 * reg_values_constant_fn - what @nr_bytes bytes, 8 at most, have held in all of the history
 * @segment: @address is one in the area of this CPU.
 * @ret: extended by zeros.
 *
 * Return: false: not known, or it may have been written.
 */
typedef bool (*reg_values_constant_fn)(void *arg, bool segment, uint64_t address,
				       unsigned int nr_bytes, uint64_t *ret);

/** reg_values_constants() - ask @fn what loads have read; it is called by reg_values_run() */
void reg_values_constants(struct reg_values *values, reg_values_constant_fn fn, void *arg);

/**
 * reg_values_known() - the instruction at @ip, if reg_values_insn() has had one there
 *
 * NULL: not yet.  Valid until a new one is added.
 */
const struct sem_insn *reg_values_known(const struct reg_values *values, uint64_t ip);

/**
 * reg_values_insn() - the next instruction that ran
 *
 * Return: its place, for reg_values_next(); UINT32_MAX: out of memory, or there are too many.
 */
uint32_t reg_values_insn(struct reg_values *values, const struct sem_insn *insn);

/** reg_values_switch() - the same, of one that changes to the stack of another thread */
uint32_t reg_values_switch(struct reg_values *values, const struct sem_insn *insn);

/**
 * reg_values_begun() - an interrupt or exception came into @insn, which is repeated
 *
 * What it writes is then not known, and it begins anew behind the interrupt.
 */
bool reg_values_begun(struct reg_values *values, const struct sem_insn *insn);

/** enum reg_values_why - why nothing is known of registers across a place */
enum reg_values_why {
	REG_VALUES_BEGIN,	/* nothing older is there */
	REG_VALUES_GAP,		/* events are missing */
	REG_VALUES_PAUSE,	/* an annotation: the recorder ran, or another thread */
	REG_VALUES_USER,	/* user code ran */
	REG_VALUES_BREAK,	/* what ran is not known */
	REG_VALUES_WINDOW,	/* what is older was not looked at */
};

/** reg_values_cut() - something else may have run here; false: out of memory, or too many */
bool reg_values_cut(struct reg_values *values, enum reg_values_why why);

/**
 * reg_values_interrupt() - an interrupt or exception came before the instruction at @ip
 * @vector: -1: unknown.
 */
bool reg_values_interrupt(struct reg_values *values, uint64_t ip, int vector);

/** reg_values_error_code() - right after that: the error code that it has stored */
void reg_values_error_code(struct reg_values *values, uint64_t error_code);

/**
 * reg_values_pause() - before the instruction at @ip code ran that is in no record
 * @writes: the registers that it may have changed, a bit each; not RSP.
 * @others: it was of other threads.
 *
 * It ran below the stack pointer, or on another stack, and has changed no word that was pushed.
 * But of a thread that sleeps ptrace(2) changes the registers of the user, and a stack that is
 * somebody else's now begins anew.  Both are at the top of the stack.
 */
bool reg_values_pause(struct reg_values *values, uint64_t ip, uint32_t writes, bool others);

/** reg_values_anchor() - before the next instruction, @known is known of @reg */
void reg_values_anchor(struct reg_values *values, enum sem_reg reg, struct known known);

/** reg_values_version() - what @reg holds before the next instruction, for the next one */
uint32_t reg_values_version(const struct reg_values *values, enum sem_reg reg);

/** reg_values_anchor_version() - reg_values_anchor() of what a register held then */
void reg_values_anchor_version(struct reg_values *values, uint32_t version, struct known known);

/** reg_values_run() - pass along all of it until no more becomes known */
void reg_values_run(struct reg_values *values);

/**
 * struct reg_values_memory - memory as it is after all that ran
 * @read: what it holds; false: it is not there, or has been used again.  NULL: not known.
 * @has_area, @area: where the area of this CPU is.
 */
struct reg_values_memory {
	reg_values_constant_fn read;
	void *arg;
	bool has_area;
	uint64_t area;
};

/**
 * reg_values_likely() - find what is likely, too, of the newest part of it; after reg_values_run()
 * @max_passes: forwards and backwards, less if no more becomes known.
 *
 * Nothing that is certain changes.  What is likely rests on @memory.  A word is what was stored
 * there last, and a store to an unknown address is elsewhere.
 *
 * Return: false: out of memory.
 */
bool reg_values_likely(struct reg_values *values, const struct reg_values_memory *memory,
		       unsigned int max_passes);

/** struct reg_values_tier - what is known around one instruction */
struct reg_values_tier {
	struct known before[SEM_NR_REGS];
	struct known behind[SEM_NR_REGS];
};

/** struct reg_values_at - @certain: of these bits; @likely: of these, and of the certain ones */
struct reg_values_at {
	struct reg_values_tier certain;
	struct reg_values_tier likely;
};

/** reg_values_begin() - to read from the first place on */
void reg_values_begin(struct reg_values *values);

/**
 * reg_values_next() - up to @place, which is not before that of the last call
 *
 * Return: the instruction there, with what is known around it in *@ret.
 */
const struct sem_insn *reg_values_next(struct reg_values *values, uint32_t place,
				       struct reg_values_at *ret);

/** reg_values_seek() - reading goes on at or before @place, wherever it was */
void reg_values_seek(struct reg_values *values, uint32_t place);

/**
 * struct reg_values_step - one step on the way back
 * @place: as of reg_values_insn(); @insn: what it is; interrupts have no bytes.
 * @cut: it is none: what it writes is not followed across it, for @why.
 * @at: after reg_values_look().
 * @before: numbers of the versions of registers before it, see value_numbers.h; borrowed.
 * @first: the first version that it makes.
 */
struct reg_values_step {
	uint32_t place;
	const struct sem_insn *insn;
	bool cut;
	enum reg_values_why why;
	struct reg_values_at at;
	const uint32_t *before;
	uint32_t first;
};

/** reg_values_step_fn - receives a step; false: no more */
typedef bool (*reg_values_step_fn)(void *arg, struct reg_values_step *step);

/** reg_values_look() - what is known around @step, which was received */
void reg_values_look(struct reg_values *values, struct reg_values_step *step);

/**
 * reg_values_back() - all steps from @place on, the newest first
 * @place: UINT32_MAX: from the newest.
 * @fn: may call it, too.
 */
void reg_values_back(struct reg_values *values, uint32_t place, reg_values_step_fn fn,
		     void *arg);

/**
 * reg_values_interrupted() - the place of the interrupt that the IRET at @place ends
 * @ret_certain: registers are certainly the same in front of the one and behind the other.
 *
 * Return: false: it is none, or it is not known that registers are the same.
 */
bool reg_values_interrupted(const struct reg_values *values, uint32_t place, uint32_t *ret_place,
			    bool *ret_certain);

/**
 * reg_values_address() - where the memory operand of @insn is, or the word it pushes or pops
 *
 * In the area of this CPU it is known after reg_values_likely() only.
 */
struct known reg_values_address(const struct reg_values *values, const struct sem_insn *insn,
				const struct reg_values_tier *tier, bool is_store);

/**
 * reg_values_memory() - what @nr_bytes bytes, 8 at most, held at @address in front of @place
 * @ret_certain, @ret_likely: as in struct reg_values_at.
 *
 * Another @place than before takes a pass.  Reading is at the first place again.
 */
void reg_values_memory(struct reg_values *values, uint32_t place, uint64_t address,
		       unsigned int nr_bytes, struct known *ret_certain, struct known *ret_likely);

/** reg_values_nr() - so many places there are: that of the next step */
uint32_t reg_values_nr(const struct reg_values *values);

/** reg_values_step_insn() - what is at @place; no bytes: an interrupt or a cut */
const struct sem_insn *reg_values_step_insn(const struct reg_values *values, uint32_t place);

/** reg_values_ip() - where the instruction at @place is */
uint64_t reg_values_ip(const struct reg_values *values, uint32_t place);

/** reg_values_nr_contradictions() - parts that were given up, because a premise was wrong there */
uint64_t reg_values_nr_contradictions(const struct reg_values *values);

#endif /* BTSREC_REG_VALUES_H */
