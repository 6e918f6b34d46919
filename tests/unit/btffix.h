/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types that a unit test makes with libbpf. */
#ifndef BTSREC_TESTS_BTFFIX_H
#define BTSREC_TESTS_BTFFIX_H

#include <bpf/btf.h>

#include "check_btsrec.h"
#include "kernel/types.h"

/* What comes of @btf, which is freed; for types_free(). */
static inline struct types *types_of(struct btf *btf)
{
	uint32_t nr_bytes;
	const void *bytes = btf__raw_data(btf, &nr_bytes);
	struct types *types = types_new(bytes, nr_bytes);

	ck_assert_ptr_nonnull(types);
	btf__free(btf);
	return types;
}

#endif /* BTSREC_TESTS_BTFFIX_H */
