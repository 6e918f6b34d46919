// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/kernel_code.h"

#include <string.h>

/* Where modules can be, and code that is made at run time (Documentation/arch/x86, mm.rst). */
#define MODULES_KVA	0xffffffffa0000000ULL

/** struct known - a function; @is_prefix: all whose names begin so */
struct known {
	const char *name;
	bool is_prefix;
	enum kernel_code code;
};

/* By kernels from 5.10 on, as far as names differ. */
static const struct known table[] = {
	/* arch/x86/kernel/ftrace_64.S: the function graph tracer. */
	{ "return_to_handler", false, KERNEL_CODE_HOOK },
	/* arch/x86/kernel/rethook.c, since v5.18; kretprobes had their own before. */
	{ "arch_rethook_trampoline", false, KERNEL_CODE_HOOK },
	{ "__kretprobe_trampoline", false, KERNEL_CODE_HOOK },
	{ "kretprobe_trampoline", false, KERNEL_CODE_HOOK },
	/* arch/x86/entry/entry_64.S; _asm since v6.5. */
	{ "ret_from_fork", false, KERNEL_CODE_FORK },
	{ "ret_from_fork_asm", false, KERNEL_CODE_FORK },
	{ "__switch_to_asm", false, KERNEL_CODE_SWITCH },
	/* arch/x86/kernel/ftrace_64.S has global labels within these two. */
	{ "ftrace_caller", true, KERNEL_CODE_TRAMPOLINE },
	{ "ftrace_regs_call", true, KERNEL_CODE_TRAMPOLINE },
	{ "ftrace_call", false, KERNEL_CODE_TRAMPOLINE },
	{ "ftrace_graph_call", false, KERNEL_CODE_TRAMPOLINE },
	{ "ftrace_epilogue", false, KERNEL_CODE_TRAMPOLINE },
	/* kernel/trace/ftrace.c: copies of them for each user. */
	{ "ftrace_trampoline", false, KERNEL_CODE_TRAMPOLINE },
	/* kernel/bpf/trampoline.c: what direct calls lead to. */
	{ "bpf_trampoline_", true, KERNEL_CODE_DIRECT },
};

static bool matches(const struct known *known, const struct symbol_name *name)
{
	size_t nr_bytes = strlen(known->name);

	return (known->is_prefix ? name->name_bytes >= nr_bytes : name->name_bytes == nr_bytes) &&
	       !memcmp(name->name, known->name, nr_bytes);
}

enum kernel_code kernel_code_by_name(const struct symbol_name *name)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (matches(&table[i], name))
			return table[i].code;
	return KERNEL_CODE_PLAIN;
}

enum kernel_code kernel_code_unnamed(uint64_t va)
{
	return va >= MODULES_KVA ? KERNEL_CODE_TRAMPOLINE : KERNEL_CODE_PLAIN;
}
