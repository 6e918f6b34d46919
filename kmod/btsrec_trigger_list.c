// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of freeze_on=, words with commas between them:
 *
 *	warn soft_lockup hung_task rcu_stall oops request
 *	tracepoint:NAME
 *	function:NAME
 *	function:NAME:argN:OP:VALUE	argN: a long; intN: an int; N is 1 to 6
 *
 * OP is eq, ne, lt, le, gt, ge, or "and": has bits of VALUE.  They are words because the list
 * stands in shells and in kernel command lines.
 */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "btsrec_trigger.h"

#define NR_ARGUMENTS	6
/* What a hook's pattern has room for. */
#define MAX_NAME	59

static const struct {
	const char *word;
	enum btsrec_reason reason;
} words[] = {
	{ "warn", BTSREC_REASON_WARN },
	{ "soft_lockup", BTSREC_REASON_SOFT_LOCKUP },
	{ "hung_task", BTSREC_REASON_HUNG_TASK },
	{ "rcu_stall", BTSREC_REASON_RCU_STALL },
	{ "oops", BTSREC_REASON_OOPS },
	{ "request", BTSREC_REASON_REQUEST },
};

static const struct {
	const char *word;
	u8 wanted;
} operators[] = {
	{ "eq", BTSREC_EQUAL },
	{ "ne", BTSREC_LESS | BTSREC_GREATER },
	{ "lt", BTSREC_LESS },
	{ "le", BTSREC_LESS | BTSREC_EQUAL },
	{ "gt", BTSREC_GREATER },
	{ "ge", BTSREC_GREATER | BTSREC_EQUAL },
	{ "and", BTSREC_HAS_BITS },
};

/* System V AMD64 psABI, "Parameter Passing". */
static const u16 arguments[NR_ARGUMENTS] = {
	offsetof(struct pt_regs, di), offsetof(struct pt_regs, si), offsetof(struct pt_regs, dx),
	offsetof(struct pt_regs, cx), offsetof(struct pt_regs, r8), offsetof(struct pt_regs, r9),
};

/* Whatever the argument is, it is less than, equal to or greater than 0. */
static const struct btsrec_condition always = {
	.wanted = BTSREC_LESS | BTSREC_EQUAL | BTSREC_GREATER,
};

static bool parse_argument(const char *word, struct btsrec_condition *condition)
{
	bool is_int = !strncmp(word, "int", 3);
	unsigned int number;

	if ((!is_int && strncmp(word, "arg", 3)) || kstrtouint(word + 3, 10, &number) ||
	    number < 1 || number > NR_ARGUMENTS)
		return false;
	condition->offset = arguments[number - 1];
	condition->shift = is_int ? 32 : 0;
	return true;
}

static bool parse_operator(const char *word, struct btsrec_condition *condition)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(operators); i++)
		if (!strcmp(word, operators[i].word))
			condition->wanted = operators[i].wanted;
	return condition->wanted;
}

/* An address is above the largest long; it is compared as the long that it is. */
static bool parse_value(const char *word, s64 *ret)
{
	u64 value;

	if (!kstrtos64(word, 0, ret))
		return true;
	if (kstrtou64(word, 0, &value))
		return false;
	*ret = (s64)value;
	return true;
}

/* "argN:OP:VALUE" */
static const char *parse_condition(char *text, struct btsrec_condition *condition)
{
	char *argument = strsep(&text, ":"), *operator = strsep(&text, ":");

	*condition = (struct btsrec_condition){ 0 };
	if (!operator || !text)
		return "a condition is argN:OP:VALUE or intN:OP:VALUE";
	if (!parse_argument(argument, condition))
		return "a condition begins with arg1 to arg6 or int1 to int6";
	if (!parse_operator(operator, condition))
		return "the operators are eq, ne, lt, le, gt, ge and and";
	if (!parse_value(text, &condition->with))
		return "the value of a condition is no number";
	return NULL;
}

/* As compilers make them: F, F.isra.0. */
static bool is_name(const char *name)
{
	size_t i;

	for (i = 0; name[i]; i++)
		if (!isascii(name[i]) || (!isalnum(name[i]) && name[i] != '_' && name[i] != '.'))
			return false;
	return i >= 1 && i <= MAX_NAME;
}

static const char *parse_place(char *text, enum btsrec_reason reason,
			       struct btsrec_trigger_set *set)
{
	struct btsrec_trigger *trigger = &set->triggers[set->nr];
	const char *name = strsep(&text, ":");

	if (set->nr == BTSREC_MAX_TRIGGERS)
		return "there can be eight tracepoints and functions";
	if (!is_name(name))
		return "the name of a tracepoint or function has 1 to 59 letters, digits, dots and underscores";
	trigger->reason = reason;
	strscpy(trigger->name, name, sizeof(trigger->name));
	trigger->condition = always;
	set->nr++;
	set->reasons |= BIT(reason);
	if (!text)
		return NULL;
	if (reason != BTSREC_REASON_FUNCTION)
		return "only a function can have a condition";
	return parse_condition(text, &trigger->condition);
}

static const char *parse_word(char *word, struct btsrec_trigger_set *set)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (!strcmp(word, words[i].word)) {
			set->reasons |= BIT(words[i].reason);
			return NULL;
		}
	}
	if (!strncmp(word, "tracepoint:", 11))
		return parse_place(word + 11, BTSREC_REASON_TRACEPOINT, set);
	if (!strncmp(word, "function:", 9))
		return parse_place(word + 9, BTSREC_REASON_FUNCTION, set);
	return "the words are warn, soft_lockup, hung_task, rcu_stall, oops, request, tracepoint:NAME and function:NAME";
}

/**
 * btsrec_trigger_list_parse() - what a list of freeze_on= names
 * @list: the list; empty or "none": nothing
 * @ret: a set with no hook registered; its hooks stay, the rest is written also on failure
 *
 * Return: NULL; or why not, as the end of a sentence; static.
 */
const char *btsrec_trigger_list_parse(const char *list, struct btsrec_trigger_set *ret)
{
	char copy[BTSREC_MAX_LIST_BYTES], *rest = copy, *word;
	const char *why = NULL;

	ret->reasons = 0;
	ret->nr = 0;
	if (!strcmp(list, "none"))
		list = "";
	if (strlen(list) >= sizeof(copy))
		return "the list has more than 255 characters";
	strscpy(copy, list, sizeof(copy));
	strscpy(ret->text, list, sizeof(ret->text));
	while (*copy && !why && (word = strsep(&rest, ",")))
		why = parse_word(word, ret);
	return why;
}
