// SPDX-License-Identifier: GPL-2.0-or-later
/* usage: check DUMP: what btsrec check prints, but for its last line. */
#include <stdio.h>

#include <btsrec/decoder.h>

static bool print(void *arg, const struct btsrec_diag *diag)
{
	(void)arg;
	printf("%s", diag->fault ? "fault " : "note  ");
	if (diag->has_cpu)
		printf("CPU %u: ", diag->cpu);
	return printf("%s\n", diag->text) > 0;
}

int main(int argc, char **argv)
{
	struct btsrec *rec = btsrec_new();
	int failed = 1;

	if (!rec || argc != 2 || btsrec_open_dump(rec, argv[1]) ||
	    btsrec_locate(rec, 0, BTSREC_SCAN_DMA))
		fprintf(stderr, "%s\n", rec && argc == 2 ? btsrec_errmsg(rec) : "DUMP");
	else if (btsrec_check_each(rec, print, NULL))
		fprintf(stderr, "%s\n", btsrec_errmsg(rec));
	else
		failed = 0;
	btsrec_free(rec);
	return failed;
}
