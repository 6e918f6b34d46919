// SPDX-License-Identifier: GPL-2.0-or-later
/* Views and events: a list of values, or each of them to a function. */
#include "core.h"

/* After so many values other threads of Python may run. */
#define VALUES_PER_TURN 4096

/**
 * struct taking - the values of a view
 * @each: NULL, or what is called with each; else they are in @list.
 * @thread: as long as the library works without Python's lock; NULL: it is held.
 */
struct taking {
	struct session *session;
	PyObject *list;
	PyObject *each;
	PyThreadState *thread;
	size_t nr;
	bool stopped;
};

static void taking_lock(struct taking *taking)
{
	if (taking->thread)
		PyEval_RestoreThread(taking->thread);
	taking->thread = NULL;
}

/* True: it wants more; only False from what is called ends a view. */
static bool take_object(struct taking *taking, PyObject *object)
{
	PyObject *answer;

	if (!taking->each)
		return !PyList_Append(taking->list, object);
	answer = PyObject_CallFunctionObjArgs(taking->each, object, NULL);
	taking->stopped = answer == Py_False;
	Py_XDECREF(answer);
	return answer && !taking->stopped;
}

bool take(void *arg, int number, const void *value)
{
	struct taking *taking = arg;
	PyObject *object;
	bool wanted;

	taking_lock(taking);
	object = struct_object(number, value);
	wanted = object && take_object(taking, object) && !PyErr_CheckSignals();
	Py_XDECREF(object);
	if (PyErr_Occurred())
		keep_error(taking->session);
	if (++taking->nr % VALUES_PER_TURN == 0)
		taking->thread = PyEval_SaveThread();
	return wanted;
}

/* What the values were, or the exception. */
static PyObject *taking_end(struct taking *taking, enum btsrec_status status)
{
	PyObject *list = taking->list;

	if (!session_end(taking->session))
		Py_CLEAR(list);
	else if (status && !taking->stopped) {
		raise_status(taking->session, status, list);
		Py_CLEAR(list);
	}
	return list;
}

static const struct view_table *find_view(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(view_tables); i++)
		if (!strcmp(view_tables[i].name, name))
			return &view_tables[i];
	PyErr_Format(PyExc_ValueError, "there is no view %s", name);
	return NULL;
}

/* @other is NULL for all views but those of two sessions; both are not in use. */
static PyObject *run_view(struct session *session, struct session *other,
			  const struct view_table *view, PyObject *each, PyObject *keywords)
{
	struct taking taking = {.session = session, .each = each == Py_None ? NULL : each};
	enum btsrec_status status;
	struct options options;

	if (!options_init(&options, view, keywords)) {
		options_fini(&options);
		return NULL;
	}
	taking.list = PyList_New(0);
	if (taking.list) {
		taking.thread = PyEval_SaveThread();
		status = view->run(session->rec, other ? other->rec : NULL, options.opts, &taking);
		taking_lock(&taking);
		taking.list = taking_end(&taking, status);
	}
	options_fini(&options);
	return taking.list;
}

PyObject *session_view(PyObject *self, PyObject *args)
{
	struct session *session = (struct session *)self, *second = NULL;
	PyObject *other, *each, *keywords, *list = NULL;
	const struct view_table *view;
	const char *name;

	if (!PyArg_ParseTuple(args, "sOOO!", &name, &other, &each, &PyDict_Type, &keywords))
		return NULL;
	view = find_view(name);
	if (!view)
		return NULL;
	if (view->has_other) {
		if (!PyObject_TypeCheck(other, session_type))
			return PyErr_Format(PyExc_TypeError, "another dump is wanted, not %R",
					    other);
		second = (struct session *)other;
	}
	if (!session_begin(session))
		return NULL;
	if (!second || session_begin(second)) {
		list = run_view(session, second, view, each, keywords);
		/* What reading the second one raised is an exception of this call. */
		if (second && !session_end(second))
			Py_CLEAR(list);
	}
	session->busy = false;
	return list;
}

/* --- Events ------------------------------------------------------------- */

static bool take_event(void *arg, const struct btsrec_event *event)
{
	return take(arg, STRUCT_event, event);
}

static PyObject *events_of(PyObject *self, PyObject *args, bool with_branches)
{
	struct session *session = (struct session *)self;
	struct taking taking = {.session = session};
	enum btsrec_status status;
	PyObject *each;
	unsigned int cpu;

	if (!PyArg_ParseTuple(args, "O&O", to_uint32, &cpu, &each) || !session_begin(session))
		return NULL;
	taking.each = each == Py_None ? NULL : each;
	taking.list = PyList_New(0);
	if (!taking.list) {
		session->busy = false;
		return NULL;
	}
	taking.thread = PyEval_SaveThread();
	status = with_branches ? btsrec_events(session->rec, cpu, take_event, &taking) :
				 btsrec_other_events(session->rec, cpu, take_event, &taking, NULL);
	taking_lock(&taking);
	return taking_end(&taking, status);
}

PyObject *session_events(PyObject *self, PyObject *args)
{
	return events_of(self, args, true);
}

PyObject *session_other_events(PyObject *self, PyObject *args)
{
	return events_of(self, args, false);
}
