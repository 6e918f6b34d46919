// SPDX-License-Identifier: GPL-2.0-or-later
/* What is in a ring: branches and annotations. */
#include "mkimage.h"
#include "recorder/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Byte by byte, since a slot may lie in two pages. */
static void ring_write(struct cpu *cpu, uint64_t offset, const void *from, size_t nr_bytes)
{
	const uint8_t *bytes = from;

	for (; nr_bytes; nr_bytes--, offset++) {
		uint64_t pa = *ring_page_pa(cpu, offset / BTSREC_PAGE_BYTES);

		*(uint8_t *)at_pa(pa + offset % BTSREC_PAGE_BYTES) = *bytes++;
	}
}

static void slot_write(uint64_t slot, const struct btsrec_record *record)
{
	ring_write(image.cpu, slot % image.cpu->nr_slots * BTSREC_RECORD_BYTES, record,
		   sizeof(*record));
}

static void slot_append(const struct btsrec_record *record)
{
	slot_write(image.cpu->head, record);
	image.cpu->head = (image.cpu->head + 1) % image.cpu->nr_slots;
}

void do_branch(struct statement *statement)
{
	struct btsrec_record record = {
		.from = word_number(statement, 1),
		.to = word_number(statement, 2),
	};

	if (statement->nr_words > 3 && !strcmp(statement->words[3].text, "p"))
		record.flags = BTSREC_FLAG_PREDICTED;
	slot_append(&record);
}

void do_fill(struct statement *statement)
{
	uint64_t nr_records = word_number(statement, 1), i;
	struct btsrec_record record = { word_number(statement, 2), word_number(statement, 3), 0 };

	for (i = 0; i < nr_records; i++) {
		record.flags = i % 3 ? BTSREC_FLAG_PREDICTED : 0;
		slot_append(&record);
		record.from += word_number(statement, 4);
		record.to += word_number(statement, 4);
	}
}

void do_slot(struct statement *statement)
{
	struct btsrec_record record = { word_number(statement, 1), word_number(statement, 2),
					word_number(statement, 3) };

	slot_append(&record);
}

void do_records(struct statement *statement)
{
	uint64_t nr_records = word_number(statement, 3);
	FILE *from = fopen(statement->words[1].text, "rb");
	struct btsrec_record record;

	if (!from || fseeko(from, (off_t)(word_number(statement, 2) * sizeof(record)), SEEK_SET))
		die("%s: %s", statement->words[1].text, strerror(errno));
	while (nr_records--) {
		if (fread(&record, sizeof(record), 1, from) != 1)
			die("%s ends before", statement->words[1].text);
		slot_append(&record);
	}
	fclose(from);
}

/* As the decoder understands it, so that whatever is written has one meaning. */
static void set_context(unsigned int kind, const uint8_t *payload, uint64_t nr_parts)
{
	struct btsrec_event event = { 0 };

	record_annotation(kind, payload, (unsigned int)nr_parts, &event);
	/* A freeze writes that gap, and leaves the block alone. */
	if (kind == BTSREC_ANNOT_GAP && event.gap.resume.reason == BTSREC_REASON_LBR)
		return;
	if (record_context(&event, &image.cpu->page->context))
		image.cpu->page->context_seq += 2;
}

/* Parts [0, nr_there) of an annotation; only a whole one moves the head on. */
static void annotate(struct statement *statement, unsigned int kind, const void *payload,
		     size_t nr_bytes)
{
	struct btsrec_cpu *cpu = image.cpu->page;
	uint64_t nr_parts = (nr_bytes + BTSREC_PART_BYTES - 1) / BTSREC_PART_BYTES, part;
	uint64_t nr_there = value_of(statement, "pending", nr_parts);
	uint8_t bytes[BTSREC_MAX_PARTS * BTSREC_PART_BYTES] = { 0 };
	uint64_t tag = BTSREC_TAG << BTSREC_TAG_SHIFT |
		       (uint64_t)kind << BTSREC_TAG_KIND_SHIFT |
		       nr_parts << BTSREC_TAG_NR_PARTS_SHIFT | (uint32_t)cpu->annot_begin;

	memcpy(bytes, payload, nr_bytes);
	for (part = 0; part < nr_there && part < nr_parts; part++) {
		struct btsrec_record record = { .from = tag | part << BTSREC_TAG_PART_SHIFT };

		memcpy(&record.to, bytes + part * BTSREC_PART_BYTES, BTSREC_PART_BYTES);
		slot_write(image.cpu->head + part, &record);
	}
	cpu->annot_begin++;
	if (word_of(statement, "pending"))
		return;
	cpu->annot_end++;
	image.cpu->head = (image.cpu->head + nr_parts) % image.cpu->nr_slots;
	set_context(kind, bytes, nr_parts);
}

