// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/kallsyms.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "kernel/vmcoreinfo.h"

#define NR_TOKENS		256
#define TOKEN_MAX_BYTES		512

/* A kernel with everything built in has about a million symbols. */
#define MAX_SYMBOLS		BOUND(1u << 22, 1u << 10)

/* All names, compressed; a limit for numbers that are no kernel's. */
#define NAMES_MAX_BYTES		BOUND(128u << 20, 1u << 14)
/* So much is read at once: some threads have enough to do, and little of it is not names. */
#define NAMES_STEP_BYTES	BOUND(1u << 19, 1u << 10)

/* The same, expanded; a byte of a hostile table may stand for half a kilobyte. */
#define TEXT_MAX_BYTES		BOUND(128u << 20, 1u << 18)

/* Type letters; the first is of variables in the area of a CPU, as long as that begins at 0. */
#define ABSOLUTE	'A'
#define LOCAL_DATA	'd'

/* Names are shorter on average, so that room for all of them is made once. */
#define EXPANDED_MEAN_BYTES	40

/* A type letter and the longest name that is kept. */
#define EXPANDED_MAX_BYTES	(1 + SYMBOL_NAME_MAX_BYTES)

/* Tokens up to this long, nearly all, are copied in one piece, with what happens to follow. */
#define PIECE_BYTES		16

/**
 * struct kallsyms - a table while it is read
 * @tokens: of the bytes 0..255 in a compressed name, @token_bytes[i] bytes from
 *	@token_at[i].
 * @names: the compressed names as far as they have been needed.
 * @text: the expanded names, each after its type letter, in order of the symbols, @text_bytes so
 *	far, @text_room of room; and room for the rest of a piece.
 */
struct kallsyms {
	const struct kread *kread;
	const struct kallsyms_where *where;
	struct msg *msg;
	uint32_t nr_symbols;
	uint16_t token_at[NR_TOKENS];
	uint16_t token_bytes[NR_TOKENS];
	char *tokens;
	uint8_t *names;
	size_t names_bytes;
	size_t names_room;
	char *text;
	size_t text_bytes;
	size_t text_room;
	int32_t *offsets;
};

/* --- VMCOREINFO --------------------------------------------------------- */

const char *const kallsyms_keys[NR_KALLSYMS_KEYS] = {
	"SYMBOL(kallsyms_num_syms)",	"SYMBOL(kallsyms_names)",
	"SYMBOL(kallsyms_token_table)", "SYMBOL(kallsyms_token_index)",
	"SYMBOL(kallsyms_offsets)",	"SYMBOL(kallsyms_relative_base)",
};

bool kallsyms_where(const char *vmcoreinfo, struct kallsyms_where *ret)
{
	uint64_t kvas[NR_KALLSYMS_KEYS] = { 0 };

	for (size_t i = 0; i < NR_KALLSYMS_KEYS; i++)
		(void)vmcoreinfo_number(vmcoreinfo, kallsyms_keys[i], 16, &kvas[i]);
	*ret = (struct kallsyms_where){
		.num_syms_kva = kvas[0],
		.names_kva = kvas[1],
		.token_table_kva = kvas[2],
		.token_index_kva = kvas[3],
		.offsets_kva = kvas[4],
		.relative_base_kva = kvas[5],
	};
	return kvas[0] && kvas[1] && kvas[2] && kvas[3] && kvas[4];
}

/* --- Parts -------------------------------------------------------------- */

static enum btsrec_status no_memory(struct kallsyms *k)
{
	return msg_set(k->msg, BTSREC_ERR_NOMEM, "out of memory");
}

static enum btsrec_status part_missing(struct kallsyms *k, const char *part)
{
	return msg_set(k->msg, BTSREC_ERR_NODATA, "%s is not in the dump", part);
}

