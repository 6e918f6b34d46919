// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/stackmem.h"

#include <string.h>

#define WORD_BYTES	8

/*
 * RIP, CS, RFLAGS, RSP, SS: as an interrupt stores them (SDM vol. 3A, "64-Bit Mode Stack
 * Frame"), and as struct pt_regs has them for system calls.
 */
#define SAVED_CS_BYTES		8
#define SAVED_FLAGS_BYTES	16
#define SAVED_SP_BYTES		24

#define EVENT_FILTER_MAX	0xffff
#define RPL_MASK		3
#define RFLAGS_ALWAYS		2	/* bit 1 is always 1 (SDM vol. 1, "EFLAGS Register") */

size_t stackmem_read(const struct stackmem *mem, uint64_t sp, void *buf, size_t max_bytes)
{
	size_t nr_bytes = 0, nr_read = 0;
	uint8_t *to = buf;

	while (nr_bytes < max_bytes) {
		size_t nr = BTSREC_PAGE_BYTES - (sp + nr_bytes) % BTSREC_PAGE_BYTES;

		if (nr > max_bytes - nr_bytes)
			nr = max_bytes - nr_bytes;
		if (code_bytes(mem->code, mem->cr3, sp + nr_bytes, to + nr_bytes, nr, &nr_read))
			break;
		nr_bytes += nr;
	}
	return nr_bytes;
}

static uint64_t word_at(const uint8_t *buf, size_t at)
{
	uint64_t word;

	memcpy(&word, buf + at, sizeof(word));
	return word;
}

/* Not only the same number, such as RCX, in which SYSCALL keeps RIP. */
static bool is_saved_frame(const uint8_t *buf, size_t at, size_t nr_bytes, uint64_t ip)
{
	uint64_t cs;

	if (at + SAVED_SP_BYTES + WORD_BYTES > nr_bytes)
		return false;
	cs = word_at(buf, at + SAVED_CS_BYTES);
	return cs <= EVENT_FILTER_MAX && (cs & RPL_MASK) == (code_is_kernel(ip) ? 0 : RPL_MASK) &&
	       word_at(buf, at + SAVED_FLAGS_BYTES) & RFLAGS_ALWAYS;
}

static enum stackmem_found find_from(struct stackmem *mem, uint64_t sp, const struct frame *frame,
				     uint64_t *ret_link)
{
	uint8_t buf[STACKMEM_USER_BYTES];
	size_t nr_bytes = stackmem_read(mem, sp, buf, code_is_kernel(sp) ? STACKMEM_KERNEL_BYTES :
				     STACKMEM_USER_BYTES);

	if (sp % WORD_BYTES || nr_bytes < WORD_BYTES)
		return STACKMEM_NOT_IN_DUMP;
	for (size_t at = 0; at + WORD_BYTES <= nr_bytes; at += WORD_BYTES) {
		if (word_at(buf, at) != frame->return_va)
			continue;
		if (!frame_is_entry(frame->kind))
			mem->sp = sp + at + WORD_BYTES;
		else if (is_saved_frame(buf, at, nr_bytes, frame->return_va))
			mem->sp = word_at(buf, at + SAVED_SP_BYTES);
		else
			continue;
		return STACKMEM_FOUND;
	}
	*ret_link = word_at(buf, nr_bytes / WORD_BYTES * WORD_BYTES - WORD_BYTES);
	return STACKMEM_MISSING;
}

enum stackmem_found stackmem_find(struct stackmem *mem, const struct frame *frame)
{
	uint64_t link = 0, unused;
	enum stackmem_found found = find_from(mem, mem->sp, frame, &link);

	/* The uppermost word of an interrupt stack is the stack pointer before. */
	if (found == STACKMEM_MISSING && code_is_kernel(mem->sp) && code_is_kernel(link) &&
	    find_from(mem, link, frame, &unused) == STACKMEM_FOUND)
		return STACKMEM_FOUND;
	return found;
}
