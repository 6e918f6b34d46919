/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Part of <btsrec/decoder.h>: the version, what functions return, and a session. */
#ifndef BTSREC_BASE_H
#define BTSREC_BASE_H

#ifdef __cplusplus
extern "C" {
#endif

#define BTSREC_API __attribute__((visibility("default")))

/* --- Version ------------------------------------------------------------ */

/** btsrec_version() - the library's version, "major.minor.patch"; static. */
BTSREC_API const char *btsrec_version(void);

/* --- Status ------------------------------------------------------------- */

enum btsrec_status {
	BTSREC_OK = 0,
	BTSREC_ERR_NOMEM,	/* out of memory */
	BTSREC_ERR_INVAL,	/* the caller broke the contract of the call */
	BTSREC_ERR_IO,		/* the system refused a file: errno in the message */
	BTSREC_ERR_NOT_DUMP,	/* the file is no dump of a kind that is read */
	BTSREC_ERR_NODATA,	/* the dump does not hold this address */
	BTSREC_ERR_NO_ROOT,	/* no recorder found in the dump */
	BTSREC_ERR_BAD_ROOT,	/* something that looks like a root is not valid */
	BTSREC_ERR_VERSION,	/* ABI major is not ours */
	BTSREC_ERR_CORRUPT,	/* a structure below the root contradicts itself */
	BTSREC_ERR_NO_CPU,	/* that CPU has no ring */
	BTSREC_ERR_NO_SYMBOL,	/* address has no name */
	BTSREC_ERR_MISMATCH,	/* symbol file belongs to another kernel */
	BTSREC_ERR_STOPPED,	/* a callback asked to stop */
	BTSREC_ERR_TOO_NEW,	/* an option is set that this library does not know */
};

/** btsrec_status_str() - one short English phrase per status; static. */
BTSREC_API const char *btsrec_status_str(enum btsrec_status status);

/* --- Structures that grow ----------------------------------------------- */

/*
 * A structure that begins with "size_t size" gains members at its end in later releases.  The
 * caller sets all of it to 0 and size to its own sizeof:
 *
 *	struct btsrec_show opts = { .size = sizeof(opts), .max_events = 9 };
 *
 * 0 in a member asks for nothing; NULL instead of a structure is 0 everywhere.
 * - The caller is older than the library: members that it does not have are 0.
 * - The caller is newer: members that the library does not have must be 0, else the call is
 *   BTSREC_ERR_TOO_NEW and does nothing.
 * - A size that does not hold its own member, as 0: BTSREC_ERR_INVAL.
 *
 * The caller owns such a structure and all that it points to; the library borrows both while
 * the call lasts, unless the declaration says more.
 */

/* --- Session ------------------------------------------------------------ */

struct btsrec;

/** btsrec_new() - a new session; NULL: out of memory. */
BTSREC_API struct btsrec *btsrec_new(void);

/** btsrec_free() - end a session and all that it owns; NULL is allowed. */
BTSREC_API void btsrec_free(struct btsrec *rec);

/**
 * btsrec_errmsg() - why the last call that failed on @rec failed
 *
 * A sentence for a human: the outermost context first, the cause last, joined
 * by ": ", without newline.  Empty string if nothing failed.  Valid until the
 * next call on @rec.
 */
BTSREC_API const char *btsrec_errmsg(const struct btsrec *rec);

#ifdef __cplusplus
}
#endif

#endif /* BTSREC_BASE_H */