static enum btsrec_status read_count(struct kallsyms *k)
{
	if (!kread(k->kread, k->where->num_syms_kva, &k->nr_symbols, sizeof(k->nr_symbols)))
		return part_missing(k, "kallsyms_num_syms");
	if (!k->nr_symbols || k->nr_symbols > MAX_SYMBOLS)
		return msg_set(k->msg, BTSREC_ERR_CORRUPT, "kallsyms_num_syms is %u",
			       k->nr_symbols);
	return BTSREC_OK;
}

static enum btsrec_status read_tokens(struct kallsyms *k)
{
	size_t room = (size_t)UINT16_MAX + 1 + TOKEN_MAX_BYTES, nr_bytes = 0, i;

	k->tokens = calloc(1, room);
	if (!k->tokens)
		return no_memory(k);
	if (!kread(k->kread, k->where->token_index_kva, k->token_at, sizeof(k->token_at)))
		return part_missing(k, "kallsyms_token_index");
	for (i = 0; i < NR_TOKENS; i++)
		if (nr_bytes < k->token_at[i] + (size_t)TOKEN_MAX_BYTES)
			nr_bytes = k->token_at[i] + (size_t)TOKEN_MAX_BYTES;
	nr_bytes = kread_some(k->kread, k->where->token_table_kva, k->tokens, nr_bytes);
	for (i = 0; i < NR_TOKENS; i++) {
		if (k->token_at[i] >= nr_bytes)
			return part_missing(k, "kallsyms_token_table");
		k->token_bytes[i] = (uint16_t)strnlen(k->tokens + k->token_at[i],
						      TOKEN_MAX_BYTES);
	}
	return BTSREC_OK;
}

static enum btsrec_status read_offsets(struct kallsyms *k)
{
	size_t nr_bytes = k->nr_symbols * sizeof(*k->offsets);

	k->offsets = malloc(nr_bytes);
	if (!k->offsets)
		return no_memory(k);
	if (!kread(k->kread, k->where->offsets_kva, k->offsets, nr_bytes))
		return part_missing(k, "kallsyms_offsets");
	return BTSREC_OK;
}

/* --- Names -------------------------------------------------------------- */

/* Read on, so that @want_bytes of the compressed names are there. */
static enum btsrec_status names_read(struct kallsyms *k, size_t want_bytes)
{
	size_t room = k->names_room ? 2 * k->names_room : NAMES_STEP_BYTES;
	size_t got_bytes = 0;
	uint8_t *names;

	if (want_bytes > NAMES_MAX_BYTES)
		return msg_set(k->msg, BTSREC_ERR_CORRUPT, "kallsyms_names has no end");
	if (want_bytes > k->names_room) {
		names = realloc(k->names, room);
		if (!names)
			return no_memory(k);
		k->names = names;
		k->names_room = room;
	}
	room = k->names_room - k->names_bytes;
	if (room > NAMES_STEP_BYTES)
		room = NAMES_STEP_BYTES;
	got_bytes = kread_some(k->kread, k->where->names_kva + k->names_bytes,
			       k->names + k->names_bytes, room);
	k->names_bytes += got_bytes;
	return want_bytes <= k->names_bytes ? BTSREC_OK : part_missing(k, "kallsyms_names");
}

static inline enum btsrec_status names_want(struct kallsyms *k, size_t want_bytes)
{
	return want_bytes <= k->names_bytes ? BTSREC_OK : names_read(k, want_bytes);
}

/* Where the compressed name at *@at is; *@at moves to its end. */
static enum btsrec_status names_next(struct kallsyms *k, size_t *at, const uint8_t **ret,
				     size_t *ret_bytes)
{
	enum btsrec_status status = names_want(k, *at + 1);
	size_t nr_bytes, head_bytes = 1;

	if (status)
		return status;
	nr_bytes = k->names[*at];
	if (nr_bytes & 0x80) {
		status = names_want(k, *at + 2);
		if (status)
			return status;
		nr_bytes = (nr_bytes & 0x7f) | (size_t)k->names[*at + 1] << 7;
		head_bytes = 2;
	}
	status = names_want(k, *at + head_bytes + nr_bytes);
	*ret = k->names + *at + head_bytes;
	*ret_bytes = nr_bytes;
	*at += head_bytes + nr_bytes;
	return status;
}

