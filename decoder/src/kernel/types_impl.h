/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of types.h share. */
#ifndef BTSREC_TYPES_IMPL_H
#define BTSREC_TYPES_IMPL_H

#include "kernel/types.h"

/* Anonymous structs in structs; the kernel nests some five deep. */
#define MAX_DEPTH	16

/* Members looked at for one answer: types that contain each other must come to an end. */
#define MAX_MEMBERS	(1u << 16)

struct btf;

struct types {
	struct btf *btf;
};

#endif /* BTSREC_TYPES_IMPL_H */
