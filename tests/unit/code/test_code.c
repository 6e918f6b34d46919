// SPDX-License-Identifier: GPL-2.0-or-later
#include "codefix.h"

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
	INSN("iretl", "\xcf", CODE_IRET, 0),
	INSN("iretw", "\x66\xcf", CODE_IRET, 0),
	INSN("eretu", "\xf3\x0f\x01\xca", CODE_ERET, 0),
	INSN("erets", "\xf2\x0f\x01\xca", CODE_ERET, 0),
	INSN("lkgs %edi", "\xf2\x0f\x00\xf7", CODE_PLAIN, 0),
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

START_TEST(straight_runs)
{
	cf_setup();
	/* push; jz +0; mov $1,%eax; call +0 */
	cf_put(TEXT, "\x55\x74\x00\xb8\x01\x00\x00\x00\xe8\x00\x00\x00\x00\xc3");
	/* nop; wrmsr; ret */
	cf_put(TEXT + 0x40, "\x90\x0f\x30\xc3");
	cf_start();
	cf_ck_fault(TEXT + 0x40, TEXT + 0x43, CODE_OK, 0);
	cf_ck_fault(TEXT, TEXT + 8, CODE_OK, 0);
	ck_assert_uint_eq(cf_run(TEXT, TEXT + 8)->nr_insns, 3);
	ck_assert_int_eq(cf_run(TEXT, TEXT + 8)->last.class, CODE_CALL);
	ck_assert_uint_eq(cf_run(TEXT, TEXT + 8)->last.target, TEXT + 13);
	cf_ck_fault(TEXT + 8, TEXT + 8, CODE_OK, 0);
	ck_assert_uint_eq(cf_run(TEXT + 8, TEXT + 8)->nr_insns, 0);
	cf_ck_fault(TEXT, TEXT + 13, CODE_LEAVES, TEXT + 8);
	cf_ck_fault(TEXT, TEXT + 5, CODE_INSIDE, TEXT + 5);
	cf_ck_fault(TEXT + 3, TEXT, CODE_BACKWARD, TEXT + 3);
	cf_ck_fault(TEXT, TEXT + CODE_RUN_MAX_BYTES + 1, CODE_TOO_LONG, TEXT);
	cf_ck_fault(USER, TEXT, CODE_TOO_LONG, USER);
	cf_finish();
}
END_TEST

START_TEST(over_a_page)
{
	cf_setup();
	cf_put(USER + 0xffe, "\xb8\x01\x00\x00\x00\xc3");
	cf_start();
	cf_ck_fault(USER + 0xffe, USER + 0x1003, CODE_OK, 0);
	ck_assert_int_eq(cf_run(USER + 0xffe, USER + 0x1003)->last.class, CODE_RET);
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
	cf_ck_fault(USER + 0x1ff0, USER + 0x2000, CODE_OK, 0);
	ck_assert_int_eq(cf_run(USER + 0x1ff0, USER + 0x2000)->last.class, CODE_UNREADABLE);
	cf_ck_fault(USER + 0x1ff0, USER + 0x2001, CODE_NOT_MAPPED, USER + 0x2000);
	mem_cut(&cf_mem, cf_map(USER_PGD, USER + 0x1000), 0x800);
	cf_start();
	cf_ck_fault(USER + 0x17f0, USER + 0x1900, CODE_NOT_IN_DUMP, USER + 0x1800);
	cf_ck_fault(USER, USER + 0x1800, CODE_OK, 0);
	ck_assert_int_eq(code_run(cf_code, 0, USER, USER + 1)->fault, CODE_NO_SPACE);
	ck_assert_int_eq(code_run(cf_code, 0x7777000, USER, USER + 1)->fault, CODE_NO_TABLE);
	cf_finish();
}
END_TEST

/* Half a page of nops for every caller. */
static size_t half_a_page(void *arg, uint64_t cr3, uint64_t va, void *buf, size_t len_bytes)
{
	(void)cr3;
	(void)va;
	++*(unsigned int *)arg;
	memset(buf, 0x90, len_bytes / 2);
	return len_bytes / 2;
}

