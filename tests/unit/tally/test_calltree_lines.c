// SPDX-License-Identifier: GPL-2.0-or-later
/* What a tree keeps of its lines is what was put there, whether a cell has room for it or not. */
#include "tally/calltree_impl.h"
#include "check_btsrec.h"
#include "failing_alloc.h"

#define NEVER	UINT64_MAX
#define HANDLER	0xffffffff81234560ULL

static struct calltree tree;

static void start(void)
{
	calltree_fini(&tree);
	calltree_clear(&tree);
}

static struct frame frame_at(uint64_t n)
{
	return (struct frame){ .kind = FRAME_EXCEPTION, .vector = 14, .n = n, .level = -3,
			       .segment = 2, .from = 0xffffffff81000000ULL + n,
			       .entered = 0x00007ffffffff000ULL - n };
}

static void is_frame(const struct calltree_line *line, const struct frame *frame)
{
	ck_assert_int_eq(line->kind, CALLTREE_CALL);
	ck_assert_int_eq(line->frame, frame->kind);
	ck_assert_int_eq(line->vector, frame->vector);
	ck_assert_uint_eq(line->n, frame->n);
	ck_assert_uint_eq(line->from, frame->from);
	ck_assert_uint_eq(line->to, frame->entered);
	ck_assert_int_eq(line->level, frame->level);
	ck_assert_uint_eq(line->segment, frame->segment);
}

static void is_ended(const struct calltree_line *line, const struct frame *frame, uint64_t last_n,
		     bool more)
{
	is_frame(line, frame);
	ck_assert_uint_eq(line->last_n, last_n);
	ck_assert_uint_eq(line->call.nr_branches, frame->nr_branches);
	ck_assert(line->more == more);
}

/*
 * Numbers with and without room in a cell: when the call begins, its branches, and how many
 * events are none of them.  More branches than events there are none, but then numbers decide.
 */
static const uint64_t begins[] = { 0, 1, UINT32_MAX, UINT32_MAX + 1ULL, 1ULL << 50 };
static const uint64_t branches[] = { 0, 1, CALLTREE_MAX_CELL_BRANCHES,
				     CALLTREE_MAX_CELL_BRANCHES + 1, UINT32_MAX + 1ULL,
				     1ULL << 50 };
static const uint64_t others[] = { 0, 1, CALLTREE_MAX_CELL_OTHERS, CALLTREE_MAX_CELL_OTHERS + 1,
				   1ULL << 40, UINT64_MAX };

static void check_call(uint64_t n, uint64_t nr_branches, uint64_t nr_others, bool more)
{
	uint64_t length = nr_branches + nr_others;
	struct frame frame = frame_at(n);
	struct calltree_line line;

	start();
	calltree_put_call(&tree, &frame);
	ck_assert_uint_eq(frame.cookie, 1);
	line = calltree_line(&tree, 0);
	is_frame(&line, &frame);
	ck_assert_uint_eq(line.last_n, NEVER);
	ck_assert_uint_eq(line.call.nr_branches, 0);
	ck_assert_uint_eq(line.call.handler, 0);
	ck_assert(!line.more);

	calltree_count(&tree, 0, nr_branches);
	ck_assert_uint_eq(calltree_line(&tree, 0).call.nr_branches, nr_branches);
	ck_assert_uint_eq(calltree_line(&tree, 0).last_n, NEVER);

	frame.nr_branches = nr_branches;
	calltree_end_call(&tree, &frame, n + length, n + more);
	line = calltree_line(&tree, 0);
	is_ended(&line, &frame, n + length, more);

	calltree_name(&tree, 0, HANDLER);
	line = calltree_line(&tree, 0);
	is_ended(&line, &frame, n + length, more);
	ck_assert_uint_eq(line.call.handler, HANDLER);

	/* The end is all that makes it whole, if it is. */
	calltree_put_call(&tree, &frame);
	calltree_end_call(&tree, &frame, n + length, n + more);
	line = calltree_line(&tree, 1);
	is_ended(&line, &frame, n + length, more);
	ck_assert_uint_eq(tree.nr_lines, 2);
}

START_TEST(calls)
{
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		for (size_t j = 0; j < sizeof(branches) / sizeof(branches[0]); j++)
			for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
				check_call(begins[i], branches[j], others[k], (i + j + k) % 2);
	calltree_fini(&tree);
}
END_TEST

static void check_frame(const struct frame *frame, bool whole)
{
	struct frame entered = *frame;
	struct calltree_line line;

	start();
	calltree_put_call(&tree, &entered);
	line = calltree_line(&tree, 0);
	is_frame(&line, frame);
	ck_assert(!calltree_cell(&tree, 0)->pattern == whole);
	ck_assert_uint_eq(tree.nr_whole, whole);
}

