// SPDX-License-Identifier: GPL-2.0-or-later
#include "fixture.h"

#include <zlib.h>

struct btsrec_root *fixture_root(struct fixture *fix)
{
	return mem_page(&fix->mem, FIX_ROOT_PA);
}

struct btsrec_cpu *fixture_cpu(struct fixture *fix, unsigned int cpu)
{
	return mem_page(&fix->mem, FIX_CPU_PA(cpu));
}

struct btsrec_module *fixture_module(struct fixture *fix, unsigned int slot)
{
	return (struct btsrec_module *)mem_page(&fix->mem, FIX_MODULE_PA) + slot;
}

uint64_t fixture_ring_page_pa(const struct fixture *fix, unsigned int cpu, uint64_t page)
{
	uint64_t nr_pages = (fix->nr_slots * BTSREC_RECORD_BYTES + BTSREC_PAGE_BYTES - 1) /
			    BTSREC_PAGE_BYTES;

	/* Even pages ascend side by side, odd ones come backwards after them. */
	if (page % 2 == 0)
		return FIX_RING_PA(cpu) + page / 2 * BTSREC_PAGE_BYTES;
	return FIX_RING_PA(cpu) + (nr_pages - 1 - page / 2) * BTSREC_PAGE_BYTES;
}

static void make_ring(struct fixture *fix, unsigned int cpu)
{
	struct btsrec_cpu *page = fixture_cpu(fix, cpu);
	uint64_t *list = mem_page(&fix->mem, FIX_LIST_PA(cpu));

	for (uint32_t i = 0; i < page->nr_ring_pages; i++) {
		uint64_t *labels = mem_page(&fix->mem, fixture_ring_page_pa(fix, cpu, i));

		if (i >= BTSREC_PAS_PER_PAGE)
			ck_abort_msg("a ring of %u pages needs more than one list page", i + 1);
		list[i] = fixture_ring_page_pa(fix, cpu, i);
		for (size_t word = 0; word < BTSREC_PAGE_BYTES / 8; word++)
			labels[word] = BTSREC_POISON;
	}
}

static void make_cpu(struct fixture *fix, unsigned int cpu)
{
	struct btsrec_cpu *page = fixture_cpu(fix, cpu);
	uint64_t *dir = mem_page(&fix->mem, FIX_DIR_PA);

	dir[cpu] = FIX_CPU_PA(cpu);
	page->magic = BTSREC_CPU_MAGIC;
	page->cpu = cpu;
	page->self_pa = FIX_CPU_PA(cpu);
	page->root_pa = FIX_ROOT_PA;
	page->generation = FIX_GENERATION;
	page->constant_bytes = BTSREC_CPU_LIVE_OFFSET;
	page->ring_kva = FIX_RING_KVA(cpu);
	page->ring_bytes = fix->nr_slots * BTSREC_RECORD_BYTES;
	page->ds_kva = FIX_DS_KVA(cpu);
	page->ds_pa = FIX_DS_PA(cpu);
	page->nr_ring_pages = (page->ring_bytes + BTSREC_PAGE_BYTES - 1) / BTSREC_PAGE_BYTES;
	page->nr_list_pages = 1;
	page->list_pa[0] = FIX_LIST_PA(cpu);
	page->state = BTSREC_CPU_ARMED;
	make_ring(fix, cpu);
	fixture_live_index(fix, cpu, 0);
}

static void make_root(struct fixture *fix)
{
	struct btsrec_root *root = fixture_root(fix);

	root->magic = BTSREC_ROOT_MAGIC;
	root->version_major = BTSREC_ABI_MAJOR;
	root->version_minor = BTSREC_ABI_MINOR;
	root->self_pa = FIX_ROOT_PA;
	root->constant_bytes = BTSREC_ROOT_LIVE_OFFSET;
	root->root_bytes = sizeof(*root);
	root->cpu_bytes = sizeof(struct btsrec_cpu);
	root->record_bytes = BTSREC_RECORD_BYTES;
	root->page_bytes = BTSREC_PAGE_BYTES;
	root->nr_cpu_ids = fix->nr_cpus;
	root->nr_cpu_dir_pages = 1;
	root->generation = FIX_GENERATION;
	root->poison = BTSREC_POISON;
	root->ring_bytes = fix->nr_slots * BTSREC_RECORD_BYTES;
	root->nr_module_pages = 1;
	root->nr_exec_pages = 1;
	root->cpu_dir_pa[0] = FIX_DIR_PA;
	root->module_pa[0] = FIX_MODULE_PA;
	root->exec_pa[0] = FIX_EXEC_PA;
	root->state = BTSREC_ROOT_ARMED;
	mem_page(&fix->mem, FIX_MODULE_PA);
	mem_page(&fix->mem, FIX_EXEC_PA);
}

