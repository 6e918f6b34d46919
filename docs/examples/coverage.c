// SPDX-License-Identifier: GPL-2.0-or-later
/* usage: coverage DUMP MAP FUNCTION: instructions: address, how often executed, text. */
#include <inttypes.h>
#include <stdio.h>

#include <btsrec/decoder.h>

static bool print(void *arg, const struct btsrec_executed *executed)
{
	(void)arg;
	if (!executed->text)
		return true;
	printf("0x%016" PRIx64 " %" PRIu64 " %.*s", executed->ip_va, executed->nr_times,
	       (int)executed->text_bytes, executed->text);
	return putchar('\n') != EOF;
}

int main(int argc, char **argv)
{
	struct btsrec_coverage opts = { .size = sizeof(opts), .function = argv[argc - 1] };
	struct btsrec *rec = btsrec_new();
	int failed = 1;

	if (!rec || argc != 4 || btsrec_open_dump(rec, argv[1]) ||
	    btsrec_locate(rec, 0, BTSREC_SCAN_DMA) || btsrec_add_system_map(rec, argv[2]))
		fprintf(stderr, "%s\n", rec && argc == 4 ? btsrec_errmsg(rec) : "DUMP MAP FUNCTION");
	else if (btsrec_coverage_each(rec, &opts, print, NULL))
		fprintf(stderr, "%s\n", btsrec_errmsg(rec));
	else
		failed = 0;
	btsrec_free(rec);
	return failed;
}
