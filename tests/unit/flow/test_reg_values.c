// SPDX-License-Identifier: GPL-2.0-or-later
#include "reg_values_fixture.h"

/* push %rbx; store; pop %rcx; the stop knows RSP and RCX. */
static uint32_t run_stack(const char *store, size_t nr_bytes)
{
	uint32_t push;

	setup();
	push = INSN(0x1000, "\x53");
	insn(0x1001, store, nr_bytes);
	INSN(0x1100, "\x59");
	reg_values_anchor(values, SEM_RSP, known_all(SP));
	reg_values_anchor(values, SEM_RCX, known_all(77));
	reg_values_run(values);
	look(push);
	ck_is(at.certain.before[SEM_RSP], SP);
	return push;
}

START_TEST(word_of_the_stack)
{
	run_stack("\x90", 1);
	ck_is(at.certain.before[SEM_RBX], 77);
	reg_values_free(values);
}
END_TEST

/* mov %rax, (%rdx) may be anywhere; mov %rax, (%rsp) is there; mov %rax, 8(%rsp) is not. */
START_TEST(stores)
{
	run_stack("\x48\x89\x02", 3);
	ck_assert_uint_eq(at.certain.before[SEM_RBX].mask, 0);
	reg_values_free(values);
	run_stack("\x88\x04\x24", 3);
	ck_assert_uint_eq(at.certain.before[SEM_RBX].mask, 0);
	reg_values_free(values);
	run_stack("\x48\x89\x44\x24\x08", 5);
	ck_is(at.certain.before[SEM_RBX], 77);
	reg_values_free(values);
	/* mov %rax, %gs:0x100: of this CPU; with a register it may be anywhere. */
	run_stack("\x65\x48\x89\x04\x25\x00\x01\x00\x00", 9);
	ck_is(at.certain.before[SEM_RBX], 77);
	reg_values_free(values);
	run_stack("\x65\x48\x89\x02", 4);
	ck_assert_uint_eq(at.certain.before[SEM_RBX].mask, 0);
	reg_values_free(values);
	/* rep stos */
	run_stack("\xf3\x48\xab", 3);
	ck_assert_uint_eq(at.certain.before[SEM_RBX].mask, 0);
	reg_values_free(values);
}
END_TEST

START_TEST(cuts)
{
	uint32_t first, second;

	setup();
	first = INSN(0x1000, "\xb8\x05\x00\x00\x00");
	reg_values_cut(values, REG_VALUES_GAP);
	second = INSN(0x1005, "\x89\xc3");
	reg_values_run(values);
	look(first);
	ck_is(at.certain.behind[SEM_RAX], 5);
	look(second);
	ck_assert_uint_eq(at.certain.before[SEM_RAX].mask, 0);
	reg_values_free(values);
}
END_TEST

/* An interrupt aligns the stack, stores a frame, and IRET loads RSP from it. */
START_TEST(interrupts)
{
	uint32_t before, iret, behind;

	setup();
	reg_values_anchor(values, SEM_RSP, known_all(SP + 4));
	before = INSN(0x1000, "\x90");
	reg_values_interrupt(values, 0x1001, 236);
	iret = INSN(0x2000, "\x48\xcf");
	behind = INSN(0x1001, "\x90");
	reg_values_run(values);
	look(before);
	ck_is(at.certain.before[SEM_RSP], SP + 4);
	look(iret);
	ck_is(at.certain.before[SEM_RSP], SP - 40);
	look(behind);
	ck_is(at.certain.before[SEM_RSP], SP + 4);
	reg_values_free(values);
	setup();
	reg_values_anchor(values, SEM_RSP, known_all(SP));
	reg_values_interrupt(values, 0x1000, 14);
	iret = INSN(0x2000, "\x90");
	reg_values_interrupt(values, 0x2001, 2);
	behind = INSN(0x3000, "\x90");
	reg_values_run(values);
	look(iret);
	ck_is(at.certain.before[SEM_RSP], SP - 48);
	look(behind);
	ck_assert_uint_eq(at.certain.before[SEM_RSP].mask, 0);
	reg_values_free(values);
}
END_TEST

