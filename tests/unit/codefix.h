/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small machine for tests of code: page tables of a kernel and of a process, an IDT,
 * and pages to put instructions into.
 *
 *   0x1000 kernel's top table   0x2000 process's top table   from 0x100000 on: all else
 */
#ifndef BTSREC_TESTS_UNIT_CODEFIX_H
#define BTSREC_TESTS_UNIT_CODEFIX_H

#include "check_btsrec.h"
#include "code/code.h"

#define KERNEL_PGD	0x1000ULL
#define USER_PGD	0x2000ULL
#define TEXT		0xffffffff81000000ULL
#define MODULE		0xffffffffc0001000ULL
#define USER		0x0000555555554000ULL
#define IDT		0xfffffe0000000000ULL
#define PAGE_FAULT	(TEXT + 0xe00)
#define NMI		(TEXT + 0xe80)
#define TIMER		(TEXT + 0xf00)

static struct mem cf_mem;
static struct btsrec_image cf_image;
static uint64_t cf_next_pa;
static struct code *cf_code;

/* Of code_source.made; NULL: none. */
static bool (*cf_made)(void *arg, uint64_t cr3, uint64_t va);

/* Of code_source.text; NULL: none. */
static enum code_text (*cf_text)(void *arg, uint64_t va);

/* The physical address after @va, which is mapped if it is not yet. */
static inline uint64_t cf_map(uint64_t pgd_pa, uint64_t va)
{
	uint64_t table_pa = pgd_pa;

	for (unsigned int level = 4; level; level--) {
		uint64_t *entry = (uint64_t *)mem_page(&cf_mem, table_pa) +
				  ((va >> (12 + 9 * (level - 1))) & 511);

		if (!*entry) {
			mem_page(&cf_mem, cf_next_pa);
			*entry = cf_next_pa | 0x63;
			cf_next_pa += 0x1000;
		}
		table_pa = *entry & ~0xfffULL;
	}
	return table_pa + (va & 0xfff);
}

static inline uint64_t cf_pgd(uint64_t va)
{
	return code_is_kernel(va) ? KERNEL_PGD : USER_PGD;
}

static inline void cf_put_bytes(uint64_t va, const void *bytes, size_t nr_bytes)
{
	for (size_t i = 0; i < nr_bytes; i++)
		*(uint8_t *)mem_page(&cf_mem, cf_map(cf_pgd(va + i), va + i)) =
			((const uint8_t *)bytes)[i];
}

/* Instructions as a string of bytes without NUL at the end. */
#define cf_put(va, bytes)	cf_put_bytes((va), "" bytes, sizeof(bytes) - 1)

static inline void cf_put_nops(uint64_t va, size_t nr_pages)
{
	va -= va % 4096;
	for (size_t i = 0; i < nr_pages; i++)
		memset(mem_page(&cf_mem, cf_map(KERNEL_PGD, va + i * 4096)), 0x90, 4096);
}

static inline void cf_put_gate(unsigned int vector, uint64_t handler_kva)
{
	uint16_t entry[8] = { (uint16_t)handler_kva, 0x10, 0x8e00, (uint16_t)(handler_kva >> 16),
			      (uint16_t)(handler_kva >> 32), (uint16_t)(handler_kva >> 48), 0, 0 };

	cf_put_bytes(IDT + 16 * vector, entry, sizeof(entry));
}

/* An empty machine; fill it, then cf_start(). */
static inline void cf_setup(void)
{
	uint64_t *kernel, *user;

	code_free(cf_code);
	cf_code = NULL;
	mem_fini(&cf_mem);
	cf_image = mem_image(&cf_mem);
	cf_next_pa = 0x100000;
	cf_map(KERNEL_PGD, TEXT);
	cf_map(KERNEL_PGD, MODULE);
	cf_map(USER_PGD, USER);
	kernel = mem_page(&cf_mem, KERNEL_PGD);
	user = mem_page(&cf_mem, USER_PGD);
	user[511] = kernel[511];
	cf_put_gate(2, NMI);
	cf_put_gate(14, PAGE_FAULT);
	cf_put_gate(236, TIMER);
}

static inline void cf_start(void)
{
	struct code_source source = { .image = &cf_image, .kernel_pgd_pa = KERNEL_PGD,
				      .made = cf_made, .text = cf_text };

	code_free(cf_code);
	cf_code = code_new(&source);
	ck_assert_ptr_nonnull(cf_code);
}

/* Of the process with its tables at USER_PGD. */
static inline const struct code_run *cf_run(uint64_t start, uint64_t end)
{
	return code_run(cf_code, USER_PGD, start, end);
}

static inline void cf_ck_fault(uint64_t start, uint64_t end, enum code_fault want, uint64_t va)
{
	const struct code_run *got = cf_run(start, end);

	ck_assert_msg(got->fault == want, "%s", code_fault_str(got->fault));
	if (want)
		ck_assert_uint_eq(got->fault_va, va);
}

static inline void cf_finish(void)
{
	code_free(cf_code);
	cf_code = NULL;
	mem_fini(&cf_mem);
}

#endif /* BTSREC_TESTS_UNIT_CODEFIX_H */
