/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the caller has put the arguments of a function.  Pure. */
#ifndef BTSREC_CALL_ARGS_H
#define BTSREC_CALL_ARGS_H

#include "code/semantics.h"
#include "kernel/types.h"

/** enum call_arg_in - where an argument is at the first instruction of the function */
enum call_arg_in {
	CALL_ARG_REG,
	CALL_ARG_TWO_REGS,
	CALL_ARG_STACK,
	CALL_ARG_FLOAT,
	CALL_ARG_UNPLACED,	/* not known */
};

/** struct call_arg - one of them; @reg: of CALL_ARG_REG, and the first one of CALL_ARG_TWO_REGS */
struct call_arg {
	struct types_param param;
	enum call_arg_in in;
	enum sem_reg reg;
};

/** struct call_args - @nr of them; @more: see types_params() */
struct call_args {
	struct call_arg list[TYPES_MAX_PARAMS];
	unsigned int nr;
	bool more;
};

/** call_args_of() - those of a function with the parameters that types_params() gave */
void call_args_of(const struct types_param *params, unsigned int nr, bool more,
		  struct call_args *ret);

#endif /* BTSREC_CALL_ARGS_H */
