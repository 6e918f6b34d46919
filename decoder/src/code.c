// SPDX-License-Identifier: GPL-2.0-or-later
#include "code.h"

#include <stdlib.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "bounds.h"
#include "insn.h"
#include "large.h"

/* 8 MiB of code; of what is run beyond that, pages are read again. */
#define NR_PAGES	BOUND(2048, 16)
#define NR_SPACES	BOUND(64, 8)
#define MIN_RUNS	BOUND(1U << 12, 1U << 6)
#define MIN_KEPT_RUNS	BOUND(1U << 10, 1U << 5)
#define MAX_DOUBLINGS	3
/* Of 4 MiB of code, which is more than any program has in runs that are so long. */
#define NR_PIECES	BOUND(1U << 14, 1U << 6)

_Static_assert(sizeof(struct code_brief) == 16, "four briefs are a line of the cache");

/*
 * A longer run is followed by pieces, each of which is decoded once: histories can be made up in
 * which each of many long runs through the same code has another start.  What is decoded of each
 * is what lies before the first piece that is kept and behind the last.  Few real runs are so long.
 */
#define PIECE_BYTES	256

#define NO_PA		UINT64_MAX	/* of no page of memory */

/* The top-level entry that maps the kernel's own image, in every page table. */
#define KERNEL_ENTRY	511
/* SDM vol. 3A, "Accessed and Dirty Flags": the processor may set this one in a copy. */
#define PTE_ACCESSED	(1ULL << 5)

/**
 * struct page - a page of code; @valid_bytes of @bytes are there, the rest has @fault
 * @pa: of all that is there; NO_PA: some of it is from a file.
 * @bytes: memory that nobody touches before there is a page for it: to look at memory before
 *	it is written costs a second page fault, and where there are threads all wait for it.
 */
struct page {
	bool used;
	uint64_t pgd_pa;
	uint64_t va;
	uint64_t pa;
	enum code_fault fault;
	size_t valid_bytes;
	uint8_t *bytes;
};

/** struct space - whether @cr3 still is a page table of this kernel */
struct space {
	uint64_t cr3;
	bool alive;
};

/**
 * struct piece - instructions one behind the other, all of which go on to the next
 * @pgd_pa, @at: where: 0 and a physical address or, if some of the page is from a file, a
 *	virtual one.
 * @nr_bytes: of whole instructions in one page, to the next multiple of PIECE_BYTES or beyond
 *	it; fewer if one does not go on or is not whole there, which is for others to look at.
 * @last_bytes: how far behind @at the last of them begins.
 * @vmentry_bytes: how far behind @at the first CODE_VMENTRY is; @nr_bytes: there is none.
 *
 * By what is there and not by where it is mapped, because tables of pages can map a few pages
 * everywhere.
 */
struct piece {
	uint64_t pgd_pa;
	uint64_t at;
	uint16_t nr_bytes;
	uint16_t nr_insns;
	uint16_t vmentry_bytes;
	uint8_t last_bytes;
	bool compat;
};

/**
 * struct code - all that is remembered
 * @nr_used: places of @runs.
 * @run_list: the runs that are kept, @nr_runs with room for @nr_room; @made: the last one that
 *	was not and that somebody asked for.
 * @bytes: of all @pages.
 * @pieces: by a hash of where they are, once there are any; @piece: one that is not among them.
 * @nr_decoded: instructions of runs.
 */
struct code {
	struct code_source source;
	struct gates gates;
	ZydisDecoder decoders[2];	/* by compat */
	ZydisFormatter formatter;
	struct code_runs runs;
	size_t nr_used;
	struct code_run *run_list;
	size_t nr_runs;
	size_t nr_room;
	struct code_run made;
	struct space spaces[NR_SPACES];
	struct walk walk;
	uint64_t nr_from_files;
	uint64_t nr_decoded;
	struct piece piece;
	struct piece *pieces;
	struct page pages[NR_PAGES];
	uint8_t *bytes;
};

