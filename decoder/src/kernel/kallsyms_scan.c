// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/kallsyms_scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/cleanup.h"

/* The parts begin at multiples of this (scripts/kallsyms.c): ALGN, and in 7.3 that of 4 bytes. */
#define ALIGN_BYTES		8
#define ALIGN_LESS_BYTES	4

/* A kernel's image with all that it has is smaller. */
#define IMAGE_AFTER_BYTES	BOUND(64ULL << 20, 64ULL << 10)
#define IMAGE_BEFORE_BYTES	BOUND(32ULL << 20, 64ULL << 10)
#define WINDOW_BYTES		(64U << 10)

#define NR_TOKENS		256
#define TOKENS_MAX_BYTES	(64U << 10)
/* Of a token, and of what is before it up to a NUL. */
#define FIRST_MAX_BYTES		512U
#define MARKED_SYMBOLS		256U
#define MAX_SYMBOLS		BOUND(1U << 22, 1U << 10)
/* The names, their markers, and since v6.1 their order by name. */
#define NAMES_MAX_BYTES		BOUND(16U << 20, 32U << 10)

static const char digits[] = "0\0" "1\0" "2\0" "3\0" "4\0" "5\0" "6\0" "7\0" "8\0" "9";

/**
 * struct scan - what has been found
 * @tokens_kva, @index_kva: the table of tokens and its index.
 * @count_kva, @names_kva: of @nr_symbols.
 */
struct scan {
	const struct kread *kread;
	uint64_t tokens_kva;
	uint64_t index_kva;
	uint64_t count_kva;
	uint64_t names_kva;
	uint32_t nr_symbols;
};

static uint64_t align_to(uint64_t kva, uint64_t align_bytes)
{
	return (kva + align_bytes - 1) & ~(align_bytes - 1);
}

static uint64_t align_up(uint64_t kva)
{
	return align_to(kva, ALIGN_BYTES);
}

/* --- Tokens ------------------------------------------------------------- */

/* Where the first of the tokens begins that are before @at in @text; false: it is further up. */
static bool first_token(const char *text, size_t at, size_t *ret)
{
	for (unsigned int i = 0; i < '0'; i++) {
		if (!at || text[--at])
			return false;
		while (at && text[at - 1])
			at--;
	}
	*ret = at;
	return true;
}

/* Is at @index_kva the index of the tokens in @text? */
static bool is_index(const struct scan *scan, uint64_t index_kva, const char *text,
		     size_t nr_bytes)
{
	uint16_t index[NR_TOKENS];
	size_t at = 0;

	if (!kread(scan->kread, index_kva, index, sizeof(index)))
		return false;
	for (unsigned int i = 0; i < NR_TOKENS; i++) {
		if (at >= nr_bytes || index[i] != at)
			return false;
		at += strlen(text + at) + 1;
	}
	return true;
}

/* Is there an index of all tokens after those from @kva on? */
static bool tokens_have_index(struct scan *scan, uint64_t kva)
{
	_cleanup_free_ char *text = calloc(1, TOKENS_MAX_BYTES + 1);
	size_t nr_bytes, at = 0;
	uint64_t index_kva;

	if (!text) {
		kread_nomem(scan->kread);
		return false;
	}
	nr_bytes = kread_some(scan->kread, kva, text, TOKENS_MAX_BYTES);
	for (unsigned int i = 0; i < NR_TOKENS && at < nr_bytes; i++)
		at += strlen(text + at) + 1;
	index_kva = align_to(kva + at, ALIGN_LESS_BYTES);
	if (!is_index(scan, index_kva, text, nr_bytes)) {
		index_kva = align_up(index_kva);
		if (!is_index(scan, index_kva, text, nr_bytes))
			return false;
	}
	scan->tokens_kva = kva;
	scan->index_kva = index_kva;
	return true;
}

/* What is before the first token need not end with a NUL. */
static bool tokens_begin_near(struct scan *scan, uint64_t kva)
{
	for (uint64_t at = align_to(kva, ALIGN_LESS_BYTES); at < kva + FIRST_MAX_BYTES;
	     at += ALIGN_LESS_BYTES)
		if (tokens_have_index(scan, at))
			return true;
	return false;
}

