/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the debug files of a kernel and its modules lie in a file system. */
#ifndef BTSREC_LINES_FILES_H
#define BTSREC_LINES_FILES_H

#include "symbols/dwarf_file.h"

/**
 * struct lines_wanted - what is looked for
 * @release: of the kernel, as uname -r says it; hostile.
 * @module: its name; hostile; NULL: the kernel itself.
 * @vmlinux: a file that the user named for the kernel, or NULL.
 * @debug_path: folders, "DIR:DIR".
 */
struct lines_wanted {
	const char *release;
	const char *module;
	struct dwarf_build_id id;
	const char *vmlinux;
	char *debug_path;
};

/**
 * lines_file_find() - the first file that is what @wanted asks for
 *
 * The kernel's: the named file, then in each folder boot/vmlinux-RELEASE,
 * lib/modules/RELEASE/vmlinux, vmlinux-RELEASE and vmlinux.  A module's: NAME.ko.debug
 * and NAME.ko in the folder, then anywhere below lib/modules/RELEASE and
 * usr/lib/modules/RELEASE.  Then whatever has the build-id, see dwarf_file_find().
 *
 * @ret_path: the file that came nearest, to free(); NULL: there was none.
 * @ret: for dwarf_file_close(), if DWARF_OK.
 */
enum dwarf_fault lines_file_find(const struct lines_wanted *wanted, char **ret_path,
				 struct dwarf_file **ret);

#endif /* BTSREC_LINES_FILES_H */
