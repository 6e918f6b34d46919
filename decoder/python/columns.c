// SPDX-License-Identifier: GPL-2.0-or-later
/* Branches as columns, for the buffer protocol. */
#include "core.h"

#include <stdlib.h>

PyTypeObject *column_type;

/**
 * struct column - numbers in memory, @stride bytes apart, for the buffer protocol
 * @owner: of the memory; NULL: this is.
 */
struct column {
	PyObject_HEAD PyObject *owner;
	char *memory;
	const char *format;
	Py_ssize_t item_bytes;
	Py_ssize_t nr;
	Py_ssize_t stride;
};

static int column_buffer(PyObject *self, Py_buffer *view, int flags)
{
	struct column *column = (struct column *)self;

	if (column->stride != column->item_bytes && (flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
		PyErr_SetString(PyExc_BufferError, "the items do not follow each other");
		return -1;
	}
	if (PyBuffer_FillInfo(view, self, column->memory, column->nr * column->item_bytes, 1,
			      flags))
		return -1;
	view->itemsize = column->item_bytes;
	view->format = flags & PyBUF_FORMAT ? (char *)column->format : NULL;
	view->shape = flags & PyBUF_ND ? &column->nr : NULL;
	view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &column->stride : NULL;
	return 0;
}

static void column_dealloc(PyObject *self)
{
	struct column *column = (struct column *)self;
	PyTypeObject *type = Py_TYPE(self);

	if (!column->owner)
		free(column->memory);
	Py_XDECREF(column->owner);
	PyObject_Free(self);
	Py_DECREF(type);
}

/* @memory is taken if there is no @owner, also on failure. */
static struct column *column_new(PyObject *owner, void *memory, const char *format,
				 size_t item_bytes, size_t nr, size_t stride)
{
	struct column *column = (struct column *)PyType_GenericAlloc(column_type, 0);

	if (!column) {
		if (!owner)
			free(memory);
		return NULL;
	}
	column->owner = Py_XNewRef(owner);
	column->memory = memory;
	column->format = format;
	column->item_bytes = (Py_ssize_t)item_bytes;
	column->nr = (Py_ssize_t)nr;
	column->stride = (Py_ssize_t)stride;
	return column;
}

static PyObject *column_view(struct column *column)
{
	PyObject *view = column ? PyMemoryView_FromObject((PyObject *)column) : NULL;

	Py_XDECREF((PyObject *)column);
	return view;
}

/** struct copying - branches on their way into columns that have room for @max */
struct copying {
	struct btsrec_record *records;
	uint64_t *n;
	uint64_t nr;
	uint64_t max;
};

static bool copy_branches(void *arg, const struct btsrec_branches *branches)
{
	struct copying *copying = arg;

	if (branches->nr_records > copying->max - copying->nr)
		return false;
	memcpy(copying->records + copying->nr, branches->records,
	       branches->nr_records * sizeof(*branches->records));
	for (uint64_t i = 0; i < branches->nr_records; i++)
		copying->n[copying->nr + i] = branches->n + i;
	copying->nr += branches->nr_records;
	return true;
}

static bool pass(void *arg, const struct btsrec_event *event)
{
	(void)arg;
	(void)event;
	return true;
}

/* Without Python's lock. */
static enum btsrec_status copy_history(struct btsrec *rec, unsigned int cpu,
				       struct copying *copying)
{
	enum btsrec_status status = btsrec_other_events(rec, cpu, pass, NULL, &copying->max);

	if (status)
		return status;
	copying->records = malloc((copying->max + 1) * sizeof(*copying->records));
	copying->n = malloc((copying->max + 1) * sizeof(*copying->n));
	if (!copying->records || !copying->n)
		return BTSREC_ERR_NOMEM;
	return btsrec_branches(rec, cpu, copy_branches, copying);
}

/* n, from, to, flags and whole records; takes the memory. */
static PyObject *branch_columns(const struct copying *copying)
{
	static const char format[] = "T{Q:from:Q:to:Q:flags:}";
	struct column *n =
		column_new(NULL, copying->n, "Q", sizeof(uint64_t), copying->nr, sizeof(uint64_t));
	struct column *records =
		column_new(NULL, copying->records, format, sizeof(struct btsrec_record),
			   copying->nr, sizeof(struct btsrec_record));
	PyObject *owner = (PyObject *)records, *columns = PyTuple_New(5);
	bool failed = !columns || !n || !records;

	for (size_t i = 0; !failed && i < 3; i++) {
		char *memory = records->memory + i * sizeof(uint64_t);
		PyObject *view = column_view(column_new(owner, memory, "Q", sizeof(uint64_t),
							copying->nr, sizeof(*copying->records)));

		failed = !view || PyTuple_SetItem(columns, 1 + (Py_ssize_t)i, view);
	}
	if (!failed) {
		PyObject *first = column_view(n), *last = column_view(records);

		n = NULL;
		records = NULL;
		failed = !first || !last;
		PyTuple_SetItem(columns, 0, first);
		PyTuple_SetItem(columns, 4, last);
	}
	Py_XDECREF((PyObject *)n);
	Py_XDECREF((PyObject *)records);
	if (failed)
		Py_CLEAR(columns);
	return columns;
}

PyObject *session_branches(PyObject *self, PyObject *args)
{
	struct session *session = (struct session *)self;
	struct copying copying = {0};
	enum btsrec_status status;
	unsigned int cpu;

	if (!PyArg_ParseTuple(args, "O&", to_uint32, &cpu) || !session_begin(session))
		return NULL;
	Py_BEGIN_ALLOW_THREADS status = copy_history(session->rec, cpu, &copying);
	Py_END_ALLOW_THREADS if (session_end(session) && !status) return branch_columns(&copying);
	free(copying.records);
	free(copying.n);
	if (PyErr_Occurred())
		return NULL;
	return raise_status(session, status, Py_None);
}

static PyType_Slot column_slots[] = {
	{Py_tp_dealloc, column_dealloc},
	{Py_bf_getbuffer, column_buffer},
	{0, NULL},
};

PyType_Spec column_spec = {
	.name = "btsrec._core.Column",
	.basicsize = sizeof(struct column),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = column_slots,
};
