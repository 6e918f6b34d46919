// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "verify.h"

#define MAX_QUESTIONS 64

static const char *const verdicts[] = {
	[VERIFY_EXPECTED] = "as expected",
	[VERIFY_DIFFERS] = "differs",
	[VERIFY_NOT_SHOWN] = "not shown",
	[VERIFY_NOT_POSSIBLE] = "not possible here",
};

static bool in_json;
static bool answered[MAX_QUESTIONS];
static unsigned int nr_of[sizeof(verdicts) / sizeof(verdicts[0])];

/* The texts are ours, but for an idle state's name: nothing but quotes needs an escape. */
static void put_member(const char *name, const char *text)
{
	printf(",\"%s\":\"", name);
	for (; *text; text++)
		printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	putchar('"');
}

static void put_line(const char *name, const char *text)
{
	printf("  %-9s %s\n", name, text);
}

static void print(const struct verify_question *asked, const struct verify_answer *answer)
{
	void (*put)(const char *name, const char *text) = in_json ? put_member : put_line;

	if (in_json)
		printf("{\"kind\":\"experiment\",\"name\":\"%s\",\"verdict\":\"%s\"", asked->name,
		       verdicts[answer->verdict]);
	else
		printf("%s: %s\n", asked->name, verdicts[answer->verdict]);
	put("question", asked->question);
	if (*asked->expected)
		put("expected", asked->expected);
	put(answer->verdict == VERIFY_NOT_POSSIBLE ? "reason" : "found", answer->found);
	if (in_json || answer->verdict == VERIFY_DIFFERS)
		put("touches", asked->touches);
	puts(in_json ? "}" : "");
	fflush(stdout);
	nr_of[answer->verdict]++;
}

void verify_answer(const char *name, enum verify_verdict verdict, const char *fmt, ...)
{
	struct verify_answer answer = {.verdict = verdict};
	const struct verify_question *asked = verify_questions;
	va_list args;

	while (asked->name && strcmp(asked->name, name))
		asked++;
	if (!asked->name)
		abort();
	va_start(args, fmt);
	vsnprintf(answer.found, sizeof(answer.found), fmt, args);
	va_end(args);
	answered[asked - verify_questions] = true;
	print(asked, &answer);
}

void verify_begin(bool json, const char *state, unsigned int cpu)
{
	in_json = json;
	bench_print_machine(json, state);
	printf(json ? ",\"version\":\"%s\",\"on_cpu\":%u" : "\nversion:     %s\non_cpu:      %u\n",
	       btsrec_version(), cpu);
	bench_print_stepping(json);
	puts(json ? "}" : "");
	fflush(stdout);
}

unsigned int verify_end(void)
{
	for (const struct verify_question *asked = verify_questions; asked->name; asked++)
		if (asked->impossible && !answered[asked - verify_questions])
			verify_answer(asked->name, VERIFY_NOT_POSSIBLE, "%s", asked->impossible);
	printf(in_json ? "{\"kind\":\"result\",\"as_expected\":%u,\"differs\":%u,\"not_shown\":%u,"
			 "\"not_possible\":%u}\n" :
			 "%u as expected, %u differ, %u not shown, %u not possible here\n",
	       nr_of[VERIFY_EXPECTED], nr_of[VERIFY_DIFFERS], nr_of[VERIFY_NOT_SHOWN],
	       nr_of[VERIFY_NOT_POSSIBLE]);
	return nr_of[VERIFY_DIFFERS];
}
