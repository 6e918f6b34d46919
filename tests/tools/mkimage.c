// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mkimage: a text that describes what a recorder left in memory -> a dump of
 * that memory.  usage: mkimage [--raw] OUT < TEXT
 *
 * The dump is an ELF vmcore; with --raw it is plain memory from address 0 on, in
 * which a page of 0xff bytes stands for one that is not there (the fuzzers' input).
 *
 * One statement per line, words as in a shell without variables; a word
 * "key=value" may have a value in double quotes with \xNN, \" and \\ in it.
 * A '#' starts a comment line.
 *
 *   root [cpus=N] [ring=RECORDS] [FIELD=VALUE]...
 *	First statement.  FIELD: a number field of struct btsrec_root, release or
 *	symbol_name.
 *   vmcoreinfo none | pa=PA
 *	Without it the note says where the root is.
 *   cpu N [FIELD=VALUE]...
 *	Later statements are about this CPU.  FIELD as above, struct btsrec_cpu;
 *	"offset=BYTES" sets the index of a CPU that is not frozen.
 *   branch FROM TO [p]		one record
 *   fill COUNT FROM TO STEP	COUNT records, each STEP further on
 *   slot WORD WORD WORD		any three words
 *   switch|mm|exec tsc= task= prev=PID/TGID/CR3/COMM next=...
 *   arm|gap tsc= stop_tsc= reason= task= now=PID/TGID/CR3/COMM
 *   mark tsc= pid= tgid= text=
 *   time tsc= realtime= boottime=
 *   future kind= words=N		an annotation kind of a newer minor
 *	Each with pending=PARTS: begun, but only so many parts were written.
 *   freeze FIELD=VALUE...	struct btsrec_freeze; state and index follow
 *   module name= text_kva= text_bytes= state=
 *   symbol NAME LETTER KVA	one of the kernel's kallsyms
 *   modsym NAME LETTER KVA	one of the module that was described last
 *	These tables lie where __pa() of the kernel's text leads, without page tables.
 *   code SPACE VA HEX		memory by virtual address: SPACE is kernel, or userN with
 *	its page table at 0x100000 + N * 0x1000
 *   idt VECTOR VA		a gate; its handler in the kernel
 *   poke PLACE OFFSET BYTES VALUE	change memory behind the checksums' back
 *   hole PLACE			the page is not in the dump
 *	PLACE: root, dir, modules, cpuN, dsN, listN, ringN.PAGE, kallsyms,
 *	modsymsN, SPACE:VA
 *   format kdump		makedumpfile's compressed format instead of ELF
 *   truncate BYTES		cut the dump's file off; negative: so many at the end
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include <btsrec/abi.h>

#define MAX_CPUS	64
#define MAX_WORDS	32
#define MAX_CHANGES	256
#define MAX_SYMBOLS	256
#define MAX_PAGES	(1u << 17)	/* 512 MiB */
#define MAX_SPACES	9

/* Where the top page tables are; the kernel's is before that of user0. */
#define SPACES_PA	0xff000ULL
#define IDT_KVA		0xfffffe0000000000ULL

/* One page of the described memory; index in image.pages: page frame number. */
struct page {
	uint8_t *bytes;
	bool hole;
};

/* A field to be set at the end, before or after the checksums. */
struct change {
	void *at;
	size_t nr_bytes;
	uint64_t value;
};

struct cpu {
	struct btsrec_cpu *page;
	uint64_t *ds;
	uint64_t *list_pages[BTSREC_MAX_LIST_PAGES];
	uint64_t head;		/* next slot */
	int64_t index_offset;	/* -1: from head */
};

/* A symbol of the kernel or of a module. */
struct symbol {
	char name[512];
	char letter;
	uint64_t va;
	uint32_t module;	/* slot of the module map + 1; 0: the kernel */
};

static struct image {
	struct page pages[MAX_PAGES];
	uint64_t next_pfn;
	struct btsrec_root *root;
	uint64_t *dir;
	struct btsrec_module *modules;
	struct cpu cpus[MAX_CPUS];
	struct cpu *cpu;
	uint64_t nr_slots;
	struct change before_crc[MAX_CHANGES], after_crc[MAX_CHANGES];
	size_t nr_before_crc, nr_after_crc;
	struct symbol symbols[MAX_SYMBOLS];
	size_t nr_symbols;
	uint64_t kallsyms_pa;
	uint64_t modsyms_pa[BTSREC_MODULES_PER_PAGE];
	bool has_space[MAX_SPACES];	/* 0: the kernel */
	unsigned int nr_spaces;
	bool no_vmcoreinfo;
	uint64_t vmcoreinfo_pa;
	int64_t truncate_bytes;
	bool truncate;
	bool kdump;
	unsigned long line;
} image;

__attribute__((format(printf, 1, 2), noreturn))
static void die(const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "mkimage: line %lu: ", image.line);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* --- Memory ------------------------------------------------------------- */

static uint64_t alloc_page(void)
{
	uint64_t pfn = image.next_pfn++;

	if (pfn >= MAX_PAGES || image.pages[pfn].bytes)
		die("memory is full");
	image.pages[pfn].bytes = calloc(1, BTSREC_PAGE_BYTES);
	if (!image.pages[pfn].bytes)
		die("out of memory");
	return pfn * BTSREC_PAGE_BYTES;
}

static void *at_pa(uint64_t pa)
{
	return image.pages[pa / BTSREC_PAGE_BYTES].bytes + pa % BTSREC_PAGE_BYTES;
}

static uint64_t *ring_page_pa(struct cpu *cpu, uint64_t page)
{
	return &cpu->list_pages[page / BTSREC_PAS_PER_PAGE][page % BTSREC_PAS_PER_PAGE];
}

/* Byte by byte, since a slot may lie in two pages. */
static void ring_write(struct cpu *cpu, uint64_t offset, const void *from, size_t nr_bytes)
{
	const uint8_t *bytes = from;

	for (; nr_bytes; nr_bytes--, offset++) {
		uint64_t pa = *ring_page_pa(cpu, offset / BTSREC_PAGE_BYTES);

		*(uint8_t *)at_pa(pa + offset % BTSREC_PAGE_BYTES) = *bytes++;
	}
}

static void slot_write(uint64_t slot, const struct btsrec_record *record)
{
	ring_write(image.cpu, slot % image.nr_slots * BTSREC_RECORD_BYTES, record,
		   sizeof(*record));
}

static void slot_append(const struct btsrec_record *record)
{
	slot_write(image.cpu->head, record);
	image.cpu->head = (image.cpu->head + 1) % image.nr_slots;
}

/* --- Fields by name ----------------------------------------------------- */

struct field {
	const char *name;
	size_t offset;
	size_t nr_bytes;
};

#define FIELD(type, name) \
	{ #name, offsetof(struct type, name), sizeof(((struct type *)0)->name) }

static const struct field root_fields[] = {
	FIELD(btsrec_root, magic), FIELD(btsrec_root, version_major),
	FIELD(btsrec_root, version_minor), FIELD(btsrec_root, self_pa),
	FIELD(btsrec_root, constant_bytes), FIELD(btsrec_root, root_bytes),
	FIELD(btsrec_root, cpu_bytes), FIELD(btsrec_root, record_bytes),
	FIELD(btsrec_root, page_bytes), FIELD(btsrec_root, flags),
	FIELD(btsrec_root, nr_cpu_ids), FIELD(btsrec_root, nr_cpu_dir_pages),
	FIELD(btsrec_root, mode), FIELD(btsrec_root, tsc_khz), FIELD(btsrec_root, generation),
	FIELD(btsrec_root, poison), FIELD(btsrec_root, ring_bytes),
	FIELD(btsrec_root, anchor_tsc), FIELD(btsrec_root, anchor_realtime_ns),
	FIELD(btsrec_root, anchor_boottime_ns), FIELD(btsrec_root, symbol_kva),
	FIELD(btsrec_root, symbol_name), FIELD(btsrec_root, release),
	FIELD(btsrec_root, phys_base), FIELD(btsrec_root, build_id_bytes), FIELD(btsrec_root, state),
	FIELD(btsrec_root, nr_arms), FIELD(btsrec_root, nr_modules),
	FIELD(btsrec_root, nr_modules_lost), FIELD(btsrec_root, freeze_tsc),
	FIELD(btsrec_root, freeze_cpu), FIELD(btsrec_root, freeze_reason),
	{ 0 }
};

static const struct field cpu_fields[] = {
	FIELD(btsrec_cpu, magic), FIELD(btsrec_cpu, cpu), FIELD(btsrec_cpu, self_pa),
	FIELD(btsrec_cpu, root_pa), FIELD(btsrec_cpu, generation),
	FIELD(btsrec_cpu, constant_bytes), FIELD(btsrec_cpu, ring_kva),
	FIELD(btsrec_cpu, ring_bytes), FIELD(btsrec_cpu, ds_kva), FIELD(btsrec_cpu, ds_pa),
	FIELD(btsrec_cpu, nr_ring_pages), FIELD(btsrec_cpu, nr_list_pages),
	FIELD(btsrec_cpu, state), FIELD(btsrec_cpu, stop_reason),
	FIELD(btsrec_cpu, stop_index_kva), FIELD(btsrec_cpu, annot_begin),
	FIELD(btsrec_cpu, annot_end), FIELD(btsrec_cpu, nr_annot_skipped),
	FIELD(btsrec_cpu, nr_foreign_stops), FIELD(btsrec_cpu, context_seq),
	FIELD(btsrec_cpu, frozen),
	{ 0 }
};

static const struct field freeze_fields[] = {
	FIELD(btsrec_freeze, reason), FIELD(btsrec_freeze, via_nmi), FIELD(btsrec_freeze, tsc),
	FIELD(btsrec_freeze, index_kva), FIELD(btsrec_freeze, stop_ip), FIELD(btsrec_freeze, ip),
	FIELD(btsrec_freeze, sp), FIELD(btsrec_freeze, bp), FIELD(btsrec_freeze, rflags),
	FIELD(btsrec_freeze, cs), FIELD(btsrec_freeze, cr3), FIELD(btsrec_freeze, debugctl),
	FIELD(btsrec_freeze, task_kva), FIELD(btsrec_freeze, pid), FIELD(btsrec_freeze, tgid),
	FIELD(btsrec_freeze, comm),
	{ 0 }
};

static const struct field module_fields[] = {
	FIELD(btsrec_module, text_kva), FIELD(btsrec_module, text_bytes),
	FIELD(btsrec_module, state), FIELD(btsrec_module, name),
	FIELD(btsrec_module, kallsyms_kva),
	{ 0 }
};

/* --- Words -------------------------------------------------------------- */

/* A word of a statement; value: behind the first '=', NULL: there is none. */
struct word {
	char *text;
	char *value;
	size_t value_bytes;
};

struct statement {
	struct word words[MAX_WORDS];
	size_t nr_words;
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	die("bad \\x escape");
}

/* Undo the quotes of one word in place; returns where the line goes on. */
static char *take_word(char *at, struct word *ret)
{
	bool quoted = false;
	char *to = at;

	memset(ret, 0, sizeof(*ret));
	ret->text = at;
	for (; *at && (quoted || (*at != ' ' && *at != '\t')); at++) {
		if (*at == '"') {
			quoted = !quoted;
		} else if (*at == '\\' && at[1] == 'x') {
			*to++ = (char)(hex_digit(at[2]) << 4 | hex_digit(at[3]));
			at += 3;
		} else if (*at == '\\') {
			*to++ = *++at;
		} else if (*at == '=' && !ret->value) {
			*to++ = '\0';
			ret->value = to;
		} else {
			*to++ = *at;
		}
	}
	if (quoted)
		die("no closing quote");
	if (ret->value)
		ret->value_bytes = (size_t)(to - ret->value);
	if (*at)
		at++;
	*to = '\0';
	return at;
}

static void take_statement(char *line, struct statement *ret)
{
	ret->nr_words = 0;
	while (*line) {
		if (*line == ' ' || *line == '\t') {
			line++;
			continue;
		}
		if (ret->nr_words == MAX_WORDS)
			die("too many words");
		line = take_word(line, &ret->words[ret->nr_words++]);
	}
}

static const char *const reason_names[] = {
	"none", "panic", "oops", "hard-lockup", "soft-lockup", "hung-task", "mce", "nmi",
	"manual", "crash-shutdown", "reboot", "cpu-offline", "disarm", "foreign", "suspend",
};

static const char *const state_names[] = { "never", "armed", "stopped", "frozen" };

/* A number, or one of the words that stand for one. */
static uint64_t number_of(const char *text)
{
	unsigned long long value;
	char *end;
	size_t i;

	for (i = 0; i < sizeof(reason_names) / sizeof(reason_names[0]); i++)
		if (!strcmp(text, reason_names[i]))
			return i;
	for (i = 0; i < sizeof(state_names) / sizeof(state_names[0]); i++)
		if (!strcmp(text, state_names[i]))
			return i;
	value = strtoull(text, &end, 0);
	if (!*text || *end)
		die("'%s' is no number", text);
	return value;
}

static uint64_t word_number(const struct statement *statement, size_t i)
{
	if (i >= statement->nr_words)
		die("%s: a number is missing", statement->words[0].text);
	return number_of(statement->words[i].text);
}

static struct word *word_of(struct statement *statement, const char *key)
{
	size_t i;

	for (i = 1; i < statement->nr_words; i++)
		if (statement->words[i].value && !strcmp(statement->words[i].text, key))
			return &statement->words[i];
	return NULL;
}

static uint64_t value_of(struct statement *statement, const char *key, uint64_t otherwise)
{
	struct word *word = word_of(statement, key);

	return word ? number_of(word->value) : otherwise;
}

static void text_of(struct statement *statement, const char *key, char *ret, size_t max_bytes)
{
	struct word *word = word_of(statement, key);

	if (!word)
		return;
	if (word->value_bytes > max_bytes)
		die("%s: too long", key);
	memcpy(ret, word->value, word->value_bytes);
}

/* --- Setting fields ----------------------------------------------------- */

static void add_change(struct change *changes, size_t *nr, void *at, size_t nr_bytes,
		       uint64_t value)
{
	if (*nr == MAX_CHANGES)
		die("too many changes");
	changes[(*nr)++] = (struct change){ at, nr_bytes, value };
}

static void apply_changes(const struct change *changes, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		memcpy(changes[i].at, &changes[i].value, changes[i].nr_bytes);
}

/* Numbers are set at the end, over what follows from the other statements. */
static void set_field(void *base, const struct field *field, const struct word *word)
{
	uint8_t *at = (uint8_t *)base + field->offset;

	if (field->nr_bytes > 8 || strstr(field->name, "name") || !strcmp(field->name, "comm")) {
		if (word->value_bytes > field->nr_bytes)
			die("%s: too long", field->name);
		memset(at, 0, field->nr_bytes);
		memcpy(at, word->value, word->value_bytes);
		return;
	}
	add_change(image.before_crc, &image.nr_before_crc, at, field->nr_bytes,
		   number_of(word->value));
}

/* Words that are fields of @base; @skip: keys with a meaning of their own. */
static void set_fields(void *base, const struct field *fields, struct statement *statement,
		       const char *skip)
{
	size_t i;

	for (i = 1; i < statement->nr_words; i++) {
		const struct word *word = &statement->words[i];
		const struct field *field = fields;

		if (!word->value || strstr(skip, word->text))
			continue;
		while (field->name && strcmp(field->name, word->text))
			field++;
		if (!field->name)
			die("there is no field '%s'", word->text);
		set_field(base, field, word);
	}
}

/* --- Structures --------------------------------------------------------- */

static void root_init(void)
{
	struct btsrec_root *root = image.root;

	root->magic = BTSREC_ROOT_MAGIC;
	root->version_major = BTSREC_ABI_MAJOR;
	root->version_minor = BTSREC_ABI_MINOR;
	root->constant_bytes = BTSREC_ROOT_LIVE_OFFSET;
	root->root_bytes = sizeof(*root);
	root->cpu_bytes = sizeof(struct btsrec_cpu);
	root->record_bytes = BTSREC_RECORD_BYTES;
	root->page_bytes = BTSREC_PAGE_BYTES;
	root->nr_cpu_dir_pages = 1;
	root->tsc_khz = 2000000;
	root->generation = 1700000000000000000;
	root->poison = BTSREC_POISON;
	root->ring_bytes = image.nr_slots * BTSREC_RECORD_BYTES;
	root->symbol_kva = 0xffffffff81000000;
	root->page_offset_kva = 0xffff888000000000;
	memcpy(root->symbol_name, "_stext", sizeof("_stext"));
	memcpy(root->release, "6.1.0-test", sizeof("6.1.0-test"));
	root->state = BTSREC_ROOT_ARMED;
	root->nr_arms = 1;
}

static void do_root(struct statement *statement)
{
	if (image.root)
		die("a second root");
	image.next_pfn = 1;
	image.nr_slots = value_of(statement, "ring", 64);
	image.root = at_pa(alloc_page());
	image.root->self_pa = BTSREC_PAGE_BYTES;
	image.root->cpu_dir_pa[0] = alloc_page();
	image.dir = at_pa(image.root->cpu_dir_pa[0]);
	image.root->nr_cpu_ids = (uint32_t)value_of(statement, "cpus", 1);
	image.vmcoreinfo_pa = image.root->self_pa;
	root_init();
	set_fields(image.root, root_fields, statement, "cpus ring");
}

/* Pages of a ring lie in descending order, so that no reader relies on more. */
static void ring_init(struct cpu *cpu)
{
	uint64_t nr_pages = (image.root->ring_bytes + BTSREC_PAGE_BYTES - 1) / BTSREC_PAGE_BYTES;
	uint64_t poison[BTSREC_PAS_PER_PAGE], i;

	cpu->page->nr_ring_pages = (uint32_t)nr_pages;
	cpu->page->nr_list_pages =
		(uint32_t)((nr_pages + BTSREC_PAS_PER_PAGE - 1) / BTSREC_PAS_PER_PAGE);
	if (cpu->page->nr_list_pages > BTSREC_MAX_LIST_PAGES)
		die("the ring is too big");
	for (i = 0; i < cpu->page->nr_list_pages; i++) {
		cpu->page->list_pa[i] = alloc_page();
		cpu->list_pages[i] = at_pa(cpu->page->list_pa[i]);
	}
	for (i = 0; i < BTSREC_PAS_PER_PAGE; i++)
		poison[i] = BTSREC_POISON;
	for (i = nr_pages; i--; ) {
		uint64_t pa = alloc_page();

		*ring_page_pa(cpu, i) = pa;
		memcpy(at_pa(pa), poison, sizeof(poison));
	}
}

static void cpu_init(struct cpu *cpu, uint32_t number)
{
	uint64_t pa = alloc_page();

	cpu->page = at_pa(pa);
	cpu->page->magic = BTSREC_CPU_MAGIC;
	cpu->page->cpu = number;
	cpu->page->self_pa = pa;
	cpu->page->root_pa = image.root->self_pa;
	cpu->page->constant_bytes = BTSREC_CPU_LIVE_OFFSET;
	cpu->page->ring_kva = 0xffffc90000000000 + number * 0x10000000ULL;
	cpu->page->ring_bytes = image.root->ring_bytes;
	cpu->page->ds_kva = 0xfffffe0000010000 + number * 0x40000ULL;
	cpu->page->ds_pa = alloc_page();
	cpu->ds = at_pa(cpu->page->ds_pa);
	cpu->page->state = BTSREC_CPU_ARMED;
	cpu->index_offset = -1;
	image.dir[number] = pa;
	ring_init(cpu);
}

static void do_cpu(struct statement *statement)
{
	uint64_t number = word_number(statement, 1);

	if (number >= MAX_CPUS)
		die("there is no CPU %llu", (unsigned long long)number);
	image.cpu = &image.cpus[number];
	if (!image.cpu->page)
		cpu_init(image.cpu, (uint32_t)number);
	image.cpu->index_offset = (int64_t)value_of(statement, "offset", UINT64_MAX);
	set_fields(image.cpu->page, cpu_fields, statement, "offset");
}

static void do_module(struct statement *statement)
{
	struct btsrec_root *root = image.root;

	if (!image.modules) {
		root->module_pa[0] = alloc_page();
		root->nr_module_pages = 1;
		image.modules = at_pa(root->module_pa[0]);
	}
	if (root->nr_modules == BTSREC_MODULES_PER_PAGE)
		die("the module map is full");
	image.modules[root->nr_modules].state = BTSREC_MODULE_LIVE;
	set_fields(&image.modules[root->nr_modules++], module_fields, statement, "");
}

static void add_symbol(struct statement *statement, uint32_t module)
{
	struct symbol *symbol = &image.symbols[image.nr_symbols++];

	if (image.nr_symbols > MAX_SYMBOLS || statement->nr_words != 4)
		die("NAME LETTER KVA, at most %d times", MAX_SYMBOLS);
	snprintf(symbol->name, sizeof(symbol->name), "%s", statement->words[1].text);
	symbol->letter = *statement->words[2].text;
	symbol->va = word_number(statement, 3);
	symbol->module = module;
}

static void do_symbol(struct statement *statement)
{
	add_symbol(statement, 0);
}

static void do_modsym(struct statement *statement)
{
	if (!image.root->nr_modules)
		die("of which module?");
	add_symbol(statement, image.root->nr_modules);
}

static void do_freeze(struct statement *statement)
{
	struct btsrec_cpu *cpu = image.cpu->page;
	struct btsrec_root *root = image.root;

	cpu->state = BTSREC_CPU_FROZEN;
	cpu->frozen = 1;
	cpu->freeze.index_kva = cpu->ring_kva + image.cpu->head * BTSREC_RECORD_BYTES;
	cpu->freeze.reason = (uint32_t)value_of(statement, "reason", BTSREC_REASON_PANIC);
	cpu->freeze.task_kva = cpu->context.next_task_kva;
	set_fields(&cpu->freeze, freeze_fields, statement, "");
	if (root->freeze_reason)
		return;
	root->state = BTSREC_ROOT_FROZEN;
	root->freeze_cpu = cpu->cpu;
	root->freeze_reason = cpu->freeze.reason;
	root->freeze_tsc = value_of(statement, "tsc", 0);
}

/* --- Records ------------------------------------------------------------ */

static void do_branch(struct statement *statement)
{
	struct btsrec_record record = {
		.from = word_number(statement, 1),
		.to = word_number(statement, 2),
	};

	if (statement->nr_words > 3 && !strcmp(statement->words[3].text, "p"))
		record.flags = BTSREC_FLAG_PREDICTED;
	slot_append(&record);
}

static void do_fill(struct statement *statement)
{
	uint64_t nr_records = word_number(statement, 1), i;
	struct btsrec_record record = { word_number(statement, 2), word_number(statement, 3), 0 };

	for (i = 0; i < nr_records; i++) {
		record.flags = i % 3 ? BTSREC_FLAG_PREDICTED : 0;
		slot_append(&record);
		record.from += word_number(statement, 4);
		record.to += word_number(statement, 4);
	}
}

static void do_slot(struct statement *statement)
{
	struct btsrec_record record = { word_number(statement, 1), word_number(statement, 2),
					word_number(statement, 3) };

	slot_append(&record);
}

/* Parts [0, nr_there) of an annotation; only a whole one moves the head on. */
static void annotate(struct statement *statement, unsigned int kind, const void *payload,
		     size_t nr_bytes)
{
	struct btsrec_cpu *cpu = image.cpu->page;
	uint64_t nr_parts = (nr_bytes + BTSREC_PART_BYTES - 1) / BTSREC_PART_BYTES, part;
	uint64_t nr_there = value_of(statement, "pending", nr_parts);
	uint8_t bytes[BTSREC_MAX_PARTS * BTSREC_PART_BYTES] = { 0 };
	uint64_t tag = BTSREC_TAG << BTSREC_TAG_SHIFT |
		       (uint64_t)kind << BTSREC_TAG_KIND_SHIFT |
		       nr_parts << BTSREC_TAG_NR_PARTS_SHIFT | (uint32_t)cpu->annot_begin;

	memcpy(bytes, payload, nr_bytes);
	for (part = 0; part < nr_there && part < nr_parts; part++) {
		struct btsrec_record record = { .from = tag | part << BTSREC_TAG_PART_SHIFT };

		memcpy(&record.to, bytes + part * BTSREC_PART_BYTES, BTSREC_PART_BYTES);
		slot_write(image.cpu->head + part, &record);
	}
	cpu->annot_begin++;
	if (word_of(statement, "pending"))
		return;
	cpu->annot_end++;
	image.cpu->head = (image.cpu->head + nr_parts) % image.nr_slots;
}

/* PID/TGID/CR3/COMM */
static void side_of(struct statement *statement, const char *key, struct btsrec_side *ret)
{
	struct word *word = word_of(statement, key);
	char *at, *end;

	if (!word)
		return;
	ret->pid = (uint32_t)strtoul(word->value, &at, 0);
	if (*at != '/')
		die("%s: PID/TGID/CR3/COMM", key);
	ret->tgid = (uint32_t)strtoul(at + 1, &at, 0);
	if (*at != '/')
		die("%s: PID/TGID/CR3/COMM", key);
	ret->cr3 = strtoull(at + 1, &at, 0);
	end = word->value + word->value_bytes;
	if (*at != '/' || end - at - 1 > BTSREC_COMM_BYTES)
		die("%s: PID/TGID/CR3/COMM", key);
	memcpy(ret->comm, at + 1, (size_t)(end - at - 1));
}

static void do_switch(struct statement *statement, unsigned int kind)
{
	struct btsrec_switch payload = {
		.tsc = value_of(statement, "tsc", 0),
		.next_task_kva = value_of(statement, "task", 0),
	};

	side_of(statement, "prev", &payload.prev);
	side_of(statement, "next", &payload.next);
	annotate(statement, kind, &payload, sizeof(payload));
	if (word_of(statement, "pending"))
		return;
	image.cpu->page->context = payload;
	image.cpu->page->context_seq += 2;
}

static void do_resume(struct statement *statement, unsigned int kind)
{
	struct btsrec_resume payload = {
		.tsc = value_of(statement, "tsc", 0),
		.stop_tsc = value_of(statement, "stop_tsc", 0),
		.reason = (uint32_t)value_of(statement, "reason", 0),
		.task_kva = value_of(statement, "task", 0),
	};

	side_of(statement, "now", &payload.now);
	annotate(statement, kind, &payload, sizeof(payload));
}

static void do_mark(struct statement *statement)
{
	struct btsrec_mark payload = {
		.tsc = value_of(statement, "tsc", 0),
		.pid = (uint32_t)value_of(statement, "pid", 0),
		.tgid = (uint32_t)value_of(statement, "tgid", 0),
	};

	text_of(statement, "text", payload.text, sizeof(payload.text));
	annotate(statement, BTSREC_ANNOT_MARK, &payload, sizeof(payload));
}

static void do_time(struct statement *statement)
{
	struct btsrec_time payload = {
		.tsc = value_of(statement, "tsc", 0),
		.realtime_ns = value_of(statement, "realtime", 0),
		.boottime_ns = value_of(statement, "boottime", 0),
	};

	annotate(statement, BTSREC_ANNOT_TIME, &payload, sizeof(payload));
}

static void do_future(struct statement *statement)
{
	uint64_t payload[2 * BTSREC_MAX_PARTS] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	uint64_t nr_words = value_of(statement, "words", 2);

	if (nr_words > 2 * BTSREC_MAX_PARTS)
		die("too many words");
	annotate(statement, (unsigned int)value_of(statement, "kind", 200), payload,
		 nr_words * sizeof(payload[0]));
}

/* --- Symbols ------------------------------------------------------------ */

#define KERNEL_MAP_KVA	0xffffffff80000000ULL

/* Where the parts of the kernel's table begin, each with room to grow. */
enum {
	KALLSYMS_COUNT = 0,
	KALLSYMS_BASE = 8,
	KALLSYMS_INDEX = 0x100,
	KALLSYMS_TOKENS = 0x400,
	KALLSYMS_OFFSETS = 0x1000,
	KALLSYMS_NAMES = 0x2000,
	KALLSYMS_PAGES = 2 + MAX_SYMBOLS * 512 / BTSREC_PAGE_BYTES + 1,
};

/* And those of a module's. */
enum {
	MODSYMS_SYMTAB = 0x40,
	MODSYMS_TYPETAB = 0x2000,
	MODSYMS_STRTAB = 0x2200,
	MODSYMS_PAGES = 3 + MAX_SYMBOLS * 512 / BTSREC_PAGE_BYTES,
};

static uint64_t alloc_pages(uint64_t nr_pages)
{
	uint64_t pa = alloc_page();

	while (--nr_pages)
		alloc_page();
	return pa;
}

static void memory_write(uint64_t pa, const void *from, size_t nr_bytes)
{
	const uint8_t *bytes = from;

	for (; nr_bytes; nr_bytes--)
		*(uint8_t *)at_pa(pa++) = *bytes++;
}

static uint64_t symbol_kva_of(uint64_t pa)
{
	return KERNEL_MAP_KVA + pa - image.root->phys_base;
}

/* Every byte stands for itself; real tables have longer tokens for most. */
static void write_tokens(uint64_t pa)
{
	unsigned int i;

	for (i = 0; i < 256; i++) {
		char token[2] = { (char)i };
		uint16_t at = (uint16_t)(2 * i);

		memory_write(pa + KALLSYMS_INDEX + 2 * i, &at, sizeof(at));
		memory_write(pa + KALLSYMS_TOKENS + at, token, sizeof(token));
	}
}

/* The form of v6.1: what is not absolute is negative, and one more than its distance. */
static int32_t symbol_offset(const struct symbol *symbol)
{
	if (symbol->va < KERNEL_MAP_KVA)
		return (int32_t)symbol->va;
	return (int32_t)(-1 - (int64_t)(symbol->va - KERNEL_MAP_KVA));
}

static void write_kallsyms(uint64_t pa)
{
	uint64_t base = KERNEL_MAP_KVA, at = pa + KALLSYMS_NAMES;
	uint32_t count = 0;
	size_t i;

	write_tokens(pa);
	memory_write(pa + KALLSYMS_BASE, &base, sizeof(base));
	for (i = 0; i < image.nr_symbols; i++) {
		const struct symbol *symbol = &image.symbols[i];
		size_t nr_bytes = strlen(symbol->name) + 1;
		uint8_t head[2] = { (uint8_t)(0x80 | (nr_bytes & 0x7f)), (uint8_t)(nr_bytes >> 7) };
		int32_t offset = symbol_offset(symbol);

		if (symbol->module)
			continue;
		memory_write(pa + KALLSYMS_OFFSETS + 4 * count++, &offset, sizeof(offset));
		memory_write(at, head, sizeof(head));
		memory_write(at + 2, &symbol->letter, 1);
		memory_write(at + 3, symbol->name, nr_bytes - 1);
		at += 2 + nr_bytes;
	}
	memory_write(pa + KALLSYMS_COUNT, &count, sizeof(count));
}

static void write_modsyms(uint64_t pa, uint32_t module)
{
	uint64_t where[4] = { symbol_kva_of(pa + MODSYMS_SYMTAB), 0,
			      symbol_kva_of(pa + MODSYMS_STRTAB),
			      symbol_kva_of(pa + MODSYMS_TYPETAB) };
	uint32_t name_at = 1;
	size_t i;

	for (i = 0; i < image.nr_symbols; i++) {
		const struct symbol *symbol = &image.symbols[i];
		Elf64_Sym entry = { .st_name = name_at, .st_value = symbol->va };

		if (symbol->module != module)
			continue;
		memory_write(pa + MODSYMS_SYMTAB + where[1] * sizeof(entry), &entry, sizeof(entry));
		memory_write(pa + MODSYMS_TYPETAB + where[1], &symbol->letter, 1);
		memory_write(pa + MODSYMS_STRTAB + name_at, symbol->name, strlen(symbol->name) + 1);
		name_at += (uint32_t)strlen(symbol->name) + 1;
		where[1]++;
	}
	memory_write(pa, where, sizeof(where));
}

/* The tables, made when the first statement about damage needs them, else at the end. */
static void make_symbols(void)
{
	size_t i;

	for (i = 0; i < image.nr_symbols; i++) {
		uint32_t module = image.symbols[i].module;
		uint64_t *pa = module ? &image.modsyms_pa[module - 1] : &image.kallsyms_pa;

		if (*pa)
			continue;
		*pa = alloc_pages(module ? MODSYMS_PAGES : KALLSYMS_PAGES);
		if (module)
			write_modsyms(*pa, module);
		else
			write_kallsyms(*pa);
		if (module)
			image.modules[module - 1].kallsyms_kva = symbol_kva_of(*pa);
	}
}

/* --- Code --------------------------------------------------------------- */

/* "kernel" or "userN" at *@at, which moves behind it. */
static unsigned int space_of(const char *text, char **ret_end)
{
	unsigned long number;

	if (!strncmp(text, "kernel", 6)) {
		*ret_end = (char *)text + 6;
		return 0;
	}
	number = strncmp(text, "user", 4) ? MAX_SPACES : strtoul(text + 4, ret_end, 10) + 1;
	if (number >= MAX_SPACES)
		die("there is no space '%s'", text);
	return (unsigned int)number;
}

static uint64_t space_pa(unsigned int space)
{
	uint64_t pa = SPACES_PA + space * (uint64_t)BTSREC_PAGE_BYTES, next_pfn = image.next_pfn;

	if (!image.has_space[space]) {
		image.next_pfn = pa / BTSREC_PAGE_BYTES;
		alloc_page();
		image.nr_spaces++;
		image.next_pfn = next_pfn;
		image.has_space[space] = true;
	}
	if (!space)
		image.root->kernel_pgd_pa = pa;
	return pa;
}

/* The byte behind @va, which is mapped if it is not yet. */
static uint64_t mapped_pa(unsigned int space, uint64_t va)
{
	uint64_t table_pa = space_pa(space);
	unsigned int level;

	for (level = 4; level; level--) {
		uint64_t *entry = (uint64_t *)at_pa(table_pa) + (va >> (3 + 9 * level) & 511);

		if (!*entry)
			*entry = alloc_page() | 0x63;
		table_pa = *entry & ~0xfffULL;
	}
	return table_pa + va % BTSREC_PAGE_BYTES;
}

static void do_code(struct statement *statement)
{
	const char *hex;
	unsigned int space;
	uint64_t va;
	char *end;

	if (statement->nr_words != 4)
		die("code SPACE VA HEX");
	space = space_of(statement->words[1].text, &end);
	va = word_number(statement, 2);
	for (hex = statement->words[3].text; *hex; hex += 2, va++) {
		if (hex_digit(hex[0]) < 0 || hex_digit(hex[1]) < 0)
			die("no byte: '%s'", hex);
		*(uint8_t *)at_pa(mapped_pa(space, va)) =
			(uint8_t)(hex_digit(hex[0]) << 4 | hex_digit(hex[1]));
	}
}

static void do_idt(struct statement *statement)
{
	uint64_t gate_kva = IDT_KVA + 16 * word_number(statement, 1);
	uint64_t handler_kva = word_number(statement, 2);
	uint16_t *gate = at_pa(mapped_pa(0, gate_kva));

	gate[0] = (uint16_t)handler_kva;
	gate[1] = 0x10;
	gate[2] = 0x8e00;
	gate[3] = (uint16_t)(handler_kva >> 16);
	gate[4] = (uint16_t)(handler_kva >> 32);
	gate[5] = (uint16_t)(handler_kva >> 48);
}

/* All page tables have the kernel's image in common. */
static void finish_spaces(void)
{
	uint64_t behind_pfn = SPACES_PA / BTSREC_PAGE_BYTES + MAX_SPACES;
	unsigned int space;

	if (image.nr_spaces && image.next_pfn < behind_pfn)
		image.next_pfn = behind_pfn;
	for (space = 1; image.has_space[0] && space < MAX_SPACES; space++)
		if (image.has_space[space])
			((uint64_t *)at_pa(space_pa(space)))[511] =
				((uint64_t *)at_pa(space_pa(0)))[511];
}

/* --- Damage ------------------------------------------------------------- */

static struct cpu *place_cpu(const char *text, char **ret_end)
{
	unsigned long number = strtoul(text, ret_end, 10);

	if (number >= MAX_CPUS || !image.cpus[number].page)
		die("there is no CPU %lu", number);
	return &image.cpus[number];
}

static uint64_t place_pa(const char *place)
{
	struct cpu *cpu;
	char *end;

	make_symbols();
	if (!strcmp(place, "root"))
		return image.root->self_pa;
	if (!strcmp(place, "dir"))
		return image.root->cpu_dir_pa[0];
	if (!strcmp(place, "modules"))
		return image.root->module_pa[0];
	if (!strncmp(place, "cpu", 3))
		return place_cpu(place + 3, &end)->page->self_pa;
	if (!strncmp(place, "ds", 2))
		return place_cpu(place + 2, &end)->page->ds_pa;
	if (!strncmp(place, "list", 4))
		return place_cpu(place + 4, &end)->page->list_pa[0];
	if (!strcmp(place, "kallsyms"))
		return image.kallsyms_pa;
	if (!strncmp(place, "modsyms", 7))
		return image.modsyms_pa[strtoul(place + 7, NULL, 10) % BTSREC_MODULES_PER_PAGE];
	if (!strncmp(place, "kernel:", 7) || !strncmp(place, "user", 4)) {
		unsigned int space = space_of(place, &end);

		return mapped_pa(space, number_of(end + 1));
	}
	if (strncmp(place, "ring", 4))
		die("there is no place '%s'", place);
	cpu = place_cpu(place + 4, &end);
	return *ring_page_pa(cpu, *end == '.' ? strtoul(end + 1, NULL, 10) : 0);
}

static void do_poke(struct statement *statement)
{
	uint64_t nr_bytes = word_number(statement, 3);

	if (nr_bytes > 8)
		die("poke: at most 8 bytes");
	add_change(image.after_crc, &image.nr_after_crc,
		   at_pa(place_pa(statement->words[1].text) + word_number(statement, 2)),
		   nr_bytes, word_number(statement, 4));
}

static void do_hole(struct statement *statement)
{
	if (statement->nr_words != 2)
		die("hole PLACE");
	image.pages[place_pa(statement->words[1].text) / BTSREC_PAGE_BYTES].hole = true;
}

static void do_vmcoreinfo(struct statement *statement)
{
	image.no_vmcoreinfo = statement->nr_words > 1 && !strcmp(statement->words[1].text, "none");
	image.vmcoreinfo_pa = value_of(statement, "pa", image.vmcoreinfo_pa);
}

static void do_truncate(struct statement *statement)
{
	image.truncate = true;
	image.truncate_bytes = strtoll(statement->words[1].text, NULL, 0);
}

static void do_format(struct statement *statement)
{
	if (statement->nr_words != 2 || strcmp(statement->words[1].text, "kdump"))
		die("format kdump");
	image.kdump = true;
}

/* --- Statements --------------------------------------------------------- */

static bool do_annotation(struct statement *statement)
{
	const char *name = statement->words[0].text;

	if (!strcmp(name, "switch"))
		do_switch(statement, BTSREC_ANNOT_SWITCH);
	else if (!strcmp(name, "mm"))
		do_switch(statement, BTSREC_ANNOT_MM);
	else if (!strcmp(name, "exec"))
		do_switch(statement, BTSREC_ANNOT_EXEC);
	else if (!strcmp(name, "arm"))
		do_resume(statement, BTSREC_ANNOT_ARM);
	else if (!strcmp(name, "gap"))
		do_resume(statement, BTSREC_ANNOT_GAP);
	else if (!strcmp(name, "mark"))
		do_mark(statement);
	else if (!strcmp(name, "time"))
		do_time(statement);
	else if (!strcmp(name, "future"))
		do_future(statement);
	else
		return false;
	return true;
}

static const struct {
	const char *name;
	bool needs_cpu;
	void (*run)(struct statement *statement);
} verbs[] = {
	{ "root", false, do_root },
	{ "cpu", false, do_cpu },
	{ "module", false, do_module },
	{ "symbol", false, do_symbol },
	{ "modsym", false, do_modsym },
	{ "code", false, do_code },
	{ "idt", false, do_idt },
	{ "vmcoreinfo", false, do_vmcoreinfo },
	{ "poke", false, do_poke },
	{ "hole", false, do_hole },
	{ "truncate", false, do_truncate },
	{ "format", false, do_format },
	{ "branch", true, do_branch },
	{ "fill", true, do_fill },
	{ "slot", true, do_slot },
	{ "freeze", true, do_freeze },
};

static void do_statement(struct statement *statement)
{
	const char *name = statement->words[0].text;
	size_t i;

	if (!image.root && strcmp(name, "root"))
		die("the first statement must be root");
	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(name, verbs[i].name))
			continue;
		if (verbs[i].needs_cpu && !image.cpu)
			die("%s: of which cpu?", name);
		verbs[i].run(statement);
		return;
	}
	if (!image.cpu || !do_annotation(statement))
		die("there is no statement '%s'", name);
}

