// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/kernel_code.h"

#include <string.h>

#include "base/bounds.h"
#include "code/code_impl.h"

#define INT3		0xcc
#define NEAR_CALL	0xe8
#define NEAR_CALL_BYTES	5

/** struct pattern - bytes of code; @mask has 0xff where they count, and NULL is all of them */
struct pattern {
	const char *bytes;
	const char *mask;
	size_t nr_bytes;
};

#define PATTERN(bytes)			{ bytes, NULL, sizeof(bytes) - 1 }
#define PATTERN_MASKED(bytes, mask)	{ bytes, mask, sizeof(bytes) - 1 }

static bool matches(const struct pattern *pattern, const uint8_t *bytes, size_t nr_bytes)
{
	if (nr_bytes < pattern->nr_bytes)
		return false;
	for (size_t i = 0; i < pattern->nr_bytes; i++)
		if ((bytes[i] ^ (uint8_t)pattern->bytes[i]) &
		    (pattern->mask ? (uint8_t)pattern->mask[i] : 0xff))
			return false;
	return true;
}

/* --- Thunks ------------------------------------------------------------- */

/* RETPOLINE_THUNK_SIZE (asm/nospec-branch.h): the thunks of 16 registers follow each other. */
#define THUNK_BYTES	32

/* Beside each other by vmlinux.lds.S: all of .text..__x86.*. */
#define THUNKS_MAX_BYTES	BOUND(8192, 512)

/* The linker begins each return thunk at such an address. */
#define RETURN_THUNK_ALIGN	16

/* CALL_DEPTH_ACCOUNT (asm/nospec-branch.h, v6.2): sar $5 of a variable of the CPU. */
static const struct pattern account_depth[] = {
	PATTERN_MASKED("\x65\x48\xc1\x3c\x25\0\0\0\0\x05", "\xff\xff\xff\xff\xff\0\0\0\0\xff"),
	PATTERN_MASKED("\x65\x48\xc1\x3d\0\0\0\0\x05", "\xff\xff\xff\xff\0\0\0\0\xff"),
};

/* arch/x86/lib/retpoline.S: RETPOLINE before v6.2, POLINE since; then "mov %reg,(%rsp)". */
static const struct pattern retpolines[] = {
	PATTERN("\xe8\x07\x00\x00\x00\xf3\x90\x0f\xae\xe8\xeb\xf9"),
	PATTERN("\xe8\x01\x00\x00\x00\xcc"),
};

static const struct pattern lfence = PATTERN("\x0f\xae\xe8");

static size_t skip_one_of(const struct pattern *patterns, size_t nr, const uint8_t *bytes,
			  size_t nr_bytes)
{
	for (size_t i = 0; i < nr; i++)
		if (matches(&patterns[i], bytes, nr_bytes))
			return patterns[i].nr_bytes;
	return 0;
}

size_t kernel_code_endbr(const uint8_t *bytes, size_t nr_bytes)
{
	static const struct pattern forms[] = {
		PATTERN("\xf3\x0f\x1e\xfa"),
		PATTERN("\x66\x0f\x1f\x00"),
		PATTERN("\x0f\x1f\x40\xd6"),
	};

	return skip_one_of(forms, sizeof(forms) / sizeof(forms[0]), bytes, nr_bytes);
}

/* "mov %reg,(%rsp)"; -1: it is not. */
static int register_stored(const uint8_t *bytes, size_t nr_bytes)
{
	if (nr_bytes < 4 || (bytes[0] & 0xfb) != 0x48 || bytes[1] != 0x89 ||
	    (bytes[2] & 0xc7) != 0x04 || bytes[3] != 0x24)
		return -1;
	return bytes[2] >> 3 | (bytes[0] & 4) << 1;
}

/* "jmp *%reg"; -1: it is not. */
static int register_jumped(const uint8_t *bytes, size_t nr_bytes)
{
	int high = nr_bytes && bytes[0] == 0x41;

	if (nr_bytes < 2 + (size_t)high || bytes[high] != 0xff || (bytes[high + 1] & 0xf8) != 0xe0)
		return -1;
	return (bytes[high + 1] & 7) | high << 3;
}

