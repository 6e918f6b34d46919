/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code by which the kernel itself changes where code goes on: the one table of it.
 *
 * A return address is replaced by the function graph tracer, kretprobes and rethooks.  An
 * instruction pointer is replaced by handlers of ftrace: live patches, kprobes on ftrace,
 * injected errors, direct calls.
 */
#ifndef BTSREC_KERNEL_CODE_H
#define BTSREC_KERNEL_CODE_H

#include "symbols/symbol.h"

/** enum kernel_code - what code does to the way that code takes */
enum kernel_code {
	KERNEL_CODE_PLAIN,
	KERNEL_CODE_HOOK,	/* stands in for a return address */
	KERNEL_CODE_FORK,	/* a new thread begins here */
	KERNEL_CODE_SWITCH,	/* all its branches follow the change of RSP */
	KERNEL_CODE_TRAMPOLINE,	/* may return to another function, on behalf of its caller */
	KERNEL_CODE_DIRECT,	/* a trampoline may return to it, on behalf of itself */
};

/** kernel_code_by_name() - what the function called @name is */
enum kernel_code kernel_code_by_name(const struct symbol_name *name);

/**
 * kernel_code_unnamed() - what @va is that symbols have no name for
 *
 * Beyond the kernel's image, where modules are, there is what the kernel has made.
 */
enum kernel_code kernel_code_unnamed(uint64_t va);

#endif /* BTSREC_KERNEL_CODE_H */
