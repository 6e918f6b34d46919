/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of frames have in common: a kernel of small functions, branches in it, and
 * claims on the stack that they leave.  Plain branches are also fed the plain way, to a stage
 * of their own.
 */
#ifndef BTSREC_TESTS_UNIT_FRAMESFIX_H
#define BTSREC_TESTS_UNIT_FRAMESFIX_H

#include "check_btsrec.h"
#include "../frames_pair.h"

/* A function is 256 bytes; the first of a half is without bounds. */
#define K(i)	(0xffffffff81000000ULL + 0x100 * (i))
#define U(i)	(0x0000555555554000ULL + 0x100 * (i))

#define SWITCH_TO_ASM	K(0x40)
#define SWITCH_TO	K(0x41)
#define FORK		K(0x42)
#define HOOK		K(0x43)
#define WARM		K(0x44)
#define COLD		K(0x45)
#define THUNK		K(0x46)
#define TRAMPOLINE	K(0x47)
#define DIRECT		K(0x48)
#define JIT		0xffffffffc0000000ULL

#define CALL_BYTES	5

/* @frames: the general one of @pair. */
static struct frames_pair pair;
static struct frames *frames;
static uint64_t nr_plain;
static struct frames_step step;
static uint64_t n;
static struct btsrec_side side;
static bool has_side;

/* --- A machine ---------------------------------------------------------- */

static inline uint64_t function(uint64_t va)
{
	return (va & ~0xffULL) == COLD ? WARM : va & ~0xffULL;
}

static inline enum frames_place place(void *arg, uint64_t from, uint64_t to)
{
	(void)arg;
	if ((from & ~0xfffULL) == JIT || (to & ~0xfffULL) == JIT)
		return FRAMES_UNKNOWN;
	if (function(from) == SWITCH_TO_ASM && function(to) == SWITCH_TO_ASM)
		return FRAMES_SWITCHED;
	if (function(from) == function(to))
		return to & 0xff || to == COLD ? FRAMES_SAME : FRAMES_SAME_START;
	if (to & 0xff)
		return FRAMES_INSIDE;
	return function(from) == SWITCH_TO_ASM ? FRAMES_SWITCH : FRAMES_START;
}

static inline enum kernel_code code_at(void *arg, uint64_t va)
{
	(void)arg;
	if (va == HOOK)
		return KERNEL_CODE_HOOK;
	return va == FORK ? KERNEL_CODE_FORK : KERNEL_CODE_PLAIN;
}

static inline bool is_trampoline(void *arg, uint64_t from, uint64_t entered)
{
	(void)arg;
	(void)from;
	return entered == TRAMPOLINE;
}

static inline bool is_start(void *arg, uint64_t va)
{
	(void)arg;
	return !(va & 0xff);
}

static inline bool is_made(void *arg, uint64_t va)
{
	(void)arg;
	return va == DIRECT;
}

static inline void start_with(const struct frames_source *source)
{
	frames_pair_free(&pair);
	ck_assert(frames_pair_new(&pair, source));
	frames = pair.general;
	n = 0;
	memset(&side, 0, sizeof(side));
	side.pid = 1;
	has_side = true;
}

static inline void start(void)
{
	start_with(&(struct frames_source){ .place = place, .code = code_at,
					    .is_trampoline = is_trampoline, .is_start = is_start,
					    .is_made = is_made, .idt_known = true });
}

static inline void finish(void)
{
	nr_plain = pair.nr_plain;
	frames_pair_free(&pair);
	frames = NULL;
}

static inline void feed(const struct btsrec_event *event, const struct proof_step *proof)
{
	const struct frames_step *ret = frames_pair_feed(&pair, event, has_side ? &side : NULL,
							 proof);

	ck_assert_ptr_nonnull(ret);
	step = *ret;
}

static inline void branch_as(enum branch_type type, uint64_t from, uint64_t to, struct proof_step proof)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH, .n = n++ };

	event.branch.from = from;
	event.branch.to = to;
	proof.branch.type = type;
	if (type == BRANCH_NONE)
		proof.kind = PROOF_BROKEN;
	feed(&event, &proof);
}

