// SPDX-License-Identifier: GPL-2.0-or-later
/* usage: functions DUMP MAP: a line for each function: branches, calls, name. */
#include <inttypes.h>
#include <stdio.h>

#include <btsrec/decoder.h>

static bool print(void *arg, const struct btsrec_function *function)
{
	(void)arg;
	return printf("%" PRIu64 " %" PRIu64 " %s\n", function->nr_branches, function->nr_calls,
		      function->name) > 0;
}

int main(int argc, char **argv)
{
	struct btsrec *rec = btsrec_new();
	int failed = 1;

	if (!rec || argc != 3 || btsrec_open_dump(rec, argv[1]) ||
	    btsrec_locate(rec, 0, BTSREC_SCAN_DMA) || btsrec_add_system_map(rec, argv[2]))
		fprintf(stderr, "%s\n", rec && argc == 3 ? btsrec_errmsg(rec) : "DUMP MAP");
	else if (btsrec_functions_each(rec, NULL, print, NULL))
		fprintf(stderr, "%s\n", btsrec_errmsg(rec));
	else
		failed = 0;
	btsrec_free(rec);
	return failed;
}
