// SPDX-License-Identifier: GPL-2.0-or-later
#include "codefix.h"
#include "failing_alloc.h"

static const struct {
	const char *text;
	const char *bytes;
	size_t nr_bytes;
	enum code_class class;
	uint64_t target;	/* from the instruction on; 0: none */
} insns[] = {
#define INSN(text, bytes, class, target) { text, bytes, sizeof(bytes) - 1, class, target }
	INSN("nop", "\x90", CODE_PLAIN, 0),
	INSN("hlt", "\xf4", CODE_PLAIN, 0),
	INSN("rep stosb", "\xf3\xaa", CODE_PLAIN, 0),
	INSN("lea 16(%rip)", "\x48\x8d\x05\x10\x00\x00\x00", CODE_PLAIN, 0),
	INSN("wrmsr", "\x0f\x30", CODE_WRMSR, 0),
	INSN("vmlaunch", "\x0f\x01\xc2", CODE_VMENTRY, 0),
	INSN("vmresume", "\x0f\x01\xc3", CODE_VMENTRY, 0),
	INSN("vmcall", "\x0f\x01\xc1", CODE_PLAIN, 0),
	INSN("jz +4", "\x74\x02", CODE_COND, 4),
	INSN("jnz far", "\x0f\x85\x00\x01\x00\x00", CODE_COND, 0x106),
	INSN("jrcxz -2", "\xe3\xfe", CODE_COND, (uint64_t)-0),
	INSN("loop", "\xe2\x10", CODE_COND, 0x12),
	INSN("jmp short", "\xeb\x10", CODE_JUMP, 0x12),
	INSN("jmp near", "\xe9\xfb\x0f\x00\x00", CODE_JUMP, 0x1000),
	INSN("jmp *%rax", "\xff\xe0", CODE_JUMP_IND, 0),
	INSN("jmp *8(%rip)", "\xff\x25\x08\x00\x00\x00", CODE_JUMP_IND, 0),
	INSN("call", "\xe8\xfb\x0f\x00\x00", CODE_CALL, 0x1000),
	INSN("call *%rax", "\xff\xd0", CODE_CALL_IND, 0),
	INSN("cs call *(%rax)", "\x2e\xff\x10", CODE_CALL_IND, 0),
	INSN("ret", "\xc3", CODE_RET, 0),
	INSN("ret 8", "\xc2\x08\x00", CODE_RET, 0),
	INSN("lretq", "\x48\xcb", CODE_RET, 0),
	INSN("iretq", "\x48\xcf", CODE_IRET, 0),
	INSN("syscall", "\x0f\x05", CODE_SYSCALL, 0),
	INSN("sysenter", "\x0f\x34", CODE_SYSCALL, 0),
	INSN("sysretq", "\x48\x0f\x07", CODE_SYSRET, 0),
	INSN("sysexit", "\x0f\x35", CODE_SYSRET, 0),
	INSN("int3", "\xcc", CODE_INT, 0),
	INSN("int $0x80", "\xcd\x80", CODE_INT, 0),
	INSN("ud2", "\x0f\x0b", CODE_TRAP, 0),
	INSN("xbegin", "\xc7\xf8\x10\x00\x00\x00", CODE_PLAIN, 0),
#undef INSN
};

START_TEST(classes)
{
	struct code_insn insn;

	cf_setup();
	cf_put_bytes(TEXT, insns[_i].bytes, insns[_i].nr_bytes);
	cf_start();
	ck_assert_int_eq(code_insn(cf_code, 0, TEXT, false, &insn), CODE_OK);
	ck_assert_msg(insn.class == insns[_i].class, "%s: class %d", insns[_i].text, insn.class);
	ck_assert_uint_eq(insn.length_bytes, insns[_i].nr_bytes);
	if (insns[_i].target) {
		ck_assert(insn.has_target);
		ck_assert_uint_eq(insn.target, TEXT + insns[_i].target);
	}
	cf_finish();
}
END_TEST

START_TEST(vectors)
{
	static const struct {
		const char *bytes;
		enum code_class class;
		uint8_t vector;
	} expected[] = {
		{ "\xcc\x90", CODE_INT, 3 }, { "\xf1\x90", CODE_INT, 1 },
		{ "\xce\x90", CODE_INT, 4 }, { "\xcd\x80", CODE_INT, 0x80 },
		{ "\xcd\xff", CODE_INT, 0xff }, { "\x62\x08", CODE_PLAIN, 0 },	/* bound */
	};
	struct code_insn insn;

	cf_setup();
	cf_put_bytes(0x08048000, expected[_i].bytes, 2);
	cf_start();
	ck_assert_int_eq(code_insn(cf_code, USER_PGD, 0x08048000, true, &insn), CODE_OK);
	ck_assert_int_eq(insn.class, expected[_i].class);
	ck_assert_uint_eq(insn.vector, expected[_i].vector);
	cf_finish();
}
END_TEST

static const struct code_run *run(uint64_t start, uint64_t end)
{
	return code_run(cf_code, USER_PGD, start, end);
}

static void ck_fault(uint64_t start, uint64_t end, enum code_fault want, uint64_t va)
{
	const struct code_run *got = run(start, end);

	ck_assert_msg(got->fault == want, "%s", code_fault_str(got->fault));
	if (want)
		ck_assert_uint_eq(got->fault_va, va);
}

