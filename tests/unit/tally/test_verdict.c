// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "tally/verdict.h"

#define IP		0xffffffff81000123ULL
#define STACK		0xffffc90000004000ULL
#define TEXT		0xffffffff81000000ULL
#define NOWHERE		0xfffffffffffff123ULL
#define NOT_CANONICAL	0x5a5a000000000000ULL
#define USER		0x00007ffdcafe0000ULL

static struct fault fault;
static struct fault_frame frame;
static struct sem_insn insn;
static struct verdict_facts facts;

/* An exception at the instruction @bytes, with RAX. */
static void fault_at(int vector, const char *bytes, size_t nr_bytes, uint64_t rax)
{
	fault = (struct fault){ .kind = FAULT_EXCEPTION, .vector = vector, .from = IP };
	frame = (struct fault_frame){ .regs = { [SEM_RAX] = rax } };
	ck_assert(sem_decode((const uint8_t *)bytes, nr_bytes, IP, &insn));
	facts = (struct verdict_facts){ .reason = BTSREC_REASON_OOPS, .fault = &fault,
					.insn = &insn, .frame = &frame };
}

#define FAULT_AT(vector, bytes, rax) fault_at((vector), "" bytes, sizeof(bytes) - 1, (rax))

/* A page for reading, one for both at the bottom of a stack, a page that is not known, and none. */
static enum walk_access access_at(void *arg, uint64_t va)
{
	(void)arg;
	switch (va & ~4095ULL) {
	case STACK:
		return WALK_ACCESS_WRITE;
	case TEXT:
		return WALK_ACCESS_READ;
	case 0:
		return WALK_ACCESS_UNKNOWN;
	default:
		return WALK_ACCESS_NONE;
	}
}

static void ck_kind(enum verdict_kind kind, enum verdict_access access, bool has_address,
		    uint64_t address)
{
	struct verdict verdict = verdict_of(&facts);

	ck_assert_str_eq(verdict_kind_str(verdict.kind), verdict_kind_str(kind));
	ck_assert_int_eq(verdict.access, access);
	ck_assert_int_eq(verdict.has_address, has_address);
	if (has_address)
		ck_assert_uint_eq(verdict.address, address);
	ck_assert_uint_eq(verdict.ip, IP);
}

START_TEST(page_faults)
{
	/* mov (%rax),%ecx; mov %ecx,0x10(%rax); incl (%rax) */
	FAULT_AT(14, "\x8b\x08", 0);
	ck_kind(VERDICT_NULL, VERDICT_READ, true, 0);
	FAULT_AT(14, "\x89\x48\x10", 0);
	ck_kind(VERDICT_NULL, VERDICT_WRITE, true, 0x10);
	FAULT_AT(14, "\x89\x48\x10", 4080);
	ck_kind(VERDICT_ADDRESS, VERDICT_WRITE, true, 4096);
	FAULT_AT(14, "\xff\x00", NOWHERE);
	ck_kind(VERDICT_ADDRESS, VERDICT_WRITE, true, NOWHERE);
	/* The registers are not known. */
	facts.frame = NULL;
	ck_kind(VERDICT_ACCESS, VERDICT_WRITE, false, 0);
	/* mov %gs:(%rax),%rcx: whatever the base is. */
	FAULT_AT(14, "\x65\x48\x8b\x08", 0);
	ck_kind(VERDICT_ACCESS, VERDICT_READ, false, 0);
	/* push (%rax); rep movsb; call *(%rax): two places. */
	FAULT_AT(14, "\xff\x30", 0);
	ck_kind(VERDICT_ACCESS, VERDICT_UNKNOWN_ACCESS, false, 0);
	FAULT_AT(14, "\xf3\xa4", 0);
	ck_kind(VERDICT_ACCESS, VERDICT_UNKNOWN_ACCESS, false, 0);
	FAULT_AT(14, "\xff\x10", 0);
	ck_kind(VERDICT_ACCESS, VERDICT_UNKNOWN_ACCESS, false, 0);
	facts.insn = NULL;
	ck_kind(VERDICT_ACCESS, VERDICT_UNKNOWN_ACCESS, false, 0);
}
END_TEST

