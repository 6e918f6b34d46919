/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A pager between the standard output and the terminal, as git(1) has it. */
#ifndef BTSREC_PAGER_H
#define BTSREC_PAGER_H

#include <stdbool.h>

/**
 * pager_begin() - start the pager of the user and make it the standard output
 *
 * It is $BTSREC_PAGER, else $PAGER, else less(1).  None runs if that is empty or "cat".
 * What cannot be started leaves the standard output as it is.
 */
void pager_begin(void);

/**
 * pager_end() - wait for the pager, if one runs; the standard output is closed then
 *
 * Return: false after a message: it did not run, so that nothing was shown.
 */
bool pager_end(void);

#endif /* BTSREC_PAGER_H */
