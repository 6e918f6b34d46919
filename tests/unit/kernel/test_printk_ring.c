// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "kernel/printk_ring.h"
#include "userkernel.h"

#define PRB_PA		UK_NAMES_PA
#define RB_PA		(UK_NAMES_PA + 0x10)
#define DESCS_PA	(UK_NAMES_PA + 0x100)
#define INFOS_PA	(UK_NAMES_PA + 0x200)
#define TEXT_PA		UK_VDSO_PA
#define SIZE_BITS	8
#define COUNT_BITS	2

/* What a state of a descriptor is, in its two highest bits. */
enum { RESERVED, COMMITTED, FINALIZED, REUSABLE };

#define ID_MASK		(~0ULL >> 2)

/* Members in another order than the kernel's: VMCOREINFO says where they are. */
struct lpos { uint64_t next, begin; };
struct desc { struct lpos lpos; uint64_t state_var; };
struct info { uint32_t caller_id; uint16_t text_len, pad; uint64_t ts_nsec, seq; };
struct ringbuffer {
	uint64_t data;
	uint32_t size_bits, count_bits;
	uint64_t head_id, tail_id, infos, descs;
};

static const char where[] =
	"OSRELEASE=6.1.0\nSYMBOL(prb)=%llx\nOFFSET(printk_ringbuffer.desc_ring)=8\n"
	"OFFSET(printk_ringbuffer.text_data_ring)=0\nOFFSET(prb_desc_ring.count_bits)=4\n"
	"OFFSET(prb_desc_ring.head_id)=8\nOFFSET(prb_desc_ring.tail_id)=16\n"
	"OFFSET(prb_desc_ring.infos)=24\nOFFSET(prb_desc_ring.descs)=32\n"
	"OFFSET(prb_data_ring.data)=0\nOFFSET(prb_data_ring.size_bits)=8\n"
	"OFFSET(prb_desc.text_blk_lpos)=0\nOFFSET(prb_desc.state_var)=16\n"
	"OFFSET(prb_data_blk_lpos.next)=0\nOFFSET(prb_data_blk_lpos.begin)=8\n"
	"OFFSET(printk_info.caller_id)=0\nOFFSET(printk_info.text_len)=4\n"
	"OFFSET(printk_info.ts_nsec)=8\nOFFSET(printk_info.seq)=16\n"
	"OFFSET(atomic_long_t.counter)=0\nSIZE(prb_desc)=24\nSIZE(printk_info)=24\n";

static struct uk uk;
static struct printk_ring ring;
static struct printk_record record;
static struct ringbuffer *rb;
static char text[PRINTK_TEXT_BYTES];
static char vmcoreinfo[sizeof(where) + 16];

static const char *open_ring(void)
{
	return printk_ring_open(&uk.kread, vmcoreinfo, &ring);
}

static void setup(void)
{
	uk_init(&uk);
	memset(uk_at(&uk, UK_NAMES_PA), 0, BTSREC_PAGE_BYTES);
	memset(uk_at(&uk, TEXT_PA), 0, BTSREC_PAGE_BYTES);
	(void)snprintf(vmcoreinfo, sizeof(vmcoreinfo), where, UK_KVA(PRB_PA));
	*(uint64_t *)uk_at(&uk, PRB_PA) = UK_KVA(RB_PA);
	rb = uk_at(&uk, RB_PA);
	*rb = (struct ringbuffer){ UK_KVA(TEXT_PA), SIZE_BITS, COUNT_BITS, 0, 0,
				   UK_KVA(INFOS_PA), UK_KVA(DESCS_PA) };
}

static struct desc *desc_of(uint64_t id)
{
	return (struct desc *)uk_at(&uk, DESCS_PA) + id % (1 << COUNT_BITS);
}

