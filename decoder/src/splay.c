// SPDX-License-Identifier: GPL-2.0-or-later
#include "splay.h"

#include <string.h>

void splay_init(struct splay *splay, bool kernel)
{
	memset(splay, 0, sizeof(*splay));
	splay->kernel = kernel;
}

static void open_block(struct splay *splay, unsigned int cpu, uint64_t n)
{
	memset(&splay->block, 0, sizeof(splay->block));
	splay->block.kernel = !splay->kernel;
	splay->block.cpu = cpu;
	splay->block.n = n;
	splay->open = true;
}

static void close_block(struct splay *splay, struct splay_told *told)
{
	if (!splay->open)
		return;
	told->has_block = true;
	told->block = splay->block;
	splay->open = false;
}

/* One more branch of the block, which may have begun unseen. */
static struct splay_block *grow_block(struct splay *splay, const struct btsrec_event *event)
{
	if (!splay->open)
		open_block(splay, event->cpu, event->n);
	splay->block.nr_branches++;
	return &splay->block;
}

/* --- User code is told -------------------------------------------------- */

static void enter_kernel(struct splay *splay, const struct btsrec_event *event,
			 const struct splay_lookup *lookup, struct splay_told *told)
{
	struct splay_block *block;

	close_block(splay, told);
	block = grow_block(splay, event);
	block->has_from = true;
	block->from = event->branch.from;
	block->has_entry = true;
	block->entry = lookup->type(lookup->arg, event);
	block->entry_kva = event->branch.to;
}

static bool may_call_handler(const struct splay_block *block)
{
	enum branch_type type = block->entry.type;

	return !block->handler_kva && block->has_entry &&
	       (type == BRANCH_SYSCALL || type == BRANCH_INT || type == BRANCH_UNKNOWN);
}

static void leave_kernel(struct splay *splay, const struct btsrec_event *event,
			 struct splay_told *told)
{
	struct splay_block *block = grow_block(splay, event);

	block->has_to = true;
	block->to = event->branch.to;
	close_block(splay, told);
}

static void tell_user(struct splay *splay, const struct btsrec_event *event,
		      const struct splay_lookup *lookup, struct splay_told *told)
{
	bool from_kernel = code_is_kernel(event->branch.from);
	bool to_kernel = code_is_kernel(event->branch.to);
	struct splay_block *block;

	if (!from_kernel && !to_kernel) {
		close_block(splay, told);
		told->has_event = true;
	} else if (!from_kernel) {
		enter_kernel(splay, event, lookup, told);
	} else if (!to_kernel) {
		leave_kernel(splay, event, told);
	} else {
		block = grow_block(splay, event);
		if (may_call_handler(block) && lookup->is_handler(lookup->arg, event->branch.to))
			block->handler_kva = event->branch.to;
	}
}

/* --- The kernel is told ------------------------------------------------- */

static void tell_kernel(struct splay *splay, const struct btsrec_event *event,
			struct splay_told *told)
{
	bool from_kernel = code_is_kernel(event->branch.from);
	bool to_kernel = code_is_kernel(event->branch.to);

	if (!from_kernel && !to_kernel) {
		grow_block(splay, event);
		return;
	}
	if (!from_kernel) {
		if (!splay->open)
			open_block(splay, event->cpu, event->n);
		splay->block.has_to = true;
		splay->block.to = event->branch.from;
	}
	close_block(splay, told);
	told->has_event = true;
	if (!to_kernel) {
		open_block(splay, event->cpu, event->n + 1);
		splay->block.has_from = true;
		splay->block.from = event->branch.to;
	}
}

/* --- Both --------------------------------------------------------------- */

struct splay_told splay_feed(struct splay *splay, const struct btsrec_event *event,
			     const struct splay_lookup *lookup)
{
	struct splay_told told = { 0 };

	if (event->kind != BTSREC_EVENT_BRANCH) {
		close_block(splay, &told);
		told.has_event = true;
	} else if (splay->kernel) {
		tell_kernel(splay, event, &told);
	} else {
		tell_user(splay, event, lookup, &told);
	}
	return told;
}

bool splay_end(struct splay *splay, struct splay_block *ret)
{
	if (!splay->open)
		return false;
	*ret = splay->block;
	splay->open = false;
	return true;
}
