/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one file that has no name of its own yet.  A signal that ends the program removes it first,
 * unless it was ignored or is a fault of the program; what ends it at once leaves the file.
 */
#ifndef BTSREC_TEMPORARY_H
#define BTSREC_TEMPORARY_H

#include <stdbool.h>

/**
 * temporary_create() - a file for its owner only, beside what is going to be @path
 *
 * The folder is opened here, and everything until temporary_finish() happens in it: a link that
 * somebody puts into the way meanwhile leads nowhere.  If @path is a link, its target is meant.
 *
 * Return: to be written to and closed, for temporary_finish(); -1 with errno: the folder or the
 * file could not be opened.
 */
int temporary_create(const char *path);

/**
 * temporary_adopt() - what the caller has made at @path is removed by signals and
 * temporary_finish(), too
 *
 * Between the making and this call signals are to be blocked.
 *
 * Return: false with errno: its folder could not be opened.
 */
bool temporary_adopt(const char *path);

/**
 * temporary_finish() - give it its name if it is @whole, or remove it
 * @replace: a file that has the name by now is replaced; without, that is EEXIST.
 *
 * Return: true; false with errno: it could not have its name, and is removed.
 */
bool temporary_finish(bool whole, bool replace);

#endif /* BTSREC_TEMPORARY_H */
