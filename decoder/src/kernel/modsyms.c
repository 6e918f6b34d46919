// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/modsyms.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* The largest modules have some ten thousand. */
#define MAX_SYMBOLS		BOUND(1u << 20, 1u << 10)
#define NAMES_MAX_BYTES		BOUND(64u << 20, 1u << 14)

/** struct mod_kallsyms - as the kernel has it on 64 bit; all _kva */
struct mod_kallsyms {
	uint64_t symtab_kva;
	uint32_t nr_symbols;
	uint32_t padding;
	uint64_t strtab_kva;
	uint64_t typetab_kva;
};

/**
 * struct modsyms - one module while it is read
 * @letters: the type of each symbol as nm writes it.
 * @names: @names_bytes of the string table, and a zero after them.
 */
struct modsyms {
	const struct kread *kread;
	struct msg *msg;
	struct modsyms_room *room;
	struct mod_kallsyms where;
	Elf64_Sym *symbols;
	char *letters;
	char *names;
	size_t names_bytes;
};

static enum btsrec_status no_memory(struct modsyms *m)
{
	return msg_set(m->msg, BTSREC_ERR_NOMEM, "out of memory");
}

static enum btsrec_status part_missing(struct modsyms *m, const char *part)
{
	return msg_set(m->msg, BTSREC_ERR_NODATA, "%s is not in the dump", part);
}

static enum btsrec_status read_where(struct modsyms *m, uint64_t kva)
{
	if (!kread(m->kread, kva, &m->where, sizeof(m->where)))
		return part_missing(m, "its struct mod_kallsyms");
	if (m->where.nr_symbols > MAX_SYMBOLS)
		return msg_set(m->msg, BTSREC_ERR_CORRUPT, "%u symbols", m->where.nr_symbols);
	if (m->where.nr_symbols > m->room->nr_symbols)
		return msg_set(m->msg, BTSREC_ERR_CORRUPT, "the modules have too many symbols");
	m->room->nr_symbols -= m->where.nr_symbols;
	return BTSREC_OK;
}

static enum btsrec_status read_symbols(struct modsyms *m)
{
	size_t nr_symbols = m->where.nr_symbols;

	m->symbols = calloc(nr_symbols + 1, sizeof(*m->symbols));
	m->letters = calloc(nr_symbols + 1, 1);
	if (!m->symbols || !m->letters)
		return no_memory(m);
	if (!kread(m->kread, m->where.symtab_kva, m->symbols, nr_symbols * sizeof(*m->symbols)))
		return part_missing(m, "its symbol table");
	if (!kread(m->kread, m->where.typetab_kva, m->letters, nr_symbols))
		return part_missing(m, "its table of types");
	return BTSREC_OK;
}

/* The string table has no length of its own: it ends with its last name. */
static enum btsrec_status read_names(struct modsyms *m)
{
	size_t last_at = 0, i;

	for (i = 0; i < m->where.nr_symbols; i++)
		if (last_at < m->symbols[i].st_name)
			last_at = m->symbols[i].st_name;
	if (last_at > NAMES_MAX_BYTES)
		return msg_set(m->msg, BTSREC_ERR_CORRUPT, "a name at %zu", last_at);
	m->names = calloc(1, last_at + SYMBOL_NAME_MAX_BYTES + 1);
	if (!m->names)
		return no_memory(m);
	m->names_bytes = kread_some(m->kread, m->where.strtab_kva, m->names,
				    last_at + SYMBOL_NAME_MAX_BYTES);
	return m->names_bytes > last_at ? BTSREC_OK : part_missing(m, "its table of names");
}

/* What the kernel's own lookup passes over: labels and mapping symbols. */
static bool is_name(const char *name)
{
	return *name && *name != '$' && strncmp(name, ".L", 2) != 0;
}

static char letter_to_rank(char letter)
{
	if (letter && strchr("TtWw", letter))
		return 'T';
	return letter;
}

static enum btsrec_status list_symbols(struct modsyms *m, struct symbol_list *list)
{
	size_t i;

	for (i = 0; i < m->where.nr_symbols; i++) {
		const Elf64_Sym *symbol = &m->symbols[i];
		const char *name = m->names + symbol->st_name;
		size_t name_bytes;

		if (!m->letters[i] || !is_name(name))
			continue;
		name_bytes = strnlen(name, SYMBOL_NAME_MAX_BYTES);
		if (name_bytes > m->room->names_bytes)
			return msg_set(m->msg, BTSREC_ERR_CORRUPT,
				       "the names of the modules are too long");
		m->room->names_bytes -= name_bytes;
		if (!symbol_list_add_sized(list, symbol->st_value, symbol->st_size, 0,
					   letter_to_rank(m->letters[i]), name, name_bytes))
			return no_memory(m);
	}
	return BTSREC_OK;
}

enum btsrec_status modsyms_read(const struct kread *kread, uint64_t kva, struct msg *msg,
				struct symbol_list *list, struct modsyms_room *room,
				char **ret_names)
{
	struct modsyms m = { .kread = kread, .msg = msg, .room = room };
	enum btsrec_status status = read_where(&m, kva);

	if (!status)
		status = read_symbols(&m);
	if (!status)
		status = read_names(&m);
	if (!status)
		status = list_symbols(&m, list);
	*ret_names = m.names;
	free(m.symbols);
	free(m.letters);
	return status;
}
