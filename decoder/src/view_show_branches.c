// SPDX-License-Identifier: GPL-2.0-or-later
/* Branches, by way of the press: what they have in common is worded once. */
#include <stdlib.h>

#include "session.h"
#include "symbol.h"
#include "view_show.h"

/* Cache misses of so many look-ups are waited for together. */
#define LOOK_UPS 16

/* --- Tails -------------------------------------------------------------- */

/* Nothing is known of any address, so all lines end alike. */
static bool says_nothing(const struct show *show)
{
	struct btsrec *rec = show->renderer.rec;

	return !show->opts->types && !show->opts->lines && !symbols_present(rec) &&
	       !symbols_user_present(rec) && !rec->located->nr_modules;
}

bool show_begin_branches(struct show *show, const struct btsrec_sink *sink)
{
	show->press = press_new(sink, show->format->branches, show->opts->nr_threads);
	if (!show->press)
		return false;
	show->one_tail = says_nothing(show);
	out_init(&show->renderer.out, press_sink(show->press));
	return true;
}

enum btsrec_status show_end_branches(struct show *show)
{
	enum btsrec_status status = BTSREC_OK;

	if (show->press) {
		(void)out_flush(&show->renderer.out);
		status = press_wait(show->press);
	}
	press_free(show->press);
	tails_forget(&show->tails);
	free(show->tail_text.bytes);
	return status;
}

/* The kernel is the same in all address spaces. */
static struct tails_key key_of(struct show *show, const struct btsrec_record *branch, uint64_t n)
{
	struct tails_key key = { .from = branch->from, .to = branch->to };
	const struct btsrec_side *side;

	if (show->one_tail)
		return (struct tails_key){ 0 };
	if (code_is_kernel(branch->from & branch->to))
		return key;
	side = aspace_at(&show->selector->spaces, n);
	/* CR3 is a page's address; that it is known is another thing than that it is 0. */
	key.space = side ? side->cr3 | 1 : 0;
	return key;
}

/* For which reasons the ends have no name, where that is counted: one in each byte. */
static uint32_t reasons_since(const struct renderer *r, const uint64_t *nr_before)
{
	uint32_t reasons = 0;

	for (uint32_t why = SYMBOL_UNKNOWN + 1; why < SYMBOL_NR_WHYS; why++)
		for (uint64_t nr = nr_before[why]; nr < r->nr_user[why]; nr++)
			reasons = reasons << 8 | why;
	return reasons;
}

/* The caller's text is in order before it; false: out of memory. */
static bool word_tail(struct show *show, const struct btsrec_event *event, uint32_t *ret_reasons)
{
	struct btsrec_sink sink = { .write = out_text_take, .arg = &show->tail_text };
	struct renderer *r = &show->renderer;
	uint64_t nr_before[SYMBOL_NR_WHYS];
	bool fits;

	memcpy(nr_before, r->nr_user, sizeof(nr_before));
	show->tail_text.nr_bytes = 0;
	out_init(&r->out, &sink);
	r->side = aspace_at(&show->selector->spaces, event->n);
	show->format->branch_tail(r, event);
	fits = !out_flush(&r->out);
	out_init(&r->out, press_sink(show->press));
	*ret_reasons = reasons_since(r, nr_before);
	memcpy(r->nr_user, nr_before, sizeof(nr_before));
	return fits;
}

static const struct tail *make_tail(struct show *show, const struct tails_key *key,
				    const struct btsrec_event *event)
{
	uint32_t reasons;

	if (!word_tail(show, event, &reasons))
		return NULL;
	if (tails_full(&show->tails, show->tail_text.nr_bytes)) {
		(void)press_wait(show->press);
		tails_forget(&show->tails);
	}
	return tails_add(&show->tails, key, show->tail_text.bytes, show->tail_text.nr_bytes,
			 reasons);
}

/* --- Branches ----------------------------------------------------------- */

static void put_branch(struct show *show, unsigned int cpu, uint64_t n,
		       const struct btsrec_record *record, const struct tail *tail)
{
	size_t nr_room;
	struct press_branch *branch = press_room(show->press, cpu, &nr_room);

	branch->n = n;
	branch->record = *record;
	branch->tail = tail;
	press_filled(show->press, 1);
	/* Only user addresses are counted; the tail itself may be far from here by now. */
	if (code_is_kernel(record->from & record->to))
		return;
	for (uint32_t reasons = tail->cookie; reasons; reasons >>= 8)
		show->renderer.nr_user[reasons & 0xff]++;
}

static void tell_branch(struct show *show, const struct tails_key *key, uint64_t hash,
			const struct btsrec_event *event)
{
	const struct tail *tail = tails_find(&show->tails, hash, key);

	if (!tail)
		tail = make_tail(show, key, event);
	if (tail)
		put_branch(show, event->cpu, event->n, &event->branch, tail);
	else
		show->nomem = true;
}

void show_branch(struct show *show, const struct btsrec_event *event)
{
	struct tails_key key = key_of(show, &event->branch, event->n);

	(void)out_flush(&show->renderer.out);
	tell_branch(show, &key, tails_hash(&key), event);
}

/* Of lines that end alike nothing has to be looked up. */
static void show_alike(struct show *show, unsigned int cpu,
		       const struct timeline_branches *branches, const struct tail *tail)
{
	size_t nr;

	for (uint64_t at = 0; at < branches->nr; at += nr) {
		struct press_branch *room = press_room(show->press, cpu, &nr);

		if (nr > branches->nr - at)
			nr = branches->nr - at;
		for (size_t i = 0; i < nr; i++)
			room[i] = (struct press_branch){ branches->n + at + i,
							 branches->records[at + i], tail };
		press_filled(show->press, nr);
	}
}

static void show_differing(struct show *show, unsigned int cpu,
			   const struct timeline_branches *branches)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH, .cpu = cpu };
	struct tails_key keys[LOOK_UPS];
	uint64_t hashes[LOOK_UPS];

	for (uint64_t at = 0; at < branches->nr && !show->nomem; at += LOOK_UPS) {
		uint64_t nr = branches->nr - at < LOOK_UPS ? branches->nr - at : LOOK_UPS;

		for (uint64_t i = 0; i < nr; i++) {
			keys[i] = key_of(show, &branches->records[at + i], branches->n + at + i);
			hashes[i] = tails_hash(&keys[i]);
			tails_prefetch(&show->tails, hashes[i]);
		}
		for (uint64_t i = 0; i < nr; i++) {
			event.n = branches->n + at + i;
			event.branch = branches->records[at + i];
			tell_branch(show, &keys[i], hashes[i], &event);
		}
	}
}

bool show_branches(struct show *show, unsigned int cpu, const struct timeline_branches *branches)
{
	const struct tails_key key = { 0 };
	const struct tail *tail = NULL;

	(void)out_flush(&show->renderer.out);
	/* The first one of all makes the tail. */
	if (show->one_tail)
		tail = tails_find(&show->tails, tails_hash(&key), &key);
	if (tail)
		show_alike(show, cpu, branches, tail);
	else
		show_differing(show, cpu, branches);
	return !show->nomem && !press_stopped(show->press);
}