START_TEST(straight_runs)
{
	cf_setup();
	/* push; jz +0; mov $1,%eax; call +0 */
	cf_put(TEXT, "\x55\x74\x00\xb8\x01\x00\x00\x00\xe8\x00\x00\x00\x00\xc3");
	cf_start();
	ck_fault(TEXT, TEXT + 8, CODE_OK, 0);
	ck_assert_uint_eq(run(TEXT, TEXT + 8)->nr_insns, 3);
	ck_assert_int_eq(run(TEXT, TEXT + 8)->last.class, CODE_CALL);
	ck_assert_uint_eq(run(TEXT, TEXT + 8)->last.target, TEXT + 13);
	ck_fault(TEXT + 8, TEXT + 8, CODE_OK, 0);
	ck_assert_uint_eq(run(TEXT + 8, TEXT + 8)->nr_insns, 0);
	ck_fault(TEXT, TEXT + 13, CODE_LEAVES, TEXT + 8);
	ck_fault(TEXT, TEXT + 5, CODE_INSIDE, TEXT + 5);
	ck_fault(TEXT + 3, TEXT, CODE_BACKWARD, TEXT + 3);
	ck_fault(TEXT, TEXT + CODE_RUN_MAX_BYTES + 1, CODE_TOO_LONG, TEXT);
	ck_fault(USER, TEXT, CODE_TOO_LONG, USER);
	cf_finish();
}
END_TEST

START_TEST(over_a_page)
{
	cf_setup();
	cf_put(USER + 0xffe, "\xb8\x01\x00\x00\x00\xc3");
	cf_start();
	ck_fault(USER + 0xffe, USER + 0x1003, CODE_OK, 0);
	ck_assert_int_eq(run(USER + 0xffe, USER + 0x1003)->last.class, CODE_RET);
	cf_finish();
}
END_TEST

START_TEST(missing_code)
{
	cf_setup();
	memset(mem_page(&cf_mem, cf_map(USER_PGD, USER)), 0x90, 4096);
	memset(mem_page(&cf_mem, cf_map(USER_PGD, USER + 0x1000)), 0x90, 4096);
	cf_start();
	/* The instruction at the end need not be there: a fetch from it may have faulted. */
	ck_fault(USER + 0x1ff0, USER + 0x2000, CODE_OK, 0);
	ck_assert_int_eq(run(USER + 0x1ff0, USER + 0x2000)->last.class, CODE_UNREADABLE);
	ck_fault(USER + 0x1ff0, USER + 0x2001, CODE_NOT_MAPPED, USER + 0x2000);
	mem_cut(&cf_mem, cf_map(USER_PGD, USER + 0x1000), 0x800);
	cf_start();
	ck_fault(USER + 0x17f0, USER + 0x1900, CODE_NOT_IN_DUMP, USER + 0x1800);
	ck_fault(USER, USER + 0x1800, CODE_OK, 0);
	ck_assert_int_eq(code_run(cf_code, 0, USER, USER + 1)->fault, CODE_NO_SPACE);
	ck_assert_int_eq(code_run(cf_code, 0x7777000, USER, USER + 1)->fault, CODE_NO_TABLE);
	cf_finish();
}
END_TEST

START_TEST(no_instruction)
{
	cf_setup();
	cf_put(TEXT, "\x90\x06\x90");		/* push %es: not in 64-bit mode */
	cf_start();
	ck_fault(TEXT, TEXT + 2, CODE_NO_INSN, TEXT + 1);
	cf_finish();
}
END_TEST

/* A page that no longer is a page table of this kernel says nothing of the process. */
START_TEST(space_is_gone)
{
	cf_setup();
	cf_put(USER, "\x90\xc3");
	cf_start();
	ck_fault(USER, USER + 1, CODE_OK, 0);
	((uint64_t *)mem_page(&cf_mem, USER_PGD))[511] |= 1 << 5;
	cf_start();
	ck_fault(USER, USER + 1, CODE_OK, 0);
	((uint64_t *)mem_page(&cf_mem, USER_PGD))[511] = 0x12345063;
	cf_start();
	ck_fault(USER, USER + 1, CODE_NO_SPACE, USER);
	cf_finish();
}
END_TEST

START_TEST(spaces_are_kept_apart)
{
	uint64_t *other;

	cf_setup();
	cf_put(USER, "\x90\xc3");
	other = mem_page(&cf_mem, 0x3000);
	other[511] = ((uint64_t *)mem_page(&cf_mem, USER_PGD))[511];
	*(uint16_t *)mem_page(&cf_mem, cf_map(0x3000, USER)) = 0x90c3;
	cf_start();
	ck_assert_int_eq(code_run(cf_code, USER_PGD, USER, USER + 1)->fault, CODE_OK);
	ck_assert_int_eq(code_run(cf_code, 0x3000, USER, USER + 1)->fault, CODE_LEAVES);
	ck_assert_int_eq(code_run(cf_code, USER_PGD, USER, USER + 1)->fault, CODE_OK);
	cf_finish();
}
END_TEST

START_TEST(compat_code)
{
	struct code_insn insn;

	cf_setup();
	cf_put(0x08048000, "\x40\x06\xe8\x00\x00\x00\x00");	/* inc %eax; push %es; call */
	cf_put(0x08049000, "\x90\xe9\x00\x70\xfb\xf7");		/* jmp over the end of 4 GiB */
	cf_start();
	ck_fault(0x08048000, 0x08048002, CODE_OK, 0);
	ck_assert(run(0x08048000, 0x08048002)->compat);
	ck_assert_uint_eq(run(0x08048000, 0x08048002)->last.target, 0x08048007);
	ck_assert_uint_eq(run(0x08048000, 0x08048002)->nr_insns, 2);
	ck_assert_int_eq(code_insn(cf_code, USER_PGD, 0x08049001, true, &insn), CODE_OK);
	ck_assert_uint_eq(insn.target, 0x6);
	cf_finish();
}
END_TEST