/* The register of what looks like an entry of the array of retpolines; -1: it does not. */
static int register_of(struct code *code, uint64_t cr3, uint64_t va)
{
	uint8_t bytes[THUNK_BYTES];
	size_t nr_bytes, at, skipped;

	(void)code_bytes(code, cr3, va, bytes, sizeof(bytes), &nr_bytes);
	at = skip_one_of(account_depth, 2, bytes, nr_bytes);
	skipped = skip_one_of(retpolines, 2, bytes + at, nr_bytes - at);
	at += skipped;
	if (skipped)
		return register_stored(bytes + at, nr_bytes - at);
	at += skip_one_of(&lfence, 1, bytes + at, nr_bytes - at);
	return register_jumped(bytes + at, nr_bytes - at);
}

/* Code of others may look like one of them, but not like two in their order. */
static bool is_retpoline(struct code *code, uint64_t cr3, uint64_t va)
{
	int reg = va % THUNK_BYTES ? -1 : register_of(code, cr3, va);

	return reg >= 0 && (register_of(code, cr3, va + THUNK_BYTES) == reg + 1 ||
			    (reg && register_of(code, cr3, va - THUNK_BYTES) == reg - 1));
}

/* Is the lower half of the line of the cache at @va INT3? */
static bool is_after_int3(struct code *code, uint64_t cr3, uint64_t va)
{
	uint8_t bytes[32];
	size_t nr_bytes, at = 0;

	(void)code_bytes(code, cr3, va, bytes, sizeof(bytes), &nr_bytes);
	while (at < nr_bytes && bytes[at] == INT3)
		at++;
	return at == sizeof(bytes);
}

/*
 * The kernel makes a thunk of its own for an indirect branch that ITS could mislead (872df34d7c51;
 * its_init_thunk(), arch/x86/kernel/alternative.c): "jmp *%reg; int3" in the upper half of a line
 * of the cache, in a page of INT3; with FineIBT entered at a "jne" before that, after 0xea.
 */
static bool is_its_thunk(struct code *code, uint64_t cr3, uint64_t va)
{
	static const uint8_t jne[] = { 0xea, 0x75, 0xfd };
	uint8_t bytes[3 + 2 + 4] = { 0 }, *at = bytes + sizeof(jne);
	size_t nr_bytes;

	if (va % 64 < 32 || !is_after_int3(code, cr3, va & ~63ULL))
		return false;
	(void)code_bytes(code, cr3, va - sizeof(jne), bytes, sizeof(bytes), &nr_bytes);
	if (!memcmp(at - 1, jne, sizeof(jne)))
		at += 2;
	else if (at[-1] != INT3 && memcmp(bytes, jne, sizeof(jne)))
		return false;
	if (*at == 0x41)
		at++;
	return at[0] == 0xff && (at[1] & 0xf8) == 0xe0 && at[2] == INT3;
}

/* Is a retpoline at most @back_bytes before @va, or less than @ahead_bytes after? */
static bool is_near_retpoline(struct code *code, uint64_t cr3, uint64_t va, uint64_t back_bytes,
			      uint64_t ahead_bytes)
{
	uint64_t middle = va & ~(uint64_t)(THUNK_BYTES - 1);

	for (uint64_t bytes = 0; bytes <= back_bytes || bytes < ahead_bytes; bytes += THUNK_BYTES)
		if ((bytes <= back_bytes && is_retpoline(code, cr3, middle - bytes)) ||
		    (bytes < ahead_bytes && is_retpoline(code, cr3, middle + bytes)))
			return true;
	return false;
}

/* Others may look like one that counts calls; those are among the retpolines. */
static bool is_among_thunks(struct code *code, uint64_t cr3, uint64_t va)
{
	return is_near_retpoline(code, cr3, va, THUNKS_MAX_BYTES - THUNK_BYTES, THUNKS_MAX_BYTES);
}

/* Return thunks are behind the retpolines; in 6.1.192 by 0x5b0 bytes, thunks for ITS included. */
#define RETURN_THUNKS_BYTES	2048

/*
 * its_return_thunk and __x86_return_thunk of arch/x86/lib/retpoline.S: "ret; int3".  The last bytes
 * of a function are the same where returns need no thunk, and .spinlock.text lies before all this.
 * A static call that calls nothing begins so, too, but then comes UD1 (asm/static_call.h).
 */
