// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/trace_frames.h"

#include <string.h>

#include "flow/frames_fast.h"
#include "flow/unwind.h"
#include "kernel/kread.h"
#include "symbols/symbol.h"

/* --- Functions ---------------------------------------------------------- */

/* Where modules can be, and code that is made at run time (Documentation/arch/x86, mm.rst). */
#define MODULES_KVA	0xffffffffa0000000ULL

/* CONFIG_FUNCTION_ALIGNMENT, and what compilers did before that. */
#define FUNCTION_ALIGN	16

/* A call that ftrace has put where a function begins, which may be with ENDBR64. */
#define MAX_FENTRY_BYTES	4

bool trace_is_switch(struct btsrec *rec, uint64_t va)
{
	struct code *code = trace_code(rec);
	struct kernel_switch ignored;

	return code && kernel_code_switched(code, va, &ignored);
}

bool trace_is_fork(struct btsrec *rec, uint64_t va)
{
	struct code *code = trace_code(rec);

	return code && kernel_code_at(code, va) == KERNEL_CODE_FORK;
}

/* Parts of one function that lie apart; of several functions it is not known which one. */
static bool are_parts(struct btsrec *rec, uint64_t from_va, uint64_t to_va)
{
	struct symbol_name from, to;

	return symbol_bounds(rec, from_va, true, &from) && symbol_bounds(rec, to_va, true, &to) &&
	       (symbol_is_split(from.name, from.name_bytes) ||
		symbol_is_split(to.name, to.name_bytes));
}

static bool same_name(const struct symbol_name *from, const struct symbol_name *to)
{
	return from->name_bytes == to->name_bytes &&
	       !memcmp(from->name, to->name, from->name_bytes);
}

static enum frames_place place_of_bounds(struct btsrec *rec, uint64_t from_va,
					 const struct symbol_name *from, uint64_t to_va,
					 const struct symbol_name *to)
{
	bool at_start = symbol_is_front(to->offset_bytes);

	if (from_va - from->offset_bytes == to_va - to->offset_bytes)
		return at_start ? FRAMES_SAME_START : FRAMES_SAME;
	if (same_name(from, to) && are_parts(rec, from_va, to_va))
		return FRAMES_SAME;
	return at_start ? FRAMES_START : FRAMES_INSIDE;
}

static bool has_bounds(struct btsrec *rec, uint64_t va, struct symbol_name *ret)
{
	return symbol_bounds(rec, va, false, ret) && ret->name_bytes;
}

static enum frames_place place_of_switch(const struct kernel_switch *sw, uint64_t to_va)
{
	return to_va - sw->begin_kva < sw->end_kva - sw->begin_kva ? FRAMES_SWITCHED :
								     FRAMES_SWITCH;
}

/* Where nothing has bounds, functions that can be traced show where they begin. */
static enum frames_place place_of_bytes(struct btsrec *rec, uint64_t to_va)
{
	if (symbols_bounded(rec) || !kernel_code_entry(trace_code(rec), to_va))
		return FRAMES_UNKNOWN;
	return FRAMES_START;
}

static enum frames_place place(void *arg, uint64_t from_va, uint64_t to_va)
{
	struct symbol_name from, to;
	struct kernel_switch sw;

	if (kernel_code_switched(trace_code(arg), from_va, &sw))
		return place_of_switch(&sw, to_va);
	if (!has_bounds(arg, to_va, &to) || !has_bounds(arg, from_va, &from))
		return place_of_bytes(arg, to_va);
	return place_of_bounds(arg, from_va, &from, to_va, &to);
}

static enum kernel_code code_at(void *arg, uint64_t va)
{
	return kernel_code_at(trace_code(arg), va);
}

/* The kernel's image lies in one piece; what is made is allocated page by page. */
static bool is_in_image(struct btsrec *rec, uint64_t va)
{
	const struct btsrec_root *root = btsrec_root(rec);
	uint64_t pa;

	return code_pa(trace_code(rec), va, &pa) &&
	       pa == va - KREAD_IMAGE_KVA + root->phys_base;
}

