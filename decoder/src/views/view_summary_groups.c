// SPDX-License-Identifier: GPL-2.0-or-later
/* A summary of many CPUs: those that did the same are one line. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/grow.h"
#include "symbols/symbol.h"
#include "views/view_summary.h"

/* Functions that say what a CPU was doing in the kernel. */
#define MAX_NAMES	3
/* Lines for all of them. */
#define MAX_GROUPS	15
/* Numbers and ranges of numbers in a line. */
#define MAX_RANGES	8

/* --- One CPU ------------------------------------------------------------- */

/* What does not fit is cut. */
static void __attribute__((format(printf, 2, 3)))
add(struct summary_member *member, const char *format, ...)
{
	size_t nr_bytes = strlen(member->text);
	va_list args;

	va_start(args, format);
	(void)vsnprintf(member->text + nr_bytes, sizeof(member->text) - nr_bytes, format, args);
	va_end(args);
}

static void add_function(struct summary *view, struct summary_member *member, uint64_t va)
{
	struct symbol_name name;
	enum symbol_why why;

	if (!render_find(&view->calls.renderer, va, &name, &why) || !name.name_bytes) {
		add(member, "0x%016llx", (unsigned long long)va);
		return;
	}
	add(member, "%.*s", (int)name.name_bytes, name.name);
	if (*name.module)
		add(member, " [%s]", name.module);
}

static void add_functions(struct summary *view, struct summary_member *member)
{
	const struct calltree *tree = &view->calls.tree;

	add_function(view, member, view->ip);
	for (size_t i = view->nr_open; i && view->nr_open - i < MAX_NAMES - 1; i--) {
		struct calltree_line line = calltree_line(tree, tree->open[i - 1]);

		if (frame_is_entry(line.frame))
			return;
		add(member, " < ");
		add_function(view, member, line.from);
	}
}

static void add_thread(struct summary_member *member, const struct btsrec_freeze *freeze)
{
	char text[ESCAPED_MAX_BYTES * BTSREC_COMM_BYTES + 1];

	(void)escaped_copy(text, freeze->comm, sizeof(freeze->comm));
	add(member, "in user code of \"%s\"", text);
}

/* Room for one more; NULL: there is none. */
static struct summary_member *next_member(struct summary_groups *groups)
{
	if (!grow(&groups->list, sizeof(*groups->list), groups->nr, &groups->nr_room)) {
		groups->nomem = true;
		return NULL;
	}
	return &groups->list[groups->nr++];
}

void summary_group_add(struct summary *view, const struct btsrec_cpu *cpu)
{
	struct summary_member *member = next_member(&view->groups);

	if (!member)
		return;
	*member = (struct summary_member){ .cpu = cpu->cpu };
	if (cpu->state != BTSREC_CPU_FROZEN)
		add(member, "not stopped: ");
	if (!view->nr_branches)
		add(member, "no branches");
	else if (cpu->state == BTSREC_CPU_FROZEN && !cpu->freeze.pid)
		add(member, "idle");
	else if (code_is_kernel(view->ip))
		add_functions(view, member);
	else if (cpu->state == BTSREC_CPU_FROZEN)
		add_thread(member, &cpu->freeze);
	else
		add(member, "in user code");
}

/* --- All ----------------------------------------------------------------- */

void btsrec_set_full_cpus(struct btsrec *rec, const unsigned int *cpus, size_t nr_cpus)
{
	rec->full_cpus = cpus;
	rec->nr_full_cpus = nr_cpus;
}

void summary_groups_join(struct summary_groups *groups, struct summary_groups *from)
{
	for (size_t i = 0; i < from->nr; i++) {
		struct summary_member *member = next_member(groups);

		if (!member)
			break;
		*member = from->list[i];
	}
	groups->nomem |= from->nomem;
	summary_groups_fini(from);
}

void summary_groups_fini(struct summary_groups *groups)
{
	free(groups->list);
	*groups = (struct summary_groups){ 0 };
}

static int compare_members(const void *left, const void *right)
{
	const struct summary_member *a = left, *b = right;
	int order = strcmp(a->text, b->text);

	return order ? order : (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

/** struct group - members @first to @first + @nr - 1 */
struct group {
	size_t first;
	size_t nr;
	unsigned int cpu;
};

static int compare_groups(const void *left, const void *right)
{
	const struct group *a = left, *b = right;

	if (a->nr != b->nr)
		return a->nr > b->nr ? -1 : 1;
	return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

/* In place of each member, which are in order; returns how many groups. */
static size_t find_groups(const struct summary_groups *groups, struct group *ret)
{
	size_t nr = 0;

	for (size_t i = 0; i < groups->nr; i++) {
		const struct summary_member *member = &groups->list[i];

		if (!i || strcmp(member->text, member[-1].text))
			ret[nr++] = (struct group){ .first = i, .cpu = member->cpu };
		ret[nr - 1].nr++;
	}
	qsort(ret, nr, sizeof(*ret), compare_groups);
	return nr;
}

/* "0, 2-5, 9, ..." */
static void print_cpus(struct out *out, const struct summary_member *list, size_t nr)
{
	size_t i = 0;

	for (unsigned int nr_ranges = 0; i < nr && nr_ranges < MAX_RANGES; nr_ranges++) {
		size_t last = i;

		while (last + 1 < nr && list[last + 1].cpu == list[last].cpu + 1)
			last++;
		out_str(out, nr_ranges ? ", " : "");
		out_dec(out, list[i].cpu, 0);
		if (last > i) {
			out_char(out, last > i + 1 ? '-' : ',');
			out_str(out, last > i + 1 ? "" : " ");
			out_dec(out, list[last].cpu, 0);
		}
		i = last + 1;
	}
	if (i < nr)
		out_literal(out, ", ...");
}

static void print_groups(struct out *out, const struct summary_groups *groups,
			 const struct group *list, size_t nr)
{
	size_t nr_left = groups->nr;

	out_literal(out, "\nOther CPUs; --cpu LIST prints some in full, stack -c CPU and calls -c CPU say more of one:\n");
	for (size_t i = 0; i < nr && i < MAX_GROUPS; i++) {
		out_dec(out, list[i].nr, 6);
		out_literal(out, "  ");
		out_str(out, groups->list[list[i].first].text);
		out_literal(out, ": CPU ");
		print_cpus(out, &groups->list[list[i].first], list[i].nr);
		out_char(out, '\n');
		nr_left -= list[i].nr;
	}
	if (nr_left) {
		out_dec(out, nr_left, 6);
		out_literal(out, "  did something else\n");
	}
}

void summary_groups_text(struct out *out, struct summary_groups *groups)
{
	struct group *list = calloc(groups->nr + 1, sizeof(*list));

	groups->nomem |= !list;
	if (list && groups->nr) {
		qsort(groups->list, groups->nr, sizeof(*groups->list), compare_members);
		print_groups(out, groups, list, find_groups(groups, list));
	}
	free(list);
}
