// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * System.map: the input is one.  If it is taken, the name of every address comes from a line of it,
 * whose address is as far away as the answer says; and no address has another name the second time.
 */
#include "fuzz_file.h"
#include "fuzz_image.h"
#include "fuzz_located.h"

#define PROBE_BYTES	0x100

/** struct line - one of the map, read as scanf() would; @name is not terminated */
struct line {
	uint64_t va;
	const char *name;
	size_t name_bytes;
};

static bool next_line(const char **at, const char *end, struct line *ret)
{
	const char *eol, *begin = *at;
	char digits[17] = "";

	if (begin >= end)
		return false;
	eol = memchr(begin, '\n', (size_t)(end - begin));
	eol = eol ? eol : end;
	*at = eol + 1;
	for (size_t i = 0; i < 16 && begin < eol && *begin != ' '; i++)
		digits[i] = *begin++;
	ret->va = strtoull(digits, NULL, 16);
	ret->name = begin + 3;
	ret->name_bytes = eol > begin + 3 ? (size_t)(eol - begin - 3) : 0;
	return true;
}

/* Names are cut in the answer; of those that are no text its address is enough. */
static bool is_named(const struct line *line, const char *name, size_t room_bytes)
{
	size_t nr_bytes = strnlen(name, room_bytes);

	for (size_t i = 0; i < line->name_bytes; i++)
		if (line->name[i] <= ' ' || line->name[i] > '~' || line->name[i] == '\\' ||
		    line->name[i] == '"')
			return true;
	return line->name_bytes >= nr_bytes && !memcmp(line->name, name, nr_bytes);
}

/* @shift is added to the address of each line. */
static void check_name(const char *text, size_t nr_bytes, uint64_t shift, uint64_t va,
		       const struct btsrec_symbol *symbol)
{
	const char *at = text;
	struct line line;

	while (next_line(&at, text + nr_bytes, &line))
		if (line.va + shift + symbol->offset_bytes == va &&
		    is_named(&line, symbol->name, sizeof(symbol->name)))
			return;
	abort();
}

/* Where the file has _stext decides; of several any may be taken. */
static bool find_shift(const char *text, size_t nr_bytes, uint64_t *ret)
{
	const char *at = text;
	struct line line;
	size_t nr = 0;

	while (next_line(&at, text + nr_bytes, &line)) {
		if (line.name_bytes != strlen("_stext") || memcmp(line.name, "_stext", 6))
			continue;
		*ret = FUZZ_SYMBOL_KVA - line.va;
		nr++;
	}
	return nr == 1;
}

static void check_at(struct btsrec *rec, const char *text, size_t nr_bytes, uint64_t shift,
		     uint64_t va)
{
	struct btsrec_symbol symbol, again;

	if (btsrec_resolve(rec, va, &symbol) || !*symbol.name)
		return;
	check_name(text, nr_bytes, shift, va, &symbol);
	if (btsrec_resolve(rec, va, &again) || again.offset_bytes != symbol.offset_bytes ||
	    strcmp(again.name, symbol.name))
		abort();
}

static void check_names(struct btsrec *rec, const char *text, size_t nr_bytes)
{
	uint64_t shift;
	const char *at = text;
	struct line line;

	if (!find_shift(text, nr_bytes, &shift))
		return;
	while (next_line(&at, text + nr_bytes, &line)) {
		check_at(rec, text, nr_bytes, shift, line.va + shift);
		check_at(rec, text, nr_bytes, shift, line.va + shift - 1);
		check_at(rec, text, nr_bytes, shift, line.va + shift + PROBE_BYTES);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	static struct fuzz_named map;
	struct btsrec *rec = fuzz_located();

	if (fuzz_named(&map, bytes, nr_bytes) && !btsrec_add_system_map(rec, map.path))
		check_names(rec, (const char *)bytes, nr_bytes);
	btsrec_free(rec);
	return 0;
}
