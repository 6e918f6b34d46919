/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libbtsrec: read the branch history that btsrec left in a dump.
 *
 * This is the header to include.  Its parts are base.h (version, status, session), dump.h (where
 * the bytes come from, the recorder in them), symbols.h, events.h, views.h and values.h, and
 * exports.h: gdb, files for other tools, the small file.
 *
 * Lifetime.  A session (struct btsrec) owns what its pointers refer to.  A pointer
 * is valid until the session is freed, unless its declaration says less.  Callback
 * tables are copied; their arg stays the caller's and must live as long as the
 * session.  A session is used by one thread at a time.  The library prints nothing
 * and keeps no state outside sessions.
 */
#ifndef BTSREC_DECODER_H
#define BTSREC_DECODER_H

#include <btsrec/base.h>
#include <btsrec/dump.h>
#include <btsrec/symbols.h>
#include <btsrec/events.h>
#include <btsrec/views.h>
#include <btsrec/values.h>
#include <btsrec/exports.h>

#endif /* BTSREC_DECODER_H */
