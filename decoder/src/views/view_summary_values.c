// SPDX-License-Identifier: GPL-2.0-or-later
/* The summary as values. */
#include <stdio.h>

#include "render/out.h"
#include "symbols/symbol.h"
#include "views/values.h"
#include "views/view_info.h"
#include "views/view_summary.h"

static struct btsrec_digest begin(enum btsrec_digest_kind kind, unsigned int cpu)
{
	return (struct btsrec_digest){
		.size = sizeof(struct btsrec_digest),
		.kind = kind,
		.cpu = cpu,
		.vector = -1,
	};
}

static void put(struct summary *view, const struct btsrec_digest *value)
{
	struct out *out = &view->calls.renderer.out;

	if (!out->stopped)
		out->stopped = !view->fn(view->arg, value);
}

static void put_fault(struct summary *view)
{
	const struct btsrec_root *root = btsrec_root(view->calls.renderer.rec);
	const struct signature *signature = &view->signature;
	const char *functions[SIGNATURE_MAX_NAMES];
	struct btsrec_digest value = begin(BTSREC_DIGEST_FAULT, root->freeze_cpu);
	char text[SIGNATURE_TEXT_BYTES];

	value.reason = btsrec_reason_str(root->freeze_reason);
	value.no_signature = view->no_signature;
	if (!view->no_signature) {
		for (size_t i = 0; i < signature->nr_names; i++)
			functions[i] = signature->names[i];
		signature_text(signature, text);
		value.signature = text;
		value.complete = signature->complete;
		value.functions = functions;
		value.nr_functions = signature->nr_names;
	}
	put(view, &value);
}

static void put_verdict(struct summary *view)
{
	struct btsrec_digest value = begin(BTSREC_DIGEST_VERDICT, summary_verdict_cpu(view));
	const struct verdict *verdict = &view->verdict;
	struct symbol_name name;

	value.verdict = verdict_kind_str(verdict->kind);
	value.access = verdict_access_str(verdict->access);
	value.sentence = view->sentence;
	value.has_address = verdict->has_address;
	value.address_va = verdict->address;
	value.nr_branches = verdict->stay.nr_branches;
	value.pid = view->subject.pid;
	value.survived = view->survived;
	value.moved = view->moved;
	value.fault_cpu = view->fault_cpu;
	value.ip_va = verdict->ip;
	if (verdict->ip)
		values_name(&view->calls.renderer, verdict->ip, &name, &value.ip);
	put(view, &value);
}

static void put_operand(struct summary *view)
{
	struct btsrec_digest value = begin(BTSREC_DIGEST_OPERAND, view->calls.cpu);
	char text[2 * SUMMARY_SENTENCE_BYTES + 2];
	const struct origin_hop *asked, *last;
	struct btsrec_origin origin;
	struct symbol_name name;
	struct why_place place;

	if (!summary_operand_ends(view, &asked, &last, &place))
		return;
	origin = why_value(&view->calls.renderer, &place, last, true, &name);
	value.origin = &origin;
	if (asked->target.reg != SEM_NO_REG)
		value.operand = sem_reg_name(asked->target.reg);
	value.has_address = asked->value_class != ORIGIN_UNKNOWN;
	value.address_va = asked->value;
	(void)snprintf(text, sizeof(text), "%s%s%s", view->operand_text.what,
		       *view->operand_text.from ? "; " : "", view->operand_text.from);
	value.sentence = text;
	put(view, &value);
	view->calls.renderer.side = NULL;
}

static void put_frame(struct summary *view, enum btsrec_digest_kind kind, const char *how,
		      int vector, uint64_t ip)
{
	struct btsrec_digest value = begin(kind, view->calls.cpu);
	struct symbol_name name;

	value.how = how;
	value.vector = vector;
	value.ip_va = ip;
	values_name(&view->calls.renderer, ip, &name, &value.ip);
	put(view, &value);
}

static void put_memory(struct summary *view)
{
	for (size_t i = 0; i < view->stack.nr; i++) {
		const struct summary_place *place = &view->stack.places[i];

		put_frame(view, BTSREC_DIGEST_MEMORY, summary_place_str(place), place->vector,
			  place->ip);
	}
}

static void put_first(struct summary *view)
{
	if (!btsrec_root(view->calls.renderer.rec)->freeze_reason)
		return;
	put_verdict(view);
	put_memory(view);
	put_operand(view);
	put_fault(view);
}

static void put_lock(struct summary *view, const struct summary_lock *lock, const char *sentence)
{
	struct btsrec_digest value = begin(BTSREC_DIGEST_LOCK, lock->cpu);
	struct symbol_name name;

	value.lock = lock->lock;
	value.sentence = sentence;
	value.pid = lock->task.pid;
	value.has_address = lock->address;
	value.address_va = lock->address;
	value.ip_va = lock->from;
	value.owner_pid = lock->has_owner ? lock->owner.pid : 0;
	if (lock->from)
		values_name(&view->calls.renderer, lock->from, &name, &value.ip);
	put(view, &value);
}

static void put_stack(struct summary *view)
{
	const struct calltree *tree = &view->calls.tree;

	put_frame(view, BTSREC_DIGEST_FRAME, "stop", -1, view->ip);
	for (size_t i = view->nr_open; i; i--) {
		struct calltree_line line = calltree_line(tree, tree->open[i - 1]);

		put_frame(view, BTSREC_DIGEST_FRAME, frame_kind_str(line.frame), line.vector,
			  line.from);
	}
}

static void put_cpu(struct summary *view, const struct btsrec_cpu *cpu)
{
	struct btsrec_digest value = begin(BTSREC_DIGEST_CPU, cpu->cpu);

	value.reason = info_reason_str(cpu);
	value.page = cpu;
	value.first_fault = cpu == session_failed_cpu(view->calls.renderer.rec);
	value.nr_branches = view->nr_branches;
	put(view, &value);
	if (view->nr_branches)
		put_stack(view);
	for (uint64_t i = summary_first_switch(view); i < view->nr_switches; i++) {
		value = begin(BTSREC_DIGEST_SWITCH, cpu->cpu);
		value.event = &view->switches[i % SUMMARY_SWITCHES];
		put(view, &value);
	}
}

bool summary_put_call(void *arg, const struct btsrec_call *call)
{
	struct summary *view = arg;
	struct btsrec_digest value = begin(BTSREC_DIGEST_CALL, call->cpu);

	value.call = call;
	return view->fn(view->arg, &value);
}

static void put_log(struct summary *view, struct summary_log *log)
{
	for (size_t i = log->nr; i; i--) {
		struct btsrec_digest value = begin(BTSREC_DIGEST_LOG, view->calls.cpu);
		struct btsrec_log_line line =
			kernel_log_value(&log->log, &log->lines[i - 1], &log->text);

		value.log = &line;
		put(view, &value);
	}
}

const struct summary_format summary_values = {
	.log = put_log,
	.begin = put_first,
	.lock = put_lock,
	.cpu = put_cpu,
};
