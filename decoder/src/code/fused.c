// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Branches that ran as one with the comparison before them.
 *
 * The last branch record of AMD's processors then has the address of the comparison (Linux,
 * branch_type_fused(), arch/x86/events/utils.c).  Here they get their own, so that everything else
 * sees branches come from branches.
 */
#include "code/fused.h"

void fused_find_branch(struct code *code, uint64_t cr3, struct btsrec_record *record)
{
	uint64_t va = record->from;
	struct code_insn insn;

	if (code_insn(code, cr3, va, false, &insn) || insn.class != CODE_PLAIN)
		return;
	va += insn.length_bytes;
	if (!code_insn(code, cr3, va, false, &insn) && insn.class == CODE_COND &&
	    insn.has_target && insn.target == record->to)
		record->from = va;
}
