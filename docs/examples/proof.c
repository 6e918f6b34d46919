// SPDX-License-Identifier: GPL-2.0-or-later
/* usage: proof DUMP: CPUs: pairs of branches by kind, instructions, and the first of each kind. */
#include <inttypes.h>
#include <stdio.h>

#include <btsrec/decoder.h>

static void print_pair(const struct btsrec_pair *pair)
{
	if (!pair)
		return;
	printf(" %" PRIu64 " 0x%016" PRIx64 " 0x%016" PRIx64, pair->n, pair->start_va,
	       pair->from_va);
	if (!pair->is_stop)
		printf(" 0x%016" PRIx64, pair->to_va);
	printf(" 0x%016" PRIx64 " %s", pair->fault_va, pair->cause);
	if (pair->likely)
		printf(" %s", pair->likely);
}

static bool print(void *arg, const struct btsrec_proof *proof)
{
	(void)arg;
	printf("%u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
	       " %" PRIu64 " %" PRIu64 " %d",
	       proof->cpu, proof->nr_kernel_proven, proof->nr_user_proven, proof->nr_unknown,
	       proof->nr_patched, proof->nr_broken, proof->nr_filtered, proof->nr_insns,
	       proof->nr_file_pages, proof->stop_proven);
	print_pair(proof->unknown);
	print_pair(proof->patched);
	print_pair(proof->broken);
	return putchar('\n') != EOF;
}

int main(int argc, char **argv)
{
	struct btsrec *rec = btsrec_new();
	int failed = 1;

	if (!rec || argc != 2 || btsrec_open_dump(rec, argv[1]) ||
	    btsrec_locate(rec, 0, BTSREC_SCAN_DMA))
		fprintf(stderr, "%s\n", rec && argc == 2 ? btsrec_errmsg(rec) : "DUMP");
	else if (btsrec_prove_each(rec, print, NULL))
		fprintf(stderr, "%s\n", btsrec_errmsg(rec));
	else
		failed = 0;
	btsrec_free(rec);
	return failed;
}
