// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/level_filter.h"

#include <string.h>

void level_filter_init(struct level_filter *level_filter, bool kernel)
{
	memset(level_filter, 0, sizeof(*level_filter));
	level_filter->kernel = kernel;
}

static void open_block(struct level_filter *level_filter, unsigned int cpu, uint64_t n)
{
	memset(&level_filter->block, 0, sizeof(level_filter->block));
	level_filter->block.kernel = !level_filter->kernel;
	level_filter->block.cpu = cpu;
	level_filter->block.n = n;
	level_filter->open = true;
}

static void close_block(struct level_filter *level_filter, struct level_filter_output *printed)
{
	if (!level_filter->open)
		return;
	printed->has_block = true;
	printed->block = level_filter->block;
	level_filter->open = false;
}

/* One more branch of the block, which may have begun unseen. */
static struct level_filter_block *grow_block(struct level_filter *level_filter,
					     const struct btsrec_event *event)
{
	if (!level_filter->open)
		open_block(level_filter, event->cpu, event->n);
	level_filter->block.nr_branches++;
	return &level_filter->block;
}

/* --- User code is printed ----------------------------------------------- */

static void enter_kernel(struct level_filter *level_filter, const struct btsrec_event *event,
			 const struct level_filter_lookup *lookup,
			 struct level_filter_output *printed)
{
	struct level_filter_block *block;

	close_block(level_filter, printed);
	block = grow_block(level_filter, event);
	block->has_from = true;
	block->from = event->branch.from;
	block->has_entry = true;
	block->entry = lookup->type(lookup->arg, event);
	block->entry_kva = event->branch.to;
}

static bool may_call_handler(const struct level_filter_block *block)
{
	enum branch_type type = block->entry.type;

	return !block->handler_kva && block->has_entry &&
	       (type == BRANCH_SYSCALL || type == BRANCH_INT || type == BRANCH_UNKNOWN);
}

static void leave_kernel(struct level_filter *level_filter, const struct btsrec_event *event,
			 struct level_filter_output *printed)
{
	struct level_filter_block *block = grow_block(level_filter, event);

	block->has_to = true;
	block->to = event->branch.to;
	close_block(level_filter, printed);
}

static void print_user(struct level_filter *level_filter, const struct btsrec_event *event,
		       const struct level_filter_lookup *lookup,
		       struct level_filter_output *printed)
{
	bool from_kernel = code_is_kernel(event->branch.from);
	bool to_kernel = code_is_kernel(event->branch.to);
	struct level_filter_block *block;

	if (!from_kernel && !to_kernel) {
		close_block(level_filter, printed);
		printed->has_event = true;
	} else if (!from_kernel) {
		enter_kernel(level_filter, event, lookup, printed);
	} else if (!to_kernel) {
		leave_kernel(level_filter, event, printed);
	} else {
		block = grow_block(level_filter, event);
		if (may_call_handler(block) && lookup->is_handler(lookup->arg, event->branch.to))
			block->handler_kva = event->branch.to;
	}
}

/* --- The kernel is printed ---------------------------------------------- */

static void print_kernel(struct level_filter *level_filter, const struct btsrec_event *event,
			 struct level_filter_output *printed)
{
	bool from_kernel = code_is_kernel(event->branch.from);
	bool to_kernel = code_is_kernel(event->branch.to);

	if (!from_kernel && !to_kernel) {
		grow_block(level_filter, event);
		return;
	}
	if (!from_kernel) {
		if (!level_filter->open)
			open_block(level_filter, event->cpu, event->n);
		level_filter->block.has_to = true;
		level_filter->block.to = event->branch.from;
	}
	close_block(level_filter, printed);
	printed->has_event = true;
	if (!to_kernel) {
		open_block(level_filter, event->cpu, event->n + 1);
		level_filter->block.has_from = true;
		level_filter->block.from = event->branch.to;
	}
}

/* --- Both --------------------------------------------------------------- */

struct level_filter_output level_filter_feed(struct level_filter *level_filter,
					     const struct btsrec_event *event,
					     const struct level_filter_lookup *lookup)
{
	struct level_filter_output printed = {0};

	if (event->kind != BTSREC_EVENT_BRANCH) {
		close_block(level_filter, &printed);
		printed.has_event = true;
	} else if (level_filter->kernel) {
		print_kernel(level_filter, event, &printed);
	} else {
		print_user(level_filter, event, lookup, &printed);
	}
	return printed;
}

bool level_filter_end(struct level_filter *level_filter, struct level_filter_block *ret)
{
	if (!level_filter->open)
		return false;
	*ret = level_filter->block;
	level_filter->open = false;
	return true;
}
