// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/code_impl.h"

#include <stdlib.h>

/* Of 4 MiB of code, which is more than any program has in runs that are so long. */
#define NR_PIECES	BOUND(1U << 14, 1U << 6)

/*
 * A longer run is followed by pieces; each is decoded once.  Histories can be made up in which each
 * of many long runs through the same code has another start.  What is decoded of each is what lies
 * before the first piece that is kept and after the last.  Few real runs are so long.
 */
#define PIECE_BYTES	256

/* --- Pieces ------------------------------------------------------------- */

static bool goes_on(enum code_class class)
{
	return class == CODE_PLAIN || class == CODE_WRMSR || class == CODE_VMENTRY ||
	       class == CODE_COND;
}

/* Where @piece ends; its @pgd_pa, @at and @compat are set. */
static void make_piece(struct code *code, const struct code_page *page, struct code_piece *piece)
{
	size_t begin = piece->at % BTSREC_PAGE_BYTES, end = (begin | (PIECE_BYTES - 1)) + 1;
	size_t at = begin, vmentry = SIZE_MAX;
	struct code_insn insn;

	piece->nr_insns = 0;
	while (at < end) {
		code->nr_decoded++;
		if (code_decode_in_page(code, page, at, piece->compat, &insn) ||
		    !goes_on(insn.class))
			break;
		if (insn.class == CODE_VMENTRY && vmentry == SIZE_MAX)
			vmentry = at;
		piece->last_bytes = (uint8_t)(at - begin);
		at += insn.length_bytes;
		piece->nr_insns++;
	}
	piece->nr_bytes = (uint16_t)(at - begin);
	piece->vmentry_bytes = vmentry == SIZE_MAX ? piece->nr_bytes : (uint16_t)(vmentry - begin);
}

/* Without memory for more each is the only one. */
static struct code_piece *place_of_piece(struct code *code, const struct code_piece *wanted)
{
	uint64_t key = wanted->at ^ wanted->pgd_pa << 1;

	if (!code->pieces)
		code->pieces = calloc(NR_PIECES, sizeof(*code->pieces));
	if (!code->pieces)
		return &code->piece;
	return &code->pieces[key * 0x9e3779b97f4a7c15ULL >> (64 - __builtin_ctz(NR_PIECES))];
}

/*
 * The piece from @va on, until the next call.  A run that leaves a piece comes to the first bytes
 * of the next.  Only those are kept, so that what runs begin with does not drive them out.
 */
static const struct code_piece *piece_at(struct code *code, uint64_t cr3, uint64_t va, bool compat)
{
	const struct code_page *page = code_page_at(code, cr3, va);
	struct code_piece *piece = &code->piece, wanted = { .compat = compat };

	*piece = wanted;
	if (va % BTSREC_PAGE_BYTES >= page->valid_bytes)
		return piece;
	wanted.pgd_pa = page->pa == CODE_NO_PA ? page->pgd_pa : 0;
	wanted.at = (page->pa == CODE_NO_PA ? page->va : page->pa) + va % BTSREC_PAGE_BYTES;
	if (va % PIECE_BYTES < CODE_INSN_MAX_BYTES)
		piece = place_of_piece(code, &wanted);
	if (piece->at == wanted.at && piece->pgd_pa == wanted.pgd_pa && piece->compat == compat)
		return piece;
	*piece = wanted;
	make_piece(code, page, piece);
	return piece;
}

/* --- Runs --------------------------------------------------------------- */

/* Is there a whole piece, wherever it ends, between @va and @end? */
static bool is_long(uint64_t va, uint64_t end)
{
	return end - va >= PIECE_BYTES + CODE_INSN_MAX_BYTES;
}

/* What pieces show of a run: where the rest of it begins. */
static uint64_t follow_pieces(struct code *code, struct code_run *run)
{
	struct code_insn insn = { .class = CODE_PLAIN };
	uint64_t va = run->start;

	while (goes_on(insn.class) && is_long(va, run->end)) {
		const struct code_piece *piece = piece_at(code, run->cr3, va, run->compat);

		va += piece->nr_bytes;
		run->nr_insns += piece->nr_insns;
		code->nr_decoded -= piece->nr_insns;
		if (piece->nr_bytes)
			continue;
		/* Over the end of a page, or the last. */
		(void)code_decode(code, run->cr3, va, run->compat, &insn);
		if (goes_on(insn.class)) {
			va += insn.length_bytes;
			run->nr_insns++;
		}
	}
	return va;
}

