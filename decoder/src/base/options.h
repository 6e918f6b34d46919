/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Structures that a caller gives and that begin with their size, so that either side may be
 * newer than the other: <btsrec/base.h> has the rules.
 */
#ifndef BTSREC_OPTIONS_H
#define BTSREC_OPTIONS_H

#include "base/status.h"

/**
 * options_read() - what @given says, in a structure of this library
 * @given: begins with its size_t size, in bytes; NULL: 0 everywhere.
 * @ret: @ret_bytes, begins with its size, too.  What @given does not have is 0.
 *
 * Return: BTSREC_OK; BTSREC_ERR_INVAL for a size that does not hold itself;
 * BTSREC_ERR_TOO_NEW if a byte past @ret_bytes is not 0.
 */
enum btsrec_status options_read(struct msg *msg, const void *given, void *ret, size_t ret_bytes);

/**
 * options_filter() - options_read() of a filter that options point to
 * @filter: replaced by @ret, also if it is NULL.
 *
 * Return: as options_read().
 */
enum btsrec_status options_filter(struct msg *msg, const struct btsrec_filter **filter,
				  struct btsrec_filter *ret);

#endif /* BTSREC_OPTIONS_H */
