// SPDX-License-Identifier: GPL-2.0-or-later
/* A session: one call at a time, how it is opened, and its small answers. */
#include "core.h"

PyTypeObject *session_type;
PyObject *base_error;
PyObject *error_types[NR_ERRORS];

void keep_error(struct session *session)
{
	if (session->error[0])
		PyErr_Clear();
	else
		PyErr_Fetch(&session->error[0], &session->error[1], &session->error[2]);
}

bool session_begin(struct session *session)
{
	if (!session->rec) {
		PyErr_SetString(PyExc_ValueError, "the dump is closed");
		return false;
	}
	if (session->busy) {
		PyErr_SetString(PyExc_RuntimeError,
				"the dump is in use: one call at a time, also of other threads");
		return false;
	}
	session->busy = true;
	return true;
}

bool session_end(struct session *session)
{
	session->busy = false;
	if (!session->error[0])
		return true;
	PyErr_Restore(session->error[0], session->error[1], session->error[2]);
	memset(session->error, 0, sizeof(session->error));
	return false;
}

PyObject *raise_status(struct session *session, enum btsrec_status status, PyObject *values)
{
	const char *why = btsrec_errmsg(session->rec);
	PyObject *type = base_error, *text, *error = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(error_tables); i++)
		if (error_tables[i].status == status)
			type = error_types[i];
	if (!*why)
		why = btsrec_status_str(status);
	text = text_object(why, strlen(why));
	if (text)
		error = PyObject_CallFunctionObjArgs(type, text, NULL);
	Py_XDECREF(text);
	if (error && !PyObject_SetAttrString(error, "values", values))
		PyErr_SetObject(type, error);
	Py_XDECREF(error);
	return NULL;
}

static PyObject *session_close(PyObject *self, PyObject *unused)
{
	struct session *session = (struct session *)self;

	(void)unused;
	if (session->rec && !session_begin(session))
		return NULL;
	btsrec_free(session->rec);
	session->rec = NULL;
	session->busy = false;
	Py_CLEAR(session->read);
	Py_CLEAR(session->vmcoreinfo);
	return none();
}

static int session_traverse(PyObject *self, visitproc visit, void *arg)
{
	struct session *session = (struct session *)self;

	Py_VISIT(Py_TYPE(self));
	Py_VISIT(session->read);
	return 0;
}

/* Breaks a cycle by way of @read; the library would ask it no more. */
static int session_clear(PyObject *self)
{
	Py_XDECREF(session_close(self, NULL));
	return 0;
}

static void session_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	PyObject_GC_UnTrack(self);
	session_clear(self);
	PyObject_GC_Del(self);
	Py_DECREF(type);
}

/* --- Memory through Python ---------------------------------------------- */

/* What @read returned: bytes, maybe fewer than wanted. */
static enum btsrec_status copy_read(struct session *session, PyObject *got, void *buf,
				    size_t len_bytes, size_t *ret_bytes)
{
	Py_buffer view;

	if (!got || PyObject_GetBuffer(got, &view, PyBUF_SIMPLE)) {
		keep_error(session);
		return BTSREC_ERR_IO;
	}
	*ret_bytes = (size_t)view.len < len_bytes ? (size_t)view.len : len_bytes;
	memcpy(buf, view.buf, *ret_bytes);
	PyBuffer_Release(&view);
	return *ret_bytes < len_bytes ? BTSREC_ERR_NODATA : BTSREC_OK;
}

static enum btsrec_status read_pa(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				  size_t *ret_bytes)
{
	PyGILState_STATE state = PyGILState_Ensure();
	enum btsrec_status status = BTSREC_ERR_IO;
	struct session *session = arg;
	PyObject *got;

	*ret_bytes = 0;
	if (!session->error[0]) {
		got = PyObject_CallFunction(session->read, "KK", (unsigned long long)pa,
					    (unsigned long long)len_bytes);
		status = copy_read(session, got, buf, len_bytes, ret_bytes);
		Py_XDECREF(got);
	}
	PyGILState_Release(state);
	return status;
}

/* --- Opening ------------------------------------------------------------ */

/**
 * struct opening - the arguments of open()
 * @paths: a tuple of bytes, empty for memory that @read gives.
 * @vmcoreinfo, @system_map, @vmlinux, @sysroot, @debuginfo: NULL: not given.
 */
