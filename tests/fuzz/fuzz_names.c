// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Symbol tables of the kernel and of a module, and the kernel's log: the input is plain memory from
 * address 0 on, which is where the kernel's image begins; all of them are there.
 */
#include <stdlib.h>

#include "../../decoder/src/kernel/kallsyms.h"
#include "../../decoder/src/kernel/modsyms.h"
#include "../../decoder/src/kernel/printk_ring.h"
#include "fuzz_image.h"

#define KVA(pa)	(KREAD_IMAGE_KVA + (pa))

/* The text ends here: not much further than the largest input. */
#define END_PA	(1 << 17)

static enum btsrec_status memory_read(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				      size_t *ret_bytes)
{
	const struct fuzz_memory *memory = arg;

	*ret_bytes = 0;
	if (pa >= memory->nr_bytes)
		return BTSREC_ERR_NODATA;
	*ret_bytes = memory->nr_bytes - pa < len_bytes ? memory->nr_bytes - pa : len_bytes;
	__builtin_memcpy(buf, memory->bytes + pa, *ret_bytes);
	return *ret_bytes == len_bytes ? BTSREC_OK : BTSREC_ERR_NODATA;
}

/* What a session does with the symbols. */
static void use(struct symbol_list *list, char *names)
{
	struct symbol_table *table = symbol_table_new(list, KVA(0), KVA(END_PA));
	uint64_t va, offset_bytes;
	const char *name;
	size_t name_bytes;

	for (va = KVA(0); table && va < KVA(END_PA); va += 4093)
		(void)symbol_table_find(table, va, &name, &name_bytes, &offset_bytes);
	symbol_table_free(table);
	symbol_list_fini(list);
	free(names);
}

/* The pointer to the ring is at 0, and the structs as of a 64-bit kernel. */
static void read_log(const struct kread *kernel)
{
	static const char where[] =
		"SYMBOL(prb)=ffffffff80000000\nOFFSET(printk_ringbuffer.desc_ring)=0\n"
		"OFFSET(printk_ringbuffer.text_data_ring)=40\nOFFSET(prb_desc_ring.count_bits)=0\n"
		"OFFSET(prb_desc_ring.descs)=8\nOFFSET(prb_desc_ring.infos)=16\n"
		"OFFSET(prb_desc_ring.head_id)=24\nOFFSET(prb_desc_ring.tail_id)=32\n"
		"OFFSET(prb_desc.state_var)=0\nOFFSET(prb_desc.text_blk_lpos)=8\n"
		"OFFSET(prb_data_blk_lpos.begin)=0\nOFFSET(prb_data_blk_lpos.next)=8\n"
		"OFFSET(printk_info.seq)=0\nOFFSET(printk_info.ts_nsec)=8\n"
		"OFFSET(printk_info.text_len)=16\nOFFSET(printk_info.caller_id)=20\n"
		"OFFSET(prb_data_ring.size_bits)=0\nOFFSET(prb_data_ring.data)=8\n"
		"OFFSET(atomic_long_t.counter)=0\nSIZE(prb_desc)=24\nSIZE(printk_info)=88\n";
	char text[PRINTK_TEXT_BYTES];
	struct printk_record record;
	struct printk_ring ring;
	size_t nr_bytes;

	if (printk_ring_open(kernel, where, &ring))
		return;
	while (printk_ring_next(&ring, &record))
		if (!printk_ring_text(&ring, &record, text, &nr_bytes) &&
		    nr_bytes > sizeof(text))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	static const struct kallsyms_where where = {
		.num_syms_kva = KVA(0), .relative_base_kva = KVA(8), .offsets_kva = KVA(64),
		.token_index_kva = KVA(512), .token_table_kva = KVA(1024), .names_kva = KVA(2048),
	};
	static const struct kallsyms_anchor anchor = { "a", KVA(0) };
	struct fuzz_memory memory = { bytes, nr_bytes };
	struct btsrec_image image = { .read_pa = memory_read, .arg = &memory };
	struct kread kernel = { .image = &image };
	struct symbol_list list = { 0 };
	struct modsyms_room room = MODSYMS_ROOM;
	struct kallsyms_where found;
	static struct msg msg;
	char text[256] = { 0 }, *names;

	__builtin_memcpy(text, bytes, nr_bytes < sizeof(text) ? nr_bytes : sizeof(text) - 1);
	(void)kallsyms_where(text, &found);
	(void)kallsyms_read(&kernel, &where, &anchor, &msg, &list, &names);
	use(&list, names);
	(void)modsyms_read(&kernel, KVA(0), &msg, &list, &room, &names);
	use(&list, names);
	read_log(&kernel);
	return 0;
}
