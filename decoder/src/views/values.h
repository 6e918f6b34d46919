/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the functions of <btsrec/values.h> share: views that print nothing. */
#ifndef BTSREC_VIEWS_VALUES_H
#define BTSREC_VIEWS_VALUES_H

#include <btsrec/values.h>

#include "base/status.h"
#include "symbols/symbol.h"

struct renderer;

/** values_sink - for a view whose text nobody wants, as one that hands out values: drops it */
extern const struct btsrec_sink values_sink;

/** values_check() - values have no format; return: BTSREC_OK, BTSREC_ERR_INVAL */
enum btsrec_status values_check(struct msg *msg, enum btsrec_format format);

/** values_found() - what render_find() and its like returned; *@ret borrows from *@name */
void values_found(bool found, const struct symbol_name *name, enum symbol_why why,
		  struct btsrec_name *ret);

/** values_name() - what @r calls @va, without a name: why; *@ret borrows from *@name */
void values_name(struct renderer *r, uint64_t va, struct symbol_name *name,
		 struct btsrec_name *ret);

/** values_task() - @side as a value; false: NULL, the thread is not known */
bool values_task(const struct btsrec_side *side, struct btsrec_task *ret);

#endif /* BTSREC_VIEWS_VALUES_H */