static void read_text(FILE *from)
{
	struct statement statement;
	char *line = NULL;
	size_t nr_room = 0;

	while (getline(&line, &nr_room, from) >= 0) {
		image.line++;
		line[strcspn(line, "\n")] = '\0';
		if (*line == '#')
			continue;
		take_statement(line, &statement);
		if (statement.nr_words)
			do_statement(&statement);
	}
	free(line);
	if (!image.root)
		die("there is no root statement");
}

/* --- Finish ------------------------------------------------------------- */

static void finish_cpu(struct cpu *cpu)
{
	uint64_t offset = cpu->head * BTSREC_RECORD_BYTES;

	if (cpu->index_offset >= 0)
		offset = (uint64_t)cpu->index_offset;
	cpu->page->generation = image.root->generation;
	cpu->page->stop_index_kva = cpu->page->ring_kva + offset;
	cpu->ds[0] = cpu->page->ring_kva;
	cpu->ds[1] = cpu->page->ring_kva + offset;
}

static uint32_t checksum(const void *bytes, size_t nr_bytes)
{
	return (uint32_t)crc32(0, bytes, (uInt)nr_bytes);
}

static void finish(void)
{
	size_t i;

	for (i = 0; i < MAX_CPUS; i++)
		if (image.cpus[i].page)
			finish_cpu(&image.cpus[i]);
	finish_spaces();
	apply_changes(image.before_crc, image.nr_before_crc);
	for (i = 0; i < MAX_CPUS; i++) {
		struct btsrec_cpu *page = image.cpus[i].page;

		if (page)
			page->crc32 = checksum(page, BTSREC_CPU_LIVE_OFFSET);
	}
	image.root->crc32 = checksum(image.root, BTSREC_ROOT_LIVE_OFFSET);
	apply_changes(image.after_crc, image.nr_after_crc);
}