static bool is_plain_return_thunk(struct code *code, uint64_t cr3, uint64_t va)
{
	static const struct pattern ret_int3 = PATTERN("\xc3\xcc");
	static const struct pattern ud1 = PATTERN("\x0f\xb9\xcc");
	uint8_t bytes[8];
	size_t nr_bytes;

	if (va % RETURN_THUNK_ALIGN)
		return false;
	(void)code_bytes(code, cr3, va, bytes, sizeof(bytes), &nr_bytes);
	return matches(&ret_int3, bytes, nr_bytes) &&
	       !(nr_bytes == sizeof(bytes) && matches(&ud1, bytes + 5, 3)) &&
	       is_near_retpoline(code, cr3, va, RETURN_THUNKS_BYTES, 0);
}

/* call_depth_return_thunk there, v6.2: "shl $5" of that variable, "jz"; 16 calls are the longest. */
static const struct pattern unwind_depth[] = {
	PATTERN_MASKED("\x65\x48\xc1\x24\x25\0\0\0\0\x05\x74",
		       "\xff\xff\xff\xff\xff\0\0\0\0\xff\xff"),
	PATTERN_MASKED("\x65\x48\xc1\x25\0\0\0\0\x05\x74", "\xff\xff\xff\xff\0\0\0\0\xff\xff"),
};

#define DEPTH_THUNK_MAX_BYTES	144

static bool is_depth_thunk(struct code *code, uint64_t cr3, uint64_t va)
{
	uint8_t bytes[16];
	size_t nr_bytes, at;

	(void)code_bytes(code, cr3, va, bytes, sizeof(bytes), &nr_bytes);
	at = kernel_code_endbr(bytes, nr_bytes);
	return skip_one_of(unwind_depth, 2, bytes + at, nr_bytes - at) &&
	       is_among_thunks(code, cr3, va);
}

static bool is_in_depth_thunk(struct code *code, uint64_t cr3, uint64_t va)
{
	uint64_t first = va & ~(uint64_t)(RETURN_THUNK_ALIGN - 1);

	for (uint64_t back = 0; back < DEPTH_THUNK_MAX_BYTES; back += RETURN_THUNK_ALIGN)
		if (is_depth_thunk(code, cr3, first - back))
			return true;
	return false;
}

/*
 * Against SRSO on AMD's (arch/x86/lib/retpoline.S, v6.5): "call srso_safe_ret; ud2" returns to the
 * caller of what jumped there, as srso_safe_ret drops its own return address.  It begins a line of
 * the cache.  srso_alias_safe_ret has these bits set above one of 2 MiB (vmlinux.lds.S).
 */
#define SAFE_RET_TEXT		"\x48\x8d\x64\x24\x08\xc3\xcc"
#define SAFE_RET_AT		5
#define SAFE_RET_ALIGN		64
#define SAFE_RET_ALIAS_ALIGN	0x200000
#define SAFE_RET_ALIAS		(1 << 2 | 1 << 8 | 1 << 14 | 1 << 20)
#define SAFE_CALL_BYTES		5

static const struct pattern safe_ret = PATTERN(SAFE_RET_TEXT);
static const struct pattern safe_call = PATTERN_MASKED("\xe8\0\0\0\0\x0f\x0b",
						       "\xff\0\0\0\0\xff\xff");

static bool is_safe_ret(struct code *code, uint64_t cr3, uint64_t va)
{
	uint8_t bytes[sizeof(SAFE_RET_TEXT) - 1];
	size_t nr_bytes;

	if (va % SAFE_RET_ALIGN && va % SAFE_RET_ALIAS_ALIGN != SAFE_RET_ALIAS)
		return false;
	(void)code_bytes(code, cr3, va, bytes, sizeof(bytes), &nr_bytes);
	return matches(&safe_ret, bytes, nr_bytes);
}

static bool is_in_srso_thunk(struct code *code, uint64_t cr3, uint64_t va)
{
	uint8_t bytes[8];
	size_t nr_bytes;
	int32_t distance;

	if (is_safe_ret(code, cr3, va) || is_safe_ret(code, cr3, va - SAFE_RET_AT))
		return true;
	(void)code_bytes(code, cr3, va, bytes, sizeof(bytes), &nr_bytes);
	if (!matches(&safe_call, bytes, nr_bytes))
		return false;
	memcpy(&distance, bytes + 1, sizeof(distance));
	return is_safe_ret(code, cr3, va + SAFE_CALL_BYTES + (uint64_t)(int64_t)distance);
}

