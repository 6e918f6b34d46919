// SPDX-License-Identifier: GPL-2.0-or-later
/* The texts of a filter, as a user gives them.  btsrec-show(1) documents the forms. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/filter.h"

#define NS_PER_S	1000000000ULL
#define NS_DIGITS	9

/* --- Lists -------------------------------------------------------------- */

/* One element of a list, for messages and parsers. */
struct element {
	char text[64];
};

/* The next element of the list at *@at, which moves on; false: there is none, or no room. */
static bool next_element(const char **at, struct element *ret)
{
	size_t nr_bytes = strcspn(*at, ",");

	if (!nr_bytes || nr_bytes >= sizeof(ret->text))
		return false;
	memcpy(ret->text, *at, nr_bytes);
	ret->text[nr_bytes] = '\0';
	*at += nr_bytes;
	if (**at == ',' && !*++*at)
		return false;
	return true;
}

/* A number that is nothing but digits up to @end_char, where *@ret_end points. */
static bool take_number(const char *text, int base, char end_char, const char **ret_end,
			uint64_t *ret)
{
	unsigned long long value;
	char *end;

	if (!strchr(base == 16 ? "0123456789abcdefABCDEF" : "0123456789", *text) || !*text)
		return false;
	errno = 0;
	value = strtoull(text, &end, base);
	if (errno || *end != end_char)
		return false;
	*ret_end = end;
	*ret = value;
	return true;
}

/*
 * These return how many elements the list has, 0: not understood.  What is beyond the room
 * of @ret is counted, so that it is refused for that, and not as what nobody understands.
 */
static size_t parse_ids(const char *list, struct filter_ids *ret)
{
	struct element element;
	const char *end;
	size_t nr = 0;
	uint64_t id;

	for (; *list; nr++) {
		if (!next_element(&list, &element) ||
		    !take_number(element.text, 10, '\0', &end, &id) || id > UINT32_MAX)
			return 0;
		if (nr < FILTER_MAX_IDS)
			ret->id[ret->nr++] = (uint32_t)id;
	}
	return nr;
}

static bool parse_range(const char *text, struct filter_range *ret)
{
	return take_number(text, 16, '-', &text, &ret->first) &&
	       take_number(text + 1, 16, '\0', &text, &ret->last) && ret->first <= ret->last;
}

static size_t parse_ranges(const char *list, struct filter *filter)
{
	struct filter_range range;
	struct element element;
	size_t nr = 0;

	for (; *list; nr++) {
		if (!next_element(&list, &element) || !parse_range(element.text, &range))
			return 0;
		if (nr < FILTER_MAX_RANGES)
			filter->ranges[filter->nr_ranges++] = range;
	}
	return nr;
}

/* The kind called @word; more than BRANCH_THUNK: none. */
static unsigned int find_type(const char *word)
{
	unsigned int type = 0;

	while (type <= BRANCH_THUNK && strcmp(word, branch_type_str(type)))
		type++;
	return type;
}

/* Return: whether all are understood; else @ret_word is the first one that is not. */
static bool parse_types(const char *list, uint32_t *ret, const char **ret_word)
{
	struct element element;

	*ret_word = list;
	while (*list) {
		unsigned int type;

		*ret_word = list;
		if (!next_element(&list, &element)) {
			/* Behind the last comma there is none. */
			*ret_word = *list ? *ret_word : list;
			return false;
		}
		type = find_type(element.text);
		if (type > BRANCH_THUNK)
			return false;
		*ret |= 1U << type;
	}
	return *ret;
}

/* --- Time --------------------------------------------------------------- */

/* Seconds with at most nine decimal places. */
static bool parse_seconds(const char *text, uint64_t *ret_ns)
{
	uint64_t seconds, fraction = 0;
	const char *point = text + strspn(text, "0123456789"), *end;
	size_t nr_digits = 0;

	if (!take_number(text, 10, *point, &end, &seconds) || seconds >= UINT64_MAX / NS_PER_S)
		return false;
	if (*point == '.') {
		nr_digits = strlen(point + 1);
		if (!nr_digits || nr_digits > NS_DIGITS ||
		    !take_number(point + 1, 10, '\0', &end, &fraction))
			return false;
	} else if (*point) {
		return false;
	}
	for (; nr_digits && nr_digits < NS_DIGITS; nr_digits++)
		fraction *= 10;
	*ret_ns = seconds * NS_PER_S + fraction;
	return true;
}

