// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "failing_alloc.h"
#include "symbols/user.h"
#include "userkernel.h"

#include <sys/stat.h>
#include <unistd.h>

static struct uk uk;
static struct btsrec_root root;
static struct layout_btf btf;
static struct user *user;
static char folder[64];

static void write_program(void)
{
	char path[128];
	FILE *file;

	strcpy(folder, "/tmp/btsrec-user-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/usr", folder);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	strcat(path, "/bin");
	ck_assert_int_eq(mkdir(path, 0700), 0);
	strcat(path, "/prog");
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(uk_at(&uk, UK_HEAD_PA), 1, 4096, file), 4096);
	fclose(file);
}

/* A kernel and nothing wrong with it; the test breaks it, then begin(). */
static void setup(void)
{
	uk_init(&uk);
	memset(&root, 0, sizeof(root));
	unsetenv("DEBUGINFOD_URLS");
	write_program();
}

static struct user_source source_of_uk(void)
{
	btf = (struct layout_btf){
		.kernel = &uk.kread, .begin_kva = UK_KVA(UK_BTF_PA),
		.end_kva = UK_KVA(UK_BTF_PA) + uk.btf_bytes,
	};
	return (struct user_source){
		.kread = &uk.kread, .root = &root, .btf = &btf,
		.init_task_kva = UK_KVA(UK_INIT_PA), .sysroot = folder, .debuginfo = folder,
	};
}

static void begin(void)
{
	struct user_source source = source_of_uk();

	user = user_new(&source);
	ck_assert_ptr_nonnull(user);
}

static void teardown(void)
{
	static const char *const names[] = { "usr/bin/prog", "usr/bin", "usr", "" };
	char path[128];

	user_free(user);
	user = NULL;
	layout_btf_fini(&btf);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		(void)remove(path);
	}
}

/* @module: NULL: none.  @name: NULL: only the module is known. */
static void expect_in(uint64_t cr3, uint64_t va, enum symbol_why why, const char *module,
		      const char *name, uint64_t offset_bytes)
{
	struct symbol_name symbol = { 0 };

	ck_assert_int_eq(user_find(user, cr3, va, false, &symbol), why);
	ck_assert_uint_eq(symbol.name_bytes, name ? strlen(name) : 0);
	if (name)
		ck_assert_mem_eq(symbol.name, name, symbol.name_bytes);
	if (module)
		ck_assert_str_eq(symbol.module, module);
	else
		ck_assert_ptr_null(symbol.module);
	if (module)
		ck_assert_uint_eq(symbol.offset_bytes, offset_bytes);
}

static void expect(uint64_t va, enum symbol_why why, const char *module, const char *name,
		   uint64_t offset_bytes)
{
	expect_in(UK_PGD_PA, va, why, module, name, offset_bytes);
}

START_TEST(each_mapping)
{
	setup();
	begin();
	ck_assert_ptr_null(user_missing(user));
	for (int twice = 0; twice < 2; twice++) {
		expect(UK_TEXT + 0x812, SYMBOL_NAMED, UK_PATH, "work", 0x12);
		expect(UK_TEXT + 0x7ff, SYMBOL_NO_SYMBOL, UK_PATH, NULL, 0x7ff);
		expect(UK_DATA + 5, SYMBOL_NO_SYMBOL, UK_PATH, NULL, 0x2005);
		expect(UK_VDSO + 0x801, SYMBOL_NAMED, "vdso", "work", 1);
		expect(UK_HEAP + 0x1234, SYMBOL_NOT_A_FILE, "heap", NULL, 0x1234);
		expect(UK_STACK + 8, SYMBOL_NOT_A_FILE, "stack", NULL, 8);
		expect(UK_ANON + 3, SYMBOL_NOT_A_FILE, "anon", NULL, 3);
		expect(UK_TEXT - 1, SYMBOL_NOT_MAPPED, NULL, NULL, 0);
	}
	expect_in(UK_PUD_PA, UK_TEXT, SYMBOL_MM_GONE, NULL, NULL, 0);
	ck_assert_int_eq(user_find(user, 0, UK_TEXT, false, &(struct symbol_name){ 0 }), SYMBOL_MM_GONE);
	teardown();
}
END_TEST

