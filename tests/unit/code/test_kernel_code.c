// SPDX-License-Identifier: GPL-2.0-or-later
#include "codefix.h"
#include "code/kernel_code.h"

/* --- Hooks, trampolines, threads ----------------------------------------- */

#define SAVES	"\x48\x81\xec\xa8\0\0\0\x48\x89\x44\x24\x50"	/* sub, mov %rax,0x50(%rsp) */
#define BYTES(text)	text, sizeof(text) - 1

/* As objdump has them of Linux 6.1, or as the sources of the others say. */
static const struct {
	const char *bytes;
	size_t nr_bytes;
	enum kernel_code code;
} codes[] = {
	/* return_to_handler: 6.1, 6.12, 7.2, 7.3 */
	{ BYTES("\x48\x83\xec\x10\x48\x89\x04\x24\x48\x89\x54\x24\x08"), KERNEL_CODE_HOOK },
	{ BYTES("\x48\x83\xec\x08\x48\x83\xec\x18\x48\x89\x04\x24\x48\x89\x54\x24\x08"),
	  KERNEL_CODE_HOOK },
	{ BYTES("\x48\x83\xec\x08" SAVES "\x48\x89\x54\x24\x60"), KERNEL_CODE_HOOK },
	{ BYTES("\x48\x89\xe7\x48\x83\xec\x08" SAVES "\x48\x89\x54\x24\x60"),
	  KERNEL_CODE_HOOK },
	/* arch_rethook_trampoline, with and without ENDBR64; another address */
	{ BYTES("\x68\0\0\0\x81\x6a\x18\x54\x9c"), KERNEL_CODE_HOOK },
	{ BYTES("\xf3\x0f\x1e\xfa\x68\0\0\0\x81"), KERNEL_CODE_HOOK },
	{ BYTES("\x68\x10\0\0\x81\x6a\x18\x54\x9c"), KERNEL_CODE_PLAIN },
	/* kretprobe_trampoline of 5.10 */
	{ BYTES("\x54\x9c\x48\x83\xec\x18\x57\x56\x52\x51\x50\x41\x50"), KERNEL_CODE_HOOK },
	/* ftrace_caller, ftrace_regs_caller, and with CALL_DEPTH_ACCOUNT or NOPs instead */
	{ BYTES(SAVES "\x48\x89\x4c\x24\x58"), KERNEL_CODE_TRAMPOLINE },
	{ BYTES("\xf3\x0f\x1e\xfa\x9c" SAVES "\x48\x89\x4c\x24\x58"), KERNEL_CODE_TRAMPOLINE },
	{ BYTES("\x9c\x65\x48\xc1\x3c\x25\x10\x20\0\0\x05" SAVES "\x48\x89\x4c\x24\x58"),
	  KERNEL_CODE_TRAMPOLINE },
	{ BYTES("\x66\x66\x0f\x1f\x84\0\0\0\0\0" SAVES "\x48\x89\x4c\x24\x58"),
	  KERNEL_CODE_TRAMPOLINE },
	/* with CONFIG_FRAME_POINTER */
	{ BYTES("\x55\xff\x74\x24\x10\x55\x48\x89\xe5\xff\x74\x24\x18\x55\x48\x89\xe5" SAVES
		"\x48\x89\x4c\x24\x58"), KERNEL_CODE_TRAMPOLINE },
	/* another argument first; a push that nothing of the kernel's begins with */
	{ BYTES(SAVES "\x48\x89\x74\x24\x68"), KERNEL_CODE_PLAIN },
	{ BYTES("\x53" SAVES "\x48\x89\x4c\x24\x58"), KERNEL_CODE_PLAIN },
	/* ret_from_fork */
	{ BYTES("\x48\x89\xc7\xe8"), KERNEL_CODE_FORK },
	{ BYTES("\xf3\x0f\x1e\xfa\x48\x89\xc7\x48\x89\xe6"), KERNEL_CODE_FORK },
	{ BYTES("\x48\x89\xc6\xe8"), KERNEL_CODE_PLAIN },
};

START_TEST(codes_by_their_bytes)
{
	cf_setup();
	cf_put_bytes(TEXT, codes[_i].bytes, codes[_i].nr_bytes);
	cf_start();
	ck_assert_int_eq(kernel_code_at(cf_code, TEXT), codes[_i].code);
	cf_finish();
}
END_TEST

