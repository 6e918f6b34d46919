/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The prototypes of the kernel's functions by their addresses, as its BTF has them. */
#ifndef BTSREC_PROTOTYPES_H
#define BTSREC_PROTOTYPES_H

#include "kernel/types.h"
#include "symbols/symbol.h"

/** struct prototypes - owned; the session must outlive it */
struct prototypes;

/**
 * prototypes_new() - by what the dump itself says, if its names are wanted
 * @ret: for prototypes_free(); NULL: @ret_why is a phrase, static, and they cannot be known.
 *
 * Return: false: out of memory.
 */
bool prototypes_new(struct btsrec *rec, struct prototypes **ret, const char **ret_why);

/** prototypes_free() - NULL is allowed */
void prototypes_free(struct prototypes *prototypes);

/** prototypes_types() - what types_params() and types_text() need */
const struct types *prototypes_types(const struct prototypes *prototypes);

/**
 * prototypes_of() - the prototype of the function that begins at @va
 * @ret_why: a phrase, static, if there is none; else untouched.
 *
 * Return: for types_params(); 0: none.
 */
uint32_t prototypes_of(const struct prototypes *prototypes, uint64_t va, const char **ret_why);

#endif /* BTSREC_PROTOTYPES_H */
