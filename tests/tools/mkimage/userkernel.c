// SPDX-License-Identifier: GPL-2.0-or-later
/* A process with mappings, names and a vDSO, and the kernel's BTF that says how to find them. */
#include "mkimage.h"

#include <string.h>

#include "../../userkernel.h"

#define KERNEL_MAP_KVA	0xffffffff80000000ULL

static struct uk uk;

/* What points into it, also with the marks that a maple tree has in the low bits. */
static void relocate(uint64_t to_kva)
{
	uint64_t *words = (uint64_t *)uk.bytes;

	for (size_t i = 0; i < UK_BTF_PA / sizeof(*words); i++)
		if (words[i] - UK_KVA(0) < UK_BYTES)
			words[i] += to_kva - UK_KVA(0);
}

/* The process does not run. */
static void switch_off(uint64_t sp)
{
	struct uk_task *task = (struct uk_task *)(uk.bytes + UK_TASK_PA);

	task->thread.sp = sp;
	task->stack = sp & ~(BTSREC_PAGE_BYTES - 1ULL);
}

/* It ended by a signal, or with a status. */
static void set_exit(uint64_t exit_code)
{
	struct uk_signal *signal = (struct uk_signal *)(uk.bytes + UK_SIGNAL_PA);

	signal->group_exit_code = (uint32_t)exit_code;
}

/* It waits for a mutex that it owns. */
static void block(uint64_t task_kva, uint64_t waiter_kva, uint64_t lock_kva)
{
	uint64_t list_kva = lock_kva + offsetof(struct uk_mutex, wait_list);
	struct uk_waiter waiter = { { list_kva, list_kva }, task_kva };
	struct uk_mutex lock = { .owner = task_kva | 1,
				 .wait_list = { waiter_kva, waiter_kva } };

	memory_write(mapped_pa(0, waiter_kva), &waiter, sizeof(waiter));
	memory_write(mapped_pa(0, lock_kva), &lock, sizeof(lock));
}

void do_userkernel(struct statement *statement)
{
	uint64_t pa = alloc_pages(UK_BYTES / BTSREC_PAGE_BYTES);
	uint64_t kva = KERNEL_MAP_KVA + pa - image.root->phys_base;
	unsigned int space;
	struct uk_mm *mm;
	char *end;

	if (statement->nr_words < 2 || statement->nr_words > 5)
		die("userkernel SPACE [SP [EXIT_CODE | WAITER LOCK]]");
	space = space_of(statement->words[1].text, &end);
	uk_init(&uk);
	relocate(kva);
	if (statement->nr_words > 2)
		switch_off(word_number(statement, 2));
	if (statement->nr_words == 4)
		set_exit(word_number(statement, 3));
	if (statement->nr_words > 4)
		block(kva + UK_TASK_PA, word_number(statement, 3), word_number(statement, 4));
	memory_write(mapped_pa(space, UK_TEXT), uk.bytes + UK_HEAD_PA, BTSREC_PAGE_BYTES);
	mm = (struct uk_mm *)(uk.bytes + UK_MM_PA);
	mm->pgd = KERNEL_MAP_KVA + space_pa(space) - image.root->phys_base;
	memory_write(pa, uk.bytes, UK_BYTES);
	add_symbol("init_task", kva + UK_INIT_PA);
	add_symbol("__start_BTF", kva + UK_BTF_PA);
	add_symbol("__stop_BTF", kva + UK_BTF_PA + uk.btf_bytes);
}
