// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the table says must be what the processor does that runs this test: random instructions
 * with random registers are executed in a page of their own.  Some bits of the state before and
 * behind are given to the table; each bit that it adds must be the true one.
 */
#include "code/semantics.h"

#include "check_btsrec.h"

#include <stdio.h>
#include <sys/mman.h>

#define NR_RUNS		1000000
#define PAGE_BYTES	4096
#define INSN_MAX_BYTES	15

/* One mapping: code, the registers, a page for operands, and one for a stack. */
#define STATE_AT	PAGE_BYTES
#define MEMORY_AT	(2 * PAGE_BYTES)
#define STACK_AT	(3 * PAGE_BYTES)
#define NR_PAGES	4
#define OPERAND_AT	(MEMORY_AT + 64)
#define STRINGS_AT	(MEMORY_AT + PAGE_BYTES / 2)

/* What a program may change and get back; SDM vol. 1, "EFLAGS Register". */
#define FLAGS_ALWAYS	0x202ULL
#define FLAGS_SEEN	(SEM_STATUS_FLAGS | SEM_DF)

/** struct regs - SEM_RAX to SEM_FLAGS */
struct regs {
	uint64_t value[SEM_NR_REGS];
};

/** struct page_state - what the code loads from and stores to */
struct page_state {
	struct regs before;
	struct regs behind;
	uint64_t host_rsp;
};

static uint8_t *page;
static struct page_state *state;
static uint64_t random_state;

/* xorshift64: the same numbers in each run. */
static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* --- Running an instruction --------------------------------------------- */

static uint8_t *put(uint8_t *at, const void *bytes, size_t nr_bytes)
{
	memcpy(at, bytes, nr_bytes);
	return at + nr_bytes;
}

/* MOV between a register and a place in the mapping: @opcode 0x8b loads, 0x89 stores. */
static uint8_t *put_mov(uint8_t *at, uint8_t opcode, unsigned int reg, const void *place)
{
	uint8_t bytes[7] = { (uint8_t)(0x48 | (reg >> 3) << 2), opcode,
			     (uint8_t)(5 | (reg & 7) << 3) };
	int32_t disp = (int32_t)((const uint8_t *)place - (at + sizeof(bytes)));

	memcpy(bytes + 3, &disp, sizeof(disp));
	return put(at, bytes, sizeof(bytes));
}

static uint8_t *put_lea_rsp(uint8_t *at, const void *place)
{
	uint8_t *end = put_mov(at, 0x8d, SEM_RSP, place);

	return end;
}

/* Up to where the instruction begins. */
static uint8_t *put_begin(uint8_t *at)
{
	static const uint8_t saves[] = { 0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57 };

	at = put(at, saves, sizeof(saves));
	at = put_mov(at, 0x89, SEM_RSP, &state->host_rsp);
	at = put_lea_rsp(at, &state->before.value[SEM_FLAGS]);
	at = put(at, "\x9d", 1);
	for (unsigned int reg = 0; reg < SEM_FLAGS; reg++)
		at = put_mov(at, 0x8b, reg, &state->before.value[reg]);
	return at;
}

static void put_end(uint8_t *at)
{
	static const uint8_t restores[] = { 0xfc, 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c,
					    0x5d, 0x5b, 0xc3 };

	for (unsigned int reg = 0; reg < SEM_FLAGS; reg++)
		at = put_mov(at, 0x89, reg, &state->behind.value[reg]);
	at = put_lea_rsp(at, &state->behind.value[SEM_FLAGS] + 1);
	at = put(at, "\x9c", 1);
	at = put_mov(at, 0x8b, SEM_RSP, &state->host_rsp);
	put(at, restores, sizeof(restores));
}