/* Where __switch_to_asm() was called it goes on with the same bytes. */
START_TEST(no_thread_begins_after_a_call)
{
	cf_setup();
	cf_put(TEXT + 0x10, "\xe8\x01\x02\x03\x04\x48\x89\xc7");
	cf_start();
	ck_assert_int_eq(kernel_code_at(cf_code, TEXT + 0x15), KERNEL_CODE_PLAIN);
	/* User code, and what is not there. */
	ck_assert_int_eq(kernel_code_at(cf_code, 0x1000), KERNEL_CODE_PLAIN);
	ck_assert_int_eq(kernel_code_at(cf_code, TEXT + (1ULL << 21)), KERNEL_CODE_PLAIN);
	cf_finish();
}
END_TEST

START_TEST(entries)
{
	static const struct {
		const char *bytes;
		size_t nr_bytes;
		unsigned int offset;
		bool is_one;
	} expected[] = {
		{ BYTES("\xf3\x0f\x1e\xfa"), 0, true },
		{ BYTES("\x66\x0f\x1f\x00"), 0, true },
		{ BYTES("\x0f\x1f\x40\xd6"), 0, true },
		{ BYTES("\x0f\x1f\x40\x00"), 0, false },
		{ BYTES("\x0f\x1f\x44\0\0"), 0x10, true },
		{ BYTES("\x0f\x1f\x44\0\0"), 0x18, false },
		{ BYTES("\x55\x48\x89\xe5"), 0, false },
		{ BYTES("\xe8\xfb\0\0\0"), 0, true },
		{ BYTES("\xe8\xfb\x01\0\0"), 0, false },
	};

	cf_setup();
	cf_put_bytes(TEXT + expected[_i].offset, expected[_i].bytes, expected[_i].nr_bytes);
	cf_put_bytes(TEXT + 0x100, BYTES(SAVES "\x48\x89\x4c\x24\x58"));
	cf_start();
	ck_assert(kernel_code_entry(cf_code, TEXT + expected[_i].offset) == expected[_i].is_one);
	cf_finish();
}
END_TEST

/* --- Changes of stacks --------------------------------------------------- */

#define BEGIN	(TEXT + 0x200)

#define CHANGE	"\x48\x89\xa7\xd8\x14\0\0\x48\x8b\xa6\xd8\x14\0\0"

/* __switch_to_asm of 6.1: jmp over a loop that jumps back, pop, jmp __switch_to. */
START_TEST(switches)
{
	struct kernel_switch sw;

	cf_setup();
	cf_put_bytes(BEGIN, BYTES("\x55" CHANGE "\xeb\x04\xeb\xfe\x90\x90\x5d\xe9\0\x0f\0\0\xeb\x00"));
	cf_start();
	for (int twice = 0; twice < 2; twice++) {
		ck_assert(kernel_code_switched(cf_code, BEGIN + 0x0f, &sw));
		ck_assert(kernel_code_switched(cf_code, BEGIN + 0x16, &sw));
		ck_assert_uint_eq(sw.begin_kva, BEGIN + 0x0f);
		ck_assert_uint_eq(sw.end_kva, BEGIN + 0x1b);
		/* Before it, after it, and where the dump has nothing. */
		ck_assert(!kernel_code_switched(cf_code, BEGIN + 0x01, &sw));
		ck_assert(!kernel_code_switched(cf_code, BEGIN + 0x1b, &sw));
		ck_assert(!kernel_code_switched(cf_code, 0x1000, &sw));
		ck_assert(!kernel_code_switched(cf_code, BEGIN + (1ULL << 21), &sw));
	}
	cf_finish();
}
END_TEST

/* Loads and stores of other members. */
START_TEST(no_switch)
{
	struct kernel_switch sw;

	cf_setup();
	cf_put(BEGIN, "\x48\x89\xa7\xd8\x14\x01\x01\x48\x8b\xa6\xd8\x14\x01\x02\xe9\x11\x0f\x01\x01");
	cf_start();
	ck_assert(!kernel_code_switched(cf_code, BEGIN + 0x0e, &sw));
	cf_finish();
}
END_TEST

/* --- Thunks ------------------------------------------------------------- */

#define RETPOLINE_61	"\xe8\x07\0\0\0\xf3\x90\x0f\xae\xe8\xeb\xf9"
#define RETPOLINE_612	"\xe8\x01\0\0\0\xcc"
#define DEPTH		"\x65\x48\xc1\x3c\x25\x10\x20\0\0\x05"