/* rep movsb from @from to @to. */
static void copy_at(int vector, uint64_t from, uint64_t to)
{
	FAULT_AT(vector, "\xf3\xa4", 0);
	frame.regs[SEM_RSI] = from;
	frame.regs[SEM_RDI] = to;
	facts.access_at = access_at;
}

START_TEST(strings)
{
	copy_at(14, NOWHERE, STACK);
	ck_kind(VERDICT_ADDRESS, VERDICT_READ, true, NOWHERE);
	copy_at(14, 0x10, STACK);
	ck_kind(VERDICT_NULL, VERDICT_READ, true, 0x10);
	copy_at(14, TEXT, NOWHERE);
	ck_kind(VERDICT_ADDRESS, VERDICT_WRITE, true, NOWHERE);
	copy_at(14, STACK, TEXT);
	ck_kind(VERDICT_READ_ONLY, VERDICT_WRITE, true, TEXT);
	copy_at(13, NOT_CANONICAL, STACK);
	ck_kind(VERDICT_NON_CANONICAL, VERDICT_READ, true, NOT_CANONICAL);
	/* Which of two it was, is not known. */
	copy_at(14, NOWHERE, NOWHERE);
	ck_kind(VERDICT_ACCESS, VERDICT_UNKNOWN_ACCESS, false, 0);
	copy_at(13, NOT_CANONICAL, NOT_CANONICAL);
	ck_kind(VERDICT_PROTECTION, VERDICT_UNKNOWN_ACCESS, false, 0);
	copy_at(14, TEXT, STACK);
	ck_kind(VERDICT_ACCESS, VERDICT_UNKNOWN_ACCESS, false, 0);
	copy_at(14, NOWHERE, STACK);
	facts.access_at = NULL;
	ck_kind(VERDICT_ACCESS, VERDICT_UNKNOWN_ACCESS, false, 0);
	/* rep stosb */
	FAULT_AT(14, "\xf3\xaa", 0);
	frame.regs[SEM_RDI] = NOWHERE;
	facts.access_at = access_at;
	ck_kind(VERDICT_ADDRESS, VERDICT_WRITE, true, NOWHERE);
}
END_TEST

START_TEST(writes_to_what_is_read)
{
	FAULT_AT(14, "\x89\x08", TEXT);
	facts.access_at = access_at;
	ck_kind(VERDICT_READ_ONLY, VERDICT_WRITE, true, TEXT);
	FAULT_AT(14, "\x8b\x08", TEXT);
	facts.access_at = access_at;
	ck_kind(VERDICT_ADDRESS, VERDICT_READ, true, TEXT);
}
END_TEST

static void error_at(uint64_t address, uint64_t error_code)
{
	FAULT_AT(14, "\x8b\x08", address);
	frame.has_error_code = true;
	frame.error_code = error_code;
}

/* Bits of the error code: present, write, by user code, reserved. */
START_TEST(error_codes)
{
	error_at(USER, 1);
	ck_kind(VERDICT_USER_MEMORY, VERDICT_READ, true, USER);
	error_at(USER, 0);
	ck_kind(VERDICT_ADDRESS, VERDICT_READ, true, USER);
	error_at(NOWHERE, 1);
	ck_kind(VERDICT_ADDRESS, VERDICT_READ, true, NOWHERE);
	error_at(NOWHERE, 9);
	ck_kind(VERDICT_PAGE_TABLE, VERDICT_READ, true, NOWHERE);
	error_at(8, 1);
	ck_kind(VERDICT_NULL, VERDICT_READ, true, 8);
	error_at(USER, 1);
	facts.frame = NULL;
	ck_kind(VERDICT_ACCESS, VERDICT_READ, false, 0);
}
END_TEST

START_TEST(protection_faults)
{
	FAULT_AT(13, "\x8b\x08", NOT_CANONICAL);
	ck_kind(VERDICT_NON_CANONICAL, VERDICT_READ, true, NOT_CANONICAL);
	/* Something else was wrong with it. */
	FAULT_AT(13, "\x8b\x08", IP);
	ck_kind(VERDICT_PROTECTION, VERDICT_UNKNOWN_ACCESS, false, 0);
	/* wrmsr */
	FAULT_AT(13, "\x0f\x30", NOT_CANONICAL);
	ck_kind(VERDICT_PROTECTION, VERDICT_UNKNOWN_ACCESS, false, 0);
	FAULT_AT(13, "\x8b\x08", NOT_CANONICAL);
	facts.frame = NULL;
	ck_kind(VERDICT_PROTECTION, VERDICT_UNKNOWN_ACCESS, false, 0);
}
END_TEST

