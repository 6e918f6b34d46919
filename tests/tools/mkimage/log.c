// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's log: the lockless ring of printk, and the clock of its times. */
#include "mkimage.h"

#include <string.h>

#define KERNEL_MAP_KVA	0xffffffff80000000ULL

#define COUNT_BITS	5
#define SIZE_BITS	12
#define NR_RECORDS	(1U << COUNT_BITS)

/* As in Linux, less what nobody reads; the place of each member is in VMCOREINFO. */
struct lpos { uint64_t begin, next; };
struct desc { uint64_t state_var; struct lpos text_blk_lpos; };
struct info {
	uint64_t seq, ts_nsec;
	uint16_t text_len;
	uint8_t facility, level;
	uint32_t caller_id;
};
struct desc_ring {
	uint32_t count_bits, unused;
	uint64_t descs, infos, head_id, tail_id;
};
struct data_ring { uint32_t size_bits, unused; uint64_t data; };
struct ringbuffer { struct desc_ring desc_ring; struct data_ring text_data_ring; };

/* All of it in one page and the page of the texts; prb, the pointer, is in front. */
struct log {
	uint64_t prb;
	struct ringbuffer rb;
	struct desc descs[NR_RECORDS];
	struct info infos[NR_RECORDS];
};

_Static_assert(sizeof(struct log) <= BTSREC_PAGE_BYTES, "a page");

static uint64_t next_lpos;

static uint64_t kva_of(uint64_t pa)
{
	return KERNEL_MAP_KVA + pa - image.root->phys_base;
}

static struct log *log_page(void)
{
	struct log *log;

	if (image.log_pa)
		return at_pa(image.log_pa);
	image.log_pa = alloc_pages(2);
	log = at_pa(image.log_pa);
	log->prb = kva_of(image.log_pa + offsetof(struct log, rb));
	log->rb.desc_ring = (struct desc_ring){
		.count_bits = COUNT_BITS,
		.descs = kva_of(image.log_pa + offsetof(struct log, descs)),
		.infos = kva_of(image.log_pa + offsetof(struct log, infos)),
		.head_id = NR_RECORDS - 1,
		.tail_id = NR_RECORDS,
	};
	log->rb.text_data_ring.size_bits = SIZE_BITS;
	log->rb.text_data_ring.data = kva_of(image.log_pa + BTSREC_PAGE_BYTES);
	return log;
}

/* The text of the record @id, as a block. */
static struct lpos put_block(uint64_t id, const char *text, size_t nr_bytes)
{
	uint64_t begin = next_lpos, pa = image.log_pa + BTSREC_PAGE_BYTES;

	next_lpos += (sizeof(id) + nr_bytes + 7) & ~7ULL;
	if (next_lpos > 1U << SIZE_BITS)
		die("the log is full");
	memory_write(pa + begin, &id, sizeof(id));
	memory_write(pa + begin + sizeof(id), text, nr_bytes);
	return (struct lpos){ begin, next_lpos };
}

void do_log(struct statement *statement)
{
	struct log *log = log_page();
	uint64_t id = ++log->rb.desc_ring.head_id, i = id % NR_RECORDS;
	struct word *text = word_of(statement, "text");

	if (!text || id >= 2 * NR_RECORDS)
		die("log ns= text=, at most %u times", NR_RECORDS);
	log->infos[i] = (struct info){
		.seq = id - NR_RECORDS,
		.ts_nsec = value_of(statement, "ns", 0),
		.text_len = (uint16_t)text->value_bytes,
		.caller_id = (uint32_t)value_of(statement, "caller", 1),
	};
	log->descs[i].state_var = id | value_of(statement, "state", 2) << 62;
	log->descs[i].text_blk_lpos = put_block(id, text->value, text->value_bytes);
}

int put_log_lines(char *ret)
{
	static const struct {
		const char *name;
		size_t offset;
	} members[] = {
#define MEMBER(kernel, type, member) { kernel "." #member, offsetof(struct type, member) }
		MEMBER("printk_ringbuffer", ringbuffer, desc_ring),
		MEMBER("printk_ringbuffer", ringbuffer, text_data_ring),
		MEMBER("prb_desc_ring", desc_ring, count_bits),
		MEMBER("prb_desc_ring", desc_ring, descs),
		MEMBER("prb_desc_ring", desc_ring, infos),
		MEMBER("prb_desc_ring", desc_ring, head_id),
		MEMBER("prb_desc_ring", desc_ring, tail_id),
		MEMBER("prb_desc", desc, state_var),
		MEMBER("prb_desc", desc, text_blk_lpos),
		MEMBER("prb_data_blk_lpos", lpos, begin),
		MEMBER("prb_data_blk_lpos", lpos, next),
		MEMBER("printk_info", info, seq),
		MEMBER("printk_info", info, ts_nsec),
		MEMBER("printk_info", info, text_len),
		MEMBER("printk_info", info, caller_id),
		MEMBER("prb_data_ring", data_ring, size_bits),
		MEMBER("prb_data_ring", data_ring, data),
		{ "atomic_long_t.counter", 0 },
	};
	int nr_chars = sprintf(ret, "SYMBOL(prb)=%llx\nSIZE(prb_desc)=%zu\nSIZE(printk_info)=%zu\n",
			       (unsigned long long)kva_of(image.log_pa), sizeof(struct desc),
			       sizeof(struct info));

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		nr_chars += sprintf(ret + nr_chars, "OFFSET(%s)=%zu\n", members[i].name,
				    members[i].offset);
	return nr_chars;
}

/* Its constants, as the kernel's names call them, and CPU 0's place in them. */
void do_clock(struct statement *statement)
{
	static const char *const names[] = {
		"__per_cpu_offset", "__sched_clock_offset", "__sched_clock_stable", "cyc2ns",
	};
	uint64_t khz = value_of(statement, "khz", 1000000), shift = 10;
	uint64_t words[2] = { (1000000 << shift) / khz | shift << 32,
			      value_of(statement, "offset", 0) };
	uint64_t pa = alloc_page();

	for (size_t i = 0; i < 4; i++)
		add_symbol(names[i], kva_of(pa + i * 512));
	*(uint32_t *)at_pa(pa + 2 * 512) = (uint32_t)value_of(statement, "stable", 1);
	memory_write(pa + 3 * 512, words, sizeof(words));
	memory_write(pa + 3 * 512 + sizeof(words), words, sizeof(words));
}