/* The bytes at @at, or those of its beginning, are like one. */
static bool may_be_in_srso_thunk(const uint8_t *page, size_t at)
{
	return page[at] == 0x48 ? page[at + 1] == 0x8d && page[at + 2] == 0x64 :
	       page[at] == 0xc3 ? page[at - SAFE_RET_AT] == 0x48 :
	       page[at] == 0xe8 && page[at + SAFE_CALL_BYTES] == 0x0f;
}

/* A thunk that an address is in begins in its line of the cache or in the two lines before. */
#define LINE_BYTES		64
#define LINES_BEFORE_BYTES	(2 * LINE_BYTES)

_Static_assert(DEPTH_THUNK_MAX_BYTES - RETURN_THUNK_ALIGN <= LINES_BEFORE_BYTES,
	       "the longest thunk begins there");

/* How one of them begins, or what is before its first pattern. */
static bool may_begin_thunk(const uint8_t *bytes)
{
	switch (bytes[0]) {
	case 0x65: return bytes[1] == 0x48;
	case 0xe8: return bytes[2] == 0x00;
	case 0x0f: return bytes[1] == 0xae || bytes[KERNEL_CODE_ENDBR_BYTES] == 0x65;
	case 0xff: return (bytes[1] & 0xf8) == 0xe0;
	case 0x41: return bytes[1] == 0xff;
	case 0xc3: return bytes[1] == INT3;
	case 0x66:
	case 0xf3: return bytes[KERNEL_CODE_ENDBR_BYTES] == 0x65;
	}
	return false;
}

/* Nearly all code is in no thunk, which a look at where one would begin in the page shows. */
static bool may_be_in_thunk(struct code *code, uint64_t cr3, uint64_t va)
{
	const struct code_page *page = code_page_at(code, cr3, va);
	size_t end = va % BTSREC_PAGE_BYTES, line = end & ~(size_t)(LINE_BYTES - 1);

	if (line < LINES_BEFORE_BYTES || line + LINE_BYTES > page->valid_bytes)
		return true;
	/* One that ITS needs is in a line that begins so. */
	if (page->bytes[line] == INT3)
		return true;
	for (size_t at = line - LINES_BEFORE_BYTES; at <= end; at += RETURN_THUNK_ALIGN)
		if (may_begin_thunk(page->bytes + at))
			return true;
	return end + SAFE_CALL_BYTES >= page->valid_bytes || may_be_in_srso_thunk(page->bytes, end);
}

enum code_thunk kernel_code_thunk(struct code *code, uint64_t cr3, uint64_t va)
{
	if (!may_be_in_thunk(code, cr3, va))
		return CODE_NO_THUNK;
	if (is_retpoline(code, cr3, va & ~(uint64_t)(THUNK_BYTES - 1)) ||
	    is_its_thunk(code, cr3, va))
		return CODE_THUNK_INDIRECT;
	if (is_plain_return_thunk(code, cr3, va) || is_in_depth_thunk(code, cr3, va) ||
	    is_in_srso_thunk(code, cr3, va))
		return CODE_THUNK_RETURN;
	return CODE_NO_THUNK;
}

/* --- Hooks, trampolines, threads ----------------------------------------- */

/**
 * struct known - the first bytes of code that the kernel puts in another's way
 * @max_skipped: so many bytes before them may be what nr_skipped() knows.
 */
struct known {
	enum kernel_code code;
	size_t max_skipped;
	struct pattern pattern;
};