static bool find_tokens_in(struct scan *scan, uint64_t kva, const char *text, size_t nr_bytes)
{
	const char *at = text;
	size_t begin;

	while ((at = memmem(at, nr_bytes - (size_t)(at - text), digits, sizeof(digits))) != NULL) {
		if (first_token(text, (size_t)(at - text), &begin) &&
		    tokens_begin_near(scan, kva + begin))
			return true;
		at++;
	}
	return false;
}

/* Windows overlap by what the tokens before the digits may need. */
static bool find_tokens(struct scan *scan, uint64_t begin_kva, uint64_t end_kva)
{
	const size_t overlap_bytes = 8 * 1024, page = BTSREC_PAGE_BYTES;
	_cleanup_free_ char *text = malloc(WINDOW_BYTES);

	if (!text) {
		kread_nomem(scan->kread);
		return false;
	}
	for (uint64_t kva = begin_kva; kva < end_kva;) {
		size_t nr_bytes = kread_some(scan->kread, kva, text, WINDOW_BYTES);

		if (find_tokens_in(scan, kva, text, nr_bytes))
			return true;
		kva += nr_bytes == WINDOW_BYTES ? nr_bytes - overlap_bytes :
						  nr_bytes / page * page + page;
	}
	return false;
}

/* --- Names --------------------------------------------------------------- */

/* The bytes of a symbol at @name, its length included; 0: not all of it is in @nr_bytes. */
static size_t symbol_bytes(const uint8_t *name, size_t nr_bytes)
{
	size_t len;

	if (nr_bytes < 2 || !name[0])
		return 0;
	len = name[0] + 1U;
	if (name[0] & 0x80)
		len = ((name[0] & 0x7f) | (size_t)name[1] << 7) + 2;
	return len <= nr_bytes ? len : 0;
}

/* Where @nr symbols end that begin with @names; 0: there are fewer in @nr_bytes. */
static size_t end_of_symbols(const uint8_t *names, size_t nr_bytes, uint32_t nr)
{
	size_t at = 0;

	while (nr--) {
		size_t bytes = symbol_bytes(names + at, nr_bytes - at);

		if (!bytes)
			return 0;
		at += bytes;
	}
	return at;
}

/* The markers say where each 256th of the symbols begins. */
static bool are_marked(const uint8_t *names, size_t nr_bytes, size_t markers_at, uint32_t nr)
{
	size_t at = 0;
	uint32_t marker;

	for (uint32_t i = 0; i < nr; i++) {
		if (i % MARKED_SYMBOLS == 0) {
			if (markers_at + sizeof(marker) > nr_bytes)
				return false;
			memcpy(&marker, names + markers_at, sizeof(marker));
			if (marker != at)
				return false;
			markers_at += sizeof(marker);
		}
		at += symbol_bytes(names + at, nr_bytes - at);
	}
	return true;
}

/* Before the names is their number, and what aligns them. */
static bool are_names(struct scan *scan, const uint8_t *bytes, size_t at, size_t nr_bytes)
{
	uint32_t head[2];
	size_t end;

	memcpy(head, bytes + at - sizeof(head), sizeof(head));
	if (!head[0] || head[0] > MAX_SYMBOLS || head[1])
		return false;
	end = end_of_symbols(bytes + at, nr_bytes - at, head[0]);
	if (!end || !are_marked(bytes + at, nr_bytes - at, align_up(at + end) - at, head[0]))
		return false;
	scan->nr_symbols = head[0];
	return true;
}

/*
 * The number alone says little: what follows must lead to the tokens, with the order of the
 * symbols by name in between (3 bytes of each) or without.
 */
static bool are_names_less(struct scan *scan, const uint8_t *bytes, size_t at, size_t nr_bytes)
{
	size_t end, markers, behind;
	uint32_t nr;

	memcpy(&nr, bytes + at - sizeof(nr), sizeof(nr));
	if (!nr || nr > MAX_SYMBOLS)
		return false;
	end = end_of_symbols(bytes + at, nr_bytes - at, nr);
	markers = align_to(at + end, ALIGN_LESS_BYTES) - at;
	behind = at + markers + (nr + MARKED_SYMBOLS - 1) / MARKED_SYMBOLS * sizeof(nr);
	if (!end || (behind != nr_bytes &&
		     align_to(behind + 3ULL * nr, ALIGN_LESS_BYTES) != nr_bytes) ||
	    !are_marked(bytes + at, nr_bytes - at, markers, nr))
		return false;
	scan->nr_symbols = nr;
	return true;
}

