// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/call_args.h"

/* System V ABI for AMD64, 3.2.3: in this order, none for a part of an argument. */
static const enum sem_reg registers[] = { SEM_RDI, SEM_RSI, SEM_RDX, SEM_RCX, SEM_R8, SEM_R9 };

#define NR_REGISTERS (sizeof(registers) / sizeof(registers[0]))

static enum call_arg_in place_of(enum types_class class, size_t nr_left)
{
	switch (class) {
	case TYPES_WORD:
		return nr_left ? CALL_ARG_REG : CALL_ARG_STACK;
	case TYPES_TWO_WORDS:
		return nr_left > 1 ? CALL_ARG_TWO_REGS : CALL_ARG_STACK;
	case TYPES_MEMORY:
		return CALL_ARG_STACK;
	case TYPES_FLOAT:
		return CALL_ARG_FLOAT;
	case TYPES_UNCLASSED:
		break;
	}
	return CALL_ARG_UNPLACED;
}

void call_args_of(const struct types_param *params, unsigned int nr, bool more,
		  struct call_args *ret)
{
	bool is_known = true;
	size_t used = 0;

	*ret = (struct call_args){ .nr = nr, .more = more };
	for (unsigned int i = 0; i < nr; i++) {
		struct call_arg *arg = &ret->list[i];

		arg->param = params[i];
		arg->in = is_known ? place_of(params[i].class, NR_REGISTERS - used) :
				     CALL_ARG_UNPLACED;
		is_known = arg->in != CALL_ARG_UNPLACED;
		arg->reg = used < NR_REGISTERS ? registers[used] : SEM_NR_REGS;
		used += arg->in == CALL_ARG_REG;
		used += arg->in == CALL_ARG_TWO_REGS ? 2 : 0;
	}
}
