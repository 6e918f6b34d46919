// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A crash as tables for a column store, a JSON object a row.  docs/reference/tables.md has the
 * columns.
 *
 * A function has a key that is the same on every machine: a hash of its build-id and name.  Rows
 * name functions by it, and the table of functions has what it stands for.
 */
#include "export/export_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/options.h"
#include "flow/trace.h"
#include "recorder/cpus.h"
#include "render/json.h"
#include "views/values.h"

/* Of the columns: it changes when one goes or means something else. */
#define TABLES_SCHEMA 1

/* --- crash -------------------------------------------------------------- */

/*
 * When the history ends: the first fault, or without one the newest switch of threads.  Snapshots
 * of one boot differ in it, and every reader of a dump finds the same.  0: not known.
 */
static uint64_t end_tsc(struct btsrec *rec)
{
	uint64_t tsc = btsrec_root(rec)->freeze_tsc;
	unsigned int nr_cpus = btsrec_nr_cpu_ids(rec);

	if (tsc)
		return tsc;
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		const struct btsrec_cpu *page = btsrec_cpu(rec, cpu);

		/* Odd: it was being written. */
		if (page && page->context_seq % 2 == 0 && page->context.tsc > tsc)
			tsc = page->context.tsc;
	}
	return tsc;
}

/* That, by the clock of the machine; 0: not known. */
static uint64_t end_realtime_ns(const struct btsrec_root *root, uint64_t tsc)
{
	__int128 cycles = (__int128)tsc - root->anchor_tsc;

	if (!tsc || !root->tsc_khz)
		return 0;
	return (uint64_t)(root->anchor_realtime_ns + cycles * 1000000 / root->tsc_khz);
}

static void put_verdict(struct tables *tables, struct out *out, const struct btsrec_digest *digest)
{
	json_number(out, "cpu", digest->cpu);
	tables_put_text(out, "verdict", digest->verdict);
	tables_put_text(out, "text", digest->sentence);
	tables_put_text(out, "access", digest->access);
	json_bool(out, "survived", digest->survived);
	if (digest->ip_va)
		tables_put_place(tables, out, "function", "offset",
				 tables_place_named(tables, digest->ip_va, &digest->ip));
}

static void put_signature(struct out *out, const struct btsrec_digest *digest)
{
	tables_put_text(out, "reason", digest->reason);
	tables_put_text(out, "signature", digest->signature);
	if (!digest->signature)
		return;
	json_bool(out, "signature_complete", digest->complete);
	json_key(out, "signature_functions");
	for (size_t i = 0; i < digest->nr_functions; i++) {
		out_char(out, i ? ',' : '[');
		out_json_string(out, digest->functions[i], strlen(digest->functions[i]));
	}
	out_str(out, digest->nr_functions ? "]" : "[]");
}

static bool take_digest(void *arg, const struct btsrec_digest *digest)
{
	struct tables *tables = arg;
	struct out *out = &tables->out[BTSREC_TABLE_CRASH];

	if (digest->kind == BTSREC_DIGEST_VERDICT)
		put_verdict(tables, out, digest);
	else if (digest->kind == BTSREC_DIGEST_FAULT)
		put_signature(out, digest);
	return tables_go_on(tables);
}

static enum btsrec_status put_crash(struct tables *tables)
{
	const struct btsrec_root *root = btsrec_root(tables->r.rec);
	struct out *out = tables_row(tables, BTSREC_TABLE_CRASH);
	uint64_t time_ns = end_realtime_ns(root, end_tsc(tables->r.rec));
	enum btsrec_status status;

	json_number(out, "schema", TABLES_SCHEMA);
	json_word(out, "btsrec", btsrec_version());
	json_text(out, "release", root->release, sizeof(root->release));
	tables_put_hex(out, "build_id", root->build_id, root->build_id_bytes);
	if (time_ns)
		json_number(out, "time_ns", time_ns);
	status = btsrec_summary_each(tables->r.rec, take_digest, tables);
	tables_row_end(out);
	return status;
}

/* --- cpu, gap ----------------------------------------------------------- */