/*
 * They are before the tokens; the nearest are theirs.  What is not in the dump is zero.
 * @less: all parts are aligned to ALIGN_LESS_BYTES.
 */
static bool find_names(struct scan *scan, bool less)
{
	size_t align_bytes = less ? ALIGN_LESS_BYTES : ALIGN_BYTES;
	uint64_t end_kva = (scan->tokens_kva | (BTSREC_PAGE_BYTES - 1)) + 1;
	uint64_t begin_kva = end_kva - NAMES_MAX_BYTES;
	size_t nr_bytes = scan->tokens_kva - begin_kva;
	_cleanup_free_ uint8_t *bytes = calloc(1, NAMES_MAX_BYTES);

	if (!bytes) {
		kread_nomem(scan->kread);
		return false;
	}
	for (size_t at = 0; at < NAMES_MAX_BYTES; at += BTSREC_PAGE_BYTES)
		(void)kread_some(scan->kread, begin_kva + at, bytes + at, BTSREC_PAGE_BYTES);
	for (size_t at = (nr_bytes - align_bytes) & ~(align_bytes - 1); at >= align_bytes;
	     at -= align_bytes) {
		if (less ? !are_names_less(scan, bytes, at, nr_bytes) :
			   !are_names(scan, bytes, at, nr_bytes))
			continue;
		scan->names_kva = begin_kva + at;
		scan->count_kva = scan->names_kva - align_bytes;
		return true;
	}
	return false;
}

/* --- The whole ---------------------------------------------------------- */

/* Of the parts, see make_layouts(). */
#define NR_ORDERS (KALLSYMS_NR_LAYOUTS / 2)

static void make_layouts(const struct scan *scan, struct kallsyms_where *ret)
{
	uint64_t offsets_bytes = align_up(scan->nr_symbols * sizeof(uint32_t));
	struct kallsyms_where where = {
		.num_syms_kva = scan->count_kva,
		.names_kva = scan->names_kva,
		.token_table_kva = scan->tokens_kva,
		.token_index_kva = scan->index_kva,
	};

	/* Since v6.5 (404bad70fcf7): the addresses, and their base, at the end. */
	where.offsets_kva = scan->index_kva + NR_TOKENS * sizeof(uint16_t);
	where.relative_base_kva = where.offsets_kva + offsets_bytes;
	ret[0] = where;
	/* v7.2 has no base. */
	where.relative_base_kva = 0;
	ret[1] = where;
	/* Before: at the beginning. */
	where.relative_base_kva = scan->count_kva - sizeof(uint64_t);
	where.offsets_kva = where.relative_base_kva - offsets_bytes;
	ret[2] = where;
}

static bool find_all_tokens(struct scan *scan, uint64_t near_kva)
{
	uint64_t begin_kva = KREAD_IMAGE_KVA, here_kva = near_kva & ~(BTSREC_PAGE_BYTES - 1ULL);

	if (near_kva - KREAD_IMAGE_KVA >= KREAD_IMAGE_BYTES)
		return false;
	if (here_kva - begin_kva > IMAGE_BEFORE_BYTES)
		begin_kva = here_kva - IMAGE_BEFORE_BYTES;
	return find_tokens(scan, here_kva, here_kva + IMAGE_AFTER_BYTES) ||
	       find_tokens(scan, begin_kva, here_kva);
}

bool kallsyms_scan(const struct kread *kread, uint64_t near_kva,
		   struct kallsyms_where ret[KALLSYMS_NR_LAYOUTS])
{
	struct scan scan = { .kread = kread };
	bool found = false;

	memset(ret, 0, KALLSYMS_NR_LAYOUTS * sizeof(*ret));
	if (!find_all_tokens(&scan, near_kva))
		return false;
	for (unsigned int less = 0; less < 2; less++) {
		if (!find_names(&scan, less))
			continue;
		make_layouts(&scan, ret + less * NR_ORDERS);
		found = true;
	}
	return found;
}