const char *code_fault_str(enum code_fault fault)
{
	switch (fault) {
	case CODE_OK:		return "fine";
	case CODE_NO_SPACE:	return "address space unknown or gone";
	case CODE_NOT_MAPPED:	return "page not mapped";
	case CODE_NO_TABLE:	return "page table not in the dump";
	case CODE_NOT_IN_DUMP:	return "page not in the dump";
	case CODE_NO_RECORDER:	return "the recorder is not in the module map";
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
	code->bytes = large_or_small(NR_PAGES * BTSREC_PAGE_BYTES);
	if (!runs_init(code) || !code->bytes) {
		code_free(code);
		return NULL;
	}
	code->runs.one_kernel = source->kernel_pgd_pa;
	code->source = *source;
	if (!source->max_runs)
		code->source.max_runs = CODE_MAX_RUNS;
	walk_init(&code->walk, source->image, source->la57);
	gates_init(&code->gates, &code->walk, source->kernel_pgd_pa);
	ZydisDecoderInit(&code->decoders[false], ZYDIS_MACHINE_MODE_LONG_64,
			 ZYDIS_STACK_WIDTH_64);
	ZydisDecoderInit(&code->decoders[true], ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
			 ZYDIS_STACK_WIDTH_32);
	ZydisFormatterInit(&code->formatter, ZYDIS_FORMATTER_STYLE_ATT);
	ZydisFormatterSetProperty(&code->formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	ZydisFormatterSetProperty(&code->formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
				  ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&code->formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING,
				  ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&code->formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING,
				  ZYDIS_PADDING_DISABLED);
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

uint64_t code_from_files(const struct code *code)
{
	return code->nr_from_files;
}

uint64_t code_nr_decoded(const struct code *code)
{
	return code->nr_decoded;
}

const struct code_thunks *code_thunks(const struct code *code)
{
	return &code->source.thunks;
}

const struct gates *code_gates(const struct code *code)
{
	return &code->gates;
}

const struct code_runs *code_runs(const struct code *code)
{
	return &code->runs;
}

/* --- Bytes -------------------------------------------------------------- */

/*
 * Every page table has the kernel's image in the same place.  A table that has not
 * was freed and is something else now, and what it seems to map is not what ran.
 */
static bool check_space(struct code *code, uint64_t cr3)
{
	uint64_t offset = KERNEL_ENTRY * sizeof(uint64_t), kernel, user;

	if (!code->source.kernel_pgd_pa)
		return true;
	if (image_read(code->source.image, code->source.kernel_pgd_pa + offset, &kernel,
		       sizeof(kernel)) ||
	    image_read(code->source.image, cr3 + offset, &user, sizeof(user)))
		return true;
	return (kernel | PTE_ACCESSED) == (user | PTE_ACCESSED);
}

static bool space_alive(struct code *code, uint64_t cr3)
{
	struct space *space = &code->spaces[(cr3 / BTSREC_PAGE_BYTES) % NR_SPACES];

	if (space->cr3 != cr3) {
		space->cr3 = cr3;
		space->alive = check_space(code, cr3);
	}
	return space->alive;
}

static enum code_fault fault_of_walk(enum walk_result result)
{
	switch (result) {
	case WALK_OK:
		return CODE_OK;
	case WALK_NO_ROOT:
		return CODE_NO_SPACE;
	case WALK_BAD_VA:
	case WALK_NOT_PRESENT:
		return CODE_NOT_MAPPED;
	case WALK_NO_TABLE:
		return CODE_NO_TABLE;
	case WALK_FAILED:
		break;
	}
	return CODE_NOT_IN_DUMP;
}

static size_t place_of_page(uint64_t pgd_pa, uint64_t va)
{
	return ((pgd_pa ^ va) / BTSREC_PAGE_BYTES) % NR_PAGES;
}

void code_fetch(const struct code *code, uint64_t va)
{
	size_t place = place_of_page(code->source.kernel_pgd_pa, va);

	__builtin_prefetch(code->bytes + place * BTSREC_PAGE_BYTES + va % BTSREC_PAGE_BYTES);
}

static void read_page(struct code *code, struct page *page)
{
	uint64_t pa;

	page->valid_bytes = 0;
	page->pa = NO_PA;
	page->fault = fault_of_walk(walk_pa(&code->walk, page->pgd_pa, page->va, &pa));
	if (page->fault)
		return;
	page->pa = pa;
	if (image_read_some(code->source.image, pa, page->bytes, BTSREC_PAGE_BYTES,
			    &page->valid_bytes))
		page->fault = CODE_NOT_IN_DUMP;
}

/* A page of a process that was dropped, or paged out, may be there in a file. */
static void read_file(struct code *code, uint64_t cr3, struct page *page)
{
	size_t nr_bytes;

	if (!code->source.file || !cr3 || code_is_kernel(page->va))
		return;
	nr_bytes = code->source.file(code->source.arg, cr3, page->va, page->bytes,
				     BTSREC_PAGE_BYTES);
	if (nr_bytes <= page->valid_bytes)
		return;
	page->valid_bytes = nr_bytes;
	page->pa = NO_PA;
	code->nr_from_files++;
}

static __attribute__((noinline)) void fill_page(struct code *code, uint64_t cr3, uint64_t pgd_pa,
						uint64_t page_va, struct page *page)
{
	page->used = true;
	page->pgd_pa = pgd_pa;
	page->va = page_va;
	page->bytes = code->bytes + (size_t)(page - code->pages) * BTSREC_PAGE_BYTES;
	if (pgd_pa == cr3 && cr3 && !space_alive(code, cr3)) {
		page->valid_bytes = 0;
		page->fault = CODE_NO_SPACE;
	} else {
		read_page(code, page);
		if (page->fault)
			read_file(code, cr3, page);
	}
}

/* The page that holds @va; its fault says why it does not hold all of its bytes. */
static inline const struct page *page_at(struct code *code, uint64_t cr3, uint64_t va)
{
	uint64_t kernel_pgd_pa = code->source.kernel_pgd_pa;
	uint64_t pgd_pa = code_is_kernel(va) && kernel_pgd_pa ? kernel_pgd_pa : cr3;
	uint64_t page_va = va & ~(uint64_t)(BTSREC_PAGE_BYTES - 1);
	struct page *page = &code->pages[place_of_page(pgd_pa, va)];

	if (!page->used || page->pgd_pa != pgd_pa || page->va != page_va)
		fill_page(code, cr3, pgd_pa, page_va, page);
	return page;
}

enum code_fault code_bytes(struct code *code, uint64_t cr3, uint64_t va, uint8_t *buf,
			   size_t len_bytes, size_t *ret_bytes)
{
	*ret_bytes = 0;
	while (*ret_bytes < len_bytes) {
		size_t offset = va % BTSREC_PAGE_BYTES, nr = len_bytes - *ret_bytes;
		const struct page *page = page_at(code, cr3, va);

		if (offset >= page->valid_bytes)
			return page->fault;
		if (nr > page->valid_bytes - offset)
			nr = page->valid_bytes - offset;
		memcpy(buf + *ret_bytes, page->bytes + offset, nr);
		*ret_bytes += nr;
		va += nr;
	}
	return CODE_OK;
}

/* --- Instructions ------------------------------------------------------- */

static enum code_class class_of_mnemonic(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_WRMSR:
		return CODE_WRMSR;
	case ZYDIS_MNEMONIC_VMLAUNCH:
	case ZYDIS_MNEMONIC_VMRESUME:
		return CODE_VMENTRY;
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
		return CODE_TRAP;
	default:
		return CODE_PLAIN;
	}
}

static bool is_iret(ZydisMnemonic mnemonic)
{
	return mnemonic == ZYDIS_MNEMONIC_IRET || mnemonic == ZYDIS_MNEMONIC_IRETD ||
	       mnemonic == ZYDIS_MNEMONIC_IRETQ;
}

static enum code_class classify(const ZydisDecodedInstruction *insn)
{
	bool direct = insn->raw.imm[0].is_relative;

	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		/* The one relative operand that is taken only when something fails. */
		return insn->mnemonic == ZYDIS_MNEMONIC_XBEGIN ? CODE_PLAIN : CODE_COND;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return direct ? CODE_JUMP : CODE_JUMP_IND;
	case ZYDIS_CATEGORY_CALL:
		return direct ? CODE_CALL : CODE_CALL_IND;
	case ZYDIS_CATEGORY_RET:
		return is_iret(insn->mnemonic) ? CODE_IRET : CODE_RET;
	case ZYDIS_CATEGORY_SYSCALL:
		return CODE_SYSCALL;
	case ZYDIS_CATEGORY_SYSRET:
		return CODE_SYSRET;
	case ZYDIS_CATEGORY_INTERRUPT:
		/* BOUND goes on, or is a fault. */
		return insn->mnemonic == ZYDIS_MNEMONIC_BOUND ? CODE_PLAIN : CODE_INT;
	default:
		return class_of_mnemonic(insn->mnemonic);
	}
}

/* SDM vol. 2A, "INT n/INTO/INT3/INT1". */
static uint8_t vector_of(const ZydisDecodedInstruction *insn)
{
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_INT1:
		return 1;
	case ZYDIS_MNEMONIC_INT3:
		return 3;
	case ZYDIS_MNEMONIC_INTO:
		return 4;
	default:
		return (uint8_t)insn->raw.imm[0].value.u;
	}
}

