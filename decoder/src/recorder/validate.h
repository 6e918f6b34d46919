/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is this page what it claims to be?  Each check has its own reason.  Pure:
 * looks at one structure at a time and follows no address.
 */
#ifndef BTSREC_VALIDATE_H
#define BTSREC_VALIDATE_H

#include "base/diag.h"
#include "base/status.h"

/**
 * validate_root() - the constant part of a root that was read from @pa
 * @why: set on failure.
 *
 * Return: BTSREC_OK; BTSREC_ERR_BAD_ROOT: no root, a copy of one, or damaged;
 * BTSREC_ERR_VERSION; BTSREC_ERR_CORRUPT: whole, but contradicts itself.
 */
enum btsrec_status validate_root(const struct btsrec_root *root, uint64_t pa, struct msg *why);

/**
 * validate_cpu() - the constant part of the page of CPU @nr, read from @pa
 * @root: validated.
 *
 * Return: BTSREC_OK or BTSREC_ERR_CORRUPT.
 */
enum btsrec_status validate_cpu(const struct btsrec_cpu *cpu, const struct btsrec_root *root,
				uint32_t nr, uint64_t pa, struct msg *why);

/** validate_module() - a used slot of the module map; BTSREC_OK or BTSREC_ERR_CORRUPT. */
enum btsrec_status validate_module(const struct btsrec_module *module, struct msg *why);

/**
 * validate_cpu_live() - what the live part of a valid CPU page contradicts
 *
 * Nothing here makes a CPU unusable; contradictions become diagnostics.
 */
void validate_cpu_live(const struct btsrec_cpu *cpu, struct diags *diags);

/** validate_root_live() - likewise for a valid root. */
void validate_root_live(const struct btsrec_root *root, struct diags *diags);

#endif /* BTSREC_VALIDATE_H */
