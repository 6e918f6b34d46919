// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/kread.h"

/* Where the byte at @kva is, and how many more follow it there. */
static bool find_pa(const struct kread *kread, uint64_t kva, uint64_t *ret_pa,
		    uint64_t *ret_bytes)
{
	uint64_t offset = kva - KREAD_IMAGE_KVA;

	if (offset < KREAD_IMAGE_BYTES) {
		*ret_pa = offset + kread->phys_base;
		*ret_bytes = KREAD_IMAGE_BYTES - offset;
		return true;
	}
	*ret_bytes = BTSREC_PAGE_BYTES - kva % BTSREC_PAGE_BYTES;
	return kread->pgd_pa && walk_pa(kread->walk, kread->pgd_pa, kva, ret_pa) == WALK_OK;
}

bool kread_pa(const struct kread *kread, uint64_t kva, uint64_t *ret_pa)
{
	uint64_t nr_bytes;

	return find_pa(kread, kva, ret_pa, &nr_bytes);
}

size_t kread_some(const struct kread *kread, uint64_t kva, void *buf, size_t len_bytes)
{
	size_t nr_done = 0;

	while (nr_done < len_bytes) {
		size_t want_bytes = len_bytes - nr_done, got_bytes;
		uint64_t pa, there_bytes;

		if (!find_pa(kread, kva + nr_done, &pa, &there_bytes))
			break;
		if (want_bytes > there_bytes)
			want_bytes = there_bytes;
		image_read_some(kread->image, pa, (uint8_t *)buf + nr_done, want_bytes,
				&got_bytes);
		nr_done += got_bytes;
		if (got_bytes < want_bytes)
			break;
	}
	return nr_done;
}