/* --- Output ------------------------------------------------------------- */

static bool is_there(uint64_t pfn)
{
	return pfn < image.next_pfn && image.pages[pfn].bytes && !image.pages[pfn].hole;
}

static void put(FILE *to, const void *bytes, size_t nr_bytes)
{
	if (fwrite(bytes, 1, nr_bytes, to) != nr_bytes)
		die("cannot write: %s", strerror(errno));
}

static void put_page(FILE *to, uint64_t pfn)
{
	put(to, image.pages[pfn].bytes, BTSREC_PAGE_BYTES);
}

static void write_raw(FILE *to)
{
	uint8_t absent[BTSREC_PAGE_BYTES];
	uint64_t pfn;

	memset(absent, 0xff, sizeof(absent));
	for (pfn = 0; pfn < image.next_pfn; pfn++) {
		if (is_there(pfn))
			put_page(to, pfn);
		else
			put(to, absent, sizeof(absent));
	}
}

/* The pages from *@pfn on that are there in a row; 0: no more. */
static uint64_t next_run(uint64_t *pfn)
{
	uint64_t end;

	while (*pfn < image.next_pfn && !is_there(*pfn))
		(*pfn)++;
	for (end = *pfn; is_there(end); end++)
		;
	return end - *pfn;
}

static int put_kallsyms_lines(char *ret)
{
	static const struct {
		const char *name;
		uint64_t offset;
	} parts[] = {
		{ "num_syms", KALLSYMS_COUNT }, { "relative_base", KALLSYMS_BASE },
		{ "token_index", KALLSYMS_INDEX }, { "token_table", KALLSYMS_TOKENS },
		{ "offsets", KALLSYMS_OFFSETS }, { "names", KALLSYMS_NAMES },
	};
	int nr_chars = 0;
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		nr_chars += sprintf(ret + nr_chars, "SYMBOL(kallsyms_%s)=%llx\n", parts[i].name,
				    (unsigned long long)symbol_kva_of(image.kallsyms_pa +
								      parts[i].offset));
	return nr_chars;
}