/* The text goes to where a kernel puts what begins at @begin. */
static void put_record(uint64_t id, unsigned int state, uint64_t begin, const char *line)
{
	struct info *info = (struct info *)uk_at(&uk, INFOS_PA) + id % (1 << COUNT_BITS);
	uint64_t nr_bytes = (8 + strlen(line) + 7) & ~7ULL, next = begin + nr_bytes;
	uint64_t at = begin % (1 << SIZE_BITS);

	if (at + nr_bytes > 1 << SIZE_BITS) {
		at = 0;
		next = (begin | ((1 << SIZE_BITS) - 1)) + 1 + nr_bytes;
	}
	*info = (struct info){ 7, (uint16_t)strlen(line), 0, 1000 * id, id };
	*desc_of(id) = (struct desc){ { next, begin }, id | (uint64_t)state << 62 };
	memcpy(uk_at(&uk, TEXT_PA + at), &id, sizeof(id));
	memcpy(uk_at(&uk, TEXT_PA + at + 8), line, strlen(line));
}

static void check_text(const char *want)
{
	size_t nr_bytes;

	ck_assert_int_eq(record.state, PRINTK_READY);
	ck_assert_ptr_null(printk_ring_text(&ring, &record, text, &nr_bytes));
	ck_assert_uint_eq(nr_bytes, strlen(want));
	ck_assert_mem_eq(text, want, nr_bytes);
}

/* Newest first, over the end of the numbers and over the end of the texts. */
START_TEST(all_states)
{
	setup();
	put_record(ID_MASK - 1, REUSABLE, 0x10, "gone");
	put_record(ID_MASK, FINALIZED, -(uint64_t)0x20, "wraps to the beginning of the ring");
	put_record(0, COMMITTED, 0x40, "no newline yet");
	put_record(1, RESERVED, 0x60, "half of a li");
	rb->tail_id = ID_MASK - 1;
	rb->head_id = 1;
	ck_assert_ptr_null(open_ring());
	ck_assert(printk_ring_next(&ring, &record));
	ck_assert_int_eq(record.state, PRINTK_WRITING);
	ck_assert(printk_ring_next(&ring, &record));
	check_text("no newline yet");
	ck_assert_uint_eq(record.seq, 0);
	ck_assert_uint_eq(record.caller, 7);
	ck_assert(printk_ring_next(&ring, &record));
	check_text("wraps to the beginning of the ring");
	ck_assert_uint_eq(record.ts_nsec, 1000 * ID_MASK);
	ck_assert(printk_ring_next(&ring, &record));
	ck_assert_int_eq(record.state, PRINTK_UNUSED);
	ck_assert(!printk_ring_next(&ring, &record));
}
END_TEST

START_TEST(states_by_id)
{
	ck_assert_int_eq(printk_state(5, 5), PRINTK_WRITING);
	ck_assert_int_eq(printk_state(5 | 1ULL << 62, 5), PRINTK_READY);
	ck_assert_int_eq(printk_state(5 | 2ULL << 62, 5), PRINTK_READY);
	ck_assert_int_eq(printk_state(5 | 3ULL << 62, 5), PRINTK_UNUSED);
	for (uint64_t state = 0; state < 4; state++)
		ck_assert_int_eq(printk_state(5 | state << 62, 5 + 4), PRINTK_UNUSED);
}
END_TEST

static void check_block(uint64_t begin, uint64_t next, int64_t want_at, uint64_t want_bytes)
{
	uint64_t at, nr_bytes;
	bool there = printk_block(begin, next, SIZE_BITS, &at, &nr_bytes);

	ck_assert_int_eq(there, want_at >= 0);
	if (!there)
		return;
	ck_assert_uint_eq(at, (uint64_t)want_at);
	ck_assert_uint_eq(nr_bytes, want_bytes);
}

