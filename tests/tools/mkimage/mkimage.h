/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of mkimage share: the memory that is being described, and one
 * function per statement.  Every function dies with the line's number on a mistake
 * in the text.
 */
#ifndef MKIMAGE_H
#define MKIMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <btsrec/abi.h>

#define MAX_CPUS	512
#define MAX_WORDS	32
#define MAX_CHANGES	16384
#define MAX_SYMBOLS	256
#define MAX_PAGES	(1u << 18)	/* 1 GiB */
#define MAX_SPACES	9

/* --- The described memory ----------------------------------------------- */

/* One page; index in image.pages: page frame number. */
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
	uint64_t nr_slots;
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

struct image {
	struct page pages[MAX_PAGES];
	uint64_t next_pfn;
	struct btsrec_root *root;
	uint64_t *dir;
	struct btsrec_module *modules;
	struct cpu cpus[MAX_CPUS];
	struct cpu *cpu;
	struct change before_crc[MAX_CHANGES], after_crc[MAX_CHANGES];
	size_t nr_before_crc, nr_after_crc;
	struct symbol symbols[MAX_SYMBOLS];
	size_t nr_symbols;
	uint64_t kallsyms_pa;
	uint64_t log_pa;	/* 0: there is no log */
	uint64_t modsyms_pa[BTSREC_MODULES_PER_PAGE];
	bool has_space[MAX_SPACES];	/* 0: the kernel */
	unsigned int nr_spaces;
	bool no_vmcoreinfo;
	uint64_t vmcoreinfo_pa;
	uint64_t vmcoreinfo_phys_base;	/* 0: the line is left out */
	int64_t truncate_bytes;
	bool truncate;
	bool kdump;
	bool is_part;
	uint64_t first_pfn;
	uint64_t end_pfn;
	unsigned long line;
};

extern struct image image;

void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* memory.c */
uint64_t alloc_page(void);
uint64_t alloc_pages(uint64_t nr_pages);
void *at_pa(uint64_t pa);
void memory_write(uint64_t pa, const void *from, size_t nr_bytes);

/* --- The text ----------------------------------------------------------- */

/* A word of a statement; value: after the first '=', NULL: there is none. */
struct word {
	char *text;
	char *value;
	size_t value_bytes;
};

struct statement {
	struct word words[MAX_WORDS];
	size_t nr_words;
};

/* words.c; a number may be one of the words that stand for one */
void take_statement(char *line, struct statement *ret);
int hex_digit(char c);
uint64_t number_of(const char *text);
uint64_t word_number(const struct statement *statement, size_t i);
struct word *word_of(struct statement *statement, const char *key);
uint64_t value_of(struct statement *statement, const char *key, uint64_t otherwise);
void text_of(struct statement *statement, const char *key, char *ret, size_t max_bytes);

/* fields.c */
struct field {
	const char *name;
	size_t offset;
	size_t nr_bytes;
};

extern const struct field root_fields[], cpu_fields[], freeze_fields[], registers_fields[],
	general_fields[], module_fields[];

void add_change(struct change *changes, size_t *nr, void *at, size_t nr_bytes, uint64_t value);
void apply_changes(const struct change *changes, size_t nr);
void set_fields(void *base, const struct field *fields, struct statement *statement,
		const char *skip);

/* --- Statements --------------------------------------------------------- */

/* recorder.c */
uint64_t *ring_page_pa(struct cpu *cpu, uint64_t page);
void do_root(struct statement *statement);
void do_cpu(struct statement *statement);
void do_module(struct statement *statement);
void do_freeze(struct statement *statement);
void do_registers(struct statement *statement);

/* records.c; do_annotation(): false: the statement is no annotation */
void do_branch(struct statement *statement);
void do_fill(struct statement *statement);
void do_slot(struct statement *statement);
void do_records(struct statement *statement);
bool do_annotation(struct statement *statement);

/* symbols.c; the tables are made by the first statement about damage, else at the end */
void do_symbol(struct statement *statement);
/* Data of the kernel; the caller may change what it gets. */
struct symbol *add_symbol(const char *name, uint64_t va);
void do_modsym(struct statement *statement);
void make_symbols(void);
int put_kallsyms_lines(char *ret);

/* log.c */
void do_log(struct statement *statement);
void do_clock(struct statement *statement);
int put_log_lines(char *ret);

/* code.c; SPACE is "kernel" or "userN" */
unsigned int space_of(const char *text, char **ret_end);
uint64_t space_pa(unsigned int space);
uint64_t mapped_pa(unsigned int space, uint64_t va);
void do_code(struct statement *statement);
void do_protect(struct statement *statement);
void do_idt(struct statement *statement);
void finish_spaces(void);

/* prototypes.c */
void do_prototype(struct statement *statement);
void make_prototypes(void);

/* userkernel.c */
void do_userkernel(struct statement *statement);

/* damage.c */
void do_poke(struct statement *statement);
void do_hole(struct statement *statement);
void do_vmcoreinfo(struct statement *statement);
void do_truncate(struct statement *statement);
void do_format(struct statement *statement);
void cut_off(const char *path, FILE *file);

/* --- Output ------------------------------------------------------------- */

/* Header and name of the VMCOREINFO note. */
#define NOTE_HEAD_BYTES	24

/* elf.c */
bool is_there(uint64_t pfn);
void put(FILE *to, const void *bytes, size_t nr_bytes);
void put_page(FILE *to, uint64_t pfn);
void make_note(char *ret, size_t *ret_bytes);
/* Where write_pages() says that VMCOREINFO is: the fuzzers' FUZZ_NOTE_PA. */
#define NOTE_PAGE_PA	UINT64_MAX

void write_pages(FILE *to);
void write_elf(FILE *to);

/* kdump.c */
void write_kdump(FILE *to);

#endif /* MKIMAGE_H */