static int make_vmcoreinfo(char *ret)
{
	int nr_chars = sprintf(ret, "OSRELEASE=6.1.0-test\nPAGESIZE=4096\n");

	if (!image.no_vmcoreinfo)
		nr_chars += sprintf(ret + nr_chars, BTSREC_VMCOREINFO_KEY "0x%llx\n",
				    (unsigned long long)image.vmcoreinfo_pa);
	if (image.kallsyms_pa)
		nr_chars += put_kallsyms_lines(ret + nr_chars);
	return nr_chars;
}

/* Header and name of the note. */
#define NOTE_HEAD_BYTES	(sizeof(Elf64_Nhdr) + 12)

/* A VMCOREINFO note; *@ret_bytes is padded to 4 as notes are. */
static void make_note(char *ret, size_t *ret_bytes)
{
	Elf64_Nhdr *note = (Elf64_Nhdr *)ret;
	int nr_chars = make_vmcoreinfo(ret + NOTE_HEAD_BYTES);

	note->n_namesz = sizeof("VMCOREINFO");
	note->n_descsz = (Elf64_Word)nr_chars;
	note->n_type = 0;
	memcpy(ret + sizeof(*note), "VMCOREINFO", sizeof("VMCOREINFO"));
	*ret_bytes = (NOTE_HEAD_BYTES + (size_t)nr_chars + 3) & ~(size_t)3;
}

