/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * btsrec._core: sessions of libbtsrec for Python, on Python's stable ABI.
 *
 * What classes, exceptions and views there are is in tables that generate.py makes of the
 * headers.  The files have the mechanisms: values.c values to objects, options.c keywords to
 * options, session.c one call at a time in a session, views.c and columns.c what it gives.
 */
#ifndef BTSREC_PYTHON_CORE_H
#define BTSREC_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <btsrec/decoder.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof(*(array)))

/* --- Tables ------------------------------------------------------------- */

enum member_kind {
	MEMBER_UINT,
	MEMBER_INT,
	MEMBER_BOOL,
	MEMBER_ENUM,
	MEMBER_CHARS,	/* an array, NUL-padded */
	MEMBER_TEXT,	/* a pointer; with a count of bytes there is no NUL */
	MEMBER_BYTES,	/* an array with a count */
	MEMBER_UINTS,	/* an array, or of options a pointer with a count */
	MEMBER_TEXTS,	/* a pointer with a count */
	MEMBER_STRUCT,
	MEMBER_POINTER,	/* to a structure, or to as many as the count says */
};

/**
 * struct member - of a structure: an attribute, or a keyword
 * @of: number of its structure or enumeration.
 * @at, @bytes: where it is, and how large.
 * @has_at: 1 + place of the bool that says whether it is there; 0: it always is.
 * @count_at, @count_bytes: 1 + place of its count, and how large that is; 0: there is none.
 * @arms: kinds of event, as bits, that have it; 0: it is no arm of a union.
 */
struct member {
	const char *name;
	const char *doc;
	enum member_kind kind;
	int of;
	size_t at;
	size_t bytes;
	size_t has_at;
	size_t count_at;
	size_t count_bytes;
	unsigned int arms;
};

struct struct_table {
	const char *name;
	const char *doc;
	const struct member *members;
	size_t nr_members;
	size_t bytes;
	bool is_sized;	/* begins with its size */
	bool is_value;	/* else options */
};

struct enumerator {
	const char *name;
	long value;
};

struct enum_table {
	const char *name;
	const struct enumerator *enumerators;
	size_t nr_enumerators;
};

struct error_table {
	enum btsrec_status status;
	const char *name;
	const char *doc;
};

struct view_table {
	const char *name;
	const char *doc;
	int options;	/* number of a structure; -1: none */
	bool has_other;	/* compares two sessions */
	enum btsrec_status (*run)(struct btsrec *rec, struct btsrec *other, const void *opts,
				  void *arg);
};

/* The largest options of a view; tables.h has the proof. */
#define OPTIONS_MAX_BYTES 256

/* The largest options of a view; tables.c has the proof. */
#define OPTIONS_MAX_BYTES 256

/* Numbers of structures and enumerations, and the tables: generated. */
#include "tables.h"

/* --- Values ------------------------------------------------------------- */

/* The module is initialised once in a process; these live as long. */
extern PyTypeObject *value_types[NR_STRUCTS];
extern PyObject *enum_members[NR_ENUMS];	/* dictionaries of members by their numbers */

/** none() - a new reference to None */
static inline PyObject *none(void)
{
	return Py_NewRef(Py_None);
}

/** text_object() - @text as str; bytes that are no UTF-8 become surrogates, as in os.fsdecode() */
PyObject *text_object(const char *text, size_t len_bytes);

/*
 * Of PyArg_ParseTuple() for O&, which takes any number for I and K without a word: only its lowest
 * bits are left.
 */
int to_uint32(PyObject *given, void *ret);
int to_uint64(PyObject *given, void *ret);

/** struct_object() - @value, a structure of that number, as an object; NULL: an exception */
PyObject *struct_object(int number, const void *value);

/* --- Options ------------------------------------------------------------ */

/* What the filter and the options that point to it both have is this of the filter. */
#define FILTER_PREFIX "filter_"

/**
 * struct options - those of a view, and what they point to
 * @kept: a list of the objects that own it.
 */
struct options {
	char opts[OPTIONS_MAX_BYTES];
	struct btsrec_filter filter;
	PyObject *kept;
};

/** find_member() - the member of @table with that name, or NULL */
const struct member *find_member(const struct struct_table *table, const char *name);

/**
 * options_init() - the options of @view, of a dictionary
 * @keywords: None asks for nothing.
 *
 * Return: false: an exception is set.  options_fini() is allowed after both.
 */
bool options_init(struct options *options, const struct view_table *view, PyObject *keywords);

/** options_fini() - free what options_init() took */
void options_fini(struct options *options);

/* --- Sessions ----------------------------------------------------------- */

/**
 * struct session - a session of the library
 * @rec: NULL: it is closed.
 * @busy: a call of the library is under way, in this thread or another.
 * @read: NULL, or what is asked for memory.
 * @vmcoreinfo: bytes that the library borrows, or NULL.
 * @error: an exception in what the library called; it waits until the library has returned.
 */
struct session {
	PyObject_HEAD
	struct btsrec *rec;
	bool busy;
	PyObject *read;
	PyObject *vmcoreinfo;
	PyObject *error[3];
};

extern PyTypeObject *session_type;
extern PyType_Spec session_spec;
extern PyObject *base_error;
extern PyObject *error_types[];	/* as error_tables */

/** session_begin() - begin a call of the library; false: an exception is set */
bool session_begin(struct session *session);

/** session_end() - end it; false: an exception is set, the one that was kept */
bool session_end(struct session *session);

/** keep_error() - keep the exception that is set for session_end(), if it is the first */
void keep_error(struct session *session);

/** raise_status() - set the exception of @status, with what was received; returns NULL */
PyObject *raise_status(struct session *session, enum btsrec_status status, PyObject *values);

/* --- What a session gives ----------------------------------------------- */

/** take() - receives a value of any view; @arg is of views.c */
bool take(void *arg, int number, const void *value);

PyObject *session_view(PyObject *self, PyObject *args);
PyObject *session_events(PyObject *self, PyObject *args);
PyObject *session_other_events(PyObject *self, PyObject *args);
PyObject *session_branches(PyObject *self, PyObject *args);

extern PyTypeObject *column_type;
extern PyType_Spec column_spec;

#endif /* BTSREC_PYTHON_CORE_H */
