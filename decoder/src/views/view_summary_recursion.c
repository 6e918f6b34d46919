// SPDX-License-Identifier: GPL-2.0-or-later
/* What a stack was full of when it overflowed. */
#include "views/view_summary.h"
#include "views/view_summary_sentence.h"

/* The recursion may have called others: so many of them are passed over. */
#define MAX_LEAVES	64

/* Of those that are no leaf, so many open calls are a recursion: file systems nest, too. */
#define MIN_BELOW_LEAVES 4

/* More functions than these that call each other in turn are not named. */
#define MAX_TURN	4

static uint64_t entered(const struct summary *view, size_t i)
{
	const struct calltree *tree = &view->calls.tree;

	return calltree_line(tree, tree->open[i]).to;
}

/* So many of the open calls were made before the fault, which itself has entered its handler. */
static size_t nr_before_fault(const struct summary *view)
{
	const struct calltree *tree = &view->calls.tree;
	size_t nr = view->nr_open;

	if (!view->calls.fault.kind)
		return 0;
	while (nr && calltree_line(tree, tree->open[nr - 1]).n == view->calls.fault.n)
		nr--;
	return nr;
}

/* How many of the first @end open calls are of the function of the last of them. */
static size_t nr_of_last(const struct summary *view, size_t end)
{
	size_t nr = 0;

	for (size_t i = 0; i < end; i++)
		nr += entered(view, i) == entered(view, end - 1);
	return nr;
}

bool summary_recursion(const struct summary *view, struct summary_recursion *ret)
{
	size_t nr_before = nr_before_fault(view);

	for (size_t end = nr_before; end && nr_before - end < MAX_LEAVES; end--) {
		*ret = (struct summary_recursion){ end, nr_of_last(view, end), end < nr_before };
		if (ret->nr >= (ret->has_leaves ? MIN_BELOW_LEAVES : 2))
			return true;
	}
	return false;
}

/* So many functions call each other in turn, and the last of @end is one of them; 0: not known. */
static size_t turn_of(const struct summary *view, size_t end)
{
	for (size_t turn = 1; turn <= MAX_TURN && turn < end; turn++)
		if (entered(view, end - 1 - turn) == entered(view, end - 1))
			return turn;
	return 0;
}

void summary_say_recursion(struct sentence *sentence, const struct summary *view)
{
	struct summary_recursion recursion;
	size_t turn;

	if (!summary_recursion(view, &recursion))
		return;
	sentence_add(sentence, ": at least %zu calls of ", recursion.nr);
	if (recursion.has_leaves)
		sentence_add_function(sentence, entered(view, recursion.end - 1));
	else
		sentence_add(sentence, "that function");
	sentence_add(sentence, " were open");
	turn = turn_of(view, recursion.end);
	for (size_t i = 1; i < turn; i++) {
		sentence_add(sentence, i == 1 ? ", each by way of " : " < ");
		sentence_add_function(sentence, entered(view, recursion.end - 1 - i));
	}
}
