/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dump that crash has open, as a source of bytes for libbtsrec.
 */
#ifndef BTSREC_IMAGE_CRASH_H
#define BTSREC_IMAGE_CRASH_H

#include <btsrec/decoder.h>

/**
 * struct image_crash - what crash knows about where the recorder is
 * @image: for btsrec_open_image(); points into this struct, so do not copy it.
 * @interrupted: asked before each read; true ends the read.  Not NULL.
 * @vmcoreinfo: those lines of the VMCOREINFO note that the decoder wants.
 */
struct image_crash {
	struct btsrec_image image;
	bool (*interrupted)(void);
	char vmcoreinfo[4096];
};

/**
 * image_crash_init() - collect what crash knows
 *
 * crash may leave this call by a jump to its prompt: its VMCOREINFO and module
 * lookups do so on an unreadable dump.  So the caller must own nothing yet.  There
 * is nothing to undo.
 */
void image_crash_init(struct image_crash *crash, bool (*interrupted)(void));

#endif /* BTSREC_IMAGE_CRASH_H */