START_TEST(code_of_the_file)
{
	uint8_t code[4096];

	setup();
	begin();
	ck_assert_uint_eq(user_code(user, UK_PGD_PA, UK_TEXT + 1, code, 3), 3);
	ck_assert_mem_eq(code, "ELF", 3);
	ck_assert_uint_eq(user_code(user, UK_PGD_PA, UK_TEXT + 4095, code, 2), 0);
	ck_assert_uint_eq(user_code(user, UK_PGD_PA, UK_HEAP, code, 1), 0);
	ck_assert_uint_eq(user_code(user, 0, UK_TEXT, code, 1), 0);
	teardown();
}
END_TEST

START_TEST(another_file_than_was_mapped)
{
	uint8_t code;

	setup();
	((struct uk_elf *)uk_at(&uk, UK_HEAD_PA))->note.build_id[3]++;
	begin();
	expect(UK_TEXT + 0x812, SYMBOL_OTHER_FILE, UK_PATH, NULL, 0x812);
	ck_assert_uint_eq(user_code(user, UK_PGD_PA, UK_TEXT, &code, 1), 0);
	teardown();
}
END_TEST

/* The build-id is found by way of the mapping before, also from the data. */
START_TEST(the_head_is_in_another_mapping)
{
	setup();
	((struct uk_elf *)uk_at(&uk, UK_HEAD_PA))->note.build_id[3]++;
	begin();
	expect(UK_DATA, SYMBOL_OTHER_FILE, UK_PATH, NULL, 0x2000);
	teardown();
	setup();
	*(uint64_t *)uk_at(&uk, UK_PT_PA) = 0;	/* not in memory any more */
	begin();
	expect(UK_DATA, SYMBOL_UNPROVEN, UK_PATH, NULL, 0x2000);
	teardown();
	setup();
	uk.hole_pa = UK_HEAD_PA;		/* in memory, and not in the dump */
	begin();
	expect(UK_DATA, SYMBOL_EXCLUDED, UK_PATH, NULL, 0x2000);
	teardown();
}
END_TEST

/* At the address 0 in memory, by way of a large page; one table serves as three. */
#define SIBLING_HEAD_PA		0
#define SIBLING_PGD_PA		0xf000
#define SIBLING_TASK_PA		0x6200
#define SIBLING_SIGNAL_PA	0x6900
#define SIBLING_MM_PA		0x7800
#define SIBLING_VMA_PA		(UK_VMA_PA + 0x800)
#define SIBLING_LEAF_PA		(UK_LEAF1_PA + 0x100)