static bool take_ring(void *arg, const struct btsrec_ring *ring)
{
	struct tables *tables = arg;
	struct out *out = tables_row(tables, BTSREC_TABLE_CPU);

	json_number(out, "cpu", ring->page->cpu);
	json_word(out, "state", ring->state);
	tables_put_text(out, "reason", ring->reason);
	json_number(out, "slots", ring->nr_slots);
	json_number(out, "valid_slots", ring->nr_valid_slots);
	json_number(out, "events", ring->nr_events);
	json_word(out, "wrapped", ring->wrapped);
	tables_row_end(out);
	return tables_go_on(tables);
}

static enum btsrec_status put_cpus(struct tables *tables)
{
	return btsrec_info_each(tables->r.rec, take_ring, tables);
}

static void put_gap(struct tables *tables, const struct btsrec_event *event)
{
	struct out *out = tables_row(tables, BTSREC_TABLE_GAP);

	json_number(out, "cpu", event->cpu);
	json_number(out, "n", event->n);
	json_word(out, "gap", btsrec_gap_str(event->gap.kind));
	if (event->gap.nr_slots)
		json_number(out, "slots", event->gap.nr_slots);
	if (event->gap.has_resume)
		tables_put_text(out, "reason", btsrec_reason_str(event->gap.resume.reason));
	tables_row_end(out);
}

/* --- edge --------------------------------------------------------------- */

/* A user address means something in an address space only. */
static void count_edge(struct tables *tables, const struct btsrec_side *side,
		       const struct btsrec_record *branch)
{
	bool user = !code_is_kernel(branch->from) || !code_is_kernel(branch->to);
	uint64_t key[COUNTER_MAP_KEY_WORDS] = {branch->from, branch->to,
					       user && side ? side->cr3 : 0, user && side};
	struct count *count = counter_map_get(&tables->edges, key);

	if (count)
		count->nr[0]++;
	else
		tables->nomem = true;
}

static bool take_event(void *arg, const struct trace_event *traced)
{
	struct tables *tables = arg;

	if (!event_filter_wants(&tables->event_filter, traced->event))
		return true;
	if (traced->event->kind == BTSREC_EVENT_GAP)
		put_gap(tables, traced->event);
	else if (traced->event->kind == BTSREC_EVENT_BRANCH)
		count_edge(tables, traced->side, &traced->event->branch);
	return tables_go_on(tables);
}

static enum btsrec_status count_cpu(void *arg, unsigned int cpu)
{
	struct tables *tables = arg;
	struct btsrec *rec = tables->r.rec;
	struct trace trace;
	struct trace_event traced;
	enum btsrec_status status =
		event_filter_init(&tables->event_filter, rec, cpu, tables->opts->filter, 0);

	if (!status) {
		status = trace_open(&trace, rec, cpu, 0, false);
		while (!status && trace_next(&trace, &traced) && take_event(tables, &traced))
			;
		if (!status)
			status = trace.status;
		trace_close(&trace);
	}
	event_filter_fini(&tables->event_filter);
	return status;
}

/* Places that several processes have at different addresses are one edge. */
static void merge_edge(struct tables *tables, const struct count *edge)
{
	const struct btsrec_side space = {.cr3 = edge->key[2]};
	const struct btsrec_side *side = edge->key[3] ? &space : NULL;
	struct place from = tables_place_at(tables, side, edge->key[0]);
	struct place to = tables_place_at(tables, side, edge->key[1]);
	uint64_t key[COUNTER_MAP_KEY_WORDS] = {from.function, from.offset_bytes, to.function,
					       to.offset_bytes};
	struct count *count;

	if (from.function == NO_FUNCTION && to.function == NO_FUNCTION)
		return;
	count = counter_map_get(&tables->places, key);
	if (count)
		count->nr[0] += edge->nr[0];
	else
		tables->nomem = true;
}

static void put_edge(struct tables *tables, const struct count *edge)
{
	struct place from = {.function = edge->key[0], .offset_bytes = edge->key[1]};
	struct place to = {.function = edge->key[2], .offset_bytes = edge->key[3]};
	struct out *out = tables_row(tables, BTSREC_TABLE_EDGE);

	tables_put_key(tables, out, "from", from.function);
	json_number_in(out, "count", edge->nr[0], WIDE_COUNT);
	tables_put_key(tables, out, "to", to.function);
	tables_put_offset(out, "from_offset", from);
	tables_put_offset(out, "to_offset", to);
	tables_row_end(out);
}

