// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define MIN_DEPTH 64

static void new_segment(struct stacks *stacks)
{
	stacks->current->segment = stacks->nr_segments++;
	stacks->current->level = 0;
}

bool stacks_init(struct stacks *stacks)
{
	memset(stacks, 0, sizeof(*stacks));
	stacks->all = calloc(STACKS_MAX, sizeof(*stacks->all));
	if (!stacks->all)
		return false;
	stacks_select(stacks, false, 0);
	return true;
}

void stacks_fini(struct stacks *stacks)
{
	for (size_t i = 0; i < stacks->nr; i++)
		free(stacks->all[i].frames);
	free(stacks->all);
	memset(stacks, 0, sizeof(*stacks));
}

/* --- Threads ------------------------------------------------------------ */

static struct stack *find_thread(const struct stacks *stacks, uint32_t pid)
{
	for (size_t i = 0; i < stacks->nr; i++)
		if (stacks->all[i].known && stacks->all[i].pid == pid)
			return &stacks->all[i];
	return NULL;
}

/* One that nobody can come back to, or a free one, or the one not used for longest. */
static struct stack *spare_stack(struct stacks *stacks)
{
	struct stack *oldest = NULL;

	for (size_t i = 0; i < stacks->nr; i++)
		if (!stacks->all[i].known)
			return &stacks->all[i];
	if (stacks->nr < STACKS_MAX)
		return &stacks->all[stacks->nr++];
	for (size_t i = 0; i < stacks->nr; i++)
		if (!oldest || stacks->all[i].last_used < oldest->last_used)
			oldest = &stacks->all[i];
	return oldest;
}

void stacks_select(struct stacks *stacks, bool known, uint32_t pid)
{
	struct stack *stack = known ? find_thread(stacks, pid) : NULL;
	bool found = stack;

	if (!found)
		stack = spare_stack(stacks);
	stacks->current = stack;
	stack->last_used = ++stacks->clock;
	stack->known = known;
	stack->pid = pid;
	if (!found) {
		stack->kernel = false;
		stack->nr_branches = 0;
		stack_clear(stacks);
	}
	stack->nr_old = stack->nr;
	stack->attached = true;
}

void stacks_name(struct stacks *stacks, uint32_t pid)
{
	struct stack *other = find_thread(stacks, pid);

	if (other && other != stacks->current)
		other->known = false;
	stacks->current->known = true;
	stacks->current->pid = pid;
}

/* --- Frames ------------------------------------------------------------- */

void stack_forget(struct stack *stack, size_t nr)
{
	memmove(stack->frames, stack->frames + nr, (stack->nr - nr) * sizeof(*stack->frames));
	stack->nr -= nr;
	stack->nr_old = stack->nr_old > nr ? stack->nr_old - nr : 0;
	for (size_t i = 0; i < stack->nr; i++) {
		struct frame *frame = &stack->frames[i];

		frame->entry = frame->entry > nr ? frame->entry - nr : 0;
	}
}

/* The outer half, so that this is rare. */
static void forget_outermost(struct stack *stack)
{
	stack_forget(stack, stack->nr / 2);
}

bool stack_make_room(struct stacks *stacks)
{
	struct stack *stack = stacks->current;

	if (stack->nr == STACKS_MAX_DEPTH)
		forget_outermost(stack);
	if (grow_from(&stack->frames, sizeof(*stack->frames), stack->nr, &stack->nr_room,
		      MIN_DEPTH))
		return true;
	stacks->nomem = true;
	stack_clear(stacks);
	return false;
}

struct frame *stack_top(const struct stacks *stacks)
{
	const struct stack *stack = stacks->current;

	if (!stack->nr || (stack->nr == stack->nr_old && !stack->attached))
		return NULL;
	return &stack->frames[stack->nr - 1];
}

void stack_detach(struct stacks *stacks)
{
	stacks->current->nr_old = stacks->current->nr;
	stacks->current->attached = false;
	new_segment(stacks);
}

void stack_clear(struct stacks *stacks)
{
	stack_cut(stacks, 0);
	stacks->current->attached = true;
	new_segment(stacks);
}
