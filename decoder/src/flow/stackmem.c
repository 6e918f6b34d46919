// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/stackmem.h"

#include <string.h>

#include "flow/saved_frame.h"

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
	uint64_t words[IRET_SS];

	if (at + sizeof(words) > nr_bytes)
		return false;
	memcpy(words, buf + at, sizeof(words));
	return words[IRET_CS] <= CS_MAX &&
	       (words[IRET_CS] & RPL_MASK) == (code_is_kernel(ip) ? 0 : RPL_MASK) &&
	       words[IRET_RFLAGS] & RFLAGS_ALWAYS;
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
			mem->sp = word_at(buf, at + IRET_RSP * WORD_BYTES);
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
