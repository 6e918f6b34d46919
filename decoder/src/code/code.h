/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions as they are in the dump: bytes through the page tables, decoded,
 * and straight runs of them, which are cached because a history repeats itself.
 *
 * Nothing that is read here is trusted: a run is at most CODE_RUN_MAX_BYTES long,
 * and every cache has a fixed bound.
 */
#ifndef BTSREC_CODE_H
#define BTSREC_CODE_H

#include "kernel/idt.h"
#include "kernel/walk.h"

/*
 * The longest code without a branch that was found is 92,969 bytes of unrolled assembly in x265 3.5
 * (Debian 12).  In the kernel it is 26,325 bytes in cast6-avx-x86_64.ko;
 * docs/develop/architecture.md has more.
 */
#define CODE_RUN_MAX_BYTES	(128U << 10)

#define CODE_INSN_MAX_BYTES	15	/* SDM vol. 2A, "Instruction Format" */

/** code_is_kernel() - whether a canonical address is in the kernel's half. */
static inline bool code_is_kernel(uint64_t va)
{
	return va >> 63;
}

/**
 * code_is_top() - is @va in the highest 2 GiB, where the kernel's image and modules are?
 *
 * All that compilers have made of the kernel (__START_KERNEL_map in its
 * Documentation/arch/x86/x86_64/mm.rst); two addresses are there if their AND is.
 */
static inline bool code_is_top(uint64_t va)
{
	return va >= 0xffffffff80000000ULL;
}

/** enum code_class - what an instruction does to the flow of control */
enum code_class {
	CODE_PLAIN,
	CODE_WRMSR,		/* as plain, but BTS may be switched by it */
	CODE_VMENTRY,		/* VMLAUNCH, VMRESUME: as plain if they fail */
	CODE_COND,
	CODE_JUMP,
	CODE_JUMP_IND,
	CODE_CALL,
	CODE_CALL_IND,
	CODE_RET,
	CODE_SYSCALL,
	CODE_SYSRET,
	CODE_IRET,
	CODE_ERET,		/* ERETU, ERETS: behind an error code, and CS has more bits */
	CODE_INT,		/* INT n, INT3, INT1, INTO */
	CODE_TRAP,		/* UD0, UD1, UD2 */
	CODE_UNREADABLE,	/* there is no instruction to look at */
};

/** enum code_thunk - code that stands for an indirect jump or a return */
enum code_thunk {
	CODE_NO_THUNK,
	CODE_THUNK_INDIRECT,
	CODE_THUNK_RETURN,
};

/**
 * struct code_insn - one instruction
 * @target: where it leads, if @has_target.
 * @vector: of CODE_INT, by which it enters the kernel.
 * @here, @there: the thunks that the instruction and its target are in.
 */
struct code_insn {
	uint64_t target;
	enum code_class class : 8;
	uint8_t length_bytes;
	bool has_target;
	uint8_t vector;
	enum code_thunk here : 8;
	enum code_thunk there : 8;
};

/** enum code_fault - why a run is not one; btsrec-insns(1) has them in this order */
enum code_fault {
	CODE_OK,
	/* not known: */
	CODE_NO_SPACE,		/* the address space is unknown or gone */
	CODE_NOT_MAPPED,
	CODE_NO_TABLE,
	CODE_NOT_IN_DUMP,
	CODE_NO_RECORDER,	/* around an annotation: the recorder's code is not known */
	CODE_NO_SITES,		/* a jump may have been a NOP: the tables that say so are missing */
	CODE_GUEST,		/* a guest ran; the processor stops BTS at its end */
	/* cannot be: */
	CODE_NO_INSN,		/* the bytes are no instruction */
	CODE_LEAVES,		/* an instruction before the end does not go on to the next */
	CODE_INSIDE,		/* the end is inside an instruction */
	CODE_BACKWARD,
	CODE_TOO_LONG,
	CODE_NO_BRANCH,		/* no branch at the end, nor does an interrupt lead there */
	CODE_OTHER_TARGET,	/* the branch leads elsewhere */
	CODE_NO_PAUSE,		/* around an annotation: no way to or from the recorder */
};

/** code_fault_str() - the fault as a phrase; static. */
const char *code_fault_str(enum code_fault fault);

/** code_fault_unknown() - the dump lacks what would show it; not a contradiction. */
static inline bool code_fault_unknown(enum code_fault fault)
{
	return fault >= CODE_NO_SPACE && fault <= CODE_GUEST;
}

