// SPDX-License-Identifier: GPL-2.0-or-later
/* usage: found DUMP MAP FUNCTION: its calls on all CPUs, the newest first, and where from. */
#include <inttypes.h>
#include <stdio.h>

#include <btsrec/decoder.h>

static bool print(void *arg, const struct btsrec_found *found)
{
	(void)arg;
	if (found->kind == BTSREC_FOUND_SEARCH)
		return printf("%" PRIu64 " calls, %" PRIu64 " gaps\n", found->nr_lines,
			      found->nr_gaps) > 0;
	printf("%u %" PRIu64 " %.*s", found->cpu, found->n, (int)found->to.name_bytes,
	       found->to.name);
	if (found->from.name)
		printf(" < %.*s+0x%" PRIx64, (int)found->from.name_bytes, found->from.name,
		       found->from.offset_bytes);
	return printf("%s\n", found->open ? " open" : "") > 0;
}

int main(int argc, char **argv)
{
	struct btsrec_search opts = { .size = sizeof(opts), .question = BTSREC_LAST };
	struct btsrec *rec = btsrec_new();
	int failed = 1;

	if (argc == 4)
		opts.what = argv[3];
	if (!rec || argc != 4 || btsrec_open_dump(rec, argv[1]) ||
	    btsrec_locate(rec, 0, BTSREC_SCAN_DMA) || btsrec_add_system_map(rec, argv[2]))
		fprintf(stderr, "%s\n", rec && argc == 4 ? btsrec_errmsg(rec) : "DUMP MAP FUNCTION");
	else if (btsrec_search_each(rec, &opts, print, NULL))
		fprintf(stderr, "%s\n", btsrec_errmsg(rec));
	else
		failed = 0;
	btsrec_free(rec);
	return failed;
}