static void put_headers(FILE *to, uint16_t nr_runs, size_t note_bytes, uint64_t data_offset)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_CORE, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_phoff = sizeof(header), .e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = nr_runs + 1,
	};
	Elf64_Phdr segment = {
		.p_type = PT_NOTE, .p_filesz = note_bytes, .p_memsz = note_bytes,
		.p_offset = sizeof(header) + (nr_runs + 1U) * sizeof(segment),
	};
	uint64_t pfn = 0, nr_pages;

	put(to, &header, sizeof(header));
	put(to, &segment, sizeof(segment));
	for (; (nr_pages = next_run(&pfn)); pfn += nr_pages) {
		segment.p_type = PT_LOAD;
		segment.p_offset = data_offset;
		segment.p_paddr = pfn * BTSREC_PAGE_BYTES;
		segment.p_filesz = nr_pages * BTSREC_PAGE_BYTES;
		segment.p_memsz = segment.p_filesz;
		put(to, &segment, sizeof(segment));
		data_offset += segment.p_filesz;
	}
}

static void write_elf(FILE *to)
{
	static const char zeroes[BTSREC_PAGE_BYTES];
	char note[1024] __attribute__((aligned(8))) = { 0 };
	uint64_t pfn, nr_pages, data_offset;
	size_t note_bytes, head_bytes;
	uint16_t nr_runs = 0;

	for (pfn = 0; (nr_pages = next_run(&pfn)); pfn += nr_pages)
		nr_runs++;
	make_note(note, &note_bytes);
	head_bytes = sizeof(Elf64_Ehdr) + (nr_runs + 1U) * sizeof(Elf64_Phdr) + note_bytes;
	data_offset = (head_bytes + BTSREC_PAGE_BYTES - 1) & ~(BTSREC_PAGE_BYTES - 1ULL);
	put_headers(to, nr_runs, note_bytes, data_offset);
	put(to, note, note_bytes);
	for (; head_bytes < data_offset; head_bytes++)
		put(to, zeroes, 1);
	for (pfn = 0; pfn < image.next_pfn; pfn++)
		if (is_there(pfn))
			put_page(to, pfn);
}

