// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

void command_print(const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	front_sink.write(front_sink.arg, text, strlen(text));
}

enum command_exit command_exit_of(enum btsrec_status status)
{
	switch (status) {
	case BTSREC_OK:
		return COMMAND_OK;
	case BTSREC_ERR_INVAL:
	case BTSREC_ERR_NO_CPU:
		return COMMAND_USAGE;
	case BTSREC_ERR_NO_ROOT:
		return COMMAND_NO_RECORDER;
	case BTSREC_ERR_IO:
	case BTSREC_ERR_NOT_DUMP:
		return COMMAND_NOT_DUMP;
	case BTSREC_ERR_NODATA:
	case BTSREC_ERR_BAD_ROOT:
	case BTSREC_ERR_VERSION:
	case BTSREC_ERR_CORRUPT:
		return COMMAND_BAD_RECORDER;
	case BTSREC_ERR_NO_SYMBOL:
	case BTSREC_ERR_MISMATCH:
		return COMMAND_SYMBOLS;
	case BTSREC_ERR_NOMEM:
	case BTSREC_ERR_STOPPED:
	case BTSREC_ERR_TOO_NEW:
		return COMMAND_SYSTEM;
	}
	return COMMAND_SYSTEM;
}

enum command_exit command_failed(const struct btsrec *rec, enum btsrec_status status)
{
	const char *message = btsrec_errmsg(rec);

	if (status == BTSREC_ERR_STOPPED)
		return front_output_failed();
	front_error("%s", *message ? message : btsrec_status_str(status));
	return command_exit_of(status);
}

enum command_exit command_ended(const struct btsrec *rec, enum btsrec_status status)
{
	enum command_exit exit = status ? command_failed(rec, status) : COMMAND_OK;

	return status == BTSREC_ERR_CORRUPT ? COMMAND_FAULTS : exit;
}

enum command_exit command_set_names(struct btsrec *rec, const struct command_options *options)
{
	enum btsrec_status status;

	btsrec_set_dump_names(rec, !options->no_names);
	btsrec_set_raw_names(rec, options->raw_names);
	status = btsrec_set_files(rec, options->sysroot, options->debuginfo);
	if (!status && options->vmlinux)
		status = btsrec_add_vmlinux(rec, options->vmlinux);
	if (!status && (options->vmlinux || options->debuginfo))
		status = btsrec_set_debuginfo(rec, options->vmlinux, options->debuginfo);
	if (!status && options->system_map)
		status = btsrec_add_system_map(rec, options->system_map);
	if (!status)
		return COMMAND_OK;
	command_failed(rec, status);
	return status == BTSREC_ERR_NOMEM ? COMMAND_SYSTEM : COMMAND_SYMBOLS;
}
