/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The types of a kernel, as its BTF describes them (Documentation/bpf/btf.rst).
 * types.c is the only file that includes libbpf's headers.
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
 * @path: names of members joined by dots: "mm_mt.ma_root".  Members of anonymous
 *	structs and unions count as members of what they are in.
 *
 * Return: false if there is none, it is a bit-field, or beyond the end of the struct.
 */
bool types_member(const struct types *types, uint32_t id, const char *path,
		  struct types_field *ret);

/** types_field() - as types_member(), of the struct that is called @type */
bool types_field(const struct types *types, const char *type, const char *path,
		 struct types_field *ret);

#endif /* BTSREC_TYPES_H */