static enum code_mode mode_to_tell;

static enum code_mode tell_mode(void *arg, uint64_t cr3, uint64_t va)
{
	ck_assert_ptr_eq(arg, &mode_to_tell);
	ck_assert_uint_eq(cr3, USER_PGD);
	ck_assert_uint_lt(va, 1ULL << 32);
	return mode_to_tell;
}

/* inc %eax; ret, which is rex ret in 64-bit code; push %es, which that does not have. */
START_TEST(modes)
{
	struct code_source source = { .image = &cf_image, .kernel_pgd_pa = KERNEL_PGD,
				      .mode = tell_mode, .arg = &mode_to_tell };
	static const struct {
		enum code_mode mode;
		bool compat, push_is_compat, guessed;
		enum code_fault push_fault;
		uint8_t length_bytes;
	} expected[] = {
		{ CODE_MODE_UNKNOWN, false, true, true, CODE_OK, 2 },
		{ CODE_MODE_64, false, false, false, CODE_NO_INSN, 2 },
		{ CODE_MODE_32, true, true, false, CODE_OK, 1 },
	};
	const struct code_run *run;

	mode_to_tell = expected[_i].mode;
	cf_setup();
	cf_put(0x08048000, "\x40\xc3\x06\xc3");
	cf_put(USER, "\x40\xc3");
	code_free(cf_code);
	cf_code = code_new(&source);
	run = code_run(cf_code, USER_PGD, 0x08048000, 0x08048000);
	ck_assert_int_eq(run->fault, CODE_OK);
	ck_assert(run->compat == expected[_i].compat);
	ck_assert(run->guessed == expected[_i].guessed);
	ck_assert_uint_eq(run->last.length_bytes, expected[_i].length_bytes);
	run = code_run(cf_code, USER_PGD, 0x08048002, 0x08048003);
	ck_assert_int_eq(run->fault, expected[_i].push_fault);
	ck_assert(run->compat == expected[_i].push_is_compat);
	/* Beyond 4 GiB, and in the kernel, nobody asks. */
	run = code_run(cf_code, USER_PGD, USER, USER);
	ck_assert(!run->compat && !run->guessed);
	cf_finish();
}
END_TEST

static enum code_thunk name_thunks(void *arg, uint64_t va)
{
	++*(unsigned int *)arg;
	return va >= TEXT + 0x800 && va < TEXT + 0x820 ? CODE_THUNK_INDIRECT : CODE_NO_THUNK;
}

START_TEST(thunks)
{
	unsigned int nr_asked = 0;
	struct code_source source = { .kernel_pgd_pa = KERNEL_PGD, .thunk = name_thunks,
				      .arg = &nr_asked };
	struct code *code;

	cf_setup();
	source.image = &cf_image;
	cf_put(TEXT, "\xe8\xfb\x07\x00\x00");
	cf_put(TEXT + 0x800, "\xff\xe0");
	code = code_new(&source);
	ck_assert_int_eq(code_run(code, 0, TEXT, TEXT)->last.there, CODE_THUNK_INDIRECT);
	ck_assert_int_eq(code_run(code, 0, TEXT, TEXT)->last.here, CODE_NO_THUNK);
	ck_assert_int_eq(code_run(code, 0, TEXT + 0x800, TEXT + 0x800)->last.here,
			 CODE_THUNK_INDIRECT);
	ck_assert_uint_eq(nr_asked, 3);
	code_free(code);
	cf_finish();
}
END_TEST

static enum code_thunk name_nothing(void *arg, uint64_t va)
{
	(void)arg;
	(void)va;
	return CODE_THUNK_UNNAMED;
}

/* What the kernel makes for one indirect branch, and what is but like it. */
START_TEST(made_thunks)
{
	static const struct {
		unsigned int offset;
		const char *bytes;	/* from two before on */
		bool is_one;
	} expected[] = {
		{ 0x20, "\xcc\xcc\xff\xe0\xcc\xcc\xcc\xcc", true },
		{ 0x7c, "\xe3\xcc\x41\xff\xe7\xcc\xcc\xcc", true },
		{ 0x1f, "\xcc\xcc\xff\xe0\xcc\xcc\xcc\xcc", false },	/* lower half */
		{ 0x20, "\xcc\x90\xff\xe0\xcc\xcc\xcc\xcc", false },	/* of a function */
		{ 0x20, "\xcc\xcc\xff\xe0\x90\xcc\xcc\xcc", false },
		{ 0x20, "\xcc\xcc\xff\xd0\xcc\xcc\xcc\xcc", false },	/* call */
		{ 0x20, "\xcc\xcc\xff\x20\xcc\xcc\xcc\xcc", false },	/* of memory */
		{ 0x21, "\xcc\xea\x75\xfd\xff\xe0\xcc\xcc", true },
		{ 0x21, "\xcc\xea\x75\xfd\x41\xff\xe3\xcc", true },
		{ 0x21, "\xcc\xcc\x75\xfd\xff\xe0\xcc\xcc", false },
	};
	struct code_source source = { .kernel_pgd_pa = KERNEL_PGD, .thunk = name_nothing };
	enum code_thunk wanted = expected[_i].is_one ? CODE_THUNK_INDIRECT : CODE_NO_THUNK;
	uint64_t va = MODULE + 0x300 + expected[_i].offset;
	int32_t relative = (int32_t)(va - (MODULE + 5));
	struct code_insn insn;

	cf_setup();
	source.image = &cf_image;
	cf_put_bytes(va - 2, expected[_i].bytes, 8);
	cf_put(MODULE, "\xe8");
	cf_put_bytes(MODULE + 1, &relative, sizeof(relative));
	cf_code = code_new(&source);
	ck_assert_int_eq(code_insn(cf_code, 0, va, false, &insn), CODE_OK);
	ck_assert_int_eq(insn.here, wanted);
	ck_assert_int_eq(code_insn(cf_code, 0, MODULE, false, &insn), CODE_OK);
	ck_assert_int_eq(insn.here, CODE_NO_THUNK);
	ck_assert_int_eq(insn.there, wanted);
	/* The jump behind that of FineIBT. */
	if (expected[_i].bytes[2] == 0x75) {
		ck_assert_int_eq(code_insn(cf_code, 0, va + 2, false, &insn), CODE_OK);
		ck_assert_int_eq(insn.here, wanted);
	}
	cf_finish();
}
END_TEST