struct opening {
	PyObject *paths;
	PyObject *read;
	const char *vmcoreinfo;
	unsigned long long root_pa;
	unsigned long long max_pa;
	unsigned int nr_threads;
	int scan;
	int dump_names;
	int raw_names;
	const char *system_map;
	const char *vmlinux;
	const char *sysroot;
	const char *debuginfo;
};

static enum btsrec_status open_image(struct session *session, const struct opening *opening)
{
	const struct btsrec_image image = {
		.size = sizeof(image),
		.read_pa = read_pa,
		.vmcoreinfo = session->vmcoreinfo ? PyBytes_AsString(session->vmcoreinfo) : NULL,
		.max_pa = opening->max_pa,
		.arg = session,
	};

	return btsrec_open_image(session->rec, &image);
}

static enum btsrec_status open_source(struct session *session, const struct opening *opening,
				      const char *const *paths, size_t nr_paths)
{
	struct btsrec *rec = session->rec;

	if (session->read)
		return open_image(session, opening);
	btsrec_set_threads(rec, opening->nr_threads);
	return nr_paths == 1 ? btsrec_open_dump(rec, paths[0]) :
			       btsrec_open_split(rec, paths, nr_paths);
}

static enum btsrec_status open_all(struct session *session, const struct opening *opening,
				   const char *const *paths, size_t nr_paths)
{
	struct btsrec *rec = session->rec;
	enum btsrec_status status = open_source(session, opening, paths, nr_paths);

	if (!status)
		status = btsrec_locate(rec, opening->root_pa, (enum btsrec_scan)opening->scan);
	if (status)
		return status;
	btsrec_set_dump_names(rec, opening->dump_names);
	btsrec_set_raw_names(rec, opening->raw_names);
	if (opening->system_map)
		status = btsrec_add_system_map(rec, opening->system_map);
	if (!status && opening->vmlinux)
		status = btsrec_add_vmlinux(rec, opening->vmlinux);
	if (!status && (opening->sysroot || opening->debuginfo))
		status = btsrec_set_files(rec, opening->sysroot, opening->debuginfo);
	if (!status && (opening->vmlinux || opening->debuginfo))
		status = btsrec_set_debuginfo(rec, opening->vmlinux, opening->debuginfo);
	return status;
}

/* The bytes of the tuple @from as texts; false: an exception is set, as for a zero byte in one. */
static bool read_paths(PyObject *from, const char **ret, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		char *text = NULL;

		if (PyBytes_AsStringAndSize(PyTuple_GetItem(from, (Py_ssize_t)i), &text, NULL))
			return false;
		ret[i] = text;
	}
	return true;
}

/* False: an exception is set. */
static bool session_open(struct session *session, const struct opening *opening)
{
	size_t nr = (size_t)PyTuple_Size(opening->paths);
	const char **paths = PyMem_Malloc((nr + 1) * sizeof(*paths));
	enum btsrec_status status;
	bool opened;

	if (!paths) {
		PyErr_NoMemory();
		return false;
	}
	if (!read_paths(opening->paths, paths, nr)) {
		PyMem_Free(paths);
		return false;
	}
	session->busy = true;
	Py_BEGIN_ALLOW_THREADS status = open_all(session, opening, paths, nr);
	Py_END_ALLOW_THREADS PyMem_Free(paths);
	opened = session_end(session) && !status;
	if (status && !PyErr_Occurred())
		raise_status(session, status, Py_None);
	return opened;
}

static PyObject *session_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	struct opening opening = {0};
	struct session *session;

	(void)kwargs;
	if (!PyArg_ParseTuple(args, "O!OzO&O&O&ippzzzz", &PyTuple_Type, &opening.paths,
			      &opening.read, &opening.vmcoreinfo, to_uint64, &opening.root_pa,
			      to_uint64, &opening.max_pa, to_uint32, &opening.nr_threads,
			      &opening.scan, &opening.dump_names, &opening.raw_names,
			      &opening.system_map, &opening.vmlinux, &opening.sysroot,
			      &opening.debuginfo))
		return NULL;
	session = (struct session *)PyType_GenericAlloc(type, 0);
	if (!session)
		return NULL;
	session->rec = btsrec_new();
	session->read = opening.read == Py_None ? NULL : Py_NewRef(opening.read);
	session->vmcoreinfo = opening.vmcoreinfo ? PyBytes_FromString(opening.vmcoreinfo) : NULL;
	if (!session->rec || (opening.vmcoreinfo && !session->vmcoreinfo))
		PyErr_NoMemory();
	else if (session_open(session, &opening))
		return (PyObject *)session;
	Py_DECREF(session);
	return NULL;
}