static void setup(void)
{
	page = mmap(NULL, NR_PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(page, MAP_FAILED);
	state = (struct page_state *)(page + STATE_AT);
	random_state = 0x9e3779b97f4a7c15ULL;
}

static void teardown(void)
{
	munmap(page, NR_PAGES * PAGE_BYTES);
}

static void run(const uint8_t *insn_end)
{
	void (*code)(void);

	put_end((uint8_t *)insn_end);
	memcpy(&code, &page, sizeof(code));
	code();
}

/* --- Making one --------------------------------------------------------- */

/** struct shape - an opcode: @map 0x0f or 0, @group: ModRM.reg, from @first_group on, or any */
struct shape {
	uint8_t map;
	uint8_t first;
	uint8_t last;
	bool has_modrm;
	bool only_registers;
	uint8_t first_group;
	uint8_t last_group;
	uint8_t prefix;
};

static const struct shape shapes[] = {
	{ .first = 0x00, .last = 0x03, .has_modrm = true }, { .first = 0x04, .last = 0x05 },
	{ .first = 0x08, .last = 0x0b, .has_modrm = true }, { .first = 0x0c, .last = 0x0d },
	{ .first = 0x10, .last = 0x13, .has_modrm = true }, { .first = 0x14, .last = 0x15 },
	{ .first = 0x18, .last = 0x1b, .has_modrm = true }, { .first = 0x1c, .last = 0x1d },
	{ .first = 0x20, .last = 0x23, .has_modrm = true }, { .first = 0x24, .last = 0x25 },
	{ .first = 0x28, .last = 0x2b, .has_modrm = true }, { .first = 0x2c, .last = 0x2d },
	{ .first = 0x30, .last = 0x33, .has_modrm = true }, { .first = 0x34, .last = 0x35 },
	{ .first = 0x38, .last = 0x3b, .has_modrm = true }, { .first = 0x3c, .last = 0x3d },
	{ .first = 0x50, .last = 0x5f }, { .first = 0x63, .last = 0x63, .has_modrm = true },
	{ .first = 0x68, .last = 0x68 }, { .first = 0x6a, .last = 0x6a },
	{ .first = 0x69, .last = 0x69, .has_modrm = true },
	{ .first = 0x6b, .last = 0x6b, .has_modrm = true },
	{ .first = 0x80, .last = 0x81, .has_modrm = true },
	{ .first = 0x83, .last = 0x8b, .has_modrm = true },
	{ .first = 0x8d, .last = 0x8d, .has_modrm = true },
	{ .first = 0x90, .last = 0x99 }, { .first = 0x9c, .last = 0x9d }, { .first = 0xa8, .last = 0xa9 },
	{ .first = 0xa4, .last = 0xa5 }, { .first = 0xaa, .last = 0xab },
	{ .first = 0xa4, .last = 0xa5, .prefix = 0xf3 },
	{ .first = 0xaa, .last = 0xab, .prefix = 0xf3 },
	{ .first = 0xb0, .last = 0xbf },
	{ .first = 0xc0, .last = 0xc1, .has_modrm = true },
	{ .first = 0xc6, .last = 0xc7, .has_modrm = true, .last_group = 0 },
	{ .first = 0xc9, .last = 0xc9 },
	{ .first = 0xd0, .last = 0xd3, .has_modrm = true },
	{ .first = 0xe8, .last = 0xe8 }, { .first = 0xf5, .last = 0xf5 },
	{ .first = 0xf6, .last = 0xf7, .has_modrm = true, .last_group = 5 },
	{ .first = 0xf8, .last = 0xf9 }, { .first = 0xfc, .last = 0xfd },
	{ .first = 0xfe, .last = 0xff, .has_modrm = true, .last_group = 1 },
	{ .first = 0xff, .last = 0xff, .has_modrm = true, .first_group = 6, .last_group = 6 },
	{ .map = 0x0f, .first = 0x40, .last = 0x4f, .has_modrm = true },
	{ .map = 0x0f, .first = 0x90, .last = 0x9f, .has_modrm = true },
	{ .map = 0x0f, .first = 0xa3, .last = 0xa3, .has_modrm = true, .only_registers = true },
	{ .map = 0x0f, .first = 0xa4, .last = 0xa5, .has_modrm = true },
	{ .map = 0x0f, .first = 0xab, .last = 0xab, .has_modrm = true, .only_registers = true },
	{ .map = 0x0f, .first = 0xac, .last = 0xad, .has_modrm = true },
	{ .map = 0x0f, .first = 0xaf, .last = 0xb1, .has_modrm = true },
	{ .map = 0x0f, .first = 0xb3, .last = 0xb3, .has_modrm = true, .only_registers = true },
	{ .map = 0x0f, .first = 0xb6, .last = 0xb7, .has_modrm = true },
	{ .map = 0x0f, .first = 0xba, .last = 0xba, .has_modrm = true, .first_group = 4,
	  .last_group = 7 },
	{ .map = 0x0f, .first = 0xbb, .last = 0xbb, .has_modrm = true, .only_registers = true },
	{ .map = 0x0f, .first = 0xbc, .last = 0xbf, .has_modrm = true },
	{ .map = 0x0f, .first = 0xb8, .last = 0xb8, .has_modrm = true, .prefix = 0xf3 },
	{ .map = 0x0f, .first = 0xbc, .last = 0xbc, .has_modrm = true, .prefix = 0xf3 },
	{ .map = 0x0f, .first = 0xc0, .last = 0xc1, .has_modrm = true },
	{ .map = 0x0f, .first = 0xc8, .last = 0xcf },
};

#define NR_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static bool has_group(uint8_t opcode, const struct shape *shape)
{
	return shape->first_group || shape->last_group ||
	       (!shape->map && (opcode == 0xc6 || opcode == 0xc7));
}

/* A register, or the operand in memory, whose displacement is set later: *@ret_disp. */
static uint8_t *put_modrm(uint8_t *at, const struct shape *shape, uint8_t opcode, uint8_t **ret_disp)
{
	uint64_t random = next_random();
	bool memory = !shape->only_registers && ((random >> 32) % 4 == 0 || opcode == 0x8d);
	uint8_t group = (uint8_t)(random >> 8 & 7);

	*ret_disp = NULL;
	if (has_group(opcode, shape))
		group = (uint8_t)(shape->first_group +
				  random % (shape->last_group - shape->first_group + 1U));
	*at = (uint8_t)((memory ? 5 : 0xc0 | (random & 7)) | group << 3);
	if (memory)
		*ret_disp = at + 1;
	return at + 1 + (memory ? 4 : 0);
}

/* LEA touches no memory, so its address may be any: base, index and scale, displacement. */
static uint8_t *put_any_address(uint8_t *at)
{
	uint64_t random = next_random();
	uint8_t mod = (uint8_t)(random % 3), rm = (uint8_t)(random >> 8 & 7);

	*at++ = (uint8_t)(mod << 6 | (random >> 16 & 7) << 3 | rm);
	if (rm == 4)
		at++;	/* a random SIB byte is left there */
	return at;
}

static uint8_t *put_prefixes(uint8_t *at, const struct shape *shape)
{
	uint64_t random = next_random();

	/* AMD's processors let it shorten the target of a call, Intel's do not. */
	if (random % 8 == 0 && shape->first != 0xe8)
		*at++ = 0x66;
	if (shape->prefix)
		*at++ = shape->prefix;
	if (random >> 8 & 3)
		*at++ = (uint8_t)(0x40 | (random >> 16 & 15));
	return at;
}

/* At @at one of the shapes; its end, or NULL: it is no instruction. */
static uint8_t *put_insn(uint8_t *at, const struct shape *shape, struct sem_insn *ret)
{
	uint64_t tail[2] = { next_random(), next_random() };
	uint8_t *start = at, *disp = NULL;
	uint8_t opcode = (uint8_t)(shape->first +
				   next_random() % (shape->last - shape->first + 1U));
	int32_t distance;

	at = put_prefixes(at, shape);
	if (shape->map)
		*at++ = shape->map;
	*at++ = opcode;
	memcpy(at, tail, sizeof(tail));
	if (opcode == 0x8d && !shape->map)
		at = put_any_address(at);
	else if (shape->has_modrm)
		at = put_modrm(at, shape, opcode, &disp);
	if (opcode == 0xe8)
		tail[0] = 0;
	memcpy(at, tail, sizeof(tail));
	if (!sem_decode(start, INSN_MAX_BYTES, (uint64_t)start, ret))
		return NULL;
	distance = (int32_t)(page + OPERAND_AT - (start + ret->length_bytes));
	if (disp)
		memcpy(disp, &distance, sizeof(distance));
	if (!sem_decode(start, INSN_MAX_BYTES, (uint64_t)start, ret))
		return NULL;
	return start + ret->length_bytes;
}

/* --- States ------------------------------------------------------------- */

static uint64_t random_value(void)
{
	uint64_t random = next_random();

	switch (random % 8) {
	case 0: return random >> 8 & 0xff;
	case 1: return ~(random >> 8 & 0xff);
	case 2: return 1ULL << (random >> 8 & 63);
	case 3: return 0xffff888000000000ULL | random >> 24;
	case 4: return 0;
	default: return next_random();
	}
}

static uint64_t random_mask(void)
{
	uint64_t random = next_random();

	switch (random % 8) {
	case 0: return 0;
	case 1: return next_random();
	case 2: return UINT64_MAX << (random >> 8 & 63);
	case 3: return UINT64_MAX >> (random >> 8 & 63);
	default: return UINT64_MAX;
	}
}

static void fill_state(const struct sem_insn *insn)
{
	uint64_t *value = state->before.value;

	for (unsigned int reg = 0; reg < SEM_FLAGS; reg++)
		value[reg] = random_value();
	value[SEM_FLAGS] = (next_random() & FLAGS_SEEN) | FLAGS_ALWAYS;
	value[SEM_RSP] = (uint64_t)page + STACK_AT + PAGE_BYTES / 2 + next_random() % 64 * 8;
	/* LEAVE, of whatever width, among a few others. */
	if (insn->writes & 1U << SEM_RSP)
		value[SEM_RBP] = value[SEM_RSP] + next_random() % 16 * 8;
	if (insn->op == SEM_STRING) {
		value[SEM_RCX] = next_random() % 8;
		value[SEM_RSI] = (uint64_t)page + STRINGS_AT + next_random() % 256;
		value[SEM_RDI] = (uint64_t)page + STRINGS_AT + next_random() % 256;
	}
	for (unsigned int at = 0; at < 2 * PAGE_BYTES; at += 8)
		if (at < 128 || at >= PAGE_BYTES + 1024)
			*(uint64_t *)(page + MEMORY_AT + at) = random_value();
	/* POPF of TF or AC would end the test. */
	if (insn->bytes[insn->length_bytes - 1] == 0x9d)
		*(uint64_t *)value[SEM_RSP] &= FLAGS_SEEN | FLAGS_ALWAYS;
}

static const uint64_t *load_place(const struct sem_insn *insn)
{
	if (insn->op == SEM_POP)
		return (const uint64_t *)state->before.value[SEM_RSP];
	if (insn->op == SEM_LEAVE)
		return (const uint64_t *)state->before.value[SEM_RBP];
	return (const uint64_t *)(page + OPERAND_AT);
}

static const uint64_t *store_place(const struct sem_insn *insn)
{
	if (insn->op == SEM_PUSH || insn->op == SEM_CALL)
		return (const uint64_t *)(state->before.value[SEM_RSP] - 8);
	return (const uint64_t *)(page + OPERAND_AT);
}

/** struct truth - what really was, and what is known of it, the memory behind the registers */
struct truth {
	uint64_t before[SEM_NR_REGS + 1];
	uint64_t behind[SEM_NR_REGS + 1];
	struct known known_before[SEM_NR_REGS + 1];
	struct known known_behind[SEM_NR_REGS + 1];
};

static struct known some(uint64_t value, uint64_t mask)
{
	return (struct known){ value & mask, mask };
}

/* @forward: something is known before, but nothing behind. */
static void hide(struct truth *truth, const struct sem_insn *insn, bool forward)
{
	for (unsigned int reg = 0; reg <= SEM_NR_REGS; reg++) {
		truth->known_before[reg] = some(truth->before[reg], random_mask());
		truth->known_behind[reg] = some(truth->behind[reg], forward ? 0 : random_mask());
		if (forward)
			truth->known_before[reg] = some(truth->before[reg], UINT64_MAX);
		if (reg < SEM_NR_REGS && !(insn->writes & 1U << reg))
			truth->known_behind[reg] = truth->known_before[reg];
	}
}

static void link_state(struct truth *truth, const struct sem_insn *insn, struct sem_state *ret)
{
	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++) {
		ret->before[reg] = &truth->known_before[reg];
		ret->behind[reg] = insn->writes & 1U << reg ? &truth->known_behind[reg] :
							      &truth->known_before[reg];
	}
	ret->load = &truth->known_before[SEM_NR_REGS];
	ret->store = &truth->known_behind[SEM_NR_REGS];
	ret->next_ip = insn->ip + insn->length_bytes;
}