static uint64_t rsp_after_interrupt(int vector)
{
	uint32_t handler;

	reg_values_cut(values, REG_VALUES_GAP);
	reg_values_anchor(values, SEM_RSP, known_all(SP));
	reg_values_interrupt(values, 0x1000, vector);
	handler = INSN(0x2000, "\x90");
	reg_values_run(values);
	look(handler);
	return at.certain.before[SEM_RSP].mask == UINT64_MAX ? at.certain.before[SEM_RSP].value : 0;
}

/* Of one instruction: a page fault has an error code, an NMI a stack of its own. */
START_TEST(interrupts_of_one_instruction)
{
	setup();
	ck_assert_uint_eq(rsp_after_interrupt(236), SP - 40);
	ck_assert_uint_eq(rsp_after_interrupt(14), SP - 48);
	ck_assert_uint_eq(rsp_after_interrupt(2), 0);
	ck_assert_uint_eq(rsp_after_interrupt(236), SP - 40);
	reg_values_free(values);
}
END_TEST

/* A register that the handler overwrites, and a stack pointer that its store ends. */
static struct known across_interrupt(int vector, uint64_t back_ip)
{
	uint32_t first;

	setup();
	first = INSN(0x1000, "\x90");
	reg_values_interrupt(values, 0x1001, vector);
	INSN(0x2000, "\x51");
	INSN(0x2001, "\x31\xdb");
	INSN(0x2003, "\x48\x89\x02");
	INSN(0x2006, "\x5b");
	INSN(0x2007, "\x48\xcf");
	INSN(back_ip, "\x90");
	reg_values_anchor(values, SEM_RBX, known_all(7));
	reg_values_anchor(values, SEM_RSP, known_all(SP));
	reg_values_run(values);
	look(first);
	reg_values_free(values);
	return at.certain.before[SEM_RBX];
}

START_TEST(interrupted_code_goes_on)
{
	ck_is(across_interrupt(236, 0x1001), 7);
	ck_is(at.certain.before[SEM_RSP], SP);
	/* It did not go on there; an exception may have been mended. */
	ck_assert_uint_eq(across_interrupt(236, 0x1002).mask, 0);
	ck_assert_uint_eq(across_interrupt(3, 0x1001).mask, 0);
}
END_TEST

/* The IRET and what it ends; a register that no rule follows through the handler. */
static struct known likely_across(int vector, uint32_t *ret_iret)
{
	uint32_t first;

	setup();
	first = INSN(0x1000, "\x90");
	reg_values_interrupt(values, 0x1001, vector);
	INSN(0x2000, "\x51");
	INSN(0x2001, "\x31\xdb");
	INSN(0x2003, "\x5b");
	*ret_iret = INSN(0x2004, "\x48\xcf");
	INSN(0x1001, "\x90");
	reg_values_anchor(values, SEM_RBX, known_all(7));
	reg_values_run(values);
	ck_assert(reg_values_likely(values, &(struct reg_values_memory){ 0 }, 8));
	look(first);
	return at.likely.before[SEM_RBX];
}

/* An exception that leads back there has changed nothing, likely. */
START_TEST(handlers)
{
	uint32_t iret, place = 0;
	bool is_certain;

	ck_is(likely_across(236, &iret), 7);
	ck_assert(reg_values_interrupted(values, iret, &place, &is_certain));
	ck_assert(is_certain);
	ck_assert_uint_eq(place, 2);
	ck_assert(!reg_values_interrupted(values, iret - 1, &place, &is_certain));
	reg_values_free(values);
	ck_is(likely_across(14, &iret), 7);
	ck_assert_uint_eq(at.certain.before[SEM_RBX].mask, 0);
	ck_assert(reg_values_interrupted(values, iret, &place, &is_certain));
	ck_assert(!is_certain);
	reg_values_free(values);
	ck_assert_uint_eq(likely_across(3, &iret).mask, 0);
	ck_assert(!reg_values_interrupted(values, iret, &place, &is_certain));
	reg_values_free(values);
}
END_TEST

