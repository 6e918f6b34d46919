// SPDX-License-Identifier: GPL-2.0-or-later
/* The locks of a summary: of a lockup or a hung task, what waits and what holds. */
#include <string.h>

#include "symbols/symbol.h"
#include "views/view_summary.h"

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

static bool add_found(void *arg, const struct btsrec_found *found)
{
	struct summary_locks *locks = arg;

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