/*
 * What @name stands for, EXPANDED_MAX_BYTES at most; @ret has room for a piece more than that.
 * Behind the last token are TOKEN_MAX_BYTES that may be read.
 */
static size_t expand(const struct kallsyms *k, const uint8_t *name, size_t nr_bytes, char *ret)
{
	size_t at = 0, i, part_bytes;

	for (i = 0; i < nr_bytes && at < EXPANDED_MAX_BYTES; i++, at += part_bytes) {
		const char *part = k->tokens + k->token_at[name[i]];

		part_bytes = k->token_bytes[name[i]];
		if (part_bytes > EXPANDED_MAX_BYTES - at)
			part_bytes = EXPANDED_MAX_BYTES - at;
		if (part_bytes <= PIECE_BYTES)
			memcpy(ret + at, part, PIECE_BYTES);
		else
			memcpy(ret + at, part, part_bytes);
	}
	return at;
}

/* Room for one more name.  Those of @list stay where they are in the text, which may move. */
static bool text_grow(struct kallsyms *k, struct symbol_list *list)
{
	size_t room = k->text ? 2 * k->text_room : k->nr_symbols * (size_t)EXPANDED_MEAN_BYTES;
	char *text;

	if (k->text && k->text_room - k->text_bytes >= EXPANDED_MAX_BYTES)
		return true;
	room += EXPANDED_MAX_BYTES;
	text = malloc(room + PIECE_BYTES);
	if (!text)
		return false;
	if (k->text)
		memcpy(text, k->text, k->text_bytes);
	for (size_t i = 0; i < list->nr_entries; i++)
		list->entries[i].name = text + (list->entries[i].name - k->text);
	free(k->text);
	k->text = text;
	k->text_room = room;
	return true;
}

/* --- Addresses ---------------------------------------------------------- */

/*
 * Three ways to store an address: an offset from a base; the same, but with
 * absolute values as non-negative and the others as negative numbers
 * (CONFIG_KALLSYMS_ABSOLUTE_PERCPU: 6.1 and 6.12); a distance from the place of the
 * number itself (7.2, which has no base).
 */
enum address_form {
	ADDRESS_FROM_BASE,
	ADDRESS_NEGATIVE_FROM_BASE,
	ADDRESS_FROM_PLACE,
};

static uint64_t address_of(const struct kallsyms *k, enum address_form form, uint64_t base,
			   uint32_t i)
{
	int64_t offset = k->offsets[i];

	switch (form) {
	case ADDRESS_FROM_BASE:
		return base + (uint32_t)offset;
	case ADDRESS_NEGATIVE_FROM_BASE:
		return offset >= 0 ? (uint64_t)offset : base - 1 - (uint64_t)offset;
	case ADDRESS_FROM_PLACE:
		break;
	}
	return k->where->offsets_kva + 4 * (uint64_t)i + (uint64_t)offset;
}

/* Does a symbol with the anchor's name have the anchor's address in @form? */
static bool form_proven(const struct kallsyms *k, const struct symbol_list *list,
			const struct kallsyms_anchor *anchor, enum address_form form,
			uint64_t base)
{
	size_t name_bytes = strlen(anchor->name), i;

	for (i = 0; i < list->nr_entries; i++) {
		const struct symbol_entry *entry = &list->entries[i];

		if (entry->name_bytes == name_bytes &&
		    !memcmp(entry->name, anchor->name, name_bytes) &&
		    address_of(k, form, base, (uint32_t)entry->va) == anchor->kva)
			return true;
	}
	return false;
}