static inline void branch(enum branch_type type, uint64_t from, uint64_t to)
{
	struct proof_step proof = { .length_bytes = CALL_BYTES, .branch.vector = -1 };

	branch_as(type, from, to, proof);
}

static inline void entry(enum branch_type type, int vector, uint64_t from, uint64_t to)
{
	struct proof_step proof = { .length_bytes = 2, .branch.vector = vector };

	branch_as(type, from, to, proof);
}

static inline void to_thunk(enum branch_type type, uint64_t from)
{
	struct proof_step proof = { .length_bytes = CALL_BYTES, .branch.vector = -1,
				    .branch.to_thunk = true };

	branch_as(type, from, THUNK, proof);
}

static inline void call(uint64_t from, uint64_t to)
{
	branch(BRANCH_CALL, from, to);
}

static inline void ret(uint64_t from, uint64_t to)
{
	branch(BRANCH_RET, from, to);
}

static inline void jump(uint64_t from, uint64_t to)
{
	branch(BRANCH_JUMP, from, to);
}

static inline void gap(void)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_GAP, .n = n++ };

	feed(&event, NULL);
}

static inline void annotate(enum btsrec_event_kind kind, uint32_t prev_pid, uint32_t next_pid)
{
	struct btsrec_event event = { .kind = kind, .n = n++ };

	event.sw.prev.pid = prev_pid;
	event.sw.next.pid = next_pid;
	feed(&event, NULL);
	side.pid = next_pid;
}

/* As __schedule does it: annotate, call, jump.  The return is the caller's. */
static inline void switch_to(uint32_t prev_pid, uint32_t next_pid)
{
	annotate(BTSREC_EVENT_SWITCH, prev_pid, next_pid);
	call(K(0x30), SWITCH_TO_ASM);
	ck_assert(!step.switched);
	call(SWITCH_TO_ASM + 0x10, SWITCH_TO_ASM + 0x16);
	ck_assert(step.switched);
	ck_assert_uint_eq(frames_stack(frames)->pid, next_pid);
	ck_assert_uint_eq(step.nr_entered, 0);
	branch(BRANCH_COND, SWITCH_TO_ASM + 0x20, SWITCH_TO_ASM + 0x10);
	ck_assert(!step.switched);
	jump(SWITCH_TO_ASM + 0x80, SWITCH_TO);
	ck_assert(!step.switched);
	ck_assert_uint_eq(step.nr_entered, 1);
}

/* --- Claims ------------------------------------------------------------- */

static inline size_t depth(void)
{
	return frames_stack(frames)->nr;
}

static inline void ck_entered(enum frame_kind kind, uint64_t entered, int64_t level)
{
	const struct frame *frame;

	ck_assert_uint_eq(step.nr_entered, 1);
	frame = frames_entered(frames, 0);
	ck_assert_msg(frame->kind == kind, "a frame of kind %s", frame_kind_str(frame->kind));
	ck_assert_uint_eq(frame->entered, entered);
	ck_assert_uint_eq(frame->n, n - 1);
	ck_assert_int_eq(frame->level, level);
	ck_assert_int_eq(step.level, level);
}

/* Left so many; the outermost of them began at @entered; nothing else. */
static inline void ck_left(unsigned int nr, uint64_t entered, int64_t level)
{
	ck_assert_uint_eq(step.nr_left, nr);
	ck_assert_uint_eq(frames_left(frames, 0)->entered, entered);
	ck_assert_int_eq(step.level, level);
	ck_assert_uint_eq(step.nr_entered, 0);
	ck_assert(!step.deeper && !step.mismatch && !step.elsewhere);
}

static inline void ck_deeper(unsigned int nr_left, int64_t level)
{
	ck_assert(step.deeper && !step.mismatch);
	ck_assert_uint_eq(step.nr_left, nr_left);
	ck_assert_int_eq(step.level, level);
}

static inline void ck_nothing(int64_t level)
{
	ck_assert_uint_eq(step.nr_left, 0);
	ck_assert_uint_eq(step.nr_entered, 0);
	ck_assert(!step.deeper && !step.mismatch && !step.elsewhere);
	ck_assert_int_eq(step.level, level);
}

#endif /* BTSREC_TESTS_UNIT_FRAMESFIX_H */
