/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A whole recorder in a struct mem, valid as it is made; a test then breaks or
 * fills it.  Everything is at a fixed address:
 *
 *   1 MiB  root, CPU directory, module map, exec ring
 *   2 MiB  + cpu * 64 KiB: CPU page, list page, DS area
 *   4 MiB  + cpu * 1 MiB: the ring's pages, every other page backwards
 */
#ifndef BTSREC_TESTS_UNIT_FIXTURE_H
#define BTSREC_TESTS_UNIT_FIXTURE_H

#include "check_btsrec.h"

#define FIX_ROOT_PA	0x100000ULL
#define FIX_DIR_PA	0x101000ULL
#define FIX_MODULE_PA	0x102000ULL
#define FIX_EXEC_PA	0x103000ULL
#define FIX_CPU_PA(cpu)	(0x200000ULL + (cpu) * 0x10000ULL)
#define FIX_LIST_PA(cpu) (FIX_CPU_PA(cpu) + 0x1000)
#define FIX_DS_PA(cpu)	(FIX_CPU_PA(cpu) + 0x2000)
#define FIX_RING_PA(cpu) (0x400000ULL + (cpu) * 0x100000ULL)
#define FIX_RING_KVA(cpu) (0xffffc90000000000ULL + (cpu) * 0x10000000ULL)
#define FIX_DS_KVA(cpu)	(0xfffffe0000010000ULL + (cpu) * 0x3b000ULL)
#define FIX_GENERATION	1234567890ULL

/**
 * struct fixture - the recorder
 * @nr_slots: of each ring.
 */
struct fixture {
	struct mem mem;
	unsigned int nr_cpus;
	uint64_t nr_slots;
};

/** fixture_new() - @nr_cpus armed CPUs with rings full of poison; free it. */
struct fixture *fixture_new(unsigned int nr_cpus, uint64_t nr_slots);
void fixture_free(struct fixture *fix);

struct btsrec_root *fixture_root(struct fixture *fix);
struct btsrec_cpu *fixture_cpu(struct fixture *fix, unsigned int cpu);
struct btsrec_module *fixture_module(struct fixture *fix, unsigned int slot);

/** fixture_seal() - make all checksums right again after a change. */
void fixture_seal(struct fixture *fix);

/** fixture_ring_page_pa() - where page @page of the ring of @cpu is. */
uint64_t fixture_ring_page_pa(const struct fixture *fix, unsigned int cpu, uint64_t page);

/** fixture_put() - write a slot, over two pages if it lies so. */
void fixture_put(struct fixture *fix, unsigned int cpu, uint64_t slot,
		 struct btsrec_record record);

/** fixture_branches() - branches @first, @first + 1... into slots @slot.. */
void fixture_branches(struct fixture *fix, unsigned int cpu, uint64_t slot, uint64_t nr,
		      uint64_t first);

/** fixture_part() - part @part of annotation @sequence; payload word i is @part * 2 + i. */
struct btsrec_record fixture_part(unsigned int kind, unsigned int part, unsigned int nr_parts,
				  uint32_t sequence);

/** fixture_annotation() - a whole annotation from @slot on, modulo the ring. */
void fixture_annotation(struct fixture *fix, unsigned int cpu, uint64_t slot,
			unsigned int kind, unsigned int nr_parts, uint32_t sequence);

/** fixture_branch() - branch number @n: from, to and prediction encode @n. */
struct btsrec_record fixture_branch(uint64_t n);

/** fixture_live_index() - bts_index in the DS area of @cpu. */
void fixture_live_index(struct fixture *fix, unsigned int cpu, uint64_t slot);

/** fixture_freeze() - @cpu froze before it wrote slot @slot. */
void fixture_freeze(struct fixture *fix, unsigned int cpu, uint64_t slot);

#endif /* BTSREC_TESTS_UNIT_FIXTURE_H */
