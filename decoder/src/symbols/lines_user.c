// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/lines_user.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "symbols/symbol.h"
#include "symbols/user.h"

/* Each has one or two descriptors open; the usual limit of a process is 1024. */
#define MAX_OPEN	BOUND(64, 2)

static unsigned int nr_open(const struct lines_user *list)
{
	unsigned int nr = 0;

	for (; list; list = list->next)
		nr += list->object.file != NULL;
	return nr;
}

/* The file itself may have lines, or lead to its debug file; else any of that build. */
static enum dwarf_fault open_linked(const struct user_linked *linked, char *debug_path,
				    struct dwarf_file **ret)
{
	const struct dwarf_build_id id = { linked->build_id, linked->build_id_bytes };
	int fd = linked->fd < 0 ? -1 : fcntl(linked->fd, F_DUPFD_CLOEXEC, 0);
	enum dwarf_fault fault = DWARF_NO_FILE, found;

	if (fd >= 0)
		fault = dwarf_file_open_fd(fd, &id, debug_path, ret);
	if (fault == DWARF_OK || fault == DWARF_NO_MEMORY || !id.nr_bytes)
		return fault;
	found = dwarf_file_find(&id, debug_path, ret);
	return found == DWARF_NO_FILE ? fault : found;
}

static void open_object(struct btsrec *rec, struct lines_user *list, struct lines_object *object,
			const struct user_linked *linked, char *debug_path)
{
	enum dwarf_fault fault;

	object->tried = true;
	if (linked->why != SYMBOL_NAMED) {
		object->why = symbol_why_str(linked->why);
		return;
	}
	if (linked->fd < 0 && !linked->build_id_bytes) {
		object->why = "its build-id is not known";
		return;
	}
	if (nr_open(list) >= MAX_OPEN) {
		object->why = "too many debug files are open";
		return;
	}
	fault = open_linked(linked, debug_path, &object->file);
	rec->nomem |= fault == DWARF_NO_MEMORY;
	if (fault)
		lines_object_fault(object, fault);
	else
		lines_place_linked(&object->place, dwarf_file_bias(object->file));
}

static struct lines_user *find(struct btsrec *rec, struct lines_user **list,
			       const struct user_linked *linked, char *debug_path)
{
	struct lines_user *user = *list;

	while (user && user->mapped != linked->file)
		user = user->next;
	if (user)
		return user;
	user = calloc(1, sizeof(*user));
	if (!user) {
		rec->nomem = true;
		return NULL;
	}
	user->mapped = linked->file;
	user->name = linked->name;
	open_object(rec, *list, &user->object, linked, debug_path);
	user->next = *list;
	*list = user;
	return user;
}

struct lines_object *lines_user_at(struct btsrec *rec, struct lines_user **list, char *debug_path,
				   uint64_t cr3, uint64_t va, uint64_t *ret_address)
{
	struct user *names = symbols_user_names(rec);
	struct user_linked linked;
	struct lines_user *user;

	if (!names || !user_linked(names, cr3, va, &linked))
		return NULL;
	user = find(rec, list, &linked, debug_path);
	if (!user)
		return NULL;
	return user->object.file && linked.placed &&
	       lines_place_find(&user->object.place, linked.address, ret_address) ?
	       &user->object : NULL;
}

void lines_user_free(struct lines_user *list)
{
	while (list) {
		struct lines_user *next = list->next;

		lines_object_fini(&list->object);
		free(list);
		list = next;
	}
}