/* The layout of the compressed format: see decoder/src/dumpfile.c. */
struct kdump_header {
	char signature[8];
	int32_t version;
	char utsname[6][65];
	char pad[6];
	uint64_t timestamp[2];
	uint32_t status, block_size, sub_hdr_size, bitmap_blocks, max_mapnr;
};

struct kdump_page_desc {
	uint64_t offset;
	uint32_t size, flags;
	uint64_t page_flags;
};

static void put_kdump_headers(FILE *to, uint64_t nr_pfns)
{
	struct kdump_header header = {
		.signature = { 'K', 'D', 'U', 'M', 'P', ' ', ' ', ' ' }, .version = 6,
		.utsname = { "Linux", "test", "6.1.0-test", "#1", "x86_64", "" },
		.block_size = BTSREC_PAGE_BYTES, .sub_hdr_size = 1, .bitmap_blocks = 2,
		.max_mapnr = (uint32_t)nr_pfns,
	};
	/* phys_base, levels, PFNs; then offset and size of VMCOREINFO and of the notes */
	uint64_t sub[64] = { [6] = BTSREC_PAGE_BYTES + sizeof(sub) };
	char note[BTSREC_PAGE_BYTES - sizeof(sub)] __attribute__((aligned(8))) = { 0 };
	size_t note_bytes;

	put(to, &header, sizeof(header));
	fseek(to, BTSREC_PAGE_BYTES, SEEK_SET);
	make_note(note, &note_bytes);
	sub[4] = sub[6] + NOTE_HEAD_BYTES;
	sub[5] = ((Elf64_Nhdr *)note)->n_descsz;
	sub[7] = note_bytes;
	sub[12] = nr_pfns;
	put(to, sub, sizeof(sub));
	put(to, note, sizeof(note));
}