/* What calls are like, at both sides of what a cell has room for. */
START_TEST(frames)
{
	const uint64_t in[] = { 0, (1ULL << 47) - 1, 0xffff800000000000ULL, UINT64_MAX };
	const uint64_t out[] = { 1ULL << 47, 0xffff7fffffffffffULL, 0xff11000000001000ULL };
	const int64_t levels[] = { INT16_MIN, INT16_MAX, INT16_MIN - 1, INT16_MAX + 1 };
	const int vectors[] = { -1, 0, 128, 255 };
	struct frame frame = frame_at(0);

	for (unsigned int i = 0; i < 4; i++) {
		frame.from = frame.entered = in[i];
		frame.vector = vectors[i];
		check_frame(&frame, false);
	}
	for (enum frame_kind kind = FRAME_CALL; kind <= FRAME_DIVERT; kind++) {
		frame.kind = kind;
		check_frame(&frame, false);
	}
	for (unsigned int i = 0; i < 3; i++) {
		frame = frame_at(0);
		frame.from = out[i];
		check_frame(&frame, true);
		frame = frame_at(0);
		frame.entered = out[i];
		check_frame(&frame, true);
	}
	frame = frame_at(0);
	for (unsigned int i = 0; i < 4; i++) {
		frame.level = levels[i];
		check_frame(&frame, i >= 2);
	}
	frame.level = 0;
	for (uint32_t segment = UINT16_MAX; segment <= UINT16_MAX + 1; segment++) {
		frame.segment = segment;
		check_frame(&frame, segment > UINT16_MAX);
	}
	calltree_fini(&tree);
}
END_TEST

/* A call that is named before it ends, and one without a line. */
START_TEST(named_first)
{
	struct frame frame = frame_at(7), unknown = frame_at(8);
	struct calltree_line line;

	start();
	calltree_put_call(&tree, &frame);
	calltree_name(&tree, 0, 1);
	frame.nr_branches = 3;
	calltree_end_call(&tree, &frame, 10, 0);
	calltree_end_call(&tree, &unknown, 10, 0);
	line = calltree_line(&tree, 0);
	is_ended(&line, &frame, 10, false);
	ck_assert_uint_eq(line.call.nr_branches, 3);
	ck_assert_uint_eq(line.call.handler, 1);
	ck_assert_uint_eq(tree.nr_lines, 1);
	calltree_fini(&tree);
}
END_TEST

/* As many kinds of calls as there are numbers for, then more; each line is what was put there. */
START_TEST(patterns)
{
	const uint32_t nr = UINT16_MAX + 3;

	start();
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < nr; i++) {
			struct frame frame = frame_at(i);

			frame.segment = i % (UINT16_MAX + 1);
			frame.from = (uint64_t)(i / (UINT16_MAX + 1)) << 32;
			calltree_put_call(&tree, &frame);
		}
		ck_assert(tree.complete && !tree.nomem);
		ck_assert_uint_eq(tree.nr_patterns, UINT16_MAX);
		ck_assert_uint_eq(tree.pattern_numbers.nr, UINT16_MAX);
		for (uint32_t i = 0; i < nr; i++) {
			struct calltree_line line = calltree_line(&tree, i);
			struct frame frame = frame_at(i);

			frame.segment = i % (UINT16_MAX + 1);
			frame.from = (uint64_t)(i / (UINT16_MAX + 1)) << 32;
			is_frame(&line, &frame);
		}
		calltree_clear(&tree);
		ck_assert_uint_eq(tree.nr_patterns, 0);
	}
	calltree_fini(&tree);
}
END_TEST

/* Each kind has one number, however many there are in between. */
START_TEST(patterns_come_again)
{
	start();
	for (uint32_t i = 0; i < 3000; i++) {
		struct frame frame = frame_at(i);

		frame.segment = i % 1000;
		calltree_put_call(&tree, &frame);
		ck_assert_uint_eq(calltree_cell(&tree, i)->pattern, i % 1000 + 1);
	}
	ck_assert_uint_eq(tree.nr_patterns, 1000);
	calltree_fini(&tree);
}
END_TEST

/* Lines of all kinds stay in order over chunks, and a tree that was cleared is a new one. */
START_TEST(many)
{
	const size_t nr = 2 * CALLTREE_CHUNK_LINES + 3;

	start();
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < nr; i++) {
			struct frame frame = frame_at(i);
			struct calltree_line other = { .kind = CALLTREE_CYCLE, .n = i, .to = i,
						       .level = 5, .cycle = { 2, i } };

			if (i % 1000 == 1)
				ck_assert_ptr_nonnull(calltree_put(&tree, &other));
			else
				calltree_put_call(&tree, &frame);
		}
		ck_assert_uint_eq(tree.nr_lines, nr);
		ck_assert(tree.complete && !tree.nomem);
		ck_assert_int_eq(tree.segments[0].lowest, 5);
		ck_assert_int_eq(tree.segments[2].lowest, -3);
		for (size_t i = 0; i < nr; i++) {
			struct calltree_line line = calltree_line(&tree, i);

			ck_assert_uint_eq(line.n, i);
			ck_assert_int_eq(line.kind, i % 1000 == 1 ? CALLTREE_CYCLE : CALLTREE_CALL);
			if (i % 1000 == 1)
				ck_assert_uint_eq(line.cycle.nr_rounds, i);
		}
		calltree_clear(&tree);
		ck_assert_uint_eq(tree.nr_lines, 0);
		ck_assert_uint_eq(tree.nr_segments, 0);
	}
	calltree_fini(&tree);
}
END_TEST

