/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which version of a register is in which word of the stack, at one moment.  Pure.
 *
 * An address is a distance from a root, as most stacks lie where is not known: the kernel moves
 * its stack by a random distance at each system call.  Two distances from one root can be
 * compared.  A store by another root ends what is known, unless bounds show that it is elsewhere.
 */
#ifndef BTSREC_REG_VALUES_WORDS_H
#define BTSREC_REG_VALUES_WORDS_H

#include <stddef.h>

#include "code/known.h"

/* Words of all roots together: more than a stack of 16 KiB has. */
#define WORDS_MAX	2048
#define WORDS_NR_PLACES	(2 * WORDS_MAX)

/* The stack of a thread, that of interrupts, and what they have interrupted. */
#define WORDS_NR_ROOTS	4

/* Of how many roots it is kept that they are below another. */
#define WORDS_NR_ORDERS	8

/**
 * struct number - @offset bytes from what version @root holds; root 0: the number itself
 */
struct number {
	uint32_t root;
	uint64_t offset;
};

/** struct word - @version is what was pushed at @offset from the root of @generation */
struct word {
	uint64_t offset;
	uint32_t version;
	uint32_t generation;
};

/**
 * struct word_root - words of one root
 * @generation: of its words; 0: it has none.
 * @known: of the root.
 * @low, @end: all its words are from one to the other.
 */
struct word_root {
	uint32_t root;
	uint32_t generation;
	struct known known;
	int64_t low;
	int64_t end;
};

/** struct word_order - what @root holds is @than or less */
struct word_order {
	uint32_t root;
	struct number than;
};

/** struct words - all zero: nothing is known; @generation: of the newest root */
struct words {
	struct word list[WORDS_NR_PLACES];
	struct word_root roots[WORDS_NR_ROOTS];
	struct word_order orders[WORDS_NR_ORDERS];
	unsigned int next_root;
	unsigned int next_order;
	uint32_t generation;
	size_t nr;
};

/** words_forget() - nothing is known of any word */
void words_forget(struct words *words);

/** words_get() - the version at @at; 0: not known */
uint32_t words_get(const struct words *words, struct number at);

/**
 * words_store() - @nr_bytes, 512 at most, were stored at @at
 * @known: of the root of @at.
 */
void words_store(struct words *words, struct number at, struct known known,
		 unsigned int nr_bytes);

/** words_set() - after words_store(): @version is there */
void words_set(struct words *words, struct number at, struct known known, uint32_t version);

/**
 * words_below() - the stack goes on by @root, which holds @than or less, but 2^40 at most
 * @rsp: the stack pointer before that, from the root of @than: what is below it is not known
 *	any more.
 */
void words_below(struct words *words, uint32_t root, struct number than, uint64_t rsp);

/** words_end_at() - of what is not certainly above the stack pointer @rsp nothing is known */
void words_end_at(struct words *words, struct number rsp);

/** words_above() - of what is not certainly below the address @va nothing is known */
void words_above(struct words *words, uint64_t va);

#endif /* BTSREC_REG_VALUES_WORDS_H */
