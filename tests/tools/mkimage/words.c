// SPDX-License-Identifier: GPL-2.0-or-later
/* Statements: a line taken apart, and what its words stand for. */
#include "mkimage.h"

#include <stdlib.h>
#include <string.h>

int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	die("bad \\x escape");
}

/* Undo the quotes of one word in place; returns where the line goes on. */
static char *take_word(char *at, struct word *ret)
{
	bool quoted = false;
	char *to = at;

	memset(ret, 0, sizeof(*ret));
	ret->text = at;
	for (; *at && (quoted || (*at != ' ' && *at != '\t')); at++) {
		if (*at == '"') {
			quoted = !quoted;
		} else if (*at == '\\' && at[1] == 'x') {
			*to++ = (char)(hex_digit(at[2]) << 4 | hex_digit(at[3]));
			at += 3;
		} else if (*at == '\\') {
			*to++ = *++at;
		} else if (*at == '=' && !ret->value) {
			*to++ = '\0';
			ret->value = to;
		} else {
			*to++ = *at;
		}
	}
	if (quoted)
		die("no closing quote");
	if (ret->value)
		ret->value_bytes = (size_t)(to - ret->value);
	if (*at)
		at++;
	*to = '\0';
	return at;
}

void take_statement(char *line, struct statement *ret)
{
	ret->nr_words = 0;
	while (*line) {
		if (*line == ' ' || *line == '\t') {
			line++;
			continue;
		}
		if (ret->nr_words == MAX_WORDS)
			die("too many words");
		line = take_word(line, &ret->words[ret->nr_words++]);
	}
}

static const char *const reason_names[] = {
	"none", "panic", "oops", "hard-lockup", "soft-lockup", "hung-task", "mce", "nmi",
	"manual", "crash-shutdown", "reboot", "cpu-offline", "disarm", "foreign", "suspend",
	"snapshot", "rcu-stall", "console", "warn", "tracepoint", "function", "request", "left-out",
	"not-chosen", "max-rate", "max-rate-user", "lbr",
};

static const char *const state_names[] = { "never", "armed", "stopped", "frozen" };

/* A number, or one of the words that stand for one. */
uint64_t number_of(const char *text)
{
	unsigned long long value;
	char *end;
	size_t i;

	for (i = 0; i < sizeof(reason_names) / sizeof(reason_names[0]); i++)
		if (!strcmp(text, reason_names[i]))
			return i;
	for (i = 0; i < sizeof(state_names) / sizeof(state_names[0]); i++)
		if (!strcmp(text, state_names[i]))
			return i;
	value = strtoull(text, &end, 0);
	if (!*text || *end)
		die("'%s' is no number", text);
	return value;
}

uint64_t word_number(const struct statement *statement, size_t i)
{
	if (i >= statement->nr_words)
		die("%s: a number is missing", statement->words[0].text);
	return number_of(statement->words[i].text);
}

struct word *word_of(struct statement *statement, const char *key)
{
	size_t i;

	for (i = 1; i < statement->nr_words; i++)
		if (statement->words[i].value && !strcmp(statement->words[i].text, key))
			return &statement->words[i];
	return NULL;
}

uint64_t value_of(struct statement *statement, const char *key, uint64_t otherwise)
{
	struct word *word = word_of(statement, key);

	return word ? number_of(word->value) : otherwise;
}

void text_of(struct statement *statement, const char *key, char *ret, size_t max_bytes)
{
	struct word *word = word_of(statement, key);

	if (!word)
		return;
	if (word->value_bytes > max_bytes)
		die("%s: too long", key);
	memcpy(ret, word->value, word->value_bytes);
}
