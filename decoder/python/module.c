// SPDX-License-Identifier: GPL-2.0-or-later
/* The module: classes, enumerations, exceptions and the list of views, as the tables have them. */
#include "core.h"

/* Add @object, which is owned by the module then; false: an exception is set. */
static bool add_object(PyObject *module, const char *name, PyObject *object)
{
	const char *dot = strrchr(name, '.');

	return object && !PyModule_AddObjectRef(module, dot ? dot + 1 : name, object);
}

static bool add_values(PyObject *module)
{
	for (size_t i = 0; i < NR_STRUCTS; i++) {
		const struct struct_table *table = &struct_tables[i];
		PyStructSequence_Field fields[64] = {0};
		PyStructSequence_Desc desc = {
			.name = table->name,
			.doc = table->doc,
			.fields = fields,
			.n_in_sequence = (int)table->nr_members,
		};

		if (!table->is_value)
			continue;
		for (size_t j = 0; j < table->nr_members && j + 1 < ARRAY_SIZE(fields); j++)
			fields[j] = (PyStructSequence_Field){table->members[j].name,
							     table->members[j].doc};
		value_types[i] = PyStructSequence_NewType(&desc);
		if (!add_object(module, table->name, (PyObject *)value_types[i]))
			return false;
	}
	return true;
}

/* An IntEnum with its members; and a dictionary of these by their values. */
static bool add_enum(PyObject *module, PyObject *int_enum, const struct enum_table *table,
		     PyObject **ret_members)
{
	PyObject *items = PyDict_New(), *members = PyDict_New(), *enumeration = NULL;
	PyObject *args = NULL, *kwargs = Py_BuildValue("{ss}", "module", "btsrec");
	bool ok = items && members && kwargs;

	for (size_t i = 0; ok && i < table->nr_enumerators; i++) {
		PyObject *value = PyLong_FromLong(table->enumerators[i].value);

		ok = value && !PyDict_SetItemString(items, table->enumerators[i].name, value);
		Py_XDECREF(value);
	}
	if (ok)
		args = Py_BuildValue("sO", table->name, items);
	if (args)
		enumeration = PyObject_Call(int_enum, args, kwargs);
	ok = enumeration && add_object(module, table->name, enumeration);
	for (size_t i = 0; ok && i < table->nr_enumerators; i++) {
		PyObject *member = PyObject_GetAttrString(enumeration, table->enumerators[i].name);

		ok = member && !PyDict_SetItem(members, member, member);
		Py_XDECREF(member);
	}
	Py_XDECREF(items);
	Py_XDECREF(args);
	Py_XDECREF(kwargs);
	Py_XDECREF(enumeration);
	*ret_members = members;
	return ok;
}

static bool add_enums(PyObject *module)
{
	PyObject *enum_module = PyImport_ImportModule("enum");
	PyObject *int_enum = enum_module ? PyObject_GetAttrString(enum_module, "IntEnum") : NULL;
	bool ok = int_enum;

	for (size_t i = 0; ok && i < NR_ENUMS; i++)
		ok = add_enum(module, int_enum, &enum_tables[i], &enum_members[i]);
	Py_XDECREF(int_enum);
	Py_XDECREF(enum_module);
	return ok;
}

/* What Python itself raises for the like. */
static PyObject *kin_of(enum btsrec_status status)
{
	switch (status) {
	case BTSREC_ERR_NOMEM:
		return PyExc_MemoryError;
	case BTSREC_ERR_IO:
		return PyExc_OSError;
	case BTSREC_ERR_INVAL:
		return PyExc_ValueError;
	default:
		return NULL;
	}
}

static bool add_errors(PyObject *module)
{
	base_error = PyErr_NewExceptionWithDoc(
		"btsrec.Error", "A call failed.  values: what it gave before, or None.", NULL,
		NULL);
	if (!add_object(module, "Error", base_error))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(error_tables); i++) {
		PyObject *kin = kin_of(error_tables[i].status);
		PyObject *bases =
			kin ? PyTuple_Pack(2, base_error, kin) : PyTuple_Pack(1, base_error);

		error_types[i] =
			bases ? PyErr_NewExceptionWithDoc(error_tables[i].name, error_tables[i].doc,
							  bases, NULL) :
				NULL;
		Py_XDECREF(bases);
		if (!add_object(module, error_tables[i].name, error_types[i]))
			return false;
	}
	return true;
}

/* The keywords of @table, with those of the filter that it points to; @options has that. */
static bool list_keywords(const struct struct_table *table, const struct struct_table *options,
			  PyObject *list)
{
	bool ok = true;

	for (size_t i = 0; ok && i < table->nr_members; i++) {
		const struct member *member = &table->members[i];
		bool both = options && find_member(options, member->name);
		PyObject *name;

		if (!strcmp(member->name, "filter")) {
			ok = list_keywords(&struct_tables[STRUCT_filter], table, list);
			continue;
		}
		name = PyUnicode_FromFormat("%s%s", both ? FILTER_PREFIX : "", member->name);
		if (name)
			name = Py_BuildValue("Ns", name, member->doc);
		ok = name && !PyList_Append(list, name);
		Py_XDECREF(name);
	}
	return ok;
}

/* views: of each its name, description, whether it takes another dump, and its keywords. */
static bool add_views(PyObject *module)
{
	PyObject *views = PyList_New(0);
	bool ok = views;

	for (size_t i = 0; ok && i < ARRAY_SIZE(view_tables); i++) {
		const struct view_table *view = &view_tables[i];
		PyObject *keywords = PyList_New(0), *entry = NULL;

		if (keywords && (view->options < 0 ||
				 list_keywords(&struct_tables[view->options], NULL, keywords)))
			entry = Py_BuildValue("ssiO", view->name, view->doc, view->has_other,
					      keywords);
		ok = entry && !PyList_Append(views, entry);
		Py_XDECREF(keywords);
		Py_XDECREF(entry);
	}
	ok = ok && add_object(module, "views", views);
	Py_XDECREF(views);
	return ok;
}

static bool add_types(PyObject *module)
{
	session_type = (PyTypeObject *)PyType_FromSpec(&session_spec);
	column_type = (PyTypeObject *)PyType_FromSpec(&column_spec);
	return column_type && add_object(module, "Session", (PyObject *)session_type);
}

static PyModuleDef core_module = {
	PyModuleDef_HEAD_INIT,
	.m_name = "btsrec._core",
	.m_size = -1,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
	PyObject *module = PyModule_Create(&core_module);

	if (module && add_types(module) && add_values(module) && add_enums(module) &&
	    add_errors(module) && add_views(module) &&
	    !PyModule_AddStringConstant(module, "version", btsrec_version()))
		return module;
	Py_XDECREF(module);
	return NULL;
}
