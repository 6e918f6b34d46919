// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/gdb/gdb_blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "flow/trace.h"

/**
 * struct making - one gdb_blocks_make() under way
 * @last: the thread at the event before; @n: the event.
 * @next: if @has_next, a block of the instruction that would have been next.  It
 *	has not run yet: it is not the one after the newest block.
 */
struct making {
	const struct btsrec_gdb *wanted;
	struct code *code;
	struct gdb_blocks *blocks;
	struct btsrec_side last;
	struct gdb_block next;
	uint64_t n;
	bool has_last;
	bool has_next;
	bool nomem;
};

void gdb_blocks_fini(struct gdb_blocks *blocks)
{
	free(blocks->list);
	memset(blocks, 0, sizeof(*blocks));
}

static bool is_wanted(const struct making *making, const struct btsrec_side *side)
{
	return !making->wanted->has_pid || (side && side->pid == making->wanted->pid);
}

static void add(struct making *making, const struct gdb_block *block)
{
	struct gdb_blocks *blocks = making->blocks;

	making->has_next = false;
	if (!grow(&blocks->list, sizeof(*blocks->list), blocks->nr, &blocks->nr_room)) {
		making->nomem = true;
		return;
	}
	blocks->list[blocks->nr++] = *block;
}

/* What is missing before all else or twice is missing once. */
static void add_gap(struct making *making)
{
	const struct gdb_blocks *blocks = making->blocks;

	making->has_next = false;
	if (blocks->nr && !blocks->list[blocks->nr - 1].gap)
		add(making, &(struct gdb_block){ .gap = true });
}

/* A kernel thread has no user code of its own: what was mapped before still is. */
static void move_to(struct gdb_blocks *blocks, const struct btsrec_side *side)
{
	uint64_t cr3 = side->cr3 ? side->cr3 : blocks->side.cr3;

	blocks->side = *side;
	blocks->side.cr3 = cr3;
}

static void goes_on_at(struct making *making, const struct btsrec_side *side, uint64_t va)
{
	struct gdb_blocks *blocks = making->blocks;

	if (side)
		move_to(blocks, side);
	blocks->next_va = va;
	blocks->at_freeze = false;
}

static void add_range(struct making *making, const struct proof_range *range,
		      const struct btsrec_side *side)
{
	uint64_t cr3 = side ? side->cr3 : 0;
	struct gdb_block block = { .begin = range->start, .n = making->n };

	if (range->start >= range->stop || !is_wanted(making, side) ||
	    (making->wanted->user_only && code_is_kernel(range->start)))
		return;
	block.end = code_last(making->code, cr3, range->start, range->stop);
	block.cr3 = code_is_kernel(range->start) ? 0 : cr3;
	add(making, &block);
	goes_on_at(making, side, range->stop);
}

/* It came to @va, and nothing ran there, because an interrupt or the freeze was first. */
static void add_arrival(struct making *making, uint64_t va, const struct btsrec_side *side)
{
	bool kernel = code_is_kernel(va);

	if (!is_wanted(making, side) || (making->wanted->user_only && kernel))
		return;
	making->next = (struct gdb_block){ .begin = va, .end = va };
	making->next.cr3 = !kernel && side ? side->cr3 : 0;
	making->has_next = true;
	goes_on_at(making, side, va);
}

/* Of two ranges the first ran before an annotation, maybe in another thread. */
static void add_step(struct making *making, const struct proof_step *step,
		     const struct btsrec_side *side)
{
	const struct btsrec_side *before = making->has_last ? &making->last : side;

	if (making->wanted->user_only && code_is_kernel(step->start) &&
	    code_is_kernel(step->end))
		return;
	if (step->compat || step->kind == PROOF_UNKNOWN || proof_fails(step)) {
		if (is_wanted(making, side))
			add_gap(making);
		return;
	}
	/* Of the level that was not recorded nothing is known, nor of how it was left. */
	if (step->kind == PROOF_FILTERED && is_wanted(making, side))
		add_gap(making);
	if (!step->nr_ranges)
		add_arrival(making, step->end, side);
	for (unsigned int i = 0; i < step->nr_ranges; i++)
		add_range(making, &step->ranges[i], i + 1 < step->nr_ranges ? before : side);
}

static bool make_event(void *arg, const struct trace_event *traced)
{
	struct making *making = arg;

	making->n = traced->event->n;
	if (traced->event->kind == BTSREC_EVENT_GAP)
		add_gap(making);
	if (!traced->step)
		return !making->nomem;
	add_step(making, traced->step, traced->side);
	if (traced->event->kind == BTSREC_EVENT_FREEZE && is_wanted(making, traced->side))
		making->blocks->at_freeze = true;
	making->has_last = traced->side;
	if (traced->side)
		making->last = *traced->side;
	return !making->nomem;
}

enum btsrec_status gdb_blocks_make(struct btsrec *rec, const struct btsrec_gdb *wanted,
				   struct gdb_blocks *ret)
{
	struct making making = { .wanted = wanted, .blocks = ret };
	enum btsrec_status status;

	memset(ret, 0, sizeof(*ret));
	making.code = btsrec_root(rec) ? trace_code(rec) : NULL;
	if (btsrec_root(rec) && !making.code)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	status = trace_events(rec, wanted->cpu, 0, make_event, &making, NULL);
	ret->nr_run = ret->nr;
	if (making.has_next)
		add(&making, &making.next);
	if (making.nomem)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (!status && !ret->next_va)
		return msg_set(&rec->msg, BTSREC_ERR_NODATA,
			       "no instruction of that history is known");
	return status;
}

/* --- XML ---------------------------------------------------------------- */

/* btrace.dtd of gdb; the two addresses are hexadecimal. */
#define XML_BEGIN	"<!DOCTYPE btrace SYSTEM \"btrace.dtd\">\n<btrace version=\"1.0\">\n"
#define XML_BLOCK	"<block begin=\"0x%llx\" end=\"0x%llx\"/>\n"
#define XML_END		"</btrace>\n"

#define XML_BLOCK_BYTES	(sizeof(XML_BLOCK) + 2 * 16)

static bool is_gap(const struct gdb_blocks *blocks, size_t i)
{
	const struct gdb_block *block = &blocks->list[i];

	return block->gap || (block->cr3 && block->cr3 != blocks->side.cr3);
}

/* Of neighbouring gaps only the oldest is reported, and none before the first block. */
static size_t xml_block(char *at, const struct gdb_blocks *blocks, size_t i)
{
	const struct gdb_block *block = &blocks->list[i];
	unsigned long long begin = block->begin, end = block->end;

	if (is_gap(blocks, i)) {
		if (!i || is_gap(blocks, i - 1))
			return 0;
		begin = 1;
		end = 0;
	} else if (i == blocks->nr - 1) {
		/* gdb takes the newest instruction for the one that is next. */
		end = blocks->next_va;
	}
	return (size_t)snprintf(at, XML_BLOCK_BYTES, XML_BLOCK, begin, end);
}

char *gdb_blocks_xml(const struct gdb_blocks *blocks)
{
	size_t nr_bytes = sizeof(XML_BEGIN) + sizeof(XML_END) + blocks->nr * XML_BLOCK_BYTES;
	char *text = malloc(nr_bytes), *at = text;

	if (!text)
		return NULL;
	at = stpcpy(at, XML_BEGIN);
	for (size_t i = blocks->nr; i; i--)
		at += xml_block(at, blocks, i - 1);
	memcpy(at, XML_END, sizeof(XML_END));
	return text;
}
