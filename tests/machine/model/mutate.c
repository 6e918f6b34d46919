// SPDX-License-Identifier: GPL-2.0-or-later
#include <time.h>

#include "ds.h"
#include "mutate.h"
#include "vcpu.h"

#define PERIOD		1000
#define LATE_NS		100000000L
#define INT3		0xcc

enum mutation mutation;

/* Where the kernel handles NMIs. */
static uint64_t late_entry;

/**
 * mutate_set() - from now on, on all CPUs
 * @number: of a mutation; 0 and others that are none: none.  An address of the kernel: it handles
 *	NMIs there.
 */
void mutate_set(uint64_t number)
{
	if (number >> 63) {
		late_entry = number;
		return;
	}
	__atomic_store_n(&mutation, number < NR_MUTATIONS ? (enum mutation)number : MUTATION_NONE,
			 __ATOMIC_RELAXED);
}

static bool is_user(uint64_t address)
{
	return !(address >> 63);
}

/* Opcode and the byte after it, at @from, without prefixes. */
static void read_opcode(uint64_t from, uint8_t ret[2])
{
	uint8_t bytes[4] = { 0 };
	unsigned int at = 0;

	vcpu_read_code(from, bytes, sizeof(bytes));
	while (at < 2 && ((bytes[at] & 0xf0) == 0x40 || bytes[at] == 0xf2 || bytes[at] == 0xf3))
		at++;
	ret[0] = bytes[at];
	ret[1] = bytes[at + 1];
}

static unsigned int modrm_op(const uint8_t code[2])
{
	return code[0] == 0xff ? code[1] >> 3 & 7 : 0;
}

/** mutate_untaken() - whether a branch at @from that was not taken is recorded */
bool mutate_untaken(uint64_t from)
{
	return mutation == MUTATION_UNTAKEN && is_user(from);
}

/** mutate_drops_trap() - whether the branch at @from, behind which an exception is, is not */
bool mutate_drops_trap(uint64_t from)
{
	return mutation == MUTATION_TRAP && is_user(from);
}

static bool drops_branch(uint64_t from, uint64_t to)
{
	uint8_t code[2];

	if (mutation == MUTATION_SYSRET)
		return !is_user(from) && is_user(to);
	if (!is_user(from))
		return false;
	read_opcode(from, code);
	switch (mutation) {
	case MUTATION_JUMP_NEXT:
		return (code[0] == 0xeb && to == from + 2) || (code[0] == 0xe9 && to == from + 5);
	case MUTATION_INDIRECT:
		return modrm_op(code) == 4;
	case MUTATION_RET:
		return code[0] == 0xc3 || code[0] == 0xc2;
	case MUTATION_SYSCALL:
		return code[0] == 0x0f && code[1] == 0x05;
	case MUTATION_FAR:
		return code[0] == 0xcb || code[0] == 0xcf || modrm_op(code) == 3 ||
		       modrm_op(code) == 5;
	default:
		return false;
	}
}

static bool is_string(const uint8_t code[2])
{
	return (code[0] >= 0xa4 && code[0] <= 0xa7) || (code[0] >= 0xaa && code[0] <= 0xaf);
}

/* UD2, DIV, and MOV to memory, as verify-hardware has them. */
static bool may_fault(const uint8_t code[2])
{
	return (code[0] == 0x0f && code[1] == 0x0b) || code[0] == 0xf7 || code[0] == 0xc6;
}

/** mutate_drops_interrupt() - whether the entry of the kernel from @from is not recorded */
bool mutate_drops_interrupt(uint64_t from)
{
	uint8_t code[2];

	if (mutation != MUTATION_INTERRUPT || !is_user(from))
		return false;
	read_opcode(from, code);
	return is_string(code);
}

/** mutate_from() - from where the record of an exception or interrupt at @from is */
uint64_t mutate_from(uint64_t from)
{
	uint8_t code[2];

	if (!is_user(from))
		return from;
	read_opcode(from, code);
	if (mutation == MUTATION_INTERRUPT_FROM && is_string(code))
		return from - 1;
	if (mutation == MUTATION_INT3_NEXT && code[0] == INT3)
		return from + 1;
	return mutation == MUTATION_FAULT_NEXT && may_fault(code) ? from + 2 : from;
}

/** mutate_times() - how often a branch of the calling vCPU is recorded */
unsigned int mutate_times(uint64_t from, uint64_t to)
{
	static __thread unsigned int nr_user;
	bool now = is_user(from) && ++nr_user % PERIOD == 0;

	if (mutation == MUTATION_DOUBLE)
		return now ? 2 : 1;
	if (mutation == MUTATION_DROP)
		return now ? 0 : 1;
	return drops_branch(from, to) ? 0 : 1;
}

/** mutate_flags() - the third word of a record that would be @flags */
uint64_t mutate_flags(uint64_t flags, uint64_t from, uint64_t to)
{
	switch (mutation) {
	case MUTATION_FLAGS:
		return flags | 1;
	case MUTATION_PREDICTOR:
		return to < from ? DS_FLAG_PREDICTED : 0;
	case MUTATION_PREDICTED:
		return to < from ? 0 : DS_FLAG_PREDICTED;
	default:
		return flags;
	}
}

/** mutate_entry() - @cpu enters the kernel at @to */
void mutate_entry(unsigned int cpu, uint64_t to)
{
	struct timespec delay = { 0, LATE_NS };

	if (mutation == MUTATION_LATE && cpu && to == late_entry)
		nanosleep(&delay, NULL);
}
