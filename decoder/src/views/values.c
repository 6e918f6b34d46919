// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/values.h"

#include <string.h>

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

bool values_task(const struct btsrec_side *side, struct btsrec_task *ret)
{
	if (!side)
		return false;
	ret->pid = side->pid;
	ret->tgid = side->tgid;
	memcpy(ret->comm, side->comm, sizeof(ret->comm));
	return true;
}
