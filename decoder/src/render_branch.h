/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How all views word a kind of branch. */
#ifndef BTSREC_RENDER_BRANCH_H
#define BTSREC_RENDER_BRANCH_H

#include "branch.h"
#include "render.h"

#define BRANCH_TEXT_BYTES 32

/**
 * branch_text() - "call", "irq:236", "exc:#PF"; "-" if the code is not in the dump
 * @ret: BRANCH_TEXT_BYTES of room.
 *
 * Return: its length.
 */
size_t branch_text(char *ret, const struct branch *branch);

/** out_branch_type() - what branch_text() says */
void out_branch_type(struct out *out, const struct branch *branch);

/** json_branch_type() - members "type" and, where there is one, "vector" */
void json_branch_type(struct out *out, const struct branch *branch);

/** json_sym() - member @key with the name of @va, if it has one */
void json_sym(struct renderer *r, const char *key, uint64_t va);

#endif /* BTSREC_RENDER_BRANCH_H */
