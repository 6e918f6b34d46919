// SPDX-License-Identifier: GPL-2.0-or-later
#include "codefix.h"
#include "flow/fault_frame.h"

#define STACK		0xffffc90000104000ULL
#define FAULTING	(TEXT + 0x123)
#define NR_WORDS	21
#define FRAME_BYTES	(NR_WORDS * 8ULL)
/* It ends where the stack pointer can be aligned. */
#define FRAME		(STACK + 0x808)
#define PAGE_FAULT_VECTOR	14
#define DOUBLE_FAULT_VECTOR	8

/* Of struct pt_regs, in words. */
enum { AT_RAX = 10, AT_RDI = 14, AT_RIP = 16, AT_CS, AT_RFLAGS, AT_RSP, AT_SS };

static struct btsrec_freeze freeze;
static struct fault fault;
static struct fault_frame frame;

/* A frame at @va, in which register number i has the value 100 + i. */
static void put_frame(uint64_t va, uint64_t sp)
{
	uint64_t words[NR_WORDS] = { 0 };

	for (size_t i = 0; i < NR_WORDS; i++)
		words[i] = 100 + i;
	words[AT_RIP] = FAULTING;
	words[AT_CS] = 0x10;
	words[AT_RFLAGS] = 0x10202;
	words[AT_RSP] = sp;
	words[AT_SS] = 0x18;
	cf_put_bytes(va, words, sizeof(words));
}

static void put_word(uint64_t frame_va, size_t at, uint64_t word)
{
	cf_put_bytes(frame_va + at * 8, &word, sizeof(word));
}

static void begin(void)
{
	cf_setup();
	freeze = (struct btsrec_freeze){ .ip = TEXT, .sp = STACK + 0x100 };
	fault = (struct fault){ .kind = FAULT_EXCEPTION, .vector = PAGE_FAULT_VECTOR,
				.from = FAULTING };
}

static bool find(void)
{
	cf_start();
	return fault_frame_find(cf_code, &freeze, &fault, &frame);
}

START_TEST(all_registers_are_in_it)
{
	begin();
	put_frame(FRAME, FRAME + FRAME_BYTES);
	ck_assert(find());
	ck_assert_uint_eq(frame.regs[SEM_RAX], 100 + AT_RAX);
	ck_assert_uint_eq(frame.regs[SEM_RCX], 100 + AT_RAX + 1);
	ck_assert_uint_eq(frame.regs[SEM_RDX], 100 + AT_RAX + 2);
	ck_assert_uint_eq(frame.regs[SEM_RSI], 100 + AT_RDI - 1);
	ck_assert_uint_eq(frame.regs[SEM_RDI], 100 + AT_RDI);
	ck_assert_uint_eq(frame.regs[SEM_R15], 100);
	ck_assert_uint_eq(frame.regs[SEM_R8], 100 + 9);
	ck_assert_uint_eq(frame.regs[SEM_RBX], 100 + 5);
	ck_assert_uint_eq(frame.regs[SEM_RBP], 100 + 4);
	ck_assert_uint_eq(frame.regs[SEM_RSP], FRAME + FRAME_BYTES);
	ck_assert_uint_eq(frame.regs[SEM_FLAGS], 0x10202);
	cf_finish();
}
END_TEST

START_TEST(it_is_where_the_processor_puts_it)
{
	/* The stack pointer was not aligned. */
	begin();
	put_frame(FRAME, FRAME + FRAME_BYTES + 8);
	ck_assert(find());
	/* It would have been aligned otherwise: a frame that is left over. */
	put_word(FRAME, AT_RSP, FRAME + FRAME_BYTES + 16);
	ck_assert(!find());
	/* That exception has a stack of its own. */
	fault.vector = DOUBLE_FAULT_VECTOR;
	ck_assert(find());
	cf_finish();
}
END_TEST

START_TEST(nothing_else_is_one)
{
	static const struct {
		size_t at;
		uint64_t word;
	} others[] = {
		{ AT_RIP, FAULTING + 1 }, { AT_CS, 0x33 }, { AT_RFLAGS, 0x200 },
		{ AT_RFLAGS, 1ULL << 32 | 2 }, { AT_SS, 0x2b },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		begin();
		put_frame(FRAME, FRAME + FRAME_BYTES);
		put_word(FRAME, others[i].at, others[i].word);
		ck_assert(!find());
		cf_finish();
	}
	begin();
	put_frame(FRAME, FRAME + FRAME_BYTES);
	put_word(FRAME, AT_SS, 0);
	ck_assert(find());
	fault.kind = FAULT_CALL;
	ck_assert(!find());
	cf_finish();
}
END_TEST

