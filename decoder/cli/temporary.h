/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one file that has no name of its own yet.  SIGHUP, SIGINT, SIGQUIT and SIGTERM remove it
 * and end the program as ever, unless they were ignored; what ends it at once leaves the file.
 */
#ifndef BTSREC_TEMPORARY_H
#define BTSREC_TEMPORARY_H

#include <stdbool.h>

/**
 * temporary_create() - a file for its owner only, beside what is going to be @place
 *
 * Return: to be written to and closed, for temporary_finish(); -1 with errno.
 */
int temporary_create(const char *place);

/**
 * temporary_finish() - give it its name if it is @whole, or remove it
 *
 * Return: true; false with errno: it could not have its name, and is removed.
 */
bool temporary_finish(const char *place, bool whole);

#endif /* BTSREC_TEMPORARY_H */