/* One interrupt within the other; the outer one leads back, or elsewhere. */
static bool interrupted_twice(uint64_t back_ip, uint32_t *ret_place)
{
	uint32_t iret;
	bool is_certain, found;

	setup();
	INSN(0x1000, "\x90");
	reg_values_interrupt(values, 0x1001, 236);
	INSN(0x2000, "\x90");
	reg_values_interrupt(values, 0x2001, 236);
	INSN(0x3000, "\x48\xcf");
	INSN(0x2001, "\x90");
	iret = INSN(0x2002, "\x48\xcf");
	INSN(back_ip, "\x90");
	found = reg_values_interrupted(values, iret, ret_place, &is_certain);
	reg_values_free(values);
	return found;
}

START_TEST(handlers_within_handlers)
{
	uint32_t place = 0;

	ck_assert(interrupted_twice(0x1001, &place));
	ck_assert_uint_eq(place, 2);
	ck_assert(!interrupted_twice(0x1002, &place));
}
END_TEST

/* What is known of memory in front of @place. */
static void ck_memory(uint32_t place, uint64_t address, unsigned int nr_bytes, bool is_certain,
		      bool is_likely, uint64_t value)
{
	struct known certain, likely;
	uint64_t bits = known_bits(8 * nr_bytes);

	reg_values_memory(values, place, address, nr_bytes, &certain, &likely);
	ck_assert_uint_eq(certain.mask, is_certain ? bits : 0);
	ck_assert_uint_eq(certain.value, is_certain ? value : 0);
	ck_assert_uint_eq(likely.mask, is_likely ? bits : 0);
	ck_assert_uint_eq(likely.value, is_likely ? value : 0);
}

START_TEST(memory_at)
{
	uint32_t push, store, pop;

	setup();
	INSN(0x1000, "\xbb\x05\x01\x00\x00");		/* mov $0x105, %ebx */
	push = INSN(0x1005, "\x53");			/* push %rbx */
	store = INSN(0x1006, "\x89\x1e");		/* mov %ebx, (%rsi) */
	pop = INSN(0x1008, "\x59");			/* pop %rcx */
	reg_values_anchor(values, SEM_RSP, known_all(SP));
	reg_values_anchor(values, SEM_RSI, known_all(0xffff888000001000));
	reg_values_run(values);
	ck_assert(reg_values_likely(values, &(struct reg_values_memory){ 0 }, 8));
	ck_memory(push, SP - 8, 8, false, false, 0);
	ck_memory(store, SP - 8, 8, true, true, 0x105);
	ck_memory(store, SP - 7, 2, true, true, 1);
	ck_memory(store, SP, 8, false, false, 0);
	ck_memory(store, 0xffff888000001000, 4, false, false, 0);
	ck_memory(pop, 0xffff888000001000, 4, false, true, 0x105);
	ck_memory(pop, SP - 8, 8, true, true, 0x105);
	reg_values_free(values);
}
END_TEST

/* mov $5,%eax; rep stosb, into which an exception came; what it does not write goes on. */
START_TEST(begun)
{
	static const char stos[] = "\xf3\xaa";
	struct sem_insn decoded;
	uint32_t first, second;

	setup();
	first = INSN(0x1000, "\xb8\x05\x00\x00\x00");
	ck_assert(sem_decode((const uint8_t *)stos, 2, 0x1005, &decoded));
	ck_assert_ptr_null(reg_values_known(values, 0x1005));
	ck_assert(reg_values_begun(values, &decoded));
	ck_assert_ptr_null(reg_values_known(values, 0x1005));
	reg_values_anchor(values, SEM_RBX, known_all(7));
	reg_values_anchor(values, SEM_RCX, known_all(3));
	reg_values_interrupt(values, 0x1005, 14);
	ck_assert_ptr_null(reg_values_known(values, 0x1005));
	second = insn(0x1005, stos, 2);
	ck_assert_uint_eq(reg_values_known(values, 0x1005)->op, decoded.op);
	reg_values_run(values);
	look(first);
	ck_is(at.certain.before[SEM_RBX], 7);
	ck_assert_uint_eq(at.certain.before[SEM_RCX].mask, 0);
	look(second);
	ck_is(at.certain.before[SEM_RAX], 5);
	ck_is(at.certain.before[SEM_RCX], 3);
	reg_values_free(values);
}
END_TEST

