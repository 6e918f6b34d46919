/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How all views word a kind of branch, and an address. */
#ifndef BTSREC_RENDER_BRANCH_H
#define BTSREC_RENDER_BRANCH_H

#include "flow/frames.h"
#include "render/render.h"

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

/**
 * frame_text() - the kind of a frame as its branch would be printed: "call", "exc:#PF"
 * @ret: BRANCH_TEXT_BYTES of room.
 */
void frame_text(char *ret, enum frame_kind kind, int vector);

/** text_address() - @va, and its name in brackets if it has one */
void text_address(struct renderer *r, uint64_t va);

/** text_return_address() - the same of a return address, by render_find_return() */
void text_return_address(struct renderer *r, uint64_t va);

/** out_break() - between which addresses it is not known what ran, and why */
void out_break(struct out *out, const struct proof_step *step);

/** json_break() - the same as members "from", "to", "verdict", "cause" and "at" */
void json_break(struct out *out, const struct proof_step *step);

#endif /* BTSREC_RENDER_BRANCH_H */