/* Of RAX and RCX, or of R14 and R15; what follows is the jump. */
static const struct {
	const char *first;
	size_t first_bytes;
	const char *second;
	size_t second_bytes;
	unsigned int branch;	/* the one that leads out */
	enum code_thunk thunk;
} thunks[] = {
	{ BYTES(RETPOLINE_61 "\x48\x89\x04\x24\xc3"), BYTES(RETPOLINE_61 "\x48\x89\x0c\x24\xc3"),
	  0x10, CODE_THUNK_INDIRECT },
	{ BYTES(RETPOLINE_612 "\x4c\x89\x34\x24\xc3"), BYTES(RETPOLINE_612 "\x4c\x89\x3c\x24\xc3"),
	  0x0a, CODE_THUNK_INDIRECT },
	{ BYTES(DEPTH RETPOLINE_612 "\x48\x89\x04\x24\xc3"),
	  BYTES(DEPTH RETPOLINE_612 "\x48\x89\x0c\x24\xc3"), 0x14, CODE_THUNK_INDIRECT },
	{ BYTES("\x0f\xae\xe8\xff\xe0"), BYTES("\x0f\xae\xe8\xff\xe1"), 3, CODE_THUNK_INDIRECT },
	{ BYTES("\x41\xff\xe6"), BYTES("\x41\xff\xe7"), 0, CODE_THUNK_INDIRECT },
	/* in another order; and the end of return_to_handler, whatever is behind it */
	{ BYTES("\xff\xe1"), BYTES("\xff\xe0"), 0, CODE_NO_THUNK },
	{ BYTES(RETPOLINE_612 "\x48\x89\x3c\x24\xc3"), BYTES("\xff\xe0"), 0x0a, CODE_NO_THUNK },
};

START_TEST(thunks_by_their_order)
{
	struct code_insn insn;

	cf_setup();
	cf_put_bytes(TEXT + 0x800, thunks[_i].first, thunks[_i].first_bytes);
	cf_put_bytes(TEXT + 0x820, thunks[_i].second, thunks[_i].second_bytes);
	cf_put(TEXT, "\xe8\xfb\x07\x00\x00");
	cf_start();
	ck_assert_int_eq(kernel_code_thunk(cf_code, 0, TEXT + 0x800), thunks[_i].thunk);
	ck_assert_int_eq(kernel_code_thunk(cf_code, 0, TEXT + 0x820), thunks[_i].thunk);
	ck_assert_int_eq(code_insn(cf_code, 0, TEXT + 0x800 + thunks[_i].branch, false, &insn),
			 CODE_OK);
	ck_assert_int_eq(insn.here, thunks[_i].thunk);
	ck_assert_int_eq(code_insn(cf_code, 0, TEXT, false, &insn), CODE_OK);
	ck_assert_int_eq(insn.there, thunks[_i].thunk);
	cf_finish();
}
END_TEST

/* A call of what drops its return address, in both places where that can be. */
START_TEST(srso_thunks)
{
	static const char safe_ret[] = "\x48\x8d\x64\x24\x08\xc3\xcc";
	uint64_t at = TEXT + (_i ? 0x104104 : 0x140), va = TEXT + 0x400;
	uint8_t call[] = "\xe8\0\0\0\0\x0f\x0b";
	int32_t distance = (int32_t)(at - (va + 5));
	struct code_insn insn;

	memcpy(call + 1, &distance, sizeof(distance));
	cf_setup();
	cf_put_bytes(at, BYTES(safe_ret));
	cf_put_bytes(va, call, 7);
	/* jmp of the thunk; a call of what it calls; the same bytes elsewhere */
	cf_put_bytes(TEXT, BYTES("\xe9\xfb\x03\0\0"));
	cf_put_bytes(TEXT + 0x210, BYTES(safe_ret));
	cf_start();
	ck_assert_int_eq(code_insn(cf_code, 0, TEXT, false, &insn), CODE_OK);
	ck_assert_int_eq(insn.there, CODE_THUNK_RETURN);
	ck_assert_int_eq(code_insn(cf_code, 0, va, false, &insn), CODE_OK);
	ck_assert_int_eq(insn.here, CODE_THUNK_RETURN);
	ck_assert_int_eq(insn.there, CODE_THUNK_RETURN);
	ck_assert_int_eq(kernel_code_thunk(cf_code, 0, at + 5), CODE_THUNK_RETURN);
	ck_assert_int_eq(kernel_code_thunk(cf_code, 0, TEXT + 0x210), CODE_NO_THUNK);
	ck_assert_int_eq(kernel_code_thunk(cf_code, 0, TEXT + 0x215), CODE_NO_THUNK);
	cf_finish();
}
END_TEST

