// SPDX-License-Identifier: GPL-2.0-or-later
/* usage: summary DUMP MAP: the fault, and of each CPU its branches, stack, switches and path. */
#include <inttypes.h>
#include <stdio.h>

#include <btsrec/decoder.h>

static void print_fault(const struct btsrec_digest *digest)
{
	printf("fault %u %s %s", digest->cpu, digest->reason,
	       digest->signature ? digest->signature : digest->no_signature);
	for (size_t i = 0; i < digest->nr_functions; i++)
		printf(" %s", digest->functions[i]);
}

static void print_verdict(const struct btsrec_digest *digest)
{
	printf("verdict %u %s %s", digest->cpu, digest->verdict,
	       digest->access ? digest->access : "-");
	if (digest->has_address)
		printf(" 0x%016" PRIx64, digest->address_va);
	if (digest->ip_va)
		printf(" 0x%016" PRIx64, digest->ip_va);
	printf(": %s", digest->sentence);
}

static void print_frame(const struct btsrec_digest *digest)
{
	printf("frame %u %s 0x%016" PRIx64, digest->cpu, digest->how, digest->ip_va);
	if (digest->ip.name)
		printf(" %.*s", (int)digest->ip.name_bytes, digest->ip.name);
}

static bool print(void *arg, const struct btsrec_digest *digest)
{
	(void)arg;
	switch (digest->kind) {
	case BTSREC_DIGEST_FAULT:
		print_fault(digest);
		break;
	case BTSREC_DIGEST_CPU:
		printf("cpu %u %s %d %" PRIu64, digest->cpu,
		       digest->reason ? digest->reason : "-", digest->first_fault,
		       digest->nr_branches);
		break;
	case BTSREC_DIGEST_FRAME:
	case BTSREC_DIGEST_MEMORY:
		print_frame(digest);
		break;
	case BTSREC_DIGEST_SWITCH:
		printf("switch %u %" PRIu64, digest->cpu, digest->event->n);
		break;
	case BTSREC_DIGEST_CALL:
		printf("call %u %" PRIu64 " %" PRIu32 " 0x%016" PRIx64, digest->cpu,
		       digest->call->n, digest->call->level, digest->call->to_va);
		break;
	case BTSREC_DIGEST_VERDICT:
		print_verdict(digest);
		break;
	case BTSREC_DIGEST_LOCK:
		printf("lock %u %" PRIu32 " %s", digest->cpu, digest->pid, digest->sentence);
		break;
	case BTSREC_DIGEST_OPERAND:
		printf("operand %u %" PRIu64 " %s %s: %s", digest->cpu, digest->origin->n,
		       digest->origin->what, digest->origin->certainty, digest->sentence);
		break;
	case BTSREC_DIGEST_LOG:
		printf("log %" PRIu64 " %s", digest->log->seq,
		       digest->log->text ? digest->log->text : digest->log->no_text);
		break;
	}
	return putchar('\n') != EOF;
}

int main(int argc, char **argv)
{
	struct btsrec *rec = btsrec_new();
	int failed = 1;

	if (!rec || argc != 3 || btsrec_open_dump(rec, argv[1]) ||
	    btsrec_locate(rec, 0, BTSREC_SCAN_DMA) || btsrec_add_system_map(rec, argv[2]))
		fprintf(stderr, "%s\n", rec && argc == 3 ? btsrec_errmsg(rec) : "DUMP MAP");
	else if (btsrec_summary_each(rec, print, NULL))
		fprintf(stderr, "%s\n", btsrec_errmsg(rec));
	else
		failed = 0;
	btsrec_free(rec);
	return failed;
}
