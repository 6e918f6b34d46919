// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mkimage: a text that describes what a recorder left in memory -> a dump of
 * that memory.  usage: mkimage [--pages] OUT < TEXT
 *
 * The dump is an ELF vmcore; with --pages it is each page that is there with its
 * address, 8 bytes, in front, and VMCOREINFO as a page at ~0 (the fuzzers' input).
 *
 * One statement per line, words as in a shell without variables; a word
 * "key=value" may have a value in double quotes with \xNN, \" and \\ in it.
 * A '#' starts a comment line.
 *
 *   root [cpus=N] [ring=RECORDS] [FIELD=VALUE]...
 *	First statement.  FIELD: a number field of struct btsrec_root, release or
 *	symbol_name.
 *   vmcoreinfo [none] [pa=PA] [phys_base=BYTES]
 *	Without it the note says where the root is.
 *   cpu N [ring=RECORDS] [FIELD=VALUE]...
 *	Later statements are about this CPU.  Its ring is that of the root if not said
 *	otherwise the first time.  FIELD as above, struct btsrec_cpu; "offset=BYTES" sets
 *	the index of a CPU that is not frozen.
 *   branch FROM TO [p]		one record
 *   fill COUNT FROM TO STEP	COUNT records, each STEP further on
 *   records FILE FIRST COUNT	COUNT records of FILE, which has 24 bytes for each
 *   slot WORD WORD WORD		any three words
 *   switch|mm|exec tsc= task= prev=PID/TGID/CR3/COMM next=...
 *   arm|gap tsc= stop_tsc= reason= task= now=PID/TGID/CR3/COMM
 *   mark tsc= pid= tgid= text=
 *   time tsc= realtime= boottime=
 *   future kind= words=N		an annotation kind of a newer minor
 *	Each with pending=PARTS: begun, but only so many parts were written.
 *   freeze FIELD=VALUE...	struct btsrec_freeze; state and index follow
 *   registers [stop|entry] FIELD=VALUE...
 *	struct btsrec_registers, or one of its struct btsrec_general
 *   module name= text_kva= text_bytes= module_kva= state=
 *   symbol NAME LETTER KVA	one of the kernel's kallsyms
 *   modsym NAME LETTER KVA	one of the module that was described last; data has 32 bytes
 *	These tables lie where __pa() of the kernel's text leads, without page tables.
 *   clock [khz=] [offset=NS] [stable=0]	the constants of the kernel's clock, among its kallsyms
 *   log ns= text= [caller=] [state=0..3]	a record of the kernel's log; state 2: finalized
 *   code SPACE VA HEX		memory by virtual address: SPACE is kernel, or userN with
 *	its page table at 0x100000 + N * 0x1000
 *   protect VA			the page of the kernel there cannot be written
 *   idt VECTOR VA		a gate; its handler in the kernel; 128: for programs
 *   prototype NAME [PARAMETER=TYPE]... [...]	of a function, in the kernel's BTF; TYPE: int,
 *	u8, bool, long, file, text, pair, list, double, packed
 *   userkernel SPACE [SP [EXIT_CODE | WAITER LOCK]]	a process 4242 with mappings, and
 *	BTF (tests/userkernel.h); its stack pointer if it does not run; by which signal or
 *	status it ended; and if it waits for a mutex that it owns, where both structs are
 *   poke PLACE OFFSET BYTES VALUE	change memory after the checksums' back
 *   hole PLACE			the page is not in the dump
 *	PLACE: root, dir, modules, cpuN, dsN, listN, ringN.PAGE, kallsyms,
 *	modsymsN, SPACE:VA
 *   format kdump [FIRST END]	makedumpfile's compressed format instead of ELF; with page
 *	frame numbers: the file of a split dump that has those from FIRST to before END
 *   truncate BYTES		cut the dump's file off; negative: so many at the end
 */
#include "mkimage.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

struct image image;

void die(const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "mkimage: line %lu: ", image.line);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
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
	{ "log", false, do_log },
	{ "clock", false, do_clock },
	{ "code", false, do_code },
	{ "protect", false, do_protect },
	{ "idt", false, do_idt },
	{ "prototype", false, do_prototype },
	{ "userkernel", false, do_userkernel },
	{ "vmcoreinfo", false, do_vmcoreinfo },
	{ "poke", false, do_poke },
	{ "hole", false, do_hole },
	{ "truncate", false, do_truncate },
	{ "format", false, do_format },
	{ "branch", true, do_branch },
	{ "fill", true, do_fill },
	{ "slot", true, do_slot },
	{ "records", true, do_records },
	{ "freeze", true, do_freeze },
	{ "registers", true, do_registers },
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
			die("%s: for which cpu?", name);
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

int main(int argc, char **argv)
{
	bool pages = argc == 3 && !strcmp(argv[1], "--pages");
	const char *path = argv[argc - 1];
	FILE *to;

	if (argc != 2 && !pages) {
		fprintf(stderr, "usage: mkimage [--pages] OUT < TEXT\n");
		return 2;
	}
	read_text(stdin);
	make_prototypes();
	make_symbols();
	finish();
	to = fopen(path, "wb");
	if (!to)
		die("%s: %s", path, strerror(errno));
	if (pages)
		write_pages(to);
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