static enum code_fault follow(struct code *code, struct code_run *run)
{
	struct code_insn insn;
	enum code_fault fault;
	uint64_t va = run->start;

	run->nr_insns = 0;
	if (is_long(run->start, run->end))
		va = follow_pieces(code, run);
	while (va < run->end) {
		run->fault_va = va;
		fault = code_decode(code, run->cr3, va, run->compat, &insn);
		if (fault)
			return fault;
		if (!goes_on(insn.class))
			return CODE_LEAVES;
		va += insn.length_bytes;
		run->nr_insns++;
	}
	run->fault_va = run->end;
	return va == run->end ? CODE_OK : CODE_INSIDE;
}

static enum code_mode mode_of(const struct code *code, const struct code_run *run)
{
	if (run->start > UINT32_MAX || run->end > UINT32_MAX)
		return CODE_MODE_64;
	if (!code->source.mode)
		return CODE_MODE_UNKNOWN;
	return code->source.mode(code->source.arg, run->cr3, run->start);
}

/* In the mode that is known, or in the one in which it is a run. */
static enum code_fault follow_in_mode(struct code *code, struct code_run *run)
{
	enum code_mode mode = mode_of(code, run);
	enum code_fault fault;

	run->compat = mode == CODE_MODE_32;
	run->guessed = mode == CODE_MODE_UNKNOWN;
	fault = follow(code, run);
	code->nr_decoded += run->nr_insns;
	if (!fault || code_fault_unknown(fault) || mode != CODE_MODE_UNKNOWN)
		return fault;
	run->compat = true;
	fault = follow(code, run);
	code->nr_decoded += run->nr_insns;
	return fault;
}

/* @ret: in every case; CODE_UNREADABLE does not go on. */
static bool is_vmentry(struct code *code, uint64_t cr3, uint64_t va, struct code_insn *ret)
{
	code->nr_decoded++;
	return !code_decode(code, cr3, va, false, ret) && ret->class == CODE_VMENTRY;
}

/*
 * A VM exit clears DEBUGCTL (SDM vol. 3C, "Loading Host Control Registers"), and KVM writes it
 * back after some branches more.  What is recorded next may be anywhere.
 */
static bool enters_guest(struct code *code, const struct code_run *run, uint64_t *ret_va)
{
	struct code_insn insn = { .class = CODE_PLAIN };
	uint64_t va = run->start;

	while (code_is_kernel(run->start) && goes_on(insn.class) &&
	       va - run->start < CODE_RUN_MAX_BYTES) {
		const struct code_piece *piece = piece_at(code, run->cr3, va, false);

		if (piece->vmentry_bytes < piece->nr_bytes ||
		    (!piece->nr_bytes && is_vmentry(code, run->cr3, va, &insn))) {
			*ret_va = va + piece->vmentry_bytes;
			return true;
		}
		va += piece->nr_bytes ? piece->nr_bytes : insn.length_bytes;
	}
	return false;
}

void code_find_run(struct code *code, struct code_run *run)
{
	run->fault_va = run->start;
	if (run->end < run->start)
		run->fault = CODE_BACKWARD;
	else if (run->end - run->start > CODE_RUN_MAX_BYTES)
		run->fault = CODE_TOO_LONG;
	else
		run->fault = follow_in_mode(code, run);
	if (run->fault && !code_fault_unknown(run->fault) &&
	    enters_guest(code, run, &run->fault_va))
		run->fault = CODE_GUEST;
	code_insn(code, run->cr3, run->end, run->compat, &run->last);
}

uint64_t code_last(struct code *code, uint64_t cr3, uint64_t start, uint64_t end)
{
	uint64_t va = start, last = start;
	struct code_insn insn;

	while (va < end) {
		const struct code_piece *piece = NULL;

		if (is_long(va, end))
			piece = piece_at(code, cr3, va, false);
		if (piece && piece->nr_bytes) {
			last = va + piece->last_bytes;
			va += piece->nr_bytes;
			continue;
		}
		code->nr_decoded++;
		if (code_decode(code, cr3, va, false, &insn))
			break;
		last = va;
		va += insn.length_bytes;
	}
	return last;
}
