/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which memory decoding a dump reads: the views are run, and what they ask for is noted. */
#ifndef BTSREC_EXTRACT_WATCH_H
#define BTSREC_EXTRACT_WATCH_H

#include "base/pageset.h"
#include "export/extract/image_redact.h"

struct btsrec;

/**
 * extract_watch() - all lines of memory that decoding @rec reads
 * @image_redact: of what is left out; borrowed.
 * @ret: empty; a bit for each line, see image_record.h; for pageset_fini() in every case.
 *
 * Two threads share it, each with a session of its own, where btsrec_set_threads() allows it
 * and the source reads whole pages by several threads.  A session does not read again what it
 * has read: so all read together the same as one that does everything.
 *
 * Return: BTSREC_OK; BTSREC_ERR_IO, BTSREC_ERR_NOMEM or BTSREC_ERR_INVAL with a message in the
 * session: what one thread would have met first.
 */
enum btsrec_status extract_watch(struct btsrec *rec, const struct image_redact *image_redact,
				 struct pageset *ret);

#endif /* BTSREC_EXTRACT_WATCH_H */