/* At the end of a page nothing behind is needed. */
START_TEST(a_made_thunk_at_the_end)
{
	struct code_source source = { .kernel_pgd_pa = KERNEL_PGD, .thunk = name_nothing };
	struct code_insn insn;

	cf_setup();
	source.image = &cf_image;
	cf_put(MODULE + 0xffc, "\xcc\xff\xe0\xcc");
	cf_code = code_new(&source);
	ck_assert_int_eq(code_insn(cf_code, 0, MODULE + 0xffd, false, &insn), CODE_OK);
	ck_assert_int_eq(insn.here, CODE_THUNK_INDIRECT);
	cf_finish();
}
END_TEST

/* Nobody is asked of addresses at which there can be no thunk. */
START_TEST(thunks_in_a_part)
{
	unsigned int nr_asked = 0;
	struct code_source source = { .kernel_pgd_pa = KERNEL_PGD, .thunk = name_thunks,
				      .thunks = { TEXT, 0x810, TEXT + 0x800, 0x8 },
				      .arg = &nr_asked };
	struct code *code;

	cf_setup();
	source.image = &cf_image;
	for (uint64_t va = TEXT + 0x7f8; va <= TEXT + 0x818; va += 8)
		cf_put(va, "\xff\xe0");
	code = code_new(&source);
	ck_assert_int_eq(code_run(code, 0, TEXT + 0x7f8, TEXT + 0x7f8)->last.here, CODE_NO_THUNK);
	ck_assert_uint_eq(nr_asked, 0);
	ck_assert_int_eq(code_run(code, 0, TEXT + 0x800, TEXT + 0x800)->last.here,
			 CODE_THUNK_INDIRECT);
	ck_assert_uint_eq(nr_asked, 1);
	ck_assert_int_eq(code_run(code, 0, TEXT + 0x808, TEXT + 0x808)->last.here, CODE_NO_THUNK);
	ck_assert_uint_eq(nr_asked, 1);
	/* Behind the part of which that is known. */
	ck_assert_int_eq(code_run(code, 0, TEXT + 0x810, TEXT + 0x810)->last.here,
			 CODE_THUNK_INDIRECT);
	ck_assert_uint_eq(nr_asked, 2);
	code_free(code);
	cf_finish();
}
END_TEST

START_TEST(texts)
{
	uint8_t bytes[CODE_INSN_MAX_BYTES];
	char text[64];

	cf_setup();
	cf_put(TEXT, "\x48\x8b\x43\x08\xe8\xf7\x0f\x00\x00\x06");
	cf_start();
	ck_assert_uint_eq(code_text(cf_code, 0, TEXT, false, bytes, text, sizeof(text)), 4);
	ck_assert_str_eq(text, "mov 0x8(%rbx), %rax");
	ck_assert_mem_eq(bytes, "\x48\x8b\x43\x08", 4);
	ck_assert_uint_eq(code_text(cf_code, 0, TEXT + 4, false, bytes, text, sizeof(text)), 5);
	ck_assert_str_eq(text, "call 0xffffffff81001000");
	ck_assert_uint_eq(code_text(cf_code, 0, TEXT + 9, false, bytes, text, sizeof(text)), 0);
	ck_assert_uint_eq(code_text(cf_code, 0, 0x1000, false, bytes, text, sizeof(text)), 0);
	cf_finish();
}
END_TEST

/* More runs than the table ever holds: each answer is right all the same. */
START_TEST(many_runs)
{
	unsigned int nr_wrong = 0;

	cf_setup();
	for (uint64_t page = 0; page <= 32; page++)
		memset(mem_page(&cf_mem, cf_map(KERNEL_PGD, TEXT + page * 4096)), 0x90, 4096);
	cf_start();
	for (uint64_t start = 0; start < 32 * 4096; start++)
		for (uint64_t nr = 0; nr < 4; nr++)
			nr_wrong += run(TEXT + start, TEXT + start + nr)->nr_insns != nr;
	ck_assert_uint_eq(nr_wrong, 0);
	cf_finish();
}
END_TEST

START_TEST(no_memory)
{
	struct code_source source = { .image = &cf_image };
	unsigned int nr_wrong = 0;

	cf_setup();
	for (unsigned int nth = 1; nth <= 4; nth++) {
		failing_alloc_arm(nth);
		ck_assert_ptr_null(code_new(&source));
		ck_assert(failing_alloc_disarm());
	}
	/* No pieces, or the table of runs cannot grow and is emptied instead. */
	memset(mem_page(&cf_mem, cf_map(KERNEL_PGD, TEXT)), 0x90, 4096);
	for (unsigned int nth = 1; nth <= 3; nth++) {
		cf_start();
		failing_alloc_arm(nth);
		for (uint64_t end = 0; end < 4000; end++)
			nr_wrong += run(TEXT, TEXT + end)->nr_insns != end;
		ck_assert(failing_alloc_disarm());
	}
	ck_assert_uint_eq(nr_wrong, 0);
	cf_finish();
}
END_TEST

