/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The output side: what all formats share, and one table of functions per format.
 * Nothing here decodes; names come from the symbol stage.
 */
#ifndef BTSREC_RENDER_H
#define BTSREC_RENDER_H

#include "render/branch_lines.h"
#include "symbols/symbol.h"

struct fault;
struct loop;
struct session_ring;
struct level_filter_block;
struct interval;
struct trace_types;

/** out_thread() - PID/TGID "comm"; @comm has BTSREC_COMM_BYTES */
void out_thread(struct out *out, uint32_t pid, uint32_t tgid, const char *comm);

/* --- Formats ------------------------------------------------------------ */

/**
 * struct renderer - one run of one view
 * @rec: borrowed; asked for names only.  With a source of these (symbols_present()) lines have a
 *	names part.
 * @side: the thread at the event being printed; NULL: unknown.
 * @nr_user: user addresses printed of this CPU, or of the thread that is followed, by why they
 *	have no symbol.
 * @types: of the CPU being printed, so branches have a kind; NULL: they have none.
 * @has_types: there will be @types.
 * @lines: with source lines.
 */
struct renderer {
	struct btsrec *rec;
	bool has_types;
	bool lines;
	struct trace_types *types;
	const struct btsrec_side *side;
	uint64_t nr_user[SYMBOL_NR_WHYS];
	struct out out;
};

/**
 * struct render_format - how one format prints a history
 * @begin: once, before everything; may be NULL.
 * @cpu: starts the part of one CPU; may be NULL.
 * @event: one event; of a branch its line.
 * @branch_label: the end of the line of a branch, the same for all branches with the same
 *	ends in the same address space.
 * @branches: lines of branches with their labels.
 * @fault: the fault, in front of the branch of event number @n; for a fault that is
 *	not known, of the freeze.
 * @cpu_end: ends the part of one CPU; may be NULL.
 * @thread_end: ends the thread that is followed, in place of that; may be NULL.
 * @block: what the other level did, in one line.
 * @loop: branches of @cpu that went round.
 * @interval: begins an interval of the thread that is followed; @before: the one before it.
 * @filtered: ends the part of one CPU; @nr_wanted of its @nr_events events were wanted; may be
 *	NULL.
 * @end: once, after everything; may be NULL.
 */
struct render_format {
	void (*begin)(struct renderer *r);
	void (*cpu)(struct renderer *r, const struct btsrec_cpu *cpu,
		    const struct session_ring *ring);
	void (*event)(struct renderer *r, const struct btsrec_event *event);
	void (*branch_label)(struct renderer *r, const struct btsrec_event *event);
	branch_lines_fn branches;
	void (*fault)(struct renderer *r, unsigned int cpu, uint64_t n,
		      const struct fault *fault);
	void (*cpu_end)(struct renderer *r, unsigned int cpu);
	void (*thread_end)(struct renderer *r, uint32_t pid);
	void (*block)(struct renderer *r, const struct level_filter_block *block);
	void (*loop)(struct renderer *r, unsigned int cpu, const struct loop *loop);
	void (*interval)(struct renderer *r, const struct interval *before,
			 const struct interval *interval);
	void (*filtered)(struct renderer *r, unsigned int cpu, uint64_t nr_wanted,
			 uint64_t nr_events);
	void (*end)(struct renderer *r);
};

extern const struct render_format render_text;
extern const struct render_format render_jsonl;
extern const struct render_format render_tsv;

/** render_format_of() - the table for @format; NULL: no such format */
const struct render_format *render_format_of(enum btsrec_format format);

/** render_cpu_state() - "frozen (panic)", "armed", "stopped (disarm)", "never armed" */
void render_cpu_state(struct out *out, const struct btsrec_cpu *cpu);

/**
 * render_details() - what an event other than a branch says, after its time
 *
 * One wording for the text format and for the last column of TSV.
 */
void render_details(struct renderer *r, const struct btsrec_event *event);

/** render_fault() - what a fault is; the wording that text and TSV share */
void render_fault(struct renderer *r, const struct fault *fault);

/** render_find() - symbol_find_in() for the event being printed; counts user addresses */
bool render_find(struct renderer *r, uint64_t va, struct symbol_name *ret,
		 enum symbol_why *ret_why);

/**
 * render_find_return() - render_find() of the return address @va: of the call before it
 *
 * A call that never returns may be the last instruction of its function.  The offset is
 * that of @va all the same, and then the size of the function.
 */
bool render_find_return(struct renderer *r, uint64_t va, struct symbol_name *ret,
			enum symbol_why *ret_why);

/** out_no_name() - "-", or in parentheses why a user address has no name */
void out_no_name(struct out *out, enum symbol_why why);

/**
 * out_user_summary(), out_user_summary_thread() - how many user addresses of a CPU, or of
 * the thread that is followed, had no symbol and why; a comment line
 */
void out_user_summary(struct renderer *r, unsigned int cpu);
void out_user_summary_thread(struct renderer *r, uint32_t pid);

/** render_block_str() - the kind of a block as the word that every format prints; static */
const char *render_block_str(const struct level_filter_block *block);

/** render_block() - what a block says after its addresses, in text and in TSV */
void render_block(struct renderer *r, const struct level_filter_block *block);

/** tsv_only_details() - the columns of a line of @kind between its number and its details */
void tsv_only_details(struct renderer *r, const char *kind);

/** interval_text(), interval_json(), interval_tsv() - see @interval of struct render_format */
void interval_text(struct renderer *r, const struct interval *before,
		   const struct interval *interval);
void interval_json(struct renderer *r, const struct interval *before,
		   const struct interval *interval);
void interval_tsv(struct renderer *r, const struct interval *before,
		  const struct interval *interval);

/** loop_text(), loop_json(), loop_tsv() - see @loop of struct render_format */
void loop_text(struct renderer *r, unsigned int cpu, const struct loop *loop);
void loop_json(struct renderer *r, unsigned int cpu, const struct loop *loop);
void loop_tsv(struct renderer *r, unsigned int cpu, const struct loop *loop);

/** out_name_of() - after blanks the name of @va, or why none; nothing if there are no names */
void out_name_of(struct out *out, struct renderer *r, uint64_t va);

/** out_offset() - +0x12; negative ones, as two's complement, are -0x12 */
void out_offset(struct out *out, uint64_t offset_bytes);

/** out_name() - name+0x12, name+0x12 [module] or [module]+0x1234 */
void out_name(struct out *out, const struct symbol_name *name);

#endif /* BTSREC_RENDER_H */
