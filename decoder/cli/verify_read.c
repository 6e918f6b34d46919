// SPDX-License-Identifier: GPL-2.0-or-later
/* What the recorder has of the code with known branches. */
#include <string.h>

#include "cli.h"
#include "verify.h"

struct reading {
	const char *mark;
	struct verify_history *history;
};

static bool is_known_code(uint64_t address)
{
	return address >= (uintptr_t)verify_code_begin && address < (uintptr_t)verify_code_end;
}

static void take_gap(struct verify_history *history, const struct btsrec_gap *gap)
{
	const char *text =
		gap->has_resume ? btsrec_reason_str(gap->resume.reason) : btsrec_gap_str(gap->kind);

	history->nr_gaps++;
	history->has_foreign |= gap->has_resume && gap->resume.reason == BTSREC_REASON_FOREIGN;
	strncpy(history->reason, text, sizeof(history->reason) - 1);
}

static void begin_anew(struct verify_history *history)
{
	struct btsrec_record *records = history->records;

	*history = (struct verify_history){.records = records, .has_mark = true};
}

static bool take_event(void *arg, const struct btsrec_event *event)
{
	const struct reading *reading = arg;
	struct verify_history *history = reading->history;

	if (event->kind == BTSREC_EVENT_MARK &&
	    !strncmp(event->mark.text, reading->mark, sizeof(event->mark.text)))
		begin_anew(history);
	else if (event->kind == BTSREC_EVENT_GAP)
		take_gap(history, &event->gap);
	else if (event->kind == BTSREC_EVENT_BRANCH && history->nr < VERIFY_MAX_RECORDS &&
		 (is_known_code(event->branch.from) || is_known_code(event->branch.to)))
		history->records[history->nr++] = event->branch;
	return true;
}

static bool is_located(struct btsrec *rec)
{
	enum btsrec_status status;

	if (!rec) {
		front_error("out of memory");
		return false;
	}
	status = btsrec_open_live(rec);
	if (!status)
		status = btsrec_locate(rec, 0, BTSREC_SCAN_DMA);
	if (status)
		command_failed(rec, status);
	return !status;
}

bool verify_read(unsigned int cpu, const char *text, struct verify_history *ret)
{
	struct reading reading = {text, ret};
	struct btsrec *rec = btsrec_new();
	bool done = is_located(rec);

	begin_anew(ret);
	ret->has_mark = false;
	if (done) {
		enum btsrec_status status = btsrec_events(rec, cpu, take_event, &reading);

		done = !status;
		if (status)
			command_failed(rec, status);
	}
	btsrec_free(rec);
	return done;
}

bool verify_read_freeze(struct verify_freeze *ret)
{
	struct btsrec *rec = btsrec_new();
	uint64_t first = UINT64_MAX, last = 0;
	const struct btsrec_cpu *page;
	bool done = is_located(rec);

	*ret = (struct verify_freeze){0};
	for (unsigned int cpu = 0; done && cpu < btsrec_nr_cpu_ids(rec); cpu++) {
		page = btsrec_cpu(rec, cpu);
		ret->nr_late += page && !page->frozen && page->state == BTSREC_CPU_ARMED;
		if (!page || !page->frozen)
			continue;
		ret->nr_cpus++;
		ret->nr_by_nmi += page->freeze.via_nmi == 1;
		first = page->freeze.tsc < first ? page->freeze.tsc : first;
		last = page->freeze.tsc > last ? page->freeze.tsc : last;
	}
	if (ret->nr_cpus && btsrec_root(rec)->tsc_khz)
		ret->spread_us = (double)(last - first) * 1000 / btsrec_root(rec)->tsc_khz;
	btsrec_free(rec);
	return done;
}
