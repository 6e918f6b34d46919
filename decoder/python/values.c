// SPDX-License-Identifier: GPL-2.0-or-later
/* Values of the library as objects. */
#include "core.h"

PyTypeObject *value_types[NR_STRUCTS];
PyObject *enum_members[NR_ENUMS];

static uint64_t read_uint(const char *at, size_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, at, bytes); /* x86 is little-endian */
	return value;
}

PyObject *text_object(const char *text, size_t len_bytes)
{
	return PyUnicode_DecodeUTF8(text, (Py_ssize_t)len_bytes, "surrogateescape");
}

/* An enumerator that this module does not know is a number. */
static PyObject *enum_object(int number, long value)
{
	PyObject *key = PyLong_FromLong(value);
	PyObject *found = key ? PyDict_GetItemWithError(enum_members[number], key) : NULL;

	if (!found)
		return PyErr_Occurred() ? Py_XNewRef(NULL) : key;
	Py_DECREF(key);
	return Py_NewRef(found);
}

/* A tuple of @nr objects that @make makes of what lies @stride bytes apart from @at on. */
static PyObject *tuple_of(const char *at, size_t nr, size_t stride,
			  PyObject *(*make)(const char *at, size_t bytes, int of), int of)
{
	PyObject *tuple = PyTuple_New((Py_ssize_t)nr);

	for (size_t i = 0; tuple && i < nr; i++) {
		PyObject *item = make(at + i * stride, stride, of);

		if (!item)
			Py_CLEAR(tuple);
		else
			PyTuple_SetItem(tuple, (Py_ssize_t)i, item);
	}
	return tuple;
}

static PyObject *uint_object(const char *at, size_t bytes, int of)
{
	(void)of;
	return PyLong_FromUnsignedLongLong(read_uint(at, bytes));
}

static PyObject *text_at(const char *at, size_t bytes, int of)
{
	const char *text = *(const char *const *)at;

	(void)bytes;
	(void)of;
	return text_object(text, strlen(text));
}

static PyObject *struct_at(const char *at, size_t bytes, int of)
{
	(void)bytes;
	return struct_object(of, at);
}

static PyObject *pointer_object(const struct member *member, const char *target, size_t nr)
{
	size_t bytes = struct_tables[member->of].bytes;

	if (member->count_at)
		return tuple_of(target, target ? nr : 0, bytes, struct_at, member->of);
	return target ? struct_object(member->of, target) : none();
}

static PyObject *present_object(const char *value, const struct member *member)
{
	const char *at = value + member->at;
	size_t nr =
		member->count_at ? read_uint(value + member->count_at - 1, member->count_bytes) : 0;
	const char *target;

	switch (member->kind) {
	case MEMBER_UINT:
		return uint_object(at, member->bytes, 0);
	case MEMBER_INT:
		return PyLong_FromLongLong(member->bytes == sizeof(int) ? *(const int *)at :
									  *(const int64_t *)at);
	case MEMBER_BOOL:
		return PyBool_FromLong(*(const bool *)at);
	case MEMBER_ENUM:
		return enum_object(member->of, (long)read_uint(at, member->bytes));
	case MEMBER_CHARS:
		return text_object(at, strnlen(at, member->bytes));
	case MEMBER_BYTES:
		return PyBytes_FromStringAndSize(
			at, (Py_ssize_t)(nr < member->bytes ? nr : member->bytes));
	case MEMBER_UINTS:
		return tuple_of(at, member->bytes / sizeof(uint64_t), sizeof(uint64_t), uint_object,
				0);
	case MEMBER_STRUCT:
		return struct_object(member->of, at);
	case MEMBER_TEXT:
		memcpy(&target, at, sizeof(target));
		if (!target)
			return none();
		return text_object(target, member->count_at ? nr : strlen(target));
	case MEMBER_TEXTS:
		memcpy(&target, at, sizeof(target));
		return tuple_of(target, target ? nr : 0, sizeof(char *), text_at, 0);
	case MEMBER_POINTER:
		memcpy(&target, at, sizeof(target));
		return pointer_object(member, target, nr);
	}
	PyErr_SetString(PyExc_SystemError, "no such kind of member");
	return NULL;
}

/* A union holds one arm, and a library that is older than this module has fewer members. */
static bool is_present(const struct struct_table *table, const char *value,
		       const struct member *member)
{
	if (table->is_sized && member->at >= read_uint(value, sizeof(size_t)))
		return false;
	if (member->arms && !(member->arms >> read_uint(value, sizeof(int)) & 1))
		return false;
	return !member->has_at || *(const bool *)(value + member->has_at - 1);
}

PyObject *struct_object(int number, const void *value)
{
	const struct struct_table *table = &struct_tables[number];
	PyObject *object = PyStructSequence_New(value_types[number]);

	for (size_t i = 0; object && i < table->nr_members; i++) {
		const struct member *member = &table->members[i];
		PyObject *item =
			is_present(table, value, member) ? present_object(value, member) : none();

		if (!item)
			Py_CLEAR(object);
		else
			PyStructSequence_SetItem(object, (Py_ssize_t)i, item);
	}
	return object;
}
