/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory out of a dump that libkdumpfile reads. */
#ifndef BTSREC_KDUMP_H
#define BTSREC_KDUMP_H

#include "source/dump_probe.h"

struct kdump_source;

/**
 * kdump_source_open() - have libkdumpfile read the headers of a dump
 * @fd: borrowed until kdump_source_free().
 * @file: what dump_probe_file() found of it; copied.
 *
 * Return: BTSREC_OK and *@ret for kdump_source_free(); BTSREC_ERR_NOT_DUMP: libkdumpfile
 * refuses the file; BTSREC_ERR_IO; BTSREC_ERR_NOMEM; with @msg.
 */
enum btsrec_status kdump_source_open(int fd, const struct dump_probe *file, struct msg *msg,
				     struct kdump_source **ret);

/** kdump_source_free() - NULL is allowed */
void kdump_source_free(struct kdump_source *source);

/** kdump_source_read_pa() - as read_pa of struct btsrec_image */
enum btsrec_status kdump_source_read_pa(struct kdump_source *source, uint64_t pa, void *buf,
					size_t len_bytes, size_t *ret_bytes);

/** kdump_source_vmcoreinfo() - the text of the note, or NULL; @source's */
const char *kdump_source_vmcoreinfo(const struct kdump_source *source);

/** kdump_source_max_pa() - first address beyond memory; 0: the format does not say */
uint64_t kdump_source_max_pa(struct kdump_source *source);

#endif /* BTSREC_KDUMP_H */
