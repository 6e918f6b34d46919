// SPDX-License-Identifier: GPL-2.0-or-later
/* The summary as JSON lines: an object per CPU, its newest switches, the last calls. */
#include "render/json.h"
#include "symbols/symbol.h"
#include "views/view_info.h"
#include "views/view_summary.h"

static void json_names(struct out *out, const struct signature *signature)
{
	json_key(out, "functions");
	for (size_t i = 0; i < signature->nr_names; i++) {
		out_str(out, i ? ",\"" : "[\"");
		out_json_escaped(out, signature->names[i]);
		out_char(out, '"');
	}
	out_char(out, ']');
}

static void json_memory(struct summary *view)
{
	const struct summary_stack *stack = &view->stack;
	struct renderer *r = &view->calls.renderer;

	if (!stack->nr)
		return;
	json_key(&r->out, "memory_stack");
	for (size_t i = 0; i < stack->nr; i++) {
		const struct summary_place *place = &stack->places[i];

		out_str(&r->out, i ? ",{\"type\":\"" : "[{\"type\":\"");
		out_str(&r->out, summary_place_str(place));
		out_char(&r->out, '"');
		if (place->vector >= 0)
			json_number(&r->out, "vector", (uint64_t)place->vector);
		json_address(&r->out, "ip", place->ip);
		json_sym(r, "ip_sym", place->ip);
		out_char(&r->out, '}');
	}
	out_char(&r->out, ']');
}

static void json_verdict(struct summary *view)
{
	const struct verdict *verdict = &view->verdict;
	const char *access = verdict_access_str(verdict->access);
	struct renderer *r = &view->calls.renderer;

	out_literal(&r->out, "{\"cpu\":");
	out_dec(&r->out, summary_verdict_cpu(view), 0);
	json_word(&r->out, "kind", "verdict");
	json_word(&r->out, "verdict", verdict_kind_str(verdict->kind));
	if (access)
		json_word(&r->out, "access", access);
	if (verdict->has_address)
		json_address(&r->out, "address", verdict->address);
	if (verdict->ip) {
		json_address(&r->out, "ip", verdict->ip);
		json_sym(r, "ip_sym", verdict->ip);
	}
	if (verdict->stay.nr_branches)
		json_number(&r->out, "branches", verdict->stay.nr_branches);
	if (verdict->stay.ticks)
		json_number(&r->out, "ticks", verdict->stay.ticks);
	if (view->subject.pid)
		json_number(&r->out, "pid", view->subject.pid);
	if (view->moved)
		json_number(&r->out, "fault_cpu", view->fault_cpu);
	if (verdict->handler) {
		json_address(&r->out, "handler", verdict->handler);
		json_sym(r, "handler_sym", verdict->handler);
	}
	json_memory(view);
	if (view->survived)
		json_bool(&r->out, "survived", true);
	json_key(&r->out, "text");
	out_char(&r->out, '"');
	out_json_escaped(&r->out, view->sentence);
	out_literal(&r->out, "\"}\n");
}

/* The last step of the way back, and what was asked for. */
static void json_operand(struct summary *view)
{
	const struct summary_operand *text = &view->operand_text;
	struct renderer *r = &view->calls.renderer;
	const struct origin_hop *asked, *last;
	struct why_place place;

	if (!summary_operand_ends(view, &asked, &last, &place))
		return;
	why_json_step(r, &place, "operand", last, true);
	if (asked->target.reg != SEM_NO_REG)
		json_word(&r->out, "operand", sem_reg_name(asked->target.reg));
	if (asked->value_class != ORIGIN_UNKNOWN)
		json_address(&r->out, "operand_value", asked->value);
	json_key(&r->out, "text");
	out_char(&r->out, '"');
	out_json_escaped(&r->out, text->what);
	if (*text->from)
		out_literal(&r->out, "; ");
	out_json_escaped(&r->out, text->from);
	out_literal(&r->out, "\"}\n");
	r->side = NULL;
}

static void json_signature(struct summary *view)
{
	const struct btsrec_root *root = btsrec_root(view->calls.renderer.rec);
	struct out *out = &view->calls.renderer.out;

	out_literal(out, "{\"cpu\":");
	out_dec(out, root->freeze_cpu, 0);
	json_word(out, "kind", "signature");
	json_word(out, "reason", btsrec_reason_str(root->freeze_reason));
	if (view->no_signature) {
		json_word(out, "why", view->no_signature);
	} else {
		json_key(out, "signature");
		out_char(out, '"');
		out_signature(out, &view->signature);
		out_char(out, '"');
		json_bool(out, "complete", view->signature.complete);
		json_names(out, &view->signature);
	}
	out_literal(out, "}\n");
}

static void json_begin(struct summary *view)
{
	if (!btsrec_root(view->calls.renderer.rec)->freeze_reason)
		return;
	json_verdict(view);
	json_operand(view);
	json_signature(view);
}

