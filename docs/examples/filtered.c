// SPDX-License-Identifier: GPL-2.0-or-later
/* usage: filtered DUMP MAP TYPES: branches of such types: CPU, event, ends, type. */
#include <inttypes.h>
#include <stdio.h>

#include <btsrec/decoder.h>

static bool print(void *arg, const struct btsrec_shown *shown)
{
	const struct btsrec_event *event = shown->event;

	(void)arg;
	if (event->kind != BTSREC_EVENT_BRANCH)
		return true;
	printf("%u %" PRIu64 " 0x%016" PRIx64 " 0x%016" PRIx64 " %s", event->cpu, event->n,
	       (uint64_t)event->branch.from, (uint64_t)event->branch.to, shown->type);
	return putchar('\n') != EOF;
}

int main(int argc, char **argv)
{
	struct btsrec_filter filter = { .size = sizeof(filter), .types = argv[argc - 1] };
	struct btsrec_show opts = { .size = sizeof(opts), .filter = &filter, .types = true };
	struct btsrec *rec = btsrec_new();
	int failed = 1;

	if (!rec || argc != 4 || btsrec_open_dump(rec, argv[1]) ||
	    btsrec_locate(rec, 0, BTSREC_SCAN_DMA) || btsrec_add_system_map(rec, argv[2]))
		fprintf(stderr, "%s\n", rec && argc == 4 ? btsrec_errmsg(rec) : "DUMP MAP TYPES");
	else if (btsrec_show_each(rec, &opts, print, NULL))
		fprintf(stderr, "%s\n", btsrec_errmsg(rec));
	else
		failed = 0;
	btsrec_free(rec);
	return failed;
}
