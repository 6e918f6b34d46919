// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>

#include "command.h"

static void print(enum front_message kind, const char *fmt, va_list args)
{
	char text[4096];

	vsnprintf(text, sizeof(text), fmt, args);
	front_message(kind, text);
}

void front_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print(FRONT_ERROR, fmt, args);
	va_end(args);
}

void front_notice(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print(FRONT_NOTICE, fmt, args);
	va_end(args);
}

void front_hint(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print(FRONT_HINT, fmt, args);
	va_end(args);
}