/* 4 bytes at 0x5000 and 8 of a variable of this CPU. */
static bool constant(void *arg, bool segment, uint64_t address, unsigned int nr_bytes,
		     uint64_t *ret)
{
	(void)arg;
	*ret = segment ? 0x123456789a : 0xfedcba98;
	return segment ? address == 0x100 && nr_bytes == 8 : address == 0x5000 && nr_bytes == 4;
}

static struct known loaded(const char *bytes, size_t nr_bytes)
{
	uint32_t place;

	setup();
	reg_values_constants(values, constant, NULL);
	INSN(0x1000, "\xbb\x00\x50\x00\x00");
	place = insn(0x1005, bytes, nr_bytes);
	reg_values_run(values);
	look(place);
	reg_values_free(values);
	return at.certain.behind[SEM_RAX];
}

START_TEST(constants)
{
	/* mov (%rbx), %eax; movslq (%rbx), %rax; mov %gs:0x100, %rax */
	ck_is(loaded("\x8b\x03", 2), 0xfedcba98);
	ck_is(loaded("\x48\x63\x03", 3), 0xfffffffffedcba98);
	ck_is(loaded("\x65\x48\x8b\x04\x25\x00\x01\x00\x00", 9), 0x123456789a);
	/* mov (%rbx), %rax; mov (%rcx), %eax; mov %gs:-0x4f00(%rbx), %rax */
	ck_assert_uint_eq(loaded("\x48\x8b\x03", 3).mask, 0);
	ck_assert_uint_eq((uint32_t)loaded("\x8b\x01", 2).mask, 0);
	ck_assert_uint_eq(loaded("\x65\x48\x8b\x83\x00\xb1\xff\xff", 8).mask, 0);
}
END_TEST

/* What is likely of a word that was pushed, after @push to where is not known. */
static struct known pushed_before(const char *push, size_t nr_bytes)
{
	uint32_t last;

	setup();
	INSN(0x1000, "\xbc\x08\x70\x00\x00");			/* mov $0x7008, %esp */
	INSN(0x1005, "\x6a\x05");				/* push $5 */
	INSN(0x1007, "\x48\x8b\x22");				/* mov (%rdx), %rsp */
	insn(0x100a, push, nr_bytes);
	last = INSN(0x1010, "\x48\x8b\x0c\x25\x00\x70\x00\x00");	/* mov 0x7000, %rcx */
	reg_values_run(values);
	ck_assert(reg_values_likely(values, &(struct reg_values_memory){ 0 }, 8));
	look(last);
	reg_values_free(values);
	return at.likely.behind[SEM_RCX];
}

START_TEST(likely_on_stacks)
{
	ck_is(pushed_before("\x90", 1), 5);
	ck_assert_uint_eq(pushed_before("\x50", 1).mask, 0);
}
END_TEST

/* 8 bytes at 0x5000, and zeros at 0x6000. */
static bool dumped(void *arg, bool segment, uint64_t address, unsigned int nr_bytes,
		   uint64_t *ret)
{
	(void)arg;
	*ret = address == 0x5000 ? 0x1122334455667788 : 0;
	return !segment && nr_bytes == 8 && (address == 0x5000 || address == 0x6000);
}