/*
 * The kernel makes a thunk of its own for an indirect branch that ITS could mislead (872df34d7c51;
 * its_init_thunk(), arch/x86/kernel/alternative.c): "jmp *%reg; int3" in the upper half of a line
 * of the cache, in a page of INT3; with FineIBT entered at a "jne" before that, behind 0xea.
 */
static bool is_made_thunk(struct code *code, uint64_t cr3, uint64_t va)
{
	static const uint8_t jne[] = { 0xea, 0x75, 0xfd };
	uint8_t bytes[3 + 2 + 4] = { 0 }, *at = bytes + sizeof(jne);
	size_t nr_bytes;

	if (va % 64 < 32)
		return false;
	(void)code_bytes(code, cr3, va - sizeof(jne), bytes, sizeof(bytes), &nr_bytes);
	if (!memcmp(at - 1, jne, sizeof(jne)))
		at += 2;
	else if (at[-1] != 0xcc && memcmp(bytes, jne, sizeof(jne)))
		return false;
	if (*at == 0x41)
		at++;
	return at[0] == 0xff && (at[1] & 0xf8) == 0xe0 && at[2] == 0xcc;
}

static enum code_thunk thunk_at(struct code *code, uint64_t cr3, uint64_t va)
{
	const struct code_thunks *thunks = &code->source.thunks;
	enum code_thunk thunk;