START_TEST(files)
{
	unsigned int nr_asked = 0;
	struct code_source source = { .image = &cf_image, .kernel_pgd_pa = KERNEL_PGD,
				      .file = half_a_page, .arg = &nr_asked };

	cf_setup();
	cf_code = code_new(&source);
	/* Neither the kernel nor an unknown process has files. */
	cf_ck_fault(TEXT + 0x100000, TEXT + 0x100001, CODE_NOT_MAPPED, TEXT + 0x100000);
	ck_assert_int_eq(code_run(cf_code, 0, USER, USER + 1)->fault, CODE_NO_SPACE);
	ck_assert_uint_eq(nr_asked, 0);
	cf_ck_fault(USER + 0x5000, USER + 0x5800, CODE_OK, 0);
	cf_ck_fault(USER + 0x5000, USER + 0x5801, CODE_NOT_MAPPED, USER + 0x5800);
	ck_assert_uint_eq(code_from_files(cf_code), 1);
	/* As much is in the dump. */
	mem_cut(&cf_mem, cf_map(USER_PGD, USER + 0x6000), 0x800);
	cf_ck_fault(USER + 0x6000, USER + 0x6801, CODE_NOT_IN_DUMP, USER + 0x6800);
	ck_assert_uint_eq(nr_asked, 2);
	ck_assert_uint_eq(code_from_files(cf_code), 1);
	cf_finish();
}
END_TEST

START_TEST(no_instruction)
{
	cf_setup();
	cf_put(TEXT, "\x90\x06\x90");		/* push %es: not in 64-bit mode */
	cf_start();
	cf_ck_fault(TEXT, TEXT + 2, CODE_NO_INSN, TEXT + 1);
	cf_finish();
}
END_TEST

/* A page that no longer is a page table of this kernel says nothing of the process. */
START_TEST(space_is_gone)
{
	cf_setup();
	cf_put(USER, "\x90\xc3");
	cf_start();
	cf_ck_fault(USER, USER + 1, CODE_OK, 0);
	((uint64_t *)mem_page(&cf_mem, USER_PGD))[511] |= 1 << 5;
	cf_start();
	cf_ck_fault(USER, USER + 1, CODE_OK, 0);
	((uint64_t *)mem_page(&cf_mem, USER_PGD))[511] = 0x12345063;
	cf_start();
	cf_ck_fault(USER, USER + 1, CODE_NO_SPACE, USER);
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
	cf_ck_fault(0x08048000, 0x08048002, CODE_OK, 0);
	ck_assert(cf_run(0x08048000, 0x08048002)->compat);
	ck_assert_uint_eq(cf_run(0x08048000, 0x08048002)->last.target, 0x08048007);
	ck_assert_uint_eq(cf_run(0x08048000, 0x08048002)->nr_insns, 2);
	ck_assert_int_eq(code_insn(cf_code, USER_PGD, 0x08049001, true, &insn), CODE_OK);
	ck_assert_uint_eq(insn.target, 0x6);
	cf_finish();
}
END_TEST

static enum code_mode mode_to_print;

static enum code_mode print_mode(void *arg, uint64_t cr3, uint64_t va)
{
	ck_assert_ptr_eq(arg, &mode_to_print);
	ck_assert_uint_eq(cr3, USER_PGD);
	ck_assert_uint_lt(va, 1ULL << 32);
	return mode_to_print;
}

