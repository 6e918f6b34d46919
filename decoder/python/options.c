// SPDX-License-Identifier: GPL-2.0-or-later
/* Keywords as options of the library. */
#include "core.h"

/* Memory that lives as long as the options. */
static void *options_memory(struct options *options, size_t bytes)
{
	PyObject *memory = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes);
	bool failed = !memory || PyList_Append(options->kept, memory);

	Py_XDECREF(memory);
	return failed ? NULL : PyBytes_AsString(memory);
}

static const char *options_text(struct options *options, PyObject *given)
{
	PyObject *bytes = PyUnicode_Check(given) ?
				  PyUnicode_AsEncodedString(given, "utf-8", "surrogateescape") :
				  PyErr_Format(PyExc_TypeError, "a text is wanted, not %R", given);
	char *text = NULL;

	if (bytes &&
	    (PyBytes_AsStringAndSize(bytes, &text, NULL) || PyList_Append(options->kept, bytes)))
		text = NULL;
	Py_XDECREF(bytes);
	return text;
}

static bool uint_of(PyObject *given, size_t bytes, uint64_t *ret)
{
	PyObject *number = PyNumber_Index(given);

	*ret = number ? PyLong_AsUnsignedLongLong(number) : 0;
	Py_XDECREF(number);
	if (PyErr_Occurred())
		return false;
	if (bytes < sizeof(*ret) && *ret >> 8 * bytes) {
		PyErr_Format(PyExc_OverflowError, "%R is too large", given);
		return false;
	}
	return true;
}

int to_uint32(PyObject *given, void *ret)
{
	uint64_t value;

	if (!uint_of(given, sizeof(uint32_t), &value))
		return 0;
	*(unsigned int *)ret = (unsigned int)value;
	return 1;
}

int to_uint64(PyObject *given, void *ret)
{
	uint64_t value;

	if (!uint_of(given, sizeof(value), &value))
		return 0;
	*(unsigned long long *)ret = value;
	return 1;
}

/* Numbers, or pairs of them: @per_item of each. */
static bool set_array(struct options *options, char *opts, const struct member *member,
		      PyObject *given, size_t per_item, size_t bytes)
{
	PyObject *items = PySequence_List(given);
	size_t nr = items ? (size_t)PyList_Size(items) : 0;
	char *memory = items ? options_memory(options, (nr + 1) * per_item * bytes) : NULL;
	bool ok = memory;

	for (size_t i = 0; ok && i < nr; i++) {
		PyObject *item = PyList_GetItem(items, (Py_ssize_t)i);

		for (size_t j = 0; ok && j < per_item; j++) {
			PyObject *part = per_item == 1 ? Py_NewRef(item) :
							 PySequence_GetItem(item, (Py_ssize_t)j);
			uint64_t value = 0;

			ok = part && uint_of(part, bytes, &value);
			Py_XDECREF(part);
			memcpy(memory + (i * per_item + j) * bytes, &value, bytes);
		}
	}
	Py_XDECREF(items);
	if (ok) {
		memcpy(opts + member->at, &memory, sizeof(memory));
		memcpy(opts + member->count_at - 1, &nr, sizeof(nr));
	}
	return ok;
}

static bool set_member(struct options *options, char *opts, const struct member *member,
		       PyObject *given)
{
	const char *text;
	uint64_t value;
	int truth;

	switch (member->kind) {
	case MEMBER_UINT:
	case MEMBER_ENUM:
		if (!uint_of(given, member->bytes, &value))
			return false;
		memcpy(opts + member->at, &value, member->bytes);
		break;
	case MEMBER_BOOL:
		truth = PyObject_IsTrue(given);
		if (truth < 0)
			return false;
		*(bool *)(opts + member->at) = truth;
		break;
	case MEMBER_TEXT:
		text = options_text(options, given);
		if (!text)
			return false;
		*(const char **)(void *)(opts + member->at) = text;
		break;
	case MEMBER_UINTS:
		return set_array(options, opts, member, given, 1, sizeof(unsigned int));
	case MEMBER_POINTER:
		return set_array(options, opts, member, given, 2, sizeof(uint64_t));
	default:
		PyErr_Format(PyExc_SystemError, "%s cannot be set", member->name);
		return false;
	}
	if (member->has_at)
		*(bool *)(opts + member->has_at - 1) = true;
	return true;
}

const struct member *find_member(const struct struct_table *table, const char *name)
{
	for (size_t i = 0; i < table->nr_members; i++)
		if (!strcmp(table->members[i].name, name))
			return &table->members[i];
	return NULL;
}

/* The filter's keywords stand beside those of the options. */
static bool set_keyword(struct options *options, const struct struct_table *table, const char *name,
			PyObject *given)
{
	const struct member *filter = find_member(table, "filter");
	const struct member *member = find_member(table, name);
	const void *to = &options->filter;

	if (member && member != filter)
		return set_member(options, options->opts, member, given);
	if (!strncmp(name, FILTER_PREFIX, strlen(FILTER_PREFIX)))
		name += strlen(FILTER_PREFIX);
	member = filter ? find_member(&struct_tables[STRUCT_filter], name) : NULL;
	if (!member) {
		PyErr_Format(PyExc_TypeError, "there is no option %s", name);
		return false;
	}
	options->filter.size = sizeof(options->filter);
	memcpy(options->opts + filter->at, &to, sizeof(to));
	return set_member(options, (char *)&options->filter, member, given);
}

bool options_init(struct options *options, const struct view_table *view, PyObject *keywords)
{
	static const struct struct_table no_options;
	const struct struct_table *table =
		view->options < 0 ? &no_options : &struct_tables[view->options];
	PyObject *name, *given;
	Py_ssize_t at = 0;

	_Static_assert(sizeof(size_t) == sizeof(uint64_t), "counts and sizes are read as such");
	memset(options, 0, sizeof(*options));
	memcpy(options->opts, &table->bytes, sizeof(table->bytes));
	options->kept = PyList_New(0);
	if (!options->kept)
		return false;
	while (PyDict_Next(keywords, &at, &name, &given)) {
		const char *text = PyUnicode_AsUTF8AndSize(name, NULL);

		if (!text || (given != Py_None && !set_keyword(options, table, text, given)))
			return false;
	}
	return true;
}

void options_fini(struct options *options)
{
	Py_CLEAR(options->kept);
}