struct fixture *fixture_new(unsigned int nr_cpus, uint64_t nr_slots)
{
	struct fixture *fix = calloc(1, sizeof(*fix));

	fix->nr_cpus = nr_cpus;
	fix->nr_slots = nr_slots;
	make_root(fix);
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++)
		make_cpu(fix, cpu);
	fixture_seal(fix);
	return fix;
}

void fixture_free(struct fixture *fix)
{
	mem_fini(&fix->mem);
	free(fix);
}

void fixture_seal(struct fixture *fix)
{
	struct btsrec_root *root = fixture_root(fix);

	root->crc32 = 0;
	root->crc32 = crc32(0, (const uint8_t *)root, BTSREC_ROOT_LIVE_OFFSET);
	for (unsigned int cpu = 0; cpu < fix->nr_cpus; cpu++) {
		struct btsrec_cpu *page = fixture_cpu(fix, cpu);

		page->crc32 = 0;
		page->crc32 = crc32(0, (const uint8_t *)page, BTSREC_CPU_LIVE_OFFSET);
	}
}

void fixture_put(struct fixture *fix, unsigned int cpu, uint64_t slot,
		 struct btsrec_record record)
{
	const uint64_t labels[3] = {record.from, record.to, record.flags};

	for (unsigned int i = 0; i < 3; i++) {
		uint64_t off = slot * BTSREC_RECORD_BYTES + i * 8;
		uint64_t pa = fixture_ring_page_pa(fix, cpu, off / BTSREC_PAGE_BYTES);

		*(uint64_t *)mem_page(&fix->mem, pa + off % BTSREC_PAGE_BYTES) = labels[i];
	}
}

struct btsrec_record fixture_branch(uint64_t n)
{
	return (struct btsrec_record){
		.from = 0xffffffff81000000ULL + n * 16,
		.to = 0x400000 + n * 16,
		.flags = n % 2 ? BTSREC_FLAG_PREDICTED : 0,
	};
}

void fixture_branches(struct fixture *fix, unsigned int cpu, uint64_t slot, uint64_t nr,
		      uint64_t first)
{
	for (uint64_t i = 0; i < nr; i++)
		fixture_put(fix, cpu, slot + i, fixture_branch(first + i));
}

struct btsrec_record fixture_part(unsigned int kind, unsigned int part, unsigned int nr_parts,
				  uint32_t sequence)
{
	return (struct btsrec_record){
		.from = BTSREC_TAG << BTSREC_TAG_SHIFT | (uint64_t)kind << BTSREC_TAG_KIND_SHIFT |
			(uint64_t)part << BTSREC_TAG_PART_SHIFT |
			(uint64_t)nr_parts << BTSREC_TAG_NR_PARTS_SHIFT | sequence,
		.to = part * 2,
		.flags = part * 2 + 1,
	};
}

void fixture_annotation(struct fixture *fix, unsigned int cpu, uint64_t slot,
			unsigned int kind, unsigned int nr_parts, uint32_t sequence)
{
	for (unsigned int part = 0; part < nr_parts; part++)
		fixture_put(fix, cpu, (slot + part) % fix->nr_slots,
			    fixture_part(kind, part, nr_parts, sequence));
}

void fixture_live_index(struct fixture *fix, unsigned int cpu, uint64_t slot)
{
	uint64_t *ds = mem_page(&fix->mem, FIX_DS_PA(cpu));

	ds[0] = FIX_RING_KVA(cpu);
	ds[1] = FIX_RING_KVA(cpu) + slot * BTSREC_RECORD_BYTES;
}

void fixture_freeze(struct fixture *fix, unsigned int cpu, uint64_t slot)
{
	struct btsrec_cpu *page = fixture_cpu(fix, cpu);

	page->freeze.reason = BTSREC_REASON_PANIC;
	page->freeze.index_kva = FIX_RING_KVA(cpu) + slot * BTSREC_RECORD_BYTES;
	page->freeze.stop_ip = 0xffffffff81234567ULL;
	page->state = BTSREC_CPU_FROZEN;
	page->frozen = 1;
}
