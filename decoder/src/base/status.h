/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a call failed, for a human: a message that every layer on the way up
 * prepends its own context to.  Fixed storage, so that reporting "out of memory"
 * needs none.
 */
#ifndef BTSREC_STATUS_H
#define BTSREC_STATUS_H

#include <btsrec/decoder.h>

/* Room for a dozen reject reasons of one sentence each. */
#define MSG_BYTES 2048

/** struct msg - the newest failure; empty text: none */
struct msg {
	char text[MSG_BYTES];
};

/** msg_clear() - forget the message. */
void msg_clear(struct msg *msg);

/**
 * msg_set() - replace the message by a cause
 *
 * @fmt: without newline and final period.  Text beyond MSG_BYTES is cut.
 *
 * Return: @status, so that a failing function can end in "return msg_set(...)".
 */
enum btsrec_status msg_set(struct msg *msg, enum btsrec_status status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * msg_prepend() - put a layer's context in front of the message, joined by ": "
 *
 * Return: @status.
 */
enum btsrec_status msg_prepend(struct msg *msg, enum btsrec_status status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * msg_append() - add an equal reason after the message, joined by "; "
 *
 * For a search with several candidates, each with its own reason.
 */
void msg_append(struct msg *msg, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif /* BTSREC_STATUS_H */