static const struct reg_values_memory dump = { .read = dumped, .has_area = true, .area = 0x4000 };

/* mov $0x5000,%ebx; mov %gs:0x1000,%rax; @store; mov (%rbx),%rcx: what is likely of the loads. */
static void run_likely(const char *store, size_t nr_bytes, struct known *ret_first,
		       struct known *ret_second)
{
	uint32_t first, second;

	setup();
	INSN(0x1000, "\xbb\x00\x50\x00\x00");
	first = INSN(0x1005, "\x65\x48\x8b\x04\x25\x00\x10\x00\x00");
	insn(0x100e, store, nr_bytes);
	second = INSN(0x1020, "\x48\x8b\x0b");
	reg_values_run(values);
	ck_assert(reg_values_likely(values, &dump, 8));
	look(first);
	ck_assert_uint_eq(at.certain.behind[SEM_RAX].mask, 0);
	*ret_first = at.likely.behind[SEM_RAX];
	look(second);
	ck_assert_uint_eq(at.certain.behind[SEM_RCX].mask, 0);
	*ret_second = at.likely.behind[SEM_RCX];
	reg_values_free(values);
}

START_TEST(likely)
{
	const uint64_t word = 0x1122334455667788;
	struct known first, second;

	/* nop; mov %rdx,(%rsi): elsewhere. */
	run_likely("\x90", 1, &first, &second);
	ck_is(first, word);
	ck_is(second, word);
	run_likely("\x48\x89\x16", 3, &first, &second);
	ck_is(first, word);
	/* push %rdx: the stack pointer is not known, but there nothing has been pushed. */
	run_likely("\x52", 1, &first, &second);
	ck_is(first, word);
	ck_is(second, word);
	/* movq $7,(%rbx); movb $7,(%rbx): what was in the word before is not known. */
	run_likely("\x48\xc7\x03\x07\x00\x00\x00", 7, &first, &second);
	ck_assert_uint_eq(first.mask, 0);
	ck_is(second, 7);
	run_likely("\xc6\x03\x07", 3, &first, &second);
	ck_assert_uint_eq(first.mask, 0);
	ck_assert_uint_eq(second.mask, 0xff);
}
END_TEST

/* What others may have done is behind a cut: memory of the dump is not used before it. */
START_TEST(likely_cuts)
{
	uint32_t place;

	setup();
	place = INSN(0x1000, "\x48\x8b\x0c\x25\x00\x50\x00\x00");
	reg_values_cut(values, REG_VALUES_USER);
	INSN(0x1008, "\x90");
	reg_values_run(values);
	ck_assert(reg_values_likely(values, &dump, 8));
	look(place);
	ck_assert_uint_eq(at.likely.behind[SEM_RCX].mask, 0);
	reg_values_free(values);
}
END_TEST

static uint64_t loaded_in_handler(bool has_returned)
{
	uint32_t handler;
	uint64_t mask;

	setup();
	reg_values_anchor(values, SEM_RSP, known_all(SP));
	reg_values_interrupt(values, 0x1008, 236);
	handler = INSN(0x2000, "\x48\x8b\x0c\x25\x00\x50\x00\x00");
	if (has_returned) {
		INSN(0x2008, "\x48\xcf");
		INSN(0x1008, "\x90");
	}
	reg_values_run(values);
	ck_assert(reg_values_likely(values, &dump, 8));
	look(handler);
	mask = at.likely.behind[SEM_RCX].mask;
	reg_values_free(values);
	return mask;
}

/* What the handler of an interrupt reads is not what the dump has: the next one writes it. */
START_TEST(likely_in_handlers)
{
	ck_assert_uint_eq(loaded_in_handler(true), 0);
	ck_assert_uint_eq(loaded_in_handler(false), UINT64_MAX);
}
END_TEST