/* By what zstd finds again in the row before: from, count, to, and last the offsets. */
static int compare_edges(const void *a, const void *b)
{
	const struct count *one = a, *other = b;
	const uint64_t pairs[][2] = {
		{one->key[0], other->key[0]}, {one->nr[0], other->nr[0]},
		{one->key[2], other->key[2]}, {one->key[1], other->key[1]},
		{one->key[3], other->key[3]},
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (pairs[i][0] != pairs[i][1])
			return pairs[i][0] < pairs[i][1] ? -1 : 1;
	return 0;
}

static enum btsrec_status put_edges(struct tables *tables)
{
	enum btsrec_status status = cpus_for_each(tables->r.rec, tables->opts->cpus,
						  tables->opts->nr_cpus, count_cpu, tables);

	counter_map_sort(&tables->edges);
	for (size_t i = 0; !status && i < tables->edges.nr && tables_go_on(tables); i++)
		merge_edge(tables, &tables->edges.table[i]);
	counter_map_sort_by(&tables->places, compare_edges);
	for (size_t i = 0; !status && i < tables->places.nr && tables_go_on(tables); i++)
		put_edge(tables, &tables->places.table[i]);
	return status;
}

/* --- call --------------------------------------------------------------- */

/* What differs most between rows stands last: they are smaller by a tenth so. */
static void put_call(struct tables *tables, const struct btsrec_call *call)
{
	struct place from = tables_place_named(tables, call->from_va, &call->from);
	struct place to = tables_place_named(tables, call->to_va, &call->to);
	struct out *out;

	if (to.function == NO_FUNCTION)
		return;
	out = tables_row(tables, BTSREC_TABLE_CALL);
	tables_put_key(tables, out, "from", from.function);
	tables_put_offset(out, "from_offset", from);
	tables_put_key(tables, out, "to", to.function);
	tables_put_offset(out, "to_offset", to);
	json_word(out, "type", call->how);
	out_blanks(out, WIDE_TYPE - strnlen(call->how, WIDE_TYPE));
	if (call->vector >= 0)
		json_number(out, "vector", (uint64_t)call->vector);
	json_number_in(out, "branches", call->nr_branches, WIDE_COUNT);
	json_bool(out, "complete", call->complete);
	out_str(out, call->complete ? " " : "");
	if (call->has_ns) {
		json_number(out, "min_ns", call->min_ns);
		json_number(out, "max_ns", call->max_ns);
	}
	json_number_in(out, "level", call->level, WIDE_LEVEL);
	if (tables->has_pid)
		json_number_in(out, "pid", tables->pid, WIDE_PID);
	json_number_in(out, "cpu", call->cpu, WIDE_CPU);
	json_number_in(out, "n", call->n, WIDE_N);
	tables_row_end(out);
}

static bool take_call(void *arg, const struct btsrec_call *call)
{
	struct tables *tables = arg;

	if (call->kind == BTSREC_CALL_THREAD) {
		tables->has_pid = call->has_task;
		tables->pid = call->task.pid;
	} else if (call->kind == BTSREC_CALL_ENTER) {
		put_call(tables, call);
	}
	return tables_go_on(tables);
}

static enum btsrec_status put_calls(struct tables *tables)
{
	const struct btsrec_calls opts = {
		.size = sizeof(opts),
		.cpus = tables->opts->cpus,
		.nr_cpus = tables->opts->nr_cpus,
		.filter = tables->opts->filter,
	};

	return btsrec_calls_each(tables->r.rec, &opts, take_call, tables);
}

/* --- function, thread --------------------------------------------------- */

/* "name [module]", "[module]", or a reason in parentheses: taken apart. */
static size_t number_of_row(struct tables *tables, const struct btsrec_function *value)
{
	const char *open = strrchr(value->name, '['), *module = "";
	size_t name_bytes = strlen(value->name);
	bool user = !strncmp(value->name, "(user:", strlen("(user:"));
	_cleanup_free_ char *copy = NULL;

	if (open && value->name[name_bytes - 1] == ']') {
		copy = strndup(open + 1, strlen(open) - 2);
		if (!copy) {
			tables->nomem = true;
			return NO_FUNCTION;
		}
		module = copy;
		name_bytes = open > value->name ? (size_t)(open - value->name) - 1 : 0;
	}
	user |= !value->start_kva && *value->name != '(';
	if (user && tables->opts->no_user)
		return NO_FUNCTION;
	return tables_number_of(tables, NULL, value->start_kva, value->name, name_bytes, module,
				user);
}

static void count_thread(struct tables *tables, const struct btsrec_function *value)
{
	uint64_t key[COUNTER_MAP_KEY_WORDS] = {(uint64_t)value->task.pid << 32 | value->task.tgid,
					       0, 0, value->has_task};
	struct count *count;

	memcpy(&key[1], value->task.comm, sizeof(value->task.comm));
	count = counter_map_get(&tables->threads, key);
	if (!count) {
		tables->nomem = true;
		return;
	}
	count->nr[0] += value->nr_branches;
	count->nr[1] += value->nr_calls;
}

static bool take_function(void *arg, const struct btsrec_function *value)
{
	struct tables *tables = arg;
	size_t number = number_of_row(tables, value);

	if (number != NO_FUNCTION) {
		tables->functions[number].nr_branches += value->nr_branches;
		tables->functions[number].nr_calls += value->nr_calls;
	}
	count_thread(tables, value);
	return tables_go_on(tables);
}

static void put_thread(struct tables *tables, const struct count *thread)
{
	struct out *out = tables_row(tables, BTSREC_TABLE_THREAD);

	if (thread->key[3])
		json_thread(out, (uint32_t)(thread->key[0] >> 32), (uint32_t)thread->key[0],
			    (const char *)&thread->key[1]);
	json_number(out, "branches", thread->nr[0]);
	json_number(out, "calls", thread->nr[1]);
	tables_row_end(out);
}

static void put_function(struct tables *tables, const struct table_function *function)
{
	struct out *out = tables_row(tables, BTSREC_TABLE_FUNCTION);

	json_bool(out, "user", function->user);
	if (!function->user || !tables->opts->no_paths)
		json_text(out, "module", function->module, strlen(function->module));
	tables_put_hex(out, "build_id", function->build_id, function->build_id_bytes);
	tables_put_key(tables, out, "function", (size_t)(function - tables->functions));
	json_text(out, "name", function->name, strlen(function->name));
	json_number(out, "branches", function->nr_branches);
	json_number(out, "calls", function->nr_calls);
	tables_row_end(out);
}

/* Neighbours begin with the same letters: smaller by a fortieth than in the order of numbers. */
static int compare_functions(const void *a, const void *b)
{
	const struct table_function *one = a, *other = b;
	int order = one->user - other->user;

	if (!order)
		order = strcmp(one->module, other->module);
	return order ? order : strcmp(one->name, other->name);
}

/* The last table: the functions have no numbers any more. */
static enum btsrec_status put_functions(struct tables *tables)
{
	const struct btsrec_functions opts = {
		.size = sizeof(opts),
		.cpus = tables->opts->cpus,
		.nr_cpus = tables->opts->nr_cpus,
		.filter = tables->opts->filter,
		.by = BTSREC_BY_TASK,
	};
	enum btsrec_status status =
		btsrec_functions_each(tables->r.rec, &opts, take_function, tables);

	counter_map_sort(&tables->threads);
	for (size_t i = 0; i < tables->threads.nr; i++)
		put_thread(tables, &tables->threads.table[i]);
	if (tables->nr_functions)
		qsort(tables->functions, tables->nr_functions, sizeof(*tables->functions),
		      compare_functions);
	for (size_t i = 0; i < tables->nr_functions; i++)
		put_function(tables, &tables->functions[i]);
	return status;
}

/* --- value -------------------------------------------------------------- */

static bool take_origin(void *arg, const struct btsrec_origin *origin)
{
	struct tables *tables = arg;
	struct place place = {.function = NO_FUNCTION};
	struct out *out;

	if (origin->has_ip)
		place = tables_place_named(tables, origin->ip_va, &origin->ip);
	if (place.function == NO_FUNCTION)
		return tables_go_on(tables);
	out = tables_row(tables, BTSREC_TABLE_VALUE);
	json_number(out, "step", tables->nr_steps++);
	json_word(out, "what", origin->is_candidate ? "candidate" : origin->what);
	tables_put_place(tables, out, "function", "offset", place);
	tables_put_text(out, "insn", origin->insn);
	tables_put_text(out, "reg", origin->reg);
	json_word(out, "class", origin->certainty);
	tables_row_end(out);
	return tables_go_on(tables);
}

/* A history without a fault, or without code at its fault, has no value to ask about. */
static enum btsrec_status put_values(struct tables *tables)
{
	enum btsrec_status status;

	if (!btsrec_root(tables->r.rec)->freeze_reason)
		return BTSREC_OK;
	status = btsrec_why_each(tables->r.rec, NULL, take_origin, tables);
	return status == BTSREC_ERR_INVAL ? BTSREC_OK : status;
}

/* --- All ---------------------------------------------------------------- */

/* Edges before other functions: they know in which address space a user function lies. */
static enum btsrec_status put_all(struct tables *tables)
{
	static enum btsrec_status (*const parts[])(struct tables *tables) = {
		put_cpus, put_edges, put_crash, put_calls, put_values, put_functions,
	};
	enum btsrec_status status = BTSREC_OK, part;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && tables_go_on(tables); i++) {
		part = parts[i](tables);
		/* It ended the part, as a sink that refused would have. */
		if (tables->nomem)
			break;
		if (part && part != BTSREC_ERR_CORRUPT)
			return part;
		status = status ? status : part;
	}
	if (tables->nomem)
		return msg_set(&tables->r.rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < BTSREC_NR_TABLES; i++)
		if (out_flush(&tables->out[i]))
			return BTSREC_ERR_STOPPED;
	return status;
}

