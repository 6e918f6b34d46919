// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Command lines of btsrec: what follows the last whole page of the input is one, and the pages are
 * the dump.  The exit status is one that btsrec(1) lists; what is refused is refused with a
 * message, before anything is printed, and the same way again.  Commands that write files, serve
 * gdb or ask the machine are only parsed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../decoder/commands/commands.c"
#include "fuzz_image.h"

#define MAX_WORDS	32

/** struct said - what one command line came to */
struct said {
	enum command_exit status;
	size_t nr_printed;
	size_t nr_messages;
};

static struct said said;
static struct fuzz_memory dump;

static bool print(void *arg, const char *text, size_t nr_bytes)
{
	(void)arg;
	said.nr_printed += nr_bytes;
	return fuzz_text.write(fuzz_text.arg, text, nr_bytes);
}

const struct btsrec_sink front_sink = { .write = print };

const struct command_front front = {
	.name = "btsrec",
	.help_form = "btsrec %s --help",
	.has_dump = true,
	.other_commands = (const char *const[]){ "help", "version", NULL },
};

void front_message(enum front_message kind, const char *text)
{
	(void)kind;
	(void)text;
	said.nr_messages++;
}

enum command_exit front_output_failed(void)
{
	abort();
}

#define ONLY_PARSED(name) \
	enum command_exit name(struct btsrec *rec, const struct command_options *options) \
	{ \
		(void)rec; \
		(void)options; \
		return COMMAND_OK; \
	}

ONLY_PARSED(command_diff)
ONLY_PARSED(command_export)
ONLY_PARSED(command_gdbserver)
ONLY_PARSED(command_report)
ONLY_PARSED(command_extract)
ONLY_PARSED(command_doctor)
ONLY_PARSED(command_bench)
ONLY_PARSED(command_verify)

/* As main.c does, of an image instead of a file. */
static enum command_exit run(const struct command *command, const struct command_options *options)
{
	struct btsrec_image image = fuzz_plain_image(&dump);
	struct btsrec *rec = btsrec_new();
	enum command_exit exit = COMMAND_OK;
	enum btsrec_status status;

	image.read_pages = fuzz_read_pages;
	btsrec_set_threads(rec, options->nr_threads);
	status = btsrec_open_image(rec, &image);
	if (!status)
		status = btsrec_locate(rec, options->root_pa, options->scan);
	exit = status ? command_failed(rec, status) : command_set_names(rec, options);
	if (!exit)
		exit = command->run(rec, options);
	btsrec_free(rec);
	return exit;
}

static void overview(void)
{
	command_list();
}

static enum command_exit dispatch(int nr_words, char **words)
{
	const struct command *command = command_find(words[0]);
	struct command_options options;
	enum command_exit exit;
	bool done = false;

	if (!strcmp(words[0], "help"))
		return command_help_main(nr_words, words, overview);
	if (!command)
		return command_unknown(words[0], "");
	exit = command_parse(command, nr_words, words, &options, &done);
	if (exit && (exit != COMMAND_USAGE || said.nr_printed))
		abort();
	if (!exit && !done && !options.live && !command->of_machine)
		exit = run(command, &options);
	command_options_fini(&options);
	return exit;
}

/* The words are the user's, who is no enemy of the terminal. */
static struct said answer(const uint8_t *bytes, size_t nr_bytes)
{
	char *words[MAX_WORDS + 1] = { NULL }, text[512], *rest = text, *word;
	int nr_words = 0;

	if (nr_bytes >= sizeof(text))
		nr_bytes = sizeof(text) - 1;
	for (size_t i = 0; i < nr_bytes; i++)
		text[i] = bytes[i] < ' ' || bytes[i] > '~' ? '?' : (char)bytes[i];
	text[nr_bytes] = '\0';
	while (nr_words < MAX_WORDS && (word = strsep(&rest, " ")))
		if (*word || nr_words)
			words[nr_words++] = word;
	memset(&said, 0, sizeof(said));
	if (nr_words)
		said.status = dispatch(nr_words, words);
	return said;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	size_t at = fuzz_text_at(nr_bytes);
	struct said first, second;

	unsetenv("DEBUGINFOD_URLS");
	dump = (struct fuzz_memory){ bytes, at };
	first = answer(bytes + at, nr_bytes - at);
	/* 1 is what a view found; each other one has a reason. */
	if (first.status > COMMAND_SYSTEM || (first.status > COMMAND_FAULTS && !first.nr_messages))
		abort();
	second = answer(bytes + at, nr_bytes - at);
	if (first.status != second.status || first.nr_printed != second.nr_printed ||
	    first.nr_messages != second.nr_messages)
		abort();
	return 0;
}
