/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols of code that the kernel makes while it runs: BPF programs and what leads to
 * them, trampolines of ftrace, instructions that kprobes has displaced.  Names are those
 * of /proc/kallsyms.  Pure: kernel memory in, symbols out.
 */
#ifndef BTSREC_GENSYMS_H
#define BTSREC_GENSYMS_H

#include "kernel/kread.h"
#include "kernel/types.h"

/** struct gensyms_source - where the kernel's lists begin; an address 0: not known */
struct gensyms_source {
	const struct kread *kread;
	const struct types *types;
	uint64_t bpf_kallsyms_kva;
	uint64_t ftrace_ops_trampoline_list_kva;
	uint64_t kprobe_insn_slots_kva;
	uint64_t kprobe_optinsn_slots_kva;
};

/**
 * struct gensym - one piece of code
 * @end: after its last byte.
 * @name: escaped; owned.
 * @module: what kallsyms prints in brackets; static.
 */
struct gensym {
	uint64_t start;
	uint64_t end;
	char *name;
	const char *module;
};

/** struct gensyms - @nr of them by address; owned */
struct gensyms {
	struct gensym *list;
	size_t nr;
	size_t nr_room;
};

/* A machine has tens; what a broken list brings is bounded by this, each list alone. */
#define GENSYMS_MAX 16384u

/**
 * gensyms_read() - read the lists as far as they are in the dump
 * @ret: for gensyms_fini().
 *
 * Classic BPF filters are on no list and have no names in the kernel, either.
 *
 * Sources, v6.1 to v7.2: bpf_ksym_add() in kernel/bpf/core.c, ftrace_add_trampoline_to_kallsyms()
 * in kernel/trace/ftrace.c, kprobe_cache_get_kallsym() and collect_one_slot() in
 * kernel/kprobes.c.
 */
void gensyms_read(const struct gensyms_source *source, struct gensyms *ret);

/** gensyms_find() - the one that holds @va, or NULL */
const struct gensym *gensyms_find(const struct gensyms *syms, uint64_t va);

/** gensyms_fini() - free what was allocated */
void gensyms_fini(struct gensyms *syms);

#endif /* BTSREC_GENSYMS_H */
