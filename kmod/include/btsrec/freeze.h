/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For other modules: stop the recorder where something has gone wrong.
 *
 * A module that calls it needs btsrec.ko.  One that does not want to need it asks at run time:
 *
 *	int (*request)(const char *why) = symbol_get(btsrec_freeze_request);
 */
#ifndef BTSREC_FREEZE_H
#define BTSREC_FREEZE_H

int btsrec_freeze_request(const char *why);

#endif /* BTSREC_FREEZE_H */
