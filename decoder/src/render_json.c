// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * JSON lines: one object per event, members as docs/schema/event.schema.json
 * has them.  Addresses are strings of 18 characters, since JSON readers may hold
 * numbers as doubles; counts, ids and time stamps are numbers.
 */
#include "render.h"
#include "render_branch.h"
#include "symbol.h"
#include "trace.h"

/* @key with its comma, quotes and colon; a string constant. */
#define json_key(out, key)	out_literal(out, ",\"" key "\":")

static void json_hex(struct out *out, uint64_t value)
{
	out_char(out, '"');
	out_hex16(out, value);
	out_char(out, '"');
}

static void json_bool(struct out *out, bool value)
{
	out_str(out, value ? "true" : "false");
}

/* Escaped names hold backslashes for the text format; JSON needs them doubled. */
static void json_escaped(struct out *out, const char *text, size_t nr_bytes)
{
	size_t i;

	if (!memchr(text, '\\', nr_bytes)) {
		out_bytes(out, text, nr_bytes);
		return;
	}
	for (i = 0; i < nr_bytes; i++) {
		if (text[i] == '\\')
			out_char(out, '\\');
		out_char(out, text[i]);
	}
}

static void json_module(struct out *out, const char *module)
{
	out_char(out, '[');
	json_escaped(out, module, strlen(module));
	out_char(out, ']');
}

static void json_name(struct out *out, const struct symbol_name *name)
{
	out_char(out, '"');
	if (name->name_bytes)
		json_escaped(out, name->name, name->name_bytes);
	else
		json_module(out, name->module);
	out_char(out, '+');
	out_hex(out, name->offset_bytes);
	if (name->name_bytes && *name->module) {
		out_char(out, ' ');
		json_module(out, name->module);
	}
	out_char(out, '"');
}

static void json_type(struct renderer *r, const struct btsrec_event *event)
{
	struct branch branch = trace_type(r->types, event);

	json_branch_type(&r->out, &branch);
}

static void json_branch(struct renderer *r, const struct btsrec_event *event)
{
	const struct btsrec_record *branch = &event->branch;
	struct out *out = &r->out;
	struct symbol_name name;

	json_key(out, "from");
	json_hex(out, branch->from);
	json_key(out, "to");
	json_hex(out, branch->to);
	json_key(out, "predicted");
	json_bool(out, branch->flags & BTSREC_FLAG_PREDICTED);
	if (r->types)
		json_type(r, event);
	if (symbol_find(r->rec, branch->from, &name)) {
		json_key(out, "from_sym");
		json_name(out, &name);
	}
	if (symbol_find(r->rec, branch->to, &name)) {
		json_key(out, "to_sym");
		json_name(out, &name);
	}
}

static void json_thread(struct out *out, uint32_t pid, uint32_t tgid)
{
	json_key(out, "pid");
	out_dec(out, pid, 0);
	json_key(out, "tgid");
	out_dec(out, tgid, 0);
}

static void json_side(struct out *out, const struct btsrec_side *side)
{
	out_literal(out, "{\"cr3\":");
	json_hex(out, side->cr3);
	json_thread(out, side->pid, side->tgid);
	json_key(out, "comm");
	out_json_string(out, side->comm, sizeof(side->comm));
	out_char(out, '}');
}

static void json_switch(struct out *out, const struct btsrec_switch *sw)
{
	json_key(out, "prev");
	json_side(out, &sw->prev);
	json_key(out, "next");
	json_side(out, &sw->next);
	json_key(out, "task");
	json_hex(out, sw->next_task_kva);
}

static void json_reason(struct out *out, uint32_t reason)
{
	json_key(out, "reason");
	out_json_string(out, btsrec_reason_str(reason), 64);
}

static void json_resume(struct out *out, const struct btsrec_resume *resume)
{
	json_reason(out, resume->reason);
	json_key(out, "stop_tsc");
	out_dec(out, resume->stop_tsc, 0);
	json_key(out, "now");
	json_side(out, &resume->now);
	json_key(out, "task");
	json_hex(out, resume->task_kva);
}

