/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What validation found: every reject with its reason, and remarks that do not
 * make anything unusable.  A list, because a dump can be wrong in many places
 * and the user wants all of them at once.
 */
#ifndef BTSREC_DIAG_H
#define BTSREC_DIAG_H

#include <btsrec/decoder.h>

/* cpu of a diagnostic that is about no CPU. */
#define DIAG_NO_CPU	UINT32_MAX
#define DIAG_TEXT_BYTES 192
/* A dump that is wrong in more places is described well enough by the first ones. */
#define DIAGS_MAX 1024

/**
 * struct diag - one sentence about the dump
 * @status: kind of the fault; BTSREC_OK: a remark, not a fault.
 * @cpu: CPU number or DIAG_NO_CPU.
 * @pa: the page it is about; 0: none.
 * @text: without newline and final period; names neither @cpu nor @pa.
 */
struct diag {
	enum btsrec_status status;
	uint32_t cpu;
	uint64_t pa;
	char text[DIAG_TEXT_BYTES];
};

/**
 * struct diags - a list, oldest first
 * @list: owned by this struct.
 * @nr_dropped: diagnostics beyond DIAGS_MAX or beyond memory.
 * @nomem: some are beyond memory.
 */
struct diags {
	struct diag *list;
	size_t nr;
	size_t nr_room;
	uint64_t nr_dropped;
	bool nomem;
};

/**
 * diags_add() - append a diagnostic; never fails, but may count it as dropped
 *
 * Return: @status.
 */
enum btsrec_status diags_add(struct diags *diags, enum btsrec_status status, uint32_t cpu,
			     uint64_t pa, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/** diags_fini() - free the list and leave an empty one. */
void diags_fini(struct diags *diags);

#endif /* BTSREC_DIAG_H */
