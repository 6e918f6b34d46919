// SPDX-License-Identifier: GPL-2.0-or-later
/* What happened to the memory, or to the dump of it, afterwards. */
#include "mkimage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct cpu *place_cpu(const char *text, char **ret_end)
{
	unsigned long number = strtoul(text, ret_end, 10);

	if (number >= MAX_CPUS || !image.cpus[number].page)
		die("there is no CPU %lu", number);
	return &image.cpus[number];
}

static uint64_t place_pa(const char *place)
{
	struct cpu *cpu;
	char *end;

	make_symbols();
	if (!strcmp(place, "root"))
		return image.root->self_pa;
	if (!strcmp(place, "dir"))
		return image.root->cpu_dir_pa[0];
	if (!strcmp(place, "modules"))
		return image.root->module_pa[0];
	if (!strncmp(place, "cpu", 3))
		return place_cpu(place + 3, &end)->page->self_pa;
	if (!strncmp(place, "ds", 2))
		return place_cpu(place + 2, &end)->page->ds_pa;
	if (!strncmp(place, "list", 4))
		return place_cpu(place + 4, &end)->page->list_pa[0];
	if (!strcmp(place, "kallsyms"))
		return image.kallsyms_pa;
	if (!strncmp(place, "modsyms", 7))
		return image.modsyms_pa[strtoul(place + 7, NULL, 10) % BTSREC_MODULES_PER_PAGE];
	if (!strncmp(place, "kernel:", 7) || !strncmp(place, "user", 4)) {
		unsigned int space = space_of(place, &end);

		return mapped_pa(space, number_of(end + 1));
	}
	if (strncmp(place, "ring", 4))
		die("there is no place '%s'", place);
	cpu = place_cpu(place + 4, &end);
	return *ring_page_pa(cpu, *end == '.' ? strtoul(end + 1, NULL, 10) : 0);
}

void do_poke(struct statement *statement)
{
	uint64_t nr_bytes = word_number(statement, 3);

	if (nr_bytes > 8)
		die("poke: at most 8 bytes");
	add_change(image.after_crc, &image.nr_after_crc,
		   at_pa(place_pa(statement->words[1].text) + word_number(statement, 2)),
		   nr_bytes, word_number(statement, 4));
}

void do_hole(struct statement *statement)
{
	if (statement->nr_words != 2)
		die("hole PLACE");
	image.pages[place_pa(statement->words[1].text) / BTSREC_PAGE_BYTES].hole = true;
}

void do_vmcoreinfo(struct statement *statement)
{
	image.no_vmcoreinfo = statement->nr_words > 1 && !strcmp(statement->words[1].text, "none");
	image.vmcoreinfo_pa = value_of(statement, "pa", image.vmcoreinfo_pa);
	image.vmcoreinfo_phys_base = value_of(statement, "phys_base", 0);
}

void do_truncate(struct statement *statement)
{
	image.truncate = true;
	image.truncate_bytes = strtoll(statement->words[1].text, NULL, 0);
}

void do_format(struct statement *statement)
{
	bool is_part = statement->nr_words == 4;

	if ((statement->nr_words != 2 && !is_part) || strcmp(statement->words[1].text, "kdump"))
		die("format kdump [FIRST_PFN END_PFN]");
	image.kdump = true;
	image.is_part = is_part;
	image.first_pfn = is_part ? word_number(statement, 2) : 0;
	image.end_pfn = is_part ? word_number(statement, 3) : UINT64_MAX;
}

void cut_off(const char *path, FILE *file)
{
	off_t nr_bytes = image.truncate_bytes;

	if (nr_bytes < 0)
		nr_bytes += ftell(file);
	if (fflush(file) || truncate(path, nr_bytes))
		die("cannot truncate %s: %s", path, strerror(errno));
}