	if (!code->source.thunk || !code_is_kernel(va) ||
	    (va - thunks->image_kva < thunks->image_bytes &&
	     va - thunks->begin_kva >= thunks->nr_bytes))
		return CODE_NO_THUNK;
	thunk = code->source.thunk(code->source.arg, va);
	if (thunk == CODE_THUNK_UNNAMED)
		return is_made_thunk(code, cr3, va) ? CODE_THUNK_INDIRECT : CODE_NO_THUNK;
	return thunk;
}

/* @fault: why there are no more than @nr_bytes. */
static enum code_fault decode_any(const struct code *code, const uint8_t *bytes, size_t nr_bytes,
				  enum code_fault fault, uint64_t va, bool compat,
				  struct code_insn *ret)
{
	ZydisDecodedInstruction insn;

	memset(ret, 0, sizeof(*ret));
	ret->class = CODE_UNREADABLE;
	if (!nr_bytes || ZYAN_FAILED(ZydisDecoderDecodeInstruction(&code->decoders[compat], NULL,
								   bytes, nr_bytes, &insn)))
		return fault ? fault : CODE_NO_INSN;
	ret->class = classify(&insn);
	ret->length_bytes = insn.length;
	if (ret->class == CODE_INT)
		ret->vector = vector_of(&insn);
	if (ret->class >= CODE_COND && ret->class <= CODE_CALL && insn.raw.imm[0].is_relative) {
		ret->has_target = true;
		ret->target = va + insn.length + (uint64_t)insn.raw.imm[0].value.s;
		if (compat)
			ret->target = (uint32_t)ret->target;
	}
	return CODE_OK;
}

