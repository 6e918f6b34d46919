// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static bool diags_grow(struct diags *diags)
{
	if (diags->nr == DIAGS_MAX)
		return false;
	if (grow_from(&diags->list, sizeof(*diags->list), diags->nr, &diags->nr_room, 16))
		return true;
	diags->nomem = true;
	return false;
}

enum btsrec_status diags_add(struct diags *diags, enum btsrec_status status, uint32_t cpu,
			     uint64_t pa, const char *fmt, ...)
{
	struct diag *diag;
	va_list args;

	if (!diags_grow(diags)) {
		diags->nr_dropped++;
		return status;
	}
	diag = &diags->list[diags->nr++];
	diag->status = status;
	diag->cpu = cpu;
	diag->pa = pa;
	va_start(args, fmt);
	vsnprintf(diag->text, sizeof(diag->text), fmt, args);
	va_end(args);
	return status;
}

void diags_fini(struct diags *diags)
{
	free(diags->list);
	memset(diags, 0, sizeof(*diags));
}
