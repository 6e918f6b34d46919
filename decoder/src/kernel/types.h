/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The types of a kernel, as its BTF describes them (Documentation/bpf/btf.rst).
 * Only types.c and types_functions.c include libbpf's headers.
 */
#ifndef BTSREC_TYPES_H
#define BTSREC_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kernels of distributions have 4 to 8 MiB. */
#define TYPES_MAX_BYTES	(64u << 20)

struct types;

/** struct types_field - where a member is in its struct */
struct types_field {
	uint32_t offset_bytes;
	uint32_t size_bytes;
};

/**
 * types_new() - take BTF apart
 * @btf: @nr_bytes bytes, copied; from the dump, so anything may be in them.
 *
 * Return: for types_free(); NULL: no BTF, or out of memory, then with ENOMEM in errno.
 */
struct types *types_new(const void *btf, size_t nr_bytes);

/** types_free() - NULL is allowed */
void types_free(struct types *types);

/** types_struct() - the number of struct @name, for which all are looked at; 0: there is none */
uint32_t types_struct(const struct types *types, const char *name);

/**
 * types_member() - find a member
 * @id: of a struct, from types_struct(); 0 has no members.
 * @path: names of members joined by dots: "mm_mt.ma_root"; of an array one element: "mem[4].base".
 *	Members of anonymous structs and unions count as members of what they are in.
 *
 * Return: false if there is none, it is a bit-field, or beyond the end of the struct or array.
 */
bool types_member(const struct types *types, uint32_t id, const char *path,
		  struct types_field *ret);

/** types_field() - as types_member(), of the struct that is called @type */
bool types_field(const struct types *types, const char *type, const char *path,
		 struct types_field *ret);

/* The parameters that are looked at; the kernel's functions have 13 at most. */
#define TYPES_MAX_PARAMS	16

/* A type as text is no longer. */
#define TYPES_TEXT_BYTES	64

/**
 * enum types_class - how an argument is passed, by the System V ABI for AMD64, 3.2.3
 *
 * What has more than two eightbytes is in memory; floating-point numbers are in no general
 * register.
 */
enum types_class {
	TYPES_WORD,		/* in one general register, if one is left */
	TYPES_TWO_WORDS,	/* in two of them, if two are left */
	TYPES_MEMORY,
	TYPES_FLOAT,
	TYPES_UNCLASSED,	/* not known, and so not where what follows is */
};

/**
 * struct types_param - a parameter of a function
 * @name: of the types, not escaped; "": none.
 * @is_text: it points to char.
 */
struct types_param {
	const char *name;
	uint32_t type;
	uint32_t size_bytes;
	enum types_class class;
	bool is_signed;
	bool is_text;
};

/** struct types_functions - the functions by name; owned; @types must outlive it */
struct types_functions;

/** types_functions_new() - NULL: out of memory; free with types_functions_free() */
struct types_functions *types_functions_new(const struct types *types);
void types_functions_free(struct types_functions *functions);

/**
 * types_function() - the prototype of the function that is called @name, @name_bytes long
 *
 * Return: for types_params(); 0: there is none, or there are several.
 */
uint32_t types_function(const struct types_functions *functions, const char *name,
			size_t name_bytes);

/**
 * types_params() - the parameters of @prototype
 * @ret: TYPES_MAX_PARAMS of room.
 * @ret_more: there are more, or as many as the caller likes.
 *
 * Return: how many there are in @ret.
 */
unsigned int types_params(const struct types *types, uint32_t prototype, struct types_param *ret,
			  bool *ret_more);

/**
 * types_text() - a type as in C: "const char *"; a pointer to a function is "function *"
 * @ret: TYPES_TEXT_BYTES of room; not escaped; what is longer is cut off.
 */
void types_text(const struct types *types, uint32_t type, char *ret);

#endif /* BTSREC_TYPES_H */
