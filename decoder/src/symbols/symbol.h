/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of addresses: the front end's resolver, then the kernel's symbol files,
 * then what the dump itself knows, then the module map.
 */
#ifndef BTSREC_SYMBOL_H
#define BTSREC_SYMBOL_H

#include <btsrec/decoder.h>

#include "code/code.h"
#include "base/symbol_function.h"

/*
 * KASLR moves the kernel by multiples of CONFIG_PHYSICAL_ALIGN, on x86-64 at
 * least 2 MiB (arch/x86/Kconfig).
 */
#define SYMBOL_KASLR_STEP_BYTES	(2ULL << 20)

struct kread;
struct types;
struct user;

/* Kernel addresses have the highest bit set. */
#define KERNEL_HALF_KVA		(1ULL << 63)

/**
 * struct symbol_name - the name of an address, ready to print
 * @name: escaped, @name_bytes long; none if only the module is known.
 * @module: escaped, NUL-terminated; empty: the kernel itself.  Of a user address the
 *	path of the file.  "|" and a module that had that place before may follow.
 * @offset_bytes: from the start of the function, of the symbol if it is raw, or of the
 *	module's text or the file.  Of a function it may be negative, as two's complement.
 * @buf: where @name and @module live if they are not a table's.
 */
struct symbol_name {
	const char *name;
	size_t name_bytes;
	const char *module;
	uint64_t offset_bytes;
	struct {
		char name[4 * sizeof(((struct btsrec_symbol *)0)->name) + 1];
		char module[2 * 4 * BTSREC_MODULE_NAME_BYTES + 2];
	} buf;
};

/** enum symbol_why - why an address has no symbol */
enum symbol_why {
	SYMBOL_NAMED,
	SYMBOL_UNKNOWN,		/* no source knows of such addresses */
	/* of user addresses: */
	SYMBOL_MM_GONE,		/* the process, or the program that it ran, is no more */
	SYMBOL_NOT_MAPPED,	/* not any more */
	SYMBOL_EXCLUDED,	/* the dump lacks what would show it */
	SYMBOL_UNPROVEN,	/* nothing in memory shows that it is the file on this machine */
	SYMBOL_NO_FILE,		/* of the path in the dump, on this machine */
	SYMBOL_OTHER_FILE,	/* the file on this machine is not the one that was mapped */
	SYMBOL_NO_SYMBOL,	/* the file has none for it */
	SYMBOL_NOT_A_FILE,	/* mapped, but from no file */
};

#define SYMBOL_NR_WHYS	(SYMBOL_NOT_A_FILE + 1)

/** symbol_why_str() - the reason as a phrase; static. */
const char *symbol_why_str(enum symbol_why why);

/**
 * symbols_present() - does @rec have a source of names besides the module map?
 *
 * Reads the kernel's names from the dump if there is no other source.
 */
bool symbols_present(struct btsrec *rec);

/**
 * symbols_missing() - why the kernel's addresses stay without names
 *
 * Return: a phrase, valid until the session is freed; NULL: they do not, or the
 * names in the dump are not wanted.
 */
const char *symbols_missing(struct btsrec *rec);

/** symbol_table_name_of() - @va by @table, as symbol_find_as(); leaves @ret->module alone */
bool symbol_table_name_of(const struct symbol_table *table, uint64_t va, bool raw,
			  struct symbol_name *ret);

/**
 * symbol_find_as() - name @va
 * @raw: by its symbol; else by the function that the symbol is of, see symbol_function.h.
 *
 * Return: as symbol_find().
 */
bool symbol_find_as(struct btsrec *rec, uint64_t va, bool raw, struct symbol_name *ret);

/**
 * symbol_bounds() - symbol_find_as(), also by names of the dump that are not wanted
 *
 * For where functions begin and end, which does not depend on what is printed.
 */
bool symbol_bounds(struct btsrec *rec, uint64_t va, bool raw, struct symbol_name *ret);

/** symbols_bounded() - are the bounds of the kernel's functions known? */
bool symbols_bounded(struct btsrec *rec);

