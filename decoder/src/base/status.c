// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The switches below have no default: a missing word is a compiler warning. */

const char *btsrec_status_str(enum btsrec_status status)
{
	switch (status) {
	case BTSREC_OK:			return "success";
	case BTSREC_ERR_NOMEM:		return "out of memory";
	case BTSREC_ERR_INVAL:		return "invalid use of the library";
	case BTSREC_ERR_IO:		return "cannot read";
	case BTSREC_ERR_NOT_DUMP:	return "not a dump";
	case BTSREC_ERR_NODATA:		return "not in the dump";
	case BTSREC_ERR_NO_ROOT:	return "no recorder found";
	case BTSREC_ERR_BAD_ROOT:	return "invalid recorder root";
	case BTSREC_ERR_VERSION:	return "incompatible format version";
	case BTSREC_ERR_CORRUPT:	return "contradictory recorder data";
	case BTSREC_ERR_NO_CPU:		return "no ring for this CPU";
	case BTSREC_ERR_NO_SYMBOL:	return "no symbol";
	case BTSREC_ERR_MISMATCH:	return "symbols of another kernel";
	case BTSREC_ERR_STOPPED:	return "stopped";
	case BTSREC_ERR_TOO_NEW:	return "options of a newer library";
	}
	return "unknown status";
}

const char *btsrec_gap_str(enum btsrec_gap_kind kind)
{
	switch (kind) {
	case BTSREC_GAP_OVERWRITTEN:	return "overwritten";
	case BTSREC_GAP_NOT_IN_DUMP:	return "not-in-dump";
	case BTSREC_GAP_TORN:		return "torn";
	case BTSREC_GAP_NEVER_WRITTEN:	return "never-written";
	case BTSREC_GAP_BAD_RECORD:	return "bad-record";
	case BTSREC_GAP_UNKNOWN_KIND:	return "unknown-kind";
	case BTSREC_GAP_PAUSED:		return "paused";
	case BTSREC_GAP_NO_INDEX:	return "no-index";
	}
	return "unknown";
}

const char *btsrec_reason_str(uint32_t reason)
{
	switch ((enum btsrec_reason)reason) {
	case BTSREC_REASON_NONE:	return "none";
	case BTSREC_REASON_PANIC:	return "panic";
	case BTSREC_REASON_OOPS:	return "oops";
	case BTSREC_REASON_HARD_LOCKUP:	return "hard lockup";
	case BTSREC_REASON_SOFT_LOCKUP:	return "soft lockup";
	case BTSREC_REASON_HUNG_TASK:	return "hung task";
	case BTSREC_REASON_MCE:		return "machine check";
	case BTSREC_REASON_NMI:		return "nmi";
	case BTSREC_REASON_MANUAL:	return "manual";
	case BTSREC_REASON_CRASH_SHUTDOWN: return "crash shutdown";
	case BTSREC_REASON_REBOOT:	return "reboot";
	case BTSREC_REASON_CPU_OFFLINE:	return "cpu offline";
	case BTSREC_REASON_DISARM:	return "disarm";
	case BTSREC_REASON_FOREIGN:	return "foreign";
	case BTSREC_REASON_SUSPEND:	return "suspend";
	case BTSREC_REASON_SNAPSHOT:	return "snapshot";
	case BTSREC_REASON_RCU_STALL:	return "rcu stall";
	case BTSREC_REASON_CONSOLE:	return "console output";
	case BTSREC_REASON_WARN:	return "warning";
	case BTSREC_REASON_TRACEPOINT:	return "tracepoint";
	case BTSREC_REASON_FUNCTION:	return "function";
	case BTSREC_REASON_REQUEST:	return "request";
	case BTSREC_REASON_LEFT_OUT:	return "left out";
	case BTSREC_REASON_FILTERED:	return "not chosen";
	case BTSREC_REASON_RATE:	return "max rate";
	case BTSREC_REASON_RATE_USER:	return "max rate, user";
	case BTSREC_REASON_LBR:		return "last branches";
	}
	return "unknown";
}

void msg_clear(struct msg *msg)
{
	msg->text[0] = '\0';
}

enum btsrec_status msg_set(struct msg *msg, enum btsrec_status status, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(msg->text, sizeof(msg->text), fmt, args);
	va_end(args);
	return status;
}

enum btsrec_status msg_prepend(struct msg *msg, enum btsrec_status status, const char *fmt, ...)
{
	char cause[MSG_BYTES];
	va_list args;
	size_t len;

	memcpy(cause, msg->text, sizeof(cause));
	va_start(args, fmt);
	vsnprintf(msg->text, sizeof(msg->text), fmt, args);
	va_end(args);
	len = strlen(msg->text);
	if (cause[0])
		snprintf(msg->text + len, sizeof(msg->text) - len, ": %s", cause);
	return status;
}

void msg_append(struct msg *msg, const char *fmt, ...)
{
	size_t len = strlen(msg->text);
	va_list args;

	if (len && len + 2 < sizeof(msg->text)) {
		memcpy(msg->text + len, "; ", 3);
		len += 2;
	}
	va_start(args, fmt);
	vsnprintf(msg->text + len, sizeof(msg->text) - len, fmt, args);
	va_end(args);
}