static enum btsrec_status find_form(struct kallsyms *k, const struct symbol_list *list,
				    const struct kallsyms_anchor *anchor,
				    enum address_form *ret, uint64_t *ret_base)
{
	*ret_base = 0;
	*ret = ADDRESS_FROM_PLACE;
	if (k->where->relative_base_kva) {
		if (!kread(k->kread, k->where->relative_base_kva, ret_base, sizeof(*ret_base)))
			return part_missing(k, "kallsyms_relative_base");
		*ret = ADDRESS_FROM_BASE;
		if (!form_proven(k, list, anchor, *ret, *ret_base))
			*ret = ADDRESS_NEGATIVE_FROM_BASE;
	}
	if (form_proven(k, list, anchor, *ret, *ret_base))
		return BTSREC_OK;
	return msg_set(k->msg, BTSREC_ERR_MISMATCH,
		       "kallsyms does not have the symbol that the recorder noted where it noted it");
}

/* --- The whole ---------------------------------------------------------- */

/* What is in the area of a CPU is data, too. */
static char list_letter(char letter)
{
	if (letter == ABSOLUTE)
		return LOCAL_DATA;
	return letter;
}

/* Name @i, at *@at, into @list; the number of the symbol stands for the address for now. */
static enum btsrec_status list_name(struct kallsyms *k, uint32_t i, size_t *at,
				    struct symbol_list *list)
{
	const uint8_t *name;
	size_t nr_bytes;
	enum btsrec_status status = names_next(k, at, &name, &nr_bytes);
	char *text;

	if (status)
		return status;
	if (!text_grow(k, list))
		return no_memory(k);
	text = k->text + k->text_bytes;
	nr_bytes = expand(k, name, nr_bytes, text);
	if (!nr_bytes)
		return msg_set(k->msg, BTSREC_ERR_CORRUPT,
			       "symbol %u in kallsyms_names is empty", i);
	k->text_bytes += nr_bytes;
	if (k->text_bytes > TEXT_MAX_BYTES)
		return msg_set(k->msg, BTSREC_ERR_CORRUPT,
			       "the names in kallsyms_names are too long");
	return symbol_list_add(list, i, list_letter(*text), text + 1, nr_bytes - 1) ?
		       BTSREC_OK :
		       no_memory(k);
}

static enum btsrec_status list_names(struct kallsyms *k, struct symbol_list *list)
{
	enum btsrec_status status = BTSREC_OK;
	size_t at = 0;

	for (uint32_t i = 0; !status && i < k->nr_symbols; i++)
		status = list_name(k, i, &at, list);
	return status;
}

/* The forms without negative numbers do not say where an absolute one is. */
static bool is_unplaced(const struct symbol_entry *entry, enum address_form form)
{
	return entry->name[-1] == ABSOLUTE && form != ADDRESS_NEGATIVE_FROM_BASE;
}

static enum btsrec_status list_addresses(struct kallsyms *k, struct symbol_list *list,
					 const struct kallsyms_anchor *anchor)
{
	enum address_form form;
	uint64_t base;
	enum btsrec_status status = find_form(k, list, anchor, &form, &base);
	size_t i;

	for (i = 0; !status && i < list->nr_entries; i++) {
		struct symbol_entry *entry = &list->entries[i];

		entry->va = is_unplaced(entry, form) ? 0 :
			    address_of(k, form, base, (uint32_t)entry->va);
	}
	return status;
}

static enum btsrec_status kallsyms_run(struct kallsyms *k, const struct kallsyms_anchor *anchor,
				       struct symbol_list *list)
{
	enum btsrec_status status = read_count(k);

	if (!status)
		status = read_tokens(k);
	if (!status)
		status = list_names(k, list);
	if (!status)
		status = read_offsets(k);
	if (!status)
		status = list_addresses(k, list, anchor);
	return status;
}

enum btsrec_status kallsyms_read(const struct kread *kread, const struct kallsyms_where *where,
				 const struct kallsyms_anchor *anchor, struct msg *msg,
				 struct symbol_list *list, char **ret_names)
{
	struct kallsyms k = { .kread = kread, .where = where, .msg = msg };
	enum btsrec_status status = kallsyms_run(&k, anchor, list);

	*ret_names = k.text;
	free(k.tokens);
	free(k.names);
	free(k.offsets);
	return status;
}
