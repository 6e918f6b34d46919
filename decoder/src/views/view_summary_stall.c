// SPDX-License-Identifier: GPL-2.0-or-later
/* Of an RCU stall: the CPU that the kernel waits for, which need not be the one that says so. */
#include "flow/trace.h"
#include "kernel/types.h"
#include "symbols/symbol.h"
#include "views/view_summary.h"

/*
 * An interrupt that stalls keeps ticks out, which are 1 to 10 ms apart.  What gets so many and
 * reaches no quiescent state stalls itself.  In the emulated machine, which has no time for most of
 * them, CPUs in a loop had 21 to 1,243.
 */
#define STALL_MIN_TICKS	16

/**
 * struct rcu_fields - where kernel/rcu/tree.h has them
 * @mynode, @grpmask: of struct rcu_data: the leaf of a CPU, and its bit there.
 * @qsmask: of struct rcu_node: the CPUs for which the grace period waits.
 */
struct rcu_fields {
	struct types_field mynode;
	struct types_field grpmask;
	struct types_field qsmask;
};

static bool find_fields(struct btsrec *rec, struct rcu_fields *ret)
{
	const char *why;
	const struct types *types = symbols_types(rec, &why);

	return types && types_field(types, "rcu_data", "mynode", &ret->mynode) &&
	       types_field(types, "rcu_data", "grpmask", &ret->grpmask) &&
	       types_field(types, "rcu_node", "qsmask", &ret->qsmask);
}

static bool read_word(struct code *code, uint64_t kva, uint64_t *ret)
{
	size_t nr_bytes;

	return !code_bytes(code, 0, kva, (uint8_t *)ret, sizeof(*ret), &nr_bytes);
}

static bool read_field(struct code *code, uint64_t kva, const struct types_field *field,
		       uint64_t *ret)
{
	return field->size_bytes == sizeof(*ret) && read_word(code, kva + field->offset_bytes, ret);
}

/* Where the struct rcu_data of @cpu is. */
static bool find_data(struct btsrec *rec, unsigned int cpu, uint64_t *ret)
{
	uint64_t offsets = symbols_place(rec, SYMBOL_DUMP_PER_CPU_OFFSET);
	uint64_t data = symbols_place(rec, SYMBOL_DUMP_RCU_DATA);
	struct code *code = trace_code(rec);
	uint64_t offset;

	if (!code || !offsets || !data || !read_word(code, offsets + 8ULL * cpu, &offset))
		return false;
	*ret = data + offset;
	return true;
}

static bool holds_up(struct btsrec *rec, const struct rcu_fields *fields, unsigned int cpu)
{
	struct code *code = trace_code(rec);
	uint64_t data, node, bit, waits;

	return find_data(rec, cpu, &data) && read_field(code, data, &fields->mynode, &node) &&
	       read_field(code, data, &fields->grpmask, &bit) &&
	       read_field(code, node, &fields->qsmask, &waits) && waits & bit;
}

bool summary_stalls_below(struct btsrec *rec, const struct btsrec_cpu *cpu)
{
	const char *why;
	const struct types *types = symbols_types(rec, &why);
	struct types_field field;
	uint64_t data, nr_ticks;

	return types && types_field(types, "rcu_data", "ticks_this_gp", &field) &&
	       find_data(rec, cpu->cpu, &data) &&
	       read_field(trace_code(rec), data, &field, &nr_ticks) && nr_ticks >= STALL_MIN_TICKS;
}

const struct btsrec_cpu *summary_judged_cpu(struct btsrec *rec)
{
	const struct btsrec_cpu *failed = session_failed_cpu(rec), *stalled = NULL;
	struct rcu_fields fields;

	if (!failed || failed->freeze.reason != BTSREC_REASON_RCU_STALL)
		return failed;
	if (!find_fields(rec, &fields) || holds_up(rec, &fields, failed->cpu))
		return failed;
	for (unsigned int i = 0; i < btsrec_nr_cpu_ids(rec) && !stalled; i++) {
		const struct btsrec_cpu *cpu = btsrec_cpu(rec, i);

		if (cpu && cpu->frozen && holds_up(rec, &fields, i))
			stalled = cpu;
	}
	return stalled ? stalled : failed;
}
