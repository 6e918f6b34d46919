// SPDX-License-Identifier: GPL-2.0-or-later
/* usage: diff DUMP MAP OTHER: the two threads, and the calls that are the same or of one only. */
#include <inttypes.h>
#include <stdio.h>

#include <btsrec/decoder.h>

static void print_side(const char *side, const struct btsrec_compared *compared)
{
	printf("%s %u %d %" PRIu64, side, compared->cpu, compared->to_fault, compared->nr_calls);
	if (compared->has_task)
		printf(" %" PRIu32, compared->task.pid);
}

static bool print(void *arg, const struct btsrec_compared *compared)
{
	(void)arg;
	switch (compared->kind) {
	case BTSREC_COMPARED_A:
		print_side("a", compared);
		break;
	case BTSREC_COMPARED_B:
		print_side("b", compared);
		break;
	case BTSREC_COMPARED_SAME:
		printf("same %" PRIu64 " %" PRIu64 " %s", compared->a_n, compared->b_n,
		       compared->function);
		break;
	case BTSREC_COMPARED_ONLY_A:
		printf("only a %" PRIu64 " %s", compared->a_n, compared->function);
		break;
	case BTSREC_COMPARED_ONLY_B:
		printf("only b %" PRIu64 " %s", compared->b_n, compared->function);
		break;
	}
	return putchar('\n') != EOF;
}

static bool open_dump(struct btsrec *rec, const char *path, const char *map)
{
	if (rec && !btsrec_open_dump(rec, path) && !btsrec_locate(rec, 0, BTSREC_SCAN_DMA) &&
	    !btsrec_add_system_map(rec, map))
		return true;
	fprintf(stderr, "%s\n", rec ? btsrec_errmsg(rec) : "out of memory");
	return false;
}

int main(int argc, char **argv)
{
	struct btsrec *a = btsrec_new(), *b = btsrec_new();
	int failed = 1;

	if (argc != 4)
		fprintf(stderr, "DUMP MAP OTHER\n");
	else if (open_dump(a, argv[1], argv[2]) && open_dump(b, argv[3], argv[2])) {
		if (btsrec_diff_each(a, b, NULL, print, NULL))
			fprintf(stderr, "%s\n", btsrec_errmsg(a));
		else
			failed = 0;
	}
	btsrec_free(a);
	btsrec_free(b);
	return failed;
}
