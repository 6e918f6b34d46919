// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * btsmodel: a QEMU TCG plugin that gives each vCPU a Branch Trace Store and logs
 * what it recorded.
 *
 *   translation ─► inline store "this branch ran" ─┐
 *   block start (only while BTS is on) ────────────┴─► recorder ─► guest memory, cpuN.log
 *   interrupt or exception ────────────────────────┘       └─► rules ─► violations.log
 *   WRMSR, RDMSR, MOV to CR ─► msr ─► control, perfmon
 *
 * A block that ends in a control transfer stores, inline and just before that
 * instruction, what kind it is and where it is in the block.  So the model
 * knows for certain that the instruction was reached (a block may be left in the
 * middle: exceptions, self-modifying code), and the price while BTS is off is one
 * store and one test for each block.
 *
 * Addresses come from the run-time rip: QEMU shares blocks between mappings, so what
 * a block was translated for may be the address in another process.  An interrupted
 * REP instruction goes on at its own address, without a control transfer: no branch.
 *
 * Plugin arguments: outdir=DIR for the logs (needed), records=N kept of each vCPU,
 * perfmon=1 to model performance monitoring (with "level=13" for -cpu), so that the
 * kernel's own intel_bts driver loads; stores=1 counts the guest's stores, for extents.log;
 * insnlog=N keeps the newest N instructions, too, reglog=N their registers, entrylog=N those of the
 * newest N interrupts, and
 * stacks=N the newest N call stacks, one after every stacks_every=M records; for those switch_ip=
 * and new_ip= are the addresses of __switch_to_asm() and wake_up_new_task(). lazy=N records no more
 * than N branches and some after each write of IA32_DS_AREA, for runs of hours with histories that
 * are not looked at: MSRs and rules are as ever. lbr=KIND models a last branch record, too,
 * with what CPUID says of it: "model", "arch" or "amd", see enum lbr_kind.  What it gets is logged
 * like a BTS record.  mutations=1 lets the guest ask for another processor (mutate.h).
 * In DIR: cpuN.log, cpuN.insns and cpuN.stacks
 * (model_log.h), violations.log, msr.log (changes of the two MSRs and the control channel),
 * extents.log (what each call of a watched function cost), summary.json.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "insn.h"
#include "insnlog.h"
#include "log.h"
#include "msr.h"
#include "mutate.h"
#include "qemu_api.h"
#include "recorder.h"
#include "reglog.h"
#include "stacklog.h"
#include "vcpu.h"

#define DEFAULT_RECORDS	4194304
#define MAX_INSN_BYTES	15
#define RESET_VECTOR	0xfffffff0ULL

/*
 * A control transfer as the inline store writes it:
 * class in bits 0-6, whether it may lead to itself in 7, instruction bytes in 8-15, offset in
 * the block in 16-31, enum insn_flow in 32-39, bytes of a comparison that it runs with from 40 on.
 */
#define PENDING_CLASS_MASK	0x7f
#define PENDING_MAY_STAY	0x80
#define PENDING_BYTES_SHIFT	8
#define PENDING_OFFSET_SHIFT	16
#define PENDING_OFFSET_MASK	0xffff
#define PENDING_FLOW_SHIFT	32
#define PENDING_FUSED_SHIFT	40

struct board {
	uint64_t active;	/* blocks call the model */
	uint64_t pending;	/* control transfer that was reached and not yet resolved */
	uint64_t stores;	/* of the guest to its memory, with the option "stores" */
};

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_API_VERSION;

static struct qemu_plugin_scoreboard *board;
static unsigned int nr_resets;
static bool count_stores;
static enum lbr_kind lbr_kind;
static bool may_mutate;
static uint64_t lazy = UINT64_MAX;

static qemu_plugin_u64 board_active(void)
{
	return (qemu_plugin_u64){ board, offsetof(struct board, active) };
}