static enum btsrec_status parse_time(const char *text, const struct clock *clock, struct msg *msg,
				     struct filter_edge *ret)
{
	bool before_end = *text == '-';
	uint64_t ns;

	if (!parse_seconds(text + before_end, &ns))
		return msg_set(msg, BTSREC_ERR_INVAL,
			       "'%s' is no time: n:EVENT, tsc:CYCLES, SECONDS since boot or "
			       "-SECONDS before the freeze", text);
	if (!clock->tsc_khz)
		return msg_set(msg, BTSREC_ERR_INVAL,
			       "the dump does not have the rate of the TSC: give tsc:CYCLES");
	if (before_end && !clock->has_end)
		return msg_set(msg, BTSREC_ERR_INVAL,
			       "the recorder was not frozen: there is nothing to count back from");
	ret->kind = FILTER_TSC;
	ret->value = before_end ? clock_before_end(clock, ns) : clock_at_boottime(clock, ns);
	return BTSREC_OK;
}

static enum btsrec_status parse_edge(const char *text, const struct clock *clock, struct msg *msg,
				     struct filter_edge *ret)
{
	const char *end;

	if (!text)
		return BTSREC_OK;
	if (!strncmp(text, "n:", 2) && take_number(text + 2, 10, '\0', &end, &ret->value)) {
		ret->kind = FILTER_N;
		return BTSREC_OK;
	}
	if (!strncmp(text, "tsc:", 4) && take_number(text + 4, 10, '\0', &end, &ret->value)) {
		ret->kind = FILTER_TSC;
		return BTSREC_OK;
	}
	return parse_time(text, clock, msg, ret);
}

static enum btsrec_status parse_edges(const struct btsrec_filter *opts, const struct clock *clock,
				      struct msg *msg, struct filter *ret)
{
	enum btsrec_status status = parse_edge(opts->from, clock, msg, &ret->from);

	if (!status)
		status = parse_edge(opts->to, clock, msg, &ret->to);
	if (!status && ret->from.kind && ret->from.kind == ret->to.kind &&
	    ret->from.value > ret->to.value)
		return msg_set(msg, BTSREC_ERR_INVAL, "from '%s' to '%s' is no time: it ends before "
			       "it begins", opts->from, opts->to);
	return status;
}

/* --- All of it ---------------------------------------------------------- */

/* Of a long list the beginning. */
static enum btsrec_status refuse(struct msg *msg, const char *text, const char *what)
{
	return msg_set(msg, BTSREC_ERR_INVAL, "'%.80s%s' is no list of %s", text,
		       strlen(text) > 80 ? "..." : "", what);
}

/* Of a list of @nr elements, 0: not understood. */
static enum btsrec_status judge_list(struct msg *msg, const char *text, const char *what,
				     size_t nr, size_t max)
{
	if (!nr)
		return refuse(msg, text, what);
	if (nr > max)
		return msg_set(msg, BTSREC_ERR_INVAL, "a list of %s has at most %zu, not %zu", what,
			       max, nr);
	return BTSREC_OK;
}