/* Beyond the kernel's image, where modules are and none is, is what the kernel has made. */
bool trace_is_made(struct btsrec *rec, uint64_t va)
{
	return va >= MODULES_KVA && !btsrec_module_at(rec, va) && !is_in_image(rec, va) &&
	       !symbols_init(rec, va);
}

bool trace_is_trampoline(struct btsrec *rec, uint64_t va)
{
	static const char program[] = "bpf_prog_";
	struct symbol_name name;
	uint64_t pa;

	if (!trace_is_made(rec, va))
		return false;
	/* What is not in the dump may be of the image. */
	if (!symbol_find_as(rec, va, false, &name) || !name.name_bytes)
		return code_pa(trace_code(rec), va, &pa);
	return *name.module && (name.name_bytes < sizeof(program) - 1 ||
				memcmp(name.name, program, sizeof(program) - 1) != 0);
}

/* MAX_OPTIMIZED_LENGTH of asm/kprobes.h: what a jump replaces ends before that. */
#define PROBED_MAX_BYTES	20

/* Does a probe stand less than so far before @end: INT3, or a jump to what is made? */
static bool is_behind_probe(struct btsrec *rec, uint64_t end)
{
	struct code_insn insn;

	for (uint64_t at = end - 1; at > end - PROBED_MAX_BYTES; at--)
		if (!code_insn(trace_code(rec), 0, at, false, &insn) &&
		    (insn.class == CODE_INT || (insn.class == CODE_JUMP && insn.has_target &&
						trace_is_made(rec, insn.target))))
			return true;
	return false;
}

/* A copy has the size of what it is made from (arch/x86/kernel/kprobes/opt.c and core.c). */
uint64_t trace_probed(struct btsrec *rec, uint64_t va)
{
	struct code_insn insn;
	uint64_t at = va;

	if (!trace_is_trampoline(rec, va))
		return va;
	while (at - va < PROBED_MAX_BYTES && !code_insn(trace_code(rec), 0, at, false, &insn)) {
		if (insn.class == CODE_JUMP && insn.has_target && at > va)
			return !insn.there && !trace_is_made(rec, insn.target) &&
				       is_behind_probe(rec, insn.target) ?
				       insn.target - (at - va) : va;
		if (insn.class != CODE_PLAIN)
			return va;
		at += insn.length_bytes;
	}
	return va;
}

static bool is_made(void *arg, uint64_t va)
{
	return trace_is_made(arg, va);
}

/* Functions without bounds begin where the compiler and the kernel align them. */
static bool is_start(void *arg, uint64_t va)
{
	struct symbol_name name;

	if (has_bounds(arg, va, &name))
		return symbol_is_front(name.offset_bytes);
	return va % FUNCTION_ALIGN == 0 || is_made(arg, va);
}

static bool is_gone(struct btsrec *rec, uint64_t va)
{
	uint64_t pa;

	return !code_pa(trace_code(rec), va, &pa);
}

/*
 * Compilers make no call of another module, or of what is in none, before anything else: ftrace
 * does, wherever a function begins.
 */
static bool is_called_by_ftrace(struct btsrec *rec, uint64_t from, uint64_t entered)
{
	struct symbol_name name;

	if (entered < MODULES_KVA || is_in_image(rec, entered) ||
	    btsrec_module_at(rec, from) == btsrec_module_at(rec, entered))
		return false;
	return has_bounds(rec, from, &name) ? name.offset_bytes <= MAX_FENTRY_BYTES :
		kernel_code_entry(trace_code(rec), from) ||
		kernel_code_entry(trace_code(rec), from - MAX_FENTRY_BYTES);
}

/* Trampolines are copies of one, or are called as one; those that are gone may have been one. */
static bool is_trampoline(void *arg, uint64_t from, uint64_t entered)
{
	return code_at(arg, entered) == KERNEL_CODE_TRAMPOLINE ||
	       is_called_by_ftrace(arg, from, entered) ||
	       (is_made(arg, entered) && is_gone(arg, entered));
}

