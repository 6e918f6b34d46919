/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that the kernel has patched since it ran.  The dump has the kernel's text as it was at the
 * end.  Tracepoints, static keys or ftrace were switched off meanwhile, and the recorder's own
 * hooks were taken out.  There a branch was recorded that is there no more.
 */
#ifndef BTSREC_TEXT_PATCH_H
#define BTSREC_TEXT_PATCH_H

#include "code/code.h"
#include "recorder/locate.h"

/**
 * text_patched_since() - is @branch, which the code does not have, one that was taken out?
 * @cr3: the address space for user addresses; 0: unknown.
 * @fault: why the code does not have it.
 *
 * Where it was there is a NOP now; or a direct call from outside of all modules, that led into
 * one, leads elsewhere.  Code that was changed in another way is not known as that.
 * Programs change code that is in no file as they like, which contradicts nothing.
 */
bool text_patched_since(struct code *code, const struct located *located,
			const struct btsrec_record *branch, uint64_t cr3,
			enum code_fault fault);

#endif /* BTSREC_TEXT_PATCH_H */