/* inc %eax; ret, which is rex ret in 64-bit code; push %es, which that does not have. */
START_TEST(modes)
{
	struct code_source source = {.image = &cf_image,
				     .kernel_pgd_pa = KERNEL_PGD,
				     .mode = print_mode,
				     .arg = &mode_to_print};
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

	mode_to_print = expected[_i].mode;
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

/* A thunk of one register is one because that of the next follows. */
START_TEST(thunks)
{
	cf_setup();
	cf_put(TEXT, "\xe8\xfb\x07\x00\x00");
	cf_put(TEXT + 0x800, "\xff\xe0");
	cf_put(TEXT + 0x820, "\xff\xe1");
	cf_put(TEXT + 0x880, "\xff\xe0");
	cf_code = code_new(&(struct code_source){ .image = &cf_image,
						  .kernel_pgd_pa = KERNEL_PGD });
	ck_assert_int_eq(code_run(cf_code, 0, TEXT, TEXT)->last.there, CODE_THUNK_INDIRECT);
	ck_assert_int_eq(code_run(cf_code, 0, TEXT, TEXT)->last.here, CODE_NO_THUNK);
	ck_assert_int_eq(code_run(cf_code, 0, TEXT + 0x800, TEXT + 0x800)->last.here,
			 CODE_THUNK_INDIRECT);
	ck_assert_int_eq(code_run(cf_code, 0, TEXT + 0x880, TEXT + 0x880)->last.here,
			 CODE_NO_THUNK);
	cf_finish();
}
END_TEST

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
		{ 0x20, "\xcc\xcc\xf7\xe0\xcc\xcc\xcc\xcc", false },	/* mul */
		{ 0x20, "\xcc\xcc\xff\x20\xcc\xcc\xcc\xcc", false },	/* of memory */
		{ 0x21, "\xcc\xea\x75\xfd\xff\xe0\xcc\xcc", true },
		{ 0x21, "\xcc\xea\x75\xfd\x41\xff\xe3\xcc", true },
		{ 0x21, "\xcc\xcc\x75\xfd\xff\xe0\xcc\xcc", false },
	};
	struct code_source source = { .kernel_pgd_pa = KERNEL_PGD };
	enum code_thunk wanted = expected[_i].is_one ? CODE_THUNK_INDIRECT : CODE_NO_THUNK;
	uint64_t va = MODULE + 0x300 + expected[_i].offset;
	int32_t relative = (int32_t)(va - (MODULE + 5));
	struct code_insn insn;
	char lower[32];

	cf_setup();
	source.image = &cf_image;
	memset(lower, 0xcc, sizeof(lower));
	cf_put_bytes(va & ~63ULL, lower, sizeof(lower));
	cf_put_bytes(va - 2, expected[_i].bytes, 8);
	cf_put(MODULE, "\xe8");
	cf_put_bytes(MODULE + 1, &relative, sizeof(relative));
	cf_code = code_new(&source);
	ck_assert_int_eq(code_insn(cf_code, 0, va, false, &insn), CODE_OK);
	ck_assert_int_eq(insn.here, wanted);
	ck_assert_int_eq(code_insn(cf_code, 0, MODULE, false, &insn), CODE_OK);
	ck_assert_int_eq(insn.here, CODE_NO_THUNK);
	ck_assert_int_eq(insn.there, wanted);
	/* The jump after that of FineIBT. */
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
	struct code_source source = { .kernel_pgd_pa = KERNEL_PGD };
	struct code_insn insn;
	char lower[32];

	cf_setup();
	source.image = &cf_image;
	memset(lower, 0xcc, sizeof(lower));
	cf_put_bytes(MODULE + 0xfc0, lower, sizeof(lower));
	cf_put(MODULE + 0xffc, "\xcc\xff\xe0\xcc");
	cf_code = code_new(&source);
	ck_assert_int_eq(code_insn(cf_code, 0, MODULE + 0xffd, false, &insn), CODE_OK);
	ck_assert_int_eq(insn.here, CODE_THUNK_INDIRECT);
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

START_TEST(labels)
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
	TCase *tcase = tcase_create("code");

	tcase_set_timeout(tcase, BTSREC_CK_TIMEOUT_S);
	tcase_add_loop_test(tcase, classes, 0, sizeof(insns) / sizeof(insns[0]));
	tcase_add_loop_test(tcase, vectors, 0, 6);
	tcase_add_test(tcase, straight_runs);
	tcase_add_test(tcase, over_a_page);
	tcase_add_test(tcase, missing_code);
	tcase_add_test(tcase, files);
	tcase_add_test(tcase, no_instruction);
	tcase_add_test(tcase, space_is_gone);
	tcase_add_test(tcase, spaces_are_kept_apart);
	tcase_add_test(tcase, compat_code);
	tcase_add_loop_test(tcase, modes, 0, 3);
	tcase_add_test(tcase, thunks);
	tcase_add_loop_test(tcase, made_thunks, 0, 11);
	tcase_add_test(tcase, a_made_thunk_at_the_end);
	tcase_add_test(tcase, texts);
	tcase_add_test(tcase, labels);
	return btsrec_ck_run_case("code", tcase);
}
