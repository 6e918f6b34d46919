/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where in a file what is asked for by number is: pieces of a flattened file, segments of an
 * ELF dump.  A hostile file has millions that overlap: each question is a bisection.
 */
#ifndef BTSREC_RANGES_H
#define BTSREC_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct range - the @nr_bytes bytes from number @begin on
 * @at: where they are in the file.
 * @rank: of those that overlap the one with the greatest has the bytes; no two have the same.
 */
struct range {
	uint64_t begin;
	uint64_t nr_bytes;
	uint64_t at;
	uint64_t rank;
};

/** struct ranges - a list; the owner frees @list; all zero: none */
struct ranges {
	struct range *list;
	size_t nr;
	size_t nr_room;
};

/**
 * ranges_add() - one more, before ranges_settle(); one that is empty or wraps is none
 *
 * Return: false: no memory.
 */
bool ranges_add(struct ranges *ranges, uint64_t begin, uint64_t nr_bytes, uint64_t at,
		uint64_t rank);

/**
 * ranges_settle() - sort them, and cut them where they overlap
 *
 * Return: false: no memory; then nothing but ranges_fini() is allowed.
 */
bool ranges_settle(struct ranges *ranges);

/** ranges_find() - the one that has number @number, or NULL; after ranges_settle() */
const struct range *ranges_find(const struct ranges *ranges, uint64_t number);

/** ranges_next() - that one, or else the next one, or NULL; after ranges_settle() */
const struct range *ranges_next(const struct ranges *ranges, uint64_t number);

/** ranges_fini() - free the list */
void ranges_fini(struct ranges *ranges);

#endif /* BTSREC_RANGES_H */
