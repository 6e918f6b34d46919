// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events other than branches: what each kind says as text and as members of its JSON object.
 * A new kind of annotation needs its two functions and its line in the table at the end.
 */
#include "render/json.h"
#include "render/render.h"

static void text_cr3(struct out *out, uint64_t cr3)
{
	out_literal(out, " cr3=");
	out_hex16(out, cr3);
}

static void text_side(struct out *out, const struct btsrec_side *side)
{
	out_thread(out, side->pid, side->tgid, side->comm);
	text_cr3(out, side->cr3);
}

static void json_side(struct out *out, const struct btsrec_side *side)
{
	out_literal(out, "{\"cr3\":\"");
	out_hex16(out, side->cr3);
	out_char(out, '"');
	json_thread(out, side->pid, side->tgid, side->comm);
	out_char(out, '}');
}

static void text_reason(struct out *out, uint32_t reason)
{
	out_literal(out, "reason=");
	out_quoted(out, btsrec_reason_str(reason), 64);
}

static void json_reason(struct out *out, uint32_t reason)
{
	json_text(out, "reason", btsrec_reason_str(reason), 64);
}

static void text_task(struct out *out, const struct btsrec_switch *sw)
{
	text_side(out, &sw->prev);
	out_literal(out, " -> ");
	text_side(out, &sw->next);
}

static void text_mm(struct out *out, const struct btsrec_switch *sw)
{
	out_literal(out, "mm ");
	text_side(out, &sw->prev);
	out_literal(out, " ->");
	text_cr3(out, sw->next.cr3);
}

static void text_switch(struct renderer *r, const struct btsrec_event *event)
{
	if (event->mm_only) {
		text_mm(&r->out, &event->sw);
	} else {
		out_literal(&r->out, "task ");
		text_task(&r->out, &event->sw);
	}
}

static void text_exec(struct renderer *r, const struct btsrec_event *event)
{
	text_task(&r->out, &event->sw);
}

static void json_sides(struct out *out, const struct btsrec_switch *sw)
{
	json_key(out, "prev");
	json_side(out, &sw->prev);
	json_key(out, "next");
	json_side(out, &sw->next);
	json_address(out, "task", sw->next_task_kva);
}

static void json_switch(struct renderer *r, const struct btsrec_event *event)
{
	json_word(&r->out, "what", event->mm_only ? "mm" : "task");
	json_sides(&r->out, &event->sw);
}

static void json_exec(struct renderer *r, const struct btsrec_event *event)
{
	json_sides(&r->out, &event->sw);
}

static void text_resume(struct out *out, const struct btsrec_resume *resume)
{
	if (resume->reason) {
		text_reason(out, resume->reason);
		out_char(out, ' ');
	}
	if (resume->stop_tsc) {
		out_literal(out, "stop_tsc=");
		out_dec(out, resume->stop_tsc, 0);
		out_char(out, ' ');
	}
	text_side(out, &resume->now);
}

static void json_resume(struct out *out, const struct btsrec_resume *resume)
{
	json_reason(out, resume->reason);
	json_number(out, "stop_tsc", resume->stop_tsc);
	json_key(out, "now");
	json_side(out, &resume->now);
	json_address(out, "task", resume->task_kva);
}

static void text_arm(struct renderer *r, const struct btsrec_event *event)
{
	text_resume(&r->out, &event->resume);
}

static void json_arm(struct renderer *r, const struct btsrec_event *event)
{
	json_resume(&r->out, &event->resume);
}

static void text_mark(struct renderer *r, const struct btsrec_event *event)
{
	const struct btsrec_mark *mark = &event->mark;
	struct out *out = &r->out;

	out_dec(out, mark->pid, 0);
	out_char(out, '/');
	out_dec(out, mark->tgid, 0);
	out_char(out, ' ');
	out_quoted(out, mark->text, sizeof(mark->text));
}

static void json_mark(struct renderer *r, const struct btsrec_event *event)
{
	const struct btsrec_mark *mark = &event->mark;
	struct out *out = &r->out;

	json_number(out, "pid", mark->pid);
	json_number(out, "tgid", mark->tgid);
	json_text(out, "text", mark->text, sizeof(mark->text));
}

static void text_clock(struct out *out, uint64_t ns)
{
	uint64_t rest = ns % 1000000000, digit = 100000000;

	out_dec(out, ns / 1000000000, 0);
	out_char(out, '.');
	for (; digit; digit /= 10)
		out_char(out, (char)('0' + rest / digit % 10));
}

static void text_time(struct renderer *r, const struct btsrec_event *event)
{
	const struct btsrec_time *time = &event->time;
	struct out *out = &r->out;

	out_literal(out, "realtime=");
	text_clock(out, time->realtime_ns);
	out_literal(out, " boottime=");
	text_clock(out, time->boottime_ns);
}

