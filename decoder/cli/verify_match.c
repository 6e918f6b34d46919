// SPDX-License-Identifier: GPL-2.0-or-later
/* Records against the branches that were executed. */
#include <stdio.h>
#include <string.h>

#include "verify.h"

#define PLACE_BYTES 32

static bool is_kernel(uint64_t address)
{
	return address >> 63;
}

static bool is_in(const struct verify_code *code, uint64_t address)
{
	return address >= (uintptr_t)code->begin && address < (uintptr_t)code->end;
}

size_t verify_select(const struct verify_history *history, const struct verify_code *code,
		     struct btsrec_record *ret)
{
	size_t nr = 0;

	for (size_t i = 0; i < history->nr; i++) {
		const struct btsrec_record *record = &history->records[i];
		bool from = is_in(code, record->from), to = is_in(code, record->to);

		/* How it was called, and by what a signal handler returns, is not of it. */
		if ((from && to) || (from && is_kernel(record->to)) ||
		    (to && is_kernel(record->from)))
			ret[nr++] = *record;
	}
	return nr;
}

size_t verify_drop_interrupts(struct btsrec_record *records, size_t nr)
{
	size_t nr_kept = 0;

	for (size_t i = 0; i < nr; i++) {
		if (i + 1 < nr && is_kernel(records[i].to) && is_kernel(records[i + 1].from) &&
		    records[i].from == records[i + 1].to)
			i++;
		else
			records[nr_kept++] = records[i];
	}
	return nr_kept;
}

static bool is_end(const char *expected, uint64_t found)
{
	return expected ? found == (uintptr_t)expected : is_kernel(found);
}

/* By its distance from the first instruction: the same on all machines with this program. */
static const char *place(const struct verify_code *code, uint64_t address, char text[PLACE_BYTES])
{
	if (is_kernel(address))
		return "the kernel";
	if (!is_in(code, address))
		return "elsewhere";
	snprintf(text, PLACE_BYTES, "+0x%x", (unsigned int)(address - (uintptr_t)code->begin));
	return text;
}

static const char *end_of(const struct verify_code *code, const char *end, char text[PLACE_BYTES])
{
	return end ? place(code, (uintptr_t)end, text) : "the kernel";
}

static void describe_difference(const struct verify_code *code,
				const struct verify_branch *expected,
				const struct btsrec_record *found, struct verify_match *ret)
{
	char from[PLACE_BYTES], to[PLACE_BYTES], expected_from[PLACE_BYTES],
		expected_to[PLACE_BYTES];
	size_t at = ret->nr_found;
	int nr = snprintf(ret->text, sizeof(ret->text), "record %zu is ", at + 1);
	char *rest = ret->text + nr;
	size_t left = sizeof(ret->text) - (size_t)nr;

	if (found)
		nr = snprintf(rest, left, "%s -> %s, ", place(code, found->from, from),
			      place(code, found->to, to));
	else
		nr = snprintf(rest, left, "missing, ");
	rest += nr;
	left -= (size_t)nr;
	if (expected->times)
		snprintf(rest, left, "not %s -> %s", end_of(code, expected->from, expected_from),
			 end_of(code, expected->to, expected_to));
	else
		snprintf(rest, left, "where there should be no more");
}

void verify_compare(const struct verify_code *code, const struct verify_branch *branches,
		    const struct btsrec_record *records, size_t nr, struct verify_match *ret)
{
	const struct verify_branch *expected = branches;
	unsigned int times = 0;

	memset(ret, 0, sizeof(*ret));
	for (const struct verify_branch *each = branches; each->times; each++)
		ret->nr_expected += each->times;
	for (; ret->nr_found < nr; ret->nr_found++) {
		const struct btsrec_record *found = &records[ret->nr_found];

		if (!expected->times || !is_end(expected->from, found->from) ||
		    !is_end(expected->to, found->to))
			break;
		if (++times == expected->times) {
			expected++;
			times = 0;
		}
	}
	ret->same = ret->nr_found == nr && !expected->times;
	if (!ret->same)
		describe_difference(code, expected,
				    ret->nr_found < nr ? &records[ret->nr_found] : NULL, ret);
	ret->nr_found = nr;
}
