// SPDX-License-Identifier: GPL-2.0-or-later
/* usage: rings DUMP: CPUs: state, why, slots, events, wrapped, and slots lost by reason. */
#include <inttypes.h>
#include <stdio.h>

#include <btsrec/decoder.h>

static bool print(void *arg, const struct btsrec_ring *ring)
{
	(void)arg;
	printf("%u %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %s", ring->page->cpu, ring->state,
	       ring->reason ? ring->reason : "-", ring->nr_slots, ring->nr_valid_slots,
	       ring->nr_events, ring->wrapped);
	for (size_t i = 0; i < ring->nr_losses; i++)
		printf(" %s %" PRIu64, btsrec_gap_str(ring->losses[i].kind),
		       ring->losses[i].nr_slots);
	return putchar('\n') != EOF;
}

int main(int argc, char **argv)
{
	struct btsrec *rec = btsrec_new();
	int failed = 1;

	if (!rec || argc != 2 || btsrec_open_dump(rec, argv[1]) ||
	    btsrec_locate(rec, 0, BTSREC_SCAN_DMA))
		fprintf(stderr, "%s\n", rec && argc == 2 ? btsrec_errmsg(rec) : "DUMP");
	else if (btsrec_info_each(rec, print, NULL))
		fprintf(stderr, "%s\n", btsrec_errmsg(rec));
	else
		failed = 0;
	btsrec_free(rec);
	return failed;
}
