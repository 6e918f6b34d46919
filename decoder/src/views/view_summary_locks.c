// SPDX-License-Identifier: GPL-2.0-or-later
/* The locks of a summary: of a lockup or a hung task, what waits and what holds. */
#include <inttypes.h>
#include <string.h>

#include "flow/trace.h"
#include "symbols/symbol.h"
#include "tally/lock_functions.h"
#include "views/view_summary.h"
#include "views/view_summary_sentence.h"

static bool is_certain(const struct btsrec_found *found)
{
	return found->kind == BTSREC_FOUND_CALL && found->has_task && !found->after_fault &&
	       !strcmp(found->certainty, "certain");
}

static struct summary_lock lock_of(const struct btsrec_found *found)
{
	return (struct summary_lock){
		.cpu = found->cpu,
		.task = found->task,
		.lock = found->lock,
		.address = found->has_address ? found->address_va : 0,
		.from = found->from_va,
		.wait = found->wait_va,
	};
}

static void take_irqs(struct summary_locks *locks, const struct btsrec_found *found)
{
	if (found->cpu == locks->judged_cpu)
		locks->irqs = (struct summary_irqs){ found->how, found->n, found->ip_va,
						     found->was_on };
}

static bool add_found(void *arg, const struct btsrec_found *found)
{
	struct summary_locks *locks = arg;

	if (found->kind == BTSREC_FOUND_INTERRUPTS)
		take_irqs(locks, found);
	if (!is_certain(found))
		return true;
	if (!strcmp(found->state, "waits") && locks->nr_waits < SUMMARY_MAX_WAITS)
		locks->waits[locks->nr_waits++] = lock_of(found);
	else if (!strcmp(found->state, "held") && found->has_address &&
		 locks->nr_held < SUMMARY_MAX_HELD)
		locks->held[locks->nr_held++] = lock_of(found);
	return true;
}

enum btsrec_status summary_locks_read(struct btsrec *rec, const struct btsrec_cpu *failed,
				      struct summary_locks *ret)
{
	struct btsrec_search opts = { .size = sizeof(opts), .question = BTSREC_LOCKS };
	enum btsrec_reason reason = failed ? (enum btsrec_reason)failed->freeze.reason :
					     BTSREC_REASON_NONE;

	if ((!verdict_is_lockup(reason) && reason != BTSREC_REASON_HUNG_TASK) ||
	    !symbols_present(rec))
		return BTSREC_OK;
	return btsrec_search_each(rec, &opts, add_found, ret);
}

/* --- What the history lacks ---------------------------------------------- */

/*
 * A spinlock that is waited for is taken, so it is not 0.  What waits in a queue behind others
 * reads its own place there, which is 0 until it is its turn.
 */
static bool is_taken(struct code *code, uint64_t kva)
{
	uint32_t value;
	size_t nr_bytes;

	return !code_bytes(code, 0, kva, (uint8_t *)&value, sizeof(value), &nr_bytes) && value;
}

void summary_lock_complete(struct summary *view, struct summary_lock *lock)
{
	const struct summary_stack *stack = &view->stack;
	const struct verdict *verdict = &view->verdict;
	struct renderer *r = &view->calls.renderer;
	size_t i = 0;

	if (verdict->kind != VERDICT_STUCK || lock->cpu != view->judged->cpu || lock->from ||
	    !summary_lock_function(r, verdict->stay.report_ip))
		return;
	while (i < stack->nr && summary_lock_function(r, stack->places[i].ip))
		i++;
	if (i && i < stack->nr)
		lock->from = stack->places[i].ip;
	if (verdict->has_address && !strcmp(lock->lock, lock_family_str(LOCK_SPIN)) &&
	    is_taken(trace_code(r->rec), verdict->address))
		lock->address = verdict->address;
}

/* --- Words --------------------------------------------------------------- */

static void add_thread(struct sentence *sentence, const struct summary_lock *lock)
{
	sentence_add(sentence, "CPU %u, thread %" PRIu32, lock->cpu, lock->task.pid);
	sentence_add_comm(sentence, lock->task.comm);
}

/* What holds the lock that @lock waits for; NULL: not known. */
static const struct summary_lock *holder_of(const struct summary_locks *locks,
					    const struct summary_lock *lock)
{
	for (size_t i = 0; lock->address && i < locks->nr_held; i++)
		if (locks->held[i].address == lock->address)
			return &locks->held[i];
	return NULL;
}

void summary_lock_owner(const struct summary_locks *locks, struct summary_lock *lock)
{
	const struct summary_lock *holder = holder_of(locks, lock);

	lock->has_owner = holder;
	if (holder)
		lock->owner = holder->task;
}

static const struct summary_lock *wait_of(const struct summary_locks *locks,
					  const struct summary_lock *holder)
{
	for (size_t i = 0; i < locks->nr_waits; i++)
		if (locks->waits[i].cpu == holder->cpu &&
		    locks->waits[i].task.pid == holder->task.pid)
			return &locks->waits[i];
	return NULL;
}

/* Does what holds it wait for what waits for it, and so on?  No lock is in a circle twice. */
static bool is_deadlock(const struct summary_locks *locks, const struct summary_lock *lock)
{
	const struct summary_lock *at = lock, *holder;

	for (size_t i = 0; at && i < locks->nr_waits; i++) {
		holder = holder_of(locks, at);
		at = holder ? wait_of(locks, holder) : NULL;
		if (at && at->cpu == lock->cpu && at->task.pid == lock->task.pid)
			return true;
	}
	return false;
}

void summary_say_lock(struct summary *view, const struct summary_lock *lock, char *ret)
{
	struct sentence sentence = { .r = &view->calls.renderer, .text = ret };
	const struct summary_lock *holder = holder_of(view->locks, lock);

	if (is_deadlock(view->locks, lock))
		sentence_add(&sentence, "deadlock: ");
	add_thread(&sentence, lock);
	sentence_add(&sentence, " waits for a %s", lock->lock);
	if (lock->address) {
		sentence_add(&sentence, " at ");
		sentence_add_data(&sentence, lock->address);
	}
	sentence_add(&sentence, " in ");
	sentence_add_place(&sentence, lock->from ? lock->from : lock->wait);
	if (!holder)
		return;
	sentence_add(&sentence, "; ");
	add_thread(&sentence, holder);
	sentence_add(&sentence, " took it in ");
	sentence_add_place(&sentence, holder->from);
	sentence_add(&sentence, " and has not released it");
}

void summary_say_irqs(struct sentence *sentence, const struct summary *view)
{
	const struct summary_irqs *irqs = &view->locks->irqs;
	enum fault_kind kind = view->calls.fault.kind;

	/* An interrupt that reports it has them off itself: another CPU's NMI may end that. */
	if (!irqs->by || (kind != FAULT_NMI && kind != FAULT_STOP) ||
	    (kind == FAULT_STOP && !strcmp(irqs->by, "entry")))
		return;
	if (!irqs->n) {
		sentence_add(sentence, "; interrupts were off in all of this history");
		return;
	}
	sentence_add(sentence, "; interrupts are off %ssince event %" PRIu64,
		     irqs->was_on ? "" : "at least ", irqs->n);
	if (!irqs->was_on || !irqs->ip)
		return;
	sentence_add(sentence, ", %s at ", irqs->by);
	sentence_add_place(sentence, irqs->ip);
}