/* The instruction at @offset if all of it is in @page, of which @nr_bytes are there. */
static enum code_fault decode_in_page(const struct code *code, const struct page *page,
				      size_t offset, size_t nr_bytes, uint64_t va, bool compat,
				      struct code_insn *ret)
{
	const uint8_t *bytes = page->bytes + offset;

	if (nr_bytes < CODE_INSN_MAX_BYTES)
		return decode_any(code, bytes, nr_bytes, CODE_NO_INSN, va, compat, ret);
	if (!compat && insn_common(bytes, va, ret))
		return CODE_OK;
	return decode_any(code, bytes, CODE_INSN_MAX_BYTES, CODE_OK, va, compat, ret);
}

/* Everything but the thunks, which cost a look-up by name. */
static enum code_fault decode(struct code *code, uint64_t cr3, uint64_t va, bool compat,
			      struct code_insn *ret)
{
	const struct page *page = page_at(code, cr3, va);
	size_t offset = va % BTSREC_PAGE_BYTES, nr_bytes;
	uint8_t bytes[CODE_INSN_MAX_BYTES];
	enum code_fault fault;

	if (offset + CODE_INSN_MAX_BYTES <= page->valid_bytes)
		return decode_in_page(code, page, offset, CODE_INSN_MAX_BYTES, va, compat, ret);
	fault = code_bytes(code, cr3, va, bytes, sizeof(bytes), &nr_bytes);
	return decode_any(code, bytes, nr_bytes, fault, va, compat, ret);
}

enum code_fault code_insn(struct code *code, uint64_t cr3, uint64_t va, bool compat,
			  struct code_insn *ret)
{
	enum code_fault fault = decode(code, cr3, va, compat, ret);

	if (fault)
		return fault;
	ret->here = thunk_at(code, cr3, va);
	if (ret->has_target)
		ret->there = thunk_at(code, cr3, ret->target);
	return CODE_OK;
}

size_t code_text(struct code *code, uint64_t cr3, uint64_t va, bool compat, uint8_t *bytes,
		 char *text, size_t text_bytes)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	size_t nr_bytes;

	(void)code_bytes(code, cr3, va, bytes, CODE_INSN_MAX_BYTES, &nr_bytes);
	if (!nr_bytes || ZYAN_FAILED(ZydisDecoderDecodeFull(&code->decoders[compat], bytes,
							    nr_bytes, &insn, operands)))
		return 0;
	if (ZYAN_FAILED(ZydisFormatterFormatInstruction(&code->formatter, &insn, operands,
							insn.operand_count_visible, text,
							text_bytes, va, NULL)))
		return 0;
	return insn.length;
}

/* --- Pieces ------------------------------------------------------------- */

static bool goes_on(enum code_class class)
{
	return class == CODE_PLAIN || class == CODE_WRMSR || class == CODE_VMENTRY ||
	       class == CODE_COND;
}