static qemu_plugin_u64 board_pending(void)
{
	return (qemu_plugin_u64){ board, offsetof(struct board, pending) };
}

static qemu_plugin_u64 board_stores(void)
{
	return (qemu_plugin_u64){ board, offsetof(struct board, stores) };
}

/** model_update_active() - call the model for each block of @cpu, or no longer */
void model_update_active(struct vcpu *cpu)
{
	bool active;

	cpu->was_on |= vcpu_records(cpu);
	active = (vcpu_records(cpu) && cpu->nr_of_area < lazy) || cpu->footprint.end ||
		cpu->extents.nr || (cpu->was_on && stacklog_wanted());
	if (active && !qemu_plugin_u64_get(board_active(), cpu->index))
		qemu_plugin_u64_set(board_pending(), cpu->index, 0);
	qemu_plugin_u64_set(board_active(), cpu->index, active);
}

/** model_check_reset() - follow a reset of the machine that another vCPU has seen */
void model_check_reset(struct vcpu *cpu)
{
	unsigned int resets = __atomic_load_n(&nr_resets, __ATOMIC_ACQUIRE);

	if (cpu->reset_seen == resets)
		return;
	cpu->reset_seen = resets;
	vcpu_reset(cpu);
	model_update_active(cpu);
}

/*
 * Whether a pending transfer was taken, given where execution went on.  A conditional
 * branch with its own fall-through as target looks the same taken or not; it is never
 * recorded here, while hardware records it when the condition holds.  Compilers do not
 * write such branches.
 */
static bool is_taken(uint64_t pending, uint64_t from, uint64_t ret, uint64_t to)
{
	if ((pending & PENDING_CLASS_MASK) == INSN_CONDITIONAL && to == ret)
		return false;
	/* QEMU left the block before the instruction was done, and begins it anew. */
	return to != from || pending & PENDING_MAY_STAY;
}

static uint64_t pending_from(const struct vcpu *cpu, uint64_t pending)
{
	return cpu->block_rip + (pending >> PENDING_OFFSET_SHIFT & PENDING_OFFSET_MASK);
}

/*
 * The transfer that the last block ended in led to @to, if it was taken; the stack
 * pointer was @sp then.
 */
static void resolve_pending(struct vcpu *cpu, uint64_t to, uint64_t sp)
{
	uint64_t pending = qemu_plugin_u64_get(board_pending(), cpu->index);
	uint64_t from = pending_from(cpu, pending), nr_before = cpu->log->total;
	uint64_t ret = from + (pending >> PENDING_BYTES_SHIFT & 0xff);

	if (!pending)
		return;
	qemu_plugin_u64_set(board_pending(), cpu->index, 0);
	if (!is_taken(pending, from, ret, to) && !(mutation && mutate_untaken(from)))
		return;
	cpu->fused_bytes = (unsigned int)(pending >> PENDING_FUSED_SHIFT);
	if (vcpu_records(cpu))
		recorder_branch(cpu, from, to, MODEL_LOG_BRANCH);
	if (stacklog_wanted())
		stacklog_transfer(cpu, sp, (enum insn_flow)(pending >> PENDING_FLOW_SHIFT & 0xff), ret,
				  to, nr_before);
}

/* At the start of a block of @nr_insns, when the branch to it has been recorded. */
static void follow_extents(struct vcpu *cpu, uint64_t rip, uint64_t nr_insns)
{
	struct extent_counts cost, *now = &cpu->counts;
	uint64_t sp = vcpu_reg(REG_RSP);

	now->nr_stores = qemu_plugin_u64_get(board_stores(), cpu->index);
	now->nr_records = cpu->log->total;
	for (unsigned int i = 0; i < cpu->extents.nr; i++)
		if (extent_leave(&cpu->extents.list[i], sp, now, &cost))
			log_extent(cpu->index, &cpu->extents.list[i], &cost);
	extents_enter(&cpu->extents, rip, sp, now);
	now->nr_insns += nr_insns;
}

