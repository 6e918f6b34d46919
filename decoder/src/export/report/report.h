/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the HTML report share; nobody else includes this. */
#ifndef BTSREC_REPORT_H
#define BTSREC_REPORT_H

#include "tally/calltree.h"
#include "base/counter_map.h"
#include "flow/fault.h"
#include "kernel/idt.h"
#include "render/render.h"

#define REPORT_MAX_KINDS 255

/* A power of two; some thousands of addresses are most of what any kernel runs. */
#define REPORT_NR_RECENT BOUND(1U << 14, 1U << 4)

/**
 * struct report_recent - an address that was asked for not long ago
 * @number: + 1; 0: none was.
 */
struct report_recent {
	uint64_t va;
	uint64_t cr3;
	uint32_t number;
};

/* Behind one without a vector, which is -1. */
#define REPORT_NR_VECTORS (1 + IDT_NR)

/**
 * struct report - one report under way
 * @html: where it goes; @names: its addresses as JSON, collected in @text until the
 *	histories are written.
 * @addresses: by address and, of user addresses, the CR3 that names depend on; what is
 *	counted is the number + 1.  @recent: some of them, by what report_place() says.
 * @kinds: the words for kinds of branches, @nr_kinds of them.
 * @of_branches, @of_frames: the number + 1 of the word for such a branch or frame; 0: nobody
 *	has asked yet.
 * @max_events: the newest so many of each CPU; 0: all.
 * @nr_cpus: written so far.
 * @nomem: something was left out for lack of memory.
 * @too_many: of one CPU the calls are, and the message says so.
 */
struct report {
	struct renderer html;
	struct renderer names;
	char *text;
	size_t text_bytes;
	size_t text_room;
	struct counter_map addresses;
	struct report_recent recent[REPORT_NR_RECENT];
	char kinds[REPORT_MAX_KINDS][32];
	unsigned int nr_kinds;
	uint16_t of_branches[BRANCH_THUNK + 1][REPORT_NR_VECTORS];
	uint16_t of_frames[FRAME_DIVERT + 1][REPORT_NR_VECTORS];
	uint64_t max_events;
	unsigned int nr_cpus;
	bool nomem;
	bool too_many;
};

/** report_find_address() - report_address() of what is not at @recent, where it is noted */
uint32_t report_find_address(struct report *report, const struct btsrec_side *side, uint64_t va,
			     struct report_recent *recent);

static inline size_t report_place(uint64_t va, uint64_t cr3)
{
	return ((va ^ cr3) * 0x9e3779b97f4a7c15ULL >> 32) % REPORT_NR_RECENT;
}

/** report_address() - the number of @va as @side saw it; it is new if nobody asked before */
static inline uint32_t report_address(struct report *report, const struct btsrec_side *side,
				      uint64_t va)
{
	uint64_t cr3 = side && !code_is_kernel(va) ? side->cr3 : 0;
	struct report_recent *recent = &report->recent[report_place(va, cr3)];

	if (recent->va == va && recent->cr3 == cr3 && recent->number)
		return recent->number - 1;
	return report_find_address(report, side, va, recent);
}

/** report_word_branch(), report_word_frame() - of what has no number yet, but in *@number */
unsigned int report_word_branch(struct report *report, const struct branch *branch,
				uint16_t *number);
unsigned int report_word_frame(struct report *report, enum frame_kind kind, int vector,
			       uint16_t *number);

/** report_branch_kind() - the number of the word for @branch */
static inline unsigned int report_branch_kind(struct report *report, const struct branch *branch)
{
	uint16_t *number = &report->of_branches[branch->type][branch->vector + 1];

	return *number ? *number - 1U : report_word_branch(report, branch, number);
}

/** report_frame_kind() - the number of the word for what entered such a frame */
static inline unsigned int report_frame_kind(struct report *report, enum frame_kind kind,
					     int vector)
{
	uint16_t *number = &report->of_frames[kind][vector + 1];

	return *number ? *number - 1U : report_word_frame(report, kind, vector, number);
}

/** report_in_string() - for a sink, with a struct out: text as the inside of a JSON string */
bool report_in_string(void *arg, const char *text, size_t len_bytes);

/** report_path() - the locks, and the functions on the way to @fault, the first one */
enum btsrec_status report_path(struct report *report, const struct fault *fault);

/** report_cpu() - the history of @cpu as a JSON object */
enum btsrec_status report_cpu(struct report *report, unsigned int cpu);

#endif /* BTSREC_REPORT_H */
