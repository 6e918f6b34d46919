// SPDX-License-Identifier: GPL-2.0-or-later
/* The operand of a summary: where the value came from that made the fault, and its words. */
#include <inttypes.h>
#include <stdlib.h>

#include "kernel/poison.h"
#include "recorder/record.h"
#include "views/view_summary.h"
#include "views/view_summary_sentence.h"

/*
 * The page is to be there at once, so the newest events alone are looked at: of a ring of 1 MiB
 * that is a twentieth.
 */
#define MAX_EVENTS	2048
#define MAX_BYTES	(48U << 10)

/* Of five levels: what is not canonical there is so nowhere. */
#define VA_BITS_MAX	57

/* Where a hop of the way back is, with its function. */
static void add_hop(struct sentence *sentence, const struct why *why, const struct origin_hop *hop)
{
	struct why_place place;

	why_place(why, &why->values, why->cpu, hop, &place);
	sentence_add_place(sentence, place.ip);
}

/* The first hop from @i on of @kind that is no register that a function keeps; NULL: none. */
static const struct origin_hop *find_hop(const struct origin *origin, size_t i,
					 enum origin_kind kind)
{
	for (; i < origin->nr; i++)
		if (origin->hops[i].kind == kind && !why_is_kept(&origin->hops[i]))
			return &origin->hops[i];
	return NULL;
}

/* What wrote the memory that was loaded by hop @i. */
static const struct origin_hop *find_store(const struct origin *origin, size_t i)
{
	const struct origin_hop *stored = find_hop(origin, i, ORIGIN_STORED);
	const struct origin_hop *copied = find_hop(origin, i, ORIGIN_COPIED);

	return copied && (!stored || copied < stored) ? copied : stored;
}

static const struct origin_hop *last_load(const struct origin *origin)
{
	const struct origin_hop *found = NULL;

	for (size_t i = 0; i < origin->nr; i++)
		if (origin->hops[i].kind == ORIGIN_LOADED)
			found = &origin->hops[i];
	return found;
}

/* What the oldest value means that is known, if that @is_same as @value. */
static void add_meaning(struct sentence *sentence, const struct origin *origin, uint64_t value,
			bool is_same)
{
	const struct origin_hop *oldest = why_oldest(origin);
	char text[POISON_TEXT_BYTES];

	if (oldest && (oldest->value == value) == is_same && poison_text(oldest->value, text))
		sentence_add(sentence, " (%s)", text);
}

/* It may be in memory: a branch takes its target from there. */
static void add_operand(struct sentence *sentence, const struct why *why)
{
	const struct origin *origin = &why->origin;
	const struct origin_hop *asked = &origin->hops[0], *known = asked;

	if (asked->target.reg == SEM_NO_REG && asked->value_class == ORIGIN_UNKNOWN &&
	    origin->nr > 1)
		known++;
	sentence_add(sentence, "%s",
		     asked->target.reg == SEM_NO_REG ? why->memory_word :
						       sem_reg_name(asked->target.reg));
	if (known->value_class != ORIGIN_UNKNOWN)
		sentence_add(sentence, "%s0x%" PRIx64,
			     known->value_class == ORIGIN_LIKELY ? "~" : "=",
			     known->value);
	add_meaning(sentence, origin, known->value, true);
}

static void add_load(struct sentence *sentence, const struct why *why,
		     const struct origin_hop *loaded)
{
	if (loaded->has_address) {
		sentence_add(sentence, ", loaded from ");
		sentence_add_place(sentence, loaded->address);
	} else {
		sentence_add(sentence, ", loaded by ");
		add_hop(sentence, why, loaded);
	}
}

/* Beyond @stored there is another load, of memory that nobody is known to have written. */
static void add_older(struct sentence *sentence, const struct why *why,
		      const struct origin_hop *stored, const struct origin_hop *last)
{
	const struct origin_hop *load = last_load(&why->origin);
	/* A register that a function keeps is not said to be in memory. */
	bool is_memory = last->target.reg == SEM_NO_REG && !(load && why_is_kept(load));

	if (stored && load > stored && load->has_address) {
		sentence_add(sentence, ", from ");
		sentence_add_place(sentence, load->address);
	}
	sentence_add(sentence, stored ? "; " : "");
	if (last->why == REG_VALUES_WINDOW)
		sentence_add(sentence, "%s newest events; btsrec why looks at all",
			     is_memory ? "not stored there in the" : "older than the");
	else
		sentence_add(sentence, "%s",
			     is_memory ? "no store to it is known" : why_end_str(last));
}

static const char *made_str(const struct origin_hop *last)
{
	switch (last->kind) {
	case ORIGIN_CONSTANT: return "a constant of ";
	case ORIGIN_STORED: return "a constant that was stored by ";
	case ORIGIN_JOINED: return "made of several values by ";
	case ORIGIN_NO_RULE: return "written by ";
	case ORIGIN_PART: return "partly written by ";
	case ORIGIN_SPOILED: return "made of an address of the kernel by ";
	case ORIGIN_USER: return "loaded from memory of the user by ";
	default: return "maybe by ";
	}
}

