// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/printk_ring.h"

#include <string.h>

#include "base/bounds.h"
#include "kernel/vmcoreinfo.h"

/* CONFIG_LOG_BUF_SHIFT is at most 25; "log_buf_len=" may ask for up to 2 GiB, 32 bytes a record. */
#define MAX_SIZE_BITS	31
#define MAX_COUNT_BITS	26
/* More of the newest are not looked at. */
#define MAX_RECORDS	BOUND(1U << 20, 1U << 12)

/* DESC_STATE() and DESC_ID() of printk_ringbuffer.h: the state is in the two highest bits. */
#define STATE_SHIFT	62
#define ID_MASK		(~0ULL >> 2)

/* enum desc_state: reserved, committed, finalized, reusable. */
#define DESC_RESERVED	0
#define DESC_REUSABLE	3

/* NO_LPOS, since v6.13 EMPTY_LINE_LPOS: a record without text. */
#define EMPTY_LINE_LPOS	3
/* struct prb_data_block: the descriptor's id; the text follows. */
#define ID_BYTES	8

/* "OFFSET(STRUCT.MEMBER)" and "SIZE(STRUCT)" in VMCOREINFO. */
const char *const printk_ring_keys[NR_PRINTK_MEMBERS + 1] = {
	[PRB_DESC_RING] = "OFFSET(printk_ringbuffer.desc_ring)",
	[PRB_TEXT_DATA_RING] = "OFFSET(printk_ringbuffer.text_data_ring)",
	[DESC_RING_COUNT_BITS] = "OFFSET(prb_desc_ring.count_bits)",
	[DESC_RING_DESCS] = "OFFSET(prb_desc_ring.descs)",
	[DESC_RING_INFOS] = "OFFSET(prb_desc_ring.infos)",
	[DESC_RING_HEAD_ID] = "OFFSET(prb_desc_ring.head_id)",
	[DESC_RING_TAIL_ID] = "OFFSET(prb_desc_ring.tail_id)",
	[DESC_STATE_VAR] = "OFFSET(prb_desc.state_var)",
	[DESC_TEXT_BLK_LPOS] = "OFFSET(prb_desc.text_blk_lpos)",
	[LPOS_BEGIN] = "OFFSET(prb_data_blk_lpos.begin)",
	[LPOS_NEXT] = "OFFSET(prb_data_blk_lpos.next)",
	[INFO_SEQ] = "OFFSET(printk_info.seq)",
	[INFO_TS_NSEC] = "OFFSET(printk_info.ts_nsec)",
	[INFO_TEXT_LEN] = "OFFSET(printk_info.text_len)",
	[INFO_CALLER_ID] = "OFFSET(printk_info.caller_id)",
	[DATA_RING_SIZE_BITS] = "OFFSET(prb_data_ring.size_bits)",
	[DATA_RING_DATA] = "OFFSET(prb_data_ring.data)",
	[LONG_COUNTER] = "OFFSET(atomic_long_t.counter)",
	[SIZE_DESC] = "SIZE(prb_desc)",
	[SIZE_INFO] = "SIZE(printk_info)",
	[NR_PRINTK_MEMBERS] = "SYMBOL(prb)",
};

/* --- Pure --------------------------------------------------------------- */

enum printk_state printk_state(uint64_t state_var, uint64_t id)
{
	unsigned int state = (unsigned int)(state_var >> STATE_SHIFT);

	if ((state_var & ID_MASK) != id || state == DESC_REUSABLE)
		return PRINTK_UNUSED;
	return state == DESC_RESERVED ? PRINTK_WRITING : PRINTK_READY;
}

/*
 * get_data() and is_blk_wrapped() of printk_ringbuffer.c.  A block that ends with the ring has the
 * beginning of the next round as its end since v6.18; before there was none such.  Positions count
 * on from -(1 << size_bits), so they overflow early.
 */
bool printk_block(uint64_t begin, uint64_t next, unsigned int size_bits, uint64_t *ret_at,
		  uint64_t *ret_bytes)
{
	uint64_t ring_bytes = 1ULL << size_bits, mask = ring_bytes - 1;

	*ret_at = 0;
	*ret_bytes = 0;
	if (begin == EMPTY_LINE_LPOS && next == EMPTY_LINE_LPOS)
		return true;
	if (begin % ID_BYTES || next % ID_BYTES)
		return false;
	if (begin >> size_bits == (next - 1) >> size_bits) {
		*ret_at = begin & mask;
		*ret_bytes = next - begin;
	} else if ((begin + ring_bytes) >> size_bits == (next - 1) >> size_bits) {
		/* What does not fit at the end is at the beginning as a whole. */
		*ret_bytes = ((next - 1) & mask) + 1;
	}
	return *ret_bytes >= ID_BYTES && *ret_bytes <= ring_bytes;
}

/* --- The ring ----------------------------------------------------------- */

static bool read_word(const struct kread *kernel, uint64_t kva, uint64_t *ret)
{
	return kread(kernel, kva, ret, sizeof(*ret));
}

static bool find_members(const char *vmcoreinfo, uint32_t ret[NR_PRINTK_MEMBERS])
{
	for (size_t i = 0; i < NR_PRINTK_MEMBERS; i++) {
		uint64_t value;

		if (!vmcoreinfo_number(vmcoreinfo, printk_ring_keys[i], 10, &value) ||
		    value >= BTSREC_PAGE_BYTES)
			return false;
		ret[i] = (uint32_t)value;
	}
	return ret[SIZE_DESC] && ret[SIZE_INFO];
}

