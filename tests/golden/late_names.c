// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * usage: late_names DUMP MAP
 * A user of the library may name things when a view has been printed already.  What
 * follows is printed as if the names had been there at first, the kinds of branches
 * and the thunks included.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <btsrec/decoder.h>

static const char *dump, *map;

/* --- Ways to name things ------------------------------------------------- */

static bool name_by_map(struct btsrec *rec)
{
	return !btsrec_add_system_map(rec, map);
}

static bool name_by_dump(struct btsrec *rec)
{
	btsrec_set_dump_names(rec, true);
	return true;
}

/* The thunk of the map, and nothing else. */
static enum btsrec_status resolve(void *arg, uint64_t va, struct btsrec_symbol *ret)
{
	(void)arg;
	if (va < 0xffffffff81000200 || va >= 0xffffffff81000240)
		return BTSREC_ERR_NO_SYMBOL;
	*ret = (struct btsrec_symbol){ .name = "__x86_indirect_thunk_rax",
				       .offset_bytes = va - 0xffffffff81000200 };
	return BTSREC_OK;
}

static bool name_by_resolver(struct btsrec *rec)
{
	const struct btsrec_resolver resolver = { .resolve = resolve };

	btsrec_set_resolver(rec, &resolver);
	return true;
}

/* --- What is printed ----------------------------------------------------- */

static bool take(void *arg, const char *text, size_t len_bytes)
{
	return fwrite(text, 1, len_bytes, arg) == len_bytes;
}

static bool print(struct btsrec *rec, FILE *file)
{
	const struct btsrec_sink sink = { .write = take, .arg = file };
	const struct btsrec_show show = { .size = sizeof(show), .types = true };
	const struct btsrec_calls calls = { .size = sizeof(calls) };

	return !btsrec_show(rec, &show, &sink) && !btsrec_calls(rec, &calls, &sink);
}

/* The caller's, or NULL.  @early: named before anything is printed. */
static char *printed(bool (*name)(struct btsrec *rec), bool early)
{
	struct btsrec *rec = btsrec_new();
	FILE *nothing = fopen("/dev/null", "w");
	char *text = NULL;
	size_t nr_bytes;
	FILE *file = open_memstream(&text, &nr_bytes);
	bool good = rec && nothing && file && !btsrec_open_dump(rec, dump) &&
		    !btsrec_locate(rec, 0, BTSREC_SCAN_DMA);

	if (good)
		btsrec_set_dump_names(rec, false);
	good = good && (early || print(rec, nothing)) && name(rec) && print(rec, file);
	if (!good)
		printf("%s\n", rec ? btsrec_errmsg(rec) : "out of memory");
	btsrec_free(rec);
	if (nothing)
		fclose(nothing);
	if (file)
		fclose(file);
	if (!good)
		free(text);
	return good ? text : NULL;
}

static bool check(const char *what, bool (*name)(struct btsrec *rec))
{
	char *early = printed(name, true), *late = printed(name, false);
	bool good = early && late && strstr(early, "thunk") && !strcmp(early, late);

	if (!good)
		printf("%s: named first:\n%s\nnamed after a view:\n%s\n", what,
		       early ? early : "-", late ? late : "-");
	free(early);
	free(late);
	return good;
}

int main(int argc, char **argv)
{
	bool good = argc == 3;

	if (!good)
		return 2;
	dump = argv[1];
	map = argv[2];
	good &= check("by a map", name_by_map);
	good &= check("by the dump", name_by_dump);
	good &= check("by a resolver", name_by_resolver);
	return !good;
}