/* A process that has the program's beginning in its page tables, where its @start is. */
static void add_sibling(uint64_t start, uint64_t pgoff)
{
	struct uk_task *task = uk_at(&uk, SIBLING_TASK_PA);
	struct uk_range *leaf = uk_at(&uk, SIBLING_LEAF_PA);
	uint64_t *table = uk_at(&uk, SIBLING_PGD_PA);

	memcpy(uk_at(&uk, SIBLING_HEAD_PA), uk_at(&uk, UK_HEAD_PA), 4096);
	memcpy(task, uk_at(&uk, UK_TASK_PA), sizeof(*task));
	uk_link(&uk, uk_tasks_kva(UK_TASK_PA), uk_tasks_kva(SIBLING_TASK_PA));
	uk_link(&uk, uk_tasks_kva(SIBLING_TASK_PA), uk_tasks_kva(UK_INIT_PA));
	task->mm = UK_KVA(SIBLING_MM_PA);
	task->tgid++;
	task->pid++;
	task->signal = UK_KVA(SIBLING_SIGNAL_PA);
	task->thread_node.next = task->signal + offsetof(struct uk_signal, thread_head);
	((struct uk_signal *)uk_at(&uk, SIBLING_SIGNAL_PA))->thread_head.next =
		UK_KVA(SIBLING_TASK_PA) + offsetof(struct uk_task, thread_node);
	*(struct uk_mm *)uk_at(&uk, SIBLING_MM_PA) = (struct uk_mm){
		.mm_mt.ma_root = uk_node(SIBLING_LEAF_PA, 1), .pgd = UK_KVA(SIBLING_PGD_PA),
	};
	*(struct uk_vma *)uk_at(&uk, SIBLING_VMA_PA) = (struct uk_vma){
		start, UK_DATA, UK_KVA(SIBLING_MM_PA), pgoff, UK_KVA(UK_FILE_PA),
	};
	*leaf = (struct uk_range){
		.parent = UK_KVA(SIBLING_MM_PA) | 1, .pivot = { start - 1, UK_DATA - 1 },
		.slot = { 0, UK_KVA(SIBLING_VMA_PA), 0 },
	};
	leaf->meta.end = 2;
	table[0] = SIBLING_PGD_PA | 7;
	table[UK_TEXT >> 21] = SIBLING_HEAD_PA | 0x87;
}

/* A process that was forked shares the pages of its parent, but not yet their tables. */
START_TEST(the_head_is_in_the_parent)
{
	struct user_mapping mapping;

	setup();
	add_sibling(UK_TEXT, 0);
	*(uint64_t *)uk_at(&uk, UK_PT_PA) = 0;
	begin();
	ck_assert(user_mapping(user, UK_PGD_PA, UK_DATA, &mapping));
	ck_assert_uint_eq(mapping.build_id_bytes, 8);
	ck_assert_mem_eq(mapping.build_id, UK_BUILD_ID, 8);
	teardown();
}
END_TEST

/* What another process has there is of no use, nor is what nobody can prove to be the file. */
START_TEST(the_head_is_not_in_another_process)
{
	for (unsigned int what = 0; what < 3; what++) {
		struct uk_vma *vma = uk_at(&uk, SIBLING_VMA_PA);

		setup();
		add_sibling(UK_TEXT, what == 0);
		if (what == 1)
			vma->vm_file = 0;
		if (what == 2)
			*(uint64_t *)uk_at(&uk, SIBLING_PGD_PA) = 0;
		*(uint64_t *)uk_at(&uk, UK_PT_PA) = 0;
		begin();
		expect(UK_DATA, SYMBOL_UNPROVEN, UK_PATH, NULL, 0x2000);
		teardown();
	}
}
END_TEST

static bool table_was_read;

static enum btsrec_status notice_table(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				       size_t *ret_bytes)
{
	table_was_read |= pa / BTSREC_PAGE_BYTES == SIBLING_PGD_PA / BTSREC_PAGE_BYTES;
	return uk_read(arg, pa, buf, len_bytes, ret_bytes);
}

/* Who reads the small file may ask of the other process alone. */
START_TEST(the_head_is_kept_for_each_process)
{
	for (unsigned int is_kept = 0; is_kept < 2; is_kept++) {
		struct user_source source;
		struct symbol_name symbol;

		setup();
		add_sibling(UK_TEXT, 0);
		uk.image.read_pa = notice_table;
		source = source_of_uk();
		source.is_kept = is_kept;
		user = user_new(&source);
		ck_assert_ptr_nonnull(user);
		(void)user_find(user, UK_PGD_PA, UK_TEXT, false, &symbol);
		table_was_read = false;
		(void)user_find(user, SIBLING_PGD_PA, UK_TEXT, false, &symbol);
		ck_assert_int_eq(table_was_read, is_kept);
		teardown();
	}
}
END_TEST