static void on_block(unsigned int index, void *udata)
{
	struct vcpu *cpu = vcpu_get(index);
	uint64_t rip = vcpu_reg(REG_RIP);

	model_check_reset(cpu);
	resolve_pending(cpu, rip, stacklog_wanted() ? vcpu_reg(REG_RSP) : 0);
	if (stacklog_wanted())
		stacklog_block(cpu, rip);
	cpu->block_rip = rip;
	if (cpu->extents.nr)
		follow_extents(cpu, rip, (uintptr_t)udata);
	if (rip >= cpu->footprint.start && rip < cpu->footprint.end)
		cpu->footprint.nr_insns += (uint64_t)(uintptr_t)udata;
	if (cpu->nr_of_area >= lazy)
		model_update_active(cpu);
}

/*
 * A near branch to an address that is not canonical is a #GP of the branch itself and leaves no
 * record (SDM vol. 2A and 2B, "JMP", "CALL", "RET").  QEMU goes there and faults at the target.
 */
static bool faults_at_target(const struct vcpu *cpu, uint64_t from)
{
	return !walk_canonical(from, cpu->space.la57);
}

/*
 * @from is the interrupted or faulting instruction.  A control transfer that faulted
 * itself (RET from an unmapped stack) was reached but did not happen.  @from == @to is
 * a request that moved nothing.
 */
static void on_discontinuity(unsigned int index, enum qemu_plugin_discon_type type,
			     uint64_t from, uint64_t to, void *udata)
{
	struct vcpu *cpu = vcpu_find(index);
	bool exception = type == QEMU_PLUGIN_DISCON_EXCEPTION;
	struct stacklog_saved saved = { 0 };
	uint64_t pending, nr_before;

	(void)udata;
	if (!cpu || from == to)
		return;
	model_check_reset(cpu);
	if (!qemu_plugin_u64_get(board_active(), index))
		return;
	if (mutation)
		mutate_entry(index, to);
	pending = qemu_plugin_u64_get(board_pending(), index);
	if (exception && pending && faults_at_target(cpu, from))
		from = pending_from(cpu, pending);
	if (exception && pending && from == pending_from(cpu, pending))
		qemu_plugin_u64_set(board_pending(), index, 0);
	if (stacklog_wanted() || reglog_wants_entries())
		saved = stacklog_saved(from);
	if (mutation && pending && mutate_drops_trap(pending_from(cpu, pending)))
		qemu_plugin_u64_set(board_pending(), index, 0);
	extents_disturb(&cpu->extents);
	resolve_pending(cpu, from, saved.sp);
	nr_before = cpu->log->total;
	if (vcpu_records(cpu) && !(mutation && mutate_drops_interrupt(from))) {
		recorder_branch(cpu, mutation ? mutate_from(from) : from, to,
				MODEL_LOG_INTERRUPT);
		reglog_entry(cpu, saved.ip, saved.sp);
	}
	if (stacklog_wanted())
		stacklog_interrupt(cpu, &saved, nr_before);
}

/* The plugin interface does not report a reset; the boot CPU's first instruction does. */
static void on_reset_vector(unsigned int index, void *udata)
{
	struct vcpu *cpu = vcpu_get(index);

	(void)udata;
	rules_reset(cpu, RESET_VECTOR);
	__atomic_add_fetch(&nr_resets, 1, __ATOMIC_RELEASE);
	model_check_reset(cpu);
}

static void watch_transfer(struct qemu_plugin_insn *insn, enum insn_class class,
			   const uint8_t *bytes, uint64_t offset, size_t nr_fusible)
{
	size_t nr_bytes = qemu_plugin_insn_size(insn);
	uint64_t pending = class | (insn_may_stay(bytes, nr_bytes) ? PENDING_MAY_STAY : 0) |
		nr_bytes << PENDING_BYTES_SHIFT | offset << PENDING_OFFSET_SHIFT |
		(uint64_t)insn_flow(bytes, nr_bytes) << PENDING_FLOW_SHIFT;

	if (insn_is_jcc(bytes, nr_bytes))
		pending |= (uint64_t)nr_fusible << PENDING_FUSED_SHIFT;

	qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, QEMU_PLUGIN_INLINE_STORE_U64,
							    board_pending(), pending);
}

