// SPDX-License-Identifier: GPL-2.0-or-later
/* usage: timeline DUMP MAP: what is no branch: CPU, event, branches before, ns from freeze. */
#include <inttypes.h>
#include <stdio.h>

#include <btsrec/decoder.h>

static bool print(void *arg, const struct btsrec_moment *moment)
{
	(void)arg;
	if (moment->log)
		printf("log %" PRIu64, moment->log->seq);
	else
		printf("%u %" PRIu64 " %" PRIu64, moment->event->cpu, moment->event->n,
		       moment->nr_branches);
	if (moment->has_from_freeze)
		printf(" %" PRId64, moment->from_freeze_ns);
	return putchar('\n') != EOF;
}

int main(int argc, char **argv)
{
	struct btsrec *rec = btsrec_new();
	int failed = 1;

	if (!rec || argc != 3 || btsrec_open_dump(rec, argv[1]) ||
	    btsrec_locate(rec, 0, BTSREC_SCAN_DMA) || btsrec_add_system_map(rec, argv[2]))
		fprintf(stderr, "%s\n", rec && argc == 3 ? btsrec_errmsg(rec) : "DUMP MAP");
	else if (btsrec_timeline_each(rec, NULL, print, NULL))
		fprintf(stderr, "%s\n", btsrec_errmsg(rec));
	else
		failed = 0;
	btsrec_free(rec);
	return failed;
}
