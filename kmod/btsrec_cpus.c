// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which CPUs record: cpus=.  A CPU that is left out has no ring, unless it had been chosen before,
 * and holds no event of perf.  The root names those that are left out, so that a reader does not
 * take them for lost.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "btsrec.h"

/* Which is all of them until a list is set.  Changed under the device's command mutex. */
static struct cpumask chosen = { CPU_BITS_ALL };

/**
 * btsrec_cpus_parse() - what a list of cpus= names, and from now on is chosen
 * @list: "all", or numbers and ranges as in cpuset(7)
 *
 * The root does not know of it before btsrec_cpus_publish().  The caller serialises.
 *
 * Return: NULL; or why not, as the end of a sentence; static.  Then nothing has changed.
 */
const char *btsrec_cpus_parse(const char *list)
{
	static struct cpumask wanted;

	if (!strcmp(list, "all"))
		cpumask_setall(&wanted);
	else if (cpulist_parse(list, &wanted))
		return "it is no list of CPUs; use all, or a list as 0-3,8";
	if (!cpumask_intersects(&wanted, cpu_possible_mask))
		return "it names no CPU of this machine; use all, or a list as 0-3,8";
	cpumask_copy(&chosen, &wanted);
	return NULL;
}

/**
 * btsrec_cpus_publish() - write down for the reader of a dump which CPUs are left out
 */
void btsrec_cpus_publish(void)
{
	u64 *left_out = btsrec_root_page->cpus_left_out;
	unsigned int cpu;

	BUILD_BUG_ON(NR_CPUS > 64 * BTSREC_LEFT_OUT_WORDS);
	for_each_possible_cpu(cpu) {
		u64 bit = 1ULL << cpu % 64, word = left_out[cpu / 64];

		word = btsrec_cpu_is_chosen(cpu) ? word & ~bit : word | bit;
		WRITE_ONCE(left_out[cpu / 64], word);
	}
}

/**
 * btsrec_cpu_is_chosen() - is a CPU to record?
 * @cpu: its number
 */
bool btsrec_cpu_is_chosen(unsigned int cpu)
{
	return cpumask_test_cpu(cpu, &chosen);
}

/**
 * btsrec_cpus_show() - the list, and how many online CPUs it leaves out, as lines of /dev/btsrec
 * @m: where it goes
 */
void btsrec_cpus_show(struct seq_file *m)
{
	unsigned int cpu, nr_left_out = 0;

	if (cpumask_subset(cpu_possible_mask, &chosen))
		seq_puts(m, "cpus: all\n");
	else
		seq_printf(m, "cpus: %*pbl\n", cpumask_pr_args(&chosen));
	for_each_online_cpu(cpu)
		nr_left_out += !btsrec_cpu_is_chosen(cpu);
	seq_printf(m, "left_out: %u\n", nr_left_out);
}