START_TEST(where_no_code_is)
{
	const struct btsrec_record came = { .from = IP, .to = NOWHERE };
	struct verdict verdict;

	FAULT_AT(14, "\x8b\x08", 0);
	fault.from = NOWHERE;
	facts.is_none = true;
	verdict = verdict_of(&facts);
	ck_assert_int_eq(verdict.kind, VERDICT_NO_CODE);
	ck_assert_int_eq(verdict.access, VERDICT_UNKNOWN_ACCESS);
	ck_assert_uint_eq(verdict.ip, 0);
	facts.came = &came;
	facts.came_by = VERDICT_RETURN;
	ck_kind(VERDICT_NO_CODE, VERDICT_RETURN, true, NOWHERE);
}
END_TEST

/* The branch itself has a #GP: jmp *%rax, ret. */
START_TEST(wild_branches)
{
	FAULT_AT(13, "\xff\xe0", NOT_CANONICAL);
	facts.came_by = VERDICT_JUMP;
	ck_kind(VERDICT_NO_CODE, VERDICT_JUMP, false, 0);
	facts.has_target = true;
	facts.target = NOT_CANONICAL;
	ck_kind(VERDICT_NO_CODE, VERDICT_JUMP, true, NOT_CANONICAL);
	/* Something else was wrong. */
	facts.target = IP;
	ck_kind(VERDICT_PROTECTION, VERDICT_UNKNOWN_ACCESS, false, 0);
	FAULT_AT(13, "\xc3", 0);
	facts.came_by = VERDICT_RETURN;
	ck_kind(VERDICT_NO_CODE, VERDICT_RETURN, false, 0);
	/* jmp *(%rax): or the pointer to the address was. */
	FAULT_AT(13, "\xff\x20", IP);
	ck_kind(VERDICT_PROTECTION, VERDICT_UNKNOWN_ACCESS, false, 0);
	facts.has_target = true;
	facts.target = NOT_CANONICAL;
	facts.came_by = VERDICT_JUMP;
	ck_kind(VERDICT_NO_CODE, VERDICT_JUMP, true, NOT_CANONICAL);
}
END_TEST

START_TEST(traps)
{
	FAULT_AT(6, "\x0f\x0b", 0);
	ck_kind(VERDICT_EXCEPTION, VERDICT_UNKNOWN_ACCESS, false, 0);
	facts.is_trap = true;
	ck_kind(VERDICT_BUG, VERDICT_UNKNOWN_ACCESS, false, 0);
	facts.reason = BTSREC_REASON_PANIC;
	ck_kind(VERDICT_WARN, VERDICT_UNKNOWN_ACCESS, false, 0);
	FAULT_AT(0, "\xf7\xf0", 0);
	ck_kind(VERDICT_EXCEPTION, VERDICT_UNKNOWN_ACCESS, false, 0);
}
END_TEST

START_TEST(stack_overflows)
{
	FAULT_AT(8, "\x50", 0);
	ck_kind(VERDICT_EXCEPTION, VERDICT_UNKNOWN_ACCESS, false, 0);
	facts.access_at = access_at;
	ck_kind(VERDICT_EXCEPTION, VERDICT_UNKNOWN_ACCESS, false, 0);
	frame.regs[SEM_RSP] = STACK;
	ck_kind(VERDICT_STACK_OVERFLOW, VERDICT_UNKNOWN_ACCESS, false, 0);
	frame.regs[SEM_RSP] = STACK + 8;
	ck_kind(VERDICT_EXCEPTION, VERDICT_UNKNOWN_ACCESS, false, 0);
	/* In the middle of the page that is left free, and far from all. */
	frame.regs[SEM_RSP] = STACK - 2000;
	ck_kind(VERDICT_STACK_OVERFLOW, VERDICT_UNKNOWN_ACCESS, false, 0);
	frame.regs[SEM_RSP] = NOWHERE;
	ck_kind(VERDICT_BAD_STACK, VERDICT_UNKNOWN_ACCESS, true, NOWHERE);
	facts.frame = NULL;
	ck_kind(VERDICT_EXCEPTION, VERDICT_UNKNOWN_ACCESS, false, 0);
}
END_TEST