/* Return thunks are behind the others; a function that only returns may be anywhere. */
START_TEST(return_thunks)
{
	static const char depth[] = "\x65\x48\xc1\x24\x25\x10\x20\0\0\x05\x74\x02\xc3\xcc\xe8\x01"
				    "\0\0\0\xcc\xc3\xcc";
	struct code_insn insn;

	cf_setup();
	cf_put(TEXT + 0x800, "\xff\xe0");
	cf_put(TEXT + 0x820, "\xff\xe1");
	cf_put(TEXT + 0x880, "\xc3\xcc");
	cf_put_bytes(TEXT + 0x8c0, BYTES(depth));
	cf_put(MODULE + 0x100, "\xc3\xcc");
	/* jmp, je, call of the return thunk; jmp of the one that counts */
	cf_put_bytes(TEXT, BYTES("\xe9\x7b\x08\0\0\x0f\x84\x75\x08\0\0\xe8\x70\x08\0\0\xe9\xab\x08\0\0"));
	cf_start();
	ck_assert_int_eq(code_insn(cf_code, 0, TEXT, false, &insn), CODE_OK);
	ck_assert_int_eq(insn.there, CODE_THUNK_RETURN);
	ck_assert_int_eq(code_insn(cf_code, 0, TEXT + 5, false, &insn), CODE_OK);
	ck_assert_int_eq(insn.there, CODE_THUNK_RETURN);
	ck_assert_int_eq(code_insn(cf_code, 0, TEXT + 11, false, &insn), CODE_OK);
	ck_assert_int_eq(insn.there, CODE_NO_THUNK);
	ck_assert_int_eq(code_insn(cf_code, 0, TEXT + 16, false, &insn), CODE_OK);
	ck_assert_uint_eq(insn.target, TEXT + 0x8c0);
	ck_assert_int_eq(insn.there, CODE_THUNK_RETURN);
	ck_assert_int_eq(kernel_code_thunk(cf_code, 0, TEXT + 0x880), CODE_THUNK_RETURN);
	ck_assert_int_eq(kernel_code_thunk(cf_code, 0, TEXT + 0x8cc), CODE_THUNK_RETURN);
	/* Its own calls stay in it. */
	ck_assert_int_eq(code_insn(cf_code, 0, TEXT + 0x8ce, false, &insn), CODE_OK);
	ck_assert_int_eq(insn.here, CODE_THUNK_RETURN);
	ck_assert_int_eq(insn.there, CODE_THUNK_RETURN);
	ck_assert_int_eq(kernel_code_thunk(cf_code, 0, MODULE + 0x100), CODE_NO_THUNK);
	/* The end of a function that lies before them; a static call that calls nothing. */
	cf_put(TEXT + 0x7e0, "\xc3\xcc\xcc\xcc\xcc");
	cf_put(TEXT + 0x890, "\xc3\xcc\x90\x90\x90\x0f\xb9\xcc");
	cf_start();
	ck_assert_int_eq(kernel_code_thunk(cf_code, 0, TEXT + 0x7e0), CODE_NO_THUNK);
	ck_assert_int_eq(kernel_code_thunk(cf_code, 0, TEXT + 0x890), CODE_NO_THUNK);
	ck_assert_int_eq(kernel_code_thunk(cf_code, 0, TEXT + 0x880), CODE_THUNK_RETURN);
	/* That of 6.12 begins with ENDBR64, and has no absolute address. */
	cf_put(TEXT + 0xa00, "\xf3\x0f\x1e\xfa\x65\x48\xc1\x25\x11\x12\x13\x14\x05\x74\x02\xc3");
	cf_start();
	ck_assert_int_eq(kernel_code_thunk(cf_code, 0, TEXT + 0xa00), CODE_THUNK_RETURN);
	ck_assert_int_eq(kernel_code_thunk(cf_code, 0, TEXT + 0xa0f), CODE_THUNK_RETURN);
	cf_finish();
}
END_TEST

#define NR(list)	((int)(sizeof(list) / sizeof((list)[0])))

int main(void)
{
	TCase *tcase = tcase_create("kernel_code");

	tcase_set_timeout(tcase, BTSREC_CK_TIMEOUT_S);
	tcase_add_loop_test(tcase, codes_by_their_bytes, 0, NR(codes));
	tcase_add_test(tcase, no_thread_begins_after_a_call);
	tcase_add_loop_test(tcase, entries, 0, 9);
	tcase_add_test(tcase, switches);
	tcase_add_test(tcase, no_switch);
	tcase_add_loop_test(tcase, thunks_by_their_order, 0, NR(thunks));
	tcase_add_test(tcase, return_thunks);
	tcase_add_loop_test(tcase, srso_thunks, 0, 2);
	return btsrec_ck_run_case("kernel_code", tcase);
}
