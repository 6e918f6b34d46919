// SPDX-License-Identifier: GPL-2.0-or-later
#include "findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

static bool findings_grow(struct findings *findings)
{
	if (findings->nr == FINDINGS_MAX)
		return false;
	if (grow_from(&findings->list, sizeof(*findings->list), findings->nr, &findings->nr_room,
		      16))
		return true;
	findings->nomem = true;
	return false;
}

enum btsrec_status findings_add(struct findings *findings, enum btsrec_status status,
				uint32_t cpu, uint64_t pa, const char *fmt, ...)
{
	struct finding *finding;
	va_list args;

	if (!findings_grow(findings)) {
		findings->nr_dropped++;
		return status;
	}
	finding = &findings->list[findings->nr++];
	finding->status = status;
	finding->cpu = cpu;
	finding->pa = pa;
	va_start(args, fmt);
	vsnprintf(finding->text, sizeof(finding->text), fmt, args);
	va_end(args);
	return status;
}

void findings_fini(struct findings *findings)
{
	free(findings->list);
	memset(findings, 0, sizeof(*findings));
}
