// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/text_patch.h"

#include <string.h>

/*
 * What the kernel has where it has taken a jump or a call out: BYTES_NOP2 and BYTES_NOP5 of
 * arch/x86/include/asm/nops.h, in 6.1, 6.12 and 7.2.
 */
static const uint8_t nop2[] = { 0x66, 0x90 };
static const uint8_t nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

static bool is_nop(struct code *code, uint64_t va)
{
	uint8_t bytes[sizeof(nop5)];
	size_t nr_bytes;

	code_bytes(code, 0, va, bytes, sizeof(bytes), &nr_bytes);
	return (nr_bytes >= sizeof(nop2) && !memcmp(bytes, nop2, sizeof(nop2))) ||
	       (nr_bytes >= sizeof(nop5) && !memcmp(bytes, nop5, sizeof(nop5)));
}

static bool is_direct(struct code *code, uint64_t va)
{
	struct code_insn insn;

	return !code_insn(code, 0, va, false, &insn) && insn.has_target &&
	       (insn.class == CODE_CALL || insn.class == CODE_JUMP);
}

bool text_patched_since(struct code *code, const struct located *located,
			const struct btsrec_record *branch, uint64_t cr3, enum code_fault fault)
{
	if (!code_is_kernel(branch->from))
		return code_is_made(code, cr3, branch->from);
	if (fault == CODE_NO_BRANCH)
		return is_nop(code, branch->from);
	/* What a tracepoint calls: its only probe, or what calls all of them. */
	return fault == CODE_OTHER_TARGET && is_direct(code, branch->from) &&
	       !located_module_at(located, branch->from) &&
	       located_module_at(located, branch->to);
}
