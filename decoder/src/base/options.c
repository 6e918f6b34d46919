// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/options.h"

#include <string.h>

static bool is_zero(const unsigned char *bytes, size_t first, size_t end)
{
	while (first < end && !bytes[first])
		first++;
	return first >= end;
}

enum btsrec_status options_read(struct msg *msg, const void *given, void *ret, size_t ret_bytes)
{
	size_t given_bytes = ret_bytes;

	memset(ret, 0, ret_bytes);
	if (given) {
		memcpy(&given_bytes, given, sizeof(given_bytes));
		if (given_bytes < sizeof(given_bytes))
			return msg_set(msg, BTSREC_ERR_INVAL,
				       "options of %zu bytes: their size is not set", given_bytes);
		if (!is_zero(given, ret_bytes, given_bytes))
			return msg_set(msg, BTSREC_ERR_TOO_NEW,
				       "options of %zu bytes: this library knows the first %zu",
				       given_bytes, ret_bytes);
		memcpy(ret, given, given_bytes < ret_bytes ? given_bytes : ret_bytes);
	}
	memcpy(ret, &ret_bytes, sizeof(ret_bytes));
	return BTSREC_OK;
}

enum btsrec_status options_filter(struct msg *msg, const struct btsrec_filter **filter,
				  struct btsrec_filter *ret)
{
	enum btsrec_status status = options_read(msg, *filter, ret, sizeof(*ret));

	*filter = ret;
	return status;
}
