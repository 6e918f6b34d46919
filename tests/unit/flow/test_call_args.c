// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "flow/call_args.h"

static struct call_args args;

/* Of parameters of these classes; the last one is -1. */
static void place(const int *classes)
{
	struct types_param params[TYPES_MAX_PARAMS] = { { 0 } };
	unsigned int nr = 0;

	for (; classes[nr] >= 0; nr++)
		params[nr].class = (enum types_class)classes[nr];
	call_args_of(params, nr, false, &args);
	ck_assert_uint_eq(args.nr, nr);
	ck_assert(!args.more);
}

static void expect(unsigned int i, enum call_arg_in in)
{
	ck_assert_msg(args.list[i].in == in, "argument %u: %d", i, args.list[i].in);
}

static void expect_reg(unsigned int i, enum call_arg_in in, enum sem_reg reg)
{
	expect(i, in);
	ck_assert_uint_eq(args.list[i].reg, reg);
}

START_TEST(six_registers_in_order)
{
	place((const int[]){ TYPES_WORD, TYPES_WORD, TYPES_WORD, TYPES_WORD, TYPES_WORD,
			     TYPES_WORD, TYPES_WORD, -1 });
	expect_reg(0, CALL_ARG_REG, SEM_RDI);
	expect_reg(1, CALL_ARG_REG, SEM_RSI);
	expect_reg(2, CALL_ARG_REG, SEM_RDX);
	expect_reg(3, CALL_ARG_REG, SEM_RCX);
	expect_reg(4, CALL_ARG_REG, SEM_R8);
	expect_reg(5, CALL_ARG_REG, SEM_R9);
	expect(6, CALL_ARG_STACK);
}
END_TEST

/* One register is left: it stays for what fits. */
START_TEST(two_words_or_none)
{
	place((const int[]){ TYPES_TWO_WORDS, TYPES_WORD, TYPES_TWO_WORDS, TYPES_TWO_WORDS,
			     TYPES_WORD, TYPES_WORD, -1 });
	expect_reg(0, CALL_ARG_TWO_REGS, SEM_RDI);
	expect_reg(1, CALL_ARG_REG, SEM_RDX);
	expect_reg(2, CALL_ARG_TWO_REGS, SEM_RCX);
	expect(3, CALL_ARG_STACK);
	expect_reg(4, CALL_ARG_REG, SEM_R9);
	expect(5, CALL_ARG_STACK);
}
END_TEST

START_TEST(what_takes_no_register)
{
	place((const int[]){ TYPES_MEMORY, TYPES_FLOAT, TYPES_WORD, -1 });
	expect(0, CALL_ARG_STACK);
	expect(1, CALL_ARG_FLOAT);
	expect_reg(2, CALL_ARG_REG, SEM_RDI);
}
END_TEST

START_TEST(nothing_behind_what_is_not_known)
{
	place((const int[]){ TYPES_WORD, TYPES_UNCLASSED, TYPES_WORD, -1 });
	expect_reg(0, CALL_ARG_REG, SEM_RDI);
	expect(1, CALL_ARG_UNPLACED);
	expect(2, CALL_ARG_UNPLACED);
}
END_TEST

BTSREC_CK_MAIN("call_args", six_registers_in_order, two_words_or_none, what_takes_no_register,
	       nothing_behind_what_is_not_known)
