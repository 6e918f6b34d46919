// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/view_summary_sentence.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/escape.h"
#include "symbols/symbol.h"
#include "views/view_summary.h"

/* No function is as long: what the compiler has split off lies there, and how far says nothing. */
#define FAR_BYTES	0x10000

void sentence_add(struct sentence *sentence, const char *format, ...)
{
	size_t room = SUMMARY_SENTENCE_BYTES - sentence->nr_bytes;
	va_list args;
	int nr;

	va_start(args, format);
	nr = vsnprintf(sentence->text + sentence->nr_bytes, room, format, args);
	va_end(args);
	if (nr > 0)
		sentence->nr_bytes += (size_t)nr < room ? (size_t)nr : room - 1;
}

/* The function of @ip, and where in it if that is @wanted; without a name the address. */
static void add_name(struct sentence *sentence, uint64_t ip, bool wanted)
{
	struct symbol_name name;
	enum symbol_why why;

	if (!render_find(sentence->r, ip, &name, &why)) {
		sentence_add(sentence, "0x%016" PRIx64, ip);
		return;
	}
	if (!name.name_bytes) {
		sentence_add(sentence, "[%s]+0x%" PRIx64, name.module, name.offset_bytes);
		return;
	}
	sentence_add(sentence, "%.*s", (int)name.name_bytes, name.name);
	if (wanted && name.offset_bytes < FAR_BYTES)
		sentence_add(sentence, "+0x%" PRIx64, name.offset_bytes);
	if (*name.module)
		sentence_add(sentence, " [%s]", name.module);
}

void sentence_add_place(struct sentence *sentence, uint64_t ip)
{
	add_name(sentence, ip, true);
}

void sentence_add_data(struct sentence *sentence, uint64_t va)
{
	struct symbol_name name;
	enum symbol_why why;

	if (!(render_find(sentence->r, va, &name, &why) && name.name_bytes) &&
	    !symbols_object(sentence->r->rec, va, &name)) {
		sentence_add(sentence, "0x%016" PRIx64, va);
		return;
	}
	sentence_add(sentence, "%.*s", (int)name.name_bytes, name.name);
	if (name.offset_bytes)
		sentence_add(sentence, "+0x%" PRIx64, name.offset_bytes);
	if (*name.module)
		sentence_add(sentence, " [%s]", name.module);
}

void sentence_add_function(struct sentence *sentence, uint64_t va)
{
	add_name(sentence, va, false);
}

void sentence_add_comm(struct sentence *sentence, const char *comm)
{
	char text[ESCAPED_MAX_BYTES * BTSREC_COMM_BYTES + 1];

	(void)escaped_copy(text, comm, BTSREC_COMM_BYTES);
	sentence_add(sentence, " (%s)", text);
}