static void json_mark(struct out *out, const struct btsrec_mark *mark)
{
	json_thread(out, mark->pid, mark->tgid);
	json_key(out, "text");
	out_json_string(out, mark->text, sizeof(mark->text));
}

static void json_time(struct out *out, const struct btsrec_time *time)
{
	json_key(out, "realtime_ns");
	out_dec(out, time->realtime_ns, 0);
	json_key(out, "boottime_ns");
	out_dec(out, time->boottime_ns, 0);
}

static void json_registers(struct out *out, const struct btsrec_freeze *freeze)
{
	json_key(out, "ip");
	json_hex(out, freeze->ip);
	json_key(out, "sp");
	json_hex(out, freeze->sp);
	json_key(out, "bp");
	json_hex(out, freeze->bp);
	json_key(out, "cs");
	json_hex(out, freeze->cs);
	json_key(out, "rflags");
	json_hex(out, freeze->rflags);
	json_key(out, "cr3");
	json_hex(out, freeze->cr3);
	json_key(out, "stop_ip");
	json_hex(out, freeze->stop_ip);
	json_key(out, "debugctl");
	json_hex(out, freeze->debugctl);
}

static void json_freeze(struct renderer *r, const struct btsrec_freeze *freeze)
{
	struct out *out = &r->out;
	struct symbol_name name;

	json_reason(out, freeze->reason);
	json_key(out, "via_nmi");
	json_bool(out, freeze->via_nmi);
	json_thread(out, freeze->pid, freeze->tgid);
	json_key(out, "comm");
	out_json_string(out, freeze->comm, sizeof(freeze->comm));
	json_key(out, "task");
	json_hex(out, freeze->task_kva);
	json_registers(out, freeze);
	if (symbol_find(r->rec, freeze->ip, &name)) {
		json_key(out, "ip_sym");
		json_name(out, &name);
	}
}

static void json_gap(struct out *out, const struct btsrec_gap *gap)
{
	json_key(out, "gap");
	out_json_string(out, btsrec_gap_str(gap->kind), 64);
	if (gap->nr_slots) {
		json_key(out, "slots");
		out_dec(out, gap->nr_slots, 0);
		json_key(out, "first_slot");
		out_dec(out, gap->slot, 0);
	}
	if (gap->has_resume)
		json_resume(out, &gap->resume);
}

static void json_switch_kind(struct out *out, bool mm_only)
{
	json_key(out, "what");
	out_str(out, mm_only ? "\"mm\"" : "\"task\"");
}

static void json_members(struct renderer *r, const struct btsrec_event *event)
{
	switch (event->kind) {
	case BTSREC_EVENT_BRANCH:
		json_branch(r, event);
		break;
	case BTSREC_EVENT_SWITCH:
		json_switch_kind(&r->out, event->mm_only);
		json_switch(&r->out, &event->sw);
		break;
	case BTSREC_EVENT_EXEC:
		json_switch(&r->out, &event->sw);
		break;
	case BTSREC_EVENT_ARM:
		json_resume(&r->out, &event->resume);
		break;
	case BTSREC_EVENT_MARK:
		json_mark(&r->out, &event->mark);
		break;
	case BTSREC_EVENT_TIME:
		json_time(&r->out, &event->time);
		break;
	case BTSREC_EVENT_FREEZE:
		json_freeze(r, &event->freeze);
		break;
	case BTSREC_EVENT_GAP:
		json_gap(&r->out, &event->gap);
		break;
	}
}

static void json_event(struct renderer *r, const struct btsrec_event *event)
{
	struct out *out = &r->out;
	uint64_t tsc;

	out_literal(out, "{\"cpu\":");
	out_dec(out, event->cpu, 0);
	json_key(out, "n");
	out_dec(out, event->n, 0);
	out_literal(out, ",\"kind\":\"");
	out_str(out, render_kind_str(event->kind));
	out_char(out, '"');
	if (render_tsc(event, &tsc)) {
		json_key(out, "tsc");
		out_dec(out, tsc, 0);
	}
	json_members(r, event);
	out_literal(out, "}\n");
}

const struct render_format render_jsonl = {
	.event = json_event,
};