/* --- Comparing ---------------------------------------------------------- */

static uint64_t nr_compared, nr_derived[SEM_STRING + 1], nr_back[SEM_STRING + 1];

static void ck_known(struct known got, struct known given, uint64_t truth, uint64_t *ret_derived,
		     const struct sem_insn *insn, const char *what, unsigned int reg)
{
	/* An assert that holds costs a system call, so only what fails is one. */
	if ((got.value ^ truth) & got.mask || got.value & ~got.mask)
		ck_abort_msg("op %d of %d bytes, operands %d:%d %d:%d: register %u %s is %#lx, not %#lx "
		      "(of %#lx)", insn->op, insn->operands[0].bytes, insn->operands[0].kind,
		      insn->operands[0].reg, insn->operands[1].kind, insn->operands[1].reg, reg,
		      what, truth, got.value, got.mask);
	nr_compared += got.mask != 0;
	*ret_derived += (got.mask & ~given.mask) != 0;
}

/* Of all that is known before, a row of the table makes all that it writes. */
static void ck_whole(const struct sem_insn *insn, const struct truth *truth)
{
	const struct sem_operand *to = &insn->operands[0];
	bool whole = (insn->op >= SEM_MOV && insn->op <= SEM_BSWAP) ||
		     (insn->op >= SEM_BTS && insn->op <= SEM_BTC) ||
		     (insn->op >= SEM_SETCC && insn->op <= SEM_CMOVCC);

	if (!whole || insn->op == SEM_CMP || insn->op == SEM_TEST || to->kind != SEM_REGISTER ||
	    (insn->op == SEM_IMUL && !insn->operands[1].kind) || insn->op == SEM_XCHG ||
	    insn->op == SEM_XADD)
		return;
	if (truth->known_behind[to->reg].mask != UINT64_MAX)
		ck_abort_msg("op %d of known operands makes only %#lx known", insn->op,
			     truth->known_behind[to->reg].mask);
}