/* Where @piece, of which @pgd_pa, @at and @compat are set, ends. */
static void make_piece(struct code *code, const struct page *page, struct piece *piece)
{
	size_t begin = piece->at % BTSREC_PAGE_BYTES, end = (begin | (PIECE_BYTES - 1)) + 1;
	size_t at = begin, vmentry = SIZE_MAX;
	struct code_insn insn;

	piece->nr_insns = 0;
	while (at < end) {
		code->nr_decoded++;
		if (decode_in_page(code, page, at, page->valid_bytes - at, page->va + at,
				   piece->compat, &insn) || !goes_on(insn.class))
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
static struct piece *place_of_piece(struct code *code, const struct piece *wanted)
{
	uint64_t key = wanted->at ^ wanted->pgd_pa << 1;

	if (!code->pieces)
		code->pieces = calloc(NR_PIECES, sizeof(*code->pieces));
	if (!code->pieces)
		return &code->piece;
	return &code->pieces[key * 0x9e3779b97f4a7c15ULL >> (64 - __builtin_ctz(NR_PIECES))];
}

/*
 * The piece from @va on, until the next call.  Who comes from a piece comes to the first bytes of
 * the next: only those are kept, so that what runs begin with does not drive them out.
 */
static const struct piece *piece_at(struct code *code, uint64_t cr3, uint64_t va, bool compat)
{
	const struct page *page = page_at(code, cr3, va);
	struct piece *piece = &code->piece, wanted = { .compat = compat };

	*piece = wanted;
	if (va % BTSREC_PAGE_BYTES >= page->valid_bytes)
		return piece;
	wanted.pgd_pa = page->pa == NO_PA ? page->pgd_pa : 0;
	wanted.at = (page->pa == NO_PA ? page->va : page->pa) + va % BTSREC_PAGE_BYTES;
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

/* What pieces tell of a run: where the rest of it begins. */
static uint64_t follow_pieces(struct code *code, struct code_run *run)
{
	struct code_insn insn = { .class = CODE_PLAIN };
	uint64_t va = run->start;

	while (goes_on(insn.class) && is_long(va, run->end)) {
		const struct piece *piece = piece_at(code, run->cr3, va, run->compat);

		va += piece->nr_bytes;
		run->nr_insns += piece->nr_insns;
		code->nr_decoded -= piece->nr_insns;
		if (piece->nr_bytes)
			continue;
		/* Over the end of a page, or the last. */
		(void)decode(code, run->cr3, va, run->compat, &insn);
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
		fault = decode(code, run->cr3, va, run->compat, &insn);
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
	return !decode(code, cr3, va, false, ret) && ret->class == CODE_VMENTRY;
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
		const struct piece *piece = piece_at(code, run->cr3, va, false);

		if (piece->vmentry_bytes < piece->nr_bytes ||
		    (!piece->nr_bytes && is_vmentry(code, run->cr3, va, &insn))) {
			*ret_va = va + piece->vmentry_bytes;
			return true;
		}
		va += piece->nr_bytes ? piece->nr_bytes : insn.length_bytes;
	}
	return false;
}

static void find_run(struct code *code, struct code_run *run)
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
		const struct piece *piece = NULL;

		if (is_long(va, end))
			piece = piece_at(code, cr3, va, false);
		if (piece && piece->nr_bytes) {
			last = va + piece->last_bytes;
			va += piece->nr_bytes;
			continue;
		}
		code->nr_decoded++;
		if (decode(code, cr3, va, false, &insn))
			break;
		last = va;
		va += insn.length_bytes;
	}
	return last;
}

static bool is_kept(const struct code_brief *brief)
{
	return brief->number < CODE_NOT_KEPT;
}

/* Its brief can tell all of it: what it has of addresses is all that they differ in. */
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

/* The run that was judged, of which the class of its last instruction is behind its number. */
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
	struct code_run made, *run = &made;
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

/* The same for runs that are kept, of which there may be few. */
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
		make_run(place, &code->made);
		code->made.place = (uint32_t)(place - code->runs.places);
		return &code->made;
	}
	make_room(code);
	place = place_of(&code->runs, code->run_list, cr3, start, end);
	run = &code->run_list[code->nr_runs++];
	code->nr_used++;
	*run = (struct code_run){ .cr3 = cr3, .start = start, .end = end,
				  .place = (uint32_t)(place - code->runs.places) };
	find_run(code, run);
	*place = brief_of(run, (uint32_t)code->nr_runs);
	return run;
}
