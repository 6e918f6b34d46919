/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code by which the kernel itself changes where code goes on: the one table of it.
 *
 * It is known by its bytes and by how it is entered, never by a name.  So a dump without names has
 * the same calls.  Sources, Linux 5.10 to 7.3, are beside each pattern in kernel_code.c.
 *
 * - Thunks stand for an indirect branch or a return: retpolines, the jumps of ITS, the return
 *   thunk, the one that counts the depth of calls, and those against SRSO.
 * - A hook stands in for a return address: the function graph tracer, kretprobes, rethooks.
 * - A trampoline of ftrace may return to another function on behalf of its caller: live patches,
 *   kprobes on ftrace, injected errors, direct calls.
 * - __switch_to_asm() changes stacks, and a new thread begins where __switch_to() then returns.
 * - Static keys, static calls and ftrace write branches over NOPs, and NOPs over branches.
 */
#ifndef BTSREC_KERNEL_CODE_H
#define BTSREC_KERNEL_CODE_H

#include "code/code.h"
#include "recorder/locate.h"

/** enum kernel_code - what the code that begins at an address does to the way that code takes */
enum kernel_code {
	KERNEL_CODE_PLAIN,
	KERNEL_CODE_HOOK,	/* stands in for a return address */
	KERNEL_CODE_FORK,	/* looks like the first code of a new thread */
	KERNEL_CODE_TRAMPOLINE,	/* may return to another function, on behalf of its caller */
};

/** kernel_code_at() - what begins at the kernel address @va; PLAIN if it is not in the dump */
enum kernel_code kernel_code_at(struct code *code, uint64_t va);

#define KERNEL_CODE_ENDBR_BYTES	4

/**
 * kernel_code_endbr() - the ENDBR64 that @bytes begin with
 *
 * Or the NOP by which the kernel has sealed one that no indirect call needs: gen_endbr_poison() of
 * asm/ibt.h, since v5.18 "osp nopl (%rax)", later "nopl -42(%rax)".  Compilers make neither.
 *
 * Return: KERNEL_CODE_ENDBR_BYTES; 0: there is none.
 */
size_t kernel_code_endbr(const uint8_t *bytes, size_t nr_bytes);

/**
 * kernel_code_entry() - do the bytes at @va look like the beginning of a function?
 *
 * kernel_code_endbr(), or what ftrace has at the entry of all functions that can be traced.  Others
 * look like nothing.
 */
bool kernel_code_entry(struct code *code, uint64_t va);

/**
 * struct kernel_switch - the code between a change of stacks and the jump to __switch_to()
 * @begin_kva, @end_kva: both 0: not known.
 */
struct kernel_switch {
	uint64_t begin_kva;
	uint64_t end_kva;
};

/** kernel_code_switched() - does the branch at @va follow a change of stacks? @ret: if so, where */
bool kernel_code_switched(struct code *code, uint64_t va, struct kernel_switch *ret);

/** kernel_code_thunk() - the thunk that the kernel address @va is in */
enum code_thunk kernel_code_thunk(struct code *code, uint64_t cr3, uint64_t va);

/**
 * kernel_code_patched() - is what the code does not have explained by a change since it ran?
 * @cr3: the address space for user addresses; 0: unknown.
 * @start, @branch: the way from @start to @branch.
 * @fault, @fault_va: why the code does not have it, and where.
 *
 * The dump has the kernel's text as it was at the end.  Tracepoints, static keys, static calls,
 * ftrace and kprobes were switched off or on meanwhile, and the recorder's own hooks were taken
 * out.
 *
 * Off: where a branch was there is a NOP now, or at a static call something else.  A direct call
 * from outside of all modules, that led into one, leads elsewhere.  A jump led to code that the
 * kernel had made.
 *
 * On: where a static key or a static call is now, there was no branch.  So it is with a call of a
 * trampoline, with a branch from the kernel's image out of it, and with INT3.
 *
 * Code of a module that is gone, or that the kernel or a program makes, may be other code now.
 * Code that was changed in another way is not known as that.
 */
bool kernel_code_patched(struct code *code, const struct located *located, uint64_t start,
			 const struct btsrec_record *branch, uint64_t cr3, enum code_fault fault,
			 uint64_t fault_va);

/** kernel_code_maybe_patched() - may the jump at @fault_va have been a NOP? */
bool kernel_code_maybe_patched(struct code *code, enum code_fault fault, uint64_t fault_va);

#endif /* BTSREC_KERNEL_CODE_H */
