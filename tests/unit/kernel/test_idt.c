// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "kernel/idt.h"

#define PGD_PA	0x1000ULL
#define IDT_PA	0x10000ULL
#define IDT_KVA	0xfffffe0000000000ULL

static struct mem mem;
static struct btsrec_image image;
static struct walk walk;
static struct idt idt;

static void setup(void)
{
	uint64_t table_pa = PGD_PA;

	mem_fini(&mem);
	image = mem_image(&mem);
	walk_init(&walk, &image, false);
	for (unsigned int level = 4; level; level--, table_pa += 0x1000) {
		uint64_t *table = mem_page(&mem, table_pa);

		table[(IDT_KVA >> (12 + 9 * (level - 1))) & 511] =
			(level > 1 ? table_pa + 0x1000 : IDT_PA) | 0x63;
	}
	mem_page(&mem, IDT_PA);
}

static void put_gate(unsigned int vector, uint64_t handler_kva, unsigned int type)
{
	uint16_t *entry = mem_page(&mem, IDT_PA + 16 * vector);

	entry[0] = (uint16_t)handler_kva;
	entry[1] = 0x10;
	entry[2] = (uint16_t)(type << 8);
	entry[3] = (uint16_t)(handler_kva >> 16);
	entry[4] = (uint16_t)(handler_kva >> 32);
	entry[5] = (uint16_t)(handler_kva >> 48);
}

START_TEST(reads_the_idt)
{
	setup();
	for (unsigned int vector = 0; vector < 256; vector++)
		put_gate(vector, 0xffffffff81000000 + (255 - vector) * 0x12345ULL, 0x8e);
	idt_init(&idt, &walk, PGD_PA, 0);
	ck_assert(idt.known);
	ck_assert_uint_eq(idt.nr, 256);
	for (unsigned int vector = 0; vector < 256; vector++)
		ck_assert_int_eq(idt_vector(&idt, 0xffffffff81000000 + (255 - vector) * 0x12345ULL),
				 (int)vector);
	ck_assert_int_eq(idt_vector(&idt, 0xffffffff81000001), -1);
	ck_assert_int_eq(idt_vector(&idt, 0), -1);
	ck_assert_int_eq(idt_vector(&idt, UINT64_MAX), -1);
}
END_TEST

START_TEST(only_gates_of_the_kernel)
{
	setup();
	put_gate(14, 0xffffffff81000e00, 0x8e);
	put_gate(3, 0xffffffff81000300, 0xef);		/* trap gate, DPL 3 */
	put_gate(4, 0xffffffff81000400, 0x0e);		/* not present */
	put_gate(5, 0xffffffff81000500, 0x85);		/* task gate */
	put_gate(6, 0x00007fff81000600, 0x8e);
	put_gate(200, 0xffffffff81000e00, 0x8e);	/* shared: the lower vector wins */
	idt_init(&idt, &walk, PGD_PA, 0);
	ck_assert_uint_eq(idt.nr, 3);
	ck_assert_int_eq(idt_vector(&idt, 0xffffffff81000e00), 14);
	ck_assert_int_eq(idt_vector(&idt, 0xffffffff81000300), 3);
	ck_assert_int_eq(idt_vector(&idt, 0xffffffff81000400), -1);
	ck_assert_int_eq(idt_vector(&idt, 0xffffffff81000500), -1);
	ck_assert_int_eq(idt_vector(&idt, 0x00007fff81000600), -1);
}
END_TEST

/* Its gate is there for programs, is for devices, or is none. */
START_TEST(system_calls)
{
	setup();
	put_gate(14, 0xffffffff81000e00, 0x8e);
	put_gate(0x80, 0xffffffff81000800, 0xee);
	idt_init(&idt, &walk, PGD_PA, 0);
	ck_assert(idt.has_int80);
	put_gate(0x80, 0xffffffff81000800, 0x8e);
	idt_init(&idt, &walk, PGD_PA, 0);
	ck_assert(!idt.has_int80);
	put_gate(0x80, 0xffffffff81000800, 0x6e);
	idt_init(&idt, &walk, PGD_PA, 0);
	ck_assert(!idt.has_int80);
}
END_TEST

/* FRED: two entries, at CPL 3 and at CPL 0; what the IDT has does not count. */
START_TEST(by_fred)
{
	const uint64_t entry_kva = 0xffffffff81a00000;

	setup();
	put_gate(14, 0xffffffff81000e00, 0x8e);
	idt_init(&idt, &walk, PGD_PA, entry_kva | 0x42);
	ck_assert(idt.known);
	ck_assert(!idt_may_be(&idt, 0xffffffff81000e00));
	for (int64_t offset = -1; offset <= 257; offset++) {
		bool is_entry = offset == 0 || offset == 256;

		ck_assert(idt_is_fred(&idt, entry_kva + offset) == is_entry);
		ck_assert(idt_may_be(&idt, entry_kva + offset) == is_entry);
		ck_assert_int_eq(idt_vector(&idt, entry_kva + offset), -1);
	}
	/* One that no kernel writes. */
	idt_init(&idt, &walk, PGD_PA, 0x1042);
	ck_assert(!idt.fred_config);
	ck_assert_int_eq(idt_vector(&idt, 0xffffffff81000e00), 14);
}
END_TEST

/* SDM vol. 3A: aligned to 16; by FRED below the red zone, aligned to 64, two words behind SS. */
START_TEST(ends_of_frames)
{
	setup();
	idt_init(&idt, &walk, PGD_PA, 0);
	ck_assert_uint_eq(idt_regs_end(&idt, 0xffffc90000003fe8), 0xffffc90000003fe0);
	ck_assert_uint_eq(idt_regs_end(&idt, 0xffffc90000003fe0), 0xffffc90000003fe0);
	idt_init(&idt, &walk, PGD_PA, 0xffffffff81a00042);
	ck_assert_uint_eq(idt_regs_end(&idt, 0xffffc90000003fe8), 0xffffc90000003f70);
	idt_init(&idt, &walk, PGD_PA, 0xffffffff81a00002);
	ck_assert_uint_eq(idt_regs_end(&idt, 0xffffc90000003fc0), 0xffffc90000003fb0);
}
END_TEST

START_TEST(not_there)
{
	setup();
	idt_init(&idt, &walk, 0, 0);
	ck_assert(!idt.known);
	idt_init(&idt, &walk, PGD_PA, 0);
	ck_assert(!idt.known); /* zeros */
	put_gate(14, 0xffffffff81000e00, 0x8e);
	mem_cut(&mem, IDT_PA, 4095);
	idt_init(&idt, &walk, PGD_PA, 0);
	ck_assert(!idt.known);
	ck_assert_int_eq(idt_vector(&idt, 0xffffffff81000e00), -1);
	mem_fini(&mem);
}
END_TEST

START_TEST(names)
{
	ck_assert_str_eq(idt_exception_str(14), "#PF");
	ck_assert_str_eq(idt_exception_str(0), "#DE");
	ck_assert_ptr_null(idt_exception_str(2));
	ck_assert_ptr_null(idt_exception_str(32));
	ck_assert_ptr_null(idt_exception_str(UINT32_MAX));
}
END_TEST

BTSREC_CK_MAIN("idt", reads_the_idt, only_gates_of_the_kernel, system_calls, by_fred, ends_of_frames,
	       not_there, names)