/* Each time that it is begun, which QEMU does once or for each of its iterations. */
static void on_string(unsigned int index, void *udata)
{
	struct vcpu *cpu = vcpu_get(index);
	uint64_t from = cpu->block_rip + (uintptr_t)udata;

	if (mutation == MUTATION_STRING && vcpu_records(cpu) && vcpu_cpl())
		recorder_branch(cpu, from, from, MODEL_LOG_BRANCH);
}

static void watch_string(struct qemu_plugin_insn *insn, const uint8_t *bytes, size_t nr_bytes,
			 uint64_t offset)
{
	if (insn_repeats(bytes, nr_bytes))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_string, QEMU_PLUGIN_CB_R_REGS,
						       (void *)(uintptr_t)offset);
}

/* The records of a CPU that was idle, with the mutation for it. */
static void on_vcpu_idle(unsigned int index, void *udata)
{
	struct vcpu *cpu = vcpu_find(index);

	(void)udata;
	if (mutation == MUTATION_IDLE && cpu)
		__atomic_store_n(&cpu->debugctl,
				 cpu->debugctl & ~(DEBUGCTL_TR | DEBUGCTL_BTS), __ATOMIC_RELAXED);
}

static void on_translation(struct qemu_plugin_tb *tb, void *udata)
{
	size_t nr_insns = qemu_plugin_tb_n_insns(tb), nr_fusible = 0;
	uint64_t start = qemu_plugin_tb_vaddr(tb);

	(void)udata;
	if (start == RESET_VECTOR)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_reset_vector, QEMU_PLUGIN_CB_R_REGS,
						     NULL);
	qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_block, QEMU_PLUGIN_CB_R_REGS,
						  QEMU_PLUGIN_COND_NE, board_active(), 0,
						  (void *)(uintptr_t)nr_insns);
	for (size_t i = 0; i < nr_insns; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint8_t bytes[MAX_INSN_BYTES];
		size_t nr_bytes = qemu_plugin_insn_data(insn, bytes, sizeof(bytes));
		enum insn_class class = insn_classify(bytes, nr_bytes);
		uint64_t offset = qemu_plugin_insn_vaddr(insn) - start;

		if (may_mutate)
			watch_string(insn, bytes, nr_bytes, offset);
		insnlog_watch(insn, offset, board_active());
		reglog_watch(insn, offset, board_active());
		if (count_stores)
			qemu_plugin_register_vcpu_mem_inline_per_vcpu(
				insn, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_INLINE_ADD_U64, board_stores(),
				1);
		if (class == INSN_ALWAYS || class == INSN_CONDITIONAL)
			watch_transfer(insn, class, bytes, offset, nr_fusible);
		else if (class != INSN_OTHER)
			msr_watch(insn, class, i + 1 < nr_insns ?
				  qemu_plugin_tb_get_insn(tb, i + 1) : NULL);
		nr_fusible = insn_fuses(bytes, nr_bytes) ? nr_bytes : 0;
	}
}

/* It may be in another state than when it stopped, with other page tables. */
static void on_vcpu_resume(unsigned int index, void *udata)
{
	(void)udata;
	vcpu_get(index)->space_stale = true;
}

static void on_vcpu_init(unsigned int index, void *udata)
{
	(void)udata;
	vcpu_init(index);
	vcpu_get(index)->lbr.kind = lbr_kind;
	insnlog_open_cpu(index);
	reglog_open_cpu(index);
	stacklog_open_cpu(index);
}

static void on_qemu_exit(void *udata)
{
	(void)udata;
	log_summary();
}

