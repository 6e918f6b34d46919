// SPDX-License-Identifier: GPL-2.0-or-later
/* The header's own assertions, in each language that reads it. */
#include <btsrec/abi.h>
#include <btsrec/abi.h>

int main(void)
{
	return 0;
}