static void tables_free(struct tables *tables)
{
	for (size_t i = 0; i < tables->nr_functions; i++) {
		free(tables->functions[i].name);
		free(tables->functions[i].module);
	}
	free(tables->functions);
	counter_map_fini(&tables->numbers);
	counter_map_fini(&tables->edges);
	counter_map_fini(&tables->places);
	counter_map_fini(&tables->threads);
	free(tables);
}

static enum btsrec_status export_tables(struct btsrec *rec, const struct btsrec_tables *opts,
					const struct btsrec_sink *sinks, size_t nr_sinks)
{
	enum btsrec_status status = cpus_check(rec, opts->cpus, opts->nr_cpus);
	const struct btsrec_root *root = btsrec_root(rec);
	struct tables *tables;

	if (!status)
		status = event_filter_check(rec, opts->filter);
	if (status)
		return status;
	tables = calloc(1, sizeof(*tables));
	if (!tables)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	tables->r.rec = rec;
	tables->opts = opts;
	snprintf(tables->crash, sizeof(tables->crash), "%016llx%016llx",
		 (unsigned long long)root->generation, (unsigned long long)end_tsc(rec));
	for (size_t i = 0; i < BTSREC_NR_TABLES; i++)
		out_init(&tables->out[i], i < nr_sinks ? &sinks[i] : &values_sink);
	status = put_all(tables);
	tables_free(tables);
	return cpus_end(rec, opts->cpus, status);
}

const char *btsrec_table_str(enum btsrec_table table)
{
	static const char *const names[BTSREC_NR_TABLES] = {
		[BTSREC_TABLE_CRASH] = "crash",	  [BTSREC_TABLE_CPU] = "cpu",
		[BTSREC_TABLE_THREAD] = "thread", [BTSREC_TABLE_CALL] = "call",
		[BTSREC_TABLE_EDGE] = "edge",	  [BTSREC_TABLE_FUNCTION] = "function",
		[BTSREC_TABLE_GAP] = "gap",	  [BTSREC_TABLE_VALUE] = "value",
	};

	return table < BTSREC_NR_TABLES ? names[table] : "unknown";
}

enum btsrec_status btsrec_export_tables(struct btsrec *rec, const struct btsrec_tables *given,
					const struct btsrec_sink *sinks, size_t nr_sinks)
{
	struct btsrec_filter filter;
	struct btsrec_tables opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = options_filter(&rec->msg, &opts.filter, &filter);
	return status ? status : export_tables(rec, &opts, sinks, nr_sinks);
}
