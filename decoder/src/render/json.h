/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Members of JSON objects: a comma, the key, the value.  Keys are constants.
 * Addresses are strings of 18 characters, since JSON readers may hold numbers as
 * doubles; counts, ids and time stamps are numbers.
 */
#ifndef BTSREC_JSON_H
#define BTSREC_JSON_H

#include "flow/clock.h"
#include "render/render.h"

/** json_key() - a member's comma, key and colon; its value must follow */
static inline void json_key(struct out *out, const char *key)
{
	out_literal(out, ",\"");
	out_str(out, key);
	out_literal(out, "\":");
}

/** json_from_freeze() - the ns from the freeze to @tsc, before it below 0; nothing if not known */
void json_from_freeze(struct out *out, const char *key, const struct clock *clock, uint64_t tsc);

/** json_number() - an unsigned number */
void json_number(struct out *out, const char *key, uint64_t value);

/** json_number_in() - the same, right-aligned in @width columns (at most 20) */
void json_number_in(struct out *out, const char *key, uint64_t value, unsigned int width);

/** json_blank() - blanks in place of a member whose value has @width columns */
void json_blank(struct out *out, const char *key, unsigned int width);

/** json_bool() - true or false */
void json_bool(struct out *out, const char *key, bool value);

/** json_address() - 0x and 16 digits */
void json_address(struct out *out, const char *key, uint64_t value);

/** json_text() - a hostile string of at most @max_bytes */
void json_text(struct out *out, const char *key, const char *text, size_t max_bytes);

/** json_word() - a word of ours that needs no escaping */
void json_word(struct out *out, const char *key, const char *word);

/** json_thread() - the members pid, tgid and comm, of BTSREC_COMM_BYTES */
void json_thread(struct out *out, uint32_t pid, uint32_t tgid, const char *comm);

/** json_pause() - the members paused and paused_tsc, if the freeze found a pause open */
void json_pause(struct out *out, const struct btsrec_freeze *freeze);

/** json_details() - the members of an event other than a branch, after its time */
void json_details(struct renderer *r, const struct btsrec_event *event);

/** json_event_open() - the object of @event up to its last member; more may follow */
void json_event_open(struct renderer *r, const struct btsrec_event *event);

/** json_sym() - the name of @va; no member if it has none */
void json_sym(struct renderer *r, const char *key, uint64_t va);

/** json_sym_found() - the same of what render_find() or render_find_return() has found */
void json_sym_found(struct out *out, const char *key, bool found, const struct symbol_name *name,
		    enum symbol_why why);

/** out_json_escaped() - inside a JSON string, a name that is escaped for text already */
void out_json_escaped(struct out *out, const char *text);

/** json_function() - "name" or "name [module]", without the offset */
void json_function(struct out *out, const char *key, const struct symbol_name *name);

#endif /* BTSREC_JSON_H */
