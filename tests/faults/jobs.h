/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every view of the library, as something to run against a dump that fails. */
#ifndef BTSREC_TESTS_FAULTS_JOBS_H
#define BTSREC_TESTS_FAULTS_JOBS_H

#include "../fuzz/fuzz_image.h"

/**
 * struct job - a view
 * @run: on a session with its recorder located; @image is what the session reads.
 * @says_once: each line of its answer is one cause, so no two may be the same.
 */
struct job {
	const char *name;
	enum btsrec_status (*run)(struct btsrec *rec, const struct btsrec_image *image,
				  const struct btsrec_sink *sink);
	bool says_once;
};

/** jobs - ends with one without a name */
extern const struct job jobs[];

#endif /* BTSREC_TESTS_FAULTS_JOBS_H */
