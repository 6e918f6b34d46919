// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/code_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/large.h"

#define MIN_RUNS	BOUND(1U << 12, 1U << 6)
#define MIN_KEPT_RUNS	BOUND(1U << 10, 1U << 5)
#define MAX_DOUBLINGS	3

_Static_assert(sizeof(struct code_brief) == 16, "four briefs are a line of the cache");

const char *code_fault_str(enum code_fault fault)
{
	switch (fault) {
	case CODE_OK:		return "fine";
	case CODE_NO_SPACE:	return "address space unknown or gone";
	case CODE_NOT_MAPPED:	return "page not mapped";
	case CODE_NO_TABLE:	return "page table not in the dump";
	case CODE_NOT_IN_DUMP:	return "page not in the dump";
	case CODE_NO_RECORDER:	return "the recorder is not in the module map";
	case CODE_NO_SITES:	return "a jump that may have been a NOP when it ran";
	case CODE_GUEST:	return "a guest ran, and what follows its end was not recorded";
	case CODE_NO_INSN:	return "bytes are no instruction";
	case CODE_LEAVES:	return "an instruction on the way does not go on to the next";
	case CODE_INSIDE:	return "from is inside an instruction";
	case CODE_BACKWARD:	return "from is before the target of the last branch";
	case CODE_TOO_LONG:	return "from is too far from the target of the last branch";
	case CODE_NO_BRANCH:	return "no branch at from";
	case CODE_OTHER_TARGET:	return "the branch at from does not lead to to";
	case CODE_NO_PAUSE:	return "no way into or out of the recorder around an annotation";
	}
	return "unknown";
}

/* --- Life --------------------------------------------------------------- */

/* A quarter of the places stays free at least. */
static size_t max_used(size_t nr_places)
{
	return nr_places / 4 * 3;
}

/* A table and a list for the first runs; false: out of memory. */
static bool runs_init(struct code *code)
{
	code->runs.places = large_table(MIN_RUNS * sizeof(*code->runs.places));
	code->runs.nr = MIN_RUNS;
	code->runs.shift = 64 - (unsigned int)__builtin_ctz(MIN_RUNS);
	code->nr_room = MIN_KEPT_RUNS;
	code->run_list = large_or_small(MIN_KEPT_RUNS * sizeof(*code->run_list));
	return code->runs.places && code->run_list;
}

struct code *code_new(const struct code_source *source)
{
	struct code *code = calloc(1, sizeof(*code));

	if (!code)
		return NULL;
	code->bytes = large_or_small(CODE_NR_PAGES * BTSREC_PAGE_BYTES);
	if (!runs_init(code) || !code->bytes) {
		code_free(code);
		return NULL;
	}
	code->runs.one_kernel = source->kernel_pgd_pa;
	code->source = *source;
	if (!source->max_runs)
		code->source.max_runs = CODE_MAX_RUNS;
	walk_init(&code->walk, source->image, source->la57);
	idt_init(&code->idt, &code->walk, source->kernel_pgd_pa, source->fred_config);
	code_decode_init(code);
	return code;
}

void code_free(struct code *code)
{
	if (!code)
		return;
	free(code->runs.places);
	free(code->run_list);
	free(code->bytes);
	free(code->pieces);
	free(code);
}

uint64_t code_nr_decoded(const struct code *code)
{
	return code->nr_decoded;
}

bool code_is_made(const struct code *code, uint64_t cr3, uint64_t va)
{
	return code->source.made && cr3 && code->source.made(code->source.arg, cr3, va);
}

enum code_text code_text_at(const struct code *code, uint64_t va)
{
	return code->source.text ? code->source.text(code->source.arg, va) : CODE_TEXT_STAYS;
}

const struct idt *code_idt(const struct code *code)
{
	return &code->idt;
}

const struct code_runs *code_runs(const struct code *code)
{
	return &code->runs;
}

/* --- Runs --------------------------------------------------------------- */

static bool is_kept(const struct code_brief *brief)
{
	return brief->number < CODE_NOT_KEPT;
}

/* Its brief has all of it: what it has of addresses is all that they differ in. */
static bool is_brief(const struct code_run *run)
{
	uint64_t target = run->last.has_target ? run->last.target : run->end;

	return !run->fault && !run->cr3 && code_is_top(run->start & run->end & target) &&
	       run->end - run->start <= UINT16_MAX;
}

static uint64_t top_va(uint32_t low)
{
	return 0xffffffffULL << 32 | low;
}

/* The run that was judged, with its number followed by the class of its last instruction. */
static void make_run(const struct code_brief *brief, struct code_run *ret)
{
	*ret = (struct code_run){
		.start = top_va(brief->start),
		.end = top_va(brief->start) + brief->distance_bytes,
		.fault_va = top_va(brief->start) + brief->distance_bytes,
		.nr_insns = brief->nr_insns,
		.last = {
			.class = (enum code_class)(brief->number - CODE_NOT_KEPT),
			.length_bytes = brief->length_bytes,
			.has_target = brief->target,
			.target = brief->target ? top_va(brief->target) : 0,
		},
	};
}

