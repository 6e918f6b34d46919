// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/vmcoreinfo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool vmcoreinfo_number(const char *text, const char *key, int base, uint64_t *ret)
{
	size_t key_bytes = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		unsigned long long value;
		char *end;

		line += *line == '\n';
		if (strncmp(line, key, key_bytes) != 0 || line[key_bytes] != '=')
			continue;
		errno = 0;
		value = strtoull(line + key_bytes + 1, &end, base);
		if (errno || end == line + key_bytes + 1)
			return false;
		*ret = value;
		return true;
	}
	return false;
}
