/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of this machine that may be those of the machine in the dump.  Whether they
 * are is for the caller to prove; the paths come from a dump.
 */
#ifndef BTSREC_FILESTORE_H
#define BTSREC_FILESTORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * filestore_open() - the regular file @path below the folder @sysroot
 *
 * Links and ".." do not lead out of @sysroot, and nothing but a regular file is
 * opened: opening a device can do things.
 *
 * Return: a descriptor, the caller's; -1: there is none.
 */
int filestore_open(const char *sysroot, const char *path);

/** filestore_has_servers() - does DEBUGINFOD_URLS name one to ask? */
bool filestore_has_servers(void);

/**
 * filestore_open_debug() - debug information by build-id
 * @folder: has .build-id/xx/yyyy.debug, as /usr/lib/debug has.
 *
 * Where DEBUGINFOD_URLS is set, the servers there are asked next, through
 * libdebuginfod if it is installed.
 *
 * Return: a descriptor, the caller's; -1: there is none.
 */
int filestore_open_debug(const char *folder, const uint8_t *build_id, size_t build_id_bytes);

/**
 * filestore_find_debug() - the same in the first that has it of @folders, joined by colons
 *
 * Their links may lead anywhere: what they are called and have in them is the user's.
 */
int filestore_find_debug(const char *folders, const uint8_t *build_id, size_t build_id_bytes);

#endif /* BTSREC_FILESTORE_H */
