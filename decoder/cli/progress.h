/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line on a terminal's standard error while work takes longer than a second. */
#ifndef BTSREC_PROGRESS_H
#define BTSREC_PROGRESS_H

#include <stdint.h>

/** progress_begin() - the line appears a second from now, if standard error is a terminal */
void progress_begin(void);

/** progress_wrote() - so many bytes of output more; the line counts them */
void progress_wrote(uint64_t nr_bytes);

/** progress_end() - erase the line */
void progress_end(void);

#endif /* BTSREC_PROGRESS_H */