START_TEST(blocks)
{
	check_block(0x110, 0x130, 0x10, 0x20);
	check_block(0x1f0, 0x228, 0, 0x28);
	/* The first round has the highest positions. */
	check_block(-(uint64_t)0x100, -(uint64_t)0xc0, 0, 0x40);
	check_block(-(uint64_t)0x20, 0x40, 0, 0x40);
	/* Up to the end of the ring, since v6.18. */
	check_block(0x1e0, 0x200, 0xe0, 0x20);
	check_block(-(uint64_t)0x20, 0, 0xe0, 0x20);
	/* An empty line; a text that was lost; neither. */
	check_block(3, 3, 0, 0);
	check_block(1, 1, -1, 0);
	check_block(1, 3, -1, 0);
	/* Not a multiple of an id, no room for one, backwards, too far. */
	check_block(0x111, 0x131, -1, 0);
	check_block(0x110, 0x114, -1, 0);
	check_block(0x110, 0x110, -1, 0);
	check_block(0x130, 0x110, -1, 0);
	check_block(0x110, 0x330, -1, 0);
	check_block(0, 0, -1, 0);
}
END_TEST

START_TEST(damaged_texts)
{
	size_t nr_bytes;

	setup();
	put_record(2, FINALIZED, 0x40, "text");
	rb->head_id = rb->tail_id = 2;
	ck_assert_ptr_null(open_ring());
	ck_assert(printk_ring_next(&ring, &record));
	check_text("text");
	/* More than the block has is not the record's. */
	record.text_bytes = UINT16_MAX;
	ck_assert_ptr_null(printk_ring_text(&ring, &record, text, &nr_bytes));
	ck_assert_uint_eq(nr_bytes, 8);
	*(uint64_t *)uk_at(&uk, TEXT_PA + 0x40) = 3;
	ck_assert_str_eq(printk_ring_text(&ring, &record, text, &nr_bytes),
			 "its text was overwritten");
	uk.hole_pa = TEXT_PA;
	ck_assert_str_eq(printk_ring_text(&ring, &record, text, &nr_bytes),
			 "its text is not in the dump");
	record.begin = record.next = 1;
	ck_assert_str_eq(printk_ring_text(&ring, &record, text, &nr_bytes), "its text was lost");
	record.begin = record.next = 3;
	uk.hole_pa = 0;
	ck_assert_ptr_null(printk_ring_text(&ring, &record, text, &nr_bytes));
	ck_assert_uint_eq(nr_bytes, 0);
}
END_TEST

START_TEST(damaged_rings)
{
	static const char none[] = "VMCOREINFO does not say where it is";
	char *line;

	setup();
	ck_assert_str_eq(printk_ring_open(&uk.kread, NULL, &ring), none);
	ck_assert(!printk_ring_next(&ring, &record));
	ck_assert_str_eq(printk_ring_open(&uk.kread, "", &ring), none);
	line = strstr(vmcoreinfo, "info.seq)=16") + sizeof("info.seq)=") - 1;
	*line = 'x';
	ck_assert_str_eq(open_ring(), none);
	/* Together with the line behind it. */
	*line = '9';
	line[2] = '9';
	ck_assert_str_eq(open_ring(), none);
	setup();
	rb->head_id = 4;
	ck_assert_str_eq(open_ring(), "its ring is damaged");
	rb->head_id = ~0ULL;
	ck_assert_str_eq(open_ring(), "its ring is damaged");
	rb->head_id = 3;
	ck_assert_ptr_null(open_ring());
	rb->count_bits = 64;
	ck_assert_str_eq(open_ring(), "its ring is damaged");
	rb->count_bits = COUNT_BITS;
	rb->size_bits = 0;
	ck_assert_str_eq(open_ring(), "its ring is damaged");
	rb->size_bits = SIZE_BITS;
	rb->descs = 0;
	ck_assert_ptr_null(open_ring());
	for (int i = 0; i < 4; i++) {
		ck_assert(printk_ring_next(&ring, &record));
		ck_assert_int_eq(record.state, PRINTK_MISSING);
	}
	ck_assert(!printk_ring_next(&ring, &record));
	*(uint64_t *)uk_at(&uk, PRB_PA) = 8;
	ck_assert_str_eq(open_ring(), "it is not in the dump");
}
END_TEST

BTSREC_CK_MAIN("printk_ring", all_states, states_by_id, blocks, damaged_texts, damaged_rings)
