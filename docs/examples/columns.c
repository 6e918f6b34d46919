// SPDX-License-Identifier: GPL-2.0-or-later
/* usage: columns DUMP MAP: a line for each branch: CPU, number, its ends; read many at a time. */
#include <inttypes.h>
#include <stdio.h>

#include <btsrec/decoder.h>

static bool print(void *arg, const struct btsrec_branches *branches)
{
	(void)arg;
	for (size_t i = 0; i < branches->nr_records; i++)
		printf("%u %" PRIu64 " 0x%016" PRIx64 " 0x%016" PRIx64 "\n", branches->cpu,
		       branches->n + i, (uint64_t)branches->records[i].from,
		       (uint64_t)branches->records[i].to);
	return !ferror(stdout);
}

static enum btsrec_status print_all(struct btsrec *rec)
{
	enum btsrec_status status = BTSREC_OK;

	for (unsigned int cpu = 0; !status && cpu < btsrec_nr_cpu_ids(rec); cpu++)
		if (btsrec_cpu(rec, cpu))
			status = btsrec_branches(rec, cpu, print, NULL);
	return status;
}

int main(int argc, char **argv)
{
	struct btsrec *rec = btsrec_new();
	int failed = 1;

	if (!rec || argc != 3 || btsrec_open_dump(rec, argv[1]) ||
	    btsrec_locate(rec, 0, BTSREC_SCAN_DMA) || btsrec_add_system_map(rec, argv[2]))
		fprintf(stderr, "%s\n", rec && argc == 3 ? btsrec_errmsg(rec) : "DUMP MAP");
	else if (print_all(rec))
		fprintf(stderr, "%s\n", btsrec_errmsg(rec));
	else
		failed = 0;
	btsrec_free(rec);
	return failed;
}
