// SPDX-License-Identifier: GPL-2.0-or-later
/* usage: calls DUMP MAP: the calls: CPU, event, level, function, branches, the event of the end. */
#include <inttypes.h>
#include <stdio.h>

#include <btsrec/decoder.h>

static bool print(void *arg, const struct btsrec_call *call)
{
	(void)arg;
	if (call->kind != BTSREC_CALL_ENTER)
		return true;
	printf("%u %" PRIu64 " %" PRIu32 " ", call->cpu, call->n, call->level);
	if (call->to.name)
		printf("%.*s+0x%" PRIx64, (int)call->to.name_bytes, call->to.name,
		       call->to.offset_bytes);
	else
		printf("0x%016" PRIx64, call->to_va);
	printf(" %" PRIu64, call->nr_branches);
	if (call->ended)
		printf(" %" PRIu64, call->last_n);
	return putchar('\n') != EOF;
}

int main(int argc, char **argv)
{
	struct btsrec *rec = btsrec_new();
	int failed = 1;

	if (!rec || argc != 3 || btsrec_open_dump(rec, argv[1]) ||
	    btsrec_locate(rec, 0, BTSREC_SCAN_DMA) || btsrec_add_system_map(rec, argv[2]))
		fprintf(stderr, "%s\n", rec && argc == 3 ? btsrec_errmsg(rec) : "DUMP MAP");
	else if (btsrec_calls_each(rec, NULL, print, NULL))
		fprintf(stderr, "%s\n", btsrec_errmsg(rec));
	else
		failed = 0;
	btsrec_free(rec);
	return failed;
}