int filter_compare_ids(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static enum btsrec_status take_ids(struct msg *msg, const char *text, const char *what,
				   struct filter_ids *ret)
{
	enum btsrec_status status;

	if (!text)
		return BTSREC_OK;
	status = judge_list(msg, text, what, parse_ids(text, ret), FILTER_MAX_IDS);
	qsort(ret->id, ret->nr, sizeof(ret->id[0]), filter_compare_ids);
	return status;
}

/* The ']' of a class of characters such as [:alpha:], or @end. */
static const char *class_end(const char *at, const char *end)
{
	for (at += 3; at < end; at++)
		if (at[-1] == ':' && at[0] == ']')
			return at;
	return end;
}

/* Behind the set of characters at @at, which begins with '['; NULL: it has no end. */
static const char *skip_set(const char *at, const char *end)
{
	at += at + 1 < end && (at[1] == '!' || at[1] == '^') ? 2 : 1;
	/* A ']' in front is one of the characters. */
	for (const char *first = at; at < end; at++) {
		if (*at == ']' && at > first)
			return at + 1;
		if (*at == '\\')
			at++;
		else if (at + 1 < end && at[0] == '[' && at[1] == ':')
			at = class_end(at, end);
	}
	return NULL;
}

/* What is wrong with a pattern, which fnmatch(3) would take for plain characters; NULL: nothing. */
static const char *pattern_fault(const char *at, const char *end)
{
	while (at < end) {
		if (*at == '\\' && at + 1 == end)
			return "nothing follows the '\\'";
		if (*at == '[') {
			at = skip_set(at, end);
			if (!at)
				return "'[' has no ']'; the character itself is '\\['";
			continue;
		}
		at += *at == '\\' ? 2 : 1;
	}
	return NULL;
}

static enum btsrec_status check_pattern(struct msg *msg, const char *pattern, size_t nr_bytes)
{
	const char *fault = pattern_fault(pattern, pattern + nr_bytes);

	if (nr_bytes > FILTER_MAX_PATTERN_BYTES)
		return msg_set(msg, BTSREC_ERR_INVAL, "the name '%.80s...' has more than %d bytes",
			       pattern, FILTER_MAX_PATTERN_BYTES);
	if (fault)
		return msg_set(msg, BTSREC_ERR_INVAL, "'%.*s' is no pattern: %s", (int)nr_bytes,
			       pattern, fault);
	return BTSREC_OK;
}

/* @what: what the patterns of @list are for. */
static enum btsrec_status check_patterns(struct msg *msg, const char *list, const char *what)
{
	enum btsrec_status status = BTSREC_OK;
	const char *at = list;
	size_t nr_bytes;

	do {
		nr_bytes = strcspn(at, ",");
		if (!nr_bytes)
			return msg_set(msg, BTSREC_ERR_INVAL, "'%.80s' is no list of %s: "
				       "one is empty", list, what);
		status = check_pattern(msg, at, nr_bytes);
		at += nr_bytes;
	} while (!status && *at++);
	return status;
}

/* All words that there are are in the message. */
static enum btsrec_status take_types(struct msg *msg, const char *list, uint32_t *ret)
{
	char words[160];
	const char *word;
	size_t at = 0;

	if (parse_types(list, ret, &word))
		return BTSREC_OK;
	for (unsigned int type = 0; type <= BRANCH_THUNK && at < sizeof(words); type++)
		at += (size_t)snprintf(words + at, sizeof(words) - at, "%s%s",
				       !type		       ? "" :
				       type < BRANCH_THUNK ? ", " :
							     " and ",
				       branch_type_str(type));
	return msg_set(msg, BTSREC_ERR_INVAL, "'%.*s' is no kind of branch: there are %s",
		       (int)(strcspn(word, ",") < 80 ? strcspn(word, ",") : 80), word, words);
}

static enum btsrec_status parse_lists(const struct btsrec_filter *opts, struct msg *msg,
				      struct filter *ret)
{
	enum btsrec_status status = take_ids(msg, opts->pids, "thread numbers", &ret->pids);

	if (!status)
		status = take_ids(msg, opts->tgids, "process numbers", &ret->tgids);
	if (!status && opts->comm)
		status = check_pattern(msg, opts->comm, strlen(opts->comm));
	if (!status && opts->symbols)
		status = check_patterns(msg, opts->symbols, "functions");
	if (!status && opts->modules)
		status = check_patterns(msg, opts->modules, "modules");
	if (!status && opts->ranges)
		status = judge_list(msg, opts->ranges, "addresses FIRST-LAST",
				    parse_ranges(opts->ranges, ret), FILTER_MAX_RANGES);
	if (!status && opts->types)
		status = take_types(msg, opts->types, &ret->types);
	return status;
}

bool filter_asks_branches(const struct btsrec_filter *opts)
{
	return opts->symbols || opts->modules || opts->ranges || opts->types;
}

void filter_without_branches(struct btsrec_filter *opts)
{
	opts->symbols = opts->modules = opts->ranges = opts->types = NULL;
}

enum btsrec_status filter_init(const struct btsrec_filter *opts, const struct clock *clock,
			       struct msg *msg, struct filter *ret)
{
	struct filter filter = { 0 };
	enum btsrec_status status = BTSREC_OK;

	if (opts) {
		filter.comm = opts->comm;
		filter.symbols = opts->symbols;
		filter.modules = opts->modules;
		filter.user = opts->user;
		filter.kernel = opts->kernel;
		status = parse_lists(opts, msg, &filter);
		if (!status)
			status = parse_edges(opts, clock, msg, &filter);
	}
	if (status)
		return status;
	filter.by_branch = opts && filter_asks_branches(opts);
	filter.any = filter.by_branch || filter.pids.nr || filter.tgids.nr || filter.comm ||
		     filter.user != filter.kernel || filter.from.kind || filter.to.kind;
	*ret = filter;
	return BTSREC_OK;
}