/**
 * symbol_find() - name @va, as btsrec_set_raw_names() says
 *
 * Return: true with *@ret filled, valid until the session is freed or *@ret is
 * reused; false if @va has no name.
 */
bool symbol_find(struct btsrec *rec, uint64_t va, struct symbol_name *ret);

/** symbol_fetch() - have the cache fetch what symbol_find() of the kernel's @va needs soon */
void symbol_fetch(const struct btsrec *rec, uint64_t va);

/** symbol_parse_address() - an address as 0x...; false: @text is none, and may be a name */
bool symbol_parse_address(const char *text, uint64_t *ret);

/**
 * symbols_by_name() - where the kernel or a module has a function or symbol called @name
 * @ret: the addresses, @max of room, each once.
 *
 * By the symbol files and what the dump itself says; the resolver knows no names.
 *
 * Return: how many there are in @ret.
 */
size_t symbols_by_name(struct btsrec *rec, const char *name, uint64_t *ret, size_t max);

/** symbols_name_fn - receives a name, NUL-terminated; true: go on */
typedef bool (*symbols_name_fn)(void *arg, const char *name);

/** symbols_each_name() - of what symbols_by_name() finds: each symbol, and the function it is of */
void symbols_each_name(struct btsrec *rec, symbols_name_fn fn, void *arg);

/**
 * symbols_module() - what the dump itself says of the symbols of @module
 * @module: of the module map.
 *
 * For placing the module's files; also if names from the dump are not wanted.
 *
 * Return: the session's; NULL: none, or out of memory.
 */
const struct symbol_table *symbols_module(struct btsrec *rec, const struct btsrec_module *module);

/** symbols_object() - as symbol_dump_object(), if names of the dump are wanted */
bool symbols_object(struct btsrec *rec, uint64_t va, struct symbol_name *ret);

/**
 * symbol_find_in() - name @va as @side saw it
 * @side: the thread that ran; a user address depends on it.  NULL: unknown.
 * @ret_why: why there is no symbol; set in every case.
 *
 * Return: true with *@ret filled; a name in a file without symbols has no @name, but the
 * path as @module and the offset in the file.  As symbol_find() otherwise.
 */
bool symbol_find_in(struct btsrec *rec, const struct btsrec_side *side, uint64_t va,
		    struct symbol_name *ret, enum symbol_why *ret_why);

/** symbol_find_in_as() - symbol_find_in() with @raw as symbol_find_as() has it */
bool symbol_find_in_as(struct btsrec *rec, const struct btsrec_side *side, uint64_t va, bool raw,
		       struct symbol_name *ret, enum symbol_why *ret_why);

/**
 * symbols_table() - table @i, from 0, of the symbol files and then of the kernel in the dump
 *
 * Return: the session's; NULL: no more, or a resolver is asked first.
 */
const struct symbol_table *symbols_table(const struct btsrec *rec, size_t i);

/**
 * symbols_clone() - give @clone, which has no names yet, those of the kernel that @rec has
 *
 * They are read by way of @rec when the first clone needs them; those of modules and of user
 * addresses are read by each.
 *
 * Return: false: out of memory.
 */
bool symbols_clone(struct btsrec *clone, struct btsrec *rec);

/**
 * symbols_user() - what knows of processes and user addresses, whether or not names are wanted
 *
 * Return: NULL: nothing does.
 */
struct user *symbols_user(struct btsrec *rec);

/** symbols_user_names() - the same, for names alone; NULL also if those of the dump are unwanted */
struct user *symbols_user_names(struct btsrec *rec);

