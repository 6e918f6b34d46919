/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a value came from: the chain of instructions that made it, backwards along one CPU.  Pure.
 *
 * Within the instructions that ran one after the other nothing is guessed: of a register the
 * newest write is there.  A load leads to the newest store to that memory.  That is certain only
 * of words of the thread's own stack.  No pointer to the word was made, and no store to an unknown
 * address came between.  Else it is likely, because another CPU may have stored, too.
 */
#ifndef BTSREC_ORIGIN_H
#define BTSREC_ORIGIN_H

#include "flow/reg_values.h"
#include "kernel/walk.h"

struct value_numbers;

/** enum origin_kind - what one instruction did to the value; from ORIGIN_CONSTANT on the end */
enum origin_kind {
	ORIGIN_ASKED,		/* nothing: it is what was asked for */
	ORIGIN_MOVED,		/* from one register to another */
	ORIGIN_COMPUTED,	/* from one register, and what else it needs */
	ORIGIN_LOADED,
	ORIGIN_STORED,
	ORIGIN_COPIED,		/* from other memory, by one instruction */
	ORIGIN_INDEXED,		/* by the index or address of a table, to which no store is known */
	ORIGIN_BOUNDED,		/* by how often a loop ran, which ends by this comparison */
	ORIGIN_CONSTANT,	/* of the instruction itself */
	ORIGIN_JOINED,		/* made of several, and which of them matters is not known */
	ORIGIN_OLDER,		/* than what is known; see @why */
	ORIGIN_NO_ADDRESS,	/* loaded from an address that is not known */
	ORIGIN_NO_RULE,		/* by an instruction that the table lacks, or by the processor */
	ORIGIN_PART,		/* this stored a part of it alone */
	ORIGIN_CHANGED,		/* the memory was changed between the store and the load */
	ORIGIN_TOO_LONG,
	ORIGIN_SPOILED,		/* made of an address of the kernel, and it is none */
	ORIGIN_USER,		/* loaded from memory of the user */
	ORIGIN_SUSPECT,		/* stored that value after it, to an address that is not known */
};

/** enum origin_class - how sure it is; of several the last one holds */
enum origin_class {
	ORIGIN_CERTAIN,
	ORIGIN_LIKELY,
	ORIGIN_UNKNOWN,
};

/**
 * struct origin_target - the value that is looked for
 * @reg: where it is; SEM_NO_REG: in @nr_bytes bytes of memory, at @address if @has_address.
 * @root, @offset: a struct value_number of the place, if @has_number.
 */
struct origin_target {
	uint8_t reg;
	uint8_t nr_bytes;
	bool has_address;
	bool has_number;
	uint64_t address;
	uint64_t root;
	uint64_t offset;
};

/**
 * struct origin_hop - one link of the chain
 * @place, @insn: as of reg_values_insn(); of ORIGIN_ASKED and ORIGIN_OLDER @insn may be NULL.
 * @target: where the value is then.
 * @value, @value_class: what it is there, as 64 bits or as many as @target has.
 * @has_address, @address: of a load or store.
 * @class: that this instruction is the one.
 * @why: of ORIGIN_OLDER.
 */
struct origin_hop {
	enum origin_kind kind;
	uint32_t place;
	const struct sem_insn *insn;
	struct origin_target target;
	uint64_t value;
	enum origin_class value_class;
	bool has_address;
	uint64_t address;
	enum origin_class class;
	enum reg_values_why why;
};

#define ORIGIN_MAX_HOPS 64

/** struct origin - the chain, the newest hop first; the last one says where it ends */
struct origin {
	size_t nr;
	struct origin_hop hops[ORIGIN_MAX_HOPS];
};

/**
 * struct origin_question - what is looked for, in front of the step @place
 * @numbers: of all that ran; borrowed.
 * @sp: the stack pointer of the thread there; its stack is the @stack_bytes around it that begin
 *	at a multiple of that.  0: not known.
 * @is_there: is there memory at that address of the kernel?  NULL: nobody knows.
 * @access: what the kernel may do there, by its page tables; NULL likewise.
 * @class: of the choice of @target; ORIGIN_CERTAIN: nothing else could have been asked.
 * @is_within: it is part of another one.
 */
struct origin_question {
	uint32_t place;
	struct origin_target target;
	const struct value_numbers *numbers;
	uint64_t sp;
	uint64_t stack_bytes;
	bool (*is_there)(void *arg, uint64_t address);
	enum walk_access (*access)(void *arg, uint64_t address);
	void *arg;
	enum origin_class class;
	bool is_within;
};

/** origin_find() - the chain of @question */
void origin_find(struct reg_values *values, const struct origin_question *question,
		 struct origin *ret);

/**
 * origin_find_index() - go on with the index of the table that the value of a chain was loaded from
 * @origin: of @question.
 *
 * The table is at a fixed address, and no store to that memory is known: the index may be wrong.
 * Or it cannot be written, and it is the wrong one: then its address is what is gone on with.
 */
void origin_find_index(struct reg_values *values, const struct origin_question *question,
		       struct origin *origin);

/**
 * origin_find_bound() - if a loop has counted to the value, go on with what says where it ends
 * @origin: of @question.
 *
 * If that is a constant, the chain ends with ORIGIN_BOUNDED.
 */
void origin_find_bound(struct reg_values *values, const struct origin_question *question,
		       struct origin *origin);

/**
 * origin_bad_register() - of the registers @a and @b of an address that which makes it a bad one
 *
 * That is the one that is no address of the kernel while the other is; either may be SEM_NO_REG.
 * But where nothing is mapped at the other one, that is it.
 *
 * Return: SEM_NO_REG: both may be, or there is none.
 */
uint8_t origin_bad_register(const struct origin_question *question,
			    const struct reg_values_at *at, uint8_t a, uint8_t b);

/**
 * origin_choice() - how sure is it that of the two registers of an address @reg is the bad one?
 *
 * Only what leads out of every object of the kernel is bad for sure: a smaller index may be right,
 * and the base wrong although something is mapped there.
 */
enum origin_class origin_choice(const struct reg_values_at *at, uint8_t reg);

/**
 * origin_store() - the newest store to @target of another CPU
 * @target: if it has no address, only a store of that value as below is looked for.
 * @value: what was loaded; as far as it is known, no store of another value is the one.
 * @disp: of the load, in bytes from its base.  If no store is known, one of that value, as far from
 *	a base that is not known, is taken; it has no address.
 *
 * Return: false: none whose address is known.
 */
bool origin_store(struct reg_values *values, const struct origin_target *target,
		  struct known value, int64_t disp, struct origin_hop *ret);

#endif /* BTSREC_ORIGIN_H */
