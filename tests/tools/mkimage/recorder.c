// SPDX-License-Identifier: GPL-2.0-or-later
/* The recorder's structures: root, CPU pages, rings, modules, snapshots. */
#include "mkimage.h"

#include <string.h>

uint64_t *ring_page_pa(struct cpu *cpu, uint64_t page)
{
	return &cpu->list_pages[page / BTSREC_PAS_PER_PAGE][page % BTSREC_PAS_PER_PAGE];
}

static void root_init(uint64_t nr_slots)
{
	struct btsrec_root *root = image.root;

	root->magic = BTSREC_ROOT_MAGIC;
	root->version_major = BTSREC_ABI_MAJOR;
	root->version_minor = BTSREC_ABI_MINOR;
	root->constant_bytes = BTSREC_ROOT_LIVE_OFFSET;
	root->root_bytes = sizeof(*root);
	root->cpu_bytes = sizeof(struct btsrec_cpu);
	root->record_bytes = BTSREC_RECORD_BYTES;
	root->page_bytes = BTSREC_PAGE_BYTES;
	root->nr_cpu_dir_pages = 1;
	root->tsc_khz = 2000000;
	root->generation = 1700000000000000000;
	root->poison = BTSREC_POISON;
	root->ring_bytes = nr_slots * BTSREC_RECORD_BYTES;
	root->symbol_kva = 0xffffffff81000000;
	root->page_offset_kva = 0xffff888000000000;
	memcpy(root->symbol_name, "_stext", sizeof("_stext"));
	memcpy(root->release, "6.1.0-test", sizeof("6.1.0-test"));
	root->state = BTSREC_ROOT_ARMED;
	root->nr_arms = 1;
}

void do_root(struct statement *statement)
{
	if (image.root)
		die("a second root");
	image.next_pfn = 1;
	image.root = at_pa(alloc_page());
	image.root->self_pa = BTSREC_PAGE_BYTES;
	image.root->cpu_dir_pa[0] = alloc_page();
	image.dir = at_pa(image.root->cpu_dir_pa[0]);
	image.root->nr_cpu_ids = (uint32_t)value_of(statement, "cpus", 1);
	image.vmcoreinfo_pa = image.root->self_pa;
	root_init(value_of(statement, "ring", 64));
	set_fields(image.root, root_fields, statement, "cpus ring");
}

/* Pages of a ring lie in descending order, so that no reader relies on more. */
static void ring_init(struct cpu *cpu)
{
	uint64_t nr_pages = (cpu->page->ring_bytes + BTSREC_PAGE_BYTES - 1) / BTSREC_PAGE_BYTES;
	uint64_t poison[BTSREC_PAS_PER_PAGE], i;

	cpu->page->nr_ring_pages = (uint32_t)nr_pages;
	cpu->page->nr_list_pages =
		(uint32_t)((nr_pages + BTSREC_PAS_PER_PAGE - 1) / BTSREC_PAS_PER_PAGE);
	if (cpu->page->nr_list_pages > BTSREC_MAX_LIST_PAGES)
		die("the ring is too big");
	for (i = 0; i < cpu->page->nr_list_pages; i++) {
		cpu->page->list_pa[i] = alloc_page();
		cpu->list_pages[i] = at_pa(cpu->page->list_pa[i]);
	}
	for (i = 0; i < BTSREC_PAS_PER_PAGE; i++)
		poison[i] = BTSREC_POISON;
	for (i = nr_pages; i--; ) {
		uint64_t pa = alloc_page();

		*ring_page_pa(cpu, i) = pa;
		memcpy(at_pa(pa), poison, sizeof(poison));
	}
}

static void cpu_init(struct cpu *cpu, uint32_t number, uint64_t nr_slots)
{
	uint64_t pa = alloc_page();

	cpu->page = at_pa(pa);
	cpu->page->magic = BTSREC_CPU_MAGIC;
	cpu->page->cpu = number;
	cpu->page->self_pa = pa;
	cpu->page->root_pa = image.root->self_pa;
	cpu->page->constant_bytes = BTSREC_CPU_LIVE_OFFSET;
	cpu->page->ring_kva = 0xffffc90000000000 + number * 0x10000000ULL;
	cpu->nr_slots = nr_slots;
	cpu->page->ring_bytes = nr_slots * BTSREC_RECORD_BYTES;
	cpu->page->ds_kva = 0xfffffe0000010000 + number * 0x40000ULL;
	cpu->page->ds_pa = alloc_page();
	cpu->ds = at_pa(cpu->page->ds_pa);
	cpu->page->state = BTSREC_CPU_ARMED;
	cpu->index_offset = -1;
	image.dir[number] = pa;
	ring_init(cpu);
}

void do_cpu(struct statement *statement)
{
	uint64_t number = word_number(statement, 1);

	if (number >= MAX_CPUS)
		die("there is no CPU %llu", (unsigned long long)number);
	image.cpu = &image.cpus[number];
	if (!image.cpu->page)
		cpu_init(image.cpu, (uint32_t)number,
			 value_of(statement, "ring", image.root->ring_bytes / BTSREC_RECORD_BYTES));
	image.cpu->index_offset = (int64_t)value_of(statement, "offset", UINT64_MAX);
	set_fields(image.cpu->page, cpu_fields, statement, "offset ring");
}

void do_module(struct statement *statement)
{
	struct btsrec_root *root = image.root;

	if (!image.modules) {
		root->module_pa[0] = alloc_page();
		root->nr_module_pages = 1;
		image.modules = at_pa(root->module_pa[0]);
	}
	if (root->nr_modules == BTSREC_MODULES_PER_PAGE)
		die("the module map is full");
	image.modules[root->nr_modules].state = BTSREC_MODULE_LIVE;
	set_fields(&image.modules[root->nr_modules++], module_fields, statement, "");
}

void do_freeze(struct statement *statement)
{
	struct btsrec_cpu *cpu = image.cpu->page;
	struct btsrec_root *root = image.root;

	cpu->state = BTSREC_CPU_FROZEN;
	cpu->frozen = 1;
	cpu->freeze.index_kva = cpu->ring_kva + image.cpu->head * BTSREC_RECORD_BYTES;
	cpu->freeze.reason = (uint32_t)value_of(statement, "reason", BTSREC_REASON_PANIC);
	cpu->freeze.task_kva = cpu->context.next_task_kva;
	set_fields(&cpu->freeze, freeze_fields, statement, "");
	if (root->freeze_reason)
		return;
	root->state = BTSREC_ROOT_FROZEN;
	root->freeze_cpu = cpu->cpu;
	root->freeze_reason = cpu->freeze.reason;
	root->freeze_tsc = value_of(statement, "tsc", 0);
}

void do_registers(struct statement *statement)
{
	struct btsrec_registers *registers = &image.cpu->page->registers;
	const char *which = statement->nr_words > 1 ? statement->words[1].text : "";

	if (!strcmp(which, "stop"))
		set_fields(&registers->stop, general_fields, statement, "");
	else if (!strcmp(which, "entry"))
		set_fields(&registers->entry, general_fields, statement, "");
	else
		set_fields(registers, registers_fields, statement, "");
}