/** enum symbol_dump_place - data of the kernel that other stages begin at */
enum symbol_dump_place {
	SYMBOL_DUMP_BTF,
	SYMBOL_DUMP_BTF_END,
	SYMBOL_DUMP_INIT_TASK,
	SYMBOL_DUMP_THUNK_ARRAY,
	SYMBOL_DUMP_BPF_KALLSYMS,
	SYMBOL_DUMP_FTRACE_TRAMPOLINES,
	SYMBOL_DUMP_KPROBE_SLOTS,
	SYMBOL_DUMP_KPROBE_OPTSLOTS,
	SYMBOL_DUMP_JUMP_TABLE,
	SYMBOL_DUMP_JUMP_TABLE_END,
	SYMBOL_DUMP_CALL_SITES,
	SYMBOL_DUMP_CALL_SITES_END,
	SYMBOL_DUMP_RODATA,
	SYMBOL_DUMP_RODATA_END,
	SYMBOL_DUMP_RODATA_ENABLED,
	SYMBOL_DUMP_PER_CPU_OFFSET,
	SYMBOL_DUMP_THIS_CPU_OFF,	/* in the area of a CPU, as the next */
	SYMBOL_DUMP_CPU_NUMBER,
	SYMBOL_DUMP_CURRENT_TASK,
	SYMBOL_DUMP_TOP_OF_STACK,
	SYMBOL_DUMP_HARDIRQ_STACK,
	SYMBOL_DUMP_PREEMPT_COUNT,
	SYMBOL_DUMP_PCPU_HOT,		/* v6.2 to v6.14; has the five before it */
	SYMBOL_DUMP_SCHED_TEXT,
	SYMBOL_DUMP_SCHED_TEXT_END,
	SYMBOL_DUMP_SOFTIRQ_TEXT,
	SYMBOL_DUMP_SOFTIRQ_TEXT_END,
	SYMBOL_DUMP_PANIC_CPU,
	SYMBOL_DUMP_CYC2NS,		/* in the area of a CPU */
	SYMBOL_DUMP_CLOCK_STABLE,
	SYMBOL_DUMP_CLOCK_OFFSET,
	SYMBOL_DUMP_NATIVE_CLOCK,
	SYMBOL_DUMP_PV_CLOCK,
	SYMBOL_DUMP_PV_OPS,
	SYMBOL_DUMP_RCU_DATA,		/* in the area of a CPU */
	SYMBOL_DUMP_NR_PLACES,
};

/** symbols_place() - where data of the kernel is, by the dump's own names; 0: not known */
uint64_t symbols_place(struct btsrec *rec, enum symbol_dump_place place);

/**
 * symbols_cpu_place() - the place in the area of a CPU of a variable
 * @member: of struct pcpu_hot, in which v6.2 to v6.14 have it.
 *
 * Return: 0: not known.
 */
uint64_t symbols_cpu_place(struct btsrec *rec, enum symbol_dump_place place, const char *member);

/** symbols_kread() - the memory of the kernel in the dump; NULL: out of memory, or not located */
const struct kread *symbols_kread(struct btsrec *rec);

/** symbols_kernel() - the kernel's own table of symbols; NULL: none, or not wanted */
const struct symbol_table *symbols_kernel(struct btsrec *rec);

/**
 * symbols_types() - the kernel's types, whether names of the dump are wanted or not
 * @ret_why: why there are none, static; else untouched.
 *
 * Return: the session's; NULL: none.
 */
const struct types *symbols_types(struct btsrec *rec, const char **ret_why);

/** symbols_init() - is the code at @va that of a module that is being initialised? */
bool symbols_init(struct btsrec *rec, uint64_t va);

/** symbols_text() - what may have become of the kernel's code at @va since it ran */
enum code_text symbols_text(struct btsrec *rec, uint64_t va);

/** symbols_user_present() - can user addresses have names? */
bool symbols_user_present(struct btsrec *rec);

/** symbols_user_missing() - why user addresses stay without names, as symbols_missing() */
const char *symbols_user_missing(struct btsrec *rec);

/**
 * symbol_file_finish() - turn @list, the symbols of a file, into a table of @rec
 * @path: for messages.
 *
 * Return: BTSREC_OK; BTSREC_ERR_CORRUPT without _stext or _end;
 * BTSREC_ERR_MISMATCH if the root's symbol is missing or not a whole number of
 * KASLR steps away; BTSREC_ERR_NOMEM; BTSREC_ERR_INVAL before btsrec_locate().
 */
enum btsrec_status symbol_file_finish(struct btsrec *rec, struct symbol_list *list,
				      const char *path);

#endif /* BTSREC_SYMBOL_H */