/**
 * enum code_mode - in which mode the processor runs user code; SDM vol. 3A, "IA-32e Mode"
 *
 * The kernel's code is always 64-bit code, and so is what is above 4 GiB.
 */
enum code_mode {
	CODE_MODE_UNKNOWN,	/* whatever its bytes make sense as, 64-bit code first */
	CODE_MODE_64,
	CODE_MODE_32,		/* compatibility mode */
};

/**
 * struct code_run - from @start straight to the instruction at @end
 * @fault: CODE_OK or why not; @fault_va: where.
 * @compat: 32-bit code.
 * @guessed: only the bytes say which of both.
 * @nr_insns: instructions before @end.
 * @last: at @end; CODE_UNREADABLE does not make a fault.
 * @place: of its brief.
 */
struct code_run {
	uint64_t cr3;
	uint64_t start;
	uint64_t end;
	uint64_t fault_va;
	struct code_insn last;
	uint32_t nr_insns;
	uint32_t place;
	enum code_fault fault : 8;
	bool compat;
	bool guessed;
};

/**
 * struct code_brief - of a run what is asked for each branch that ends it
 * @start, @distance_bytes, @target: the lowest bits of the run's start, of how far its end is
 *	from there, and of the target of its last instruction; 0: that has none.
 * @nr_insns, @length_bytes: of the run and of its last instruction, where it is @judged.
 * @number: of the run, from 1; 0: the place is free; see CODE_NOT_KEPT.
 * @judged: what the proof has found of a branch there; 0: nothing, or a brief does not have all of
 *	the run.
 * @note: what was found out about the way to the target; 0: nothing.
 *
 * Small, because a history has 100,000s of them in any order.  More pages than the processor has
 * TLB entries for cost a walk through page tables each time.
 */
struct code_brief {
	uint32_t start;
	uint16_t distance_bytes;
	uint16_t nr_insns;
	uint32_t target;
	uint32_t number : 20;
	uint32_t judged : 4;
	uint32_t note : 4;
	uint32_t length_bytes : 4;
};

/*
 * The number of a run that was judged, with the class of the last instruction in its lowest bits.
 * That is all that its brief would not have, so it is made anew for a caller that asks.
 */
#define CODE_NOT_KEPT	0xffff0U

/** enum code_text - what may have become of the kernel's code at an address since it ran */
enum code_text {
	CODE_TEXT_STAYS,
	CODE_TEXT_SITE,		/* a static key or a static call is switched there */
	CODE_TEXT_MAYBE,	/* maybe, if there is a direct jump: the dump lacks the tables */
	CODE_TEXT_ANEW,		/* all of it may be other code */
};

/**
 * struct code_source - where code comes from
 * @image: borrowed.
 * @kernel_pgd_pa: page table for kernel addresses; 0: that of the address space.
 * @fred_config: of struct btsrec_root.
 * @file: what is mapped at the user address @va, from a file, for pages that the dump lacks;
 *	returns how many leading bytes of @buf are valid; NULL: there are no files.
 * @made: was the code at the user address @va made by the program, and may be made anew at any
 *	time? NULL: not known of any.
 * @mode: of the code at the user address @va; NULL: not known of any.
 * @text: of the kernel address @va; NULL: all of it stays, as far as is known.
 * @max_runs: so many are remembered, a power of two; 0: as many as are worth it.
 */
struct code_source {
	const struct btsrec_image *image;
	uint64_t kernel_pgd_pa;
	uint64_t fred_config;
	bool la57;
	size_t (*file)(void *arg, uint64_t cr3, uint64_t va, void *buf, size_t len_bytes);
	bool (*made)(void *arg, uint64_t cr3, uint64_t va);
	enum code_mode (*mode)(void *arg, uint64_t cr3, uint64_t va);
	enum code_text (*text)(void *arg, uint64_t va);
	size_t max_runs;
	void *arg;
};

/* So many places at most, three quarters of them used: 16 bytes, and 64 of a run kept. */
#define CODE_MAX_RUNS	(1U << 19)

struct code;

/** code_new() - NULL: out of memory; free with code_free(). */
struct code *code_new(const struct code_source *source);
void code_free(struct code *code);

/** code_from_files() - how many pages of code came from files instead of the dump */
uint64_t code_from_files(const struct code *code);

/** code_nr_decoded() - how many instructions were decoded to follow runs, which takes the time */
uint64_t code_nr_decoded(const struct code *code);

/** code_is_made() - may the program have changed its own code at the user address @va? */
bool code_is_made(const struct code *code, uint64_t cr3, uint64_t va);

/** code_text_at() - what may have become of the code at the kernel address @va */
enum code_text code_text_at(const struct code *code, uint64_t va);

