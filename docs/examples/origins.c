// SPDX-License-Identifier: GPL-2.0-or-later
/* usage: origins DUMP: where the operand of the fault came from, the newest step first. */
#include <inttypes.h>
#include <stdio.h>

#include <btsrec/decoder.h>

static bool print(void *arg, const struct btsrec_origin *origin)
{
	(void)arg;
	printf("%u %" PRIu64 " %s", origin->cpu, origin->n,
	       origin->is_candidate ? "candidate" : origin->what);
	if (origin->ip.name)
		printf(" %.*s", (int)origin->ip.name_bytes, origin->ip.name);
	if (origin->has_address)
		printf(" at 0x%016" PRIx64, origin->address_va);
	printf(" %s", origin->certainty);
	if (origin->end)
		printf(": %s", origin->end);
	return putchar('\n') != EOF;
}

int main(int argc, char **argv)
{
	struct btsrec *rec = btsrec_new();
	int failed = 1;

	if (!rec || argc != 2 || btsrec_open_dump(rec, argv[1]) ||
	    btsrec_locate(rec, 0, BTSREC_SCAN_DMA))
		fprintf(stderr, "%s\n", rec && argc == 2 ? btsrec_errmsg(rec) : "DUMP");
	else if (btsrec_why_each(rec, NULL, print, NULL))
		fprintf(stderr, "%s\n", btsrec_errmsg(rec));
	else
		failed = 0;
	btsrec_free(rec);
	return failed;
}