static void ck_apply(const struct sem_insn *insn, struct truth *truth, bool forward)
{
	struct truth given;
	struct sem_state known = { .contradiction = false };

	hide(truth, insn, forward);
	given = *truth;
	link_state(truth, insn, &known);
	sem_apply(insn, &known);
	sem_apply(insn, &known);
	if (known.contradiction)
		ck_abort_msg("op %d contradicts the processor", insn->op);
	if (forward)
		ck_whole(insn, truth);
	for (unsigned int reg = 0; reg <= SEM_NR_REGS; reg++) {
		ck_known(truth->known_before[reg], given.known_before[reg], truth->before[reg],
			 &nr_back[insn->op], insn, "before", reg);
		if (reg == SEM_NR_REGS || insn->writes & 1U << reg)
			ck_known(truth->known_behind[reg], given.known_behind[reg],
				 truth->behind[reg], &nr_derived[insn->op], insn, "behind", reg);
	}
}

/* What it is not said to write has not changed. */
static void ck_writes(const struct sem_insn *insn, const struct truth *truth)
{
	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++)
		if (!(insn->writes & 1U << reg) && truth->before[reg] != truth->behind[reg])
			ck_abort_msg("op %d writes register %u: %#lx, %#lx", insn->op, reg,
			      truth->before[reg], truth->behind[reg]);
	if (!insn->store_bytes && insn->op != SEM_PUSH && insn->op != SEM_CALL &&
	    *load_place(insn) != truth->before[SEM_NR_REGS])
		ck_abort_msg("op %d stores", insn->op);
}

