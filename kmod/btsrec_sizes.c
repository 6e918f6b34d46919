// SPDX-License-Identifier: GPL-2.0-only
/*
 * How large the ring of each CPU is to be: ring_bytes=.  Words with commas between them: SIZE is
 * for all CPUs, CPU:SIZE and FIRST-LAST:SIZE for these.  The last word that names a CPU is for it.
 * How large the ring is that a CPU has, its CPU page says.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/build_bug.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "btsrec.h"

/* What is longer may be more than 2^64, and memparse() would take it for little. */
#define MAX_SIZE_LETTERS	12

#define MIN_RING_BYTES		(BTSREC_MIN_RECORDS * BTSREC_RECORD_BYTES)
#define DEFAULT_RING_BYTES	(SZ_1M / BTSREC_RECORD_BYTES * BTSREC_RECORD_BYTES)

/* What the sentences below say, and btsrec_sizes_check() does. */
static_assert(MIN_RING_BYTES == 768 && BTSREC_MAX_RING_BYTES == 128 << 20);

static const char no_size[] = "a size is 768 bytes to 128M; give a number with an optional K or M";
static const char no_cpus[] =
	"before a colon is one CPU or one range of CPUs; write it as in 1M,8:4M or in 1M,0-3:16M";
static const char absent_cpu[] =
	"this machine cannot have such a CPU; see /sys/devices/system/cpu/possible for those that it can have";

/* Both as the newest list says.  Changed under the device's command mutex. */
static DEFINE_PER_CPU(u64, wanted_bytes);
static u64 others_bytes;
static char list_in_use[BTSREC_MAX_LIST_BYTES];

/**
 * struct size_rule - one word of the list
 * @is_for_all: it names no CPU
 * @first: CPU
 * @last: CPU, at least @first
 * @bytes: of whole records
 */
struct size_rule {
	bool is_for_all;
	unsigned int first;
	unsigned int last;
	u64 bytes;
};

static const char *parse_size(const char *text, u64 *ret_bytes)
{
	char *end;
	u64 bytes = memparse(text, &end) / BTSREC_RECORD_BYTES * BTSREC_RECORD_BYTES;

	if (*end || strlen(text) > MAX_SIZE_LETTERS || bytes < MIN_RING_BYTES ||
	    bytes > BTSREC_MAX_RING_BYTES)
		return no_size;
	*ret_bytes = bytes;
	return NULL;
}

static const char *parse_cpus(char *text, struct size_rule *rule)
{
	char *last = text, *first = strsep(&last, "-");

	if (kstrtouint(first, 10, &rule->first) ||
	    kstrtouint(last ? last : first, 10, &rule->last) || rule->first > rule->last)
		return no_cpus;
	return rule->last < nr_cpu_ids && cpu_possible(rule->first) && cpu_possible(rule->last) ?
	       NULL : absent_cpu;
}

static const char *parse_rule(char *text, struct size_rule *rule)
{
	char *size = text, *cpus_of_it = strsep(&size, ":");

	rule->is_for_all = !size;
	rule->first = 0;
	rule->last = nr_cpu_ids - 1;
	return (size ? parse_cpus(cpus_of_it, rule) : NULL) ?:
	       parse_size(size ? size : text, &rule->bytes);
}

static void apply(const struct size_rule *rule)
{
	unsigned int cpu;

	if (rule->is_for_all)
		others_bytes = rule->bytes;
	for_each_possible_cpu(cpu) {
		if (cpu >= rule->first && cpu <= rule->last)
			WRITE_ONCE(*per_cpu_ptr(&wanted_bytes, cpu), rule->bytes);
	}
}

static const char *go_through(const char *list, void (*use)(const struct size_rule *))
{
	char copy[BTSREC_MAX_LIST_BYTES], *rest = copy, *text;
	struct size_rule rule;

	if (strscpy(copy, list, sizeof(copy)) < 0)
		return "the list has more than 255 characters; give ranges of CPUs";
	while ((text = strsep(&rest, ","))) {
		const char *why = parse_rule(text, &rule);

		if (why)
			return why;
		if (use)
			use(&rule);
	}
	return NULL;
}

/**
 * btsrec_sizes_check() - is it a list of sizes for this machine?
 * @list: see above
 *
 * Return: NULL; or why not, as the end of a sentence; static.
 */
const char *btsrec_sizes_check(const char *list)
{
	return go_through(list, NULL);
}

/**
 * btsrec_sizes_set() - from now on these are the sizes of rings to come
 * @list: for which btsrec_sizes_check() returned NULL
 *
 * The caller serialises.
 */
void btsrec_sizes_set(const char *list)
{
	const struct size_rule without_a_word = {
		.is_for_all = true,
		.last = nr_cpu_ids - 1,
		.bytes = DEFAULT_RING_BYTES,
	};

	apply(&without_a_word);
	go_through(list, apply);
	strscpy(list_in_use, list, sizeof(list_in_use));
}

/**
 * btsrec_size_of() - how large the ring of a CPU is to be
 * @cpu: its number
 *
 * Return: bytes of whole records.
 */
u64 btsrec_size_of(unsigned int cpu)
{
	return READ_ONCE(per_cpu(wanted_bytes, cpu));
}

/**
 * btsrec_size_of_others() - the size of what no word with a colon names
 */
u64 btsrec_size_of_others(void)
{
	return others_bytes;
}

/**
 * btsrec_sizes_show() - the list as a line of /dev/btsrec
 * @m: where it goes
 */
void btsrec_sizes_show(struct seq_file *m)
{
	seq_printf(m, "ring_sizes: %s\n", list_in_use);
}
