/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a value came from: what its formats share. */
#ifndef BTSREC_VIEW_WHY_H
#define BTSREC_VIEW_WHY_H

#include <btsrec/values.h>

#include "flow/origin.h"
#include "flow/trace_values.h"
#include "render/render.h"

/* Of other CPUs. */
#define WHY_MAX_CANDIDATES	4
#define WHY_INSN_BYTES		128
/* Of what is asked for, if nothing says how long it is. */
#define WHY_WORD_BYTES		8

struct symbol_name;

/**
 * struct why_place - where one line is
 * @n: the event; @ip: the instruction; @insn: its text, "" if it is not known.
 * @side: NULL: the thread is not known.
 */
struct why_place {
	unsigned int cpu;
	uint64_t n;
	uint64_t ip;
	char insn[WHY_INSN_BYTES];
	const struct btsrec_side *side;
};

/**
 * struct why_candidate - a store of another CPU to the memory that was loaded
 * @side: the thread, if @has_side.
 */
struct why_candidate {
	struct why_place place;
	struct origin_hop hop;
	bool has_side;
	struct btsrec_side side;
};

/**
 * struct why - one btsrec_why() under way
 * @fn, @arg: what receives values in place of text; NULL: none.
 * @cpu, @values, @fault: that are asked.
 * @lacks: why there is no question to answer; NULL: there is one.
 * @memory_word: what the memory has that is asked for; NULL: a register is.
 * @asked_ip, @asked_n: where the question is.
 * @candidates: @nr_candidates of them.
 * @max_bytes: as of trace_values_newest(); 0: any number.
 */
struct why {
	struct renderer renderer;
	const struct btsrec_why *opts;
	btsrec_origin_fn fn;
	void *arg;
	unsigned int cpu;
	struct fault fault;
	struct trace_values values;
	struct origin_question question;
	const char *lacks;
	const char *memory_word;
	uint64_t asked_ip;
	uint64_t asked_n;
	struct origin origin;
	struct why_candidate candidates[WHY_MAX_CANDIDATES];
	size_t nr_candidates;
	uint64_t max_bytes;
};

/**
 * why_ask() - @why->question, of @why->opts or of the fault of @why->values
 * @why: @lacks is set where there is no value to ask for.
 *
 * Returns BTSREC_OK or BTSREC_ERR_INVAL, with a message, if what was asked for does not exist.
 */
enum btsrec_status why_ask(struct why *why);

/** why_place() - where @hop of @values, which are of @cpu, is */
void why_place(const struct why *why, const struct trace_values *values, unsigned int cpu,
	       const struct origin_hop *hop, struct why_place *ret);

/** why_hop_str(), why_class_str(), why_end_str() - words of both formats; static */
const char *why_hop_str(enum origin_kind kind);
const char *why_class_str(enum origin_class class);
const char *why_end_str(const struct origin_hop *hop);

/** why_oldest() - the last hop whose value is known; NULL: there is none */
const struct origin_hop *why_oldest(const struct origin *origin);

/** why_is_kept() - is it a register that a function keeps for its caller, on the stack? */
bool why_is_kept(const struct origin_hop *hop);

/**
 * why_newest() - what @opts asks of @cpu, by its newest events alone
 * @why: zero-filled, for why_fini() in every case; @why->lacks or @why->origin is the answer.
 * @opts: borrowed, up to why_fini().
 * @max_bytes: as of trace_values_newest().
 *
 * Other CPUs are not asked.
 */
enum btsrec_status why_newest(struct why *why, struct btsrec *rec, unsigned int cpu,
			      const struct btsrec_why *opts, uint64_t max_bytes);
void why_fini(struct why *why);

/** why_lack_str() - why there is no step at all */
static inline const char *why_lack_str(const struct why *why)
{
	return why->lacks ? why->lacks : "nothing ran before";
}

/** why_json_step() - members of a step at @place, up to its end, in an object of @kind */
void why_json_step(struct renderer *r, const struct why_place *place, const char *kind,
		   const struct origin_hop *hop, bool is_last);

/**
 * why_value() - a step at @place as a value
 * @name: for its function; as long as the value is used.
 */
struct btsrec_origin why_value(struct renderer *r, const struct why_place *place,
			       const struct origin_hop *hop, bool is_last,
			       struct symbol_name *name);

void why_text(struct why *why);
void why_json(struct why *why);

/** why_values() - for why->fn; renderer.out is stopped when that returns false */
void why_values(struct why *why);

#endif /* BTSREC_VIEW_WHY_H */
