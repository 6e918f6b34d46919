// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stacks: any sequence of branches, switches and gaps, possible or not, keeps its promises.  Plain
 * branches do by the fast way what they do in general.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../frames_pair.h"

#define NR_ADDRESSES	64
#define OP_BYTES	4

/* Half of them kernel, in functions of 16 bytes. */
static uint64_t address(uint8_t byte)
{
	uint64_t offset = byte % NR_ADDRESSES * 5;

	return (byte & 0x80 ? 0xffffffff81000000ULL : 0x400000ULL) + offset;
}

static enum frames_place place(void *arg, uint64_t from, uint64_t to)
{
	(void)arg;
	if (from / 16 == to / 16)
		return to % 16 ? FRAMES_SAME : FRAMES_SAME_START;
	if (to % 16)
		return FRAMES_INSIDE;
	return FRAMES_START + (enum frames_place)(to / 16 % 3);
}

static enum kernel_code code_at(void *arg, uint64_t va)
{
	(void)arg;
	return (enum kernel_code)(va / 16 % (KERNEL_CODE_TRAMPOLINE + 1));
}

static bool is_trampoline(void *arg, uint64_t from, uint64_t entered)
{
	return from % 2 && code_at(arg, entered) == KERNEL_CODE_TRAMPOLINE;
}

static bool is_start(void *arg, uint64_t va)
{
	(void)arg;
	return !(va % 16);
}

static bool is_made(void *arg, uint64_t va)
{
	(void)arg;
	return va / 32 % 2;
}

static void check(struct frames *frames, const struct frames_step *step, uint64_t n)
{
	const struct stack *stack = frames_stack(frames);
	const struct stacks *stacks = frames_stacks(frames);

	if (stack->nr > STACKS_MAX_DEPTH || stack->nr_old > stack->nr ||
	    stacks->nr > STACKS_MAX || step->nr_entered > stack->nr ||
	    step->nr_left > STACKS_MAX_DEPTH || step->level != stack->level ||
	    (step->bridged && step->segment >= step->bridged_segment))
		abort();
	for (unsigned int i = 0; i < step->nr_entered; i++)
		if (frames_entered(frames, i)->cookie)
			abort();
	for (unsigned int i = 0; i < step->nr_left; i++)
		if (frames_left(frames, i)->nr_branches > n)
			abort();
	for (size_t i = 0; i < stack->nr; i++)
		stack->frames[i].cookie = 1;
}

static void feed(struct frames_pair *pair, const uint8_t *op, uint64_t n)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH, .n = n };
	struct btsrec_side side = { .pid = op[3] };
	struct proof_step proof = { .length_bytes = op[3] & 7, .branch.vector = op[3] };
	const struct frames_step *step;

	if (op[0] >= 0xf0)
		event.kind = (enum btsrec_event_kind)(op[0] % (BTSREC_EVENT_GAP + 1));
	if (event.kind == BTSREC_EVENT_BRANCH) {
		event.branch.from = address(op[1]);
		event.branch.to = address(op[2]);
		proof.branch.type = (enum branch_type)(op[0] % (BRANCH_THUNK + 1));
		proof.branch.to_thunk = op[3] & 0x10;
		proof.kind = op[3] == 0xff ? PROOF_BROKEN : PROOF_PROVEN;
	} else {
		event.sw.prev.pid = op[1];
		event.sw.next.pid = op[2];
		event.mm_only = op[3] & 1;
	}
	step = frames_pair_feed(pair, &event, op[3] & 0x20 ? &side : NULL,
				op[3] & 0x40 ? NULL : &proof);
	if (!step)
		abort();
	check(pair->general, step, n + 1);
}

static enum frames_site site(void *arg, uint64_t cr3, uint64_t va)
{
	(void)arg;
	return (enum frames_site)((va + cr3) % (FRAMES_SITE_NONE + 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	struct frames_source source = { .code = code_at, .is_trampoline = is_trampoline,
					.is_start = is_start, .is_made = is_made,
					.idt_known = true };
	static struct frames_pair pair;

	if (nr_bytes && bytes[0] & 1)
		source.place = place;
	if (nr_bytes && bytes[0] & 2)
		source.site = site;
	if (frames_pair_new(&pair, &source)) {
		pair.place = source.place;
		for (size_t i = 0; i + OP_BYTES <= nr_bytes; i += OP_BYTES)
			feed(&pair, bytes + i, i / OP_BYTES);
	}
	frames_pair_free(&pair);
	return 0;
}