static void ck_one(const struct sem_insn *insn, const uint8_t *end)
{
	struct truth truth;

	fill_state(insn);
	truth.before[SEM_NR_REGS] = *load_place(insn);
	run(end);
	truth.behind[SEM_NR_REGS] = *store_place(insn);
	memcpy(truth.before, &state->before, sizeof(state->before));
	memcpy(truth.behind, &state->behind, sizeof(state->behind));
	ck_writes(insn, &truth);
	ck_apply(insn, &truth, true);
	ck_apply(insn, &truth, false);
}

/* A value for each row: one that says nothing is right, too. */
static void ck_says_something(void)
{
	for (unsigned int op = SEM_MOV; op <= SEM_STRING; op++) {
		if (op == SEM_JCC || op == SEM_RET || op == SEM_JMP || op == SEM_SYSCALL ||
		    op == SEM_IRET)
			continue;
		ck_assert_msg(op == SEM_CMP || op == SEM_TEST || nr_derived[op] > 1000,
			      "nothing is said of what op %u makes: %lu", op, nr_derived[op]);
	}
	for (unsigned int op = SEM_ADD; op <= SEM_CMOVCC; op++) {
		static const uint64_t one_way = 1ULL << SEM_ZERO | 1ULL << SEM_IMUL |
			1ULL << SEM_BSF | 1ULL << SEM_BSR |
			1ULL << SEM_TZCNT | 1ULL << SEM_POPCNT;

		ck_assert_msg(one_way >> op & 1 || nr_back[op] > 100,
			      "nothing is said of what op %u was made of: %lu", op, nr_back[op]);
	}
}