/* "sub $N,%rsp; mov %rax,D(%rsp); mov %rdx,D(%rsp)": it saves what a function has returned. */
static const struct known table[] = {
	/* return_to_handler of ftrace_64.S, to v6.13 */
	{ KERNEL_CODE_HOOK, 8,
	  PATTERN_MASKED("\x48\x83\xec\0\x48\x89\x04\x24\x48\x89\x54\x24\x08",
			 "\xff\xff\xff\0\xff\xff\xff\xff\xff\xff\xff\xff\xff") },
	/* the same with a struct ftrace_regs, since */
	{ KERNEL_CODE_HOOK, 12,
	  PATTERN("\x48\x81\xec\xa8\0\0\0\x48\x89\x44\x24\x50\x48\x89\x54\x24\x60") },
	/* kretprobe_trampoline of kprobes/core.c, to v5.15: "push %rsp; pushf", all registers */
	{ KERNEL_CODE_HOOK, 4, PATTERN("\x54\x9c\x48\x83\xec\x18\x57\x56\x52\x51\x50\x41\x50") },
	/* ftrace_caller and ftrace_regs_caller of ftrace_64.S, and copies: it saves arguments */
	{ KERNEL_CODE_TRAMPOLINE, 40,
	  PATTERN("\x48\x81\xec\xa8\0\0\0\x48\x89\x44\x24\x50\x48\x89\x4c\x24\x58") },
	/* ret_from_fork, since v6.5 ret_from_fork_asm, of entry_64.S: "mov %rax,%rdi" */
	{ KERNEL_CODE_FORK, 10, PATTERN("\x48\x89\xc7") },
};

#define KNOWN_MAX_BYTES	64

/* arch_rethook_trampoline (v5.18) and __kretprobe_trampoline (v5.15) push their own address. */
static bool pushes_itself(const uint8_t *bytes, size_t nr_bytes, uint64_t va)
{
	size_t at = kernel_code_endbr(bytes, nr_bytes);
	int32_t pushed;

	if (nr_bytes < at + 1 + sizeof(pushed) || bytes[at] != 0x68)
		return false;
	memcpy(&pushed, bytes + at + 1, sizeof(pushed));
	return (uint64_t)(int64_t)pushed == va;
}

/* The NOPs of asm/nops.h: prefixes, then NOP or NOPL with its ModRM; 0: it is none. */
static size_t nop_bytes(const uint8_t *bytes, size_t nr_bytes)
{
	static const struct pattern forms[] = {
		PATTERN("\x90"),	 PATTERN("\x0f\x1f\x00"),
		PATTERN("\x0f\x1f\x40\0"), PATTERN("\x0f\x1f\x44\0\0"),
		PATTERN("\x0f\x1f\x80\0\0\0\0"), PATTERN("\x0f\x1f\x84\0\0\0\0\0"),
	};
	size_t at = 0, nr;

	while (at < nr_bytes && (bytes[at] == 0x66 || bytes[at] == 0x2e))
		at++;
	nr = skip_one_of(forms, sizeof(forms) / sizeof(forms[0]), bytes + at, nr_bytes - at);
	return nr ? at + nr : 0;
}

/*
 * What may be before the bytes that count: ENDBR64, PUSHF, CALL_DEPTH_ACCOUNT or NOPs instead of
 * it, a first "sub $8,%rsp", in 7.3 after "mov %rsp,%rdi".  With CONFIG_FRAME_POINTER frames for
 * the caller and its caller.
 */
static size_t nr_skipped(const uint8_t *bytes, size_t nr_bytes)
{
	static const struct pattern before[] = {
		PATTERN("\x9c"),
		PATTERN("\x48\x83\xec\x08"),
		PATTERN("\x48\x89\xe7"),
		PATTERN("\x55"),
		PATTERN_MASKED("\xff\x74\x24\0", "\xff\xff\xff\0"),
		PATTERN("\x48\x89\xe5"),
	};
	size_t nr = skip_one_of(before, sizeof(before) / sizeof(before[0]), bytes, nr_bytes);

	if (!nr)
		nr = kernel_code_endbr(bytes, nr_bytes);
	if (!nr)
		nr = skip_one_of(account_depth, 2, bytes, nr_bytes);
	return nr ? nr : nop_bytes(bytes, nr_bytes);
}

static bool is_known(const struct known *known, const uint8_t *bytes, size_t nr_bytes)
{
	size_t at = 0, nr;

	while (!matches(&known->pattern, bytes + at, nr_bytes - at)) {
		nr = nr_skipped(bytes + at, nr_bytes - at);
		if (!nr || at + nr > known->max_skipped)
			return false;
		at += nr;
	}
	return true;
}

/* What __switch_to() was called from goes on so, too. */
static bool is_after_call(struct code *code, uint64_t va)
{
	uint8_t byte = 0;
	size_t nr_bytes;

	(void)code_bytes(code, 0, va - NEAR_CALL_BYTES, &byte, sizeof(byte), &nr_bytes);
	return byte == NEAR_CALL;
}

