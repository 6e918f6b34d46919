/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the views over the CPUs of a dump have in common. */
#ifndef BTSREC_CPUS_H
#define BTSREC_CPUS_H

#include <btsrec/decoder.h>

/**
 * cpus_check() - can these CPUs be shown? Before the first byte of output, and before names
 * @cpus: @nr_cpus numbers; NULL: all.
 *
 * Return: BTSREC_OK; BTSREC_ERR_INVAL before btsrec_locate(); BTSREC_ERR_NO_CPU for
 * the first one without a usable ring.
 */
enum btsrec_status cpus_check(struct btsrec *rec, const unsigned int *cpus, size_t nr_cpus);

/** cpus_has() - is @cpu one of the @nr_cpus numbers at @cpus? */
static inline bool cpus_has(const unsigned int *cpus, size_t nr_cpus, unsigned int cpu)
{
	for (size_t i = 0; i < nr_cpus; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

/** cpu_fn - shows one CPU; anything but BTSREC_OK ends the view */
typedef enum btsrec_status (*cpu_fn)(void *arg, unsigned int cpu);

/**
 * cpus_for_each() - call @fn for each of @cpus in their order
 * @cpus: @nr_cpus numbers that cpus_check() has passed; NULL: every CPU that has a
 *	usable ring, ascending.
 *
 * Return: the first status of @fn that is not BTSREC_OK, else that.
 */
enum btsrec_status cpus_for_each(struct btsrec *rec, const unsigned int *cpus, size_t nr_cpus,
				 cpu_fn fn, void *arg);

/**
 * cpus_end() - the status with which a view ends that would end with @status
 * @cpus: those that it has printed; NULL: all that there are.
 *
 * A history must not be missing in silence, even if its number was not asked for.
 *
 * Return: as session_end(); in place of BTSREC_OK, if a CPU of all could not be printed,
 * BTSREC_ERR_CORRUPT with a message.
 */
enum btsrec_status cpus_end(struct btsrec *rec, const unsigned int *cpus,
			    enum btsrec_status status);

/** cpus_registers() - those of the freeze of @page; NULL: none: an older recorder, or no freeze */
static inline const struct btsrec_registers *cpus_registers(const struct btsrec_cpu *page)
{
	return page->frozen && page->registers.flags ? &page->registers : NULL;
}

#endif /* BTSREC_CPUS_H */