/* Pages with an even number are compressed, the others plain. */
static void put_kdump_page(FILE *to, uint64_t pfn, struct kdump_page_desc *ret)
{
	uint8_t packed[2 * BTSREC_PAGE_BYTES];
	uLongf nr_bytes = sizeof(packed);

	*ret = (struct kdump_page_desc){ .offset = (uint64_t)ftell(to) };
	if (pfn % 2) {
		ret->size = BTSREC_PAGE_BYTES;
		put_page(to, pfn);
		return;
	}
	if (compress(packed, &nr_bytes, image.pages[pfn].bytes, BTSREC_PAGE_BYTES) != Z_OK)
		die("cannot compress");
	ret->size = (uint32_t)nr_bytes;
	ret->flags = 1;
	put(to, packed, nr_bytes);
}

static void write_kdump(FILE *to)
{
	uint8_t bitmap[BTSREC_PAGE_BYTES] = { 0 };
	struct kdump_page_desc *table = calloc(image.next_pfn, sizeof(*table));
	uint64_t pfn, nr_pages = 0;
	long table_at = 4 * BTSREC_PAGE_BYTES;

	if (image.next_pfn > 8 * sizeof(bitmap) || !table)
		die("too much memory for the compressed format");
	put_kdump_headers(to, image.next_pfn);
	for (pfn = 0; pfn < image.next_pfn; pfn++) {
		if (!is_there(pfn))
			continue;
		bitmap[pfn / 8] |= (uint8_t)(1 << pfn % 8);
		nr_pages++;
	}
	put(to, bitmap, sizeof(bitmap));
	put(to, bitmap, sizeof(bitmap));
	fseek(to, table_at + (long)(nr_pages * sizeof(*table)), SEEK_SET);
	for (pfn = nr_pages = 0; pfn < image.next_pfn; pfn++)
		if (is_there(pfn))
			put_kdump_page(to, pfn, &table[nr_pages++]);
	fseek(to, table_at, SEEK_SET);
	put(to, table, nr_pages * sizeof(*table));
	fseek(to, 0, SEEK_END);
	free(table);
}

static void cut_off(const char *path, FILE *file)
{
	off_t nr_bytes = image.truncate_bytes;

	if (nr_bytes < 0)
		nr_bytes += ftell(file);
	if (fflush(file) || truncate(path, nr_bytes))
		die("cannot truncate %s: %s", path, strerror(errno));
}

int main(int argc, char **argv)
{
	bool raw = argc == 3 && !strcmp(argv[1], "--raw");
	const char *path = argv[argc - 1];
	FILE *to;

	if (argc != 2 && !raw) {
		fprintf(stderr, "usage: mkimage [--raw] OUT < TEXT\n");
		return 2;
	}
	read_text(stdin);
	make_symbols();
	finish();
	to = fopen(path, "wb");
	if (!to)
		die("%s: %s", path, strerror(errno));
	if (raw)
		write_raw(to);
	else if (image.kdump)
		write_kdump(to);
	else
		write_elf(to);
	if (image.truncate)
		cut_off(path, to);
	if (fclose(to))
		die("%s: %s", path, strerror(errno));
	return 0;
}