/* mov %rcx,0x5000; mov 0x5000,%rcx: what is stored to once is so again, after the end. */
START_TEST(likely_stored)
{
	uint32_t load;

	setup();
	INSN(0x1000, "\x48\x89\x0c\x25\x00\x50\x00\x00");
	load = INSN(0x1008, "\x48\x8b\x0c\x25\x00\x50\x00\x00");
	reg_values_run(values);
	ck_assert(reg_values_likely(values, &dump, 8));
	look(load);
	ck_assert_uint_eq(at.likely.behind[SEM_RCX].mask, 0);
	reg_values_free(values);
}
END_TEST

/* mov 0x6000,%rcx; test %rcx,%rcx; jnz back: others have cleared it since, as the dump has it. */
START_TEST(likely_refuted)
{
	for (unsigned int nr_passes = 1; nr_passes < 4; nr_passes++) {
		uint32_t load = 0, before;

		setup();
		before = INSN(0x0ff0, "\x48\x8b\x14\x25\x00\x60\x00\x00");
		for (unsigned int round = 0; round < 2; round++) {
			uint32_t place = INSN(0x1000, "\x48\x8b\x0c\x25\x00\x60\x00\x00");

			load = round ? load : place;
			INSN(0x1008, "\x48\x85\xc9");
			INSN(0x100b, "\x75\xf3");
		}
		INSN(0x100d, "\x90");
		reg_values_run(values);
		ck_assert(reg_values_likely(values, &dump, nr_passes));
		look(load);
		ck_assert_uint_eq(at.likely.behind[SEM_RCX].mask, 0);
		look(before);
		ck_assert_uint_eq(at.likely.behind[SEM_RDX].mask, 0);
		reg_values_free(values);
	}
}
END_TEST

/* What is likely of RCX behind the step @load, of all that was added. */
static struct known likely_rcx(uint32_t load)
{
	struct known known;

	reg_values_run(values);
	ck_assert(reg_values_likely(values, &(struct reg_values_memory){ 0 }, 8));
	look(load);
	known = at.likely.behind[SEM_RCX];
	reg_values_free(values);
	return known;
}

/* What is likely of RCX behind mov 0x5000,%rcx, after @first and @second, and before @behind. */
static struct known loaded_after(const char *first, size_t nr_first, const char *second,
				 size_t nr_second, const char *behind, size_t nr_behind)
{
	uint32_t load;

	setup();
	insn(0x1000, first, nr_first);
	insn(0x100c, second, nr_second);
	load = INSN(0x1010, "\x48\x8b\x0c\x25\x00\x50\x00\x00");
	insn(0x1018, behind, nr_behind);
	/* jz; nop: not taken */
	INSN(0x101c, "\x74\x02");
	INSN(0x101e, "\x90");
	return likely_rcx(load);
}

#define LOADED_AFTER(first, second, behind) \
	loaded_after(first, sizeof(first) - 1, second, sizeof(second) - 1, behind, \
		     sizeof(behind) - 1)
#define STORES_ZERO	"\x48\xc7\x04\x25\x00\x50\x00\x00\x00\x00\x00\x00"

/*
 * movq $0,0x5000; mov %rdx,(%rsi), to the same word; mov 0x5000,%rcx: the ways that followed show
 * that it is not zero any more.
 */
START_TEST(likely_replaced)
{
	/* nop; test %rcx,%rcx; cmp $0,%rcx */
	ck_is(LOADED_AFTER(STORES_ZERO, "\x48\x89\x16", "\x90"), 0);
	ck_assert_uint_eq(LOADED_AFTER(STORES_ZERO, "\x48\x89\x16", "\x48\x85\xc9").mask, 0);
	ck_assert_uint_eq(LOADED_AFTER(STORES_ZERO, "\x48\x89\x16",
				       "\x48\x83\xf9\x00").mask, 0);
	/* mov %rdx,(%rcx); mov 16(%rcx),%rdx: there it is nothing; lea 16(%rcx),%rdx: no matter */
	ck_assert_uint_eq(LOADED_AFTER(STORES_ZERO, "\x48\x89\x16", "\x48\x89\x11").mask, 0);
	ck_assert_uint_eq(LOADED_AFTER(STORES_ZERO, "\x48\x89\x16",
				       "\x48\x8b\x51\x10").mask, 0);
	ck_is(LOADED_AFTER(STORES_ZERO, "\x48\x89\x16", "\x48\x8d\x51\x10"), 0);
}
END_TEST