/* As if all were there. */
START_TEST(no_room)
{
	struct calltree_line line = { .kind = CALLTREE_LOST };

	start();
	tree.nr_whole = CALLTREE_MAX_WHOLE;
	ck_assert_ptr_null(calltree_put(&tree, &line));
	ck_assert(!tree.complete && !tree.nomem);
	ck_assert_uint_eq(tree.nr_lines, 0);

	start();
	tree.nr_lines = CALLTREE_MAX_LINES;
	ck_assert_ptr_null(calltree_put(&tree, &line));
	ck_assert(!tree.complete && !tree.nomem);
	tree.nr_lines = 0;
	calltree_fini(&tree);
}
END_TEST

/* For their kind, for the first lines, for their segment, and for one that is whole. */
START_TEST(no_memory)
{
	for (unsigned int nth = 1; nth <= 5; nth++) {
		struct frame frame = frame_at(1);

		start();
		failing_alloc_arm(nth);
		calltree_put_call(&tree, &frame);
		if (frame.cookie)
			calltree_name(&tree, 0, HANDLER);
		ck_assert(failing_alloc_disarm());
		ck_assert(tree.nomem);
		ck_assert_uint_eq(tree.nr_lines, nth == 5);
		ck_assert_uint_eq(frame.cookie, nth == 5);
	}
	calltree_fini(&tree);
}
END_TEST

/* --- Times -------------------------------------------------------------- */

static size_t nr_before(uint64_t n)
{
	size_t nr = 0;

	while (nr < tree.nr_times && tree.times[nr].n < n)
		nr++;
	return nr;
}

/* The bounds of a call's duration, by what is said of them. */
static bool ticks(const struct calltree_line *line, uint64_t *ret_min, uint64_t *ret_max)
{
	size_t begin = nr_before(line->n + 1), end = nr_before(line->last_n);

	if (!begin || end == tree.nr_times)
		return false;
	*ret_max = tree.times[end].tsc - tree.times[begin - 1].tsc;
	*ret_min = end > begin ? tree.times[end - 1].tsc - tree.times[begin].tsc : 0;
	return true;
}

/* In any order of the calls that are asked for. */
START_TEST(durations)
{
	static struct calltree_time times[200];
	uint64_t random = 1, n = 0;

	start();
	tree.times = times;
	for (size_t nr_times = 0; nr_times <= 200; nr_times += 50) {
		tree.nr_times = nr_times;
		for (size_t i = 0; i < nr_times; i++) {
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			n += 1 + (random >> 40) % 9;
			times[i] = (struct calltree_time){ n, 10 * n + i };
		}
		for (size_t i = 0; i < 20000; i++) {
			struct calltree_line line = { .kind = CALLTREE_CALL };
			uint64_t min = 1, max = 2, want_min = 3, want_max = 4;
			bool known;

			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			line.n = (random >> 33) % (n + 10);
			line.last_n = line.n + (random >> 20) % (i % 2 ? 5 : n + 10);
			known = ticks(&line, &want_min, &want_max);
			ck_assert(calltree_ticks(&tree, &line, &min, &max) == known);
			ck_assert(!known || (min == want_min && max == want_max));
		}
		n = 0;
	}
	tree.times = NULL;
	calltree_fini(&tree);
}
END_TEST

START_TEST(no_duration)
{
	struct calltree_time times[] = { { 1, 10 }, { 5, 50 }, { 9, 40 } };
	struct calltree_line line = { .kind = CALLTREE_CALL, .n = 2, .last_n = 3 };
	uint64_t min, max;

	start();
	tree.times = times;
	tree.nr_times = 3;
	ck_assert(calltree_ticks(&tree, &line, &min, &max));
	ck_assert_uint_eq(max, 40);
	ck_assert_uint_eq(min, 0);
	line.last_n = NEVER;
	ck_assert(!calltree_ticks(&tree, &line, &min, &max));
	/* Time that goes backwards bounds nothing. */
	line = (struct calltree_line){ .kind = CALLTREE_CALL, .n = 6, .last_n = 8 };
	ck_assert(!calltree_ticks(&tree, &line, &min, &max));
	line = (struct calltree_line){ .kind = CALLTREE_LOST, .n = 2, .last_n = 3 };
	ck_assert(!calltree_ticks(&tree, &line, &min, &max));
	tree.times = NULL;
	calltree_fini(&tree);
}
END_TEST

BTSREC_CK_MAIN("calltree_lines", calls, frames, patterns, patterns_come_again, named_first, many,
	       no_room, no_memory, durations, no_duration)
