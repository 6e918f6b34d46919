/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A name for a bug: a hash of the path into the fault, the same on every machine and in
 * every build where that path is.  btsrec-summary(1) says exactly what is hashed.  Pure.
 */
#ifndef BTSREC_SIGNATURE_H
#define BTSREC_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIGNATURE_VERSION	"v2"
#define SIGNATURE_MAX_NAMES	8
/* Longer ones are cut: KSYM_NAME_LEN is 512, and a module's name follows in brackets. */
#define SIGNATURE_NAME_BYTES	640

/**
 * struct signature - of one fault
 * @hash: of all, after signature_end().
 * @complete: the path has SIGNATURE_MAX_NAMES names, or reaches where the kernel was
 *	entered; else calls that were open are not in the history.
 * @names: functions, the innermost first.
 */
struct signature {
	uint64_t hash;
	bool complete;
	size_t nr_names;
	char names[SIGNATURE_MAX_NAMES][SIGNATURE_NAME_BYTES];
};

/** signature_name() - a function as its name is in every build: see signature_add() */
void signature_name(const char *name, size_t name_bytes, const char *module,
		    char ret[SIGNATURE_NAME_BYTES]);

/**
 * signature_begin() - before its first function
 * @reason: as btsrec_reason_str() words it.
 * @kind: of fault_kind_str(), or "stuck".
 * @vector: of an exception; else -1.
 */
void signature_begin(struct signature *signature, const char *reason, const char *kind,
		     int vector);

/**
 * signature_add() - the next function of the path, from the fault outwards
 * @name: @name_bytes of it; what a compiler has put after its first "." is left out.
 * @module: empty: the kernel itself.
 *
 * One that is there already is left out: a function and a part of it, or a recursion.
 *
 * Return: false: there are enough, and this one is not in it.
 */
bool signature_add(struct signature *signature, const char *name, size_t name_bytes,
		   const char *module);

/* The version, a colon, 16 hexadecimal digits and the NUL. */
#define SIGNATURE_TEXT_BYTES	(sizeof(SIGNATURE_VERSION ":") + 16)

/** signature_text() - of a whole one, as it is printed */
void signature_text(const struct signature *signature, char ret[SIGNATURE_TEXT_BYTES]);

/** signature_end() - @complete: as in struct signature, or there are enough names */
void signature_end(struct signature *signature, bool complete);

#endif /* BTSREC_SIGNATURE_H */
