// SPDX-License-Identifier: GPL-2.0-or-later
/* What the model takes an instruction for. */
#include "check_btsrec.h"
#include "insn.h"

static const struct {
	const char *text;
	uint8_t bytes[10];
	uint8_t nr_bytes;
	enum insn_class class;
} insns[] = {
	{ "jne rel8", { 0x75, 0x02 }, 2, INSN_CONDITIONAL },
	{ "jg rel8", { 0x7f, 0x02 }, 2, INSN_CONDITIONAL },
	{ "jo rel32", { 0x0f, 0x80, 0, 0, 0, 0 }, 6, INSN_CONDITIONAL },
	{ "jg rel32", { 0x0f, 0x8f, 0, 0, 0, 0 }, 6, INSN_CONDITIONAL },
	{ "ds jne rel8, with a hint", { 0x3e, 0x75, 0x02 }, 3, INSN_CONDITIONAL },
	{ "loopne", { 0xe0, 0xfe }, 2, INSN_CONDITIONAL },
	{ "jrcxz", { 0xe3, 0xfe }, 2, INSN_CONDITIONAL },
	{ "seto is no jump", { 0x0f, 0x90, 0xc0 }, 3, INSN_OTHER },
	{ "call rel32", { 0xe8, 0, 0, 0, 0 }, 5, INSN_ALWAYS },
	{ "jmp rel32", { 0xe9, 0, 0, 0, 0 }, 5, INSN_ALWAYS },
	{ "jmp rel8", { 0xeb, 0x00 }, 2, INSN_ALWAYS },
	{ "bnd jmp rel32", { 0xf2, 0xe9, 0, 0, 0, 0 }, 6, INSN_ALWAYS },
	{ "call *%rax", { 0xff, 0xd0 }, 2, INSN_ALWAYS },
	{ "cs call *%r11", { 0x2e, 0x41, 0xff, 0xd3 }, 4, INSN_ALWAYS },
	{ "jmp *%rax", { 0xff, 0xe0 }, 2, INSN_ALWAYS },
	{ "ljmp *(%rax)", { 0x48, 0xff, 0x28 }, 3, INSN_ALWAYS },
	{ "lcall *(%rax)", { 0x48, 0xff, 0x18 }, 3, INSN_ALWAYS },
	{ "incl (%rax)", { 0xff, 0x00 }, 2, INSN_OTHER },
	{ "push (%rax)", { 0xff, 0x30 }, 2, INSN_OTHER },
	{ "ret", { 0xc3 }, 1, INSN_ALWAYS },
	{ "rep ret", { 0xf3, 0xc3 }, 2, INSN_ALWAYS },
	{ "ret imm16", { 0xc2, 8, 0 }, 3, INSN_ALWAYS },
	{ "lretq", { 0x48, 0xcb }, 2, INSN_ALWAYS },
	{ "iretq", { 0x48, 0xcf }, 2, INSN_ALWAYS },
	{ "syscall", { 0x0f, 0x05 }, 2, INSN_ALWAYS },
	{ "sysretq", { 0x48, 0x0f, 0x07 }, 3, INSN_ALWAYS },
	{ "sysenter", { 0x0f, 0x34 }, 2, INSN_ALWAYS },
	{ "sysexit", { 0x0f, 0x35 }, 2, INSN_ALWAYS },
	{ "rep movsb", { 0xf3, 0xa4 }, 2, INSN_OTHER },
	{ "int3 is an exception", { 0xcc }, 1, INSN_OTHER },
	{ "int 0x80 is an exception", { 0xcd, 0x80 }, 2, INSN_OTHER },
	{ "ud2", { 0x0f, 0x0b }, 2, INSN_OTHER },
	{ "hlt", { 0xf4 }, 1, INSN_OTHER },
	{ "inc %eax of 32-bit code", { 0x40 }, 1, INSN_OTHER },
	{ "wrmsr", { 0x0f, 0x30 }, 2, INSN_WRMSR },
	{ "rdmsr", { 0x0f, 0x32 }, 2, INSN_RDMSR },
	{ "rdpmc", { 0x0f, 0x33 }, 2, INSN_RDPMC },
	{ "cpuid", { 0x0f, 0xa2 }, 2, INSN_CPUID },
	{ "mov %rax,%cr3", { 0x0f, 0x22, 0xd8 }, 3, INSN_WRITE_CR },
	{ "mov %cr3,%rax", { 0x0f, 0x20, 0xd8 }, 3, INSN_OTHER },
	{ "cut off: 0f", { 0x0f, 0x05 }, 1, INSN_OTHER },
	{ "cut off: ff", { 0xff, 0xd0 }, 1, INSN_OTHER },
};

START_TEST(insn_class)
{
	enum insn_class found = insn_classify(insns[_i].bytes, insns[_i].nr_bytes);

	ck_assert_msg(found == insns[_i].class, "%s: class %d", insns[_i].text, found);
}
END_TEST

static const struct {
	const char *text;
	uint8_t bytes[12];
	size_t nr_bytes;
	bool may_stay;
} stays[] = {
	{ "jmp .", { 0xeb, 0xfe }, 2, true },
	{ "jmp . (wide)", { 0xe9, 0xfb, 0xff, 0xff, 0xff }, 5, true },
	{ "jmp .+2", { 0xeb, 0x00 }, 2, false },
	{ "jnz .", { 0x75, 0xfe }, 2, true },
	{ "jnz . (wide)", { 0x0f, 0x85, 0xfa, 0xff, 0xff, 0xff }, 6, true },
	{ "jnz elsewhere", { 0x0f, 0x85, 0x06, 0xff, 0xff, 0xff }, 6, false },
	{ "loop .", { 0xe2, 0xfe }, 2, true },
	{ "call .", { 0xe8, 0xfb, 0xff, 0xff, 0xff }, 5, true },
	{ "call elsewhere", { 0xe8, 0xfc, 0xff, 0xff, 0xff }, 5, false },
	{ "ret", { 0xc3 }, 1, false },
	{ "call *%rsi", { 0xff, 0xd6 }, 2, false },
	{ "jmp *(%rip)", { 0xff, 0x25, 0xfa, 0xff, 0xff, 0xff }, 6, false },
	{ "syscall", { 0x0f, 0x05 }, 2, false },
	{ "iretq", { 0x48, 0xcf }, 2, false },
};

