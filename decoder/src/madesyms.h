/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols of code that the kernel makes while it runs: BPF programs and what leads to
 * them, trampolines of ftrace, instructions that kprobes has displaced.  Names are those
 * of /proc/kallsyms.  Pure: kernel memory in, symbols out.
 */
#ifndef BTSREC_MADESYMS_H
#define BTSREC_MADESYMS_H

#include "kread.h"
#include "types.h"

/** struct madesyms_source - where the kernel's lists begin; an address 0: not known */
struct madesyms_source {
	const struct kread *kread;
	const struct types *types;
	uint64_t bpf_kallsyms_kva;
	uint64_t ftrace_ops_trampoline_list_kva;
	uint64_t kprobe_insn_slots_kva;
	uint64_t kprobe_optinsn_slots_kva;
};

/**
 * struct madesym - one piece of code
 * @end: behind its last byte.
 * @name: escaped; owned.
 * @module: what kallsyms prints in brackets; static.
 */
struct madesym {
	uint64_t start;
	uint64_t end;
	char *name;
	const char *module;
};

/** struct madesyms - @nr of them by address; owned */
struct madesyms {
	struct madesym *list;
	size_t nr;
	size_t nr_room;
};

/* A machine has tens; what a broken list brings is bounded by this, each list alone. */
#define MADESYMS_MAX	16384u

/**
 * madesyms_read() - read the lists as far as they are in the dump
 * @ret: for madesyms_fini().
 *
 * Classic BPF filters are on no list and have no names in the kernel, either.
 *
 * Sources, v6.1 to v7.2: bpf_ksym_add() in kernel/bpf/core.c, ftrace_add_trampoline_to_kallsyms()
 * in kernel/trace/ftrace.c, kprobe_cache_get_kallsym() and collect_one_slot() in
 * kernel/kprobes.c.
 */
void madesyms_read(const struct madesyms_source *source, struct madesyms *ret);

/** madesyms_find() - the one that holds @va, or NULL */
const struct madesym *madesyms_find(const struct madesyms *syms, uint64_t va);

/** madesyms_fini() - free what was allocated */
void madesyms_fini(struct madesyms *syms);

#endif /* BTSREC_MADESYMS_H */