static void expect_mapping(uint64_t va, uint64_t start, uint64_t offset_bytes)
{
	const struct uk_elf *elf = uk_at(&uk, UK_HEAD_PA);
	struct user_mapping mapping;

	ck_assert(user_mapping(user, UK_PGD_PA, va, &mapping));
	ck_assert_uint_eq(mapping.start, start);
	ck_assert_uint_gt(mapping.end, va);
	ck_assert_uint_eq(mapping.offset_bytes, offset_bytes);
	ck_assert_str_eq(mapping.path, UK_PATH);
	ck_assert_uint_eq(mapping.build_id_bytes, sizeof(elf->note.build_id));
	ck_assert_mem_eq(mapping.build_id, elf->note.build_id, sizeof(elf->note.build_id));
}

static void expect_no_mapping(uint64_t cr3, uint64_t va)
{
	struct user_mapping mapping;

	ck_assert(!user_mapping(user, cr3, va, &mapping));
}

/* The build-id is the dump's, whatever file is here. */
START_TEST(mappings_of_files)
{
	setup();
	((struct uk_elf *)uk_at(&uk, UK_HEAD_PA))->note.build_id[3]++;
	begin();
	expect_mapping(UK_TEXT + 0x812, UK_TEXT, 0);
	expect_mapping(UK_DATA + 5, UK_DATA, 0x2000);
	expect_no_mapping(UK_PGD_PA, UK_VDSO);
	expect_no_mapping(UK_PGD_PA, UK_HEAP);
	expect_no_mapping(UK_PGD_PA, UK_TEXT - 1);
	expect_no_mapping(UK_PUD_PA, UK_TEXT);
	expect_no_mapping(0, UK_TEXT);
	teardown();
	setup();
	*(uint64_t *)uk_at(&uk, UK_PT_PA) = 0;	/* its beginning is not in memory any more */
	begin();
	expect_no_mapping(UK_PGD_PA, UK_TEXT);
	teardown();
	setup();
	uk.btf_bytes = 1;
	begin();
	expect_no_mapping(UK_PGD_PA, UK_TEXT);
	teardown();
}
END_TEST

/* Where a debug file has an address; and that another file has none. */
START_TEST(places_as_linked)
{
	struct user_linked linked, other;

	setup();
	begin();
	ck_assert(user_linked(user, UK_PGD_PA, UK_TEXT + 0x812, &linked));
	ck_assert_int_eq(linked.why, SYMBOL_NAMED);
	ck_assert(linked.placed);
	ck_assert_uint_eq(linked.address, 0x10812);
	ck_assert_str_eq(linked.name, UK_PATH);
	ck_assert_int_ge(linked.fd, 0);
	ck_assert_uint_gt(linked.build_id_bytes, 0);
	ck_assert(user_linked(user, UK_PGD_PA, UK_DATA + 5, &other));
	ck_assert_ptr_eq(other.file, linked.file);
	ck_assert_int_eq(other.why, SYMBOL_NAMED);
	ck_assert(!other.placed);
	ck_assert(!user_linked(user, UK_PGD_PA, UK_HEAP, &other));
	ck_assert(!user_linked(user, UK_PUD_PA, UK_TEXT, &other));
	ck_assert(!user_linked(user, 0, UK_TEXT, &other));
	teardown();
	setup();
	((struct uk_elf *)uk_at(&uk, UK_HEAD_PA))->note.build_id[3]++;
	begin();
	ck_assert(user_linked(user, UK_PGD_PA, UK_TEXT + 0x812, &linked));
	ck_assert_int_eq(linked.why, SYMBOL_OTHER_FILE);
	ck_assert(!linked.placed);
	ck_assert_int_eq(linked.fd, -1);
	teardown();
}
END_TEST

START_TEST(no_such_file)
{
	setup();
	uk_put_dentry(&uk, 0, "\x1b[", UK_KVA(UK_DENTRY_PA + 64));
	((struct uk_dentry *)uk_at(&uk, UK_DENTRY_PA))->d_hash.pprev = 0;
	begin();
	expect(UK_TEXT, SYMBOL_NO_FILE, "/usr/bin/\\x1b[ (deleted)", NULL, 0);
	teardown();
}
END_TEST