static bool is_run(const struct code_brief *brief, const struct code_run *list, uint64_t cr3,
		   uint64_t start, uint64_t end)
{
	const struct code_run *run;

	if (brief->start != (uint32_t)start || brief->distance_bytes != (uint16_t)(end - start))
		return false;
	if (!is_kept(brief))
		return !cr3 && code_is_top(start) && end - start == brief->distance_bytes;
	run = &list[brief->number - 1];
	return run->start == start && run->end == end && run->cr3 == cr3;
}

/* The place of the run in the table: its own or a free one. */
static struct code_brief *place_of(const struct code_runs *runs, const struct code_run *list,
				   uint64_t cr3, uint64_t start, uint64_t end)
{
	size_t i = code_place(runs, cr3, start, end);

	while (runs->places[i].number && !is_run(&runs->places[i], list, cr3, start, end))
		i = (i + 1) & (runs->nr - 1);
	return &runs->places[i];
}

static void move_run(const struct code_brief *brief, const struct code_runs *to,
		     struct code_run *list)
{
	struct code_run built, *run = &built;
	struct code_brief *place;

	if (is_kept(brief))
		run = &list[brief->number - 1];
	else
		make_run(brief, run);
	place = place_of(to, list, run->cr3, run->start, run->end);
	*place = *brief;
	run->place = (uint32_t)(place - to->places);
}

/* Much more room, because all places move; false: there is none. */
static bool grow_places(struct code *code)
{
	struct code_runs runs = code->runs;
	unsigned int doublings = MAX_DOUBLINGS;

	while (doublings > 1 && runs.nr << doublings > code->source.max_runs)
		doublings--;
	runs.nr <<= doublings;
	runs.shift -= doublings;
	if (runs.nr > code->source.max_runs)
		return false;
	runs.places = large_table(runs.nr * sizeof(*runs.places));
	if (!runs.places)
		return false;
	for (size_t i = 0; i < code->runs.nr; i++)
		if (code->runs.places[i].number)
			move_run(&code->runs.places[i], &runs, code->run_list);
	free(code->runs.places);
	code->runs = runs;
	return true;
}

/* The same for runs that are kept, which may be few. */
static bool grow_list(struct code *code)
{
	size_t nr_max = max_used(code->source.max_runs);
	size_t nr_room = code->nr_room << MAX_DOUBLINGS;
	struct code_run *list;

	if (nr_room > nr_max)
		nr_room = nr_max;
	if (nr_room <= code->nr_room)
		return false;
	list = large_or_small(nr_room * sizeof(*list));
	if (!list)
		return false;
	memcpy(list, code->run_list, code->nr_runs * sizeof(*list));
	free(code->run_list);
	code->run_list = list;
	code->nr_room = nr_room;
	return true;
}

/* For one more run, if need be by forgetting all of them. */
static void make_room(struct code *code)
{
	if ((code->nr_used < max_used(code->runs.nr) || grow_places(code)) &&
	    (code->nr_runs < code->nr_room || grow_list(code)))
		return;
	memset(code->runs.places, 0, code->runs.nr * sizeof(*code->runs.places));
	code->nr_used = 0;
	code->nr_runs = 0;
}

static struct code_brief brief_of(const struct code_run *run, uint32_t number)
{
	struct code_brief brief = {
		.start = (uint32_t)run->start,
		.distance_bytes = (uint16_t)(run->end - run->start),
		.number = number & 0xfffff,
	};

	if (is_brief(run)) {
		brief.nr_insns = (uint16_t)run->nr_insns;
		brief.length_bytes = run->last.length_bytes & 0xf;
		brief.target = run->last.has_target ? (uint32_t)run->last.target : 0;
	}
	return brief;
}

void code_judged(struct code *code, const struct code_run *run, uint8_t judged)
{
	struct code_brief *brief = &code->runs.places[run->place];

	if (!is_brief(run))
		return;
	brief->judged = judged & 0xf;
	if (brief->number != code->nr_runs)
		return;
	brief->number = (CODE_NOT_KEPT | run->last.class) & 0xfffff;
	code->nr_runs--;
}

const struct code_run *code_run(struct code *code, uint64_t cr3, uint64_t start, uint64_t end)
{
	struct code_brief *place;
	struct code_run *run;

	/* The kernel is the same in all address spaces. */
	if (code_is_kernel(start & end) && code->runs.one_kernel)
		cr3 = 0;
	place = place_of(&code->runs, code->run_list, cr3, start, end);
	if (place->number && is_kept(place))
		return &code->run_list[place->number - 1];
	if (place->number) {
		make_run(place, &code->built);
		code->built.place = (uint32_t)(place - code->runs.places);
		return &code->built;
	}
	make_room(code);
	place = place_of(&code->runs, code->run_list, cr3, start, end);
	run = &code->run_list[code->nr_runs++];
	code->nr_used++;
	*run = (struct code_run){ .cr3 = cr3, .start = start, .end = end,
				  .place = (uint32_t)(place - code->runs.places) };
	code_find_run(code, run);
	*place = brief_of(run, (uint32_t)code->nr_runs);
	return run;
}