/** code_idt() - the interrupt entries of the dump's kernel. */
const struct idt *code_idt(const struct code *code);

/**
 * code_run() - is there a straight run from @start to @end?
 * @cr3: the address space for user addresses; 0: unknown.
 *
 * Return: the answer, valid until the next call.
 */
const struct code_run *code_run(struct code *code, uint64_t cr3, uint64_t start, uint64_t end);

/**
 * struct code_runs - briefs of the runs that were asked for, each in the first free place from
 *	that of its hash on
 * @nr: of places, some of them free; a power of two, 2^(64 - @shift).
 * @one_kernel: it is the same in all address spaces; its runs have no CR3.
 */
struct code_runs {
	struct code_brief *places;
	size_t nr;
	unsigned int shift;
	bool one_kernel;
};

/** code_runs() - for the following; stays, but what is in it only until code_run() */
const struct code_runs *code_runs(const struct code *code);

/**
 * code_place() - the place of the hash of a run, for a caller that asks code_known() soon, too
 *
 * Fibonacci hashing: the multiplier is 2^64 divided by the golden ratio, and its highest bits
 * spread ends that lie evenly.  Several runs to one end differ in their length.
 */
static inline size_t code_place(const struct code_runs *runs, uint64_t cr3, uint64_t start,
				uint64_t end)
{
	uint64_t key = (end + ((end - start) << 40)) ^ cr3 << 8;

	return (key * 0x9e3779b97f4a7c15ULL) >> runs->shift;
}

/**
 * code_known() - the brief of a run that was asked before
 * @runs: with @one_kernel.
 * @start, @end: code_is_top() of both.
 *
 * Return: if it was judged, it is of this run; NULL: ask code_run().
 */
static inline const struct code_brief *code_known(const struct code_runs *runs, uint64_t start,
						  uint64_t end)
{
	size_t i = code_place(runs, 0, start, end);

	/* Not 0, so no free place is like that. */
	while (runs->places[i].start != (uint32_t)start ||
	       runs->places[i].distance_bytes != end - start) {
		if (!runs->places[i].number)
			return NULL;
		i = (i + 1) & (runs->nr - 1);
	}
	return &runs->places[i];
}

/** code_fetch() - have the cache fetch kernel code at @va, which code_run() soon asks for */
void code_fetch(const struct code *code, uint64_t va);

/**
 * code_judged() - the proof has found @judged of a branch that ends @run as its brief says
 * @run: the last answer of code_run(), which it stays; CODE_OK, and not @last in a thunk nor
 *	its target.
 * @judged: not 0, and below 16.
 */
void code_judged(struct code *code, const struct code_run *run, uint8_t judged);

/**
 * code_last() - the last of the instructions from @start on, one after the other in 64-bit code,
 *	that begin before @end; @start: there is none
 */
uint64_t code_last(struct code *code, uint64_t cr3, uint64_t start, uint64_t end);

/**
 * code_insn() - the instruction at @va
 *
 * Return: CODE_OK, or the fault with @ret->class CODE_UNREADABLE.
 */
enum code_fault code_insn(struct code *code, uint64_t cr3, uint64_t va, bool compat,
			  struct code_insn *ret);

/** code_pa() - where the kernel's page with @va is; false: not mapped, or not in the dump */
bool code_pa(struct code *code, uint64_t va, uint64_t *ret_pa);

/**
 * code_bytes() - copy code
 * @ret_bytes: how many leading bytes of @buf are valid; set in every case.
 *
 * Return: CODE_OK if all are; else why the rest is not.
 */
enum code_fault code_bytes(struct code *code, uint64_t cr3, uint64_t va, uint8_t *buf,
			   size_t len_bytes, size_t *ret_bytes);

/**
 * code_is_none() - can the kernel not execute anything at @va?
 *
 * Return: true: by the page tables of the kernel it is no code, or it is the user's; false: it may.
 */
bool code_is_none(struct code *code, uint64_t va);

/** code_access() - what the kernel may do with the byte at @va; of the user's half not known */
enum walk_access code_access(struct code *code, uint64_t va);

/**
 * code_text() - the instruction at @va in AT&T syntax
 * @bytes, @ret_bytes: its bytes, CODE_INSN_MAX_BYTES of room.
 *
 * Return: its length; 0 if there is none.
 */
size_t code_text(struct code *code, uint64_t cr3, uint64_t va, bool compat, uint8_t *bytes,
		 char *text, size_t text_bytes);

#endif /* BTSREC_CODE_H */