static void expect_excluded(void)
{
	begin();
	expect(UK_TEXT, SYMBOL_EXCLUDED, NULL, NULL, 0);
	teardown();
}

START_TEST(parts_that_are_not_in_the_dump)
{
	setup();
	uk.hole_pa = UK_FILE_PA;
	expect_excluded();
	setup();
	uk.hole_pa = UK_NAMES_PA;
	expect_excluded();
	setup();
	uk.hole_pa = UK_ROOT_PA;
	expect_excluded();
	setup();
	uk.hole_pa = UK_MM_PA;
	expect_excluded();
	setup();
	((struct uk_file *)uk_at(&uk, UK_FILE_PA))->f_inode = UK_KVA(UK_BYTES);
	expect_excluded();
	setup();
	uk.hole_pa = UK_VDSO_PA;
	begin();
	expect(UK_VDSO, SYMBOL_EXCLUDED, NULL, NULL, 0);
	teardown();
	setup();
	((struct uk_vdso *)uk_at(&uk, UK_VDSO_PA))->size = UINT64_MAX;
	begin();
	expect(UK_VDSO, SYMBOL_EXCLUDED, NULL, NULL, 0);
	teardown();
}
END_TEST

/* Nothing can be named from @source, for a reason that has @part in it. */
static void expect_missing(struct user_source source, const char *part)
{
	struct symbol_name symbol;

	user = user_new(&source);
	ck_assert_ptr_nonnull(user);
	ck_assert_ptr_nonnull(user_missing(user));
	ck_assert_msg(strstr(user_missing(user), part), "%s", user_missing(user));
	ck_assert_int_eq(user_find(user, UK_PGD_PA, UK_TEXT, false, &symbol), SYMBOL_UNKNOWN);
	ck_assert_uint_eq(user_code(user, UK_PGD_PA, UK_TEXT, &symbol, 1), 0);
	user_free(user);
	user = NULL;
	layout_btf_fini(&btf);
}

START_TEST(no_types)
{
	struct user_source source;

	setup();
	source = source_of_uk();
	source.init_task_kva = 0;
	expect_missing(source, "kallsyms does not say");
	source = source_of_uk();
	btf.begin_kva = 0;
	expect_missing(source, "kallsyms does not say");
	source = source_of_uk();
	btf.end_kva = btf.begin_kva;
	expect_missing(source, "has no size");
	source = source_of_uk();
	btf.end_kva = btf.begin_kva + (65ULL << 20);
	expect_missing(source, "has no size");
	source = source_of_uk();
	btf.end_kva -= 1;
	expect_missing(source, "cannot be read");
	source = source_of_uk();
	btf.end_kva = UK_KVA(UK_BYTES + 1);
	expect_missing(source, "not in the dump");
	source = source_of_uk();
	uk_btf(uk_at(&uk, UK_BTF_PA), UK_BYTES - UK_BTF_PA, "i_mtime_abc");
	expect_missing(source, "lacks a member");
	teardown();
}
END_TEST

START_TEST(a_space_that_was_lost)
{
	struct btsrec_side side = { .cr3 = UK_PGD_PA, .tgid = UK_TGID };
	struct btsrec_exec *exec;

	setup();
	root.nr_exec_pages = 1;
	root.exec_pa[0] = UK_EXECS_PA;
	exec = uk_at(&uk, UK_EXECS_PA);
	*exec = (struct btsrec_exec){ .tsc = 100, .seq = 1, .cr3 = 0x999000, .tgid = UK_TGID };
	begin();
	ck_assert(user_space_lost(user, &side, 99));
	ck_assert(!user_space_lost(user, &side, 100));
	side.tgid++;
	ck_assert(user_space_lost(user, &side, 100));
	side.cr3 = UK_PUD_PA;		/* nobody's: user_find() says so */
	ck_assert(!user_space_lost(user, &side, 100));
	teardown();
}
END_TEST

