/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sentence of the summary, made of words, places and names. */
#ifndef BTSREC_VIEW_SUMMARY_SENTENCE_H
#define BTSREC_VIEW_SUMMARY_SENTENCE_H

#include <stddef.h>
#include <stdint.h>

struct btsrec_freeze;
struct renderer;
struct summary;

/**
 * struct sentence - @nr_bytes of @text so far, which has SUMMARY_SENTENCE_BYTES
 *
 * What does not fit is cut.
 */
struct sentence {
	struct renderer *r;
	char *text;
	size_t nr_bytes;
};

/** sentence_add() - as printf() */
void __attribute__((format(printf, 2, 3)))
sentence_add(struct sentence *sentence, const char *format, ...);

/** sentence_add_place() - the function of @ip, and where in it; without a name the address */
void sentence_add_place(struct sentence *sentence, uint64_t ip);

/** sentence_add_data() - the variable of @va, and where in it; without a name the address */
void sentence_add_data(struct sentence *sentence, uint64_t va);

/** sentence_add_function() - the function of @va alone */
void sentence_add_function(struct sentence *sentence, uint64_t va);

/** sentence_add_comm() - of a thread, in brackets; what is not printable is escaped */
void sentence_add_comm(struct sentence *sentence, const char *comm);

/** summary_say_init() - why init died, if that is what panic() was called for */
void summary_say_init(struct sentence *sentence, const struct summary *view,
		      const struct btsrec_freeze *freeze);

#endif /* BTSREC_VIEW_SUMMARY_SENTENCE_H */