static bool is_option(const char *arg, const char *name, const char **value_ret)
{
	size_t length = strlen(name);

	if (strncmp(arg, name, length) || arg[length] != '=')
		return false;
	*value_ret = arg + length + 1;
	return true;
}

static bool stack_option(const char *arg)
{
	static const char *const names[] = { "stacks", "stacks_every", "switch_ip", "new_ip" };
	const char *value;

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_option(arg, names[i], &value))
			return stacklog_option(names[i], strtoull(value, NULL, 0));
	return false;
}

static bool lbr_option(const char *value)
{
	static const char *const names[] = { [LBR_BY_MODEL] = "model",
					     [LBR_ARCHITECTURAL] = "arch", [LBR_AMD] = "amd" };

	for (unsigned int i = LBR_BY_MODEL; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(value, names[i])) {
			lbr_kind = (enum lbr_kind)i;
			msr_model_cpuid(lbr_kind);
			return true;
		}
	}
	fprintf(stderr, "btsmodel: lbr=%s is none of model, arch and amd\n", value);
	return false;
}

static bool parse_options(int argc, char **argv, const char **outdir_ret, uint64_t *records_ret)
{
	const char *value;

	for (int i = 0; i < argc; i++) {
		if (is_option(argv[i], "outdir", &value)) {
			*outdir_ret = value;
		} else if (is_option(argv[i], "records", &value)) {
			*records_ret = strtoull(value, NULL, 0);
		} else if (is_option(argv[i], "insnlog", &value)) {
			insnlog_init(strtoull(value, NULL, 0));
		} else if (is_option(argv[i], "reglog", &value)) {
			reglog_init(strtoull(value, NULL, 0));
		} else if (is_option(argv[i], "entrylog", &value)) {
			reglog_init_entries(strtoull(value, NULL, 0));
		} else if (is_option(argv[i], "stores", &value)) {
			count_stores = !strcmp(value, "1");
		} else if (is_option(argv[i], "lazy", &value)) {
			lazy = strtoull(value, NULL, 0);
		} else if (is_option(argv[i], "lbr", &value)) {
			if (!lbr_option(value))
				return false;
		} else if (is_option(argv[i], "mutations", &value)) {
			may_mutate = !strcmp(value, "1");
		} else if (is_option(argv[i], "perfmon", &value)) {
			if (!strcmp(value, "1"))
				msr_model_perfmon();
		} else if (!stack_option(argv[i])) {
			fprintf(stderr, "btsmodel: unknown option %s\n", argv[i]);
			return false;
		}
	}
	if (!*outdir_ret || !*records_ret) {
		fprintf(stderr, "btsmodel: outdir=DIR is needed, records=N must not be 0\n");
		return false;
	}
	return true;
}

/** qemu_plugin_install() - called by QEMU when it loads the plugin */
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info, int argc,
			char **argv)
{
	uint64_t records = DEFAULT_RECORDS;
	const char *outdir = NULL;

	if (strcmp(info->target_name, "x86_64") || !info->system_emulation) {
		fprintf(stderr, "btsmodel: only for qemu-system-x86_64\n");
		return -1;
	}
	if (!parse_options(argc, argv, &outdir, &records) || !log_open(outdir, records))
		return -1;
	board = qemu_plugin_scoreboard_new(sizeof(struct board));
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init, NULL);
	qemu_plugin_register_vcpu_resume_cb(id, on_vcpu_resume, NULL);
	if (may_mutate)
		qemu_plugin_register_vcpu_idle_cb(id, on_vcpu_idle, NULL);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation, NULL);
	qemu_plugin_register_vcpu_discon_cb(id, QEMU_PLUGIN_DISCON_INTERRUPT |
					    QEMU_PLUGIN_DISCON_EXCEPTION, on_discontinuity, NULL);
	qemu_plugin_register_atexit_cb(id, on_qemu_exit, NULL);
	return 0;
}