static void json_time(struct renderer *r, const struct btsrec_event *event)
{
	const struct btsrec_time *time = &event->time;
	struct out *out = &r->out;

	json_number(out, "realtime_ns", time->realtime_ns);
	json_number(out, "boottime_ns", time->boottime_ns);
}

static void text_register(struct out *out, const char *name, uint64_t value)
{
	out_char(out, ' ');
	out_str(out, name);
	out_char(out, '=');
	out_hex16(out, value);
}

static void text_freeze(struct renderer *r, const struct btsrec_event *event)
{
	const struct btsrec_freeze *freeze = &event->freeze;
	struct out *out = &r->out;

	text_reason(out, freeze->reason);
	out_str(out, freeze->via_nmi ? " by=nmi " : " by=self ");
	out_thread(out, freeze->pid, freeze->tgid, freeze->comm);
	text_cr3(out, freeze->cr3);
	text_register(out, "ip", freeze->ip);
	text_register(out, "sp", freeze->sp);
	text_register(out, "bp", freeze->bp);
	text_register(out, "cs", freeze->cs);
	text_register(out, "rflags", freeze->rflags);
	text_register(out, "stop_ip", freeze->stop_ip);
	if (freeze->pause_reason) {
		out_str(out, " paused=\"");
		out_str(out, btsrec_reason_str(freeze->pause_reason));
		out_str(out, "\" since_tsc=");
		out_dec(out, freeze->pause_tsc, 0);
	}
	out_name_of(out, r, freeze->ip);
}

static void json_registers(struct out *out, const struct btsrec_freeze *freeze)
{
	json_address(out, "ip", freeze->ip);
	json_address(out, "sp", freeze->sp);
	json_address(out, "bp", freeze->bp);
	json_address(out, "cs", freeze->cs);
	json_address(out, "rflags", freeze->rflags);
	json_address(out, "cr3", freeze->cr3);
	json_address(out, "stop_ip", freeze->stop_ip);
	json_address(out, "debugctl", freeze->debugctl);
}

void json_pause(struct out *out, const struct btsrec_freeze *freeze)
{
	if (!freeze->pause_reason)
		return;
	json_text(out, "paused", btsrec_reason_str(freeze->pause_reason), 64);
	json_number(out, "paused_tsc", freeze->pause_tsc);
}

static void json_freeze(struct renderer *r, const struct btsrec_event *event)
{
	const struct btsrec_freeze *freeze = &event->freeze;
	struct out *out = &r->out;

	json_reason(out, freeze->reason);
	json_bool(out, "via_nmi", freeze->via_nmi);
	json_thread(out, freeze->pid, freeze->tgid, freeze->comm);
	json_address(out, "task", freeze->task_kva);
	json_registers(out, freeze);
	json_pause(out, freeze);
	json_sym(r, "ip_sym", freeze->ip);
}

static void text_gap(struct renderer *r, const struct btsrec_event *event)
{
	const struct btsrec_gap *gap = &event->gap;
	struct out *out = &r->out;

	out_str(out, btsrec_gap_str(gap->kind));
	if (gap->nr_slots) {
		out_literal(out, " slots=");
		out_dec(out, gap->nr_slots, 0);
		out_literal(out, " first_slot=");
		out_dec(out, gap->slot, 0);
	}
	if (gap->has_resume) {
		out_char(out, ' ');
		text_resume(out, &gap->resume);
	}
}

static void json_gap(struct renderer *r, const struct btsrec_event *event)
{
	const struct btsrec_gap *gap = &event->gap;
	struct out *out = &r->out;

	json_text(out, "gap", btsrec_gap_str(gap->kind), 64);
	if (gap->nr_slots) {
		json_number(out, "slots", gap->nr_slots);
		json_number(out, "first_slot", gap->slot);
	}
	if (gap->has_resume)
		json_resume(out, &gap->resume);
}

/** struct event_form - how a kind of event is printed */
struct event_form {
	void (*text)(struct renderer *r, const struct btsrec_event *event);
	void (*json)(struct renderer *r, const struct btsrec_event *event);
};

/* A branch has no form here: its line is composed of labels that are kept. */
static const struct event_form forms[] = {
	[BTSREC_EVENT_SWITCH] = { text_switch, json_switch },
	[BTSREC_EVENT_EXEC] = { text_exec, json_exec },
	[BTSREC_EVENT_ARM] = { text_arm, json_arm },
	[BTSREC_EVENT_MARK] = { text_mark, json_mark },
	[BTSREC_EVENT_TIME] = { text_time, json_time },
	[BTSREC_EVENT_FREEZE] = { text_freeze, json_freeze },
	[BTSREC_EVENT_GAP] = { text_gap, json_gap },
};

void render_details(struct renderer *r, const struct btsrec_event *event)
{
	forms[event->kind].text(r, event);
}

void json_details(struct renderer *r, const struct btsrec_event *event)
{
	forms[event->kind].json(r, event);
}