/* When, by which thread if it was another one, and how sure that is. */
static void add_circumstances(struct sentence *sentence, const struct why *why,
			      const struct origin_hop *last)
{
	struct why_place asked, place;

	why_place(why, &why->values, why->cpu, &why->origin.hops[0], &asked);
	why_place(why, &why->values, why->cpu, last, &place);
	if (place.n < why->fault.n)
		sentence_add(sentence, ", %" PRIu64 " events before the fault",
			     why->fault.n - place.n);
	if (place.side && (!asked.side || asked.side->pid != place.side->pid)) {
		sentence_add(sentence, ", by thread %" PRIu32, place.side->pid);
		sentence_add_comm(sentence, place.side->comm);
	}
	if (last->kind != ORIGIN_JOINED && last->class != ORIGIN_UNKNOWN)
		sentence_add(sentence, "; %s", why_class_str(last->class));
}

/* Does @last say more than that it is not known? */
static bool is_useful(const struct origin_hop *last)
{
	if (last->kind == ORIGIN_OLDER)
		return true;
	return last->insn && last->insn->length_bytes && last->insn->op != SEM_IRET &&
	       last->kind != ORIGIN_NO_ADDRESS && last->kind != ORIGIN_CHANGED &&
	       last->kind != ORIGIN_TOO_LONG;
}

static void say_from(struct sentence *from, const struct why *why, const struct origin_hop *stored)
{
	const struct origin_hop *last = &why->origin.hops[why->origin.nr - 1];

	if (stored) {
		sentence_add(from, stored->kind == ORIGIN_COPIED ? "copied there by " :
								   "stored there by ");
		add_hop(from, why, stored);
	}
	if (!is_useful(last))
		return;
	if (last->kind == ORIGIN_OLDER) {
		add_older(from, why, stored, last);
		return;
	}
	if (last == stored) {
		sentence_add(from, ", as a constant");
	} else {
		sentence_add(from, "%s%s", stored ? "; " : "", made_str(last));
		add_hop(from, why, last);
	}
	add_meaning(from, &why->origin, why->origin.hops[0].value, false);
	if (last->kind == ORIGIN_SUSPECT)
		sentence_add(from, ", which has stored that value, but where is not known");
	add_circumstances(from, why, last);
}

static bool say_operand(struct summary *view)
{
	const struct why *why = view->operand;
	const struct origin *origin = &why->origin;
	const struct origin_hop *loaded = find_hop(origin, 0, ORIGIN_LOADED), *stored = NULL;
	const struct origin_hop *last = &origin->hops[origin->nr - 1];
	struct sentence what = { .r = &view->calls.renderer, .text = view->operand_text.what };
	struct sentence from = { .r = &view->calls.renderer, .text = view->operand_text.from };

	*what.text = *from.text = '\0';
	add_operand(&what, why);
	if (loaded)
		add_load(&what, why, loaded);
	if (loaded || origin->hops[0].target.reg == SEM_NO_REG)
		stored = find_store(origin, loaded ? (size_t)(loaded - origin->hops) : 0);
	say_from(&from, why, stored);
	return loaded || stored || origin->hops[0].value_class != ORIGIN_UNKNOWN ||
	       last->kind == ORIGIN_CONSTANT;
}

/* An exception at an instruction of this CPU, in its history. */
static bool has_operand(const struct summary *view)
{
	return view->calls.fault.kind == FAULT_EXCEPTION && !view->moved &&
	       !view->stack.fault.kind;
}

/*
 * A branch to an address that is not canonical was not made by one that is: the store that is known
 * was written over since, and what is likely is wrong.
 */
static bool is_contradicted(const struct summary *view)
{
	const struct origin *origin = &view->operand->origin;

	if (view->verdict.kind != VERDICT_NO_CODE || view->verdict.has_address)
		return false;
	for (size_t i = 0; i < origin->nr; i++)
		if (origin->hops[i].kind == ORIGIN_STORED &&
		    origin->hops[i].value_class != ORIGIN_UNKNOWN &&
		    record_canonical(origin->hops[i].value, VA_BITS_MAX))
			return true;
	return false;
}

enum btsrec_status summary_operand_read(struct summary *view, struct btsrec *rec,
					const struct btsrec_cpu *failed)
{
	static const struct btsrec_why opts = { .size = sizeof(opts), .max_events = MAX_EVENTS };
	enum btsrec_status status;

	if (!has_operand(view))
		return BTSREC_OK;
	view->operand = calloc(1, sizeof(*view->operand));
	if (!view->operand)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	status = why_newest(view->operand, rec, failed->cpu, &opts, MAX_BYTES);
	if (status || view->operand->lacks || !view->operand->origin.nr ||
	    is_contradicted(view) || !say_operand(view))
		summary_operand_drop(view);
	/* A history that cannot be read is said when it is printed. */
	return status == BTSREC_ERR_NOMEM || status == BTSREC_ERR_IO ? status : BTSREC_OK;
}

bool summary_operand_ends(const struct summary *view, const struct origin_hop **ret_asked,
			  const struct origin_hop **ret_last, struct why_place *ret_place)
{
	const struct why *why = view->operand;

	if (!why)
		return false;
	*ret_asked = &why->origin.hops[0];
	*ret_last = &why->origin.hops[why->origin.nr - 1];
	why_place(why, &why->values, why->cpu, *ret_last, ret_place);
	return true;
}

void summary_operand_drop(struct summary *view)
{
	if (view->operand)
		why_fini(view->operand);
	free(view->operand);
	view->operand = NULL;
}
