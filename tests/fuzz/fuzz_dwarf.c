// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files with debug information.  libdw reads them, which is not instrumented and dies of some: see
 * tests/fuzz/whose.
 */
#include <stdlib.h>
#include <string.h>

#include "../../decoder/src/symbols/dwarf_file.h"
#include "fuzz_file.h"
#include "fuzz_image.h"

#define MAX_INLINED	16
#define NR_SYMBOLS	8

/* What libdw 0.188 allocates for some damaged files and never frees. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libdw.so";
}

/** struct places - addresses to be asked for */
struct places {
	uint64_t at[NR_SYMBOLS];
	size_t nr;
};

static bool note(void *arg, const char *name, uint64_t address, size_t section, uint64_t begin,
		 uint64_t end)
{
	struct places *places = arg;

	(void)section;
	(void)begin;
	(void)end;
	if (!*name)
		abort();
	(void)strlen(name);
	places->at[places->nr++] = address;
	return places->nr < NR_SYMBOLS;
}

static void ask(struct dwarf_file *file, uint64_t address)
{
	struct dwarf_inlined inlined[MAX_INLINED];
	const char *source = NULL;
	unsigned int line = 0;
	size_t nr;

	if (dwarf_file_line(file, address, &source, &line)) {
		if (!line)
			abort();
		(void)strlen(source);
	}
	nr = dwarf_file_inlined(file, address, inlined, MAX_INLINED);
	if (nr > MAX_INLINED)
		abort();
	for (size_t i = 0; i < nr; i++)
		(void)(strlen(inlined[i].function) + strlen(inlined[i].file));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	static struct fuzz_named named;
	const struct dwarf_build_id any = { 0 };
	struct dwarf_file *file = NULL;
	struct places places = { 0 };
	char nowhere[] = "/nonexistent";

	unsetenv("DEBUGINFOD_URLS");
	if (!fuzz_named(&named, bytes, nr_bytes))
		abort();
	if (dwarf_file_open(named.path, &any, nowhere, &file))
		return 0;
	dwarf_file_symbols(file, note, &places);
	for (size_t i = 0; i < places.nr; i++)
		for (uint64_t byte = 0; byte < 32; byte += 3)
			ask(file, places.at[i] + byte);
	dwarf_file_close(file);
	return 0;
}