/*
 * mov (%rdi),%rcx; mov %rcx,0x5000; test %rcx,%rcx; jz not taken; @store; mov 0x5000,%rbx;
 * test %rbx,%rbx; jz taken: what the word held later is not what was stored to it.
 */
static struct known stored_before(const char *test, size_t nr_bytes)
{
	uint32_t load;

	setup();
	load = INSN(0x1000, "\x48\x8b\x0f");
	INSN(0x1003, "\x48\x89\x0c\x25\x00\x50\x00\x00");
	insn(0x100b, test, nr_bytes);
	INSN(0x1010, "\x74\x02");
	INSN(0x1012, "\x48\x89\x16");
	INSN(0x1015, "\x48\x8b\x1c\x25\x00\x50\x00\x00");
	INSN(0x101d, "\x48\x85\xdb");
	INSN(0x1020, "\x74\x02");
	INSN(0x1024, "\x90");
	return likely_rcx(load);
}

START_TEST(likely_later)
{
	/* nop; test %rcx,%rcx; mov %rdx,8(%rcx) */
	ck_is(stored_before("\x90", 1), 0);
	ck_assert_uint_eq(stored_before("\x48\x85\xc9", 3).mask, 0);
	ck_assert_uint_eq(stored_before("\x48\x89\x51\x08", 4).mask, 0);
}
END_TEST

/* The fault that ends the history did come of a pointer that is NULL. */
START_TEST(likely_faults)
{
	uint32_t load;

	setup();
	INSN(0x1000, STORES_ZERO);
	load = INSN(0x100c, "\x48\x8b\x0c\x25\x00\x50\x00\x00");
	INSN(0x1014, "\x48\x8b\x11");
	reg_values_interrupt(values, 0x1014, 14);
	INSN(0x2000, "\x90");
	reg_values_run(values);
	ck_assert(reg_values_likely(values, &(struct reg_values_memory){ 0 }, 8));
	look(load);
	ck_is(at.likely.behind[SEM_RCX], 0);
	reg_values_free(values);
}
END_TEST

/* mov $@at,%edi; mov %ecx,%ecx; rep movsb: so many bytes, at most a page, are not as before. */
static uint64_t copied_over(uint32_t at_va, const char *count, size_t nr_bytes)
{
	char first[] = "\xbf\x00\x00\x00\x00";
	uint32_t load;
	uint64_t mask;

	memcpy(first + 1, &at_va, sizeof(at_va));
	setup();
	INSN(0x1000, STORES_ZERO);
	insn(0x100c, first, 5);
	insn(0x1011, count, nr_bytes);
	INSN(0x1018, "\xf3\xa4");
	load = INSN(0x101a, "\x48\x8b\x0c\x25\x00\x50\x00\x00");
	reg_values_run(values);
	ck_assert(reg_values_likely(values, &(struct reg_values_memory){ 0 }, 8));
	look(load);
	mask = at.likely.behind[SEM_RCX].mask;
	reg_values_free(values);
	return mask;
}

#define COPIED_OVER(at_va, count)	copied_over(at_va, count, sizeof(count) - 1)

