// SPDX-License-Identifier: GPL-2.0-or-later
#include "shorten.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ARROW	      " -> "
#define ARROW_BYTES   4
#define ADDRESS_BYTES 18

/** struct part - @nr_bytes of a line from @text on */
struct part {
	const char *text;
	int nr_bytes;
};

/**
 * struct branch_line - "CPU N branch  FROM -> TO FLAGS  NAME -> NAME  MORE"
 * @head: up to FROM; @flags: what was predicted, and the kind if it is printed.
 */
struct branch_line {
	struct part head;
	struct part address[2];
	struct part flags;
	struct part name[2];
	const char *more;
};

static struct part part_of(const char *from, const char *to)
{
	return (struct part){from, (int)(to - from)};
}

/* Behind the flags: a blank, P or -, and either a blank or the kind with blanks after it. */
static const char *skip_flags(const char *at)
{
	const char *kind = at + 3;

	if (strlen(at) < 4 || at[0] != ' ' || at[2] != ' ')
		return NULL;
	kind += strcspn(kind, " ");
	return kind + strspn(kind, " ");
}

static bool parse(const char *line, struct branch_line *ret)
{
	const char *from = strstr(line, " branch  0x"), *to, *names, *arrow, *end;

	if (!from || strlen(from) < 9 + 2 * ADDRESS_BYTES + ARROW_BYTES)
		return false;
	from += 9;
	to = from + ADDRESS_BYTES + ARROW_BYTES;
	names = skip_flags(to + ADDRESS_BYTES);
	arrow = names ? strstr(names, ARROW) : NULL;
	if (!arrow)
		return false;
	end = strstr(arrow, "  ");
	ret->head = part_of(line, from);
	ret->address[0] = (struct part){from, ADDRESS_BYTES};
	ret->address[1] = (struct part){to, ADDRESS_BYTES};
	ret->flags = part_of(to + ADDRESS_BYTES, names);
	ret->name[0] = part_of(names, arrow);
	ret->name[1] = part_of(arrow + ARROW_BYTES, end ? end : arrow + strlen(arrow));
	ret->more = end ? end : "";
	while (ret->flags.text[ret->flags.nr_bytes - 1] == ' ')
		ret->flags.nr_bytes--;
	return true;
}

/* The name, or the address with the reason why there is no name. */
static size_t put_side(const struct branch_line *line, int i, char *ret, size_t ret_bytes)
{
	struct part name = line->name[i], address = line->address[i];
	bool no_name = name.nr_bytes == 1 && *name.text == '-';

	if (*name.text != '(' && !no_name)
		return (size_t)snprintf(ret, ret_bytes, "%.*s", name.nr_bytes, name.text);
	return (size_t)snprintf(ret, ret_bytes, "%.*s%s%.*s", address.nr_bytes, address.text,
				no_name ? "" : " ", no_name ? 0 : name.nr_bytes, name.text);
}

const char *shorten_branch(const char *line, char *ret, size_t ret_bytes)
{
	struct branch_line parts;
	size_t at;

	if (!parse(line, &parts))
		return line;
	at = (size_t)snprintf(ret, ret_bytes, "%.*s", parts.head.nr_bytes, parts.head.text);
	at += put_side(&parts, 0, ret + at, ret_bytes - at);
	at += (size_t)snprintf(ret + at, ret_bytes - at, ARROW);
	at += put_side(&parts, 1, ret + at, ret_bytes - at);
	snprintf(ret + at, ret_bytes - at, "%.*s%s", parts.flags.nr_bytes, parts.flags.text,
		 parts.more);
	return ret;
}