/* --- The recorder, and names -------------------------------------------- */

static PyObject *session_root(PyObject *self, PyObject *unused)
{
	struct session *session = (struct session *)self;
	PyObject *root;

	(void)unused;
	if (!session_begin(session))
		return NULL;
	root = struct_object(STRUCT_root, btsrec_root(session->rec));
	session->busy = false;
	return root;
}

static PyObject *session_cpu(PyObject *self, PyObject *args)
{
	struct session *session = (struct session *)self;
	const struct btsrec_cpu *page;
	PyObject *object;
	unsigned int cpu;

	if (!PyArg_ParseTuple(args, "O&", to_uint32, &cpu) || !session_begin(session))
		return NULL;
	page = btsrec_cpu(session->rec, cpu);
	object = page ? struct_object(STRUCT_cpu, page) : none();
	session->busy = false;
	return object;
}

static PyObject *session_module_at(PyObject *self, PyObject *args)
{
	struct session *session = (struct session *)self;
	const struct btsrec_module *module;
	unsigned long long va;
	PyObject *object;

	if (!PyArg_ParseTuple(args, "O&", to_uint64, &va) || !session_begin(session))
		return NULL;
	module = btsrec_module_at(session->rec, va);
	object = module ? struct_object(STRUCT_module, module) : none();
	session->busy = false;
	return object;
}

static PyObject *session_resolve(PyObject *self, PyObject *args)
{
	struct session *session = (struct session *)self;
	struct btsrec_symbol symbol;
	enum btsrec_status status;
	unsigned long long va;

	if (!PyArg_ParseTuple(args, "O&", to_uint64, &va) || !session_begin(session))
		return NULL;
	Py_BEGIN_ALLOW_THREADS status = btsrec_resolve(session->rec, va, &symbol);
	Py_END_ALLOW_THREADS if (!session_end(session)) return NULL;
	return status ? none() : struct_object(STRUCT_symbol, &symbol);
}

static PyObject *session_has_losses(PyObject *self, PyObject *args)
{
	struct session *session = (struct session *)self;
	unsigned long long max_events;
	enum btsrec_status status;
	unsigned int cpu;
	bool ret = false;

	if (!PyArg_ParseTuple(args, "O&O&", to_uint32, &cpu, to_uint64, &max_events) ||
	    !session_begin(session))
		return NULL;
	Py_BEGIN_ALLOW_THREADS status = btsrec_has_losses(session->rec, cpu, max_events, &ret);
	Py_END_ALLOW_THREADS if (!session_end(session)) return NULL;
	return status ? raise_status(session, status, Py_None) : PyBool_FromLong(ret);
}

/* --- The type ----------------------------------------------------------- */

static PyMethodDef session_methods[] = {
	{"close", session_close, METH_NOARGS, NULL},
	{"view", session_view, METH_VARARGS, NULL},
	{"events", session_events, METH_VARARGS, NULL},
	{"other_events", session_other_events, METH_VARARGS, NULL},
	{"branches", session_branches, METH_VARARGS, NULL},
	{"root", session_root, METH_NOARGS, NULL},
	{"cpu", session_cpu, METH_VARARGS, NULL},
	{"module_at", session_module_at, METH_VARARGS, NULL},
	{"resolve", session_resolve, METH_VARARGS, NULL},
	{"has_losses", session_has_losses, METH_VARARGS, NULL},
	{NULL, NULL, 0, NULL},
};

static PyType_Slot session_slots[] = {
	{Py_tp_new, session_new},	    {Py_tp_dealloc, session_dealloc},
	{Py_tp_traverse, session_traverse}, {Py_tp_clear, session_clear},
	{Py_tp_methods, session_methods},   {0, NULL},
};

PyType_Spec session_spec = {
	.name = "btsrec._core.Session",
	.basicsize = sizeof(struct session),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = session_slots,
};
