// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/values.h"

#include <string.h>

#include "render/render.h"

static bool drop(void *arg, const char *text, size_t len_bytes)
{
	(void)arg;
	(void)text;
	(void)len_bytes;
	return true;
}

const struct btsrec_sink values_sink = { .write = drop };

enum btsrec_status values_check(struct msg *msg, enum btsrec_format format)
{
	return format == BTSREC_FORMAT_TEXT ? BTSREC_OK :
	       msg_set(msg, BTSREC_ERR_INVAL, "values have no format");
}

void values_found(bool found, const struct symbol_name *name, enum symbol_why why,
		  struct btsrec_name *ret)
{
	*ret = (struct btsrec_name){ 0 };
	if (!found) {
		ret->no_name = symbol_why_str(why);
		return;
	}
	ret->name = name->name_bytes ? name->name : NULL;
	ret->name_bytes = name->name_bytes;
	ret->module = name->module;
	ret->offset_bytes = name->offset_bytes;
}

void values_name(struct renderer *r, uint64_t va, struct symbol_name *name,
		 struct btsrec_name *ret)
{
	enum symbol_why why;
	bool found = render_find(r, va, name, &why);

	values_found(found, name, why, ret);
}

bool values_task(const struct btsrec_side *side, struct btsrec_task *ret)
{
	if (!side)
		return false;
	ret->pid = side->pid;
	ret->tgid = side->tgid;
	memcpy(ret->comm, side->comm, sizeof(ret->comm));
	return true;
}