enum kernel_code kernel_code_at(struct code *code, uint64_t va)
{
	uint8_t bytes[KNOWN_MAX_BYTES];
	size_t nr_bytes;

	if (!code_is_kernel(va))
		return KERNEL_CODE_PLAIN;
	(void)code_bytes(code, 0, va, bytes, sizeof(bytes), &nr_bytes);
	if (pushes_itself(bytes, nr_bytes, va))
		return KERNEL_CODE_HOOK;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (is_known(&table[i], bytes, nr_bytes) &&
		    (table[i].code != KERNEL_CODE_FORK || !is_after_call(code, va)))
			return table[i].code;
	return KERNEL_CODE_PLAIN;
}

/* What ftrace has where it does not trace a function: BYTES_NOP5 of asm/nops.h. */
static const uint8_t nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

#define FUNCTION_ALIGN 16

bool kernel_code_entry(struct code *code, uint64_t va)
{
	uint8_t bytes[sizeof(nop5)] = { 0 };
	struct code_insn insn;
	size_t nr_bytes;

	if (!code_is_kernel(va) || va % FUNCTION_ALIGN)
		return false;
	(void)code_bytes(code, 0, va, bytes, sizeof(bytes), &nr_bytes);
	if (kernel_code_endbr(bytes, nr_bytes) || !memcmp(bytes, nop5, sizeof(nop5)))
		return true;
	return *bytes == NEAR_CALL && !code_decode(code, 0, va, false, &insn) && insn.has_target &&
	       kernel_code_at(code, insn.target) == KERNEL_CODE_TRAMPOLINE;
}

/* --- Changes of stacks --------------------------------------------------- */

/* __switch_to_asm() is 100 bytes long; most of it is FILL_RETURN_BUFFER. */
#define SWITCH_MAX_BYTES	192

/* "mov %rsp,D(%rdi); mov D(%rsi),%rsp" of entry_64.S: D is task_struct.thread.sp. */
static bool changes_stacks(const uint8_t *bytes)
{
	static const struct pattern pattern =
		PATTERN_MASKED("\x48\x89\xa7\0\0\0\0\x48\x8b\xa6\0\0\0\0",
			       "\xff\xff\xff\0\0\0\0\xff\xff\xff\0\0\0\0");

	return matches(&pattern, bytes, pattern.nr_bytes) && !memcmp(bytes + 3, bytes + 10, 4);
}

#define CHANGE_BYTES 14

/* Where the change of stacks ends that is before @va; 0: there is none. */
static uint64_t change_before(struct code *code, uint64_t va)
{
	uint8_t bytes[SWITCH_MAX_BYTES];
	size_t nr_bytes;

	(void)code_bytes(code, 0, va - sizeof(bytes), bytes, sizeof(bytes), &nr_bytes);
	for (size_t at = 0; at + CHANGE_BYTES <= nr_bytes; at++) {
		/* The third byte of the change is the rarest. */
		const uint8_t *third = memchr(bytes + at + 2, 0xa7, nr_bytes - at - 2);

		if (!third)
			break;
		at = (size_t)(third - bytes) - 2;
		if (at + CHANGE_BYTES <= nr_bytes && changes_stacks(bytes + at))
			return va - sizeof(bytes) + at + CHANGE_BYTES;
	}
	return 0;
}

/* After the jump to __switch_to(), the first that leads away. */
static uint64_t end_of_switch(struct code *code, uint64_t begin_kva)
{
	uint64_t va = begin_kva;
	struct code_insn insn;

	while (va - begin_kva < SWITCH_MAX_BYTES && !code_decode(code, 0, va, false, &insn)) {
		va += insn.length_bytes;
		if (insn.class == CODE_RET || insn.class == CODE_JUMP_IND)
			return va;
		if (insn.class == CODE_JUMP && insn.target - begin_kva >= SWITCH_MAX_BYTES)
			return va;
	}
	return va;
}

bool kernel_code_switched(struct code *code, uint64_t va, struct kernel_switch *ret)
{
	struct kernel_switch *known = &code->last_switch;
	uint64_t begin_kva;

	if (!code_is_kernel(va))
		return false;
	if (va - known->begin_kva >= known->end_kva - known->begin_kva) {
		begin_kva = change_before(code, va);
		if (!begin_kva || end_of_switch(code, begin_kva) <= va)
			return false;
		known->begin_kva = begin_kva;
		known->end_kva = end_of_switch(code, begin_kva);
	}
	*ret = *known;
	return true;
}

