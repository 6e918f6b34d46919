// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's VMCOREINFO note: a text of key=value lines in an ELF note, which
 * every dump format carries along.  Its address is exported, its functions are
 * not.  Nothing here allocates, locks or prints: the panic path calls it.
 */
#include <linux/elf.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "btsrec.h"
#include "btsrec_compat.h"

#define NOTE_END_BYTES		sizeof(struct elf64_note)	/* an empty note ends the list */

/* Returns the text of the note, or NULL if the note is not as expected. */
static char *note_text(struct elf64_note **ret_note)
{
	struct elf64_note *note;
	u64 pa = paddr_vmcoreinfo_note();

	if (!pa || !pfn_valid(PHYS_PFN(pa)))
		return NULL;
	note = __va(pa);
	if (note->n_namesz != sizeof(VMCOREINFO_NOTE_NAME) || note->n_descsz > VMCOREINFO_BYTES ||
	    memcmp(note + 1, VMCOREINFO_NOTE_NAME, sizeof(VMCOREINFO_NOTE_NAME)))
		return NULL;
	*ret_note = note;
	return (char *)(note + 1) + VMCOREINFO_NOTE_NAME_BYTES;
}

/* Sets the length of the text, with the padding and the empty note after it. */
static void note_set_bytes(struct elf64_note *note, char *text, size_t bytes)
{
	size_t padding = ALIGN(bytes, 4) - bytes;

	memset(text + bytes, 0, padding + NOTE_END_BYTES);
	barrier();	/* a dump taken between sees a shorter text, never garbage */
	WRITE_ONCE(note->n_descsz, bytes);
}

/* Returns the line that begins with @key, or NULL. */
static char *find_line(char *text, size_t bytes, const char *key)
{
	char *line = strnstr(text, key, bytes);

	while (line && line != text && line[-1] != '\n') {
		line++;
		line = strnstr(line, key, bytes - (line - text));
	}
	return line;
}

/**
 * btsrec_vmcoreinfo_get() - a value out of the VMCOREINFO note
 * @key: up to and with the equals sign
 * @ret: where the value goes, NUL-terminated; untouched on failure
 * @ret_bytes: room there
 *
 * Return: the value's length; 0: no such line, or it does not fit.
 */
size_t btsrec_vmcoreinfo_get(const char *key, char *ret, size_t ret_bytes)
{
	struct elf64_note *note;
	char *text = note_text(&note);
	char *line, *end;

	if (!text)
		return 0;
	line = find_line(text, note->n_descsz, key);
	if (!line)
		return 0;
	line += strlen(key);
	end = memchr(line, '\n', text + note->n_descsz - line);
	if (!end || end - line >= ret_bytes)
		return 0;
	memcpy(ret, line, end - line);
	ret[end - line] = '\0';
	return end - line;
}

/**
 * btsrec_vmcoreinfo_remove_root() - take our line out of the note
 */
void btsrec_vmcoreinfo_remove_root(void)
{
	struct elf64_note *note;
	char *text = note_text(&note);
	char *line, *end, *text_end;

	if (!text)
		return;
	text_end = text + note->n_descsz;
	line = find_line(text, note->n_descsz, BTSREC_VMCOREINFO_KEY);
	end = line ? memchr(line, '\n', text_end - line) : NULL;
	if (!end)
		return;
	end++;
	memmove(line, end, text_end - end);
	note_set_bytes(note, text, note->n_descsz - (end - line));
}

/**
 * btsrec_vmcoreinfo_put_root() - say in the note where the root is
 *
 * crash_save_vmcoreinfo() rewrites the note from its own copy just before
 * machine_crash_shutdown(), so that hook calls this again.
 *
 * Return: 0; -ENOSPC: the note is full; -ENOENT: there is no such note.
 */
int btsrec_vmcoreinfo_put_root(void)
{
	char line[sizeof(BTSREC_VMCOREINFO_KEY) + 2 + 2 * sizeof(u64) + 1];
	struct elf64_note *note;
	char *text;
	size_t bytes;

	btsrec_vmcoreinfo_remove_root();
	text = note_text(&note);
	if (!text)
		return -ENOENT;
	bytes = scnprintf(line, sizeof(line), "%s0x%llx\n", BTSREC_VMCOREINFO_KEY, btsrec_root_pa);
	if (note->n_descsz + bytes > VMCOREINFO_BYTES)
		return -ENOSPC;
	memcpy(text + note->n_descsz, line, bytes);
	note_set_bytes(note, text, note->n_descsz + bytes);
	return 0;
}
