// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ram.h"

/* Below it a PC has video memory and ROMs, not memory alone. */
#define LOWEST_PA	0x100000ULL
/* Up to here a q35 machine has memory in one piece: pc_q35_init() of QEMU. */
#define HIGHEST_PA	0x80000000ULL
#define LINE_BYTES	512

static char *ram;
static uint64_t ram_bytes;

/**
 * ram_find() - find the mapping of the guest's memory; before the first vCPU runs
 * @name: what the path of a line of /proc/self/maps has in it
 *
 * Ends QEMU if there is no such mapping.
 */
void ram_find(const char *name)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[LINE_BYTES];
	uint64_t start, end;

	while (file && !ram && fgets(line, sizeof(line), file)) {
		if (!strstr(line, name) ||
		    sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2)
			continue;
		ram = (char *)(uintptr_t)start;
		ram_bytes = end - start < HIGHEST_PA ? end - start : HIGHEST_PA;
	}
	if (file)
		fclose(file);
	if (!ram) {
		fprintf(stderr, "btsmodel: %s is no memory that QEMU has mapped\n", name);
		exit(1);
	}
}

/** ram_at() - @nr_bytes of memory at @pa; NULL: QEMU must be asked */
void *ram_at(uint64_t pa, unsigned int nr_bytes)
{
	if (pa < LOWEST_PA || pa >= ram_bytes || nr_bytes > ram_bytes - pa)
		return NULL;
	return ram + pa;
}
