// SPDX-License-Identifier: GPL-2.0-or-later
/* A session whose branches come from branches; see code/fused.h. */
#include "code/fused.h"
#include "flow/trace.h"

/* What reads code may look for its address space in the histories. */
static void settle(void *arg, uint64_t cr3, struct btsrec_record *record)
{
	struct btsrec *rec = arg;
	struct code *code;

	if (rec->settling)
		return;
	rec->settling = true;
	code = trace_code(rec);
	if (code)
		fused_find_branch(code, cr3, record);
	else
		rec->nomem = true;
	rec->settling = false;
}

struct btsrec *btsrec_new(void)
{
	return session_new(settle);
}
