// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processors that record, but sometimes wrongly.  Nothing is refused for it: a history with
 * unreliable records is worth more than none, if its reader knows. docs/develop/hardware.md has
 * these and the errata that need no word here.  The root page has them for the decoder.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <asm/processor.h>

#include "btsrec.h"

#define MAX_MODELS	10

/**
 * struct erratum - what Intel says about a processor
 * @bit: BTSREC_ERRATUM_*
 * @id: in the specification update of one of the processors; others give it
 *	other ids
 * @family: CPUID family
 * @models: CPUID models of that family; a 0 ends the list
 * @filtered: only if branches are filtered by privilege level
 * @effect: the rest of a sentence
 */
struct erratum {
	u32 bit;
	const char *id;
	u8 family;
	u8 models[MAX_MODELS];
	bool filtered;
	const char *effect;
};

static const struct erratum errata[] = {
	/* The models are those for which GDB does not use BTS (gdb/nat/linux-btrace.c). */
	{ BTSREC_ERRATUM_AAJ122, "AAJ122", 6, { 0x1a, 0x1e, 0x1f, 0x2e, 0x25, 0x2c, 0x2f, 0x2a, 0x2d, 0x3a }, false,
	  "the source of a branch may be wrong after a change of frequency, a T-state, C1E or thermal throttling" },
	{ BTSREC_ERRATUM_BU10, "BU10", 6, { 0x25 }, false,
	  "the first records after a system-management interrupt are wrong" },
	{ BTSREC_ERRATUM_AR62, "AR62", 6, { 0x0f, 0x16 }, true,
	  "with mode=kernel or mode=user the source of a branch between user and kernel may be wrong; prefer mode=all" },
};

static bool is_listed(const struct erratum *erratum, u8 model)
{
	size_t i;

	for (i = 0; i < MAX_MODELS && erratum->models[i]; i++) {
		if (erratum->models[i] == model)
			return true;
	}
	return false;
}

/**
 * btsrec_errata() - what is known to be wrong with the records of this processor
 * @mode: what will be recorded
 *
 * Return: BTSREC_ERRATUM_*.
 */
u32 btsrec_errata(enum btsrec_mode mode)
{
	u32 bits = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errata); i++) {
		if (boot_cpu_data.x86 == errata[i].family &&
		    is_listed(&errata[i], boot_cpu_data.x86_model) &&
		    (!errata[i].filtered || mode != BTSREC_MODE_ALL))
			bits |= errata[i].bit;
	}
	return bits;
}

/**
 * btsrec_errata_warn() - print a sentence for each erratum
 * @bits: BTSREC_ERRATUM_*
 */
void btsrec_errata_warn(u32 bits)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errata); i++) {
		if (!(bits & errata[i].bit))
			continue;
		pr_warn("This processor has erratum %s: %s.\n", errata[i].id, errata[i].effect);
	}
}
