/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the HTML report share; nobody else includes this. */
#ifndef BTSREC_REPORT_H
#define BTSREC_REPORT_H

#include "calltree.h"
#include "counts.h"
#include "render.h"

#define REPORT_MAX_KINDS 255

/**
 * struct report - one report under way
 * @html: where it goes; @names: its addresses as JSON, collected in @text until the
 *	histories are written.
 * @addresses: by address and, of user addresses, the CR3 that names depend on; what is
 *	counted is the number + 1.
 * @kinds: the words for kinds of branches, @nr_kinds of them.
 * @nr_cpus: written so far.
 * @nomem: something was left out for lack of memory.
 */
struct report {
	struct renderer html;
	struct renderer names;
	char *text;
	size_t text_bytes;
	size_t text_room;
	struct counts addresses;
	char kinds[REPORT_MAX_KINDS][32];
	unsigned int nr_kinds;
	unsigned int nr_cpus;
	bool nomem;
};

/** report_address() - the number of @va as @side saw it; it is new if nobody asked before */
uint32_t report_address(struct report *report, const struct btsrec_side *side, uint64_t va);

/** report_kind() - the number of the word @kind */
unsigned int report_kind(struct report *report, const char *kind);

/** report_cpu() - the history of @cpu as a JSON object */
enum btsrec_status report_cpu(struct report *report, unsigned int cpu);

/**
 * struct base64 - bytes on their way into a JSON string
 * @bits: @nr_bits of them are not written yet.
 */
struct base64 {
	struct out *out;
	uint32_t bits;
	unsigned int nr_bits;
};

/** base64_u32() - four bytes, the lowest first */
void base64_u32(struct base64 *base64, uint32_t value);

/** base64_byte() - one byte */
void base64_byte(struct base64 *base64, uint8_t value);

/** base64_end() - the rest and the padding */
void base64_end(struct base64 *base64);

#endif /* BTSREC_REPORT_H */