START_TEST(insn_stay)
{
	bool found = insn_may_stay(stays[_i].bytes, stays[_i].nr_bytes);

	ck_assert_msg(found == stays[_i].may_stay, "%s: %d", stays[_i].text, found);
}
END_TEST

START_TEST(insn_repeat)
{
	static const uint8_t rep_stosb[] = { 0xf3, 0xaa }, rep_movsq[] = { 0xf3, 0x48, 0xa5 };
	static const uint8_t repne_scasb[] = { 0xf2, 0xae }, rep_ret[] = { 0xf3, 0xc3 };
	static const uint8_t test[] = { 0xf3, 0xa8, 0x01 };

	ck_assert(insn_repeats(rep_stosb, 2));
	ck_assert(insn_repeats(rep_movsq, 3));
	ck_assert(insn_repeats(repne_scasb, 2));
	ck_assert(!insn_repeats(rep_stosb + 1, 1));
	ck_assert(!insn_repeats(rep_ret, 2));
	ck_assert(!insn_repeats(test, 3));
	ck_assert(!insn_repeats(rep_stosb, 1));
}
END_TEST

static const struct {
	const char *text;
	uint8_t bytes[8];
	size_t nr_bytes;
	enum insn_flow flow;
} flows[] = {
	{ "call rel32", { 0xe8, 0, 0, 0, 0 }, 5, FLOW_CALL },
	{ "call *%rsi", { 0xff, 0xd6 }, 2, FLOW_CALL },
	{ "cs call *%r11", { 0x2e, 0x41, 0xff, 0xd3 }, 4, FLOW_CALL },
	{ "lcall *(%rax)", { 0x48, 0xff, 0x18 }, 3, FLOW_CALL },
	{ "jmp *%rax", { 0xff, 0xe0 }, 2, FLOW_OTHER },
	{ "jmp rel32", { 0xe9, 0, 0, 0, 0 }, 5, FLOW_OTHER },
	{ "jne rel32", { 0x0f, 0x85, 0, 0, 0, 0 }, 6, FLOW_OTHER },
	{ "ret", { 0xc3 }, 1, FLOW_RET },
	{ "rep ret", { 0xf3, 0xc3 }, 2, FLOW_RET },
	{ "ret imm16", { 0xc2, 8, 0 }, 3, FLOW_RET },
	{ "iretq", { 0x48, 0xcf }, 2, FLOW_IRET },
	{ "syscall", { 0x0f, 0x05 }, 2, FLOW_SYSCALL },
	{ "sysretq", { 0x48, 0x0f, 0x07 }, 3, FLOW_SYSRET },
};

START_TEST(insn_flows)
{
	enum insn_flow found = insn_flow(flows[_i].bytes, flows[_i].nr_bytes);

	ck_assert_msg(found == flows[_i].flow, "%s: flow %d", flows[_i].text, found);
}
END_TEST

static const struct {
	const char *name;
	uint8_t bytes[8];
	size_t nr_bytes;
	bool fuses;
	bool is_jcc;
} pairs[] = {
	{ "cmp %rax,%rbx", { 0x48, 0x39, 0xc3 }, 3, true, false },
	{ "cmp $1,%eax", { 0x83, 0xf8, 0x01 }, 3, true, false },
	{ "add $1,%eax", { 0x83, 0xc0, 0x01 }, 3, false, false },
	{ "test %eax,%eax", { 0x85, 0xc0 }, 2, true, false },
	{ "test $1,%al", { 0xa8, 0x01 }, 2, true, false },
	{ "testb $1,(%rax)", { 0xf6, 0x00, 0x01 }, 3, true, false },
	{ "not %eax", { 0xf7, 0xd0 }, 2, false, false },
	{ "je", { 0x74, 0x00 }, 2, false, true },
	{ "jne near", { 0x0f, 0x85, 0, 0, 0, 0 }, 6, false, true },
	{ "loop", { 0xe2, 0x00 }, 2, false, false },
	{ "jmp", { 0xeb, 0x00 }, 2, false, false },
};

START_TEST(insn_pairs)
{
	ck_assert_msg(insn_fuses(pairs[_i].bytes, pairs[_i].nr_bytes) == pairs[_i].fuses, "%s",
		      pairs[_i].name);
	ck_assert_msg(insn_is_jcc(pairs[_i].bytes, pairs[_i].nr_bytes) == pairs[_i].is_jcc, "%s",
		      pairs[_i].name);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("all");

	tcase_add_loop_test(tcase, insn_class, 0, sizeof(insns) / sizeof(insns[0]));
	tcase_add_loop_test(tcase, insn_stay, 0, sizeof(stays) / sizeof(stays[0]));
	tcase_add_test(tcase, insn_repeat);
	tcase_add_loop_test(tcase, insn_flows, 0, sizeof(flows) / sizeof(flows[0]));
	tcase_add_loop_test(tcase, insn_pairs, 0, sizeof(pairs) / sizeof(pairs[0]));
	return btsrec_ck_run_case("insn", tcase);
}