static enum frames_site site(void *arg, uint64_t cr3, uint64_t va)
{
	uint64_t target;
	bool unknown;

	if (unwind_call_in(trace_code(arg), cr3, va, &target, &unknown))
		return FRAMES_SITE_CALL;
	return unknown ? FRAMES_SITE_UNKNOWN : FRAMES_SITE_NONE;
}

/* --- Events ------------------------------------------------------------- */

/* What the next event does, if it is a plain branch; else NULL. */
static const struct frames_step *next_plain(struct trace *trace, struct frames *frames,
					    struct trace_event *ret)
{
	struct trace_way way = trace_way_begin(trace);
	const struct code_brief *run = NULL;
	const struct frames_step *step;

	if (proof_is_plain(&trace->proof))
		run = trace_way_run(trace, &way);
	if (!run)
		return NULL;
	step = frames_feed_plain(frames, way.n, way.branch, run);
	if (step)
		trace_next_plain(trace, &way, run, ret);
	return step;
}

/* The next event and what it does; NULL: there is none. */
static const struct frames_step *next_step(struct trace *trace, struct frames *frames,
					   struct trace_event *ret)
{
	const struct frames_step *step = next_plain(trace, frames, ret);

	if (step)
		return step;
	if (!trace_next(trace, ret))
		return NULL;
	return frames_feed(frames, ret->event, ret->side, ret->step);
}

uint64_t trace_frames_pass(struct trace *trace, struct frames *frames, uint64_t end_n,
			   uint64_t cookie)
{
	struct trace_way way = trace_way_begin(trace);
	const uint64_t first_n = way.n;
	const struct code_brief *run;

	while (way.n < end_n && (run = trace_way_run(trace, &way)) != NULL) {
		enum frames_move move;
		struct frame *frame;

		move = frames_fast(frames, way.n, way.branch, run, &frame);
		if (move == FRAMES_NOT_PLAIN)
			break;
		if (move == FRAMES_ENTERS && frame)
			frame->cookie = cookie;
		trace_way_pass(trace, &way, run);
	}
	trace_way_end(trace, &way);
	return way.n - first_n;
}

static enum btsrec_status feed_all(struct trace *trace, struct frames *frames,
				   const struct trace_frames_fns *fns)
{
	const struct frames_step *step;
	struct trace_event event;

	while (!trace->status) {
		if (fns->plain && proof_is_plain(&trace->proof) && frames_are_plain(frames) &&
		    !fns->plain(fns->arg, trace, frames))
			return trace_stopped(trace);
		step = next_step(trace, frames, &event);
		if (!step)
			break;
		if (!fns->event(fns->arg, &event, step, frames))
			return trace_stopped(trace);
	}
	return trace->status;
}

struct frames *trace_frames_new(struct btsrec *rec)
{
	struct frames_source source = { .place = place, .code = code_at,
					.is_trampoline = is_trampoline, .is_start = is_start,
					.is_made = is_made, .site = site, .arg = rec };
	struct code *code = trace_code(rec);

	/* By FRED a system call enters as all does. */
	source.idt_known = code && code_idt(code)->known && !code_idt(code)->fred_config;
	return code ? frames_new(&source) : NULL;
}

enum btsrec_status trace_frames(struct btsrec *rec, unsigned int cpu,
				const struct trace_frames_fns *fns)
{
	enum btsrec_status status = BTSREC_ERR_NOMEM;
	struct frames *frames;
	struct trace trace;

	if (!btsrec_root(rec))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no recorder located yet");
	frames = trace_frames_new(rec);
	if (frames) {
		status = trace_open(&trace, rec, cpu, 0, true);
		if (!status)
			status = feed_all(&trace, frames, fns);
		if (!status && fns->end)
			fns->end(fns->arg, frames);
		trace_close(&trace);
	}
	if (!frames || frames_nomem(frames))
		status = msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	frames_free(frames);
	return status;
}