START_TEST(likely_strings)
{
	/* nop; movzbl %cl,%ecx */
	ck_assert_uint_eq(COPIED_OVER(0x5000, "\x90"), 0);
	ck_assert_uint_eq(COPIED_OVER(0x4008, "\x90"), 0);
	ck_assert_uint_eq(COPIED_OVER(0x4000, "\x90"), UINT64_MAX);
	ck_assert_uint_eq(COPIED_OVER(0x4f10, "\x0f\xb6\xc9"), 0);
	ck_assert_uint_eq(COPIED_OVER(0x4f00, "\x0f\xb6\xc9"), UINT64_MAX);
	ck_assert_uint_eq(COPIED_OVER(0x5008, "\x90"), UINT64_MAX);
	/* mov $8,%ecx */
	ck_assert_uint_eq(COPIED_OVER(0x5000, "\xb9\x08\x00\x00\x00"), 0);
	ck_assert_uint_eq(COPIED_OVER(0x4ff8, "\xb9\x08\x00\x00\x00"), UINT64_MAX);
}
END_TEST

/* Two rounds of mov 0x5000,%rcx; cmp %rdx,%rcx; @more; jb back: what is likely in the first. */
static struct known polled(const char *more, size_t nr_bytes)
{
	struct known known;
	uint32_t load = 0;

	setup();
	for (unsigned int round = 0; round < 2; round++) {
		uint32_t place = INSN(0x1000, "\x48\x8b\x0c\x25\x00\x50\x00\x00");

		load = round ? load : place;
		INSN(0x1008, "\x48\x39\xd1");
		insn(0x100b, more, nr_bytes);
		INSN(0x1020, "\x72\xde");
	}
	INSN(0x1022, "\x90");
	reg_values_run(values);
	ck_assert(reg_values_likely(values, &dump, 8));
	look(load);
	known = at.likely.behind[SEM_RCX];
	reg_values_free(values);
	return known;
}

/* Nothing but memory can end the loop, or it has a PAUSE. */
START_TEST(likely_polled)
{
	/* nop; pause */
	ck_assert_uint_eq(polled("\x90", 1).mask, 0);
	ck_assert_uint_eq(polled("\xf3\x90", 2).mask, 0);
	/* inc %rsi; inc (%rsi) */
	ck_is(polled("\x48\xff\xc6", 3), 0x1122334455667788);
	ck_is(polled("\xff\x06", 2), 0x1122334455667788);
}
END_TEST

/* A jump that is taken because 5 is 6: nothing of that part is said, all of the others. */
START_TEST(contradictions)
{
	uint32_t wrong, right;

	setup();
	wrong = INSN(0x1000, "\xb8\x05\x00\x00\x00");
	INSN(0x1005, "\x83\xf8\x06");
	INSN(0x1008, "\x74\x10");
	INSN(0x101a, "\x90");
	reg_values_cut(values, REG_VALUES_GAP);
	right = INSN(0x101b, "\xb8\x07\x00\x00\x00");
	reg_values_run(values);
	ck_assert_uint_eq(reg_values_nr_contradictions(values), 1);
	look(wrong);
	ck_assert_uint_eq(at.certain.behind[SEM_RAX].mask, 0);
	look(right);
	ck_is(at.certain.behind[SEM_RAX], 7);
	reg_values_free(values);
}
END_TEST

/* What is read from the middle is as on the way there. */
START_TEST(seek)
{
	uint32_t places[40];

	setup();
	for (unsigned int i = 0; i < 40; i++) {
		char bytes[] = { (char)0xb8, (char)i, 0, 0, 0 };

		places[i] = insn(0x1000 + 5 * i, bytes, sizeof(bytes));
	}
	reg_values_run(values);
	for (unsigned int i = 40; i--;) {
		reg_values_seek(values, places[i]);
		reg_values_next(values, places[i], &at);
		ck_is(at.certain.behind[SEM_RAX], i);
	}
	reg_values_free(values);
}
END_TEST

BTSREC_CK_MAIN("reg_values", word_of_the_stack, stores, seek, cuts, interrupts,
	       interrupts_of_one_instruction, interrupted_code_goes_on, handlers,
	       handlers_within_handlers, memory_at, begun, constants, likely, likely_on_stacks, likely_cuts, likely_in_handlers,
	       likely_stored, likely_refuted, likely_replaced, likely_later, likely_faults,
	       likely_strings,
	       likely_polled, contradictions)