static void put_nops(uint64_t va, size_t nr_pages)
{
	va -= va % 4096;
	for (size_t i = 0; i < nr_pages; i++)
		memset(mem_page(&cf_mem, cf_map(KERNEL_PGD, va + i * 4096)), 0x90, 4096);
}

/* What is known of the run if it is judged to be @judged; 0: its brief does not tell. */
static unsigned int judged(uint64_t cr3, uint64_t start, uint64_t end, uint8_t judged)
{
	const struct code_runs *runs = code_runs(cf_code);
	const struct code_brief *brief;

	code_judged(cf_code, code_run(cf_code, cr3, start, end), judged);
	brief = code_known(runs, start, end);
	return brief ? brief->judged : 0;
}

START_TEST(briefs)
{
	const struct code_brief *brief;

	cf_setup();
	cf_put(TEXT, "\x90\x90\xe8\x01\x00\x00\x00\xc3");
	cf_start();
	ck_assert_ptr_null(code_known(code_runs(cf_code), TEXT, TEXT + 2));
	ck_assert_uint_eq(run(TEXT, TEXT + 2)->nr_insns, 2);
	brief = code_known(code_runs(cf_code), TEXT, TEXT + 2);
	ck_assert_ptr_nonnull(brief);
	ck_assert_uint_eq(brief->judged, 0);
	ck_assert_uint_eq(judged(USER_PGD, TEXT, TEXT + 2, 3), 3);
	ck_assert_uint_eq(brief->target, (uint32_t)(TEXT + 8));
	ck_assert_uint_eq(brief->nr_insns, 2);
	ck_assert_uint_eq(brief->length_bytes, 5);
	ck_assert_uint_eq(judged(USER_PGD, TEXT + 7, TEXT + 7, 4), 4);
	brief = code_known(code_runs(cf_code), TEXT + 7, TEXT + 7);
	ck_assert_uint_eq(brief->target, 0);
	ck_assert_uint_eq(brief->nr_insns, 0);
	ck_assert_uint_eq(brief->length_bytes, 1);
	cf_finish();
}
END_TEST

static struct code_run first_and_judged(uint64_t start, uint64_t end, struct code_run *ret_first)
{
	*ret_first = *run(start, end);
	code_judged(cf_code, run(start, end), 5);
	/* Another one, where the first may have been kept. */
	run(TEXT, TEXT);
	return *run(start, end);
}

/* A run that was judged is made anew from its brief, and is the same. */
START_TEST(made_again)
{
	static const struct { uint64_t start, end; } runs[] = {
		{ TEXT + 1, TEXT + 2 }, { TEXT + 7, TEXT + 7 }, { TEXT + 8, TEXT + 9 },
		{ TEXT + 11, TEXT + 12 }, { TEXT + 14, TEXT + 15 },
	};

	cf_setup();
	put_nops(TEXT, 1);
	cf_put(TEXT, "\x90\x90\xe8\x01\x00\x00\x00\xc3\x90\xeb\x02\x90\x74\x02\x90\xff\xd0");
	cf_start();
	for (unsigned int i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct code_run first, again = first_and_judged(runs[i].start, runs[i].end, &first);

		ck_assert_uint_eq(again.cr3, first.cr3);
		ck_assert_uint_eq(again.start, first.start);
		ck_assert_uint_eq(again.end, first.end);
		ck_assert_int_eq(first.fault, CODE_OK);
		ck_assert_int_eq(again.fault, first.fault);
		ck_assert_uint_eq(again.fault_va, first.fault_va);
		ck_assert_uint_eq(again.nr_insns, first.nr_insns);
		ck_assert_uint_eq(again.place, first.place);
		ck_assert(again.compat == first.compat && again.guessed == first.guessed);
		ck_assert_int_eq(again.last.class, first.last.class);
		ck_assert_uint_eq(again.last.length_bytes, first.last.length_bytes);
		ck_assert(again.last.has_target == first.last.has_target);
		ck_assert_uint_eq(again.last.target, first.last.target);
		ck_assert_int_eq(again.last.vector, first.last.vector);
		ck_assert_int_eq(again.last.here, first.last.here);
		ck_assert_int_eq(again.last.there, first.last.there);
	}
	cf_finish();
}
END_TEST

