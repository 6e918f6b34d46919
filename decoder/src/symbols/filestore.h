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

#include "base/status.h"

/**
 * filestore_open() - the regular file @path below the folder @sysroot
 *
 * Links and ".." do not lead out of @sysroot, and nothing but a regular file is
 * opened: opening a device can do things.  Other file systems below @sysroot are entered if
 * they are of a disk: no network, FUSE or process decides how long a read takes.
 *
 * Return: a descriptor, the caller's; -1: there is none.
 */
int filestore_open(const char *sysroot, const char *path);

/** filestore_has_servers() - does DEBUGINFOD_URLS name one to ask? */
bool filestore_has_servers(void);

/**
 * struct filestore_debug - a search for debug information by build-id
 * @folders: "DIR:DIR", each maybe with .build-id/xx/yyyy.debug, as /usr/lib/debug has it; those
 *	that have not been looked at yet.
 * @build_id: @build_id_bytes of it.
 * @asked: so have been the servers.
 *
 * @asked is false at first.  All is borrowed.
 */
struct filestore_debug {
	const char *folders;
	const uint8_t *build_id;
	size_t build_id_bytes;
	bool asked;
};

/**
 * filestore_next_debug() - the next file that is called as debug information of that build is
 *
 * First those in the folders: their links may lead anywhere, because what they are called and
 * have in them is the user's.  Where DEBUGINFOD_URLS is set, the servers there are asked last,
 * through libdebuginfod if it is installed.
 *
 * Return: a descriptor, the caller's; -1: there is none.
 */
int filestore_next_debug(struct filestore_debug *search);

/**
 * filestore_check_folders() - can those that the user named be opened? A misspelt one has no files.
 * @sysroot: NULL: not given.
 * @debuginfo: "DIR:DIR"; NULL: not given.
 *
 * Return: BTSREC_OK; BTSREC_ERR_IO with the first one that cannot; BTSREC_ERR_NOMEM.
 */
enum btsrec_status filestore_check_folders(struct msg *msg, const char *sysroot,
					   const char *debuginfo);

#endif /* BTSREC_FILESTORE_H */