/* A variable, which may be a module's. */
static void json_data(struct renderer *r, const char *key, uint64_t va)
{
	struct symbol_name name;
	enum symbol_why why;
	bool found = render_find(r, va, &name, &why) || symbols_object(r->rec, va, &name);

	json_sym_found(&r->out, key, found, &name, why);
}

static void json_lock(struct summary *view, const struct summary_lock *lock, const char *sentence)
{
	struct renderer *r = &view->calls.renderer;
	struct out *out = &r->out;

	out_literal(out, "{\"cpu\":");
	out_dec(out, lock->cpu, 0);
	json_word(out, "kind", "lock");
	json_thread(out, lock->task.pid, lock->task.tgid, lock->task.comm);
	json_word(out, "lock", lock->lock);
	if (lock->from) {
		json_address(out, "from", lock->from);
		json_sym(r, "from_sym", lock->from);
	}
	if (lock->address) {
		json_address(out, "address", lock->address);
		json_data(r, "address_sym", lock->address);
	}
	if (lock->has_owner) {
		json_number(out, "owner_pid", lock->owner.pid);
		json_number(out, "owner_tgid", lock->owner.tgid);
		json_text(out, "owner_comm", lock->owner.comm, BTSREC_COMM_BYTES);
	}
	json_key(out, "text");
	out_char(out, '"');
	out_json_escaped(out, sentence);
	out_literal(out, "\"}\n");
}

static void json_frame(struct summary *view, const struct calltree_line *line)
{
	struct renderer *r = &view->calls.renderer;

	out_literal(&r->out, ",{\"type\":\"");
	out_str(&r->out, frame_kind_str(line->frame));
	out_char(&r->out, '"');
	if (line->vector >= 0)
		json_number(&r->out, "vector", (uint64_t)line->vector);
	json_address(&r->out, "ip", line->from);
	json_sym(r, "ip_sym", line->from);
	out_char(&r->out, '}');
}

static void json_stack(struct summary *view)
{
	const struct calltree *tree = &view->calls.tree;
	struct renderer *r = &view->calls.renderer;

	json_key(&r->out, "stack");
	out_literal(&r->out, "[{\"type\":\"stop\"");
	json_address(&r->out, "ip", view->ip);
	json_sym(r, "ip_sym", view->ip);
	out_char(&r->out, '}');
	for (size_t i = view->nr_open; i; i--) {
		struct calltree_line line = calltree_line(tree, tree->open[i - 1]);

		json_frame(view, &line);
	}
	out_char(&r->out, ']');
}

static void json_cpu(struct summary *view, const struct btsrec_cpu *cpu)
{
	const char *reason = info_reason_str(cpu);
	struct out *out = &view->calls.renderer.out;

	out_literal(out, "{\"cpu\":");
	out_dec(out, cpu->cpu, 0);
	json_word(out, "kind", "doing");
	json_word(out, "state", info_cpu_state_str(cpu->state));
	if (reason)
		json_word(out, "reason", reason);
	json_bool(out, "first_fault", cpu == session_failed_cpu(view->calls.renderer.rec));
	if (cpu->state == BTSREC_CPU_FROZEN) {
		json_bool(out, "via_nmi", cpu->freeze.via_nmi);
		json_thread(out, cpu->freeze.pid, cpu->freeze.tgid, cpu->freeze.comm);
		json_pause(out, &cpu->freeze);
		if (summary_interrupts_off(view, cpu))
			json_bool(out, "interrupts_off", true);
	}
	info_source_json(out, cpu);
	json_number(out, "branches", view->nr_branches);
	if (view->nr_branches)
		json_stack(view);
	out_literal(out, "}\n");
	for (uint64_t i = summary_first_switch(view); i < view->nr_switches; i++)
		view->calls.format->event(&view->calls.renderer,
					  &view->switches[i % SUMMARY_SWITCHES]);
}

static void json_log(struct summary *view, struct summary_log *log)
{
	struct btsrec *rec = view->calls.renderer.rec;
	const struct btsrec_root *root = btsrec_root(rec);
	struct clock clock = clock_of(root, btsrec_cpu(rec, root->freeze_cpu));

	const char *why = log->log.why;
	char lacks[KERNEL_LOG_LACKS_BYTES];

	if (!why)
		why = kernel_log_lacks(&log->log, lacks);
	if (why)
		kernel_log_json_none(&view->calls.renderer.out, why);
	for (size_t i = log->nr; i; i--) {
		struct btsrec_log_line value =
			kernel_log_value(&log->log, &log->lines[i - 1], &log->text);

		kernel_log_json(&view->calls.renderer.out, &value, &log->text, &clock);
	}
}

const struct summary_format summary_json = {
	.log = json_log,
	.begin = json_begin,
	.lock = json_lock,
	.cpu = json_cpu,
};
