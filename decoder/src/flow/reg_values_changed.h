/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which words of memory other CPUs, devices or interrupts write while the steps run: nothing is
 * likely of these.  Pure.
 *
 * Two things give a word away.  What was likely of it is refuted by what is known otherwise: the
 * way that a branch went, or that an address was one.  Or a loop polls it, and went on behind
 * that.  A store of this thread to where is not known is like one of another CPU.
 */
#ifndef BTSREC_REG_VALUES_CHANGED_H
#define BTSREC_REG_VALUES_CHANGED_H

#include "flow/reg_values_impl.h"
#include "flow/reg_values_memory.h"

/**
 * struct changed - owned
 * @first: the first of @nr_steps steps.
 * @loads, @stores: where each of these loads and stores, as far as it is likely; else 0.
 * @newest: the newest step of each instruction; for changed_find_polls().
 * @words: those that change.  @written: those that the steps store to, but on
 *	the stack.
 */
struct changed {
	size_t first, nr_steps;
	uint64_t *loads;
	uint64_t *stores;
	uint32_t *newest;
	struct memory words;
	struct memory written;
};

/** changed_init() - of the steps that are likely; false: out of memory, with nothing to free */
bool changed_init(struct changed *changed, const struct reg_values *values);
void changed_fini(struct changed *changed);

/** changed_begin() - no step has been passed; @words stay */
void changed_begin(struct changed *changed);

/** changed_has() - does any of the @nr_bytes bytes, 8 at most, change? */
bool changed_has(struct changed *changed, uint64_t address, unsigned int nr_bytes);

/** changed_nr() - it grows with each word that becomes known to change */
size_t changed_nr(const struct changed *changed);

/** changed_written() - a step stores to the word at @address */
void changed_written(struct changed *changed, uint64_t address);

/** changed_is_written() - does one store to any of the @nr_bytes bytes, 8 at most? */
bool changed_is_written(struct changed *changed, uint64_t address, unsigned int nr_bytes);

/**
 * changed_blame() - @step contradicts what is known: the words that its values rest on change, or
 *	those that say what these were
 * @regs: registers that it makes and that do so, besides those that it reads; a bit each.
 */
void changed_blame(struct changed *changed, const struct reg_values *values, size_t step,
		   uint32_t regs);

/** changed_find_polls() - after a pass has filled @loads and @stores */
void changed_find_polls(struct changed *changed, const struct reg_values *values);

#endif /* BTSREC_REG_VALUES_CHANGED_H */
