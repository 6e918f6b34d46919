// SPDX-License-Identifier: GPL-2.0-or-later
#include "findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool findings_grow(struct findings *findings)
{
	size_t capacity = findings->capacity ? findings->capacity * 2 : 16;
	struct finding *list;

	if (findings->nr < findings->capacity)
		return true;
	if (capacity > FINDINGS_MAX)
		return false;
	list = realloc(findings->list, capacity * sizeof(*list));
	if (!list) {
		findings->nomem = true;
		return false;
	}
	findings->list = list;
	findings->capacity = capacity;
	return true;
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
