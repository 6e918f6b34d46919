/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's memory where QEMU has mapped it: a call of QEMU costs more than a record. */
#ifndef BTSREC_TESTS_MODEL_RAM_H
#define BTSREC_TESTS_MODEL_RAM_H

#include <stdint.h>

void ram_find(const char *name);
void *ram_at(uint64_t pa, unsigned int nr_bytes);

#endif
