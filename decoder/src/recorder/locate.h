/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Find the recorder in an image and prove it.  The only stage that follows
 * addresses found in the dump on the way to a ring: every number behind this
 * header is bounded, and no page of the dump serves two purposes.
 */
#ifndef BTSREC_LOCATE_H
#define BTSREC_LOCATE_H

#include "base/diag.h"
#include "base/status.h"

/**
 * struct located_losses - what the history of a CPU has lost
 * @known: the whole of it was read; only then the rest is valid.
 * @wrapped: it begins where the ring was overwritten.
 * @any: something else is lost; @newest_n: the newest event that stands for it.
 * @nr_events: of the history.
 */
struct located_losses {
	bool known;
	bool wrapped;
	bool any;
	uint64_t newest_n;
	uint64_t nr_events;
};

/** struct located_cpu - one validated CPU page and where its ring is; @losses: of history.c */
struct located_cpu {
	struct btsrec_cpu page;
	struct located_losses losses;
	/* page.nr_ring_pages entries; 0: the list page is not in the dump */
	uint64_t ring_pa[];
};

/**
 * struct located - the recorder, host copies
 * @root: release and symbol_name are NUL-terminated whatever the dump says.
 * @nr_cpus: root.nr_cpu_ids, length of @cpus.
 * @cpus: owned; NULL entries: no ring or not usable.
 * @modules: owned; used and valid slots of the module map, names NUL-terminated; @nr_gone of
 *	them are of modules that are gone.
 */
struct located {
	struct btsrec_root root;
	unsigned int nr_cpus;
	struct located_cpu **cpus;
	struct btsrec_module *modules;
	size_t nr_modules;
	size_t nr_gone;
};

/**
 * locate() - search and validate, see btsrec_locate()
 * @diags: gets every reject and remark, also when the search fails.
 * @msg: set on failure, one reason per rejected root.
 * @ret: untouched on failure; free with located_free().
 */
enum btsrec_status locate(const struct btsrec_image *image, uint64_t root_pa, enum btsrec_scan scan,
			  struct diags *diags, struct msg *msg, struct located **ret);

/** located_free() - NULL and half-built ones are allowed. */
void located_free(struct located *located);

/** located_module_at() - as btsrec_module_at(). */
const struct btsrec_module *located_module_at(const struct located *located, uint64_t kva);

/**
 * located_module_gone() - a module that was at @kva before what is there now, and is other code
 * @after: the last answer, or NULL for the first one.
 *
 * The same module at the same place, as after "rmmod" and "insmod", is the same code.
 *
 * Return: the next one in the map, or NULL.
 */
const struct btsrec_module *located_module_gone(const struct located *located, uint64_t kva,
						const struct btsrec_module *after);

/** located_module_stays() - has @kva been in the same module's text all the time, and still is? */
bool located_module_stays(const struct located *located, uint64_t kva);

#endif /* BTSREC_LOCATE_H */
