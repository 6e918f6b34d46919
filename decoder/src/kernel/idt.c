// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/idt.h"

#include <stdlib.h>
#include <string.h>

/*
 * The first page of the CPU entry areas is the read-only alias of the IDT.  Every CPU's IDTR points
 * to it, with 4 and with 5 levels of page tables. (CPU_ENTRY_AREA_RO_IDT_VADDR,
 * arch/x86/include/asm/cpu_entry_area.h, since v4.15)
 */
#define IDT_KVA		0xfffffe0000000000ULL

/* SDM vol. 3A, "64-Bit Mode IDT" figure: 16 bytes, type 14 interrupt or 15 trap gate. */
struct idt_entry {
	uint16_t offset_low;
	uint16_t event_filter;
	uint16_t attributes;
	uint16_t offset_middle;
	uint32_t offset_high;
	uint32_t reserved;
};

_Static_assert(sizeof(struct idt_entry) * IDT_NR == BTSREC_PAGE_BYTES, "the IDT is one page");

#define GATE_PRESENT	(1U << 15)
#define GATE_TYPE(a)	(((a) >> 8) & 0x1f)
/* SDM vol. 3A, "Protection of Exception- and Interrupt-Handler Procedures": for INT n only. */
#define GATE_DPL(a)	(((a) >> 13) & 3)
#define DPL_USER	3
#define GATE_INTERRUPT	14
#define GATE_TRAP	15

static bool entry_gate(const struct idt_entry *entry, struct idt_gate *ret)
{
	unsigned int type = GATE_TYPE(entry->attributes);

	if (!(entry->attributes & GATE_PRESENT) || (type != GATE_INTERRUPT && type != GATE_TRAP))
		return false;
	ret->handler_kva = (uint64_t)entry->offset_high << 32 |
			   (uint64_t)entry->offset_middle << 16 | entry->offset_low;
	return ret->handler_kva >> 63;
}

/* A kernel without 32-bit programs gives this vector to devices, or to nobody. */
static bool has_int80(const struct idt_entry *entries)
{
	const struct idt_entry *entry = &entries[IDT_INT80];
	struct idt_gate idt_gate;

	return entry_gate(entry, &idt_gate) && GATE_DPL(entry->attributes) == DPL_USER;
}

static int idt_gate_compare(const void *left, const void *right)
{
	const struct idt_gate *a = left, *b = right;

	if (a->handler_kva != b->handler_kva)
		return a->handler_kva < b->handler_kva ? -1 : 1;
	return (a->vector > b->vector) - (a->vector < b->vector);
}

/* SDM vol. 3A, "Intel Flexible Return and Event Delivery (FRED)": fields of IA32_FRED_CONFIG. */
#define FRED_ENTRIES	(~0xfffULL)
#define FRED_RED_ZONE	0x1c0ULL
/* Behind SS the frame has two words more. */
#define FRED_MORE_BYTES	16
#define FRED_ALIGN_MASK	63ULL

void idt_init(struct idt *idt, struct walk *walk, uint64_t kernel_pgd_pa, uint64_t fred_config)
{
	struct idt_entry entries[IDT_NR];
	uint64_t pa;

	memset(idt, 0, sizeof(*idt));
	if (fred_config >> 63) {
		idt->known = true;
		idt->fred_config = fred_config;
		idt->fred_kva = fred_config & FRED_ENTRIES;
		return;
	}
	if (walk_pa(walk, kernel_pgd_pa, IDT_KVA, &pa) != WALK_OK ||
	    image_read(walk->image, pa, entries, sizeof(entries)) != BTSREC_OK)
		return;
	for (unsigned int vector = 0; vector < IDT_NR; vector++) {
		struct idt_gate *idt_gate = &idt->sorted[idt->nr];

		idt_gate->vector = vector;
		idt->nr += entry_gate(&entries[vector], idt_gate);
	}
	qsort(idt->sorted, idt->nr, sizeof(idt->sorted[0]), idt_gate_compare);
	idt->known = idt->nr;
	idt->has_int80 = has_int80(entries);
}

int idt_vector(const struct idt *idt, uint64_t kva)
{
	unsigned int low = 0, high = idt->nr;

	if (!idt_may_be(idt, kva))
		return -1;
	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (idt->sorted[middle].handler_kva < kva)
			low = middle + 1;
		else
			high = middle;
	}
	if (idt->sorted[low].handler_kva != kva)
		return -1;
	return (int)idt->sorted[low].vector;
}

uint64_t idt_regs_end(const struct idt *idt, uint64_t sp)
{
	uint64_t red_zone_bytes = idt->fred_config & FRED_RED_ZONE;

	if (!idt->fred_config)
		return sp & ~IDT_ALIGN_MASK;
	return ((sp - red_zone_bytes) & ~FRED_ALIGN_MASK) - FRED_MORE_BYTES;
}

/* SDM vol. 3A, "Protected-Mode Exceptions and Interrupts" table. */
static const char *const exceptions[32] = {
	[0] = "#DE", [1] = "#DB", [3] = "#BP", [4] = "#OF", [5] = "#BR", [6] = "#UD", [7] = "#NM",
	[8] = "#DF", [10] = "#TS", [11] = "#NP", [12] = "#SS", [13] = "#GP", [14] = "#PF",
	[16] = "#MF", [17] = "#AC", [18] = "#MC", [19] = "#XM", [20] = "#VE", [21] = "#CP",
	[29] = "#VC",
};

const char *idt_exception_str(unsigned int vector)
{
	return vector < sizeof(exceptions) / sizeof(exceptions[0]) ? exceptions[vector] : NULL;
}
