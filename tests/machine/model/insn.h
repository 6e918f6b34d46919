/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which x86 instructions transfer control, and which the model must watch. */
#ifndef BTSREC_TESTS_MODEL_INSN_H
#define BTSREC_TESTS_MODEL_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_class {
	INSN_OTHER = 0,		/* falls through; interrupts and traps are no branches of it */
	INSN_ALWAYS,		/* transfers control whenever it completes */
	INSN_CONDITIONAL,	/* Jcc, LOOPcc, JrCXZ */
	INSN_WRMSR,
	INSN_RDMSR,
	INSN_CPUID,
	INSN_RDPMC,
	INSN_WRITE_CR,		/* MOV to a control register */
};

/* What a control transfer does to the call stack. */
enum insn_flow {
	FLOW_OTHER = 0,
	FLOW_CALL,
	FLOW_RET,
	FLOW_SYSCALL,
	FLOW_SYSRET,
	FLOW_IRET,
};

enum insn_flow insn_flow(const uint8_t *bytes, size_t nr_bytes);
bool insn_may_stay(const uint8_t *bytes, size_t nr_bytes);
bool insn_fuses(const uint8_t *bytes, size_t nr_bytes);
bool insn_is_jcc(const uint8_t *bytes, size_t nr_bytes);
bool insn_repeats(const uint8_t *bytes, size_t nr_bytes);
enum insn_class insn_classify(const uint8_t *bytes, size_t nr_bytes);

#endif