START_TEST(lockups)
{
	static const enum btsrec_reason reasons[] = {
		BTSREC_REASON_HARD_LOCKUP, BTSREC_REASON_SOFT_LOCKUP, BTSREC_REASON_RCU_STALL,
	};
	const struct verdict_stay stay = { .ip = IP, .nr_branches = 5, .ticks = 6 };

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		fault = (struct fault){ .why = FAULT_REPORT };
		facts = (struct verdict_facts){ .reason = reasons[i], .fault = &fault };
		ck_assert_int_eq(verdict_of(&facts).kind, VERDICT_LOCKUP);
		facts.stay = &stay;
		ck_kind(VERDICT_STUCK, VERDICT_UNKNOWN_ACCESS, false, 0);
		ck_assert_uint_eq(verdict_of(&facts).stay.nr_branches, 5);
		ck_assert_uint_eq(verdict_of(&facts).stay.ticks, 6);
	}
}
END_TEST

START_TEST(the_others)
{
	static const struct {
		enum btsrec_reason reason;
		enum fault_kind fault;
		enum verdict_kind kind;
	} cases[] = {
		{ BTSREC_REASON_PANIC, FAULT_CALL, VERDICT_PANIC },
		{ BTSREC_REASON_PANIC, FAULT_NMI, VERDICT_NMI },
		{ BTSREC_REASON_OOPS, FAULT_NMI, VERDICT_NMI },
		{ BTSREC_REASON_MCE, FAULT_EXCEPTION, VERDICT_MACHINE_CHECK },
		{ BTSREC_REASON_MCE, FAULT_UNKNOWN, VERDICT_MACHINE_CHECK },
		{ BTSREC_REASON_HUNG_TASK, FAULT_UNKNOWN, VERDICT_HUNG_TASK },
		{ BTSREC_REASON_FUNCTION, FAULT_CALL, VERDICT_TRIGGER },
		{ BTSREC_REASON_TRACEPOINT, FAULT_UNKNOWN, VERDICT_TRIGGER },
		{ BTSREC_REASON_REQUEST, FAULT_UNKNOWN, VERDICT_TRIGGER },
		{ BTSREC_REASON_WARN, FAULT_UNKNOWN, VERDICT_NONE },
		{ BTSREC_REASON_PANIC, FAULT_UNKNOWN, VERDICT_NONE },
		{ BTSREC_REASON_OOPS, FAULT_UNKNOWN, VERDICT_NONE },
		{ BTSREC_REASON_MANUAL, FAULT_UNKNOWN, VERDICT_NONE },
		{ BTSREC_REASON_CRASH_SHUTDOWN, FAULT_UNKNOWN, VERDICT_NONE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fault = (struct fault){ .kind = cases[i].fault, .vector = -1, .from = IP };
		facts = (struct verdict_facts){ .reason = cases[i].reason, .fault = &fault };
		ck_assert_str_eq(verdict_kind_str(verdict_of(&facts).kind),
				 verdict_kind_str(cases[i].kind));
	}
}
END_TEST

START_TEST(words)
{
	for (int kind = VERDICT_NONE; kind <= VERDICT_TRIGGER; kind++)
		ck_assert_str_ne(verdict_kind_str((enum verdict_kind)kind), "unknown");
	ck_assert_str_eq(verdict_kind_str((enum verdict_kind)99), "unknown");
	for (int access = VERDICT_READ; access <= VERDICT_RETURN; access++)
		ck_assert_ptr_nonnull(verdict_access_str((enum verdict_access)access));
	ck_assert_ptr_null(verdict_access_str(VERDICT_UNKNOWN_ACCESS));
}
END_TEST

BTSREC_CK_MAIN("verdict", page_faults, strings, writes_to_what_is_read, error_codes,
	       protection_faults, where_no_code_is, wild_branches, traps, stack_overflows, lockups,
	       the_others, words)
