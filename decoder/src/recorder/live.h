/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where btsrec_open_live() finds the memory of the running kernel. */
#ifndef BTSREC_LIVE_H
#define BTSREC_LIVE_H

#define LIVE_CORE "/proc/kcore"

#endif /* BTSREC_LIVE_H */
