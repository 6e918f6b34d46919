// SPDX-License-Identifier: GPL-2.0-or-later
/* usage: frames DUMP MAP: call stacks at the end: CPU, frame, address, how entered, name. */
#include <inttypes.h>
#include <stdio.h>

#include <btsrec/decoder.h>

static bool print(void *arg, const struct btsrec_frame *frame)
{
	(void)arg;
	printf("%u %zu 0x%016" PRIx64 " %s", frame->cpu, frame->number, frame->ip_va,
	       frame->how ? frame->how : "-");
	if (frame->ip.name)
		printf(" %.*s", (int)frame->ip.name_bytes, frame->ip.name);
	return putchar('\n') != EOF;
}

int main(int argc, char **argv)
{
	struct btsrec *rec = btsrec_new();
	int failed = 1;

	if (!rec || argc != 3 || btsrec_open_dump(rec, argv[1]) ||
	    btsrec_locate(rec, 0, BTSREC_SCAN_DMA) || btsrec_add_system_map(rec, argv[2]))
		fprintf(stderr, "%s\n", rec && argc == 3 ? btsrec_errmsg(rec) : "DUMP MAP");
	else if (btsrec_stack_each(rec, NULL, print, NULL))
		fprintf(stderr, "%s\n", btsrec_errmsg(rec));
	else
		failed = 0;
	btsrec_free(rec);
	return failed;
}