static struct btsrec_cpu page;

static bool get(void)
{
	const struct btsrec_root root = { .version_minor = 4 };

	cf_start();
	return fault_frame_get(cf_code, &root, &page, &fault, &frame);
}

/* A CPU that kept the registers of the fault, which are not in memory. */
static void begin_kept(void)
{
	begin();
	page = (struct btsrec_cpu){ .frozen = 1, .survived = 1, .freeze = freeze };
	page.freeze.reason = BTSREC_REASON_OOPS;
	page.registers.flags = BTSREC_REGISTERS_ENTRY;
	page.registers.vector = PAGE_FAULT_VECTOR;
	page.registers.entry = (struct btsrec_general){ .ip = FAULTING, .rflags = 0x10202 };
	page.registers.entry.reg[SEM_R15] = 15;
}

START_TEST(what_was_kept_needs_no_memory)
{
	begin_kept();
	ck_assert(get());
	ck_assert_uint_eq(frame.regs[SEM_R15], 15);
	ck_assert_uint_eq(frame.regs[SEM_FLAGS], 0x10202);
	cf_finish();
}
END_TEST

START_TEST(what_was_kept_is_of_that_exception)
{
	begin_kept();
	fault.from = FAULTING + 1;
	ck_assert(!get());
	fault.from = FAULTING;
	fault.vector = DOUBLE_FAULT_VECTOR;
	ck_assert(!get());
	fault.vector = -1;
	ck_assert(get());
	fault.kind = FAULT_NMI;
	ck_assert(!get());
	page.registers.vector = 2;
	ck_assert(get());
	fault.kind = FAULT_STOP;
	ck_assert(!get());
	page.frozen = 0;
	fault.kind = FAULT_NMI;
	ck_assert(!get());
	cf_finish();
}
END_TEST

START_TEST(the_freeze_is_at_the_fault)
{
	begin_kept();
	page.registers.stop = page.registers.entry;
	page.registers.flags = BTSREC_REGISTERS_STOP;
	ck_assert(get());
	fault.kind = FAULT_STOP;
	ck_assert(!get());
	page.freeze.via_nmi = 1;
	ck_assert(get());
	fault.kind = FAULT_EXCEPTION;
	ck_assert(!get());
	cf_finish();
}
END_TEST

/* An older recorder kept none; a thread that died has another stack. */
START_TEST(else_memory_has_it)
{
	begin_kept();
	page.registers.flags = 0;
	put_frame(FRAME, FRAME + FRAME_BYTES);
	ck_assert(!get());
	page.survived = 0;
	ck_assert(get());
	ck_assert_uint_eq(frame.regs[SEM_R15], 100);
	cf_finish();
}
END_TEST

START_TEST(two_of_them_are_none)
{
	begin();
	put_frame(FRAME - 0x400, FRAME - 0x400 + FRAME_BYTES);
	put_frame(FRAME, FRAME + FRAME_BYTES);
	ck_assert(!find());
	/* One is below the stack pointer: nobody's any more. */
	freeze.sp = STACK + 0x600;
	ck_assert(find());
	cf_finish();
}
END_TEST

START_TEST(a_freeze_at_the_fault_has_its_stack_pointer)
{
	begin();
	put_frame(FRAME, FRAME + FRAME_BYTES);
	freeze.ip = FAULTING;
	freeze.sp = FRAME + FRAME_BYTES;
	ck_assert(find());
	freeze.sp += 16;
	ck_assert(!find());
	cf_finish();
}
END_TEST

START_TEST(a_stack_that_is_not_there_has_none)
{
	begin();
	ck_assert(!find());
	freeze.sp = 0x1000;
	ck_assert(!find());
	freeze.sp = STACK + 1;
	ck_assert(!find());
	freeze.sp = UINT64_MAX - 7;
	ck_assert(!find());
	cf_finish();
}
END_TEST

/* An entry that calls its handler, and leads back by "add $0x80,%rsp; iretq". */
static void put_exception(uint64_t va, uint64_t sp)
{
	uint64_t word = PAGE_FAULT + 5;

	cf_put(PAGE_FAULT, "\xe8\0\0\0\0\x48\x81\xc4\x80\0\0\0\x48\xcf");
	put_frame(va, sp);
	cf_put_bytes(va - 8, &word, sizeof(word));
}

