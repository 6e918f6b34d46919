// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code with known branches.  The labels known_NAME_N are branches, known_NAME_Nt where they
 * lead; "K" is the kernel.  All of it runs in user space and writes verify_buffer alone.
 */
#include <stdio.h>

#include "verify.h"

#ifdef __x86_64__

#define TEXT_OF_(value) #value
#define TEXT_OF(macro) TEXT_OF_(macro)

#define BUFFER_BYTES	65536
#define LOOPS		100
#define SEED		0x2b5a17c3
#define TAPS		0x80200003	/* of a shift register of 32 bits */

/* A function of the section in which all of them lie, one after the other. */
#define CODE(name, body)                                              \
	__asm__(".pushsection .text.verify, \"ax\", @progbits\n"      \
		".type known_" #name ", @function\n"                 \
		"known_" #name ":\n" body                            \
		"known_" #name "_end:\n"                             \
		".size known_" #name ", . - known_" #name "\n"      \
		".popsection\n");                                     \
	extern const char known_##name##_end[] HIDDEN;               \
	extern void known_##name(void *argument) HIDDEN
#define HIDDEN		__attribute__((visibility("hidden")))
#define CODE_OF(word, code, ...)                                                               \
	{ .name = (word), .run = known_##code, .begin = (const char *)known_##code,            \
	  .end = known_##code##_end, __VA_ARGS__ }
#define BRANCHES(...) \
	.branches = (const struct verify_branch[]) { __VA_ARGS__, { NULL, NULL, 0 } }

static char verify_buffer[BUFFER_BYTES] __attribute__((used));

__asm__(".pushsection .text.verify, \"ax\", @progbits\n"
	".balign 64\n"
	"verify_code_begin:\n"
	".globl verify_code_begin\n.hidden verify_code_begin\n"
	".popsection\n");

CODE(jump,
     "known_jump_1: jmp known_jump_1t\n"
     "	int3\n"
     "known_jump_1t:\n"
     /* To the next instruction, in both encodings, and backwards. */
     "known_jump_2: jmp known_jump_2t\n"
     "known_jump_2t:\n"
     "known_jump_3: .byte 0xe9, 0, 0, 0, 0\n"
     "known_jump_3t:\n"
     "known_jump_4: jmp known_jump_4t\n"
     "known_jump_5t: ret\n"
     "known_jump_4t:\n"
     "known_jump_5: jmp known_jump_5t\n"
     "	int3\n");

CODE(indirect,
     "	lea known_indirect_1t(%rip), %rax\n"
     "known_indirect_1: jmp *%rax\n"
     "	int3\n"
     "known_indirect_1t: lea known_indirect_2t(%rip), %rax\n"
     "	mov %rax, -8(%rsp)\n"
     "known_indirect_2: jmp *-8(%rsp)\n"
     "	int3\n"
     "known_indirect_2t: ret\n"
     "	int3\n");

CODE(conditional,
     "	mov $" TEXT_OF(LOOPS) ", %ecx\n"
     "known_conditional_1t: dec %ecx\n"
     "known_conditional_1: jnz known_conditional_1t\n"
     "	jnz known_conditional_1t\n"
     "	js known_conditional_1t\n"
     "known_conditional_2: jz known_conditional_2t\n"
     "	int3\n"
     "known_conditional_2t: jrcxz known_conditional_3t\n"
     "	int3\n"
     "known_conditional_3t: mov $10, %ecx\n"
     "	jrcxz known_conditional_1t\n"
     "known_conditional_4: loop known_conditional_4\n"
     "	stc\n"
     "	jnc known_conditional_1t\n"
     "known_conditional_5: .byte 0x0f, 0x82\n"
     "	.long known_conditional_5t - known_conditional_5 - 6\n"
     "	int3\n"
     "known_conditional_5t: ret\n"
     "	int3\n");

CODE(call,
     "known_call_1: call known_call_leaf\n"
     "known_call_1t: lea known_call_leaf(%rip), %rax\n"
     "known_call_2: call *%rax\n"
     "known_call_2t:\n"
     /* A call to the next instruction has no return. */
     "known_call_3: call known_call_3t\n"
     "known_call_3t: pop %rax\n"
     "known_call_4: call known_call_nest\n"
     "known_call_4t: push %rax\n"
     "known_call_5: call known_call_pop\n"
     "known_call_5t: ret\n"
     "known_call_leaf:\n"
     "known_call_6: ret\n"
     "known_call_nest:\n"
     "known_call_7: call known_call_leaf\n"
     "known_call_7t:\n"
     "known_call_8: ret\n"
     "known_call_pop:\n"
     "known_call_9: ret $8\n"
     "	int3\n");

/* Between two jumps, so that it is known to have been recorded. */
CODE(rep,
     "known_rep_1: jmp known_rep_1t\n"
     "known_rep_1t: lea verify_buffer(%rip), %rdi\n"
     "	xor %eax, %eax\n"
     "	xor %ecx, %ecx\n"
     "	rep stosb\n"
     "	mov $1, %ecx\n"
     "	rep stosb\n"
     "	mov $100, %ecx\n"
     "	rep stosb\n"
     "	lea verify_buffer(%rip), %rdi\n"
     "	mov $4096, %ecx\n"
     "	rep stosq\n"
     "	lea verify_buffer(%rip), %rsi\n"
     "	lea 1024+verify_buffer(%rip), %rdi\n"
     "	mov $1000, %ecx\n"
     "	rep movsb\n"
     "	mov $1000, %ecx\n"
     "	repe cmpsb\n"
     "	mov $1000, %ecx\n"
     "	repe scasb\n"
     "	mov $50, %ecx\n"
     "	rep lodsb\n"
     "known_rep_2: jmp known_rep_2t\n"
     "known_rep_2t: ret\n"
     "	int3\n");

/* getppid(). */
CODE(syscall,
     "	mov $110, %eax\n"
     "known_syscall_1: syscall\n"
     "known_syscall_1t: mov $110, %eax\n"
     "known_syscall_2: syscall\n"
     "known_syscall_2t: ret\n"
     "	int3\n");

/* The handlers return to what goes back through the kernel. */
CODE(breakpoint,
     "known_breakpoint_1: int3\n"
     "known_breakpoint_1t: ret\n"
     ".globl verify_handler_next\n.hidden verify_handler_next\n"
     "verify_handler_next: ret\n"
     "	int3\n");

/* Instructions of two bytes; RIP is 168 bytes into the context. */
CODE(fault,
     "known_invalid:\n"
     "known_invalid_1: ud2\n"
     "known_invalid_1t: ret\n"
     "known_invalid_end:\n"
     "known_divide: xor %ecx, %ecx\n"
     "known_divide_1: div %ecx\n"
     "known_divide_1t: ret\n"
     "known_divide_end:\n"
     ".globl verify_handler_skip\n.hidden verify_handler_skip\n"
     "verify_handler_skip: addq $2, 168(%rdx)\n"
     "	ret\n"
     "	int3\n");
extern void known_invalid(void *argument) HIDDEN;
extern void known_divide(void *argument) HIDDEN;

/* Its argument is a page that was never touched. */
CODE(touch,
     "known_touch_1: movb $1, (%rdi)\n"
     "	ret\n"
     "	int3\n");

/* lret, jmp and call through a far pointer, iretq: all to the same code segment. */
CODE(far,
     "	mov %cs, %eax\n"
     "	push %rax\n"
     "	lea known_far_1t(%rip), %rcx\n"
     "	push %rcx\n"
     "known_far_1: lretq\n"
     "known_far_1t: mov %cs, %eax\n"
     "	lea -32(%rsp), %rdx\n"
     "	lea known_far_2t(%rip), %rcx\n"
     "	mov %rcx, (%rdx)\n"
     "	mov %ax, 8(%rdx)\n"
     "known_far_2: .byte 0x48, 0xff, 0x2a\n"	/* rex.W ljmp *(%rdx) */
     "known_far_2t: lea known_far_4(%rip), %rcx\n"
     "	sub $48, %rsp\n"
     "	mov %rsp, %rdx\n"
     "	mov %rcx, (%rdx)\n"
     "	mov %ax, 8(%rdx)\n"
     "known_far_3: .byte 0x48, 0xff, 0x1a\n"	/* rex.W lcall *(%rdx) */
     "known_far_3t: add $48, %rsp\n"
     "	mov %rsp, %rdx\n"
     "	mov %ss, %eax\n"
     "	push %rax\n"
     "	push %rdx\n"
     "	pushfq\n"
     "	mov %cs, %eax\n"
     "	push %rax\n"
     "	lea known_far_5t(%rip), %rcx\n"
     "	push %rcx\n"
     "known_far_5: iretq\n"
     "known_far_5t: ret\n"
     "known_far_4: lretq\n"
     "	int3\n");

CODE(sequence,
     "	mov $" TEXT_OF(SEED) ", %eax\n"
     "	mov $" TEXT_OF(VERIFY_ROUNDS) ", %ecx\n"
     "known_sequence_top: shr $1, %eax\n"
     "known_sequence_1: jnc known_sequence_1t\n"
     "	xor $" TEXT_OF(TAPS) ", %eax\n"
     "known_sequence_2: call known_sequence_3\n"
     "known_sequence_1t: dec %ecx\n"
     "known_sequence_4: jnz known_sequence_top\n"
     "	ret\n"
     "known_sequence_3: ret\n"
     "	int3\n");

/* A debugger comes in at the first instruction. */
CODE(step,
     "known_step_1: int3\n"
     "known_step_1t: xor %eax, %eax\n"
     "	jnz known_step_1\n"
     "known_step_2: jz known_step_2t\n"
     "	int3\n"
     "known_step_2t: nop\n"
     "known_step_3: call known_step_4\n"
     "known_step_3t: ret\n"
     "known_step_4: ret\n"
     "	int3\n");

/* An interrupt in the middle of a string instruction returns to it. */
CODE(wait,
     "	mov $16, %edx\n"
     "	xor %eax, %eax\n"
     "known_wait_top: lea verify_buffer(%rip), %rdi\n"
     "	mov $" TEXT_OF(BUFFER_BYTES) ", %ecx\n"
     "	rep stosb\n"
     "	dec %edx\n"
     "	jnz known_wait_top\n"
     "	ret\n"
     "	int3\n");

/* Eight of a kind in each round; the argument is the rounds. */
#define EIGHT(insns)	".rept 8\n" insns ".endr\n"
#define ROUND(insns)	"1:\n" EIGHT(insns) "	dec %rdi\n	jnz 1b\n	ret\n	int3\n"

CODE(cost_jump, ROUND("	jmp 9f\n9:\n"));
CODE(cost_indirect, ROUND("	lea 9f(%rip), %rax\n	jmp *%rax\n9:\n"));
CODE(cost_untaken, "	xor %eax, %eax\n" ROUND("	test %eax, %eax\n	jnz 9f\n9:\n"));
CODE(cost_call, ROUND("	call 2f\n") "2:	ret\n	int3\n");

__asm__(".pushsection .text.verify, \"ax\", @progbits\n"
	"verify_code_end:\n"
	".globl verify_code_end\n.hidden verify_code_end\n"
	".popsection\n");

#define K NULL
#define ONE(code, n)	{ known_##code##_##n, known_##code##_##n##t, 1 }
#define LABEL(code, n)	FROM(code, n); FROM(code, n##t)
#define FROM(code, n)	extern const char known_##code##_##n[] HIDDEN

LABEL(jump, 1); LABEL(jump, 2); LABEL(jump, 3); LABEL(jump, 4); LABEL(jump, 5);
LABEL(indirect, 1); LABEL(indirect, 2);
LABEL(conditional, 1); LABEL(conditional, 2); LABEL(conditional, 5);
FROM(conditional, 3t); FROM(conditional, 4);
LABEL(call, 1); LABEL(call, 2); LABEL(call, 3); LABEL(call, 4); LABEL(call, 5); LABEL(call, 7);
FROM(call, 6); FROM(call, 8); FROM(call, 9);
FROM(call, leaf); FROM(call, nest); FROM(call, pop);
LABEL(rep, 1); LABEL(rep, 2);
LABEL(syscall, 1); LABEL(syscall, 2);
LABEL(breakpoint, 1); LABEL(invalid, 1); LABEL(divide, 1);
FROM(touch, 1); FROM(invalid, end); FROM(divide, end);
LABEL(far, 1); LABEL(far, 2); LABEL(far, 3); LABEL(far, 5);
FROM(far, 4);
LABEL(step, 1); LABEL(step, 2); LABEL(step, 3);
FROM(step, 4);
LABEL(sequence, 1);
FROM(sequence, 2); FROM(sequence, 3); FROM(sequence, 4); FROM(sequence, top);

/* The handlers are outside of the code of each, so what leads to them is not compared. */
#define FAULT_OF(word, code)                                                                   \
	{ .name = (word), .run = known_##code, .begin = (const char *)known_##code,            \
	  .end = known_##code##_end,                                                          \
	  BRANCHES({ known_##code##_1, K, 1 }, { K, known_##code##_1t, 1 }) }

const struct verify_code verify_codes[] = {
	CODE_OF("jump", jump, BRANCHES(ONE(jump, 1), ONE(jump, 2), ONE(jump, 3), ONE(jump, 4),
				       ONE(jump, 5))),
	CODE_OF("indirect-jump", indirect, BRANCHES(ONE(indirect, 1), ONE(indirect, 2))),
	CODE_OF("conditional", conditional,
		BRANCHES({ known_conditional_1, known_conditional_1t, LOOPS - 1 },
			 ONE(conditional, 2), { known_conditional_2t, known_conditional_3t, 1 },
			 { known_conditional_4, known_conditional_4, 9 }, ONE(conditional, 5))),
	CODE_OF("call-return", call,
		BRANCHES({ known_call_1, known_call_leaf, 1 }, { known_call_6, known_call_1t, 1 },
			 { known_call_2, known_call_leaf, 1 }, { known_call_6, known_call_2t, 1 },
			 ONE(call, 3), { known_call_4, known_call_nest, 1 },
			 { known_call_7, known_call_leaf, 1 }, { known_call_6, known_call_7t, 1 },
			 { known_call_8, known_call_4t, 1 }, { known_call_5, known_call_pop, 1 },
			 { known_call_9, known_call_5t, 1 })),
	CODE_OF("string", rep, BRANCHES(ONE(rep, 1), ONE(rep, 2))),
	CODE_OF("syscall", syscall,
		BRANCHES({ known_syscall_1, K, 1 }, { K, known_syscall_1t, 1 },
			 { known_syscall_2, K, 1 }, { K, known_syscall_2t, 1 })),
	CODE_OF("breakpoint", breakpoint,
		BRANCHES({ known_breakpoint_1, K, 1 }, { K, (const char *)verify_handler_next, 1 },
			 { K, known_breakpoint_1t, 1 })),
	FAULT_OF("invalid-opcode", invalid),
	FAULT_OF("divide-error", divide),
	CODE_OF("page-fault", touch, .keeps_faults = true,
		BRANCHES({ known_touch_1, K, 1 }, { K, known_touch_1, 1 })),
	CODE_OF("far-transfer", far,
		BRANCHES(ONE(far, 1), ONE(far, 2), { known_far_3, known_far_4, 1 },
			 { known_far_4, known_far_3t, 1 }, ONE(far, 5))),
	{ .name = NULL },
};

const struct verify_code verify_sequence = CODE_OF("sequence", sequence, .branches = NULL);
const struct verify_code verify_wait_code = CODE_OF("interrupt", wait, .branches = NULL);

const struct verify_code verify_step_code =
	CODE_OF("block-step", step,
		BRANCHES({ known_step_1, K, 1 }, { K, known_step_1t, 1 }, ONE(step, 2),
			 { known_step_3, known_step_4, 1 }, { known_step_4, known_step_3t, 1 }));

const struct verify_cost verify_costs[VERIFY_NR_COSTS] = {
	{ "a jump", known_cost_jump },
	{ "an indirect jump", known_cost_indirect },
	{ "a branch not taken", known_cost_untaken },
	{ "a call and its return", known_cost_call },
};

const struct verify_ends verify_ends = {
	.skip = ONE(sequence, 1),
	.call = { known_sequence_2, known_sequence_3, 1 },
	.ret = { known_sequence_3, known_sequence_1t, 1 },
	.again = { known_sequence_4, known_sequence_top, 1 },
};

#else /* the module refuses other processors, so nobody gets here */

const char verify_code_begin[1], verify_code_end[1];
const struct verify_code verify_codes[] = { { .name = NULL } };
const struct verify_code verify_sequence, verify_wait_code, verify_step_code;
const struct verify_ends verify_ends;
const struct verify_cost verify_costs[VERIFY_NR_COSTS];

void verify_handler_next(int number)
{
	(void)number;
}

void verify_handler_skip(int number)
{
	(void)number;
}

#define SEED 0
#define TAPS 0

#endif

size_t verify_sequence_branches(struct verify_branch *ret)
{
	uint32_t value = SEED;
	size_t nr = 0;

	for (unsigned int left = VERIFY_ROUNDS; left; left--) {
		bool skips = !(value & 1);

		value >>= 1;
		if (skips) {
			ret[nr++] = verify_ends.skip;
		} else {
			value ^= TAPS;
			ret[nr++] = verify_ends.call;
			ret[nr++] = verify_ends.ret;
		}
		if (left > 1)
			ret[nr++] = verify_ends.again;
	}
	ret[nr] = (struct verify_branch){ NULL, NULL, 0 };
	return nr;
}
