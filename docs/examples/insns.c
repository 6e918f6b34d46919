// SPDX-License-Identifier: GPL-2.0-or-later
/* usage: insns DUMP MAP: the instructions that ran: CPU, event, address, text. */
#include <inttypes.h>
#include <stdio.h>

#include <btsrec/decoder.h>

static bool print(void *arg, const struct btsrec_insn *insn)
{
	(void)arg;
	if (insn->kind != BTSREC_INSN_EXECUTED)
		return true;
	printf("%u %" PRIu64 " 0x%016" PRIx64 " %.*s", insn->cpu, insn->n, insn->ip_va,
	       (int)insn->text_bytes, insn->text);
	return putchar('\n') != EOF;
}

int main(int argc, char **argv)
{
	struct btsrec *rec = btsrec_new();
	int failed = 1;

	if (!rec || argc != 3 || btsrec_open_dump(rec, argv[1]) ||
	    btsrec_locate(rec, 0, BTSREC_SCAN_DMA) || btsrec_add_system_map(rec, argv[2]))
		fprintf(stderr, "%s\n", rec && argc == 3 ? btsrec_errmsg(rec) : "DUMP MAP");
	else if (btsrec_insns_each(rec, NULL, print, NULL))
		fprintf(stderr, "%s\n", btsrec_errmsg(rec));
	else
		failed = 0;
	btsrec_free(rec);
	return failed;
}
