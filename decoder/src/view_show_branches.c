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

/** struct look_up - of one branch */
struct look_up {
	struct tails_key key;
	uint64_t hash;
};

/* Up to LOOK_UPS branches from @at on will be looked up soon; returns how many. */
static size_t expect_look_ups(struct show *show, const struct timeline_branches *branches,
			      uint64_t at, struct look_up *ret)
{
	size_t nr = branches->nr - at < LOOK_UPS ? branches->nr - at : LOOK_UPS;

	for (size_t i = 0; i < nr; i++) {
		ret[i].key = key_of(show, &branches->records[at + i], branches->n + at + i);
		ret[i].hash = tails_hash(&ret[i].key);
		tails_prefetch(&show->tails, ret[i].hash);
	}
	return nr;
}

/* Only user addresses are counted; the tail itself may be far from here by now. */
static void count_reasons(struct show *show, const struct btsrec_record *record,
			  const struct tail *tail)
{
	if (code_is_kernel(record->from & record->to))
		return;
	for (uint32_t reasons = tail->cookie; reasons; reasons >>= 8)
		show->renderer.nr_user[reasons & 0xff]++;
}

/* @branches, @nr from @at on, for which @look_ups are. */
static void tell_branches(struct show *show, unsigned int cpu,
			  const struct timeline_branches *branches, uint64_t at,
			  const struct look_up *look_ups, size_t nr)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH, .cpu = cpu };
	struct press_branch *room = NULL;
	size_t nr_room = 0, nr_filled = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct look_up *look_up = &look_ups[i];
		const struct tail *tail = tails_find(&show->tails, look_up->hash, &look_up->key);

		event.n = branches->n + at + i;
		event.branch = branches->records[at + i];
		if (!tail || nr_filled == nr_room) {
			press_filled(show->press, nr_filled);
			/* May wait until the press has nothing left. */
			tail = tail ? tail : make_tail(show, &look_up->key, &event);
			room = press_room(show->press, cpu, &nr_room);
			nr_filled = 0;
		}
		if (!tail) {
			show->nomem = true;
			return;
		}
		tails_expect(tail);
		room[nr_filled++] = (struct press_branch){ event.n, event.branch, tail };
		count_reasons(show, &event.branch, tail);
	}
	press_filled(show->press, nr_filled);
}

void show_branch(struct show *show, const struct btsrec_event *event)
{
	const struct timeline_branches branches = { &event->branch, 1, event->n, event->slot };
	struct look_up look_up[LOOK_UPS];

	(void)out_flush(&show->renderer.out);
	expect_look_ups(show, &branches, 0, look_up);
	tell_branches(show, event->cpu, &branches, 0, look_up, 1);
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

/* While some are looked up, what the next ones need is on its way. */
static void show_differing(struct show *show, unsigned int cpu,
			   const struct timeline_branches *branches)
{
	struct look_up look_ups[2][LOOK_UPS];
	size_t nr = expect_look_ups(show, branches, 0, look_ups[0]), nr_next;
	unsigned int now = 0;

	for (uint64_t at = 0; nr && !show->nomem; nr = nr_next) {
		nr_next = expect_look_ups(show, branches, at + nr, look_ups[now ^ 1]);
		tell_branches(show, cpu, branches, at, look_ups[now], nr);
		at += nr;
		now ^= 1;
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
