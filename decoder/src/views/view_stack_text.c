// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/render_branch.h"
#include "render/render_lines.h"
#include "symbols/symbol.h"
#include "views/view_stack.h"

/* "exc:#PF", "syscall" */
#define HOW_WIDTH 8

/* --- Lines -------------------------------------------------------------- */

static char flag_of(const struct stack_line *line)
{
	if (line->memory == STACK_MISSING)
		return '!';
	if (line->unreliable)
		return '?';
	return line->gone ? '~' : ' ';
}

/* "107802", or "0:107802" where it may be on any CPU. */
static void text_n(struct out *out, const struct stack_printed *printed, uint64_t n,
		   unsigned int width)
{
	unsigned int cpu;
	uint64_t own_n = stack_n(printed, n, &cpu);

	if (printed->places) {
		out_dec(out, cpu, width ? 3 : 0);
		out_char(out, ':');
	}
	out_dec(out, own_n, width);
}

static void text_line(struct renderer *r, const struct stack_printed *printed, size_t number)
{
	const struct stack_line *line = &printed->lines[number];
	struct out *out = &r->out;
	char how[BRANCH_TEXT_BYTES];
	const struct args_shown *args;
	struct symbol_name name;
	enum symbol_why why;

	stack_line_how(line, how);
	out_dec(out, number, 3);
	out_char(out, ' ');
	out_char(out, flag_of(line));
	out_char(out, ' ');
	out_hex16(out, line->ip);
	out_char(out, ' ');
	out_pad(out, how, HOW_WIDTH);
	if (line->frame)
		text_n(out, printed, line->frame->n, 9);
	else
		out_str(out, printed->places ? "            -" : "        -");
	if (stack_line_find(r, line, &name, &why)) {
		out_char(out, ' ');
		out_name(out, &name);
	} else if (symbols_present(r->rec)) {
		out_char(out, ' ');
		out_no_name(out, why);
	}
	args = stack_args(printed, line);
	out_str(out, args ? " " : "");
	args_put_text(out, args);
	if (r->lines)
		out_lines_of(r, stack_source_va(line));
	out_char(out, '\n');
}

static void text_unreliable(struct out *out, const struct stack_printed *printed)
{
	const struct unreliable *unreliable = &printed->unreliable;

	out_literal(out, "    -- older frames may be others: ");
	switch (unreliable->why) {
	case UNRELIABLE_ELSEWHERE:
		out_literal(out, "the thread ran on CPU ");
		out_dec(out, unreliable->cpu, 0);
		out_literal(out, " before it came back");
		break;
	case UNRELIABLE_UNKNOWN:
		out_literal(out, "the thread came back, and the history of CPU ");
		out_dec(out, unreliable->cpu, 0);
		out_literal(out, " does not show whether it was there");
		break;
	case UNRELIABLE_ORDER:
		out_literal(out, "nothing proves that the thread ran on CPU ");
		out_dec(out, unreliable->cpu, 0);
		out_literal(out, " before");
		break;
	case UNRELIABLE_UNFIT:
		out_literal(out, "a return does not fit them");
		break;
	case UNRELIABLE_UNSEEN:
		out_literal(out, "code that is not in the dump ran");
		break;
	case UNRELIABLE_GAP:
	case UNRELIABLE_NOT:
		out_literal(out, "a part of the history is missing");
		break;
	}
	out_literal(out, " at event ");
	text_n(out, printed, unreliable->n, 0);
	out_char(out, '\n');
}

static void text_before_line(struct renderer *r, const struct stack_printed *printed, size_t i)
{
	const struct stack_line *line = &printed->lines[i];
	const struct stack_line *before = i ? line - 1 : NULL;

	if (line->unreliable && !(before && before->unreliable))
		text_unreliable(&r->out, printed);
	if (before && code_is_kernel(before->ip) && !code_is_kernel(line->ip))
		out_literal(&r->out, "    -- user code\n");
}

/* --- Comparison --------------------------------------------------------- */

static void text_memory(struct out *out, const struct stack_printed *printed)
{
	out_literal(out, "# stack from sp ");
	out_hex16(out, printed->freeze->sp);
	out_literal(out, " up: return addresses found: ");
	out_dec(out, printed->nr_found, 0);
	if (printed->nr_missing) {
		out_literal(out, "; not there (!): ");
		out_dec(out, printed->nr_missing, 0);
		out_str(out, printed->freeze->via_nmi ?
				     "; this CPU ran on after its freeze and may have left those "
				     "frames" :
				     "; overwritten, or the frame was left after the freeze");
	}
	if (printed->memory_ends)
		out_literal(out, "; the rest of the stack is not in the dump");
	out_char(out, '\n');
}

static void text_freeze(struct renderer *r, const struct stack_printed *printed)
{
	struct out *out = &r->out;

	out_literal(out, "# registers of the freeze: ip ");
	if (printed->ip_line == printed->nr_lines) {
		text_address(r, printed->freeze->ip);
		out_literal(out, " is that of no line\n");
		return;
	}
	out_literal(out, "is that of line ");
	out_dec(out, printed->ip_line, 0);
	out_char(out, '\n');
	text_memory(out, printed);
}

static void text_astray(struct renderer *r, const struct stack_printed *printed)
{
	const struct stack_astray *astray = printed->astray;
	struct out *out = &r->out;

	out_literal(out, "# event ");
	text_n(out, printed, astray->n, 0);
	out_literal(out, ": the return at ");
	text_address(r, astray->from);
	out_literal(out, " led to ");
	text_address(r, astray->to);
	if (astray->expected) {
		out_literal(out, ", but event ");
		text_n(out, printed, astray->call_n, 0);
		out_literal(out, " had called from before ");
		text_return_address(r, astray->expected);
	} else {
		out_literal(out, ", where no call was open");
	}
	out_literal(out, ": a changed return address, or another way to leave a function\n");
}

/* --- All ---------------------------------------------------------------- */

static void text_title(struct out *out, const struct stack_printed *printed)
{
	unsigned int cpu;
	uint64_t n = stack_n(printed, printed->n, &cpu);

	out_literal(out, "# CPU ");
	out_dec(out, cpu, 0);
	out_str(out, printed->places ? ", call stack from all CPUs at event " :
				       ", call stack at event ");
	out_dec(out, n, 0);
	out_literal(out, ": ");
	if (printed->side)
		out_thread(out, printed->side->pid, printed->side->tgid, printed->side->comm);
	else
		out_literal(out, "thread not known");
	out_char(out, '\n');
}

void stack_text(struct renderer *r, const struct stack_printed *printed)
{
	r->side = printed->side;
	text_title(&r->out, printed);
	for (size_t i = 0; i < printed->nr_lines && !r->out.stopped; i++) {
		text_before_line(r, printed, i);
		text_line(r, printed, i);
	}
	out_str(&r->out, printed->complete ?
				 "    -- the thread begins here\n" :
				 "    -- older frames were entered before the history begins\n");
	if (printed->freeze)
		text_freeze(r, printed);
	if (printed->astray)
		text_astray(r, printed);
}
