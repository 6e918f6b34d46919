/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values that the kernel's sources give a meaning: error pointers, poison.  Pure. */
#ifndef BTSREC_POISON_H
#define BTSREC_POISON_H

#include <stdint.h>

#define POISON_TEXT_BYTES	64

/**
 * poison_text() - what the word @value is by its bits alone
 * @ret: POISON_TEXT_BYTES; "as the error -ENOMEM".
 *
 * Return: @ret; NULL: nothing special.
 */
const char *poison_text(uint64_t value, char *ret);

#endif /* BTSREC_POISON_H */