/* Of a run whose addresses or length have no room in a brief nothing is known so soon. */
START_TEST(no_briefs)
{
	const uint64_t others[] = { (uint32_t)TEXT, TEXT & ~(1ULL << 40), 0xffffffff7ffffffeULL };

	cf_setup();
	for (unsigned int i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		put_nops(others[i], 1);
	put_nops(TEXT, 17);
	cf_start();
	for (unsigned int i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ck_assert_uint_eq(judged(USER_PGD, others[i], others[i], 3), 0);
	ck_assert_uint_eq(judged(USER_PGD, 0xffffffff7ffffffeULL, 0xffffffff80000001ULL, 3), 0);
	ck_assert_uint_eq(judged(USER_PGD, TEXT + 65535, TEXT, 3), 0);
	ck_assert_uint_eq(judged(USER_PGD, TEXT, TEXT + 65536, 3), 0);
	ck_assert_uint_eq(judged(USER_PGD, TEXT, TEXT + 65535, 3), 3);
	ck_assert_uint_eq(judged(USER_PGD, TEXT, TEXT, 3), 3);
	/* Below the highest 2 GiB. */
	put_nops(0xffffffff80000000ULL, 1);
	cf_put(0xffffffff80000000ULL, "\xe8\xf0\xff\xff\xff\xc3");
	cf_start();
	ck_assert_uint_eq(run(0xffffffff80000000ULL, 0xffffffff80000000ULL)->last.target,
			  0xffffffff7ffffff5ULL);
	ck_assert_uint_eq(judged(USER_PGD, 0xffffffff80000000ULL, 0xffffffff80000000ULL, 3), 0);
	ck_assert_uint_eq(judged(USER_PGD, 0xffffffff80000005ULL, 0xffffffff80000005ULL, 3), 3);
	cf_finish();
}
END_TEST

/* What was found out of a run goes with it when the table grows. */
START_TEST(briefs_move)
{
	unsigned int nr_wrong = 0;

	cf_setup();
	put_nops(TEXT, 8);
	cf_start();
	for (uint64_t i = 0; i < 30000; i++)
		nr_wrong += judged(USER_PGD, TEXT, TEXT + i, 1 + i % 15) != 1 + i % 15;
	for (uint64_t i = 0; i < 30000; i++)
		nr_wrong += code_known(code_runs(cf_code), TEXT, TEXT + i)->judged != 1 + i % 15;
	ck_assert_uint_eq(nr_wrong, 0);
	cf_finish();
}
END_TEST

/* Of many long runs through the same code all but the ends is decoded once. */
START_TEST(long_runs)
{
	const uint64_t nr_runs = 1000, nr_bytes = 65000;
	unsigned int nr_wrong = 0;

	cf_setup();
	put_nops(TEXT, 17);
	cf_start();
	for (uint64_t i = 0; i < nr_runs; i++)
		nr_wrong += run(TEXT + i, TEXT + nr_bytes + i / 2)->nr_insns !=
			    nr_bytes + i / 2 - i;
	ck_assert_uint_eq(nr_wrong, 0);
	ck_assert_uint_lt(code_nr_decoded(cf_code), 17 * 4096 + nr_runs * 600);
	cf_finish();
}
END_TEST

/* There is code that is unrolled so far. */
START_TEST(longest_run)
{
	cf_setup();
	put_nops(TEXT, 33);
	cf_start();
	ck_fault(TEXT, TEXT + 92969, CODE_OK, 0);
	ck_assert_uint_eq(run(TEXT, TEXT + 92969)->nr_insns, 92969);
	ck_fault(TEXT, TEXT + CODE_RUN_MAX_BYTES, CODE_OK, 0);
	ck_fault(TEXT, TEXT + CODE_RUN_MAX_BYTES + 1, CODE_TOO_LONG, TEXT);
	cf_finish();
}
END_TEST

START_TEST(last_of_long_runs)
{
	const uint64_t nr_runs = 1000, nr_bytes = 65000;
	unsigned int nr_wrong = 0;

	cf_setup();
	put_nops(TEXT, 17);
	cf_start();
	for (uint64_t i = 0; i < nr_runs; i++)
		nr_wrong += code_last(cf_code, 0, TEXT + i, TEXT + nr_bytes) !=
			    TEXT + nr_bytes - 1;
	ck_assert_uint_eq(nr_wrong, 0);
	ck_assert_uint_lt(code_nr_decoded(cf_code), 17 * 4096 + nr_runs * 600);
	ck_assert_uint_eq(code_last(cf_code, 0, TEXT, TEXT), TEXT);
	ck_assert_uint_eq(code_last(cf_code, 0, TEXT + 9, TEXT), TEXT + 9);
	cf_finish();
}
END_TEST

/* Nor is what follows the start of a broken run decoded each time to find a guest. */
START_TEST(long_ways_to_no_guest)
{
	const uint64_t nr_runs = 1000;

	cf_setup();
	put_nops(TEXT, 33);
	cf_start();
	for (uint64_t i = 0; i < nr_runs; i++) {
		ck_fault(TEXT + 1 + i, TEXT + i, CODE_BACKWARD, TEXT + 1 + i);
		ck_fault(TEXT + i, TEXT + i + CODE_RUN_MAX_BYTES + 1, CODE_TOO_LONG, TEXT + i);
	}
	ck_assert_uint_lt(code_nr_decoded(cf_code), 33 * 4096 + 2 * nr_runs * 300);
	cf_finish();
}
END_TEST

START_TEST(long_ways_to_a_guest)
{
	static const uint64_t places[] = { 0, 3, 255, 256, 700, 4090, 4095, 4096, 9000 };
	uint64_t vmentry = TEXT + places[_i];

	cf_setup();
	put_nops(TEXT, 17);
	cf_put_bytes(vmentry, "\x0f\x01\xc2", 3);
	cf_put(TEXT + 9100, "\x0f\x01\xc3");
	cf_put(TEXT + 10000, "\xc3");
	cf_start();
	for (uint64_t start = TEXT; start <= vmentry; start++) {
		ck_fault(start, TEXT - 1, CODE_GUEST, vmentry);
		ck_fault(start, TEXT + 10001, CODE_GUEST, vmentry);
		ck_fault(start, TEXT + 10000, CODE_OK, 0);
	}
	ck_fault(TEXT + 9200, TEXT + 9100, CODE_BACKWARD, TEXT + 9200);
	ck_fault(TEXT + 9200, TEXT + 10001, CODE_LEAVES, TEXT + 10000);
	cf_finish();
}
END_TEST

/* The same as code_run() finds, one by one. */
static enum code_fault step_through(uint64_t cr3, uint64_t start, uint64_t end, bool compat,
				    uint64_t *ret_va, uint32_t *ret_nr)
{
	struct code_insn insn;
	enum code_fault fault;
	uint64_t va = start;

	for (*ret_nr = 0; va < end; ++*ret_nr) {
		*ret_va = va;
		fault = code_insn(cf_code, cr3, va, compat, &insn);
		if (fault)
			return fault;
		if (insn.class != CODE_PLAIN && insn.class != CODE_COND)
			return CODE_LEAVES;
		va += insn.length_bytes;
	}
	*ret_va = end;
	return va == end ? CODE_OK : CODE_INSIDE;
}

/* 1: code_run() finds something else. */
static unsigned int differs(uint64_t cr3, uint64_t start, uint64_t end)
{
	const struct code_run *run = code_run(cf_code, cr3, start, end);
	struct code_run found = *run;
	enum code_fault fault;
	uint32_t nr_insns;
	uint64_t va;

	fault = step_through(cr3, start, end, found.compat, &va, &nr_insns);
	return found.fault != fault || found.fault_va != va || found.nr_insns != nr_insns;
}

/* Instructions of one to ten bytes, also over ends of pages, with a return in few. */
static void put_any_code(uint64_t va, size_t nr_bytes, uint32_t seed, unsigned int one_ret_in)
{
	static const struct { const char *bytes; size_t nr_bytes; } any[] = {
		{ "\x90", 1 }, { "\x75\x10", 2 }, { "\x48\x89\xc3", 3 }, { "\xf3\x90", 2 },
		{ "\xb8\xc3\xc3\xc3\xc3", 5 }, { "\x48\x8d\x80\xeb\xeb\xeb\xeb", 7 },
		{ "\x48\xb8\xc3\xe8\xcc\x90\x06\xc3\xc3\xe8", 10 }, { "\xf4", 1 },
	};

	for (uint64_t end = va + nr_bytes; va < end;) {
		unsigned int i = (seed = seed * 1103515245 + 12345) >> 16 & 7;

		cf_put_bytes(va, any[i].bytes, any[i].nr_bytes);
		va += any[i].nr_bytes;
		if ((seed >> 8) % one_ret_in == 0)
			cf_put(va++, "\xc3");
	}
}

static unsigned int last_differs(uint64_t cr3, uint64_t start, uint64_t end)
{
	uint64_t va = start, last = start;
	struct code_insn insn;

	while (va < end && !code_insn(cf_code, cr3, va, false, &insn)) {
		last = va;
		va += insn.length_bytes;
	}
	return code_last(cf_code, cr3, start, end) != last;
}

/* Whatever was looked at before, from wherever to wherever. */
START_TEST(pieces_are_what_is_there)
{
	static const unsigned int ret_in[] = { 50, 500, 5000, 1000000 };
	uint32_t seed = (uint32_t)_i + 1;
	unsigned int nr_wrong = 0;

	cf_setup();
	put_any_code(USER, 5 * 4096 - 20, seed, ret_in[_i]);
	put_any_code(TEXT, 5 * 4096, seed + 9, ret_in[_i]);
	cf_start();
	for (unsigned int i = 0; i < 4000; i++) {
		uint64_t start = (seed = seed * 1103515245 + 12345) >> 8 & 0x3fff;
		uint64_t end = start + ((seed = seed * 1103515245 + 12345) >> 8 & 0x1fff);

		nr_wrong += differs(USER_PGD, USER + start, USER + end);
		nr_wrong += differs(USER_PGD, TEXT + start, TEXT + end);
		nr_wrong += last_differs(USER_PGD, USER + start, USER + end);
	}
	ck_assert_uint_eq(nr_wrong, 0);
	/* The end of what is in the dump may be inside a page, and inside an instruction. */
	for (uint64_t nr_bytes = 1; nr_bytes < 40; nr_bytes++) {
		mem_cut(&cf_mem, cf_map(USER_PGD, USER + 4 * 4096), 2048 - nr_bytes);
		cf_start();
		for (uint64_t start = USER + 4 * 4096; start < USER + 4 * 4096 + 40; start++) {
			nr_wrong += differs(USER_PGD, start, USER + 5 * 4096);
			nr_wrong += last_differs(USER_PGD, start, USER + 5 * 4096);
		}
	}
	ck_assert_uint_eq(nr_wrong, 0);
	cf_finish();
}
END_TEST

/* A page that is mapped twice goes on in one place as it does there, not as in the other. */
START_TEST(pieces_of_a_page_mapped_twice)
{
	uint64_t *table;

	cf_setup();
	put_nops(TEXT, 5);
	cf_put(TEXT + 4094, "\xb8\x90\x90\x90\xc3");	/* mov; there is the ret in it */
	cf_put(TEXT + 4 * 4096, "\xc3");
	table = mem_page(&cf_mem, cf_map(KERNEL_PGD, TEXT) - 4096);
	ck_assert_uint_eq(table[0] & ~0xfffULL, cf_map(KERNEL_PGD, TEXT));
	table[3] = table[0];
	cf_start();
	ck_fault(TEXT, TEXT + 4099, CODE_OK, 0);
	ck_fault(TEXT, TEXT + 8000, CODE_OK, 0);
	ck_fault(TEXT + 3 * 4096, TEXT + 4 * 4096 + 100, CODE_OK, 0);
	ck_fault(TEXT + 2 * 4096, TEXT + 4 * 4096 + 2, CODE_INSIDE, TEXT + 4 * 4096 + 2);
	ck_fault(TEXT, TEXT + 4100, CODE_OK, 0);
	cf_finish();
}
END_TEST

/* rex nop, or inc %eax and nop; pop %es, which 64-bit code does not have, is far behind. */
START_TEST(pieces_of_both_modes)
{
	const uint64_t start = 0x08048000, nr_pairs = 500;

	cf_setup();
	for (uint64_t i = 0; i < nr_pairs; i++)
		cf_put(start + 2 * i, "\x40\x90");
	cf_put(start + 2 * nr_pairs, "\x90\xc3\x07\xc3");
	cf_start();
	for (unsigned int i = 0; i < 2; i++) {
		ck_fault(start, start + 2 * nr_pairs, CODE_OK, 0);
		ck_assert(!run(start, start + 2 * nr_pairs)->compat);
		ck_assert_uint_eq(run(start, start + 2 * nr_pairs)->nr_insns, nr_pairs);
		/* 64-bit code would end inside an instruction. */
		ck_fault(start, start + 2 * nr_pairs - 1, CODE_OK, 0);
		ck_assert(run(start, start + 2 * nr_pairs - 1)->compat);
		ck_assert_uint_eq(run(start, start + 2 * nr_pairs - 1)->nr_insns,
				  2 * nr_pairs - 1);
	}
	cf_finish();
}
END_TEST

/* In all address spaces but this one a return is in the page. */
static size_t file_of_space(void *arg, uint64_t cr3, uint64_t va, void *buf, size_t len_bytes)
{
	ck_assert_ptr_null(arg);
	memset(buf, 0x90, len_bytes);
	if (cr3 != USER_PGD || va / 4096 % 2)
		((uint8_t *)buf)[600] = 0xc3;
	return len_bytes;
}

START_TEST(pieces_of_files)
{
	struct code_source source = { .image = &cf_image, .kernel_pgd_pa = KERNEL_PGD,
				      .file = file_of_space };
	const uint64_t va = 0x7ffff7000000;

	cf_setup();
	memcpy(mem_page(&cf_mem, 0x3000), mem_page(&cf_mem, USER_PGD), 4096);
	memset(mem_page(&cf_mem, cf_map(USER_PGD, USER)), 0x90, 4096);
	mem_cut(&cf_mem, cf_map(USER_PGD, USER), 300);
	code_free(cf_code);
	cf_code = code_new(&source);
	for (uint64_t i = 0; i < 20; i++) {
		ck_fault(va + i, va + 2000, CODE_OK, 0);
		ck_fault(va + i, va + 4096 + 2000, CODE_LEAVES, va + 4096 + 600);
		ck_assert_int_eq(code_run(cf_code, 0x3000, va + i, va + 2000)->fault, CODE_LEAVES);
		ck_assert_int_eq(code_run(cf_code, 0, va + i, va + 2000)->fault, CODE_NO_SPACE);
	}
	ck_assert_uint_ge(code_from_files(cf_code), 3);
	/* The same page of memory, and behind what is left of it different files. */
	ck_fault(USER, USER + 2000, CODE_OK, 0);
	ck_assert_int_eq(code_run(cf_code, 0x3000, USER, USER + 2000)->fault, CODE_LEAVES);
	cf_finish();
}
END_TEST

START_TEST(words)
{
	for (int fault = CODE_OK; fault <= CODE_NO_PAUSE; fault++)
		ck_assert_str_ne(code_fault_str((enum code_fault)fault), "unknown");
	ck_assert_str_eq(code_fault_str((enum code_fault)99), "unknown");
	ck_assert(!code_fault_unknown(CODE_OK));
	ck_assert(code_fault_unknown(CODE_NO_SPACE));
	ck_assert(code_fault_unknown(CODE_NOT_IN_DUMP));
	ck_assert(!code_fault_unknown(CODE_NO_INSN));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("code");
	TCase *tcase = tcase_create("code");
	SRunner *runner;
	int nr_failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, classes, 0, sizeof(insns) / sizeof(insns[0]));
	tcase_add_loop_test(tcase, vectors, 0, 6);
	tcase_add_test(tcase, straight_runs);
	tcase_add_test(tcase, over_a_page);
	tcase_add_test(tcase, missing_code);
	tcase_add_test(tcase, no_instruction);
	tcase_add_test(tcase, space_is_gone);
	tcase_add_test(tcase, spaces_are_kept_apart);
	tcase_add_test(tcase, compat_code);
	tcase_add_loop_test(tcase, modes, 0, 3);
	tcase_add_test(tcase, thunks);
	tcase_add_loop_test(tcase, made_thunks, 0, 10);
	tcase_add_test(tcase, a_made_thunk_at_the_end);
	tcase_add_test(tcase, thunks_in_a_part);
	tcase_add_test(tcase, texts);
	tcase_add_test(tcase, many_runs);
	tcase_add_test(tcase, no_memory);
	tcase_add_test(tcase, briefs);
	tcase_add_test(tcase, no_briefs);
	tcase_add_test(tcase, made_again);
	tcase_add_test(tcase, briefs_move);
	tcase_add_test(tcase, long_runs);
	tcase_add_test(tcase, longest_run);
	tcase_add_test(tcase, last_of_long_runs);
	tcase_add_test(tcase, long_ways_to_no_guest);
	tcase_add_loop_test(tcase, long_ways_to_a_guest, 0, 9);
	tcase_add_loop_test(tcase, pieces_are_what_is_there, 0, 4);
	tcase_add_test(tcase, pieces_of_a_page_mapped_twice);
	tcase_add_test(tcase, pieces_of_both_modes);
	tcase_add_test(tcase, pieces_of_files);
	tcase_add_test(tcase, words);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	nr_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return nr_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