START_TEST(processor)
{
	uint8_t *begin;
	struct sem_insn insn;

	setup();
	begin = put_begin(page);
	for (unsigned int n = 0; n < NR_RUNS; n++) {
		const uint8_t *end = put_insn(begin, &shapes[n % NR_SHAPES], &insn);

		if (end)
			ck_one(&insn, end);
	}
	printf("%lu values compared\n", nr_compared);
	ck_assert_uint_gt(nr_compared, 10 * NR_RUNS);
	ck_says_something();
	teardown();
}
END_TEST

/* --- Ways that are not run ---------------------------------------------- */

static struct known known[SEM_NR_REGS], behind[SEM_NR_REGS];

static struct sem_state single(const uint8_t *bytes, uint64_t next_ip, struct sem_insn *insn)
{
	struct sem_state ret = { .next_ip = next_ip };

	memset(known, 0, sizeof(known));
	memset(behind, 0, sizeof(behind));
	ck_assert(sem_decode(bytes, INSN_MAX_BYTES, 0x1000, insn));
	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++) {
		ret.before[reg] = &known[reg];
		ret.behind[reg] = insn->writes & 1U << reg ? &behind[reg] : &known[reg];
	}
	sem_apply(insn, &ret);
	return ret;
}

static struct sem_state with_flags(const uint8_t *bytes, uint64_t next_ip, uint64_t mask,
				   uint64_t flags, struct sem_insn *insn)
{
	struct sem_state ret = single(bytes, 0, insn);

	known[SEM_FLAGS] = (struct known){ flags, mask };
	ret.next_ip = next_ip;
	sem_apply(insn, &ret);
	return ret;
}

START_TEST(ways)
{
	static const uint8_t je[15] = { 0x74, 0x10 }, ja[15] = { 0x77, 0x10 };
	static const uint8_t jmp[15] = { 0xff, 0xe0 }, call[15] = { 0x41, 0xff, 0xd3 };
	static const uint8_t cpuid[15] = { 0x0f, 0xa2 }, int3[15] = { 0xcc };
	struct sem_insn insn;

	single(je, 0x1012, &insn);
	ck_assert_uint_eq(known[SEM_FLAGS].value & known[SEM_FLAGS].mask, SEM_ZF);
	single(je, 0x1002, &insn);
	ck_assert_uint_eq(known[SEM_FLAGS].mask, SEM_ZF);
	ck_assert_uint_eq(known[SEM_FLAGS].value, 0);
	single(ja, 0x1012, &insn);
	ck_assert_uint_eq(known[SEM_FLAGS].mask, SEM_ZF | SEM_CF);
	single(ja, 0x1002, &insn);
	ck_assert_uint_eq(known[SEM_FLAGS].mask, 0);
	single(jmp, 0xffffffff81000000ULL, &insn);
	ck_assert_uint_eq(known[SEM_RAX].value, 0xffffffff81000000ULL);
	single(call, 0xffffffff81000000ULL, &insn);
	ck_assert_uint_eq(known[SEM_R11].value, 0xffffffff81000000ULL);
	single(cpuid, 0x1002, &insn);
	ck_assert_uint_eq(insn.op, SEM_OTHER);
	ck_assert_uint_eq(insn.writes, 0xf);
	single(int3, 0x1001, &insn);
	ck_assert_uint_eq(insn.op, SEM_CUT);
	ck_assert_uint_eq(insn.writes, (1U << SEM_NR_REGS) - 1);
}
END_TEST