START_TEST(an_exception_is_found_without_the_history)
{
	struct fault found = { 0 };

	begin();
	put_exception(FRAME, FRAME + FRAME_BYTES);
	cf_start();
	ck_assert(fault_frame_exception(cf_code, &freeze, &found));
	ck_assert_int_eq(found.kind, FAULT_EXCEPTION);
	ck_assert_int_eq(found.vector, PAGE_FAULT_VECTOR);
	ck_assert_uint_eq(found.from, FAULTING);
	/* One of user code is none of the kernel's. */
	put_word(FRAME, AT_CS, 0x33);
	cf_start();
	ck_assert(!fault_frame_exception(cf_code, &freeze, &found));
	put_word(FRAME, AT_CS, 0x10);
	/* Which of two it is, is not known. */
	put_exception(FRAME + 0x400, FRAME + 0x400 + FRAME_BYTES);
	cf_start();
	ck_assert(!fault_frame_exception(cf_code, &freeze, &found));
	/* The first of them is below the stack pointer. */
	freeze.sp = STACK + 0xa00;
	cf_start();
	ck_assert(fault_frame_exception(cf_code, &freeze, &found));
	freeze.sp = 1;
	ck_assert(!fault_frame_exception(cf_code, &freeze, &found));
	cf_finish();
}
END_TEST

START_TEST(what_was_interrupted_has_a_stack)
{
	const uint64_t link = FRAME, other = STACK - 0x8000;
	struct fault_frame was;
	bool whole;

	begin();
	put_frame(FRAME, STACK + 0xf00);
	cf_start();
	ck_assert(fault_frame_interrupted(cf_code, &freeze, FAULTING, &was, &whole));
	ck_assert_uint_eq(was.regs[SEM_RSP], STACK + 0xf00);
	ck_assert(!fault_frame_interrupted(cf_code, &freeze, FAULTING + 1, &was, &whole));
	/* A copy is alike, or nothing is known. */
	put_frame(FRAME + 0x200, STACK + 0xf00);
	cf_start();
	ck_assert(fault_frame_interrupted(cf_code, &freeze, FAULTING, &was, &whole));
	put_frame(FRAME + 0x200, STACK + 0xf08);
	cf_start();
	ck_assert(!fault_frame_interrupted(cf_code, &freeze, FAULTING, &was, &whole));
	cf_finish();
	/* From the stack of interrupts the uppermost word leads there. */
	begin();
	put_frame(FRAME, STACK + 0xf00);
	cf_put_bytes(other + 0xff8, &link, sizeof(link));
	freeze.sp = other + 0x800;
	cf_start();
	ck_assert(fault_frame_interrupted(cf_code, &freeze, FAULTING, &was, &whole));
	put_word(FRAME, AT_CS, 0x33);
	cf_start();
	ck_assert(!fault_frame_interrupted(cf_code, &freeze, FAULTING, &was, &whole));
	freeze.sp = 8;
	ck_assert(!fault_frame_interrupted(cf_code, &freeze, FAULTING, &was, &whole));
	cf_finish();
}
END_TEST

/* They are right below what the processor has stored, if that is where the code was left. */
START_TEST(what_was_interrupted_has_registers)
{
	struct fault_frame was;
	bool whole;

	begin();
	put_frame(FRAME, FRAME + FRAME_BYTES);
	cf_start();
	ck_assert(fault_frame_interrupted(cf_code, &freeze, FAULTING, &was, &whole));
	ck_assert(whole);
	ck_assert_uint_eq(was.regs[SEM_RSP], FRAME + FRAME_BYTES);
	ck_assert_uint_eq(was.regs[SEM_RBP], 104);
	/* The registers are below the stack pointer of the freeze. */
	freeze.sp = FRAME + AT_RIP * 8;
	ck_assert(fault_frame_interrupted(cf_code, &freeze, FAULTING, &was, &whole));
	ck_assert_uint_eq(was.regs[SEM_RBP], 0);
	/* It is a copy on another stack. */
	begin();
	put_frame(FRAME, STACK + 0xf00);
	cf_start();
	ck_assert(fault_frame_interrupted(cf_code, &freeze, FAULTING, &was, &whole));
	ck_assert(!whole);
	ck_assert_uint_eq(was.regs[SEM_RBP], 0);
	/* Below that of an NMI are its registers. */
	put_word(FRAME, AT_RIP - 1, UINT64_MAX);
	cf_start();
	ck_assert(fault_frame_interrupted(cf_code, &freeze, FAULTING, &was, &whole));
	ck_assert(whole);
	ck_assert_uint_eq(was.regs[SEM_RSP], STACK + 0xf00);
	ck_assert_uint_eq(was.regs[SEM_RBP], 104);
	ck_assert_uint_eq(was.regs[SEM_RDI], 100 + AT_RDI);
	cf_finish();
}
END_TEST

