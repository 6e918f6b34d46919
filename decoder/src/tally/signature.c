// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/signature.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fnv.h"

static void hash_line(struct signature *signature, const char *text)
{
	signature->hash = fnv_line(signature->hash, text, strlen(text));
}

void signature_begin(struct signature *signature, const char *reason, const char *kind,
		     int vector)
{
	char text[32];

	memset(signature, 0, sizeof(*signature));
	signature->hash = FNV_BASIS;
	hash_line(signature, SIGNATURE_VERSION);
	hash_line(signature, reason);
	hash_line(signature, kind);
	if (vector < 0)
		return;
	(void)snprintf(text, sizeof(text), "%d", vector);
	hash_line(signature, text);
}

/* "foo.isra.0", "foo.constprop.0.cold", "foo.part.0", "foo.llvm.123"; never only "". */
static size_t stem_bytes(const char *name, size_t name_bytes)
{
	const char *dot = name_bytes > 1 ? memchr(name + 1, '.', name_bytes - 1) : NULL;

	return dot ? (size_t)(dot - name) : name_bytes;
}

void signature_name(const char *name, size_t name_bytes, const char *module,
		    char ret[SIGNATURE_NAME_BYTES])
{
	snprintf(ret, SIGNATURE_NAME_BYTES, "%.*s%s%s%s", (int)stem_bytes(name, name_bytes), name,
		 *module ? " [" : "", module, *module ? "]" : "");
}

bool signature_add(struct signature *signature, const char *name, size_t name_bytes,
		   const char *module)
{
	char text[SIGNATURE_NAME_BYTES];
	size_t nr = signature->nr_names;

	signature_name(name, name_bytes, module, text);
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(text, signature->names[i]))
			return true;
	if (nr == SIGNATURE_MAX_NAMES)
		return false;
	memcpy(signature->names[signature->nr_names++], text, sizeof(text));
	hash_line(signature, text);
	return true;
}

void signature_end(struct signature *signature, bool complete)
{
	signature->complete = complete || signature->nr_names == SIGNATURE_MAX_NAMES;
}

void signature_text(const struct signature *signature, char ret[SIGNATURE_TEXT_BYTES])
{
	(void)snprintf(ret, SIGNATURE_TEXT_BYTES, SIGNATURE_VERSION ":%016" PRIx64,
		       signature->hash);
}