/* PID/TGID/CR3/COMM */
static void side_of(struct statement *statement, const char *key, struct btsrec_side *ret)
{
	struct word *word = word_of(statement, key);
	char *at, *end;

	if (!word)
		return;
	ret->pid = (uint32_t)strtoul(word->value, &at, 0);
	if (*at != '/')
		die("%s: PID/TGID/CR3/COMM", key);
	ret->tgid = (uint32_t)strtoul(at + 1, &at, 0);
	if (*at != '/')
		die("%s: PID/TGID/CR3/COMM", key);
	ret->cr3 = strtoull(at + 1, &at, 0);
	end = word->value + word->value_bytes;
	if (*at != '/' || end - at - 1 > BTSREC_COMM_BYTES)
		die("%s: PID/TGID/CR3/COMM", key);
	memcpy(ret->comm, at + 1, (size_t)(end - at - 1));
}

static void do_switch(struct statement *statement, unsigned int kind)
{
	struct btsrec_switch payload = {
		.tsc = value_of(statement, "tsc", 0),
		.next_task_kva = value_of(statement, "task", 0),
	};

	side_of(statement, "prev", &payload.prev);
	side_of(statement, "next", &payload.next);
	annotate(statement, kind, &payload, sizeof(payload));
}

static void do_resume(struct statement *statement, unsigned int kind)
{
	struct btsrec_resume payload = {
		.tsc = value_of(statement, "tsc", 0),
		.stop_tsc = value_of(statement, "stop_tsc", 0),
		.reason = (uint32_t)value_of(statement, "reason", 0),
		.task_kva = value_of(statement, "task", 0),
	};

	side_of(statement, "now", &payload.now);
	annotate(statement, kind, &payload, sizeof(payload));
}

static void do_mark(struct statement *statement)
{
	struct btsrec_mark payload = {
		.tsc = value_of(statement, "tsc", 0),
		.pid = (uint32_t)value_of(statement, "pid", 0),
		.tgid = (uint32_t)value_of(statement, "tgid", 0),
	};

	text_of(statement, "text", payload.text, sizeof(payload.text));
	annotate(statement, BTSREC_ANNOT_MARK, &payload, sizeof(payload));
}

static void do_time(struct statement *statement)
{
	struct btsrec_time payload = {
		.tsc = value_of(statement, "tsc", 0),
		.realtime_ns = value_of(statement, "realtime", 0),
		.boottime_ns = value_of(statement, "boottime", 0),
	};

	annotate(statement, BTSREC_ANNOT_TIME, &payload, sizeof(payload));
}

static void do_future(struct statement *statement)
{
	uint64_t payload[2 * BTSREC_MAX_PARTS] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	uint64_t nr_words = value_of(statement, "words", 2);

	if (nr_words > 2 * BTSREC_MAX_PARTS)
		die("too many words");
	annotate(statement, (unsigned int)value_of(statement, "kind", 200), payload,
		 nr_words * sizeof(payload[0]));
}

bool do_annotation(struct statement *statement)
{
	const char *name = statement->words[0].text;

	if (!strcmp(name, "switch"))
		do_switch(statement, BTSREC_ANNOT_SWITCH);
	else if (!strcmp(name, "mm"))
		do_switch(statement, BTSREC_ANNOT_MM);
	else if (!strcmp(name, "exec"))
		do_switch(statement, BTSREC_ANNOT_EXEC);
	else if (!strcmp(name, "arm"))
		do_resume(statement, BTSREC_ANNOT_ARM);
	else if (!strcmp(name, "gap"))
		do_resume(statement, BTSREC_ANNOT_GAP);
	else if (!strcmp(name, "mark"))
		do_mark(statement);
	else if (!strcmp(name, "time"))
		do_time(statement);
	else if (!strcmp(name, "future"))
		do_future(statement);
	else
		return false;
	return true;
}