static uint64_t passed_ip;

static bool passes(void *arg, uint64_t ip)
{
	const bool *answer = arg;

	passed_ip = ip;
	return *answer;
}

/* An interrupt's entry as put_exception(); @va is where the stack pointer was in it. */
static void put_interrupt(uint64_t va)
{
	uint64_t word = TIMER + 5;

	cf_put(TIMER, "\xe8\0\0\0\0\x48\x81\xc4\x80\0\0\0\x48\xcf");
	put_frame(va + 8, va + 8 + FRAME_BYTES);
	cf_put_bytes(va, &word, sizeof(word));
}

static void expect_below(enum fault_below how, bool answer, struct unwind *ret)
{
	ck_assert_int_eq(fault_frame_below(cf_code, &freeze, passes, &answer, ret), how);
}

START_TEST(below_an_interrupt_is_what_it_came_upon)
{
	const uint64_t thread = FRAME - 8, other = STACK - 0x8000, nested = other + 0x900;
	struct unwind below = { 0 };
	bool answer = false;

	begin();
	put_interrupt(thread);
	cf_put_bytes(other + 0xff8, &thread, sizeof(thread));
	freeze.sp = other + 0x800;
	cf_start();
	expect_below(FAULT_BELOW_FOUND, answer, &below);
	ck_assert_uint_eq(below.ip, FAULTING);
	ck_assert_uint_eq(below.sp, FRAME + FRAME_BYTES);
	ck_assert_uint_eq(passed_ip, 0);
	/* One on the same stack is asked about. */
	put_interrupt(nested);
	put_word(nested + 8, AT_RIP, FAULTING + 8);
	cf_start();
	expect_below(FAULT_BELOW_EITHER, answer, &below);
	ck_assert_uint_eq(passed_ip, FAULTING + 8);
	answer = true;
	expect_below(FAULT_BELOW_FOUND, answer, &below);
	ck_assert_uint_eq(below.ip, FAULTING);
	/* What is not where the processor puts it is left over. */
	put_word(FRAME, AT_RSP, FRAME + FRAME_BYTES + 16);
	cf_start();
	expect_below(FAULT_BELOW_NONE, answer, &below);
	cf_finish();
}
END_TEST

START_TEST(below_is_nothing_else)
{
	const uint64_t thread = FRAME - 8, other = STACK - 0x8000, word = TEXT;
	struct unwind below = { 0 };
	bool answer = true;

	/* It was no interrupt, or not from the kernel, or the stack leads nowhere. */
	begin();
	put_exception(FRAME, FRAME + FRAME_BYTES);
	cf_put_bytes(other + 0xff8, &thread, sizeof(thread));
	freeze.sp = other + 0x800;
	cf_start();
	expect_below(FAULT_BELOW_NONE, answer, &below);
	put_interrupt(thread);
	put_word(FRAME, AT_CS, 0x33);
	cf_start();
	expect_below(FAULT_BELOW_NONE, answer, &below);
	put_word(FRAME, AT_CS, 0x10);
	cf_put_bytes(thread, &word, sizeof(word));
	cf_start();
	expect_below(FAULT_BELOW_NONE, answer, &below);
	put_interrupt(thread);
	cf_start();
	expect_below(FAULT_BELOW_FOUND, answer, &below);
	freeze.sp = 8;
	expect_below(FAULT_BELOW_NONE, answer, &below);
	cf_finish();
}
END_TEST

BTSREC_CK_MAIN("fault_frame", below_an_interrupt_is_what_it_came_upon, below_is_nothing_else,
	       what_was_interrupted_has_a_stack,
	       what_was_interrupted_has_registers,
	       an_exception_is_found_without_the_history, all_registers_are_in_it,
	       it_is_where_the_processor_puts_it, what_was_kept_needs_no_memory,
	       what_was_kept_is_of_that_exception, the_freeze_is_at_the_fault, else_memory_has_it,
	       nothing_else_is_one, two_of_them_are_none,
	       a_freeze_at_the_fault_has_its_stack_pointer, a_stack_that_is_not_there_has_none)
