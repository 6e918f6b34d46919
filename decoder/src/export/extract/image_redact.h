/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An image over another in which the recorder's rings and exec ring lack what
 * their owner does not want to hand on.  Everything else is passed through.
 */
#ifndef BTSREC_IMAGE_REDACT_H
#define BTSREC_IMAGE_REDACT_H

#include "source/image.h"
#include "recorder/locate.h"
#include "base/pageset.h"

/**
 * struct image_redact - what to leave out
 * @below, @located: borrowed; the recorder in @below.
 * @no_user: addresses of user space in branches and freezes read 0.
 * @no_paths: the paths of exec'd programs are empty.
 * @no_log: the kernel's log is not to be looked at; it is no page of the recorder.
 * @pages: what each page of the recorder is, see image_redact.c.
 */
struct image_redact {
	const struct btsrec_image *below;
	const struct located *located;
	bool no_user;
	bool no_paths;
	bool no_log;
	struct pageset pages;
};

/**
 * image_redact_init() - find the pages that matter
 * @image_redact: the members but @pages are set; to be freed with
 *	image_redact_fini() in every case.
 *
 * Return: BTSREC_OK; BTSREC_ERR_NOMEM.
 */
enum btsrec_status image_redact_init(struct image_redact *image_redact);
void image_redact_fini(struct image_redact *image_redact);

/** image_redact_image() - @image_redact->below with all that left out; borrows @image_redact */
struct btsrec_image image_redact_image(struct image_redact *image_redact);

/** image_redact_read_pa() - as read_pa of struct btsrec_image; its arg is a struct image_redact. */
enum btsrec_status image_redact_read_pa(void *arg, uint64_t pa, void *buf, size_t len_bytes,
					size_t *ret_bytes);

#endif /* BTSREC_IMAGE_REDACT_H */