static bool read_descs(struct printk_ring *ring, uint64_t kva, uint64_t *ret_tail_id)
{
	const uint32_t *at = ring->at;

	return kread(ring->kread, kva + at[DESC_RING_COUNT_BITS], &ring->count_bits,
		     sizeof(ring->count_bits)) &&
	       read_word(ring->kread, kva + at[DESC_RING_DESCS], &ring->descs_kva) &&
	       read_word(ring->kread, kva + at[DESC_RING_INFOS], &ring->infos_kva) &&
	       read_word(ring->kread, kva + at[DESC_RING_HEAD_ID] + at[LONG_COUNTER],
			 &ring->id) &&
	       read_word(ring->kread, kva + at[DESC_RING_TAIL_ID] + at[LONG_COUNTER],
			 ret_tail_id);
}

static bool read_data(struct printk_ring *ring, uint64_t kva)
{
	return kread(ring->kread, kva + ring->at[DATA_RING_SIZE_BITS], &ring->size_bits,
		     sizeof(ring->size_bits)) &&
	       read_word(ring->kread, kva + ring->at[DATA_RING_DATA], &ring->text_kva);
}

const char *printk_ring_open(const struct kread *kernel, const char *vmcoreinfo,
			     struct printk_ring *ret)
{
	uint64_t prb_at, kva, tail_id, nr;

	memset(ret, 0, sizeof(*ret));
	ret->kread = kernel;
	if (!vmcoreinfo_number(vmcoreinfo, printk_ring_keys[NR_PRINTK_MEMBERS], 16, &prb_at) ||
	    !find_members(vmcoreinfo, ret->at))
		return "VMCOREINFO does not say where it is";
	if (!read_word(kernel, prb_at, &kva) ||
	    !read_descs(ret, kva + ret->at[PRB_DESC_RING], &tail_id) ||
	    !read_data(ret, kva + ret->at[PRB_TEXT_DATA_RING]))
		return "it is not in the dump";
	if (!ret->count_bits || ret->count_bits > MAX_COUNT_BITS || !ret->size_bits ||
	    ret->size_bits > MAX_SIZE_BITS || ret->id > ID_MASK || tail_id > ID_MASK)
		return "its ring is damaged";
	nr = ((ret->id - tail_id) & ID_MASK) + 1;
	if (nr > 1ULL << ret->count_bits)
		return "its ring is damaged";
	ret->nr_left = nr < MAX_RECORDS ? nr : MAX_RECORDS;
	return NULL;
}

static bool read_desc(const struct printk_ring *ring, struct printk_record *ret)
{
	const uint32_t *at = ring->at;
	uint64_t number = ret->id & ((1ULL << ring->count_bits) - 1);
	uint64_t kva = ring->descs_kva + number * at[SIZE_DESC], state_var;

	if (!read_word(ring->kread, kva + at[DESC_STATE_VAR] + at[LONG_COUNTER], &state_var))
		return false;
	kva += at[DESC_TEXT_BLK_LPOS];
	ret->state = printk_state(state_var, ret->id);
	return ret->state != PRINTK_READY ||
	       (read_word(ring->kread, kva + at[LPOS_BEGIN], &ret->begin) &&
		read_word(ring->kread, kva + at[LPOS_NEXT], &ret->next));
}

static bool read_info(const struct printk_ring *ring, struct printk_record *ret)
{
	const uint32_t *at = ring->at;
	uint64_t number = ret->id & ((1ULL << ring->count_bits) - 1);
	uint64_t kva = ring->infos_kva + number * at[SIZE_INFO];

	return read_word(ring->kread, kva + at[INFO_SEQ], &ret->seq) &&
	       read_word(ring->kread, kva + at[INFO_TS_NSEC], &ret->ts_nsec) &&
	       kread(ring->kread, kva + at[INFO_TEXT_LEN], &ret->text_bytes,
		     sizeof(ret->text_bytes)) &&
	       kread(ring->kread, kva + at[INFO_CALLER_ID], &ret->caller, sizeof(ret->caller));
}

bool printk_ring_next(struct printk_ring *ring, struct printk_record *ret)
{
	if (!ring->nr_left)
		return false;
	*ret = (struct printk_record){ .id = ring->id };
	ring->nr_left--;
	ring->id = (ring->id - 1) & ID_MASK;
	if (!read_desc(ring, ret) || (ret->state == PRINTK_READY && !read_info(ring, ret)))
		ret->state = PRINTK_MISSING;
	return true;
}

const char *printk_ring_text(const struct printk_ring *ring, const struct printk_record *record,
			     char ret[PRINTK_TEXT_BYTES], size_t *ret_bytes)
{
	size_t nr_bytes = record->text_bytes;
	uint64_t at, block_bytes, id;

	if (!printk_block(record->begin, record->next, ring->size_bits, &at, &block_bytes))
		return "its text was lost";
	if (!block_bytes)
		nr_bytes = 0;
	else if (!read_word(ring->kread, ring->text_kva + at, &id))
		return "its text is not in the dump";
	else if (id != record->id)
		return "its text was overwritten";
	else if (nr_bytes > block_bytes - ID_BYTES)
		nr_bytes = block_bytes - ID_BYTES;
	if (nr_bytes > PRINTK_TEXT_BYTES)
		nr_bytes = PRINTK_TEXT_BYTES;
	if (!kread(ring->kread, ring->text_kva + at + ID_BYTES, ret, nr_bytes))
		return "its text is not in the dump";
	*ret_bytes = nr_bytes;
	return NULL;
}
