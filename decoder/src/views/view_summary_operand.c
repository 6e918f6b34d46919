// SPDX-License-Identifier: GPL-2.0-or-later
/* The operand of a summary: where the value came from that made the fault. */
#include <stdlib.h>

#include "views/view_summary.h"

/*
 * The page is to be there at once, so the newest events alone are looked at: of a ring of 1 MiB
 * that is a twentieth.
 */
#define MAX_EVENTS	2048
#define MAX_BYTES	(48U << 10)

/* An exception at an instruction of this CPU, in its history. */
static bool has_operand(const struct summary *view)
{
	return view->calls.fault.kind == FAULT_EXCEPTION && !view->moved &&
	       !view->stack.fault.kind;
}

enum btsrec_status summary_operand_read(struct summary *view, struct btsrec *rec,
					const struct btsrec_cpu *failed)
{
	static const struct btsrec_why opts = { .size = sizeof(opts), .max_events = MAX_EVENTS };
	enum btsrec_status status;

	if (!has_operand(view))
		return BTSREC_OK;
	view->operand = calloc(1, sizeof(*view->operand));
	if (!view->operand)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	status = why_newest(view->operand, rec, failed->cpu, &opts, MAX_BYTES);
	if (status || view->operand->lacks || !view->operand->origin.nr ||
	    !summary_say_operand(view))
		summary_operand_drop(view);
	/* A history that cannot be read is said when it is printed. */
	return status == BTSREC_ERR_NOMEM || status == BTSREC_ERR_IO ? status : BTSREC_OK;
}

void summary_operand_drop(struct summary *view)
{
	if (view->operand)
		why_fini(view->operand);
	free(view->operand);
	view->operand = NULL;
}
