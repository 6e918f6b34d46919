// SPDX-License-Identifier: GPL-2.0-or-later
/* Call stacks as values. */
#include "render/render_lines.h"
#include "views/values.h"
#include "views/view_stack.h"

static void put_entry(const struct stack_printed *printed, const struct stack_line *line,
		      struct btsrec_frame *ret)
{
	ret->vector = -1;
	if (line->by_thunk)
		ret->how = "thunk";
	if (!line->frame)
		return;
	ret->entered = true;
	ret->how = frame_kind_str(line->frame->kind);
	ret->vector = line->frame->vector;
	ret->entered_n = stack_n(printed, line->frame->n, &ret->entered_cpu);
	ret->entered_va = line->frame->entered;
}

static void put_args(const struct stack_printed *printed, const struct stack_line *line,
		     struct btsrec_frame *ret)
{
	struct args_given given = args_values(printed->args, stack_args(printed, line));

	ret->args = given.list;
	ret->nr_args = given.nr;
	ret->more_args = given.more;
	ret->no_args = given.why;
}

static size_t put_lines(struct renderer *r, const struct stack_line *line,
			struct btsrec_inlined *inlined, struct btsrec_frame *ret)
{
	struct line_inlined found[LINE_MAX_INLINED];
	uint64_t va = stack_source_va(line);
	struct line source;
	size_t nr;

	if (!r->lines || !line_find(r->rec, render_cr3(r), va, &source))
		return 0;
	ret->file = source.file;
	ret->line = source.number;
	nr = line_inlined(r->rec, render_cr3(r), va, found);
	for (size_t i = 0; i < nr; i++)
		inlined[i] = (struct btsrec_inlined){ found[i].function, found[i].from.file,
						      found[i].from.number };
	return nr;
}

void stack_values(struct renderer *r, const struct stack_printed *printed, btsrec_frame_fn fn,
		  void *arg)
{
	r->side = printed->side;
	for (size_t i = 0; i < printed->nr_lines && !r->out.stopped; i++) {
		const struct stack_line *line = &printed->lines[i];
		struct btsrec_inlined inlined[LINE_MAX_INLINED];
		struct symbol_name name;
		enum symbol_why why;
		bool found;
		struct btsrec_frame value = {
			.size = sizeof(value),
			.number = i,
			.nr_frames = printed->nr_lines,
			.complete = printed->complete,
			.ip_va = line->ip,
			.gone = line->gone,
			.unreliable = line->unreliable,
			.looked = line->memory != STACK_NOT_LOOKED,
			.in_memory = line->memory == STACK_FOUND,
		};

		value.n = stack_n(printed, printed->n, &value.cpu);
		value.has_task = values_task(printed->side, &value.task);
		found = stack_line_find(r, line, &name, &why);
		values_found(found, &name, why, &value.ip);
		put_entry(printed, line, &value);
		put_args(printed, line, &value);
		value.nr_inlined = put_lines(r, line, inlined, &value);
		value.inlined = value.nr_inlined ? inlined : NULL;
		r->out.stopped = !fn(arg, &value);
	}
}
