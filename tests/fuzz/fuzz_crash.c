// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command "bts" in a crash of straw.  What follows the last whole page of the input is
 * a command line, then a line "HEX LETTER NAME" for each symbol that crash has; those from
 * the module area on are one module's.
 */
#include <stdarg.h>

#include "fuzz_image.h"

#include <crash/defs.h>

#define NR_SYMBOLS	64
#define MODULES_KVA	0xffffffffc0000000UL

FILE *fp;
struct program_context program_context, *pc = &program_context;
struct task_table task_table, *tt = &task_table;
struct symbol_table_data symbol_table_data, *st = &symbol_table_data;
char *args[MAXARGS];
int argcnt;
int argerrs;

static struct command_table_entry *commands;
static const struct btsrec_image *image;

/** struct straw - crash's tables; the module's follow the kernel's */
static struct {
	struct syment list[NR_SYMBOLS + 1];
	size_t nr;
	size_t nr_kernel;
	struct load_module module;
	struct task_context context;
	char text[8192];
} straw;

void register_extension(struct command_table_entry *table)
{
	commands = table;
}

int __error(int type, char *fmt, ...)
{
	va_list list;

	(void)type;
	va_start(list, fmt);
	vfprintf(fp, fmt, list);
	va_end(list);
	return 0;
}

int readmem(ulonglong at, int kind, void *buf, long nr_bytes, char *what, ulong flags)
{
	size_t got_bytes;

	(void)what;
	if (!(flags & RETURN_ON_ERROR) || nr_bytes < 0)
		abort();
	if (kind == KVADDR)
		at -= 0xffffffff80000000ULL;
	return image->read_pa(image->arg, at, buf, (size_t)nr_bytes, &got_bytes) == BTSREC_OK;
}

struct syment *symbol_search(char *name)
{
	for (size_t i = 0; i < straw.nr; i++)
		if (!strcmp(straw.list[i].name, name))
			return straw.list + i;
	return NULL;
}

struct syment *value_search(ulong va, ulong *ret_offset)
{
	size_t first = va >= MODULES_KVA ? straw.nr_kernel : 0;
	struct syment *found = NULL;

	for (size_t i = first; i < (first ? straw.nr : straw.nr_kernel); i++)
		if (straw.list[i].value <= va)
			found = straw.list + i;
	if (found)
		*ret_offset = va - found->value;
	return found;
}

int module_symbol(ulong va, struct syment **ret, struct load_module **ret_module, char *text,
		  ulong radix)
{
	(void)ret;
	(void)text;
	(void)radix;
	*ret_module = &straw.module;
	return va >= MODULES_KVA;
}

static char *read_vmcoreinfo(const char *key)
{
	return strcmp(key, "NUMBER(BTSREC_ROOT)") ? NULL : strdup("0x1000");
}

static int compare(const void *a, const void *b)
{
	const struct syment *left = a, *right = b;

	return left->value < right->value ? -1 : left->value > right->value;
}

static void take_symbol(char *line)
{
	struct syment *symbol = straw.list + straw.nr;
	char *end;

	symbol->value = strtoul(line, &end, 16);
	if (straw.nr == NR_SYMBOLS || *end != ' ' || !end[1] || end[2] != ' ')
		return;
	symbol->type = end[1];
	symbol->name = end + 3;
	straw.nr++;
}

static void take_symbols(char *text)
{
	char *line;

	straw.nr = straw.nr_kernel = 0;
	while ((line = strsep(&text, "\n")))
		take_symbol(line);
	qsort(straw.list, straw.nr, sizeof(*straw.list), compare);
	while (straw.nr_kernel < straw.nr && straw.list[straw.nr_kernel].value < MODULES_KVA)
		straw.nr_kernel++;
	st->symtable = straw.list;
	st->symend = straw.list + straw.nr_kernel;
	memset(&straw.module, 0, sizeof(straw.module));
	memcpy(straw.module.mod_name, "evil\x1b[m", sizeof("evil\x1b[m"));
	if (straw.nr > straw.nr_kernel) {
		straw.module.mod_symtable = straw.list + straw.nr_kernel;
		straw.module.mod_symend = straw.list + straw.nr - 1;
	}
}

/* The user at the keyboard is no enemy: what is repeated is text. */
static void take_command(char *line)
{
	char *word;

	for (char *at = line; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	argcnt = argerrs = 0;
	memset(args, 0, sizeof(args));
	args[argcnt++] = "bts";
	while (argcnt < MAXARGS - 1 && (word = strsep(&line, " ")))
		if (*word)
			args[argcnt++] = word;
	optind = 0;
}

static ssize_t check_output(void *arg, const char *text, size_t nr_bytes)
{
	(void)arg;
	fuzz_text.write(NULL, text, nr_bytes);
	return (ssize_t)nr_bytes;
}

static void start_crash(void)
{
	cookie_io_functions_t output = { .write = check_output };

	fp = fopencookie(NULL, "w", output);
	if (!fp || !commands)
		abort();
	opterr = 0;
	pc->curcmd = "bts";
	pc->read_vmcoreinfo = read_vmcoreinfo;
	tt->current = tt->context_array = &straw.context;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	size_t image_bytes = fuzz_text_at(nr_bytes);
	struct fuzz_memory input = { bytes, image_bytes };
	struct btsrec_image plain = fuzz_plain_image(&input);
	char *rest = straw.text;

	if (!fp)
		start_crash();
	image = &plain;
	nr_bytes -= image_bytes;	/* less than a page, so it fits */
	memcpy(straw.text, bytes + image_bytes, nr_bytes);
	straw.text[nr_bytes] = '\0';
	take_command(strsep(&rest, "\n"));
	take_symbols(rest);
	commands[0].func();
	return 0;
}