/* --- Patches -------------------------------------------------------------- */

/* What the kernel has where it has taken a short jump out: BYTES_NOP2 of asm/nops.h. */
static const uint8_t nop2[] = { 0x66, 0x90 };

static bool is_nop(struct code *code, uint64_t va)
{
	uint8_t bytes[sizeof(nop5)];
	size_t nr_bytes;

	(void)code_bytes(code, 0, va, bytes, sizeof(bytes), &nr_bytes);
	return (nr_bytes >= sizeof(nop2) && !memcmp(bytes, nop2, sizeof(nop2))) ||
	       (nr_bytes >= sizeof(nop5) && !memcmp(bytes, nop5, sizeof(nop5)));
}

static bool is_direct(struct code *code, uint64_t va)
{
	struct code_insn insn;

	return !code_insn(code, 0, va, false, &insn) && insn.has_target &&
	       (insn.class == CODE_CALL || insn.class == CODE_JUMP);
}

/* A breakpoint or a probe of the kernel or of a program.  Of INT3 as padding there are more. */
static bool is_breakpoint(struct code *code, uint64_t cr3, uint64_t va)
{
	uint8_t bytes[2];
	size_t nr_bytes;

	(void)code_bytes(code, cr3, va, bytes, sizeof(bytes), &nr_bytes);
	return nr_bytes == sizeof(bytes) && bytes[0] == INT3 && bytes[1] != INT3;
}

/* A compiler calls no trampoline, nor does it know what is outside of the kernel's image. */
static bool was_put_in(struct code *code, const struct located *located, uint64_t va)
{
	struct code_insn insn;

	if (code_text_at(code, va) == CODE_TEXT_SITE)
		return true;
	if (code_insn(code, 0, va, false, &insn) || !insn.has_target ||
	    (insn.class != CODE_CALL && insn.class != CODE_JUMP))
		return false;
	return kernel_code_at(code, insn.target) == KERNEL_CODE_TRAMPOLINE ||
	       (code_text_at(code, va) != CODE_TEXT_ANEW && !located_module_at(located, va) &&
		(located_module_at(located, insn.target) ||
		 code_text_at(code, insn.target) == CODE_TEXT_ANEW));
}

/* What a tracepoint calls: its only probe, or what calls all of them. */
static bool led_into_module(const struct located *located, const struct btsrec_record *branch)
{
	return !located_module_at(located, branch->from) && located_module_at(located, branch->to);
}

static bool was_taken_out(struct code *code, const struct located *located,
			  const struct btsrec_record *branch, enum code_fault fault)
{
	if (code_text_at(code, branch->from) == CODE_TEXT_SITE)
		return true;
	if (fault == CODE_NO_BRANCH)
		return is_nop(code, branch->from) ||
		       code_text_at(code, branch->to) == CODE_TEXT_ANEW;
	return is_direct(code, branch->from) && led_into_module(located, branch);
}

bool kernel_code_patched(struct code *code, const struct located *located, uint64_t start,
			 const struct btsrec_record *branch, uint64_t cr3, enum code_fault fault,
			 uint64_t fault_va)
{
	if (fault == CODE_LEAVES && fault_va != start && is_breakpoint(code, cr3, fault_va))
		return true;
	if (!code_is_kernel(branch->from))
		return code_is_made(code, cr3, branch->from);
	if (code_text_at(code, branch->from) == CODE_TEXT_ANEW)
		return true;
	switch (fault) {
	case CODE_LEAVES:
		return was_put_in(code, located, fault_va);
	case CODE_NO_BRANCH:
	case CODE_OTHER_TARGET:
		return was_taken_out(code, located, branch, fault);
	default:
		return false;
	}
}

bool kernel_code_maybe_patched(struct code *code, enum code_fault fault, uint64_t fault_va)
{
	struct code_insn insn;

	return fault == CODE_LEAVES && code_is_kernel(fault_va) &&
	       code_text_at(code, fault_va) == CODE_TEXT_MAYBE &&
	       !code_insn(code, 0, fault_va, false, &insn) && insn.class == CODE_JUMP;
}