/* A way that went by two flags or more says something of one as soon as the others are known. */
START_TEST(ways_by_flags)
{
	static const uint8_t ja[15] = { 0x77, 0x10 }, jl[15] = { 0x7c, 0x10 };
	static const uint8_t jg[15] = { 0x7f, 0x10 };
	struct sem_insn insn;

	/* CF is clear, and not above: equal. */
	ck_assert(!with_flags(ja, 0x1002, SEM_CF, 0, &insn).contradiction);
	ck_assert_uint_eq(known[SEM_FLAGS].value, SEM_ZF);
	ck_assert(with_flags(ja, 0x1002, SEM_CF | SEM_ZF, 0, &insn).contradiction);
	/* OF is clear behind TEST, and less: the sign. */
	ck_assert(!with_flags(jl, 0x1012, SEM_OF, 0, &insn).contradiction);
	ck_assert_uint_eq(known[SEM_FLAGS].value, SEM_SF);
	ck_assert(with_flags(jl, 0x1012, SEM_OF | SEM_SF, 0, &insn).contradiction);
	ck_assert(with_flags(jl, 0x1002, SEM_OF | SEM_SF, SEM_SF, &insn).contradiction);
	ck_assert(!with_flags(jg, 0x1012, SEM_OF, SEM_OF, &insn).contradiction);
	ck_assert_uint_eq(known[SEM_FLAGS].mask, SEM_OF | SEM_SF | SEM_ZF);
	ck_assert_uint_eq(known[SEM_FLAGS].value, SEM_OF | SEM_SF);
	ck_assert(with_flags(jg, 0x1002, SEM_OF | SEM_SF | SEM_ZF, 0, &insn).contradiction);
}
END_TEST

/* What RAX and RCX were, if behind @bytes those @flags of @mask are set. */
static void ck_said(const uint8_t *bytes, uint64_t mask, uint64_t flags, struct known rax,
		    struct known rcx)
{
	struct sem_insn insn;
	struct sem_state around = single(bytes, 0, &insn);

	behind[SEM_FLAGS] = (struct known){ flags, mask };
	sem_apply(&insn, &around);
	ck_assert(!around.contradiction);
	ck_assert_uint_eq(known[SEM_RAX].mask, rax.mask);
	ck_assert_uint_eq(known[SEM_RAX].value, rax.value);
	ck_assert_uint_eq(known[SEM_RCX].mask, rcx.mask);
	ck_assert_uint_eq(known[SEM_RCX].value, rcx.value);
}

/* The ways that follow say what was compared or tested, and what was made. */
START_TEST(said_by_flags)
{
	static const uint8_t cmp[15] = { 0x83, 0xf8, 0x12 };	/* $0x12,%eax */
	static const uint8_t is_error[15] = { 0x48, 0x3d, 0x00, 0xf0, 0xff, 0xff };
	static const uint8_t test[15] = { 0xa8, 0x20 };		/* $0x20,%al */
	static const uint8_t test_self[15] = { 0x48, 0x85, 0xc9 };
	static const uint8_t bt[15] = { 0x48, 0x0f, 0xba, 0xe1, 0x28 };	/* $40,%rcx */
	static const uint8_t dec[15] = { 0xff, 0xc8 };		/* %eax */
	const struct known none = known_none();

	ck_said(cmp, SEM_ZF, SEM_ZF, (struct known){ 0x12, UINT32_MAX }, none);
	ck_said(cmp, SEM_CF, SEM_CF, (struct known){ 0, UINT32_MAX - 0x1f }, none);
	ck_said(cmp, SEM_CF, 0, none, none);
	ck_said(is_error, SEM_CF, 0, (struct known){ -4096ULL, -4096ULL }, none);
	ck_said(test, SEM_ZF, 0, (struct known){ 0x20, 0x20 }, none);
	ck_said(test, SEM_ZF, SEM_ZF, (struct known){ 0, 0x20 }, none);
	ck_said(test_self, SEM_ZF, SEM_ZF, none, known_all(0));
	ck_said(test_self, SEM_SF, SEM_SF, none, (struct known){ 1ULL << 63, 1ULL << 63 });
	ck_said(test_self, SEM_ZF, 0, none, none);
	ck_said(bt, SEM_CF, SEM_CF, none, (struct known){ 1ULL << 40, 1ULL << 40 });
	ck_said(dec, SEM_ZF, SEM_ZF, (struct known){ 1, UINT32_MAX }, none);
}
END_TEST

BTSREC_CK_MAIN("semantics", processor, ways, ways_by_flags, said_by_flags)
