// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One damaged dump in all ways to its bytes: as it is, flattened, and as the small file that is
 * made of it.  All give the same events, losses and status.  The pages of the input become the
 * dump; behind them are its format, a byte, and the damages.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../decoder/src/recorder/session.h"
#include "../../decoder/src/source/kdump.h"
#include "fuzz_dump.h"
#include "fuzz_file.h"
#include "fuzz_heard.h"

/** struct damage - @at: which byte, modulo those that there are; @kind: DAMAGE_* */
struct damage {
	uint32_t at;
	uint8_t kind;
	uint8_t value;
	uint8_t pad[2];
};

enum { DAMAGE_BYTE, DAMAGE_WORD, DAMAGE_HOLE, DAMAGE_CUT, NR_DAMAGES };

/* What only libkdumpfile could read: not with what is damaged. */
enum btsrec_status kdump_source_open(int fd, const struct dump_probe *file, struct msg *msg,
				     struct kdump_source **ret)
{
	(void)fd;
	(void)file;
	(void)ret;
	return msg_set(msg, BTSREC_ERR_NOT_DUMP, "not for our own readers");
}

void kdump_source_free(struct kdump_source *source)
{
	(void)source;
}

enum btsrec_status kdump_source_read_pa(struct kdump_source *source, uint64_t pa, void *buf,
					size_t len_bytes, size_t *ret_bytes)
{
	(void)source;
	(void)pa;
	(void)buf;
	(void)len_bytes;
	(void)ret_bytes;
	abort();
}

const char *kdump_source_vmcoreinfo(const struct kdump_source *source)
{
	(void)source;
	abort();
}

uint64_t kdump_source_max_pa(struct kdump_source *source)
{
	(void)source;
	abort();
}

enum btsrec_status btsrec_open_live(struct btsrec *rec)
{
	(void)rec;
	abort();
}

static void apply(struct fuzz_dump *dump, const struct damage *damage)
{
	static const uint64_t words[] = { 0, 1, UINT64_MAX, 1ULL << 63, 4096, 1ULL << 40, 0x18 };
	size_t at = damage->at % dump->nr_bytes;

	switch (damage->kind % NR_DAMAGES) {
	case DAMAGE_BYTE:
		dump->bytes[at] ^= damage->value;
		break;
	case DAMAGE_WORD:
		at &= ~(size_t)7;
		if (at + sizeof(*words) <= dump->nr_bytes)
			memcpy(dump->bytes + at, words + damage->value % 7, sizeof(*words));
		break;
	case DAMAGE_HOLE:
		at &= ~(size_t)511;
		memset(dump->bytes + at, 0, dump->nr_bytes - at < 512 ? dump->nr_bytes - at : 512);
		break;
	case DAMAGE_CUT:
		dump->nr_bytes = at + 1;
		break;
	}
}

/* Lines of btsrec_info() about losses; the others name the file's kind. */
static void hear_losses(const struct fuzz_heard *info, struct fuzz_heard *heard)
{
	const struct btsrec_sink sink = fuzz_heard_sink(heard);
	const char *at = info->text, *end = at + info->nr_bytes;

	while (at < end) {
		const char *eol = memchr(at, '\n', (size_t)(end - at));
		const char *next = eol ? eol + 1 : end;

		if (next - at > 4 && !memcmp(at, "loss", 4))
			sink.write(sink.arg, at, (size_t)(next - at));
		at = next;
	}
}

static void look(struct btsrec *rec, struct fuzz_heard *heard)
{
	static struct fuzz_heard info_heard;
	const struct btsrec_sink sink = fuzz_heard_sink(heard);
	const struct btsrec_sink info_sink = fuzz_heard_sink(&info_heard);
	struct btsrec_show show = { .size = sizeof(show), .format = BTSREC_FORMAT_JSONL };
	struct btsrec_info info = { .size = sizeof(info) };

	fuzz_heard_number(heard, "show", btsrec_show(rec, &show, &sink));
	info_heard.nr_bytes = 0;
	fuzz_heard_number(heard, "info", btsrec_info(rec, &info, &info_sink));
	hear_losses(&info_heard, heard);
}

/* Leaves the session for the small file; NULL: there is no recorder in it. */
static struct btsrec *hear(const struct fuzz_named *file, struct fuzz_heard *heard)
{
	struct btsrec *rec = btsrec_new();
	enum btsrec_status status;

	heard->nr_bytes = 0;
	status = btsrec_open_dump(rec, file->path);
	fuzz_heard_number(heard, "open", status);
	if (!status) {
		status = btsrec_locate(rec, 0, BTSREC_SCAN_ALL);
		fuzz_heard_number(heard, "locate", status);
	}
	if (!status) {
		look(rec, heard);
		return rec;
	}
	btsrec_free(rec);
	return NULL;
}

static bool keep(void *arg, const char *text, size_t nr_bytes)
{
	fuzz_dump_add(arg, text, nr_bytes);
	return true;
}

static void compare(const struct fuzz_dump *other, const struct fuzz_heard *first, const char *name)
{
	static struct fuzz_named file;
	static struct fuzz_heard heard;

	if (!fuzz_named(&file, other->bytes, other->nr_bytes))
		abort();
	btsrec_free(hear(&file, &heard));
	fuzz_heard_same(first, "the dump", &heard, name);
}

static void compare_all(const struct fuzz_dump *dump)
{
	static struct fuzz_dump other;
	static struct fuzz_named file;
	static struct fuzz_heard heard;
	const struct btsrec_sink sink = { .write = keep, .arg = &other };
	struct btsrec *rec;

	if (!fuzz_named(&file, dump->bytes, dump->nr_bytes))
		abort();
	rec = hear(&file, &heard);
	fuzz_dump_flatten(&other, dump);
	compare(&other, &heard, "flattened");
	other.nr_bytes = 0;
	if (rec && !btsrec_extract(rec, NULL, &sink))
		compare(&other, &heard, "the small file");
	btsrec_free(rec);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	static struct fuzz_dump dump;
	size_t at = fuzz_text_at(nr_bytes);
	struct fuzz_memory memory = { bytes, at };
	struct damage damage;

	fuzz_dump_make(&dump, &memory, at < nr_bytes ? bytes[at] % FUZZ_NR_FORMATS : FUZZ_ELF);
	for (at++; at + sizeof(damage) <= nr_bytes; at += sizeof(damage)) {
		memcpy(&damage, bytes + at, sizeof(damage));
		apply(&dump, &damage);
	}
	compare_all(&dump);
	return 0;
}