/* Each allocation fails once: an address stays an address, and nothing is wrong. */
START_TEST(out_of_memory)
{
	bool failed = true;

	setup();
	for (unsigned int nth = 1; failed; nth++) {
		struct user_source source = source_of_uk();
		struct symbol_name symbol = { 0 };
		enum symbol_why why = SYMBOL_UNKNOWN;

		failing_alloc_arm(nth);
		user = user_new(&source);
		if (user)
			why = user_find(user, UK_PGD_PA, UK_TEXT + 0x812, false, &symbol);
		if (user)
			(void)user_find(user, UK_PGD_PA, UK_VDSO, false, &(struct symbol_name){ 0 });
		failed = failing_alloc_disarm();
		ck_assert(failed || why == SYMBOL_NAMED);
		ck_assert(why != SYMBOL_NAMED || symbol.offset_bytes == 0x12);
		ck_assert_uint_lt(nth, 200);
		user_free(user);
		layout_btf_fini(&btf);
	}
	user = NULL;
	teardown();
	user_free(NULL);
}
END_TEST

static const char *program_path(void)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/usr/bin/prog", folder);
	return path;
}

static void expect_mode(uint64_t va, enum code_mode mode)
{
	ck_assert_int_eq(user_mode(user, UK_PGD_PA, va), mode);
}

static struct uk_elf *put_compat_elf(uint64_t pa)
{
	struct uk_elf *elf = uk_at(&uk, pa);

	elf->header.e_machine = EM_386;
	return elf;
}

/* What is in a file says so itself; the rest runs as the vDSO does, if that is 32-bit code. */
START_TEST(modes_of_code)
{
	setup();
	begin();
	expect_mode(UK_TEXT, CODE_MODE_64);
	expect_mode(UK_VDSO, CODE_MODE_64);
	expect_mode(UK_HEAP, CODE_MODE_UNKNOWN);
	expect_mode(UK_TEXT - 1, CODE_MODE_UNKNOWN);
	ck_assert_int_eq(user_mode(user, 0, UK_TEXT), CODE_MODE_UNKNOWN);
	teardown();

	setup();
	put_compat_elf(UK_HEAD_PA);
	begin();
	expect_mode(UK_TEXT, CODE_MODE_32);
	expect_mode(UK_DATA, CODE_MODE_32);
	expect_mode(UK_HEAP, CODE_MODE_UNKNOWN);
	teardown();

	setup();
	put_compat_elf(UK_VDSO_ELF_PA);
	begin();
	expect_mode(UK_TEXT, CODE_MODE_64);
	expect_mode(UK_HEAP, CODE_MODE_32);
	expect_mode(UK_VDSO, CODE_MODE_32);
	teardown();

	/* No beginning to look at, as the vDSO; a beginning that is not an ELF file's. */
	setup();
	*(uint64_t *)uk_at(&uk, UK_PT_PA) = 0;
	(void)remove(program_path());
	begin();
	expect_mode(UK_TEXT, CODE_MODE_64);
	teardown();
	setup();
	*(char *)uk_at(&uk, UK_HEAD_PA) = 'M';
	begin();
	expect_mode(UK_TEXT, CODE_MODE_UNKNOWN);
	teardown();

	setup();
	uk.btf_bytes = 1;
	begin();
	expect_mode(UK_TEXT, CODE_MODE_UNKNOWN);
	teardown();
}
END_TEST

BTSREC_CK_MAIN("user", each_mapping, modes_of_code, code_of_the_file, another_file_than_was_mapped,
	       the_head_is_in_another_mapping, the_head_is_in_the_parent,
	       the_head_is_not_in_another_process, the_head_is_kept_for_each_process,
	       mappings_of_files, places_as_linked, no_such_file, parts_that_are_not_in_the_dump,
	       no_types, a_space_that_was_lost, out_of_memory)
